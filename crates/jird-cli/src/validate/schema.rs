//! `jird validate --schema`: checks records by a JSON Schema.
//!
//! The crate `jsonschema` compiles the schema once, and walks over a [`Tree`] of each record. Its walk is recursive and
//! follows what the schema says, so this module bounds it: by what the schema may cost ([`cost`](super::cost)), by fuel
//! for each record, and by a stack that is large enough. Nothing is fetched.

use super::cost::{self, Cost};
use super::tree::{Exact, Tree, with_fuel};
use super::wrong::Breach;
use crate::input::Input;
use crate::output::shown;
use anyhow::{Result, anyhow, bail};
use jird::policy::{Duplicates, Numbers, Policy};
use jird::{Parser, Value};
use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{PatternOptions, Retrieve, Uri, ValidationError, Validator};
use std::path::Path;
use std::thread;

/// Bytes of a schema.
const SCHEMA_BYTES_MAX: usize = 4 << 20;
/// Objects and arrays of a schema that may be open at once.
const SCHEMA_DEPTH_MAX: usize = 127;
/// Steps back of a pattern that needs them, for each string. Most patterns need none.
const BACKTRACK_MAX: usize = 100_000;
/// Bytes of a compiled pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Mistakes that are told of one record; one more says that there are more.
pub(super) const TOLD_MAX: usize = 20;
/// Looks at values: for each record, and for each byte of it.
const FUEL: u64 = 1_000_000;
const FUEL_PER_BYTE: u64 = 200;
/// The same while mistakes are collected. Each may take a kilobyte of memory, with those of all branches of `anyOf`.
const TELLING_FUEL: u64 = 10_000;
const TELLING_FUEL_PER_BYTE: u64 = 10;
/// Stack for one schema that is open. Measured: about 500 bytes if optimised.
const STEP_BYTES: usize = 2048;
/// Stack that every thread has for this.
const STACK_BYTES: usize = 1 << 20;
/// Stack that is asked for at most. The system gives what is touched.
const STACK_BYTES_MAX: usize = 256 << 20;

/// A compiled schema.
pub(super) struct Schema {
    validator: Validator<Exact>,
    cost: Cost,
}

impl Schema {
    /// Reads and compiles a schema.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let input = Input::new(file);
        let text = input.document().map_err(|error| anyhow!("{error:#}"))?;
        if text.len() > SCHEMA_BYTES_MAX {
            bail!("{}: this schema is larger than {SCHEMA_BYTES_MAX} bytes", input.name());
        }
        // Not `BadData`: its exit code 1 would mean that a record breaks the schema.
        let policy = Policy { numbers: Numbers::Machine, duplicates: Duplicates::Refuse, depth_max: SCHEMA_DEPTH_MAX };
        Parser::with_policy(policy).validate(&text).map_err(|error| anyhow!("{}", input.wrong(&error, &text)))?;
        let schema = jird::from_slice(&text)?;
        on_stack(STACK_BYTES_MAX, || Self::new(&schema))?.map_err(|error| anyhow!("{}: {error:#}", input.name()))
    }

    fn new(schema: &serde_json::Value) -> Result<Self> {
        let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_MAX).size_limit(PATTERN_BYTES_MAX);
        let cost = cost::of(schema)?;
        let options = jsonschema::options_for::<Exact>().with_retriever(Nothing).with_pattern_options(patterns);
        let validator = options.build(schema).map_err(|error| anyhow!("{}", not_a_schema(&error)))?;
        Ok(Self { validator, cost })
    }

    /// Where a record does not satisfy the schema: up to [`TOLD_MAX`] places, and one more if there are more.
    ///
    /// Takes time linear in the record, for a given schema.
    ///
    /// # Errors
    /// If the system gives no thread with a large stack, which deep records need.
    pub(super) fn check(&self, record: Value<'_>) -> Result<Vec<Breach>> {
        // Beside each open object or array, there is the schema of its members.
        let step = (self.cost.depth + 2) * STEP_BYTES;
        if let Some(found) = self.check_within(record, STACK_BYTES / step) {
            return Ok(found);
        }
        let found = on_stack(STACK_BYTES_MAX, || self.check_within(record, STACK_BYTES_MAX / step))?;
        Ok(found.unwrap_or_else(|| {
            let levels = STACK_BYTES_MAX / step;
            let reason = format!("nested too deeply for this schema: more than {levels} objects and arrays");
            vec![Breach { reason, ..Breach::default() }]
        }))
    }

    /// The same on this stack; `None` if more than `levels` objects and arrays are open at once.
    fn check_within(&self, record: Value<'_>, levels: usize) -> Option<Vec<Breach>> {
        let tree = Tree::new(record, levels)?;
        let bytes = record.raw().len() as u64;
        let alone = |reason: &str| vec![Breach { reason: reason.to_owned(), ..Breach::default() }];
        match with_fuel(FUEL + FUEL_PER_BYTE * bytes, || self.validator.is_valid(&tree)) {
            Some(true) => return Some(Vec::new()),
            Some(false) => {}
            None => return Some(alone("this schema asks for too much work on this record")),
        }
        let tell = || {
            let errors = self.validator.iter_errors(&tree);
            errors.take(TOLD_MAX + 1).map(|error| breach(&error, record)).collect()
        };
        let told = with_fuel(TELLING_FUEL + TELLING_FUEL_PER_BYTE * bytes, tell);
        Some(told.unwrap_or_else(|| alone("not as the schema asks; to find the place is too much work")))
    }
}

/// A mistake of a record, in our words.
fn breach(error: &ValidationError<'_>, record: Value<'_>) -> Breach {
    let pointer = error.instance_path().as_str();
    let value = record.pointer(pointer).unwrap_or(record);
    let reason = match error.kind() {
        Kind::AdditionalItems { limit } => format!("the array has more than {limit} elements"),
        Kind::UnevaluatedItems { unexpected } => {
            format!("{} elements are not allowed by any part of the schema", unexpected.len())
        }
        Kind::FalseSchema => "nothing is allowed here".to_owned(),
        _ => error.masked_with(brief(value)).to_string(),
    };
    Breach {
        at: value.offset() - record.offset(),
        pointer: shown(pointer),
        reason: shortened(&shown(&reason)),
        keyword: shown(error.schema_path().as_str()),
    }
}

/// A short value as it stands in the text, or what it is.
fn brief(value: Value<'_>) -> String {
    const BRIEF_BYTES: usize = 60;
    match value.raw_str() {
        Some(raw) if raw.len() <= BRIEF_BYTES => raw.to_owned(),
        _ => format!("the {}", value.kind().name()),
    }
}

fn shortened(reason: &str) -> String {
    const REASON_CHARS: usize = 300;
    match reason.char_indices().nth(REASON_CHARS) {
        Some((end, _)) => format!("{}…", &reason[..end]),
        None => reason.to_owned(),
    }
}

/// The message that a schema is none.
fn not_a_schema(error: &ValidationError<'_>) -> String {
    let reason = match error.kind() {
        Kind::Referencing(jsonschema::ReferencingError::Unretrievable { uri, .. }) => {
            format!("$ref to {uri}: it is not in this file, and nothing is fetched; add it under $defs, with its $id")
        }
        Kind::Referencing(jsonschema::ReferencingError::UnknownSpecification { specification }) => {
            format!("$schema is {specification}, which is not known; drafts 4, 6, 7, 2019-09 and 2020-12 are")
        }
        Kind::Referencing(other) => format!("$ref: {other}"),
        _ => error.to_string(),
    };
    let pointer = error.instance_path().as_str();
    let place = if pointer.is_empty() { String::new() } else { format!(" (at {})", shown(pointer)) };
    format!("not a usable schema: {}{place}", shortened(&shown(&reason)))
}

/// Fetches nothing.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(&self, uri: &Uri<String>) -> Result<serde_json::Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("{uri} is not fetched").into())
    }
}

/// Runs `work` with a stack of its own.
fn on_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(bytes).spawn_scoped(scope, work)?;
        thread.join().map_err(|panic| std::panic::resume_unwind(panic))
    })
}
