//! Prints fields as a table or as JSON.

use jird::hooks::write_object;
use jird_formats::{FieldKind, Fields};
use std::fmt::Write;

/// A table for people. In a terminal of `page` columns, what does not fit goes on below.
pub(super) fn table(fields: &Fields, page: Option<usize>) -> String {
    let mut rows = vec![["field", "type", "null", "missing", "duplicate", "met"].map(str::to_owned).to_vec()];
    for node in fields.in_order() {
        let met: Vec<_> = node
            .kinds()
            .filter(|kind| *kind != FieldKind::Null)
            .map(|kind| {
                let (count, first) = node.met(kind);
                format!("{count} {} ({})", kind.name(), fields.place(first))
            })
            .collect();
        let count = |count: u64| if count == 0 { String::new() } else { count.to_string() };
        let (duplicates, first) = node.duplicates();
        rows.push(vec![
            node.name().to_owned(),
            node.type_name(),
            count(node.met(FieldKind::Null).0),
            count(fields.missing(node)),
            if duplicates == 0 { String::new() } else { format!("{duplicates} ({})", fields.place(first)) },
            met.join(", "),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..5).map(width).collect();
    let mut text = format!("{} records", fields.records());
    let record = fields.record();
    let kinds: Vec<_> = record.kinds().map(|kind| (record.met(kind).0, kind.name())).collect();
    if kinds.iter().any(|(_, name)| *name != "object") {
        let kinds: Vec<_> = kinds.iter().map(|(count, name)| format!("{count} {name}")).collect();
        let _ = write!(text, ": {}", kinds.join(", "));
    }
    text.push_str("\n\n");
    for row in rows {
        let mut line = String::new();
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = match index {
                2 | 3 => write!(line, "{cell:>width$}  "),
                _ => write!(line, "{cell:width$}  "),
            };
        }
        add_met(&mut line, &row[5], page.unwrap_or(usize::MAX));
        text.extend([line.trim_end(), "\n"]);
    }
    if fields.beyond() > 0 {
        let _ = writeln!(text, "\n{} values of other fields are not shown: there are too many names", fields.beyond());
    }
    text
}

/// The last column is not narrower than this. If there is less room, it stands below the others.
const MET_WIDTH_MIN: usize = 24;

/// Adds what was met to a line of the table, and breaks it where it would leave the page.
fn add_met(line: &mut String, met: &str, page: usize) {
    let start = line.chars().count();
    if start + met.chars().count() <= page {
        return line.push_str(met);
    }
    let indent = if start + MET_WIDTH_MIN <= page { start } else { INDENT };
    let mut at = start;
    for item in met.split_inclusive(", ") {
        let width = item.trim_end().chars().count();
        if at > indent && at + width > page {
            line.truncate(line.trim_end().len());
            let _ = write!(line, "\n{:indent$}", "");
            at = indent;
        }
        line.push_str(item);
        at += item.chars().count();
    }
}

/// The indentation of what stands below its line.
const INDENT: usize = 4;

/// JSON for programs.
pub(super) fn json(fields: &Fields) -> String {
    let mut out = b"[".to_vec();
    for (index, node) in fields.in_order().into_iter().enumerate() {
        out.extend_from_slice(if index > 0 { b",\n" } else { b"\n" });
        write_object(&mut out, |object| {
            object.member("field", node.name());
            object.member("type", &node.type_name());
            object.member("present", node.present());
            object.member("missing", fields.missing(node));
            object.member("duplicates", node.duplicates().0);
            object.object("met", |met| {
                for kind in node.kinds() {
                    let (count, first) = node.met(kind);
                    met.object(kind.name(), |object| {
                        object.member("count", count);
                        object.member("first", &fields.place(first));
                    });
                }
            });
        });
    }
    out.extend_from_slice(b"\n]\n");
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(page: usize, expected: &str) {
        let mut line = "name  text  ".to_owned();
        add_met(&mut line, "10 text (a:1), 3 integer (a:12), 1 object (b:9)", page);
        assert_eq!(line, expected);
    }

    #[test]
    fn what_was_met_is_broken_between_types() {
        check(60, "name  text  10 text (a:1), 3 integer (a:12), 1 object (b:9)");
        check(48, "name  text  10 text (a:1), 3 integer (a:12),\n            1 object (b:9)");
        check(36, "name  text  10 text (a:1),\n            3 integer (a:12),\n            1 object (b:9)");
        check(30, "name  text  10 text (a:1),\n    3 integer (a:12),\n    1 object (b:9)");
        check(8, "name  text\n    10 text (a:1),\n    3 integer (a:12),\n    1 object (b:9)");
    }
}
