//! Every public name of `serde_json` 1.0.154, under the same path, with the same number of parameters.
#![allow(unused_imports, unused_macros, dead_code, missing_docs, reason = "it only has to compile")]
#![allow(clippy::pedantic, reason = "names as they are there")]

macro_rules! names {
    ($crate_name:ident) => {
        use std::io::{Empty, Sink};
        use $crate_name::de::{Deserializer, IoRead, Read, SliceRead, StrRead, StreamDeserializer};
        use $crate_name::error::{Category, Error, Result};
        use $crate_name::map::{Entry, IntoIter, IntoValues, Iter, IterMut, Keys, Map as MapOfMap, OccupiedEntry, VacantEntry, Values, ValuesMut};
        use $crate_name::ser::{CharEscape, CompactFormatter, Compound, Formatter, PrettyFormatter, Serializer, State};
        use $crate_name::value::{
            Index, Map, Number, RawValue, Serializer as TreeSerializer, Value, from_value, to_raw_value, to_value,
        };
        use $crate_name::{json, json_expect_expr_comma, json_internal, json_internal_vec, json_unexpected};

        type Roots = (
            $crate_name::Deserializer<SliceRead<'static>>,
            $crate_name::StreamDeserializer<'static, StrRead<'static>, u8>,
            $crate_name::Error,
            $crate_name::Result<()>,
            $crate_name::Serializer<Sink>,
            $crate_name::Map<String, $crate_name::Value>,
            $crate_name::Number,
            $crate_name::Value,
        );
        type Parts = (
            Deserializer<IoRead<Empty>>,
            Serializer<Sink, PrettyFormatter<'static>>,
            Serializer<Sink, CompactFormatter>,
            (Iter<'static>, IterMut<'static>, IntoIter, Keys<'static>, Values<'static>, ValuesMut<'static>, IntoValues),
            (Entry<'static>, OccupiedEntry<'static>, VacantEntry<'static>),
            MapOfMap<String, Value>,
        );

        fn functions(text: &'static str) -> [Result<u8>; 3] {
            let _: fn(&u8) -> Result<String> = $crate_name::to_string::<u8>;
            let _: fn(&u8) -> Result<String> = $crate_name::to_string_pretty::<u8>;
            let _: fn(&u8) -> Result<Vec<u8>> = $crate_name::to_vec::<u8>;
            let _: fn(&u8) -> Result<Vec<u8>> = $crate_name::to_vec_pretty::<u8>;
            let _: fn(Sink, &u8) -> Result<()> = $crate_name::to_writer::<Sink, u8>;
            let _: fn(Sink, &u8) -> Result<()> = $crate_name::to_writer_pretty::<Sink, u8>;
            let _: fn(Value) -> Result<u8> = $crate_name::from_value::<u8>;
            let _: fn(u8) -> Result<Value> = $crate_name::to_value::<u8>;
            let _: fn(&u8) -> Result<Box<RawValue>> = to_raw_value::<u8>;
            let _: fn(&u8) -> Result<String> = $crate_name::ser::to_string::<u8>;
            let _: fn(&u8) -> Result<String> = $crate_name::ser::to_string_pretty::<u8>;
            let _: fn(&u8) -> Result<Vec<u8>> = $crate_name::ser::to_vec::<u8>;
            let _: fn(&u8) -> Result<Vec<u8>> = $crate_name::ser::to_vec_pretty::<u8>;
            let _: fn(Sink, &u8) -> Result<()> = $crate_name::ser::to_writer::<Sink, u8>;
            let _: fn(Sink, &u8) -> Result<()> = $crate_name::ser::to_writer_pretty::<Sink, u8>;
            let _: fn(Empty) -> Result<u8> = $crate_name::de::from_reader::<Empty, u8>;
            let _: fn(&'static str) -> Result<u8> = $crate_name::de::from_str::<u8>;
            let _: fn(&'static [u8]) -> Result<u8> = $crate_name::de::from_slice::<u8>;
            [$crate_name::from_str(text), $crate_name::from_slice(text.as_bytes()), $crate_name::from_reader(text.as_bytes())]
        }

        fn traits<'de, R: Read<'de>, I: ?Sized + Index, F: Formatter>(_: R, _: &I, _: F, compound: Compound<'_, Sink, F>) {
            let _ = compound;
        }

        fn is_sound<T: Send + Sync + Unpin + Clone + Eq + std::hash::Hash + std::fmt::Debug + std::panic::UnwindSafe + 'static>() {}
        fn is_error<T: std::error::Error + serde::de::Error + serde::ser::Error + Send + Sync + 'static>() {}

        pub(super) fn all() {
            is_sound::<Value>();
            is_sound::<Map<String, Value>>();
            is_sound::<Number>();
            is_error::<Error>();
            assert!(functions("7").into_iter().all(|value| value.is_ok_and(|value| value == 7)));
            let _: Value = json!({"a": [1, null]});
            let _ = [CharEscape::Quote, CharEscape::ReverseSolidus, CharEscape::Solidus, CharEscape::Backspace,
                CharEscape::FormFeed, CharEscape::LineFeed, CharEscape::CarriageReturn, CharEscape::Tab, CharEscape::AsciiControl(1)];
            let _ = [Category::Io, Category::Syntax, Category::Data, Category::Eof];
        }
    };
}

mod ours {
    names!(jird_serde_json);
}

mod theirs {
    names!(serde_json);
}

#[test]
fn every_name_is_there() {
    ours::all();
    theirs::all();
}
