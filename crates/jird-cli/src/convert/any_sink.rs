//! A sink behind a pointer.

use anyhow::{Error, Result};
use jird::event::{Interest, JsonText, Key, Numeral, Place, Sink, Timestamp};

/// A sink of any type. Sources and filters are compiled once for it, and not again for each type of sink; an event costs
/// a call through a pointer, and the sink gets events where it could ask rows for their values.
pub(super) struct AnySink<'s>(pub(super) &'s mut dyn Events);

/// The events of a [`Sink`], with one type of errors.
pub(super) trait Events {
    fn begin_record(&mut self, place: Place) -> Result<()>;
    fn end_record(&mut self) -> Result<()>;
    fn begin_object(&mut self) -> Result<()>;
    fn key(&mut self, key: Key<'_>) -> Result<Interest>;
    fn end_object(&mut self) -> Result<()>;
    fn begin_array(&mut self) -> Result<()>;
    fn end_array(&mut self) -> Result<()>;
    fn null(&mut self) -> Result<()>;
    fn bool(&mut self, value: bool) -> Result<()>;
    fn number(&mut self, number: Numeral<'_>) -> Result<()>;
    fn string(&mut self, text: &str) -> Result<()>;
    fn bytes(&mut self, bytes: &[u8]) -> Result<()>;
    fn timestamp(&mut self, time: Timestamp) -> Result<()>;
    fn json(&mut self, text: JsonText<'_>) -> Result<()>;
    fn wants_more(&self) -> bool;
    fn finish(&mut self) -> Result<()>;
}

/// Forwards methods with these arguments and results to another trait.
macro_rules! forward {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        impl<S: Sink<Error: Into<Error>>> Events for S {
            $(fn $name(&mut self, $($argument: $kind),*) -> Result<$result> {
                Sink::$name(self, $($argument),*).map_err(Into::into)
            })*

            fn wants_more(&self) -> bool {
                Sink::wants_more(self)
            }
        }

        impl Sink for AnySink<'_> {
            type Error = Error;

            $(fn $name(&mut self, $($argument: $kind),*) -> Result<$result> {
                self.0.$name($($argument),*)
            })*

            fn wants_more(&self) -> bool {
                self.0.wants_more()
            }
        }
    };
}

forward! {
    begin_record(place: Place) -> ();
    end_record() -> ();
    begin_object() -> ();
    key(key: Key<'_>) -> Interest;
    end_object() -> ();
    begin_array() -> ();
    end_array() -> ();
    null() -> ();
    bool(value: bool) -> ();
    number(number: Numeral<'_>) -> ();
    string(text: &str) -> ();
    bytes(bytes: &[u8]) -> ();
    timestamp(time: Timestamp) -> ();
    json(text: JsonText<'_>) -> ();
    finish() -> ();
}
