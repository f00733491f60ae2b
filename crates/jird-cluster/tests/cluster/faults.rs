//! Machines that end, files that differ, and queries that are ended.

use crate::processes::{Processes, free_ports};
use jird_query::cluster::Cluster;
use jird_query::{ErrorKind, Options, Query, Report};
use std::fmt::Write;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// How many queries lose an executor, unless `JIRD_CLUSTER_KILLS` says so.
const KILLS: usize = 3;

fn ask(sql: &str, file: &str, cluster: &Arc<dyn Cluster>) -> Result<(String, u64), jird_query::Error> {
    let (mut out, mut report) = (Vec::new(), Report::default());
    let options = Options::default();
    Query::new(sql, vec![file.to_owned()], options).on(Arc::clone(cluster)).run(&mut out, &mut report)?;
    Ok((String::from_utf8_lossy(&out).into_owned(), report.records))
}

fn numbers(path: &str, count: usize) {
    let mut text = String::new();
    for number in 0..count {
        let _ = writeln!(text, "{{\"id\":{number},\"group\":\"g{}\",\"text\":\"{:0>200}\"}}", number % 7, number);
    }
    fs::write(path, text).expect("a file can be written");
}

#[test]
fn an_executor_that_is_killed_costs_no_row() {
    let kills = std::env::var("JIRD_CLUSTER_KILLS").map_or(KILLS, |kills| kills.parse().expect("a number"));
    let mut processes = Processes::start("kills", 2, 1);
    let file = processes.file("numbers.ndjson");
    numbers(&file, 300_000);
    let queries = [
        "select \"group\", count(*) as n, sum(id) as s group by \"group\"",
        "select id where text like '%99%' and id < 200000",
        "select sum(id), count(distinct \"group\"), avg(id)",
    ];
    let cluster = processes.reach(8);
    let expected: Vec<_> = queries.iter().map(|sql| ask(sql, &file, &cluster).expect("it is answered")).collect();
    let since = Instant::now();
    ask(queries[0], &file, &cluster).expect("it is answered");
    let usual = since.elapsed();
    let (mut right, mut told) = (0, 0);
    for round in 0..kills {
        let cluster = processes.reach(8);
        let which = round % queries.len();
        let victim = processes.last_executor();
        let pause = usual.mul_f64(round as f64 / kills as f64 * 1.1);
        let killer = thread::spawn(move || {
            thread::sleep(pause);
            let killed = Command::new("kill").args(["-9", &victim.to_string()]).status();
            assert!(killed.is_ok_and(|status| status.success()), "it can be killed");
        });
        match ask(queries[which], &file, &cluster) {
            Ok(found) => {
                assert_eq!(expected[which], found, "round {round}, killed after {pause:?}");
                right += 1;
            }
            Err(error) => {
                let words = error.to_string();
                assert!(words.contains("executor") || words.contains("cluster"), "round {round}: {words}");
                told += 1;
            }
        }
        killer.join().expect("it killed");
        processes.kill();
        processes.add();
    }
    eprintln!("of {kills} queries whose executor was killed, {right} were right, and {told} ended with a clear error");
    assert!(right * 2 >= kills, "{right} of {kills} were answered");
}

#[test]
fn a_query_that_is_ended_ends_everywhere() {
    let mut processes = Processes::start("ended", 1, 1);
    let file = processes.file("numbers.ndjson");
    numbers(&file, 200_000);
    let cluster = processes.reach(4);
    // It would take minutes.
    let long = "select count(*) from stream a join stream b on a.\"group\" = b.\"group\" and a.id < b.id";
    let query = Query::new(long, vec![file.clone()], Options::default()).on(Arc::clone(&cluster));
    let interrupt = query.interrupt();
    let stopper = thread::spawn(move || {
        thread::sleep(Duration::from_secs(3));
        interrupt.stop();
    });
    let error = query.run(&mut Vec::new(), &mut Report::default()).expect_err("it was stopped");
    stopper.join().expect("it stopped");
    assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}");
    // The only core is free again.
    let since = Instant::now();
    ask("select count(*)", &file, &cluster).expect("it is answered");
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
}

#[test]
fn the_script_of_the_guide_answers() {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_jird-cluster"));
    let folder = program.parent().expect("it is in a folder").to_string_lossy();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let port = free_ports(5);
    let done = Command::new("../../examples/cluster.sh")
        .env("PATH", path)
        .env("JIRD_CLUSTER_PORT", port.to_string())
        .output()
        .expect("it runs");
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{err}");
    assert_eq!(out.lines().count(), 6, "{out}");
    assert!(err.contains("records     3000"), "{err}");
}

#[test]
fn what_machines_do_not_share_is_refused_in_words() {
    let mut processes = Processes::start("apart", 1, 1);
    let file = processes.file("numbers.ndjson");
    numbers(&file, 100);
    let cluster = processes.reach(2);
    let words = |sql: &str, file: &str| ask(sql, file, &cluster).expect_err("it is refused").to_string();
    assert!(words("select count(*)", "/dev/fd/0").contains("pipe"), "{}", words("select count(*)", "/dev/fd/0"));
    assert!(words("select count(*)", "/nowhere.ndjson").starts_with("/nowhere.ndjson: "));
    assert!(words("select nothing(id)", &file).contains("there is no function `nothing`"));
    assert_eq!(ask("select count(*) as n", &file, &cluster).expect("it is answered").0, "{\"n\":100}\n");
    let program = |arguments: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_jird-cluster")).args(arguments).output().expect("it runs");
        (
            done.status.code(),
            String::from_utf8_lossy(&done.stdout).into_owned(),
            String::from_utf8_lossy(&done.stderr).into_owned(),
        )
    };
    let at = format!("df://{}", processes.at);
    let (code, out, err) = program(&["query", "--at", &at, "select id where id > 97", &file, "--stats"]);
    assert_eq!((code, out.as_str()), (Some(0), "{\"id\":98}\n{\"id\":99}\n"), "{err}");
    assert!(err.contains("records     100"), "{err}");
    let (code, _, err) = program(&["query", "--at", "df://127.0.0.1:1", "select 1", &file]);
    assert_eq!(code, Some(2));
    assert!(err.contains("no scheduler answers at 127.0.0.1:1"), "{err}");
}
