//! JSON with comments, JSON5 and other text that is almost JSON, as a source of records.
//!
//! [`LenientSource`] turns each line, or the one document, into strict JSON by [`jird::lenient`], and sends its records.
//! So what no option allows is refused, and places are those of the text as it was given.
//!
//! ```text
//! fault    what a text is refused for, and where     layout   lines, or one document
//! source   the records
//! ```

mod fault;
mod layout;
mod source;

pub use fault::LenientFault;
pub use layout::LenientLayout;
pub use source::{LenientOptions, LenientSource};

#[cfg(test)]
mod tests;
