//! Chooses the columns of a span from some of its events: fields that queries are likely to count, group and compare by,
//! and that take little room.

use super::TEXT_MAX;
use crate::time;
use jird::{Error, Kind, Path, Value};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

/// About this many events are looked at.
const SAMPLE: usize = 1024;
/// No span has more columns than this.
const COLUMNS_MAX: usize = 32;
/// Fields are looked for in objects up to this depth, and not among more keys than this.
const DEPTH_MAX: usize = 4;
const KEYS_MAX: usize = 4096;
/// A field has a column if one event in this many has it.
const EVENTS_PER_VALUE: usize = 8;
/// Texts have a column if on average each comes this many times, or if there are no more than a few.
const REPEATS: usize = 4;
const FEW_TEXTS: usize = 16;
/// Texts that do not repeat have one if so many are short for each that is long.
const SHORT_PER_LONG: usize = 16;

/// The fields that have a column, in the order in which documents have them; texts of those that were `asked` for have one
/// even if they do not repeat. `lines` are documents, each with a line feed, and are trusted to be JSON; an error means that
/// they are not. Parses a sample of them.
pub(crate) fn suggest(lines: &[u8], time_field: &Path, asked: &[Path]) -> Result<Vec<Path>, Error> {
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', lines).collect();
    let mut sample = Sample::default();
    for number in spread(ends.len(), SAMPLE) {
        let start = number.checked_sub(1).map_or(0, |before| ends[before] + 1);
        let document = jird::parse(&lines[start..ends[number]])?;
        sample.object(document.root(), &Path::root(), 0);
        sample.events += 1;
    }
    let mut fields: Vec<(Path, FieldSample)> = sample.fields.into_iter().collect();
    fields.retain(|(path, seen)| seen.has_column(sample.events, path == time_field || asked.contains(path)));
    // The column `time` stands for texts of one width.
    fields.retain(|(path, seen)| path != time_field || seen.width.is_none_or(|width| width == 0));
    fields.sort_unstable_by_key(|(_, seen)| seen.number);
    fields.truncate(COLUMNS_MAX);
    Ok(fields.into_iter().map(|(path, _)| path).collect())
}

/// About `count` numbers below `len`, in order. Their distances vary, so that a sample does not miss what comes with
/// every fourth event, for example.
pub(crate) fn spread(len: usize, count: usize) -> impl Iterator<Item = usize> {
    let step = len.div_ceil(count.max(1)).max(1);
    let turn = |number: usize| number.wrapping_mul(0x9e37_79b1) >> 16;
    (0..len).step_by(step).enumerate().map(move |(number, at)| (at + turn(number) % step).min(len - 1))
}

#[derive(Default)]
struct Sample {
    events: usize,
    fields: HashMap<Path, FieldSample>,
}

/// What a field had in the sample.
#[derive(Default)]
struct FieldSample {
    /// Its place among the fields, by the first event that has it.
    number: usize,
    values: usize,
    texts: usize,
    /// Texts that are too long for a column.
    long: usize,
    /// The width of texts that are times in order; 0 if they have no width, or several.
    width: Option<u8>,
    /// The hashes of the texts.
    distinct: HashSet<u64>,
}

impl Sample {
    fn object(&mut self, object: Value<'_>, path: &Path, depth: usize) {
        let mut seen = HashSet::new();
        for (key, value) in object.entries() {
            let Some(key) = key.as_str() else { continue };
            let path = path.clone().key(&*key);
            // The first of several members with one key counts.
            if !seen.insert(key) {
                continue;
            }
            if value.kind() == Kind::Object && depth < DEPTH_MAX {
                self.object(value, &path, depth + 1);
                continue;
            }
            let number = self.fields.len();
            if number == KEYS_MAX && !self.fields.contains_key(&path) {
                continue;
            }
            let seen = self.fields.entry(path).or_insert_with(|| FieldSample { number, ..FieldSample::default() });
            match value.kind() {
                Kind::Number | Kind::Bool => seen.values += 1,
                Kind::String => seen.add_text(value),
                _ => {}
            }
        }
    }
}

impl FieldSample {
    fn add_text(&mut self, value: Value<'_>) {
        let Some(text) = value.as_str().filter(|text| text.len() <= TEXT_MAX) else {
            self.long += 1;
            return;
        };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        self.distinct.insert(hasher.finish());
        let width = time::ordered_width(text.as_bytes()).unwrap_or_default();
        self.width = Some(if self.width.is_none_or(|before| before == width) { width } else { 0 });
        self.values += 1;
        self.texts += 1;
    }

    fn has_column(&self, events: usize, is_wanted: bool) -> bool {
        let repeats = self.distinct.len() <= FEW_TEXTS.max(self.texts / REPEATS);
        let are_short = self.long <= self.texts / SHORT_PER_LONG;
        self.values > 0 && self.values >= events / EVENTS_PER_VALUE && (repeats || is_wanted && are_short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    #[test]
    fn numbers_and_texts_that_repeat_have_columns_and_what_is_rare_long_or_always_another_does_not() {
        let mut lines = String::new();
        for number in 0..2000 {
            let rare = if number % 11 == 0 { ",\"rare\":1" } else { "" };
            writeln!(
                lines,
                "{{\"@t\":\"time {number}\",\"id\":\"{number:x}\",\"level\":\"{}\",\"in\":{{\"ms\":{number},\"ok\":true,\
                 \"list\":[1]}},\"long\":\"{}\",\"none\":null{rare}}}",
                number % 3,
                "x".repeat(TEXT_MAX + 1),
            )
            .unwrap();
        }
        let named = |paths: Vec<Path>| paths.iter().map(Path::to_string).collect::<Vec<_>>();
        let time = Path::root().key("@t");
        let found = named(suggest(lines.as_bytes(), &time, &[]).unwrap());
        assert_eq!(found, ["/@t", "/level", "/in/ms", "/in/ok"]);
        let asked = ["id", "long", "none", "rare", "nobody"].map(|key| Path::root().key(key));
        let found = named(suggest(lines.as_bytes(), &time, &asked).unwrap());
        assert_eq!(found, ["/@t", "/id", "/level", "/in/ms", "/in/ok"]);
        assert_eq!(named(suggest(b"1\n[2]\n\"x\"\n", &time, &[]).unwrap()), [""; 0]);
        assert_eq!(named(suggest(b"", &time, &[]).unwrap()), [""; 0]);
    }

    #[test]
    fn what_repeats_is_met_at_any_distance() {
        for every in 2..40 {
            let met = spread(4000, 1024).filter(|number| number % every == 1).count();
            assert!(met * every > 400, "{every}: {met}");
        }
        assert_eq!(spread(5, 10).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(spread(0, 10).count(), 0);
    }

    #[test]
    fn events_with_more_and_more_keys_have_few_columns() {
        let mut lines = String::new();
        for number in 0..512 {
            let members: Vec<String> = (0..100).map(|key| format!("\"{number} {key}\":1")).collect();
            writeln!(lines, "{{{}}}", members.join(",")).unwrap();
        }
        assert!(suggest(lines.as_bytes(), &Path::root(), &[]).unwrap().is_empty());
        let members: Vec<String> = (0..100).map(|key| format!("\"{key}\":1")).collect();
        let lines = format!("{{{}}}\n", members.join(","));
        assert_eq!(suggest(lines.as_bytes(), &Path::root(), &[]).unwrap().len(), COLUMNS_MAX);
    }
}
