//! The script of a neighbour, which is made of the first bytes of an input. Also tells the neighbour's own panics from
//! the engine's.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

/// What the neighbour is, how the engine meets it, and where it misbehaves.
///
/// ```text
/// neighbour  way  size  deeds   (call what amount) × deeds   the rest: a text, or a program
/// ```
///
/// Bytes that are missing at the end of a short input are zero.
#[derive(Clone, Debug)]
pub(super) struct Script<'i> {
    /// The kind of neighbour.
    pub(super) neighbour: u8,
    /// The function of the engine that meets it.
    pub(super) way: u8,
    /// How much to read or scan at a time: see [`chunk_bytes`](Self::chunk_bytes) and [`step`](Self::step).
    pub(super) size: u8,
    pub(super) deeds: Vec<Deed>,
    pub(super) rest: &'i [u8],
}

/// A neighbour's misbehaviour at one of its calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deed {
    /// The call, from 0.
    pub(super) call: u8,
    pub(super) what: u8,
    pub(super) amount: u8,
}

/// There are few deeds, so that most calls behave.
const DEEDS_MAX: u8 = 8;

/// As a deed's call, this means every call from the deed's amount on.
const ALWAYS: u8 = u8::MAX;

impl<'i> Script<'i> {
    pub(super) fn new(input: &'i [u8]) -> Self {
        let (head, mut rest) = input.split_at(input.len().min(4));
        let [neighbour, way, size, deeds] = std::array::from_fn(|at| head.get(at).copied().unwrap_or(0));
        let mut script = Self { neighbour, way, size, deeds: Vec::new(), rest };
        for _ in 0..deeds % (DEEDS_MAX + 1) {
            let Some((&[call, what, amount], behind)) = rest.split_first_chunk() else { break };
            script.deeds.push(Deed { call, what, amount });
            rest = behind;
        }
        script.rest = rest;
        script
    }

    /// The same script as bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.neighbour, self.way, self.size, self.deeds.len() as u8];
        bytes.extend(self.deeds.iter().flat_map(|deed| [deed.call, deed.what, deed.amount]));
        bytes.extend(self.rest);
        bytes
    }

    /// The deed of this call, if it has one.
    pub(super) fn deed(&self, call: usize) -> Option<Deed> {
        self.deeds
            .iter()
            .copied()
            .find(|deed| usize::from(deed.call) == call || deed.call == ALWAYS && call >= usize::from(deed.amount))
    }

    /// Chunks of one block, of two, of some more, and sometimes of the usual size.
    pub(super) fn chunk_bytes(&self) -> usize {
        [64, 64, 128, 64, 192, 320, 64, 64 << 10][usize::from(self.size % 8)]
    }

    /// The number of bytes that a reader gives, or a writer takes, at a call.
    pub(super) fn step(&self) -> usize {
        [1, 3, 7, 16, 50, 64, 65, 100, 128, 129, 200, 300, 500, 1000, 5000, usize::MAX][usize::from(self.size / 16)]
    }

    /// Chooses one of `ways` ways.
    pub(super) fn way(&self, ways: u8) -> u8 {
        self.way % ways
    }

    /// The part of the field `way` that the method `way` does not use.
    pub(super) fn variant(&self, ways: u8) -> u8 {
        self.way / ways
    }
}

/// The payload of a neighbour's panics.
struct Own;

/// Panics on behalf of a neighbour. The panic hook is not called, so a hook that ends the process, as a fuzzer's does,
/// sees only the engine's panics.
pub(super) fn own_panic() -> ! {
    panic::resume_unwind(Box::new(Own))
}

/// Whether a panic's payload is a neighbour's.
pub(super) fn is_own(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Own>()
}

/// What `work` returns; `None` if a neighbour panicked. Any other panic continues.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(payload) if is_own(&*payload) => None,
        Err(payload) => panic::resume_unwind(payload),
    }
}

/// Checks that a text handed out by the engine is UTF-8.
///
/// # Panics
/// If it is not.
pub(super) fn assert_text(text: &str) {
    assert!(std::str::from_utf8(text.as_bytes()).is_ok(), "a str that is not UTF-8: {:?}", text.as_bytes());
}

/// The bytes of a program, one after the other, with zeros after its end.
#[derive(Clone, Debug)]
pub(super) struct Program<'i> {
    rest: &'i [u8],
    /// The steps that are left before the program is over.
    steps_left: usize,
}

impl<'i> Program<'i> {
    pub(super) fn new(bytes: &'i [u8]) -> Self {
        const STEPS_MAX: usize = 2000;
        Self { rest: bytes, steps_left: STEPS_MAX.min(bytes.len()) }
    }

    pub(super) fn is_over(&self) -> bool {
        self.rest.is_empty() || self.steps_left == 0
    }

    pub(super) fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.rest.split_first() else { return 0 };
        self.steps_left = self.steps_left.saturating_sub(1);
        self.rest = rest;
        byte
    }

    /// A text of less than `len_max` bytes, whatever the bytes are.
    pub(super) fn text(&mut self, len_max: u8) -> String {
        let len = usize::from(self.byte() % len_max).min(self.rest.len());
        let (text, rest) = self.rest.split_at(len);
        self.rest = rest;
        self.steps_left = self.steps_left.saturating_sub(1);
        String::from_utf8_lossy(text).into_owned()
    }

    /// Eight bytes as a number.
    pub(super) fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }
}
