//! The file source: what DataFusion asks of a scan, and our answers.

use super::opener::NdjsonOpener;
use super::{pushdown, window};
use crate::scan::batches::Plan;
use crate::scan::codes::Codes;
use crate::scan::shared::{TableScan, note};
use crate::sql::each_slot;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, LambdaExpr};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use datafusion_datasource::TableSchema;
use datafusion_datasource::file::FileSource;
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::file_stream::FileOpener;
use datafusion_datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion_datasource::source::DataSourceExec;
use jird::record::Predicate;
use object_store::ObjectStore;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Notes which columns the scans of a plan read, and which literals they search for.
pub(crate) fn note_scans(plan: &Arc<dyn ExecutionPlan>) -> Result<()> {
    let visit = |node: &Arc<dyn ExecutionPlan>| {
        let scan = node.downcast_ref::<DataSourceExec>();
        if let Some((_, source)) = scan.and_then(DataSourceExec::downcast_to_file_source::<NdjsonSource>) {
            note(&source.shared.tally.columns, source.columns());
            note(&source.shared.tally.literals, source.shared.literals(source.filter.as_ref()));
            source.plan()?.note_choice();
        }
        Ok(TreeNodeRecursion::Continue)
    };
    plan.apply(visit).map(|_| ())
}

/// Our [`FileSource`].
#[derive(Clone)]
pub(crate) struct NdjsonSource {
    pub(crate) shared: Arc<TableScan>,
    schema: TableSchema,
    projection: SplitProjection,
    /// The slots are columns of the table.
    filter: Option<Predicate>,
    pub(crate) filters: Vec<Arc<dyn PhysicalExpr>>,
    /// Conditions on times, which rule out blocks of a store. The slots are columns of the table.
    windows: Vec<Predicate>,
    /// The columns of the table that it hands out as codes.
    codes: Vec<(usize, Arc<Codes>)>,
    pub(crate) batch_rows: usize,
    /// Whether this scan notes records that are not JSON, and those that do not fit a schema.
    pub(crate) notes: (bool, bool),
    metrics: ExecutionPlanMetricsSet,
}

impl NdjsonSource {
    pub(crate) fn new(shared: Arc<TableScan>, schema: TableSchema) -> Self {
        let projection = SplitProjection::unprojected(&schema);
        let metrics = ExecutionPlanMetricsSet::new();
        let notes = shared.notes();
        Self {
            shared,
            schema,
            projection,
            filter: None,
            filters: Vec::new(),
            windows: Vec::new(),
            codes: Vec::new(),
            batch_rows: 8192,
            notes,
            metrics,
        }
    }

    /// Evaluates a condition from now on, if it can.
    pub(crate) fn take(&mut self, filter: Arc<dyn PhysicalExpr>) -> bool {
        let Some(predicate) = pushdown::predicate(&filter, &self.shared) else { return false };
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

    /// The column of the table that this source hands out in this place, as it is, if it computes nothing else with it.
    pub(crate) fn column(&self, place: usize) -> Option<usize> {
        let projected = self.projection.source.iter().nth(place)?;
        let column = projected.expr.downcast_ref::<Column>()?.index();
        let uses = |expr: &Arc<dyn PhysicalExpr>| collect_columns(expr).iter().any(|used| used.index() == column);
        let count = self.projection.source.iter().filter(|projected| uses(&projected.expr)).count();
        (count == 1).then_some(column)
    }

    /// The same source, which hands out codes in place of the texts of these columns of the table.
    pub(crate) fn with_codes(&self, codes: Vec<(usize, Arc<Codes>)>) -> Self {
        let is_coded = |column: usize| codes.iter().any(|(coded, _)| *coded == column);
        let fields = self.schema.file_schema().fields().iter().enumerate().map(|(column, field)| {
            if is_coded(column) { Field::new(field.name(), DataType::Int32, true).into() } else { Arc::clone(field) }
        });
        let schema = TableSchema::from(Arc::new(Schema::new(fields.collect::<Vec<_>>())));
        Self { schema, codes, ..self.clone() }
    }

    /// The columns that this source hands out, and those that its filter uses.
    fn columns(&self) -> Vec<usize> {
        let mut columns = self.projection.file_indices.clone();
        if let Some(filter) = &self.filter {
            each_slot(filter, &mut |column| columns.push(column));
        }
        columns
    }

    /// The scan of a file.
    fn plan(&self) -> Result<Plan> {
        let columns = &self.projection.file_indices;
        let schema = Arc::new(self.schema.file_schema().project(columns)?);
        let plan = Plan::new(&self.shared, columns, self.filter.as_ref(), schema, self.batch_rows, self.notes);
        Ok(plan.within(&self.windows).with_codes(&self.codes))
    }
}

impl FileSource for NdjsonSource {
    fn create_file_opener(
        &self,
        _store: Arc<dyn ObjectStore>,
        _config: &FileScanConfig,
        _partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let opener: Arc<dyn FileOpener> = Arc::new(NdjsonOpener::new(self.plan()?));
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
        // Its parameters would be taken for columns of the file.
        if merged.iter().any(|projected| has_lambda(&projected.expr)) {
            return Ok(None);
        }
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
            if source.take(Arc::clone(&filter)) {
                return PushedDown::Yes;
            }
            window::windows(&filter, &self.shared, &mut source.windows);
            PushedDown::No
        };
        let answers: Vec<_> = filters.into_iter().map(take).collect();
        let pushed = answers.iter().any(|answer| matches!(answer, PushedDown::Yes));
        let pushed = pushed || !source.windows.is_empty();
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

/// Whether an expression calls a lambda.
pub(crate) fn has_lambda(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.downcast_ref::<LambdaExpr>().is_some() || expr.children().into_iter().any(has_lambda)
}
