//! Runs a rewritten query: DataFusion plans it, its batches are written as they come.
//!
//! In go a rewritten query and its open inputs; out go the text of the result and what the scans have seen. Whether rows
//! may go out at once or wait for the last record is decided here, by the plan.

use crate::base::error::Error;
use crate::base::interrupt::Interrupt;
use crate::base::threads::{Held, Threads};
#[cfg(feature = "cluster")]
use crate::cluster::{self, Cluster};
use crate::guard::{Memory, batch_bytes, pieces};
use crate::output::report::Report;
use crate::output::{Parted, WriteError, Writer, parted_writer, with_nulls, without_infinities, writer};
use crate::plan::arrival::depends_on_arrival;
use crate::plan::groups::group_once;
use crate::plan::ordered::{Newest, in_order_of_store};
use crate::plan::repeated::{self, repeats};
use crate::plan::sparing::sparing;
use crate::plan::steady::steady;
use crate::plan::ties::{decide_ties, keep_order};
use crate::plan::watched::watched;
use crate::run::live::live;
use crate::scan::note_scans;
use crate::setup::options::Options;
use crate::setup::registered::{Registered, register};
use crate::setup::session::{batch_rows, check_comparisons, memory, scans};
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
use futures::future::{Either, select};
use jird_formats::files::OnError;
use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// How much of a store is read first if only its newest events are wanted, and how many times as much next if there are
/// too few rows in it.
const NEWEST_BYTES: u64 = 2 << 20;
const NEWEST_FACTOR: u64 = 8;

/// Results are written in pieces of about this many bytes.
const PIECE_BYTES: usize = 16 << 20;

/// Rows from a pipe are held back this long, in case others follow.
const PATIENCE: Duration = Duration::from_millis(100);

/// What runs the plans of a query, and within which bounds.
pub(crate) struct Execution<'q> {
    pub(crate) options: &'q Options,
    /// Whether others have written the query: it has bounds of its own.
    pub(crate) is_of_others: bool,
    pub(crate) interrupt: &'q Interrupt,
    /// What its threads keep until they have ended.
    pub(crate) kept: Option<&'q Held>,
    /// The most rows of a batch.
    pub(crate) batch_rows_max: usize,
    /// Where the parts of its result go, if it has parts.
    pub(crate) parted: Option<&'q Parted>,
    /// What runs the plan, if not this process.
    #[cfg(feature = "cluster")]
    pub(crate) cluster: Option<&'q dyn Cluster>,
}

impl Execution<'_> {
    /// Runs the query and writes its result.
    pub(crate) fn execute(
        &self,
        context: &SessionContext,
        rewritten: &Rewritten,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Error> {
        let registered = register(context, rewritten, sources)?;
        let columns = rewritten.outputs.clone();
        let threads = Threads::new(self.options.threads, self.kept)?;
        let statement = Statement::Statement(Box::new(rewritten.statement.clone()));
        let started = self.stream(context, statement, sources, gate, &registered);
        let done = self.wait(&threads, started).and_then(|stream| {
            let stream = stream.map_err(|error| Error::of(&error))?;
            let is_live = sources.iter().any(|source| source.shared.is_once);
            let format = self.options.format;
            let writer = match self.parted {
                Some(parted) => parted_writer(format, columns, parted),
                None => writer(format, columns, &rewritten.apart, self.options.width),
            };
            self.write(&threads, &memory(&context.state()), stream, writer, is_live, gate, out, report)
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
        context: &SessionContext,
        rewritten: &Rewritten,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
        report: &mut Report,
    ) -> Result<String, Error> {
        register(context, rewritten, sources)?;
        let statement = Statement::Statement(Box::new(rewritten.statement.clone()));
        let plan = Threads::new(self.options.threads, self.kept)?.wait(async {
            let (plan, _) = self.logical(context, statement, sources, gate).await?;
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

    /// Waits for something, unless the query ends early.
    fn wait<F: Future>(&self, threads: &Threads, wanted: F) -> Result<F::Output, Error> {
        threads.wait(async {
            match select(pin!(self.interrupt.wait()), pin!(wanted)).await {
                Either::Left((error, _)) => Err(error),
                Either::Right((found, _)) => Ok(found),
            }
        })
    }

    /// Plans and starts the query. Of a store, only the newest events are read if they have all the rows that are wanted.
    async fn stream(
        &self,
        context: &SessionContext,
        statement: Statement,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
        #[cfg_attr(not(feature = "cluster"), expect(unused_variables, reason = "everything is counted here"))]
        registered: &Registered,
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let (plan, newest) = self.logical(context, statement, sources, gate).await?;
        #[cfg(feature = "cluster")]
        if let Some(cluster) = self.cluster {
            return cluster::run(cluster, context.state(), &plan, sources, registered).await;
        }
        let (Some(Newest { rows }), [source]) = (newest, sources) else {
            return execute_stream(self.physical(context, &plan, sources).await?, context.task_ctx());
        };
        let all: u64 = source.input.stores().map(|(_, store)| store.bytes()).sum();
        let mut bytes = NEWEST_BYTES.min(self.options.chunk_bytes.max(1));
        while bytes < all {
            source.shared.newest_bytes.store(bytes, Relaxed);
            let physical = self.physical(context, &plan, sources).await?;
            let batches = collect(Arc::clone(&physical), context.task_ctx()).await?;
            if batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>() >= rows {
                let batches = futures::stream::iter(batches.into_iter().map(Ok));
                return Ok(Box::pin(RecordBatchStreamAdapter::new(physical.schema(), batches)));
            }
            bytes *= NEWEST_FACTOR;
        }
        source.shared.newest_bytes.store(u64::MAX, Relaxed);
        execute_stream(self.physical(context, &plan, sources).await?, context.task_ctx())
    }

    /// Writes the result, batch by batch. Nothing waits on the threads of the plan: `out` may take its time.
    #[expect(clippy::too_many_arguments, reason = "where the result comes from, and where it goes")]
    fn write(
        &self,
        threads: &Threads,
        memory: &Memory,
        mut stream: SendableRecordBatchStream,
        mut writer: Box<dyn Writer>,
        is_live: bool,
        gate: &Gate<'_>,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Error> {
        let failed = |error| match error {
            WriteError::Arrow(error) => Error::of(&error.into()),
            WriteError::Format(words) => Error::data(format!("cannot write the result: {words}")),
            WriteError::Io(error) => Error::output(&error),
        };
        writer.begin(&with_nulls(&stream.schema())).map_err(failed)?;
        let mut text = Vec::new();
        while self.options.limit.is_none_or(|limit| report.rows < limit) {
            let next = stream.next();
            let batch = if is_live && writer.holds_back() {
                // The timer is made where there is a clock.
                let Ok(batch) = self.wait(threads, async { tokio::time::timeout(PATIENCE, next).await })? else {
                    writer.pause(&mut text);
                    out.write_all(&text).and_then(|()| out.flush()).map_err(|error| Error::output(&error))?;
                    text.clear();
                    continue;
                };
                batch
            } else {
                self.wait(threads, next)?
            };
            let Some(batch) = batch else { break };
            let batch = batch.map_err(|error| Error::of(&error))?;
            gate.open()?;
            let batch = without_infinities(&batch, &mut report.infinite).map_err(|error| Error::of(&error.into()))?;
            let left = self.options.limit.map_or(u64::MAX, |limit| limit - report.rows);
            let batch = batch.slice(0, usize::try_from(left).unwrap_or(usize::MAX).min(batch.num_rows()));
            report.rows += batch.num_rows() as u64;
            if let Some(rows_max) = self.options.rows_max.filter(|rows_max| report.rows > *rows_max) {
                return Err(Error::rows(rows_max));
            }
            for piece in pieces(&batch, PIECE_BYTES) {
                let bytes = batch_bytes(&piece);
                drop(memory.room(bytes).map_err(|_| Error::too_large("a row of the result", bytes))?);
                writer.batch(&piece, &mut text).map_err(failed)?;
                out.write_all(&text).map_err(|error| Error::output(&error))?;
                text.clear();
            }
            if is_live {
                out.flush().map_err(|error| Error::output(&error))?;
            }
        }
        gate.open()?;
        writer.finish(&mut text).map_err(failed)?;
        out.write_all(&text).and_then(|()| out.flush()).map_err(|error| Error::output(&error))
    }

    async fn logical(
        &self,
        context: &SessionContext,
        statement: Statement,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
    ) -> Result<(LogicalPlan, Option<Newest>), DataFusionError> {
        let state = context.state();
        let plan = state.statement_to_plan(statement).await?;
        check_comparisons(&plan)?;
        // What comes from a pipe goes out as it comes.
        let plan = if sources.iter().any(|source| source.shared.is_once) { plan } else { keep_order(plan)? };
        let plan: LogicalPlan = state.optimize(&group_once(decide_ties(plan)?, sources)?)?;
        let is_read_once = |source: &Source<'_>| scans(&plan, &source.used.table) == 1;
        if gate.guesses() && !(guess::holds_back(&plan) && sources.iter().all(is_read_once)) {
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
        let mut batch_rows = batch_rows(plan, self.options.memory_max)?.min(self.batch_rows_max);
        if self.is_of_others && self.options.memory_max.is_some() && repeats(plan) {
            batch_rows = batch_rows.min(repeated::BATCH_ROWS);
        }
        let config = context.copied_config().with_batch_size(batch_rows);
        *context.state_ref().write().config_mut() = config;
        let mut state = context.state();
        // Bad records are noted in the order of the input.
        let tells_lines = sources.iter().any(|source| source.shared.tells_lines());
        let depends = depends_on_arrival(plan);
        let ordered = depends || self.options.on_error != OnError::Stop || tells_lines;
        let options = state.config_mut().options_mut();
        // Each of several sorts takes the memory that is free to merge what it has put aside, and leaves none to the others
        // and to their merge. DataFusion sorts for joins only where there are several partitions.
        let bytes: u64 = sources.iter().map(|source| source.input.bytes()).sum();
        let puts_aside = self.options.memory_max.is_some_and(|max| bytes > max as u64 / 8);
        let sorts_once = puts_aside && has(plan, |node| matches!(node, LogicalPlan::Sort(_))) && !joins(plan);
        if !ordered && !sorts_once {
            options.execution.target_partitions = self.options.threads.max(1);
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
        let mut physical = state.query_planner().create_physical_plan(plan, &state).await?;
        if spares {
            physical = sparing(physical)?;
        }
        if depends {
            physical = steady(physical, batch_rows)?;
        }
        if sources.iter().any(|source| source.shared.is_once) {
            physical = live(physical)?;
        }
        note_scans(&physical)?;
        if self.is_of_others {
            physical = watched(physical, self.interrupt, self.options.memory_max)?;
        } else if self.options.memory_max.is_some() {
            physical = repeated::counted_windows(physical)?;
        }
        Ok(physical)
    }
}

/// Writes a text as the result.
pub(crate) fn write_text(text: &str, out: &mut dyn Write) -> Result<(), Error> {
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Error::output(&error))
}

fn joins(plan: &LogicalPlan) -> bool {
    has(plan, |node| matches!(node, LogicalPlan::Join(_)))
}

fn has(plan: &LogicalPlan, is: impl Fn(&LogicalPlan) -> bool) -> bool {
    plan.exists(|node| Ok(is(node))).unwrap_or(true)
}
