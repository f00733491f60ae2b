//! The Rust examples of README.md and of the guide, which run as doctests. They are not in the crate `jird`, because a
//! package has no files outside its folder.
#![forbid(unsafe_code)]

#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/guide/rust.md")]
    struct UseItFromRust;

    #[doc = include_str!("../../../docs/guide/how-it-works.md")]
    struct HowItWorks;
}
