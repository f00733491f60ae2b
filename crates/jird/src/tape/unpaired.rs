//! The brackets of a piece of text that have no partner in it: all that must be known of a piece to read the next.

use crate::kernel::{Kernel, Pass, Simd};
use crate::scan::{BATCH, Tokens};

/// Brackets without partners. Partners need not match: where they do not, the text is wrong, and somebody else says so.
#[derive(Debug, Default)]
pub(crate) struct Unpaired {
    /// How many close what was opened before.
    pub(super) closed: usize,
    depth: usize,
    /// For each opening one of the first `depth`: does an object begin?
    objects: Vec<bool>,
}

impl Unpaired {
    /// What is open behind the piece, given what is open before it; from the outermost, and whether it is an object. False
    /// if more is closed than that.
    pub(super) fn apply(&self, open: &mut Vec<bool>) -> bool {
        let Some(left) = open.len().checked_sub(self.closed) else { return false };
        open.truncate(left);
        open.extend_from_slice(&self.objects[..self.depth]);
        true
    }
}

/// Finds them among the tokens from `at` on.
pub(super) fn unpaired(kernel: Kernel, tokens: &Tokens, at: usize, found: &mut Unpaired) {
    kernel.enter(Find { tokens, at, found });
}

struct Find<'a> {
    tokens: &'a Tokens,
    at: usize,
    found: &'a mut Unpaired,
}

impl Pass for Find<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { tokens, mut at, found } = self;
        let (mut closed, mut depth) = (0, 0_usize);
        while at < tokens.len() {
            let valid = u64::MAX >> (BATCH - (tokens.len() - at).min(BATCH));
            let is = simd.kinds(simd.load(tokens.batch(at).0), valid);
            if found.objects.len() < depth + BATCH {
                found.objects.resize(2 * depth + BATCH, false);
            }
            let objects = &mut found.objects[..];
            let mut left = is.open() | is.close();
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                objects[depth] = is.open_object & bit != 0;
                let deeper = if is.close() & bit != 0 { usize::MAX } else { 1 };
                depth = depth.wrapping_add(deeper);
                if depth == usize::MAX {
                    (closed, depth) = (closed + 1, 0);
                }
            }
            at += BATCH;
        }
        (found.closed, found.depth) = (closed, depth);
    }
}
