//! Words of texts: parts of [`GRAM`] bytes.
//!
//! The filter has the parts of every text and of every key, each between its quotes, decoded if it has escapes. The
//! engine's needles ([`Predicate::literals`](jird::record::Predicate::literals)) are such texts too: a needle stands in
//! one text or key, may have one of its quotes, and has no character that must be escaped. A text without escapes has
//! the needle as it stands. A text with escapes has it after decoding, however the characters were spelled.
//!
//! Each byte counts as one of 64 classes, so that a part takes 24 bits: small and capital letters are one, all digits are
//! one (almost every block has each run of four digits, which would fill the filter and tell nothing), and so are bytes
//! beyond ASCII with the same last four bits. That only makes some texts look alike.

/// The length of a part, in bytes.
pub(crate) const GRAM: usize = 4;

/// The number of bits of a class.
const CLASS_BITS: usize = 6;

/// The number of parts.
const ALL: usize = 1 << (CLASS_BITS * GRAM);

const MASK: u32 = (ALL - 1) as u32;

/// The class of each byte.
static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = class_of(byte as u8);
        byte += 1;
    }
    class
};

const fn class_of(byte: u8) -> u8 {
    const MARKS: &[u8; 20] = b"\" /-_.:,@=+()[{<'#%&";
    match byte {
        b'a'..=b'z' => byte - b'a',
        b'A'..=b'Z' => byte - b'A',
        b'0'..=b'9' => 26,
        0x80.. => 48 + (byte & 15),
        _ => {
            let mut mark = 0;
            while mark < MARKS.len() && MARKS[mark] != byte {
                mark += 1;
            }
            27 + mark as u8
        }
    }
}

/// Whether a part is kept: not if its second or third byte is a space, because two words that follow each other make two
/// such parts, which would fill the filter.
fn is_kept(gram: u32) -> bool {
    let class = |place: usize| (gram >> (CLASS_BITS * place)) as u8 % (1 << CLASS_BITS);
    class(1) != class_of(b' ') && class(2) != class_of(b' ')
}

#[inline(always)]
fn next(gram: u32, byte: u8) -> u32 {
    (gram << CLASS_BITS | u32::from(CLASS[usize::from(byte)])) & MASK
}

/// The parts of a text, first to last, some of them several times.
pub(crate) fn grams(text: &[u8]) -> impl Iterator<Item = u32> {
    text.windows(GRAM).map(|part| part.iter().fold(0, |gram, byte| next(gram, *byte))).filter(|gram| is_kept(*gram))
}

/// The different parts of the texts of a block.
pub(crate) struct Grams {
    /// A bit for each part: two megabytes; a block touches little of them.
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
        let mut gram = head.iter().fold(0, |gram, byte| next(gram, *byte));
        for byte in tail {
            gram = next(gram, *byte);
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
        out.extend(self.found.drain(..).filter(|gram| is_kept(*gram)));
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
            for text in ["\"abcabc\"", "", "a", "abc", "\"é\""] {
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
    fn bytes_of_a_class_are_one() {
        for (left, right) in [("a123", "A978"), ("]a]a", "}A~a"), ("\u{e4}bc", "\u{f4}bc")] {
            assert!(grams(left.as_bytes()).eq(grams(right.as_bytes())), "{left} {right}");
        }
        for (left, right) in [("a123", "b123"), ("a.bc", "a-bc"), ("\"abc", "'abc"), ("\u{e4}bc", "\u{e5}bc")] {
            assert!(!grams(left.as_bytes()).eq(grams(right.as_bytes())), "{left} {right}");
        }
        let kept: Vec<u32> = grams(b"abcd efgh").collect();
        assert!(kept.into_iter().eq(["abcd", "bcd ", " efg", "efgh"].iter().flat_map(|part| grams(part.as_bytes()))));
        assert!(CLASS.iter().all(|class| usize::from(*class) < 1 << CLASS_BITS));
    }
}
