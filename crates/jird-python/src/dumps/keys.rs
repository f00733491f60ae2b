//! Dicts that are written sorted, or whose keys are not strings.

use super::kinds::{self, Exact};
use super::{NON_STR_KEYS, SORT_KEYS, is_on, other};
use crate::raw::encode::{Encoder, Failure, because};
use crate::raw::members;
use crate::raw::short_text::ShortText;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

/// Writes a dict: its keys become text, and are sorted by their UTF-8 if that was asked for. Equal keys keep their
/// order.
pub(super) fn write<'py>(encoder: &mut Encoder<'_, 'py>, dict: &Bound<'py, PyDict>) -> Result<(), Failure> {
    // As they were: what makes a text of a key may change the dict, and so may `default`.
    let members = members::copied(dict);
    let texts = is_on(encoder, NON_STR_KEYS);
    if is_on(encoder, SORT_KEYS) {
        return sorted(encoder, &members, texts);
    }
    encoder.open(b'{')?;
    for (key, value) in &members {
        let int = if texts { key.cast_exact::<PyInt>().ok().and_then(|int| int.extract::<i64>().ok()) } else { None };
        if let Ok(text) = key.cast::<PyString>() {
            encoder.key(utf8(text)?);
        } else if let Some(int) = int {
            encoder.int_key(int);
        } else if !(texts && encoder.uuid_key(key)) {
            match text_of(encoder, key, texts)? {
                KeyText::Short(text) => encoder.short_key(&text),
                KeyText::Long(text) => encoder.key(&text),
            }
        }
        encoder.object(value)?;
    }
    encoder.close(b'}');
    Ok(())
}

fn sorted<'py>(
    encoder: &mut Encoder<'_, 'py>,
    members: &[(Bound<'py, PyAny>, Bound<'py, PyAny>)],
    texts: bool,
) -> Result<(), Failure> {
    let mut owned = Vec::new();
    let mut sorted = Vec::with_capacity(members.len());
    for (index, (key, _)) in members.iter().enumerate() {
        match key.cast::<PyString>() {
            Ok(text) => sorted.push(SortedKey::new(utf8(text)?, index)),
            Err(_) => owned.push((text_of(encoder, key, texts)?.into_string(), index)),
        }
    }
    sorted.extend(owned.iter().map(|(text, index)| SortedKey::new(text, *index)));
    sorted.sort_unstable();
    encoder.open(b'{')?;
    for SortedKey { text, index, .. } in sorted {
        encoder.key(text);
        encoder.object(&members[index].1)?;
    }
    encoder.close(b'}');
    Ok(())
}

/// A key, by which members are sorted.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SortedKey<'a> {
    /// Its first eight bytes, the first of all the highest, with zeros if there are fewer. Most keys differ in them, and they
    /// are compared without a call.
    begin: u64,
    text: &'a str,
    /// Equal keys keep their order.
    index: usize,
}

impl<'a> SortedKey<'a> {
    #[inline]
    fn new(text: &'a str, index: usize) -> Self {
        Self { begin: begin(text.as_bytes()), text, index }
    }
}

/// The first eight bytes of a text as a number, the first byte the highest, with zeros for those that it has not.
#[inline]
fn begin(text: &[u8]) -> u64 {
    match (text.first_chunk::<8>(), text.first_chunk::<4>(), text.last_chunk::<4>()) {
        (Some(first), ..) => u64::from_be_bytes(*first),
        (_, Some(first), Some(last)) => {
            // The last four without those that are among the first four.
            let rest = u64::from(u32::from_be_bytes(*last)) << (8 * (8 - text.len()));
            u64::from(u32::from_be_bytes(*first)) << 32 | rest & 0xFFFF_FFFF
        }
        _ => text.iter().zip([56, 48, 40]).fold(0, |seen, (&byte, place)| seen | u64::from(byte) << place),
    }
}

/// What a key that is not a string is written as.
enum KeyText {
    Short(ShortText),
    Long(String),
}

impl KeyText {
    fn into_string(self) -> String {
        match self {
            Self::Short(text) => text.to_text(),
            Self::Long(text) => text,
        }
    }
}

fn utf8<'a>(text: &'a Bound<'_, PyString>) -> Result<&'a str, Failure> {
    text.to_str().map_err(|_| because("str is not valid UTF-8: surrogates not allowed"))
}

/// What a key that is not a string is written as, if such keys are allowed.
fn text_of<'py>(encoder: &mut Encoder<'_, 'py>, key: &Bound<'py, PyAny>, is_allowed: bool) -> Result<KeyText, Failure> {
    if !is_allowed {
        return Err(because("Dict key must be str"));
    }
    if let Ok(int) = key.cast_exact::<PyInt>() {
        return other::digits(int).map(KeyText::Long);
    }
    if key.is_none() {
        return Ok(KeyText::Long("null".into()));
    }
    if let Ok(truth) = key.cast_exact::<PyBool>() {
        return Ok(KeyText::Long(if truth.is_true() { "true" } else { "false" }.into()));
    }
    if let Ok(float) = key.cast_exact::<PyFloat>() {
        return Ok(KeyText::Long(text_of_float(float.value())));
    }
    let kind = kinds::of(key)?;
    if let Some(attribute) = kind.value {
        let value = other::enum_value(key, attribute)?;
        // The value may be another member, or the same.
        encoder.check_stack()?;
        return match value.cast::<PyString>() {
            Ok(text) => Ok(KeyText::Long(utf8(text)?.to_owned())),
            Err(_) => text_of(encoder, &value, is_allowed),
        };
    }
    if let Ok(int) = key.cast::<PyInt>() {
        return other::digits(int).map(KeyText::Long);
    }
    match kind.exact {
        Some(Exact::Uuid) => other::uuid(encoder, key).map(KeyText::Short),
        Some(Exact::DateTime | Exact::Date | Exact::Time) => {
            other::any_time(encoder, key)?.map(KeyText::Short).ok_or_else(not_a_key)
        }
        _ => Err(not_a_key()),
    }
}

fn not_a_key() -> Failure {
    because("Dict key must a type serializable with OPT_NON_STR_KEYS")
}

fn text_of_float(value: f64) -> String {
    if !value.is_finite() {
        return "null".into();
    }
    jird::to_string(&value).unwrap_or_default()
}
