//! What the user wrote: from text to one query in plain form. Nothing here knows a table or a type.

pub(crate) mod copy;
pub(crate) mod counted;
pub(crate) mod depth;
mod dialect;
pub(crate) mod ordered_groups;
pub(crate) mod parse;
pub(crate) mod plain;
pub(crate) mod served;
pub(crate) mod spelling;
pub(crate) mod statements;
pub(crate) mod supported;
pub(crate) mod twice;
pub(crate) mod views;
mod words;
