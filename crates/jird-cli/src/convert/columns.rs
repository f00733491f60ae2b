//! Names of columns that a table does not have, and which ones the user may have meant.

use super::source::{BadInput, Content};
use anyhow::Result;

/// The first of these names that a table does not have, in a message with the nearest names that it has; `None` if it
/// has all of them.
pub(super) fn missing(wanted: &[String], names: &[&str]) -> Option<String> {
    let name = wanted.iter().find(|wanted| !names.contains(&wanted.as_str()))?;
    Some(format!("there is no column {name:?}; {}", near(name, names)))
}

/// The note on a name that no record has, with the nearest of some names of theirs.
pub(super) fn unmet(name: &str, names: &[&str]) -> String {
    match names {
        [] => format!("no record has {name:?} (names are case-sensitive)"),
        _ => format!("no record has {name:?}; {}", near(name, names)),
    }
}

/// The columns that are nearest to a name by spelling; without any, the first columns.
fn near(wanted: &str, names: &[&str]) -> String {
    const SHOWN_MAX: usize = 10;
    let lower = wanted.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let mut near: Vec<_> = names.iter().map(|name| (distance(name), *name)).collect();
    near.retain(|(distance, _)| *distance <= 1 + wanted.chars().count() / 4);
    near.sort_unstable();
    let quoted = |names: &[&str]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    match &near[..] {
        [] => {
            let more = if names.len() > SHOWN_MAX { ", …" } else { "" };
            format!("the columns are {}{more}", quoted(&names[..names.len().min(SHOWN_MAX)]))
        }
        [(_, one)] => format!("the nearest is {one:?}"),
        near => format!("the nearest are {}", quoted(&near.iter().take(3).map(|(_, name)| *name).collect::<Vec<_>>())),
    }
}

/// What is to be said of a wanted column that an input with known columns does not have. Other inputs may have it.
pub(super) fn note(name: &str, content: &mut Content, wanted: &[String]) -> Result<Option<String>> {
    let message = match content {
        Content::Csv(source) => {
            let names = source.names().map_err(|error| BadInput::of(name, error.into(), ""))?;
            missing(wanted, &names.collect::<Vec<_>>())
        }
        Content::Table(connection, table) => {
            let query = jird_formats::sqlite::SqliteQuery::table(connection, table)?;
            missing(wanted, &query.columns().collect::<Vec<_>>())
        }
        // Lines and documents may have any keys. Arrow and Parquet refuse a column that is not there.
        Content::Lines(_) | Content::Json(..) | Content::Lenient(_) | Content::Columns(_) => None,
    };
    Ok(message.map(|message| format!("{name}: {message}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_said_first_and_else_the_columns() {
        let of = |wanted: &str, names: &[&str]| missing(&[wanted.to_owned()], names);
        assert_eq!(of("name", &["id", "name"]), None);
        let near = |wanted, names: &[&str], said: &str| {
            assert_eq!(of(wanted, names).unwrap(), format!("there is no column {wanted:?}; {said}"));
        };
        near("nmae", &["id", "name", "count"], "the nearest is \"name\"");
        near("NAME", &["name", "id"], "the nearest is \"name\"");
        near("level", &["levels", "bevel", "id"], "the nearest are \"bevel\", \"levels\"");
        near("x9", &["id", "count"], "the columns are \"id\", \"count\"");
    }
}
