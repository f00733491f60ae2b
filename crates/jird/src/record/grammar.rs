//! The grammar of whole lines, or of one record: 64 tokens at a time, by masks.
//!
//! On entry: the tokens of some lines in which pass one found no error. On exit: whether all of these lines are known
//! to be valid. If they are not, and in a few rare cases although they are, [`crate::walk`] reads them again, token by
//! token, and reports what is wrong and where.
//!
//! The rules are those of [`crate::tape::structure`], which checks documents: the token before and the innermost
//! container decide which tokens may follow. At the top level a newline stands where a comma stands in an array.

use crate::kernel::{Kernel, Kinds, Pass, Simd};
use crate::policy::{Numbers, Policy};
use crate::scan::{BATCH, ESCAPED, Mode, SENTINELS, Tokens, Whole};
use crate::tape::structure::{Before, JOINED_MAX, check_scalars};

/// One bit of a word for each open container, and one for the top level.
const DEPTH_MAX: usize = u64::BITS as usize - 1;

/// The state that one batch leaves for the next, as in [`crate::tape::structure`].
struct GrammarState {
    /// A bit for each open container, the innermost last: 1 if it is an object.
    open: u64,
    depth: usize,
    /// 1 if the token before was a comma, a newline or an opening bracket, or if there was none yet.
    begins: u64,
    /// 1 if the token before was an opening bracket.
    opened: u64,
    /// 1 if the token before was a colon.
    colon: u64,
    /// 1 if the token before was a key.
    key: u64,
    /// All ones if the innermost container is an object.
    in_object: u64,
    /// All ones outside all containers.
    outside: u64,
}

/// Whether all lines with these tokens are valid; also false where only the walk can decide.
pub(crate) fn lines_are_right(kernel: Kernel, text: &[u8], tokens: &Tokens, policy: &Policy) -> bool {
    kernel.enter(Judge::<true> { text, tokens, policy })
}

/// What masks show of a record.
pub(super) enum RecordVerdict<'t> {
    /// It is valid.
    Right(&'t str),
    /// Pass one found an error in it.
    Wrong,
    /// The walk must judge its tokens: they are not valid, a newline is among them, or masks cannot decide.
    Unclear,
}

/// Scans one record, which has no white space around it, and judges its tokens.
#[inline]
pub(super) fn judge_record<'t>(
    kernel: Kernel,
    text: &'t [u8],
    tokens: &mut Tokens,
    policy: &Policy,
) -> RecordVerdict<'t> {
    if kernel.joins_passes() && text.len() <= JOINED_MAX {
        return kernel.enter(Joined { text, tokens, policy });
    }
    let whole = Whole::scan(kernel, text, Mode::Lines, tokens);
    if whole.fault().is_some() {
        return RecordVerdict::Wrong;
    }
    tokens.end_at(text.len());
    let is_right = tokens.len() > SENTINELS && kernel.enter(Judge::<false> { text, tokens, policy });
    RecordVerdict::new(&whole, text, is_right)
}

impl<'t> RecordVerdict<'t> {
    #[inline(always)]
    fn new(whole: &Whole<'t>, text: &[u8], is_right: bool) -> Self {
        if is_right { whole.as_str_up_to(text.len()).map_or(Self::Wrong, Self::Right) } else { Self::Unclear }
    }
}

/// A record that is scanned and judged in one entry of the kernel: see `tape/structure/joined.rs`.
struct Joined<'a, 't> {
    text: &'t [u8],
    tokens: &'a mut Tokens,
    policy: &'a Policy,
}

impl<'t> Pass for Joined<'_, 't> {
    type Out = RecordVerdict<'t>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> RecordVerdict<'t> {
        let Self { text, tokens, policy } = self;
        let whole = Whole::scan_within::<S, true>(simd, text, tokens);
        if !whole.is_right() {
            return RecordVerdict::Wrong;
        }
        tokens.end_whole(text.len());
        let is_right = tokens.len() > SENTINELS && Judge::<false> { text, tokens, policy }.run(simd);
        RecordVerdict::new(&whole, text, is_right)
    }
}

/// Tokens to be judged: with `LINES`, newlines may be among them.
struct Judge<'a, const LINES: bool> {
    text: &'a [u8],
    tokens: &'a Tokens,
    policy: &'a Policy,
}

impl<const LINES: bool> Pass for Judge<'_, LINES> {
    type Out = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { text, tokens, policy } = self;
        let depth_max = policy.depth_max.min(DEPTH_MAX);
        let mut state =
            GrammarState { open: 0, depth: 0, begins: 1, opened: 0, colon: 0, key: 0, in_object: 0, outside: u64::MAX };
        let to = tokens.len() - SENTINELS;
        let mut at = 0;
        while at < to {
            let count = (to - at).min(BATCH);
            if !batch::<S, LINES>(simd, text, tokens, at, count, depth_max, policy.numbers, &mut state) {
                return false;
            }
            at += count;
        }
        state.depth == 0
    }
}

#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "one step of one loop, with what lives in its registers")]
fn batch<S: Simd, const LINES: bool>(
    simd: S,
    text: &[u8],
    tokens: &Tokens,
    at: usize,
    count: usize,
    depth_max: usize,
    numbers: Numbers,
    state: &mut GrammarState,
) -> bool {
    let (kinds, pos) = tokens.batch(at);
    let valid = u64::MAX >> (BATCH - count);
    let block = simd.load(kinds);
    let is = simd.kinds(block, valid);
    let newline = simd.eq(block, b'\n') & valid;
    // A token that begins beyond ASCII begins no value, unless it is a string with an escape, though its kind may look
    // like one.
    let marked = simd.beyond_ascii(block) & valid;
    if marked != simd.eq(block, b'"' | ESCAPED) & valid || !LINES && newline != 0 {
        return false;
    }
    let scalar = is.scalar();
    let operators = is.open() | is.close() | is.comma | is.colon | newline;
    let odd = scalar & !(operators >> 1 | 1 << (BATCH - 1));
    let [_, ends @ ..] = pos;
    check_scalars(simd, text, kinds, pos, ends, &is, odd, true, numbers).is_none()
        && rules(simd, &is, newline, valid, depth_max, state)
}

/// Judges each token by the token before it and by the container it stands in.
#[inline(always)]
fn rules<S: Simd>(simd: S, is: &Kinds, newline: u64, valid: u64, depth_max: usize, state: &mut GrammarState) -> bool {
    let (open, close) = (is.open(), is.close());
    // Bits where the innermost container becomes another kind, and where the top level begins or ends.
    let (mut kind_changes, mut outside_changes) = (0, 0);
    let mut context = state.in_object & 1;
    let mut left = open | close;
    while left != 0 {
        let bit = left & left.wrapping_neg();
        left ^= bit;
        if close & bit != 0 {
            let Some(depth) = state.depth.checked_sub(1) else { return false };
            state.depth = depth;
            state.open >>= 1;
            if depth == 0 {
                outside_changes |= bit;
            }
        } else {
            if state.depth == 0 {
                outside_changes |= bit;
            }
            state.depth += 1;
            state.open = state.open << 1 | u64::from(is.open_object & bit != 0);
            if state.depth > depth_max {
                return false;
            }
        }
        let inner = state.open & 1;
        kind_changes |= bit & (inner ^ context).wrapping_neg();
        context = inner;
    }
    let inclusive = simd.prefix_xor(kind_changes) ^ state.in_object;
    let in_object = inclusive << 1 | state.in_object & 1;
    let inclusive_outside = simd.prefix_xor(outside_changes) ^ state.outside;
    let outside = inclusive_outside << 1 | state.outside & 1;
    let separator = is.comma | newline;
    let begins = (separator | open) << 1 | state.begins;
    let key = is.string & begins & in_object;
    let before = Before {
        in_object,
        begins,
        opened: open << 1 | state.opened,
        after_colon: is.colon << 1 | state.colon,
        after_key: key << 1 | state.key,
    };
    // At the top level there are no commas, and a line may be blank.
    let good = before.allows(is) & !(is.comma & outside) | newline & outside;
    state.begins = (separator | open) >> 63;
    state.opened = open >> 63;
    state.colon = is.colon >> 63;
    state.key = key >> 63;
    state.in_object = (inclusive.cast_signed() >> 63).cast_unsigned();
    state.outside = (inclusive_outside.cast_signed() >> 63).cast_unsigned();
    valid & !good == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of the masks for `text`; `None` if pass one found an error in it.
    fn judged(kernel: Kernel, text: &[u8], policy: &Policy) -> Option<bool> {
        let mut tokens = Tokens::default();
        let whole = Whole::scan(kernel, text, Mode::Lines, &mut tokens);
        tokens.end_at(text.len());
        let is_whole = whole.first_fault().is_none() && !whole.ends_in_string();
        is_whole.then(|| lines_are_right(kernel, text, &tokens, policy))
    }

    fn all_right(text: &[u8]) -> bool {
        let blank = |line: &[u8]| line.iter().all(|byte| b" \t\r".contains(byte));
        text.split(|&byte| byte == b'\n').all(|line| blank(line) || crate::validate(line).is_ok())
    }

    #[test]
    fn ordinary_lines_are_seen_to_be_right() {
        let long = format!("{{\"a\":[{}]}}\n", "{\"b\":-1.5e3,\"c\":null},".repeat(50) + "true");
        let texts = [
            "",
            "\n \n\r\n",
            "1\n\"a\"\nnull",
            "{}\n[]\n\n[[],{}]\n",
            "{\"a\": 1, \"b\": [1, 2, {\"c\": false}]}\r\n{\"\\u0061\": \"\u{e9}\\n\"}\r\n",
            &long,
            &long.repeat(5),
        ];
        for kernel in Kernel::available() {
            for text in texts {
                assert_eq!(judged(kernel, text.as_bytes(), &Policy::default()), Some(true), "{kernel:?} {text}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_never_passed() {
        const PARTS: [&str; 19] = [
            "{", "}", "[", "]", ",", ":", "\n", "\"a\"", "1", "{\"a\":", "\"\\n\"", " ", "-", "tru", "null", "\u{e6}",
            "\r", "\u{5ac}", "01",
        ];
        let mut random = 1_u64;
        let mut next = || {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (random >> 33) as usize
        };
        let (mut right, mut refused) = (0, 0);
        for round in 0..60_000 {
            // A valid beginning of any length moves the rest across the borders of batches.
            let mut text = "{\"a\":[1,true]}\n".repeat(if round % 3 == 0 { next() % 20 } else { 0 });
            text += if next() % 2 == 0 { "{\"a\":[1,{\"b\":" } else { "" };
            (0..next() % 8).for_each(|_| text += PARTS[next() % PARTS.len()]);
            for kernel in Kernel::available() {
                let judged = judged(kernel, text.as_bytes(), &Policy::default());
                if judged == Some(true) {
                    assert!(all_right(text.as_bytes()), "{kernel:?} {text:?}");
                }
                right += usize::from(judged == Some(true));
                refused += usize::from(judged == Some(false) && !all_right(text.as_bytes()));
            }
        }
        assert!(right > 5000 && refused > 50_000, "{right} {refused}");
    }

    #[test]
    fn what_is_deep_is_left_to_the_walk() {
        let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
        let policy = Policy { depth_max: 9, ..Policy::default() };
        for kernel in Kernel::available() {
            for (depth, expected) in [(9, true), (10, false)] {
                assert_eq!(judged(kernel, nested(depth).as_bytes(), &policy), Some(expected));
            }
            assert_eq!(judged(kernel, nested(DEPTH_MAX).as_bytes(), &Policy::default()), Some(true));
            assert_eq!(judged(kernel, nested(DEPTH_MAX + 1).as_bytes(), &Policy::default()), Some(false));
        }
    }

    #[test]
    fn numbers_are_judged_as_the_policy_says() {
        let texts =
            ["1", "-0.5e3", "1e308", "1e309", "-18446744073709551615", "18446744073709551616", "0.1e-400", "01"];
        for numbers in [Numbers::Any, Numbers::Finite, Numbers::Machine] {
            let policy = Policy { numbers, ..Policy::default() };
            for text in texts {
                let lines = format!("{{\"a\":{text}}}\n[{text}]\n");
                let is_right = crate::Parser::with_policy(policy).parse(text.as_bytes()).is_ok();
                for kernel in Kernel::available() {
                    assert_eq!(
                        judged(kernel, lines.as_bytes(), &policy),
                        Some(is_right),
                        "{kernel:?} {numbers:?} {text}"
                    );
                }
            }
        }
    }
}
