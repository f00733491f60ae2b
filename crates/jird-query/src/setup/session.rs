//! The DataFusion session of a query.

use crate::base::error::Error;
use crate::base::interrupt::Interrupt;
use crate::functions::{CheckedPlanner, aggregate_functions, scalar_functions};
use crate::guard::{Guard, GuardCalls, Memory, constant_bytes};
use crate::plan::filters::FiltersIntoScans;
use crate::plan::rounded::RoundCasts;
use crate::plan::sorted::SortWithin;
use crate::setup::disk::disk;
use crate::setup::options::BATCH_ROWS;
use crate::setup::spill::Spill;
use arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::DataFusionError;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::SessionStateDefaults;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::expr::WindowFunctionParams;
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, WindowFrameBound, WindowFrameUnits,
};
use datafusion::prelude::{SessionConfig, SessionContext};
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

/// A partition has at least this many bytes of a file.
const RANGE_BYTES_MIN: usize = 1 << 20;

/// A sort keeps this share of the memory free, for merging what it has put aside, and at most what DataFusion keeps.
const MERGING_SHARE: usize = 32;
const MERGING_BYTES: usize = 10 << 20;

/// Creates a session with our functions and without tables, whose calls are guarded. If its memory is limited, sorts and
/// groups put aside on disk what they may, and nothing if that is not given.
pub(crate) fn session(
    range_bytes_min: Option<usize>,
    memory_max: Option<usize>,
    spill: Option<&Spill>,
    interrupt: &Interrupt,
) -> Result<SessionContext, Error> {
    let mut config = SessionConfig::new().with_batch_size(BATCH_ROWS).with_target_partitions(1);
    let options = config.options_mut();
    options.sql_parser.enable_ident_normalization = false;
    options.sql_parser.map_string_types_to_utf8view = false;
    // It refuses filters of aggregates whose columns it has named in two ways.
    options.execution.skip_physical_aggregate_schema_check = true;
    options.optimizer.repartition_file_min_size = range_bytes_min.unwrap_or(RANGE_BYTES_MIN);
    if let Some(bytes) = memory_max {
        options.execution.sort_spill_reservation_bytes = MERGING_BYTES.min(bytes / MERGING_SHARE);
    }
    let mut builder = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_physical_optimizer_rules(FiltersIntoScans::rules());
    if let Some(bytes) = memory_max {
        let (pool, disk): (Arc<dyn MemoryPool>, _) = if let Some(spill) = spill {
            (Arc::new(FairSpillPool::new(bytes)), disk(spill))
        } else {
            let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
            (Arc::new(GreedyMemoryPool::new(bytes)), disk)
        };
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).with_disk_manager_builder(disk).build_arc();
        builder = builder.with_runtime_env(runtime.map_err(|error| Error::of(&error))?);
    }
    let mut state = builder.build();
    for function in scalar_functions() {
        state.register_udf(Arc::new(function)).map_err(|error| Error::of(&error))?;
    }
    for function in aggregate_functions() {
        state.register_udaf(Arc::new(function)).map_err(|error| Error::of(&error))?;
    }
    state.register_expr_planner(Arc::new(CheckedPlanner)).map_err(|error| Error::of(&error))?;
    // Only a user's own query may put rows aside: its calls take the time and the memory that they need.
    let is_of_others = memory_max.is_some() && spill.is_none();
    let memory = Arc::new(Memory::new(&state.runtime_env().memory_pool, is_of_others));
    let guard = Guard { memory, interrupt: interrupt.clone() };
    state.add_analyzer_rule(Arc::new(RoundCasts));
    state.add_analyzer_rule(Arc::new(SortWithin));
    state.add_analyzer_rule(Arc::new(GuardCalls(guard.clone())));
    state.config_mut().set_extension(Arc::new(guard));
    Ok(SessionContext::new_with_state(state))
}

/// The memory of a session's values.
pub(crate) fn memory(state: &SessionState) -> Arc<Memory> {
    let guard = state.config().get_extension::<Guard>();
    // The session of a cluster has none.
    let none = || Arc::new(Memory::new(&state.runtime_env().memory_pool, false));
    guard.map_or_else(none, |guard| Arc::clone(&guard.memory))
}

/// How many rows a batch may have, so that columns of a plan's constants stay below some size, and below a quarter of
/// the query's memory: most operators and functions make a column of a constant.
pub(crate) fn batch_rows(plan: &LogicalPlan, memory_max: Option<usize>) -> Result<usize, DataFusionError> {
    /// What all columns of constants may take.
    const CONSTANTS_BYTES: usize = 64 << 20;
    let mut bytes = 0_usize;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                match expr {
                    Expr::Literal(value, _) => bytes = bytes.saturating_add(constant_bytes(value)),
                    // Such a list is there once.
                    Expr::InList(list) if list.list.iter().all(|value| matches!(value, Expr::Literal(..))) => {
                        return Ok(TreeNodeRecursion::Jump);
                    }
                    _ => (),
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    let bytes_max = memory_max.map_or(CONSTANTS_BYTES, |limit| CONSTANTS_BYTES.min(limit / 4));
    Ok(bytes_max.checked_div(bytes).map_or(BATCH_ROWS, |rows| rows.clamp(1, BATCH_ROWS)))
}

/// Whether a function of this name is an aggregate.
pub(crate) fn is_aggregate(name: &str) -> bool {
    aggregate_names().contains(name)
}

/// The names of all aggregates.
pub(crate) fn aggregate_names() -> &'static HashSet<String> {
    static NAMES: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let ours = aggregate_functions().into_iter().map(Arc::new);
        let all = SessionStateDefaults::default_aggregate_functions().into_iter().chain(ours);
        all.flat_map(|function| [&[function.name().to_owned()], function.aliases()].concat()).collect()
    });
    &NAMES
}

/// How many times a plan scans a table.
pub(crate) fn scans(plan: &LogicalPlan, table: &str) -> usize {
    let mut scans = 0;
    let walked = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && scan.table_name.table() == table
        {
            scans += 1;
        }
        Ok(TreeNodeRecursion::Continue)
    });
    debug_assert!(walked.is_ok(), "the visitor never fails");
    scans
}

/// Refuses a range of values that have no distance, such as texts. DataFusion would take each for a range of its own.
fn check_range(window: &WindowFunctionParams, schema: &DFSchema) -> datafusion::error::Result<()> {
    let frame = &window.window_frame;
    let is_offset = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(width) | WindowFrameBound::Following(width) => !width.is_null(),
        WindowFrameBound::CurrentRow => false,
    };
    let has_offset = is_offset(&frame.start_bound) || is_offset(&frame.end_bound);
    let kind = window.order_by.first().map(|key| key.expr.get_type(schema)).transpose()?;
    let has_distance = |kind: &DataType| kind.is_numeric() || kind.is_temporal() || kind.is_null();
    if frame.units == WindowFrameUnits::Range && has_offset && !kind.is_none_or(|kind| has_distance(&kind)) {
        let message = "a window over a range of values needs numbers or times to order by: use number() or timestamp()";
        return Err(Error::sql(message).into());
    }
    Ok(())
}

/// Refuses comparisons between a computed text and a computed number. DataFusion would compare them by casting the
/// text.
pub(crate) fn check_comparisons(plan: &LogicalPlan) -> datafusion::error::Result<()> {
    plan.apply_with_subqueries(|node| {
        let mut schema = DFSchema::empty();
        for input in node.inputs() {
            schema.merge(input.schema());
        }
        for expr in node.expressions() {
            expr.apply(|expr| {
                if let Expr::WindowFunction(window) = expr {
                    check_range(&window.params, &schema)?;
                }
                let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else {
                    return Ok(TreeNodeRecursion::Continue);
                };
                // If the type of a side is unknown, such as the type of another query's column, DataFusion decides.
                if let (true, Ok(left_type), Ok(right_type)) =
                    (is_comparison(*op), left.get_type(&schema), right.get_type(&schema))
                    && (left_type.is_string() && right_type.is_numeric()
                        || left_type.is_numeric() && right_type.is_string())
                {
                    let message =
                        "a computed text is compared with a number: use number() on a field, or cast one side";
                    return Err(Error::sql(message).into());
                }
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .map(|_| ())
}

fn is_comparison(op: Operator) -> bool {
    matches!(op, Operator::Eq | Operator::NotEq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq)
}
