//! A query, from its text to the text of its result: parsed once, rewritten by what is known of its fields, and run.
//!
//! [`Query::run`] is the list of steps. A rewritten query may ask for more than is known: then its fields are looked at,
//! and it is rewritten again. What is known only grows, so this ends. What must hold: no row goes out before everything
//! that it depends on is certain.

mod answer;

use crate::base::error::{Error, ErrorKind};
use crate::base::interrupt::Interrupt;
use crate::base::named::Named;
use crate::base::threads::KeepAlive;
#[cfg(feature = "cluster")]
use crate::cluster::{Cluster, Recipe};
use crate::input::{FileMessages, Input, Progress};
use crate::output::report::Report;
use crate::output::{Parted, Parts};
use crate::run::bounds::Bounds;
use crate::run::direct::Direct;
use crate::run::execute::{Execution, is_aggregate};
use crate::run::results::write_text;
use crate::scan::ScanOptions;
use crate::scan::bad::BadSink;
use crate::setup::inputs::{InputRecords, Inputs, Opening};
use crate::setup::options::{Options, batch_max};
use crate::sql::{self, FieldKnowledge, Parsed, Purpose, Rewritten};
use crate::types::guess::{self, Gate, Guess, Guessed};
use crate::types::infer::Types;
use crate::types::learned::{Attempt, Learned};
use crate::types::notes;
use crate::types::prepared::Source;
use jird::hooks::Kernel;
use jird::lines::{self, Check};
use jird_formats::files::OnError;
use jird_formats::{Crew, caught};
use std::any::Any;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Instant;

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
    kept: Option<KeepAlive>,
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

    /// Creates a query for others: it reads nothing but what is named here, whatever its SQL says, and its messages name no
    /// path. A process of its own, with limits of the system, has to bound what it takes, as that of `jird serve` does. Its tables have these names, with or without
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

    /// The same query, whose rows are written as [`CopyTo`](crate::CopyTo) says. Otherwise, `copy` is an error: nothing
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

    /// The most rows and bytes of a batch. Untrusted queries have their own limits.
    fn batch_max(&self) -> (usize, usize) {
        batch_max(self.options.memory_max.filter(|_| self.options.spill.is_some()), self.threads())
    }

    fn check(&self) -> Check {
        if self.options.on_error == OnError::Stop { self.options.check } else { Check::All }
    }

    fn bounds(&self) -> Bounds<'_> {
        Bounds {
            options: &self.options,
            is_of_others: self.named.is_some(),
            interrupt: &self.interrupt,
            kept: self.kept.as_ref(),
            batch_rows_max: self.batch_max().0,
        }
    }

    fn execution(&self, learned: &Learned) -> Execution<'_> {
        Execution {
            bounds: self.bounds(),
            spares: learned.spares,
            parted: self.parted.as_ref(),
            #[cfg(feature = "cluster")]
            cluster: self.cluster.as_deref(),
        }
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
        #[cfg(feature = "cluster")]
        {
            inputs.asks_all = self.cluster.is_some();
        }
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
        let FileMessages { unreadable, refused, notes: said } = std::mem::take(&mut inputs.said);
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
        self.interrupt.check()?;
        let rewritten = self.rewritten(parsed, scan, inputs, learned)?;
        let mut opening = self.opening(&rewritten, scan, learned);
        let opened = opening.open(inputs)?;
        learned.look_at_stores(&rewritten, &opened, &self.options.schema);
        if let Some(guess) = self.guess(&rewritten, &opened, &opening, scan, learned) {
            let table = &guess.used.table;
            if learned.learns(self.known(&rewritten, |other| (other == table).then_some(&guess.types))) {
                return Ok(Attempt::Learned);
            }
            opened.iter().for_each(|input| input.expect(1));
            let tried = if parsed.asks == Purpose::Plan {
                self.explain_guessing(&rewritten, guess, scan, learned, out, report)?
            } else {
                self.run_guessing(&rewritten, guess, scan, learned, out, report)?
            };
            return Ok(learned.after(tried, &rewritten));
        }
        let opened = if opening.copies {
            // What is still copied is waited for.
            opening.copies = false;
            opening.open(inputs)?
        } else {
            opened
        };
        learned.infer(&rewritten, &opened, &self.options.schema, scan)?;
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
        let (direct, planned) = (self.direct(&rewritten, &sources), self.execution(learned));
        if parsed.asks == Purpose::Plan {
            let text = match direct {
                Some(direct) => direct.explain(self.bounds(), report)?,
                None => planned.explain(&rewritten, &sources, &Gate::default(), report)?,
            };
            return write_text(&text, out).map(|()| Attempt::Done(Vec::new()));
        }
        match direct {
            Some(direct) => direct.run(&rewritten, self.bounds(), out, report)?,
            None => planned.execute(&rewritten, &sources, &Gate::default(), out, report)?,
        }
        Ok(Attempt::Done(notes::of(&rewritten, &sources, scan, report)))
    }

    /// The query as one that its scan answers, if it is one.
    fn direct<'s>(&self, rewritten: &Rewritten, sources: &'s [Source<'s>]) -> Option<Direct<'s>> {
        #[cfg(feature = "cluster")]
        if self.cluster.is_some() {
            return None;
        }
        if self.parted.is_some() { None } else { Direct::of(rewritten, sources) }
    }

    /// The query over scanned columns, by what is known.
    fn rewritten(
        &self,
        parsed: &Parsed,
        scan: &ScanOptions,
        inputs: &mut Inputs<'_>,
        learned: &Learned,
    ) -> Result<Rewritten, Error> {
        let style = self.options.format.style();
        let mut asked = InputRecords { inputs, scan };
        let (query, named) = (parsed.query.clone(), self.named.as_deref());
        let rewritten = sql::rewrite(query, &is_aggregate, &mut asked, &learned.known, style, named)?;
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
        Ok(rewritten)
    }

    /// How the inputs of the tables are opened.
    fn opening<'r>(&'r self, rewritten: &'r Rewritten, scan: &ScanOptions, learned: &Learned) -> Opening<'r> {
        let schema = &self.options.schema;
        let names_twice = sql::names_twice(&rewritten.statement);
        let copies = learned.guesses && guess::may_help(rewritten, schema, scan);
        Opening { sources: &rewritten.sources, schema, names_twice, copies }
    }

    /// What is guessed of the only table of the query, if that may help.
    fn guess<'r>(
        &self,
        rewritten: &'r Rewritten,
        opened: &[Input],
        opening: &Opening<'_>,
        scan: &ScanOptions,
        learned: &Learned,
    ) -> Option<Guess<'r>> {
        let is_known = rewritten.sources.iter().any(|source| learned.types.contains_key(&source.table));
        if opening.copies && !is_known { guess::source(rewritten, opened, &self.options.schema, scan) } else { None }
    }

    /// What the schema and these types tell of the fields of a query.
    fn known<'t>(&self, rewritten: &Rewritten, types: impl Fn(&str) -> Option<&'t Types>) -> FieldKnowledge {
        let mut known = FieldKnowledge::default();
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
        rewritten: &Rewritten,
        guess: Guess<'_>,
        scan: &ScanOptions,
        learned: &Learned,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<Guessed, Error> {
        let Guess { used, input, types, watch } = guess;
        let mut sources = [Source::new(used, input, types, scan.clone(), Some(watch))];
        let mut trial = report.clone();
        let gate = Gate::of(&sources[0]);
        let done = self.execution(learned).execute(rewritten, &sources, &gate, out, &mut trial);
        let is_open = gate.is_open();
        let types = sources[0].seen();
        let (true, Some(types)) = (is_open, &types) else { return Ok(Guessed::Wrong(types)) };
        sources[0].types = types.clone();
        sources[0].report_types(&mut trial);
        *report = trial;
        done.map(|()| Guessed::Right(notes::of(rewritten, &sources, scan, report)))
    }

    /// Explains how the query would run with guessed types, if it would.
    fn explain_guessing(
        &self,
        rewritten: &Rewritten,
        guess: Guess<'_>,
        scan: &ScanOptions,
        learned: &Learned,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<Guessed, Error> {
        let Guess { used, input, types, watch } = guess;
        let sources = [Source::new(used, input, types, scan.clone(), Some(watch))];
        match self.execution(learned).explain(rewritten, &sources, &Gate::of(&sources[0]), report) {
            Ok(text) => write_text(&text, out).map(|()| Guessed::Right(Vec::new())),
            Err(_) => Ok(Guessed::Wrong(None)),
        }
    }
}
