//! Prints the tape node by node, for debugging.

use super::long::LONG_WORDS;
use crate::word::{Node, Word};
use core::fmt;

/// Writes one line per word: its index, its kind, where its text is, and its length or count.
pub(super) fn dump(text: &[u8], words: &[u64], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "tape of {} bytes, {} words", text.len(), words.len())?;
    let mut counts = 0;
    for (index, &word) in words.iter().enumerate() {
        let word = Word::new(word);
        if counts > 0 {
            counts -= 1;
            writeln!(f, "{index:6} count {}", word.long_count())?;
            continue;
        }
        let offset = word.offset();
        let count = |count: Option<usize>| count.map_or("many".into(), |count| count.to_string());
        let flag = if word.flag() { " *" } else { "" };
        write!(f, "{index:6} {:?} ", word.node())?;
        match word.node() {
            Node::Object | Node::Array => {
                counts = if word.count().is_some() { 0 } else { LONG_WORDS };
                writeln!(f, "at {offset}, {} words", count(word.count()))?;
            }
            Node::End => writeln!(f, "before {offset}, {} children", count(word.count()))?,
            _ => writeln!(f, "at {offset}, {} bytes{flag}", count(word.len()))?,
        }
    }
    Ok(())
}
