// A protocol: values and payloads from readers.
use self::serde_json::de::{Deserializer, IoRead, Read, SliceRead, StrRead};
use self::serde_json::{Value, from_reader};
use serde::Deserialize;
use std::fmt::Write;
use std::io::Read as _;

fn two<'de, R: Read<'de>>(read: R) -> self::serde_json::Result<(u8, String)> {
    let mut de = Deserializer::new(read);
    let number = u8::deserialize(&mut de)?;
    let text = String::deserialize(&mut de)?;
    de.end()?;
    Ok((number, text))
}

struct Slow<'a>(&'a [u8]);
impl std::io::Read for Slow<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        match self.0.split_first() {
            Some((b'!', _)) => Err(std::io::Error::from_raw_os_error(104)),
            Some((byte, rest)) => {
                to[0] = *byte;
                self.0 = rest;
                Ok(1)
            }
            None => Ok(0),
        }
    }
}

pub fn run() -> String {
    let mut out = String::new();
    for text in ["1 \"a\"", "1 \"a\" x", "1", "\"a\""] {
        let results = [two(SliceRead::new(text.as_bytes())), two(StrRead::new(text)), two(IoRead::new(text.as_bytes())), two(&mut SliceRead::new(text.as_bytes()))];
        writeln!(out, "{results:?}").unwrap();
    }
    let mut reader = &b"{\"len\": 3}abc[1, 2] rest"[..];
    let header = Value::deserialize(&mut Deserializer::from_reader(&mut reader)).unwrap();
    let mut payload = [0; 3];
    reader.read_exact(&mut payload).unwrap();
    let list = Vec::<u8>::deserialize(&mut Deserializer::from_reader(&mut reader)).unwrap();
    writeln!(out, "{header} {payload:?} {list:?} {:?}", std::str::from_utf8(reader)).unwrap();
    for text in ["[1, 2.5, \"x\"]", "[1, 2", "[1, !", "!", "1 2", "[\n1,\n?]", "{\"a\": 1} !", ""] {
        let result = from_reader::<_, Value>(Slow(text.as_bytes()));
        // The error of a reader has a place inside some values and none inside others.
        if !result.as_ref().is_err_and(|error| error.is_io()) {
            writeln!(out, "{result:?}").unwrap();
        }
        writeln!(out, "{:?}", result.as_ref().map_err(|error| error.io_error_kind())).unwrap();
        if let Err(error) = result {
            writeln!(out, "{:?} {:?}", std::error::Error::source(&error).is_some(), std::io::Error::from(error).raw_os_error()).unwrap();
        }
    }
    let mut de = Deserializer::from_slice(b"[[[[1]]]] ");
    de.disable_recursion_limit();
    writeln!(out, "{:?} {:?}", Value::deserialize(&mut de), de.end()).unwrap();
    let deep = "[".repeat(300) + &"]".repeat(300);
    let mut de = Deserializer::from_str(&deep);
    de.disable_recursion_limit();
    writeln!(out, "{:?}", serde::de::IgnoredAny::deserialize(&mut de)).unwrap();
    out
}
