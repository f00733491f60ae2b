//! CSV as a source: types, records of other lengths, what is bad.

use crate::{Fields, bare, lines, of_source, survivors, theirs, written};
use jird::event::{self, Failure, Interest, Key, Numeral, Sink, Source};
use jird_formats::{CsvSink, CsvSource, CsvType, Dialect, Empty, ErrorKind, Terminator};
use std::io::{self, Read};

#[test]
fn types_are_taken_from_the_text_itself() {
    let text = "n\n1\n-0.0\n1.50\n12345678901234567890123\n1e400\n007\n+1\n1.\n.5\n0x1\nNaN\n-\n 1\ntrue\nTrue\nfalse\nnull\n\"1\"\n\"true\"\n\"\"\n";
    let wanted = [
        "1",
        "-0.0",
        "1.50",
        "12345678901234567890123",
        "1e400",
        "\"007\"",
        "\"+1\"",
        "\"1.\"",
        "\".5\"",
        "\"0x1\"",
        "\"NaN\"",
        "\"-\"",
        "\" 1\"",
        "true",
        "\"True\"",
        "false",
        "\"null\"",
        "\"1\"",
        "\"true\"",
        "\"\"",
    ];
    let lines = lines(CsvSource::new(text.as_bytes()).typed()).unwrap();
    assert_eq!(lines, wanted.map(|value| format!("{{\"n\":{value}}}\n")).concat());
}

#[test]
fn columns_have_the_types_that_the_caller_chooses() {
    let typed = |text: &'static str, column_type| lines(CsvSource::new(text.as_bytes()).column_type("a", column_type));
    assert_eq!(typed("a,b\n\"1\",2\n", CsvType::Number).unwrap(), "{\"a\":1,\"b\":\"2\"}\n");
    assert_eq!(
        typed("a,b\n\"true\",\n,2\n", CsvType::Bool).unwrap(),
        "{\"a\":true,\"b\":\"\"}\n{\"a\":null,\"b\":\"2\"}\n"
    );
    assert_eq!(typed("a\n\"{\"\"x\"\": [1 ]}\"\n", CsvType::Json).unwrap(), "{\"a\":{\"x\":[1]}}\n");
    for (text, column_type) in [("a\n007\n", CsvType::Number), ("a\nyes\n", CsvType::Bool), ("a\n[1\n", CsvType::Json)]
    {
        let Failure::Source(error) = typed(text, column_type).unwrap_err() else { panic!("{text}") };
        assert_eq!((error.kind(), error.place().unwrap().line, error.place().unwrap().offset), (ErrorKind::Type, 2, 2));
    }
    let missing = lines(CsvSource::new("b\n".as_bytes()).column_type("a", CsvType::Number)).unwrap_err();
    assert_eq!(missing.to_string(), "a type is given for the column `a`, which does not exist");
}

#[test]
fn empty_fields_become_what_the_caller_chooses() {
    let text = "a,b,c\n,\"\",NA\nNA,\"NA\",x\n";
    let read = |source: CsvSource<&'static [u8]>| lines(source).unwrap();
    let source = || CsvSource::new(text.as_bytes());
    assert_eq!(read(source()), "{\"a\":\"\",\"b\":\"\",\"c\":\"NA\"}\n{\"a\":\"NA\",\"b\":\"NA\",\"c\":\"x\"}\n");
    let nulls = "{\"a\":null,\"b\":\"\",\"c\":null}\n{\"a\":null,\"b\":\"NA\",\"c\":\"x\"}\n";
    assert_eq!(read(source().empty(Empty::Null).nulls(["NA"])), nulls);
    let missing = "{\"b\":\"\",\"c\":\"NA\"}\n{\"a\":\"NA\",\"b\":\"NA\",\"c\":\"x\"}\n";
    assert_eq!(read(source().empty(Empty::Missing)), missing);
    // By csv-core, too.
    let dialect = Dialect { escape: Some(b'\\'), ..Dialect::default() };
    assert_eq!(read(CsvSource::with_dialect(text.as_bytes(), dialect).empty(Empty::Null).nulls(["NA"])), nulls);
}

#[test]
fn records_of_other_lengths_are_errors_or_flexible() {
    let text = "a,column4\n1\n1,2,3\n1,2,3,4\n5\n";
    let wanted = "{\"a\":\"1\"}\n{\"a\":\"1\",\"column4\":\"2\",\"column3\":\"3\"}\n\
                  {\"a\":\"1\",\"column4\":\"2\",\"column3\":\"3\",\"column4_2\":\"4\"}\n{\"a\":\"5\"}\n";
    assert_eq!(lines(CsvSource::new(text.as_bytes()).flexible()).unwrap(), wanted);
    let error = lines(CsvSource::new(text.as_bytes())).unwrap_err().to_string();
    assert_eq!(error, "1 field where there are 2 columns, in record 1 at line 2 (byte 10)");
    let names = lines(CsvSource::new(text.as_bytes()).columns(["x"])).unwrap_err().to_string();
    assert_eq!(names, "3 fields where there is 1 column, in record 2 at line 3 (byte 12)");
}

#[test]
fn the_record_after_a_bad_one_is_read() {
    let text = b"a,b\n1,2\n\xff,3\n4\n\"x\ny\xc3\",5\n6,7\n\"open,8\n9,10\n";
    let utf8 = ErrorKind::Utf8;
    for chunk_bytes in [1, 3, 1 << 17] {
        let (records, errors, texts) = survivors(CsvSource::new(&text[..]).chunk_bytes(chunk_bytes));
        assert_eq!(records, [["1", "2"], ["6", "7"]]);
        assert_eq!(errors, [(utf8, 3, 8), (ErrorKind::Fields, 4, 12), (utf8, 6, 18), (ErrorKind::Unclosed, 8, 27)]);
        assert_eq!(texts, [&b"\xff,3"[..], b"4", b"\"x\ny\xc3\",5", b"\"open,8\n9,10\n"]);
    }
}

#[test]
fn a_record_that_is_too_long_is_left_out_in_constant_memory() {
    for dialect in [Dialect::default(), Dialect { escape: Some(b'\\'), ..Dialect::default() }] {
        for long in ["\"x\n,\"\"\"", "\"\",x", "plain,", "\"a\"b,\"c\n\",", "x,\"c\n\","] {
            for chunk_bytes in [1, 7, 64, 1 << 17] {
                let middle = long.repeat(if chunk_bytes == 1 { 100 } else { 5000 });
                // As csv-core reads it, so that it is known where it ends.
                let whole = theirs(format!("{middle}end\n").as_bytes(), Dialect { header: false, ..dialect });
                assert_eq!(whole.len(), 1, "{long:?}");
                let text = format!("a,b\n1,2\n{middle}end\n3,4\n");
                let lines = text.matches('\n').count() as u64;
                let source = CsvSource::with_dialect(text.as_bytes(), dialect).chunk_bytes(chunk_bytes);
                let (records, errors, _) = survivors(source.record_bytes_max(100));
                assert_eq!(records, [["1", "2"], ["3", "4"]], "{long:?} by {chunk_bytes}");
                assert_eq!(errors, [(ErrorKind::Size, 3, 8)]);
                let mut source = CsvSource::with_dialect(text.as_bytes(), dialect).record_bytes_max(100);
                while source.send_record(&mut Fields::default()).map_or(true, |more| more) {}
                assert_eq!(source.place().line, lines, "{long:?}");
            }
        }
    }
}

/// Gives this many bytes, without having them.
struct Endless(u8, usize);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(self.1);
        buffer[..len].fill(self.0);
        self.1 -= len;
        Ok(len)
    }
}

#[test]
fn a_quote_that_is_never_closed_is_bounded() {
    let input = (&b"a,b\n1,2\n\"open"[..]).chain(Endless(b'x', 300 << 20));
    let (records, errors, texts) = survivors(CsvSource::new(input).record_bytes_max(1 << 20));
    assert_eq!((records.len(), errors), (1, vec![(ErrorKind::Size, 3, 8)]));
    assert!(texts[0].len() < 2 << 20);
}

#[test]
fn the_number_of_columns_is_limited() {
    let wide = |columns: usize| ",".repeat(columns - 1) + "\n";
    let (records, errors, _) = survivors(CsvSource::new(wide(1_000_000).repeat(2).as_bytes()));
    assert_eq!((records[0].len(), errors.len()), (1_000_000, 0));
    let (_, errors, _) = survivors(CsvSource::with_dialect(wide((1 << 20) + 1).as_bytes(), bare()));
    assert_eq!(errors, [(ErrorKind::Columns, 1, 0)]);
    let names = "a,".repeat(500_000) + "a\n";
    assert_eq!(CsvSource::new(names.as_bytes()).names().unwrap().last(), Some("a_500001"));
}

#[test]
fn a_long_field_and_nul_bytes_are_fields() {
    let long = "x\0".repeat(5 << 20);
    let text = format!("a,b\n{long},\"{long}\"\n");
    let (records, errors, _) = survivors(CsvSource::new(text.as_bytes()));
    assert!(records[0] == [&long[..], &long] && errors.is_empty());
}

#[test]
fn invalid_utf8_is_found_wherever_it_is() {
    let text = b"a,b\nplain,\"quoted\"\n\"dou\"\"bled\",x\n\"odd\"y,z\nlast,one";
    for at in 0..text.len() {
        let mut bad = text.to_vec();
        if !bad[at].is_ascii_alphabetic() {
            continue;
        }
        bad[at] = 0xe9;
        let failure = event::copy(&mut CsvSource::new(&bad[..]), &mut Fields::default()).unwrap_err();
        let error = of_source(failure);
        assert_eq!((error.kind(), error.place().unwrap().offset), (ErrorKind::Utf8, at as u64));
    }
    // Two halves of a character are none, though nothing but ASCII is between them.
    let (records, errors, _) = survivors(CsvSource::with_dialect(&b"x,\"\"\xc3,\xa9\n"[..], bare()));
    assert_eq!((records.len(), errors.len()), (0, 1));
}

#[test]
fn after_a_bad_header_every_read_is_an_error() {
    let mut source = CsvSource::new(&b"a,\xff\n1,2\n"[..]);
    let mut error = || of_source(source.send_record(&mut Fields::default()).unwrap_err()).kind();
    assert_eq!([error(), error()], [ErrorKind::Utf8, ErrorKind::Header]);
}

#[test]
fn dialects_without_sense_are_errors() {
    let base = Dialect::default();
    let wrong = [
        Dialect { delimiter: b'"', ..base },
        Dialect { delimiter: b'\n', ..base },
        Dialect { comment: Some(b','), ..base },
        Dialect { escape: Some(0xe9), ..base },
        Dialect { terminator: Terminator::Byte(b','), ..base },
    ];
    for dialect in wrong {
        let Failure::Source(error) = lines(CsvSource::with_dialect("a\n1\n".as_bytes(), dialect)).unwrap_err() else {
            panic!("{dialect:?}")
        };
        assert_eq!(error.kind(), ErrorKind::Dialect);
        let Failure::Sink(error, _) = written("{\"a\":1}", CsvSink::with_dialect(Vec::new(), dialect)).unwrap_err()
        else {
            panic!("{dialect:?}")
        };
        assert_eq!(error.kind(), ErrorKind::Dialect);
    }
}

#[test]
fn empty_inputs_have_no_records() {
    for text in ["", "\u{feff}", "\n\r\n", "a,b", "a,b\r\n\r\n", "\u{feff}a\n"] {
        for chunk_bytes in [1, 100] {
            assert_eq!(lines(CsvSource::new(text.as_bytes()).chunk_bytes(chunk_bytes)).unwrap(), "", "{text:?}");
        }
    }
}

/// Wants two columns, by their numbers.
struct Some2(String);

impl Sink for Some2 {
    type Error = std::convert::Infallible;

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Self::Error> {
        Ok(Interest::take_if(matches!(key.number(), Some(0 | 2))))
    }
    fn string(&mut self, text: &str) -> Result<(), Self::Error> {
        self.0 += text;
        Ok(())
    }
    fn number(&mut self, number: Numeral<'_>) -> Result<(), Self::Error> {
        self.0 += &number.as_i64().unwrap().to_string();
        Ok(())
    }
}

#[test]
fn skipped_values_are_not_converted() {
    let mut sink = Some2(String::new());
    let mut source = CsvSource::new("a,b,c\n1,x,\"\"\"z\"\n".as_bytes());
    source = source.column_type("a", CsvType::Number).column_type("b", CsvType::Number);
    event::copy(&mut source, &mut sink).unwrap();
    assert_eq!(sink.0, "1\"z");
}
