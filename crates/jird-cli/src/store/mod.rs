//! `jird store`: inspects, maintains, copies and follows event stores.

mod copies;
mod delete;
mod tail;

use crate::outcome::{Outcome, report as say};
use crate::output;
use crate::wait::WaitArgs;
use crate::window::{self, WindowArgs};
use anyhow::{Context, Result};
use bytesize::ByteSize;
use jird::hooks::{ObjectWriter, write_object};
use jird_store::{
    ColumnChoice, Damage, Deletion, ErrorKind, Extent, Info, Limits, Restored, Saved, SpanInfo, Store, WriterOptions,
    time,
};
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  jird store info shop-log
  jird store verify shop-log
  jird store compact shop-log
  jird store retain shop-log --older-than 30d
  jird store retain shop-log --keep-size 50GB --dry-run
  jird store delete shop-log --where \"user.id = 'u-17'\" --dry-run
  jird store backup shop-log shop-backup
  jird store restore shop-backup shop-new
  jird store tail shop-log --where \"Level = 'Error'\"
  jird store export shop-log > events.ndjson
  jird store export shop-log --since 2024-03-05T07:00:00Z | head

`jird ingest` fills a store, and `jird query --store` queries it. All of these commands may run
during ingestion and queries.
Exit codes: 0 success, 1 something in the store is damaged, 2 the command could not do its work.";

/// Inspect, maintain, copy and follow event stores
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Show what is in a store: its spans (files of events), their sizes, and what is indexed
    Info {
        /// The folder of the store
        store: PathBuf,
        /// Print one JSON object, for programs
        #[arg(long)]
        json: bool,
    },
    /// Read every block, verify its checksum, and report damage
    Verify {
        /// The folder of the store
        store: PathBuf,
        /// Rebuild a missing or damaged manifest and indexes, set damaged logs aside, and accept their losses
        #[arg(long)]
        repair: bool,
        #[command(flatten)]
        wait: WaitArgs,
        /// Print nothing except errors and damage
        #[arg(short, long)]
        quiet: bool,
    },
    /// Seal the log, merge spans of about the same size, and delete what `retain` has hidden
    Compact {
        /// The folder of the store
        store: PathBuf,
        /// Merge all spans that are small or overlap in time; each time, this writes the newest part of the store again
        #[arg(long)]
        full: bool,
        #[command(flatten)]
        wait: WaitArgs,
        /// Print nothing except errors and damage
        #[arg(short, long)]
        quiet: bool,
    },
    /// Delete old events: those before a given time, or the oldest ones beyond a size
    #[command(group(clap::ArgGroup::new("limit").required(true).multiple(true)))]
    Retain {
        /// The folder of the store
        store: PathBuf,
        /// A time such as 2024-03-05T07:00:00Z, or an age such as 12h, 30d or 4w
        #[arg(long, value_name = "TIME", group = "limit")]
        older_than: Option<String>,
        /// Keep at most this much on disk, such as 500MB or 50GB: whole spans go, first those that end first; the newest
        /// span and the logs stay
        #[arg(long, value_name = "SIZE", group = "limit")]
        keep_size: Option<ByteSize>,
        /// Say what would be deleted, and delete nothing
        #[arg(long)]
        dry_run: bool,
        /// Print nothing except errors
        #[arg(short, long)]
        quiet: bool,
    },
    /// Delete the events for which a condition holds, such as all events of a person
    ///
    /// Files that have such events are written again without them, and the old files are removed: nothing is only
    /// hidden. Events that come while the command runs may stay. If it is interrupted, run it again. The record in
    /// `jird store info` has the time and the number of events, but not the condition, which may name a person.
    Delete(delete::DeleteArgs),
    /// Copy a store to a new or empty folder, while programs may write to it
    ///
    /// The copy is a store: queries read it, `verify` verifies it. It has all events that were in the store when the
    /// command began. On the same file system, spans are hard links, which are made at once and take no room. Then the
    /// copy shares its bytes with the store: it survives a deletion, but not a broken disk.
    Backup {
        /// The folder of the store
        store: PathBuf,
        /// The folder for the copy; created if it does not exist
        #[arg(value_name = "DIR")]
        target: PathBuf,
        /// Copy all files, and link none, also on the same file system
        #[arg(long)]
        copy: bool,
        /// Print nothing except errors and damage
        #[arg(short, long)]
        quiet: bool,
    },
    /// Verify a backup, and make a new store of it
    ///
    /// Every block is read and its checksum verified. A damaged backup is refused. All files are copied, and the backup is
    /// not changed.
    Restore {
        /// The folder of the backup
        backup: PathBuf,
        /// The folder for the store: new or empty, as no store is overwritten
        store: PathBuf,
        /// Restore a damaged backup, too: the damage is reported, and is in the new store as well
        #[arg(long)]
        damaged: bool,
        /// Print nothing except errors and damage
        #[arg(short, long)]
        quiet: bool,
    },
    /// Print new events as they come, one per line, until Ctrl-C: `tail -f` for a store
    ///
    /// Events of every program that writes to the store are printed in the order in which they come, as soon as they are in
    /// its log; with `ingest --sync batch`, that is a moment before they are on disk.
    Tail(tail::TailArgs),
    /// Print the events, one per line, ordered by time
    Export {
        /// The folder of the store
        store: PathBuf,
        #[command(flatten)]
        window: WindowArgs,
    },
}

pub(crate) fn run(args: &StoreArgs) -> Result<Outcome> {
    match &args.task {
        Task::Info { store, json } => {
            let info = Store::open(store)?.info()?;
            output::write(&if *json { as_json(&info) } else { shown(&info).into_bytes() })?;
            Ok(told(&info.damage))
        }
        Task::Verify { store, repair, wait, quiet } => {
            let patience = wait.patience()?;
            let restored = if *repair { Store::restore_patiently(store, patience) } else { Ok(None) };
            let restored = restored.map_err(|error| wait.told(error))?;
            restored.iter().for_each(|restored| say_restored(store, restored));
            let store = Store::open(store)?.with_patience(patience);
            let verified = store.verify(*repair).map_err(|error| wait.told(error))?;
            let mut line = format!(
                "{}, {}, {}, {} bytes read",
                counted(verified.spans, "span"),
                counted(verified.blocks, "block"),
                counted(verified.events, "event"),
                verified.bytes
            );
            if *repair {
                let _ = write!(line, ", {} rebuilt", counted(verified.repaired, "index"));
            }
            if verified.accepted > 0 {
                let _ = write!(line, ", {} accepted", counted(verified.accepted, "loss"));
            }
            summary(&(line + "\n"), *quiet)?;
            let outcome = told(&verified.damage);
            Ok(if restored.is_some() { outcome.max(Outcome::BadData) } else { outcome })
        }
        Task::Compact { store, full, wait, quiet } => {
            let (store, patience) = (Store::open(store)?, wait.patience()?);
            let sealed = seal(&store)?;
            let extent = if *full { Extent::Full } else { Extent::Tiers };
            let compacted = store.clone().with_patience(patience).compact(extent).map_err(|error| wait.told(error))?;
            let line = match compacted.merged {
                0 => {
                    let sealed = if sealed { "the log is sealed; " } else { "" };
                    let few = if *full || store.size()?.spans < 2 {
                        ""
                    } else {
                        ": spans are merged when there are four of a size, or by --full"
                    };
                    format!("{sealed}there is nothing to merge{few}\n")
                }
                merged => {
                    format!("{} merged into {}, {} bytes\n", counted(merged, "span"), compacted.made, compacted.bytes)
                }
            };
            summary(&line, *quiet)?;
            Ok(told(&compacted.damage))
        }
        Task::Retain { store, older_than, keep_size, dry_run, quiet } => {
            let store = Store::open(store)?;
            let age = older_than.as_ref().map(|text| window::nanoseconds("--older-than", text, window::now()));
            let limits = Limits { before: age.transpose()?, bytes_max: keep_size.map(|size| size.as_u64()) };
            let retained = if *dry_run { store.would_retain(limits)? } else { store.retain_within(limits)? };
            let (removed, hidden) = if *dry_run { ("would be removed", "would be") } else { ("removed", "are") };
            let line = format!(
                "{} with {} {removed}; older events in {} {hidden} hidden now, and deleted by the next compaction\n",
                counted(retained.spans_removed, "span"),
                counted(retained.events_removed, "event"),
                counted(retained.cut, "other file"),
            );
            summary(&line, *quiet)?;
            Ok(Outcome::Fine)
        }
        Task::Delete(args) => delete::run(args),
        Task::Tail(args) => tail::run(args),
        Task::Backup { store, target, copy, quiet } => copies::back_up(store, target, *copy, *quiet),
        Task::Restore { backup, store, damaged, quiet } => copies::restore(backup, store, *damaged, *quiet),
        Task::Export { store, window } => {
            let window = window.window(window::now())?;
            let mut out = BufWriter::with_capacity(1 << 18, io::stdout().lock());
            let exported = match Store::open(store)?.export(window, &mut out) {
                // The reader of the output has seen enough.
                Err(error) if error.kind() == ErrorKind::Io(io::ErrorKind::BrokenPipe) => return Ok(Outcome::Cut),
                exported => exported?,
            };
            out.flush().context("cannot write standard output")?;
            Ok(told(&exported.damage))
        }
    }
}

/// Prints what was done, unless `quiet`.
fn summary(line: &str, quiet: bool) -> Result<()> {
    if quiet {
        return Ok(());
    }
    output::write(line.as_bytes()).map(drop)
}

/// Puts what is in the log into spans, unless a writer is at work, which does so in its own time. Whether there was
/// something.
fn seal(store: &Store) -> Result<bool> {
    let writer = match store.writer(&WriterOptions::default()) {
        Err(error) if error.kind() == ErrorKind::Locked => return Ok(false),
        writer => writer?,
    };
    // What events are missing, the compaction tells.
    writer
        .damage()
        .iter()
        .filter(|damage| damage.events == Some(0))
        .for_each(|damage| say(&format!("damaged: {damage}")));
    let sealed = writer.seal();
    // Also after an error: the writer leaves no empty log behind.
    let totals = writer.finish()?;
    sealed?;
    Ok(totals.spans > 0)
}

/// Says how the manifest was rebuilt.
fn say_restored(store: &Path, restored: &Restored) {
    let from = if restored.is_copy { "its copy" } else { "spans and logs" };
    say(&format!("damaged: {}: it was made again from {from}", store.join("MANIFEST").display()));
    restored.notes.iter().for_each(|note| say(&format!("note: {note}")));
}

/// Reports damage.
fn told(damage: &[Damage]) -> Outcome {
    damage.iter().for_each(|damage| say(&format!("damaged: {damage}")));
    if damage.is_empty() { Outcome::Fine } else { Outcome::BadData }
}

fn counted(count: u64, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "index") => format!("{count} indexes"),
        (_, "loss") => format!("{count} losses"),
        _ => format!("{count} {what}s"),
    }
}

/// The same as [`shown`], for programs.
fn as_json(info: &Info) -> Vec<u8> {
    let mut out = Vec::new();
    write_object(&mut out, |object| {
        object.member("events", info.events);
        object.member("text_bytes", info.text_bytes);
        object.member("disk_bytes", disk_bytes(info));
        object.member("time_field", &*format!("{:#}", info.settings.time_field));
        object.array("columns", |columns| {
            info.columns().iter().for_each(|path| columns.element(&*format!("{path:#}")));
        });
        object.member("auto_columns", info.settings.columns == ColumnChoice::Auto);
        object.member("compression", info.settings.compression.name());
        object.member("log_events", info.log_events);
        object.member("log_bytes", info.log_bytes);
        object.array("spans", |spans| info.spans.iter().for_each(|span| spans.object(|out| span_as_json(span, out))));
        object.array("deletions", |deletions| {
            info.deletions.iter().for_each(|one| deletions.object(|out| deletion_as_json(one, out)));
        });
        object.member("deletions_forgotten", info.deletions_forgotten);
        object.array("damage", |damage| info.damage.iter().for_each(|one| damage.element(&*one.to_string())));
    });
    out.push(b'\n');
    out
}

fn span_as_json(span: &SpanInfo, out: &mut ObjectWriter<'_>) {
    out.member("number", span.number);
    out.member("events", span.events);
    out.member("from", &*time::to_text(span.times.0));
    out.member("to", &*time::to_text(span.times.1));
    out.member("text_bytes", span.text_bytes);
    out.member("file_bytes", span.file_bytes);
    if let Some(bytes) = span.index_bytes {
        out.member("index_bytes", bytes);
    }
    out.member("blocks", span.blocks);
    out.member("blocks_not_indexed", span.unknown_blocks);
    out.member("fields_indexed", span.indexed.len() as u64);
}

fn deletion_as_json(deletion: &Deletion, out: &mut ObjectWriter<'_>) {
    out.member("time", &*time::to_text(deletion.time));
    out.member("events", deletion.events);
    out.member("spans", deletion.spans);
    for (name, bound) in [("since", deletion.window.since), ("until", deletion.window.until)] {
        bound.iter().for_each(|bound| out.member(name, &*time::to_text(*bound)));
    }
    deletion.note.iter().for_each(|note| out.member("note", &**note));
    out.member("complete", deletion.is_complete);
}

/// What the files of a store take.
fn disk_bytes(info: &Info) -> u64 {
    info.spans.iter().map(|span| span.file_bytes + span.index_bytes.unwrap_or(0)).sum::<u64>()
        + info.logs.iter().map(|log| log.file_bytes).sum::<u64>()
}

/// A page about a store.
fn shown(info: &Info) -> String {
    let settings = &info.settings;
    let columns = match (&settings.columns, &info.columns()[..]) {
        (ColumnChoice::Auto, []) => "auto".to_owned(),
        (_, []) => "none".to_owned(),
        (choice, paths) => {
            let names: Vec<_> = paths.iter().map(|path| format!("{path:#}")).collect();
            format!("{}{}", if *choice == ColumnChoice::Auto { "auto: " } else { "" }, names.join(", "))
        }
    };
    let (events, text, disk) = (info.events, info.text_bytes, disk_bytes(info));
    let mut page = format!(
        "events       {events}\ntext         {text} bytes\non disk      {disk} bytes\ntime field   {:#}\ncolumns      {}\ncompression  {}\n",
        settings.time_field,
        columns,
        settings.compression.name(),
    );
    let _ = writeln!(
        page,
        "logs         {}, {}, {} bytes",
        info.logs.len(),
        counted(info.log_events, "event"),
        info.log_bytes
    );
    if info.deletions_forgotten > 0 {
        let _ = writeln!(page, "deletions    {} before these", info.deletions_forgotten);
    }
    info.deletions.iter().for_each(|one| page.push_str(&deletion(one)));
    for span in &info.spans {
        let index = match span.index_bytes {
            Some(bytes) => format!("index {bytes} bytes over {}", counted(span.indexed.len() as u64, "field")),
            None => "no index: every block is read; `jird store verify --repair` makes one".to_owned(),
        };
        let unknown = match span.unknown_blocks {
            0 => String::new(),
            blocks => format!(", {} not indexed", counted(blocks, "block")),
        };
        let _ = writeln!(
            page,
            "span {:<7} {} to {}: {}, {} bytes on disk, {}{unknown}, {index}{}",
            span.number,
            time::to_text(span.times.0),
            time::to_text(span.times.1),
            counted(span.events, "event"),
            span.file_bytes,
            counted(span.blocks, "block"),
            saved(&span.saved),
        );
    }
    page
}

/// The line of a deletion.
fn deletion(deletion: &Deletion) -> String {
    let bound = |name: &str, bound: Option<i64>| bound.map(|time| format!(", {name} {}", time::to_text(time)));
    let since = bound("since", deletion.window.since).unwrap_or_default();
    let until = bound("until", deletion.window.until).unwrap_or_default();
    // A note is shown on one line, and does not steer a terminal.
    let shown = |note: &String| format!(": {}", note.replace(char::is_control, " "));
    let note = deletion.note.as_ref().map(shown).unwrap_or_default();
    format!(
        "deletion     {}: {} of {}{since}{until}{}{note}\n",
        time::to_text(deletion.time),
        counted(deletion.events, "event"),
        counted(deletion.spans, "span"),
        if deletion.is_complete { "" } else { ", not complete" },
    )
}

/// What the columns and indexes of a span saved so far, if they were asked.
fn saved(saved: &Saved) -> String {
    let columns = match saved.by_columns {
        0 => String::new(),
        blocks => format!("; columns answered for {}", counted(blocks, "block")),
    };
    if saved.asked == 0 {
        return columns;
    }
    let by = [
        ("keys", saved.by_keys),
        ("ranges of numbers", saved.by_range),
        ("values", saved.by_pairs),
        ("words", saved.by_words),
    ];
    let all: u64 = by.iter().map(|(_, blocks)| blocks).sum();
    let by: Vec<_> =
        by.iter().filter(|(_, blocks)| *blocks > 0).map(|(what, blocks)| format!("{what} {blocks}")).collect();
    let by = if by.is_empty() { String::new() } else { format!(", by {}", by.join(", ")) };
    format!("; queries asked of {}, and {all} of them were left out{by}{columns}", counted(saved.asked, "block"))
}
