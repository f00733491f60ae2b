//! Digits of texts, eight bytes at a time.

/// The powers of ten of up to eight zeros.
pub(super) const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Appends the digits from `at` on to those of a value. Returns where they end. A value of more than nineteen digits makes no
/// sense.
#[inline(always)]
pub(super) fn digits(text: &[u8], mut at: usize, mut value: u64) -> (usize, u64) {
    // Eight bytes at a time, however many of them are digits: most numbers have no length that could be predicted.
    while let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let (count, head) = head(*word);
        value = value.wrapping_mul(TENS[count]).wrapping_add(head);
        at += count;
        if count < 8 {
            return (at, value);
        }
    }
    while let Some(digit @ b'0'..=b'9') = text.get(at) {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        at += 1;
    }
    (at, value)
}

/// How many of the bytes are digits before the first that is not, and their value. Pairs of digits are joined, pairs of
/// those, and pairs of those, each by one multiplication.
#[inline(always)]
pub(super) fn head(bytes: [u8; 8]) -> (usize, u64) {
    let word = u64::from_le_bytes(bytes);
    let low = word.wrapping_sub(0x3030_3030_3030_3030);
    // Marks the high bit of bytes other than digits. The first mark is right; later ones may not be.
    let others = (word.wrapping_add(0x4646_4646_4646_4646) | low) & 0x8080_8080_8080_8080;
    let count = (others.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // Zeros in front of the digits.
    let eight = low << (64 - 8 * count);
    let pairs = eight.wrapping_mul(10).wrapping_add(eight >> 8);
    let first = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
    let second = (pairs >> 16 & 0x0000_00FF_0000_00FF).wrapping_mul(0x0000_2710_0000_0001);
    (count, first.wrapping_add(second) >> 32)
}

/// What the digits of a text are, byte by byte, if it has the form of another one: a digit where that has a zero, and the
/// same byte where it has something else. What stands for those is zero.
#[inline(always)]
pub(super) fn formed(text: &[u8; 8], form: &[u8; 8]) -> Option<u64> {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let limits = u64::from_le_bytes(form.map(|byte| if byte == b'0' { 0x7F - 9 } else { 0x7F }));
    let digits = u64::from_le_bytes(*text) ^ u64::from_le_bytes(*form);
    // A sum has its high bit if the byte is above its limit, and no sum reaches the next byte.
    let others = ((digits & !HIGH) + limits) | digits;
    (others & HIGH == 0).then_some(digits)
}

/// The number that each two neighbours of [`formed`] digits are, at the place of the first one.
#[inline(always)]
pub(super) fn pairs(digits: u64) -> [u8; 8] {
    (digits * 10 + (digits >> 8)).to_le_bytes()
}
