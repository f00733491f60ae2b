//! Searches lines for needles in one pass, and counts the lines that it passes.

use crate::kernel::{BLOCK, Kernel, Pass, Simd};
use crate::record::{NEEDLE_MAX, NEEDLES_MAX, Needles, Pair};

/// A block, and the distance that a needle's second byte may be ahead of its first.
const WINDOW: usize = BLOCK + NEEDLE_MAX;

/// The result of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// An offset in the first line that has a needle: at one of the needle's bytes, or at its first escape. The text's
    /// end if no line has a needle.
    pub(crate) at: usize,
    /// The number of newlines before that.
    pub(crate) newlines: u64,
    /// The number of those newlines that end an empty line or a line of white space.
    pub(crate) blank: u64,
    /// The number of places that were looked at because a needle might stand there.
    pub(crate) tried: u64,
}

/// Finds the first line of `text`, from `from` on, that has a needle; a line begins at `from`. The time is linear in
/// the text, whatever it contains.
pub(super) fn search(kernel: Kernel, text: &[u8], from: usize, needles: &Needles) -> Passed {
    kernel.enter(Find { text, from, needles })
}

struct Find<'a> {
    text: &'a [u8],
    from: usize,
    needles: &'a Needles,
}

impl Pass for Find<'_> {
    type Out = Passed;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Passed {
        let Self { text, from, needles } = self;
        match needles.pairs().len() {
            1 => search_for::<S, 1>(simd, text, from, needles),
            2 => search_for::<S, 2>(simd, text, from, needles),
            3 | 4 => search_for::<S, 4>(simd, text, from, needles),
            _ => search_for::<S, NEEDLES_MAX>(simd, text, from, needles),
        }
    }
}

/// The same for at most `N` needles.
#[inline(always)]
fn search_for<S: Simd, const N: usize>(simd: S, text: &[u8], from: usize, needles: &Needles) -> Passed {
    let mut last = None;
    let mut pairs = needles.pairs();
    let pairs: [Pair; N] = core::array::from_fn(|_| {
        last = pairs.next().or(last);
        last.expect("there is a needle")
    });
    let mut search = Search { simd, text, needles, pairs, from, white: 1, passed: Passed::default() };
    let mut at = from;
    while let Some(window) = text[at..].first_chunk() {
        if search.block(window, at) {
            return search.passed;
        }
        at += BLOCK;
    }
    // The end of the text, followed by NULs: no needle contains a NUL.
    let mut end = [0; WINDOW + BLOCK];
    end[..text.len() - at].copy_from_slice(&text[at..]);
    for start in [0, BLOCK] {
        let window = end[start..].first_chunk().expect("two blocks, and a window's rest");
        if at + start < text.len() && search.block(window, at + start) {
            return search.passed;
        }
    }
    Passed { at: text.len(), ..search.passed }
}

struct Search<'a, S: Simd, const N: usize> {
    simd: S,
    text: &'a [u8],
    needles: &'a Needles,
    pairs: [Pair; N],
    /// The offset at which the first line begins.
    from: usize,
    /// 1 if the byte before the block is white space, or if there is none.
    white: u64,
    passed: Passed,
}

impl<S: Simd, const N: usize> Search<'_, S, N> {
    /// Looks at the block at `at`. True if a needle was found.
    #[inline(always)]
    fn block(&mut self, window: &[u8; WINDOW], at: usize) -> bool {
        let simd = self.simd;
        let load = |distance: usize| {
            let block = window[distance % NEEDLE_MAX..].first_chunk();
            simd.load(block.expect("the distance is less than what a window has beyond a block"))
        };
        let block = load(0);
        let next = load(1);
        let escape = simd.eq(next, self.needles.escapes[0]) | simd.eq(next, self.needles.escapes[1]);
        let mut hits = simd.eq(block, b'\\') & escape;
        for pair in &self.pairs {
            hits |= simd.eq(block, pair.first) & simd.eq(load(pair.distance), pair.second);
        }
        let newlines = simd.eq(block, b'\n');
        let white = simd.between(block, 0, b' ');
        // The last byte of a line is seldom white space.
        let blank = newlines & (white << 1 | self.white);
        self.white = white >> 63;
        if hits | blank != 0 {
            let mut before = u64::MAX;
            let (found, tried) = self.first(hits, at);
            self.passed.tried += tried;
            if let Some(found) = found {
                before = (1 << found) - 1;
                self.passed.at = at + found;
            }
            self.passed.newlines += u64::from((newlines & before).count_ones());
            self.passed.blank += blank_lines(self.text, self.from, at, blank & before);
            return before != u64::MAX;
        }
        self.passed.newlines += u64::from(newlines.count_ones());
        false
    }

    /// The first hit where a needle stands, and the number of hits that were looked at.
    #[inline(always)]
    fn first(&self, mut hits: u64, at: usize) -> (Option<usize>, u64) {
        let mut tried = 0;
        while hits != 0 {
            tried += 1;
            let hit = hits.trailing_zeros() as usize;
            if self.needles.stand_at(self.text, at + hit) {
                return (Some(hit), tried);
            }
            hits &= hits - 1;
        }
        (None, tried)
    }
}

/// The number of these newlines, of the block at `at`, that have only white space before them in their line.
#[cold]
fn blank_lines(text: &[u8], from: usize, at: usize, mut newlines: u64) -> u64 {
    let mut blank = 0;
    while newlines != 0 {
        let newline = at + newlines.trailing_zeros() as usize;
        let line = text[from..newline].iter().rev().find(|&&byte| !matches!(byte, b' ' | b'\t' | b'\r'));
        blank += u64::from(line.is_none_or(|&byte| byte == b'\n'));
        newlines &= newlines - 1;
    }
    blank
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::record::{Like, Literal, Predicate, Projection};
    use crate::text::starts_unescaped;

    fn needles(texts: &[&str]) -> Needles {
        let likes = texts.iter().map(|text| Predicate::Like { slot: 0, pattern: Like::new(&format!("%{text}%")) });
        Needles::of(&Predicate::Or(likes.collect()), &Projection::new(&[])).unwrap()
    }

    /// The definition, line by line.
    fn naive(text: &[u8], from: usize, needles: &Needles) -> (usize, u64, u64) {
        let mut passed = (from, 0, 0);
        for line in text[from..].split_inclusive(|&byte| byte == b'\n') {
            let has = |start: usize| needles.texts().any(|needle| starts_unescaped(&line[start..], needle.as_bytes()));
            if (0..line.len()).any(has) {
                break;
            }
            passed.0 += line.len();
            passed.1 += u64::from(line.ends_with(b"\n"));
            let is_blank = line.iter().all(|byte| b" \t\r\n".contains(byte));
            passed.2 += u64::from(line.ends_with(b"\n") && is_blank);
        }
        passed
    }

    fn assert_found(text: &[u8], from: usize, needles: &Needles) {
        let (line, newlines, blank) = naive(text, from, needles);
        for kernel in Kernel::available() {
            let passed = search(kernel, text, from, needles);
            let name = || format!("{kernel:?} from {from}: {:?} in {:?}", needles, String::from_utf8_lossy(text));
            assert_eq!((passed.newlines, passed.blank), (newlines, blank), "{}", name());
            let found = text[from..passed.at]
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(from, |newline| from + newline + 1);
            let found = if passed.at == text.len() { text.len() } else { found };
            assert_eq!(found, line, "{}", name());
        }
    }

    #[test]
    fn every_kernel_finds_what_the_definition_finds_wherever_it_stands() {
        let sets: [&[&str]; 5] =
            [&["/api"], &["x"], &["ab", "a/é"], &["q", "/api", "bb"], &["1", "2", "3", "4", "5z", "6", "7", "8"]];
        let seeds = [
            "/api",
            "\\/api",
            "/\\u0061pi",
            "\\u002F\\u0061\\u0070\\u0069",
            "/ap",
            "\\u0061\\u00e9",
            "a\\u00E9",
            "a\\/é",
            "\\u0061\\/é",
            "\\u0061/\\u00e9",
            "\\u0062b",
            "\\\\u0062b",
            "\\ud83d\\u0078",
            "5\\u007a",
            "\\u0035\\u007A",
            "/api\\",
            "\\u00",
            "\\",
            "\\u",
            "8",
        ];
        for set in sets {
            let needles = needles(set);
            for seed in seeds {
                for before in 0..=130 {
                    let text = format!("{}\r\n\n{}{seed}", " ".repeat(before % 7), "-".repeat(before));
                    assert_found(text.as_bytes(), 0, &needles);
                    let behind = format!("{text}\n \t\n{}", "+".repeat(before));
                    assert_found(behind.as_bytes(), 0, &needles);
                    assert_found(behind.as_bytes(), text.len() + 1, &needles);
                }
            }
        }
    }

    #[test]
    fn every_kernel_counts_lines_and_blank_lines() {
        let needles = needles(&["Z"]);
        for line in [
            "",
            " ",
            "\r",
            "x",
            "x \r",
            "\t\t",
            "\u{c}",
            "--------------------------------------------------------------",
        ] {
            for count in 0..200 {
                let text = format!("{line}\n").repeat(count);
                assert_found(text.as_bytes(), 0, &needles);
                assert_found(format!("{text}{line}").as_bytes(), 0, &needles);
                assert_found(format!("{text}Z").as_bytes(), 0, &needles);
            }
        }
    }

    #[test]
    fn a_byte_that_must_be_escaped_is_never_searched_for() {
        for text in ["\0", "\n", "\\\\", "\u{1f}"] {
            let literal =
                Predicate::Compare { slot: 0, op: crate::record::Comparison::Eq, literal: Literal::Text(text.into()) };
            assert_eq!(literal.literals(&Projection::new(&[])), Vec::<String>::new());
        }
    }
}
