//! Runs a query, from its text to the text of its result.

mod answer;

use crate::arrival::depends_on_arrival;
use crate::bad::BadSink;
#[cfg(feature = "cluster")]
use crate::cluster::{self, Cluster, Recipe};
use crate::error::{Error, ErrorKind};
use crate::groups::group_once;
use crate::guard::{Memory, batch_bytes, pieces};
use crate::guess::{self, Gate, Guess, Guessed};
use crate::infer::{self, Types};
use crate::input::{Progress, Said};
use crate::inputs::Inputs;
use crate::interrupt::Interrupt;
use crate::learned::Learned;
use crate::live::live;
use crate::named::Named;
use crate::notes;
use crate::options::{CHUNK_BYTES, Options};
use crate::ordered::{Newest, in_order_of_store};
use crate::output::{Parted, Parts, WriteError, Writer, parted_writer, with_nulls, without_infinities, writer};
use crate::prepared::Source;
use crate::registered::{Registered, register};
use crate::repeated::{self, repeats};
use crate::report::Report;
use crate::scan::{ScanOptions, note_scans};
use crate::session::{batch_max, batch_rows, check_comparisons, is_aggregate, memory, scans, session};
use crate::sparing::sparing;
use crate::sql::{self, Asks, Known, Parsed, Rewritten, SourceUse};
use crate::steady::steady;
use crate::threads::{Held, Threads};
use crate::ties::decide_ties;
use crate::watched::watched;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable, execute_stream};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement;
use futures::StreamExt;
use futures::future::{Either, select};
use jird::kernel::Kernel;
use jird::lines::{self, Check};
use jird_formats::files::OnError;
use jird_formats::{Crew, caught};
use std::any::Any;
use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How much of a store is read first if only its newest events are wanted, and how many times as much next if there are
/// too few rows in it.
const NEWEST_BYTES: u64 = 2 << 20;
const NEWEST_FACTOR: u64 = 8;

/// Results are written in pieces of about this many bytes.
const PIECE_BYTES: usize = 16 << 20;

/// Rows from a pipe are held back this long, in case others follow.
const PATIENCE: Duration = Duration::from_millis(100);

/// A SQL query over files.
#[derive(Clone, Debug)]
pub struct Query {
    sql: String,
    inputs: Vec<String>,
    /// All that it may read, if not everything may be read.
    named: Option<Vec<Named>>,
    options: Options,
    progress: Arc<Progress>,
    interrupt: Interrupt,
    /// What its threads keep until they have ended.
    kept: Option<Held>,
    /// Whether the result is what a `copy` writes.
    copies: bool,
    /// Where its parts go, if it has parts.
    parted: Option<Parted>,
    /// What runs the plan, if not this process.
    #[cfg(feature = "cluster")]
    cluster: Option<Arc<dyn Cluster>>,
}

impl Query {
    /// Creates a query. Its table `stream` consists of these files, in this order: paths, patterns, or `-` for standard
    /// input. An empty list also means standard input.
    pub fn new(sql: impl Into<String>, inputs: Vec<String>, options: Options) -> Self {
        let inputs = if inputs.is_empty() { vec!["-".to_owned()] } else { inputs };
        let (progress, interrupt) = (Arc::default(), Interrupt::default());
        Self {
            sql: sql.into(),
            inputs,
            named: None,
            options,
            progress,
            interrupt,
            kept: None,
            copies: false,
            parted: None,
            #[cfg(feature = "cluster")]
            cluster: None,
        }
    }

    /// The same query, run by a cluster. Its machines must see the inputs at the same places as this one.
    #[cfg(feature = "cluster")]
    #[must_use]
    pub fn on(self, cluster: Arc<dyn Cluster>) -> Self {
        Self { cluster: Some(cluster), ..self }
    }

    /// Creates a query for others: it reads nothing but what is named here, whatever its SQL says, calls no function
    /// whose result can fill all memory, and its messages name no path. Its tables have these names, with or without
    /// quotes. `stream` is the only one of them, or the only event store.
    ///
    /// ```
    /// use jird_query::{Named, Options, Query, Report};
    /// # let file = std::env::temp_dir().join(format!("jird-named-{}.ndjson", std::process::id()));
    /// # std::fs::write(&file, "{\"name\":\"Ann\"}\n")?;
    /// let ask = |sql: &str| {
    ///     let mut out = Vec::new();
    ///     let query = Query::of_named(sql, vec![Named::new("people", &file)], Options::default());
    ///     query.run(&mut out, &mut Report::default()).map(|()| String::from_utf8(out).unwrap())
    /// };
    /// assert_eq!(ask("select name from people").unwrap(), "{\"name\":\"Ann\"}\n");
    /// assert!(ask("select * from '/etc/passwd'").is_err());
    /// # std::fs::remove_file(&file)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn of_named(sql: impl Into<String>, named: Vec<Named>, options: Options) -> Self {
        Self { named: Some(named), ..Self::new(sql, Vec::new(), options) }
    }

    /// The same query, whose threads keep something until the last of them has ended. That may be after the query: a
    /// step of it that was begun is not left in its middle.
    #[must_use]
    pub fn keeping(self, kept: Arc<dyn Any + Send + Sync>) -> Self {
        Self { kept: Some(kept), ..self }
    }

    /// The same query, whose rows are written as [`CopyTo`](crate::CopyTo) says. Otherwise, `copy` is an error: nobody
    /// would write its file.
    #[must_use]
    pub fn copying(self) -> Self {
        Self { copies: true, ..self }
    }

    /// The same query, whose rows go to folders that the values of these columns name, in place of its output. They are
    /// sorted by them, and one part is open at a time.
    #[must_use]
    pub fn in_parts(self, by: Vec<String>, parts: Arc<Mutex<dyn Parts>>) -> Self {
        Self { parted: Some(Parted { by, parts }), ..self }
    }

    /// What ends the query early; other threads can use it.
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
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
    /// succeeds or fails. Files that cannot be read are listed in the report.
    ///
    /// # Errors
    /// If the SQL is wrong, a record is bad, or reading or writing fails. Output that was written before the error
    /// stays.
    pub fn run(&self, out: &mut dyn Write, report: &mut Report) -> Result<(), Error> {
        let started = Instant::now();
        report.check = self.check();
        report.threads = self.threads();
        report.kernel = Kernel::best().name();
        let result = caught(|| self.run_timed(out, report))
            .unwrap_or_else(|words| Err(Error::internal(format!("the query failed in a way that is a bug: {words}"))));
        report.elapsed = started.elapsed();
        let result = result.map_err(|error| match (&self.options.spill, error.kind()) {
            (Some(_), ErrorKind::Memory) => error.advised("; --memory-limit sets how much that is"),
            _ => error,
        });
        match &self.named {
            Some(named) => result.map_err(|error| error.renamed(|message| Named::in_place_of_paths(message, named))),
            None => result,
        }
    }

    /// How many threads scan at the same time, here or on all machines.
    fn threads(&self) -> usize {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return cluster.tasks().max(1);
        }
        self.options.threads.max(1)
    }

    /// The most rows and bytes of a batch. Queries of others have limits of their own.
    fn batch_max(&self) -> (usize, usize) {
        batch_max(self.options.memory_max.filter(|_| self.options.spill.is_some()), self.threads())
    }

    fn check(&self) -> Check {
        if self.options.on_error == OnError::Stop { self.options.check } else { Check::All }
    }

    fn run_timed(&self, out: &mut dyn Write, report: &mut Report) -> Result<(), Error> {
        if self.named.is_some() {
            sql::check_served_text(&self.sql)?;
        }
        let parsed = self.parsed()?;
        let bad = match &self.options.on_error {
            OnError::Stop => None,
            on_error => Some(BadSink::new(on_error, self.options.record_limit)?),
        };
        let done = self.answer(&parsed, bad.as_ref(), out, report);
        let Some(bad) = bad else { return done };
        let seen_out = bad.finish();
        (report.bad, report.first_bad) = bad.seen();
        done.and(seen_out)
    }

    fn run_parsed(
        &self,
        parsed: &Parsed,
        inputs: &mut Inputs<'_>,
        bad: Option<&BadSink>,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Error> {
        let scan = ScanOptions {
            lines: lines::Options {
                check: self.check(),
                record_bytes_max: self.options.record_limit,
                ..lines::Options::default()
            },
            threads: self.threads(),
            chunk_bytes: self.options.chunk_bytes.max(1),
            batch_bytes: self.batch_max().1,
            bad: bad.cloned(),
            interrupt: self.interrupt.clone(),
            crew: Crew::default(),
            kept: self.kept.clone(),
        };
        let mut learned = Learned { guesses: true, ..Learned::default() };
        let (mut notes, before) = (Vec::new(), report.clone());
        let done = loop {
            match self.attempt(parsed, &scan, inputs, &mut learned, out, report) {
                Ok(Attempt::Done(more)) => {
                    notes = more;
                    break Ok(());
                }
                Ok(Attempt::Learned) => {}
                Err(error) if self.may_spare(&error, &learned, inputs, report) => {
                    learned.spares = true;
                    report.clone_from(&before);
                }
                Err(error) => break Err(error),
            }
        };
        let Said { unreadable, refused, notes: said } = std::mem::take(&mut inputs.said);
        report.unreadable.extend(unreadable);
        report.refused.extend(refused);
        report.notes.splice(0..0, said);
        report.notes.append(&mut notes);
        done
    }

    /// Whether a query that has failed for lack of memory is tried again with a plan that takes less: nothing was written,
    /// and everything can be read again.
    fn may_spare(&self, error: &Error, learned: &Learned, inputs: &Inputs<'_>, report: &Report) -> bool {
        let may_repeat = report.rows == 0 && self.options.on_error == OnError::Stop && inputs.are_rereadable();
        error.kind() == ErrorKind::Memory && self.options.spill.is_some() && !learned.spares && may_repeat
    }

    /// Rewrites the query by what is known of its fields, and runs it; or learns more of the fields, before any output
    /// was written.
    fn attempt(
        &self,
        parsed: &Parsed,
        scan: &ScanOptions,
        inputs: &mut Inputs<'_>,
        learned: &mut Learned,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<Attempt, Error> {
        let range_bytes_min =
            (scan.chunk_bytes != CHUNK_BYTES).then(|| usize::try_from(scan.chunk_bytes).unwrap_or(usize::MAX));
        // Each attempt has a session of its own, because it registers its tables anew.
        self.interrupt.check()?;
        let context = session(range_bytes_min, self.options.memory_max, self.options.spill.as_ref(), &self.interrupt)?;
        #[cfg(feature = "cluster")]
        let context = if self.cluster.is_some() { cluster::session(&context) } else { context };
        context.state_ref().write().config_mut().options_mut().optimizer.prefer_hash_join = !learned.spares;
        let state = context.state();
        let schema = &self.options.schema;
        let is_aggregate = |name: &str| is_aggregate(&state, name);
        let style = self.options.format.style();
        let mut keys = |table: &str| inputs.keys(table, scan);
        let rewritten =
            sql::rewrite(parsed.query.clone(), &is_aggregate, &mut keys, &learned.known, style, self.named.as_deref())?;
        #[cfg(feature = "cluster")]
        let rewritten = match &self.cluster {
            Some(_) => rewritten.with_recipe(&Recipe::new(&self.sql, style, &learned.known, inputs.known_keys()))?,
            None => rewritten,
        };
        for source in &rewritten.sources {
            inputs.restrict(&source.table, source.folder_filter());
        }
        if !rewritten.sources.iter().any(|source| source.table == sql::STREAM) {
            inputs.open_unused()?;
        }
        let names_twice = sql::names_twice(&rewritten.statement);
        let guesses = learned.guesses && guess::may_help(&rewritten, schema, scan);
        let open = |inputs: &mut Inputs<'_>, source: &SourceUse, guesses: bool| {
            if !infer::reads(source, schema) && !names_twice {
                inputs.open(&source.table)
            } else if guesses && !names_twice {
                inputs.open_copying(&source.table)
            } else {
                inputs.open_twice(&source.table)
            }
        };
        let mut opened = Vec::new();
        for source in &rewritten.sources {
            opened.push(open(inputs, source, guesses)?);
        }
        learned.look_at_stores(&rewritten, &opened, schema);
        let is_known = rewritten.sources.iter().any(|source| learned.types.contains_key(&source.table));
        let guess = if guesses && !is_known { guess::source(&rewritten, &opened, schema, scan) } else { None };
        if let Some(guess) = guess {
            let table = &guess.used.table;
            if learned.learns(self.known(&rewritten, |other| (other == table).then_some(&guess.types))) {
                return Ok(Attempt::Learned);
            }
            opened.iter().for_each(|input| input.expect(1));
            let tried = if parsed.asks == Asks::Plan {
                self.explain_guessing(&context, &rewritten, guess, scan, out, report)
            } else {
                self.run_guessing(&context, &rewritten, guess, scan, out, report)
            };
            return tried.map(|tried| match tried {
                Guessed::Right(notes) => Attempt::Done(notes),
                Guessed::Wrong(types) => {
                    learned.guesses = false;
                    learned.types.extend(types.map(|types| (rewritten.sources[0].table.clone(), types)));
                    Attempt::Learned
                }
            });
        }
        if guesses {
            // What is still copied is waited for.
            opened = rewritten.sources.iter().map(|source| open(inputs, source, false)).collect::<Result<_, _>>()?;
        }
        for (source, input) in rewritten.sources.iter().zip(&opened) {
            if !learned.types.contains_key(&source.table) {
                input.expect(u64::from(infer::reads(source, schema)));
                learned.types.insert(source.table.clone(), Types::infer(input, source, schema, scan)?);
            }
        }
        if learned.learns(self.known(&rewritten, |table| learned.types.get(table))) {
            return Ok(Attempt::Learned);
        }
        let mut sources = Vec::new();
        for (source, input) in rewritten.sources.iter().zip(opened) {
            input.expect(1);
            let types = learned.types.get(&source.table).cloned().unwrap_or_default();
            sources.push(Source::new(source, input, types, scan.clone(), None));
        }
        sources.iter().for_each(|source| source.report_types(report));
        if parsed.asks == Asks::Plan {
            let text = self.explain(&context, &rewritten, &sources, &Gate::default(), report)?;
            return write_text(&text, out).map(|()| Attempt::Done(Vec::new()));
        }
        self.execute(&context, &rewritten, &sources, &Gate::default(), out, report)?;
        notes::of(&rewritten, &sources, scan, report).map(Attempt::Done)
    }

    /// What the schema and these types tell of the fields of a query.
    fn known<'t>(&self, rewritten: &Rewritten, types: impl Fn(&str) -> Option<&'t Types>) -> Known {
        let mut known = Known::default();
        for source in &rewritten.sources {
            let fixed = self.options.schema.all().map(|(path, kind)| (source.table.clone(), path.clone(), *kind));
            known.types.extend(fixed);
            if let Some(types) = types(&source.table) {
                types.tell(&source.table, &mut known);
            }
        }
        known
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
        let mut sources = [Source::new(used, input, types, scan.clone(), Some(watch))];
        let mut trial = report.clone();
        let gate = Gate::of(&sources[0]);
        let done = self.execute(context, rewritten, &sources, &gate, out, &mut trial);
        let is_open = gate.is_open();
        let types = sources[0].seen();
        let (true, Some(types)) = (is_open, &types) else { return Ok(Guessed::Wrong(types)) };
        sources[0].types = types.clone();
        sources[0].report_types(&mut trial);
        *report = trial;
        done.and_then(|()| notes::of(rewritten, &sources, scan, report)).map(Guessed::Right)
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
        let sources = [Source::new(used, input, types, scan.clone(), Some(watch))];
        match self.explain(context, rewritten, &sources, &Gate::of(&sources[0]), report) {
            Ok(text) => write_text(&text, out).map(|()| Guessed::Right(Vec::new())),
            Err(_) => Ok(Guessed::Wrong(None)),
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
        let registered = register(context, rewritten, sources)?;
        let columns = rewritten.outputs.clone();
        let threads = Threads::new(self.options.threads, self.kept.as_ref())?;
        let statement = Statement::Statement(Box::new(rewritten.statement.clone()));
        let started = self.stream(context, statement, sources, gate, &registered);
        let done = self.wait(&threads, started).and_then(|stream| {
            let stream = stream.map_err(|error| Error::of(&error))?;
            let is_live = sources.iter().any(|source| source.shared.is_once);
            let format = self.options.format;
            let writer = match &self.parted {
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
        let plan = Threads::new(self.options.threads, self.kept.as_ref())?.wait(async {
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
        if let Some(cluster) = &self.cluster {
            return cluster::run(cluster.as_ref(), context.state(), &plan, sources, registered).await;
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
        let mut batch_rows = batch_rows(plan, self.options.memory_max)?.min(self.batch_max().0);
        if self.named.is_some() && self.options.memory_max.is_some() && repeats(plan) {
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
        if !ordered {
            options.execution.target_partitions = self.options.threads.max(1);
        }
        let spares = !options.optimizer.prefer_hash_join;
        if spares {
            // DataFusion sorts for joins only where there are several partitions. Where the order of rows is of interest,
            // there are always as many.
            options.execution.target_partitions = options.execution.target_partitions.max(2);
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
        if self.named.is_some() {
            physical = watched(physical, &self.interrupt, self.options.memory_max)?;
        } else if self.options.memory_max.is_some() {
            physical = repeated::counted_windows(physical)?;
        }
        Ok(physical)
    }
}

fn write_text(text: &str, out: &mut dyn Write) -> Result<(), Error> {
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| Error::output(&error))
}

/// The end of an attempt.
enum Attempt {
    /// The query is done. These notes are for the user.
    Done(Vec<String>),
    /// More is known of the fields, and another attempt can be made.
    Learned,
}
