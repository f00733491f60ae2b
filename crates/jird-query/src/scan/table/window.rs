//! What a condition on a computed time says of the field: `"@t" > now() - interval '1 day'`, `"@t"::date = '2024-03-05'`,
//! `time_bucket('1 hour', "@t") = …`.
//!
//! In goes a condition that the scan does not decide; out come conditions that hold wherever it holds, by which a store
//! leaves out blocks. They may hold elsewhere, too.

use crate::functions::bucket_nanoseconds;
use crate::scan::shared::TableScan;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, Column, Literal, TryCastExpr};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use jird::record::{Comparison, Matcher, Predicate};
use jird_store::TimeHint;
use std::sync::Arc;

const DAY: i128 = 86_400_000_000_000;
/// Times are computed in microseconds.
const MICROSECOND: i128 = 1000;

/// The conditions, whose slots are columns of the table.
pub(super) fn windows(expr: &Arc<dyn PhysicalExpr>, shared: &TableScan, out: &mut Vec<Predicate>) {
    let Some(binary) = expr.downcast_ref::<BinaryExpr>() else { return };
    let (left, right) = (binary.left(), binary.right());
    if *binary.op() == Operator::And {
        windows(left, shared, out);
        windows(right, shared, out);
        return;
    }
    for (subject, op, other) in [(left, Some(*binary.op()), right), (right, binary.op().swap(), left)] {
        let (Some(subject), Some(constant)) = (Subject::of(subject, shared), constant(other)) else { continue };
        if let Some(Operator::Eq | Operator::Gt | Operator::GtEq) = op {
            out.extend(subject.bound(Comparison::Ge, constant - subject.ahead));
        }
        if let Some(Operator::Eq | Operator::Lt | Operator::LtEq) = op {
            out.extend(subject.bound(Comparison::Le, constant + subject.behind));
        }
    }
}

/// A time that is computed of the one in a column.
struct Subject {
    column: usize,
    /// By how many nanoseconds it may be after the time in the column, and before it.
    ahead: i128,
    behind: i128,
    /// Whether it is the cast of a text.
    is_of_texts: bool,
}

impl Subject {
    /// The condition that the time in the column lies on this side of a constant in nanoseconds. It holds for all that is
    /// read: only a store's blocks are asked for it.
    fn bound(&self, op: Comparison, constant: i128) -> Option<Predicate> {
        let seconds = i64::try_from(constant.div_euclid(1_000_000_000)).ok()?;
        let nanos = u32::try_from(constant.rem_euclid(1_000_000_000)).ok()?;
        let hint = TimeHint { op, time: (seconds, nanos), is_of_texts: self.is_of_texts };
        let all = Matcher::new(|_| true).with_numbers(|_| Some(true));
        Some(Predicate::Matches { slot: self.column, matcher: all.with_hint(hint) })
    }

    fn of(expr: &Arc<dyn PhysicalExpr>, shared: &TableScan) -> Option<Self> {
        if let Some(column) = expr.downcast_ref::<Column>() {
            let column = column.index();
            let is_read = shared.columns.get(column)?.told.is_none();
            return is_read.then_some(Self { column, ahead: MICROSECOND, behind: MICROSECOND, is_of_texts: false });
        }
        let cast = expr.downcast_ref::<CastExpr>().map(|cast| (cast.expr(), cast.cast_type()));
        let cast = cast.or_else(|| expr.downcast_ref::<TryCastExpr>().map(|cast| (cast.expr(), cast.cast_type())));
        if let Some((inner, to)) = cast {
            let mut of = Self::of(inner, shared)?;
            of.is_of_texts |= inner.downcast_ref::<Column>().is_some();
            return match to {
                DataType::Timestamp(unit, None) if inner.downcast_ref::<Column>().is_some() => {
                    let unit = match unit {
                        TimeUnit::Second => 1_000_000_000,
                        TimeUnit::Millisecond => 1_000_000,
                        TimeUnit::Microsecond | TimeUnit::Nanosecond => MICROSECOND,
                    };
                    Some(of.wider(unit, unit))
                }
                // It may be the time on a clock of some zone.
                DataType::Timestamp(..) => Some(of.wider(DAY, DAY)),
                DataType::Date32 | DataType::Date64 => Some(of.wider(DAY, 2 * DAY)),
                _ => None,
            };
        }
        let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
        match (call.name(), call.args()) {
            ("timestamp" | "time_of_json", [time, ..]) => Self::of(time, shared),
            ("time_bucket", [width, time]) => {
                let width = bucket_nanoseconds(width.downcast_ref::<Literal>()?.value())?;
                // Elsewhere days begin at other times, and clocks are set.
                let is_utc = matches!(call.return_type(), DataType::Timestamp(_, Some(zone)) if **zone == *"UTC");
                let zone = if is_utc { 0 } else { DAY };
                Some(Self::of(time, shared)?.wider(zone, width.checked_add(zone)?))
            }
            _ => None,
        }
    }

    fn wider(self, ahead: i128, behind: i128) -> Self {
        Self { ahead: self.ahead + ahead, behind: self.behind + behind, ..self }
    }
}

/// A time, in nanoseconds since 1970.
fn constant(expr: &Arc<dyn PhysicalExpr>) -> Option<i128> {
    let (value, factor) = match *expr.downcast_ref::<Literal>()?.value() {
        ScalarValue::TimestampSecond(value, _) => (value?, 1_000_000_000),
        ScalarValue::TimestampMillisecond(value, _) => (value?, 1_000_000),
        ScalarValue::TimestampMicrosecond(value, _) => (value?, 1000),
        ScalarValue::TimestampNanosecond(value, _) => (value?, 1),
        ScalarValue::Date32(days) => (days?.into(), DAY),
        _ => return None,
    };
    Some(i128::from(value) * factor)
}
