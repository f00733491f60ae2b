//! The inputs that a query has opened. Each is opened once, whatever attempts there are, and what was learned of its
//! records is kept with it.

use crate::base::error::Error;
use crate::base::named::Named;
use crate::input::{FileMessages, FolderFilter, Input, Pipes, Progress, Reading};
use crate::scan::{ScanOptions, VirtualColumn};
use crate::setup::options::Options;
use crate::sql::{Records, STREAM, SourceUse};
use crate::types::FieldTypes;
use crate::types::infer;
use jird::Path;
use jird::lenient::Leniency;
use jird_formats::LenientOptions;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The inputs of the tables. Each is opened once.
pub(crate) struct Inputs<'q> {
    /// The files of [`STREAM`].
    names: &'q [String],
    /// All that may be read, if not everything may.
    named: Option<&'q [Named]>,
    options: &'q Options,
    progress: &'q Arc<Progress>,
    known: HashMap<String, Input>,
    /// The keys of all records, by table.
    keys: HashMap<String, Vec<String>>,
    /// The keys of the first records, by table.
    first_keys: HashMap<String, HashSet<String>>,
    /// Whether all records are asked for their keys: other machines get those of all records only.
    pub(crate) asks_all: bool,
    pub(crate) said: FileMessages,
    pipes: Pipes,
    /// Which files of tables are wanted.
    filters: HashMap<String, FolderFilter>,
    /// Whether all that is opened is made readable any number of times, because another query follows.
    pub(crate) repeats: bool,
    /// The records of a table that is in memory, and its name.
    made: Option<(&'static str, Vec<u8>)>,
}

impl<'q> Inputs<'q> {
    /// The inputs of a query, none of them open.
    pub(crate) fn new(
        names: &'q [String],
        named: Option<&'q [Named]>,
        options: &'q Options,
        progress: &'q Arc<Progress>,
    ) -> Self {
        Self {
            names,
            named,
            options,
            progress,
            known: HashMap::new(),
            keys: HashMap::new(),
            first_keys: HashMap::new(),
            asks_all: false,
            said: FileMessages::default(),
            pipes: Pipes::default(),
            filters: HashMap::new(),
            repeats: false,
            made: None,
        }
    }

    /// The same inputs, and a table of these records.
    pub(crate) fn with(self, table: &'static str, records: Vec<u8>) -> Self {
        Self { made: Some((table, records)), ..self }
    }

    /// The input of a table.
    pub(crate) fn open(&mut self, table: &str) -> Result<Input, Error> {
        if let Some(input) = self.known.get(table) {
            return Ok(input.clone());
        }
        let Options { from, records, csv, leniency, record_limit, window, remotes, .. } = self.options;
        let (records, remotes) = (records.clone(), remotes.clone());
        let folders = self.options.folder_keys.then(|| self.filters.get(table).cloned().unwrap_or_default());
        let lenient =
            (*leniency != Leniency::STRICT).then_some(LenientOptions { leniency: *leniency, bytes_max: *record_limit });
        let reading = Reading { from: *from, records, csv: *csv, lenient, window: *window, folders, remotes };
        let told = (&mut self.said, &mut self.pipes);
        let made = self.made.take_if(|(name, _)| *name == table);
        let input = match table {
            _ if let Some((_, records)) = made => Input::of_records(records, self.progress)?,
            name if let Some(named) = self.named => {
                // Whatever the rewriting let through, nothing else is opened.
                let named = named.iter().find(|named| named.name == name);
                let named = named.ok_or_else(|| Error::sql(format!("there is no table {name}")))?;
                Input::named(named, &reading, self.progress)?
            }
            STREAM => Input::open(self.names, &reading, self.progress, told)?,
            name => match self.options.defined.iter().find(|defined| defined.name == name) {
                Some(defined) => Input::open(&defined.files, &reading, self.progress, told)?,
                None => Input::open(&[name.to_owned()], &reading, self.progress, told)?,
            },
        };
        let options = self.options;
        if !options.skip_unreadable {
            self.said.all_read(!input.files.is_empty())?;
        }
        for (what, path) in [("bad records", options.on_error.quarantine()), ("result", options.target.as_deref())] {
            if let Some(file) = path.and_then(|path| input.reads(path)) {
                let message =
                    format!("{}: the {what} would be written to what is read; name another file", file.path.display());
                return Err(Error::sql(message));
            }
        }
        let input = if self.repeats { input.rereadable(&options.spool)? } else { input };
        self.known.insert(table.to_owned(), input.clone());
        Ok(input)
    }

    /// Leaves out the files of a table that are not wanted. The others are opened again if they were opened before.
    pub(crate) fn restrict(&mut self, table: &str, filter: FolderFilter) {
        if self.filters.contains_key(table) || filter.places.is_empty() {
            return;
        }
        self.filters.insert(table.to_owned(), filter);
        if self.known.get(table).is_some_and(|input| !input.folder_keys().is_empty()) {
            self.known.remove(table);
        }
    }

    /// Whether all that was opened can be read again.
    pub(crate) fn are_rereadable(&self) -> bool {
        self.known.values().all(Input::is_rereadable)
    }

    /// Opens the files of [`STREAM`] for a query that does not read them: one that is missing is an error all the same.
    /// Standard input alone is always there, and waiting for it would be waiting for nothing.
    pub(crate) fn open_unused(&mut self) -> Result<(), Error> {
        if self.named.is_some() || self.names == ["-"] || self.known.contains_key(STREAM) {
            return Ok(());
        }
        self.open(STREAM)?;
        let (files, them) = match self.names {
            [file] => (file.as_str(), "it"),
            _ => ("the files", "them"),
        };
        self.said.notes.push(format!("the query reads nothing of {files}; `from {STREAM}` would read {them}"));
        Ok(())
    }

    /// The keys of all records of a table.
    pub(crate) fn keys(&mut self, table: &str, scan: &ScanOptions) -> Result<Vec<String>, Error> {
        if let Some(keys) = self.keys.get(table) {
            return Ok(keys.clone());
        }
        let keys = infer::keys(&self.open_twice(table)?, scan)?;
        self.keys.insert(table.to_owned(), keys.clone());
        Ok(keys)
    }

    /// Whether any record of a table has a key. The first records are asked first, and of what cannot be read twice nothing
    /// is known.
    fn has(&mut self, table: &str, key: &str, scan: &ScanOptions) -> Result<bool, Error> {
        let input = self.open(table)?;
        if VirtualColumn::of(&Path::default().key(key), &input).is_some() || !input.is_rereadable() {
            return Ok(true);
        }
        if !self.asks_all && !self.keys.contains_key(table) {
            if !self.first_keys.contains_key(table) {
                let keys = infer::first_keys(&self.open(table)?, scan)?;
                self.first_keys.insert(table.to_owned(), keys);
            }
            if self.first_keys[table].contains(key) {
                return Ok(true);
            }
        }
        Ok(self.keys(table, scan)?.iter().any(|known| known == key))
    }

    /// The keys of all tables whose keys were asked for.
    #[cfg(feature = "cluster")]
    pub(crate) fn known_keys(&self) -> &HashMap<String, Vec<String>> {
        &self.keys
    }

    /// The same as [`Self::open_twice`], but pipes of plain lines can be read while they are copied.
    pub(crate) fn open_copying(&mut self, table: &str) -> Result<Input, Error> {
        let input = self.open(table)?.copying(&self.options.spool)?;
        self.known.insert(table.to_owned(), input.clone());
        Ok(input)
    }

    /// An input that can be read more than once.
    pub(crate) fn open_twice(&mut self, table: &str) -> Result<Input, Error> {
        let input = self.open(table)?.rereadable(&self.options.spool)?;
        self.known.insert(table.to_owned(), input.clone());
        Ok(input)
    }
}

/// Inputs whose records are asked with these options.
pub(crate) struct InputRecords<'a, 'q> {
    pub(crate) inputs: &'a mut Inputs<'q>,
    pub(crate) scan: &'a ScanOptions,
}

impl Records for InputRecords<'_, '_> {
    fn keys(&mut self, table: &str) -> Result<Vec<String>, Error> {
        self.inputs.keys(table, self.scan)
    }

    fn values(&mut self, table: &str, path: &Path) -> Result<Vec<String>, Error> {
        infer::values(&self.inputs.open_twice(table)?, path, self.scan)
    }

    fn has(&mut self, table: &str, key: &str) -> Result<bool, Error> {
        self.inputs.has(table, key, self.scan)
    }
}

/// How the inputs of the tables are opened.
pub(crate) struct Opening<'r> {
    pub(crate) sources: &'r [SourceUse],
    pub(crate) schema: &'r FieldTypes,
    /// Whether a table is named twice, and so read twice.
    pub(crate) names_twice: bool,
    /// Whether pipes are read while they are copied.
    pub(crate) copies: bool,
}

impl Opening<'_> {
    /// The inputs of all tables. Those that are read more than once can be.
    pub(crate) fn open(&self, inputs: &mut Inputs<'_>) -> Result<Vec<Input>, Error> {
        let open = |source: &SourceUse| {
            if !infer::reads(source, self.schema) && !self.names_twice {
                inputs.open(&source.table)
            } else if self.copies && !self.names_twice {
                inputs.open_copying(&source.table)
            } else {
                inputs.open_twice(&source.table)
            }
        };
        self.sources.iter().map(open).collect()
    }
}
