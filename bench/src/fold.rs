//! What a visit computes: one checksum over everything in a document.
//!
//! `peers/peer.h` has the same fold for the C++ peers. The fold is cheap compared with parsing: a chain of one rotation
//! and one exclusive-or per 32 bytes of text, and a multiplication per value. Its steps depend on each other, so that a
//! build with more vector instructions does not compute it faster. Values are summed, so that the order of an
//! object's members does not matter: `serde_json::Value` sorts them.

use serde::{Deserialize, Serialize};

/// The checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fold {
    /// Strings, keys, integers, literals and containers.
    exact: u64,
    /// The bits of every float.
    reals: u64,
    /// The floats' absolute values, for peers whose floats are off in the last bit.
    sum: f64,
}

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const STRING: u64 = 0x5354;
const INTEGER: u64 = 0x494E;
const REAL: u64 = 0x5245;
const LITERAL: u64 = 0x4C49;
const CONTAINER: u64 = 0x434F;

impl Fold {
    /// A decoded string or key.
    #[inline]
    pub(crate) fn string(&mut self, text: &str) {
        self.exact = self.exact.wrapping_add(mix(words(text.as_bytes()), STRING));
    }

    /// An integer that fits 64 bits with a sign.
    #[inline]
    pub(crate) fn integer(&mut self, value: i64) {
        self.unsigned(value.cast_unsigned());
    }

    /// An integer that fits 64 bits without a sign.
    #[inline]
    pub(crate) fn unsigned(&mut self, value: u64) {
        self.exact = self.exact.wrapping_add(mix(value, INTEGER));
    }

    /// A number with a point or an exponent. Zeros count as integers, because only some peers treat `-0` as a float.
    #[inline]
    pub(crate) fn real(&mut self, value: f64) {
        if value == 0.0 {
            return self.unsigned(0);
        }
        self.reals = self.reals.wrapping_add(mix(value.to_bits(), REAL));
        self.sum += value.abs();
    }

    /// `null`.
    #[inline]
    pub(crate) fn null(&mut self) {
        self.exact = self.exact.wrapping_add(mix(0, LITERAL));
    }

    /// `false` or `true`.
    #[inline]
    pub(crate) fn boolean(&mut self, value: bool) {
        self.exact = self.exact.wrapping_add(mix(1 + u64::from(value), LITERAL));
    }

    /// An object or array, and its number of members.
    #[inline]
    pub(crate) fn container(&mut self, members: usize) {
        self.exact = self.exact.wrapping_add(mix(members as u64, CONTAINER));
    }

    /// Adds the fold of another document.
    #[inline]
    pub(crate) fn add(&mut self, other: Fold) {
        self.exact = self.exact.wrapping_add(other.exact);
        self.reals = self.reals.wrapping_add(other.reals);
        self.sum += other.sum;
    }

    /// The checksum of a document without floats.
    pub(crate) fn exact(self) -> u64 {
        self.exact
    }

    /// The fold that a C++ peer computed.
    pub(crate) fn from_parts(exact: u64, reals: u64, sum: f64) -> Self {
        Self { exact, reals, sum }
    }

    /// Compares this fold with the reference.
    pub(crate) fn agrees(self, reference: Self) -> Agreement {
        if self.exact != reference.exact {
            return Agreement::Differs;
        }
        if self.reals == reference.reals {
            return Agreement::Exact;
        }
        let close = (self.sum - reference.sum).abs() <= reference.sum * 1e-9;
        if close { Agreement::NearlyFloats } else { Agreement::Differs }
    }
}

/// The result of comparing two folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// Everything is equal, including every bit of every float.
    Exact,
    /// Everything is equal except the last bits of some floats.
    NearlyFloats,
    /// Something is different.
    Differs,
}

/// Loops only above 32 bytes. The exit of a loop over a short text is mispredicted once per text, which costs more than
/// parsing the text. Where loads overlap, a rotation by 7 keeps the two from cancelling each other.
#[inline]
fn words(text: &[u8]) -> u64 {
    let state = text.len() as u64;
    match text.len() {
        33.. => long(state, text),
        17..=32 => joined(state ^ two(&text[..16]), two(&text[text.len() - 16..])),
        8..=16 => joined(state ^ word(text), word(&text[text.len() - 8..])),
        4..=7 => state ^ (half(text) << 32 | half(&text[text.len() - 4..])),
        1..=3 => state ^ short(text[0], text[text.len() / 2], text[text.len() - 1]),
        0 => state,
    }
}

/// Processes 32 bytes per step; the last step covers the last 32 bytes. The chain has one rotation and one exclusive-or
/// per step.
#[inline]
fn long(state: u64, text: &[u8]) -> u64 {
    let (steps, _) = text[..text.len() - 1].as_chunks::<32>();
    let chained = steps.iter().fold(state, |state, step| joined(state, four(step)));
    joined(chained, four(&text[text.len() - 32..]))
}

#[inline]
fn joined(state: u64, word: u64) -> u64 {
    state.rotate_left(7) ^ word
}

/// Combines the first 32 bytes, outside the chain.
#[inline]
fn four(text: &[u8]) -> u64 {
    two(text) ^ two(&text[16..]).rotate_left(32)
}

#[inline]
fn two(text: &[u8]) -> u64 {
    word(text) ^ word(&text[8..]).rotate_left(16)
}

#[inline]
fn word(text: &[u8]) -> u64 {
    text.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[inline]
fn half(text: &[u8]) -> u64 {
    text.first_chunk().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)))
}

#[inline]
fn short(first: u8, middle: u8, last: u8) -> u64 {
    (u64::from(first) << 32 | u64::from(middle) << 16 | u64::from(last)) << 8
}

#[inline]
fn mix(word: u64, tag: u64) -> u64 {
    let product = (word ^ tag).wrapping_mul(MULTIPLIER);
    product ^ product >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_text_counts() {
        for len in 1..=100 {
            let text = vec![b'a'; len];
            for at in 0..len {
                let mut changed = text.clone();
                changed[at] = b'b';
                assert_ne!(words(&text), words(&changed), "byte {at} of {len}");
            }
        }
    }

    #[test]
    fn a_float_that_is_one_bit_off_is_told_from_a_wrong_one() {
        let fold = |value| {
            let mut fold = Fold::default();
            fold.real(value);
            fold
        };
        assert_eq!(fold(0.1).agrees(fold(0.1)), Agreement::Exact);
        assert_eq!(fold(0.1f64.next_up()).agrees(fold(0.1)), Agreement::NearlyFloats);
        assert_eq!(fold(0.2).agrees(fold(0.1)), Agreement::Differs);
    }
}
