//! Entering code that is compiled for a CPU with certain features.
//!
//! The entry is a named function and not a closure: a closure has no features of its own, and if it were not inlined,
//! every intrinsic in it would become a call.

/// Defines a proof token: only `detect` makes one. `$enter` is the name of the functions that have the features, in
/// symbols and profiles.
///
/// The two blocks hold the operations that the token allows: those of [`Vectors`](super::utf8::Vectors), and others.
/// Each operation is a safe method. Its body is compiled with the features, so the compiler refuses an intrinsic that
/// needs another feature. One list serves detection, the entry and the operations.
macro_rules! proof {
    (
        $token:ident, $enter:ident, $detected:ident: $features:tt;
        Vectors of $register:ty {
            $($vector:ident $vector_arguments:tt -> $vector_result:ty = $vector_body:expr;)+
        }
        Others {
            $($(#[$doc:meta])* $other:ident $arguments:tt -> $result:ty = $body:expr;)+
        }
    ) => {
        crate::kernel::proof::token! { $token, $enter, $detected: $features }

        impl crate::kernel::utf8::Vectors for $token {
            type Register = $register;

            $(crate::kernel::proof::operation! { $features $vector $vector_arguments -> $vector_result = $vector_body })+
        }

        impl $token {
            $(crate::kernel::proof::operation! { $features $(#[$doc])* $other $arguments -> $result = $body })+
        }
    };
}
pub(super) use proof;

/// The token of [`proof!`], and the entry.
macro_rules! token {
    ($token:ident, $enter:ident, $detected:ident: [$($feature:tt),+]) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $token(());

        impl $token {
            /// `Some` exactly when this CPU has every feature of the list.
            pub(crate) fn detect() -> Option<Self> {
                ($(std::arch::$detected!($feature))&&+).then_some(Self(()))
            }

            /// Runs a pass compiled with these features.
            pub(super) fn enter<P: crate::kernel::Pass>(self, pass: P) -> P::Out {
                #[target_feature($(enable = $feature),+)]
                fn $enter<P: crate::kernel::Pass>(proof: $token, pass: P) -> P::Out {
                    pass.run(proof)
                }
                // SAFETY: `self` exists, so `detect` found this very list on this CPU.
                unsafe { $enter(self, pass) }
            }
        }
    };
}
pub(super) use token;

/// An operation of [`proof!`]: a method of the token around a function that has the features.
macro_rules! operation {
    (
        [$($feature:tt),+] $(#[$doc:meta])*
        $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $body:expr
    ) => {
        $(#[$doc])*
        #[inline(always)]
        fn $name(self, $($argument: $type),*) -> $result {
            #[inline]
            #[target_feature($(enable = $feature),+)]
            fn with_features($($argument: $type),*) -> $result {
                $body
            }
            // SAFETY: `self` exists, so `detect` found this very list on this CPU.
            unsafe { with_features($($argument),*) }
        }
    };
}
pub(super) use operation;
