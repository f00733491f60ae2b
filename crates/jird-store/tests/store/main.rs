//! Tests of the store by its public face, on the files of the operating system.

mod basics;
mod cells;
mod common;
mod conditions;
mod extremes;
mod lazy;
mod mutations;
#[cfg(unix)]
mod owners;
mod processes;
mod readers;
#[cfg(unix)]
mod strangers;
