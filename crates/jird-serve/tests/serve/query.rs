//! `/query`: SQL over what is served, and nothing else.

use crate::common::{Answer, Service, TASKS, ask, child_that_works, children_of, is_alone, resident, wait_for};
use jird_formats::sqlite::rusqlite::Connection;
use jird_serve::{Settings, Source};
use jird_store::{Store, WriterOptions};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::time::{Duration, Instant};

const JSON: (&str, &str) = ("Content-Type", "application/json");

/// A database, a store and files; one is served under another name, and one not at all.
fn serve(change: impl FnOnce(&mut Settings)) -> Service {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    Connection::open(at("test.db")).unwrap().execute_batch(TASKS).unwrap();
    let store = Store::create(&at("log"), &jird_store::Settings::default()).unwrap();
    let writer = store.writer(&WriterOptions::default()).unwrap();
    for minute in 0..4 {
        let event = format!(r#"{{"@t":"2024-03-05T07:0{minute}:30Z","@l":"Error","n":{minute}}}"#);
        writer.commit(writer.append_event(event.as_bytes()).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    fs::write(at("people.ndjson"), "{\"name\":\"Ann\",\"age\":41}\n{\"name\":\"Bob\",\"age\":7.50}\n").unwrap();
    fs::write(at("prices.csv"), "what,price\ntea,3.20\n").unwrap();
    fs::write(at("secret.ndjson"), "{\"password\":\"hunter2\"}\n").unwrap();
    let sources = [("log", None), ("people.ndjson", None), ("prices.csv", Some("the prices"))];
    let sources = sources.map(|(path, name)| Source { name: name.map(str::to_owned), path: at(path) });
    let path = at("test.db");
    Service::start(folder, path, |settings| {
        settings.sources.extend(sources);
        change(settings);
    })
}

impl Service {
    pub(crate) fn sql(&self, sql: &str) -> Answer {
        self.raw(&self.asks(sql))
    }

    /// The status of the answer to SQL, which is read and not kept.
    pub(crate) fn status(&self, sql: &str) -> String {
        let mut socket = self.connect();
        socket.write_all(&self.asks(sql)).unwrap();
        let mut head = [0; "HTTP/1.1 200".len()];
        socket.read_exact(&mut head).unwrap();
        // The server cuts an answer off that it cannot finish.
        let _ = std::io::copy(&mut socket, &mut std::io::sink());
        String::from_utf8_lossy(&head).into_owned()
    }

    fn asks(&self, sql: &str) -> Vec<u8> {
        let mut body = b"{\"sql\":".to_vec();
        jird::hooks::write_string(sql, &mut body);
        body.push(b'}');
        self.request("POST", "/query", &[JSON], &body)
    }
}

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        write!(encoded, "%{byte:02x}").unwrap();
        encoded
    })
}

#[track_caller]
fn check(service: &Service, sql: &str, wanted: &str) {
    assert_eq!(service.sql(sql).is(200).text().replace('\n', ""), wanted, "{sql}");
}

#[test]
fn everything_that_is_served_can_be_asked() {
    let service = serve(|_| ());
    check(
        &service,
        "select name, age * 2 as twice from people order by age",
        r#"[{"name":"Bob","twice":15.0},{"name":"Ann","twice":82.0}]"#,
    );
    check(&service, "select price from \"the prices\"", r#"[{"price":3.20}]"#);
    check(&service, "select price from 'the prices' where price > 100", "[]");
    check(
        &service,
        "select id, done, tags from tasks where id = 1",
        r#"[{"id":1,"done":false,"tags":["home",{"a":1.50}]}]"#,
    );
    // As in tables.
    for sql in ["done = true", "done", "not (done = false)", "done is true", "done in (true)"] {
        check(&service, &format!("select id from tasks where {sql}"), r#"[{"id":2}]"#);
    }
    check(
        &service,
        "select done, count(*) as n from tasks group by done order by n",
        r#"[{"done":true,"n":1},{"done":false,"n":2}]"#,
    );
    check(&service, "select count(*) as n from open_tasks", r#"[{"n":2}]"#);
    check(&service, "select \"a,b\" from \"odd \"\" name\"", r#"[{"a,b":"x"}]"#);
    check(&service, "select n from log order by \"@t\" desc limit 1", r#"[{"n":3}]"#);
    // Of several things, `stream` is the store.
    check(&service, "select count(*) as n from stream", r#"[{"n":4}]"#);
    check(
        &service,
        "select p.name, t.title from people p join tasks t on t.price < p.age order by 1",
        r#"[{"name":"Ann","title":"Clean Room"},{"name":"Bob","title":"Clean Room"}]"#,
    );
    check(
        &service,
        "select time_bucket('2 minutes', \"@t\") as t, coalesce(\"@l\", '') as level, count(*) as n from log \
         where n > 0 group by t, level order by t",
        r#"[{"t":"2024-03-05T07:00:00Z","level":"Error","n":1},{"t":"2024-03-05T07:02:00Z","level":"Error","n":2}]"#,
    );
}

#[test]
fn a_query_comes_in_three_ways_and_its_result_in_all_forms() {
    let service = serve(|_| ());
    let sql = "select name from people order by name";
    let get = |more: &str, accept| {
        service.send("GET", &format!("/query?sql={}{more}", encoded(sql)), &[("Accept", accept)], b"").is(200)
    };
    let json = get("", "*/*");
    assert_eq!(json.header("content-type"), Some("application/json"));
    assert_eq!(json.text(), "[\n{\"name\":\"Ann\"},\n{\"name\":\"Bob\"}\n]\n");
    assert_eq!(get("&limit=1", "application/x-ndjson").text(), "{\"name\":\"Ann\"}\n");
    assert_eq!(get("&limit=0", "application/json").text(), "[]\n");
    assert_eq!(get("", "text/csv").text().replace('\r', ""), "name\nAnn\nBob\n");
    let file = get("", "application/vnd.apache.arrow.file");
    assert!(file.body.starts_with(b"ARROW1") && file.body.ends_with(b"ARROW1") && file.is_whole);
    let stream = get("", "application/vnd.apache.arrow.stream");
    assert!(stream.body.starts_with(&[0xff; 4]) && stream.body.ends_with(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
    assert!(get("", "application/vnd.apache.parquet").body.starts_with(b"PAR1"));
    let plain =
        service.send("POST", "/query?limit=1", &[("Content-Type", "application/sql; charset=utf-8")], sql.as_bytes());
    assert_eq!(plain.is(200).tree()[0]["name"], "Ann");
    let limited = service.json("POST", "/query", r#"{"limit": 1, "sql": "select name from people"}"#);
    assert_eq!(limited.is(200).tree()[0]["name"], "Ann");
    let packed =
        service.send("GET", &format!("/query?sql={}", encoded(sql)), &[("Accept-Encoding", "gzip")], b"").is(200);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    service.send("HEAD", &format!("/query?sql={}", encoded(sql)), &[], b"").is(200);
    service.send("GET", "/query?sql=select+1", &[("Accept", "image/png")], b"").is(406);
    assert_eq!(service.send("DELETE", "/query", &[], b"").is(405).header("allow"), Some("GET, HEAD, POST"));
    assert_eq!(service.send("OPTIONS", "/query", &[], b"").is(204).header("allow"), Some("GET, HEAD, POST"));
}

#[test]
fn an_arrow_result_is_what_pyarrow_reads() {
    let Ok(python) = std::env::var("JIRD_PYTHON") else { return };
    let service = serve(|_| ());
    let sql = encoded("select name, age from people order by name");
    let answer =
        service.send("GET", &format!("/query?sql={sql}"), &[("Accept", "application/vnd.apache.arrow.file")], b"");
    let path = service.path.with_file_name("result.arrow");
    fs::write(&path, &answer.is(200).body).unwrap();
    let program = "import pyarrow, sys; print(pyarrow.ipc.open_file(sys.argv[1]).read_all().to_pylist())";
    let told = std::process::Command::new(python).args(["-c", program]).arg(path).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&told.stdout).trim(),
        "[{'name': 'Ann', 'age': 41.0}, {'name': 'Bob', 'age': 7.5}]",
        "{told:?}"
    );
}

#[test]
fn no_sql_reaches_what_is_not_served() {
    let service = serve(|settings| settings.write = true);
    // Nothing is fetched from anywhere.
    let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let url = format!("http://{}/secret.ndjson", elsewhere.local_addr().unwrap());
    let folder = service.path.parent().unwrap().display().to_string();
    let secret = format!("{folder}/secret.ndjson");
    let database = service.path.display().to_string();
    for sql in [
        format!("select * from '{secret}'"),
        format!("select * from \"{secret}\""),
        format!("from '{secret}'"),
        format!("select * from '{folder}/*.ndjson'"),
        format!("select * from '{folder}'"),
        format!("select * from 'file://{secret}'"),
        format!("select * from '{url}'"),
        format!("select * from \"{url}\""),
        format!("select * from people union all select * from '{url}'"),
        format!("select (select count(*) from '{url}') from people"),
        format!("with a as (from '{url}') select * from a"),
        format!("select * from '{url}::people'"),
        "select * from 's3://bucket/secret.ndjson'".into(),
        "select * from 's3://bucket/*'".into(),
        format!("select * from '{database}'"),
        format!("select * from '{database}'.tasks"),
        format!("select * from '{database}::tasks'"),
        format!("select * from people, '{secret}'"),
        format!("select * from people p join '{secret}' s on true"),
        format!("select (select password from '{secret}') from people"),
        format!("select * from people where name in (select password from '{secret}')"),
        format!("with a as (select * from '{secret}') select * from a"),
        format!("with \"{secret}\" as (select 1 as a) select * from \"{secret}\", '{secret}x'"),
        format!("select * from people union all select password from '{secret}'"),
        format!("select * from read_csv('{secret}')"),
        format!("select * from read_json('{secret}')"),
        format!("select * from parquet_metadata('{secret}')"),
        format!("select read_text('{secret}')"),
        format!("table '{secret}'"),
        format!("create external table x stored as json location '{secret}'"),
        format!("create table x as select * from '{secret}'"),
        format!("copy people to '{folder}/out.ndjson'"),
        format!("copy (select 1) to '{folder}/out.csv'"),
        format!("insert into tasks select * from '{secret}'"),
        format!("select * from people; select * from '{secret}'"),
        format!("create view v as select * from '{secret}'; select * from v"),
        "create view v as select 1; select * from people".into(),
        format!("copy people to '{folder}/out' (partition_by (name))"),
        "summarize people".into(),
        "summarize select * from people".into(),
        "describe select * from people".into(),
        format!("describe '{secret}'"),
        format!("explain select * from '{secret}'"),
        "explain select * from people".into(),
        "select * from 'people.ndjson'".into(),
        "select * from './people.ndjson'".into(),
        "select * from '-'".into(),
        "select * from '/dev/stdin'".into(),
        "select * from '/proc/self/environ'".into(),
        "select * from \"https://localhost/x.parquet\"".into(),
        "select * from information_schema.tables".into(),
        "select * from information_schema.df_settings".into(),
        "select * from sqlite_schema".into(),
        "select * from log.spans".into(),
        "show tables".into(),
        "describe people".into(),
        "set datafusion.execution.target_partitions = 1000".into(),
        "insert into people values (1)".into(),
        "update tasks set title = 'x'".into(),
        "delete from tasks".into(),
        "drop table tasks".into(),
        "attach 'secret.db' as s".into(),
        "pragma writable_schema = 1".into(),
        "load 'x.so'".into(),
        "prepare a as select 1".into(),
        "begin".into(),
    ] {
        let answer = service.sql(&sql);
        assert_eq!(answer.status, 400, "{sql}: {answer:?}");
        let told = answer.is(400).text().to_owned();
        assert!(!told.contains("hunter2"), "{sql}: {told}");
    }
    assert_eq!(elsewhere.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    let left = fs::read_dir(&folder)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().display().to_string().contains("out"))
        .count();
    assert_eq!(left, 0);
    assert_eq!(service.get("/tasks").is(200).tree().as_array().unwrap().len(), 3);
    // Neither results nor messages have a path.
    check(&service, "select _file from people limit 1", r#"[{"_file":"people"}]"#);
    for sql in ["select * from peopl", "select * from \"the price\"", "select nam + 1 from people"] {
        assert!(!service.sql(sql).text().contains(&folder), "{sql}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let service = serve(|_| ());
    let told = service.sql("select name\nfrom people where").is(400);
    let tree = told.tree();
    assert_eq!((tree["line"].as_u64(), tree["column"].as_u64()), (None, None), "the end has no place: {tree:?}");
    let tree = service.sql("select name\nfrom people whre age > 1").is(400).tree();
    assert_eq!((tree["line"].as_u64(), tree["column"].as_u64()), (Some(2), Some(18)), "{tree:?}");
    let tree = service.sql("select name from\n  peopel").is(400).tree();
    assert_eq!((tree["line"].as_u64(), tree["column"].as_u64()), (Some(2), Some(3)));
    assert!(tree["detail"].as_str().unwrap().contains("did you mean people?"), "{tree:?}");
    for (sql, wanted) in [
        ("", "there is no query"),
        ("select lenght(name) from people", "there is no function"),
        ("select * from nothing_like_it", "there are log, people, the prices, tasks"),
    ] {
        assert!(service.sql(sql).is(400).text().contains(wanted), "{sql}: {:?}", service.sql(sql));
    }
    for (body, wanted) in [
        (r#"{"sql": 1}"#, "no string"),
        (r#"["select 1"]"#, "no object"),
        (r#"{"sql": "select 1", "sql": "select 2"}"#, ""),
        (r#"{"sql": "select 1", "x": 2}"#, "no \"x\""),
        (r#"{"sql": "select 1", "limit": -1}"#, "limit must be"),
        (r#"{"sql": "select 1", "limit": 1000001}"#, "at most 1000000"),
        (r#"{"limit": 1}"#, "missing"),
        ("{", "\"offset\":1"),
    ] {
        let text = service.json("POST", "/query", body).is(400).text().replace("\\\"", "\"");
        assert!(text.contains(wanted), "{body}: {text}");
    }
    for query in ["", "?sql=select+1&sql=select+2", "?limit=x&sql=select+1", "?where=1", "?sql=%ff"] {
        service.get(&format!("/query{query}")).is(400);
    }
    fs::write(service.path.with_file_name("people.ndjson"), "{\"name\":\"Ann\"}\n{\"name\":\n").unwrap();
    let told = service.sql("select name from people order by age").is(422).text().to_owned();
    assert!(told.contains("people:2:9") && !told.contains("people.ndjson"), "{told}");
    fs::remove_file(service.path.with_file_name("people.ndjson")).unwrap();
    assert!(service.sql("select * from people").is(500).text().contains("people: "));
}

#[test]
fn a_file_is_read_as_it_is_at_each_query() {
    let service = serve(|_| ());
    let path = service.path.with_file_name("people.ndjson");
    check(&service, "select count(*) as n from people", r#"[{"n":2}]"#);
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"name\":\"Eve\"}\n").unwrap();
    check(&service, "select count(*) as n from people", r#"[{"n":3}]"#);
    fs::write(&path, "{\"age\":1}\n").unwrap();
    check(&service, "select sum(age) as n from people", r#"[{"n":1}]"#);
    service.database().execute_batch("create table later (a); insert into later values (5)").unwrap();
    wait_for_table(&service);
    check(&service, "select a from later", r#"[{"a":5}]"#);
}

fn wait_for_table(service: &Service) {
    let until = Instant::now() + Duration::from_secs(20);
    while !service.get("/sources").text().contains("later") {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn pages_of_others_ask_nothing() {
    let service = serve(|_| ());
    let sql = "/query?sql=select+1+from+people";
    service.send("GET", sql, &[("Origin", "http://evil.example")], b"").is(403);
    service.send("GET", sql, &[("Sec-Fetch-Site", "cross-site")], b"").is(403);
    service.send("GET", sql, &[("Sec-Fetch-Site", "same-site")], b"").is(403);
    service.send("GET", sql, &[("Host", "evil.example")], b"").is(421);
    let own = format!("http://{}", service.address);
    service.send("GET", sql, &[("Sec-Fetch-Site", "same-origin"), ("Origin", &own)], b"").is(200);
    let body = br#"{"sql": "select 1 from people"}"#;
    service.send("POST", "/query", &[JSON, ("Origin", "null")], body).is(403);
    for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
        service.send("POST", "/query", &[("Content-Type", media)], body).is(415);
    }
    service.send("POST", "/query", &[], body).is(415);
    service.send("POST", "/query", &[JSON, ("Content-Encoding", "gzip")], body).is(415);
    let guarded = serve(|settings| settings.tokens = vec!["secret".into()]);
    guarded.get(sql).is(401);
    guarded.send("POST", "/query", &[JSON], body).is(401);
    guarded.send("GET", sql, &[("Authorization", "Bearer secret")], b"").is(200);
}

/// A query that takes minutes: it looks at each pair of many rows.
const LONG: &str = "select count(*) as n from many a, many b where a.text || b.text = 'x' or a.i + b.i < 0";

/// A file with this many rows.
pub(crate) fn serve_many(rows: u32, change: impl FnOnce(&mut Settings)) -> Service {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.ndjson");
    let text = (0..rows).fold(String::new(), |mut text, i| {
        writeln!(text, "{{\"i\":{i},\"text\":\"{i:0100}\"}}").unwrap();
        text
    });
    fs::write(&path, text).unwrap();
    Service::start(folder, path, change)
}

#[test]
fn a_query_ends_when_its_client_goes() {
    let service = serve_many(20_000, |settings| settings.limits.queries = 1);
    for sql in [
        LONG,
        "select * from many a, many b",
        "select a.i from many a, many b where a.text || b.text = 'x' order by a.i",
    ] {
        let mut socket = ask(&service, &format!("/query?sql={}", encoded(sql)));
        wait_for(&service, "jird_queries_active 1");
        // The only place for queries is taken.
        assert_eq!(service.sql("select 1 from many").is(503).header("retry-after"), Some("1"));
        if sql.contains('*') && !sql.contains("count") {
            socket.read_exact(&mut vec![0; 100_000]).unwrap();
        }
        drop(socket);
        wait_for(&service, "jird_queries_active 0");
    }
    service.sql("select 1 from many limit 1").is(200);
    // What has no end.
    let endless = "with recursive t as (select i from many where i = 1 union all select i + 1 from t) \
                   select count(*) as n from t";
    let socket = ask(&service, &format!("/query?sql={}", encoded(endless)));
    wait_for(&service, "jird_queries_active 1");
    drop(socket);
    wait_for(&service, "jird_queries_active 0");
    // A view of SQLite that takes minutes before its first row.
    let endless = "create view endless as with recursive n(i) as (select 1 union all select i + 1 from n \
                   where i < 10000000000) select max(i) as most from n;";
    let service = Service::with(endless, |_| ());
    for sql in ["select most from endless", "select most + 1 as more from endless"] {
        let socket = ask(&service, &format!("/query?sql={}", encoded(sql)));
        wait_for(&service, "jird_queries_active 1");
        drop(socket);
        wait_for(&service, "jird_queries_active 0");
    }
}

/// A process may end in the midst of its query, as when the system runs out of memory, and while it waits for one.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_killed_is_told_of_and_replaced() {
    if !is_alone("query::a_process_that_is_killed_is_told_of_and_replaced") {
        return;
    }
    let service = serve_many(20_000, |_| ());
    let kill = || {
        let children = children_of(std::process::id());
        let kill = children.iter().fold("kill -9".to_owned(), |kill, process| format!("{kill} {process}"));
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        children.len()
    };
    let mut socket = ask(&service, &format!("/query?sql={}", encoded(LONG)));
    child_that_works(std::process::id());
    assert_eq!(kill(), 1);
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).unwrap();
    assert!(Answer::new(&answer).is(503).text().contains("memory"));
    for _ in 0..3 {
        check(&service, "select count(*) as n from many", r#"[{"n":20000}]"#);
        assert_eq!(kill(), 1);
    }
    // Part of the answer has gone.
    let mut socket = ask(&service, "/query?sql=select+*+from+many+a,+many+b");
    socket.read_exact(&mut [0; 1000]).unwrap();
    kill();
    let mut rest = Vec::new();
    let _ = socket.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"));
    wait_for(&service, "jird_queries_active 0");
    wait_for(&service, "jird_query_processes 0");
}

#[test]
fn a_server_without_queries_has_no_sql() {
    let service = Service::with(TASKS, |settings| settings.queries = None);
    let sql = "/query?sql=select+1+from+tasks";
    assert!(service.get(sql).is(404).text().contains("no table"));
    service.send("OPTIONS", "/query", &[], b"").is(404);
    assert!(!service.get("/openapi.json").is(200).text().contains("/query"));
    assert!(!service.get("/metrics").text().contains("jird_quer"));
    service.get("/tasks").is(200);
    let mut settings = Settings::new(service.path.clone());
    settings.queries = Some(vec!["/no/such/program".into()]);
    let told = jird_serve::Server::bind(settings).map(drop).unwrap_err().to_string();
    assert!(told.contains("starting a process for queries"), "{told}");
}

#[test]
fn a_query_has_limits() {
    let service = serve_many(20_000, |settings| {
        settings.limits.rows = 15_000;
        settings.limits.time = Duration::from_secs(2);
    });
    let begun = Instant::now();
    let told = service.sql(LONG).is(503).text().to_owned();
    assert!(told.contains("longer"), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    // The first chunks have gone, so the body is cut.
    let cut = service.sql("select text from many");
    assert!(cut.status == 200 && !cut.is_whole, "{}", cut.body.len());
    // Here they have not.
    let sql = encoded("select 1 as a from many where i < 15001");
    let told = service.send("GET", &format!("/query?sql={sql}"), &[("Accept", "text/csv")], b"").is(400);
    assert!(told.text().contains("more than 15000 rows"), "{told:?}");
    let whole = service.sql("select i from many where i < 15000");
    assert!(whole.is_whole && whole.is(200).tree().as_array().unwrap().len() == 15_000);
    let limited = service.json("POST", "/query", r#"{"sql": "select text from many", "limit": 15000}"#);
    assert!(limited.is_whole && limited.is(200).tree().as_array().unwrap().len() == 15_000);
}

#[test]
fn sql_that_is_long_or_deep_is_answered_or_refused() {
    let service = serve_many(20, |_| ());
    let sum = |count: usize| format!("select {}1 as n from many limit 1", "1+".repeat(count));
    service.sql(&sum(40_000)).is(413);
    assert!(service.sql(&sum(30_000)).is(400).text().contains("at most 300 operators"));
    assert_eq!(service.sql(&sum(60)).is(200).tree()[0]["n"], 61);
    let any = format!("select i from many where {} i = 7", "text = 'x' or ".repeat(30));
    assert_eq!(service.sql(&any).is(200).tree()[0]["i"], 7);
    let nested = service.sql(&format!("select {}1{} from many", "(".repeat(10_000), ")".repeat(10_000)));
    assert!(nested.is(400).text().contains("recursion limit"));
    let twice = (1..30).fold("with t0 as (select i from many)".to_owned(), |sql, number| {
        format!("{sql}, t{number} as (select x.i from t{0} x, t{0} y)", number - 1)
    });
    assert!(service.sql(&format!("{twice} select * from t29")).is(400).text().contains("at most 100 tables"));
    let inner = format!("select * from ({twice} select * from t29) a");
    assert!(service.sql(&inner).is(400).text().contains("at most 100 tables"));
    assert!(
        service.sql(&format!("select {} 1 from many", "1,".repeat(20_000))).is(400).text().contains("1000 columns")
    );
    let list = format!("select count(*) as n from many where i in ({}1)", "1,".repeat(20_000));
    assert_eq!(service.sql(&list).is(200).tree()[0]["n"], 1);
    assert!(service.sql("select 1 from many limit 1").is_whole);
}

#[test]
fn what_a_number_makes_long_is_made_as_far_as_memory_goes() {
    let service = serve(|_| ());
    check(&service, "select sum(generate_series) as n from generate_series(1, 10)", r#"[{"n":55}]"#);
    check(
        &service,
        "select repeat(name, 2) as n, range(2) as r from people where age < 9",
        r#"[{"n":"BobBob","r":[0,1]}]"#,
    );
    check(&service, "select list_transform([1, 2], x -> x * 2) as l from people limit 1", r#"[{"l":[2,4]}]"#);
    for sql in [
        "select repeat(name, 1000000000) as n from people",
        "select range(0, 90000000000) as n from people",
        "select lpad(name, 2000000000) as n from people",
        "select list_transform(range(1, 9), x -> repeat('a', x * 300000000)) as l from people",
    ] {
        assert!(service.sql(sql).is(503).text().contains("memory"), "{sql}");
    }
}

#[test]
fn a_query_has_a_limit_of_memory() {
    let service = serve_many(20_000, |settings| settings.limits.query_bytes = 1 << 20);
    for sql in [
        "select text from many order by text desc",
        "select text, count(*) from many group by text",
        "select a.text from many a join many b on a.text = b.text",
        "select array_agg(text) as all from many",
        "select distinct text from many",
    ] {
        let told = service.sql(sql).is(503).text().to_owned();
        assert!(told.contains("memory"), "{sql}: {told}");
    }
    service.sql("select count(*) from many").is(200);
}

#[test]
fn a_long_result_takes_no_memory_and_queries_run_side_by_side() {
    if !is_alone("query::a_long_result_takes_no_memory_and_queries_run_side_by_side") {
        return;
    }
    let service = serve_many(60_000, |_| ());
    let endless = ask(&service, &format!("/query?sql={}", encoded(LONG)));
    let mut slow = ask(&service, "/query?sql=select+*+from+many+a,+many+b&limit=1000000");
    wait_for(&service, "jird_queries_active 2");
    slow.read_exact(&mut [0; 1000]).unwrap();
    let before = resident();
    // It goes on as far as its client takes it.
    let taken = std::io::copy(&mut (&mut slow).take(100 << 20), &mut std::io::sink()).unwrap();
    assert_eq!(taken, 100 << 20);
    let begun = Instant::now();
    check(&service, "select count(*) as n from many", r#"[{"n":60000}]"#);
    assert!(begun.elapsed() < Duration::from_secs(15));
    let more = resident().saturating_sub(before);
    assert!(more < 60 << 20, "{more}");
    drop((endless, slow));
    wait_for(&service, "jird_queries_active 0");
}

/// Threads of this process that are named so.
fn threads(name: &str) -> usize {
    let names = fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
        // A thread may end meanwhile.
        fs::read_to_string(task.ok()?.path().join("comm")).ok()
    });
    names.filter(|known| known.trim() == name).count()
}

/// The threads of queries end at once when nothing more is done.
#[track_caller]
fn has_no_threads(sql: &str) {
    let until = Instant::now() + Duration::from_secs(2);
    while threads("tokio-rt-worker") + threads("jird-scan") + threads("query") > 0 {
        assert!(Instant::now() < until, "{sql}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn values_that_fill_all_memory_are_refused_and_the_server_goes_on() {
    if !is_alone("query::values_that_fill_all_memory_are_refused_and_the_server_goes_on") {
        return;
    }
    let service = serve_many(8192, |settings| {
        settings.limits.query_bytes = 32 << 20;
        settings.limits.time = Duration::from_secs(5);
        settings.limits.rows = 100_000_000;
    });
    let (b, c) = ("b".repeat(100), "c".repeat(300));
    let long = "x".repeat(60_000);
    let nested = |levels: u32, call: &str| (0..levels).fold("text".to_owned(), |inner, _| call.replace('?', &inner));
    for sql in [
        format!(
            "select concat_ws(replace(replace('aaaaaaaaaa', 'a', '{b}'), 'b', '{c}'){}) n from many",
            ", text".repeat(100)
        ),
        format!("select {} n from many", nested(30, "replace(?, '0', '00')")),
        format!("select {} n from many", nested(3, "concat(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")),
        format!("select {} n from many", nested(30, "encode(?, 'hex')")),
        format!("select {} n from many", nested(30, "regexp_replace(?, '0', '00', 'g')")),
        format!("select {} n from many", nested(7, "(? || ?)")),
        format!("select {} n from many", nested(5, "upper(concat(?, ?, ?, ?))")),
        format!("select concat({}text) n from many", "text, ".repeat(10_000)),
        format!("select concat_ws('{long}', text, text, text) n from many"),
        format!("select array_to_string(string_to_array(text, NULL), '{long}') n from many"),
        format!("select replace(text, '0', '{long}') n from many"),
        format!("select translate(text, '0', '\u{1F600}') || replace(text, '', '{long}') n from many"),
        format!("select string_agg(text, '{long}') n from many"),
        format!(
            "select {} from many",
            (0..60).map(|number| format!("'{}{number}' n{number}", &long[..1000])).collect::<Vec<_>>().join(", ")
        ),
        format!(
            "select a.text from many a, (select replace('{long}', 'x', 'xxxxxxxxxxxxxxxx') t) b where a.text || b.t > ''"
        ),
        format!("select first_value(text || '{long}') over () f from many"),
        "select array_agg(text) over (order by i) a from many".to_owned(),
        "select arrow_cast(null, 'FixedSizeBinary(2000000000)') n from many".to_owned(),
        "select to_hex(i) || text || to_hex(i) from many a, many b, many c where a.i < 0".to_owned(),
    ] {
        let shown = &sql[..sql.len().min(100)];
        let status = service.status(&sql);
        assert!(["200", "400", "422", "503"].iter().any(|known| status.ends_with(known)), "{shown}: {status}");
        assert!(resident() < 400 << 20, "{shown}: {} MB", resident() >> 20);
        wait_for(&service, "jird_queries_active 0");
        check(&service, "select count(*) as n from many", r#"[{"n":8192}]"#);
    }
}

#[test]
fn the_place_of_a_query_is_free_when_its_threads_have_ended() {
    if !is_alone("query::the_place_of_a_query_is_free_when_its_threads_have_ended") {
        return;
    }
    let service = serve_many(20_000, |settings| {
        settings.limits.queries = 1;
        settings.limits.time = Duration::from_secs(2);
    });
    // What takes long to compile is refused at once.
    for sql in [
        "select count(*) n from many where regexp_like(text, concat('(?i)[\\p{L}\\p{N}]{200}', text))",
        "select count(*) n from many where regexp_count(text, concat('[\\p{L}]{200}', text)) > 7",
        "select count(*) n from many where concat(text) ~ concat('[\\p{L}]{200}', text)",
        "select count(*) n from many where match(text, '[\\p{L}]{200}')",
    ] {
        let told = service.sql(sql).is(400).text().to_owned();
        assert!(told.contains("regular expression"), "{sql}: {told}");
        wait_for(&service, "jird_queries_active 0");
    }
    for sql in [
        "select count(*) n from many where regexp_like(text, concat('(?i)[\\p{L}]{20}', text))",
        "select count(*) n from many where concat(text) ~ concat('[\\p{L}]{20}', text)",
        "select max(levenshtein(concat(a.text, a.text, a.text, a.text), concat(b.text, b.text, b.text))) n \
         from many a, many b",
    ] {
        // By its time, and by its client.
        let told = service.sql(sql).is(503).text().to_owned();
        assert!(told.contains("longer"), "{sql}: {told}");
        wait_for(&service, "jird_queries_active 0");
        has_no_threads(sql);
        let socket = ask(&service, &format!("/query?sql={}", encoded(sql)));
        wait_for(&service, "jird_queries_active 1");
        drop(socket);
        wait_for(&service, "jird_queries_active 0");
        has_no_threads(sql);
    }
    let metrics = service.get("/metrics").text().to_owned();
    assert!(metrics.contains("jird_requests_total{status=\"4xx\"} 7"), "{metrics}");
}
