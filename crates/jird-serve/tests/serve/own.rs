//! The server's own database: saved views at `/saved`, alerts at `/alerts`.

use crate::common::{Service, TASKS, wait_for};
use jird_formats::sqlite::rusqlite::Connection;
use jird_serve::{Server, Settings, Token};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[test]
fn saved_views_are_rows_that_all_share() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state.db");
    let service = Service::with(TASKS, |settings| settings.state = Some(state.clone()));
    assert_eq!(service.get("/saved").is(200).text().trim(), "[]");
    service.json("POST", "/saved", r#"{"name":"Übel <b>","place":"table/tasks?done=is.true"}"#).is(201);
    service.json("POST", "/saved", r#"{"name":"Übel <b>","place":"x"}"#).is(409);
    for wrong in [r#"{"name":"","place":"x"}"#, r#"{"name":"a"}"#, r#"{"name":"a","place":"x","what":1}"#] {
        let status = service.json("POST", "/saved", wrong).status;
        assert!((400..500).contains(&status), "{wrong}: {status}");
    }
    service.json("PATCH", "/saved/1", r#"{"name":"Better"}"#).is(204);
    assert_eq!(service.get("/saved/1?select=name").is(200).text().trim(), r#"{"name":"Better"}"#);
    // It is told apart from what is served, which the option does not open for writing.
    let listed = service.get("/sources").is(200).text().to_owned();
    assert!(listed.contains(r#"{"name":"saved","kind":"own","writable":true,"key":"id"}"#), "{listed}");
    assert!(!listed.contains("\"alerts\""), "there are no events to count: {listed}");
    service.json("POST", "/tasks", r#"{"title":"x"}"#).is(405);
    let described = service.get("/openapi.json").is(200).tree();
    assert!(described["paths"]["/saved"]["post"].is_object() && described["paths"]["/tasks"]["post"].is_null());
    // Pages of others change nothing.
    let headers = [("Content-Type", "application/json"), ("Origin", "http://evil.example")];
    service.send("POST", "/saved", &headers, br#"{"name":"evil","place":"x"}"#).is(403);
    service.send("DELETE", "/saved/1", &[], b"").is(204);
    assert_eq!(service.get("/saved").is(200).text().trim(), "[]");
    // The next server has them, too.
    service.json("POST", "/saved", r#"{"name":"kept","place":"query?sql=select+1"}"#).is(201);
    drop(service);
    let service = Service::with(TASKS, |settings| settings.state = Some(state));
    assert!(service.get("/saved").is(200).text().contains("kept"));
}

#[test]
fn a_table_of_the_same_name_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let sql = "create table saved (mine text); insert into saved values ('a');";
    let service = Service::with(sql, |settings| {
        settings.write = true;
        settings.state = Some(folder.path().join("state.db"));
    });
    service.json("POST", "/saved", r#"{"name":"a","place":"b"}"#).is(201);
    assert_eq!(service.get("/sources").is(200).text().matches("\"saved\"").count(), 1);
    let mine: String =
        service.database().query_row("select group_concat(mine) from saved", [], |row| row.get(0)).unwrap();
    assert_eq!(mine, "a");
    let service = Service::with(sql, |_| ());
    assert_eq!(service.get("/saved").is(200).text().trim(), r#"[{"mine":"a"}]"#);
}

#[test]
fn a_database_of_another_program_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.db");
    Connection::open(&path).unwrap().execute_batch(TASKS).unwrap();
    let before = std::fs::read(&path).unwrap();
    let served = folder.path().join("served.db");
    Connection::open(&served).unwrap().execute_batch(TASKS).unwrap();
    let mut settings = Settings::new(&served);
    settings.state = Some(path.clone());
    let message = Server::bind(settings).err().unwrap().to_string();
    assert!(message.contains("another program's database"), "{message}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "not a database, but long enough to be taken for one by its size".repeat(20)).unwrap();
    let mut settings = Settings::new(&path);
    settings.state = Some(text);
    assert!(Server::bind(settings).err().unwrap().to_string().contains("notes.txt"));
}

#[test]
fn who_may_only_read_saves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::with(TASKS, |settings| {
        settings.state = Some(folder.path().join("state.db"));
        settings.tokens = Token::read_all("all\nsome read,query\n").unwrap();
    });
    let row = br#"{"name":"a","place":"b"}"#;
    let send = |token: &str, method: &str, body: &[u8]| {
        let headers = [("Authorization", token), ("Content-Type", "application/json")];
        service.send(method, "/saved", &headers, body).status
    };
    assert_eq!(send("Bearer some", "GET", b""), 200);
    assert_eq!(send("Bearer some", "POST", row), 403);
    assert_eq!(send("Bearer all", "POST", row), 201);
    assert_eq!(send("Bearer none", "GET", b""), 401);
}

/// An event of this many seconds ago.
fn event(ago: u64, text: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() - ago;
    format!("{{\"@t\":{now},\"@m\":\"{text}\"}}\n")
}

#[test]
fn alerts_fire_while_more_events_come_than_they_allow() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::of_store(|settings| {
        settings.state = Some(folder.path().join("state.db"));
        settings.limits.alerts = Duration::from_millis(50);
    });
    let post = |body: &str| service.json("POST", "/alerts", body);
    post(r#"{"name":"time\"outs","search":"timeout","more_than":2,"minutes":5}"#).is(201);
    post(r#"{"name":"any","minutes":1}"#).is(201);
    post(r#"{"name":"wrong","condition":"a > > 1","minutes":1}"#).is(201);
    for wrong in [
        r#"{"name":"a"}"#,
        r#"{"name":"a","minutes":0}"#,
        r#"{"name":"a","minutes":1.5}"#,
        r#"{"name":"any","minutes":1}"#,
        r#"{"name":"a","minutes":1,"more_than":-1}"#,
    ] {
        let status = post(wrong).status;
        assert!((400..500).contains(&status), "{wrong}: {status}");
    }
    wait_for(&service, r#"jird_alert_firing{name="time\"outs"} 0"#);
    // Two are not more than two, and one is too old.
    let ingest = |body: String| {
        service.send("POST", "/ingest", &[("Content-Type", "application/x-ndjson")], body.as_bytes()).is(200)
    };
    ingest(event(1, "TimeOut") + &event(2, "a timeout") + &event(1000, "timeout"));
    wait_for(&service, r#"jird_alert_firing{name="any"} 1"#);
    wait_for(&service, r#"jird_alert_firing{name="time\"outs"} 0"#);
    ingest(event(3, "timeout"));
    wait_for(&service, r#"jird_alert_firing{name="time\"outs"} 1"#);
    // The metric may be there before the rows are written.
    let known = || service.get("/alerts?order=id&select=firing,events,problem,changed").is(200).tree();
    let until = Instant::now() + Duration::from_secs(20);
    while [0, 1].map(|alert| known()[alert]["events"].as_u64()) != [Some(3); 2] {
        assert!(Instant::now() < until, "{}", known());
        std::thread::sleep(Duration::from_millis(20));
    }
    let rows = known();
    assert_eq!(rows[0]["firing"].as_bool(), Some(true));
    assert!(rows[0]["changed"].as_str().unwrap().ends_with('Z') && rows[0]["problem"].is_null());
    assert!(rows[2]["problem"].as_str().is_some_and(|problem| !problem.is_empty()), "{rows}");
    assert_eq!(rows[2]["firing"].as_bool(), Some(false));
    // It ends when it allows more.
    service.json("PATCH", "/alerts?id=eq.1", r#"{"more_than":3}"#).is(204);
    wait_for(&service, r#"jird_alert_firing{name="time\"outs"} 0"#);
    service.send("DELETE", "/alerts/1", &[], b"").is(204);
    let until = Instant::now() + Duration::from_secs(20);
    while service.get("/metrics").text().contains("time\\\"outs") {
        assert!(Instant::now() < until, "a deleted alert is checked no more");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn alerts_are_few() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::of_store(|settings| settings.state = Some(folder.path().join("state.db")));
    let rows =
        |count: u32| (0..count).map(|n| format!(r#"{{"name":"{n}","minutes":1}}"#)).collect::<Vec<_>>().join(",");
    let told = service.json("POST", "/alerts", &format!("[{}]", rows(101)));
    assert!((400..500).contains(&told.status) && told.text().contains("100 alerts"), "{told:?}");
    service.json("POST", "/alerts", &format!("[{}]", rows(100))).is(201);
}

#[test]
fn what_is_served_is_no_place_for_the_state_and_odd_alerts_break_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("empty.db");
    std::fs::write(&database, "").unwrap();
    let mut settings = Settings::new(&database);
    settings.state = Some(database.clone());
    let refused = |settings: Settings| Server::bind(settings).err().unwrap().to_string();
    assert!(refused(settings).contains("this is served"));
    assert_eq!(std::fs::metadata(&database).unwrap().len(), 0);
    let service = Service::of_store(|settings| {
        settings.state = Some(folder.path().join("state.db"));
        settings.limits.alerts = Duration::from_millis(50);
    });
    let mut inside = Settings::new(&service.path);
    inside.state = Some(service.path.join("state.db"));
    assert!(refused(inside).contains("this is served"));
    let post = |body: &str| service.json("POST", "/alerts", body);
    for odd in ["\"firing\":1.5", "\"firing\":\"abc\"", "\"firing\":2", "\"search\":5.5e300", "\"minutes\":1.5"] {
        let status = post(&format!("{{\"name\":\"odd\",\"minutes\":5,{odd}}}")).status;
        assert!((400..500).contains(&status) || odd.contains("search") && status == 201, "{odd}: {status}");
    }
    service.send("DELETE", "/alerts?name=eq.odd", &[], b"");
    post(r#"{"name":"told","search":"future","minutes":5,"firing":true,"changed":"zzz"}"#).is(201);
    let now = || service.get("/alerts?name=eq.told&select=firing,changed,events").is(200).text().to_owned();
    assert!(now().starts_with("[{\"firing\":false,\"changed\":null,"), "{}", now());
    // A clock that is wrong makes no alert last for ever.
    service.json("POST", "/ingest", r#"{"@t":"2099-01-01T00:00:00Z","m":"future"}"#).is(200);
    let until = Instant::now() + Duration::from_secs(20);
    while !now().contains("\"events\":0") {
        assert!(Instant::now() < until, "{}", now());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(now().contains("\"firing\":false"));
}
