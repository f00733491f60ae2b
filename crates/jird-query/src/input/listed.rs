//! From arguments to open files.

use super::{
    FileMessages, Input, InputFile, Pipes, Progress, Reading, Refusal, STDIN, expand, folders, remote, split_table,
};
use crate::base::error::Error;
use jird_formats::files::is_url;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Input {
    /// Opens the files that `arguments` name: paths, patterns, folders, `-`. Files that cannot be read are left out and
    /// reported in `said`.
    pub(crate) fn open(
        arguments: &[String],
        reading: &Reading,
        progress: &Arc<Progress>,
        (said, pipes): (&mut FileMessages, &mut Pipes),
    ) -> Result<Self, Error> {
        let mut found = Vec::new();
        for argument in arguments {
            if is_url(Path::new(argument)) {
                found.extend(
                    remote::open(argument, reading, progress, said)?.into_iter().map(Box::new).map(Listed::Open),
                );
                continue;
            }
            let (argument, table) = split_table(argument);
            if jird_store::is_store(Path::new(argument)) {
                found.push(Listed::Open(Box::new(InputFile::store(Path::new(argument), reading, progress)?)));
            } else if argument == "-" {
                found.push(Listed::Stdin);
            } else {
                let paths = expand::expand(argument, said)?.into_iter();
                found.extend(paths.map(|path| Listed::Path(path, table.map(str::to_owned))));
            }
        }
        let count = found.len();
        let keys = match reading.folders {
            Some(_) => folders::keys(&found.iter().map(Listed::keyed).collect::<Vec<_>>()),
            None => vec![Vec::new(); found.len()],
        };
        let (mut all, mut last) = (Self::default(), None);
        for (found, keys) in found.into_iter().zip(keys) {
            let path = found.path().to_owned();
            if reading.folders.as_ref().is_some_and(|filter| !filter.keeps(&keys)) {
                all.left_out += 1;
                last = Some(path);
                continue;
            }
            match found.open(reading, progress, pipes)? {
                Ok(file) => all.files.push(Arc::new(InputFile { index: all.files.len(), keys, ..file })),
                Err(Refusal::Unreadable(message)) => said.unreadable(format!("{}: {message}", path.display())),
                Err(Refusal::Encoding(encoding)) => said.refused(format!("{}: {encoding}", path.display())),
            }
        }
        if let Some(path) = last.filter(|_| all.files.is_empty() && all.left_out == count) {
            said.notes.push(format!(
                "no file is read: folders rule them out, as those of {}; a key is a number if it is an integer in all paths",
                path.display()
            ));
        }
        Ok(all)
    }
}

/// What an argument names.
enum Listed {
    Stdin,
    /// The path of a file, and the table of it that is meant.
    Path(PathBuf, Option<String>),
    Open(Box<InputFile>),
}

impl Listed {
    fn path(&self) -> &Path {
        match self {
            Self::Stdin => Path::new(STDIN),
            Self::Path(path, _) => path,
            Self::Open(file) => &file.path,
        }
    }

    /// The path whose folders have keys. Events of stores are as they came.
    fn keyed(&self) -> &Path {
        match self {
            Self::Open(file) if file.store_text().is_some() => Path::new(""),
            found => found.path(),
        }
    }

    fn open(
        self,
        reading: &Reading,
        progress: &Arc<Progress>,
        pipes: &mut Pipes,
    ) -> Result<Result<InputFile, Refusal>, Error> {
        match self {
            Self::Open(file) => Ok(Ok(*file)),
            Self::Stdin => {
                pipes.open(Path::new(STDIN))?;
                Ok(InputFile::stdin(Path::new(STDIN), reading, progress))
            }
            Self::Path(path, table) => {
                pipes.open(&path)?;
                Ok(InputFile::at(&path, table.as_deref(), reading, progress))
            }
        }
    }
}
