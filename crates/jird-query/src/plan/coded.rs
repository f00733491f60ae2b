//! Groups by few texts or small integers, without a look at the text of any row and without a hash.
//!
//! In goes a plan, out comes one in which an aggregation above a store's scan takes codes of the scan in place
//! of texts ([`Codes`]), and integers as they are: a table says which group a code has, and DataFusion's accumulators do the
//! rest. Each partition hands out the texts of its groups, as that aggregation did, so that nothing above it knows. DataFusion
//! hashes, compares and copies the text of each row: a third of the time of a group by a column of 1.4 million rows. Of
//! integers it takes a fifth.

use crate::plan::node::{Batches, RowNode, RowStep};
use crate::plan::steady::Steady;
use crate::scan::{Codes, ColumnSpec, NdjsonSource};
use crate::sql::Rep;
use crate::types::prepared::Source;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{Int32Type, Int64Type, SchemaRef};
use datafusion::common::hash_utils::RandomState;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{GroupsAccumulatorAdapter, PhysicalExpr};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, evaluate_many};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode, PlanProperties};
use datafusion_datasource::file_scan_config::FileScanConfigBuilder;
use datafusion_datasource::source::DataSourceExec;
use futures::{StreamExt, TryStreamExt, stream};
use jird_formats::ColumnType;
use std::collections::HashMap;
use std::sync::Arc;

/// The same plan, with codes where groups are made of few texts. They take memory of this pool.
pub(crate) fn by_codes(
    plan: Arc<dyn ExecutionPlan>,
    sources: &[Source<'_>],
    pool: &Arc<dyn MemoryPool>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let coded = |node: Arc<dyn ExecutionPlan>| {
        let coded = node.downcast_ref::<AggregateExec>().and_then(|aggregate| coded(aggregate, sources, pool));
        coded.transpose().map(|coded| coded.map_or_else(|| Transformed::no(node), Transformed::yes))
    };
    plan.transform_up(coded).data()
}

/// The step in place of an aggregation; `None` if it is not one of texts that have codes and small integers.
fn coded(
    aggregate: &AggregateExec,
    sources: &[Source<'_>],
    pool: &Arc<dyn MemoryPool>,
) -> Option<Result<Arc<dyn ExecutionPlan>>> {
    let is_plain = matches!(aggregate.mode(), AggregateMode::Partial | AggregateMode::Single)
        && aggregate.group_expr().is_single()
        && !aggregate.group_expr().is_empty()
        && aggregate.limit_options().is_none()
        && *aggregate.input_order_mode() == InputOrderMode::Linear
        && aggregate.required_input_ordering().iter().all(Option::is_none);
    let is_ordered = |expr: &Arc<AggregateFunctionExpr>| !expr.order_bys().is_empty();
    (is_plain && !aggregate.aggr_expr().iter().any(is_ordered)).then_some(())?;
    // Of some aggregates the batches matter.
    let input = aggregate.input();
    let batches = input.downcast_ref::<RowNode<Steady>>().filter(|node| node.step().is_of_batches());
    let scan = batches.map_or(input, |batches| &batches.inputs()[0]).downcast_ref::<DataSourceExec>()?;
    let (config, scanned) = scan.downcast_to_file_source::<NdjsonSource>()?;
    let source = sources.iter().find(|source| Arc::ptr_eq(&source.shared, &scanned.shared))?;
    let keys = aggregate.group_expr().expr().iter().map(|(expr, _)| Some(expr.downcast_ref::<Column>()?.index()));
    let keys: Vec<usize> = keys.collect::<Option<_>>()?;
    let filters = aggregate.filter_expr().iter().flatten().cloned();
    let arguments = aggregate.aggr_expr().iter().flat_map(|expr| expr.expressions());
    let is_key = |column: &Column| keys.contains(&column.index());
    if filters.chain(arguments).any(|expr| collect_columns(&expr).iter().any(is_key)) {
        return None;
    }
    let key = |place: &usize| {
        let column = scanned.column(*place)?;
        let values = match few_values(source, &source.shared.columns[column])? {
            FewValues::Integers => KeyValues::Integers,
            FewValues::Texts => {
                let memory = MemoryConsumer::new("codes").register(pool);
                let take = move |bytes| memory.try_grow(bytes).map_err(|error| error.to_string());
                KeyValues::Texts(Arc::new(Codes::new(take)))
            }
        };
        Some((column, Key { place: *place, values }))
    };
    let keys: Vec<(usize, Key)> = keys.iter().map(key).collect::<Option<_>>()?;
    let codes = keys.iter().filter_map(|(column, key)| match &key.values {
        KeyValues::Texts(codes) => Some((*column, Arc::clone(codes))),
        KeyValues::Integers => None,
    });
    let codes = codes.collect();
    let step = Coded {
        keys: keys.into_iter().map(|(_, key)| key).collect(),
        aggregates: aggregate.aggr_expr().to_vec(),
        filters: aggregate.filter_expr().to_vec(),
        is_whole: *aggregate.mode() == AggregateMode::Single,
        properties: Arc::clone(aggregate.properties()),
    };
    let config = FileScanConfigBuilder::from(config.clone()).with_source(Arc::new(scanned.with_codes(codes))).build();
    let scan: Arc<dyn ExecutionPlan> = DataSourceExec::from_data_source(config);
    let input = batches.map_or(Ok(Arc::clone(&scan)), |batches| RowNode::over(*batches.step(), scan));
    Some(input.and_then(|input| RowNode::over(step, input)))
}

enum FewValues {
    Texts,
    Integers,
}

/// What a column holds, if the store that it is read from has few different values of it.
fn few_values(source: &Source<'_>, column: &ColumnSpec) -> Option<FewValues> {
    let values = match (column.rep, column.kind) {
        (Rep::Typed | Rep::Group, ColumnType::Text) | (Rep::Key, _) => FewValues::Texts,
        (Rep::Typed | Rep::Group, ColumnType::Int64) => FewValues::Integers,
        _ => return None,
    };
    let is_read_at_once = source.shared.watch.is_none() && source.shared.checked.is_empty() && column.told.is_none();
    (is_read_at_once && source.input.has_few_values(&column.path)).then_some(values)
}

/// An aggregation of groups by codes.
#[derive(Clone, Debug)]
struct Coded {
    keys: Vec<Key>,
    aggregates: Vec<Arc<AggregateFunctionExpr>>,
    filters: Vec<Option<Arc<dyn PhysicalExpr>>>,
    /// Whether no other aggregation follows.
    is_whole: bool,
    /// Those of the aggregation of texts.
    properties: Arc<PlanProperties>,
}

/// A column that groups are made by.
#[derive(Clone, Debug)]
struct Key {
    /// Its place in the input.
    place: usize,
    values: KeyValues,
}

#[derive(Clone, Debug)]
enum KeyValues {
    /// The column has codes.
    Texts(Arc<Codes>),
    Integers,
}

impl KeyValues {
    /// The column of these values, which are codes of texts.
    fn column(&self, values: &[Option<i64>]) -> ArrayRef {
        match self {
            Self::Texts(codes) => Arc::new(codes.texts(values)),
            Self::Integers => Arc::new(Int64Array::from(values.to_vec())),
        }
    }
}

impl RowStep for Coded {
    const NAME: &'static str = "GroupByCodes";

    fn text(&self) -> String {
        let names: Vec<_> = self.aggregates.iter().map(|aggregate| aggregate.name()).collect();
        let fields = self.properties.eq_properties.schema().fields();
        let keys: Vec<_> = fields.iter().take(self.keys.len()).map(|field| field.name().as_str()).collect();
        format!("{}: gby=[{}], aggr=[{}]", Self::NAME, keys.join(", "), names.join(", "))
    }

    fn properties(&self, _: &[Arc<dyn ExecutionPlan>]) -> Result<Arc<PlanProperties>> {
        Ok(Arc::clone(&self.properties))
    }

    fn expressions(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        let arguments = self.aggregates.iter().flat_map(|aggregate| aggregate.expressions());
        self.filters.iter().flatten().cloned().chain(arguments).collect()
    }

    fn rows(&self, node: &RowNode<Self>, partition: usize, context: Arc<TaskContext>) -> Result<Batches> {
        let memory = MemoryConsumer::new(format!("{}[{partition}]", Self::NAME)).register(context.memory_pool());
        let (batch_rows, schema) = (context.session_config().batch_size(), Arc::clone(node.columns()));
        let groups = Groups::new(self.clone(), Arc::clone(&schema), memory)?;
        let input = node.input(partition, context)?;
        // Hands out all groups at the end of the input. If the memory is full earlier, it hands out those so far.
        let batches = stream::try_unfold((groups, input), |(mut groups, mut input)| async move {
            while let Some(batch) = input.next().await.transpose()? {
                groups.add(&batch)?;
                match groups.take_memory() {
                    Err(error) if groups.step.is_whole => return Err(error),
                    Err(_) => break,
                    Ok(()) => {}
                }
            }
            let batch = groups.take()?;
            Ok::<_, DataFusionError>(batch.map(|batch| (batch, (groups, input))))
        });
        let parts = batches.map_ok(move |batch: RecordBatch| {
            let starts = (0..batch.num_rows()).step_by(batch_rows.max(1));
            let parts = starts.map(|start| Ok(batch.slice(start, batch_rows.min(batch.num_rows() - start))));
            stream::iter(parts.collect::<Vec<_>>())
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, parts.try_flatten())))
    }
}

/// No group yet.
const NONE: u32 = u32::MAX;

/// The groups of a partition.
struct Groups {
    step: Coded,
    schema: SchemaRef,
    arguments: Vec<Vec<Arc<dyn PhysicalExpr>>>,
    accumulators: Vec<Box<dyn GroupsAccumulator>>,
    levels: Vec<Level>,
    /// The group of each row of a batch.
    of_rows: Vec<usize>,
    memory: MemoryReservation,
}

/// The groups by the keys up to one of them, by those before it.
#[derive(Default)]
struct Level {
    /// For the first key the groups of most values, which are few: that of null, then that of 0, and so on.
    listed: Vec<u32>,
    others: HashMap<(u32, Option<i64>), u32, RandomState>,
    /// For each group the one before, and its value.
    groups: Vec<(u32, Option<i64>)>,
    /// The places in the list of the values of a batch.
    places: Vec<u32>,
}

/// The list has places for values below.
const LISTED: u32 = 1 << 17;
/// The place of a value that the list has no place for.
const NOWHERE: u32 = u32::MAX;

impl Level {
    /// Makes groups of values that are not null.
    fn divide_codes(&mut self, is_first: bool, groups: &mut [usize], codes: &[i32]) {
        let value = |row: usize| Some(i64::from(codes[row]));
        if is_first {
            self.places.clear();
            self.places.extend(codes.iter().map(|code| place(i64::from(*code))));
            self.divide_listed(groups, value);
        } else {
            self.divide(groups, value);
        }
    }

    fn divide_integers(&mut self, is_first: bool, groups: &mut [usize], values: &Int64Array) {
        let (nulls, integers) = (values.nulls().filter(|_| values.null_count() > 0), values.values());
        let value = |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row)).then(|| integers[row]);
        if !is_first {
            return self.divide(groups, value);
        }
        self.places.clear();
        self.places.extend(integers.iter().map(|value| place(*value)));
        if let Some(nulls) = nulls {
            // Without a branch, which would often be guessed wrong.
            for (place, is_valid) in self.places.iter_mut().zip(nulls.inner().iter()) {
                *place &= u32::from(is_valid).wrapping_neg();
            }
        }
        self.divide_listed(groups, value);
    }

    /// Moves the rows, which are in the one group before the first key, to the groups of their places and values.
    fn divide_listed(&mut self, groups: &mut [usize], value: impl Fn(usize) -> Option<i64>) {
        let places = std::mem::take(&mut self.places);
        for (row, (group, place)) in groups.iter_mut().zip(&places).enumerate() {
            let listed = self.listed.get(*place as usize).copied().filter(|listed| *listed != NONE);
            *group = listed.unwrap_or_else(|| self.listed_anew(*place, value(row))) as usize;
        }
        self.places = places;
    }

    /// The group of a place that has none yet, or of a value without a place.
    #[cold]
    fn listed_anew(&mut self, place: u32, value: Option<i64>) -> u32 {
        let group = self.group(0, value);
        if place != NOWHERE {
            let place = place as usize;
            if place >= self.listed.len() {
                self.listed.resize(place + 1, NONE);
            }
            self.listed[place] = group;
        }
        group
    }

    /// Moves rows from the groups before to those of this level.
    fn divide(&mut self, groups: &mut [usize], value: impl Fn(usize) -> Option<i64>) {
        for (row, group) in groups.iter_mut().enumerate() {
            *group = self.group(*group as u32, value(row)) as usize;
        }
    }

    /// The group of the rows that were in the group `before` and have this value.
    #[inline]
    fn group(&mut self, before: u32, value: Option<i64>) -> u32 {
        let group = self.others.entry((before, value)).or_insert(NONE);
        if *group == NONE {
            *group = self.groups.len() as u32;
            self.groups.push((before, value));
        }
        *group
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.listed[..])
            + size_of_val(&self.groups[..])
            + size_of_val(&self.places[..])
            + self.others.capacity() * size_of::<((u32, Option<i64>), u32)>()
    }
}

/// The place in the list of a value that is not null.
#[inline]
fn place(value: i64) -> u32 {
    if value.cast_unsigned() < u64::from(LISTED) { value as u32 + 1 } else { NOWHERE }
}

/// An accumulator of all groups. Some aggregates have only one for each group, which DataFusion adapts.
fn accumulator(aggregate: &Arc<AggregateFunctionExpr>) -> Result<Box<dyn GroupsAccumulator>> {
    if aggregate.groups_accumulator_supported() {
        return aggregate.create_groups_accumulator();
    }
    let aggregate = Arc::clone(aggregate);
    Ok(Box::new(GroupsAccumulatorAdapter::new(move || aggregate.create_accumulator())))
}

impl Groups {
    fn new(step: Coded, schema: SchemaRef, memory: MemoryReservation) -> Result<Self> {
        let accumulators = step.aggregates.iter().map(accumulator).collect::<Result<_>>()?;
        let arguments = step.aggregates.iter().map(|aggregate| aggregate.expressions()).collect();
        let levels = step.keys.iter().map(|_| Level::default()).collect();
        Ok(Self { step, schema, arguments, accumulators, levels, of_rows: Vec::new(), memory })
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let Self { step, arguments, accumulators, levels, of_rows, .. } = self;
        of_rows.clear();
        of_rows.resize(batch.num_rows(), 0);
        for (number, (key, level)) in step.keys.iter().zip(&mut *levels).enumerate() {
            let (column, is_first) = (batch.column(key.place), number == 0);
            match &key.values {
                KeyValues::Texts(codes) => {
                    let of_batch = column.as_primitive::<Int32Type>().values();
                    codes.check(of_batch).map_err(DataFusionError::ResourcesExhausted)?;
                    level.divide_codes(is_first, of_rows, of_batch);
                }
                KeyValues::Integers => level.divide_integers(is_first, of_rows, column.as_primitive::<Int64Type>()),
            }
        }
        let count = levels.last().map_or(0, |level| level.groups.len());
        let values = evaluate_many(arguments, batch)?;
        for ((accumulator, values), filter) in accumulators.iter_mut().zip(&values).zip(&step.filters) {
            let filter = filter.as_ref().map(|filter| filter.evaluate(batch)?.into_array(batch.num_rows()));
            let filter = filter.transpose()?;
            accumulator.update_batch(values, of_rows, filter.as_ref().map(AsArray::as_boolean), count)?;
        }
        Ok(())
    }

    /// Takes memory for the groups so far.
    fn take_memory(&mut self) -> Result<()> {
        let levels: usize = self.levels.iter().map(Level::bytes).sum();
        let accumulators: usize = self.accumulators.iter().map(|accumulator| accumulator.size()).sum();
        let rows = size_of_val(&self.of_rows[..]);
        self.memory.try_resize(levels + accumulators + rows)
    }

    /// Takes out the groups so far; `None` if there are none.
    fn take(&mut self) -> Result<Option<RecordBatch>> {
        let levels: Vec<Level> = self.levels.iter_mut().map(std::mem::take).collect();
        let count = levels.last().map_or(0, |level| level.groups.len());
        if count == 0 {
            return Ok(None);
        }
        // The values of the last key, then of the one before, and so on.
        let mut groups: Vec<u32> = (0..count as u32).collect();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for (level, key) in levels.iter().zip(&self.step.keys).rev() {
            let of_groups: Vec<_> = groups.iter().map(|group| level.groups[*group as usize].1).collect();
            columns.push(key.values.column(&of_groups));
            groups.iter_mut().for_each(|group| *group = level.groups[*group as usize].0);
        }
        columns.reverse();
        for accumulator in &mut self.accumulators {
            if self.step.is_whole {
                columns.push(accumulator.evaluate(EmitTo::All)?);
            } else {
                columns.extend(accumulator.state(EmitTo::All)?);
            }
        }
        self.memory.free();
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map(Some).map_err(Into::into)
    }
}
