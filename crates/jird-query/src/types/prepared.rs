//! A table of a query: what is known before the scan, and what its scans have seen.

use crate::input::{Input, StorePart};
use crate::output::report::{Report, quoted};
use crate::scan::{ColumnSpec, ScanOptions, TableScan, Tally, VirtualColumn, Watch};
use crate::sql::{Rep, SourceUse};
use crate::types::infer::{self, Types};
use arrow_schema::{Schema, SchemaRef};
use jird::Path;
use jird::lines::Check;
use jird_formats::ColumnType;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// A table, with everything that is known of it.
pub(crate) struct Source<'q> {
    pub(crate) used: &'q SourceUse,
    pub(crate) input: Input,
    pub(crate) types: Types,
    pub(crate) shared: Arc<TableScan>,
    pub(crate) schema: SchemaRef,
}

impl<'q> Source<'q> {
    /// A table whose fields have these types. Its scans also observe the types of the fields in `watch`.
    pub(crate) fn new(
        used: &'q SourceUse,
        input: Input,
        types: Types,
        options: ScanOptions,
        watch: Option<Watch>,
    ) -> Self {
        let spec = |path: &Path, rep| ColumnSpec {
            path: path.clone(),
            rep,
            kind: types.column_type(path, used),
            told: VirtualColumn::of(path, &input),
        };
        let mut columns: Vec<_> = used.columns.iter().map(|(path, rep)| spec(path, *rep)).collect();
        // A value that does not fit the schema makes its record bad, also if the query does not use the field.
        let mut checked = Vec::new();
        if options.lines.check == Check::All {
            for (path, _) in types.fixed.all().filter(|(_, kind)| *kind != ColumnType::Json) {
                let known = columns.iter().position(|column| column.path == *path && column.rep == Rep::Typed);
                checked.push(known.unwrap_or_else(|| {
                    columns.push(spec(path, Rep::Typed));
                    columns.len() - 1
                }));
            }
        }
        columns.push(ColumnSpec { path: Path::default(), rep: Rep::Place, kind: ColumnType::Int64, told: None });
        let field = |column: &ColumnSpec| {
            let is_text = !column.rep.is_inferred() && column.rep != Rep::Place;
            let kind = if is_text { ColumnType::Json } else { column.kind };
            kind.field(column.rep.column(&column.path.to_string()))
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let tally = Tally { seen: columns.iter().map(|_| AtomicBool::new(false)).collect(), ..Tally::default() };
        let shared = Arc::new(TableScan {
            #[cfg(feature = "cluster")]
            table: used.table.clone(),
            columns,
            checked,
            options,
            ordered: AtomicBool::new(false),
            is_once: !input.is_rereadable(),
            part: StorePart::all(),
            is_anywhere: input.is_anywhere(),
            noted: Arc::clone(&input.noted),
            misfits_noted: AtomicBool::new(false),
            tally,
            watch,
        });
        Self { used, input, types, shared, schema }
    }

    /// Whether the rows of this table come in the order of the values of a column.
    pub(crate) fn is_in_order_of(&self, column: &str) -> bool {
        let known = |spec: &ColumnSpec| spec.rep.column(&spec.path.to_string()) == column && spec.rep != Rep::Key;
        let spec = self.shared.columns.iter().find(|spec| known(spec));
        spec.is_some_and(|spec| self.input.is_ordered_by(&spec.path))
    }

    /// The path of a column of numbers, if this table is one store, whose types are known.
    pub(crate) fn number_in_store(&self, column: &str) -> Option<Path> {
        let is_number = |spec: &&ColumnSpec| {
            let has_type = matches!(spec.kind, ColumnType::Int64 | ColumnType::Float64);
            has_type && matches!(spec.rep, Rep::Typed | Rep::Group) && spec.rep.column(&spec.path.to_string()) == column
        };
        let is_store = self.input.files.len() == 1 && self.input.stores().count() == 1 && self.shared.watch.is_none();
        self.shared.columns.iter().find(is_number).filter(|_| is_store).map(|spec| spec.path.clone())
    }

    /// Whether all records have the types that this table was made with.
    pub(crate) fn guessed_right(&self) -> bool {
        self.seen().is_some_and(|seen| {
            let types = |types: &Types| types.fields.iter().map(|(_, field)| field.column_type()).collect::<Vec<_>>();
            types(&seen) == types(&self.types)
        })
    }

    /// The types of all records, if the scans saw every record.
    pub(crate) fn seen(&self) -> Option<Types> {
        self.shared.watch.as_ref()?.all().map(|fields| self.types.seen(fields))
    }

    /// The kinds of value that the field has which the SQL writes like this, for people.
    pub(crate) fn met(&self, written: &str) -> Option<String> {
        let need = self.used.needs.iter().find(|need| need.written == written)?;
        self.types.met(&self.input, &need.path)
    }

    pub(crate) fn report_types(&self, report: &mut Report) {
        report.widened.extend(self.types.widened(&self.input, self.used));
        report.inferred |= !self.types.fields.is_empty();
    }

    /// Describes what is read, and what the scan decides.
    pub(crate) fn explain(&self, text: &mut String) {
        use std::fmt::Write;
        let files = &self.input.files;
        let mut names: Vec<_> = files.iter().map(|file| file.path.display().to_string()).collect();
        if self.input.left_out > 0 {
            names.push(format!("{} more are ruled out by their folders", self.input.left_out));
        }
        let list = |items: Vec<String>| if items.is_empty() { "nothing".to_owned() } else { items.join("; ") };
        let read = taken(&self.shared.tally.columns);
        let columns = self.shared.columns.iter().enumerate().filter(|(index, _)| read.contains(index));
        let columns = columns.map(|(_, column)| {
            let how = match column.rep {
                Rep::Place => return "the place of each record".to_owned(),
                Rep::Raw | Rep::Json => "as it stands".to_owned(),
                Rep::Key => "by its value".to_owned(),
                Rep::Typed | Rep::Group if self.shared.watch.is_some() => {
                    format!("{} by the first records", column.kind)
                }
                Rep::Typed | Rep::Group => column.kind.to_string(),
            };
            if column.path.steps().is_empty() {
                format!("the record {how}")
            } else {
                format!("{:#} {how}", column.path)
            }
        });
        let order = if self.shared.ordered.load(Relaxed) { "in the input's order" } else { "in any order" };
        let threads = if self.shared.options.threads == 1 { "thread" } else { "threads" };
        let _ = write!(
            text,
            "{}\n  files    {}\n  reads    {}\n  decides  {}\n  searches {}\n  rows     {order}, on {} {threads}\n",
            self.used.table,
            list(names),
            list(columns.collect()),
            list(taken(&self.shared.tally.pushed)),
            list(quoted(&taken(&self.shared.tally.literals))),
            self.shared.options.threads,
        );
        let part = &self.shared.part;
        for (_, store) in self.input.stores() {
            for choice in taken(&self.shared.tally.choices) {
                let condition = choice.as_ref().map(|(condition, paths)| (condition, &paths[..]));
                let foreseen = store.foreseen(&store.choose(condition, part, self.shared.tells_lines()));
                let first = match (part.newest_bytes() < store.bytes(), part.oldest_bytes()) {
                    (false, _) => "",
                    (true, 0) => " at first, of the newest events",
                    (true, _) => " at first, of the newest and the oldest events",
                };
                let _ = writeln!(text, "  blocks   {foreseen}{first}");
            }
        }
    }

    pub(crate) fn report(&self, report: &mut Report) {
        let tally = &self.shared.tally;
        report.files_left_out += self.input.left_out + tally.left_out();
        report.records += tally.records.load(Relaxed);
        report.touched += tally.touched.load(Relaxed);
        report.bytes += tally.bytes.load(Relaxed);
        report.searched_bytes += tally.searched_bytes.load(Relaxed);
        report.unsearched_bytes += tally.unsearched_bytes.load(Relaxed);
        report.mismatches += tally.mismatches.load(Relaxed);
        for (all, more) in [(&mut report.pushed, taken(&tally.pushed)), (&mut report.literals, taken(&tally.literals))]
        {
            for text in more {
                if !all.contains(&text) {
                    all.push(text);
                }
            }
        }
        report.fields.extend(taken(&tally.read));
        for (file, store) in self.input.stores() {
            report.add_store(file.path.display().to_string(), store.reads());
        }
    }

    /// Notes on the names that no record has, if all records were read: most of them are typing errors.
    pub(crate) fn absent(&self, options: &ScanOptions) -> Vec<String> {
        let tally = &self.shared.tally;
        let records = tally.records.load(Relaxed);
        let mut notes = Vec::new();
        if tally.stopped.load(Relaxed) || records == 0 {
            return notes;
        }
        for (path, written) in &self.used.named {
            let seen = self.shared.columns.iter().zip(&tally.seen);
            let was_seen = seen.filter(|(column, _)| column.path == *path).any(|(_, seen)| seen.load(Relaxed));
            let occurs = was_seen
                || VirtualColumn::of(path, &self.input).is_some()
                || match self.types.of(path) {
                    Some(seen) => seen.is_present(),
                    // The scan did not look at records that a condition excluded, so they are read again. This happens
                    // only for rare names.
                    None if self.input.is_rereadable() => {
                        // The answer is complete: an error further on in the file does not change it.
                        infer::occurs(&self.input, path, options).unwrap_or(true)
                    }
                    None => !taken(&tally.pushed).is_empty(),
                };
            if !occurs {
                let near = if self.input.is_rereadable() { infer::near(&self.input, path, options) } else { None };
                let near = near.map_or_else(
                    || " (names are case-sensitive)".to_owned(),
                    |near| format!("; did you mean `{near}`?"),
                );
                notes.push(format!("no record has `{written}`{near}"));
            }
        }
        notes
    }
}

/// A copy of the list.
fn taken<T: Clone>(list: &Mutex<Vec<T>>) -> Vec<T> {
    list.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
