//! What is known of the types of fields: fixed by the user, inferred from all records, or guessed and then confirmed.
//!
//! ```text
//! fixed    by the user            guess    guessed, then confirmed
//! infer    from all records       learned  what one attempt leaves to the next
//! ```

mod fixed;
pub(crate) mod guess;
pub(crate) mod infer;
pub(crate) mod kinds;
pub(crate) mod learned;
pub(crate) mod notes;
pub(crate) mod prepared;

pub use fixed::FieldTypes;
