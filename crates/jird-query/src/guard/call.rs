//! A guarded call.

use super::Guard;
use super::growth::{Arguments, Growth, constant_bytes};
use crate::base::bytes::bytes;
use crate::base::error::Error;
use arrow::array::ArrayRef;
use arrow::compute::concat;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use jird_formats::caught;
use regex::RegexBuilder;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So long may a call take that cannot be interrupted, if it is for more than one row.
const PATIENCE: Duration = Duration::from_millis(50);
/// The most rows that a slow function gets at once in an untrusted query, if more than its first argument comes from
/// rows: any of them can take long, whatever those before it took.
const ROWS_MAX: usize = 16;
/// The most bytes of a compiled pattern in an untrusted query.
const PATTERN_BYTES: usize = 1 << 20;
/// The most steps of a call for one row, if the query has limits: some seconds.
const STEPS_MAX: usize = 1 << 32;

/// A function of DataFusion whose calls stay within the memory and the time of their query.
#[derive(Debug)]
pub(super) struct Guarded {
    inner: Arc<ScalarUDF>,
    growth: Growth,
    guard: Guard,
    /// How many rows a call may have without taking long, as far as is known.
    rows: AtomicUsize,
    /// The last pattern that was found small enough.
    pattern: Mutex<String>,
}

impl Guarded {
    pub(super) fn new(inner: Arc<ScalarUDF>, growth: Growth, guard: Guard) -> Self {
        let rows = if growth.is_slow() { 1 } else { usize::MAX };
        Self { inner, growth, guard, rows: AtomicUsize::new(rows), pattern: Mutex::default() }
    }

    /// The function itself.
    pub(super) fn inner(&self) -> &dyn ScalarUDFImpl {
        self.inner.inner().as_ref()
    }

    /// Calls the function with constants.
    fn constant(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.guard.interrupt.check()?;
        let rows = args.number_rows;
        let arguments = Arguments::new(&args.args, 1);
        self.check_row(&arguments)?;
        let bound = arguments.bound(self.growth, args.return_field.data_type())?;
        let room = self.guard.memory.room(bound).map_err(|_| self.too_large(bound))?;
        let value = match self.call(ScalarFunctionArgs { number_rows: 1, ..args })? {
            ColumnarValue::Scalar(value) => value,
            ColumnarValue::Array(array) => ScalarValue::try_from_array(&array, 0)?,
        };
        let bytes = constant_bytes(&value);
        room.becomes_constant(bytes);
        // It becomes a column of as many rows.
        let column = bytes.saturating_mul(rows);
        drop(self.guard.memory.room(column).map_err(|_| self.too_large(column))?);
        Ok(ColumnarValue::Scalar(value))
    }

    /// Calls the function for some rows at a time: for all of them, if their results have room and it does not take long.
    fn rows(&self, args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut parts: Vec<ArrayRef> = Vec::new();
        let (mut at, mut wanted, mut kept) = (0, self.rows.load(Relaxed), 0);
        let is_many = args.args.iter().skip(1).any(|value| matches!(value, ColumnarValue::Array(_)));
        let rows_max = if self.growth.is_slow() && is_many && self.is_limited() { ROWS_MAX } else { usize::MAX };
        while at < args.number_rows || parts.is_empty() {
            self.guard.interrupt.check()?;
            let rows = wanted.min(rows_max).min(args.number_rows - at);
            let values = sliced(&args.args, at, rows, args.number_rows);
            let arguments = Arguments::new(&values, rows);
            let bound = arguments.bound(self.growth, args.return_field.data_type())?;
            let room = match self.guard.memory.room_beside(bound, kept) {
                Ok(room) => room,
                Err(_) if rows > 1 => {
                    wanted = rows / 2;
                    continue;
                }
                Err(_) => return Err(self.too_large(bound.saturating_add(kept))),
            };
            self.check_patterns(&arguments)?;
            if rows == 1 {
                self.check_row(&arguments)?;
            }
            let started = Instant::now();
            let part = self.call(ScalarFunctionArgs { args: values, number_rows: rows, ..args.clone() })?;
            let part = part.into_array(rows)?;
            room.becomes(&part);
            kept += bytes(&part);
            parts.push(part);
            at += rows;
            wanted = self.next(rows, wanted, started.elapsed());
        }
        self.joined(parts).map(ColumnarValue::Array)
    }

    /// How many rows the next call has.
    fn next(&self, rows: usize, wanted: usize, elapsed: Duration) -> usize {
        if !self.growth.is_slow() {
            return wanted;
        }
        let next = match elapsed {
            short if short < PATIENCE / 4 => wanted.saturating_mul(4),
            long if long > PATIENCE => (rows / 4).max(1),
            _ => wanted,
        };
        self.rows.store(next, Relaxed);
        next
    }

    fn is_limited(&self) -> bool {
        self.guard.memory.is_limited()
    }

    /// Fails if one row takes too long to be interrupted after it.
    fn check_row(&self, arguments: &Arguments<'_>) -> Result<()> {
        if self.is_limited() && arguments.steps(self.inner.name())? > STEPS_MAX {
            let message = format!("`{}` would take too long for texts as long as these", self.inner.name());
            return Err(Error::data(message).into());
        }
        self.check_patterns(arguments)
    }

    /// Fails if a pattern takes long to compile: one of a few bytes can make megabytes.
    fn check_patterns(&self, arguments: &Arguments<'_>) -> Result<()> {
        let is_pattern = self.inner.name().starts_with("regexp_") || ["~", "similar to"].contains(&self.inner.name());
        if !is_pattern || !self.is_limited() {
            return Ok(());
        }
        let mut known = self.pattern.lock().unwrap_or_else(PoisonError::into_inner);
        arguments.each_text(1, |pattern| {
            if *known != pattern {
                match RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build() {
                    Err(regex::Error::CompiledTooBig(_)) => {
                        let words = "the regular expression is too large for queries of others";
                        return Err(Error::sql(format!("{words}: it takes more than {PATTERN_BYTES} bytes")).into());
                    }
                    // What is wrong with it, the function says.
                    _ => pattern.clone_into(&mut known),
                }
            }
            Ok(())
        })
    }

    /// All rows, made part by part.
    fn joined(&self, mut parts: Vec<ArrayRef>) -> Result<ArrayRef> {
        if parts.len() == 1 {
            return Ok(parts.swap_remove(0));
        }
        let bytes = parts.iter().map(|part| bytes(part)).fold(0, usize::saturating_add);
        let room = self.guard.memory.room(bytes).map_err(|_| self.too_large(bytes))?;
        let parts: Vec<_> = parts.iter().map(AsRef::as_ref).collect();
        let all = concat(&parts)?;
        room.becomes(&all);
        Ok(all)
    }

    fn call(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        caught(|| self.inner.invoke_with_args(args)).unwrap_or_else(|words| {
            Err(Error::internal(format!("`{}` failed in DataFusion: {words}", self.inner.name())).into())
        })
    }

    #[cold]
    fn too_large(&self, bytes: usize) -> DataFusionError {
        Error::too_large(&format!("the result of `{}`", self.inner.name()), bytes).into()
    }
}

/// Some rows of all arguments.
fn sliced(values: &[ColumnarValue], at: usize, rows: usize, all: usize) -> Vec<ColumnarValue> {
    let slice = |value: &ColumnarValue| match value {
        ColumnarValue::Array(array) if rows < all => ColumnarValue::Array(array.slice(at, rows)),
        value => value.clone(),
    };
    values.iter().map(slice).collect()
}

impl PartialEq for Guarded {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner && self.growth == other.growth
    }
}

impl Eq for Guarded {}

impl Hash for Guarded {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl ScalarUDFImpl for Guarded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn is_strict(&self) -> bool {
        self.inner.inner().is_strict()
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    /// What a function makes of its calls is not guarded.
    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        Ok(ExprSimplifyResult::Original(args))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_constant = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        if is_constant && self.inner.signature().volatility != Volatility::Volatile {
            return self.constant(args);
        }
        self.rows(&args)
    }
}
