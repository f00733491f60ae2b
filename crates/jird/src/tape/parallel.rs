//! One large document on several cores.
//!
//! The text is cut into pieces of equal length; a border may fall anywhere. A thread takes the next piece and
//!
//! 1. scans it with a guess of the state that pass one has at its start;
//! 2. waits until the thread of the previous piece has reported the state at the [`Border`] between them; if
//!    the guess was wrong, it scans the piece again;
//! 3. reports the state at the end of its own piece, for which it only looks at brackets, so that the next
//!    thread need not wait for pass two;
//! 4. runs pass two over its tokens, which needs no guess any more, and makes a tape of them.
//!
//! The calling thread joins the tapes in order. A piece's tape does not depend on its position, except for
//! containers that a border cuts: the calling thread fills in their lengths and counts, which no single piece
//! knows.
//!
//! A wrong guess costs one more scan of the piece, and the later pieces wait for it. Time stays linear on any
//! text.

#[cfg(test)]
mod tests;

use super::structure::{self, Batch, OpenContainer, Structure, StructurePass};
use super::unpaired::{Unpaired, unpaired};
use crate::fault::Fault;
use crate::kernel::{BLOCK, Kernel};
use crate::limits::SIZE_MAX;
use crate::policy::Policy;
use crate::scan::{Carry, Chunk, CutScalar, Mode, SENTINELS, Tokens, Violations, scan};
use crate::threads::in_order;
use crate::walk::{PassTwo, chunk_fault, fault_offset, first_of};
use crate::word::{Node, Word};
use core::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of a piece: large enough that handing it over costs little in comparison, and small enough for the
/// second-level cache.
const PIECE_BYTES: usize = 512 << 10;

/// Shorter texts are not read faster with several threads.
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

    /// Pieces of this many bytes, rounded up to whole blocks; small texts are cut too. For tests.
    pub(super) fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes: bytes.next_multiple_of(BLOCK).clamp(BLOCK, 1 << 20), text_bytes_min: 0, ..self }
    }

    /// Whether `text` is read in pieces. Its value must be an object or an array, and begin in the first piece.
    pub(super) fn pay_for(self, text: &[u8]) -> bool {
        let begin = &text[..text.len().min(self.bytes)];
        let first = || begin.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.threads > 1
            && text.len() > self.bytes
            && (self.text_bytes_min..=SIZE_MAX).contains(&text.len())
            && matches!(first(), Some(b'{' | b'['))
    }

    /// Checks `text`, for which `pay_for` must be true, and makes its tape if `words` is given.
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

/// The state that a thread keeps from piece to piece.
struct Worker {
    tokens: Tokens,
    structure: Structure,
    unpaired: Unpaired,
}

/// The result of one piece.
struct Piece {
    /// The tape of the piece. It starts with a word for each container that was open before and may be closed here.
    words: Vec<u64>,
    /// The number of these words.
    inherited: usize,
    /// The containers that are open at its end, from the outermost inherited one on.
    open: Vec<OpenContainer>,
}

/// The state that all pieces before leave.
struct Border {
    carry: Carry,
    /// The first bytes of the last two consumed tokens, or 0.
    before: [u8; 2],
    /// Whether each open container is an object, from the outermost on.
    open: Vec<bool>,
    cut: Option<CutScalar>,
}

/// One read of a text.
struct Run<'a> {
    kernel: Kernel,
    policy: &'a Policy,
    text: &'a [u8],
    bytes: usize,
    turns: &'a Turns,
    tape: bool,
    /// The memory of tapes that were already joined, for reuse.
    spare: Mutex<Vec<Vec<u64>>>,
}

impl Run<'_> {
    /// Reads a piece; `None` if a piece before it was invalid.
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
            at = at.min(tokens.len() - SENTINELS);
            let words = self.tape.then_some(&mut words);
            first_of(StructurePass { kernel, state: structure, words }.consume(text, tokens, &mut at, true), fault)
        } else {
            // The consumed text ends inside this piece, so the next piece cannot find an error in its UTF-8.
            let (to, cut) = tokens.cut_off(text, at);
            let bytes = &tokens.slices().1[at..to];
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

    fn scan(&self, chunk: Chunk<'_>, mut carry: Carry, worker: &mut Worker) -> (Violations, Carry) {
        worker.tokens.clear_behind_cut(self.bytes);
        let found = scan(self.kernel, &chunk, Mode::Document, &mut carry, &mut worker.tokens);
        worker.tokens.tell_last_from_bracket(chunk.text);
        unpaired(self.kernel, &worker.tokens, 1, &mut worker.unpaired);
        (found, carry)
    }
}

/// Appends a piece's tape, and completes the lengths and counts of containers that a border cuts. `open` holds the
/// containers that were open before the piece.
fn join(words: &mut Vec<u64>, open: &mut Vec<OpenContainer>, piece: &Piece) {
    let Piece { words: tape, inherited, open: left } = piece;
    let base = words.len();
    let moved = |index: usize| index - inherited + base;
    words.extend_from_slice(&tape[*inherited..]);
    // An inherited container has a length after it is closed.
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
    // The commas of all containers except the innermost are known: none of them is in this piece.
    if let (Some(container), Some(here)) = (open.last_mut(), inherited.last()) {
        container.commas += here.commas;
    }
    open.extend(new.iter().map(|container| OpenContainer { first: moved(container.first), ..*container }));
}

fn set_upper(word: &mut u64, upper: u32) {
    *word = u64::from(upper) << 32 | *word & 0xFFFF_FFFF;
}

/// Hands the state at each border from piece to piece.
struct Turns {
    turn: Mutex<Turn>,
    changed: Condvar,
}

struct Turn {
    /// The piece that starts at `border`.
    next: usize,
    border: Option<Border>,
    /// The remaining pieces are not needed any more.
    stopped: bool,
}

impl Turns {
    fn new() -> Self {
        let border = Border { carry: Carry::default().at_border(0), before: [0; 2], open: Vec::new(), cut: None };
        Self { turn: Mutex::new(Turn { next: 0, border: Some(border), stopped: false }), changed: Condvar::new() }
    }

    /// Waits for the state that the previous piece leaves; `None` if the piece is not needed any more.
    fn wait(&self, index: usize) -> Option<Border> {
        let waits = |turn: &mut Turn| turn.next != index && !turn.stopped;
        let mut turn = self.changed.wait_while(lock(&self.turn), waits).unwrap_or_else(PoisonError::into_inner);
        if turn.stopped { None } else { turn.border.take() }
    }

    /// Publishes the state that piece `index` leaves; `None` stops all later pieces.
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

/// Releases the other threads when a thread panics; otherwise they would wait for ever.
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
