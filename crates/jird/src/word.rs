//! The words of the tape; [`crate::tape`] has the drawing. They are a base module, because kernels write them.

use crate::limits::{COUNT_MAX, LENGTH_MAX};

/// Set in the kind of a string that holds an escape.
pub(crate) const ESCAPED: u8 = 0x80;

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Node {
    Null,
    False,
    True,
    Number,
    String,
    /// An object begins.
    Object,
    /// An array begins.
    Array,
    /// A container ends.
    End,
}

/// A word of the tape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u64);

const KIND_SHIFT: u32 = 60;
const FLAG: u64 = 1 << 59;
const LENGTH_SHIFT: u32 = 32;
const CLASS_SHIFT: u32 = KIND_SHIFT - LENGTH_SHIFT;
/// The bits of a length, and of a count.
const LENGTH_BITS: usize = (1 << 27) - 1;
const COUNT_BITS: usize = (1 << 28) - 1;

impl Word {
    /// Set in every word of a text that was not checked.
    pub(crate) const UNCHECKED: u64 = 1 << 63;

    /// A null, boolean, number or string. The flag marks a string that holds an escape.
    #[inline(always)]
    pub(crate) fn scalar(node: Node, flag: bool, start: usize, len: usize) -> u64 {
        let flag = if flag { FLAG } else { 0 };
        (node as u64) << KIND_SHIFT | flag | (len.min(LENGTH_MAX) as u64) << LENGTH_SHIFT | start as u64 & 0xFFFF_FFFF
    }

    /// The upper half of a container's first or last word.
    #[inline(always)]
    pub(crate) fn upper(node: Node, count: usize) -> u32 {
        (node as u32) << (KIND_SHIFT - 32) | count.min(COUNT_MAX) as u32
    }

    /// A container's first word. `words` is the number of its words, including this one and the last.
    #[inline(always)]
    pub(crate) fn open(node: Node, words: usize, start: usize) -> u64 {
        (node as u64) << KIND_SHIFT | (words.min(COUNT_MAX) as u64) << LENGTH_SHIFT | start as u64 & 0xFFFF_FFFF
    }

    /// A container's last word: its number of members or elements, and the end of its text.
    #[inline(always)]
    pub(crate) fn close(count: u32, text_end: usize) -> u64 {
        (Node::End as u64) << KIND_SHIFT
            | ((count as usize).min(COUNT_MAX) as u64) << LENGTH_SHIFT
            | text_end as u64 & 0xFFFF_FFFF
    }

    /// The class of a number in a checked text, for [`Word::plain`].
    pub(crate) const CHECKED_NUMBER: u64 = (Node::Number as u64) << CLASS_SHIFT;
    /// The class of a string without escapes in a checked text.
    pub(crate) const CHECKED_STRING: u64 = (Node::String as u64) << CLASS_SHIFT;

    /// Where a scalar begins and how long it is, if it is of this class and its length was not too long to be stored. One
    /// comparison tests its kind, whether it was checked, its flag and its length.
    #[inline(always)]
    pub(crate) fn plain(self, class: u64) -> Option<(usize, usize)> {
        let len = (self.0 >> LENGTH_SHIFT).wrapping_sub(class);
        (len < LENGTH_MAX as u64).then_some((self.offset(), len as usize))
    }

    #[inline(always)]
    pub(crate) fn is_checked(self) -> bool {
        self.0 & Self::UNCHECKED == 0
    }

    /// Whether a container begins with this word.
    #[inline(always)]
    pub(crate) fn is_open(self) -> bool {
        matches!(self.0 >> KIND_SHIFT & 7, 5 | 6)
    }

    #[inline(always)]
    pub(crate) fn new(word: u64) -> Self {
        Self(word)
    }

    #[inline(always)]
    pub(crate) fn node(self) -> Node {
        match self.0 >> KIND_SHIFT & 7 {
            0 => Node::Null,
            1 => Node::False,
            2 => Node::True,
            3 => Node::Number,
            4 => Node::String,
            5 => Node::Object,
            6 => Node::Array,
            _ => Node::End,
        }
    }

    #[inline(always)]
    pub(crate) fn flag(self) -> bool {
        self.0 & FLAG != 0
    }

    /// The offset at which a scalar or container begins; for a last word, the end of the container's text.
    #[inline(always)]
    pub(crate) fn offset(self) -> usize {
        (self.0 & 0xFFFF_FFFF) as usize
    }

    /// The length of a scalar, or `None` if it was too long to be stored.
    #[inline(always)]
    pub(crate) fn len(self) -> Option<usize> {
        let len = (self.0 >> LENGTH_SHIFT) as usize & LENGTH_BITS;
        (len < LENGTH_MAX).then_some(len)
    }

    /// Whether it is a string of this length without escapes.
    #[inline(always)]
    pub(crate) fn is_plain_string(self, len: usize) -> bool {
        let wanted = (Node::String as u64) << KIND_SHIFT | (len as u64) << LENGTH_SHIFT;
        len < LENGTH_MAX && (self.0 & !Self::UNCHECKED ^ wanted) >> LENGTH_SHIFT == 0
    }

    /// The number of children in a last word, or the number of words in a first word; `None` if it was too large to be
    /// stored.
    #[inline(always)]
    pub(crate) fn count(self) -> Option<usize> {
        let count = (self.0 >> LENGTH_SHIFT) as usize & COUNT_BITS;
        (count < COUNT_MAX).then_some(count)
    }
}

/// The words that follow the first word of a container that has [`COUNT_MAX`] or more words or children: they hold
/// both counts. Their kind is that of an end, so that a walk over all words skips them.
impl Word {
    /// A count, in all bits below the kind.
    pub(crate) fn long(count: usize, flag: u64) -> u64 {
        (Node::End as u64) << KIND_SHIFT | count as u64 | flag
    }

    /// The count in a word that [`Word::long`] made.
    pub(crate) fn long_count(self) -> usize {
        (self.0 & ((1 << KIND_SHIFT) - 1)) as usize
    }
}

/// The upper bits of a token's word, by its kind: the node, and the flag for strings with an escape.
pub(crate) static UPPER: [u8; 256] = {
    let mut upper = [0; 256];
    let mut kind = 0;
    while kind < 256 {
        let node = match kind as u8 & 0x7F {
            b'"' => Node::String,
            b'-' | b'0'..=b'9' => Node::Number,
            b't' => Node::True,
            b'f' => Node::False,
            b'{' => Node::Object,
            b'[' => Node::Array,
            b'}' | b']' => Node::End,
            _ => Node::Null,
        };
        upper[kind] = (node as u8) << 4 | if kind as u8 == b'"' | ESCAPED { 1 << 3 } else { 0 };
        kind += 1;
    }
    upper
};
