//! What stands between tokens.

use super::Job;
use crate::error::Error;
use crate::text::{Pen, Sink};

type Written<'o, S, F> = Result<Pen<'o, Job<S, F>>, Error>;

/// How containers are laid out. Brackets are `[` and `{`; keys are written by whoever has them.
pub(super) trait Format: Sized {
    /// Opens a container.
    fn open<S: Sink>(pen: Pen<'_, Job<S, Self>>, bracket: u8) -> Written<'_, S, Self>;
    /// Closes it.
    fn close<S: Sink>(pen: Pen<'_, Job<S, Self>>, bracket: u8, empty: bool) -> Written<'_, S, Self>;
    /// What goes before an element or key.
    fn separate<S: Sink>(pen: Pen<'_, Job<S, Self>>, first: bool) -> Written<'_, S, Self>;
    /// What goes between key and value.
    fn colon<S: Sink>(pen: Pen<'_, Job<S, Self>>) -> Written<'_, S, Self>;
    /// All that goes before the value of a member whose key is known when this is compiled.
    fn member<'o, S: Sink>(pen: Pen<'o, Job<S, Self>>, first: bool, key: &str) -> Written<'o, S, Self>;
}

/// No white space.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compact;

/// Each member and element on a line of its own; empty containers stay `{}` and `[]`.
#[derive(Clone, Copy, Debug)]
pub struct Pretty<'i> {
    indent: &'i str,
    depth: usize,
}

impl<'i> Pretty<'i> {
    /// With this indent for each level.
    pub(super) fn new(indent: &'i str) -> Self {
        Self { indent, depth: 0 }
    }
}

impl Default for Pretty<'_> {
    /// Two spaces for each level.
    fn default() -> Self {
        Self::new("  ")
    }
}

impl Format for Compact {
    #[inline(always)]
    fn open<S: Sink>(pen: Pen<'_, Job<S, Self>>, bracket: u8) -> Written<'_, S, Self> {
        pen.bytes([bracket], 1)
    }

    #[inline(always)]
    fn close<S: Sink>(pen: Pen<'_, Job<S, Self>>, bracket: u8, _empty: bool) -> Written<'_, S, Self> {
        pen.bytes([bracket], 1)
    }

    #[inline(always)]
    fn separate<S: Sink>(pen: Pen<'_, Job<S, Self>>, first: bool) -> Written<'_, S, Self> {
        pen.bytes([b','], usize::from(!first))
    }

    #[inline(always)]
    fn colon<S: Sink>(pen: Pen<'_, Job<S, Self>>) -> Written<'_, S, Self> {
        pen.bytes([b':'], 1)
    }

    #[inline(always)]
    fn member<'o, S: Sink>(pen: Pen<'o, Job<S, Self>>, first: bool, key: &str) -> Written<'o, S, Self> {
        pen.member(first, key)
    }
}

impl Format for Pretty<'_> {
    fn open<S: Sink>(mut pen: Pen<'_, Job<S, Self>>, bracket: u8) -> Written<'_, S, Self> {
        pen.sink().format.depth += 1;
        pen.bytes([bracket], 1)
    }

    fn close<S: Sink>(mut pen: Pen<'_, Job<S, Self>>, bracket: u8, empty: bool) -> Written<'_, S, Self> {
        pen.sink().format.depth -= 1;
        if !empty {
            pen = line(pen)?;
        }
        pen.bytes([bracket], 1)
    }

    fn separate<S: Sink>(pen: Pen<'_, Job<S, Self>>, first: bool) -> Written<'_, S, Self> {
        line(pen.bytes([b','], usize::from(!first))?)
    }

    fn colon<S: Sink>(pen: Pen<'_, Job<S, Self>>) -> Written<'_, S, Self> {
        pen.bytes(*b": ", 2)
    }

    fn member<'o, S: Sink>(pen: Pen<'o, Job<S, Self>>, first: bool, key: &str) -> Written<'o, S, Self> {
        Self::colon(Self::separate(pen, first)?.string(key)?)
    }
}

/// Begins a line.
fn line<'o, 'i, S: Sink>(pen: Pen<'o, Job<S, Pretty<'i>>>) -> Written<'o, S, Pretty<'i>> {
    let mut pen = pen.bytes([b'\n'], 1)?;
    let Pretty { indent, depth } = pen.sink().format;
    for _ in 0..depth {
        pen = pen.raw(indent)?;
    }
    Ok(pen)
}
