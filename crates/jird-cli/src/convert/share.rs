//! Inputs that fall into pieces: threads convert one piece each, and what comes of them is put together in order.
//!
//! A thread knows nothing of what came before its piece, and notes nothing. So a piece that is not entirely good, or grows large, is
//! done again on the calling thread, which knows: what is said of bad records, and where they are, comes from one place.

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

/// Of text: fits a second-level cache, with what is made of it beside it.
const PIECE_BYTES: usize = 256 << 10;

/// Of a table.
const PIECE_ROWS: u32 = 1024;

/// What is made of a piece is no larger, or it is made on the calling thread.
const PART_BYTES_MAX: usize = 16 << 20;

/// From a longer line on, one thread reads.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Lines of JSON, to a sink. If the input is `live`, somebody waits for what has come so far.
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
    // What is left begins with a long line.
    let Some(reader) = pieces.reader else { return Ok(()) };
    let left = Reader::new(Box::new(Cursor::new(pieces.left).chain(reader)));
    let source = JsonSource::from_reader(left).lines().begins_at(place);
    feed.filter(name, &mut AnySource::Lines(if check_first { source.check_first() } else { source }), sink)
}

/// The rows of a table, to a sink. False if that cannot be: then nothing was done.
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
    // One to find the pieces with, and one for this thread.
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

/// How a piece is read.
trait Cut: Sync {
    type Piece: Send;
    /// What a thread keeps.
    type Worker;

    fn worker(&self) -> Self::Worker;
    /// Sends all its records as the filters would, without them. How many they are; none if that cannot be, and then not all are sent.
    fn send<S: Sink>(&self, worker: &mut Self::Worker, piece: &Self::Piece, sink: &mut S) -> Option<u64> {
        let _ = (worker, piece, sink);
        None
    }
    /// Hands its records to `read`, of which the first is at this place.
    fn open<T>(
        &self,
        worker: &mut Self::Worker,
        piece: &Self::Piece,
        first: Place,
        read: impl FnOnce(&mut AnySource<'_>) -> Result<T>,
    ) -> Result<T>;
    /// Where the next one begins, if this one does at `first`. The records are counted elsewhere.
    fn behind(&self, piece: &Self::Piece, first: Place) -> Place;
    /// It was used.
    fn drop(&self, piece: Self::Piece);
}

/// What came of a piece.
enum Made<P, S> {
    Good {
        piece: P,
        part: S,
        records: u64,
        sent: u64,
        mismatches: u64,
    },
    /// It is to be done again.
    Odd(P),
    Failed(Error),
}

/// Puts together what comes of the pieces. Returns where they end.
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

/// Buffers that nobody uses.
type Spare = Mutex<Vec<Vec<u8>>>;

/// Text, cut behind lines.
struct TextPieces<'s> {
    /// None at the end.
    reader: Option<Reader>,
    live: bool,
    line_bytes_max: usize,
    /// What was read of the next piece.
    left: Vec<u8>,
    spare: &'s Spare,
}

/// So much of a buffer is text.
struct Text {
    buffer: Vec<u8>,
    len: usize,
}

impl<'s> TextPieces<'s> {
    fn new(spare: &'s Spare) -> Self {
        Self { reader: None, live: false, line_bytes_max: 0, left: Vec::new(), spare }
    }

    /// Whole lines, as many as are to be had at once. None at the end, and before a line that is too long, where the reader stays.
    fn read(&mut self) -> io::Result<Option<Text>> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let mut buffer = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let mut len = self.left.len();
        buffer.resize(buffer.len().max(len + PIECE_BYTES), 0);
        buffer[..len].copy_from_slice(&self.left);
        self.left.clear();
        // Behind the last line's end so far.
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
    /// How many pieces have had more than plain fields.
    odd: AtomicU32,
}

/// After so many odd pieces fields are not sought any more.
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

/// The threads' connections.
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
