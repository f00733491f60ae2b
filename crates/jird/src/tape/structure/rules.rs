//! The grammar of a batch: which tokens may stand where they stand, and which rule the first wrong one breaks.

use super::{Inside, NEVER, Structure};
use crate::fault::{ErrorKind, Fault};
use crate::kernel::{Kinds, Simd};
use crate::scan::BATCH;
use crate::walk::unexpected;

/// For each token of a batch, what precedes it and which container it stands in, one bit per token.
#[derive(Clone, Copy)]
pub(crate) struct Before {
    /// The innermost container is an object.
    pub(crate) in_object: u64,
    /// The token before is a comma or an opening bracket, or there is none yet.
    pub(crate) begins: u64,
    /// The token before is an opening bracket.
    pub(crate) opened: u64,
    /// The token before is a colon.
    pub(crate) after_colon: u64,
    /// The token before is a key.
    pub(crate) after_key: u64,
}

impl Before {
    /// The tokens that the grammar allows at their position.
    #[inline(always)]
    pub(crate) fn allows(self, is: &Kinds) -> u64 {
        let Self { in_object, begins, opened, after_colon, after_key } = self;
        let after_value = !(begins | after_colon | after_key);
        let value = is.scalar() | is.open();
        let closes = is.close_object & in_object | is.close_array & !in_object;
        begins & !in_object & value
            | begins & in_object & is.string
            | opened & closes
            | after_colon & value
            | after_key & is.colon
            | after_value & (is.comma | closes)
    }
}

/// Judges each token by the token before it and by the container it stands in. Returns the first invalid token,
/// and what should have been there.
#[inline(always)]
pub(super) fn rules<S: Simd>(
    simd: S,
    is: &Kinds,
    valid: u64,
    inside: &Inside,
    state: &mut Structure,
) -> Option<(usize, ErrorKind)> {
    let open = is.open();
    let inclusive = simd.prefix_xor(inside.changes) ^ state.in_object;
    let in_object = inclusive << 1 | state.in_object & 1;
    let begins = (is.comma | open) << 1 | state.begins;
    let key = is.string & begins & in_object;
    let before = Before {
        in_object,
        begins,
        opened: inside.opened,
        after_colon: is.colon << 1 | state.colon,
        after_key: key << 1 | state.key,
    };
    let good = before.allows(is);
    state.begins = (is.comma | open) >> 63;
    state.opened = open >> 63;
    state.colon = is.colon >> 63;
    state.key = key >> 63;
    state.in_object = (inclusive.cast_signed() >> 63).cast_unsigned();
    let bad = valid & !good;
    if bad == 0 {
        return None;
    }
    let bit = bad & bad.wrapping_neg();
    let wanted = match () {
        () if begins & in_object & bit != 0 => ErrorKind::Key,
        () if (begins | before.after_colon) & bit != 0 => ErrorKind::Value,
        () if before.after_key & bit != 0 => ErrorKind::Colon,
        () => ErrorKind::Comma,
    };
    Some((bit.trailing_zeros() as usize, wanted))
}

/// The first error of a batch; or success, if there is none and the document's value is complete.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "everything that can be wrong")]
pub(super) fn verdict(
    text: &[u8],
    kinds: &[u8; BATCH],
    pos: &[u32; BATCH + 1],
    valid: u64,
    first_bad: Option<(usize, ErrorKind)>,
    inside: &Inside,
    scalars: Option<(usize, Fault)>,
    state: &mut Structure,
) -> Result<(), Fault> {
    // Brackets after the one that stopped the matching were not matched, and the tokens after it are not judged.
    let stop = if inside.stop == NEVER { None } else { Some(inside.stop as usize) };
    let bad = first_bad.filter(|&(index, _)| stop.is_none_or(|stop| index <= stop));
    let bad = bad.map(|(index, wanted)| (index, unexpected(text, kinds[index], pos[index], wanted)));
    let stopped = stop.and_then(|stop| {
        if state.depth > 0 {
            return Some((stop, Fault::at_byte(ErrorKind::Depth, pos[stop] as usize)));
        }
        state.done = true;
        let more = (valid >> stop) > 1;
        more.then(|| (stop + 1, Fault::at_byte(ErrorKind::Trailing, pos[stop + 1] as usize)))
    });
    // If a token is wrong for two reasons, its place in the grammar is reported before its content.
    let first = [bad, stopped, scalars].into_iter().flatten().min_by_key(|&(index, _)| index);
    first.map_or(Ok(()), |(_, error)| Err(error))
}
