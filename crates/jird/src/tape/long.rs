//! Containers whose counts do not fit into their words.
//!
//! A container's first word has 28 bits for the number of its words, and its last word has 28 bits for the
//! number of its children. For a larger container both counts are stored in two words of their own, after its
//! first word:
//!
//! ```text
//! first  |u | kind |   all ones          |   offset   |
//! long   |u | End  | length in words                  |
//! long   |u | End  | number of children               |
//! ```
//!
//! So the reader finds its end and its number of children in constant time too. Only a text of 256 MB or more
//! can hold such a container. Once its tape is complete, `spell_out` inserts these words. Other containers do
//! not change, because none of them holds a large one.

use crate::limits::COUNT_MAX;
use crate::word::{Node, Word};

/// The number of words inserted after the first word of a large container.
pub(super) const LONG_WORDS: usize = 2;

/// A large container.
struct Long {
    /// The index of its first word, before any words are inserted.
    first: usize,
    /// The number of its words, inserted words included.
    words: usize,
    children: usize,
}

/// Inserts the counts of all large containers into a complete tape. Free if the tape is too short to have any;
/// otherwise linear in the tape.
pub(super) fn spell_out(words: &mut Vec<u64>) {
    if words.len() < COUNT_MAX {
        return;
    }
    let found = find(words);
    let mut end = words.len();
    words.resize(end + LONG_WORDS * found.len(), 0);
    // Goes from the last container to the first, so that no word is overwritten before it is moved.
    for (index, long) in found.iter().enumerate().rev() {
        let to = long.first + 1 + LONG_WORDS * (index + 1);
        words.copy_within(long.first + 1..end, to);
        let flag = words[long.first] & Word::UNCHECKED;
        words[to - 2] = Word::long(long.words, flag);
        words[to - 1] = Word::long(long.children, flag);
        end = long.first + 1;
    }
}

/// The large containers of a tape, in the order of their first words.
fn find(words: &[u64]) -> Vec<Long> {
    let mut found: Vec<Long> = Vec::new();
    // The large containers that are open, by their index in `found`. All other containers are skipped.
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(&word) = words.get(at) {
        let word = Word::new(word);
        if word.node() == Node::End {
            let Some(index) = open.pop() else { return found };
            let inside = found.len() - index;
            let long = &mut found[index];
            long.words = at + 1 - long.first + LONG_WORDS * inside;
            if Word::new(words[long.first]).node() == Node::Object {
                // A member is a key and a value.
                long.children /= 2;
            }
            at += 1;
            continue;
        }
        if let Some(&index) = open.last() {
            found[index].children += 1;
        }
        at += match (word.is_open(), word.count()) {
            (false, _) => 1,
            (true, Some(len)) => len,
            (true, None) => {
                open.push(found.len());
                found.push(Long { first: at, words: 0, children: 0 });
                1
            }
        };
    }
    found
}
