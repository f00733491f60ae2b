//! JSON in colours, for people.

use crate::system;
use std::borrow::Cow;
use std::io::{IsTerminal, stdout};

/// When output has colours.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ColorArgs {
    /// Whether the output has colours; auto: on a terminal, unless `NO_COLOR` is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl ColorArgs {
    /// The text, with colours if standard output is to have them. The text must be JSON.
    pub(crate) fn paint(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self.is_wanted() { Cow::Owned(painted(text)) } else { Cow::Borrowed(text) }
    }

    /// A line of a difference, with the colour of its sign, `-` or `+`.
    pub(crate) fn of_change(self, sign: char, line: &str) -> String {
        let color = if sign == '-' { 31 } else { 32 };
        if self.is_wanted() { format!("\x1b[{color}m{line}\x1b[0m") } else { line.to_owned() }
    }

    fn is_wanted(self) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            // An empty variable counts as unset (no-color.org).
            Color::Auto => {
                stdout().is_terminal()
                    && system::shows_escapes()
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        }
    }
}

const KEY: &[u8] = b"\x1b[34;1m";
const STRING: &[u8] = b"\x1b[32m";
const NUMBER: &[u8] = b"\x1b[36m";
const WORD: &[u8] = b"\x1b[35m";
const END: &[u8] = b"\x1b[0m";

fn painted(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some(&first) = rest.first() {
        let is_scalar = first == b'-' || first.is_ascii_alphanumeric();
        let len = match first {
            b'"' => string_len(rest),
            _ if is_scalar => rest.iter().take_while(|byte| !b" \t\r\n,]}".contains(byte)).count(),
            _ => 1,
        };
        let (token, after) = rest.split_at(len);
        let color = match first {
            b'"' if after.trim_ascii_start().first() == Some(&b':') => Some(KEY),
            b'"' => Some(STRING),
            b't' | b'f' | b'n' => Some(WORD),
            _ if is_scalar => Some(NUMBER),
            _ => None,
        };
        match color {
            Some(color) => [color, token, END].into_iter().for_each(|part| out.extend_from_slice(part)),
            None => out.extend_from_slice(token),
        }
        rest = after;
    }
    out
}

/// The length of the string at the start, with both quotes.
fn string_len(text: &[u8]) -> usize {
    let mut is_escaped = true;
    let end = text.iter().position(|byte| {
        // The first quote counts as escaped, because it ends nothing.
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_has_its_color_and_nothing_else_changes() {
        let text = br#"{"a\"b" : ["x\\", -1.5e3, true, null, {}], "c":""}"#;
        let painted = String::from_utf8(painted(text)).unwrap();
        let wanted = "{\x1b[34;1m\"a\\\"b\"\x1b[0m : [\x1b[32m\"x\\\\\"\x1b[0m, \x1b[36m-1.5e3\x1b[0m, \
                      \x1b[35mtrue\x1b[0m, \x1b[35mnull\x1b[0m, {}], \x1b[34;1m\"c\"\x1b[0m:\x1b[32m\"\"\x1b[0m}";
        assert_eq!(painted, wanted);
    }
}
