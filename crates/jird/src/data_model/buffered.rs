//! The text of numbers that serde keeps in a buffer of its own.
//!
//! For `#[serde(flatten)]` and for untagged, internally and adjacently tagged enums, serde first reads a value into a
//! buffer, and decodes the type from there. The buffer holds a number with a fraction, an exponent or more than 64 bits
//! as an `f64`, without its text. So while a text is decoded, this module keeps the text of each such number: a type
//! that keeps the text of numbers finds it here. The key is the `f64`: if two numbers of the text have the same `f64`
//! and different texts, that is remembered too, and no text is invented.
//!
//! The text is kept per thread, and as long as the deserializer decodes that value: until it begins the next
//! one, or is dropped.

use crate::number::Number;
use core::cell::{Cell, RefCell};
use std::collections::BTreeMap;

thread_local! {
    /// How many deserializers keep texts: more than one if one value is decoded within another.
    static KEEPERS: Cell<usize> = const { Cell::new(0) };
    static FLOATS: RefCell<BTreeMap<u64, BufferedFloat>> = const { RefCell::new(BTreeMap::new()) };
}

/// What is known of the text of an `f64` that comes from a buffer of serde's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferedFloat {
    /// No text that is being decoded on this thread has it in a buffer.
    Unknown,
    /// Its text.
    Text(Box<str>),
    /// It stands in the text in several forms, which all have the same value.
    SameValue,
    /// Several numbers of the text are rounded to it.
    Ambiguous,
}

/// What is known of the text of `value`. `serde` buffered `value` while a text was decoded on this thread.
pub fn buffered_float(value: f64) -> BufferedFloat {
    let kept = |floats: &RefCell<BTreeMap<_, _>>| floats.borrow().get(&value.to_bits()).cloned();
    FLOATS.try_with(kept).ok().flatten().unwrap_or(BufferedFloat::Unknown)
}

/// The texts that one deserializer has kept. They are dropped with it, or before its next value.
///
/// A deserializer that has kept none does nothing but test a flag.
#[derive(Default)]
pub(crate) struct BufferedTexts {
    any: bool,
}

impl BufferedTexts {
    /// Keeps the text of a number that goes into a buffer.
    #[cold]
    #[inline(never)]
    pub(crate) fn keep(&mut self, value: f64, text: &str) {
        if !self.any {
            // A thread that ends keeps nothing.
            let Ok(()) = KEEPERS.try_with(|keepers| keepers.set(keepers.get() + 1)) else { return };
            self.any = true;
        }
        let _ = FLOATS.try_with(|floats| keep(&mut floats.borrow_mut(), value, text));
    }

    /// No buffer with the numbers of this deserializer is left.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        if self.any {
            self.any = false;
            forget();
        }
    }
}

impl Drop for BufferedTexts {
    #[inline(always)]
    fn drop(&mut self) {
        self.forget();
    }
}

fn keep(floats: &mut BTreeMap<u64, BufferedFloat>, value: f64, text: &str) {
    let entry = floats.entry(value.to_bits());
    let kept = entry.or_insert_with(|| BufferedFloat::Text(text.into()));
    if let BufferedFloat::Text(first) = kept
        && **first != *text
    {
        let same = Number::new(first).zip(Number::new(text)).is_some_and(|(one, other)| one.compare(other).is_eq());
        *kept = if same { BufferedFloat::SameValue } else { BufferedFloat::Ambiguous };
    } else if *kept == BufferedFloat::SameValue
        && let Some(shortest) = Number::new(zmij::Buffer::new().format(value))
        && Number::new(text).is_none_or(|number| number.compare(shortest).is_ne())
    {
        *kept = BufferedFloat::Ambiguous;
    }
}

/// One deserializer less keeps texts. The last one leaves none.
#[cold]
#[inline(never)]
fn forget() {
    let left = KEEPERS.try_with(|keepers| {
        keepers.set(keepers.get().saturating_sub(1));
        keepers.get()
    });
    if left == Ok(0) {
        // A thread that ends has forgotten already.
        let _ = FLOATS.try_with(|floats| {
            if let Ok(mut floats) = floats.try_borrow_mut() {
                floats.clear();
            }
        });
    }
}

/// Whether a visitor belongs to a buffer of serde's, possibly within the visitor of another crate. serde gives it no
/// public name. If a version of serde had another name for it, numbers in buffers would have no text, and types that
/// need the text would refuse them.
#[inline(always)]
pub(crate) fn is_buffer<V>() -> bool {
    const BUFFER: &str = "::ContentVisitor";
    let name = core::any::type_name::<V>();
    // The compiler knows the ends of a name; it does not search it. Only the name of a generic visitor is searched.
    name.ends_with(BUFFER) || name.ends_with('>') && name.contains(BUFFER)
}
