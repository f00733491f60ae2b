//! What is wrong, as a line of the output.

use crate::documents::Begin;
use jird::{ErrorKind, Located};
use jird_formats::files::record_limit_hint;
use std::fmt::Write;

/// What is wrong, with its place in the part of the text that was read.
pub(super) enum Wrong {
    /// The text of a record, and a note if a byte order mark is what is wrong.
    Text(Located, Option<&'static str>),
    /// A value, which does not satisfy the schema.
    Breach { line: u64, column: u64, offset: u64, breach: Breach },
}

/// A place where a record does not satisfy the schema.
#[derive(Debug, Default)]
pub(super) struct Breach {
    /// The offset of the value in the record.
    pub(super) at: usize,
    /// The JSON Pointer of the value.
    pub(super) pointer: String,
    pub(super) reason: String,
    /// The JSON Pointer of the keyword in the schema; empty if none is to blame.
    pub(super) keyword: String,
}

impl Wrong {
    pub(super) fn text(located: Located, stray_mark: Option<&'static str>) -> Self {
        Self::Text(located, stray_mark)
    }

    /// A breach of a record that begins at this offset of a text.
    pub(super) fn breach(breach: Breach, start: usize, text: &[u8]) -> Self {
        let before = &text[..start + breach.at];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        Self::Breach {
            line: jird::hooks::lines::newlines(before) + 1,
            column: (before.len() - line_start) as u64 + 1,
            offset: before.len() as u64,
            breach,
        }
    }

    /// Says that there is more like this.
    pub(super) fn and_more(&self) -> Self {
        let reason = "more in this document is not as the schema asks".to_owned();
        match self {
            Self::Breach { line, column, offset, .. } => Self::Breach {
                line: *line,
                column: *column,
                offset: *offset,
                breach: Breach { reason, ..Breach::default() },
            },
            Self::Text(located, stray) => Self::Text(located.clone(), *stray),
        }
    }

    /// The place in a piece that begins at `base`: the record is at `at` there, in the line that begins at
    /// `line_start`, which has `lines_before` lines before it. A bad text is located there already.
    pub(super) fn after(self, lines_before: u64, base: u64, at: usize, line_start: usize) -> Self {
        match self {
            Self::Breach { line, column, offset, breach } => Self::Breach {
                line: line + lines_before,
                column: column + (at - line_start) as u64,
                offset: offset + base + at as u64,
                breach,
            },
            Self::Text(..) => self,
        }
    }

    /// The place of a wrong document in the text in which it begins there. A bad text is located there already.
    pub(super) fn in_text(self, begin: Begin) -> Self {
        match self {
            Self::Breach { line, column, offset, breach } => Self::Breach {
                line: line + begin.lines,
                column: if line == 1 { column + begin.column } else { column },
                offset: offset + begin.offset,
                breach,
            },
            Self::Text(..) => self,
        }
    }

    /// The line, for a part that has `lines_before` lines before it.
    pub(super) fn line(self, name: &str, lines_before: u64, record_limit: Option<usize>) -> String {
        match self {
            Self::Text(located, stray_mark) => {
                text_line(name, &located.after_lines(lines_before, 0), stray_mark, record_limit)
            }
            Self::Breach { line, column, offset, breach } => {
                let Breach { pointer, reason, keyword, .. } = breach;
                let mut words = format!("{name}:{}:{column}: {reason} (byte {offset}", line + lines_before);
                if !pointer.is_empty() {
                    let _ = write!(words, ", at {pointer}");
                }
                if !keyword.is_empty() {
                    let _ = write!(words, ", schema {keyword}");
                }
                words + ")\n"
            }
        }
    }
}

/// `FILE:LINE:COLUMN: message (byte N, at /path)`.
fn text_line(name: &str, found: &Located, stray_mark: Option<&str>, record_limit: Option<usize>) -> String {
    let kind = found.error().kind();
    let hint = record_limit.filter(|_| kind == ErrorKind::Size).map(record_limit_hint).unwrap_or_default();
    let mut line = format!("{name}:{}:{}: {kind}{hint}", found.line(), found.column());
    if let Some(mark) = stray_mark {
        let _ = write!(line, "; {mark}");
    }
    let _ = writeln!(line, " {}", found.place());
    line
}
