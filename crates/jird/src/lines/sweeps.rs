//! Decides whether unchecked lines are swept, or scanned for tokens.
//!
//! The costs of a piece are compared in bytes that could be scanned for tokens in the same time. A scan costs all bytes
//! of the piece. A sweep costs half of the bytes that it looks at, and `record_bytes` for each record. So sweeping goes on
//! after a piece if `swept / 2 + records * record_bytes <= bytes`; a sweep that looks at nothing is always cheaper. If not,
//! it pauses for 1 piece, then for 2, 4, and so on up to 64, until a piece is swept that pays.

use super::gate::When;
use crate::kernel::Kernel;

/// Whether records are swept. If they are short, or many of them need tokens after all, one scan of a whole piece for
/// tokens is faster.
#[derive(Debug)]
pub(super) struct Sweeps {
    /// What a sweep of a record costs besides its bytes, as the number of bytes that could be scanned for tokens in that
    /// time.
    record_bytes: usize,
    /// The number of pieces until sweeping is tried again.
    pause: u32,
    /// How long the next pause is.
    pause_next: u32,
}

impl Sweeps {
    /// What a record costs that needs tokens of its own, in the same measure, doubled.
    pub(super) const TOKENS_BYTES: usize = 2048;
    const PAUSE_MAX: u32 = 64;
    /// A scan for tokens of fewer bytes costs more than it finds, and shows nothing of other pieces.
    const FEW_BYTES: usize = 4 << 10;

    pub(super) fn new(kernel: Kernel) -> Self {
        // Kernels that skim scan for tokens so quickly that short lines are not worth a sweep. Measured on Zen 5 only.
        Self { record_bytes: if kernel.skims() { 256 } else { 128 }, pause: 0, pause_next: 0 }
    }

    /// Whether the next piece, of this many bytes, is swept.
    pub(super) fn opens(&mut self, sweep: When, bytes: usize) -> bool {
        match sweep {
            When::Always => true,
            When::Never => false,
            When::Measured if bytes < Self::FEW_BYTES => true,
            When::Measured => {
                let is_open = self.pause == 0;
                self.pause = self.pause.saturating_sub(1);
                is_open
            }
        }
    }

    /// Records that `swept` bytes of a piece of `bytes` bytes were looked at for the values of its `records`. Such a
    /// byte costs half as much as one that is scanned for tokens.
    pub(super) fn measure(&mut self, bytes: usize, records: usize, swept: usize) {
        if bytes < Self::FEW_BYTES {
            return;
        }
        let besides = if swept == 0 { 0 } else { records * self.record_bytes };
        if swept / 2 + besides <= bytes {
            self.pause_next = 1;
        } else {
            self.pause = self.pause_next.max(1);
            self.pause_next = (2 * self.pause).min(Self::PAUSE_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_are_scanned_for_tokens_and_tried_again_later() {
        let mut sweeps = Sweeps { record_bytes: 256, pause: 0, pause_next: 0 };
        let opened: Vec<bool> = (0..20)
            .map(|_| {
                let opens = sweeps.opens(When::Measured, 64_000);
                if opens {
                    sweeps.measure(64_000, 200, 40_000);
                }
                opens
            })
            .collect();
        let tries: Vec<usize> = (0..20).filter(|&piece| opened[piece]).collect();
        assert_eq!(tries, [0, 2, 5, 10, 19]);
        // The piece after the last try would not be swept, but for being short.
        assert!(sweeps.opens(When::Measured, 400));
        assert!(sweeps.opens(When::Always, 64_000) && !sweeps.opens(When::Never, 10));
    }

    #[test]
    fn long_lines_and_lines_of_which_nothing_is_wanted_are_swept() {
        for (records, swept) in [(100, 30_000), (6_000, 0)] {
            let mut sweeps = Sweeps::new(Kernel::best());
            sweeps.measure(64_000, records, swept);
            assert!(sweeps.opens(When::Measured, 64_000));
        }
        let mut sweeps = Sweeps::new(Kernel::best());
        sweeps.measure(64_000, 100, 100 * Sweeps::TOKENS_BYTES);
        assert!(!sweeps.opens(When::Measured, 64_000));
    }
}
