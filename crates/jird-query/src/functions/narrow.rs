//! Some of the values of a column of mixed kinds. What is left out is counted.

use super::predicate::json_field;
use crate::sql::{JSON_IN_TEXT, KindOfValues, ONLY_ARRAYS, ONLY_NUMBERS, ONLY_TEXTS};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use jird::Kind;
use jird::record::Field;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How many values each call that narrows an expression has left out, by the number of the call.
pub(crate) type LeftOut = Arc<Vec<AtomicU64>>;

/// The functions: of a column of JSON texts one returns the numbers, another the texts, and one the values that texts hold
/// as JSON; of everything else, null. The second argument is the number of the call.
#[derive(Debug)]
pub(crate) struct Narrow {
    to: KindOfValues,
    signature: Signature,
    left_out: LeftOut,
}

impl Narrow {
    /// The numbers. With a third argument, numbers that no double holds are left out too.
    pub(crate) fn numbers(left_out: LeftOut) -> Self {
        Self { to: KindOfValues::Numbers, signature: Signature::variadic_any(Volatility::Immutable), left_out }
    }

    /// The texts, as JSON.
    pub(crate) fn texts(left_out: LeftOut) -> Self {
        Self { to: KindOfValues::Texts, ..Self::numbers(left_out) }
    }

    /// The arrays.
    pub(crate) fn arrays(left_out: LeftOut) -> Self {
        Self { to: KindOfValues::Arrays, ..Self::numbers(left_out) }
    }

    /// The values that texts hold as JSON, and all values that are not texts.
    pub(crate) fn json(left_out: LeftOut) -> Self {
        Self { to: KindOfValues::Json, ..Self::numbers(left_out) }
    }
}

/// What a message tells of the function.
#[cfg(feature = "cluster")]
impl Narrow {
    pub(crate) fn to(&self) -> KindOfValues {
        self.to
    }

    pub(crate) fn left_out(&self) -> &LeftOut {
        &self.left_out
    }
}

impl PartialEq for Narrow {
    fn eq(&self, other: &Self) -> bool {
        self.to == other.to && Arc::ptr_eq(&self.left_out, &other.left_out)
    }
}

impl Eq for Narrow {}

impl Hash for Narrow {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.left_out).hash(state);
    }
}

impl ScalarUDFImpl for Narrow {
    fn name(&self) -> &'static str {
        match self.to {
            KindOfValues::Json => JSON_IN_TEXT,
            KindOfValues::Texts => ONLY_TEXTS,
            KindOfValues::Arrays => ONLY_ARRAYS,
            KindOfValues::Numbers | KindOfValues::Times => ONLY_NUMBERS,
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(json_field(self.name()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let texts = arrays[0].as_string::<i32>();
        let is_finite = arrays.len() > 2;
        let keep = |text| match self.to {
            KindOfValues::Json => json_in(text),
            KindOfValues::Texts => (Field::from_raw(text).kind() == Some(Kind::String)).then_some(Cow::Borrowed(text)),
            KindOfValues::Arrays => (Field::from_raw(text).kind() == Some(Kind::Array)).then_some(Cow::Borrowed(text)),
            _ => number(text, is_finite),
        };
        let kept: StringArray = texts.iter().map(|text| keep(text?)).collect();
        let is_null = |text: &str| {
            matches!(self.to, KindOfValues::Texts | KindOfValues::Arrays) && Field::from_raw(text).is_null()
        };
        let nulls = texts.iter().filter(|text| text.is_none_or(is_null)).count();
        let left_out = kept.null_count() - nulls;
        if left_out > 0 {
            let call = arrays[1].as_primitive_opt::<Int64Type>().filter(|calls| !calls.is_empty());
            let call = call.and_then(|calls| usize::try_from(calls.value(0)).ok());
            if let Some(count) = call.and_then(|call| self.left_out.get(call)) {
                count.fetch_add(left_out as u64, Relaxed);
            }
        }
        Ok(ColumnarValue::Array(Arc::new(kept) as ArrayRef))
    }
}

fn number(text: &str, is_finite: bool) -> Option<Cow<'_, str>> {
    let number = Field::from_raw(text).as_number()?;
    (!is_finite || number.to_f64().is_some()).then_some(Cow::Borrowed(text))
}

fn json_in(text: &str) -> Option<Cow<'_, str>> {
    match Field::from_raw(text).as_str() {
        None => Some(Cow::Borrowed(text)),
        Some(content) => {
            let json = jird::minify(content.as_bytes()).ok()?;
            String::from_utf8(json).ok().map(Cow::Owned)
        }
    }
}
