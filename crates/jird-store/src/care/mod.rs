//! Care for a store: compaction, retention, checks, and what a person wants to know.

mod clean;

pub(crate) use clean::orphans;
