//! The front: one pass over a text, which copies strict JSON and rewrites what is allowed.
//!
//! It knows no more grammar than it needs: whether a key can stand at a place, and whether a comma is the last thing before a
//! bracket. Everything else is left to the check of the result. Where it meets something that is not allowed, or that it
//! does not know, it appends the rest of the text as it is, and the check refuses that.
//!
//! What it writes never joins two tokens into one that is valid: a comment becomes white space, and a number must not be
//! followed by what could continue it.

use super::error::Reason;
use super::options::{Allow, Leniency};
use crate::policy::Policy;
use core::ops::ControlFlow;

/// Breaks where the front stops.
pub(super) type Flow = ControlFlow<()>;

/// A pass over a text.
pub(super) struct Front<'t> {
    pub(super) text: &'t [u8],
    /// The offset of the next byte to be read.
    pub(super) at: usize,
    pub(super) out: Vec<u8>,
    pub(super) leniency: Leniency,
    /// The text is UTF-8 up to here.
    pub(super) utf8_end: usize,
    pub(super) last: Last,
    open: Brackets,
    stop: Option<(usize, Reason)>,
    places: Option<Places>,
}

/// The result of a pass: strict JSON, or a text that is refused.
pub(super) struct Rewritten {
    pub(super) strict: Vec<u8>,
    /// Where the pass stopped because something is not allowed, and why.
    pub(super) stop: Option<(usize, Reason)>,
}

/// The last token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// None, or `[`, or a colon.
    Before,
    /// `{`.
    Brace,
    /// A scalar, a key, or a bracket that closes.
    Value,
    /// A comma after a value, and its offset in the output.
    Comma(usize),
    /// A comma that follows no value.
    StrayComma,
}

impl<'t> Front<'t> {
    pub(super) fn new(text: &'t [u8], leniency: Leniency) -> Self {
        Self {
            text,
            at: 0,
            out: Vec::with_capacity(text.len()),
            leniency,
            utf8_end: core::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len),
            last: Last::Before,
            open: Brackets::default(),
            stop: None,
            places: None,
        }
    }

    pub(super) fn run(mut self) -> Rewritten {
        self.tokens();
        Rewritten { strict: self.out, stop: self.stop }
    }

    /// The offset in the text from which the byte at `strict` in the result came. Inside a token that was rewritten, it is
    /// near.
    pub(super) fn offset_of(mut self, strict: usize) -> usize {
        self.places = Some(Places { strict, before: (0, 0), after: None });
        self.tokens();
        let Some(Places { before: (out, at), after, .. }) = self.places else { return self.text.len() };
        let last = after.map_or(self.text.len(), |after| after.saturating_sub(1).max(at));
        (at + strict.saturating_sub(out)).min(last)
    }

    fn tokens(&mut self) {
        while self.at < self.text.len() && self.token().is_continue() {}
        self.mark(self.at);
    }

    /// Reads one token, or the white space before one.
    fn token(&mut self) -> Flow {
        self.mark(self.at);
        match self.text[self.at] {
            b' ' | b'\t' | b'\n' | b'\r' => self.spaces(),
            b'/' => self.comment(),
            byte @ (b'{' | b'[') => self.opening(byte),
            byte @ (b'}' | b']') => self.closing(byte),
            b',' => self.comma(),
            b':' => self.single(b':', Last::Before),
            quote @ (b'"' | b'\'') => self.string(quote),
            b'-' | b'+' | b'.' | b'0'..=b'9' => self.number(),
            0x0B | 0x0C => self.other_space(1),
            _ => self.word_or_space(),
        }
    }

    /// Stops, because what stands at `at` in the text is not allowed.
    pub(super) fn refuse(&mut self, at: usize, allow: Allow) -> Flow {
        self.stop_for(at, Reason::Refused(allow))
    }

    /// Stops, for this reason.
    pub(super) fn stop_for(&mut self, at: usize, reason: Reason) -> Flow {
        self.stop = Some((at, reason));
        self.give_up(at)
    }

    /// Stops: what stands at `at` in the text, and all that follows, is left to the check.
    pub(super) fn give_up(&mut self, at: usize) -> Flow {
        self.mark(at);
        self.out.extend_from_slice(&self.text[at..]);
        self.at = self.text.len();
        ControlFlow::Break(())
    }

    /// Notes that what is written next comes from `at` in the text.
    #[inline]
    pub(super) fn mark(&mut self, at: usize) {
        if let Some(places) = &mut self.places {
            places.mark(self.out.len(), at);
        }
    }

    pub(super) fn allows(&self, what: Allow) -> bool {
        self.leniency.allows(what)
    }

    /// Whether a key stands here, if anything may.
    pub(super) fn is_key_due(&self) -> bool {
        self.last == Last::Brace || matches!(self.last, Last::Comma(_)) && self.open.is_object()
    }

    fn single(&mut self, byte: u8, last: Last) -> Flow {
        self.out.push(byte);
        self.at += 1;
        self.last = last;
        ControlFlow::Continue(())
    }

    fn opening(&mut self, byte: u8) -> Flow {
        if !self.open.push(byte == b'{') {
            return self.give_up(self.at);
        }
        self.single(byte, if byte == b'{' { Last::Brace } else { Last::Before })
    }

    fn closing(&mut self, byte: u8) -> Flow {
        if let Last::Comma(comma) = self.last {
            if !self.allows(Allow::TrailingCommas) {
                return self.refuse(self.at, Allow::TrailingCommas);
            }
            // Only white space follows it, which is moved once.
            self.out.remove(comma);
            self.mark(self.at);
        }
        self.open.pop();
        self.single(byte, Last::Value)
    }

    fn comma(&mut self) -> Flow {
        let last = if self.last == Last::Value { Last::Comma(self.out.len()) } else { Last::StrayComma };
        self.single(b',', last)
    }
}

/// Which of the open brackets are those of objects, one bit each.
#[derive(Default)]
struct Brackets {
    bits: [u64; Policy::DEPTH_MAX.div_ceil(64)],
    depth: usize,
}

impl Brackets {
    /// `false` if there are too many for any parser of the default policy.
    fn push(&mut self, is_object: bool) -> bool {
        let Some(word) = self.bits.get_mut(self.depth / 64) else { return false };
        let bit = 1 << (self.depth % 64);
        *word = if is_object { *word | bit } else { *word & !bit };
        self.depth += 1;
        true
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn is_object(&self) -> bool {
        let top = self.depth.checked_sub(1);
        top.is_some_and(|top| self.bits[top / 64] >> (top % 64) & 1 == 1)
    }
}

/// Finds where in the text a byte of the result comes from.
struct Places {
    /// The offset in the result.
    strict: usize,
    /// The last mark at or before it: the offsets in the result and in the text.
    before: (usize, usize),
    /// The offset in the text of the first mark after it.
    after: Option<usize>,
}

impl Places {
    fn mark(&mut self, out: usize, at: usize) {
        if out <= self.strict {
            // What was after it may have moved, with a comma that was removed.
            (self.before, self.after) = ((out, at), None);
        } else if self.after.is_none() {
            self.after = Some(at);
        }
    }
}
