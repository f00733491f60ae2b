//! The files of a query.
//!
//! A plain file of lines can be read at any offset by any thread. Every other input (a compressed file, an array, a
//! pipe, a table of another format) is a stream: a separate thread decompresses it and converts it to lines, and it is
//! scanned in order. Objects of remote stores are read as files are.
//!
//! ```text
//! listed    opens what arguments name            store      event stores
//! table     other formats; values without lines  remote     URLs; no_remote without the feature
//! folders   keys in the names of folders
//! ```

mod ahead;
mod counted;
#[cfg(feature = "cluster")]
mod described;
mod detect;
mod elements;
mod expand;
mod folders;
mod listed;
mod local;
mod named;
mod pipes;
mod progress;
#[cfg_attr(not(feature = "remote"), path = "no_remote.rs")]
mod remote;
mod store;
mod table;

#[cfg(feature = "cluster")]
pub(crate) use described::Described;
pub(crate) use elements::Layout;
pub(crate) use expand::FileMessages;
use folders::FolderKey;
pub(crate) use folders::{FolderCondition, FolderFilter, Joined, LACKING};

use crate::base::error::{Error, words};
use ahead::Ahead;
use counted::Counted;
pub(crate) use counted::PositionedFile;
use detect::layout;
use elements::Elements;
use jird::event::Pattern;
use jird::hooks::lines::newlines;
use jird_formats::encoding::{Encoding, Unmarked};
use jird_formats::files::{
    Compression, FileFormat, FileId, Local, Quarantined, Reader, Spool, SpoolOptions, Spooling, Text, is_url, open,
    plain_name, stdin_file, widened,
};
use jird_formats::{Dialect, DialectChoice, LenientLayout, LenientOptions};
use jird_store::Window;
pub(crate) use pipes::Pipes;
pub use progress::Progress;
pub use remote::Remotes;
use remote::{AnyFile, RemoteFile};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
pub(crate) use store::{BlockSelection, StorePart, StoreReads, StoreText, TakeCells};
use table::TableFile;
pub(crate) use table::{PassBy, TableRequest};

/// The name of standard input in messages.
const STDIN: &str = "<stdin>";

/// How the inputs are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// The format of the inputs, if it is not told by their names and first bytes.
    pub(crate) from: Option<FileFormat>,
    /// Which values of a JSON text are records, if not all elements or lines.
    pub(crate) records: Option<Pattern>,
    /// How CSV and its relatives are written, if given.
    pub(crate) csv: DialectChoice,
    /// How JSON texts are read that are not strict JSON, if they may be.
    pub(crate) lenient: Option<LenientOptions>,
    /// Of stores: the time of the events that are read.
    pub(crate) window: Window,
    /// Which keys of folders are wanted, if folders have keys.
    pub(crate) folders: Option<FolderFilter>,
    /// Of URLs: how they are read.
    #[cfg_attr(not(feature = "remote"), allow(dead_code, reason = "no URL is read"))]
    pub(crate) remotes: Remotes,
}

/// Several files as one table, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Input {
    pub(crate) files: Vec<Arc<InputFile>>,
    /// Whether a scan already notes this input's bad records. The first scan does.
    pub(crate) noted: Arc<AtomicBool>,
    /// How many files were left out because no record in such folders is wanted.
    pub(crate) left_out: usize,
}

/// A file, or another input that can be read.
#[derive(Debug)]
pub(crate) struct InputFile {
    /// The path, or [`STDIN`].
    pub(crate) path: PathBuf,
    /// What it is called in place of its path.
    pub(crate) name: Option<String>,
    /// The keys of its folders.
    keys: Vec<FolderKey>,
    /// Its position among the files of its input.
    pub(crate) index: usize,
    /// The size in bytes, if the file can be read at any offset.
    pub(crate) size: Option<u64>,
    pub(crate) layout: Layout,
    /// The table, if the file is a database and the argument names one.
    table: Option<String>,
    /// Which values of a JSON text are records.
    records: Option<Pattern>,
    /// Of CSV and its relatives: how it is written.
    csv: DialectChoice,
    /// How a JSON text is read that need not be strict JSON.
    lenient: Option<LenientOptions>,
    /// Whether the text begins with a byte order mark, which is read as blanks.
    is_marked: bool,
    /// The size on disk; zero for a pipe.
    disk_bytes: u64,
    access: Access,
    /// For a table: the number of rows whose bad ones are noted. Another scan of them notes nothing.
    pub(crate) rows_noted: Arc<AtomicU64>,
    progress: Arc<Progress>,
}

/// How an input can be read.
enum Access {
    /// Any number of times.
    Again,
    /// Only once: the text that is already open; and the file or pipe itself, if the text is read from it without a
    /// buffer.
    Once(Mutex<Option<(Text, Option<File>)>>),
    /// Any number of times, also at any offset: a copy of a pipe that is still made.
    Copying(Spooling),
    /// Any number of times: a copy of a text that could be read only once, decompressed.
    Copy(Spool),
    /// Any number of times, in blocks: one state of an event store.
    Store(Box<StoreText>),
    /// Any number of times, also at any offset: an object of a remote store.
    #[cfg_attr(not(feature = "remote"), allow(dead_code, reason = "there are none"))]
    Remote(RemoteFile),
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Again => "Again",
            Self::Once(_) => "Once",
            Self::Copying(_) => "Copying",
            Self::Copy(_) => "Copy",
            Self::Store(_) => "Store",
            Self::Remote(_) => "Remote",
        })
    }
}

/// The number of low bits that hold the offset in a place of an input. The other bits hold the file's number.
const OFFSET_BITS: u32 = 44;

impl Input {
    /// Records that are in memory, one a line.
    pub(crate) fn of_records(lines: Vec<u8>, progress: &Arc<Progress>) -> Result<Self, Error> {
        let reading = Reading { from: Some(FileFormat::Ndjson), ..Reading::default() };
        match InputFile::once(PathBuf::new(), Box::new(io::Cursor::new(lines)), None, &reading, progress) {
            Ok(file) => Ok(Self { files: vec![Arc::new(file)], ..Self::default() }),
            Err(Refusal::Unreadable(message)) => Err(Error::unread(message)),
            Err(Refusal::Encoding(encoding)) => Err(Error::unread(encoding.to_string())),
        }
    }

    /// About how many bytes of records there are; zero for pipes. What is compressed, or a table of another format, is several
    /// times as long as its file.
    pub(crate) fn bytes(&self) -> u64 {
        const UNPACKED: u64 = 8;
        let bytes = |file: &Arc<InputFile>| file.disk_bytes * if file.size.is_some() { 1 } else { UNPACKED };
        self.files.iter().map(bytes).fold(0, u64::saturating_add)
    }

    /// Whether the whole input can be read twice.
    pub(crate) fn is_rereadable(&self) -> bool {
        self.files.iter().all(|file| file.is_rereadable())
    }

    /// This input, made readable any number of times: texts that can be read only once are copied to disk. Waits for
    /// their ends.
    pub(crate) fn rereadable(&self, options: &SpoolOptions) -> Result<Self, Error> {
        self.with_files(|file| match &file.access {
            Access::Once(_) | Access::Copying(_) => file.copied(options).map(Arc::new),
            _ => Ok(Arc::clone(file)),
        })
    }

    /// The same, but pipes of plain lines are copied while they are read.
    pub(crate) fn copying(&self, options: &SpoolOptions) -> Result<Self, Error> {
        self.with_files(|file| match &file.access {
            Access::Once(_) => file.copying(options).map(Arc::new),
            _ => Ok(Arc::clone(file)),
        })
    }

    fn with_files(&self, change: impl FnMut(&Arc<InputFile>) -> Result<Arc<InputFile>, Error>) -> Result<Self, Error> {
        let files = self.files.iter().map(change).collect::<Result<_, _>>()?;
        Ok(Self { files, noted: Arc::clone(&self.noted), left_out: self.left_out })
    }

    /// Whether the whole input can be read at any offset.
    pub(crate) fn is_anywhere(&self) -> bool {
        self.files.iter().all(|file| file.size.is_some())
    }

    /// A place in a file, as a number that orders places.
    pub(crate) fn place(file: usize, offset: u64) -> u64 {
        (file as u64) << OFFSET_BITS | offset
    }

    /// The file and the offset of a [`place`](Self::place).
    pub(crate) fn at(&self, place: u64) -> Option<(&InputFile, u64)> {
        let file = self.files.get(usize::try_from(place >> OFFSET_BITS).ok()?)?;
        Some((file, place & ((1 << OFFSET_BITS) - 1)))
    }

    /// Whether every event of this input, which must be one store, holds a text at `path` whose order is theirs.
    pub(crate) fn is_ordered_by(&self, path: &jird::Path) -> bool {
        let [file] = &self.files[..] else { return false };
        file.store_text().is_some_and(|store| store.is_ordered_by(path))
    }

    /// Whether only stores are read, and each has few different values at a path.
    pub(crate) fn has_few_values(&self, path: &jird::Path) -> bool {
        !self.files.is_empty()
            && self.stores().count() == self.files.len()
            && self.stores().all(|(_, store)| store.has_few_values(path))
    }

    /// The event stores of this input.
    pub(crate) fn stores(&self) -> impl Iterator<Item = (&InputFile, &StoreText)> {
        self.files.iter().filter_map(|file| Some((&**file, file.store_text()?)))
    }

    /// The file of this input that is the same file as `path`, also through a link or as standard input.
    pub(crate) fn reads(&self, path: &Path) -> Option<&InputFile> {
        let wanted = FileId::of_file(path)?;
        let place = |file: &InputFile| match &file.access {
            Access::Once(_) | Access::Copying(_) | Access::Copy(_) if file.path == Path::new(STDIN) => {
                FileId::of_stdin()
            }
            _ => FileId::of_file(&file.path),
        };
        self.files.iter().map(AsRef::as_ref).find(|file| place(file) == Some(wanted))
    }

    /// Announces that the whole input will be read `times` times.
    pub(crate) fn expect(&self, times: u64) {
        for file in &self.files {
            file.progress.expect(file.disk_bytes * times);
        }
    }
}

/// Why a file is not read.
pub(crate) enum Refusal {
    /// The file cannot be read; this is the message.
    Unreadable(String),
    Encoding(Encoding),
}

impl std::convert::From<String> for Refusal {
    fn from(words: String) -> Self {
        Self::Unreadable(words)
    }
}

impl std::convert::From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(words(&error))
    }
}

impl InputFile {
    /// Opens what has this path: a file, or an object whose URL it is. Nothing is listed.
    pub(crate) fn at(
        path: &Path,
        table: Option<&str>,
        reading: &Reading,
        progress: &Arc<Progress>,
    ) -> Result<Self, Refusal> {
        if is_url(path) { remote::one(path, reading, progress) } else { Self::open(path, table, reading, progress) }
    }

    /// Opens a file of this machine.
    fn open(path: &Path, table: Option<&str>, reading: &Reading, progress: &Arc<Progress>) -> Result<Self, Refusal> {
        let metadata = path.metadata()?;
        if metadata.is_dir() {
            return Err("is a directory".to_owned().into());
        }
        let file = match open(path)? {
            Local::Database => return Self::database((path, table), metadata.len(), reading, progress),
            Local::File(file) => file,
        };
        if !metadata.is_file() {
            // A pipe must not be opened twice.
            let own = file.try_clone().ok();
            return Self::once(path.to_owned(), Box::new(widened(file)), own, reading, progress);
        }
        Self::again((path, table), Box::new(file), (Access::Again, metadata.len()), reading, progress)
    }

    /// A file that can be read at any offset: its name, a reader of it, how else it is read, and how many bytes it has.
    fn again(
        (path, table): (&Path, Option<&str>),
        reader: Reader,
        (access, bytes): (Access, u64),
        reading: &Reading,
        progress: &Arc<Progress>,
    ) -> Result<Self, Refusal> {
        let text = Text::open(reader, Some(plain_name(path)))?;
        let is_marked = text.is_marked();
        let text = text.blank_mark();
        let layout = layout(path, reading, &text)?;
        let is_plain = layout == Layout::Lines && text.compression == Compression::None;
        let is_whole = matches!(layout, Layout::Table(FileFormat::Parquet | FileFormat::Sqlite));
        if is_whole && text.compression != Compression::None {
            return Err("a file of this format is not read while it is compressed; decompress it first"
                .to_owned()
                .into());
        }
        if matches!((layout, &access), (Layout::Table(FileFormat::Sqlite), Access::Remote(_))) {
            return Err("a database is read from a file of this machine; copy it here first".to_owned().into());
        }
        if table.is_some() && layout != Layout::Table(FileFormat::Sqlite) {
            return Err("it is no database, so it has no tables".to_owned().into());
        }
        Ok(Self {
            table: table.map(str::to_owned),
            records: reading.records.clone(),
            csv: reading.csv,
            lenient: reading.lenient,
            path: path.to_owned(),
            name: None,
            keys: Vec::new(),
            index: 0,
            size: is_plain.then_some(bytes),
            layout,
            is_marked,
            disk_bytes: bytes,
            access,
            rows_noted: Arc::default(),
            progress: Arc::clone(progress),
        })
    }

    /// Standard input. It is read without the buffer of the standard library, which nothing else uses here.
    fn stdin(path: &Path, reading: &Reading, progress: &Arc<Progress>) -> Result<Self, Refusal> {
        let Some(file) = stdin_file() else {
            return Self::once(path.to_owned(), Box::new(io::stdin()), None, reading, progress);
        };
        let Local::File(mut file) = Local::of(file)? else { return Err(local::NOT_PIPED.to_owned().into()) };
        let own = file.try_clone().ok();
        let size = match file.metadata() {
            Ok(data) if data.is_file() && matches!(file.stream_position(), Ok(0)) => Some(data.len()),
            _ => None,
        };
        let once = Self::once(path.to_owned(), Box::new(widened(file)), own, reading, progress)?;
        let (Access::Once(text), Some(size), Layout::Lines) = (&once.access, size, once.layout) else {
            return Ok(once);
        };
        // A file of plain lines that was redirected is as good as its name.
        let own = text.lock().unwrap_or_else(PoisonError::into_inner).as_mut().and_then(|(_, own)| own.take());
        let Some(own) = own else { return Ok(once) };
        let file = once.with_access(Access::Copy(Spool::of_file(own, size)), Some(size), size);
        Ok(Self { is_marked: once.is_marked, ..file })
    }

    /// An input that can be read only once. `own` is what the reader reads, without a buffer.
    fn once(
        path: PathBuf,
        reader: Reader,
        own: Option<File>,
        reading: &Reading,
        progress: &Arc<Progress>,
    ) -> Result<Self, Refusal> {
        let reader = Box::new(Counted { inner: reader, progress: Arc::clone(progress) });
        let text = Text::open(reader, None)?;
        let is_marked = text.is_marked();
        let text = text.blank_mark();
        let layout = layout(&path, reading, &text)?;
        if layout == Layout::Table(FileFormat::Sqlite) {
            return Err(local::NOT_PIPED.to_owned().into());
        }
        let own = own.filter(|_| text.compression == Compression::None);
        let access = Access::Once(Mutex::new(Some((text, own))));
        Ok(Self {
            path,
            name: None,
            keys: Vec::new(),
            index: 0,
            size: None,
            layout,
            table: None,
            records: reading.records.clone(),
            csv: reading.csv,
            lenient: reading.lenient,
            is_marked,
            disk_bytes: 0,
            access,
            rows_noted: Arc::default(),
            progress: Arc::clone(progress),
        })
    }

    /// An event store, in its present state.
    fn store(path: &Path, reading: &Reading, progress: &Arc<Progress>) -> Result<Self, Error> {
        if reading.lenient.is_some() {
            return Err(Error::unread(format!("{}: {}", path.display(), detect::NO_LENIENT_STORE)));
        }
        let store = StoreText::open(path, reading.window, progress).map_err(|error| Error::store(&error))?;
        Ok(Self::of_store(path, store, progress))
    }

    fn of_store(path: &Path, store: StoreText, progress: &Arc<Progress>) -> Self {
        Self {
            path: path.to_owned(),
            name: None,
            keys: Vec::new(),
            index: 0,
            size: Some(store.bytes()),
            layout: Layout::Lines,
            table: None,
            records: None,
            csv: DialectChoice::default(),
            lenient: None,
            is_marked: false,
            disk_bytes: store.bytes(),
            access: Access::Store(Box::new(store)),
            rows_noted: Arc::default(),
            progress: Arc::clone(progress),
        }
    }

    /// The text of the store, if the input is one.
    pub(crate) fn store_text(&self) -> Option<&StoreText> {
        match &self.access {
            Access::Store(store) => Some(store),
            _ => None,
        }
    }

    pub(crate) fn is_rereadable(&self) -> bool {
        !matches!(self.access, Access::Once(_))
    }

    /// This input as a copy on disk, which can be read again.
    fn copied(&self, options: &SpoolOptions) -> Result<Self, Error> {
        let spool = match &self.access {
            Access::Copying(spooling) => spooling.finish(),
            _ => self.text().and_then(|text| Spool::fill(&mut text.into_reader(), options)),
        };
        let spool = spool.map_err(|error| self.error(&error))?;
        let is_anywhere = self.layout == Layout::Lines && !spool.is_compressed();
        let (size, disk_bytes) = (is_anywhere.then(|| spool.disk_bytes()), spool.disk_bytes());
        Ok(self.with_access(Access::Copy(spool), size, disk_bytes))
    }

    /// This input as a copy on disk that is still made, if it is a pipe of plain lines; if not, as a copy.
    fn copying(&self, options: &SpoolOptions) -> Result<Self, Error> {
        let Access::Once(text) = &self.access else { return self.copied(options) };
        let taken = || text.lock().unwrap_or_else(PoisonError::into_inner).take();
        let is_plain = |(_, own): &(Text, Option<File>)| own.is_some();
        let starts = self.layout == Layout::Lines
            && !options.compress
            && text.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(is_plain);
        let Some((text, Some(own))) = starts.then(taken).flatten() else { return self.copied(options) };
        let progress = Arc::clone(&self.progress);
        let spooling = Spooling::start(text.start, own, options, move |bytes| progress.add(bytes));
        let spooling = spooling.map_err(|error| self.error(&error))?;
        Ok(self.with_access(Access::Copying(spooling), None, 0))
    }

    /// The same input in another place.
    fn with_access(&self, access: Access, size: Option<u64>, disk_bytes: u64) -> Self {
        Self {
            path: self.path.clone(),
            name: self.name.clone(),
            keys: self.keys.clone(),
            index: self.index,
            size,
            layout: self.layout,
            table: self.table.clone(),
            records: self.records.clone(),
            csv: self.csv,
            lenient: self.lenient,
            // The text that was copied has blanks in its place.
            is_marked: false,
            disk_bytes,
            access,
            rows_noted: Arc::clone(&self.rows_noted),
            progress: Arc::clone(&self.progress),
        }
    }

    /// If the input is a copy that is still being made: ranges of `bytes` bytes each, as far as it goes.
    pub(crate) fn growing_ranges(&self, bytes: u64) -> Option<impl Iterator<Item = Range<u64>> + Send + use<>> {
        let Access::Copying(spooling) = &self.access else { return None };
        let (spooling, mut next) = (spooling.clone(), Some(0));
        Some(std::iter::from_fn(move || {
            let start = next?;
            let end = start + bytes;
            let end = if let Ok((copied, is_all)) = spooling.wait_for(end) {
                next = (!is_all || copied > end).then_some(end);
                end.min(copied)
            } else {
                // The reader of the range meets the error.
                next = None;
                end
            };
            (end > start).then_some(start..end)
        }))
    }

    /// Opens the file for reading at any offset.
    #[cfg_attr(
        not(feature = "remote"),
        allow(clippy::useless_conversion, reason = "elsewhere, there are objects, too")
    )]
    pub(crate) fn file(&self) -> Result<PositionedFile, Error> {
        let file = match &self.access {
            Access::Copying(spooling) => return Ok(PositionedFile::Copying(spooling.clone())),
            Access::Copy(spool) => spool.file().map(AnyFile::from),
            Access::Remote(file) => Ok(file.any()),
            _ => local::text(&self.path).map(AnyFile::from),
        };
        let text = Unmarked { text: file.map_err(|error| self.error(&error))?, is_marked: self.is_marked };
        Ok(PositionedFile::Whole(text, Arc::clone(&self.progress)))
    }

    /// The text from the start.
    fn text(&self) -> io::Result<Text> {
        match &self.access {
            Access::Again => {
                let inner = Box::new(local::text(&self.path)?);
                Text::open(Box::new(Counted { inner, progress: Arc::clone(&self.progress) }), Some(&self.path))
            }
            Access::Once(text) => text
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
                .map(|(text, _)| text)
                .ok_or_else(|| io::Error::other("it cannot be read twice: name a file")),
            Access::Store(_) => Err(io::Error::other("a store is read in blocks")),
            Access::Remote(file) => {
                let inner: Reader = Box::new(file.reader());
                let counted = Counted { inner, progress: Arc::clone(&self.progress) };
                Text::open(Box::new(counted), Some(plain_name(&self.path)))
            }
            // What is copied is counted there.
            Access::Copying(spooling) => Text::decompressed(Box::new(spooling.reader()), Compression::None),
            Access::Copy(spool) => {
                let compression = if spool.is_compressed() { Compression::Zstd } else { Compression::None };
                let inner = spool.reader()?;
                Text::decompressed(Box::new(Counted { inner, progress: Arc::clone(&self.progress) }), compression)
            }
        }
    }

    /// Opens the file for reading once, as lines; of a table, those that are wanted.
    pub(crate) fn stream(&self, wanted: TableRequest) -> Result<Reader, Error> {
        self.lines(wanted).map_err(|error| self.error(&error))
    }

    fn lines(&self, wanted: TableRequest) -> io::Result<Reader> {
        if let Layout::Table(format) = self.layout {
            let name = self.shown().into_owned();
            return Ok(Box::new(self.rows(format)?.lines(name, wanted)?));
        }
        let text = self.text()?.blank_mark();
        let is_plain = self.layout == Layout::Lines && text.compression == Compression::None;
        let reader = text.into_reader();
        Ok(match self.layout {
            // The program that writes the pipe already runs in parallel, so no thread reads ahead.
            Layout::Lines if is_plain => reader,
            Layout::Lines => Box::new(Ahead::start(&wanted.crew, reader)?),
            Layout::Quarantine => Box::new(Ahead::start(&wanted.crew, Quarantined::new(reader))?),
            _ => Box::new(Ahead::start(&wanted.crew, Elements::new(reader))?),
        })
    }

    /// How the file is written, if it is CSV or a relative of it.
    fn dialect(&self) -> Option<Dialect> {
        match self.layout {
            Layout::Table(FileFormat::Csv) => Some(self.csv.of(Dialect::default())),
            Layout::Table(FileFormat::Tsv) => Some(self.csv.of(Dialect::tsv())),
            _ => None,
        }
    }

    /// The table that the file is.
    #[cfg_attr(
        not(feature = "remote"),
        allow(clippy::useless_conversion, reason = "elsewhere, there are objects, too")
    )]
    fn rows(&self, format: FileFormat) -> io::Result<TableFile> {
        #[cfg(feature = "tables")]
        let whole = || match &self.access {
            Access::Again => local::text(&self.path).map(AnyFile::from),
            Access::Copy(spool) if !spool.is_compressed() => spool.file().map(AnyFile::from),
            Access::Remote(file) => Ok(file.any_part()),
            Access::Copy(_) | Access::Copying(_) | Access::Once(_) | Access::Store(_) => {
                Err(io::Error::other("Parquet is read from a file, not from a pipe: write it to a file first"))
            }
        };
        let text = || self.text().map(Text::into_reader);
        Ok(match format {
            #[cfg(feature = "tables")]
            FileFormat::Sqlite => TableFile::Sqlite(self.path.clone(), self.table.clone()),
            #[cfg(feature = "tables")]
            FileFormat::Parquet => TableFile::Parquet(whole()?),
            #[cfg(not(feature = "tables"))]
            FileFormat::Sqlite | FileFormat::Parquet => {
                return Err(io::Error::other("this build of jird reads no Parquet and no databases"));
            }
            FileFormat::Arrow => TableFile::Arrow(text()?),
            FileFormat::Json | FileFormat::Ndjson if let Some(options) = self.lenient => {
                let lines = format == FileFormat::Ndjson;
                let layout = if lines { LenientLayout::Lines } else { LenientLayout::Document };
                let text = self.text()?.blank_mark().into_reader();
                TableFile::Lenient(text, options, layout, self.records.clone())
            }
            FileFormat::Json | FileFormat::Ndjson | FileFormat::Quarantine => {
                let text = self.text()?.blank_mark().into_reader();
                TableFile::Json(text, self.records.clone().unwrap_or_default())
            }
            FileFormat::Csv | FileFormat::Tsv => TableFile::Csv(text()?, self.dialect().unwrap_or_default()),
        })
    }

    pub(crate) fn error(&self, error: &io::Error) -> Error {
        Error::input(Path::new(&*self.shown()), error)
    }

    /// What messages call it.
    pub(crate) fn shown(&self) -> Cow<'_, str> {
        self.name.as_deref().map_or_else(|| self.path.to_string_lossy(), Cow::Borrowed)
    }

    /// The line, counted from one, that holds the byte at `offset`. Reads everything before it.
    pub(crate) fn line_at(&self, offset: u64) -> io::Result<u64> {
        if let Some(store) = self.store_text() {
            return Ok(store.events_before(offset)? + 1);
        }
        let mut reader = match self.layout {
            Layout::Quarantine | Layout::Table(_) => {
                self.lines(TableRequest { pass_by: Some(Box::new(|_| Ok(()))), ..TableRequest::default() })?
            }
            _ => self.text()?.into_reader(),
        };
        let mut buffer = vec![0; 1 << 18];
        let (mut left, mut lines) = (offset, 1);
        while left > 0 {
            let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let read = reader.read(&mut buffer[..wanted])?;
            if read == 0 {
                break;
            }
            lines += newlines(&buffer[..read]);
            left -= read as u64;
        }
        Ok(lines)
    }
}

/// The file and the table that `shop.db::orders` names, if no file has all of it as its name.
fn split_table(argument: &str) -> (&str, Option<&str>) {
    match argument.rsplit_once("::") {
        Some((file, table)) if !Path::new(argument).exists() && !table.is_empty() => (file, Some(table)),
        _ => (argument, None),
    }
}
