//! Plans as messages: what DataFusion does not know how to send.

use super::alone::Alone;
use super::marked::Marked;
use super::message::{self, PathName, begin, body, of_json, to_json, wrong};
use super::recipe::Recipe;
use crate::base::interrupt::Interrupt;
use crate::functions::{
    JsonArithmetic, Narrow, PredicateUdf, Timestamp, aggregate_functions, operator_functions, scalar_functions,
};
use crate::input::{Described, StorePart};
use crate::plan::node::RowNode;
use crate::plan::steady::Steady;
use crate::scan::bad::BadSink;
use crate::scan::{ColumnSpec, FileHandle, NdjsonSource, ScanOptions, TableScan, Tally, VirtualColumn, Watch};
use crate::setup::options::batch_max;
use crate::sql::{KindOfValues, Rep};
use arrow::datatypes::Schema;
use datafusion::common::tree_node::TreeNode;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{AggregateUDF, HigherOrderUDF, ScalarUDF, WindowUDF};
use datafusion::physical_expr::projection::{ProjectionExpr, ProjectionExprs};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::file::FileSource;
use datafusion_datasource::file_groups::FileGroup;
use datafusion_datasource::file_scan_config::{FileScanConfig, FileScanConfigBuilder};
use datafusion_datasource::source::DataSourceExec;
use datafusion_datasource::{PartitionedFile, TableSchema};
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf;
use jird::lines::{self, Check};
use jird_formats::Crew;
use prost::Message;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Sends our scans, functions and steps. What is not ours is left to another codec.
///
/// All processes must have the same version of this crate: a message of another version is refused in words.
pub struct Codec {
    others: Arc<dyn PhysicalExtensionCodec>,
    threads: usize,
}

impl Codec {
    /// A codec that leaves to `others` what is not ours. A scan whose rows must keep their order is not cut into tasks;
    /// where it is read, it is read by `threads` threads.
    pub fn new(others: Arc<dyn PhysicalExtensionCodec>, threads: usize) -> Self {
        Self { others, threads: threads.max(1) }
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// A step of a plan.
#[derive(Serialize, Deserialize)]
enum Step {
    Scan(Scan),
    Marked,
    Steady(String),
    Alone,
}

/// A step as a message.
#[derive(Clone, PartialEq, Message)]
struct StepMessage {
    /// The [`Step`], as JSON.
    #[prost(string, tag = "1")]
    step: String,
    #[prost(message, optional, tag = "2")]
    schema: Option<protobuf::Schema>,
    #[prost(message, repeated, tag = "3")]
    filters: Vec<protobuf::PhysicalExprNode>,
    #[prost(message, repeated, tag = "4")]
    projection: Vec<protobuf::PhysicalExprNode>,
    #[prost(string, repeated, tag = "5")]
    aliases: Vec<String>,
    #[prost(message, optional, boxed, tag = "6")]
    plan: Option<Box<protobuf::PhysicalPlanNode>>,
}

/// A scan.
#[derive(Serialize, Deserialize)]
struct Scan {
    table: String,
    /// For each column: path, representation, type.
    columns: Vec<(PathName, usize, usize)>,
    checked: Vec<usize>,
    check: u8,
    record_bytes_max: usize,
    chunk_bytes: u64,
    keeps_bad: bool,
    is_ordered: bool,
    is_anywhere: bool,
    watched: Option<Vec<PathName>>,
    files: Vec<Described>,
    /// For each partition, its parts: a file of `files`, and a range of it.
    groups: Vec<Vec<FilePart>>,
    limit: Option<usize>,
    batch_rows: usize,
    notes: (bool, bool),
}

/// The position of a file, and a range of it; without a range, all of it.
type FilePart = (usize, Option<(i64, i64)>);

const CHECKS: [Check; 3] = [Check::All, Check::Touched, Check::Trusted];

impl Scan {
    fn of(config: &FileScanConfig, source: &NdjsonSource) -> Result<Self> {
        let TableScan { columns, checked, options, ordered, is_anywhere, watch, table, .. } = &*source.shared;
        let column = |column: &ColumnSpec| {
            let numbers = (message::number_of_rep(column.rep), message::number_of_kind(column.kind));
            (PathName::of(&column.path), numbers.0, numbers.1)
        };
        let mut files: Vec<Described> = Vec::new();
        let mut groups = Vec::new();
        for group in &config.file_groups {
            let mut parts = Vec::new();
            for part in group.iter() {
                let handle = part.extension::<FileHandle>();
                let file = handle.ok_or_else(|| wrong("a scan of files that jird did not open"))?.describe()?;
                let known = files.iter().position(|known| known.index == file.index);
                let at = known.unwrap_or_else(|| {
                    files.push((*file).clone());
                    files.len() - 1
                });
                parts.push((at, part.range.as_ref().map(|range| (range.start, range.end))));
            }
            groups.push(parts);
        }
        let check = CHECKS.iter().position(|check| *check == options.lines.check).unwrap_or_default();
        Ok(Self {
            table: table.clone(),
            columns: columns.iter().map(column).collect(),
            checked: checked.clone(),
            check: u8::try_from(check).unwrap_or_default(),
            record_bytes_max: options.lines.record_bytes_max,
            chunk_bytes: options.chunk_bytes,
            keeps_bad: options.bad.is_some(),
            is_ordered: ordered.load(Relaxed),
            is_anywhere: *is_anywhere,
            watched: watch.as_ref().map(|watch| watch.paths.iter().map(PathName::of).collect()),
            files,
            groups,
            limit: config.limit,
            batch_rows: source.batch_rows,
            notes: source.notes,
        })
    }

    fn shared(&self, threads: usize) -> Result<TableScan> {
        let column = |(path, rep, kind): &(PathName, usize, usize)| {
            let (path, rep) = (path.path(), message::rep(*rep)?);
            // Files whose folders have keys do not travel.
            let told = if rep == Rep::Place { None } else { VirtualColumn::of_any(&path) };
            Ok(ColumnSpec { path, rep, kind: message::kind(*kind)?, told })
        };
        let columns = self.columns.iter().map(column).collect::<Result<Vec<_>>>()?;
        let check = CHECKS.get(usize::from(self.check)).copied();
        let check = check.ok_or_else(|| wrong("a message names a check that does not exist"))?;
        let lines = lines::Options { check, record_bytes_max: self.record_bytes_max, ..lines::Options::default() };
        let watch = self.watched.as_ref();
        let tally = Tally { seen: columns.iter().map(|_| AtomicBool::new(false)).collect(), ..Tally::default() };
        Ok(TableScan {
            table: self.table.clone(),
            columns,
            checked: self.checked.clone(),
            options: ScanOptions {
                lines,
                threads: if self.is_ordered { threads } else { 1 },
                chunk_bytes: self.chunk_bytes.max(1),
                batch_bytes: batch_max(None, threads).1,
                bad: self.keeps_bad.then(|| BadSink::keeping(self.record_bytes_max)),
                interrupt: Interrupt::default(),
                crew: Crew::default(),
                kept: None,
            },
            ordered: AtomicBool::new(self.is_ordered),
            is_once: false,
            part: StorePart::all(),
            is_anywhere: self.is_anywhere,
            noted: Arc::default(),
            misfits_noted: AtomicBool::new(false),
            tally,
            watch: watch.map(|paths| Watch::elsewhere(paths.iter().map(PathName::path).collect())),
        })
    }

    fn file_groups(&self) -> Result<Vec<FileGroup>> {
        let files: Vec<_> = self.files.iter().map(|file| Arc::new(file.clone())).collect();
        let part = |(file, range): &(usize, Option<(i64, i64)>)| {
            let file = files.get(*file).ok_or_else(|| wrong("a message names a file that it does not have"))?;
            let part = PartitionedFile::new(file.path().to_string_lossy(), file.size.unwrap_or(0));
            let part = match range {
                Some((start, end)) => part.with_range(*start, *end),
                None => part,
            };
            Ok(part.with_extension(FileHandle::described(Arc::clone(file))))
        };
        let group = |parts: &Vec<_>| parts.iter().map(part).collect::<Result<Vec<_>>>().map(FileGroup::new);
        self.groups.iter().map(group).collect()
    }
}

/// A function.
#[derive(Serialize, Deserialize)]
enum Function {
    /// One that has no state, by its name.
    Plain(String),
    /// A predicate: its name in the query, and the query's recipe.
    Predicate(String, String),
    /// One that counts what it leaves out, and how many such calls the query has.
    Numbers(usize),
    Texts(usize),
    Arrays(usize),
    Json(usize),
    Time(usize),
    TimeOfJson(usize),
    Arithmetic,
}

impl Function {
    /// The function, if it is one of ours.
    fn of(function: &ScalarUDF) -> Result<Option<Self>> {
        let inner = function.inner();
        if let Some(predicate) = inner.downcast_ref::<PredicateUdf>() {
            let recipe = predicate.recipe().ok_or_else(|| wrong("a condition without its query"))?;
            return Ok(Some(Self::Predicate(predicate.leaf_name().to_owned(), recipe.to_string())));
        }
        if let Some(narrow) = inner.downcast_ref::<Narrow>() {
            let calls = narrow.left_out().len();
            return Ok(Some(match narrow.to() {
                KindOfValues::Json => Self::Json(calls),
                KindOfValues::Texts => Self::Texts(calls),
                KindOfValues::Arrays => Self::Arrays(calls),
                KindOfValues::Numbers | KindOfValues::Times => Self::Numbers(calls),
            }));
        }
        if let Some(time) = inner.downcast_ref::<Timestamp>() {
            let calls = time.left_out().len();
            return Ok(Some(if time.is_of_json() { Self::TimeOfJson(calls) } else { Self::Time(calls) }));
        }
        if inner.downcast_ref::<JsonArithmetic>().is_some() {
            return Ok(Some(Self::Arithmetic));
        }
        Ok(plain().iter().find(|ours| **ours == *function).map(|ours| Self::Plain(ours.name().to_owned())))
    }

    /// The function, with counters of its own.
    fn function(self) -> Result<ScalarUDF> {
        let left_out = |calls: usize| Arc::new((0..calls).map(|_| AtomicU64::new(0)).collect());
        Ok(match self {
            Self::Plain(name) => {
                let ours = plain().iter().find(|ours| ours.name() == name).cloned();
                return ours.ok_or_else(|| wrong(&format!("a message names a function {name} that does not exist")));
            }
            Self::Predicate(name, recipe) => {
                let leaf = Recipe::leaf(&recipe, &name)?;
                PredicateUdf::new(leaf, Arc::default()).with_recipe(recipe.into()).into()
            }
            Self::Numbers(calls) => Narrow::numbers(left_out(calls)).into(),
            Self::Texts(calls) => Narrow::texts(left_out(calls)).into(),
            Self::Arrays(calls) => Narrow::arrays(left_out(calls)).into(),
            Self::Json(calls) => Narrow::json(left_out(calls)).into(),
            Self::Time(calls) => Timestamp::new(false, left_out(calls)).into(),
            Self::TimeOfJson(calls) => Timestamp::new(true, left_out(calls)).into(),
            Self::Arithmetic => JsonArithmetic::new(Arc::default()).into(),
        })
    }
}

/// Our functions without state. Some messages name a function and tell no more of it, so the processes of a cluster know
/// these by their names.
pub fn functions() -> &'static [ScalarUDF] {
    plain()
}

/// Whether an expression calls a function that only its query's messages describe.
pub(super) fn has_state(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let calls = |part: &Arc<dyn PhysicalExpr>| {
        let call = part.downcast_ref::<ScalarFunctionExpr>();
        let ours = call.and_then(|call| Function::of(call.fun()).transpose());
        Ok(ours.is_some_and(|ours| !matches!(ours, Ok(Function::Plain(_)))))
    };
    expr.exists(calls).unwrap_or(true)
}

fn plain() -> &'static [ScalarUDF] {
    static ALL: OnceLock<Vec<ScalarUDF>> = OnceLock::new();
    ALL.get_or_init(|| scalar_functions().into_iter().chain(operator_functions()).collect())
}

/// Our aggregates; none of them has a state of its own.
fn aggregates() -> &'static [Arc<AggregateUDF>] {
    static ALL: OnceLock<Vec<Arc<AggregateUDF>>> = OnceLock::new();
    ALL.get_or_init(|| aggregate_functions().into_iter().map(Arc::new).collect())
}

fn encoded(step: &Step, buffer: &mut Vec<u8>, fill: impl FnOnce(&mut StepMessage) -> Result<()>) -> Result<()> {
    let mut message = StepMessage { step: to_json(step)?, ..StepMessage::default() };
    fill(&mut message)?;
    begin(buffer);
    message.encode(buffer).map_err(|error| wrong(&format!("cannot write a message: {error}")))
}

impl PhysicalExtensionCodec for Codec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buffer: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        if let Some(marked) = node.downcast_ref::<RowNode<Marked>>() {
            return encoded(&Step::Marked, buffer, |message| {
                message.schema = Some(marked.step().0.as_ref().try_into()?);
                Ok(())
            });
        }
        if let Some(plan) = Alone::plan(&node) {
            return encoded(&Step::Alone, buffer, |message| {
                message.plan = Some(Box::new(converter.execution_plan_to_proto(plan, self)?));
                Ok(())
            });
        }
        if let Some(steady) = node.downcast_ref::<RowNode<Steady>>() {
            return encoded(&Step::Steady(steady.step().message()), buffer, |_| Ok(()));
        }
        let scan = node.downcast_ref::<DataSourceExec>();
        let Some((config, source)) = scan.and_then(DataSourceExec::downcast_to_file_source::<NdjsonSource>) else {
            return self.others.try_encode(node, buffer, converter);
        };
        encoded(&Step::Scan(Scan::of(config, source)?), buffer, |message| {
            message.schema = Some(source.table_schema().file_schema().as_ref().try_into()?);
            let expression = |expr: &Arc<dyn PhysicalExpr>| converter.physical_expr_to_proto(expr, self);
            message.filters = source.filters.iter().map(expression).collect::<Result<_>>()?;
            for projected in source.projection().into_iter().flat_map(ProjectionExprs::iter) {
                message.projection.push(expression(&projected.expr)?);
                message.aliases.push(projected.alias.clone());
            }
            Ok(())
        })
    }

    fn try_decode(
        &self,
        buffer: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(body) = body(buffer)? else { return self.others.try_decode(buffer, inputs, context, converter) };
        let message = StepMessage::decode(body).map_err(|error| wrong(&format!("cannot read a message: {error}")))?;
        let input = || match inputs {
            [input] => Ok(Arc::clone(input)),
            _ => Err(wrong("a message has a step with another number of inputs")),
        };
        let schema = || -> Result<Schema> {
            let schema = message.schema.as_ref().ok_or_else(|| wrong("a message lacks its schema"))?;
            Ok(schema.try_into()?)
        };
        let decoding = PhysicalPlanDecodeContext::new(context, self);
        let scan = match of_json(message.step.as_bytes())? {
            Step::Marked => return RowNode::over(Marked(Arc::new(schema()?)), input()?),
            Step::Steady(how) => {
                let step = Steady::decoded(inputs.to_vec(), &how);
                return step.map(|step| step as _).ok_or_else(|| wrong("a message has an unknown step"));
            }
            Step::Alone => {
                let plan = message.plan.as_deref().ok_or_else(|| wrong("a message lacks its plan"))?;
                let plan = converter.proto_to_execution_plan(plan, &decoding)?;
                return Alone::node(plan);
            }
            Step::Scan(scan) => scan,
        };
        let schema = Arc::new(schema()?);
        let expression = |node: &protobuf::PhysicalExprNode| converter.proto_to_physical_expr(node, &schema, &decoding);
        let mut source =
            NdjsonSource::new(Arc::new(scan.shared(self.threads)?), TableSchema::from(Arc::clone(&schema)));
        (source.batch_rows, source.notes) = (scan.batch_rows, scan.notes);
        for filter in &message.filters {
            if !source.take(expression(filter)?) {
                return Err(wrong("a message has a condition that the scan does not know"));
            }
        }
        let projected = message.projection.iter().zip(&message.aliases);
        let projected = projected.map(|(node, alias)| Ok(ProjectionExpr::new(expression(node)?, alias)));
        let projected = ProjectionExprs::from(projected.collect::<Result<Vec<_>>>()?);
        let source = source.try_pushdown_projection(&projected)?;
        let source = source.ok_or_else(|| wrong("a message has columns that the scan does not know"))?;
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
            .with_file_groups(scan.file_groups()?)
            .with_limit(scan.limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }

    fn try_encode_udf(&self, function: &ScalarUDF, buffer: &mut Vec<u8>) -> Result<()> {
        let Some(ours) = Function::of(function)? else { return self.others.try_encode_udf(function, buffer) };
        begin(buffer);
        buffer.extend_from_slice(to_json(&ours)?.as_bytes());
        Ok(())
    }

    fn try_decode_udf(&self, name: &str, buffer: &[u8]) -> Result<Arc<ScalarUDF>> {
        match body(buffer)? {
            Some(body) => of_json::<Function>(body)?.function().map(Arc::new),
            None => self.others.try_decode_udf(name, buffer),
        }
    }

    fn try_encode_udaf(&self, function: &AggregateUDF, buffer: &mut Vec<u8>) -> Result<()> {
        if !aggregates().iter().any(|ours| **ours == *function) {
            return self.others.try_encode_udaf(function, buffer);
        }
        begin(buffer);
        Ok(())
    }

    fn try_decode_udaf(&self, name: &str, buffer: &[u8]) -> Result<Arc<AggregateUDF>> {
        if body(buffer)?.is_none() {
            return self.others.try_decode_udaf(name, buffer);
        }
        let ours = aggregates().iter().find(|ours| ours.name() == name).cloned();
        ours.ok_or_else(|| wrong(&format!("a message names an aggregate {name} that does not exist")))
    }

    fn try_encode_udwf(&self, function: &WindowUDF, buffer: &mut Vec<u8>) -> Result<()> {
        self.others.try_encode_udwf(function, buffer)
    }

    fn try_decode_udwf(&self, name: &str, buffer: &[u8]) -> Result<Arc<WindowUDF>> {
        self.others.try_decode_udwf(name, buffer)
    }

    fn try_encode_higher_order_function(&self, function: &HigherOrderUDF, buffer: &mut Vec<u8>) -> Result<()> {
        self.others.try_encode_higher_order_function(function, buffer)
    }

    fn try_decode_higher_order_function(&self, name: &str, buffer: &[u8]) -> Result<Arc<HigherOrderUDF>> {
        self.others.try_decode_higher_order_function(name, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_without_state_is_known_by_its_name() {
        for function in plain() {
            let ours = Function::of(function).unwrap().unwrap_or_else(|| panic!("{} is not ours", function.name()));
            assert_eq!(ours.function().unwrap(), *function);
        }
        assert!(["+", "-", "*", "number_compare"].iter().all(|name| plain().iter().any(|ours| ours.name() == *name)));
    }
}
