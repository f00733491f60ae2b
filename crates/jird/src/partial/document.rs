//! The document whose text arrives in pieces.

use super::machine::{Machine, Malformed};
use super::snapshot::Snapshot;
use crate::error::{Category, Error};
use crate::fault::ErrorKind;
use crate::policy::Policy;
use crate::tape::{GrowingTape, Parser};

/// A document whose text arrives in pieces, cut anywhere; [`partial`](super) describes its value.
///
/// ```
/// let mut document = jird::partial::PartialDocument::new();
/// for piece in [r#"{"id": 1"#, r#"25, "name": "#, r#""jird"}"#] {
///     document.push(piece.as_bytes())?;
///     let so_far = document.snapshot().expect("a value has begun");
///     println!("{:?}", so_far.root().get("id").and_then(|id| id.as_u64())); // None, Some(125), Some(125)
/// }
/// document.finish()?;
/// # Ok::<(), jird::Error>(())
/// ```
#[derive(Debug)]
pub struct PartialDocument {
    tape: GrowingTape,
    machine: Machine,
    /// The first bytes of a character whose others have not arrived.
    cut_character: Vec<u8>,
    /// Why no more text is taken.
    over: Option<Error>,
    is_finished: bool,
}

/// The bytes of a piece that are read at a time, so that they stay in cache, and no large piece is copied as a whole.
const CHUNK_BYTES: usize = 64 << 10;

impl PartialDocument {
    /// No text yet.
    pub fn new() -> Self {
        Self {
            tape: GrowingTape::default(),
            machine: Machine::new(Policy::DEPTH_MAX),
            cut_character: Vec::new(),
            over: None,
            is_finished: false,
        }
    }

    /// Limits the number of objects and arrays that may be open at once; [`Policy::DEPTH_MAX`] by default. Call this
    /// before the first piece.
    #[must_use]
    pub fn depth_max(mut self, depth_max: usize) -> Self {
        self.machine.depth_max = depth_max;
        self
    }

    /// Withholds strings that are not closed, for callers to whom a part of a string would be a wrong value, as it is of
    /// a date or of an enum's variant. Call this before the first piece.
    ///
    /// ```
    /// let mut document = jird::partial::PartialDocument::new().withhold_strings();
    /// document.push(br#"{"at": "2026-05-01", "until": "202"#)?;
    /// assert_eq!(document.snapshot().expect("a value has begun").text(), r#"{"at": "2026-05-01"}"#);
    /// # Ok::<(), jird::Error>(())
    /// ```
    #[must_use]
    pub fn withhold_strings(mut self) -> Self {
        self.machine.withholds_strings = true;
        self
    }

    /// Takes more text. All pieces together take time linear in their bytes.
    ///
    /// # Errors
    /// The first byte that rules out a JSON text, as soon as it arrives, with the kind and offset that
    /// [`parse`](crate::parse) reports. Every later call returns the same error, and [`snapshot`](Self::snapshot) still
    /// returns the value before it.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Error> {
        if let Some(error) = &self.over {
            return Err(error.clone());
        }
        let before = self.len();
        piece.chunks(CHUNK_BYTES).try_for_each(|chunk| self.take(chunk)).map_err(|Malformed| self.fail(before, piece))
    }

    /// Declares that the text ends here. Only then is a number complete that is the whole text. No more text is taken
    /// afterwards.
    ///
    /// # Errors
    /// The error of [`parse`](crate::parse) if the text is not a JSON text. If it merely ends too early, more may follow
    /// all the same.
    pub fn finish(&mut self) -> Result<(), Error> {
        if self.is_finished {
            return Ok(());
        }
        if let Some(error) = &self.over {
            return Err(error.clone());
        }
        if self.cut_character.is_empty() && self.machine.finish(&mut self.tape) {
            self.tape.settle(self.machine.cut());
            self.is_finished = true;
            self.over = Some(Error::message(Category::Data, &"the document was finished, and takes no more text"));
            return Ok(());
        }
        let all = self.received();
        Err(self.refused(&all).unwrap_or_else(|| Error::new(ErrorKind::Unclosed, all.len() as u64)))
    }

    /// Whether the value is complete; only white space can follow it. A number that is the whole text is complete when
    /// white space follows it, or when the text is [finished](Self::finish).
    pub fn is_complete(&self) -> bool {
        self.machine.is_complete()
    }

    /// The value so far; `None` if none has begun. Takes time linear in the number of objects and arrays that are open.
    pub fn snapshot(&mut self) -> Option<Snapshot<'_>> {
        let kept = self.machine.cut();
        let (root, text, withheld) = self.tape.show(self.machine.open_string())?;
        Some(Snapshot::new(root, text, kept, withheld))
    }

    /// Reads whole characters, and keeps the first bytes of one that is cut.
    fn take(&mut self, piece: &[u8]) -> Result<(), Malformed> {
        let rest = if self.cut_character.is_empty() { piece } else { self.complete_character(piece)? };
        match str::from_utf8(rest) {
            Ok(text) => self.read(text),
            Err(error) => {
                let (whole, other) = rest.split_at(error.valid_up_to());
                self.read(str::from_utf8(whole).unwrap_or_default())?;
                if error.error_len().is_some() || !self.machine.takes_characters(&self.tape) {
                    return Err(Malformed);
                }
                self.cut_character.extend_from_slice(other);
                Ok(())
            }
        }
    }

    /// Completes the character that is cut, and returns the rest of the piece.
    #[cold]
    fn complete_character<'p>(&mut self, piece: &'p [u8]) -> Result<&'p [u8], Malformed> {
        for (index, &byte) in piece.iter().enumerate() {
            self.cut_character.push(byte);
            let cut = core::mem::take(&mut self.cut_character);
            match str::from_utf8(&cut) {
                Ok(character) => return self.read(character).map(|()| &piece[index + 1..]),
                Err(error) => {
                    self.cut_character = cut;
                    if error.error_len().is_some() {
                        return Err(Malformed);
                    }
                }
            }
        }
        Ok(&[])
    }

    #[inline(always)]
    fn read(&mut self, text: &str) -> Result<(), Malformed> {
        if !self.tape.append(text) {
            return Err(Malformed);
        }
        let read = self.machine.run(&mut self.tape);
        self.tape.settle(self.machine.cut());
        read
    }

    /// A copy of all bytes that have arrived; after an error, up to about where it is.
    pub fn received(&self) -> Vec<u8> {
        let settled = &self.tape.text().as_bytes()[..self.tape.tail_start()];
        [settled, self.tape.tail().as_bytes(), &self.cut_character].concat()
    }

    /// The number of bytes that have arrived.
    fn len(&self) -> usize {
        self.tape.tail_start() + self.tape.tail().len() + self.cut_character.len()
    }

    /// The error of a piece that came after `before` bytes.
    #[cold]
    #[inline(never)]
    fn fail(&mut self, before: usize, piece: &[u8]) -> Error {
        let mut all = self.received();
        all.truncate(before);
        all.extend_from_slice(piece);
        // Otherwise the tape is full.
        let refused = self.refused(&all).filter(|error| !error.is_eof());
        let error = refused.unwrap_or_else(|| Error::new(ErrorKind::Size, before as u64));
        self.over = Some(error.clone());
        error
    }

    /// The strict parser's error.
    fn refused(&self, text: &[u8]) -> Option<Error> {
        let policy = Policy { depth_max: self.machine.depth_max, ..Policy::default() };
        Parser::with_policy(policy).validate(text).err()
    }
}

impl Default for PartialDocument {
    fn default() -> Self {
        Self::new()
    }
}
