//! Types, sources and readers that break the rules of their traits, one by one: an error comes of it, and what is used again is as
//! new.

mod decoded;
mod events;
mod lines;
mod readers;
mod written;
