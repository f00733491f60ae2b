//! Inputs that fall into pieces: each thread converts one piece at a time, and the results are joined in order.
//!
//! A thread knows nothing of the text before its piece, and notes nothing. A piece with an error, or whose result grows
//! large, is therefore done again on the calling thread, which knows the position. So all reports of bad records, and
//! of their places, come from one place in the code.

use super::feed::Feed;
use super::fields::{Fields, Finder};
use super::open::Reader;
use super::source::AnySource;
use anyhow::{Error, Result};
use jird::event::{JsonSource, Parts, Place, Sink};
use jird::lines::in_order;
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::{SqliteQuery, TablePiece, TablePieces, is_same_state, open_read_only};
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The size of a piece of text. A piece and its result fit together in a second-level cache.
const PIECE_BYTES: usize = 256 << 10;

/// The number of rows in a piece of a table.
const PIECE_ROWS: u32 = 1024;

/// If the result of a piece is larger than this, the calling thread converts the piece again.
const PART_BYTES_MAX: usize = 16 << 20;

/// From a line longer than this on, one thread reads the rest.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Converts lines of JSON. If the input is `live`, each result is flushed at once.
pub(super) fn lines<S>(
    feed: &mut Feed,
    name: &str,
    reader: Reader,
    live: bool,
    sink: &mut S,
    threads: usize,
) -> Result<()>
where
    S: Parts<Error: Into<Error>>,
{
    let spare = Mutex::default();
    let mut pieces =
        TextPieces { reader: Some(reader), live, line_bytes_max: LINE_BYTES_MAX, ..TextPieces::new(&spare) };
    let check_first = feed.reading.check_first;
    let fields = feed.fields.clone();
    let cut = TextCut { check_first, spare: &spare, fields, odd: AtomicU32::new(0) };
    let place = each(feed, name, sink, threads, &mut pieces, live, &cut)?;
    // The rest begins with a long line.
    let Some(reader) = pieces.reader else { return Ok(()) };
    let left = Reader::new(Box::new(Cursor::new(pieces.left).chain(reader)));
    let source = JsonSource::from_reader(left).lines().begins_at(place);
    feed.filter(name, &mut AnySource::Lines(if check_first { source.check_first() } else { source }), sink)
}

/// Converts the rows of a table. Returns false, and does nothing, if the table cannot be cut into pieces.
pub(super) fn table<S>(
    feed: &mut Feed,
    name: &str,
    path: &Path,
    table: &str,
    sink: &mut S,
    threads: usize,
) -> Result<bool>
where
    S: Parts<Error: Into<Error>>,
{
    let open = |_| open_read_only(path);
    // One connection finds the pieces, and one is for the calling thread.
    let mut connections: Vec<Connection> = (0..threads + 2).map(open).collect::<Result<_, _>>()?;
    if !is_same_state(&connections)? {
        return Ok(false);
    }
    let Some(finder) = connections.pop() else { return Ok(false) };
    let Some(mut pieces) = TablePieces::new(finder, table, PIECE_ROWS)? else { return Ok(false) };
    let mut pieces = (&mut pieces).map(|piece| piece.map_err(Error::from));
    each(feed, name, sink, threads, &mut pieces, false, &TableCut(Mutex::new(connections)))?;
    Ok(true)
}

/// How a kind of piece is read.
trait Cut: Sync {
    type Piece: Send;
    /// The state of one thread.
    type Worker;

    fn worker(&self) -> Self::Worker;
    /// Sends all records of a piece as the filters would, without running them. Returns how many there are; `None` if
    /// that is impossible, and then only some may have been sent.
    fn send<S: Sink>(&self, worker: &mut Self::Worker, piece: &Self::Piece, sink: &mut S) -> Option<u64> {
        let _ = (worker, piece, sink);
        None
    }
    /// Passes a source of the piece's records to `read`; the first record is at `first`.
    fn open<T>(
        &self,
        worker: &mut Self::Worker,
        piece: &Self::Piece,
        first: Place,
        read: impl FnOnce(&mut AnySource<'_>) -> Result<T>,
    ) -> Result<T>;
    /// The place where the next piece begins, if this piece begins at `first`. The caller counts the records.
    fn behind(&self, piece: &Self::Piece, first: Place) -> Place;
    /// Takes back a piece that was used.
    fn drop(&self, piece: Self::Piece);
}

/// The result of a piece.
enum Made<P, S> {
    Good {
        piece: P,
        part: S,
        records: u64,
        sent: u64,
        mismatches: u64,
    },
    /// The piece must be done again.
    Odd(P),
    Failed(Error),
}

/// Joins the results of the pieces. Returns the place where they end.
fn each<S, C: Cut>(
    feed: &mut Feed,
    name: &str,
    sink: &mut S,
    threads: usize,
    pieces: &mut (impl Iterator<Item = Result<C::Piece>> + Send),
    live: bool,
    cut: &C,
) -> Result<Place>
where
    S: Parts<Error: Into<Error>>,
{
    let (model, part) = (feed.apart(), sink.part(0));
    let state = || (model.apart(), cut.worker());
    let make = |(feed, worker): &mut (Feed, C::Worker), piece: Result<C::Piece>| {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => return Made::Failed(error),
        };
        let mut made = part.part(PART_BYTES_MAX);
        if let Some(records) = cut.send(worker, &piece, &mut made) {
            return Made::Good { piece, part: made, records, sent: records, mismatches: 0 };
        }
        let mut part = part.part(PART_BYTES_MAX);
        let before = feed.counts();
        let records = cut.open(worker, &piece, Place::default(), |source| {
            feed.filter(name, source, &mut part)?;
            Ok(source.records())
        });
        let after = feed.counts();
        let (sent, mismatches) = (after.0 - before.0, after.1 - before.1);
        match records {
            Ok(records) => Made::Good { piece, part, records, sent, mismatches },
            Err(_) => Made::Odd(piece),
        }
    };
    let (mut place, mut own) = (Place { line: 1, ..Place::default() }, cut.worker());
    let mut take = |made| -> Result<()> {
        match made {
            Made::Good { piece, part, records, sent, mismatches } => {
                sink.join(part).map_err(Into::into)?;
                feed.add(sent, mismatches);
                place = Place { record: place.record + records, ..cut.behind(&piece, place) };
                cut.drop(piece);
            }
            Made::Odd(piece) => {
                let record = cut.open(&mut own, &piece, place, |source| {
                    feed.filter(name, source, sink)?;
                    Ok(source.records())
                })?;
                place = Place { record, ..cut.behind(&piece, place) };
            }
            Made::Failed(error) => return Err(error.context(name.to_owned())),
        }
        if live { sink.flush().map_err(Into::into) } else { Ok(()) }
    };
    let mut taken = Ok(());
    in_order(pieces, threads, state, make, |made| {
        taken = take(made);
        if taken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    taken.map(|()| place)
}

/// Buffers that can be reused.
type Spare = Mutex<Vec<Vec<u8>>>;

/// Cuts text into pieces that end at newlines.
struct TextPieces<'s> {
    /// `None` at the end of the text.
    reader: Option<Reader>,
    live: bool,
    line_bytes_max: usize,
    /// The bytes of the next piece that were already read.
    left: Vec<u8>,
    spare: &'s Spare,
}

/// A piece of text: the first `len` bytes of `buffer`.
struct Text {
    buffer: Vec<u8>,
    len: usize,
}

impl<'s> TextPieces<'s> {
    fn new(spare: &'s Spare) -> Self {
        Self { reader: None, live: false, line_bytes_max: 0, left: Vec::new(), spare }
    }

    /// Reads whole lines, as many as one piece takes. Returns `None` at the end, and before a line that is too long;
    /// the reader stays at that line.
    fn read(&mut self) -> io::Result<Option<Text>> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let mut buffer = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let mut len = self.left.len();
        buffer.resize(buffer.len().max(len + PIECE_BYTES), 0);
        buffer[..len].copy_from_slice(&self.left);
        self.left.clear();
        // The offset after the last newline so far.
        let mut end = 0;
        loop {
            if buffer.len() < len + PIECE_BYTES / 2 {
                buffer.resize(2 * buffer.len(), 0);
            }
            let read = match reader.read(&mut buffer[len..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                self.reader = None;
                return Ok((len > 0).then_some(Text { buffer, len }));
            }
            if let Some(feed) = memchr::memrchr(b'\n', &buffer[len..len + read]) {
                end = len + feed + 1;
            }
            len += read;
            if end > 0 && (self.live || len >= PIECE_BYTES) || end == 0 && len > self.line_bytes_max {
                self.left.extend_from_slice(&buffer[end..len]);
                return Ok((end > 0).then_some(Text { buffer, len: end }));
            }
        }
    }
}

impl Iterator for TextPieces<'_> {
    type Item = Result<Text>;

    fn next(&mut self) -> Option<Result<Text>> {
        self.read().map_err(Error::from).transpose()
    }
}

struct TextCut<'s> {
    check_first: bool,
    spare: &'s Spare,
    fields: Option<Arc<Fields>>,
    /// The number of pieces that held more than plain fields.
    odd: AtomicU32,
}

/// After this many such pieces, the fast path for plain fields is no longer tried.
const ODD_MAX: u32 = 16;

impl Cut for TextCut<'_> {
    type Piece = Text;
    type Worker = Option<Finder>;

    fn worker(&self) -> Option<Finder> {
        self.fields.as_deref().map(Finder::new)
    }

    fn send<S: Sink>(&self, finder: &mut Option<Finder>, piece: &Text, sink: &mut S) -> Option<u64> {
        let (fields, finder) = (self.fields.as_deref()?, finder.as_mut()?);
        if self.odd.load(Ordering::Relaxed) >= ODD_MAX {
            return None;
        }
        let sent = fields.send(finder, &piece.buffer[..piece.len], sink);
        if sent.is_none() {
            self.odd.fetch_add(1, Ordering::Relaxed);
        }
        sent
    }

    fn open<T>(
        &self,
        _: &mut Option<Finder>,
        piece: &Text,
        first: Place,
        read: impl FnOnce(&mut AnySource<'_>) -> Result<T>,
    ) -> Result<T> {
        let source = JsonSource::from_slice(&piece.buffer[..piece.len]).lines().begins_at(first);
        read(&mut AnySource::Piece(if self.check_first { source.check_first() } else { source }))
    }

    fn behind(&self, piece: &Text, first: Place) -> Place {
        let text = &piece.buffer[..piece.len];
        let lines = memchr::memchr_iter(b'\n', text).count() as u64;
        Place { offset: first.offset + text.len() as u64, line: first.line + lines, ..first }
    }

    fn drop(&self, piece: Text) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(piece.buffer);
    }
}

/// The connections that the threads use.
struct TableCut(Mutex<Vec<Connection>>);

impl Cut for TableCut {
    type Piece = TablePiece;
    type Worker = Connection;

    fn worker(&self) -> Connection {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().expect("there is one for each thread")
    }

    fn open<T>(
        &self,
        connection: &mut Connection,
        piece: &TablePiece,
        first: Place,
        read: impl FnOnce(&mut AnySource<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut query = SqliteQuery::piece(connection, piece)?.json_declared();
        read(&mut AnySource::Sqlite(query.source_behind(first.record)))
    }

    fn behind(&self, _: &TablePiece, first: Place) -> Place {
        first
    }

    fn drop(&self, _: TablePiece) {}
}
