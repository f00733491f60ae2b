//! Writes strings and numbers straight into memory of the caller's, for output that is not a vector.
//!
//! Each function says how much room it needs. That is more than it writes: it stores whole words and blocks, and only a
//! part of them counts.

#![allow(unsafe_code, reason = "stores into room whose size is asserted or promised")]

use super::escape::{self, ESCAPE_MAX};
use super::writer::SLACK;
use crate::kernel::{BLOCK, EIGHT, Kernel, SIXTEEN, eight_digits, sixteen_digits};
use crate::number::{self, Shortest};
use core::mem::MaybeUninit;

/// Room that is enough for any number.
pub const NUMBER_ROOM: usize = 2 * SLACK;

/// Room that [`put_string`] needs for a text of `len` bytes.
#[inline(always)]
pub const fn string_room(len: usize) -> usize {
    // Every byte may need an escape; the quotes; and what is stored after that does not count.
    ESCAPE_MAX * len + 2 + escape::ROOM
}

/// Writes `text` as a JSON string with its quotes, and returns how many bytes that took. It escapes only what RFC 8259
/// §7 demands.
///
/// # Panics
/// If `room` is shorter than [`string_room`] of the text's length.
#[inline(always)]
pub fn put_string(kernel: Kernel, text: &str, room: &mut [MaybeUninit<u8>]) -> usize {
    assert!(room.len() >= string_room(text.len()), "room for the string");
    if text.len() >= BLOCK {
        return put_long_string(kernel, text, room);
    }
    let (text, to) = (text.as_bytes(), room.as_mut_ptr().cast::<u8>());
    // SAFETY: room was asserted for all of the text as escapes, for the quotes, and for more than `SLACK` bytes and a
    // block.
    unsafe {
        to.write(b'"');
        let plain = if kernel.loads_rests() {
            escape::copy_block(kernel, text, &mut *to.add(1).cast())
        } else {
            escape::copy_plain(text, to.add(1))
        };
        // The branch is predicted, so that what comes next need not wait for the number.
        let content =
            if plain == text.len() { text.len() } else { plain + put_escaped(text, plain, to.add(1 + plain)) };
        to.add(1 + content).write(b'"');
        content + 2
    }
}

#[inline(never)]
fn put_long_string(kernel: Kernel, text: &str, room: &mut [MaybeUninit<u8>]) -> usize {
    let quote = MaybeUninit::new(b'"');
    room[0] = quote;
    let (read, written) = escape::escape_blocks(kernel, text.as_bytes(), &mut room[1..]);
    assert_eq!(read, text.len(), "there is room for all of it");
    room[1 + written] = quote;
    written + 2
}

/// [`put_string`] without the quotes.
///
/// # Panics
/// As [`put_string`].
pub fn put_content(kernel: Kernel, text: &str, room: &mut [MaybeUninit<u8>]) -> usize {
    assert!(room.len() >= string_room(text.len()), "room for the string");
    if text.len() > BLOCK {
        return put_blocks(kernel, text, room);
    }
    // SAFETY: room was asserted for all of the text as escapes, and for more than `SLACK` bytes.
    unsafe { put_short(text.as_bytes(), room.as_mut_ptr().cast()) }
}

/// Writes the content of a text of more than a block.
fn put_blocks(kernel: Kernel, text: &str, room: &mut [MaybeUninit<u8>]) -> usize {
    let (read, written) = escape::escape_blocks(kernel, text.as_bytes(), room);
    assert_eq!(read, text.len(), "there is room for all of it");
    written
}

/// Writes the content of a text of at most a block.
///
/// # Safety
/// At `to` there is room for all of it as escapes, and for `SLACK` bytes more.
#[inline(always)]
unsafe fn put_short(text: &[u8], to: *mut u8) -> usize {
    // SAFETY: the caller's promise; what is copied is no longer than the escapes would be.
    unsafe {
        let plain = escape::copy_plain(text, to);
        if plain == text.len() { plain } else { plain + put_escaped(text, plain, to.add(plain)) }
    }
}

/// Writes the content of `text`, at most a block, from `from` on. It is not inlined, so that the common case stays
/// small.
///
/// # Safety
/// As of [`put_short`].
#[inline(never)]
unsafe fn put_escaped(text: &[u8], from: usize, to: *mut u8) -> usize {
    // SAFETY: the caller's promise.
    unsafe { escape::escape_block(text, from, text.len(), to) }
}

/// Writes an integer, and returns how many bytes that took.
#[inline(always)]
pub fn put_i64(value: i64, room: &mut [MaybeUninit<u8>; NUMBER_ROOM]) -> usize {
    let to = room.as_mut_ptr().cast::<u8>();
    let sign = usize::from(value < 0);
    // SAFETY: there is room for a sign, twenty digits and `SLACK` bytes.
    unsafe {
        to.write(b'-');
        sign + put_unsigned(value.unsigned_abs(), to.add(sign))
    }
}

/// Writes an integer, and returns how many bytes that took.
#[inline(always)]
pub fn put_u64(value: u64, room: &mut [MaybeUninit<u8>; NUMBER_ROOM]) -> usize {
    // SAFETY: there is room for twenty digits and `SLACK` bytes.
    unsafe { put_unsigned(value, room.as_mut_ptr().cast()) }
}

/// Writes a finite number with the shortest digits that read back as the same number, and returns how many bytes that
/// took.
#[inline]
pub fn put_f64(value: f64, room: &mut [MaybeUninit<u8>; NUMBER_ROOM]) -> usize {
    let Some(number) = number::shortest(value) else { return put_float(value, room) };
    let to = room.as_mut_ptr().cast::<u8>();
    let sign = usize::from(value.is_sign_negative());
    // SAFETY: there is room for a sign, seventeen digits, a point, the zeros that `shortest` allows before them, and
    // `SLACK` bytes.
    unsafe {
        to.write(b'-');
        sign + put_shortest(&number, to.add(sign))
    }
}

/// [`put_f64`] for a single.
pub fn put_f32(value: f32, room: &mut [MaybeUninit<u8>; NUMBER_ROOM]) -> usize {
    put_float(value, room)
}

#[inline(never)]
fn put_float<T: zmij::Float>(value: T, room: &mut [MaybeUninit<u8>; NUMBER_ROOM]) -> usize {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value).as_bytes();
    for (to, &byte) in room.iter_mut().zip(text) {
        to.write(byte);
    }
    text.len()
}

/// Writes the digits of `value`.
///
/// # Safety
/// At `to` there is room for 20 bytes, and for `SLACK` bytes more.
#[inline(always)]
pub(super) unsafe fn put_unsigned(value: u64, to: *mut u8) -> usize {
    if value < EIGHT {
        if value < 10_000 {
            let (digits, len) = number::small_digits(value as u32);
            // SAFETY: these are four bytes.
            unsafe { to.cast::<[u8; 4]>().write(digits) };
            return len;
        }
        let (digits, len) = number::short_digits(value);
        // SAFETY: these are eight bytes.
        unsafe { to.cast::<[u8; 8]>().write(digits.to_le_bytes()) };
        return len;
    }
    if value.wrapping_sub(EIGHT) < 99 * EIGHT {
        // Nine or ten digits: one or two before eight.
        let (head, low) = ((value / EIGHT) as u8, value % EIGHT);
        let has_two = usize::from(head >= 10);
        // SAFETY: these are at most ten bytes.
        unsafe {
            to.write(b'0' + head / 10);
            to.add(has_two).write(b'0' + head % 10);
            to.add(has_two + 1).cast::<[u8; 8]>().write(eight_digits(low).to_le_bytes());
        }
        return has_two + 9;
    }
    let (high, low) = (value / SIXTEEN, value % SIXTEEN);
    if high == 0 {
        let (digits, len) = number::digits(value);
        // SAFETY: there are at most sixteen digits.
        unsafe { to.cast::<[u8; 16]>().write(digits.to_le_bytes()) };
        return len;
    }
    let (head, len) = number::digits(high);
    // SAFETY: there are at most four digits, and sixteen more.
    unsafe {
        to.cast::<[u8; 16]>().write(head.to_le_bytes());
        to.add(len).cast::<[u8; 16]>().write(sixteen_digits(low).0.to_le_bytes());
    }
    len + 16
}

/// Writes the digits of `number`, without a sign.
///
/// # Safety
/// At `to` there is room for 23 bytes, and for `SLACK` bytes more.
#[inline(always)]
pub(super) unsafe fn put_shortest(number: &Shortest, to: *mut u8) -> usize {
    let (digits, last, count) = (number.digits(), number.last(), number.count());
    let Ok(point @ 1..) = usize::try_from(number.point()) else {
        let zeros = 2 + number.point().unsigned_abs() as usize;
        // SAFETY: at most four zeros follow the point, by the invariant of `Shortest`, and at most seventeen digits
        // follow the zeros.
        unsafe {
            to.cast::<[u8; 8]>().write(*b"0.000000");
            to.add(zeros).cast::<[u8; 16]>().write(digits.to_le_bytes());
            to.add(zeros + 16).write(last);
        }
        return zeros + count;
    };
    // SAFETY: these are a point and seventeen digits before and after it; at most sixteen are before it, by the
    // invariant of `Shortest`.
    unsafe {
        to.cast::<[u8; 16]>().write(digits.to_le_bytes());
        to.add(point).write(b'.');
        to.add(point + 1).cast::<[u8; 16]>().write((digits >> (8 * (point & 15))).to_le_bytes());
        to.add(17).write(last);
    }
    // All digits before the point count, and at least one after it.
    count.max(point + 1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `put` writes, in a room that is exactly as large as it asks for.
    fn written(len: usize, put: impl FnOnce(&mut [MaybeUninit<u8>]) -> usize) -> String {
        let mut room = vec![MaybeUninit::new(b'#'); len];
        let len = put(&mut room);
        // SAFETY: all of the room was written at first.
        let bytes = room[..len].iter().map(|byte| unsafe { byte.assume_init() }).collect();
        String::from_utf8(bytes).expect("text is written")
    }

    #[test]
    fn strings_are_those_of_a_writer_at_every_length() {
        for kernel in Kernel::available() {
            for text in ["a", "\"", "\u{1f}", "é", "ab\\c😀\n"] {
                for repeat in (0..150).chain([1000, 5000]) {
                    let text = text.repeat(repeat);
                    let mut wanted = Vec::new();
                    super::super::write_string(&text, &mut wanted);
                    let found = written(string_room(text.len()), |room| put_string(kernel, &text, room));
                    assert_eq!(found.as_bytes(), wanted, "{kernel:?}");
                    let content = written(string_room(text.len()), |room| put_content(kernel, &text, room));
                    assert_eq!(format!("\"{content}\""), found, "{kernel:?}");
                }
            }
        }
    }

    fn number(put: impl FnOnce(&mut [MaybeUninit<u8>; NUMBER_ROOM]) -> usize) -> String {
        written(NUMBER_ROOM, |room| put(room.first_chunk_mut().expect("it is as large")))
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "any doubles serve")]
    fn numbers_are_those_of_a_writer() {
        for shift in 0..64 {
            for value in [u64::MAX >> shift, 1 << shift, (1 << shift) - 1, 10_u64.pow(shift % 20)] {
                assert_eq!(number(|room| put_u64(value, room)), value.to_string());
                let signed = (value as i64).wrapping_neg();
                assert_eq!(number(|room| put_i64(signed, room)), signed.to_string());
                for float in [f64::from_bits(value), value as f64, -1.0 / value as f64] {
                    if float.is_finite() {
                        let found = number(|room| put_f64(float, room));
                        let mut wanted = Vec::new();
                        super::super::write_number(&mut wanted, |writer| writer.double(float));
                        assert_eq!(found.as_bytes(), wanted);
                        let single = float as f32;
                        if single.is_finite() {
                            let found = number(|room| put_f32(single, room));
                            assert_eq!(found.parse::<f32>().map(f32::to_bits), Ok(single.to_bits()));
                        }
                    }
                }
            }
        }
    }
}
