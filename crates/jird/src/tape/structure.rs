//! Pass two of whole documents: 64 tokens at a time, by masks.
//!
//! On entry: tokens of a text, and the state that the batches before them left. On exit: the grammar of RFC
//! 8259 was checked for the consumed tokens, and each token that is neither comma nor colon has its word on the
//! tape; or the first token that breaks a rule is reported. This pass accepts and rejects the same texts as
//! [`crate::walk`], which goes token by token and reports each value to a visitor. This pass has no branches on
//! the kind of a token, so there is nothing to mispredict. Only brackets, numbers and literals are looked at
//! one by one, each kind in a loop of its own.
//!
//! Which rule holds for a token depends on the token before it and on the kind of the innermost container. The
//! token before comes from shifting the masks by one. The innermost container changes only at brackets: each
//! bracket that changes its kind sets a bit, and the parity of the bits up to a token (a prefix XOR, as for
//! quotes) says whether the token stands in an object.

mod joined;
mod rules;
mod scalars;

pub(crate) use joined::JOINED_MAX;
pub(super) use joined::{Stopped, joined};
pub(crate) use rules::Before;
pub(crate) use scalars::check_scalars;

use super::build::TapeBuilder;
use crate::fault::{ErrorKind, Fault};
use crate::kernel::{Kernel, Kinds, Pass, Simd, TokenWords};
use crate::limits::OFFSET_BITS;
use crate::policy::{Numbers, Policy};
use crate::scan::{BATCH, SENTINELS, Tokens};
use crate::walk::{PassTwo, Walk, WalkPass, Walked};
use crate::word::{Node, Word};
use rules::{rules, verdict};
use scalars::trim_ends;

/// The state that one batch leaves for the next.
#[derive(Debug)]
pub(crate) struct Structure {
    /// A [`Slot`] for each open container, from index 1; index 0 stands for the top level, which follows the rules
    /// of an array.
    open: Vec<u64>,
    depth: usize,
    /// The number of commas so far that separate children of the innermost container.
    commas: u32,
    /// 1 if the token before was a comma, an opening bracket, or the start of the text.
    begins: u64,
    /// 1 if the token before was an opening bracket.
    opened: u64,
    /// 1 if the token before was a colon.
    colon: u64,
    /// 1 if the token before was a key.
    key: u64,
    /// All ones if the innermost container is an object.
    in_object: u64,
    /// Whether the first bracket was seen.
    begun: bool,
    /// Whether the document's value is complete.
    done: bool,
    depth_max: usize,
    numbers: Numbers,
    /// Whether scalars are left unchecked and their words are marked as unchecked.
    trusted: bool,
}

/// An open container: the index of its first word, the commas of the container around it, and whether it is an
/// object.
struct Slot;

impl Slot {
    const OBJECT: u32 = 63;
    const COMMAS: u32 = OFFSET_BITS;

    /// Both numbers fit. A token makes at most one word and takes at least one byte of a text that is shorter than
    /// `2^OFFSET_BITS` bytes. At most every other byte of it is a comma that separates children.
    #[inline(always)]
    fn pack(word: usize, commas: u32, object: u64) -> u64 {
        debug_assert!(word as u64 >> OFFSET_BITS == 0 && commas >> (OFFSET_BITS - 1) == 0);
        object << Self::OBJECT | u64::from(commas) << Self::COMMAS | word as u64
    }

    /// The index of the container's first word.
    #[inline(always)]
    fn word(slot: u64) -> usize {
        (slot & ((1 << OFFSET_BITS) - 1)) as usize
    }

    #[inline(always)]
    fn commas(slot: u64) -> u32 {
        (slot >> Self::COMMAS) as u32 & ((1 << (OFFSET_BITS - 1)) - 1)
    }
}

/// The tokens for one call.
pub(crate) struct Batch<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) tokens: &'a Tokens,
    /// The first token that was not consumed.
    pub(crate) at: &'a mut usize,
    /// The end of the tokens, exclusive. Another token or a sentinel stands there.
    pub(crate) to: usize,
    /// Consumes all tokens, also those that make no full batch. Then either the token before `to` is an operator or
    /// is invalid, or a sentinel stands at `to`.
    pub(crate) last: bool,
}

impl Structure {
    /// What the list of open containers takes.
    #[cfg(test)]
    pub(super) fn buffer_bytes(&self) -> usize {
        self.open.capacity() * size_of::<u64>()
    }

    pub(crate) fn new(policy: &Policy) -> Self {
        Self {
            open: vec![0],
            depth: 0,
            commas: 0,
            begins: 1,
            opened: 0,
            colon: 0,
            key: 0,
            in_object: 0,
            begun: false,
            done: false,
            depth_max: policy.depth_max,
            numbers: policy.numbers,
            trusted: false,
        }
    }

    /// Sets whether scalars are accepted without being checked.
    pub(crate) fn trust(&mut self, trusted: bool) {
        self.trusted = trusted;
    }

    /// The flag that is or-ed into the upper half of every word.
    #[inline(always)]
    fn flag(&self) -> u32 {
        if self.trusted { (Word::UNCHECKED >> 32) as u32 } else { 0 }
    }

    /// Resets the state for another document.
    pub(crate) fn restart(&mut self) {
        (self.depth, self.commas, self.begun, self.done) = (0, 0, false, false);
        (self.begins, self.opened, self.colon, self.key, self.in_object) = (1, 0, 0, 0, 0);
    }
}

/// A container that is open where a piece of a document ends.
#[cfg(feature = "parallel")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenContainer {
    /// The index of its first word.
    pub(crate) first: usize,
    pub(crate) commas: u32,
    pub(crate) node: Node,
}

/// Support for pieces of a document that are not read in order.
#[cfg(feature = "parallel")]
impl Structure {
    /// Sets the state after the tokens that begin with the bytes `before` (0 if there are none). The state is
    /// inside `outer` containers of unknown kind, and inside those of `inner`, which says whether each is an
    /// object. The index of a container in `inner` stands for the index of its first word.
    pub(crate) fn enter(&mut self, before: [u8; 2], outer: usize, inner: &[bool], depth_max: usize) {
        let [before_last, last] = before;
        let begins = |byte| matches!(byte, b',' | b'{' | b'[');
        let in_object = inner.last().is_some_and(|&object| object);
        self.open.clear();
        self.open.push(0);
        self.open.extend(inner.iter().enumerate().map(|(word, &object)| Slot::pack(word, 0, u64::from(object))));
        self.depth = inner.len();
        self.commas = 0;
        self.begins = u64::from(begins(last) || last == 0);
        self.opened = u64::from(matches!(last, b'{' | b'['));
        self.colon = u64::from(last == b':');
        self.key = u64::from(last == b'"' && begins(before_last) && in_object);
        self.in_object = u64::from(in_object).wrapping_neg();
        self.begun = true;
        self.done = last != 0 && outer + self.depth == 0;
        self.depth_max = depth_max.saturating_sub(outer);
    }

    /// The containers that are open now, from the outermost.
    pub(crate) fn open_containers(&self) -> impl Iterator<Item = OpenContainer> {
        (1..=self.depth).map(|level| {
            let slot = self.open[level];
            let commas = if level < self.depth { Slot::commas(self.open[level + 1]) } else { self.commas };
            let node = if slot >> Slot::OBJECT != 0 { Node::Object } else { Node::Array };
            OpenContainer { first: Slot::word(slot), commas, node }
        })
    }
}

/// Pass two of a document: 64 tokens at a time, or the walk if the document's value is not a container.
pub(crate) struct StructurePass<'a> {
    pub(crate) kernel: Kernel,
    pub(crate) state: &'a mut Structure,
    /// Receives the tape, if the caller wants one.
    pub(crate) words: Option<&'a mut Vec<u64>>,
}

impl PassTwo<'_> for StructurePass<'_> {
    const WANTS_PLAIN_KINDS: bool = false;

    #[inline(always)]
    fn consume(&mut self, text: &[u8], tokens: &Tokens, at: &mut usize, last: bool) -> Result<(), Fault> {
        let (kind, pos) = tokens.slices();
        let to = if last { kind.len() - SENTINELS } else { kind.len().saturating_sub(1) };
        if !self.state.begun {
            // Looks at the text, in which no byte beyond ASCII equals a bracket; a token's byte may.
            match pos.first().map(|&first| text.get(first as usize)) {
                // So far there is only white space.
                None => return Ok(()),
                // The caller makes the tape with `walk_trusted` then.
                Some(first) if !matches!(first, Some(b'{' | b'[')) && self.state.trusted => {
                    return Err(Fault::at_byte(ErrorKind::Value, pos[0] as usize));
                }
                Some(first) if !matches!(first, Some(b'{' | b'[')) => {
                    return lone_scalar(text, tokens, at, last, self.state, self.words.as_deref_mut());
                }
                Some(_) => self.state.begun = true,
            }
        }
        let batch = Batch { text, tokens, at, to, last };
        pass_two(self.kernel, batch, self.state, self.words.as_deref_mut())?;
        if last && !self.state.done { Err(Fault::at_byte(ErrorKind::Unclosed, pos[to] as usize)) } else { Ok(()) }
    }
}

/// A document that begins with something else than a bracket, or has nothing but white space. This is rare, so
/// the walk handles it.
#[cold]
fn lone_scalar(
    text: &[u8],
    tokens: &Tokens,
    at: &mut usize,
    last: bool,
    state: &Structure,
    words: Option<&mut Vec<u64>>,
) -> Result<(), Fault> {
    let policy = Policy { depth_max: state.depth_max, numbers: state.numbers, ..Policy::default() };
    let mut build = TapeBuilder::default();
    let mut walk = Walk::new(&policy);
    if !last {
        // If the first token is valid, a second one is an error, so no state needs to be kept. The walk looks at four
        // tokens at once.
        return match walk.run(text, tokens, at, &mut build)? {
            Walked::More => Ok(()),
            Walked::Value => Err(trailing(tokens, *at)),
        };
    }
    let walked = WalkPass { walk: &mut walk, build: &mut build }.consume(text, tokens, at, last);
    if let Some(words) = words {
        // `words` keeps its memory for the next document.
        words.clone_from(&build.words);
    }
    walked
}

/// Runs pass two over some tokens of a document. Consumes whole batches, and all tokens if `last` is set.
/// Writes the tape if `words` is given.
pub(super) fn pass_two(
    kernel: Kernel,
    batch: Batch<'_>,
    state: &mut Structure,
    words: Option<&mut Vec<u64>>,
) -> Result<(), Fault> {
    kernel.enter(Judge { batch, state, words })
}

struct Judge<'a> {
    batch: Batch<'a>,
    state: &'a mut Structure,
    words: Option<&'a mut Vec<u64>>,
}

impl Pass for Judge<'_> {
    type Out = Result<(), Fault>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Out {
        match self.words {
            Some(words) => batches::<S, true>(simd, self.batch, self.state, words),
            None => batches::<S, false>(simd, self.batch, self.state, &mut Vec::new()),
        }
    }
}

#[inline(always)]
fn batches<S: Simd, const TAPE: bool>(
    simd: S,
    batch: Batch<'_>,
    state: &mut Structure,
    words: &mut Vec<u64>,
) -> Result<(), Fault> {
    let Batch { text, tokens, at, to, last } = batch;
    if TAPE {
        // Each token makes at most one word, and each batch writes 64 words, whatever it finds.
        words.reserve(to - *at + BATCH);
    }
    let mut tape = Tape { start: words.as_mut_ptr(), len: words.len(), capacity: words.capacity() };
    let mut ends = [0; BATCH];
    let mut judged = Ok(());
    while *at < to && judged.is_ok() {
        let count = to - *at;
        if count < BATCH && !last {
            break;
        }
        let count = count.min(BATCH);
        if state.done {
            judged = Err(trailing(tokens, *at));
            break;
        }
        judged = one_batch::<S, TAPE>(simd, text, tokens, *at, count, state, &mut ends, &mut tape);
        *at += count;
    }
    if TAPE {
        // SAFETY: `len` words were written, and the vector has room for them.
        unsafe { words.set_len(tape.len) };
    }
    judged
}

#[cold]
#[inline(never)]
fn trailing(tokens: &Tokens, at: usize) -> Fault {
    Fault::at_byte(ErrorKind::Trailing, tokens.batch(at).1[0] as usize)
}

/// The tape while batches write to it. The length is a local: if it were kept in the vector, each batch would
/// wait for the one before.
struct Tape {
    start: *mut u64,
    len: usize,
    capacity: usize,
}

impl Tape {
    /// Room for the words of a batch.
    #[inline(always)]
    fn room(&mut self) -> &mut [core::mem::MaybeUninit<u64>; BATCH] {
        if cfg!(any(debug_assertions, jird_checked)) {
            assert!(self.len + BATCH <= self.capacity, "room for a batch was reserved");
        }
        // SAFETY: `batches` reserved a word for each token of the call and 64 more, and each token makes one at most.
        unsafe { &mut *self.start.add(self.len).cast() }
    }

    /// Closes a container: writes the upper halves of its first word and of its last word, which is word `rank` of
    /// this batch. It does not read the words, because such a load would wait for the vector stores that wrote
    /// them.
    #[inline(always)]
    fn close(&mut self, first: usize, rank: u32, node: Node, children: usize, flag: u32) {
        let last = self.len + rank as usize % BATCH;
        // A slot of this tape holds the index of a word before `last`. A slot of another tape, passed by mistake, must
        // do no harm.
        let first = first.min(last);
        self.set_upper(first, last, flag | Word::upper(node, last + 1 - first));
        self.set_upper(last, last, flag | Word::upper(Node::End, children));
    }

    #[inline(always)]
    fn set_upper(&mut self, index: usize, last: usize, upper: u32) {
        let half = 2 * index + usize::from(cfg!(target_endian = "little"));
        debug_assert!(index <= last && last < self.len + BATCH && self.len + BATCH <= self.capacity);
        // SAFETY: `index <= last < len + BATCH`, as `close` computes them, and there is room for that: see `room`.
        unsafe { self.start.cast::<u32>().add(half).write(upper) };
    }
}

/// Processes one batch: `count` tokens from `at` on.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "one step of one loop, with what lives in its registers")]
fn one_batch<S: Simd, const TAPE: bool>(
    simd: S,
    text: &[u8],
    tokens: &Tokens,
    at: usize,
    count: usize,
    state: &mut Structure,
    ends: &mut [u32; BATCH],
    tape: &mut Tape,
) -> Result<(), Fault> {
    let (kinds, pos) = tokens.batch(at);
    let valid = u64::MAX >> (BATCH - count);
    let block = simd.load(kinds);
    let marked = simd.beyond_ascii(block) & valid;
    let mut is = simd.kinds(block, valid);
    if tokens.may_be_beyond_ascii(at) {
        // Text that is known to be UTF-8 has no other bytes that look like a marked token.
        let suspects = if state.trusted { marked } else { marked & (is.open_array | is.close_array) };
        remove_beyond_ascii(text, tokens, at, suspects, &mut is);
    }
    // `tight`: the scalar reaches to the operator after it. `loose`: white space separates the two. `odd`: no operator
    // follows the scalar, so something is wrong.
    let operators = is.open() | is.close() | is.comma | is.colon;
    let behind = tokens.operator(at + BATCH);
    let tight = (operators & !marked) >> 1 | u64::from(behind == Some(false)) << (BATCH - 1);
    let loose = is.scalar() & ((operators & marked) >> 1 | u64::from(behind == Some(true)) << (BATCH - 1));
    let odd = is.scalar() & !(tight | loose);
    // Without a tape the ends of strings are wrong, and only those of numbers and literals are read.
    let loose = if TAPE { loose } else { loose & !is.string };
    let ([starts @ .., _], [_, nexts @ ..]) = (pos, pos);
    let ends = if loose == 0 {
        nexts
    } else {
        *ends = *nexts;
        let keys = loose & is.string & is.colon >> 1;
        trim_ends(simd, text, loose, keys, pos, ends);
        ends
    };
    // The text is read before the tape is written: a load waits for older stores whose addresses look like its
    // own.
    let owe_numbers = tokens.owe_numbers(at);
    let wrong_scalar = if state.trusted {
        None
    } else {
        check_scalars(simd, text, kinds, pos, ends, &is, odd, owe_numbers, state.numbers)
    };
    let keep = valid & !(is.comma | is.colon);
    if TAPE {
        let escaped = marked & is.string;
        let scalar = is.scalar();
        let words = TokenWords {
            kinds,
            starts,
            ends,
            keep,
            string: is.string,
            escaped,
            scalar,
            close: is.close(),
            flag: state.flag(),
        };
        simd.words(block, &words, tape.room());
    }
    let inside = brackets::<TAPE>(&is, keep, state, tape);
    let first_bad = rules(simd, &is, valid, &inside, state);
    if TAPE {
        tape.len += keep.count_ones() as usize;
    }
    if first_bad.is_none() && wrong_scalar.is_none() {
        if inside.stop == NEVER {
            return Ok(());
        }
        if inside.stop as usize == count - 1 && state.depth == 0 {
            state.done = true;
            return Ok(());
        }
    }
    verdict(text, kinds, pos, valid, first_bad, &inside, wrong_scalar, state)
}

/// Takes out those of these tokens that are bytes of a character beyond ASCII.
#[inline(always)]
fn remove_beyond_ascii(text: &[u8], tokens: &Tokens, at: usize, mut suspects: u64, is: &mut Kinds) {
    while suspects != 0 {
        if !tokens.is_ascii(text, at + suspects.trailing_zeros() as usize) {
            is.remove(suspects & suspects.wrapping_neg());
        }
        suspects &= suspects - 1;
    }
}

/// The results of matching a batch's brackets.
struct Inside {
    /// Bits of the brackets after which the innermost container is of another kind.
    changes: u64,
    /// Bits of the tokens that come directly after an opening bracket.
    opened: u64,
    /// The bracket at which matching stopped: it closes the document's value or exceeds the depth limit. Otherwise
    /// [`NEVER`].
    stop: u32,
}

const NEVER: u32 = u32::MAX;

/// Matches the brackets of a batch one by one, and writes their words.
#[inline(always)]
fn brackets<const TAPE: bool>(is: &Kinds, keep: u64, state: &mut Structure, tape: &mut Tape) -> Inside {
    let (open, close) = (is.open(), is.close());
    let opened = open << 1 | state.opened;
    let (mut depth, mut commas) = (state.depth, state.commas);
    if state.open.len() < depth + BATCH + 2 {
        state.open.resize(2 * depth + BATCH + 2, 0);
    }
    let flag = state.flag();
    let slots = &mut state.open[..];
    let mut inside = Inside { changes: 0, opened, stop: NEVER };
    let mut context = state.in_object & 1;
    let mut left = open | close;
    while left != 0 {
        let bit = left & left.wrapping_neg();
        left ^= bit;
        let below = bit - 1;
        // The commas of the batch so far; `commas` is less than the commas of the innermost container by these.
        let seen = (is.comma & below).count_ones();
        let rank = (keep & below).count_ones();
        let inner;
        if close & bit != 0 {
            let slot = slots[depth];
            depth -= 1;
            if TAPE {
                let children = commas.wrapping_add(seen) + u32::from(opened & bit == 0);
                let node = if slot >> Slot::OBJECT != 0 { Node::Object } else { Node::Array };
                tape.close(Slot::word(slot), rank, node, children as usize, flag);
            }
            commas = Slot::commas(slot).wrapping_sub(seen);
            inner = slots[depth] >> Slot::OBJECT;
        } else {
            inner = u64::from(is.open_object & bit != 0);
            let next = left & left.wrapping_neg();
            if close & next != 0 && depth.wrapping_sub(1) < state.depth_max.saturating_sub(1) {
                // A container that holds no other container leaves nothing behind. Depth 0 wraps and so fails the test: it is the
                // document, whose end stops the matching. The rest is less than the greatest depth.
                left ^= next;
                let within = (is.comma & (next - 1)).count_ones() - seen;
                if TAPE {
                    let node = if inner != 0 { Node::Object } else { Node::Array };
                    let last = (keep & (next - 1)).count_ones();
                    let children = within + u32::from(opened & next == 0);
                    tape.close(tape.len + rank as usize, last, node, children as usize, flag);
                }
                commas = commas.wrapping_sub(within);
                inside.changes |= (bit | next) & (inner ^ context).wrapping_neg();
                continue;
            }
            depth += 1;
            slots[depth] = Slot::pack(tape.len + rank as usize, commas.wrapping_add(seen), inner);
            commas = seen.wrapping_neg();
        }
        inside.changes |= bit & (inner ^ context).wrapping_neg();
        context = inner;
        if depth.wrapping_sub(1) >= state.depth_max {
            inside.stop = bit.trailing_zeros();
            break;
        }
    }
    commas = commas.wrapping_add(is.comma.count_ones());
    (state.depth, state.commas) = (depth, commas);
    inside
}
