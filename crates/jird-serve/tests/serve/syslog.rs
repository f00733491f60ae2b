//! Messages of syslog.

use crate::common::{Service, is_alone, mutated, resident, wait_for};
use jird::Json;
use jird_serve::{Server, Settings};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

/// One that takes syslog at a free port.
fn service() -> Service {
    service_with(|_| ())
}

fn service_with(change: impl FnOnce(&mut Settings)) -> Service {
    Service::of_store(|settings| {
        settings.syslog = vec![([127, 0, 0, 1], 0).into()];
        change(settings);
    })
}

fn connect(service: &Service) -> TcpStream {
    let socket = TcpStream::connect(service.syslog[0]).unwrap();
    socket.set_nodelay(true).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

/// Sends a stream, and waits until the server has read it and closed the connection.
fn stream(service: &Service, bytes: &[u8]) {
    let mut socket = connect(service);
    socket.write_all(bytes).unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(socket.read(&mut [0]).unwrap(), 0);
}

fn datagram(service: &Service, bytes: &[u8]) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(bytes, service.syslog[0]).unwrap();
}

fn trees(service: &Service) -> Vec<Json> {
    service.events().iter().map(|event| jird::from_slice(event.as_bytes()).unwrap()).collect()
}

/// The texts of all events, sorted.
fn texts(service: &Service) -> Vec<String> {
    let mut texts: Vec<_> = trees(service).iter().map(|tree| tree["@m"].as_str().unwrap().to_owned()).collect();
    texts.sort();
    texts
}

/// Waits until there are so many events.
#[track_caller]
fn wait_for_events(service: &Service, count: u64) {
    wait_for(service, &format!("jird_events_total {count}"));
}

/// The sums of `/metrics`, without what they have in common.
fn sums(service: &Service) -> BTreeMap<String, u64> {
    let metrics = service.get("/metrics").is(200).text().to_owned();
    let lines = metrics.lines().filter_map(|line| line.strip_prefix("jird_syslog_")?.split_once(' '));
    lines.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
}

#[track_caller]
fn check_sums(service: &Service, expected: [(&str, u64); 3]) {
    let sums = sums(service);
    for (name, value) in expected {
        assert_eq!(sums[name], value, "{name}: {sums:?}");
    }
}

const IETF: &str = "<165>1 2024-03-05T07:00:00.25Z host app 7 ID [a b=\"c\\\"\"] text {0} \u{e4}";
const IETF_EVENT: &str = r#"{"@t":"2024-03-05T07:00:00.250000000Z","@l":"Information","@m":"text {0} ä","facility":"local4","severity":"notice","host":"host","app":"app","procid":"7","msgid":"ID","sd":{"a":{"b":"c\""}}}"#;
const BSD: &str = "<11>2024-03-05T08:00:00+01:00 host app[7]: text";
const BSD_EVENT: &str = r#"{"@t":"2024-03-05T07:00:00.000000000Z","@l":"Error","@m":"text","facility":"user","severity":"err","host":"host","app":"app","procid":"7"}"#;

#[test]
fn messages_of_both_rfcs_come_by_udp_and_tcp() {
    let service = service();
    let mut expected = Vec::new();
    for (message, event) in [(IETF, IETF_EVENT), (BSD, BSD_EVENT)] {
        for end in ["", "\n", "\r\n", "\0"] {
            datagram(&service, format!("{message}{end}").as_bytes());
            stream(&service, format!("{message}{end}").as_bytes());
            let counted = format!("{message}{end}");
            stream(&service, format!("{} {counted}", counted.len()).as_bytes());
            expected.extend([event; 3]);
        }
    }
    wait_for_events(&service, 24);
    let mut events = service.events();
    events.sort();
    expected.sort_unstable();
    assert_eq!(events, expected);
    // What says no time has that of its arrival; empty datagrams are nothing.
    datagram(&service, b"");
    datagram(&service, b"hello\xff");
    wait_for_events(&service, 25);
    let trees = trees(&service);
    let last = trees.last().unwrap();
    assert_eq!(last["@m"], "hello\u{fffd}");
    let time = jird_store::time::of_text(last["@t"].as_str().unwrap().as_bytes()).unwrap();
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as i64;
    assert!((0..60_000_000_000).contains(&(now - time)), "{time}");
    check_sums(&service, [("received_total", 25), ("refused_total", 0), ("dropped_total", 0)]);
    assert!(service.refused().is_empty());
}

#[test]
fn the_time_is_where_the_store_looks_for_it() {
    let service = service_with(|settings| settings.time_field = Some(jird::Path::root().key("at").key("time")));
    stream(&service, BSD.as_bytes());
    assert_eq!(
        service.events(),
        [BSD_EVENT
            .replace(r#""@t":"2024-03-05T07:00:00.000000000Z""#, r#""at":{"time":"2024-03-05T07:00:00.000000000Z"}"#)]
    );
}

#[test]
fn both_framings_are_told_apart_in_one_stream_that_comes_byte_by_byte() {
    let service = service();
    let mut socket = connect(&service);
    let mixed = "<13>one\n8 <13>\ntwo<13>three\r\n10 <13>four\n\n<13>five\x005 apples\n99999999999999 <13>\n";
    for byte in mixed.bytes() {
        socket.write_all(&[byte]).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    // They are there while the connection lives; the last one ends with it.
    wait_for_events(&service, 7);
    socket.write_all(b"<13>six").unwrap();
    drop(socket);
    wait_for_events(&service, 8);
    let expected = ["\ntwo", "5 apples", "99999999999999 <13>", "five", "four", "one", "six", "three"];
    assert_eq!(texts(&service), expected);
}

#[test]
fn what_is_too_long_or_cut_off_is_refused_counted_and_set_aside_and_the_stream_goes_on() {
    let service = service();
    let long = "x".repeat(300 << 10);
    let exact = format!("<13>{}", "y".repeat((256 << 10) - 4));
    stream(&service, format!("<13>a\n<13>{long}\n{exact}\n307204 <13>{long}5 <13>b<13>c\n9 <13>d").as_bytes());
    stream(&service, format!("999999999 <13>{long}").as_bytes());
    stream(&service, long.as_bytes());
    let texts = texts(&service);
    assert_eq!(texts[..3], ["a", "b", "c"]);
    assert_eq!((texts.len(), texts[3].len()), (4, (256 << 10) - 4));
    check_sums(&service, [("received_total", 9), ("refused_total", 5), ("dropped_total", 0)]);
    let refused = service.refused();
    assert_eq!(refused.len(), 5);
    let told = |index: usize| refused[index].to_string();
    assert!(told(0).contains("more than 262144 bytes") && told(0).contains("\"syslog\""), "{}", told(0));
    assert!(told(2).contains("the connection ended before the message did"), "{}", told(2));
    wait_for(&service, "jird_events_refused_total 5");
    // Bodies that must be shorter make messages shorter, also by UDP.
    let service = service_with(|settings| settings.limits.body_bytes = 1000);
    datagram(&service, &[b'x'; 1001]);
    datagram(&service, &[b'x'; 1000]);
    wait_for(&service, "jird_syslog_refused_total 1");
    wait_for_events(&service, 1);
    check_sums(&service, [("received_total", 2), ("refused_total", 1), ("dropped_total", 0)]);
}

#[test]
fn hostile_streams_and_datagrams_of_any_kind_stop_nobody() {
    let service = service();
    let seeds = [
        format!("{} {IETF}{BSD}\n4 <1>a<2>b\n", IETF.len()).into_bytes(),
        format!("{BSD}\r\n{IETF}\0{} {BSD}", BSD.len()).into_bytes(),
        b"<13>Oct 11 22:14:15.5 h a: [b c=\"d\"] - x\n0 <1>00012 <1>\xff\xff\n".to_vec(),
    ];
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    for seed in &seeds {
        for body in mutated(seed, 300) {
            stream(&service, &body);
            sender.send_to(&body, service.syslog[0]).unwrap();
        }
    }
    let mut noise = vec![0_u8; 40_000];
    let mut seed = 99_u64;
    for round in 0..100 {
        for byte in &mut noise {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (seed >> 33) as u8;
        }
        stream(&service, &noise[..400 * round]);
        sender.send_to(&noise[..400 * round], service.syslog[0]).unwrap();
        // A client that is gone before it has read anything, with a reset.
        drop(connect(&service));
    }
    assert_eq!(service.get("/health").status, 200);
    stream(&service, b"<13>the last one\n");
    let events = trees(&service);
    assert!(events.iter().any(|event| event["@m"] == "the last one"));
    let sums = sums(&service);
    assert!(sums["received_total"] > 2000, "{sums:?}");
    assert_eq!(sums["connections_active"], 0);
}

#[test]
fn a_flood_by_tcp_loses_nothing() {
    const EACH: usize = 50_000;
    let mut service = service();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..4 {
            let service = &service;
            scope.spawn(move || {
                let mut bytes = Vec::new();
                for number in 0..EACH {
                    let message = format!("<13>1 2024-03-05T07:00:00Z host app {client} {number} - it is so");
                    if client % 2 == 0 {
                        writeln!(bytes, "{message}").unwrap();
                    } else {
                        write!(bytes, "{} {message}", message.len()).unwrap();
                    }
                }
                stream(service, &bytes);
            });
        }
        // Nothing holds those who ask.
        for _ in 0..20 {
            let asked = Instant::now();
            assert_eq!(service.get("/health").status, 200);
            assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
        }
    });
    println!("{} messages by TCP took {:?}", 4 * EACH, begun.elapsed());
    check_sums(&service, [("received_total", 4 * EACH as u64), ("refused_total", 0), ("dropped_total", 0)]);
    service.stop();
    let mut seen: Vec<_> = trees(&service)
        .iter()
        .map(|event| format!("{} {}", event["procid"].as_str().unwrap(), event["msgid"].as_str().unwrap()))
        .collect();
    assert_eq!(seen.len(), 4 * EACH);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4 * EACH);
}

#[test]
fn requests_do_not_wait_beside_a_flood() {
    if !is_alone("syslog::requests_do_not_wait_beside_a_flood") {
        return;
    }
    let service = service();
    let block = "<13>1 - h a p m - n000001\n".repeat(2000);
    let until = Instant::now() + Duration::from_secs(4);
    let mut waits = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut socket = connect(&service);
                while Instant::now() < until {
                    socket.write_all(block.as_bytes()).unwrap();
                }
            });
        }
        while Instant::now() < until {
            let begun = Instant::now();
            service.get("/health").is(200);
            waits.push(begun.elapsed());
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    waits.sort_unstable();
    // The machine of a test may be busy, too. Where messages were read on the threads that serve, requests waited up to
    // seven seconds, and most of them one.
    assert!(waits[waits.len() / 2] < Duration::from_millis(300), "{waits:?}");
    assert!(waits[waits.len() - 1] < Duration::from_secs(3), "{waits:?}");
}

#[test]
fn a_flood_by_udp_is_counted() {
    const SENT: u64 = 100_000;
    let mut service = service();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    for number in 0..SENT {
        // The system may have no room for it.
        let _ = sender.send_to(format!("<13>app: {number}").as_bytes(), service.syslog[0]);
    }
    let until = Instant::now() + Duration::from_secs(20);
    let mut before = sums(&service);
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = sums(&service);
        if now == before {
            break;
        }
        assert!(Instant::now() < until, "{now:?}");
        before = now;
    }
    assert_eq!(service.get("/health").status, 200);
    service.stop();
    let stored = service.events().len() as u64;
    println!("of {SENT} datagrams, {} were received and {stored} stored", before["received_total"]);
    assert!(stored > 0);
    assert_eq!(before["received_total"] - before["dropped_total"] - before["refused_total"], stored);
    assert!(before["received_total"] <= SENT);
}

#[test]
fn connections_are_bounded_in_number_and_idle_ones_are_left_alone() {
    let service = service_with(|settings| settings.limits.syslog_connections = 16);
    let mut idle: Vec<_> = (0..4).map(|_| connect(&service)).collect();
    wait_for(&service, "jird_syslog_connections_active 4");
    // From one address there are no more.
    let mut fifth = connect(&service);
    assert_eq!(fifth.read(&mut [0]).unwrap_or(0), 0);
    wait_for(&service, "jird_syslog_connections_refused_total 1");
    assert_eq!(service.get("/health").status, 200);
    // Those that are there go on, and one that goes makes room.
    for socket in &mut idle {
        socket.write_all(b"<13>x\n").unwrap();
    }
    wait_for_events(&service, 4);
    idle.pop();
    wait_for(&service, "jird_syslog_connections_active 3");
    stream(&service, b"<13>y\n");
    assert_eq!(texts(&service), ["x", "x", "x", "x", "y"]);
}

#[test]
fn half_messages_take_little_memory() {
    if !is_alone("syslog::half_messages_take_little_memory") {
        return;
    }
    let service = service_with(|settings| settings.limits.syslog_connections = 4 * 65);
    stream(&service, b"<13>x\n");
    let before = resident();
    // As much of a message as is kept, without its end.
    let half = vec![b'x'; 256 << 10];
    let sockets: Vec<_> = (0..64)
        .map(|_| {
            let mut socket = connect(&service);
            socket.write_all(&half).unwrap();
            socket
        })
        .collect();
    wait_for(&service, "jird_syslog_connections_active 64");
    std::thread::sleep(Duration::from_millis(500));
    let held = resident().saturating_sub(before);
    assert!(held < 64 << 20, "{held}");
    // Far more than is kept.
    let mut endless = connect(&service);
    for _ in 0..200 {
        endless.write_all(&half).unwrap();
    }
    let held = resident().saturating_sub(before);
    assert!(held < 70 << 20, "{held}");
    drop(sockets);
    wait_for(&service, "jird_syslog_connections_active 1");
    wait_for_events(&service, 65);
    check_sums(&service, [("received_total", 66), ("refused_total", 1), ("dropped_total", 0)]);
}

#[test]
fn what_came_before_the_server_stops_is_there_when_it_has_stopped() {
    for round in 0..5 {
        let mut service = service();
        let address = service.syslog[0];
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        // Whole streams whose clients are gone, some of them perhaps not accepted yet; one that is half; one that stays.
        for client in 0..30 {
            let mut socket = TcpStream::connect(address).unwrap();
            let lines: Vec<_> = (0..200).map(|number| format!("<13>app: tcp {client} {number}\n")).collect();
            socket.write_all(lines.concat().as_bytes()).unwrap();
        }
        let mut half = connect(&service);
        half.write_all(b"<13>app: half").unwrap();
        let mut counted = connect(&service);
        counted.write_all(b"100 <13>app: cut").unwrap();
        for number in 0..100 {
            sender.send_to(format!("<13>app: udp {number}").as_bytes(), address).unwrap();
        }
        let begun = Instant::now();
        service.stop();
        assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
        let texts = texts(&service);
        assert_eq!(texts.iter().filter(|text| text.starts_with("tcp ")).count(), 6000, "round {round}");
        assert_eq!(texts.iter().filter(|text| text.starts_with("udp ")).count(), 100, "round {round}");
        assert_eq!(texts.iter().filter(|text| *text == "half").count(), 1);
        assert_eq!((texts.len(), service.refused().len()), (6101, 1));
        // Nobody listens there any more.
        assert!(TcpStream::connect(address).is_err());
        UdpSocket::bind(address).unwrap();
    }
}

#[test]
fn a_client_that_never_stops_does_not_keep_the_server_from_stopping() {
    let mut service = service();
    let mut socket = connect(&service);
    let client = std::thread::spawn(move || {
        let mut sent = 0_u64;
        while socket.write_all(b"<13>app: again\n").is_ok() {
            sent += 1;
        }
        sent
    });
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    service.stop();
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    assert!(client.join().unwrap() > 0);
    assert!(!service.events().is_empty());
}

#[test]
fn syslog_needs_a_store_that_is_written_to_and_an_address_that_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let bind = |path: &str, write: bool, address: SocketAddr| {
        let mut settings = Settings::new(folder.path().join(path));
        settings.write = write;
        settings.syslog = vec![address];
        Server::bind(settings).map(|server| server.syslog().to_vec()).map_err(|error| error.to_string())
    };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let database = jird_formats::sqlite::rusqlite::Connection::open(folder.path().join("a.db")).unwrap();
    database.execute_batch(crate::common::TASKS).unwrap();
    assert!(bind("a.db", true, any).unwrap_err().contains("syslog: messages become events of a store"));
    assert_ne!(bind("events", true, any).unwrap()[0].port(), 0);
    assert!(bind("events", false, any).unwrap_err().contains("syslog: messages become events of a store"));
    let taken = std::net::TcpListener::bind(any).unwrap();
    let error = bind("events", true, taken.local_addr().unwrap()).unwrap_err();
    assert!(error.contains("listening for syslog at 127.0.0.1:"), "{error}");
    let taken = UdpSocket::bind(any).unwrap();
    assert!(bind("events", true, taken.local_addr().unwrap()).unwrap_err().contains("listening for syslog at"));
    // Whoever names an address that others reach wants them to.
    bind("events", true, ([0, 0, 0, 0], 0).into()).unwrap();
    // A server without syslog says nothing of it.
    assert!(!Service::of_store(|_| ()).get("/metrics").text().contains("jird_syslog"));
}

#[test]
fn several_addresses_are_listened_to() {
    let service =
        service_with(|settings| settings.syslog = vec![([127, 0, 0, 1], 0).into(), ([127, 0, 0, 2], 0).into()]);
    for address in &service.syslog {
        TcpStream::connect(address).unwrap().write_all(b"<13>tcp\n").unwrap();
        UdpSocket::bind("0.0.0.0:0").unwrap().send_to(b"<13>udp", address).unwrap();
    }
    wait_for_events(&service, 4);
    assert_eq!(texts(&service), ["tcp", "tcp", "udp", "udp"]);
}

/// Whether a program is there.
fn has(program: &str, arguments: &[&str]) -> bool {
    let runs = Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !runs {
        println!("skipped: {program}, which sends messages of syslog");
    }
    runs
}

#[test]
fn logger_sends_messages_in_all_its_forms() {
    if !has("logger", &["--version"]) {
        return;
    }
    let service = service();
    let port = service.syslog[0].port().to_string();
    let mut count = 0;
    for transport in ["--tcp", "--udp"] {
        for form in [
            &["--rfc5424"][..],
            &["--rfc5424=notime,notq,nohost"],
            &["--rfc3164"],
            &["--rfc5424", "--octet-count"],
            &["--rfc3164", "--octet-count"],
        ] {
            let mut logger = Command::new("logger");
            logger.args(["-n", "127.0.0.1", "-P", &port, transport, "-p", "daemon.err", "-t", "shop", "--id=77"]);
            logger.args(form).arg("it is {so} \u{e4}");
            let sent = logger.output().unwrap();
            assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
            count += 1;
            wait_for_events(&service, count);
        }
    }
    for event in trees(&service) {
        assert_eq!(
            (&event["@l"], &event["facility"], &event["app"]),
            (&"Error".into(), &"daemon".into(), &"shop".into()),
            "{event}"
        );
        assert!(event["@m"].as_str().unwrap().ends_with("it is {so} \u{e4}"), "{event}");
        assert_eq!(event["procid"], "77", "{event}");
    }
}

#[test]
fn pythons_handler_sends_messages_by_both_protocols() {
    const PROGRAM: &str = "
import logging, logging.handlers, socket, sys
for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
    handler = logging.handlers.SysLogHandler(('127.0.0.1', int(sys.argv[1])), facility='local1', socktype=kind)
    handler.ident = 'shop[7]: '
    logger = logging.Logger('shop')
    logger.addHandler(handler)
    for number in range(100):
        logger.warning('it is {so}: %d', number)
    handler.ident = ''
    logger.critical('no name')
    handler.close()
";
    let python = std::env::var("JIRD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if !has(&python, &["-c", "import logging.handlers"]) {
        return;
    }
    let service = service();
    let run = Command::new(&python).args(["-c", PROGRAM, &service.syslog[0].port().to_string()]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    wait_for_events(&service, 202);
    let events = trees(&service);
    let named = events.iter().filter(|event| {
        event["@l"] == "Warning" && event["facility"] == "local1" && event["app"] == "shop" && event["procid"] == "7"
    });
    let mut texts: Vec<_> = named.map(|event| event["@m"].as_str().unwrap()).collect();
    texts.sort_unstable();
    let mut expected: Vec<_> =
        (0..100).flat_map(|number| [format!("it is {{so}}: {number}"), format!("it is {{so}}: {number}")]).collect();
    expected.sort();
    assert_eq!(texts, expected);
    assert_eq!(events.iter().filter(|event| event["@m"] == "no name" && event["@l"] == "Fatal").count(), 2);
}
