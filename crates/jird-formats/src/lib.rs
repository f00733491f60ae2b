//! Placeholder docs, replaced by the first real commit of this crate.
