//! Formats: what is written between tokens.

use super::Job;
use crate::error::Error;
use crate::text::{Overflow, Writer};

/// The layout of containers. Brackets are `[` and `{`. The caller writes keys, except in `member`.
pub(super) trait Format: Sized {
    /// A top-level value begins; containers left open by an error are forgotten.
    fn restart(&mut self) {}
    /// Opens a container.
    fn open<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, bracket: u8) -> Result<(), Error>;
    /// Closes a container.
    fn close<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, bracket: u8, empty: bool) -> Result<(), Error>;
    /// Writes what goes before an element or key.
    fn separate<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, first: bool) -> Result<(), Error>;
    /// Writes what goes between a key and its value.
    fn colon<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>) -> Result<(), Error>;
    /// Writes everything before the value of a member whose key is a compile-time constant.
    fn member<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, first: bool, key: &str) -> Result<(), Error>;
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
    /// A format with this indent for each level.
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
    fn open<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, bracket: u8) -> Result<(), Error> {
        writer.bytes([bracket], 1)
    }

    #[inline(always)]
    fn close<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, bracket: u8, _empty: bool) -> Result<(), Error> {
        writer.bytes([bracket], 1)
    }

    #[inline(always)]
    fn separate<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, first: bool) -> Result<(), Error> {
        writer.bytes([b','], usize::from(!first))
    }

    #[inline(always)]
    fn colon<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>) -> Result<(), Error> {
        writer.bytes([b':'], 1)
    }

    #[inline(always)]
    fn member<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, first: bool, key: &str) -> Result<(), Error> {
        writer.member(first, key)
    }
}

impl Format for Pretty<'_> {
    fn restart(&mut self) {
        self.depth = 0;
    }

    fn open<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, bracket: u8) -> Result<(), Error> {
        writer.overflow().format.depth += 1;
        writer.bytes([bracket], 1)
    }

    fn close<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, bracket: u8, empty: bool) -> Result<(), Error> {
        writer.overflow().format.depth -= 1;
        if !empty {
            line(writer)?;
        }
        writer.bytes([bracket], 1)
    }

    fn separate<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, first: bool) -> Result<(), Error> {
        writer.bytes([b','], usize::from(!first))?;
        line(writer)
    }

    fn colon<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>) -> Result<(), Error> {
        writer.bytes(*b": ", 2)
    }

    fn member<S: Overflow>(writer: &mut Writer<'_, Job<S, Self>>, first: bool, key: &str) -> Result<(), Error> {
        Self::separate(writer, first)?;
        writer.string(key)?;
        Self::colon(writer)
    }
}

/// Begins a line.
fn line<S: Overflow>(writer: &mut Writer<'_, Job<S, Pretty<'_>>>) -> Result<(), Error> {
    writer.bytes([b'\n'], 1)?;
    let Pretty { indent, depth } = writer.overflow().format;
    (0..depth).try_for_each(|_| writer.raw(indent))
}
