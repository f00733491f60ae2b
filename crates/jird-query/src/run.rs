//! Runs a query, from its text to the text of its result.

use crate::bad::BadSink;
use crate::error::Error;
use crate::functions::PredicateUdf;
use crate::groups::group_once;
use crate::guess::{self, Gate, Guess, Guessed};
use crate::infer::{self, Types};
use crate::input::{From, Input, Progress, Said};
use crate::kinds;
use crate::live::live;
use crate::output::{Column, Format, WriteError, Writer, writer};
use crate::prepared::Source;
use crate::report::Report;
use crate::scan::{ScanOptions, Table, note_scans};
use crate::session::{check_comparisons, is_aggregate, keeps_order, scans, session};
use crate::sql::{self, Output, OutputKind, Parsed, Rewritten, STREAM};
use crate::types::FieldTypes;
use datafusion::common::TableReference;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{LogicalPlan, ScalarUDF};
use datafusion::physical_plan::{ExecutionPlan, displayable, execute_stream};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement;
use futures::StreamExt;
use jird::kernel::Kernel;
use jird::lines::{self, Check};
use jird_formats::ColumnType;
use jird_formats::files::OnError;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The options of a query.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of threads that scan.
    pub threads: usize,
    /// How many of the records are checked.
    pub check: Check,
    /// The format of the result.
    pub format: Format,
    /// Types of fields that the query computes with. A record with a value of another type is bad. A number in an `f64`
    /// field becomes the nearest `f64`. Fields that are not listed get the type that all records have.
    pub schema: FieldTypes,
    /// The maximum width of a table, in terminal columns. Text that does not fit is cut.
    pub width: Option<usize>,
    /// The format of the inputs.
    pub from: From,
    /// What to do with bad records. Unless they stop the query, every record is checked, whatever
    /// [`check`](Self::check) says, and the query keeps the input's order.
    pub on_error: OnError,
    /// A thread takes this many bytes of a file at a time. Results do not depend on it.
    #[doc(hidden)]
    pub chunk_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            check: Check::default(),
            format: Format::Ndjson,
            schema: FieldTypes::default(),
            width: None,
            from: From::default(),
            on_error: OnError::default(),
            chunk_bytes: CHUNK_BYTES,
        }
    }
}

/// The size of a chunk: large enough that handing out chunks costs nothing, and small enough that a few per thread fit
/// in memory.
const CHUNK_BYTES: u64 = 2 << 20;

/// Rows from a pipe are held back this long, in case others follow.
const PATIENCE: Duration = Duration::from_millis(100);

/// The number of rows in a batch: enough that the fixed cost of a batch is negligible, and few enough that its columns
/// stay in cache.
const BATCH_ROWS: usize = 8192;

/// A SQL query over files.
#[derive(Clone, Debug)]
pub struct Query {
    sql: String,
    inputs: Vec<String>,
    options: Options,
    progress: Arc<Progress>,
}

impl Query {
    /// Creates a query. Its table `stream` consists of these files, in this order: paths, patterns, or `-` for standard
    /// input. An empty list also means standard input.
    pub fn new(sql: impl Into<String>, inputs: Vec<String>, options: Options) -> Self {
        let inputs = if inputs.is_empty() { vec!["-".to_owned()] } else { inputs };
        Self { sql: sql.into(), inputs, options, progress: Arc::default() }
    }

    /// The options of the query.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// How much was read; other threads can observe it.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Runs the query and writes its result to `out`, one batch at a time. `report` is filled in whether the query
    /// succeeds or fails. Files that cannot be read are left out and listed in the report.
    ///
    /// # Errors
    /// If the SQL is wrong, a record is bad, or reading or writing fails. Output that was written before the error
    /// stays.
    pub fn run(&self, out: &mut dyn Write, report: &mut Report) -> Result<(), Error> {
        let started = Instant::now();
        report.check = self.check();
        report.threads = self.options.threads;
        report.kernel = Kernel::best().name();
        let result = self.run_timed(out, report);
        report.elapsed = started.elapsed();
        result
    }

    fn check(&self) -> Check {
        if self.options.on_error == OnError::Stop { self.options.check } else { Check::All }
    }

    fn run_timed(&self, out: &mut dyn Write, report: &mut Report) -> Result<(), Error> {
        let parsed = sql::parse(&self.sql)?;
        let bad = match &self.options.on_error {
            OnError::Stop => None,
            on_error => Some(BadSink::new(on_error)?),
        };
        let done = self.run_parsed(parsed, bad.clone(), out, report);
        let Some(bad) = bad else { return done };
        // A run that failed before it found a bad record leaves an older quarantine unchanged.
        let seen_out = if done.is_ok() || bad.lock().count() > 0 { bad.finish() } else { Ok(()) };
        let records = bad.lock();
        (report.bad, report.first_bad) = (records.count(), records.first().map(str::to_owned));
        done.and(seen_out)
    }

    fn run_parsed(
        &self,
        parsed: Parsed,
        bad: Option<BadSink>,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Error> {
        let scan = ScanOptions {
            lines: lines::Options { check: self.check(), ..lines::Options::default() },
            threads: self.options.threads.max(1),
            chunk_bytes: self.options.chunk_bytes.max(1),
            bad,
        };
        let range_bytes_min =
            (scan.chunk_bytes != CHUNK_BYTES).then(|| usize::try_from(scan.chunk_bytes).unwrap_or(usize::MAX));
        let context = session(BATCH_ROWS, range_bytes_min)?;
        let state = context.state();
        let mut inputs = Inputs { query: self, known: HashMap::new(), said: Said::default() };
        let mut keys = |table: &str| infer::keys(&inputs.open(table)?, &scan);
        let rewritten =
            sql::rewrite(parsed.query, &|name| is_aggregate(&state, name), &mut keys, self.options.format.style())?;
        let mut opened = Vec::new();
        for source in &rewritten.sources {
            let input = inputs.open(&source.table)?;
            input.expect(1);
            opened.push(input);
        }
        (report.unreadable, report.refused) = (inputs.said.unreadable, inputs.said.refused);
        report.notes.append(&mut inputs.said.notes);
        let mut known = None;
        if let Some(guess) = guess::source(&rewritten, &opened, &self.options.schema, &scan) {
            // The attempt gets a session of its own, because a repeated run registers its tables again.
            let context = session(BATCH_ROWS, range_bytes_min)?;
            let tried = if parsed.explain {
                self.explain_guessing(&context, &rewritten, guess, &scan, out, report)
            } else {
                self.run_guessing(&context, &rewritten, guess, &scan, out, report)
            };
            match tried? {
                Guessed::Right => return Ok(()),
                Guessed::Wrong { has_read, types } => {
                    opened.iter().for_each(|input| input.expect(u64::from(has_read)));
                    known = types;
                }
            }
        }
        let mut sources = Vec::new();
        for (source, input) in rewritten.sources.iter().zip(opened) {
            let types = if let Some(types) = known.take() {
                types
            } else {
                input.expect(u64::from(infer::reads(&input, source, &self.options.schema)));
                Types::infer(&input, source, &self.options.schema, &scan)?
            };
            sources.push(Source::new(source, input, types, scan.clone(), None)?);
        }
        sources.iter().for_each(|source| source.report_types(report));
        if parsed.explain {
            let text = self.explain(&context, &rewritten, &sources, &Gate::default(), report)?;
            return write_text(&text, out);
        }
        self.execute(&context, &rewritten, &sources, &Gate::default(), out, report)?;
        note(&rewritten, &sources, &scan, report)
    }

    /// Runs the query with guessed types that the scan confirms. A failure before the confirmation counts as a wrong
    /// guess, not as an error.
    fn run_guessing(
        &self,
        context: &SessionContext,
        rewritten: &Rewritten,
        guess: Guess<'_>,
        scan: &ScanOptions,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<Guessed, Error> {
        let Guess { used, input, types, watch } = guess;
        let Ok(source) = Source::new(used, input, types, scan.clone(), Some(watch)) else {
            return Ok(Guessed::Wrong { has_read: false, types: None });
        };
        let mut sources = [source];
        let mut trial = report.clone();
        let gate = Gate::of(&sources[0]);
        let done = self.execute(context, rewritten, &sources, &gate, out, &mut trial);
        let is_open = gate.is_open();
        let types = sources[0].seen();
        let has_read = sources[0].shared.tally.bytes.load(Relaxed) > 0;
        let (true, Some(types)) = (is_open, &types) else { return Ok(Guessed::Wrong { has_read, types }) };
        sources[0].types = types.clone();
        sources[0].report_types(&mut trial);
        *report = trial;
        done.and_then(|()| note(rewritten, &sources, scan, report)).map(|()| Guessed::Right)
    }

    /// Explains how the query would run with guessed types, if it would.
    fn explain_guessing(
        &self,
        context: &SessionContext,
        rewritten: &Rewritten,
        guess: Guess<'_>,
        scan: &ScanOptions,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<Guessed, Error> {
        let Guess { used, input, types, watch } = guess;
        let source = Source::new(used, input, types, scan.clone(), Some(watch));
        let text = source.and_then(|source| {
            let sources = [source];
            self.explain(context, rewritten, &sources, &Gate::of(&sources[0]), report)
        });
        match text {
            Ok(text) => write_text(&text, out).map(|()| Guessed::Right),
            Err(_) => Ok(Guessed::Wrong { has_read: false, types: None }),
        }
    }

    fn execute(
        &self,
        context: &SessionContext,
        rewritten: &Rewritten,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Error> {
        let mismatches = register(context, rewritten, sources)?;
        let columns = rewritten.outputs.iter().map(|output| output_column(output, sources)).collect();
        let runtime = self.runtime()?;
        let statement = Statement::Statement(Box::new(rewritten.statement.clone()));
        let done = runtime.block_on(async {
            let plan = self.plan(context, statement, sources, gate).await;
            let stream = plan.and_then(|plan| execute_stream(plan, context.task_ctx()));
            let stream = stream.map_err(|error| Error::of(&error))?;
            let is_live = sources.iter().any(|source| source.shared.is_once);
            let writer = writer(self.options.format, columns, self.options.width);
            write(stream, writer, is_live, gate, out, &mut report.rows).await
        });
        // Scans whose results are no longer needed end by themselves, so the query does not wait for them.
        runtime.shutdown_background();
        report.mismatches = mismatches.load(Relaxed);
        for source in sources {
            source.report(report);
        }
        done
    }

    /// Explains how the query would run.
    fn explain(
        &self,
        context: &SessionContext,
        rewritten: &Rewritten,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
        report: &mut Report,
    ) -> Result<String, Error> {
        register(context, rewritten, sources)?;
        let statement = Statement::Statement(Box::new(rewritten.statement.clone()));
        let plan = self
            .runtime()?
            .block_on(self.plan(context, statement, sources, gate))
            .map_err(|error| Error::of(&error))?;
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

    fn runtime(&self) -> Result<Runtime, Error> {
        tokio::runtime::Builder::new_multi_thread()
            .enable_time()
            .worker_threads(self.options.threads.max(1))
            .build()
            .map_err(|error| Error::sql(format!("cannot start threads: {error}")))
    }

    async fn plan(
        &self,
        context: &SessionContext,
        statement: Statement,
        sources: &[Source<'_>],
        gate: &Gate<'_>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let mut state = context.state();
        let plan = state.statement_to_plan(statement).await?;
        check_comparisons(&plan)?;
        let plan: LogicalPlan = state.optimize(&group_once(plan, sources)?)?;
        let is_read_once = |source: &Source<'_>| scans(&plan, &source.used.table) == 1;
        if gate.guesses() && !(guess::holds_back(&plan) && sources.iter().all(is_read_once)) {
            return Err(guess::stop().into());
        }
        // Bad records are noted in the order of the input.
        let ordered = keeps_order(&plan) || self.options.on_error != OnError::Stop;
        if !ordered {
            state.config_mut().options_mut().execution.target_partitions = self.options.threads.max(1);
        }
        for source in sources {
            source.shared.ordered.store(ordered, Relaxed);
            if source.shared.is_once && scans(&plan, &source.used.table) > 1 {
                let message = "standard input and pipes cannot be read twice, and this query would: name a file";
                return Err(Error::data(message).into());
            }
        }
        let mut physical = state.query_planner().create_physical_plan(&plan, &state).await?;
        if sources.iter().any(|source| source.shared.is_once) {
            physical = live(physical)?;
        }
        note_scans(&physical)?;
        Ok(physical)
    }
}

/// Notes parts of the query that are probably mistakes.
fn note(
    rewritten: &Rewritten,
    sources: &[Source<'_>],
    options: &ScanOptions,
    report: &mut Report,
) -> Result<(), Error> {
    for (index, source) in sources.iter().enumerate() {
        source.note_absent(options, report)?;
        report.notes.extend(rewritten.leaves.iter().flat_map(|leaf| kinds::notes(leaf, index, source, options)));
    }
    Ok(())
}

/// Registers the tables and predicates of a query. Returns the counter of their mismatches.
fn register(context: &SessionContext, rewritten: &Rewritten, sources: &[Source<'_>]) -> Result<Arc<AtomicU64>, Error> {
    let mismatches = Arc::new(AtomicU64::new(0));
    for leaf in &rewritten.leaves {
        let udf = PredicateUdf::new(Arc::clone(leaf), Arc::clone(&mismatches));
        context.register_udf(ScalarUDF::from(udf));
    }
    for source in sources {
        let table = Table::new(source.input.clone(), Arc::clone(&source.shared), Arc::clone(&source.schema));
        context
            .register_table(TableReference::bare(source.used.table.as_str()), Arc::new(table))
            .map_err(|error| Error::of(&error))?;
    }
    Ok(mismatches)
}

/// Writes the result, batch by batch.
async fn write(
    mut stream: SendableRecordBatchStream,
    mut writer: Box<dyn Writer>,
    is_live: bool,
    gate: &Gate<'_>,
    out: &mut dyn Write,
    rows: &mut u64,
) -> Result<(), Error> {
    let failed = |error| match error {
        WriteError::Arrow(error) => Error::of(&error.into()),
        WriteError::Format(words) => Error::data(format!("cannot write the result: {words}")),
        WriteError::Io(error) => Error::output(&error),
    };
    writer.begin(&stream.schema()).map_err(failed)?;
    let mut text = Vec::new();
    loop {
        let next = stream.next();
        let batch = if is_live && writer.holds_back() {
            let Ok(batch) = tokio::time::timeout(PATIENCE, next).await else {
                writer.pause(&mut text);
                out.write_all(&text).and_then(|()| out.flush()).map_err(|error| Error::output(&error))?;
                text.clear();
                continue;
            };
            batch
        } else {
            next.await
        };
        let Some(batch) = batch else { break };
        let batch = batch.map_err(|error| Error::of(&error))?;
        gate.open()?;
        writer.batch(&batch, &mut text).map_err(failed)?;
        *rows += batch.num_rows() as u64;
        out.write_all(&text).map_err(|error| Error::output(&error))?;
        if is_live {
            out.flush().map_err(|error| Error::output(&error))?;
        }
        text.clear();
    }
    gate.open()?;
    writer.finish(&mut text).map_err(failed)?;
    out.write_all(&text).and_then(|()| out.flush()).map_err(|error| Error::output(&error))
}

fn write_text(text: &str, out: &mut dyn Write) -> Result<(), Error> {
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Error::output(&error))
}

/// The inputs of the tables; each is opened once.
struct Inputs<'q> {
    query: &'q Query,
    known: HashMap<String, Input>,
    said: Said,
}

impl Inputs<'_> {
    fn open(&mut self, table: &str) -> Result<Input, Error> {
        if let Some(input) = self.known.get(table) {
            return Ok(input.clone());
        }
        let (from, progress) = (self.query.options.from, &self.query.progress);
        let input = match table {
            STREAM => Input::open(&self.query.inputs, from, progress, &mut self.said)?,
            path => Input::open(&[path.to_owned()], from, progress, &mut self.said)?,
        };
        if let OnError::Quarantine(path) = &self.query.options.on_error
            && let Some(file) = input.reads(path)
        {
            let message = format!("{}: this file is read; write the bad records to another file", file.path.display());
            return Err(Error::sql(message));
        }
        self.known.insert(table.to_owned(), input.clone());
        Ok(input)
    }
}

/// A column of the result, with the knowledge whether all its values are texts.
fn output_column(output: &Output, sources: &[Source<'_>]) -> Column {
    let is_text = match &output.kind {
        OutputKind::Plain(origins) | OutputKind::Json(origins) => origins.iter().all(|(source, path)| {
            let Some(types) = sources.get(*source).map(|source| &source.types) else { return false };
            types.of(path).is_some_and(|seen| matches!(seen.column_type(), None | Some(ColumnType::Text)))
        }),
        OutputKind::Record | OutputKind::Computed => false,
    };
    Column::new(output.clone(), is_text)
}
