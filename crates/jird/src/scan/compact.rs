//! Copies a chunk without its white space.

use crate::kernel::{BLOCK, Kernel, Pass, Simd};
use core::mem::MaybeUninit;

/// Copies the bytes of `text` that are not `blank` to `out`, and returns their number. `out` must have room for them
/// and for one block more. `blank` has a mask for each block of the text; the last block may be short.
pub(crate) fn compact(kernel: Kernel, text: &[u8], blank: &[u64], out: &mut [MaybeUninit<u8>]) -> usize {
    kernel.enter(Compact { text, blank, out })
}

struct Compact<'a> {
    text: &'a [u8],
    blank: &'a [u64],
    out: &'a mut [MaybeUninit<u8>],
}

impl Pass for Compact<'_> {
    type Out = usize;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> usize {
        let mut len = 0;
        let (blocks, rest) = self.text.as_chunks::<BLOCK>();
        let mut room = self.out;
        for (block, &blank) in blocks.iter().zip(self.blank) {
            let (next, _) = room.split_first_chunk_mut().expect("room for the text and a block more");
            let kept = simd.compact(block, !blank, next);
            len += kept;
            room = &mut room[kept..];
        }
        if let (false, Some(&blank)) = (rest.is_empty(), self.blank.get(blocks.len())) {
            for (_, &byte) in rest.iter().enumerate().filter(|(index, _)| blank >> index & 1 == 0) {
                room[0].write(byte);
                room = &mut room[1..];
                len += 1;
            }
        }
        len
    }
}
