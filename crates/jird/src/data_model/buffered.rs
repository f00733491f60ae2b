//! The text of numbers that serde keeps in a buffer of its own.
//!
//! For `#[serde(flatten)]` and for untagged, internally and adjacently tagged enums, serde first reads a value into a
//! buffer, and decodes the type from there. The buffer holds a number with a fraction, an exponent or more than 64 bits
//! as an `f64`, without its text. So while a text is decoded, this module keeps the text of each such number: a type
//! that keeps the text of numbers finds it here. The key is the `f64`: if two numbers of the text have the same `f64`
//! and different texts, that is remembered too, and no text is invented.
//!
//! The text is kept per thread, from the start of a value that is decoded to its end.

use crate::number::Number;
use core::cell::{Cell, RefCell};
use std::collections::HashMap;

thread_local! {
    /// How many values are being decoded, one within the other.
    static ACTIVE: Cell<usize> = const { Cell::new(0) };
    static FLOATS: RefCell<Option<HashMap<u64, BufferedFloat>>> = const { RefCell::new(None) };
}

/// What is known of the text of an `f64` that comes from a buffer of serde's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferedFloat {
    /// It does not come from a text that is being decoded on this thread.
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
    let kept = |floats: &RefCell<Option<HashMap<_, _>>>| floats.borrow().as_ref()?.get(&value.to_bits()).cloned();
    FLOATS.try_with(kept).ok().flatten().unwrap_or(BufferedFloat::Unknown)
}

/// Keeps the text of a number that goes into a buffer.
#[cold]
pub(crate) fn record_float(value: f64, text: &str) {
    if ACTIVE.try_with(Cell::get).unwrap_or(0) == 0 {
        return;
    }
    let _ = FLOATS.try_with(|floats| {
        let mut floats = floats.borrow_mut();
        let entry = floats.get_or_insert_default().entry(value.to_bits());
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
    });
}

/// A value is being decoded, until this is dropped.
pub(crate) struct Buffering(());

impl Buffering {
    #[inline]
    pub(crate) fn begin() -> Self {
        let _ = ACTIVE.try_with(|active| active.set(active.get() + 1));
        Self(())
    }
}

impl Drop for Buffering {
    #[inline]
    fn drop(&mut self) {
        let left = ACTIVE.try_with(|active| {
            active.set(active.get().saturating_sub(1));
            active.get()
        });
        if left == Ok(0) {
            forget();
        }
    }
}

#[inline]
fn forget() {
    // A thread that ends has forgotten already.
    let _ = FLOATS.try_with(|floats| {
        if let Ok(mut floats) = floats.try_borrow_mut()
            && floats.is_some()
        {
            *floats = None;
        }
    });
}

/// Whether a visitor belongs to a buffer of serde's. serde gives it no public name. If a version of serde had another
/// name for it, numbers in buffers would have no text, and types that need the text would refuse them.
#[inline(always)]
pub(crate) fn is_buffer<V>() -> bool {
    core::any::type_name::<V>().contains("::ContentVisitor")
}
