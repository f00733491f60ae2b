//! How code is entered that is compiled for a CPU with certain features.
//!
//! A named function and not a closure: a closure has no features of its own, and where it did not fuse every intrinsic would
//! become a call.

/// Defines a proof token: `detect` is the only way to one, and one feature list serves detection and compilation. `$enter` is
/// what the functions are called that have the features, in symbols and profiles.
macro_rules! proof {
    ($name:ident, $enter:ident, $detected:ident: $($feature:tt),+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(());

        impl $name {
            /// `Some` exactly when this CPU has every feature of the list.
            pub(crate) fn detect() -> Option<Self> {
                ($(std::arch::$detected!($feature))&&+).then_some(Self(()))
            }

            /// Pass one over a chunk.
            pub(crate) fn scan(
                self, chunk: crate::scan::Chunk<'_>, mode: crate::scan::Mode,
                carry: &mut crate::scan::Carry, tokens: &mut crate::scan::Tokens,
            ) -> crate::scan::Found {
                #[target_feature($(enable = $feature),+)]
                fn $enter<const LINES: bool, const CHECK: bool, const BLANKS: bool>(
                    proof: $name, chunk: crate::scan::Chunk<'_>,
                    carry: &mut crate::scan::Carry, tokens: &mut crate::scan::Tokens,
                ) -> crate::scan::Found {
                    crate::scan::scan_chunk::<$name, LINES, CHECK, BLANKS>(proof, chunk, carry, tokens)
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { crate::scan::for_mode!(mode, $enter(self, chunk, carry, tokens)) }
            }
        }

        crate::kernel::proof::entry! { $name, $enter, [$($feature),+],
            /// Copies what is not white space.
            compact(proof, text: &[u8], blank: &[u64], out: &mut [core::mem::MaybeUninit<u8>]) -> usize {
                crate::kernel::compact(proof, text, blank, out)
            }
        }
        crate::kernel::proof::entry! { $name, $enter, [$($feature),+],
            /// Escapes whole blocks.
            escape_blocks(proof, content: &[u8], out: &mut [core::mem::MaybeUninit<u8>]) -> (usize, usize) {
                crate::text::escape_blocks(proof, content, out)
            }
        }
        crate::kernel::proof::entry! { $name, $enter, [$($feature),+],
            /// Pass two over some tokens of a document.
            structure(
                proof, batch: crate::tape::structure::Batch<'_>, state: &mut crate::tape::structure::Structure,
                words: Option<&mut Vec<u64>>
            ) -> Result<(), crate::fault::Fault> {
                crate::tape::structure::run(proof, batch, state, words)
            }
        }
        crate::kernel::proof::entry! { $name, $enter, [$($feature),+],
            /// Pass two over lines that are most likely right.
            lines_are_right(
                proof, text: &[u8], tokens: &crate::scan::Tokens, policy: &crate::policy::Policy
            ) -> bool {
                crate::lines::grammar::is_right(proof, text, tokens, policy)
            }
        }
        crate::kernel::proof::entry! { $name, $enter, [$($feature),+],
            /// Finds what is wanted of a record by masks.
            #[allow(dead_code, reason = "not where Simd::SKIMS is false")]
            skim(
                proof, select: &mut crate::record::Select<'_>, text: &[u8], tokens: &crate::scan::Tokens, at: usize
            ) -> Option<usize> {
                select.by_masks(proof, text, tokens, at)
            }
        }
        crate::kernel::proof::entry! { $name, $enter, [$($feature),+],
            /// Looks for needles in lines.
            search(
                proof, text: &[u8], from: usize, needles: &crate::record::Needles
            ) -> crate::kernel::Passed {
                crate::kernel::search::search(proof, text, from, needles)
            }
        }
        #[cfg(feature = "parallel")]
        crate::kernel::proof::entry! { $name, $enter, [$($feature),+],
            /// Brackets without partners among the tokens from `at` on.
            unpaired(
                proof, tokens: &crate::scan::Tokens, at: usize, found: &mut crate::tape::unpaired::Unpaired
            ) -> () {
                crate::tape::unpaired::find(proof, tokens, at, found)
            }
        }
    };
}
pub(super) use proof;

/// A method of a proof token, whose body is compiled with the features.
macro_rules! entry {
    (
        $name:ident, $enter:ident, [$($feature:tt),+],
        $(#[$attribute:meta])*
        $method:ident($proof:ident, $($argument:ident: $type:ty),+) -> $result:ty { $body:expr }
    ) => {
        impl $name {
            $(#[$attribute])*
            pub(crate) fn $method(self, $($argument: $type),+) -> $result {
                #[target_feature($(enable = $feature),+)]
                fn $enter($proof: $name, $($argument: $type),+) -> $result {
                    $body
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { $enter(self, $($argument),+) }
            }
        }
    };
}
pub(super) use entry;
