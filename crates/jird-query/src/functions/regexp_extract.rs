//! `regexp_extract(text, pattern, group)`: what a group of a regular expression matches, as in `DuckDB`.

use crate::error::Error;
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::datatypes::DataType;
use arrow_cast::cast;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;

/// The function. Without a group it is the whole match. Empty if nothing matches.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct RegexpExtract(Signature);

impl RegexpExtract {
    pub(crate) fn new() -> Self {
        Self(Signature::variadic_any(Volatility::Immutable))
    }
}

impl ScalarUDFImpl for RegexpExtract {
    fn name(&self) -> &'static str {
        "regexp_extract"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let takes = || Error::sql("regexp_extract takes a text, a constant pattern, and the number of a group");
        let (subject, pattern, group) = match &args.args[..] {
            [subject, ColumnarValue::Scalar(pattern)] => (subject, pattern, 0),
            [subject, ColumnarValue::Scalar(pattern), ColumnarValue::Scalar(group)] => {
                (subject, pattern, group.to_string().parse::<usize>().map_err(|_| takes())?)
            }
            _ => return Err(takes().into()),
        };
        let pattern = pattern.try_as_str().flatten().ok_or_else(takes)?;
        let regex = regex::Regex::new(pattern)
            .map_err(|error| Error::sql(format!("the regular expression '{pattern}' is wrong: {error}")))?;
        if group >= regex.captures_len() {
            let count = regex.captures_len() - 1;
            return Err(Error::sql(format!("regexp_extract: '{pattern}' has {count} groups, not {group}")).into());
        }
        let texts = cast(&subject.to_array(args.number_rows)?, &DataType::Utf8)?;
        let extract = |text: &str| {
            let found = regex.captures(text).and_then(|captures| captures.get(group));
            found.map_or_else(String::new, |found| found.as_str().to_owned())
        };
        let found: StringArray = texts.as_string::<i32>().iter().map(|text| text.map(extract)).collect();
        Ok(ColumnarValue::Array(Arc::new(found) as ArrayRef))
    }
}
