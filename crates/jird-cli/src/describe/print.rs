//! Prints fields as a table or as JSON.

use super::fields::{Fields, Node, TYPES, Type};
use jird::event::write_string;
use std::fmt::Write;

/// A table for people.
pub(super) fn table(fields: &Fields) -> String {
    let mut rows = vec![["field", "type", "null", "missing", "duplicate", "met"].map(str::to_owned).to_vec()];
    for node in fields.in_order() {
        let met: Vec<_> = types(node)
            .filter(|(kind, ..)| *kind != Type::Null)
            .map(|(kind, name)| {
                let (count, first) = node.met(kind);
                format!("{count} {name} ({})", fields.place(first))
            })
            .collect();
        let count = |count: u64| if count == 0 { String::new() } else { count.to_string() };
        let (duplicates, first) = node.duplicates;
        rows.push(vec![
            node.name.clone(),
            type_name(node),
            count(node.met(Type::Null).0),
            count(fields.missing(node)),
            if duplicates == 0 { String::new() } else { format!("{duplicates} ({})", fields.place(first)) },
            met.join(", "),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..5).map(width).collect();
    let mut text = format!("{} records", fields.records);
    let kinds: Vec<_> = types(&fields.nodes[0]).map(|(kind, name)| (fields.nodes[0].met(kind).0, name)).collect();
    if kinds.iter().any(|(_, name)| *name != "object") {
        let kinds: Vec<_> = kinds.iter().map(|(count, name)| format!("{count} {name}")).collect();
        let _ = write!(text, ": {}", kinds.join(", "));
    }
    text.push_str("\n\n");
    for row in rows {
        let mut line = String::new();
        for (index, cell) in row.iter().enumerate() {
            let width = widths.get(index).copied().unwrap_or_default();
            let gap = if index > 0 { "  " } else { "" };
            let _ = match index {
                2 | 3 => write!(line, "{gap}{cell:>width$}"),
                _ => write!(line, "{gap}{cell:width$}"),
            };
        }
        text.extend([line.trim_end(), "\n"]);
    }
    if fields.beyond > 0 {
        let _ = writeln!(text, "\n{} values of other fields are not shown: there are too many names", fields.beyond);
    }
    text
}

/// JSON for programs.
pub(super) fn json(fields: &Fields) -> String {
    let mut out = b"[".to_vec();
    for (index, node) in fields.in_order().into_iter().enumerate() {
        out.extend_from_slice(if index > 0 { b",\n{" } else { b"\n{" });
        let mut text = |key: &str, value: &str| {
            write_string(key, &mut out);
            out.push(b':');
            write_string(value, &mut out);
            out.push(b',');
        };
        text("field", &node.name);
        text("type", &type_name(node));
        let counts = [("present", node.present), ("missing", fields.missing(node)), ("duplicates", node.duplicates.0)];
        for (key, count) in counts {
            out.extend_from_slice(format!("\"{key}\":{count},").as_bytes());
        }
        out.extend_from_slice(b"\"met\":{");
        for (index, (kind, name)) in types(node).enumerate() {
            let (count, first) = node.met(kind);
            let comma = if index > 0 { "," } else { "" };
            out.extend_from_slice(format!("{comma}\"{name}\":{{\"count\":{count},\"first\":").as_bytes());
            write_string(&fields.place(first), &mut out);
            out.push(b'}');
        }
        out.extend_from_slice(b"}}");
    }
    out.extend_from_slice(b"\n]\n");
    String::from_utf8_lossy(&out).into_owned()
}

/// The name of the narrowest type that holds all values of the field.
fn type_name(node: &Node) -> String {
    match node.seen.column_type() {
        None => "null".to_owned(),
        Some(kind) => {
            let mut kinds = types(node).filter(|(kind, _)| *kind != Type::Null);
            match (kinds.next(), kinds.next()) {
                (Some((Type::Object | Type::Array, name)), None) => name.to_owned(),
                _ => kind.to_string(),
            }
        }
    }
}

/// The types that occurred.
fn types(node: &Node) -> impl Iterator<Item = (Type, &'static str)> {
    TYPES.into_iter().filter(|(kind, _)| node.met(*kind).0 > 0)
}
