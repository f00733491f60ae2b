//! Split-block Bloom filters (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", WEA 2007;
//! the form of the Parquet format, "Parquet Bloom Filter"): a value sets one bit in each of the eight words of one
//! *split* of 32 bytes.
//!
//! All blocks of a span have filters of the same number of splits, so a value has the same split in each. It has other
//! bits in each: most values of a split are in all blocks, and a value whose bits these happen to set would be found in
//! many blocks (in one case in 105 of 1,870 where 14 could be expected). Indexes of version 1 had the same bits in each.
//! The filters are stored *transposed*: first split 0 of all blocks, then split 1 of all blocks, and so on. One value is
//! looked up in a whole span by reading one *run*.
//!
//! ```text
//! run 0: │ block 0 │ block 1 │ block 2 │ …      each box is one split: 8 words of 4 bytes, little-endian
//! run 1: │ block 0 │ block 1 │ block 2 │ …
//! ```

use super::hash;

/// The length of a split, in bytes.
pub(crate) const SPLIT: usize = 32;

/// The odd numbers that choose the bits, as Parquet has them.
const SALTS: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// The split of a hash, in filters of `splits` of them.
#[inline]
pub(crate) fn split_of(hash: u64, splits: usize) -> usize {
    (((hash >> 32) * splits as u64) >> 32) as usize
}

/// The bits of what a hash [is in its block](super::hash::in_block); in indexes of version 1, of its lower half.
#[inline]
fn bits(hash: u32) -> [u32; 8] {
    SALTS.map(|salt| 1 << (hash.wrapping_mul(salt) >> 27))
}

/// Whether a split may have a hash that belongs to it, as it is in its block.
#[inline]
pub(crate) fn may_have(split: &[u8; SPLIT], hash: u32) -> bool {
    let (words, _) = split.as_chunks::<4>();
    words.iter().zip(bits(hash)).all(|(word, bit)| u32::from_le_bytes(*word) & bit != 0)
}

/// Filters of the blocks of a span, before they are transposed.
pub(crate) struct Filters {
    splits: usize,
    words: Vec<[u32; 8]>,
}

impl Filters {
    pub(crate) fn new(splits: usize) -> Self {
        Self { splits, words: Vec::new() }
    }

    pub(crate) fn splits(&self) -> usize {
        self.splits
    }

    /// Adds the filter of the next block. `None` makes a filter that may have everything.
    pub(crate) fn push(&mut self, hashes: Option<impl Iterator<Item = u64>>) {
        let start = self.words.len();
        let block = start / self.splits;
        let fill = if hashes.is_some() { 0 } else { u32::MAX };
        self.words.resize(start + self.splits, [fill; 8]);
        for hash in hashes.into_iter().flatten() {
            let split = &mut self.words[start + split_of(hash, self.splits)];
            for (word, bit) in split.iter_mut().zip(bits(hash::in_block(hash, block))) {
                *word |= bit;
            }
        }
    }

    /// The run of a split number: this split of all blocks.
    pub(crate) fn run(&self, split: usize, out: &mut Vec<u8>) {
        for block in self.words.chunks_exact(self.splits) {
            out.extend(block[split].iter().flat_map(|word| word.to_le_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In ten thousand.
    fn share(bits_per_value: usize) -> usize {
        let (values, splits) = (8000, 8000 * bits_per_value / 8 / SPLIT);
        let mut filters = Filters::new(splits);
        filters.push(Some((0..values as u64).map(hash::word)));
        let mut runs = Vec::new();
        (0..splits).for_each(|split| filters.run(split, &mut runs));
        let has = |value: u64| {
            let hash = hash::word(value);
            may_have(runs[split_of(hash, splits) * SPLIT..].first_chunk().unwrap(), hash::in_block(hash, 0))
        };
        assert!((0..values as u64).all(has), "no value is lost");
        (1_000_000..1_100_000).filter(|value| has(*value)).count() / 10
    }

    #[test]
    fn what_is_not_there_is_seldom_found() {
        for (bits, most) in [(8, 350), (10, 150), (12, 70), (16, 15)] {
            let found = share(bits);
            assert!(found < most && found > most / 10, "{found} with {bits} bits");
        }
    }

    #[test]
    fn blocks_stand_side_by_side_and_an_unknown_one_may_have_everything() {
        let mut filters = Filters::new(3);
        filters.push(Some([hash::word(7)].into_iter()));
        filters.push(None::<std::iter::Empty<u64>>);
        filters.push(Some([].into_iter()));
        let split = split_of(hash::word(7), 3);
        let mut run = Vec::new();
        filters.run(split, &mut run);
        let (splits, rest) = run.as_chunks::<SPLIT>();
        assert!(rest.is_empty());
        let has = |(block, split)| may_have(split, hash::in_block(hash::word(7), block));
        assert_eq!(splits.iter().enumerate().map(has).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn what_all_blocks_have_hides_a_value_in_few_of_them() {
        // Twenty values in one split of a thousand blocks; no other value is found in much more blocks than in the mean.
        let mut filters = Filters::new(1);
        (0..1000).for_each(|_| filters.push(Some((0..20).map(hash::word))));
        let mut run = Vec::new();
        filters.run(0, &mut run);
        let found = |value: u64| {
            let splits = run.as_chunks::<SPLIT>().0.iter().enumerate();
            splits.filter(|(block, split)| may_have(split, hash::in_block(hash::word(value), *block))).count()
        };
        let most = (100..1100).map(found).max().unwrap();
        assert!((0..20).all(|value| found(value) == 1000) && most < 20, "{most}");
    }
}
