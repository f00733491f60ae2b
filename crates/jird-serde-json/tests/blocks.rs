//! Values from readers that are read in blocks and used on.
#![allow(missing_docs, reason = "tests")]

use jird_serde_json::blocks::ValueReader;
use jird_serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

/// Gives some bytes at a time, and then fails, ends or panics.
struct Pieces<'a> {
    text: &'a [u8],
    len: usize,
    then: Then,
}

#[derive(Clone, Copy)]
enum Then {
    Ends,
    Fails,
    Panics,
}

impl Read for Pieces<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let len = self.len.min(to.len()).min(self.text.len());
        match self.then {
            Then::Fails if len == 0 => return Err(io::Error::from_raw_os_error(104)),
            Then::Panics if len == 0 => panic!("asked for more"),
            _ => (),
        }
        to[..len].copy_from_slice(&self.text[..len]);
        self.text = &self.text[len..];
        Ok(len)
    }
}

fn pieces(text: &[u8], len: usize, then: Then) -> ValueReader<Pieces<'_>> {
    ValueReader::new(Pieces { text, len, then })
}

fn all(values: &mut ValueReader<Pieces<'_>>) -> (Vec<Value>, Option<jird_serde_json::Error>) {
    let mut read = Vec::new();
    loop {
        match values.read() {
            Ok(Some(value)) => read.push(value),
            Ok(None) => return (read, None),
            Err(error) => return (read, Some(error)),
        }
    }
}

const STREAM: &str = "{\"a\": [1, \"]}\\\"\\\\\"]} 12 \n-0.5e+1[]\"x\\u00e9\" true\tnull{}[[[false]]] \"\" 7 ";

#[test]
fn values_come_out_wherever_reads_split_them() {
    let wanted: Vec<Value> =
        jird_serde_json::Deserializer::from_str(STREAM).into_iter().collect::<Result<_, _>>().expect("JSON");
    assert_eq!(wanted.len(), 11);
    for len in 1..=STREAM.len() {
        let mut values = pieces(STREAM.as_bytes(), len, Then::Ends);
        let (read, error) = all(&mut values);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(read, wanted, "{len} bytes at a time");
        assert_eq!(values.byte_offset(), STREAM.len() as u64);
        assert_eq!(values.into_parts().1, b"");
    }
}

#[test]
fn what_stands_after_a_value_is_given_back() {
    let text = b"{\"len\": 5}hello[1]\nline\n";
    for len in 1..=text.len() {
        let mut values = pieces(text, len, Then::Ends);
        let header: Value = values.read().expect("JSON").expect("a value");
        assert_eq!((header, values.byte_offset()), (json!({"len": 5}), 10));
        let (mut reader, mut rest) = values.into_parts();
        reader.read_to_end(&mut rest).expect("the rest");
        assert_eq!(rest, b"hello[1]\nline\n", "{len} bytes at a time");
    }
}

#[test]
fn the_reader_is_not_asked_again_once_a_value_is_complete() {
    for text in ["[1, {\"a\": \"b\"}]", "\"x\"", "{}", " true", "false", "null", "17 ", "{\"a\":1}{\"b\":[2"] {
        for len in 1..=text.len() {
            let mut values = pieces(text.as_bytes(), len, Then::Panics);
            assert!(values.read::<Value>().expect("JSON").is_some(), "{text}");
        }
    }
}

#[test]
fn an_error_in_the_middle_is_told_at_once_and_its_text_is_given_back() {
    for (wrong, valid) in [
        ("[1, ?", 4),
        ("{\"a\" 1", 5),
        ("[1}", 2),
        ("]", 0),
        ("?", 0),
        ("[tru?", 4),
        ("[\"a\u{1}", 3),
        ("[01", 2),
        ("{1", 1),
        ("truf", 3),
    ] {
        let text = format!("[0]{wrong}");
        for len in 1..=text.len() {
            let mut values = pieces(text.as_bytes(), len, Then::Panics);
            assert_eq!(values.read::<Value>().expect("JSON"), Some(json!([0])));
            for _ in 0..2 {
                let error = values.read::<Value>().expect_err("wrong");
                assert!(error.is_syntax() && error.column() >= valid, "{wrong} {error}");
                assert_eq!(values.byte_offset(), 3);
            }
            let (reader, rest) = values.into_parts();
            assert_eq!([&rest, reader.text].concat(), wrong.as_bytes());
        }
    }
}

#[test]
fn a_text_that_ends_within_a_value_is_an_error_of_that_kind() {
    for text in ["[1, 2", "{\"a\"", "\"x", "\"\\", "tru", "-", "[1.", "{\"a\": {"] {
        for len in 1..=text.len() {
            let mut values = pieces(text.as_bytes(), len, Then::Ends);
            let error = values.read::<Value>().expect_err("cut");
            assert!(error.is_eof(), "{text} {error}");
            assert_eq!(values.into_parts().1, text.as_bytes());
        }
    }
}

#[test]
fn a_value_of_another_type_is_used_up_and_the_next_one_is_read() {
    let mut values = pieces(b"[1] {\"a\": 2} [3]", 3, Then::Ends);
    assert_eq!(values.read::<Vec<u8>>().expect("a list"), Some(vec![1]));
    let error = values.read::<Vec<u8>>().expect_err("an object");
    assert!(error.is_data() && values.byte_offset() == 12, "{error}");
    assert_eq!(values.read::<Vec<u8>>().expect("a list"), Some(vec![3]));
    assert_eq!(values.read::<Vec<u8>>().expect("the end"), None);
}

#[test]
fn values_before_a_failure_of_the_reader_are_delivered_and_reading_can_go_on() {
    let text = (0..100).map(|n| format!("{{\"n\": {n}}}")).collect::<Vec<_>>().join("\n");
    for len in [1, 7, 4096] {
        let mut values = pieces(text.as_bytes(), len, Then::Fails);
        let (read, error) = all(&mut values);
        assert_eq!(read.len(), 100);
        assert_eq!(io::Error::from(error.expect("the reader fails")).raw_os_error(), Some(104));
        *values.get_mut() = Pieces { text: b"[1]", len: 1, then: Then::Ends };
        assert_eq!(values.read::<Value>().expect("JSON"), Some(json!([1])));
    }
}

#[test]
fn long_values_grow_up_to_the_limit() {
    let long = format!("[\"{}\", 1] 2", "x".repeat(300_000));
    let mut values = pieces(long.as_bytes(), 1000, Then::Ends);
    assert_eq!(values.read::<(&str, u8)>().expect("JSON").map(|(text, one)| (text.len(), one)), Some((300_000, 1)));
    assert_eq!(values.read::<u8>().expect("JSON"), Some(2));
    let mut values = pieces(long.as_bytes(), 1000, Then::Ends).with_value_bytes_max(100_000);
    let error = values.read::<(&str, u8)>().expect_err("too long");
    assert_eq!(error.to_string(), "a value is longer than 100000 bytes");
    assert!(values.into_parts().1.len() < 200_000);
}

#[test]
fn half_a_surrogate_pair_that_nobody_looks_at_is_no_error() {
    for len in [1, 3, 100] {
        let mut values = pieces(b"[\"\\ud800\", 1] 2", len, Then::Ends);
        assert!(values.read::<serde::de::IgnoredAny>().expect("as serde_json").is_some());
        assert_eq!(values.read::<u8>().expect("JSON"), Some(2));
    }
}

#[test]
fn requests_are_answered_on_one_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut client = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
    let (server, _) = listener.accept().expect("a connection");
    server.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("a timeout");
    let answering = std::thread::spawn(move || {
        let mut requests = ValueReader::new(server);
        while let Some(request) = requests.read::<Value>().expect("a request") {
            jird_serde_json::to_writer(requests.get_mut(), &json!({"got": request["n"]})).expect("written");
        }
    });
    let mut answers = ValueReader::new(client.try_clone().expect("the same connection"));
    for n in 0..50 {
        write!(client, "{{\"n\": {n}}}").expect("written");
        assert_eq!(answers.read::<Value>().expect("an answer"), Some(json!({"got": n})));
    }
    client.shutdown(std::net::Shutdown::Write).expect("the end");
    answering.join().expect("no panic");
}
