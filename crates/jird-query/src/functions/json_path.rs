//! `json_path(value, '$…')`: what a JSONPath (RFC 9535) finds in JSON texts. Singular queries of fields are paths, which the scan
//! follows; they come here only with an index from the end, or of a computed value.

use super::predicate::as_json;
use super::stateless::{Makes, Takes, function};
use crate::sql::JSON_PATH;
use arrow::array::{Array, ArrayRef, StringBuilder};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};
use jird::{JsonPath, Value};
use std::sync::Arc;

/// What is found in a text may be this many times as long as the text: `$..*` repeats what is in it for each level.
const GROWTH_MAX: usize = 64;

/// Of a singular query the value, NULL if there is none; of any other query the array of all nodes.
pub(super) fn json_path() -> ScalarUDF {
    function(JSON_PATH, Takes::Exactly(2), Makes::Json, found)
}

fn found(args: &ScalarFunctionArgs) -> Result<ArrayRef> {
    let [ColumnarValue::Scalar(ScalarValue::Utf8(Some(path)) | ScalarValue::Utf8View(Some(path)))] = &args.args[1..]
    else {
        return Err(DataFusionError::Plan("json_path takes a constant path".into()));
    };
    let path = JsonPath::new(path).map_err(|error| DataFusionError::Plan(error.to_string()))?;
    let arrays = ColumnarValue::values_to_arrays(&args.args)?;
    let texts = as_json(&arrays[0])?;
    let mut builder = StringBuilder::with_capacity(texts.len(), 0);
    for text in &texts {
        builder.append_option(text.map(|text| of_text(&path, text)).transpose()?.flatten());
    }
    Ok(Arc::new(builder.finish()))
}

fn of_text(path: &JsonPath, text: &str) -> Result<Option<String>> {
    let Ok(document) = jird::parse(text.as_bytes()) else { return Ok(None) };
    let too_much = |why: &str| DataFusionError::Execution(format!("`{path}` {why}"));
    let nodes = path.find_all(document.root());
    let nodes = nodes.map_err(|_| too_much("goes through a value too often: write it with fewer `..`"))?;
    let raw = |node: &Value<'_>| node.raw_str().map(str::to_owned);
    if path.is_singular() {
        return Ok(nodes.first().and_then(raw));
    }
    let bytes_max = text.len().saturating_mul(GROWTH_MAX);
    let mut array = String::from("[");
    for node in &nodes {
        if array.len() > 1 {
            array.push(',');
        }
        array.push_str(node.raw_str().unwrap_or_default());
        if array.len() > bytes_max {
            return Err(too_much(&format!("finds more than {GROWTH_MAX} times the text of a value")));
        }
    }
    array.push(']');
    Ok(Some(array))
}
