//! The tape in words, node by node, for whoever debugs it.

use super::word::{Node, Word, ends};
use core::fmt;

/// One line a node: index, kind, where its text is, and for containers the count and the index past the end.
pub(super) fn dump(text: &[u8], words: &[u64], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "tape of {} bytes, {} words", text.len(), words.len())?;
    let mut index = 0;
    while let Some(&first) = words.get(index) {
        let word = Word::new(first);
        let start = word.start();
        if let (Node::Object | Node::Array, Some(&second)) = (word.node(), words.get(index + 1)) {
            let (text_end, len) = ends(second);
            let count = word.count().map_or("many".into(), |count| count.to_string());
            writeln!(f, "{index:6} {:?} {start}..{text_end}, {count} children, {len} words", word.node())?;
            index += 2;
        } else {
            let len = word.len().map_or("long".into(), |len| len.to_string());
            let flag = if word.flag() { " *" } else { "" };
            writeln!(f, "{index:6} {:?} at {start}, {len} bytes{flag}", word.node())?;
            index += 1;
        }
    }
    Ok(())
}
