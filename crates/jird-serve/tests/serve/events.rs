//! `/events`: events of the store, the newest first, and as they come.

use crate::common::{Service, is_alone, resident, wait_for};
use jird_serve::Settings;
use jird_store::{Store, Sync, Writer, WriterOptions};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A server of a store with `events` events; those that arrived late come first.
fn serve(events: u32, change: impl FnOnce(&mut Settings)) -> (Service, Writer) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let store = Store::create(&path, &jird_store::Settings::default()).unwrap().with_block_bytes(1000);
    let writer = store.writer(&WriterOptions { sync: Sync::None, seal_bytes: 1 << 20 }).unwrap();
    for number in 0..events {
        append(&writer, number, events - number);
        if number == events / 2 {
            writer.seal().unwrap();
        }
    }
    (Service::start(folder, path, change), writer)
}

/// An event with this number, `second` seconds after midnight.
fn append(writer: &Writer, number: u32, second: u32) {
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let level = if number.is_multiple_of(10) { "Error" } else { "Information" };
    let event = format!(r#"{{"@t":"2024-03-05T{hour:02}:{minute:02}:{second:02}Z","@l":"{level}","n":{number}}}"#);
    writer.append_event(event.as_bytes()).unwrap();
}

/// The numbers of some events.
fn numbers(text: &str) -> Vec<u32> {
    let number = |rest: &str| rest.split(|char: char| !char.is_ascii_digit()).next().unwrap().parse().unwrap();
    text.split("\"n\":").skip(1).map(number).collect()
}

#[test]
fn the_newest_events_come_first_in_pages() {
    let (service, writer) = serve(1000, |_| ());
    let answer = service.get("/events").is(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.tree().as_array().unwrap().len(), 100);
    assert_eq!(numbers(answer.text()), (0..100).collect::<Vec<_>>());
    // Pages go on where the one before ends, whatever comes meanwhile.
    let mut all = Vec::new();
    let mut target = Some("/events?limit=170".to_owned());
    while let Some(asked) = target {
        let answer = service.send("GET", &asked, &[("Accept", "application/x-ndjson")], b"").is(200);
        assert!(answer.text().lines().all(|line| line.starts_with('{') && line.ends_with('}')));
        all.extend(numbers(answer.text()));
        let link =
            answer.header("link").map(|link| link.strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned());
        target = link;
        append(&writer, 5000, 80_000);
    }
    assert_eq!(all, (0..1000).collect::<Vec<_>>());
    assert_eq!(service.get("/events?limit=0").is(200).text(), "[]\n");
    let last = service.get("/events?limit=5").is(200);
    assert_eq!(numbers(last.text()), [5000; 5]);
}

#[test]
fn events_of_one_time_are_on_one_page_each() {
    let (service, writer) = serve(0, |_| ());
    for number in 0..300 {
        append(&writer, number, 7);
        if number == 100 {
            writer.seal().unwrap();
        }
    }
    let (mut all, mut target) = (Vec::new(), Some("/events?limit=7".to_owned()));
    while let Some(asked) = target {
        let answer = service.get(&asked).is(200);
        all.extend(numbers(answer.text()));
        target = answer.header("link").map(|link| link[1..link.len() - 13].to_owned());
    }
    assert_eq!(all, (0..300).rev().collect::<Vec<_>>());
}

#[cfg(feature = "query")]
#[test]
fn a_condition_and_a_stretch_of_time_choose_events() {
    let (service, _writer) = serve(1000, |_| ());
    let condition = "%22@l%22+=+'Error'+and+n+between+100+and+200";
    let answer = service.get(&format!("/events?where={condition}")).is(200);
    assert_eq!(numbers(answer.text()), (10..=20).map(|n| n * 10).collect::<Vec<_>>());
    assert!(answer.header("link").is_none());
    let answer = service.get(&format!("/events?where={condition}&limit=3")).is(200);
    assert_eq!(numbers(answer.text()), [100, 110, 120]);
    let link = answer.header("link").unwrap();
    let answer = service.get(&link[1..link.len() - 13]).is(200);
    assert_eq!(numbers(answer.text()), [130, 140, 150]);
    assert_eq!(service.get("/events?where=n+%3E+5000").is(200).text(), "[]\n");
    for (condition, wanted) in [
        ("n+%3E", "line"),
        ("lower(n)+=+'a'", "more than a comparison"),
        ("1)+or+(1=1", "\"column\":"),
        ("n+in+(select+1+from+'/etc/passwd')", ""),
    ] {
        let told = service.get(&format!("/events?where={condition}")).is(400).text().to_owned();
        assert!(told.contains(wanted) || wanted == "line", "{condition}: {told}");
    }
}

#[test]
fn a_stretch_of_time_chooses_events_and_what_is_wrong_is_told() {
    let (service, _writer) = serve(1000, |_| ());
    let answer = service.get("/events?since=2024-03-05T00:10:00Z&until=2024-03-05T00:10:05%2B00:00").is(200);
    // The second is 1000 - n.
    assert_eq!(numbers(answer.text()), [396, 397, 398, 399, 400]);
    assert_eq!(service.get("/events?since=1h").is(200).text(), "[]\n");
    for query in [
        "limit=10001",
        "limit=-1",
        "limit=",
        "limit=1&limit=2",
        "since=yesterday",
        "since=1h&until=2h",
        "before=1",
        "before=a.b",
        "select=a",
        "follow=yes",
        "follow=true&limit=1",
        "since=%00",
    ] {
        service.get(&format!("/events?{query}")).is(400);
    }
    service.send("POST", "/events", &[], b"x").is(405);
    service.send("GET", "/events", &[("Accept", "text/csv")], b"").is(406);
    service.send("GET", "/events", &[("Origin", "http://evil.example")], b"").is(403);
    service.send("GET", "/events?follow=true", &[("Sec-Fetch-Site", "cross-site")], b"").is(403);
    assert!(service.get("/log").is(404).text().contains("/query"));
}

/// A client that follows.
struct Follower {
    lines: BufReader<TcpStream>,
    /// Heartbeats would keep it waiting for ever.
    until: Instant,
}

impl Follower {
    fn new(service: &Service, query: &str, headers: &str) -> Self {
        let mut socket = service.connect();
        let head = format!("GET /events?follow=true{query} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", service.address);
        socket.write_all(head.as_bytes()).unwrap();
        let until = Instant::now() + Duration::from_mins(1);
        let mut follower = Self { lines: BufReader::new(socket), until };
        assert_eq!(follower.line(), "HTTP/1.1 200 OK");
        let mut has_type = false;
        loop {
            let line = follower.line();
            has_type |= line == "content-type: text/event-stream";
            if line == ":" {
                break;
            }
        }
        assert!(has_type);
        follower
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert!(Instant::now() < self.until, "{line}");
        line.truncate(line.trim_end().len());
        line
    }

    /// The next event: its `id`, and its number.
    fn next(&mut self) -> (Option<u64>, u32) {
        let mut id = None;
        loop {
            let line = self.line();
            if let Some(text) = line.strip_prefix("id:") {
                id = Some(text.parse().unwrap());
            } else if let Some(event) = line.strip_prefix("data:") {
                return (id, numbers(event)[0]);
            }
        }
    }

    fn numbers(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.next().1).collect()
    }
}

#[test]
fn events_are_sent_as_they_come_also_late_ones() {
    let (service, writer) = serve(50, |_| ());
    let mut follower = Follower::new(&service, "", "");
    let mut some = Follower::new(&service, "&since=2024-03-05T00:00:30Z", "");
    // Those of the past come in the order of their times.
    assert_eq!(some.numbers(21), (0..=20).rev().collect::<Vec<_>>());
    for number in 100..110 {
        let begun = Instant::now();
        append(&writer, number, 2000 - number);
        assert_eq!(follower.next(), (Some(u64::from(number) - 50), number));
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert_eq!(some.next().1, number);
    }
    append(&writer, 110, 1);
    append(&writer, 111, 40);
    assert_eq!(follower.numbers(2), [110, 111]);
    assert_eq!(some.numbers(1), [111], "one is before the time from which events are wanted");
    writer.seal().unwrap();
    append(&writer, 112, 50);
    assert_eq!((follower.next().1, some.next().1), (112, 112));
}

#[test]
fn a_client_that_comes_back_goes_on_where_it_was() {
    let (service, writer) = serve(50, |_| ());
    let mut follower = Follower::new(&service, "", "Last-Event-ID: 44\r\n");
    assert_eq!(follower.numbers(5), [45, 46, 47, 48, 49]);
    // What it has missed is in spans by now, in the order of times, and has one id in the end.
    writer.seal().unwrap();
    let mut follower = Follower::new(&service, "", "Last-Event-ID: 39\r\n");
    assert_eq!(
        (0..10).map(|_| follower.next()).collect::<Vec<_>>(),
        (40..50).rev().map(|n| (None, n)).collect::<Vec<_>>()
    );
    append(&writer, 50, 60);
    let mut ids = Vec::new();
    while ids.last() != Some(&"id:50".to_owned()) {
        ids.push(follower.line());
    }
    assert!(ids.contains(&"id:49".to_owned()), "{ids:?}");
    // A page says where a client that has it goes on.
    let page = service.get("/events?limit=1").is(200);
    let last = page.header("last-event-id").unwrap().to_owned();
    append(&writer, 51, 1);
    let mut follower = Follower::new(&service, "", &format!("Last-Event-ID: {last}\r\n"));
    assert_eq!((last.as_str(), follower.next()), ("50", (Some(51), 51)));
    // One of another store, or of tomorrow.
    let mut follower = Follower::new(&service, "", "Last-Event-ID: 1000000\r\n");
    append(&writer, 52, 61);
    assert_eq!(follower.next(), (Some(52), 52));
    service.send("GET", "/events?follow=true", &[("Last-Event-ID", "x")], b"").is(400);
}

#[cfg(feature = "query")]
#[test]
fn a_condition_chooses_what_is_followed() {
    let (service, writer) = serve(50, |_| ());
    let mut follower = Follower::new(&service, "&where=%22@l%22+=+'Error'", "");
    (50..80).for_each(|number| append(&writer, number, number));
    assert_eq!(follower.numbers(3), [50, 60, 70]);
}

#[test]
fn followers_are_few_hear_of_the_server_and_end_with_it() {
    let (mut service, writer) = serve(5, |settings| {
        settings.limits.followers = 2;
        settings.limits.heartbeat = Duration::from_millis(100);
    });
    let mut followers = [Follower::new(&service, "", ""), Follower::new(&service, "", "")];
    service.send("GET", "/events", &[("Accept", "text/event-stream")], b"").is(503);
    for follower in &mut followers {
        // Besides the chunks' lengths, nothing but comments and their ends.
        let mut beats = 0;
        while beats < 3 {
            let line = follower.line();
            assert!(!line.starts_with("id") && !line.starts_with("data"), "{line}");
            beats += u32::from(line == ":");
        }
    }
    let [follower, other] = followers;
    drop(other);
    wait_for(&service, "jird_followers_active 1");
    drop(Follower::new(&service, "", ""));
    let begun = Instant::now();
    let reader = std::thread::spawn(move || {
        let mut follower = follower;
        // Its last chunk comes, which is empty.
        while follower.line() != "0" {}
    });
    service.stop();
    assert!(begun.elapsed() < Duration::from_secs(5));
    reader.join().unwrap();
    drop(writer);
}

#[test]
fn a_client_that_takes_nothing_takes_no_memory() {
    if !is_alone("events::a_client_that_takes_nothing_takes_no_memory") {
        return;
    }
    let (service, writer) = serve(0, |_| ());
    let _slow = Follower::new(&service, "", "");
    let mut quick = Follower::new(&service, "", "");
    let text = "x".repeat(100_000);
    let before = resident();
    for number in 0..600 {
        writer.append_event(format!("{{\"n\":{number},\"text\":\"{text}\"}}").as_bytes()).unwrap();
        if number % 100 == 99 {
            assert_eq!(quick.numbers(100), (number - 99..=number).collect::<Vec<_>>());
            // Otherwise the writer would keep them until they are a megabyte, too.
            writer.seal().unwrap();
        }
    }
    let more = resident() - before;
    assert!(more < 40 << 20, "{more}");
}

#[test]
fn followers_that_wait_or_read_nothing_keep_no_turn() {
    let (service, writer) = serve(0, |_| ());
    // More than the buffers of the system take.
    let text = "x".repeat(100_000);
    for number in 0..300 {
        writer.append_event(format!("{{\"n\":{number},\"text\":\"{text}\"}}").as_bytes()).unwrap();
    }
    // Each core has two turns.
    let count = 4 * std::thread::available_parallelism().map_or(2, usize::from) + 4;
    let all: Vec<_> = (0..count).map(|_| Follower::new(&service, "&since=2020-01-01T00:00:00Z", "")).collect();
    wait_for(&service, &format!("jird_followers_active {count}"));
    let begun = Instant::now();
    assert_eq!(numbers(service.get("/events?limit=200").is(200).text()).len(), 200);
    service.get("/events/facets").is(200);
    assert!(begun.elapsed() < Duration::from_secs(20));
    drop(all);
}
