//! How large the results of functions can be.
//!
//! [`FUNCTIONS`] names every scalar function of a session; a test fails if one is missing. A function that is not
//! named, and whose values have no fixed width, is refused.

use crate::base::bytes::bytes;
use crate::base::error::Error;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Int64Type, IntervalMonthDayNanoType};
use arrow_cast::cast;
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;

/// A bound of a function's result, in bytes, from its arguments `0`, `1`, `2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Growth {
    /// Values of a fixed width, or parts of the arguments, which are shared. Such calls are not guarded.
    Fixed,
    /// Values of a fixed width, but a call may take long.
    Slow,
    /// At most this many times as much as the arguments.
    Times(usize),
    /// The same, and a call may take long.
    SlowTimes(usize),
    /// `0`, `1` times.
    Repeat,
    /// `1` characters.
    Pad,
    /// The widest columns that the format `0` can have, besides the values.
    Printf,
    /// `0`, with `2` for each `1`.
    Replace,
    /// `0`, with `2` for each match of the pattern `1`.
    ReplaceMatches,
    /// The others, with `0` between them.
    Join,
    /// The elements of `0`, with `1` between them and `2` for nulls.
    JoinElements,
    /// A list of `0`, `1` times.
    RepeatElement,
    /// `0` with `1` elements, those that are new being `2`.
    Resize,
    /// A list of all numbers from `0` to `1` by `2`; from 0 if there is only one.
    Series,
    /// The elements of `0`, with `2` for those that are `1`.
    ReplaceElements,
    /// It is not known.
    Unknown,
}

use Growth::{
    Fixed, Join, JoinElements, Pad, Printf, Repeat, RepeatElement, Replace, ReplaceElements, ReplaceMatches, Resize,
    Series, Slow, SlowTimes, Times,
};

/// The functions of a session, and those that a query or our SQL adds.
const FUNCTIONS: &[(Growth, &str)] = &[
    (
        Fixed,
        "abs acos acosh array_any_value array_avg array_distance array_element array_empty array_has array_max array_min \
         array_ndims array_product array_sum arrow_field arrow_metadata arrow_typeof ascii asin asinh atan atan2 atanh \
         bit_length cardinality cbrt ceil character_length coalesce contains cos cosh cosine_distance cot current_date \
         current_time date_bin date_part date_trunc degrees element_at empty ends_with exp factorial file_row_index floor \
         from_unixtime gcd get_field inner_product input_file_name isnan iszero lcm ln log log10 log2 make_date make_time \
         named_struct nanvl now nullif nvl nvl2 octet_length pi power radians random round signum sin sinh sqrt \
         starts_with struct tan tanh to_date to_local_time to_time to_timestamp to_timestamp_micros \
         to_timestamp_millis to_timestamp_nanos to_timestamp_seconds to_unixtime trunc union_extract union_tag version \
         with_metadata greatest least array_length",
    ),
    // Ours. They take what their arguments take, or have a fixed width.
    (
        Fixed,
        "+ - * at_time_zone in_rows json_arithmetic json_at json_compare json_contains json_distinct json_elements \
         json_greatest json_in_text json_key json_keys json_least json_len json_length json_of_key json_of_keys \
         json_position json_reverse json_slice json_sort json_text json_type number number_compare only_numbers order_key \
         order_value cast_as sort_key sum_argument text time_bucket interval_length time_of_json timestamp only_texts only_arrays json_any json_all \
         json_except json_flatten json_has_all json_has_any json_intersect json_mean json_of_list json_pop_back json_pop_front \
         json_total json_without",
    ),
    (Join, "json_join"),
    (Times(8), "json_array json_object json_concat json_member json_braced json_union json_positions"),
    (Times(8), "json_set json_insert json_replace json_remove json_merge_patch url_encode url_decode"),
    (Printf, "printf"),
    (Repeat, "json_repeat"),
    (
        Slow,
        "find_in_set levenshtein regexp_count regexp_instr regexp_like strpos array_has_all array_has_any array_position",
    ),
    (
        Times(1),
        "array_append array_compact array_concat array_except array_first array_pop_back array_pop_front array_prepend \
         array_remove array_remove_all array_remove_n array_reverse array_slice array_sort array_union array_intersect \
         array_distinct concat flatten left make_array map map_entries map_extract map_keys map_values overlay reverse \
         right split_part substr substr_index uuid decode chr md5 digest sha224 sha256 sha384 sha512",
    ),
    (
        Times(4),
        "array_add array_dims array_normalize array_positions array_scale array_subtract encode initcap lower to_hex translate upper",
    ),
    (Times(8), "string_to_array"),
    (Times(64), "json_path arrow_cast arrow_try_cast cast_to_type try_cast_to_type to_char"),
    (SlowTimes(1), "btrim ltrim regexp_extract rtrim"),
    (SlowTimes(8), "regexp_match regexp_extract_all regexp_split_to_array"),
    (Repeat, "repeat"),
    (Pad, "lpad rpad"),
    (Replace, "replace"),
    (ReplaceMatches, "regexp_replace"),
    (Join, "concat_ws"),
    (JoinElements, "array_to_string"),
    (RepeatElement, "array_repeat"),
    (Resize, "array_resize"),
    (Series, "generate_series range"),
    (ReplaceElements, "array_replace array_replace_all array_replace_n arrays_zip"),
];

pub(super) fn of(name: &str) -> Growth {
    let known = |(_, names): &&(Growth, &str)| names.split(' ').any(|known| known == name);
    FUNCTIONS.iter().find(known).map_or(Growth::Unknown, |(growth, _)| *growth)
}

impl Growth {
    /// Whether a call may take long.
    pub(super) fn is_slow(self) -> bool {
        matches!(self, Slow | SlowTimes(_) | ReplaceMatches)
    }
}

/// The arguments of a call, of rows or of a constant.
pub(super) struct Arguments<'a> {
    values: &'a [ColumnarValue],
    rows: usize,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(values: &'a [ColumnarValue], rows: usize) -> Self {
        Self { values, rows }
    }

    /// How many bytes the result has at most. Each row costs some more than its values.
    pub(super) fn bound(&self, growth: Growth, result: &DataType) -> Result<usize> {
        const ROW_BYTES: usize = 64;
        let all = self.all();
        let more = match growth {
            Growth::Fixed | Growth::Slow => 0,
            Growth::Times(times) | Growth::SlowTimes(times) => all.saturating_mul(times - 1),
            Growth::Repeat => self.sum_of_rows(|row| Ok(self.len(0, row)?.saturating_mul(self.number(1, row)?)))?,
            Growth::Pad => self.sum_of_rows(|row| Ok(self.number(1, row)?.saturating_mul(4)))?,
            Growth::Printf => {
                let parts = self.len_of_all(0)? / self.rows.max(1);
                all.saturating_mul(3).saturating_add(parts.saturating_mul(200).saturating_mul(self.rows))
            }
            Growth::Replace => self.replaced(|text, from| memchr::memmem::find_iter(text.as_bytes(), from).count())?,
            Growth::ReplaceMatches => self.matches_replaced()?,
            Growth::Join => self.len_of_all(0)?.saturating_mul(self.values.len()),
            Growth::JoinElements => self.elements_joined()?,
            Growth::RepeatElement => {
                let element = |row| Ok(self.len(0, row)?.saturating_add(8).saturating_mul(self.number(1, row)?));
                self.sum_of_rows(element)?
            }
            Growth::Resize => {
                let element = |row| Ok(self.len_or(2, row)?.saturating_add(8).saturating_mul(self.number(1, row)?));
                self.sum_of_rows(element)?
            }
            Growth::Series => self.series()?,
            Growth::ReplaceElements => {
                let last = self.values.len().min(3) - 1;
                let elements = |row| Ok((self.len(0, row)? / 8).saturating_mul(self.len(last, row)?));
                self.sum_of_rows(elements)?
            }
            Growth::Unknown if result.is_primitive() || *result == DataType::Boolean => 0,
            Growth::Unknown => usize::MAX,
        };
        Ok(all.saturating_add(more).saturating_add(self.rows.saturating_mul(ROW_BYTES)))
    }

    /// How many steps the longest rows of a slow function take, about, if it takes each part of one argument with each
    /// of another.
    pub(super) fn steps(&self, name: &str) -> Result<usize> {
        if !["array_has_all", "array_has_any", "btrim", "levenshtein", "ltrim", "rtrim", "strpos"].contains(&name)
            || self.values.len() < 2
        {
            return Ok(0);
        }
        self.sum_of_rows(|row| Ok(self.len(0, row)?.saturating_mul(self.len(1, row)?)))
    }

    /// All arguments. Those that are constants count for each row, because most functions make arrays of them.
    fn all(&self) -> usize {
        self.values.iter().map(|value| self.len_of(value)).fold(0, usize::saturating_add)
    }

    fn len_of(&self, value: &ColumnarValue) -> usize {
        match value {
            ColumnarValue::Array(array) => bytes(array),
            ColumnarValue::Scalar(value) => constant_bytes(value).saturating_mul(self.rows),
        }
    }

    fn len_of_all(&self, argument: usize) -> Result<usize> {
        self.value(argument).map(|value| self.len_of(value))
    }

    fn value(&self, argument: usize) -> Result<&'a ColumnarValue> {
        Ok(self.values.get(argument).ok_or_else(|| Error::sql("a function has too few arguments"))?)
    }

    fn sum_of_rows(&self, of_row: impl Fn(usize) -> Result<usize>) -> Result<usize> {
        (0..self.rows).try_fold(0_usize, |sum, row| Ok(sum.saturating_add(of_row(row)?)))
    }

    /// The bytes of an argument in a row.
    fn len(&self, argument: usize, row: usize) -> Result<usize> {
        Ok(match self.value(argument)? {
            ColumnarValue::Array(array) => match array.data_type() {
                DataType::Utf8 => array.as_string::<i32>().value_length(row) as usize,
                _ => bytes(&array.slice(row, 1)),
            },
            ColumnarValue::Scalar(value) => constant_bytes(value),
        })
    }

    fn len_or(&self, argument: usize, row: usize) -> Result<usize> {
        if argument < self.values.len() { self.len(argument, row) } else { Ok(0) }
    }

    /// A number of times.
    fn number(&self, argument: usize, row: usize) -> Result<usize> {
        let number = match self.value(argument)? {
            ColumnarValue::Scalar(ScalarValue::Int64(number)) => *number,
            ColumnarValue::Array(array) if *array.data_type() == DataType::Int64 => {
                let numbers = array.as_primitive::<Int64Type>();
                (!numbers.is_null(row)).then(|| numbers.value(row))
            }
            _ => integer(&self.at(argument, row)?)?,
        };
        Ok(number.map_or(0, |number| usize::try_from(number).unwrap_or(0)))
    }

    /// An argument in a row, as an array of one value.
    fn at(&self, argument: usize, row: usize) -> Result<ArrayRef> {
        match self.value(argument)? {
            ColumnarValue::Array(array) => Ok(array.slice(row, 1)),
            ColumnarValue::Scalar(value) => value.to_array(),
        }
    }

    /// Does something with each text that an argument has.
    pub(super) fn each_text(&self, argument: usize, mut with: impl FnMut(&str) -> Result<()>) -> Result<()> {
        match self.values.get(argument) {
            Some(ColumnarValue::Scalar(value)) => value.try_as_str().flatten().map_or(Ok(()), &mut with),
            Some(ColumnarValue::Array(array)) if array.data_type().is_string() => {
                let texts = cast(array, &DataType::LargeUtf8)?;
                texts.as_string::<i64>().iter().flatten().try_for_each(with)
            }
            _ => Ok(()),
        }
    }

    fn text(&self, argument: usize, row: usize) -> Result<String> {
        let text = cast(&self.at(argument, row)?, &DataType::LargeUtf8)?;
        let text = text.as_string::<i64>();
        Ok(if text.is_null(0) { String::new() } else { text.value(0).to_owned() })
    }

    /// What replacements add. Counted only where it could be much: where few are.
    fn replaced(&self, count: impl Fn(&str, &[u8]) -> usize) -> Result<usize> {
        self.sum_of_rows(|row| {
            let (text, to) = (self.len(0, row)?, self.len(2, row)?);
            let most = text.saturating_add(1).saturating_mul(to);
            if most <= EXACT_BYTES {
                return Ok(most);
            }
            let from = self.text(1, row)?;
            let times = if from.is_empty() { text + 1 } else { count(&self.text(0, row)?, from.as_bytes()) };
            Ok(times.saturating_mul(to))
        })
    }

    fn matches_replaced(&self) -> Result<usize> {
        self.sum_of_rows(|row| {
            let (text, to) = (self.len(0, row)?, self.text(2, row)?);
            let flags = if self.values.len() > 3 { self.text(3, row)? } else { String::new() };
            // A reference stands for a part of the match, and matches do not overlap.
            let references = to.bytes().filter(|byte| matches!(byte, b'$' | b'\\')).count();
            let referred = text.saturating_mul(references);
            if !flags.contains('g') {
                return Ok(to.len().saturating_mul(2).saturating_add(referred));
            }
            let most = text.saturating_add(1).saturating_mul(to.len().saturating_mul(2));
            if most <= EXACT_BYTES {
                return Ok(most.saturating_add(referred));
            }
            let flags = flags.replace('g', "");
            let pattern = self.text(1, row)?;
            let pattern = if flags.is_empty() { pattern } else { format!("(?{flags}){pattern}") };
            let regex = regex::Regex::new(&pattern).map_err(|error| Error::sql(error.to_string()))?;
            let times = regex.find_iter(&self.text(0, row)?).count();
            Ok(times.saturating_mul(to.len().saturating_mul(2)).saturating_add(referred))
        })
    }

    /// What is between elements, and the text of numbers, which is longer than they are.
    fn elements_joined(&self) -> Result<usize> {
        self.sum_of_rows(|row| {
            let between = self.len(1, row)?.saturating_add(self.len_or(2, row)?);
            let list = self.len(0, row)?;
            Ok((list / 8 + 1).saturating_mul(between).saturating_add(list.saturating_mul(4)))
        })
    }

    fn series(&self) -> Result<usize> {
        self.sum_of_rows(|row| {
            let (first, last) = match self.values.len() {
                0 | 1 => (0, scale(&self.at(0, row)?)?),
                _ => (scale(&self.at(0, row)?)?, scale(&self.at(1, row)?)?),
            };
            let step = if self.values.len() > 2 { scale(&self.at(2, row)?)? } else { 1 };
            let count = first.abs_diff(last) / step.unsigned_abs().max(1) + 1;
            Ok(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(16))
        })
    }
}

/// Up to here a bound that is too high does no harm.
const EXACT_BYTES: usize = 1 << 16;

/// How many bytes a constant has.
pub(crate) fn constant_bytes(value: &ScalarValue) -> usize {
    match value.try_as_str() {
        Some(text) => text.map_or(0, str::len),
        None => match value {
            ScalarValue::Binary(bytes) | ScalarValue::LargeBinary(bytes) | ScalarValue::BinaryView(bytes) => {
                bytes.as_ref().map_or(0, Vec::len)
            }
            value => value.to_array().map_or(usize::MAX, |array| bytes(&array)),
        },
    }
}

fn integer(value: &ArrayRef) -> Result<Option<i64>> {
    let value = cast(value, &DataType::Int64)?;
    let value = value.as_primitive::<Int64Type>();
    Ok((!value.is_null(0)).then(|| value.value(0)))
}

/// The place of a number or a time on a line, or the length of an interval there; in integers, or in nanoseconds.
fn scale(value: &ArrayRef) -> Result<i128> {
    const DAY: i128 = 86_400_000_000_000;
    Ok(match value.data_type() {
        DataType::Interval(_) => {
            let interval = cast(value, &DataType::Interval(arrow::datatypes::IntervalUnit::MonthDayNano))?;
            let interval = interval.as_primitive::<IntervalMonthDayNanoType>();
            let interval = interval.value(0);
            (i128::from(interval.months) * 28 + i128::from(interval.days)) * DAY + i128::from(interval.nanoseconds)
        }
        DataType::Date32 | DataType::Date64 => {
            let days = cast(&cast(value, &DataType::Date32)?, &DataType::Int32)?;
            i128::from(integer(&days)?.unwrap_or_default()) * DAY
        }
        DataType::Timestamp(unit, _) => {
            let nanoseconds = match unit {
                arrow::datatypes::TimeUnit::Second => 1_000_000_000,
                arrow::datatypes::TimeUnit::Millisecond => 1_000_000,
                arrow::datatypes::TimeUnit::Microsecond => 1000,
                arrow::datatypes::TimeUnit::Nanosecond => 1,
            };
            i128::from(integer(value)?.unwrap_or_default()) * nanoseconds
        }
        _ => i128::from(integer(value)?.unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::interrupt::Interrupt;
    use crate::setup::session::session;

    /// Aggregates. What they keep counts for the memory of a query, after each batch; results are one of the values that
    /// they read, or numbers, but for `array_agg`, `string_agg` and `json_histogram`, which windows do not take in
    /// untrusted queries.
    const AGGREGATES: &str = "any_value approx_distinct approx_median approx_percentile_cont \
                              approx_percentile_cont_with_weight array_agg avg bit_and bit_or bit_xor bool_and bool_or \
                              corr count covar_pop covar_samp first_value grouping json_histogram json_mode json_sum last_value max median min \
                              nth_value number_avg number_sum percentile_cont regr_avgx regr_avgy regr_count \
                              regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop string_agg \
                              sum var var_pop";
    /// Functions of windows. Their inputs are cut so that results have room.
    const WINDOWS: &str = "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank \
                           row_number";
    /// Functions of functions, which untrusted queries may not call.
    const OF_FUNCTIONS: &str = "any_match array_any_match array_filter array_first array_transform list_any_match \
                                list_filter list_first list_transform";

    #[test]
    fn every_function_of_a_session_has_its_place() {
        let context = session(None, None, None, &Interrupt::default()).unwrap();
        let state = context.state();
        let unknown = |known: &str, names: Vec<String>| {
            let mut unknown: Vec<_> =
                names.into_iter().filter(|name| !known.split_whitespace().any(|known| known == name)).collect();
            unknown.sort_unstable();
            unknown.dedup();
            unknown.join(" ")
        };
        let scalars = state.scalar_functions().values().map(|function| function.name().to_owned());
        let scalars = scalars.filter(|name| of(name) == Growth::Unknown).collect();
        let aggregates = state.aggregate_functions().values().map(|function| function.name().to_owned()).collect();
        let windows = state.window_functions().values().map(|function| function.name().to_owned()).collect();
        assert_eq!(unknown("", scalars), "");
        assert_eq!(unknown(AGGREGATES, aggregates), "");
        assert_eq!(unknown(WINDOWS, windows), "");
        let higher: Vec<_> = state.higher_order_functions().keys().cloned().collect();
        assert_eq!(unknown(OF_FUNCTIONS, higher), "");
    }
}
