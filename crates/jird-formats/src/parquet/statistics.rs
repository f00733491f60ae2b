//! Groups of rows that a predicate leaves out whole, by the least and the greatest value of their columns.
//!
//! Only columns whose values are sent as plain numbers or texts are looked at. A group without statistics is read.

use crate::error::Error;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use jird::record::{Comparison, Literal, Predicate, Step};
use jird::{Number, Path};
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use std::cmp::Ordering;

/// The least and the greatest value of a column, by groups of rows.
struct Column {
    least: ArrayRef,
    greatest: ArrayRef,
}

/// Whether each group of rows may have a row for which the predicate is true. Slot `i` of the predicate is `paths[i]`.
pub(super) fn groups_that_may_hold(
    metadata: &ArrowReaderMetadata,
    predicate: &Predicate,
    paths: &[Path],
) -> Result<Vec<bool>, Error> {
    let columns = paths.iter().map(|path| column(metadata, path)).collect::<Result<Vec<_>, _>>()?;
    let range = |group: usize, slot: usize| {
        let column = columns.get(slot)?.as_ref()?;
        Some((value(&column.least, group)?, value(&column.greatest, group)?))
    };
    let groups = 0..metadata.metadata().num_row_groups();
    Ok(groups.map(|group| may_hold(predicate, &|slot| range(group, slot))).collect())
}

/// The statistics of a column that a path names, if its values are sent as they are.
fn column(metadata: &ArrowReaderMetadata, path: &Path) -> Result<Option<Column>, Error> {
    let [Step::Key(name)] = path.steps() else { return Ok(None) };
    let schema = metadata.schema();
    let Ok(field) = schema.field_with_name(name) else { return Ok(None) };
    let is_plain = field.metadata().is_empty()
        && (field.data_type().is_integer()
            || matches!(field.data_type(), DataType::Float64 | DataType::Utf8 | DataType::LargeUtf8));
    if !is_plain {
        return Ok(None);
    }
    let converter = StatisticsConverter::try_new(name, schema, metadata.parquet_schema())?;
    let groups = || metadata.metadata().row_groups();
    Ok(Some(Column { least: converter.row_group_mins(groups())?, greatest: converter.row_group_maxes(groups())? }))
}

/// A value of the statistics; `None` if the file does not have it.
fn value(values: &ArrayRef, group: usize) -> Option<Literal> {
    if values.is_null(group) {
        return None;
    }
    macro_rules! number {
        ($kind:ty) => {
            values.as_primitive::<$kind>().value(group).to_string()
        };
    }
    Some(Literal::Number(
        match values.data_type() {
            DataType::Int8 => number!(Int8Type),
            DataType::Int16 => number!(Int16Type),
            DataType::Int32 => number!(Int32Type),
            DataType::Int64 => number!(Int64Type),
            DataType::UInt8 => number!(UInt8Type),
            DataType::UInt16 => number!(UInt16Type),
            DataType::UInt32 => number!(UInt32Type),
            DataType::UInt64 => number!(UInt64Type),
            // NaN and infinities are not JSON numbers.
            DataType::Float64 if values.as_primitive::<Float64Type>().value(group).is_finite() => number!(Float64Type),
            DataType::Utf8 => return Some(Literal::Text(values.as_string::<i32>().value(group).into())),
            DataType::LargeUtf8 => return Some(Literal::Text(values.as_string::<i64>().value(group).into())),
            _ => return None,
        }
        .into(),
    ))
}

/// Whether a predicate may be true of a row whose slots have values in these ranges, or none.
fn may_hold(predicate: &Predicate, range: &dyn Fn(usize) -> Option<(Literal, Literal)>) -> bool {
    match predicate {
        Predicate::And(parts) => parts.iter().all(|part| may_hold(part, range)),
        Predicate::Or(parts) => parts.iter().any(|part| may_hold(part, range)),
        Predicate::Compare { slot, op, literal } => {
            range(*slot).is_none_or(|(least, greatest)| may_compare(&least, &greatest, *op, literal))
        }
        Predicate::In { slot, list } => range(*slot).is_none_or(|(least, greatest)| {
            list.iter().any(|literal| may_compare(&least, &greatest, Comparison::Eq, literal))
        }),
        _ => true,
    }
}

fn may_compare(least: &Literal, greatest: &Literal, op: Comparison, with: &Literal) -> bool {
    let (Some(least), Some(greatest)) = (order(least, with), order(greatest, with)) else { return true };
    match op {
        Comparison::Eq => least.is_le() && greatest.is_ge(),
        Comparison::Ne => least.is_ne() || greatest.is_ne(),
        Comparison::Lt => least.is_lt(),
        Comparison::Le => least.is_le(),
        Comparison::Gt => greatest.is_gt(),
        Comparison::Ge => greatest.is_ge(),
    }
}

/// How two constants of one kind are ordered.
fn order(left: &Literal, right: &Literal) -> Option<Ordering> {
    match (left, right) {
        (Literal::Number(left), Literal::Number(right)) => Some(Number::new(left)?.compare(Number::new(right)?)),
        (Literal::Text(left), Literal::Text(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jird::record::Field;

    /// What the engine says of every value in a range.
    #[test]
    fn no_range_with_a_match_is_left_out() {
        let numbers: Vec<String> = (-3..=3).map(|n| n.to_string()).collect();
        let texts: Vec<String> = ["", "a", "ab", "b", "é"].map(|text| format!("\"{text}\"")).to_vec();
        let literal = |json: &str| match json.strip_prefix('"') {
            Some(text) => Literal::Text(text.trim_end_matches('"').into()),
            None => Literal::Number(json.into()),
        };
        let ops = [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge];
        let (mut kept, mut left_out) = (0, 0);
        for values in [&numbers, &texts] {
            for (from, to) in (0..values.len()).flat_map(|from| (from..values.len()).map(move |to| (from, to))) {
                for (op, with) in ops.iter().flat_map(|op| numbers.iter().chain(&texts).map(move |with| (*op, with))) {
                    let compare = Predicate::Compare { slot: 0, op, literal: literal(with) };
                    let one_of = Predicate::In { slot: 0, list: vec![literal(with), Literal::Null] };
                    for predicate in [&compare, &one_of, &Predicate::Or(vec![compare.clone(), one_of.clone()])] {
                        let eval = |json: &String| {
                            predicate.eval(&[Field::from_raw(json)], &mut jird::record::Mismatches::default())
                        };
                        let holds = values[from..=to].iter().any(|json| eval(json) == Some(true));
                        let may = may_hold(predicate, &|_| Some((literal(&values[from]), literal(&values[to]))));
                        assert!(may || !holds, "{predicate:?} of {:?}", &values[from..=to]);
                        kept += usize::from(may);
                        left_out += usize::from(!may);
                    }
                }
            }
        }
        assert!(kept > 5000 && left_out > 500, "{kept} {left_out}");
        assert!(may_hold(&Predicate::Truth { slot: 0 }, &|_| None));
    }
}
