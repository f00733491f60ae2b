//! Streams as people use them: connections that stay open, payloads after values, readers that fail.
#![allow(missing_docs, reason = "tests")]

use jird_serde_json::{Deserializer, Value, json};
use serde::Deserialize;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
    let (server, _) = listener.accept().expect("a connection");
    for end in [&client, &server] {
        end.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    }
    (client, server)
}

#[test]
fn a_request_is_answered_while_the_connection_stays_open() {
    let (mut client, mut server) = pair();
    let answering = thread::spawn(move || {
        for _ in 0..3 {
            let request = Value::deserialize(&mut Deserializer::from_reader(&mut server)).expect("a request");
            jird_serde_json::to_writer(&mut server, &json!({"got": request["n"]})).expect("written");
        }
        server
    });
    for n in 0..3 {
        jird_serde_json::to_writer(&mut client, &json!({"n": n, "é": [1.5]})).expect("written");
        let answer = Value::deserialize(&mut Deserializer::from_reader(&mut client)).expect("an answer");
        assert_eq!(answer, json!({"got": n}));
    }
    drop(answering.join().expect("no panic"));
}

#[test]
fn what_stands_after_a_value_stays_in_the_reader() {
    let (mut client, server) = pair();
    client.write_all(b"{\"len\": 5}hello[1]\nline\n").expect("written");
    let mut server = BufReader::new(server);
    let header = Value::deserialize(&mut Deserializer::from_reader(&mut server)).expect("a header");
    assert_eq!(header["len"], 5);
    let mut payload = [0; 5];
    server.read_exact(&mut payload).expect("a payload");
    assert_eq!(&payload, b"hello");
    assert_eq!(Vec::<u8>::deserialize(&mut Deserializer::from_reader(&mut server)).expect("a list"), [1]);
    let mut line = String::new();
    server.read_line(&mut line).expect("a line");
    server.read_line(&mut line).expect("a line");
    assert_eq!(line, "\nline\n");
}

#[test]
fn values_of_a_stream_come_out_as_soon_as_they_are_complete() {
    let (mut client, server) = pair();
    let mut values = Deserializer::from_reader(BufReader::new(server)).into_iter::<Value>();
    for n in 0..100 {
        write!(client, "{{\"n\": {n}}}").expect("written");
        assert_eq!(values.next().expect("a value").expect("JSON"), json!({"n": n}));
    }
    client.write_all(b"[1] ?").expect("written");
    assert_eq!(values.next().expect("a value").expect("JSON"), json!([1]));
    assert!(values.next().expect("an error").expect_err("no JSON").is_syntax());
}

/// Gives some bytes at a time, and then fails.
struct Fails<'a>(&'a [u8], usize);

impl Read for Fails<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let len = self.1.min(to.len()).min(self.0.len());
        if len == 0 {
            return Err(io::Error::from_raw_os_error(104));
        }
        to[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        Ok(len)
    }
}

#[test]
fn values_that_were_complete_before_a_reader_failed_are_delivered() {
    let text = (0..100).map(|n| format!("{{\"n\": {n}}}")).collect::<Vec<_>>().join("\n");
    for pieces in [1, 7, 4096] {
        let values = Deserializer::from_reader(Fails(text.as_bytes(), pieces)).into_iter::<Value>();
        let (good, bad): (Vec<_>, Vec<_>) = values.partition(Result::is_ok);
        assert_eq!(good.len(), 100);
        let error = bad.into_iter().next().expect("the reader's error").expect_err("an error");
        assert_eq!(io::Error::from(error).raw_os_error(), Some(104));
    }
    let error = jird_serde_json::from_reader::<_, Value>(Fails(b"[1, 2", 3)).expect_err("the reader fails");
    assert_eq!(io::Error::from(error).raw_os_error(), Some(104));
}

#[test]
fn a_reader_is_not_asked_again_once_a_value_is_complete() {
    struct Once<'a>(&'a [u8]);
    impl Read for Once<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "asked after the value was complete");
            to[0] = self.0[0];
            self.0 = &self.0[1..];
            Ok(1)
        }
    }
    for text in ["[1, {\"a\": \"b\"}]", "\"x\"", "{}", "true", "null"] {
        Value::deserialize(&mut Deserializer::from_reader(Once(text.as_bytes()))).expect("JSON");
    }
}

#[test]
fn long_texts_of_readers_are_not_kept_and_their_errors_have_their_place() {
    let mut text = String::from("[\n");
    while text.len() < 17 << 20 {
        text.push_str("123456789, \"some text of no use\",\n");
    }
    let lines = text.lines().count();
    let whole = format!("{text}0]");
    assert!(jird_serde_json::from_reader::<_, Vec<Value>>(whole.as_bytes()).expect("JSON").len() > 900_000);
    let check = |end: &str, category| {
        let wrong = format!("{text}{end}");
        let error = jird_serde_json::from_reader::<_, Vec<Value>>(wrong.as_bytes()).expect_err("wrong");
        assert_eq!((error.classify(), error.line()), (category, lines + 1), "{error}");
    };
    check("?]", jird_serde_json::error::Category::Syntax);
    check("1,", jird_serde_json::error::Category::Eof);
    let error = jird_serde_json::from_reader::<_, Vec<Option<u32>>>(whole.as_bytes()).expect_err("a string");
    assert_eq!((error.is_data(), error.line()), (true, 2), "{error}");
    assert!(error.to_string().starts_with("invalid type: string \"some text of no use\", expected u32"), "{error}");
}
