//! Runs a rewritten query with DataFusion, which plans it and runs the plan.
//!
//! In go a rewritten query and its open inputs; out go the text of the result and what the scans have seen. Whether rows
//! may go out at once or wait for the last record is decided here, by the plan.

use crate::base::error::Error;
use crate::base::threads::Threads;
#[cfg(feature = "cluster")]
use crate::cluster::{self, Cluster};
use crate::output::Parted;
use crate::output::report::Report;
use crate::plan::arrival::depends_on_arrival;
use crate::plan::coded::by_codes;
use crate::plan::groups::group_once;
use crate::plan::lambdas;
use crate::plan::ordered::{EnoughEvents, in_order_of_store};
use crate::plan::repeated::{self, repeats};
use crate::plan::sparing::sparing;
use crate::plan::steady::steady;
use crate::plan::ties::{decide_ties, keep_order};
use crate::plan::watched::watched;
use crate::run::bounds::Bounds;
use crate::run::live::live;
use crate::run::results::Results;
use crate::scan::note_scans;
use crate::setup::options::{CHUNK_BYTES, Options};
use crate::setup::registered::{Registered, register};
pub(crate) use crate::setup::session::is_aggregate;
use crate::setup::session::{batch_rows, check_comparisons, memory, scans, session};
use crate::sql::Rewritten;
use crate::types::guess::{self, Gate};
use crate::types::prepared::Source;
use datafusion::common::tree_node::TreeNode;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable, execute_stream};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement;
use futures::StreamExt;
use jird_formats::files::OnError;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// How much of a store is read first if its newest or oldest events may be enough, and how many times as much next if
/// they are not.
const PART_BYTES: u64 = 2 << 20;
const PART_FACTOR: u64 = 8;

/// What runs the plans of a query, and within which bounds.
pub(crate) struct Execution<'q> {
    pub(crate) bounds: Bounds<'q>,
    /// Whether plans take as little memory as they can.
    pub(crate) spares: bool,
    /// Where the parts of its result go, if it has parts.
    pub(crate) parted: Option<&'q Parted>,
    /// What runs the plan, if not this process.
    #[cfg(feature = "cluster")]
    pub(crate) cluster: Option<&'q dyn Cluster>,
}

impl Execution<'_> {
    /// A session of the query, without tables.
    fn session(&self) -> Result<SessionContext, Error> {
        let Options { chunk_bytes, memory_max, spill, .. } = self.bounds.options;
        let range_bytes_min =
            (*chunk_bytes != CHUNK_BYTES).then(|| usize::try_from((*chunk_bytes).max(1)).unwrap_or(usize::MAX));
        let context = session(range_bytes_min, *memory_max, spill.as_ref(), self.bounds.interrupt)?;
        #[cfg(feature = "cluster")]
        let context = if self.cluster.is_some() { cluster::session(&context) } else { context };
        context.state_ref().write().config_mut().options_mut().optimizer.prefer_hash_join = !self.spares;
        Ok(context)
    }

    /// Runs the query and writes its result.
    pub(crate) fn execute(
        &self,
        rewritten: &Rewritten,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Error> {
        let context = &self.session()?;
        let registered = register(context, rewritten, sources)?;
        let threads = Threads::new(self.bounds.options.threads, self.bounds.kept)?;
        let is_live = sources.iter().any(|source| source.shared.is_once);
        let results = Results { bounds: self.bounds, threads: &threads, is_live, gate };
        let statement = Statement::Statement(Box::new(rewritten.statement.clone()));
        let started = self.stream(context, statement, sources, gate, &registered);
        let done = results.wait(started).and_then(|stream| {
            let mut stream = stream.map_err(|error| Error::of(&error))?;
            let (writer, schema) = (results.writer(rewritten, self.parted), stream.schema());
            let memory = memory(&context.state());
            let next = async || Some(stream.next().await?.map_err(|error| Error::of(&error)));
            results.write(writer, &schema, next, |bytes| memory.room(bytes).map(drop), out, report)
        });
        report.mismatches = registered.mismatches.load(Relaxed);
        report.infinite += registered.infinite.load(Relaxed);
        for (narrowed, left_out) in rewritten.narrowed.iter().zip(registered.left_out.iter()) {
            let count = left_out.load(Relaxed);
            if count > 0 && !report.left_out.iter().any(|(other, _)| other == narrowed) {
                report.left_out.push((narrowed.clone(), count));
            }
        }
        for source in sources {
            source.report(report);
        }
        done
    }

    /// Explains how the query would run.
    pub(crate) fn explain(
        &self,
        rewritten: &Rewritten,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
        report: &mut Report,
    ) -> Result<String, Error> {
        let context = &self.session()?;
        register(context, rewritten, sources)?;
        let statement = Statement::Statement(Box::new(rewritten.statement.clone()));
        let plan = Threads::new(self.bounds.options.threads, self.bounds.kept)?.wait(async {
            let (plan, wanted) = self.logical(context, statement, sources, gate).await?;
            if let (Some(wanted), [source]) = (wanted, sources) {
                wanted.choose(source, wanted.first_bytes(self.part_bytes()));
            }
            self.physical(context, &plan, sources).await
        });
        let plan = plan.map_err(|error| Error::of(&error))?;
        let mut text = String::new();
        for source in sources {
            source.report(report);
            source.explain(&mut text);
        }
        text += "plan\n";
        for line in displayable(plan.as_ref()).indent(false).to_string().lines() {
            text.extend(["  ", line, "\n"]);
        }
        Ok(text)
    }

    /// Plans and starts the query. Of a store, only the newest or oldest events are read if they have all that is wanted.
    async fn stream(
        &self,
        context: &SessionContext,
        statement: Statement,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
        #[cfg_attr(not(feature = "cluster"), expect(unused_variables, reason = "everything is counted here"))]
        registered: &Registered,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let (plan, wanted) = self.logical(context, statement, sources, gate).await?;
        #[cfg(feature = "cluster")]
        if let Some(cluster) = self.cluster {
            return cluster::run(cluster, context.state(), &plan, sources, registered).await;
        }
        let (Some(wanted), [source]) = (wanted, sources) else {
            return execute_stream(self.physical(context, &plan, sources).await?, context.task_ctx());
        };
        let all: u64 = source.input.stores().map(|(_, store)| store.bytes()).sum();
        let mut bytes = wanted.first_bytes(self.part_bytes());
        while bytes < all && wanted.choose(source, bytes) {
            let physical = self.physical(context, &plan, sources).await?;
            let batches = collect(Arc::clone(&physical), context.task_ctx()).await?;
            if wanted.is_in(&batches) {
                let batches = futures::stream::iter(batches.into_iter().map(Ok));
                return Ok(Box::pin(RecordBatchStreamAdapter::new(physical.schema(), batches)));
            }
            bytes = (bytes * PART_FACTOR).max(self.part_bytes());
        }
        source.shared.part.set(u64::MAX, 0);
        execute_stream(self.physical(context, &plan, sources).await?, context.task_ctx())
    }

    /// How much of a store is read first, if a part of its events may be enough.
    fn part_bytes(&self) -> u64 {
        PART_BYTES.min(self.bounds.options.chunk_bytes.max(1))
    }

    async fn logical(
        &self,
        context: &SessionContext,
        statement: Statement,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
    ) -> Result<(LogicalPlan, Option<EnoughEvents>), DataFusionError> {
        let state = context.state();
        let plan = state.statement_to_plan(statement).await?;
        check_comparisons(&plan)?;
        // What comes from a pipe goes out as it comes.
        let plan = if sources.iter().any(|source| source.shared.is_once) { plan } else { keep_order(plan)? };
        let plan: LogicalPlan = state.optimize(&group_once(decide_ties(plan)?, sources)?)?;
        let is_read_once = |source: &Source<'_>| scans(&plan, &source.used.table) == 1;
        if gate.guesses() && !(holds_back(&plan) && sources.iter().all(is_read_once)) {
            return Err(guess::stop().into());
        }
        in_order_of_store(plan, sources)
    }

    async fn physical(
        &self,
        context: &SessionContext,
        plan: &LogicalPlan,
        sources: &[Source<'_>],
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let mut batch_rows = batch_rows(plan, self.bounds.options.memory_max)?.min(self.bounds.batch_rows_max);
        if self.bounds.is_of_others && self.bounds.options.memory_max.is_some() && repeats(plan) {
            batch_rows = batch_rows.min(repeated::BATCH_ROWS);
        }
        let config = context.copied_config().with_batch_size(batch_rows);
        *context.state_ref().write().config_mut() = config;
        let mut state = context.state();
        // Bad records are noted in the order of the input.
        let tells_lines = sources.iter().any(|source| source.shared.tells_lines());
        let depends = depends_on_arrival(plan);
        let ordered = depends || self.bounds.options.on_error != OnError::Stop || tells_lines;
        let options = state.config_mut().options_mut();
        // Each of several sorts takes the memory that is free to merge what it has put aside, and leaves none to the others
        // and to their merge. DataFusion sorts for joins only where there are several partitions.
        let bytes: u64 = sources.iter().map(|source| source.input.bytes()).sum();
        let puts_aside = self.bounds.options.memory_max.is_some_and(|max| bytes > max as u64 / 8);
        let sorts_once = puts_aside && has(plan, |node| matches!(node, LogicalPlan::Sort(_))) && !joins(plan);
        if !ordered && !sorts_once {
            options.execution.target_partitions = self.bounds.options.threads.max(1);
        }
        let spares = !options.optimizer.prefer_hash_join;
        if spares {
            options.execution.target_partitions =
                if joins(plan) { options.execution.target_partitions.max(2) } else { 1 };
        }
        for source in sources {
            source.shared.ordered.store(ordered, Relaxed);
            if source.shared.is_once && scans(plan, &source.used.table) > 1 {
                let message = "standard input and pipes cannot be read twice, and this query would: name a file";
                return Err(Error::data(message).into());
            }
        }
        memory(&state).run();
        let planned = state.query_planner().create_physical_plan(plan, &state).await;
        let mut physical = match planned {
            Err(error) if is_order_lost(&error) => {
                state.config_mut().options_mut().execution.target_partitions = 1;
                state.query_planner().create_physical_plan(plan, &state).await?
            }
            planned => planned?,
        };
        if spares {
            physical = sparing(physical)?;
        }
        if depends {
            physical = steady(physical, batch_rows)?;
        }
        if sources.iter().any(|source| source.shared.is_once) {
            physical = live(physical)?;
        }
        physical = lambdas::numbered(physical)?;
        if !spares {
            physical = by_codes(physical, sources, &state.runtime_env().memory_pool)?;
        }
        note_scans(&physical)?;
        if self.bounds.is_of_others {
            physical = watched(physical, self.bounds.interrupt, self.bounds.options.memory_max)?;
        } else if self.bounds.options.memory_max.is_some() {
            physical = repeated::counted_windows(physical)?;
        }
        Ok(physical)
    }
}

/// Whether DataFusion has lost the order of its own plan. Version 55 leaves a key out of a sort if a condition makes it the
/// same in all rows, forgets that at an outer join, and then wants the key where it merges sorted rows. On one path
/// nothing is merged.
fn is_order_lost(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::Plan(words) if words.contains("does not satisfy order requirements"))
}

/// Whether a plan returns its first row only after it has read its last record.
fn holds_back(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(_) | LogicalPlan::Sort(_) | LogicalPlan::Distinct(_) => true,
        LogicalPlan::Projection(_) | LogicalPlan::Filter(_) | LogicalPlan::Limit(_) | LogicalPlan::SubqueryAlias(_) => {
            plan.inputs().first().is_some_and(|input| holds_back(input))
        }
        _ => false,
    }
}

fn joins(plan: &LogicalPlan) -> bool {
    has(plan, |node| matches!(node, LogicalPlan::Join(_)))
}

fn has(plan: &LogicalPlan, is: impl Fn(&LogicalPlan) -> bool) -> bool {
    plan.exists(|node| Ok(is(node))).unwrap_or(true)
}
