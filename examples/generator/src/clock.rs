//! Ascending time stamps, `2024-03-05T06:59:58.0012345Z`: RFC 3339 with the seven digits that .NET writes.
use crate::random::Random;

/// 100 nanoseconds, the last digit written.
const TICKS_PER_SECOND: u64 = 10_000_000;

/// 2024-03-05T06:59:58Z in seconds since 1970: a morning, two seconds before the full hour.
const START_SECONDS: u64 = 1_709_621_998;

/// Unless told otherwise, events come 63 ms apart in the mean, so that the default number of them fills one day.
const GAP_TICKS: u64 = 2 * 630_000;

pub(crate) struct Clock {
    ticks: u64,
    /// Gaps between events are below this.
    gap: u64,
    /// The second that `text` spells, so that the calendar is asked once a second.
    second: u64,
    /// `2024-03-05T06:59:58.0012345Z`
    text: [u8; 28],
}

impl Clock {
    pub(crate) fn new() -> Self {
        let text = *b"0000-00-00T00:00:00.0000000Z";
        Self { ticks: START_SECONDS * TICKS_PER_SECOND, gap: GAP_TICKS, second: u64::MAX, text }
    }

    /// A clock by which `events` events fill about `hours` hours.
    pub(crate) fn filling(hours: u64, events: u64) -> Self {
        let ticks = hours.saturating_mul(3600 * TICKS_PER_SECOND);
        Self { gap: (2 * ticks / events.max(1)).max(1), ..Self::new() }
    }

    /// The time of the next event.
    pub(crate) fn next(&mut self, random: &mut Random) -> &[u8] {
        self.ticks += random.below(self.gap);
        let second = self.ticks / TICKS_PER_SECOND;
        if second != self.second {
            self.second = second;
            self.spell_second();
        }
        digits(&mut self.text[20..27], self.ticks % TICKS_PER_SECOND);
        &self.text
    }

    fn spell_second(&mut self) {
        let (year, month, day) = date(self.second / 86_400);
        let in_day = self.second % 86_400;
        digits(&mut self.text[0..4], year);
        digits(&mut self.text[5..7], month);
        digits(&mut self.text[8..10], day);
        digits(&mut self.text[11..13], in_day / 3600);
        digits(&mut self.text[14..16], in_day / 60 % 60);
        digits(&mut self.text[17..19], in_day % 60);
    }
}

/// Fills `place` with the last `place.len()` decimal digits of `number`.
pub(crate) fn digits(place: &mut [u8], mut number: u64) {
    for digit in place.iter_mut().rev() {
        *digit = b"0123456789"[(number % 10) as usize];
        number /= 10;
    }
}

/// Year, month and day of the day that lies `days` after 1970-01-01, by walking from year to year.
fn date(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| u64::from(year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)));
    let mut year = 1970;
    while days >= 365 + leap(year) {
        days -= 365 + leap(year);
        year += 1;
    }
    let months = [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for len in months {
        if days < len {
            break;
        }
        days -= len;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_by_the_calendar() {
        let check = |days, expected| assert_eq!(date(days), expected);
        check(0, (1970, 1, 1));
        check(59, (1970, 3, 1));
        check(789, (1972, 2, 29));
        check(19_787, (2024, 3, 5));
        check(20_088, (2024, 12, 31));
        check(20_089, (2025, 1, 1));
    }

    #[test]
    fn the_first_event_is_of_the_morning_it_should_be() {
        assert!(Clock::new().next(&mut Random::new(0)).starts_with(b"2024-03-05T06:59:58."));
    }
}
