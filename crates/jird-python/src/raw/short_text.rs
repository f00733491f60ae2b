//! Short texts of ASCII that need no escapes: dates and times by RFC 3339, and UUIDs.

use jird::hooks::two_digits;

/// The room of such a text.
pub(crate) const ROOM: usize = 40;

/// `1970-01-01T00:00:00.000001+00:00`, or a part of it, or a UUID.
pub(crate) struct ShortText {
    pub(super) bytes: Room,
    pub(super) len: usize,
}

/// Where the time is in a date and time.
const AFTER_DATE: usize = 11;

/// Bytes that such a text is written into.
pub(super) type Room = [u8; ROOM];

impl ShortText {
    #[inline]
    fn of(put: impl FnOnce(&mut Room) -> usize) -> Self {
        let mut bytes = [b' '; ROOM];
        let len = put(&mut bytes);
        Self { bytes, len }
    }

    /// Of a year of up to four digits, a month and a day.
    #[inline]
    pub(crate) fn date(date: [u32; 3]) -> Self {
        Self::of(|room| put_date(room, date))
    }

    /// The same, and an hour, a minute, a second and microseconds, which are left out if there are none.
    #[inline]
    pub(crate) fn date_time(date: [u32; 3], clock: [u32; 4]) -> Self {
        Self::of(|room| put_date_time(room, date, clock))
    }

    /// The second part alone.
    #[inline]
    pub(crate) fn time(clock: [u32; 4]) -> Self {
        Self::of(|room| put_time(room, clock))
    }

    /// Appends a difference to UTC, as [`put_zone`] does.
    #[inline]
    pub(crate) fn add_zone(&mut self, seconds: i32, has_z: bool) {
        self.len = put_zone(&mut self.bytes, self.len, seconds, has_z);
    }

    /// A UUID of 128 bits.
    #[inline]
    pub(crate) fn uuid(number: u128) -> Self {
        Self::of(|room| put_uuid(room, number))
    }

    /// The text.
    pub(crate) fn to_text(&self) -> String {
        self.bytes[..self.len].iter().map(|byte| char::from(*byte)).collect()
    }
}

// Each of these writes a text to the beginning of the room, and returns its length: a text that is made where it is wanted
// need not be copied, for which the CPU would have to wait until all of its small parts are stored.

/// [`ShortText::date`]
#[inline(always)]
pub(super) fn put_date(room: &mut Room, date: [u32; 3]) -> usize {
    *room = *b"0000-00-00T00:00:00.000000              ";
    let [year, month, day] = date;
    put(room, 0, year / 100);
    put(room, 2, year % 100);
    put(room, 5, month);
    put(room, 8, day);
    10
}

/// [`ShortText::date_time`]
#[inline(always)]
pub(super) fn put_date_time(room: &mut Room, date: [u32; 3], clock: [u32; 4]) -> usize {
    put_date(room, date);
    put_clock::<AFTER_DATE>(room, clock)
}

/// [`ShortText::time`]
#[inline(always)]
pub(super) fn put_time(room: &mut Room, clock: [u32; 4]) -> usize {
    *room = *b"00:00:00.000000                         ";
    put_clock::<0>(room, clock)
}

/// Appends a difference to UTC to a text of this length: `+10:30`, or `Z` for none if that is wanted. Seconds are rounded to the
/// nearest minute, since RFC 3339 has none. It is less than a day, and no more is appended.
#[inline(always)]
pub(super) fn put_zone(room: &mut Room, len: usize, seconds: i32, has_z: bool) -> usize {
    if seconds == 0 && has_z {
        room[len] = b'Z';
        return len + 1;
    }
    // An offset is shorter than a day. If it rounds to zero, its sign is plus.
    let minutes = ((seconds.unsigned_abs() + 30) / 60).min(24 * 60 - 1);
    let ([a, b], [c, d]) = (two_digits((minutes / 60) as u8), two_digits((minutes % 60) as u8));
    let zone = [if seconds < 0 && minutes > 0 { b'-' } else { b'+' }, a, b, b':', c, d];
    room[len..len + zone.len()].copy_from_slice(&zone);
    len + zone.len()
}

/// [`ShortText::uuid`]
#[inline(always)]
pub(super) fn put_uuid(room: &mut Room, number: u128) -> usize {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    /// Where the two digits of each byte are.
    const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    *room = *b"00000000-0000-0000-0000-000000000000    ";
    for (byte, place) in number.to_be_bytes().into_iter().zip(PLACES) {
        room[place] = DIGITS[usize::from(byte >> 4)];
        room[place + 1] = DIGITS[usize::from(byte & 15)];
    }
    36
}

#[inline(always)]
fn put(room: &mut Room, at: usize, value: u32) {
    room[at..at + 2].copy_from_slice(&two_digits(value as u8));
}

#[inline(always)]
fn put_clock<const AT: usize>(room: &mut Room, [hour, minute, second, micro]: [u32; 4]) -> usize {
    put(room, AT, hour);
    put(room, AT + 3, minute);
    put(room, AT + 6, second);
    if micro == 0 {
        return AT + 8;
    }
    put(room, AT + 9, micro / 10_000);
    put(room, AT + 11, micro / 100 % 100);
    put(room, AT + 13, micro % 100);
    AT + 15
}
