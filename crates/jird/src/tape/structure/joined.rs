//! Both passes over a short document in one entry of a kernel.
//!
//! For a text of some hundred bytes, what lies between the passes takes a tenth of the time: two entries with their
//! stack frames and constants, and the results of pass one, which go through memory. Here they stay in registers. A
//! text that is neither an object nor an array, or in which pass one finds an error, is left to the pass over tokens.

use super::{Batch, Structure, batches};
use crate::fault::Fault;
use crate::kernel::{Kernel, Pass, Simd};
use crate::limits::SIZE_MAX;
use crate::scan::{SENTINELS, Tokens, UNSAMPLED_MAX, Whole};

/// The longest text that is read like this, in bytes: in a longer one, a sample says how numbers are checked.
pub(crate) const JOINED_MAX: usize = if UNSAMPLED_MAX < SIZE_MAX { UNSAMPLED_MAX } else { SIZE_MAX };

/// Why [`joined`] did not read a text to its end.
pub(crate) enum Stopped<'t> {
    /// Pass one found an error, or the text is neither an object nor an array. Nothing was done with its tokens yet.
    Scanned(Whole<'t>),
    /// Pass two found an error.
    Judged(Fault),
    /// The text ends in an object or array.
    Unclosed,
}

/// Scans a text of at most [`JOINED_MAX`] bytes, checks it and writes its tape if `words` is given. The tokens must be
/// cleared, and the state restarted.
#[inline(always)]
pub(crate) fn joined<'t>(
    kernel: Kernel,
    text: &'t [u8],
    tokens: &mut Tokens,
    state: &mut Structure,
    words: Option<&mut Vec<u64>>,
) -> Result<(), Stopped<'t>> {
    kernel.enter(Joined { text, tokens, state, words })
}

struct Joined<'a, 't> {
    text: &'t [u8],
    tokens: &'a mut Tokens,
    state: &'a mut Structure,
    words: Option<&'a mut Vec<u64>>,
}

impl<'t> Pass for Joined<'_, 't> {
    type Out = Result<(), Stopped<'t>>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Out {
        let Self { text, tokens, state, words } = self;
        let whole = Whole::scan_within::<S, false>(simd, text, tokens);
        // Looks at the text, in which no byte beyond ASCII equals a bracket; a token's byte may.
        let first = tokens.slices().1.first().and_then(|&first| text.get(first as usize));
        if !whole.is_right() || !matches!(first, Some(b'{' | b'[')) {
            return Err(Stopped::Scanned(whole));
        }
        tokens.end_whole(text.len());
        state.begun = true;
        let to = tokens.len() - SENTINELS;
        let batch = Batch { text, tokens, at: &mut 0, to, last: true };
        let judged = match words {
            Some(words) => batches::<S, true>(simd, batch, state, words),
            None => batches::<S, false>(simd, batch, state, &mut Vec::new()),
        };
        judged.map_err(Stopped::Judged)?;
        if state.done { Ok(()) } else { Err(Stopped::Unclosed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parser;
    use crate::policy::Policy;

    const TEXTS: [&str; 4] = [
        " {\"a\" : [1, -2.5e3, {\"b\\n\": \"\\u00e9\\ud83d\\ude00\"}, [], {}], \"c\":null,\"d\" :true , \
         \"\u{e9}\u{20ac}\":\"\u{10ffff}\"} ",
        r#"[[[0,"",false],{"k":{"k":[12345678901234567890,0.1]}}],"01234567890123456789012345678901234567890123456"]"#,
        r#"{"a":"\\\\\\"","b":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31]}"#,
        r#""no container""#,
    ];

    /// What both ways make of a text must be the same.
    fn check(kernel: Kernel, text: &[u8]) {
        let mut parser = Parser::with_kernel(Policy::default(), kernel).with_chunk_bytes(64);
        let wanted = parser.parse(text).map(drop).map_err(|error| (error.kind(), error.offset()));
        for tape in [true, false] {
            let (mut tokens, mut state, mut words) =
                (Tokens::default(), Structure::new(&Policy::default()), Vec::new());
            match joined(kernel, text, &mut tokens, &mut state, tape.then_some(&mut words)) {
                Ok(()) => {
                    assert_eq!(wanted, Ok(()), "{kernel:?} {text:?}");
                    assert!(!tape || words == parser.words(), "{kernel:?} {text:?}");
                }
                Err(Stopped::Judged(fault)) => {
                    assert_eq!(wanted, Err((fault.kind(), fault.offset())), "{kernel:?} {text:?}");
                }
                Err(Stopped::Unclosed) => {
                    assert_eq!(wanted, Err((crate::ErrorKind::Unclosed, text.len() as u64)), "{kernel:?} {text:?}");
                }
                Err(Stopped::Scanned(whole)) => {
                    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
                    let fault = whole.fault();
                    let is_wrong = fault.is_some_and(|fault| wanted.is_err_and(|(_, at)| at <= fault.offset()));
                    assert!(is_wrong || !matches!(first, Some(b'{' | b'[')), "{kernel:?} {text:?}");
                }
            }
        }
    }

    #[test]
    fn both_passes_at_once_find_what_one_after_the_other_finds() {
        for kernel in Kernel::available() {
            for text in TEXTS.map(str::as_bytes) {
                for at in (0..=text.len()).step_by(if cfg!(miri) { 40 } else { 1 }) {
                    check(kernel, &text[..at]);
                    for byte in *b"\",]}x0 \n\\\x01\xC3" {
                        let mut changed = text.to_vec();
                        changed[at.min(text.len() - 1)] = byte;
                        check(kernel, &changed);
                    }
                }
            }
            for pad in 0..if cfg!(miri) { 0 } else { 200 } {
                check(kernel, [&" ".repeat(pad), TEXTS[0]].concat().as_bytes());
            }
        }
    }
}
