//! Decoding, compared with `serde_json`: the same texts are taken, with the same values; and where a text is refused, it is
//! for the same kind of reason.

mod arbitrary; // texts that proptest makes
mod buffers; // numbers that serde buffers keep their digits
mod errors; // what they say, and where
mod hints; // how much room collections are told to make
mod judge; // decodes in every way, and compares
mod shapes; // types of every shape
mod streams; // readers, values one after the other, lines
mod texts; // a table of texts, for every type
mod values; // what is borrowed and kept
