//! One large document on several cores.
//!
//! The text is cut into pieces of one length, wherever that falls. A thread takes the next piece and
//!
//! 1. scans it, with a guess of what pass one has carried so far;
//! 2. waits until the piece before has said what holds at the [`Border`] between them; if the guess was wrong, it scans again;
//! 3. says what holds at its own end, for which it has only looked at brackets, so that the next need not wait for the rest;
//! 4. runs pass two over its tokens, which now needs to guess nothing, and makes a tape of them.
//!
//! The calling thread puts the tapes together in order. A tape is the same wherever it stands, but for the containers that a
//! border cuts: they get the lengths and counts that no single piece knows.
//!
//! Wrong guesses cost each piece one more scan, which the others wait for: time stays linear on any text.

#[cfg(test)]
mod tests;

use super::structure::{self, Batch, OpenContainer, Structure, StructurePass};
use super::unpaired::{Unpaired, unpaired};
use crate::fault::Fault;
use crate::kernel::{BLOCK, Kernel};
use crate::limits::SIZE_MAX;
use crate::policy::Policy;
use crate::scan::{Carry, Chunk, Cut, Found, Mode, SENTINELS, Tokens, scan};
use crate::threads::in_order;
use crate::walk::{PassTwo, chunk_fault, fault_offset, first_of};
use crate::word::{Node, Word};
use core::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of a piece: large enough that handing it on costs little beside it, and small enough for the second-level cache.
const PIECE_BYTES: usize = 512 << 10;

/// Shorter texts are read as quickly without starting threads.
const TEXT_BYTES_MIN: usize = 8 << 20;

/// How a parser reads large texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    threads: usize,
    bytes: usize,
    text_bytes_min: usize,
}

impl Default for Pieces {
    fn default() -> Self {
        Self { threads: 1, bytes: PIECE_BYTES, text_bytes_min: TEXT_BYTES_MIN }
    }
}

impl Pieces {
    pub(super) fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Pieces of this many bytes, rounded up to whole blocks, and also of small texts. For tests.
    pub(super) fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes: bytes.next_multiple_of(BLOCK).clamp(BLOCK, 1 << 20), text_bytes_min: 0, ..self }
    }

    /// Whether a text is to be read in pieces. Its value must be an object or an array, and begin in the first piece.
    pub(super) fn pay_for(self, text: &[u8]) -> bool {
        let begin = &text[..text.len().min(self.bytes)];
        let first = || begin.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.threads > 1
            && text.len() > self.bytes
            && (self.text_bytes_min..=SIZE_MAX).contains(&text.len())
            && matches!(first(), Some(b'{' | b'['))
    }

    /// Checks a text that it pays for, and makes its tape if that is wanted.
    pub(super) fn read(
        self,
        kernel: Kernel,
        policy: &Policy,
        text: &[u8],
        mut words: Option<&mut Vec<u64>>,
    ) -> Result<(), Fault> {
        let turns = Turns::new();
        let tape = words.is_some();
        let run = Run { kernel, policy, text, bytes: self.bytes, turns: &turns, tape, spare: Mutex::default() };
        let mut open = Vec::new();
        let mut read = Ok(());
        let worker =
            || Worker { tokens: Tokens::default(), structure: Structure::new(policy), unpaired: Unpaired::default() };
        let work = |worker: &mut Worker, index: usize| {
            let _stop = StopOnPanic(&turns);
            run.piece(worker, index)
        };
        in_order(0..text.len().div_ceil(self.bytes), self.threads, worker, work, |piece| {
            let _stop = StopOnPanic(&turns);
            match piece.expect("pieces are left out only behind one that is wrong") {
                Ok(piece) => {
                    if let Some(words) = words.as_deref_mut() {
                        join(words, &mut open, &piece);
                        lock(&run.spare).push(piece.words);
                    }
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    read = Err(error);
                    ControlFlow::Break(())
                }
            }
        });
        read
    }
}

/// What a thread keeps from piece to piece.
struct Worker {
    tokens: Tokens,
    structure: Structure,
    unpaired: Unpaired,
}

/// What came of a piece.
struct Piece {
    /// Its tape. Before it stands a word for each container that was open before and may be closed here.
    words: Vec<u64>,
    /// How many of these words there are.
    inherited: usize,
    /// What is open at its end, from the outermost inherited container on.
    open: Vec<OpenContainer>,
}

/// What all pieces before leave.
struct Border {
    carry: Carry,
    /// The first bytes of the last two tokens that were consumed, or 0.
    before: [u8; 2],
    /// Each open container, from the outermost: is it an object?
    open: Vec<bool>,
    cut: Option<Cut>,
}

/// One text that is read.
struct Run<'a> {
    kernel: Kernel,
    policy: &'a Policy,
    text: &'a [u8],
    bytes: usize,
    turns: &'a Turns,
    tape: bool,
    /// Memory of tapes that were put together, to be used again.
    spare: Mutex<Vec<Vec<u64>>>,
}

impl Run<'_> {
    /// Reads a piece; `None` if one before it was wrong.
    fn piece(&self, worker: &mut Worker, index: usize) -> Option<Result<Piece, Fault>> {
        let Self { kernel, text, .. } = *self;
        let from = index * self.bytes;
        let chunk = Chunk { text, from, to: text.len().min(from + self.bytes) };
        let guess = Carry::guess(kernel, text, from, &mut worker.tokens);
        let (mut found, mut carry) = self.scan(chunk, guess, worker);

        let mut border = self.turns.wait(index)?;
        if border.carry != guess {
            (found, carry) = self.scan(chunk, border.carry, worker);
        }
        let Worker { tokens, structure, unpaired } = worker;
        let inherited = border.open.len().min(unpaired.closed + 1);
        let outer = border.open.len() - inherited;
        structure.enter(border.before, outer, &border.open[outer..], self.policy.depth_max);
        let mut words = lock(&self.spare).pop().unwrap_or_default();
        words.clear();
        words.resize(inherited, 0);

        let fault = chunk_fault(chunk, &found, &carry);
        let mut at = tokens.put_cut(text, border.cut.take());
        let read = if fault.is_some() || chunk.to == text.len() {
            tokens.end_at(fault_offset(text, fault));
            at.token = at.token.min(tokens.len() - SENTINELS);
            let words = self.tape.then_some(&mut words);
            first_of(StructurePass { kernel, state: structure, words }.consume(text, tokens, &mut at, true), fault)
        } else {
            // What is consumed ends in this piece, so that nothing is wrong with its UTF-8 that the next piece will tell.
            let (to, cut) = tokens.cut_off(text, at);
            let bytes = &tokens.slices().1[at.token..to];
            for &pos in &bytes[bytes.len().saturating_sub(2)..] {
                border.before = [border.before[1], text[pos as usize]];
            }
            border.carry = carry.at_border(chunk.to);
            border.cut = cut;
            let goes_on = unpaired.apply(&mut border.open) && border.open.len() <= self.policy.depth_max;
            self.turns.pass_on(index, goes_on.then_some(border));
            let batch = Batch { text, tokens, at: &mut at, to, last: true };
            let words = self.tape.then_some(&mut words);
            structure::pass_two(kernel, batch, structure, words)
        };
        if read.is_err() {
            self.turns.stop();
        }
        Some(read.map(|()| Piece { words, inherited, open: structure.open_containers().collect() }))
    }

    fn scan(&self, chunk: Chunk<'_>, mut carry: Carry, worker: &mut Worker) -> (Found, Carry) {
        worker.tokens.clear_behind_cut(self.bytes);
        let found = scan(self.kernel, chunk, Mode::Document, &mut carry, &mut worker.tokens);
        worker.tokens.tell_last_from_bracket(chunk.text);
        unpaired(self.kernel, &worker.tokens, 1, &mut worker.unpaired);
        (found, carry)
    }
}

/// Appends a piece's tape, and gives the containers that a border cuts what they have in all pieces. `open` are those that
/// were open before.
fn join(words: &mut Vec<u64>, open: &mut Vec<OpenContainer>, piece: &Piece) {
    let Piece { words: tape, inherited, open: left } = piece;
    let base = words.len();
    let moved = |index: usize| index - inherited + base;
    words.extend_from_slice(&tape[*inherited..]);
    // An inherited container has a length once it is closed.
    let mut still = *inherited;
    while let Some(index) = still.checked_sub(1)
        && let Some(len) = Word::new(tape[index]).count().filter(|&len| len > 0)
    {
        still = index;
        let container = open.pop().expect("as many were open as are inherited");
        let end = moved(index + len - 1);
        let children = Word::new(words[end]).count().unwrap_or_default() + container.commas as usize;
        set_upper(&mut words[end], Word::upper(Node::End, children));
        set_upper(&mut words[container.first], Word::upper(container.node, end + 1 - container.first));
    }
    let (inherited, new) = left.split_at(still);
    // The commas of all but the innermost are known: nothing of them is in this piece.
    if let (Some(container), Some(here)) = (open.last_mut(), inherited.last()) {
        container.commas += here.commas;
    }
    open.extend(new.iter().map(|container| OpenContainer { first: moved(container.first), ..*container }));
}

fn set_upper(word: &mut u64, upper: u32) {
    *word = u64::from(upper) << 32 | *word & 0xFFFF_FFFF;
}

/// Hands what holds at the borders from piece to piece.
struct Turns {
    turn: Mutex<Turn>,
    changed: Condvar,
}

struct Turn {
    /// The piece that the border stands before.
    next: usize,
    border: Option<Border>,
    /// What follows is not wanted any more.
    stopped: bool,
}

impl Turns {
    fn new() -> Self {
        let border = Border { carry: Carry::default().at_border(0), before: [0; 2], open: Vec::new(), cut: None };
        Self { turn: Mutex::new(Turn { next: 0, border: Some(border), stopped: false }), changed: Condvar::new() }
    }

    /// Waits for what the piece before leaves; `None` if nothing more is wanted.
    fn wait(&self, index: usize) -> Option<Border> {
        let waits = |turn: &mut Turn| turn.next != index && !turn.stopped;
        let mut turn = self.changed.wait_while(lock(&self.turn), waits).unwrap_or_else(PoisonError::into_inner);
        if turn.stopped { None } else { turn.border.take() }
    }

    /// Says what piece `index` leaves; without a border nothing can follow.
    fn pass_on(&self, index: usize, border: Option<Border>) {
        let mut turn = lock(&self.turn);
        turn.next = index + 1;
        turn.stopped |= border.is_none();
        turn.border = border;
        drop(turn);
        self.changed.notify_all();
    }

    fn stop(&self) {
        lock(&self.turn).stopped = true;
        self.changed.notify_all();
    }
}

/// Lets the others go when a thread panics, or they would wait for ever.
struct StopOnPanic<'t>(&'t Turns);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
