//! Servers that do what they should not. There must be the right answer, or an error that says what is wrong, in time and in
//! memory that are bounded.

use super::{Ran, jird, records};
use crate::folder::Folder;
use crate::server::{Server, Trick};
use std::fs;
use std::time::{Duration, Instant};

/// More than the first block, so that there are several requests.
const COUNT: usize = 3000;

const SQL: &str = "select Level, count(*) as n, sum(id) as ids group by Level order by Level";

/// What a query of a file at such a server gives, then that of the local file; and how many requests it took.
fn ask(trick: Trick, more: &[&str]) -> (Ran, Ran, u64) {
    let folder = Folder::new("tricks").with("a.ndjson", records(COUNT));
    let server = Server::new(&folder.0, trick);
    let url = server.url("a.ndjson");
    let (local, begun) = (jird(&folder, &[], &["query", SQL, "a.ndjson"]), Instant::now());
    // What fails is tried again as long as a silent server is waited for.
    let patience = if matches!(trick, Trick::Fails(_) | Trick::CutsOffOnce(_)) { "10" } else { "0.5" };
    let usual = ["query", SQL, &url, "--remote-patience", patience];
    let remote = jird(&folder, &[], &[&usual, more].concat());
    assert!(begun.elapsed() < Duration::from_secs(15), "{trick:?} took {:?}", begun.elapsed());
    assert_eq!(local.code, 0, "{}", local.said);
    let said = remote.said.replace(&url, "URL");
    (local, Ran { said, ..remote }, server.requests())
}

/// The server can be read in spite of what it does.
#[track_caller]
fn is_right(trick: Trick, more: &[&str]) -> u64 {
    let (local, remote, requests) = ask(trick, more);
    assert_eq!(remote, local, "{trick:?}");
    requests
}

/// The command fails, with such a message, and prints no row.
#[track_caller]
fn is_refused(trick: Trick, words: &str) {
    for more in [&[][..], &["--threads", "1", "--remote-block", "1000"]] {
        let (_, remote, _) = ask(trick, more);
        assert_eq!((&*remote.out, remote.code), ("", 2), "{trick:?}: {}", remote.said);
        assert!(remote.said.starts_with("jird: URL: ") && remote.said.contains(words), "{trick:?}: {}", remote.said);
        assert_eq!(remote.said.lines().count(), 1, "{trick:?}: {}", remote.said);
    }
}

#[test]
fn what_a_server_sends_well_is_read_like_a_file() {
    assert_eq!(is_right(Trick::None, &[]), 2);
    assert_eq!(is_right(Trick::IgnoresRanges, &[]), 2);
    for block in ["700", "4096", "100000"] {
        for threads in ["1", "3"] {
            is_right(Trick::None, &["--remote-block", block, "--threads", threads, "--chunk-bytes", "9999"]);
        }
    }
}

#[test]
fn what_fails_for_a_moment_is_tried_again() {
    for times in 1..=3 {
        assert!(is_right(Trick::Fails(times), &[]) > times);
        is_right(Trick::CutsOffOnce(times), &[]);
        is_right(Trick::CutsOffOnce(times), &["--remote-block", "10000"]);
    }
}

#[test]
fn a_server_that_stalls_is_left_in_time() {
    is_refused(Trick::Silent, "the server sends nothing, or almost nothing, for 0.5 s");
    is_refused(Trick::Stalls, "the server sends nothing, or almost nothing, for 0.5 s");
    is_refused(Trick::Drips, "the server sends nothing, or almost nothing, for 0.5 s");
}

#[test]
fn an_answer_that_breaks_off_is_no_shorter_file() {
    is_refused(Trick::CutsOff, "");
    let (_, remote, _) = ask(Trick::IgnoresRangesAndCutsOff, &[]);
    assert_eq!((&*remote.out, remote.code), ("", 2), "{}", remote.said);
    assert!(remote.said.contains("breaks off after"), "{}", remote.said);
}

#[test]
fn what_is_not_what_was_asked_for_is_refused() {
    is_refused(Trick::OtherRange, "what it sends cannot be trusted");
    is_refused(Trick::NoRange, "what it sends cannot be trusted");
    is_refused(Trick::Less, "");
    is_refused(Trick::Noise, "");
    is_refused(Trick::Circle, "");
    is_refused(Trick::Endless, "");
    // It is the rest of an answer that broke off, and begins at the start: no byte of it is used.
    for block in ["4194304", "10000"] {
        let (_, remote, _) = ask(Trick::CutsOffThenWhole(1), &["--remote-block", block]);
        assert_eq!((&*remote.out, remote.code), ("", 2), "{}", remote.said);
        assert!(remote.said.contains("sends the whole file where a part of it was asked for"), "{}", remote.said);
    }
}

#[test]
fn bytes_behind_an_answer_are_no_rows() {
    // They are taken for the start of the next answer, or are never read.
    let (local, remote, _) = ask(Trick::More, &[]);
    assert!(remote.code == 2 && remote.out.is_empty() || remote == local, "{remote:?}");
}

#[test]
fn a_file_that_changes_has_no_answer() {
    is_refused(Trick::OtherTag, "it has changed while it was read");
    is_refused(Trick::Grows, "it has changed while it was read");
}

#[test]
fn a_refusal_says_why() {
    is_refused(Trick::Status(403), "the server refuses access (403)");
    is_refused(Trick::Status(401), "the server refuses access (401)");
    is_refused(Trick::Status(404), "the server has nothing there (404)");
    is_refused(Trick::Status(410), "the server refuses the request (410)");
    is_refused(Trick::Status(503), "the server fails (503); try again");
    is_refused(Trick::NoLength, "the server does not say how long the file is");
    let folder = Folder::new("tricks");
    for (url, words) in [
        ("http://127.0.0.1:1/a.ndjson", "cannot connect: Connection refused"),
        ("http://no-such-host.invalid/a.ndjson", "cannot connect: "),
        ("ftp://127.0.0.1/a.ndjson", "URLs that begin with ftp:// are not read"),
        ("s3:///a.ndjson", "the URL has no bucket"),
        ("s3://bucket/a//b.ndjson", "two slashes"),
        ("az://container/a.ndjson", "no account is named"),
        ("http://127.0.0.1:1/shop.db", "cannot connect"),
    ] {
        let said = jird(&folder, &[], &["query", "select 1 from stream", url, "--remote-patience", "0.5"]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.said);
        assert!(said.said.starts_with(&format!("jird: {url}: ")) && said.said.contains(words), "{}", said.said);
    }
}

#[test]
fn a_budget_is_not_overdrawn() {
    let text = records(COUNT);
    let folder = Folder::new("budget").with("a.ndjson", &text);
    for trick in [Trick::None, Trick::IgnoresRanges] {
        for budget in [0, 1, 65_536, 65_537, text.len() - 1] {
            let server = Server::new(&folder.0, trick);
            let ran = jird(
                &folder,
                &[],
                &[
                    "query",
                    SQL,
                    &server.url("a.ndjson"),
                    "--remote-budget",
                    &budget.to_string(),
                    "--remote-block",
                    "20000",
                ],
            );
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{budget}: {}", ran.said);
            assert!(ran.said.contains("than the budget of"), "{budget}: {}", ran.said);
            // A server that sends everything sends until it is stopped.
            assert!(trick != Trick::None || server.sent() <= budget as u64, "{} of {budget}", server.sent());
        }
        let server = Server::new(&folder.0, trick);
        let budget = text.len().to_string();
        let ran = jird(&folder, &[], &["query", SQL, &server.url("a.ndjson"), "--remote-budget", &budget]);
        assert_eq!(ran.code, 0, "{}", ran.said);
    }
}

#[test]
fn nothing_is_fetched_that_a_limit_leaves_out() {
    let folder = Folder::new("limit").with("a.ndjson", records(200_000));
    let server = Server::new(&folder.0, Trick::None);
    let ran = jird(&folder, &[], &["query", "select id limit 3", &server.url("a.ndjson"), "--remote-block", "200000"]);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"id\":0}\n{\"id\":1}\n{\"id\":2}\n", 0), "{}", ran.said);
    assert!(server.sent() < 8_000_000, "{}", server.sent());
}

#[test]
fn a_file_that_looks_like_a_url_is_a_file() {
    let folder = Folder::new("named");
    fs::create_dir_all(folder.0.join("http:/127.0.0.1:1")).unwrap();
    fs::write(folder.0.join("http:/127.0.0.1:1/a.ndjson"), "{\"a\":1}\n").unwrap();
    let ran = jird(&folder, &[], &["query", "select a", "http://127.0.0.1:1/a.ndjson"]);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"a\":1}\n", 0), "{}", ran.said);
}

#[test]
fn nothing_is_written_to_a_url() {
    let folder = Folder::new("target").with("a.ndjson", "{\"a\":1}\n");
    let url = "http://127.0.0.1:1/b.ndjson";
    for arguments in [&["convert", "a.ndjson", url][..], &["query", "select a", "a.ndjson", "-o", url]] {
        let ran = jird(&folder, &[], arguments);
        assert_eq!(ran.code, 2, "{}", ran.said);
        assert!(ran.said.contains("is a URL; jird writes files of this machine"), "{}", ran.said);
    }
    assert_eq!(folder.names(), ["a.ndjson"]);
}
