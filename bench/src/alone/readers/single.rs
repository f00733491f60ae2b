//! Readers of one record: one line at a time, with two kinds of questions.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use jird::lines::{Options, Scanner};
use jird::{
    Value,
    record::{Projection, Record, RecordBuffer},
};
use serde::Deserialize;
use simd_json::prelude::ValueAsScalar;
use simd_json::{Buffers, INPUT_PADDING, Tape};
use sonic_rs::{JsonValueTrait, PointerTree};

/// A reader of lines for the loop. Its methods return `None` if a line is refused or has no message.
pub(super) trait Reader {
    /// Passes the decoded message to `visit`.
    fn message(&mut self, line: &[u8], visit: impl FnOnce(&str)) -> Option<()>;

    /// Does the same, but only if the event has an `Elapsed` over `bound`.
    fn message_if_over(&mut self, line: &[u8], bound: f64, visit: impl FnOnce(&str)) -> Option<()>;
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct MessageField<'a> {
    #[serde(borrow)]
    message: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Timed<'a> {
    #[serde(borrow)]
    message: Cow<'a, str>,
    elapsed: Option<f64>,
}

/// Readers into structs, through serde.
macro_rules! typed {
    ($name:ident, $from_slice:path) => {
        pub(super) struct $name;

        impl Reader for $name {
            #[inline]
            fn message(&mut self, line: &[u8], visit: impl FnOnce(&str)) -> Option<()> {
                let event: MessageField<'_> = $from_slice(line).ok()?;
                visit(&event.message);
                Some(())
            }

            #[inline]
            fn message_if_over(&mut self, line: &[u8], bound: f64, visit: impl FnOnce(&str)) -> Option<()> {
                let event: Timed<'_> = $from_slice(line).ok()?;
                if event.elapsed.is_some_and(|elapsed| elapsed > bound) {
                    visit(&event.message);
                }
                Some(())
            }
        }
    };
}

typed!(SerdeJson, serde_json::from_slice);
typed!(Sonic, sonic_rs::from_slice);

/// `serde_json::Value`.
pub(super) struct SerdeValue;

impl Reader for SerdeValue {
    #[inline]
    fn message(&mut self, line: &[u8], visit: impl FnOnce(&str)) -> Option<()> {
        let event: serde_json::Value = serde_json::from_slice(line).ok()?;
        visit(event["Message"].as_str()?);
        Some(())
    }

    #[inline]
    fn message_if_over(&mut self, line: &[u8], bound: f64, visit: impl FnOnce(&str)) -> Option<()> {
        let event: serde_json::Value = serde_json::from_slice(line).ok()?;
        if event["Elapsed"].as_f64().is_some_and(|elapsed| elapsed > bound) {
            visit(event["Message"].as_str()?);
        }
        Some(())
    }
}

/// simd-json's tape, in its fastest form. It overwrites its input, so each line is copied with padding.
pub(super) struct SimdJson {
    line: Vec<u8>,
    buffers: Buffers,
    tape: Tape<'static>,
}

impl Default for SimdJson {
    fn default() -> Self {
        Self { line: Vec::new(), buffers: Buffers::default(), tape: Tape::null() }
    }
}

impl SimdJson {
    #[inline]
    fn with_tape(&mut self, line: &[u8], read: impl FnOnce(&Tape<'_>) -> Option<()>) -> Option<()> {
        self.line.clear();
        self.line.extend_from_slice(line);
        self.line.resize(line.len() + INPUT_PADDING, b' ');
        let mut tape = std::mem::replace(&mut self.tape, Tape(Vec::new())).reset();
        let parsed = simd_json::fill_tape_padded(&mut self.line, line.len(), &mut self.buffers, &mut tape);
        let answer = parsed.ok().and_then(|()| read(&tape));
        self.tape = tape.reset();
        answer
    }
}

impl Reader for SimdJson {
    #[inline]
    fn message(&mut self, line: &[u8], visit: impl FnOnce(&str)) -> Option<()> {
        self.with_tape(line, |tape| {
            visit(tape.as_value().get("Message")?.as_str()?);
            Some(())
        })
    }

    #[inline]
    fn message_if_over(&mut self, line: &[u8], bound: f64, visit: impl FnOnce(&str)) -> Option<()> {
        self.with_tape(line, |tape| {
            let event = tape.as_value();
            if event.get("Elapsed").and_then(|elapsed| elapsed.cast_f64()).is_some_and(|elapsed| elapsed > bound) {
                visit(event.get("Message")?.as_str()?);
            }
            Some(())
        })
    }
}

/// `sonic_rs::get_many`.
pub(super) struct SonicLazy {
    message: PointerTree,
    both: PointerTree,
}

impl Default for SonicLazy {
    fn default() -> Self {
        let tree = |names: &[&str]| {
            let mut tree = PointerTree::new();
            names.iter().for_each(|name| tree.add_path([*name]));
            tree
        };
        Self { message: tree(&["Message"]), both: tree(&["Message", "Elapsed"]) }
    }
}

impl Reader for SonicLazy {
    #[inline]
    fn message(&mut self, line: &[u8], visit: impl FnOnce(&str)) -> Option<()> {
        let found = sonic_rs::get_many(line, &self.message).ok()?;
        visit(found[0].as_ref()?.as_str()?);
        Some(())
    }

    #[inline]
    fn message_if_over(&mut self, line: &[u8], bound: f64, visit: impl FnOnce(&str)) -> Option<()> {
        let found = sonic_rs::get_many(line, &self.both).ok()?;
        if found[1].as_ref().and_then(JsonValueTrait::as_f64).is_some_and(|elapsed| elapsed > bound) {
            visit(found[0].as_ref()?.as_str()?);
        }
        Some(())
    }
}

/// `sonic_rs::get_unchecked`, which skips values without checking them.
pub(super) struct SonicUnchecked {
    /// The address range of the text that was checked.
    checked: Range<*const u8>,
}

impl SonicUnchecked {
    /// Creates a reader for the lines of this text. The text is checked here, before the timing begins.
    pub(super) fn of_checked(text: &[u8]) -> Option<Self> {
        let visit = |_: jird::lines::Match<'_, '_>| ControlFlow::Continue(());
        Scanner::new(Options::default()).scan(text, &Projection::new(&[]), None, visit).ok()?;
        Some(Self { checked: text.as_ptr_range() })
    }

    #[allow(unsafe_code, reason = "what this row is about")]
    #[inline]
    fn get<'l>(&self, line: &'l [u8], key: &str) -> Option<sonic_rs::LazyValue<'l>> {
        if !self.checked.contains(&line.as_ptr()) {
            return None;
        }
        // SAFETY: the JSON must be valid. `line` comes from the loop, and from the text whose lines `of_checked` has
        // read.
        unsafe { sonic_rs::get_unchecked(line, [key]) }.ok()
    }
}

impl Reader for SonicUnchecked {
    #[inline]
    fn message(&mut self, line: &[u8], visit: impl FnOnce(&str)) -> Option<()> {
        visit(self.get(line, "Message")?.as_str()?);
        Some(())
    }

    #[inline]
    fn message_if_over(&mut self, line: &[u8], bound: f64, visit: impl FnOnce(&str)) -> Option<()> {
        if self.get(line, "Elapsed").and_then(|elapsed| elapsed.as_f64()).is_some_and(|elapsed| elapsed > bound) {
            visit(self.get(line, "Message")?.as_str()?);
        }
        Some(())
    }
}

/// `Record::scan`.
#[derive(Default)]
pub(super) struct Validated {
    buffer: RecordBuffer,
    scratch: String,
}

impl Reader for Validated {
    #[inline]
    fn message(&mut self, line: &[u8], visit: impl FnOnce(&str)) -> Option<()> {
        message(Record::scan(line, &mut self.buffer).ok()?, &mut self.scratch, visit)
    }

    #[inline]
    fn message_if_over(&mut self, line: &[u8], bound: f64, visit: impl FnOnce(&str)) -> Option<()> {
        message_if_over(Record::scan(line, &mut self.buffer).ok()?, bound, &mut self.scratch, visit)
    }
}

/// `Record::scan_trusted`.
#[derive(Default)]
pub(super) struct Trusting {
    buffer: RecordBuffer,
    scratch: String,
}

impl Reader for Trusting {
    #[inline]
    fn message(&mut self, line: &[u8], visit: impl FnOnce(&str)) -> Option<()> {
        message(Record::scan_trusted(line, &mut self.buffer), &mut self.scratch, visit)
    }

    #[inline]
    fn message_if_over(&mut self, line: &[u8], bound: f64, visit: impl FnOnce(&str)) -> Option<()> {
        message_if_over(Record::scan_trusted(line, &mut self.buffer), bound, &mut self.scratch, visit)
    }
}

#[inline]
fn message(record: Record<'_>, scratch: &mut String, visit: impl FnOnce(&str)) -> Option<()> {
    visit(record.get("Message")?.str_in(scratch)?);
    Some(())
}

#[inline]
fn message_if_over(record: Record<'_>, bound: f64, scratch: &mut String, visit: impl FnOnce(&str)) -> Option<()> {
    // Seeks the fields in the order in which the events have them.
    let mut entries = record.entries();
    let message = entries.seek("Message")?;
    if entries.seek("Elapsed").and_then(Value::as_f64).is_some_and(|elapsed| elapsed > bound) {
        visit(message.str_in(scratch)?);
    }
    Some(())
}
