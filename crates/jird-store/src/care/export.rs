//! The events of a store as NDJSON.

use crate::error::{Damage, Error, ErrorKind};
use crate::settings::Window;
use crate::store::Store;
use std::io::Write;

/// What was exported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// The events.
    pub events: u64,
    /// Their bytes, with line feeds.
    pub bytes: u64,
    /// What is damaged, and was left out.
    pub damage: Vec<Damage>,
}

impl Store {
    /// Writes the events of a window, one a line, in order of time, then arrival. Memory: a block.
    ///
    /// # Errors
    /// Those of reading and of `out`.
    pub fn export(&self, window: Window, out: &mut dyn Write) -> Result<Export, Error> {
        let snapshot = self.snapshot()?;
        let text = snapshot.text(window)?;
        let (mut export, mut lines) = (Export::default(), Vec::new());
        let refused = |error: std::io::Error| {
            Error::new(ErrorKind::Io(error.kind()), format!("cannot write the events: {error}"))
        };
        for block in text.blocks() {
            text.read(block, None, &mut lines)?;
            out.write_all(&lines).map_err(refused)?;
            export.events += memchr::memchr_iter(b'\n', &lines).count() as u64;
            export.bytes += lines.len() as u64;
        }
        out.flush().map_err(refused)?;
        export.damage = snapshot.damage();
        Ok(export)
    }
}
