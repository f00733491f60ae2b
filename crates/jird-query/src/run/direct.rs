//! Queries that one scan answers: some fields of the records that meet a condition, or how many these are. No plan is made
//! for them, and no engine of SQL is started.
//!
//! In go a rewritten query and its only source, out come batches of the result. What must hold: the answer is that of the
//! plan which DataFusion would make, also in the order of its rows, its notes and its figures.

use crate::base::bytes::is_there;
use crate::base::error::Error;
use crate::base::threads::Threads;
use crate::input::InputFile;
use crate::output::report::Report;
use crate::run::bounds::Bounds;
use crate::run::results::Results;
use crate::scan::bad::BadSink;
use crate::scan::{Outlet, Part, PartResult, Plan, TableScan, note};
use crate::sql::{Leaf, Rewritten, arguments, each_slot, function_name, map_slots};
use crate::types::guess::Gate;
use crate::types::prepared::Source;
use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use jird::record::Predicate;
use jird_formats::caught;
use jird_formats::files::OnError;
use sqlparser::ast::{
    BinaryOperator, Expr, Function, LimitClause, Query, Select, SelectItem, SetExpr, Statement, TableFactor,
    UnaryOperator, Value,
};
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The most batches that wait to be written.
const WAITING: usize = 4;

/// A query that one scan answers.
pub(crate) struct Direct<'q> {
    source: &'q Source<'q>,
    asks: DirectResult,
    /// The slots are columns of the table.
    filter: Option<Predicate>,
    /// The conditions, as they were written.
    conditions: Vec<String>,
    offset: u64,
    limit: Option<u64>,
}

/// What a direct query asks for.
enum DirectResult {
    /// These columns of the table.
    Rows(Vec<usize>),
    /// How many records there are.
    Count,
}

impl<'q> Direct<'q> {
    /// The query, if one scan answers it.
    pub(crate) fn of(rewritten: &Rewritten, sources: &'q [Source<'q>]) -> Option<Self> {
        let [source] = sources else { return None };
        let Statement::Query(query) = &rewritten.statement else { return None };
        let SetExpr::Select(select) = &*query.body else { return None };
        let asks = asks(&select.projection, &source.shared)?;
        let (offset, limit) = limits(query.limit_clause.as_ref())?;
        let mut conditions = Vec::new();
        let filter = match &select.selection {
            Some(condition) => Some(predicate(condition, &rewritten.leaves, &source.shared, &mut conditions)?),
            None => None,
        };
        is_plain(query, select).then_some(Self { source, asks, filter, conditions, offset, limit })
    }

    /// Runs the query and writes its result.
    pub(crate) fn run(
        &self,
        rewritten: &Rewritten,
        bounds: Bounds<'_>,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Error> {
        report.direct = true;
        let threads = Threads::here()?;
        let is_live = self.source.shared.is_once;
        let results = Results { bounds, threads: &threads, is_live, gate: &Gate::default() };
        let memory_max = bounds.options.memory_max.filter(|_| bounds.is_of_others).unwrap_or(usize::MAX);
        let room = |bytes: usize| if bytes <= memory_max { is_there(bytes) } else { Err(Error::memory()) };
        let done = self.start(bounds).and_then(|batches| {
            let schema = self.schema(rewritten);
            let (offset, left) = (self.offset, self.limit.unwrap_or(u64::MAX));
            let count = matches!(self.asks, DirectResult::Count).then(|| Arc::clone(&schema));
            let mut rows = Batches { from: batches, columns: self.order(), offset, left, count };
            let writer = results.writer(rewritten, None);
            let done = results.write(writer, &schema, async || rows.next().await.transpose(), room, out, report);
            rows.from.close();
            if !is_live {
                // The scan has ended by itself, or now ends because no more is wanted: it notes which.
                results.wait(async { while rows.from.recv().await.is_some() {} })?;
            } else if !matches!(rows.from.try_recv(), Err(TryRecvError::Disconnected)) {
                // It learns of it when more comes from the pipe.
                self.source.shared.tally.stopped.store(true, Relaxed);
            }
            done
        });
        self.source.report(report);
        done
    }

    /// Explains how the query would run.
    pub(crate) fn explain(&self, bounds: Bounds<'_>, report: &mut Report) -> Result<String, Error> {
        self.tell();
        self.plan(bounds.batch_rows_max, (false, false))?.note_choice();
        self.source.shared.ordered.store(true, Relaxed);
        let mut text = String::new();
        self.source.report(report);
        self.source.explain(&mut text);
        text += "plan\n  none: the scan is the answer\n";
        Ok(text)
    }

    /// Notes what the scan reads and decides.
    fn tell(&self) {
        let tally = &self.source.shared.tally;
        let mut read = self.scanned();
        self.filter.iter().for_each(|filter| each_slot(filter, &mut |column| read.push(column)));
        note(&tally.columns, read);
        note(&tally.literals, self.source.shared.literals(self.filter.as_ref()));
        note(&tally.pushed, self.conditions.clone());
    }

    /// The scan of a file.
    fn plan(&self, batch_rows: usize, notes: (bool, bool)) -> Result<Plan, Error> {
        let scanned = self.scanned();
        let schema = self.source.schema.project(&scanned).map_err(|error| Error::of_arrow(&error))?;
        Ok(Plan::new(&self.source.shared, &scanned, self.filter.as_ref(), Arc::new(schema), batch_rows, notes))
    }

    /// The columns that are scanned, each once.
    fn scanned(&self) -> Vec<usize> {
        let mut scanned = match &self.asks {
            DirectResult::Rows(columns) => columns.clone(),
            DirectResult::Count => Vec::new(),
        };
        scanned.sort_unstable();
        scanned.dedup();
        scanned
    }

    /// Which of the scanned columns each column of the result is.
    fn order(&self) -> Vec<usize> {
        let scanned = self.scanned();
        let at = |column: &usize| scanned.iter().position(|other| other == column);
        match &self.asks {
            DirectResult::Rows(columns) => columns.iter().filter_map(at).collect(),
            DirectResult::Count => vec![0],
        }
    }

    /// The columns of the result.
    fn schema(&self, rewritten: &Rewritten) -> SchemaRef {
        let names = rewritten.outputs.iter().map(|output| output.name.as_str());
        let field = |(name, column): (&str, &usize)| self.source.schema.field(*column).clone().with_name(name);
        Arc::new(Schema::new(match &self.asks {
            DirectResult::Rows(columns) => names.zip(columns).map(field).collect::<Vec<_>>(),
            DirectResult::Count => names.map(|name| Field::new(name, DataType::Int64, false)).collect(),
        }))
    }

    /// Starts the scan.
    fn start(&self, bounds: Bounds<'_>) -> Result<Receiver<Result<RecordBatch, Error>>, Error> {
        let (sender, batches) = channel(WAITING);
        if self.limit == Some(0) {
            return Ok(batches);
        }
        self.tell();
        let shared = &self.source.shared;
        let files = self.source.input.files.clone();
        // Several files are counted at the same time, in any order, unless bad records are noted in theirs. A long file is
        // cut, and all threads read it.
        let is_counted = matches!(self.asks, DirectResult::Count) && bounds.options.on_error == OnError::Stop;
        let jobs = if is_counted { shared.options.threads.clamp(1, files.len().max(1)) } else { 1 };
        shared.ordered.store(true, Relaxed);
        let plan = self.plan(bounds.batch_rows_max, shared.notes())?;
        let work = Arc::new(Work { plan, files, next: AtomicUsize::new(0), is_over: AtomicBool::new(false) });
        for _ in 0..jobs {
            let (work, sender) = (Arc::clone(&work), sender.clone());
            let started = shared.options.crew.run("jird-scan", move || {
                // Without its error, what was scanned before would be taken for all.
                if let Err(words) = caught(|| work.run(&sender)) {
                    let message = format!("the scan failed in a way that is a bug: {words}");
                    let _ = sender.blocking_send(Err(Error::internal(message)));
                }
            });
            started.map_err(|error| Error::unread(format!("cannot start a thread: {error}")))?;
        }
        Ok(batches)
    }
}

/// The batches of a result, cut to the rows that are wanted.
struct Batches {
    from: Receiver<Result<RecordBatch, Error>>,
    /// The columns of a batch that are those of the result.
    columns: Vec<usize>,
    /// How many rows are still passed by.
    offset: u64,
    /// How many more are wanted.
    left: u64,
    /// If rows are only counted: the schema of their count.
    count: Option<SchemaRef>,
}

impl Batches {
    async fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        if let Some(schema) = self.count.clone() {
            let mut count = 0_i64;
            while let Some(batch) = self.from.recv().await {
                count += batch?.num_rows() as i64;
            }
            self.count = None;
            // From here on, it is a batch of a result as any other, and the last one.
            let counted = RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(vec![count]))]);
            return self.cut(&counted.map_err(|error| Error::of_arrow(&error))?);
        }
        while self.left > 0 {
            let Some(batch) = self.from.recv().await else { break };
            if let Some(batch) = self.cut(&batch?)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// The rows of a batch that are wanted, if any are.
    fn cut(&mut self, batch: &RecordBatch) -> Result<Option<RecordBatch>, Error> {
        let rows = batch.num_rows() as u64;
        let passed = self.offset.min(rows);
        let taken = self.left.min(rows - passed);
        (self.offset, self.left) = (self.offset - passed, self.left - taken);
        if taken == 0 {
            return Ok(None);
        }
        let batch = batch.project(&self.columns).map_err(|error| Error::of_arrow(&error))?;
        Ok(Some(batch.slice(passed as usize, taken as usize)))
    }
}

/// The files of a scan, which jobs take one after the other.
struct Work {
    plan: Plan,
    files: Vec<Arc<InputFile>>,
    next: AtomicUsize,
    /// Whether a file has ended the scan.
    is_over: AtomicBool,
}

impl Work {
    fn run(&self, sender: &Sender<Result<RecordBatch, Error>>) {
        let bad = self.plan.bad();
        while !self.is_over.load(Relaxed)
            && let Some(file) = self.files.get(self.next.fetch_add(1, Relaxed))
        {
            self.plan.run(file, file.size.map(|size| 0..size), &FileOutlet { work: self, file, bad, sender });
        }
    }
}

/// Takes what the scan of one file sends.
struct FileOutlet<'w> {
    work: &'w Work,
    file: &'w Arc<InputFile>,
    bad: Option<&'w BadSink>,
    sender: &'w Sender<Result<RecordBatch, Error>>,
}

impl Outlet for FileOutlet<'_> {
    fn send(&self, sent: PartResult) -> ControlFlow<()> {
        let batch = match (sent, self.bad) {
            (Ok(Part::Batch(batch)), _) => Ok(batch),
            (Ok(Part::Found(found)), Some(bad)) => match bad.note(self.file, 0, found, self.work.plan.notes()) {
                Ok(()) => return ControlFlow::Continue(()),
                Err(error) => Err(error),
            },
            (Ok(Part::Found(_)), None) => return ControlFlow::Continue(()),
            (Err(error), _) => Err(error),
        };
        let goes_on = batch.is_ok();
        if self.sender.blocking_send(batch).is_ok() && goes_on {
            return ControlFlow::Continue(());
        }
        self.work.is_over.store(true, Relaxed);
        ControlFlow::Break(())
    }

    fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

/// Whether a query has nothing but columns, one table, a condition and limits. What else there is would be in its text.
fn is_plain(query: &Query, select: &Select) -> bool {
    let [table] = &select.from[..] else { return false };
    let TableFactor::Table { name, alias, .. } = &table.relation else { return false };
    let items: Vec<_> = select.projection.iter().map(ToString::to_string).collect();
    let alias = alias.as_ref().filter(|alias| alias.columns.is_empty());
    let parts = [
        format!("SELECT {} FROM {name}", items.join(", ")),
        alias.map_or_else(String::new, |alias| format!(" {alias}")),
        select.selection.as_ref().map_or_else(String::new, |condition| format!(" WHERE {condition}")),
        query.limit_clause.as_ref().map_or_else(String::new, ToString::to_string),
    ];
    query.to_string() == parts.concat()
}

/// The offset and the limit.
fn limits(clause: Option<&LimitClause>) -> Option<(u64, Option<u64>)> {
    let number = |expr: &Expr| match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, false) => digits.parse::<u64>().ok(),
            _ => None,
        },
        _ => None,
    };
    match clause {
        None => Some((0, None)),
        Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
            let limit = match limit {
                Some(limit) => Some(number(limit)?),
                None => None,
            };
            let offset = match offset {
                Some(offset) => number(&offset.value)?,
                None => 0,
            };
            Some((offset, limit))
        }
        Some(_) => None,
    }
}

fn asks(items: &[SelectItem], shared: &TableScan) -> Option<DirectResult> {
    let expr = |item| match item {
        &SelectItem::ExprWithAlias { ref expr, .. } | &SelectItem::UnnamedExpr(ref expr) => Some(expr),
        _ => None,
    };
    if let [item] = items
        && let Expr::Function(call) = expr(item)?
    {
        return (call.to_string().to_lowercase() == "count(*)").then_some(DirectResult::Count);
    }
    items.iter().map(|item| column(expr(item)?, shared)).collect::<Option<Vec<_>>>().map(DirectResult::Rows)
}

/// The column of the table which this is.
fn column(expr: &Expr, shared: &TableScan) -> Option<usize> {
    let name = match expr {
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(parts) => parts.last()?,
        _ => return None,
    };
    shared.columns.iter().position(|column| column.rep.column(&column.path.to_string()) == name.value)
}

/// What a rewritten condition stands for, if the scan decides all of it: with columns of the table as slots.
fn predicate(expr: &Expr, leaves: &[Arc<Leaf>], shared: &TableScan, conditions: &mut Vec<String>) -> Option<Predicate> {
    let mut both = |left, right| {
        let left = predicate(left, leaves, shared, conditions)?;
        Some((left, predicate(right, leaves, shared, conditions)?))
    };
    match expr {
        Expr::Nested(inner) => predicate(inner, leaves, shared, conditions),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
            Some(Predicate::Not(predicate(expr, leaves, shared, conditions)?.into()))
        }
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            let (left, right) = both(left, right)?;
            let mut parts = Vec::new();
            for part in [left, right] {
                match part {
                    Predicate::And(more) => parts.extend(more),
                    one => parts.push(one),
                }
            }
            Some(Predicate::And(parts))
        }
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            both(left, right).map(|(left, right)| Predicate::Or(vec![left, right]))
        }
        Expr::Function(call) => leaf(call, leaves, shared, conditions),
        _ => None,
    }
}

fn leaf(call: &Function, leaves: &[Arc<Leaf>], shared: &TableScan, conditions: &mut Vec<String>) -> Option<Predicate> {
    let name = function_name(call);
    let leaf = leaves.iter().find(|leaf| leaf.name == name)?;
    let is_decided = |column: &usize| shared.columns[*column].is_decided();
    let columns = arguments(call).into_iter().map(|argument| column(argument, shared).filter(is_decided));
    let columns = columns.collect::<Option<Vec<_>>>()?;
    if !conditions.contains(&leaf.text) {
        conditions.push(leaf.text.clone());
    }
    Some(map_slots(&leaf.predicate, &|slot| columns[slot]))
}
