//! The tape's words; the drawing is in the module above.

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Node {
    Null,
    False,
    True,
    Number,
    String,
    Object,
    Array,
}

/// The first word of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u64);

const KIND_SHIFT: u32 = 60;
const FLAG: u64 = 1 << 59;
const LENGTH_SHIFT: u32 = 32;
/// Lengths from here on are not stored.
pub(crate) const LENGTH_MAX: usize = (1 << 27) - 1;
/// Counts from here on are not stored.
pub(crate) const COUNT_MAX: usize = (1 << 28) - 1;

impl Word {
    /// Set in the first word of every node of a text that was not checked.
    pub(crate) const UNCHECKED: u64 = 1 << 63;

    #[inline(always)]
    pub(crate) fn scalar(node: Node, flag: bool, start: usize, len: usize) -> u64 {
        let flag = if flag { FLAG } else { 0 };
        (node as u64) << KIND_SHIFT | flag | (len.min(LENGTH_MAX) as u64) << LENGTH_SHIFT | start as u64 & 0xFFFF_FFFF
    }

    #[inline(always)]
    pub(crate) fn container(node: Node, count: u32, start: usize) -> u64 {
        (node as u64) << KIND_SHIFT
            | ((count as usize).min(COUNT_MAX) as u64) << LENGTH_SHIFT
            | start as u64 & 0xFFFF_FFFF
    }

    /// The second word of a container: where its text ends, and how many words it takes, these two among them.
    #[inline(always)]
    pub(crate) fn end(text_end: usize, words: usize) -> u64 {
        (text_end as u64) << 32 | words as u64 & 0xFFFF_FFFF
    }

    /// [`Word::class`] of an integer in a checked text.
    pub(crate) const CHECKED_INTEGER: u64 = (Node::Number as u64) << 1;
    /// [`Word::class`] of a number with a point or an exponent in a checked text.
    pub(crate) const CHECKED_DECIMAL: u64 = (Node::Number as u64) << 1 | 1;
    /// [`Word::class`] of a string without escapes in a checked text.
    pub(crate) const CHECKED_STRING: u64 = (Node::String as u64) << 1;

    /// A scalar's kind, whether it was checked, and its flag, in one.
    #[inline(always)]
    pub(crate) fn class(self) -> u64 {
        self.0 >> 59
    }

    #[inline(always)]
    pub(crate) fn is_checked(self) -> bool {
        self.0 & Self::UNCHECKED == 0
    }

    #[inline(always)]
    pub(crate) fn is_container(self) -> bool {
        self.0 >> KIND_SHIFT & 7 >= Node::Object as u64
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
            _ => Node::Array,
        }
    }

    #[inline(always)]
    pub(crate) fn flag(self) -> bool {
        self.0 & FLAG != 0
    }

    #[inline(always)]
    pub(crate) fn start(self) -> usize {
        (self.0 & 0xFFFF_FFFF) as usize
    }

    /// The length, or `None` if it was too long to be stored.
    #[inline(always)]
    pub(crate) fn len(self) -> Option<usize> {
        let len = (self.0 >> LENGTH_SHIFT) as usize & LENGTH_MAX;
        (len < LENGTH_MAX).then_some(len)
    }

    /// The number of children, or `None` if it was too large to be stored.
    #[inline(always)]
    pub(crate) fn count(self) -> Option<usize> {
        let count = (self.0 >> LENGTH_SHIFT) as usize & COUNT_MAX;
        (count < COUNT_MAX).then_some(count)
    }
}

/// The halves of a container's second word: where its text ends, how many words it takes.
#[inline(always)]
pub(crate) fn ends(word: u64) -> (usize, usize) {
    ((word >> 32) as usize, (word & 0xFFFF_FFFF) as usize)
}
