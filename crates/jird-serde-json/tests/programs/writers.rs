// An exporter: everything that writes.
use self::serde_json::ser::{CompactFormatter, Compound, PrettyFormatter, Serializer};
use self::serde_json::{json, to_string, to_writer, to_writer_pretty};
use serde::Serialize;
use serde::ser::SerializeSeq;
use std::fmt::Write as _;
use std::io::{self, Write};

struct Limited(Vec<u8>, usize);
impl Write for Limited {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let len = text.len().min(self.1);
        if len == 0 {
            return Err(io::Error::from_raw_os_error(28));
        }
        self.0.extend_from_slice(&text[..len]);
        self.1 -= len;
        Ok(len)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fails after some elements.
struct Fails(usize);
impl Serialize for Fails {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for index in 0..self.0 {
            list.serialize_element(&format!("element {index} é"))?;
        }
        list.serialize_element(&Err::<u8, _>("x").map_err(|_: &str| Never))?;
        list.end()
    }
}
struct Never;
impl Serialize for Never {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("never"))
    }
}

fn list<W: Write>(mut compound: Compound<'_, W, CompactFormatter>) -> self::serde_json::Result<()> {
    compound.serialize_element("a")?;
    compound.serialize_element(&1)?;
    SerializeSeq::end(compound)
}

pub fn run() -> String {
    let mut out = String::new();
    let value = json!({"a": [1, 2.5, "é\u{1F600}\u{0}\"\\/\u{7f}"], "b": {}, "c": []});
    let mut text = Vec::new();
    to_writer(&mut text, &value).unwrap();
    to_writer_pretty(&mut text, &value).unwrap();
    writeln!(text).unwrap();
    let mut serializer = Serializer::new(&mut text);
    value.serialize(&mut serializer).unwrap();
    list(serde::Serializer::serialize_seq(&mut serializer, None).unwrap()).unwrap();
    serializer.into_inner().push(b'|');
    value.serialize(&mut Serializer::pretty(&mut text)).unwrap();
    value.serialize(&mut Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b"\t"))).unwrap();
    value.serialize(&mut Serializer::with_formatter(&mut text, PrettyFormatter::new())).unwrap();
    value.serialize(&mut Serializer::with_formatter(&mut text, PrettyFormatter::default())).unwrap();
    value.serialize(&mut Serializer::with_formatter(&mut text, CompactFormatter::default())).unwrap();
    writeln!(out, "{} {:?}", String::from_utf8(text).unwrap(), CompactFormatter).unwrap();
    for room in [0, 1, 7, 40] {
        let mut limited = Limited(Vec::new(), room);
        let error = to_writer(&mut limited, &value).unwrap_err();
        writeln!(out, "{:?} {error} {:?}", String::from_utf8_lossy(&limited.0), error.io_error_kind()).unwrap();
        writeln!(out, "{:?}", io::Error::from(error).raw_os_error()).unwrap();
    }
    for count in [0, 1, 3, 3000] {
        let mut written = Vec::new();
        let error = to_writer(&mut written, &Fails(count)).unwrap_err();
        writeln!(out, "{error:?} {} {:?}", written.len(), written.last()).unwrap();
        let mut written = Vec::new();
        let error = to_writer_pretty(&mut written, &Fails(count)).unwrap_err();
        writeln!(out, "{error:?} {} {:?} {:?}", written.len(), written.last(), to_string(&Fails(count)).is_err()).unwrap();
    }
    out
}
