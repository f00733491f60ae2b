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
use jird::event::{JsonSource, Place, Sink};
use jird::hooks::event::Parts;
use jird::hooks::lines::{StreamPiece, StreamPieces, drive, newlines};
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::{SqliteQuery, TablePiece, TablePieces, is_same_state, open_read_only};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
    let record_limit = feed.reading.record_limit;
    let pieces = StreamPieces::new(reader, record_limit.min(LINE_BYTES_MAX));
    let mut pieces = if live { pieces.live() } else { pieces };
    let check_first = feed.reading.check_first;
    let fields = feed.fields.clone();
    let cut = TextCut { check_first, fields, odd: AtomicU32::new(0) };
    let texts = (&mut pieces).map(|piece| piece.map_err(Error::from));
    let place = each(feed, name, sink, threads, texts, live, &cut)?;
    // The rest begins with a long line.
    let Some((offset, left)) = pieces.into_rest() else { return Ok(()) };
    let source = JsonSource::from_reader(Reader::new(Box::new(left))).lines().record_bytes_max(record_limit);
    let source = source.begins_at(Place { offset, ..place });
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
    let pieces = (&mut pieces).map(|piece| piece.map_err(Error::from));
    each(feed, name, sink, threads, pieces, false, &TableCut(Mutex::new(connections)))?;
    Ok(true)
}

/// How a kind of piece is read.
trait Cutter: Sync {
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
    /// The offset of a piece in its text, and the number of its lines; zeros for a piece that is not text.
    fn extent(&self, piece: &Self::Piece) -> (u64, u64) {
        let _ = piece;
        (0, 0)
    }
}

/// The result of a piece.
enum PieceResult<P, S> {
    Good {
        part: S,
        records: u64,
        sent: u64,
        mismatches: u64,
    },
    /// The piece must be done again.
    Odd(P),
    Failed(Error),
}

/// Joins the results of the pieces. Returns the place where they end, without its offset.
fn each<S, C: Cutter>(
    feed: &mut Feed,
    name: &str,
    sink: &mut S,
    threads: usize,
    pieces: impl Iterator<Item = Result<C::Piece>> + Send,
    live: bool,
    cut: &C,
) -> Result<Place>
where
    S: Parts<Error: Into<Error>>,
{
    let (model, part) = (feed.apart(), sink.part(0));
    let state = || (model.apart(), cut.worker());
    let make = |(feed, worker): &mut (Feed, C::Worker), piece: C::Piece| {
        let mut made = part.part(PART_BYTES_MAX);
        if let Some(records) = cut.send(worker, &piece, &mut made) {
            return PieceResult::Good { part: made, records, sent: records, mismatches: 0 };
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
            Ok(records) => PieceResult::Good { part, records, sent, mismatches },
            Err(_) => PieceResult::Odd(piece),
        }
    };
    let work = |state: &mut (Feed, C::Worker), piece: Result<C::Piece>| match piece {
        Ok(piece) => {
            let lines = cut.extent(&piece).1;
            (make(state, piece), lines)
        }
        Err(error) => (PieceResult::Failed(error), 0),
    };
    let (mut place, mut own) = (Place { line: 1, ..Place::default() }, cut.worker());
    let mut take = |made, lines: Range<u64>| -> Result<()> {
        match made {
            PieceResult::Good { part, records, sent, mismatches } => {
                sink.join(part).map_err(Into::into)?;
                feed.add(sent, mismatches);
                place.record += records;
            }
            PieceResult::Odd(piece) => {
                let first = Place { line: lines.start + 1, offset: cut.extent(&piece).0, ..place };
                place.record = cut.open(&mut own, &piece, first, |source| {
                    feed.filter(name, source, sink)?;
                    Ok(source.records())
                })?;
            }
            PieceResult::Failed(error) => return Err(error.context(name.to_owned())),
        }
        place.line = lines.end + 1;
        if live { sink.flush().map_err(Into::into) } else { Ok(()) }
    };
    let mut taken = Ok(());
    drive(pieces.map(|piece| (0, piece)), threads, state, work, |made, lines| {
        taken = take(made, lines);
        if taken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    taken.map(|()| place)
}

/// Cuts lines of JSON.
struct TextCut {
    check_first: bool,
    fields: Option<Arc<Fields>>,
    /// The number of pieces that held more than plain fields.
    odd: AtomicU32,
}

/// After this many such pieces, the fast path for plain fields is no longer tried.
const ODD_MAX: u32 = 16;

impl Cutter for TextCut {
    type Piece = StreamPiece;
    type Worker = Option<Finder>;

    fn worker(&self) -> Option<Finder> {
        self.fields.as_deref().map(Finder::new)
    }

    fn send<S: Sink>(&self, finder: &mut Option<Finder>, piece: &StreamPiece, sink: &mut S) -> Option<u64> {
        let (fields, finder) = (self.fields.as_deref()?, finder.as_mut()?);
        if self.odd.load(Ordering::Relaxed) >= ODD_MAX {
            return None;
        }
        let sent = fields.send(finder, piece, sink);
        if sent.is_none() {
            self.odd.fetch_add(1, Ordering::Relaxed);
        }
        sent
    }

    fn open<T>(
        &self,
        _: &mut Option<Finder>,
        piece: &StreamPiece,
        first: Place,
        read: impl FnOnce(&mut AnySource<'_>) -> Result<T>,
    ) -> Result<T> {
        let source = JsonSource::from_slice(piece).lines().begins_at(first);
        read(&mut AnySource::Piece(if self.check_first { source.check_first() } else { source }))
    }

    fn extent(&self, piece: &StreamPiece) -> (u64, u64) {
        (piece.offset(), newlines(piece))
    }
}

/// The connections that the threads use.
struct TableCut(Mutex<Vec<Connection>>);

impl Cutter for TableCut {
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
        let mut query = SqliteQuery::piece(connection, piece)?.as_declared();
        read(&mut AnySource::Sqlite(query.source_behind(first.record)))
    }
}
