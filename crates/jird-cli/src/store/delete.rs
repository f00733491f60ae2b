//! `jird store delete`: deletes the events for which a condition holds.

use super::{counted, summary, told};
use crate::condition;
use crate::outcome::{Outcome, report as say};
use crate::wait::WaitArgs;
use crate::window::{WindowArgs, now};
use anyhow::{Result, bail};
use jird::Path;
use jird::hooks::event::Condition;
use jird::record::{Field, FieldReader, Mismatches, Projection, Step};
use jird_store::{DeleteScope, Deleted, FieldKinds, Store, Window};
use std::path::PathBuf;

/// The record of a deletion keeps no more of a note.
const NOTE_BYTES_MAX: usize = 1000;

#[derive(Debug, clap::Args)]
pub(super) struct DeleteArgs {
    /// The folder of the store
    store: PathBuf,
    /// The events to delete, in SQL: fields compared with constants, such as user.id = 'u-17' or Elapsed > 200
    #[arg(long = "where", value_name = "CONDITION")]
    condition: String,
    #[command(flatten)]
    window: WindowArgs,
    /// A text for the record of the deletion, such as the number of a ticket; `jird store info` shows it
    #[arg(long, value_name = "TEXT", value_parser = note)]
    note: Option<String>,
    #[command(flatten)]
    wait: WaitArgs,
    /// Say how many events would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    /// Print nothing except errors and damage
    #[arg(short, long)]
    quiet: bool,
}

fn note(text: &str) -> Result<String> {
    if text.len() > NOTE_BYTES_MAX {
        bail!("it has {} bytes, and a note has {NOTE_BYTES_MAX} at most", text.len());
    }
    Ok(text.to_owned())
}

pub(super) fn run(args: &DeleteArgs) -> Result<Outcome> {
    let condition = condition::read(&args.condition)?;
    let window = args.window.window(now())?;
    let store = Store::open(&args.store)?.with_patience(args.wait.patience()?);
    let for_index = jird_store::Condition::new(condition.predicate(), condition.paths());
    let scope =
        DeleteScope { window, condition: Some(&for_index), note: args.note.as_deref().filter(|note| !note.is_empty()) };
    let mut mismatches = Mismatches::default();
    let unmet = if args.quiet { Vec::new() } else { unmet(&store, &condition)? };
    let deleted = {
        let matches = &mut matcher(&condition, &mut mismatches);
        if args.dry_run { store.would_delete(&scope, matches) } else { store.delete(&scope, matches) }
    };
    let deleted = deleted.map_err(|error| args.wait.told(error))?;
    summary(&line(&deleted, args.dry_run), args.quiet)?;
    if !args.quiet {
        notes(&deleted, &unmet, mismatches);
    }
    let outcome = told(&deleted.damage);
    if deleted.damage.iter().any(|damage| damage.events != Some(0)) {
        say(
            "warning: events that match may still be where something is damaged: nothing was deleted from a damaged span",
        );
    }
    Ok(outcome)
}

/// Says of an event whether the condition holds for it, and counts what could not be compared.
fn matcher<'c>(condition: &'c Condition, mismatches: &'c mut Mismatches) -> impl FnMut(&[u8]) -> bool + use<'c> {
    let projection = Projection::new(condition.paths());
    move |event| {
        let mut fields = vec![Field::MISSING; projection.slots()];
        let read = FieldReader::new(&projection).read_trusted(event, &mut fields);
        read.is_ok() && condition.predicate().eval(&fields, mismatches) == Some(true)
    }
}

/// The fields of the condition that no event has, as indexes know: they are probably misspelled.
fn unmet(store: &Store, condition: &Condition) -> Result<Vec<String>> {
    let text = store.snapshot()?.text(Window::ALL)?;
    let is_unmet = |kinds: Option<FieldKinds>| kinds.is_some_and(|kinds| kinds.is_within(FieldKinds::MISSING));
    let paths = condition.paths().iter().filter(|_| text.events() > 0);
    Ok(paths.filter(|path| is_unmet(text.kinds(path))).map(dotted).collect())
}

/// A path as a condition has it.
fn dotted(path: &Path) -> String {
    let steps = path.steps().iter().map(|step| match step {
        Step::Key(key) => key.to_string(),
        Step::Index(index) => index.to_string(),
    });
    steps.collect::<Vec<_>>().join(".")
}

fn line(deleted: &Deleted, dry_run: bool) -> String {
    let (events, spans) = (counted(deleted.events, "event"), counted(deleted.spans, "span"));
    match (deleted.in_logs, deleted.events - deleted.in_logs) {
        _ if !dry_run => format!("{events} deleted from {spans}\n"),
        (0, _) => format!("{events} would be deleted from {spans}\n"),
        (_, 0) => format!("{events} would be deleted from the log\n"),
        (in_logs, others) => format!("{events} would be deleted: {in_logs} from the log, {others} from {spans}\n"),
    }
}

fn notes(deleted: &Deleted, unmet: &[String], mismatches: Mismatches) {
    unmet.iter().for_each(|name| say(&format!("note: no event has `{name}` (names are case-sensitive)")));
    if mismatches.kinds > 0 {
        let values = counted(mismatches.kinds, "value");
        let (have, they_are) = if mismatches.kinds == 1 { ("has", "it is") } else { ("have", "they are") };
        say(&format!("note: {values} {have} another type than what {they_are} compared with"));
    }
    for file in &deleted.aside {
        say(&format!("note: {} does not belong to the store, and may have such events: look at it", file.display()));
    }
}
