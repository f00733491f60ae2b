//! The digits of numbers that serde keeps in a buffer of its own.
//!
//! For `#[serde(flatten)]` and for untagged, internally and adjacently tagged enums, serde first reads a value into a
//! buffer, and decodes the type from there. The buffer holds a number with a fraction, an exponent or more than 64 bits
//! as an `f64`, without its text, and that `f64` is all that a type receives which keeps digits. So a deserializer puts
//! the texts of such numbers aside, one after the other, and the type finds its text by the `f64`. They are put in order
//! when the first type asks.
//!
//! The texts belong to one buffer, and are dropped with it. The buffers of a thread that a type may still be decoded from
//! are a stack, and a type that asks is decoded from the topmost: whatever was buffered later has been decoded by now.
//!
//! | for | the buffer is of | and is dropped when |
//! |---|---|---|
//! | flatten, adjacently tagged | all buffered members of an object | the object ends |
//! | untagged, internally tagged | one value | the next one is buffered there, or what is around it ends |
//!
//! If two numbers of one buffer have the same `f64` and different texts, no text is invented.

use crate::error::Error;
use crate::number::Number;
use core::cell::{Cell, RefCell};
use core::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    static STACK: RefCell<Stack> = const { RefCell::new(Stack { buffers: Vec::new(), spare: Vec::new() }) };
    /// What fills buffers from trees.
    static TREE: Cell<Filler> = const { Cell::new(Filler::new()) };
    /// How many trees are being decoded, each within another, and whether there may be buffers of one.
    static TREES: Cell<(u32, bool)> = const { Cell::new((0, false)) };
    /// The numbers of this thread for fillers: the next one, and the end.
    static OWNERS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// What is known of the text of an `f64` that comes from a buffer of serde's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferedFloat {
    /// It comes from no text.
    Unknown,
    /// Its text.
    Text(Box<str>),
    /// It stands in the buffer in several forms, and its shortest digits have the value of all of them.
    SameValue,
    /// Several numbers of the buffer are rounded to it.
    Ambiguous,
}

/// What is known of the text of `value`, which a visitor has received from a deserializer with errors of type `E`.
pub fn buffered_float<E>(value: f64) -> BufferedFloat {
    // Other crates' deserializers fill buffers too. An error need not be `'static`, so that it has no `TypeId`.
    if core::any::type_name::<E>() != core::any::type_name::<Error>() {
        return BufferedFloat::Unknown;
    }
    STACK.try_with(|stack| stack.borrow_mut().find(value)).unwrap_or(BufferedFloat::Unknown)
}

/// Whether a visitor or a seed that makes a `T` fills a buffer of serde's, possibly within the visitor of another crate.
/// serde gives its buffers no public name. If a version of serde had another name for them, numbers in buffers would have
/// no text, and types that need the text would refuse them.
#[inline(always)]
pub(crate) fn is_buffer<T>() -> bool {
    // The size is known before functions are inlined, and tells most types apart.
    if size_of::<T>() < 4 * size_of::<usize>() {
        return false;
    }
    // The value alone, or a pair of a tag and the value. The compiler knows the end of a name; it does not search it.
    let name = core::any::type_name::<T>();
    name.ends_with("serde_core::private::content::Content<'_>")
        || name.ends_with("serde_core::private::content::Content<'_>)")
        || name.ends_with("serde_core::private::content::Content")
        || name.ends_with("serde_core::private::content::Content)")
}

/// What fills buffers: one for each deserializer, and one for the trees of a thread.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are set one by one, and no states")]
pub(crate) struct Filler {
    /// Tells the buffers of one filler from those of others. Zero as long as it has had none.
    owner: usize,
    /// Whether it has buffers on the stack.
    has_any: bool,
    is_filling: bool,
    /// Whether the buffer that is being filled has no text yet, and none of its buffers from before.
    is_new: bool,
    /// How many containers are open around what is being buffered, which is a container itself or a value as deep.
    depth: usize,
    /// Whether the value that is decoded is known to end.
    in_value: bool,
    /// Whether the buffer that is being filled is known to be dropped as soon as it is decoded.
    is_scoped: bool,
}

impl Filler {
    pub(crate) const fn new() -> Self {
        Self { owner: 0, has_any: false, is_filling: false, is_new: false, depth: 0, in_value: false, is_scoped: false }
    }

    #[inline(always)]
    pub(crate) fn is_filling(&self) -> bool {
        self.is_filling
    }

    #[inline(always)]
    pub(crate) fn has_any(&self) -> bool {
        self.has_any
    }

    /// Begins to buffer a value, with `depth` containers open around it.
    pub(crate) fn begin_value(&mut self, depth: usize) {
        (self.is_filling, self.is_new, self.depth, self.is_scoped) = (true, true, depth + 1, self.in_value);
    }

    /// Begins to buffer a member of an object, which is the last of `depth` open containers. `is_first` if no member of it
    /// has a text yet.
    pub(crate) fn begin_member(&mut self, depth: usize, is_first: bool) {
        (self.is_filling, self.is_new, self.depth, self.is_scoped) = (true, is_first, depth, true);
    }

    /// Ends what was begun last. Returns whether the buffer has a text.
    pub(crate) fn end(&mut self) -> bool {
        self.is_filling = false;
        !self.is_new
    }

    /// Puts the text of a number aside.
    pub(crate) fn keep(&mut self, text: &[u8]) {
        // A thread that ends keeps nothing.
        let _ = STACK.try_with(|stack| {
            let stack = &mut *stack.borrow_mut();
            if core::mem::take(&mut self.is_new) {
                self.has_any = true;
                self.owner = if self.owner == 0 { new_owner() } else { self.owner };
                stack.remove(|buffer| buffer.is_within(self.owner, self.depth));
                stack.push(self);
            } else {
                stack.raise(self.owner, self.depth);
            }
            if let Some(buffer) = stack.buffers.last_mut() {
                buffer.index.clear();
                buffer.texts.extend_from_slice(text);
                buffer.texts.push(b'\n');
            }
        });
    }

    /// All members of the object that is the last of `depth` open containers have been buffered.
    #[cold]
    #[inline(never)]
    pub(crate) fn ask(&mut self, depth: usize) {
        let _ = STACK.try_with(|stack| stack.borrow_mut().raise(self.owner, depth));
    }

    /// The last of `depth` open containers ends, and with it all buffers of its members.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave(&mut self, depth: usize) {
        let owner = self.owner;
        let _ = STACK.try_with(|stack| {
            let mut stack = stack.borrow_mut();
            stack.remove(|buffer| buffer.is_within(owner, depth));
            self.has_any = stack.buffers.iter().any(|buffer| buffer.owner == owner);
        });
    }

    /// Takes over the buffers of another filler.
    fn inherit(&mut self, other: usize) {
        self.leave_all();
        let (owner, is_scoped) = (self.owner, self.in_value);
        let of_other = |buffer: &&mut Buffer| buffer.owner == other;
        self.has_any = STACK
            .try_with(|stack| {
                let buffers = &mut stack.borrow_mut().buffers;
                buffers
                    .iter_mut()
                    .filter(of_other)
                    .for_each(|buffer| (buffer.owner, buffer.is_scoped) = (owner, is_scoped));
            })
            .is_ok();
    }

    /// A value begins. `ends` if [`forget`](Self::forget) is called when it is over.
    #[inline(always)]
    pub(crate) fn begin(&mut self, ends: bool) {
        self.forget();
        self.in_value = ends;
    }

    /// No buffer of this filler is left.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        (self.is_filling, self.in_value) = (false, false);
        if self.has_any {
            self.leave(0);
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_all(&mut self) {
        self.is_filling = false;
        self.leave(0);
    }
}

/// A number for a filler that no other has, on any thread.
#[cold]
fn new_owner() -> usize {
    const AT_ONCE: usize = 1 << 10;
    static BLOCKS: AtomicUsize = AtomicUsize::new(1);
    let owner = OWNERS.try_with(|owners| {
        let (mut next, mut end) = owners.get();
        if next == end {
            next = BLOCKS.fetch_add(1, Ordering::Relaxed).wrapping_mul(AT_ONCE);
            end = next.wrapping_add(AT_ONCE);
        }
        owners.set((next.wrapping_add(1), end));
        next
    });
    owner.unwrap_or(usize::MAX)
}

/// A deserializer's [`Filler`], whose buffers are dropped with it.
pub(crate) struct Buffers(pub(crate) Filler);

impl Buffers {
    /// Leaves the buffers to what comes next on this thread: a type is decoded from them after the deserializer is gone.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        if self.0.has_any {
            let own = core::mem::replace(&mut self.0, Filler::new());
            tree(|filler| filler.inherit(own.owner));
        }
    }
}

impl Drop for Buffers {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.forget();
    }
}

/// Runs `with` on the filler for the innermost tree that is being decoded.
pub(crate) fn tree<T>(with: impl FnOnce(&mut Filler) -> T) -> T {
    let (level, _) = TREES.get();
    TREES.set((level, true));
    let mut filler = TREE.get();
    (filler.owner, filler.in_value) = (owner_of_tree(level), level > 0);
    let result = with(&mut filler);
    TREE.set(filler);
    result
}

/// A number that no deserializer has.
fn owner_of_tree(level: u32) -> usize {
    usize::MAX - level as usize
}

/// As long as it lives, one tree is being decoded.
pub(crate) struct TreeScope;

impl TreeScope {
    #[inline(always)]
    pub(crate) fn enter() -> Self {
        let (level, any) = TREES.get();
        TREES.set((level + 1, any));
        Self
    }
}

impl Drop for TreeScope {
    #[inline(always)]
    fn drop(&mut self) {
        let (level, any) = TREES.get();
        if any {
            tree(Filler::leave_all);
        }
        // What is not in a scope is replaced by the next of its kind.
        TREES.set((level - 1, any && level > 1));
    }
}

/// The texts of the numbers in one buffer.
struct Buffer {
    owner: usize,
    depth: usize,
    is_scoped: bool,
    /// Each followed by a line's end.
    texts: Vec<u8>,
    /// What is known of each `f64`, in the order of their bits. Empty until a type asks.
    index: Vec<(u64, BufferedFloat)>,
}

impl Buffer {
    fn is_within(&self, owner: usize, depth: usize) -> bool {
        self.owner == owner && self.depth >= depth
    }

    fn find(&mut self, value: f64) -> BufferedFloat {
        if self.index.is_empty() {
            self.index = index(&self.texts);
        }
        match self.index.binary_search_by_key(&value.to_bits(), |known| known.0) {
            Ok(at) => self.index[at].1.clone(),
            Err(_) => BufferedFloat::Unknown,
        }
    }
}

/// What is known of each `f64` of these texts.
fn index(texts: &[u8]) -> Vec<(u64, BufferedFloat)> {
    let bits = |text| Number::new(text).and_then(Number::to_f64).map(|value| (value.to_bits(), text));
    let mut all: Vec<(u64, &str)> = core::str::from_utf8(texts).unwrap_or_default().lines().filter_map(bits).collect();
    all.sort_unstable();
    all.dedup();
    let of_one = |same: &[(u64, &str)]| match same {
        [(bits, text)] => (*bits, BufferedFloat::Text((*text).into())),
        _ => (same[0].0, of_several(same)),
    };
    all.chunk_by(|one, next| one.0 == next.0).map(of_one).collect()
}

/// What is known of an `f64` with several texts.
fn of_several(same: &[(u64, &str)]) -> BufferedFloat {
    let mut digits = zmij::Buffer::new();
    let shortest = Number::new(digits.format(f64::from_bits(same[0].0)));
    let is_shortest = |text| shortest.zip(Number::new(text)).is_some_and(|(one, other)| one.compare(other).is_eq());
    if same.iter().all(|(_, text)| is_shortest(text)) { BufferedFloat::SameValue } else { BufferedFloat::Ambiguous }
}

/// The buffers of a thread.
struct Stack {
    buffers: Vec<Buffer>,
    /// Room for the texts of the next one.
    spare: Vec<u8>,
}

/// How many buffers of one thread may wait for their deserializer to go on, or to be dropped. If there are more, their
/// deserializers have left the thread, or were forgotten.
const UNSCOPED_MAX: usize = 64;

/// Room for more texts than this is not kept.
const SPARE_BYTES_MAX: usize = 64 << 10;

impl Stack {
    /// Opens a buffer.
    fn push(&mut self, filler: &Filler) {
        if !filler.is_scoped && self.buffers.iter().filter(|buffer| !buffer.is_scoped).count() >= UNSCOPED_MAX {
            let oldest = self.buffers.iter().position(|buffer| !buffer.is_scoped);
            oldest.map(|at| self.buffers.remove(at));
        }
        let texts = core::mem::take(&mut self.spare);
        let Filler { owner, depth, is_scoped, .. } = *filler;
        self.buffers.push(Buffer { owner, depth, is_scoped, texts, index: Vec::new() });
    }

    /// Drops buffers.
    fn remove(&mut self, is_over: impl Fn(&Buffer) -> bool) {
        let spare = &mut self.spare;
        self.buffers.retain_mut(|buffer| {
            let is_over = is_over(buffer);
            if is_over && (spare.capacity()..SPARE_BYTES_MAX).contains(&buffer.texts.capacity()) {
                buffer.texts.clear();
                *spare = core::mem::take(&mut buffer.texts);
            }
            !is_over
        });
    }

    /// Puts an object's buffer on top. The buffers of its members' members are over.
    fn raise(&mut self, owner: usize, depth: usize) {
        let is_top = |buffer: &Buffer| buffer.owner == owner && buffer.depth == depth;
        if self.buffers.last().is_some_and(is_top) {
            return;
        }
        self.remove(|buffer| buffer.is_within(owner, depth + 1));
        if let Some(at) = self.buffers.iter().position(is_top) {
            self.buffers[at..].rotate_left(1);
        }
    }

    fn find(&mut self, value: f64) -> BufferedFloat {
        let Some((top, below)) = self.buffers.split_last_mut() else { return BufferedFloat::Unknown };
        let found = top.find(value);
        // The topmost may be left from a text that was decoded within another, which asks now: both must say the same.
        match below.iter_mut().rfind(|buffer| buffer.is_scoped && buffer.owner != top.owner) {
            Some(outer) if !top.is_scoped => match (found, outer.find(value)) {
                (BufferedFloat::Unknown, found) | (found, BufferedFloat::Unknown) => found,
                (one, other) if one == other => one,
                _ => BufferedFloat::Ambiguous,
            },
            _ => found,
        }
    }
}
