//! What messages to people say about places in a text: paths, offsets, and text that a terminal may show.

use core::fmt::{self, Write};

/// The maximum number of steps that a path in a message has. Longer paths are shortened in the middle.
const STEPS_SHOWN: usize = 32;

/// A step of a path.
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Writes a step as in a JSON Pointer (RFC 6901 §3 and §4): after `/`, with `~` as `~0` and `/` as `~1`.
pub(crate) fn write_step(out: &mut impl Write, step: &Step<'_>) -> fmt::Result {
    match step {
        Step::Index(index) => write!(out, "/{index}"),
        Step::Key(key) => {
            out.write_char('/')?;
            let mut rest = *key;
            while let Some(at) = rest.find(['~', '/']) {
                let escape = if rest[at..].starts_with('~') { "~0" } else { "~1" };
                write!(out, "{}{escape}", &rest[..at])?;
                rest = &rest[at + 1..];
            }
            out.write_str(rest)
        }
    }
}

/// The JSON Pointer of a path with `len` steps; `write` writes the step at an index. If there are more than a message
/// shows, a step in the middle says how many are left out, as in `/a/…(3 more)/b`.
pub(crate) fn pointer(len: usize, mut write: impl FnMut(&mut String, usize)) -> String {
    const HALF: usize = STEPS_SHOWN / 2;
    let mut pointer = String::new();
    if len <= STEPS_SHOWN {
        (0..len).for_each(|index| write(&mut pointer, index));
    } else {
        (0..HALF).for_each(|index| write(&mut pointer, index));
        let _ = write!(pointer, "/…({} more)", len - STEPS_SHOWN);
        (len - HALF..len).for_each(|index| write(&mut pointer, index));
    }
    pointer
}

/// The place of an error, in brackets: the offset if it is known, and the pointer if it is not empty.
pub(crate) struct At<'a> {
    pub(crate) offset: Option<u64>,
    pub(crate) pointer: &'a str,
}

impl At<'_> {
    /// Whether there is anything to show.
    pub(crate) fn is_known(&self) -> bool {
        self.offset.is_some() || !self.pointer.is_empty()
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = String::new();
        printable(self.pointer.as_bytes(), &mut shown);
        match (self.offset, &*shown) {
            (None, "") => Ok(()),
            (None, shown) => write!(f, "(at {shown})"),
            (Some(offset), "") => write!(f, "(byte {offset})"),
            (Some(offset), shown) => write!(f, "(byte {offset}, at {shown})"),
        }
    }
}

/// Appends `bytes`, with a visible character in place of each one that is not text or that would control a terminal.
pub(crate) fn printable(bytes: &[u8], out: &mut String) {
    out.extend(String::from_utf8_lossy(bytes).chars().map(|char| match char {
        '\t' => ' ',
        '\0'..='\x1F' => char::from_u32(char as u32 + 0x2400).unwrap_or('�'),
        '\x7F' => '␡',
        '\u{80}'..='\u{9F}' => '�',
        char => char,
    }));
}
