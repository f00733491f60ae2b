//! `interval '1 day' * 3` and `(b - a) / 2`: intervals times numbers, which DataFusion refuses.

use super::stateless::{Makes, Takes, column, function};
use crate::base::error::Error;
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, IntervalMonthDayNanoArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, DurationMicrosecondType, Float64Type, Int64Type, IntervalMonthDayNanoType,
    IntervalUnit, TimeUnit,
};
use arrow_cast::cast;
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::logical_expr::planner::{PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, ScalarUDF, lit};
use sqlparser::ast::BinaryOperator;
use std::sync::Arc;

type Span = <IntervalMonthDayNanoType as ArrowPrimitiveType>::Native;

const DAY: f64 = 86_400e9;
const MONTH_DAYS: f64 = 30.0;

/// Plans `interval * number`, `number * interval` and `interval / number`.
pub(super) fn plan(expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    let multiplies = match expr.op {
        BinaryOperator::Multiply => true,
        BinaryOperator::Divide => false,
        _ => return Ok(PlannerResult::Original(expr)),
    };
    let is_span = |kind: &DataType| matches!(kind, DataType::Interval(_) | DataType::Duration(_));
    let (left, right) = (expr.left.get_type(schema)?, expr.right.get_type(schema)?);
    let (span, kind, number) = if is_span(&left) && right.is_numeric() {
        (expr.left, left, expr.right)
    } else if multiplies && is_span(&right) && left.is_numeric() {
        (expr.right, right, expr.left)
    } else {
        return Ok(PlannerResult::Original(expr));
    };
    let made = match kind {
        DataType::Duration(_) => DataType::Duration(TimeUnit::Microsecond),
        _ => DataType::Interval(IntervalUnit::MonthDayNano),
    };
    let span = Expr::Cast(Cast::new(Box::new(span), made));
    Ok(PlannerResult::Planned(scaled().call(vec![span, number, lit(multiplies)])))
}

/// The function of an interval, a number, and whether it multiplies.
pub(super) fn scaled() -> ScalarUDF {
    function("interval_scaled", Takes::Exactly(3), Makes::ByTypes(|types| types[0].clone()), |args| {
        let (spans, numbers, multiplies) = (column(args, 0)?, column(args, 1)?, column(args, 2)?);
        let multiplies = !multiplies.is_empty() && multiplies.as_boolean().value(0);
        let whole = numbers.data_type().is_integer().then(|| cast(&numbers, &DataType::Int64)).transpose()?;
        let numbers = cast(&numbers, &DataType::Float64)?;
        let by = By {
            whole: whole.as_ref().map(AsArray::as_primitive::<Int64Type>),
            numbers: numbers.as_primitive::<Float64Type>(),
            multiplies,
        };
        let made: Result<ArrayRef> = if let DataType::Duration(_) = spans.data_type() {
            let spans = spans.as_primitive::<DurationMicrosecondType>();
            let scaled = spans.iter().enumerate().map(|(row, micros)| {
                let Some(micros) = micros else { return Ok(None) };
                Ok(by.times(Span { months: 0, days: 0, nanoseconds: micros }, row)?.map(|span| span.nanoseconds))
            });
            Ok(Arc::new(scaled.collect::<Result<arrow::array::DurationMicrosecondArray>>()?))
        } else {
            let spans = spans.as_primitive::<IntervalMonthDayNanoType>();
            let scaled = spans.iter().enumerate().map(|(row, span)| span.map_or(Ok(None), |span| by.times(span, row)));
            Ok(Arc::new(scaled.collect::<Result<IntervalMonthDayNanoArray>>()?))
        };
        made
    })
}

/// The numbers by which intervals are multiplied or divided.
struct By<'a> {
    /// Integers, if they are.
    whole: Option<&'a Int64Array>,
    numbers: &'a Float64Array,
    multiplies: bool,
}

impl By<'_> {
    /// The interval of a row times its number. Null if the number is null, or a zero by which is divided.
    fn times(&self, span: Span, row: usize) -> Result<Option<Span>> {
        if self.numbers.is_null(row) {
            return Ok(None);
        }
        let number = self.numbers.value(row);
        let scaled = match self.whole {
            Some(whole) if self.multiplies => times_whole(span, whole.value(row)),
            _ if self.multiplies => times(span, number),
            _ if number == 0.0 => return Ok(None),
            _ => times(span, 1.0 / number),
        };
        scaled
            .map(Some)
            .ok_or_else(|| Error::data("an interval times a number is longer than an interval can be").into())
    }
}

fn times_whole(span: Span, by: i64) -> Option<Span> {
    Some(Span {
        months: i32::try_from(i64::from(span.months).checked_mul(by)?).ok()?,
        days: i32::try_from(i64::from(span.days).checked_mul(by)?).ok()?,
        nanoseconds: span.nanoseconds.checked_mul(by)?,
    })
}

/// A fraction of a month becomes days (30 to the month), and a fraction of a day becomes hours, as in `PostgreSQL`.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "what does not fit is refused")]
fn times(span: Span, by: f64) -> Option<Span> {
    let months = f64::from(span.months) * by;
    let days = f64::from(span.days) * by + months.fract() * MONTH_DAYS;
    let nanos = span.nanoseconds as f64 * by + days.fract() * DAY;
    let fits = |value: f64, max: f64| value.is_finite() && value.abs() <= max;
    let is_whole = fits(months, f64::from(i32::MAX)) && fits(days, f64::from(i32::MAX)) && fits(nanos, 9.2e18);
    is_whole.then(|| Span { months: months as i32, days: days as i32, nanoseconds: nanos.round() as i64 })
}
