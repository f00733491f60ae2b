//! Words of texts: parts of [`GRAM`] bytes.
//!
//! The filter has the parts of every text and of every key, each between its quotes, decoded if it has escapes. The
//! engine's needles ([`Predicate::literals`](jird::record::Predicate::literals)) are such texts too: a needle stands in
//! one text or key, may have one of its quotes, and has no character that must be escaped. A text without escapes has
//! the needle as it stands. A text with escapes has it after decoding, however the characters were spelled.
//!
//! All digits count as one byte: almost every block has each run of three digits, so digits tell nothing and would fill
//! the filter.

/// The length of a part.
pub(crate) const GRAM: usize = 3;

/// The number of parts: each byte has eight bits.
const ALL: usize = 1 << (8 * GRAM);

const MASK: u32 = (ALL - 1) as u32;

/// What each byte counts as.
static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = if (byte as u8).is_ascii_digit() { b'0' } else { byte as u8 };
        byte += 1;
    }
    class
};

/// The parts of a text, first to last, some of them several times.
pub(crate) fn grams(text: &[u8]) -> impl Iterator<Item = u32> {
    text.windows(GRAM).map(|part| part.iter().fold(0, |gram, byte| gram << 8 | u32::from(CLASS[usize::from(*byte)])))
}

/// The different parts of the texts of a block.
pub(crate) struct Grams {
    /// A bit for each part: two megabytes, of which a block touches little.
    bits: Box<[u64]>,
    found: Vec<u32>,
}

impl Grams {
    pub(crate) fn new() -> Self {
        Self { bits: vec![0; ALL / 64].into(), found: Vec::new() }
    }

    /// Adds the parts of a text.
    #[inline]
    pub(crate) fn add(&mut self, text: &[u8]) {
        let Some((head, tail)) = text.split_first_chunk::<{ GRAM - 1 }>() else { return };
        let mut gram = head.iter().fold(0, |gram, byte| gram << 8 | u32::from(CLASS[usize::from(*byte)]));
        for byte in tail {
            gram = (gram << 8 | u32::from(CLASS[usize::from(*byte)])) & MASK;
            let word = &mut self.bits[gram as usize / 64];
            let bit = 1 << (gram % 64);
            if *word & bit == 0 {
                *word |= bit;
                self.found.push(gram);
            }
        }
    }

    /// The parts so far; then there are none again.
    pub(crate) fn take(&mut self, out: &mut Vec<u32>) {
        for gram in &self.found {
            self.bits[*gram as usize / 64] = 0;
        }
        out.clear();
        out.append(&mut self.found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_there_once_and_the_next_block_begins_with_none() {
        let mut all = Grams::new();
        let mut out = Vec::new();
        for _ in 0..2 {
            for text in ["\"abcabc\"", "", "a", "ab", "\"é\""] {
                all.add(text.as_bytes());
            }
            all.take(&mut out);
            let mut wanted: Vec<u32> = ["\"abcabc\"", "\"é\""].iter().flat_map(|text| grams(text.as_bytes())).collect();
            wanted.sort_unstable();
            wanted.dedup();
            out.sort_unstable();
            assert_eq!(out, wanted);
        }
    }

    #[test]
    fn digits_are_one() {
        assert!(grams(b"a12").eq(grams(b"a97")) && !grams(b"a12").eq(grams(b"b12")));
    }
}
