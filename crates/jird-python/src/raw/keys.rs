//! Caches of strings: of keys, since a document repeats a few keys many times, and of values of typed fields.

use super::make::{self, HashedKey, NewObject};
use core::ptr;
use core::str::Utf8Error;
#[cfg(not(Py_3_14))]
use pyo3::ffi::PyCompactUnicodeObject;
use pyo3::ffi::{self, Py_hash_t, PyASCIIObject};
use pyo3::prelude::*;

/// The longest key that is kept, in bytes.
const KEY_MAX: usize = 64;

/// Keys that are kept; a power of two. Each takes 16 bytes and its string.
const SLOTS: usize = 2048;

struct Slot {
    /// Invariant: a compact `str` of ASCII, or one that has been asked for its UTF-8.
    key: Py<PyAny>,
    hash: Py_hash_t,
}

/// Keys by their text. A new key takes the place of one that has the same slot.
pub(crate) struct Keys {
    slots: Box<[Option<Slot>]>,
}

impl Keys {
    pub(crate) fn new() -> Self {
        Self { slots: (0..SLOTS).map(|_| None).collect() }
    }

    /// The `str` of this text, and its hash.
    #[inline(always)]
    pub(crate) fn key<'py>(&mut self, py: Python<'py>, text: &str) -> Option<HashedKey<'py>> {
        let bytes = text.as_bytes();
        if bytes.len() > KEY_MAX {
            return other_key(py, text);
        }
        let slot = &mut self.slots[mix(bytes) & (SLOTS - 1)];
        match slot {
            Some(Slot { key, hash }) if is_text(key, bytes) => {
                Some(HashedKey { key: key.bind(py).clone(), hash: *hash })
            }
            _ => new_key(py, text, slot),
        }
    }

    /// The same of what may be UTF-8.
    #[inline(always)]
    pub(crate) fn key_of<'py>(&mut self, py: Python<'py>, text: &[u8]) -> Result<Option<HashedKey<'py>>, Utf8Error> {
        if text.len() <= KEY_MAX
            && let Some(Slot { key, hash }) = &self.slots[mix(text) & (SLOTS - 1)]
            && is_text(key, text)
        {
            return Ok(Some(HashedKey { key: key.bind(py).clone(), hash: *hash }));
        }
        Ok(self.key(py, str::from_utf8(text)?))
    }
}

/// Strings that are values: those of a field are often few.
pub(crate) struct Values {
    /// Invariant: compact strings of ASCII.
    slots: Box<[Option<Py<PyAny>>]>,
    /// What hits have earned, and misses have cost.
    credit: i32,
}

/// The longest value that is kept, in bytes.
const VALUE_MAX: usize = 24;

/// Values that are kept; a power of two.
const VALUES: usize = 1024;

/// How many misses are paid for in advance, and the most that hits can earn.
const CREDIT: i32 = 2048;

impl Values {
    pub(crate) fn new() -> Self {
        Self { slots: (0..VALUES).map(|_| None).collect(), credit: CREDIT }
    }

    /// Forgets that there were more misses than hits, but not the values.
    pub(crate) fn renew(&mut self) {
        self.credit = CREDIT;
    }

    /// The `str` of this text. As long as most values are new, they are not kept.
    #[inline(always)]
    pub(crate) fn value<'py>(&mut self, py: Python<'py>, text: &str) -> NewObject<'py> {
        self.kept(py, text.as_bytes()).unwrap_or_else(|| make::string(py, text))
    }

    /// The same of what may be UTF-8.
    #[inline(always)]
    pub(crate) fn value_of<'py>(&mut self, py: Python<'py>, text: &[u8]) -> Result<NewObject<'py>, Utf8Error> {
        self.kept(py, text).map_or_else(|| make::string_of(py, text), Ok)
    }

    /// The `str` of a text that is kept from now on; `None` if it is not.
    #[inline(always)]
    fn kept<'py>(&mut self, py: Python<'py>, bytes: &[u8]) -> Option<NewObject<'py>> {
        if bytes.len() > VALUE_MAX || self.credit <= 0 {
            return None;
        }
        let slot = &mut self.slots[mix(bytes) & (VALUES - 1)];
        match slot {
            Some(value) if is_text(value, bytes) => {
                self.credit = (self.credit + 1).min(CREDIT);
                Some(Some(value.bind(py).clone()))
            }
            _ => {
                self.credit -= 1;
                if !make::is_ascii(bytes) {
                    return None;
                }
                let made = make::ascii(py, bytes);
                if let Some(made) = &made
                    && let Some(old) = slot.replace(made.clone().unbind())
                {
                    old.drop_ref(py);
                }
                Some(made)
            }
        }
    }
}

#[inline(never)]
fn other_key<'py>(py: Python<'py>, text: &str) -> Option<HashedKey<'py>> {
    HashedKey::new(make::string(py, text)?)
}

#[inline(never)]
fn new_key<'py>(py: Python<'py>, text: &str, slot: &mut Option<Slot>) -> Option<HashedKey<'py>> {
    let made = if make::is_ascii(text.as_bytes()) {
        make::ascii(py, text.as_bytes())?
    } else if KEEPS_UTF8 {
        make::string(py, text)?
    } else {
        return other_key(py, text);
    };
    let made = HashedKey::new(made)?;
    if !text.is_ascii() && !asks_utf8(&made.key) {
        return Some(made);
    }
    if let Some(old) = slot.replace(Slot { key: made.key.clone().unbind(), hash: made.hash }) {
        old.key.drop_ref(py);
    }
    Some(made)
}

/// Whether a `str` keeps its UTF-8 where [`is_text`] looks for it.
const KEEPS_UTF8: bool = cfg!(not(Py_3_14));

/// Makes a `str` store its text as UTF-8 too. `false` if memory has run out.
fn asks_utf8(made: &Bound<'_, PyAny>) -> bool {
    let mut len = 0;
    // SAFETY: it is a `str` of a text, so that it has no surrogates.
    unsafe {
        let is_kept = !ffi::PyUnicode_AsUTF8AndSize(made.as_ptr(), &raw mut len).is_null();
        if !is_kept {
            ffi::PyErr_Clear();
        }
        is_kept
    }
}

/// Whether `key` is this text.
#[inline(always)]
fn is_text(key: &Py<PyAny>, text: &[u8]) -> bool {
    let key = key.as_ptr();
    // SAFETY: what is in a slot is a compact `str`. One of ASCII is a `PyASCIIObject` and as many bytes as that says after it;
    // others have their UTF-8 where a `PyCompactUnicodeObject` says, because they were asked for it. They are never changed.
    unsafe {
        #[cfg(not(Py_3_14))]
        if ffi::PyUnicode_IS_COMPACT_ASCII(key) == 0 {
            let key = key.cast::<PyCompactUnicodeObject>();
            let (data, len) = ((*key).utf8, (*key).utf8_length);
            return is_same(core::slice::from_raw_parts(data.cast(), len as usize), text);
        }
        let key = key.cast::<PyASCIIObject>();
        let held = core::slice::from_raw_parts(key.add(1).cast::<u8>(), (*key).length as usize);
        is_same(held, text)
    }
}

/// Whether two texts are equal. Without a call for most keys.
#[inline(always)]
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let word = |text: &[u8; 8]| u64::from_le_bytes(*text);
    match (one.first_chunk::<8>(), one.last_chunk::<8>(), other.first_chunk::<8>(), other.last_chunk::<8>()) {
        (Some(a), Some(b), Some(c), Some(d)) if one.len() <= 16 => (word(a) ^ word(c)) | (word(b) ^ word(d)) == 0,
        (Some(_), ..) => one == other,
        _ => short(one) == short(other),
    }
}

/// A text of up to seven bytes as a number.
#[inline(always)]
fn short(text: &[u8]) -> u64 {
    match (text.first_chunk::<4>(), text.last_chunk::<4>(), text) {
        (Some(first), Some(last), _) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        (_, _, [first, .., last]) => u64::from(*first) | u64::from(text[text.len() / 2]) << 8 | u64::from(*last) << 16,
        (_, _, [only]) => u64::from(*only),
        _ => 0,
    }
}

/// A number that differs for most texts, of all their bytes.
#[inline(always)]
fn mix(text: &[u8]) -> usize {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let seen = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
            let ends = first ^ last.rotate_left(23).wrapping_mul(ODD);
            if text.len() <= 16 { ends } else { mix_middle(ends, text) }
        }
        _ => short(text),
    };
    let mixed = (seen ^ text.len() as u64).wrapping_mul(ODD);
    (mixed >> 40) as usize
}

/// Keys such as `measurement_01_temperature` differ in the middle.
fn mix_middle(ends: u64, text: &[u8]) -> u64 {
    const ODD: u64 = 0xC2B2_AE3D_27D4_EB4F;
    let words = text[8..].as_chunks::<8>().0;
    words.iter().fold(ends, |seen, word| (seen ^ u64::from_le_bytes(*word)).wrapping_mul(ODD).rotate_left(31))
}

const _: () = assert!(SLOTS <= 1 << 24, "`mix` has 24 bits");
const _: () = assert!(size_of::<Option<Slot>>() == 2 * size_of::<ptr::NonNull<u8>>());
