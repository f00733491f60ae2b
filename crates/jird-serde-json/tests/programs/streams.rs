// A log reader: values one after the other.
use self::serde_json::{Deserializer, StreamDeserializer, Value};
use std::fmt::Write;

pub fn run() -> String {
    let mut out = String::new();
    let texts = ["1 2 3", "{\"a\":1}{\"b\":2}[3]\"x\"", "1 [2, 3] tru", "1,2", "[1] [2", "", "  ", "\"a\"1", "12 x", "{} {}\n\n[]", "truefalse", "1\n{\"a\":\n?}"];
    for text in texts {
        let mut stream = Deserializer::from_str(text).into_iter::<Value>();
        loop {
            let next = stream.next();
            let place = next.as_ref().map(|value| value.as_ref().map_err(|error| (error.line(), error.column(), error.classify())));
            writeln!(out, "{text:?} {place:?} {}", stream.byte_offset()).unwrap();
            if next.is_none() {
                break;
            }
        }
        let stream: StreamDeserializer<'_, _, u8> = StreamDeserializer::new(self::serde_json::de::SliceRead::new(text.as_bytes()));
        writeln!(out, "{:?}", stream.collect::<Vec<_>>()).unwrap();
        let stream = Deserializer::from_reader(text.as_bytes()).into_iter::<serde::de::IgnoredAny>();
        writeln!(out, "{:?}", stream.map(|value| value.map(drop)).collect::<Vec<_>>()).unwrap();
    }
    out
}
