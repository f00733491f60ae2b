//! What records hold, as a JSON Schema.

use super::{FieldFacts, FieldKind, Fields};
use jird::hooks::{ObjectWriter, write_object};
use std::fmt::Write;

/// Objects and arrays of the schema that may be open at once. What is nested more deeply is left open, so that every
/// reader of schemas can read this one: many stop at 128.
const DEPTH_MAX: usize = 120;

impl Fields {
    /// A JSON Schema of draft 2020-12 that every record satisfies, as JSON without white space.
    ///
    /// It says what was met: the types of every field, the fields that no object of their kind lacks (`required`), and
    /// the elements of arrays, all in the order of their first occurrence. It forbids no other field. Numbers are
    /// `integer` if all were written without a fraction and an exponent. Where more than 10,000 fields were met, or
    /// values are nested more than about 60 levels deep, the rest is left open, and the schema says so. Takes time
    /// linear in the number of fields.
    ///
    /// ```
    /// use jird::event::{JsonSource, Source};
    /// let mut fields = jird_formats::Fields::default();
    /// let mut records = JsonSource::from_slice(b"{\"a\":1}{\"a\":null,\"b\":[true]}");
    /// while records.send_record(&mut fields).map_err(|_| "a bad record")? {}
    /// let schema = fields.to_schema();
    /// assert!(schema.contains(r#""properties":{"a":{"type":["null","integer"]},"b":{"type":"array","items":"#));
    /// assert!(schema.contains(r#""required":["a"]"#));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn to_schema(&self) -> String {
        let children = self.children();
        let mut text = Vec::new();
        write_object(&mut text, |object| {
            object.member("$schema", "https://json-schema.org/draft/2020-12/schema");
            object.member("description", &self.words());
            self.write_node(object, &children, 0, 1);
        });
        String::from_utf8(text).unwrap_or_default()
    }

    /// What the schema as a whole says of itself.
    fn words(&self) -> String {
        let records = self.records;
        let mut words = match records {
            0 => "No record was read, so this schema allows everything.".to_owned(),
            1 => "The record that was read satisfies this schema.".to_owned(),
            _ => format!("All {records} records that were read satisfy this schema."),
        };
        if self.beyond > 0 {
            let _ =
                write!(words, " {} values of other fields are not described: there are too many names.", self.beyond);
        }
        words
    }

    /// Writes the keywords for a node; `depth` objects and arrays are open.
    fn write_node(&self, object: &mut ObjectWriter<'_>, children: &[Vec<usize>], index: usize, depth: usize) {
        let node = &self.nodes[index];
        write_types(object, node);
        if children[index].is_empty() {
            return;
        }
        // Its fields would be two deeper, and have an array of types or of required fields in them.
        if depth + 3 > DEPTH_MAX {
            object.member("$comment", "What is nested more deeply is not described.");
            return;
        }
        let keyed = || children[index].iter().filter_map(|child| Some((*child, self.nodes[*child].key.as_deref()?)));
        if keyed().next().is_some() {
            object.object("properties", |properties| {
                for (child, key) in keyed() {
                    properties.object(key, |object| self.write_node(object, children, child, depth + 2));
                }
            });
        }
        let objects = node.met(FieldKind::Object).0;
        let is_required = |child: usize| self.nodes[child].present == objects;
        if keyed().any(|(child, _)| is_required(child)) {
            object.array("required", |required| {
                keyed().filter(|(child, _)| is_required(*child)).for_each(|(_, key)| required.element(key));
            });
        }
        if let Some(element) = node.element {
            object.object("items", |items| self.write_node(items, children, element, depth + 1));
        }
    }
}

/// Writes `type`: one name, or an array of names. Nothing, if no value is known.
fn write_types(object: &mut ObjectWriter<'_>, node: &FieldFacts) {
    let has_floats = node.met(FieldKind::Float).0 > 0;
    let names: Vec<_> = node
        .kinds()
        .filter_map(|kind| match kind {
            FieldKind::Null => Some("null"),
            FieldKind::Boolean => Some("boolean"),
            // `number` holds the integers too.
            FieldKind::Integer if has_floats => None,
            FieldKind::Integer => Some("integer"),
            FieldKind::Float => Some("number"),
            FieldKind::Text => Some("string"),
            FieldKind::Object => Some("object"),
            FieldKind::Array => Some("array"),
        })
        .collect();
    match names[..] {
        [] => {}
        [name] => object.member("type", name),
        _ => object.array("type", |types| names.iter().for_each(|name| types.element(*name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jird::event::{JsonSource, Source};

    fn schema(text: &str) -> String {
        let mut fields = Fields::default();
        let mut records = JsonSource::from_slice(text.as_bytes());
        while records.send_record(&mut fields).unwrap() {}
        fields.to_schema()
    }

    #[track_caller]
    fn check(records: &str, expected: &str) {
        let text = schema(records);
        let (_, after) = text.split_once("schema.\"").unwrap();
        assert_eq!(after, expected);
    }

    #[test]
    fn it_says_what_was_met() {
        check("1 2", r#","type":"integer"}"#);
        check("1 2e0 null", r#","type":["null","number"]}"#);
        check(r#"{"a":1,"a":"x"}"#, r#","type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#);
        check(
            r#"{"b":[],"a":1}{"a":{"c":""},"b":[{"d":1},{}]}"#,
            concat!(
                r#","type":"object","properties":{"b":{"type":"array","items":{"type":"object","#,
                r#""properties":{"d":{"type":"integer"}}}},"#,
                r#""a":{"type":["integer","object"],"properties":{"c":{"type":"string"}},"required":["c"]}},"#,
                r#""required":["b","a"]}"#
            ),
        );
        assert!(schema("").ends_with(r#""description":"No record was read, so this schema allows everything."}"#));
    }

    #[test]
    fn no_key_is_taken_for_the_elements_of_an_array() {
        let mixed = r#"{"[]\u0000":"x"} [1]"#;
        check(
            mixed,
            concat!(
                r#","type":["object","array"],"properties":{"[]\u0000":{"type":"string"}},"#,
                r#""required":["[]\u0000"],"items":{"type":"integer"}}"#
            ),
        );
    }

    #[test]
    fn deep_records_have_schemas_that_others_can_read() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = schema(&[open.repeat(900), "1".to_owned(), close.repeat(900)].concat());
            let limit = jird::policy::Policy { depth_max: DEPTH_MAX, ..Default::default() };
            jird::Parser::with_policy(limit).validate(text.as_bytes()).unwrap();
            assert!(text.contains("not described"));
        }
    }
}
