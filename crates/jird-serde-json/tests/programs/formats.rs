// A house style: formatters of one's own.
use self::serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};
use self::serde_json::{from_str, json, Value};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

struct Ascii;
impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        for c in fragment.chars() {
            if c.is_ascii() {
                writer.write_all(&[c as u8])?;
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
    fn write_char_escape<W: ?Sized + Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        match escape {
            CharEscape::Quote | CharEscape::ReverseSolidus | CharEscape::Solidus => CompactFormatter.write_char_escape(writer, escape),
            CharEscape::Backspace | CharEscape::FormFeed | CharEscape::LineFeed | CharEscape::CarriageReturn | CharEscape::Tab => writer.write_all(b"?"),
            CharEscape::AsciiControl(byte) => write!(writer, "<{byte}>"),
        }
    }
}

struct Spaced(usize);
impl Formatter for Spaced {
    fn write_null<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> { writer.write_all(b"nil") }
    fn write_bool<W: ?Sized + Write>(&mut self, writer: &mut W, value: bool) -> io::Result<()> { writer.write_all(if value { b"yes" } else { b"no" }) }
    fn write_u64<W: ?Sized + Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> { write!(writer, "+{value}") }
    fn write_i64<W: ?Sized + Write>(&mut self, writer: &mut W, value: i64) -> io::Result<()> { write!(writer, "{value}") }
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> { write!(writer, "{value:.3}") }
    fn write_byte_array<W: ?Sized + Write>(&mut self, writer: &mut W, value: &[u8]) -> io::Result<()> { write!(writer, "#{}", value.len()) }
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> { self.0 += 1; writer.write_all(b"[ ") }
    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> { self.0 -= 1; writer.write_all(b" ]") }
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> { writer.write_all(if first { b"" } else { b" ; " }) }
    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> { writer.write_all(b"'") }
    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> { write!(writer, "{}{}", if first { "" } else { "," }, self.0) }
    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> { writer.write_all(b" => ") }
    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> { writer.write_all(b".") }
}

struct Bytes;
impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(b"abc")
    }
}

pub fn run() -> String {
    let mut out = String::new();
    let values: [Value; 3] = [
        json!({"é": "a\u{8}\n\u{1}\"\u{1F600}", "n": [null, true, 7, -7, 2.5, [], {}]}),
        from_str(r#"[1.5, -0.25, 1e2, {"k": 10.75}]"#).unwrap(),
        json!("plain"),
    ];
    for value in &values {
        let mut text = Vec::new();
        value.serialize(&mut Serializer::with_formatter(&mut text, Ascii)).unwrap();
        if value.pointer("/2") != Some(&json!(100.0)) {
            text.push(b'\n');
            value.serialize(&mut Serializer::with_formatter(&mut text, Spaced(0))).unwrap();
            Bytes.serialize(&mut Serializer::with_formatter(&mut text, Spaced(0))).unwrap();
        } else {
            // The exponent's form differs: `1e2` keeps its text.
            text.clear();
            value[3].serialize(&mut Serializer::with_formatter(&mut text, Spaced(0))).unwrap();
        }
        writeln!(out, "{}", String::from_utf8(text).unwrap()).unwrap();
    }
    out
}
