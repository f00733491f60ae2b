//! Chooses which of the many ways through the engine a check takes.
//!
//! A text can be read on several kernels, in chunks of several sizes, into several types. A test takes all of these
//! ways. A fuzzer that did so would spend its time on one text. [`one_of_each`] takes one way at each choice instead.
//! The bytes of the text decide which. So a text always takes the same ways, and many texts together take all of them.

use crate::Target;
use crate::random::Random;
use std::cell::RefCell;

thread_local! {
    /// What decides the next choice; `None` while all ways are taken.
    static CHOICE: RefCell<Option<Random>> = const { RefCell::new(None) };
}

/// Runs `check` on `text`, and takes one way at each choice.
///
/// # Panics
/// If the property that `check` checks does not hold.
pub fn one_of_each(check: Target, text: &[u8]) {
    // FNV-1a: each byte matters, so a mutated text takes other ways.
    let hash = text
        .iter()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3));
    CHOICE.set(Some(Random::new(hash)));
    check(text);
    CHOICE.set(None);
}

/// The items to use at a choice: all of them, or one of them under [`one_of_each`].
pub(crate) fn ways<T>(items: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let mut items: Vec<T> = items.into_iter().collect();
    let picked = CHOICE.with_borrow_mut(|choice| choice.as_mut().map(|random| random.below(items.len())));
    if let Some(picked) = picked
        && !items.is_empty()
    {
        items = vec![items.swap_remove(picked)];
    }
    items.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::collections::BTreeMap;

    thread_local! {
        static TAKEN: Cell<u32> = const { Cell::new(0) };
    }

    /// Counts the items used in decimal digits: 1, 10 or 100 for the first choice, 1,000 or 10,000 for the second.
    fn count(_: &[u8]) {
        let first: u32 = ways([1, 10, 100]).sum();
        let second: u32 = ways([1_000, 10_000]).sum();
        TAKEN.set(TAKEN.get() + first + second);
    }

    #[test]
    fn a_test_takes_all_ways() {
        TAKEN.set(0);
        count(b"");
        assert_eq!(TAKEN.get(), 11_111);
    }

    #[test]
    fn a_fuzzer_takes_one_way_at_each_choice_and_in_time_every_combination() {
        let mut seen = BTreeMap::new();
        for text in 0..600_u32 {
            let text = text.to_le_bytes();
            let run = || {
                TAKEN.set(0);
                one_of_each(count, &text);
                TAKEN.get()
            };
            let taken = run();
            assert_eq!(run(), taken, "the same text goes the same way");
            *seen.entry(taken).or_insert(0) += 1;
        }
        let combinations: Vec<u32> = seen.keys().copied().collect();
        assert_eq!(combinations, [1_001, 1_010, 1_100, 10_001, 10_010, 10_100]);
        assert!(seen.values().all(|times| *times > 50), "{seen:?}");
    }

    #[test]
    fn a_choice_among_nothing_is_nothing() {
        assert_eq!(ways([0; 0]).count(), 0);
        one_of_each(|_| assert_eq!(ways([0; 0]).count(), 0), b"text");
    }
}
