//! What `POST`, `PUT`, `PATCH` and `DELETE` do.

use crate::common::{Service, TASKS};
use jird::json;

const LINES: (&str, &str) = ("Content-Type", "application/x-ndjson");
const JSON: (&str, &str) = ("Content-Type", "application/json");
const MERGE: (&str, &str) = ("Prefer", "resolution=merge-duplicates");
const WHOLE: (&str, &str) = ("Prefer", "return=representation");

impl Service {
    fn count(&self, sql: &str) -> i64 {
        self.database().query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

#[test]
fn a_row_is_inserted_and_told() {
    let service = Service::new();
    let answer =
        service.json("POST", "/tasks", r#"{"title": "New \u00fc", "done": true, "tags": {"b": [1.50]}}"#).is(201);
    assert_eq!(answer.header("location"), Some("/tasks/4"));
    assert!(answer.body.is_empty());
    let wanted = json!({
        "id": 4, "title": "New ü", "done": true, "price": null, "tags": {"b": [1.5]}, "at": null, "note": null
    });
    assert_eq!(service.get("/tasks/4").is(200).tree(), wanted);
    assert_eq!(service.count("select count(*) from tasks where tags = '{\"b\":[1.50]}' and done = 1"), 1);
    let told = service.send("POST", "/tasks", &[JSON, WHOLE], br#"{"title": "x", "id": 10}"#).is(201);
    assert_eq!((told.header("location"), &told.tree()[0]["done"]), (Some("/tasks/10"), &json!(false)));
    assert_eq!(told.body, service.get("/tasks?id=eq.10").body);
    // A key of several columns has no path.
    assert_eq!(service.json("POST", "/pairs", r#"{"a": "x", "b": 1}"#).is(201).header("location"), None);
}

#[test]
fn changed_rows_come_back_as_they_are_read() {
    let service = Service::with(
        &format!(
            "{TASKS} create table copies (id integer primary key, of integer);
             create trigger copy after insert on tasks begin insert into copies (of) values (new.id); end;
             create table named (name text primary key, size integer) without rowid;"
        ),
        |settings| settings.write = true,
    );
    let rows = |method, target: &str, body: &str, wanted: &str, same: &str| {
        let told = service.send(method, target, &[JSON, WHOLE], body.as_bytes());
        assert_eq!(told.header("preference-applied"), Some("return=representation"), "{target}: {told:?}");
        assert_eq!(told.text(), wanted.to_owned() + "\n", "{target}");
        if !same.is_empty() {
            assert_eq!(told.text(), service.get(same).text(), "{target}");
        }
    };
    let three = r#"[{"id": 30, "title": "a"}, {"id": 10, "title": "b", "note": "AP8="}, {"title": "c"}]"#;
    rows(
        "POST",
        "/tasks?select=id,note",
        three,
        "[{\"id\":30,\"note\":null},\n{\"id\":10,\"note\":\"AP8=\"},\n{\"id\":31,\"note\":null}]",
        "",
    );
    rows("POST", "/tasks?select=id", "[]", "[]", "/tasks?id=eq.99");
    rows(
        "PATCH",
        "/tasks?id=gt.9&select=id,done",
        r#"{"done": true}"#,
        "[{\"id\":10,\"done\":true},\n{\"id\":30,\"done\":true},\n{\"id\":31,\"done\":true}]",
        "/tasks?id=gt.9&select=id,done",
    );
    rows("PATCH", "/tasks?id=eq.10&select=id,done", r#"{"done": true}"#, "[{\"id\":10,\"done\":true}]", "");
    rows("PATCH", "/tasks?id=eq.99", r#"{"done": true}"#, "[]", "/tasks?id=eq.99");
    // The key itself, by each of its two paths.
    rows("PATCH", "/tasks?id=eq.10&select=id", r#"{"id": 11}"#, "[{\"id\":11}]", "/tasks?id=eq.11&select=id");
    rows(
        "PATCH",
        "/tasks/11?select=id,title",
        r#"{"id": 12}"#,
        "{\"id\":12,\"title\":\"b\"}",
        "/tasks/12?select=id,title",
    );
    rows(
        "DELETE",
        "/tasks?id=gt.11&select=id,title",
        "",
        "[{\"id\":12,\"title\":\"b\"},\n{\"id\":30,\"title\":\"a\"},\n{\"id\":31,\"title\":\"c\"}]",
        "",
    );
    rows("DELETE", "/tasks/1?select=id", "", "{\"id\":1}", "");
    for method in ["PATCH", "DELETE"] {
        service.send(method, "/tasks/99", &[JSON, WHOLE], br#"{"done": true}"#).is(404);
    }
    rows("PATCH", "/named?name=eq.x", r#"{"size": 1}"#, "[]", "");
    // Such a table does not say what was inserted.
    let told = service.send("POST", "/named", &[JSON, WHOLE], br#"{"name": "x"}"#).is(201);
    assert_eq!((told.header("preference-applied"), &*told.body), (None, &b""[..]));
    rows("PATCH", "/named?name=eq.x", r#"{"size": 1}"#, "[{\"name\":\"x\",\"size\":1}]", "/named");
    // What fails leaves nothing.
    let one = ("Accept", "application/vnd.pgrst.object+json");
    service
        .send("POST", "/tasks", &[JSON, WHOLE, one], br#"[{"id": 40, "title": "a"}, {"id": 41, "title": "b"}]"#)
        .is(406);
    service.send("DELETE", "/tasks?id=gt.0", &[JSON, WHOLE, one], b"").is(406);
    assert_eq!(service.count("select count(*) from tasks"), 2);
    let told = service
        .send("POST", "/tasks?columns=title,%22id%22", &[JSON, WHOLE], br#"{"id": 50, "title": "a", "done": true}"#)
        .is(201);
    assert_eq!((&told.tree()[0]["id"], &told.tree()[0]["done"]), (&json!(50), &json!(false)));
    service.json("POST", "/tasks?columns=titel", r#"{"title": "a"}"#).is(400);
    service.json("PATCH", "/tasks?id=eq.1&columns=title", r#"{"title": "a"}"#).is(400);
}

#[test]
fn many_rows_are_inserted_all_or_none() {
    let service = Service::new();
    service
        .json("POST", "/tasks", r#"[{"title": "a"}, {"done": true, "title": "b"}, {"id": 20, "title": "c"}]"#)
        .is(201);
    assert_eq!(service.count("select count(*) from tasks"), 6);
    assert_eq!(service.count("select done from tasks where title = 'b'"), 1);
    let answer = service.send("POST", "/tasks", &[LINES], b"{\"title\":\"d\"}\n\n  {\"title\":\"e\"}\r\n").is(201);
    assert_eq!(answer.header("content-range"), Some("*/2"));
    // The third row has a key that is there.
    let conflict = r#"[{"title": "f"}, {"title": "g"}, {"id": 1, "title": "h"}]"#;
    service.json("POST", "/tasks", conflict).is(409);
    service.json("POST", "/tasks", r#"[{"title": "f"}, {"title": null}]"#).is(422);
    service.json("POST", "/tasks", r#"[{"title": "f"}, {"titel": "g"}]"#).is(400);
    service.send("POST", "/tasks", &[LINES], b"{\"title\":\"f\"}\n{\"title\"}\n").is(400);
    assert_eq!(service.count("select count(*) from tasks"), 8);
    service.json("POST", "/tasks", "[]").is(204);
}

#[test]
fn values_that_a_column_would_change_are_refused() {
    let service = Service::new();
    for body in [r#"{"title": 5}"#, r#"{"title": "x", "price": "1.5"}"#, r#"{"title": "x", "id": "5"}"#] {
        service.json("POST", "/tasks", body).is(422);
    }
    for body in [r#"{"title": 5}"#, r#"{"price": "1.5"}"#, r#"{"title": null}"#] {
        service.json("PATCH", "/tasks/1", body).is(422);
    }
    assert_eq!(service.count("select count(*) from tasks"), 3);
    service.json("PATCH", "/tasks/1", r#"{"price": 2, "note": 1.50, "tags": "x"}"#).is(204);
    assert_eq!(service.count("select count(*) from tasks where tags = '\"x\"' and note = 1.5"), 1);
}

#[test]
fn what_is_wrong_in_a_body_is_told_with_its_place() {
    let service = Service::new();
    let place = |body: &str, lines: bool| {
        let headers = if lines { LINES } else { JSON };
        let problem = service.send("POST", "/tasks", &[headers], body.as_bytes()).is(400).tree();
        ["line", "column", "offset", "pointer"].map(|name| problem[name].to_string())
    };
    assert_eq!(place("{\"title\":\n  x}", false), ["2", "3", "12", "\"/title\""]);
    assert_eq!(place("[{\"title\": \"a\"},\n {\"title\": 01}]", false), ["2", "13", "29", "\"/1/title\""]);
    assert_eq!(place("{\"title\": \"a\", \"title\": \"b\"}", false)[2], "15");
    assert_eq!(place("{\"title\": \"a\"}\n{\"title\": ]}\n", true), ["2", "11", "25", "\"/title\""]);
    assert_eq!(place("", false)[2], "0");
    for wrong in ["1", "[1]", "[{\"title\": \"a\"}, []]", "{\"title\": \"a\"} {}", "\"x\""] {
        service.json("POST", "/tasks", wrong).is(400);
    }
    service.send("POST", "/tasks", &[LINES], b"{\"title\":\"a\"}\n[]\n").is(400);
    service.send("POST", "/tasks", &[JSON], b"{\"title\":\"\xff\"}").is(400);
    service.json("POST", "/tasks", &"[".repeat(100_000)).is(400);
    assert_eq!(service.count("select count(*) from tasks"), 3);
}

#[test]
fn rows_are_merged_on_request() {
    let service = Service::new();
    let merge = |target: &str, body: &str| service.send("POST", target, &[JSON, MERGE], body.as_bytes());
    merge("/tasks", r#"[{"id": 1, "title": "Changed"}, {"id": 7, "title": "New"}]"#).is(201);
    assert_eq!(service.count("select count(*) from tasks"), 4);
    // What the body does not say stays.
    assert_eq!(service.count("select count(*) from tasks where id = 1 and title = 'Changed' and price = 1.5"), 1);
    merge("/pairs", r#"{"a": "x", "b": 1, "c": "1"}"#).is(201);
    merge("/pairs", r#"{"a": "x", "b": 1, "c": "2"}"#).is(201);
    assert_eq!(service.get("/pairs").tree(), json!([{"a": "x", "b": 1, "c": "2"}]));
    merge("/pairs?on_conflict=b,a", r#"{"a": "x", "b": 1, "c": "3"}"#).is(201);
    assert_eq!(service.get("/pairs").tree()[0]["c"], "3");
    service.json("POST", "/pairs?on_conflict=a,b", r#"{"a": "y", "b": 1}"#).is(400);
    service.database().execute_batch("create table loose (a)").unwrap();
    merge("/loose", r#"{"a": 1}"#).is(400);
}

#[test]
fn put_sets_a_whole_row() {
    let service = Service::new();
    let row = r#"{"title": "T", "done": false, "price": null, "tags": [], "at": null, "note": 1}"#;
    let answer = service.json("PUT", "/tasks/30", row).is(201);
    assert_eq!(answer.header("location"), Some("/tasks/30"));
    service.json("PUT", "/tasks/1", row).is(204);
    assert_eq!(service.get("/tasks/1").tree()["note"], 1);
    assert_eq!(service.count("select count(*) from tasks"), 4);
    service.json("PUT", "/tasks/1", r#"{"title": "T"}"#).is(400);
    service.json("PUT", "/tasks/1", &row.replace("{\"title", "{\"id\": 2, \"title")).is(400);
    service.json("PUT", "/tasks/1", &row.replace("{\"title", "{\"id\": 1, \"title")).is(204);
    service.json("PUT", "/tasks/x", row).is(404);
    service.json("PUT", "/tasks", row).is(405);
    service.send("PUT", "/tasks/1", &[JSON, ("If-None-Match", "*")], row.as_bytes()).is(412);
    service.send("PUT", "/tasks/31", &[JSON, ("If-None-Match", "*")], row.as_bytes()).is(201);
}

#[test]
fn patch_and_delete_change_what_the_conditions_say() {
    let service = Service::new();
    let told = service.send("PATCH", "/tasks/1", &[JSON, WHOLE], br#"{"done": true}"#).is(200);
    assert_eq!((&told.tree()["done"], &told.tree()["title"]), (&json!(true), &json!("Clean Room")));
    let answer = service.json("PATCH", "/tasks?id=gt.1&title=like.C*", r#"{"title": "Z", "price": 2}"#).is(204);
    assert_eq!(answer.header("content-range"), Some("*/1"));
    assert_eq!(service.count("select count(*) from tasks where title = 'Z' and id = 2 and price = 2"), 1);
    service.json("PATCH", "/tasks/9", r#"{"done": true}"#).is(404);
    for refused in ["/tasks", "/tasks?limit=1", "/tasks?id=eq.1&limit=1"] {
        service.json("PATCH", refused, r#"{"done": true}"#).is(400);
        service.send("DELETE", refused, &[], b"").is(400);
    }
    service.json("PATCH", "/tasks/1", "{}").is(400);
    service.json("PATCH", "/tasks/1", "[]").is(400);
    service.send("DELETE", "/tasks/3", &[], b"").is(204);
    service.send("DELETE", "/tasks/3", &[], b"").is(404);
    assert_eq!(service.send("DELETE", "/tasks?id=in.(1,2,3)", &[], b"").is(204).header("content-range"), Some("*/2"));
    assert_eq!(service.count("select count(*) from tasks"), 0);
}

#[test]
fn a_row_that_was_changed_meanwhile_is_not_overwritten() {
    let service = Service::new();
    let tag = service.get("/tasks/1").header("etag").unwrap().to_owned();
    let patch = |tag: &str| service.send("PATCH", "/tasks/1", &[JSON, ("If-Match", tag)], br#"{"done": true}"#);
    service.database().execute_batch("update tasks set price = 3 where id = 1").unwrap();
    patch(&tag).is(412);
    service.send("DELETE", "/tasks/1", &[("If-Match", &tag)], b"").is(412);
    assert_eq!(service.count("select done from tasks where id = 1"), 0);
    let tag = service.get("/tasks/1").header("etag").unwrap().to_owned();
    patch(&tag).is(204);
    patch("*").is(204);
    service.send("PATCH", "/tasks/9", &[JSON, ("If-Match", "*")], br#"{"done": true}"#).is(412);
    service.send("PATCH", "/tasks?id=eq.1", &[JSON, ("If-Match", "*")], br#"{"done": true}"#).is(400);
}

#[test]
fn rules_of_the_database_hold() {
    let sql = "create table parents (id integer primary key);
        create table children (id integer primary key, parent integer references parents, 
            n integer check (n > 0) unique, twice integer generated always as (n * 2));
        insert into parents values (1); insert into children (id, parent, n) values (1, 1, 1);";
    let service = Service::with(sql, |settings| settings.write = true);
    service.json("POST", "/children", r#"{"parent": 5, "n": 2}"#).is(409);
    service.json("POST", "/children", r#"{"parent": 1, "n": 1}"#).is(409);
    service.json("POST", "/children", r#"{"parent": 1, "n": 0}"#).is(422);
    service.json("POST", "/children", r#"{"parent": 1, "twice": 4}"#).is(422);
    service.json("PATCH", "/children/1", r#"{"twice": 4}"#).is(422);
    service.json("PATCH", "/children/1", r#"{"parent": 4}"#).is(409);
    service.send("DELETE", "/parents/1", &[], b"").is(409);
    service.json("PUT", "/children/1", r#"{"parent": 1, "n": 7}"#).is(204);
    assert_eq!(service.get("/children/1").tree()["twice"], 14);
    // A write that failed leaves nothing open.
    service.json("POST", "/parents", "{}").is(201);
}

#[test]
fn writes_wait_for_others_and_readers_do_not() {
    let service = Service::new();
    let other = service.database();
    other.execute_batch("begin immediate; update tasks set done = 1").unwrap();
    std::thread::scope(|scope| {
        let write = scope.spawn(|| service.json("POST", "/tasks", r#"{"title": "late"}"#));
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(!write.is_finished());
        assert_eq!(service.get("/tasks/1").is(200).tree()["done"], false);
        other.execute_batch("commit").unwrap();
        write.join().unwrap().is(201);
    });
}

#[test]
fn a_json_patch_changes_one_row() {
    const PATCH: (&str, &str) = ("Content-Type", "application/json-patch+json");
    let service = Service::new();
    service
        .json("POST", "/tasks", r#"{"id": 9, "title": "a", "tags": {"b": [1.50, 2], "c": "x"}, "note": "AP8="}"#)
        .is(201);
    let patch = |target: &str, patch: &str| service.send("PATCH", target, &[PATCH, WHOLE], patch.as_bytes());
    let told = patch(
        "/tasks/9",
        r#"[{"op": "test", "path": "/title", "value": "a"}, {"op": "add", "path": "/tags/b/-", "value": 3},
            {"op": "replace", "path": "/done", "value": true}, {"op": "remove", "path": "/note"}]"#,
    );
    assert_eq!(told.is(200).tree(), service.get("/tasks/9").is(200).tree());
    assert_eq!(service.count("select count(*) from tasks where id = 9 and done and note is null"), 1);
    // What the patch does not touch keeps its text.
    assert_eq!(service.count(r#"select count(*) from tasks where tags = '{"b":[1.50,2,3],"c":"x"}'"#), 1);
    let before = service.get("/tasks/9").text().to_owned();
    for (target, body, status, why) in [
        ("/tasks/9", r#"[{"op": "test", "path": "/title", "value": "b"}]"#, 409, "the test wants"),
        ("/tasks/9", r#"[{"op": "remove", "path": "/nowhere"}]"#, 422, "nothing at /nowhere"),
        ("/tasks/9", r#"[{"op": "add", "path": "/nowhere", "value": 1}]"#, 400, "nowhere"),
        ("/tasks/9", r#"[{"op": "replace", "path": "", "value": [1]}]"#, 422, "object"),
        ("/tasks/9", r#"[{"op": "replace", "path": "/title", "value": null}]"#, 422, "title"),
        ("/tasks/9", r#"[{"op": "sing", "path": "/title"}]"#, 400, "sing"),
        ("/tasks/9", r#"[{"op": "#, 400, "line 1"),
        ("/tasks/9", r#"{"title": "b"}"#, 400, ""),
        ("/tasks/99", "[]", 404, ""),
        ("/tasks?id=eq.9", "[]", 415, "one row"),
        ("/tasks/9?select=id", "[]", 415, "one row"),
    ] {
        let answer = patch(target, body);
        assert!(answer.status == status && answer.text().contains(why), "{target} {body}: {answer:?}");
    }
    service.send("PUT", "/tasks/9", &[PATCH], b"[]").is(415);
    service.send("POST", "/tasks", &[PATCH], b"[]").is(415);
    assert_eq!(patch("/tasks/9", "[]").is(200).text(), before);
    assert_eq!(service.get("/tasks/9").text(), before);
    let changed = ("If-Match", "\"other\"");
    service.send("PATCH", "/tasks/9", &[PATCH, changed], b"[]").is(412);
}
