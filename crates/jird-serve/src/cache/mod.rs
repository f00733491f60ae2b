//! What is kept between requests: readers of databases, and answers.
//!
//! ```text
//! kept      answers that are kept until something is written
//! readers   connections that read, each with a budget of time
//! ```

pub(crate) mod answers;
pub(crate) mod readers;
