//! What is known of the types of fields: fixed by the user, inferred from all records, or guessed and then confirmed.

mod fixed;
pub(crate) mod guess;
pub(crate) mod infer;
pub(crate) mod kinds;
pub(crate) mod learned;
pub(crate) mod notes;
pub(crate) mod prepared;

pub use fixed::FieldTypes;
