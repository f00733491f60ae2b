//! The pipes of a query, which are read only once.

use super::STDIN;
use crate::base::error::Error;
use jird_formats::files::FileId;
use std::collections::HashSet;
use std::path::Path;

/// The pipes that a query has opened.
#[derive(Debug, Default)]
pub(crate) struct Pipes(HashSet<FileId>);

impl Pipes {
    /// Fails if the input is a pipe that is open already, by any name: each of its readers would get a part of the text.
    pub(super) fn open(&mut self, path: &Path) -> Result<(), Error> {
        let place = if path == Path::new(STDIN) { Path::new("/dev/stdin") } else { path };
        if FileId::of_pipe(place).is_some_and(|pipe| !self.0.insert(pipe)) {
            let message = "is a pipe that the query names twice, and it can be read only once; name it in one place, or \
                           write it to a file first";
            return Err(Error::sql(format!("{} {message}", path.display())));
        }
        Ok(())
    }
}
