//! Short texts of ASCII that need no escapes: dates and times by RFC 3339, and UUIDs.

/// The room of such a text.
pub(crate) const ROOM: usize = 40;

/// `1970-01-01T00:00:00.000001+00:00`, or a part of it, or a UUID.
pub(crate) struct ShortText {
    pub(super) bytes: [u8; ROOM],
    pub(super) len: usize,
}

/// Where the time is in a date and time.
const AFTER_DATE: usize = 11;

/// The last two digits of a number.
#[inline]
fn two(value: u32) -> [u8; 2] {
    let value = (value % 100) as u8;
    [b'0' + value / 10, b'0' + value % 10]
}

impl ShortText {
    /// Of a year of up to four digits, a month and a day.
    #[inline]
    pub(crate) fn date(date: [u32; 3]) -> Self {
        let mut text = Self { bytes: *b"0000-00-00T00:00:00.000000              ", len: 10 };
        text.put_date(date);
        text
    }

    /// The same, and an hour, a minute, a second and microseconds, which are left out if there are none.
    #[inline]
    pub(crate) fn date_time(date: [u32; 3], clock: [u32; 4]) -> Self {
        let mut text = Self::date(date);
        text.put_clock::<AFTER_DATE>(clock);
        text
    }

    /// The second part alone.
    #[inline]
    pub(crate) fn time(clock: [u32; 4]) -> Self {
        let mut text = Self { bytes: *b"00:00:00.000000                         ", len: 0 };
        text.put_clock::<0>(clock);
        text
    }

    /// Appends a difference to UTC: `+10:30`, or `Z` for none if that is wanted. Seconds are rounded to the nearest minute,
    /// since RFC 3339 has none. It is less than a day, and no more is appended.
    #[inline]
    pub(crate) fn add_zone(&mut self, seconds: i32, has_z: bool) {
        if seconds == 0 && has_z {
            self.bytes[self.len] = b'Z';
            self.len += 1;
            return;
        }
        // A day is no difference any more, and no difference is not negative.
        let minutes = ((seconds.unsigned_abs() + 30) / 60).min(24 * 60 - 1);
        let ([a, b], [c, d]) = (two(minutes / 60), two(minutes % 60));
        let zone = [if seconds < 0 && minutes > 0 { b'-' } else { b'+' }, a, b, b':', c, d];
        self.bytes[self.len..self.len + zone.len()].copy_from_slice(&zone);
        self.len += zone.len();
    }

    /// A UUID of 128 bits.
    #[inline]
    pub(crate) fn uuid(number: u128) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        /// Where the two digits of each byte are.
        const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
        let mut text = Self { bytes: *b"00000000-0000-0000-0000-000000000000    ", len: 36 };
        for (byte, place) in number.to_be_bytes().into_iter().zip(PLACES) {
            text.bytes[place] = DIGITS[usize::from(byte >> 4)];
            text.bytes[place + 1] = DIGITS[usize::from(byte & 15)];
        }
        text
    }

    /// The text.
    pub(crate) fn to_text(&self) -> String {
        self.bytes[..self.len].iter().map(|byte| char::from(*byte)).collect()
    }

    #[inline]
    fn put(&mut self, at: usize, value: u32) {
        self.bytes[at..at + 2].copy_from_slice(&two(value));
    }

    #[inline]
    fn put_date(&mut self, [year, month, day]: [u32; 3]) {
        self.put(0, year / 100);
        self.put(2, year);
        self.put(5, month);
        self.put(8, day);
    }

    #[inline]
    fn put_clock<const AT: usize>(&mut self, [hour, minute, second, micro]: [u32; 4]) {
        self.put(AT, hour);
        self.put(AT + 3, minute);
        self.put(AT + 6, second);
        self.len = AT + 8;
        if micro != 0 {
            self.put(AT + 9, micro / 10_000);
            self.put(AT + 11, micro / 100);
            self.put(AT + 13, micro);
            self.len = AT + 15;
        }
    }
}
