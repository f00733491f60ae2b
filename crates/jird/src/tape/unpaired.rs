//! The brackets of a piece of text that have no partner in it. Reading the next piece needs only these from the
//! pieces before.

use crate::kernel::{Kernel, Pass, Simd};
use crate::scan::{BATCH, Tokens};

/// Brackets without partners. Partners are not compared by kind: where they differ, the text is invalid, and
/// pass two reports that.
#[derive(Debug, Default)]
pub(crate) struct Unpaired {
    /// The number of brackets that close a container opened before the piece.
    pub(super) closed: usize,
    depth: usize,
    /// Whether the bracket opens an object, for each of the first `depth` opening brackets.
    objects: Vec<bool>,
}

impl Unpaired {
    /// Updates `open` from the containers that are open before the piece to those that are open after it. `open`
    /// goes from the outermost container to the innermost and says whether each is an object. Returns false if the
    /// piece closes more containers than are open.
    pub(super) fn apply(&self, open: &mut Vec<bool>) -> bool {
        let Some(left) = open.len().checked_sub(self.closed) else { return false };
        open.truncate(left);
        open.extend_from_slice(&self.objects[..self.depth]);
        true
    }
}

/// Finds the unpaired brackets among the tokens from `at` on.
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
