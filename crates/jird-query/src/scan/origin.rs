//! Where a record is from: its file, its line, and the keys of its folders, as the fields that a query may ask for.
//!
//! In goes the file, then the place of each record that matches; out come fields in the place of those that records lack,
//! and whether conditions on such fields hold.

use super::filter::columns;
use super::shared::{TableScan, VirtualColumn};
use crate::input::{InputFile, Joined};
use crate::sql::map_slots;
use jird::Path;
use jird::hooks::lines::LinePiece;
use jird::record::{Field, Mismatches, Predicate};

/// Where a record is from, and the record as it is with what that adds.
#[derive(Default)]
pub(super) struct Origin {
    place: OriginFields,
    record: Joined,
    /// For the last piece of a store: its offset, the events before it, and the lines that were counted before it.
    piece: Option<(u64, u64, u64)>,
}

/// Where a record is from, as JSON.
#[derive(Default)]
struct OriginFields {
    file: String,
    line: String,
    /// The JSON of each column whose value the folders of the file give; it is empty for what is missing.
    folders: Vec<Option<String>>,
}

impl Origin {
    /// Tells what all records of a file have in common, for columns of these paths.
    pub(super) fn take_file<'p>(&mut self, file: &InputFile, columns: impl Iterator<Item = &'p Path>) {
        self.place.file = jird::hooks::quoted(&file.shown());
        self.place.folders = columns.map(|path| file.of_folder(path).map(|field| field.raw().to_owned())).collect();
        self.record = file.joined();
    }

    /// Tells the line of the record that begins at byte `at` of a piece. In a store, it is the place of the event in
    /// the text of the window; some blocks of that text were not read.
    pub(super) fn take_line(&mut self, file: &InputFile, piece: &LinePiece<'_>, at: usize) {
        let line = match file.store_text() {
            Some(store) => {
                let known = self.piece.filter(|(offset, ..)| *offset == piece.offset());
                let (_, events, lines) = *self.piece.insert(known.unwrap_or_else(|| {
                    (piece.offset(), store.events_before_block(piece.offset()), piece.lines_before(0))
                }));
                events + (piece.lines_before(at) - lines)
            }
            None => piece.lines_before(at),
        };
        self.place.line = (line + 1).to_string();
    }

    /// The field, or what a column tells in its place.
    pub(super) fn told<'f>(&'f mut self, field: Field<'f>, column: usize, told: Option<VirtualColumn>) -> Field<'f> {
        match told {
            Some(VirtualColumn::Record) => self.record.of(field),
            _ => self.place.told(field, column, told),
        }
    }
}

impl OriginFields {
    /// The field of a record, which is not the whole record, or what a column tells in its place.
    fn told<'f>(&'f self, field: Field<'f>, column: usize, told: Option<VirtualColumn>) -> Field<'f> {
        match told {
            Some(VirtualColumn::File) if field.kind().is_none() => Field::from_raw(&self.file),
            Some(VirtualColumn::Line) if field.kind().is_none() => Field::from_raw(&self.line),
            Some(VirtualColumn::Folder) => match self.folders[column].as_deref() {
                Some("") => Field::MISSING,
                Some(json) => Field::from_raw(json),
                None => field,
            },
            Some(VirtualColumn::File | VirtualColumn::Line | VirtualColumn::Record) | None => field,
        }
    }
}

/// A condition on where a record is from, and perhaps on its fields, too.
#[derive(Clone, Debug)]
pub(super) struct OriginFilter {
    /// Its slots are positions in `fields`.
    predicate: Predicate,
    /// The fields that it needs: slot of the projection, what it tells.
    fields: Vec<(usize, Option<VirtualColumn>)>,
}

impl OriginFilter {
    /// The condition with `slot_of` the columns of the table, which are its slots so far.
    pub(super) fn new(predicate: &Predicate, shared: &TableScan, slot_of: &impl Fn(usize) -> usize) -> Self {
        let columns = columns(predicate);
        let at = |column: usize| columns.iter().position(|other| *other == column).expect("it is one of its columns");
        let field = |column: &usize| (slot_of(*column), shared.columns[*column].told);
        Self { predicate: map_slots(predicate, &at), fields: columns.iter().map(field).collect() }
    }

    pub(super) fn fields(&self) -> &[(usize, Option<VirtualColumn>)] {
        &self.fields
    }

    /// Whether it holds for a record from there, whose fields these are. `first` is the column of `origin` that tells its
    /// first field.
    pub(super) fn holds(
        &self,
        origin: &mut Origin,
        first: usize,
        record: &[Field<'_>],
        mismatches: &mut Mismatches,
    ) -> bool {
        let Origin { place, record: joined, .. } = origin;
        // A path is one of the fields only once, and there is one of the whole record.
        let is_whole = |(_, told): &&(usize, Option<VirtualColumn>)| *told == Some(VirtualColumn::Record);
        let whole = self.fields.iter().find(is_whole).map(|(slot, _)| joined.of(record[*slot]));
        let fields = self.fields.iter().enumerate().map(|(index, (slot, told))| match (told, whole) {
            (Some(VirtualColumn::Record), Some(whole)) => whole,
            _ => place.told(record[*slot], first + index, *told),
        });
        self.predicate.eval(&fields.collect::<Vec<_>>(), mismatches) == Some(true)
    }
}
