//! The file source: what DataFusion asks of a scan, and our answers.

use super::opener::{NdjsonOpener, Plan};
use super::{ScanOptions, Watch, pushdown};
use crate::input::{Input, InputFile};
use crate::sql::{Rep, each_slot};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use datafusion_datasource::TableSchema;
use datafusion_datasource::file::FileSource;
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::file_stream::FileOpener;
use datafusion_datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion_datasource::source::DataSourceExec;
use jird::lines::Scanned;
use jird::{
    Path,
    record::{Field, Predicate, Projection},
};
use jird_formats::ColumnType;
use object_store::ObjectStore;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// A column of a table: a field in one representation.
#[derive(Clone, Debug)]
pub(crate) struct ColumnSpec {
    pub(crate) path: Path,
    pub(crate) rep: Rep,
    /// The column's type, if the representation is inferred.
    pub(crate) kind: ColumnType,
    /// What the column tells beside what is in the records.
    pub(crate) told: Option<Told>,
}

/// A message shows this many characters of a value.
const SHOWN: usize = 60;

/// What a column tells that is not in the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// `_file`: the name of its file, of a record without such a field.
    File,
    /// `_line`: the number of its line, of a record without such a field.
    Line,
    /// A field that all records of some files have because of their folders.
    Folder,
    /// The whole record, with all such fields.
    Record,
}

impl Told {
    /// What a field of an input tells.
    pub(crate) fn of(path: &Path, input: &Input) -> Option<Self> {
        if input.is_of_folders(path) {
            return Some(Self::Folder);
        }
        if path.steps().is_empty() && !input.folder_keys().is_empty() {
            return Some(Self::Record);
        }
        Self::of_any(path)
    }

    /// What a field of any input tells.
    pub(crate) fn of_any(path: &Path) -> Option<Self> {
        match path.to_string().as_str() {
            "/_file" => Some(Self::File),
            "/_line" => Some(Self::Line),
            _ => None,
        }
    }

    /// The type of the column if no record has the field.
    pub(crate) fn kind(self) -> ColumnType {
        match self {
            Self::File => ColumnType::Text,
            Self::Line => ColumnType::Int64,
            Self::Folder | Self::Record => ColumnType::Json,
        }
    }
}

impl ColumnSpec {
    /// The message for a record whose value does not fit the column.
    #[cold]
    pub(crate) fn unfit(&self, field: Field<'_>) -> String {
        let mut value: String = field.raw().chars().take(SHOWN).collect();
        if value.len() < field.raw().len() {
            value.push('…');
        }
        format!("{:#} is {value}, which is no {}", self.path, self.kind)
    }
}

/// The state that all scans of a table share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The name of the table.
    #[cfg(feature = "cluster")]
    pub(crate) table: String,
    pub(crate) columns: Vec<ColumnSpec>,
    /// The columns whose types are fixed by a schema: every record is checked for them.
    pub(crate) checked: Vec<usize>,
    pub(crate) options: ScanOptions,
    /// Whether the scan keeps the input's order and runs its own threads. Otherwise DataFusion cuts files into ranges.
    pub(crate) ordered: AtomicBool,
    /// Whether the input can be read only once.
    pub(crate) is_once: bool,
    /// Of stores, only blocks of about this many bytes are read, those of the newest events.
    pub(crate) newest_bytes: AtomicU64,
    /// Whether the files can be cut into ranges.
    pub(crate) is_anywhere: bool,
    /// Whether a scan already notes the bad records. The first scan does.
    pub(crate) noted: Arc<AtomicBool>,
    /// The same for records that do not fit a schema.
    pub(crate) misfits_noted: AtomicBool,
    pub(crate) tally: Tally,
    /// The watch on types, if they were guessed.
    pub(crate) watch: Option<Watch>,
}

/// What the scans of a table have seen so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) records: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) mismatches: AtomicU64,
    /// The number of records that were tokenised.
    pub(crate) touched: AtomicU64,
    /// The number of bytes that were searched for literals, and the number for which the search was switched off.
    pub(crate) searched_bytes: AtomicU64,
    pub(crate) unsearched_bytes: AtomicU64,
    /// Whether a scan was stopped before its end.
    pub(crate) stopped: AtomicBool,
    /// For each column: whether a record that was handed out had its field.
    pub(crate) seen: Vec<AtomicBool>,
    /// The predicates that the scan evaluates, as they were written.
    pub(crate) pushed: Mutex<Vec<String>>,
    /// The paths that were read.
    pub(crate) read: Mutex<Vec<String>>,
    /// The columns that the scans of the plan read.
    pub(crate) columns: Mutex<Vec<usize>>,
    /// Of files whose folders have keys: whether any scan has read them, or all have left them out.
    pub(crate) keyed: Mutex<HashMap<usize, bool>>,
    /// The literals that are searched for before records are read.
    pub(crate) literals: Mutex<Vec<String>>,
    /// How many lines the ranges of files have, each by its file and its start, if lines are counted.
    #[cfg(feature = "cluster")]
    pub(crate) lines: Mutex<Vec<(usize, u64, u64)>>,
}

impl Shared {
    /// Whether the numbers of lines are wanted. The lines of a file are then counted from its start, by one thread.
    pub(crate) fn tells_lines(&self) -> bool {
        self.columns.iter().any(|column| column.told == Some(Told::Line))
    }
}

impl Tally {
    /// Notes that a scan reads a file whose folders have keys, or leaves it out.
    pub(crate) fn note_file(&self, file: &InputFile, is_read: bool) {
        if file.has_keys() {
            let mut keyed = self.keyed.lock().unwrap_or_else(PoisonError::into_inner);
            *keyed.entry(file.index).or_default() |= is_read;
        }
    }

    /// How many files all scans have left out.
    pub(crate) fn left_out(&self) -> usize {
        let keyed = self.keyed.lock().unwrap_or_else(PoisonError::into_inner);
        keyed.values().filter(|is_read| !**is_read).count()
    }

    /// Adds the counts of a scan.
    pub(crate) fn add(&self, bytes: u64, scanned: &Scanned) {
        for (sum, more) in [
            (&self.records, scanned.records),
            (&self.bytes, bytes),
            (&self.mismatches, scanned.mismatches.kinds),
            (&self.touched, scanned.touched),
            (&self.searched_bytes, scanned.searched_bytes),
            (&self.unsearched_bytes, scanned.unsearched_bytes),
        ] {
            sum.fetch_add(more, Relaxed);
        }
    }
}

/// Adds the items that the list does not have yet.
pub(crate) fn note<T: PartialEq>(list: &Mutex<Vec<T>>, more: Vec<T>) {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

/// Notes which columns the scans of a plan read, and which literals they search for.
pub(crate) fn note_scans(plan: &Arc<dyn ExecutionPlan>) -> Result<()> {
    let visit = |node: &Arc<dyn ExecutionPlan>| {
        let scan = node.downcast_ref::<DataSourceExec>();
        if let Some((_, source)) = scan.and_then(DataSourceExec::downcast_to_file_source::<NdjsonSource>) {
            note(&source.shared.tally.columns, source.columns());
            note(&source.shared.tally.literals, source.literals());
        }
        Ok(TreeNodeRecursion::Continue)
    };
    plan.apply(visit).map(|_| ())
}

/// Our [`FileSource`].
#[derive(Clone)]
pub(crate) struct NdjsonSource {
    pub(crate) shared: Arc<Shared>,
    schema: TableSchema,
    projection: SplitProjection,
    /// The slots are columns of the table.
    filter: Option<Predicate>,
    pub(crate) filters: Vec<Arc<dyn PhysicalExpr>>,
    /// Conditions on the keys of folders, which rule out files. The slots are columns of the table.
    folders: Vec<Predicate>,
    pub(crate) batch_rows: usize,
    /// Whether this scan notes records that are not JSON, and those that do not fit a schema.
    pub(crate) notes: (bool, bool),
    metrics: ExecutionPlanMetricsSet,
}

impl NdjsonSource {
    pub(crate) fn new(shared: Arc<Shared>, schema: TableSchema) -> Self {
        let projection = SplitProjection::unprojected(&schema);
        let metrics = ExecutionPlanMetricsSet::new();
        let notes = (!shared.noted.swap(true, Relaxed), !shared.misfits_noted.swap(true, Relaxed));
        Self {
            shared,
            schema,
            projection,
            filter: None,
            filters: Vec::new(),
            folders: Vec::new(),
            batch_rows: 8192,
            notes,
            metrics,
        }
    }

    /// Evaluates a condition from now on, if it can.
    pub(crate) fn take(&mut self, filter: Arc<dyn PhysicalExpr>) -> bool {
        let Some(predicate) = pushdown::predicate(&filter, &self.shared, None) else { return false };
        self.filter = Some(match self.filter.take() {
            None => predicate,
            Some(Predicate::And(mut all)) => {
                all.push(predicate);
                Predicate::And(all)
            }
            Some(other) => Predicate::And(vec![other, predicate]),
        });
        note(&self.shared.tally.pushed, pushdown::texts(&filter));
        self.filters.push(filter);
        true
    }

    /// The columns that this source hands out, and those that its filter uses.
    fn columns(&self) -> Vec<usize> {
        let mut columns = self.projection.file_indices.clone();
        if let Some(filter) = &self.filter {
            each_slot(filter, &mut |column| columns.push(column));
        }
        columns
    }

    /// A matching record must have at least one of these literals. If types are watched or checked, every record is
    /// tokenised and nothing is searched for.
    fn literals(&self) -> Vec<String> {
        if self.shared.watch.is_some() || !self.shared.checked.is_empty() {
            return Vec::new();
        }
        let paths: Vec<_> = self.shared.columns.iter().map(|column| column.path.clone()).collect();
        self.filter.as_ref().map_or_else(Vec::new, |filter| filter.literals(&Projection::new(&paths)))
    }
}

impl FileSource for NdjsonSource {
    fn create_file_opener(
        &self,
        _store: Arc<dyn ObjectStore>,
        _config: &FileScanConfig,
        _partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let schema = Arc::new(self.schema.file_schema().project(&self.projection.file_indices)?);
        let columns = &self.projection.file_indices;
        let plan = Plan::new(&self.shared, columns, self.filter.as_ref(), schema, self.batch_rows, self.notes)
            .leaving_out(&self.folders);
        let opener: Arc<dyn FileOpener> = Arc::new(NdjsonOpener::new(plan));
        ProjectionOpener::try_new(self.projection.clone(), opener, self.schema.file_schema())
    }

    fn table_schema(&self) -> &TableSchema {
        &self.schema
    }

    fn with_batch_size(&self, batch_rows: usize) -> Arc<dyn FileSource> {
        Arc::new(Self { batch_rows, ..self.clone() })
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        datafusion::physical_expr::utils::conjunction_opt(self.filters.iter().cloned())
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection.source)
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        let merged = self.projection.source.try_merge(projection)?;
        let projection = SplitProjection::new(self.schema.file_schema(), &merged);
        Ok(Some(Arc::new(Self { projection, ..self.clone() })))
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let mut source = self.clone();
        let take = |filter: Arc<dyn PhysicalExpr>| {
            // What rules out files is asked again of the records of the others: their folders may lack the key.
            source.folders.extend(pushdown::predicate(&filter, &self.shared, Some(Told::Folder)));
            if source.take(filter) { PushedDown::Yes } else { PushedDown::No }
        };
        let answers: Vec<_> = filters.into_iter().map(take).collect();
        let pushed = answers.iter().any(|answer| matches!(answer, PushedDown::Yes)) || !source.folders.is_empty();
        let propagation = FilterPushdownPropagation::with_parent_pushdown_result(answers);
        if !pushed {
            return Ok(propagation);
        }
        Ok(propagation.with_updated_node(Arc::new(source)))
    }

    fn supports_repartitioning(&self) -> bool {
        !self.shared.ordered.load(Relaxed) && self.shared.is_anywhere
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &'static str {
        "ndjson"
    }

    fn fmt_extra(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.filters.iter().try_for_each(|filter| write!(f, ", filter={filter}"))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let projected = self.projection.source.iter().map(|projected| &projected.expr);
        for expr in self.filters.iter().chain(projected) {
            if f(expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }
}
