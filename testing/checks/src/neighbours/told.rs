//! Records what the engine reported, and checks it at once.

use super::script::assert_text;
use super::types::Texts;
use jird::event::{Interest, Key, Numeral, Place, Sink};
use jird::{Error, Value};
use std::convert::Infallible;
use std::fmt::{self, Debug, Write};

/// What a reader of a text saw, and how it ended.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Everything that was reported, in order.
    pub(super) told: String,
    /// The texts in it.
    pub(super) texts: Vec<String>,
    /// The first error.
    pub(super) error: Option<Error>,
    /// The length of `told` at the first error, if the source continued after it.
    until_error: Option<usize>,
}

/// Equal if the same things were reported, with the same error.
impl PartialEq for Seen {
    fn eq(&self, other: &Self) -> bool {
        let ends = |seen: &Self| seen.error.as_ref().map(|error| (error.code(), error.offset()));
        (&self.told, ends(self)) == (&other.told, ends(other))
    }
}

impl Seen {
    /// What was reported before the first error. What is reported of a bad line, and the place of its error, may depend
    /// on how much of the line was read.
    pub(super) fn before_errors(&self) -> &str {
        &self.told[..self.until_error.unwrap_or(self.told.len())]
    }

    /// Records a value, all of whose texts are checked first, or an error.
    pub(super) fn value<T: Texts>(&mut self, value: Result<T, Error>) {
        match value {
            Ok(value) => {
                value.texts(&mut |text| {
                    assert_text(text);
                    self.texts.push(text.to_owned());
                });
                self.line(&value);
            }
            Err(error) => {
                assert_text(&error.to_string());
                if self.error.is_none() {
                    self.error = Some(error);
                }
            }
        }
    }

    fn line(&mut self, value: &dyn Debug) {
        writeln!(self.told, "{value:?}").expect("a string takes everything");
    }
}

/// Checks that the texts handed out are parts of the text that was read, if that has no escapes.
///
/// # Panics
/// If a text is not.
pub(super) fn assert_in(texts: &[String], read: &[u8]) {
    if read.contains(&b'\\') {
        return;
    }
    for text in texts {
        let found = text.is_empty() || read.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(found, "{text:?} was never read: {}", crate::shown(read));
    }
}

/// Checks all texts of a value that was parsed without checks.
///
/// # Panics
/// If one is not UTF-8.
pub(super) fn assert_texts(root: Value<'_>) {
    for value in root.descendants() {
        if let Some(text) = value.as_str() {
            assert_text(&text);
        }
        if let Some(number) = value.as_number() {
            assert_text(number.text());
        }
    }
}

/// A sink that records and checks every event, except for what it skips.
#[derive(Debug)]
pub(super) struct Told {
    log: String,
    texts: Vec<String>,
    events_left: usize,
    /// A record was begun, but has no events yet. If reading then fails, that is the same as no record.
    begun: bool,
    until_error: Option<usize>,
    /// The end of the last complete record.
    complete: usize,
}

impl Told {
    /// A sink for a text of about this many bytes.
    pub(super) fn new(len: usize) -> Self {
        Self {
            log: String::new(),
            texts: Vec::new(),
            events_left: 4 * len + 64,
            begun: false,
            until_error: None,
            complete: 0,
        }
    }

    pub(super) fn seen(self, error: Option<Error>) -> Seen {
        Seen { told: self.log, texts: self.texts, error, until_error: self.until_error }
    }

    /// Records an error after which the source continued.
    pub(super) fn error(&mut self, error: &Error) {
        self.begun = false;
        self.until_error.get_or_insert(self.complete);
        self.line(format_args!("{} at {}", error.code(), error.offset()));
    }

    fn line(&mut self, line: impl fmt::Display) {
        if std::mem::take(&mut self.begun) {
            self.log.push_str("record\n");
        }
        self.events_left = self.events_left.checked_sub(1).expect("events have an end");
        writeln!(self.log, "{line}").expect("a string takes everything");
    }

    fn text(&mut self, text: &str) {
        assert_text(text);
        self.texts.push(text.to_owned());
    }
}

/// Checks a number that the engine handed out.
///
/// # Panics
/// If it is not a number.
pub(super) fn assert_number(number: Numeral<'_>) {
    match number {
        Numeral::F64(value) => assert!(value.is_finite(), "{value} as a number"),
        Numeral::Text(number) => {
            assert_text(number.text());
            assert!(jird::Number::new(number.text()).is_some(), "a number that is none: {:?}", number.text());
            assert!(number.to_f64().is_none_or(f64::is_finite));
        }
        Numeral::I64(_) | Numeral::U64(_) => {}
    }
}

macro_rules! logged {
    ($($method:ident($($value:ident: $type:ty)?) $line:expr;)*) => {
        $(fn $method(&mut self, $($value: $type)?) -> Result<(), Infallible> {
            self.line($line);
            Ok(())
        })*
    };
}

impl Sink for Told {
    type Error = Infallible;

    fn begin_record(&mut self, _place: Place) -> Result<(), Infallible> {
        self.begun = true;
        Ok(())
    }

    fn end_record(&mut self) -> Result<(), Infallible> {
        self.line("end");
        self.complete = self.log.len();
        Ok(())
    }

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Infallible> {
        self.text(key.text());
        self.line(format_args!("key {:?}", key.text()));
        Ok(Interest::take_if(!key.text().starts_with('b')))
    }

    logged! {
        begin_object() "{";
        end_object() "}";
        begin_array() "[";
        end_array() "]";
        null() "null";
        bool(value: bool) value;
    }

    fn string(&mut self, text: &str) -> Result<(), Infallible> {
        self.text(text);
        self.line(format_args!("{text:?}"));
        Ok(())
    }

    fn number(&mut self, number: Numeral<'_>) -> Result<(), Infallible> {
        assert_number(number);
        let mut text = Vec::new();
        number.write(&mut text);
        self.line(String::from_utf8_lossy(&text));
        Ok(())
    }
}
