//! Times as text, and in a time zone.

use super::stateless::{Makes, Takes, column, function};
use super::timestamp::data_type;
use crate::base::error::Error;
use crate::sql::{AT_TIME_ZONE, TO_CHAR};
use arrow::array::timezone::Tz;
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::datatypes::{DataType, TimestampMicrosecondType};
use arrow_cast::cast;
use chrono::format::{Item, StrftimeItems};
use chrono::{DateTime, TimeZone};
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF};
use std::sync::Arc;

/// `t at time zone 'Europe/Berlin'`: the same instant, by the clocks there. And `to_char(t, '%Y-%m')`, or by the patterns of
/// `PostgreSQL`: `to_char(t, 'YYYY-MM')`.
pub(super) fn all() -> [ScalarUDF; 2] {
    [
        function(AT_TIME_ZONE, Takes::Exactly(2), Makes::ByConstants(there), |args| {
            Ok(cast(&column(args, 0)?, args.return_field.data_type())?)
        }),
        function(TO_CHAR, Takes::Exactly(2), Makes::Always(DataType::Utf8), to_char),
    ]
}

/// The type of times in the zone that is named.
fn there(args: &ReturnFieldArgs<'_>) -> Result<DataType> {
    let zone = args.scalar_arguments[1].and_then(|zone| zone.try_as_str().flatten());
    let Some(zone) = zone.filter(|zone| zone.parse::<Tz>().is_ok()) else {
        let message = "`at time zone` takes the name of a zone, such as 'Europe/Berlin' or '+01:00'";
        return Err(Error::sql(message).into());
    };
    Ok(data_type(Some(zone.into())))
}

fn to_char(args: &ScalarFunctionArgs) -> Result<ArrayRef> {
    let format = match &args.args[1] {
        ColumnarValue::Scalar(format) => format.try_as_str().flatten(),
        ColumnarValue::Array(_) => None,
    };
    let format = format.ok_or_else(|| Error::sql("to_char takes a time and a constant format such as '%Y-%m'"))?;
    let format = if format.contains('%') { format.to_owned() } else { strftime_of(format)? };
    let items: Vec<_> = StrftimeItems::new(&format).collect();
    if items.iter().any(|item| matches!(item, Item::Error)) {
        return Err(Error::sql(format!("to_char: '{format}' is not a format of times")).into());
    }
    let times = column(args, 0)?;
    let zone = match times.data_type() {
        DataType::Timestamp(_, Some(zone)) => Arc::clone(zone),
        _ => "UTC".into(),
    };
    let tz: Tz = zone.parse()?;
    let times = cast(&times, &data_type(Some(zone)))?;
    let text = |time: i64| {
        let time = DateTime::from_timestamp_micros(time)?;
        Some(tz.from_utc_datetime(&time.naive_utc()).format_with_items(items.iter()).to_string())
    };
    let times = times.as_primitive::<TimestampMicrosecondType>().iter();
    let texts: StringArray = times.map(|time| time.and_then(text)).collect();
    Ok(Arc::new(texts))
}

/// The patterns of `PostgreSQL`, longer ones before those that they begin with.
const PATTERNS: &[(&str, &str)] = &[
    ("YYYY", "%Y"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("Month", "%B"),
    ("Mon", "%b"),
    ("Day", "%A"),
    ("DDD", "%j"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("MS", "%3f"),
    ("US", "%6f"),
    ("Dy", "%a"),
    ("IW", "%V"),
    ("AM", "%p"),
    ("PM", "%p"),
    ("TZ", "%Z"),
];

fn strftime_of(mut patterns: &str) -> Result<String> {
    let mut format = String::new();
    while let Some(char) = patterns.chars().next() {
        let pattern = PATTERNS.iter().find_map(|(name, meant)| Some((patterns.strip_prefix(name)?, *meant)));
        // What is in double quotes is text.
        let quoted = patterns.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        if let Some((text, rest)) = quoted {
            format.push_str(text);
            patterns = rest;
        } else if let Some((rest, meant)) = pattern {
            format.push_str(meant);
            patterns = rest;
        } else if char.is_ascii_alphabetic() {
            let names: Vec<_> = PATTERNS.iter().map(|(name, _)| *name).collect();
            return Err(Error::sql(format!(
                "to_char: `{patterns}` begins with no known pattern; there are {}, and those of strftime, such as '%Y-%m'",
                names.join(", ")
            ))
            .into());
        } else {
            format.push(char);
            patterns = &patterns[char.len_utf8()..];
        }
    }
    Ok(format)
}

#[cfg(test)]
mod tests {
    use super::strftime_of;

    #[test]
    fn patterns_of_postgresql_are_formats() {
        assert_eq!(strftime_of("YYYY-MM-DD\"T\"HH24:MI:SS.MS").unwrap(), "%Y-%m-%dT%H:%M:%S.%3f");
        assert_eq!(strftime_of("Dy, DD Mon YY").unwrap(), "%a, %d %b %y");
        assert!(strftime_of("FMMonth").is_err() && strftime_of("IYYY").is_err());
    }
}
