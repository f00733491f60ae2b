//! Comparisons of times and of intervals. DataFusion would read a text compared with a time as a time, or fail, and
//! compare intervals month by month and day by day, so that 24 hours are less than a day.

use super::stateless::{Makes, column, of_one};
use super::timestamp::Timestamp;
use crate::sql::{JSON_COMPARE, JSON_TEXT};
use arrow::array::{Array, AsArray, Int64Array};
use arrow::datatypes::{DataType, DurationMicrosecondType, IntervalMonthDayNanoType, IntervalUnit, TimeUnit};
use arrow_cast::cast;
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::logical_expr::planner::{PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable, Operator, ScalarUDF, binary_expr};
use std::sync::Arc;

/// Plans a comparison with a time as one of times, and one of intervals by their lengths.
pub(super) fn plan(expr: RawBinaryExpr, op: Operator, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
    if let Some([left, right]) = json_sides(&expr.left)
        && let Some((left, right)) = times(left, right, schema)?
    {
        return Ok(PlannerResult::Planned(binary_expr(left, op, right)));
    }
    let types = [expr.left.get_type(schema)?, expr.right.get_type(schema)?];
    if types.iter().all(is_span) && types[0] != types[1]
        || types.iter().all(|kind| matches!(kind, DataType::Interval(_)))
    {
        let length = |side: Expr| length().call(vec![side]);
        return Ok(PlannerResult::Planned(binary_expr(length(expr.left), op, length(expr.right))));
    }
    let is_text = |kind: &DataType| kind.is_string();
    match &types {
        [time, text] if is_time(time) && is_text(text) => {
            Ok(PlannerResult::Planned(binary_expr(expr.left, op, read(expr.right, false))))
        }
        [text, time] if is_time(time) && is_text(text) => {
            Ok(PlannerResult::Planned(binary_expr(read(expr.left, false), op, expr.right)))
        }
        _ => Ok(PlannerResult::Original(expr)),
    }
}

fn is_time(kind: &DataType) -> bool {
    matches!(kind, DataType::Timestamp(..) | DataType::Date32 | DataType::Date64)
}

fn is_span(kind: &DataType) -> bool {
    matches!(kind, DataType::Interval(_) | DataType::Duration(_))
}

/// The two sides of a comparison of JSON texts.
fn json_sides(expr: &Expr) -> Option<[&Expr; 2]> {
    let Expr::ScalarFunction(call) = expr else { return None };
    match (call.func.name() == JSON_COMPARE, &call.args[..]) {
        (true, [left, right]) => Some([left, right]),
        _ => None,
    }
}

/// What was made a JSON text for the comparison.
fn made_text(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::ScalarFunction(call) if call.func.name() == JSON_TEXT => call.args.first(),
        _ => None,
    }
}

/// Both sides of a comparison of JSON texts as times, if one of them is a time.
fn times(left: &Expr, right: &Expr, schema: &DFSchema) -> Result<Option<(Expr, Expr)>> {
    let kind = |side: &Expr| made_text(side).map(|inner| inner.get_type(schema)).transpose();
    let (left_kind, right_kind) = (kind(left)?, kind(right)?);
    if !left_kind.iter().chain(&right_kind).any(is_time) {
        return Ok(None);
    }
    let time = |side: &Expr, kind: Option<DataType>| match (made_text(side), kind) {
        (Some(time), Some(kind)) if is_time(&kind) => time.clone(),
        (Some(other), _) => read(other.clone(), false),
        _ => read(side.clone(), true),
    };
    Ok(Some((time(left, left_kind), time(right, right_kind))))
}

/// A value as a time. What is none is null.
fn read(value: Expr, of_json: bool) -> Expr {
    ScalarUDF::from(Timestamp::new(of_json, Arc::default())).call(vec![value])
}

/// The function that gives the length of an interval in microseconds; a month has 30 days, as in `PostgreSQL` and `DuckDB`.
pub(super) fn length() -> ScalarUDF {
    const DAY: i64 = 86_400_000_000;
    of_one("interval_length", Makes::Always(DataType::Int64), |args| {
        let values = column(args, 0)?;
        if matches!(values.data_type(), DataType::Duration(_)) {
            let spans = cast(&values, &DataType::Duration(TimeUnit::Microsecond))?;
            return Ok(Arc::new(spans.as_primitive::<DurationMicrosecondType>().iter().collect::<Int64Array>()));
        }
        let spans = cast(&values, &DataType::Interval(IntervalUnit::MonthDayNano))?;
        let length = |span: <IntervalMonthDayNanoType as arrow::datatypes::ArrowPrimitiveType>::Native| {
            let days = i64::from(span.months) * 30 + i64::from(span.days);
            days.saturating_mul(DAY).saturating_add(span.nanoseconds / 1000)
        };
        let spans = spans.as_primitive::<IntervalMonthDayNanoType>().iter();
        Ok(Arc::new(spans.map(|span| span.map(length)).collect::<Int64Array>()))
    })
}
