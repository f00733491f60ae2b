//! What `GET` answers.

use crate::common::Service;
use jird::json;
use std::io::Read;

#[test]
fn rows_are_objects_in_an_array_with_every_value_as_it_is() {
    let service = Service::new();
    let answer = service.get("/tasks").is(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(
        answer.text(),
        "[{\"id\":1,\"title\":\"Clean Room\",\"done\":false,\"price\":1.5,\"tags\":[\"home\",{\"a\":1.50}],\
         \"at\":\"2024-01-01\",\"note\":null},\n\
         {\"id\":2,\"title\":\"Check \\\"Mail\\\"\",\"done\":true,\"price\":null,\"tags\":null,\"at\":\"2024-02-01\",\
         \"note\":\"AP8=\"},\n\
         {\"id\":3,\"title\":\"Ärger, süß\",\"done\":false,\"price\":1e+300,\"tags\":{},\"at\":null,\"note\":7}]\n"
    );
    assert_eq!(service.get("/tasks/").is(200).body, answer.body);
    assert_eq!(service.get("/pairs").is(200).text(), "[]\n");
    assert_eq!(
        service.get("/open_tasks").is(200).tree(),
        json!([
            {"id": 1, "title": "Clean Room"}, {"id": 3, "title": "Ärger, süß"}
        ])
    );
}

#[test]
fn a_row_is_found_by_its_key() {
    let service = Service::new();
    assert_eq!(service.get("/tasks/2?select=title").is(200).text(), "{\"title\":\"Check \\\"Mail\\\"\"}\n");
    for missing in
        ["/tasks/4", "/tasks/x", "/tasks/1%20or%201=1", "/tasks/1;", "/pairs/a", "/open_tasks/1", "/none", "/_/none"]
    {
        service.get(missing).is(404);
    }
    for wrong in ["/tasks/1?id=eq.1", "/tasks/1?limit=1", "/tasks/1?order=id"] {
        service.get(wrong).is(400);
    }
}

/// The keys that a query finds.
#[track_caller]
fn check(service: &Service, query: &str, wanted: &str) {
    let answer = service.get(&format!("/tasks?select=id&{query}")).is(200);
    let ids: Vec<_> = answer.tree().as_array().unwrap().iter().map(|row| row["id"].to_string()).collect();
    assert_eq!(ids.join(","), wanted, "{query}");
}

#[test]
fn conditions_find_what_they_say() {
    let service = Service::new();
    for (query, wanted) in [
        ("id=eq.2", "2"),
        ("id=neq.2", "1,3"),
        ("id=gt.1&id=lt.3", "2"),
        ("id=gte.2", "2,3"),
        ("id=lte.2", "1,2"),
        ("id=eq.2.0", "2"),
        ("id=in.(1,3)", "1,3"),
        ("id=not.in.(1,3)", "2"),
        ("done=eq.true", "2"),
        ("done=is.false", "1,3"),
        ("done=not.is.true", "1,3"),
        ("price=is.null", "2"),
        ("price=not.is.null", "1,3"),
        ("price=is.not_null", "1,3"),
        ("price=gt.1e299", "3"),
        ("title=eq.Clean+Room", "1"),
        ("title=eq.clean%20room", ""),
        ("title=like.C*", "1,2"),
        ("title=like.c*", ""),
        ("title=ilike.c*", "1,2"),
        ("title=like.%25Mail%22", "2"),
        ("title=in.(%22%C3%84rger,%20s%C3%BC%C3%9F%22)", "3"),
        ("title=in.(%22Check%20%5C%22Mail%5C%22%22)", "2"),
        ("at=gte.2024-01-15", "2"),
        ("note=eq.7", "3"),
        ("note=eq.x", ""),
        ("order=id.desc", "3,2,1"),
        ("order=price.desc.nullslast", "3,1,2"),
        ("order=price", "2,1,3"),
        ("order=price.asc.nullslast,id", "1,3,2"),
        ("order=done.desc,id.desc", "2,3,1"),
        ("limit=1", "1"),
        ("limit=2&offset=1", "2,3"),
        ("limit=0", ""),
        ("offset=2", "3"),
        ("offset=9", ""),
    ] {
        check(&service, query, wanted);
    }
}

#[test]
fn columns_are_picked_and_named() {
    let service = Service::new();
    let rows = service.get("/tasks?select=name:title,id&id=eq.1").is(200);
    assert_eq!(rows.text(), "[{\"name\":\"Clean Room\",\"id\":1}]\n");
    assert_eq!(service.get("/tasks?select=*&id=eq.1").is(200).body, service.get("/tasks?id=eq.1").body);
    let odd = service.get("/odd%20%22%20name?a,b=eq.x&order=a,b").is(400);
    assert!(odd.text().contains("column"), "{odd:?}");
    assert_eq!(service.get("/odd%20%22%20name?a%2Cb=eq.x").is(200).text(), "[{\"select\":1,\"a,b\":\"x\"}]\n");
    assert_eq!(service.get("/odd%20%22%20name/1").is(200).text(), "{\"select\":1,\"a,b\":\"x\"}\n");
}

#[test]
fn what_a_query_gets_wrong_is_a_problem_that_names_it() {
    let service = Service::new();
    for (query, word) in [
        ("nothing=eq.1", "nothing"),
        ("select=nothing", "nothing"),
        ("select=id,id", "twice"),
        ("order=nothing", "nothing"),
        ("order=id.down", "id.down"),
        ("limit=-1", "limit"),
        ("limit=1;drop", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("limit=1&limit=2", "twice"),
        ("id=1", "eq"),
        ("id=eq.abc", "abc"),
        ("id=xx.1", "OPERATOR"),
        ("id=in.1", "in.(A"),
        ("done=is.5", "null"),
        ("title=eq.%ff", "UTF-8"),
        ("title=eq.%00", "NUL"),
        ("or=(id.eq.1", "or=("),
        ("or=id.eq.1", "or=("),
        ("or=(id.eq)", "OPERATOR"),
        ("or=()", "NAME."),
        ("or=(idd.eq.1)", "idd"),
        ("id=eq(some).1", "OPERATOR"),
        ("id=eq(any).1", "{A"),
        ("select=id::date", "cast"),
        ("select=tags-%3E", "key"),
        ("select=tags-%3E%22", "quote"),
        ("select=tags(id", "bracket"),
        ("select=others(*)", "foreign key"),
        ("on_conflict=id", "POST"),
        ("limit=1000001", "1000000"),
    ] {
        let answer = service.get(&format!("/tasks?{query}")).is(400);
        assert!(answer.tree()["detail"].as_str().unwrap().contains(word), "{query}: {}", answer.text());
    }
}

#[test]
fn sql_in_every_place_of_a_request_stays_text_or_is_refused() {
    let service = Service::new();
    let attacks = [
        "1%20or%201%3D1",
        "1)%3Bdrop%20table%20tasks%3B--",
        "'%20or%20''%3D'",
        "%22%20or%20%22%22%3D%22",
        "id%22%3B%20drop%20table%20tasks%3B%20--",
        "1%20union%20select%20sql%20from%20sqlite_schema",
        "(select%20sql%20from%20sqlite_schema)",
    ];
    for attack in attacks {
        for refused in [
            format!("/tasks?id=eq.{attack}"),
            format!("/tasks?id=in.({attack})"),
            format!("/tasks?select={attack}"),
            format!("/tasks?select=x:{attack}"),
            format!("/tasks?order={attack}"),
            format!("/tasks?order=id.{attack}"),
            format!("/tasks?limit={attack}"),
            format!("/tasks?offset={attack}"),
            format!("/tasks?{attack}=eq.1"),
            format!("/tasks?id={attack}"),
            format!("/tasks?id={attack}.1"),
            format!("/tasks?id=is.{attack}"),
        ] {
            service.get(&refused).is(400);
        }
        service.get(&format!("/{attack}")).is(404);
        service.get(&format!("/tasks/{attack}")).is(404);
        for text in ["eq", "like", "ilike"] {
            assert_eq!(service.get(&format!("/tasks?title={text}.{attack}")).is(200).text(), "[]\n");
        }
        service.json("POST", "/tasks", &format!("{{\"{attack}\": 1}}")).is(400);
        service.json("POST", &format!("/tasks?on_conflict={attack}"), "{\"title\": \"a\"}").is(400);
        service.json("PATCH", "/tasks/1", "{\"title\\\" = 1; --\": 1}").is(400);
    }
    assert_eq!(service.get("/tasks").is(200).tree().as_array().unwrap().len(), 3);
    service.get("/sqlite_schema").is(404);
}

#[test]
fn rows_come_as_lines_and_as_csv() {
    let service = Service::new();
    let accept = |target: &str, media| service.send("GET", target, &[("Accept", media)], b"").is(200);
    let lines = accept("/tasks?select=id,done", "application/x-ndjson");
    assert_eq!(lines.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(lines.text(), "{\"id\":1,\"done\":false}\n{\"id\":2,\"done\":true}\n{\"id\":3,\"done\":false}\n");
    let csv = accept("/tasks?select=id,title,done,price,note", "text/csv");
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let wanted = "id,title,done,price,note\n1,Clean Room,false,1.5,\n2,\"Check \"\"Mail\"\"\",true,,AP8=\n\
                  3,\"Ärger, süß\",false,1e+300,7\n";
    assert_eq!(csv.text(), wanted);
    assert_eq!(accept("/pairs", "text/csv").text(), "a,b,c\n");
    assert_eq!(accept("/pairs", "application/x-ndjson").text(), "");
    service.send("GET", "/tasks", &[("Accept", "image/png")], b"").is(406);
}

#[test]
fn a_count_is_told_on_request() {
    let service = Service::new();
    let counted = |target: &str| service.send("GET", target, &[("Prefer", "count=exact")], b"");
    let answer = counted("/tasks?limit=2").is(206);
    assert_eq!(answer.header("content-range"), Some("0-1/3"));
    assert_eq!(counted("/tasks").is(200).header("content-range"), Some("0-2/3"));
    assert_eq!(counted("/tasks?offset=1&limit=1").is(206).header("content-range"), Some("1-1/3"));
    assert_eq!(counted("/tasks?id=eq.9").is(200).header("content-range"), Some("*/0"));
    counted("/tasks?offset=4").is(416);
    assert_eq!(service.get("/tasks").header("content-range"), None);
    // Browsers keep the number with the rows: other numbers of the same rows have other tags.
    let none = counted("/tasks?limit=0").is(206).header("etag").unwrap().to_owned();
    let again = |tag: &str| {
        service.send("GET", "/tasks?limit=0", &[("Prefer", "count=exact"), ("If-None-Match", tag)], b"").status
    };
    assert_eq!(again(&none), 304);
    service.database().execute_batch("delete from tasks where id = 1").unwrap();
    assert_eq!(again(&none), 206);
}

#[test]
fn what_a_client_has_already_is_not_sent_again() {
    let service = Service::new();
    let tag = service.get("/tasks").is(200).header("etag").unwrap().to_owned();
    let again = |tag: &str| service.send("GET", "/tasks", &[("If-None-Match", tag)], b"");
    let answer = again(&tag).is(304);
    assert!(answer.body.is_empty() && answer.header("etag") == Some(&tag));
    again(&format!("\"x\", W/{tag}")).is(304);
    again("*").is(304);
    again("\"x\"").is(200);
    service.database().execute_batch("update tasks set title = 'Other' where id = 1").unwrap();
    let answer = again(&tag).is(200);
    assert_ne!(answer.header("etag"), Some(&*tag));
}

#[test]
fn answers_are_packed_for_those_who_can_unpack_them() {
    let rows = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 200)
        insert into big select i, 'row ' || i from n;";
    let service = Service::with(&format!("create table big (id integer primary key, a text); {rows}"), |_| ());
    let plain = service.get("/big").is(200);
    let packed = |coding| service.send("GET", "/big", &[("Accept-Encoding", coding)], b"").is(200);
    let gzip = packed("gzip");
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(&gzip.body[..]).read_to_end(&mut text).unwrap();
    assert!(text == plain.body && gzip.body.len() < plain.body.len() / 3);
    let zstd = packed("gzip;q=0.5, zstd");
    assert_eq!(zstd.header("content-encoding"), Some("zstd"));
    assert_eq!(zstd::decode_all(&zstd.body[..]).unwrap(), plain.body);
    assert_eq!(packed("br").header("content-encoding"), None);
    // The tag is another one, and either is taken.
    let tag = gzip.header("etag").unwrap();
    assert_ne!(Some(tag), plain.header("etag"));
    service.send("GET", "/big", &[("If-None-Match", tag)], b"").is(304);
}

#[test]
fn head_and_options_tell_without_a_body() {
    let service = Service::new();
    let answer = service
        .raw(format!("HEAD /tasks HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", service.address).as_bytes());
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    assert_eq!(answer.header("content-length"), Some(&*service.get("/tasks").body.len().to_string()));
    let options = service.send("OPTIONS", "/tasks/1", &[], b"").is(204);
    assert_eq!(options.header("allow"), Some("GET, HEAD, PUT, PATCH, DELETE"));
    assert_eq!(service.send("OPTIONS", "/open_tasks", &[], b"").is(204).header("allow"), Some("GET, HEAD"));
    assert!(options.header("access-control-allow-origin").is_none());
}

#[test]
fn values_that_json_lacks_are_told() {
    let sql = "create table t (a, b json); insert into t values (9e999, 'not json'), (-9e999, '1 ');";
    let service = Service::with(sql, |_| ());
    assert_eq!(
        service.get("/t").is(200).text(),
        "[{\"a\":\"Infinity\",\"b\":\"not json\"},\n{\"a\":\"-Infinity\",\"b\":1}]\n"
    );
    service.database().execute_batch("insert into t values (cast(x'ff' as text), 1)").unwrap();
    assert!(service.get("/t").is(500).text().contains("not UTF-8"));
}

#[test]
fn tables_and_columns_that_come_later_are_served() {
    let service = Service::new();
    let database = service.database();
    service.get("/late").is(404);
    database.execute_batch("create table late (a); insert into late values (1)").unwrap();
    assert_eq!(service.get("/late").is(200).text(), "[{\"a\":1}]\n");
    database.execute_batch("alter table late add column b default 2").unwrap();
    for _ in 0..50 {
        if service.get("/late").text() == "[{\"a\":1,\"b\":2}]\n" {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{:?}", service.get("/late"));
}

#[test]
fn a_table_that_a_path_of_the_server_hides_is_not_described() {
    let tables =
        "create table metrics (a); create table health (a); create table \"openapi.json\" (a); create table t (a)";
    let service = Service::with(tables, |_| {});
    let document = service.get("/openapi.json").is(200).tree();
    let schemas: Vec<_> = document["components"]["schemas"].as_object().unwrap().keys().collect();
    assert_eq!(schemas, ["t"]);
    assert!(document["paths"]["/metrics"]["post"].is_null());
    assert!(service.get("/metrics").is(200).text().contains("jird_requests_total"));
}

#[test]
fn the_server_tells_what_it_has_and_does() {
    let service = Service::new();
    assert_eq!(service.get("/health").is(200).text(), "{\"status\":\"ok\"}\n");
    let document = service.get("/openapi.json").is(200).tree();
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["components"]["schemas"]["tasks"]["properties"]["title"].is_object());
    let new = &document["paths"]["/tasks"]["post"]["requestBody"]["content"]["application/json"]["schema"]["anyOf"][0];
    assert_eq!(new["required"], json!(["title"]));
    assert_eq!(new["properties"]["id"]["type"], json!(["integer", "boolean", "null"]));
    assert_eq!(new["properties"]["title"]["type"], json!(["string", "array", "object"]));
    let members = [("/tasks", 4), ("/tasks/{id}", 5), ("/open_tasks", 1), ("/pairs", 4), ("/odd%20%22%20name/{id}", 5)];
    for (path, wanted) in members {
        assert_eq!(document["paths"][path].as_object().unwrap().len(), wanted, "{path}");
    }
    assert!(document["paths"]["/pairs/{id}"].is_null());
    for path in ["/health", "/ready", "/metrics", "/openapi.json", "/sources"] {
        assert!(document["paths"][path]["get"]["responses"]["200"].is_object(), "{path}");
    }
    service.get("/nothing").is(404);
    let metrics = service.get("/metrics").is(200);
    assert!(metrics.text().contains("jird_requests_total{status=\"2xx\"} 2\n"), "{}", metrics.text());
    assert!(metrics.text().contains("jird_requests_total{status=\"4xx\"} 1\n"), "{}", metrics.text());
    assert!(metrics.text().contains("jird_requests_active 1\n"), "{}", metrics.text());
    service.json("POST", "/health", "{}").is(405);
}
