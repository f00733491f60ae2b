//! Texts that were cut short, made valid.

use super::document::PartialDocument;
use crate::error::Error;
use crate::message::printable;
use core::fmt;

/// What [`repair`] has made of a text. Its `Display` says what was removed and what was added, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    text: String,
    kept: usize,
    removed: Vec<u8>,
}

/// Makes a valid text of one that was cut short: removes from its end what cannot be completed, and closes what is open.
///
/// Removed are a comma, a key without a value, a number, a literal such as `tru`, and half an escape or a character; a
/// number also if it could be complete, because more digits may have followed it. Added are a quote, if a string is cut,
/// and brackets. A valid text is not changed. Takes linear time, and memory for the text and its tape.
///
/// ```
/// let repair = jird::partial::repair(br#"{"name": "jird", "legs": [1, 2, 3"#)?;
/// assert_eq!(repair.text(), r#"{"name": "jird", "legs": [1, 2]}"#);
/// assert_eq!((repair.kept(), repair.removed(), repair.added()), (30, &b", 3"[..], "]}"));
/// assert_eq!(repair.to_string(), "cut short: removed 3 bytes from byte 30 (`, 3`), added `]}`");
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// Only cuts are repaired: any other error is that of [`parse`](crate::parse). So is that of a text whose value has not
/// begun, or is cut so that nothing is left of it.
pub fn repair(text: &[u8]) -> Result<Repair, Error> {
    let mut document = PartialDocument::new();
    document.push(text)?;
    let finished = document.finish();
    if finished.is_ok() {
        let text = String::from_utf8_lossy(text).into_owned();
        return Ok(Repair { kept: text.len(), text, removed: Vec::new() });
    }
    let Some(so_far) = document.snapshot() else { return Err(finished.expect_err("it is not Ok")) };
    let (closed, kept) = (so_far.text().to_owned(), so_far.kept());
    Ok(Repair { text: closed, kept, removed: text[kept..].to_vec() })
}

impl Repair {
    /// The valid text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The valid text, without a copy.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The number of bytes that were kept from the beginning of the text.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// The bytes after them, which were removed.
    pub fn removed(&self) -> &[u8] {
        &self.removed
    }

    /// What was added in their place.
    pub fn added(&self) -> &str {
        &self.text[self.kept..]
    }

    /// Whether anything was removed or added.
    pub fn is_changed(&self) -> bool {
        !(self.removed.is_empty() && self.added().is_empty())
    }
}

/// The most bytes of a text that a message shows.
const SHOWN: usize = 60;

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_changed() {
            return f.write_str("not cut short: nothing was changed");
        }
        f.write_str("cut short:")?;
        if !self.removed.is_empty() {
            let (len, kept) = (self.removed.len(), self.kept);
            let bytes = if len == 1 { "byte" } else { "bytes" };
            write!(f, " removed {len} {bytes} from byte {kept} (`{}`)", shown(&self.removed))?;
        }
        if !self.added().is_empty() {
            let comma = if self.removed.is_empty() { "" } else { "," };
            write!(f, "{comma} added `{}`", shown(self.added().as_bytes()))?;
        }
        Ok(())
    }
}

/// The beginning of a text as a message shows it.
fn shown(text: &[u8]) -> String {
    let mut shown = String::new();
    printable(&text[..text.len().min(SHOWN)], &mut shown);
    if text.len() > SHOWN {
        shown.push('…');
    }
    shown
}
