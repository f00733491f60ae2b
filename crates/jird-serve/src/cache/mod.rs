//! What is kept between requests: readers of databases, and answers.

pub(crate) mod kept;
pub(crate) mod readers;
