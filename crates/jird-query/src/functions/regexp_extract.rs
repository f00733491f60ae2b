//! What regular expressions find in texts, as in `DuckDB`: `regexp_extract(text, pattern, group)`, `regexp_extract_all`, and
//! `regexp_split_to_array`.

use super::stateless::{Makes, Takes, function};
use crate::base::error::Error;
use arrow::array::{ArrayRef, AsArray, ListBuilder, StringArray, StringBuilder};
use arrow::datatypes::{DataType, Field};
use arrow_cast::cast;
use datafusion::error::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};
use regex::Regex;
use std::sync::Arc;

/// What is wanted of the matches. Without a group it is the whole match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Matched {
    /// That of the first one; empty if nothing matches.
    First,
    /// That of each, as a list.
    All,
    /// What stands between them, as a list.
    Between,
}

/// All of them.
pub(super) fn all() -> [ScalarUDF; 3] {
    let list = || Makes::Always(DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))));
    let row = |name, makes, compute| function(name, Takes::Some, makes, compute);
    [
        row("regexp_extract", Makes::Always(DataType::Utf8), |args| Matched::First.of("regexp_extract", args)),
        row("regexp_extract_all", list(), |args| Matched::All.of("regexp_extract_all", args)),
        row("regexp_split_to_array", list(), |args| Matched::Between.of("regexp_split_to_array", args)),
    ]
}

impl Matched {
    fn of(self, name: &str, args: &ScalarFunctionArgs) -> Result<ArrayRef> {
        let takes = || {
            let group = if self == Matched::Between { "" } else { ", and the number of a group" };
            Error::sql(format!("{name} takes a text, a constant pattern{group}"))
        };
        let (subject, pattern, group) = match &args.args[..] {
            [subject, ColumnarValue::Scalar(pattern)] => (subject, pattern, 0),
            [subject, ColumnarValue::Scalar(pattern), ColumnarValue::Scalar(group)] if self != Matched::Between => {
                (subject, pattern, group.to_string().parse::<usize>().map_err(|_| takes())?)
            }
            _ => return Err(takes().into()),
        };
        let pattern = pattern.try_as_str().flatten().ok_or_else(takes)?;
        let regex = Regex::new(pattern)
            .map_err(|error| Error::sql(format!("the regular expression '{pattern}' is wrong: {error}")))?;
        if group >= regex.captures_len() {
            let count = regex.captures_len() - 1;
            return Err(Error::sql(format!("{name}: '{pattern}' has {count} groups, not {group}")).into());
        }
        let texts = cast(&subject.to_array(args.number_rows)?, &DataType::Utf8)?;
        let texts = texts.as_string::<i32>();
        Ok(match self {
            Matched::First => {
                let extract = |text| found(&regex, text, group).next().unwrap_or_default();
                Arc::new(texts.iter().map(|text| text.map(extract)).collect::<StringArray>())
            }
            Matched::All => lists(texts, |text| found(&regex, text, group)),
            Matched::Between => lists(texts, |text| regex.split(text)),
        })
    }
}

/// What the group is in each match. A group that has no part in a match is empty.
fn found<'t>(regex: &Regex, text: &'t str, group: usize) -> impl Iterator<Item = &'t str> {
    regex.captures_iter(text).map(move |captures| captures.get(group).map_or("", |found| found.as_str()))
}

/// A list of texts for each text.
fn lists<'t, I: Iterator<Item = &'t str>>(texts: &'t StringArray, of: impl Fn(&'t str) -> I) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for text in texts {
        text.into_iter().flat_map(&of).for_each(|part| lists.values().append_value(part));
        lists.append(text.is_some());
    }
    Arc::new(lists.finish())
}
