//! Keys in the names of folders, as in `day=2024-01-01/part.ndjson`: fields that all records of a file have.

use super::{Input, InputFile};
use jird::hooks::quoted;
use jird::record::{Field, Mismatches, Predicate, Record, RecordBuffer, Step};
use jird::{Path, Value};
use std::collections::HashSet;
use std::path;

/// A field of all records of a file, and its value as JSON; it is empty if they lack it.
pub(crate) type FolderKey = (Path, String);

/// The value in the name of a folder whose records lack its key, as Hive writes it.
pub(crate) const LACKING: &str = "__HIVE_DEFAULT_PARTITION__";

/// The keys of files with these paths. A key is a number if it is an integer in all of them.
pub(super) fn keys(paths: &[&path::Path]) -> Vec<Vec<FolderKey>> {
    let written: Vec<_> = paths.iter().map(|path| written(path)).collect();
    let others = written.iter().flatten().filter(|(_, value)| value != LACKING && integer(value).is_none());
    let texts: HashSet<_> = others.map(|(key, _)| key).collect();
    let json = |key: &String, value: &String| match integer(value) {
        _ if value == LACKING => String::new(),
        Some(number) if !texts.contains(key) => number,
        _ => quoted(value),
    };
    let of_file = |keys: &Vec<(String, String)>| {
        keys.iter().map(|(key, value)| (Path::root().key(key.as_str()), json(key, value))).collect()
    };
    written.iter().map(of_file).collect()
}

/// An integer of any length as JSON, without zeros in front.
fn integer(text: &str) -> Option<String> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.to_string());
    }
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_integer.then(|| format!("{sign}{}", digits.trim_start_matches('0')))
}

/// The keys of a path and their values. Of two folders with one key, the inner one counts.
fn written(path: &path::Path) -> Vec<(String, String)> {
    let mut keys: Vec<(String, String)> = Vec::new();
    for folder in path.parent().into_iter().flat_map(path::Path::components) {
        let path::Component::Normal(name) = folder else { continue };
        let Some((key, value)) = name.to_str().and_then(|name| name.split_once('=')) else { continue };
        let (key, value) = (decoded(key), decoded(value));
        keys.retain(|(other, _)| *other != key);
        if !key.is_empty() {
            keys.push((key, value));
        }
    }
    keys
}

/// A text in which `%20` stands for a blank, and so on. What is not written like that stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..2).filter(|digits| *first == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let byte = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &more[2..] } else { more };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// What a query asks of the records of a table, as far as the names of folders may decide it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FolderFilter {
    /// For each place at which the query reads the table: conditions that all records must meet which are wanted there.
    /// Without a place, all are wanted.
    pub(crate) places: Vec<Vec<FolderCondition>>,
}

/// A condition on fields of a record.
#[derive(Clone, Debug)]
pub(crate) struct FolderCondition {
    pub(crate) predicate: Predicate,
    /// The slots that it uses, which are positions of `paths`.
    pub(crate) slots: Vec<usize>,
    pub(crate) paths: Vec<Path>,
}

impl FolderCondition {
    /// Whether records of a file with these keys may meet it.
    fn may_hold(&self, keys: &[FolderKey]) -> bool {
        let of_key = |path: &Path| keys.iter().find(|(key, _)| key == path).map(|(_, json)| field(json));
        let fields: Vec<_> = self.paths.iter().map(of_key).collect();
        if self.slots.iter().any(|slot| fields[*slot].is_none()) {
            return true;
        }
        let fields: Vec<_> = fields.into_iter().map(|field| field.unwrap_or(Field::MISSING)).collect();
        self.predicate.eval(&fields, &mut Mismatches::default()) == Some(true)
    }
}

impl FolderFilter {
    /// Whether records of a file with these keys may be wanted.
    pub(super) fn keeps(&self, keys: &[FolderKey]) -> bool {
        let may_all_hold = |conditions: &Vec<FolderCondition>| conditions.iter().all(|one| one.may_hold(keys));
        self.places.is_empty() || self.places.iter().any(may_all_hold)
    }
}

/// The field with this JSON.
fn field(json: &str) -> Field<'_> {
    if json.is_empty() { Field::MISSING } else { Field::from_raw(json) }
}

impl InputFile {
    /// What the folders of the file say of a field, whatever its records hold; `None` if they say nothing.
    pub(crate) fn of_folder(&self, path: &Path) -> Option<Field<'_>> {
        let first = path.steps().first()?;
        let (key, json) = self.keys.iter().find(|(key, _)| key.steps().first() == Some(first))?;
        // There is nothing in a number or a text.
        Some(if key == path { field(json) } else { Field::MISSING })
    }

    pub(crate) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// What puts the keys of the file's folders into records.
    pub(crate) fn joined(&self) -> Joined {
        let mut joined = Joined::default();
        for (path, json) in &self.keys {
            let Some(Step::Key(key)) = path.steps().first() else { continue };
            let quoted = quoted(key);
            if !json.is_empty() {
                let comma = if joined.members.is_empty() { "" } else { "," };
                joined.members.extend([comma, &quoted, ":", json]);
            }
            joined.keys.push((key.to_string(), quoted));
        }
        joined
    }
}

impl Input {
    /// Whether the folders of any file say what the field is.
    pub(crate) fn is_of_folders(&self, path: &Path) -> bool {
        self.files.iter().any(|file| file.of_folder(path).is_some())
    }

    /// The fields that folders give to records, each once.
    pub(crate) fn folder_keys(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for (path, _) in self.files.iter().flat_map(|file| &file.keys) {
            if let Some(Step::Key(key)) = path.steps().first()
                && !all.contains(&&**key)
            {
                all.push(key);
            }
        }
        all
    }
}

/// Puts the keys of folders into records.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    /// The keys, and how they are written.
    keys: Vec<(String, String)>,
    /// Their members.
    members: String,
    text: String,
    buffer: RecordBuffer,
}

impl Joined {
    /// A record with the keys, in place of what it has under them. What is not an object stays as it is.
    pub(crate) fn of<'f>(&'f mut self, record: Field<'f>) -> Field<'f> {
        let raw = record.raw();
        let Some(members) = raw.strip_prefix('{').and_then(|raw| raw.strip_suffix('}')) else { return record };
        if self.keys.is_empty() {
            return record;
        }
        let may_have =
            |(_, quoted): &(String, String)| memchr::memmem::find(raw.as_bytes(), quoted.as_bytes()).is_some();
        self.text.clear();
        self.text.push('{');
        if self.keys.iter().any(may_have) || memchr::memchr(b'\\', raw.as_bytes()).is_some() {
            for (key, value) in Record::scan_trusted(raw.as_bytes(), &mut self.buffer).entries() {
                if self.keys.iter().any(|(own, _)| key.is_str(own)) {
                    continue;
                }
                let text = |value: Value<'_>| value.raw_str().unwrap_or("null").to_owned();
                let comma = if self.text.len() > 1 { "," } else { "" };
                self.text.extend([comma, &text(key), ":", &text(value)]);
            }
        } else {
            self.text.push_str(members.trim_ascii());
        }
        if self.text.len() > 1 && !self.members.is_empty() {
            self.text.push(',');
        }
        self.text.extend([&self.members, "}"]);
        Field::from_raw(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(paths: &[&str]) -> Vec<String> {
        let paths: Vec<_> = paths.iter().map(path::Path::new).collect();
        let shown = |keys: &Vec<FolderKey>| {
            keys.iter().map(|(key, json)| format!("{key}:{json}")).collect::<Vec<_>>().join(" ")
        };
        keys(&paths).iter().map(shown).collect()
    }

    #[test]
    fn folders_have_keys() {
        for (path, wanted) in [
            ("logs/day=2024-01-01/a.ndjson", "/day:\"2024-01-01\""),
            ("/x/y=1/m=02/d=-3/a=b.ndjson", "/y:1 /m:2 /d:-3"),
            ("a.ndjson", ""),
            ("=1/a", ""),
            ("k=/a", "/k:\"\""),
            ("k=a=b/a", "/k:\"a=b\""),
            ("k=1/j=2/k=x/a", "/j:2 /k:\"x\""),
            ("k=S%C3%A3o%20Paulo%2F%25/a", "/k:\"São Paulo/%\""),
            ("k=%C3/%zz=%/a", "/k:\"%C3\" /%zz:\"%\""),
            ("a%2Fb=%22/a", "/a~1b:\"\\\"\""),
            ("k=9223372036854775807/a", "/k:9223372036854775807"),
            ("k=9223372036854775808/a", "/k:9223372036854775808"),
            ("k=1e3/j=1_0/i=-/a", "/k:\"1e3\" /j:\"1_0\" /i:\"-\""),
            ("k=__HIVE_DEFAULT_PARTITION__/a", "/k:"),
            ("../k=1/./a", "/k:1"),
            ("s3://bucket/k=1/a", "/k:1"),
        ] {
            assert_eq!(shown(&[path]), [wanted], "{path}");
        }
        assert_eq!(shown(&["k=01/a", "k=x/a", "a"]), ["/k:\"01\"", "/k:\"x\"", ""]);
        assert_eq!(shown(&["k=01/a", "k=__HIVE_DEFAULT_PARTITION__/a"]), ["/k:1", "/k:"]);
    }

    #[test]
    fn records_get_the_keys_of_their_folders() {
        let mut joined = Joined {
            keys: ["day", "h"].map(|key| (key.to_owned(), quoted(key))).to_vec(),
            members: "\"day\":1".to_owned(),
            ..Joined::default()
        };
        for (record, wanted) in [
            ("{}", "{\"day\":1}"),
            ("{ }", "{\"day\":1}"),
            ("{\"a\":1 }", "{\"a\":1,\"day\":1}"),
            ("{\"a\":{\"day\":2}}", "{\"a\":{\"day\":2},\"day\":1}"),
            ("{\"day\":7,\"a\":\"day\",\"h\":[]}", "{\"a\":\"day\",\"day\":1}"),
            ("{\"\\u0064ay\":7}", "{\"day\":1}"),
            ("{\"h\":1,\"h\":2}", "{\"day\":1}"),
            ("[1]", "[1]"),
            ("7", "7"),
        ] {
            assert_eq!(joined.of(Field::from_raw(record)).raw(), wanted, "{record}");
        }
        assert_eq!(Joined::default().of(Field::from_raw("{\"a\":1 }")).raw(), "{\"a\":1 }");
    }
}
