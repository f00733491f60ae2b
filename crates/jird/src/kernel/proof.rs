//! Entering code that is compiled for a CPU with certain features.
//!
//! The entry is a named function and not a closure: a closure has no features of its own, and if it were not inlined,
//! every intrinsic in it would become a call.

/// Defines a proof token: only `detect` makes one, and one feature list serves detection and compilation. `$enter` is
/// the name of the functions that have the features, in symbols and profiles.
macro_rules! proof {
    ($name:ident, $enter:ident, $detected:ident: $($feature:tt),+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(());

        impl $name {
            /// `Some` exactly when this CPU has every feature of the list.
            pub(crate) fn detect() -> Option<Self> {
                ($(std::arch::$detected!($feature))&&+).then_some(Self(()))
            }

            /// Runs a pass compiled with these features.
            pub(super) fn enter<P: crate::kernel::Pass>(self, pass: P) -> P::Out {
                #[target_feature($(enable = $feature),+)]
                fn $enter<P: crate::kernel::Pass>(proof: $name, pass: P) -> P::Out {
                    pass.run(proof)
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { $enter(self, pass) }
            }
        }
    };
}
pub(super) use proof;
