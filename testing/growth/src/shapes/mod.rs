//! Inputs that are made to hurt, each of about the requested size.

pub mod csv;
pub mod documents;
pub mod keys;
pub mod lines;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A kind of input. Names are unique.
#[derive(Clone, Copy)]
pub struct Shape {
    /// What it looks like.
    pub name: &'static str,
    /// Makes an input of about this many bytes.
    pub make: fn(usize) -> Vec<u8>,
    /// The sizes are divided by this, for a shape whose bytes are expensive.
    pub smaller: usize,
}

/// Texts made so far, by the shape's name and the requested size.
type Made = BTreeMap<(&'static str, usize), Arc<[u8]>>;

impl Shape {
    /// A text of about this many bytes. It is made once and kept, because under callgrind making it costs more than
    /// reading it.
    pub fn text(&self, bytes: usize) -> Arc<[u8]> {
        static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(made.entry((self.name, bytes)).or_insert_with(|| (self.make)(bytes).into()))
    }
}

/// A shape of this name.
pub(crate) const fn shape(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape { name, make, smaller: 1 }
}

/// Repeats `piece` until there are about `bytes` bytes.
pub(crate) fn repeat(piece: &str, bytes: usize) -> String {
    piece.repeat((bytes / piece.len()).max(1))
}

/// Repeats numbered pieces, with `between` between them, until there are about `bytes` bytes.
pub(crate) fn numbered(bytes: usize, between: &str, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(bytes + 64);
    for index in 0.. {
        if text.len() >= bytes {
            break;
        }
        if index > 0 {
            text.push_str(between);
        }
        text.push_str(&piece(index));
    }
    text
}

/// `before`, then `piece` repeated, then `after`.
pub(crate) fn around(before: &str, piece: &str, after: &str, bytes: usize) -> Vec<u8> {
    [before, &repeat(piece, bytes), after].concat().into_bytes()
}

/// An array in which `element` is repeated.
pub(crate) fn array(element: &str, bytes: usize) -> Vec<u8> {
    let rest = [",", element].concat();
    [b"[", element.as_bytes(), repeat(&rest, bytes).as_bytes(), b"]"].concat()
}
