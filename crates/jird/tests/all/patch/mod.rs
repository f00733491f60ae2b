//! Edits and patches of documents.

mod layout; // the bytes of what is edited, and of all else
mod model; // random patches and differences, compared with a naive model
mod refusals; // errors, limits, hostile patches
mod suites; // the suites of the corpus
