//! Turns a file, or a range of one, into Arrow batches.
//!
//! In go a [`Plan`], which says what is wanted of the records, and a file; out go batches and bad records, through an
//! [`Outlet`], in the order of the file. What must hold: when the outlet is closed, the scan ends within a piece.
//!
//! If the rows keep the order of the input, [`drive`] reads the ranges of a file on all threads. If they may come in any
//! order, others cut the files, and each part is scanned by one thread.

use super::codes::{CodeBuilder, Codes};
use super::filter::FilterParts;
use super::origin::{Origin, OriginFilter};
use super::read::{ReadCounts, Reader};
use super::shared::{ColumnSpec, TableScan, VirtualColumn, note};
use super::watch::Extent;
use crate::base::error::Error;
use crate::input::{BlockSelection, Input, InputFile, StoreText, TakeCells};
use crate::scan::bad::{BadPart, BadSink};
use crate::scan::cells::CellAppender;
use crate::sql::{Rep, each_slot, map_slots};
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use jird::hooks::lines::{LinePiece, drive, ranges};
use jird::lines::{Check, Match, Scanned};
use jird::{
    Path,
    record::{Field, Mismatches, Predicate, Projection},
};
use jird_formats::{Accumulator, ColumnBuilder, Crew, holds};
use jird_store::Cells;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use tokio::sync::mpsc::Sender;

/// The description of a scan.
#[derive(Debug)]
pub(crate) struct Plan {
    shared: Arc<TableScan>,
    projection: Projection,
    /// The columns to build: slot, column of the table.
    columns: Vec<(usize, usize)>,
    /// For each slot, a column of the table with the slot's path.
    slots: Vec<usize>,
    /// What decides which records match, by their fields...
    filter: Option<Predicate>,
    /// ...and by where they are from.
    origins: Option<OriginFilter>,
    schema: SchemaRef,
    batch_rows: usize,
    /// Whether this scan notes records that are not JSON, and those that do not fit a schema. If not, another scan of the
    /// same files notes them.
    notes: (bool, bool),
    /// The slots of the fields whose types are watched.
    watched: Vec<usize>,
    /// What every record is checked for, whether it matches or not: slot, column of the table.
    checks: Vec<(usize, usize)>,
    /// What each column to build tells of a record that does not have its field, and then each field of `origins`.
    told: Vec<Option<VirtualColumn>>,
    /// The position of the places of the records among the columns of a batch, if they are wanted.
    place: Option<usize>,
    /// Conditions on the keys of folders, whose slots are columns of the table. Files that do not meet them are not read.
    folders: Vec<Predicate>,
    /// The condition of the blocks of a store that are read, if it says more than the filter, and its paths.
    blocks: Option<(Predicate, Vec<Path>)>,
    /// For each column to build its codes, if it has codes in place of texts.
    codes: Vec<Option<Arc<Codes>>>,
}

/// What a scan sends.
#[derive(Debug)]
pub(crate) enum Part {
    Batch(RecordBatch),
    Found(BadPart),
}

impl Part {
    /// The same, of a range that begins after `lines` lines of its file.
    fn after_lines(self, lines: u64) -> Self {
        match self {
            Self::Found(found) => Self::Found(found.after_lines(lines)),
            batch @ Self::Batch(_) => batch,
        }
    }
}

pub(crate) type PartResult = Result<Part, Error>;

/// Takes what a scan sends.
pub(crate) trait Outlet: Sync {
    /// Takes a part, or the error that ends the scan. Breaks if no more is wanted.
    fn send(&self, sent: PartResult) -> ControlFlow<()>;

    /// Whether no more is wanted.
    fn is_closed(&self) -> bool;
}

impl Outlet for Sender<PartResult> {
    fn send(&self, sent: PartResult) -> ControlFlow<()> {
        if self.blocking_send(sent).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }
}

impl Plan {
    /// A scan of `columns` of the table, for the records that pass `filter`. The slots of `filter` are columns of the
    /// table.
    pub(crate) fn new(
        shared: &Arc<TableScan>,
        columns: &[usize],
        filter: Option<&Predicate>,
        schema: SchemaRef,
        batch_rows: usize,
        notes: (bool, bool),
    ) -> Self {
        let mut paths: Vec<Path> = Vec::new();
        let mut slots = Vec::new();
        let mut slot_of = |column: usize| {
            let path = &shared.columns[column].path;
            paths.iter().position(|other| other == path).unwrap_or_else(|| {
                paths.push(path.clone());
                slots.push(column);
                paths.len() - 1
            })
        };
        let is_place = |column: &&usize| shared.columns[**column].rep == Rep::Place;
        let place = columns.iter().position(|column| is_place(&column));
        let fields = columns.iter().filter(|column| !is_place(column));
        let columns: Vec<_> = fields.map(|column| (slot_of(*column), *column)).collect();
        let codes = vec![None; columns.len()];
        let is_built = |column: &usize| filter.is_none() && columns.iter().any(|(_, built)| built == column);
        let checks = shared.checked.iter().filter(|column| !is_built(column));
        let checks = checks.map(|column| (slot_of(*column), *column)).collect();
        let column_of = |path: &Path| shared.columns.iter().position(|column| column.path == *path);
        let watched = shared.watch.iter().flat_map(|watch| &watch.paths);
        let watched = watched.map(|path| slot_of(column_of(path).expect("what is watched is a column"))).collect();
        if let Some(filter) = filter {
            each_slot(filter, &mut |column| {
                slot_of(column);
            });
        }
        let slot = |column: usize| {
            let path = &shared.columns[column].path;
            paths.iter().position(|other| other == path).expect("every path of the filter has a slot by now")
        };
        let parts = FilterParts::of(filter, shared);
        let origins = parts.origins.map(|filter| OriginFilter::new(&filter, shared, &slot));
        let told = columns.iter().map(|(_, column)| shared.columns[*column].told);
        let told = told.chain(origins.iter().flat_map(OriginFilter::fields).map(|(_, told)| *told)).collect();
        let filter = parts.records.map(|filter| map_slots(&filter, &slot));
        note(&shared.tally.read, paths.iter().map(Path::to_string).collect());
        let projection = Projection::new(&paths);
        Self {
            shared: Arc::clone(shared),
            projection,
            columns,
            slots,
            filter,
            origins,
            schema,
            batch_rows,
            notes,
            watched,
            checks,
            told,
            place,
            folders: parts.folders,
            blocks: None,
            codes,
        }
    }

    /// The same scan, with codes in place of the texts of these columns of the table.
    pub(crate) fn with_codes(mut self, codes: &[(usize, Arc<Codes>)]) -> Self {
        let of = |column: usize| codes.iter().find(|(coded, _)| *coded == column).map(|(_, codes)| Arc::clone(codes));
        self.codes = self.columns.iter().map(|(_, column)| of(*column)).collect();
        self
    }

    /// Where bad records go, if they do not end the scan.
    pub(crate) fn bad(&self) -> Option<&BadSink> {
        self.shared.options.bad.as_ref()
    }

    /// The threads that scan.
    pub(crate) fn crew(&self) -> Crew {
        self.shared.options.crew.clone()
    }

    /// Whether this scan notes records that are not JSON, and those that do not fit a schema.
    pub(crate) fn notes(&self) -> (bool, bool) {
        self.notes
    }

    /// The same scan, without blocks of a store for which one of these conditions does not hold.
    pub(crate) fn within(mut self, windows: &[Predicate]) -> Self {
        if windows.is_empty() {
            return self;
        }
        let mut paths = self.projection.paths().to_vec();
        let mut add = |column: usize| {
            let path = &self.shared.columns[column].path;
            if !paths.contains(path) {
                paths.push(path.clone());
            }
        };
        windows.iter().for_each(|window| each_slot(window, &mut add));
        let column = |column: usize| &self.shared.columns[column].path;
        let slot = |of: usize| paths.iter().position(|path| path == column(of)).expect("it was added above");
        let windows: Vec<_> = windows.iter().map(|window| map_slots(window, &slot)).collect();
        self.blocks = Some((Predicate::And(self.filter.iter().cloned().chain(windows).collect()), paths));
        self
    }

    /// Whether the keys of its folders rule out all records of a file.
    fn leaves_out(&self, file: &InputFile) -> bool {
        let columns = &self.shared.columns;
        self.folders.iter().any(|condition| {
            let mut is_known = true;
            each_slot(condition, &mut |column| is_known &= file.of_folder(&columns[column].path).is_some());
            let field = |column: &ColumnSpec| file.of_folder(&column.path).unwrap_or(Field::MISSING);
            let fields: Vec<_> = columns.iter().map(field).collect();
            is_known && condition.eval(&fields, &mut Mismatches::default()) != Some(true)
        })
    }

    /// Whether the scan wants nothing but values and the records that match: cells of a store serve it as lines do.
    fn takes_cells(&self, file: &InputFile) -> bool {
        let observes_none = self.shared.watch.is_none() && self.checks.is_empty();
        let tells_none = self.place.is_none() && self.told.iter().all(Option::is_none);
        file.store_text().is_some() && observes_none && tells_none
    }

    /// The paths of the columns to build, and then of the fields of `origins`: of what `told` tells.
    fn told_paths(&self) -> impl Iterator<Item = &Path> {
        let slots = self.origins.iter().flat_map(OriginFilter::fields).map(|(slot, _)| self.slots[*slot]);
        let columns = self.columns.iter().map(|(_, column)| *column).chain(slots);
        columns.map(|column| &self.shared.columns[column].path)
    }

    fn tells_lines(&self) -> bool {
        self.told.contains(&Some(VirtualColumn::Line))
    }

    /// Whether the scan only counts records.
    fn counts_only(&self, file: &InputFile) -> bool {
        let options = &self.shared.options;
        let looks_at_none = self.columns.is_empty() && self.place.is_none();
        let looks_at_none = looks_at_none && self.filter.is_none() && self.origins.is_none();
        let looks_at_none = looks_at_none && self.watched.is_empty();
        let checks_none = options.lines.check != Check::All && options.bad.is_none();
        looks_at_none && self.checks.is_empty() && (checks_none || file.store_text().is_some())
    }

    /// Which blocks of a store this scan reads.
    fn choose(&self, store: &StoreText) -> BlockSelection {
        store.choose(self.condition(), &self.shared.part, self.tells_lines())
    }

    /// Notes by which condition this scan chooses blocks of stores.
    pub(crate) fn note_choice(&self) {
        let choice = self.condition().map(|(condition, paths)| (condition.clone(), paths.to_vec()));
        self.shared.tally.choices.lock().unwrap_or_else(PoisonError::into_inner).push(choice);
    }

    /// The condition and its paths, unless every record is observed, whether it matches or not.
    fn condition(&self) -> Option<(&Predicate, &[Path])> {
        let observes_all = self.shared.watch.is_some() || !self.checks.is_empty();
        let filter = || self.filter.as_ref().map(|filter| (filter, self.projection.paths()));
        let of_blocks = self.blocks.as_ref().map(|(condition, paths)| (condition, &paths[..]));
        of_blocks.or_else(filter).filter(|_| !observes_all)
    }

    /// Scans, and sends what it finds, until the end or until no more is wanted.
    pub(crate) fn run(&self, file: &InputFile, range: Option<Range<u64>>, outlet: &impl Outlet) {
        let send = |part: PartResult| {
            let sent = outlet.send(part);
            if sent.is_break() {
                self.shared.tally.stopped.store(true, Relaxed);
            }
            sent
        };
        let leaves_out = self.leaves_out(file);
        self.shared.tally.note_file(file, !leaves_out);
        if leaves_out {
            let bytes = range.as_ref().map_or(0, |range| range.end - range.start);
            let extent = Extent { bytes, files: usize::from(file.size.is_none()) };
            self.shared.watch.iter().for_each(|watch| watch.take(&[], extent));
            return;
        }
        let options = &self.shared.options;
        let chosen = file.store_text().map(|store| Arc::new(self.choose(store)));
        let chunks = match &range {
            Some(range) if self.shared.ordered.load(Relaxed) && options.threads > 1 && !self.tells_lines() => {
                range.clone()
            }
            _ => 0..0,
        };
        let chunk_bytes = file.store_text().zip(chosen.as_deref());
        let chunk_bytes =
            chunk_bytes.map_or(options.chunk_bytes, |(store, chosen)| store.chunk_bytes(chosen, options.chunk_bytes));
        let chunks = ranges(chunks, chunk_bytes);
        // Whatever the order: there is no other way to read a copy that is still made by several threads.
        let growing = if options.threads > 1 && !self.tells_lines() && range.is_none() {
            file.growing_ranges(options.chunk_bytes)
        } else {
            None
        };
        if let Some(growing) = growing {
            if self.drive(file, growing, chosen.as_ref(), send, outlet) && !outlet.is_closed() {
                // All of it was seen.
                self.shared.watch.iter().for_each(|watch| watch.take(&[], Extent { bytes: 0, files: 1 }));
            }
        } else if chunks.len() < 2 {
            let mut worker = Worker::new(self, chosen);
            #[cfg(feature = "cluster")]
            let start = range.as_ref().map(|range| range.start);
            if let Err(error) = worker.scan(file, range, &mut |part| send(Ok(part)), || outlet.is_closed()) {
                let _ = send(Err(error));
            }
            #[cfg(feature = "cluster")]
            if let Some(start) = start {
                note(&self.shared.tally.lines, vec![(file.index, start, worker.reader.lines())]);
            }
        } else {
            self.drive(file, chunks, chosen.as_ref(), send, outlet);
        }
    }

    /// Scans ranges of a file on all threads, and sends what they find in order. Returns whether all were scanned.
    fn drive(
        &self,
        file: &InputFile,
        chunks: impl Iterator<Item = Range<u64>> + Send,
        chosen: Option<&Arc<BlockSelection>>,
        send: impl Fn(PartResult) -> ControlFlow<()>,
        outlet: &impl Outlet,
    ) -> bool {
        let mut is_whole = true;
        let work = |worker: &mut Worker<'_>, range| {
            let mut parts = Vec::new();
            let mut keep = |part| {
                parts.push(Ok(part));
                ControlFlow::Continue(())
            };
            if let Err(error) = worker.scan(file, Some(range), &mut keep, || outlet.is_closed()) {
                parts.push(Err(error));
            }
            (parts, worker.reader.lines())
        };
        drive(
            chunks.map(|range| (0, range)),
            self.shared.options.threads,
            || Worker::new(self, chosen.cloned()),
            work,
            |parts: Vec<PartResult>, lines| {
                for part in parts {
                    let failed = part.is_err();
                    let sent = send(part.map(|part| part.after_lines(lines.start)));
                    if failed || sent.is_break() {
                        is_whole = false;
                        return ControlFlow::Break(());
                    }
                }
                ControlFlow::Continue(())
            },
        );
        is_whole
    }
}

/// The buffers of one thread.
struct Worker<'p> {
    plan: &'p Plan,
    /// A copy for this thread: threads that share a regular expression wait for each other.
    filter: Option<Predicate>,
    origins: Option<OriginFilter>,
    reader: Reader,
    rows: Rows<'p>,
}

/// The batch that is being built.
struct Rows<'p> {
    plan: &'p Plan,
    builders: Vec<ColumnBuilder>,
    /// What turns the texts of a builder into codes.
    codes: Vec<Option<CodeBuilder>>,
    count: usize,
    bytes: usize,
    /// The slots that no record has had yet.
    unseen: Vec<usize>,
    /// The rows whose records turned out to be bad.
    dropped: Vec<usize>,
    /// The minified text of a value that spans lines.
    minified: Vec<u8>,
    appender: CellAppender,
    /// The file and line of the record, if columns tell them.
    told: Option<Origin>,
    /// The [places](Input::place) of the records of the batch, if they are wanted.
    places: Vec<i64>,
}

type Emit<'e> = &'e mut dyn FnMut(Part) -> ControlFlow<()>;

impl<'p> Worker<'p> {
    fn new(plan: &'p Plan, chosen: Option<Arc<BlockSelection>>) -> Self {
        let builders = plan.columns.iter().map(|(_, column)| builder(&plan.shared.columns[*column])).collect();
        let unseen = (0..plan.slots.len()).collect();
        let (dropped, minified) = (Vec::new(), Vec::new());
        let told = if plan.told.iter().any(Option::is_some) { Some(Origin::default()) } else { None };
        let (appender, places) = (CellAppender::default(), Vec::new());
        let codes = plan.codes.iter().map(|codes| codes.as_ref().map(CodeBuilder::new)).collect();
        let rows =
            Rows { plan, builders, codes, count: 0, bytes: 0, unseen, dropped, minified, appender, told, places };
        let mut reader = Reader::new(&plan.shared.options).counting(plan.tells_lines());
        reader.choose(chosen);
        Self { plan, filter: plan.filter.clone(), origins: plan.origins.clone(), reader, rows }
    }

    /// Scans a range. Hands out each batch when it is full, and the rest at the end, also after an error.
    fn scan(
        &mut self,
        file: &InputFile,
        range: Option<Range<u64>>,
        emit: Emit<'_>,
        is_closed: impl Fn() -> bool,
    ) -> Result<(), Error> {
        let Self { plan, filter, origins, reader, rows } = self;
        let tally = &plan.shared.tally;
        let counts_only = plan.counts_only(file);
        if let Some(told) = &mut rows.told {
            told.take_file(file, plan.told_paths());
        }
        let is_live = !file.is_rereadable();
        let interrupt = reader.interrupt().clone();
        let minifies = file.layout.has_long_records();
        let (is_whole, mut extent) = (range.is_none(), Extent::default());
        let cell = std::cell::RefCell::new((rows, emit, BadPart::default()));
        let piece = |ReadCounts { bytes, done, scanned, found }: ReadCounts| {
            tally.add(bytes, &scanned);
            extent.bytes += if file.size.is_some() { done } else { 0 };
            if is_closed() {
                tally.stopped.store(true, Relaxed);
                return ControlFlow::Break(());
            }
            let (rows, emit, all) = &mut *cell.borrow_mut();
            all.append(found);
            if counts_only {
                rows.count += usize::try_from(scanned.records).unwrap_or(usize::MAX);
            }
            // The writer of a pipe that sends single lines expects results line by line.
            if is_live {
                rows.flush(emit)?;
            }
            if is_live || all.is_large() { rows.found(all, emit) } else { ControlFlow::Continue(()) }
        };
        let mut take_cells = |parts: &[Cells]| {
            let (rows, emit, _) = &mut *cell.borrow_mut();
            if !parts.iter().all(|cells| rows.fit(cells)) {
                return None;
            }
            for cells in parts {
                let count = cells.rows() as u64;
                tally.add(cells.bytes() as u64, &Scanned { records: count, matched: count, ..Scanned::default() });
            }
            if is_closed() || interrupt.check().is_err() {
                tally.stopped.store(true, Relaxed);
                return Some(ControlFlow::Break(()));
            }
            Some(parts.iter().try_for_each(|cells| rows.take_cells(cells, emit)))
        };
        // The paths of the columns come before those of the filter alone.
        let shown = plan.columns.iter().map(|(slot, _)| slot + 1).max().unwrap_or_default();
        let cells = plan.takes_cells(file).then_some(TakeCells { shown, take: &mut take_cells });
        let tells_lines = plan.tells_lines();
        let unknown = std::cell::RefCell::new(Mismatches::default());
        let take = |row: &Match<'_, '_>, piece: &LinePiece<'_>| {
            let (rows, emit, _) = &mut *cell.borrow_mut();
            if let Some(told) = rows.told.as_mut().filter(|_| tells_lines) {
                told.take_line(file, piece, row.offset());
            }
            if let (Some(filter), Some(told)) = (&*origins, &mut rows.told)
                && !filter.holds(told, plan.columns.len(), row.fields(), &mut unknown.borrow_mut())
            {
                return Ok(ControlFlow::Continue(()));
            }
            if plan.place.is_some() {
                let place = Input::place(file.index, piece.offset() + row.offset() as u64);
                rows.places.push(i64::try_from(place).unwrap_or(i64::MAX));
            }
            if minifies { rows.take_minified(row, emit) } else { rows.take(row, emit) }
        };
        let result = if counts_only {
            reader.count(file, range, piece)
        } else if plan.shared.watch.is_some() || !plan.checks.is_empty() {
            let mut fields = vec![Accumulator::default(); plan.watched.len()];
            let mut mismatches = Mismatches::default();
            // Every record is observed, whether it matches or not.
            let visit = |row: &Match<'_, '_>, piece: &LinePiece<'_>| {
                let at = Input::place(file.index, piece.offset() + row.offset() as u64);
                fields.iter_mut().zip(&plan.watched).for_each(|(field, slot)| field.observe(row.field(*slot), at));
                cell.borrow_mut().0.check(row)?;
                let holds =
                    filter.as_ref().is_none_or(|filter| filter.eval(row.fields(), &mut mismatches) == Some(true));
                if holds { take(row, piece) } else { Ok(ControlFlow::Continue(())) }
            };
            let read = reader.read(file, range, (&plan.projection, None), None, visit, piece);
            if is_whole && file.size.is_none() && matches!(read, Ok(ControlFlow::Continue(()))) {
                extent.files = 1;
            }
            tally.mismatches.fetch_add(mismatches.kinds, Relaxed);
            if let Some(watch) = &plan.shared.watch {
                watch.take(&fields, extent);
            }
            read
        } else {
            reader.read(file, range, (&plan.projection, filter.as_ref()), cells, take, piece)
        };
        tally.mismatches.fetch_add(unknown.into_inner().kinds, Relaxed);
        let (rows, mut emit, mut all) = cell.into_inner();
        let _ = rows.flush(&mut emit).is_continue() && rows.found(&mut all, &mut emit).is_continue();
        result.map(|_| ())
    }
}

impl Rows<'_> {
    /// Checks what a schema says of the fields. Returns a message about the first value that does not fit.
    fn check(&self, row: &Match<'_, '_>) -> Result<(), String> {
        for (slot, column) in &self.plan.checks {
            let (field, column) = (row.field(*slot), &self.plan.shared.columns[*column]);
            if !holds(column.kind, field) {
                return Err(column.unfit(field));
            }
        }
        Ok(())
    }

    #[inline]
    fn take(&mut self, row: &Match<'_, '_>, emit: &mut Emit<'_>) -> Result<ControlFlow<()>, String> {
        let mut unfit = None;
        for (index, (builder, (slot, column))) in self.builders.iter_mut().zip(&self.plan.columns).enumerate() {
            let mut field = row.field(*slot);
            if let Some(place) = &mut self.told {
                field = place.told(field, index, self.plan.told[index]);
            }
            if builder.append(field).is_err() {
                unfit.get_or_insert((*slot, *column));
            }
        }
        self.end(row, unfit, emit)
    }

    /// Like [`Self::take`], for a record that may span several lines.
    #[inline]
    fn take_minified(&mut self, row: &Match<'_, '_>, emit: &mut Emit<'_>) -> Result<ControlFlow<()>, String> {
        let mut unfit = None;
        for (index, (builder, (slot, column))) in self.builders.iter_mut().zip(&self.plan.columns).enumerate() {
            let mut field = row.field(*slot);
            if let Some(place) = &mut self.told {
                field = place.told(field, index, self.plan.told[index]);
            }
            let text = field.raw();
            let is_long = text.starts_with(['{', '[']) && memchr::memchr(b'\r', text.as_bytes()).is_some();
            let minified = if is_long { minify(text, &mut self.minified) } else { None };
            let appended = builder.append(minified.map_or(field, Field::from_raw));
            if appended.is_err() {
                unfit.get_or_insert((*slot, *column));
            }
        }
        self.end(row, unfit, emit)
    }

    /// Whether the types of the columns hold all cells.
    fn fit(&mut self, cells: &Cells) -> bool {
        let Self { plan, appender, .. } = self;
        plan.columns.iter().all(|(slot, column)| appender.fit(&plan.shared.columns[*column], cells, *slot))
    }

    /// Appends the rows of a block: they match, and they [fit](Self::fit).
    fn take_cells(&mut self, cells: &Cells, emit: &mut Emit<'_>) -> ControlFlow<()> {
        // A batch has whole blocks, unless one block is more.
        if self.count > 0 && self.count + cells.rows() > self.plan.batch_rows {
            self.flush(emit)?;
        }
        let Self { plan, builders, codes, appender, unseen, .. } = self;
        unseen.retain(|slot| {
            let is_missing = !cells.has_some(*slot);
            if !is_missing {
                plan.shared.tally.seen[plan.slots[*slot]].store(true, Relaxed);
            }
            is_missing
        });
        for ((builder, codes), (slot, _)) in builders.iter_mut().zip(codes).zip(&plan.columns) {
            appender.append(builder, codes.as_mut(), cells, *slot);
        }
        self.count += cells.rows();
        self.bytes += cells.bytes();
        if self.count >= self.plan.batch_rows || self.bytes >= self.plan.shared.options.batch_bytes {
            return self.flush(emit);
        }
        ControlFlow::Continue(())
    }

    /// Completes a record.
    #[inline]
    fn end(
        &mut self,
        row: &Match<'_, '_>,
        unfit: Option<(usize, usize)>,
        emit: &mut Emit<'_>,
    ) -> Result<ControlFlow<()>, String> {
        if !self.unseen.is_empty() {
            self.see(row);
        }
        self.count += 1;
        self.bytes += row.text().len();
        // A value that does not fit a watched column was observed. The guess was then wrong, and the row does not
        // count.
        if let Some((slot, column)) = unfit.filter(|(slot, _)| !self.plan.watched.contains(slot)) {
            self.dropped.push(self.count - 1);
            return Err(self.plan.shared.columns[column].unfit(row.field(slot)));
        }
        if self.count >= self.plan.batch_rows || self.bytes >= self.plan.shared.options.batch_bytes {
            return Ok(self.flush(emit));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Hands out the bad records.
    fn found(&mut self, found: &mut BadPart, emit: &mut Emit<'_>) -> ControlFlow<()> {
        if self.plan.shared.options.bad.is_none() {
            return ControlFlow::Continue(());
        }
        emit(Part::Found(std::mem::take(found)))
    }

    #[cold]
    fn see(&mut self, row: &Match<'_, '_>) {
        let Self { plan, unseen, .. } = self;
        unseen.retain(|slot| {
            let is_missing = row.field(*slot).kind().is_none();
            if !is_missing {
                plan.shared.tally.seen[plan.slots[*slot]].store(true, Relaxed);
            }
            is_missing
        });
    }

    fn flush(&mut self, emit: &mut Emit<'_>) -> ControlFlow<()> {
        if self.count == 0 {
            return ControlFlow::Continue(());
        }
        let builders = self.builders.iter_mut().zip(&mut self.codes);
        let finished = builders.map(|(builder, codes)| match codes {
            Some(codes) => codes.finish(builder),
            None => builder.finish(),
        });
        let mut columns: Vec<ArrayRef> = finished.collect();
        if let Some(index) = self.plan.place {
            columns.insert(index, Arc::new(Int64Array::from(std::mem::take(&mut self.places))));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        (self.count, self.bytes) = (0, 0);
        let mut batch = RecordBatch::try_new_with_options(Arc::clone(&self.plan.schema), columns, &options)
            .expect("every builder has one value per row, of the type that the schema was made of");
        if !self.dropped.is_empty() {
            let mut keeps = vec![true; batch.num_rows()];
            self.dropped.drain(..).for_each(|row| keeps[row] = false);
            batch = filter_record_batch(&batch, &BooleanArray::from(keeps)).expect("there is one answer per row");
        }
        // The cells of a block may be more.
        let mut start = 0;
        while start + self.plan.batch_rows < batch.num_rows() {
            emit(Part::Batch(batch.slice(start, self.plan.batch_rows)))?;
            start += self.plan.batch_rows;
        }
        let rest = batch.num_rows() - start;
        emit(Part::Batch(if start == 0 { batch } else { batch.slice(start, rest) }))
    }
}

/// The text without white space, if it is JSON.
fn minify<'b>(text: &str, buffer: &'b mut Vec<u8>) -> Option<&'b str> {
    *buffer = jird::minify(text.as_bytes()).ok()?;
    std::str::from_utf8(buffer).ok()
}

fn builder(column: &ColumnSpec) -> ColumnBuilder {
    use jird_formats::ColumnType;
    match column.rep {
        Rep::Raw => ColumnBuilder::plain(),
        Rep::Json => ColumnBuilder::new(ColumnType::Json),
        Rep::Key => ColumnBuilder::key(),
        Rep::Typed | Rep::Place => ColumnBuilder::new(column.kind),
        Rep::Group => ColumnBuilder::group(column.kind),
    }
}
