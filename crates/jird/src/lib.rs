//! Finds and reads JSON.
