//! Running a query from its text to the text of its result.

use crate::error::Error;
use crate::functions::PredicateUdf;
use crate::infer::{self, Types};
use crate::input::Input;
use crate::output::{Column, Format, WriteError, writer};
use crate::report::Report;
use crate::scan::{ColumnSpec, ScanOptions, Shared, Table, Tally};
use crate::session::{check_comparisons, is_aggregate, keeps_order, scans, session};
use crate::sql::{self, Output, OutputKind, Rewritten, STREAM, SourceUse};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::TableReference;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{LogicalPlan, ScalarUDF};
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement;
use futures::StreamExt;
use jird::Kernel;
use jird::lines::{self, Check};
use jird_formats::ColumnType;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// How a query is run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that scan.
    pub threads: usize,
    /// How much of the records is checked.
    pub check: Check,
    /// How the result is printed.
    pub format: Format,
    /// Bytes of a file that a thread takes at a time. Results do not depend on it.
    #[doc(hidden)]
    pub chunk_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            check: Check::default(),
            format: Format::Ndjson,
            chunk_bytes: CHUNK_BYTES,
        }
    }
}

/// Large enough that handing out chunks costs nothing, small enough that a few per thread fit in memory.
const CHUNK_BYTES: u64 = 2 << 20;

/// Rows of a batch: enough that a batch's own cost is nothing, few enough that its columns stay in cache.
const BATCH_ROWS: usize = 8192;

/// SQL over files.
#[derive(Clone, Debug)]
pub struct Query {
    sql: String,
    inputs: Vec<String>,
    options: Options,
}

impl Query {
    /// A query whose table `stream` is these files, in this order: paths, patterns, or `-` for standard input, which no
    /// file at all means too.
    pub fn new(sql: impl Into<String>, inputs: Vec<String>, options: Options) -> Self {
        let inputs = if inputs.is_empty() { vec!["-".to_owned()] } else { inputs };
        Self { sql: sql.into(), inputs, options }
    }

    /// Runs the query and writes its result to `out`, a batch at a time. `report` is filled in whether it succeeds or not.
    /// Files that cannot be read are left out and listed there.
    ///
    /// # Errors
    /// If the SQL is wrong, a record is bad, or reading or writing fails. What was written until then stays written.
    pub fn run(&self, out: &mut dyn Write, report: &mut Report) -> Result<(), Error> {
        let started = Instant::now();
        report.check = self.options.check;
        report.threads = self.options.threads;
        report.kernel = Kernel::best().name();
        let result = self.run_timed(out, report);
        report.elapsed = started.elapsed();
        result
    }

    fn run_timed(&self, out: &mut dyn Write, report: &mut Report) -> Result<(), Error> {
        let scan = ScanOptions {
            lines: lines::Options { check: self.options.check, ..lines::Options::default() },
            threads: self.options.threads.max(1),
            chunk_bytes: self.options.chunk_bytes.max(1),
        };
        let parsed = sql::parse(&self.sql)?;
        let range_bytes_min =
            (scan.chunk_bytes != CHUNK_BYTES).then(|| usize::try_from(scan.chunk_bytes).unwrap_or(usize::MAX));
        let context = session(BATCH_ROWS, range_bytes_min)?;
        let state = context.state();
        let mut inputs = Inputs { arguments: &self.inputs, known: HashMap::new(), unreadable: &mut report.unreadable };
        let text_output = matches!(self.options.format, Format::Csv | Format::Table);
        let mut keys = |table: &str| infer::keys(&inputs.open(table)?, &scan);
        let rewritten = sql::rewrite(parsed, &|name| is_aggregate(&state, name), &mut keys, text_output)?;
        let mut sources = Vec::new();
        for source in &rewritten.sources {
            let input = inputs.open(&source.table)?;
            sources.push(Source::prepare(source, input, scan)?);
        }
        for source in &sources {
            report.widened.extend(source.types.widened(&source.input, source.used));
            report.inferred |= !source.types.fields.is_empty();
        }
        self.execute(&context, &rewritten, &sources, out, report)?;
        for source in &sources {
            source.note_absent(&scan, report)?;
        }
        Ok(())
    }

    fn execute(
        &self,
        context: &SessionContext,
        rewritten: &Rewritten,
        sources: &[Source<'_>],
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Error> {
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
        let columns = rewritten.outputs.iter().map(|output| output_column(output, sources)).collect();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.options.threads.max(1))
            .build()
            .map_err(|error| Error::sql(format!("cannot start threads: {error}")))?;
        let statement = Statement::Statement(Box::new(rewritten.statement.clone()));
        let done = runtime.block_on(async {
            let stream = self.plan(context, statement, sources).await.map_err(|error| Error::of(&error))?;
            write(stream, self.options.format, columns, out, &mut report.rows).await
        });
        // Scans that nobody listens to any more end by themselves; nobody needs to wait for them.
        runtime.shutdown_background();
        report.mismatches = mismatches.load(Relaxed);
        for source in sources {
            source.report(report);
        }
        done
    }

    async fn plan(
        &self,
        context: &SessionContext,
        statement: Statement,
        sources: &[Source<'_>],
    ) -> Result<SendableRecordBatchStream, DataFusionError> {
        let mut state = context.state();
        let plan = state.statement_to_plan(statement).await?;
        check_comparisons(&plan)?;
        let plan: LogicalPlan = state.optimize(&plan)?;
        let ordered = keeps_order(&plan);
        if !ordered {
            state.config_mut().options_mut().execution.target_partitions = self.options.threads.max(1);
        }
        for source in sources {
            source.shared.ordered.store(ordered, Relaxed);
            if source.shared.is_stream && scans(&plan, &source.used.table) > 1 {
                let message = "standard input and pipes cannot be read twice, and this query would: name a file";
                return Err(Error::data(message).into());
            }
        }
        let physical = state.query_planner().create_physical_plan(&plan, &state).await?;
        execute_stream(physical, context.task_ctx())
    }
}

/// Prints what comes.
async fn write(
    mut stream: SendableRecordBatchStream,
    format: Format,
    columns: Vec<Column>,
    out: &mut dyn Write,
    rows: &mut u64,
) -> Result<(), Error> {
    let failed = |error| match error {
        WriteError::Arrow(error) => Error::of(&error.into()),
        WriteError::Io(error) => Error::output(&error),
    };
    let mut writer = writer(format, columns);
    let mut text = Vec::new();
    while let Some(batch) = stream.next().await {
        let batch = batch.map_err(|error| Error::of(&error))?;
        writer.batch(&batch, &mut text).map_err(failed)?;
        *rows += batch.num_rows() as u64;
        out.write_all(&text).map_err(|error| Error::output(&error))?;
        text.clear();
    }
    writer.finish(&mut text).map_err(failed)?;
    out.write_all(&text).and_then(|()| out.flush()).map_err(|error| Error::output(&error))
}

/// The inputs of the tables, opened once each.
struct Inputs<'q> {
    arguments: &'q [String],
    known: HashMap<String, Input>,
    unreadable: &'q mut Vec<String>,
}

impl Inputs<'_> {
    fn open(&mut self, table: &str) -> Result<Input, Error> {
        if let Some(input) = self.known.get(table) {
            return Ok(input.clone());
        }
        let input = match table {
            STREAM => Input::open(self.arguments, self.unreadable)?,
            path => Input::open(&[path.to_owned()], self.unreadable)?,
        };
        self.known.insert(table.to_owned(), input.clone());
        Ok(input)
    }
}

/// A table with all that is known of it.
struct Source<'q> {
    used: &'q SourceUse,
    input: Input,
    types: Types,
    shared: Arc<Shared>,
    schema: SchemaRef,
}

impl<'q> Source<'q> {
    fn prepare(used: &'q SourceUse, input: Input, options: ScanOptions) -> Result<Self, Error> {
        let types = Types::infer(&input, used, &options)?;
        types.check(&input, used)?;
        let columns: Vec<_> = used
            .columns
            .iter()
            .map(|(path, rep)| ColumnSpec { path: path.clone(), rep: *rep, kind: types.column_type(path, used) })
            .collect();
        let field = |column: &ColumnSpec| {
            let kind = if column.rep.is_inferred() { column.kind } else { ColumnType::Json };
            kind.field(column.rep.column(&column.path.to_string()))
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let tally = Tally { seen: columns.iter().map(|_| AtomicBool::new(false)).collect(), ..Tally::default() };
        let is_stream = !input.is_rereadable();
        let shared = Arc::new(Shared { columns, options, ordered: AtomicBool::new(false), is_stream, tally });
        Ok(Self { used, input, types, shared, schema })
    }

    fn report(&self, report: &mut Report) {
        let tally = &self.shared.tally;
        report.records += tally.records.load(Relaxed);
        report.bytes += tally.bytes.load(Relaxed);
        report.mismatches += tally.mismatches.load(Relaxed);
        let taken = |list: &std::sync::Mutex<Vec<String>>| {
            list.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
        };
        for pushed in taken(&tally.pushed) {
            if !report.pushed.contains(&pushed) {
                report.pushed.push(pushed);
            }
        }
        report.fields.extend(taken(&tally.read));
    }

    /// Notes the names that no record has, if all were read: most are typing errors.
    fn note_absent(&self, options: &ScanOptions, report: &mut Report) -> Result<(), Error> {
        let tally = &self.shared.tally;
        let records = tally.records.load(Relaxed);
        if tally.stopped.load(Relaxed) || records == 0 {
            return Ok(());
        }
        for (path, written) in &self.used.named {
            let seen = self.shared.columns.iter().zip(&tally.seen);
            let was_seen = seen.filter(|(column, _)| column.path == *path).any(|(_, seen)| seen.load(Relaxed));
            let occurs = was_seen
                || match self.types.of(path) {
                    Some(seen) => seen.is_present(),
                    // What a condition turned away was not looked at: look again, which only happens for rare names.
                    None if self.input.is_rereadable() => infer::occurs(&self.input, path, options)?,
                    None => !tally.pushed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_empty(),
                };
            if !occurs {
                report.notes.push(format!("no record has `{written}` (names are case-sensitive)"));
            }
        }
        Ok(())
    }
}

/// A column of the result, knowing whether its values are all texts.
fn output_column(output: &Output, sources: &[Source<'_>]) -> Column {
    let is_text = match &output.kind {
        OutputKind::Plain(origins) | OutputKind::Json(origins) => origins.iter().all(|(source, path)| {
            let seen = sources.get(*source).and_then(|source| source.types.of(path));
            seen.is_some_and(|seen| matches!(seen.column_type(), None | Some(ColumnType::Text)))
        }),
        OutputKind::Record | OutputKind::Computed => false,
    };
    Column::new(output.clone(), is_text)
}
