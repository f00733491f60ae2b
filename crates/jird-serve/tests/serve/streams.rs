//! Answers that are long, and clients that take them slowly or not at all.

use crate::common::{Service, ask, wait_for};
use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A table with this many rows of a hundred bytes and more.
pub(crate) fn big(rows: u32) -> String {
    format!(
        "create table big (id integer primary key, text text);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
         insert into big select i, printf('%0100d', i) from n;"
    )
}

/// A query that takes minutes, and has one row then.
const ENDLESS: &str = "create view endless as
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000000000)
    select max(i) as most from n;";

#[test]
fn a_long_answer_is_whole_in_every_form() {
    let service = Service::with(&big(20_000), |_| ());
    let plain = service.get("/big").is(200);
    assert_eq!(plain.header("transfer-encoding"), Some("chunked"));
    assert!(plain.is_whole && plain.body.len() > 2 << 20);
    let rows = plain.tree();
    let rows = rows.as_array().unwrap();
    assert_eq!((rows.len(), &rows[19_999]["id"]), (20_000, &jird::json!(20_000)));
    let with = |name, value| service.send("GET", "/big", &[(name, value)], b"").is(200);
    let lines = with("Accept", "application/x-ndjson");
    assert!(lines.is_whole && lines.text().lines().count() == 20_000 && lines.text().ends_with("}\n"));
    let csv = with("Accept", "text/csv");
    assert!(csv.is_whole && csv.text().lines().count() == 20_001 && csv.text().ends_with("020000\n"));
    let gzip = with("Accept-Encoding", "gzip");
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(&gzip.body[..]).read_to_end(&mut text).unwrap();
    assert!(gzip.is_whole && text == plain.body);
    let zstd = with("Accept-Encoding", "zstd");
    assert!(zstd.is_whole && zstd::decode_all(&zstd.body[..]).unwrap() == plain.body);
    let counted = service.send("GET", "/big?offset=5", &[("Prefer", "count=exact")], b"").is(206);
    assert_eq!(counted.header("content-range"), Some("5-19999/20000"));
    assert!(counted.is_whole);
}

#[test]
fn more_rows_than_allowed_are_refused_and_not_cut() {
    let service = Service::with(&big(20_000), |settings| settings.limits.rows = 19_999);
    assert!(service.get("/big").is(400).text().contains("19999 rows"));
    assert_eq!(service.get("/big?id=gt.1").is(200).tree().as_array().unwrap().len(), 19_999);
    assert_eq!(service.get("/big?offset=1").is(200).tree().as_array().unwrap().len(), 19_999);
    assert_eq!(service.get("/big?limit=19999").is(200).tree().as_array().unwrap().len(), 19_999);
    service.get("/big?limit=20000").is(400);
    let service = Service::with(&big(20), |settings| settings.limits.rows = 10);
    assert!(service.get("/big").is(400).text().contains("10 rows"));
    service.get("/big?limit=10").is(200);
}

#[test]
fn a_query_that_takes_too_long_ends() {
    let service = Service::with(ENDLESS, |settings| settings.limits.time = Duration::from_millis(300));
    let begun = Instant::now();
    let answer = service.get("/endless").is(503);
    assert!(answer.text().contains("longer"), "{answer:?}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_time_of_a_slow_client_is_not_that_of_the_query() {
    let service = Service::with(&big(200_000), |settings| settings.limits.time = Duration::from_secs(2));
    let mut socket = ask(&service, "/big");
    let mut all = vec![0; 1000];
    socket.read_exact(&mut all).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    socket.read_to_end(&mut all).unwrap();
    let answer = crate::common::Answer::new(&all);
    assert!(answer.is_whole && answer.text().ends_with("]\n"), "{}", all.len());
    // Work that takes longer still ends.
    let service = Service::with(ENDLESS, |settings| settings.limits.time = Duration::from_secs(1));
    service.get("/endless").is(503);
}

#[test]
fn a_query_ends_when_its_client_goes() {
    let service = Service::with(ENDLESS, |settings| settings.limits.streams = 1);
    let socket = ask(&service, "/endless");
    wait_for(&service, "jird_requests_active 2");
    // Until it has given up to be a short answer.
    std::thread::sleep(Duration::from_millis(300));
    // The only place for long answers is taken.
    assert_eq!(service.get("/endless").is(503).header("retry-after"), Some("1"));
    drop(socket);
    wait_for(&service, "jird_requests_active 1");
    // And free again, though the query would have taken minutes: another waits for its answer now, not for a place.
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let mut socket = ask(&service, "/endless");
        socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        if socket.read(&mut [0]).is_err() {
            return;
        }
        assert!(Instant::now() < until);
    }
}

#[test]
fn slow_clients_do_not_slow_others_and_are_cut_in_the_end() {
    let service = Service::with(&big(200_000), |settings| settings.limits.stall = Duration::from_secs(2));
    // What nine of ten requests of others take at most.
    let others = || {
        let one = |_| {
            let begun = Instant::now();
            service.get("/big/7").is(200);
            begun.elapsed()
        };
        let mut times: Vec<_> = (0..50).map(one).collect();
        times.sort_unstable();
        times[44]
    };
    // On a machine that does other things too, they take longer without any slow client.
    let alone = others();
    // They ask for 24 MB each, and take nothing.
    let slow: Vec<_> = (0..30).map(|_| ask(&service, "/big")).collect();
    wait_for(&service, "jird_requests_active 31");
    let beside = others();
    assert!(beside < Duration::from_millis(100) + 3 * alone, "{beside:?}, and {alone:?} without slow clients");
    wait_for(&service, "jird_answers_cut_total 30");
    let mut rest = Vec::new();
    let _ = (&slow[0]).read_to_end(&mut rest);
    assert!(!crate::common::Answer::new(&rest).is_whole);
}

#[test]
fn a_server_that_stops_ends_what_it_has_begun() {
    let mut service = Service::with(&big(50_000), |_| ());
    let mut socket = ask(&service, "/big");
    let mut begin = [0; 1000];
    socket.read_exact(&mut begin).unwrap();
    let idle = service.connect();
    service.begin_to_stop();
    std::thread::sleep(Duration::from_millis(200));
    let mut all = begin.to_vec();
    socket.read_to_end(&mut all).unwrap();
    let answer = crate::common::Answer::new(&all);
    assert!(answer.is_whole && answer.tree().as_array().unwrap().len() == 50_000);
    let address = service.address;
    let begun = Instant::now();
    service.stop();
    assert!(begun.elapsed() < Duration::from_secs(5), "a connection without a request kept it");
    assert!(TcpStream::connect(address).is_err());
    drop(idle);
}
