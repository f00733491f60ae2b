//! Functions that change JSON texts at a path: `json_set`, `json_insert`, `json_replace` and `json_remove` as in SQLite,
//! and `json_merge_patch` (RFC 7396). What they leave alone keeps its bytes.

use super::predicate::json_argument;
use super::stateless::{Makes, Takes, function};
use crate::base::error::Error;
use crate::sql::{JSON_INSERT, JSON_MERGE_PATCH, JSON_REMOVE, JSON_REPLACE, JSON_SET};
use arrow::array::{Array, ArrayRef, StringArray};
use datafusion::error::Result;
use datafusion::logical_expr::{ScalarFunctionArgs, ScalarUDF};
use jird::hooks::quoted;
use jird::record::Field;
use jird::{Kind, Value};
use std::sync::Arc;

/// What is done at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Edit {
    /// The value is put there, whether there is one or not.
    Set,
    /// The same, if there is none.
    Insert,
    /// The same, if there is one.
    Replace,
    Remove,
    /// No path: the second value is laid over the first one.
    MergePatch,
}

/// All of them.
pub(super) fn all() -> [ScalarUDF; 5] {
    let json = |name, compute| function(name, Takes::Some, Makes::Json, compute);
    [
        json(JSON_SET, |args| Edit::Set.of_rows(args)),
        json(JSON_INSERT, |args| Edit::Insert.of_rows(args)),
        json(JSON_REPLACE, |args| Edit::Replace.of_rows(args)),
        json(JSON_REMOVE, |args| Edit::Remove.of_rows(args)),
        json(JSON_MERGE_PATCH, |args| Edit::MergePatch.of_rows(args)),
    ]
}

impl Edit {
    fn of_rows(self, args: &ScalarFunctionArgs) -> Result<ArrayRef> {
        let texts = (0..args.args.len()).map(|index| json_argument(args, index)).collect::<Result<Vec<_>>>()?;
        let edited = |row: usize| {
            let at = |index: usize| texts[index].is_valid(row).then(|| texts[index].value(row));
            self.edited(&(0..texts.len()).map(at).collect::<Vec<_>>())
        };
        Ok(Arc::new((0..args.number_rows).map(edited).collect::<Result<StringArray, Error>>()?))
    }

    /// The changed text of a row. NULL stays NULL; a path that is NULL is an error in none of its rows: nothing changes.
    fn edited(self, given: &[Option<&str>]) -> Result<Option<String>, Error> {
        let Some((Some(text), rest)) = given.split_first() else { return Ok(None) };
        let mut text = (*text).to_owned();
        if self == Edit::MergePatch {
            for patch in rest {
                let mut merged = Vec::new();
                let Some((target, patch)) = parsed(&text).zip(patch.and_then(parsed)) else { return Ok(None) };
                merge(Some(target.root()), patch.root(), &mut merged);
                text = String::from_utf8_lossy(&merged).into_owned();
            }
            return Ok(Some(text));
        }
        let width = if self == Edit::Remove { 1 } else { 2 };
        for pair in rest.chunks(width) {
            let path = pair[0].map(Field::from_raw).and_then(Field::as_str);
            let (Some(path), Some(document)) = (path, parsed(&text)) else { continue };
            let steps = steps(&path)?;
            let new = (self != Edit::Remove).then(|| pair[1].unwrap_or("null"));
            let mut edited = Vec::new();
            self.put(document.root(), &steps, new, &mut edited);
            text = String::from_utf8_lossy(&edited).into_owned();
            if text.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(text))
    }

    /// Appends a value with what is new at the end of the path; nothing if it is removed as a whole.
    fn put(self, value: Value<'_>, steps: &[PathPart], new: Option<&str>, out: &mut Vec<u8>) {
        let Some((step, rest)) = steps.split_first() else {
            let text = if self == Edit::Insert { Some(value.raw()) } else { new.map(str::as_bytes) };
            return out.extend_from_slice(text.unwrap_or_default());
        };
        let adds = |is_there: bool| {
            (!is_there && rest.is_empty() && matches!(self, Edit::Set | Edit::Insert)).then_some(new).flatten()
        };
        match (step, value.kind()) {
            (PathPart::Key(wanted), Kind::Object) => {
                let mut is_there = false;
                let mut members = Members::object(out);
                for (key, member) in value.entries() {
                    let is_wanted = key.as_str().is_some_and(|key| key == wanted.as_str());
                    is_there |= is_wanted;
                    members.begin(Some(key.raw()));
                    if is_wanted {
                        self.put(member, rest, new, members.out);
                    } else {
                        members.out.extend(member.raw());
                    }
                    members.end();
                }
                if let Some(new) = adds(is_there) {
                    members.begin(Some(quoted(wanted).as_bytes()));
                    members.out.extend(new.as_bytes());
                }
                members.out.push(b'}');
            }
            (PathPart::Index { number, from_end }, Kind::Array) => {
                let count = value.elements().count();
                let place = if *from_end { count.checked_sub(*number) } else { Some(*number) };
                let mut members = Members::array(out);
                for (at, element) in value.elements().enumerate() {
                    members.begin(None);
                    if Some(at) == place {
                        self.put(element, rest, new, members.out);
                    } else {
                        members.out.extend(element.raw());
                    }
                    members.end();
                }
                if let Some(new) = adds(place != Some(count)) {
                    members.begin(None);
                    members.out.extend(new.as_bytes());
                }
                members.out.push(b']');
            }
            _ => out.extend_from_slice(value.raw()),
        }
    }
}

/// Writes the members of an object or an array, with commas between them. A member is left out if nothing was written
/// for it.
struct Members<'o> {
    out: &'o mut Vec<u8>,
    /// Where the text was as long as it is without the current member, and where its value begins.
    kept: (usize, usize),
    first: usize,
}

impl<'o> Members<'o> {
    fn object(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        let first = out.len();
        Self { out, kept: (first, first), first }
    }

    fn array(out: &'o mut Vec<u8>) -> Self {
        out.push(b'[');
        let first = out.len();
        Self { out, kept: (first, first), first }
    }

    fn begin(&mut self, key: Option<&[u8]>) {
        let before = self.out.len();
        if before > self.first {
            self.out.push(b',');
        }
        if let Some(key) = key {
            self.out.extend_from_slice(key);
            self.out.push(b':');
        }
        self.kept = (before, self.out.len());
    }

    fn end(&mut self) {
        if self.out.len() == self.kept.1 {
            self.out.truncate(self.kept.0);
        }
    }
}

/// A part of a path.
#[derive(Debug, PartialEq, Eq)]
enum PathPart {
    Key(String),
    /// The element of this number, from 0; or counted back from the end, where 0 is after the last one.
    Index {
        number: usize,
        from_end: bool,
    },
}

/// The steps of `$.a[0]."b c"[#-1]`, as SQLite writes them, or of `/a/0`.
fn steps(path: &str) -> Result<Vec<PathPart>, Error> {
    let wrong = || Error::sql(format!("'{path}' is no path such as '$.a[0].b' or '/a/0/b'"));
    if let Some(pointer) = path.strip_prefix('/') {
        return Ok(pointer.split('/').map(pointed).collect());
    }
    let mut rest = path.strip_prefix('$').ok_or_else(wrong)?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix(".\"") {
            let (key, after) = quoted.split_once('"').ok_or_else(wrong)?;
            steps.push(PathPart::Key(key.to_owned()));
            rest = after;
        } else if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            if end == 0 {
                return Err(wrong());
            }
            steps.push(PathPart::Key(name[..end].to_owned()));
            rest = &name[end..];
        } else {
            let (index, after) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or_else(wrong)?;
            steps.push(match index.strip_prefix('#') {
                Some("") => PathPart::Index { number: 0, from_end: true },
                Some(back) => {
                    let number = back.strip_prefix('-').and_then(|digits| digits.parse().ok()).ok_or_else(wrong)?;
                    PathPart::Index { number, from_end: true }
                }
                None => PathPart::Index { number: index.parse().map_err(|_| wrong())?, from_end: false },
            });
            rest = after;
        }
    }
    Ok(steps)
}

/// A part of a JSON Pointer. Digits are the number of an element.
fn pointed(part: &str) -> PathPart {
    match part {
        "-" => PathPart::Index { number: 0, from_end: true },
        _ => match part.parse() {
            Ok(number) => PathPart::Index { number, from_end: false },
            Err(_) => PathPart::Key(part.replace("~1", "/").replace("~0", "~")),
        },
    }
}

fn parsed(text: &str) -> Option<jird::Document<'_>> {
    jird::parse(text.as_bytes()).ok()
}

/// Appends what a patch makes of a value (RFC 7396).
fn merge(target: Option<Value<'_>>, patch: Value<'_>, out: &mut Vec<u8>) {
    if patch.kind() != Kind::Object {
        return out.extend_from_slice(patch.raw());
    }
    let target = target.filter(|target| target.kind() == Kind::Object);
    let mut members = Members::object(out);
    for (key, member) in target.iter().flat_map(|target| target.entries()) {
        let name = key.as_str();
        let change = name.as_deref().and_then(|name| patch.get(name));
        if change.as_ref().is_some_and(|change| change.kind() == Kind::Null) {
            continue;
        }
        members.begin(Some(key.raw()));
        match change {
            Some(change) => merge(Some(member), change, members.out),
            None => members.out.extend_from_slice(member.raw()),
        }
    }
    for (key, change) in patch.entries() {
        let is_known =
            key.as_str().is_some_and(|name| target.as_ref().is_some_and(|target| target.get(&name).is_some()));
        if is_known || change.kind() == Kind::Null {
            continue;
        }
        members.begin(Some(key.raw()));
        merge(None, change, members.out);
    }
    members.out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(what: Edit, given: &[&str]) -> Option<String> {
        what.edited(&given.iter().map(|text| Some(*text)).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn paths_are_set_inserted_replaced_and_removed() {
        let text = r#"{"a": 1.50, "b":[1, 2,{"c" : null}]}"#;
        for (what, given, wanted) in [
            (Edit::Set, &[r#""$.a""#, "2"][..], r#"{"a":2,"b":[1, 2,{"c" : null}]}"#),
            (Edit::Set, &[r#""$.b[0]""#, "[]"], r#"{"a":1.50,"b":[[],2,{"c" : null}]}"#),
            (Edit::Set, &[r#""$.b[#-1].c""#, "true"], r#"{"a":1.50,"b":[1,2,{"c":true}]}"#),
            (Edit::Set, &[r#""$.b[#]""#, "3"], r#"{"a":1.50,"b":[1,2,{"c" : null},3]}"#),
            (Edit::Set, &[r#""/b/-""#, "3"], r#"{"a":1.50,"b":[1,2,{"c" : null},3]}"#),
            (Edit::Set, &[r#""$.x.y""#, "3"], r#"{"a":1.50,"b":[1, 2,{"c" : null}]}"#),
            (Edit::Set, &[r#""$.\"x y\"""#, "3"], r#"{"a":1.50,"b":[1, 2,{"c" : null}],"x y":3}"#),
            (Edit::Insert, &[r#""$.a""#, "2"], r#"{"a":1.50,"b":[1, 2,{"c" : null}]}"#),
            (Edit::Insert, &[r#""$.z""#, "2"], r#"{"a":1.50,"b":[1, 2,{"c" : null}],"z":2}"#),
            (Edit::Replace, &[r#""$.z""#, "2"], r#"{"a":1.50,"b":[1, 2,{"c" : null}]}"#),
            (Edit::Replace, &[r#""$.a""#, "\"é\""], r#"{"a":"é","b":[1, 2,{"c" : null}]}"#),
            (Edit::Remove, &[r#""$.a""#], r#"{"b":[1, 2,{"c" : null}]}"#),
            (Edit::Remove, &[r#""$.b""#, r#""$.a""#], "{}"),
            (Edit::Remove, &[r#""$.b[1]""#], r#"{"a":1.50,"b":[1,{"c" : null}]}"#),
            (Edit::Remove, &[r#""$.b[2].c""#], r#"{"a":1.50,"b":[1,2,{}]}"#),
        ] {
            let given = [&[text], given].concat();
            assert_eq!(edit(what, &given).as_deref(), Some(wanted), "{what:?} {given:?}");
        }
        assert_eq!(edit(Edit::Set, &["1", r#""$""#, "2"]).as_deref(), Some("2"));
        assert_eq!(edit(Edit::Remove, &["1", r#""$""#]), None);
        assert!(["", "a", "$.", "$[", "$[x]", "$.a[#1]"].iter().all(|path| steps(path).is_err()));
    }

    #[test]
    fn patches_are_merged_as_the_rfc_says() {
        for (target, patch, wanted) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            assert_eq!(edit(Edit::MergePatch, &[target, patch]).as_deref(), Some(wanted), "{target} {patch}");
        }
    }
}
