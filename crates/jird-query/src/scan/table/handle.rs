//! Files of a scan, which may be opened only where they are read.

use crate::base::error::Error;
#[cfg(feature = "cluster")]
use crate::input::Described;
use crate::input::InputFile;
use std::sync::Arc;

/// A file of a scan.
#[derive(Clone, Debug)]
pub(crate) struct FileHandle(File);

#[derive(Clone, Debug)]
enum File {
    Open(Arc<InputFile>),
    /// It is opened by the process that reads it.
    #[cfg(feature = "cluster")]
    Described(Arc<Described>),
}

impl FileHandle {
    /// A file that is open.
    pub(crate) fn of(file: Arc<InputFile>) -> Self {
        Self(File::Open(file))
    }

    /// A file that another process has described.
    #[cfg(feature = "cluster")]
    pub(crate) fn described(file: Arc<Described>) -> Self {
        Self(File::Described(file))
    }

    /// The file as another process can open it.
    #[cfg(feature = "cluster")]
    pub(crate) fn describe(&self) -> Result<Arc<Described>, Error> {
        match &self.0 {
            File::Open(file) => file.describe().map(Arc::new),
            File::Described(file) => Ok(Arc::clone(file)),
        }
    }

    /// The file, open.
    #[cfg_attr(not(feature = "cluster"), expect(clippy::unnecessary_wraps, reason = "elsewhere it is opened here"))]
    pub(super) fn open(&self) -> Result<Arc<InputFile>, Error> {
        match &self.0 {
            File::Open(file) => Ok(Arc::clone(file)),
            #[cfg(feature = "cluster")]
            File::Described(file) => file.open().map(Arc::new),
        }
    }
}
