//! What is served: a database, a store, files, and their names.

use super::common::{Service, TASKS};
use jird_formats::sqlite::rusqlite::Connection;
use jird_serve::{Server, Settings, Source};
use jird_store::Store;
use std::fs;
use std::path::Path;

fn make(folder: &Path) {
    for name in ["a.db", "b.db"] {
        Connection::open(folder.join(name)).unwrap().execute_batch(TASKS).unwrap();
    }
    for name in ["events", "others"] {
        Store::create(&folder.join(name), &jird_store::Settings::default()).unwrap();
    }
    fs::write(folder.join("people.ndjson"), "{\"name\":\"Ann\"}\n").unwrap();
    fs::write(folder.join("people.csv"), "name\nAnn\n").unwrap();
    fs::write(folder.join("tasks.ndjson"), "{}\n").unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
}

#[test]
fn a_database_a_store_and_files_are_served_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    let at = |name: &str| folder.path().join(name);
    let sources = [
        Source { name: None, path: at("people.ndjson") },
        Source { name: Some("log".into()), path: at("events") },
        Source { name: Some("\"x\" y".into()), path: at("people.csv") },
    ];
    let path = at("a.db");
    let service = Service::start(folder, path, |settings| {
        settings.write = true;
        settings.sources.extend(sources);
    });
    let listed = service.get("/sources").is(200).tree();
    let listed = listed.as_array().unwrap();
    let brief = |thing: &jird::Json| {
        let text = |name: &str| thing[name].as_str().unwrap_or("-").to_owned();
        format!("{} {} {} {}", text("kind"), thing["writable"].as_bool().unwrap(), text("key"), text("name"))
    };
    assert_eq!(
        listed.iter().map(brief).collect::<Vec<_>>(),
        [
            "table true id tasks",
            "table true - pairs",
            "view false - open_tasks",
            "table true select odd \" name",
            "store true - log",
            "file false - people",
            "file false - \"x\" y"
        ]
    );
    assert_eq!(listed[0]["columns"][3].to_string(), r#"{"name":"price","type":"REAL"}"#);
    assert_eq!(listed[4]["time"], "/@t");
    assert!(!service.get("/sources").text().contains(service.path.parent().unwrap().to_str().unwrap()));
    let document = service.get("/openapi.json").is(200).tree();
    for (path, method) in [("/sources", "get"), ("/events", "get"), ("/tasks", "post")] {
        assert!(document["paths"][path].get(method).is_some(), "{path}");
    }
    assert_eq!(document["paths"].get("/query").is_some(), cfg!(feature = "query"));
    service.send("POST", "/sources", &[], b"").is(405);
    service.get("/tasks").is(200);
    for name in ["people", "log"] {
        assert!(service.get(&format!("/{name}")).is(404).text().contains("/query reads it"), "{name}");
    }
}

#[test]
fn what_cannot_be_served_is_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path());
    let bind = |sources: &[&str]| {
        let mut settings = Settings::new("");
        let source = |text: &&str| {
            let source = Source::new(text.as_ref());
            Source { path: folder.path().join(source.path), ..source }
        };
        settings.sources = sources.iter().map(source).collect();
        settings.queries = crate::common::query_process();
        Server::bind(settings).map(drop).map_err(|error| error.to_string())
    };
    bind(&["a.db", "events", "people.ndjson", "others=people.csv"]).unwrap();
    for (sources, wanted) in [
        (&[][..], "nothing to serve"),
        (&["a.db", "b.db"], "one database"),
        (&["events", "others"], "one event store"),
        (&["people.ndjson", "people.csv"], "the name people"),
        (&["people.ndjson", "events=people.csv", "events"], "the name events"),
        (&["a.db", "tasks.ndjson"], "the name tasks"),
        (&["tasks=a.db"], "its tables have names"),
        (&["none.ndjson"], "none.ndjson"),
        (&["folder"], "no event store"),
        (&["=people.csv"], "has no name"),
        (&["/dev/null"], "not a file"),
    ] {
        let message = bind(sources).unwrap_err();
        assert!(message.contains(wanted), "{sources:?}: {message}");
    }
}

#[test]
fn foreign_keys_are_listed_with_the_columns_they_lead_to() {
    let tables = "
        create table a (x integer, y text, primary key (x, y));
        create table b (id integer primary key, p integer, q text, self integer references b,
            foreign key (p, q) references A (x, y));
        create table c (id integer primary key, b integer references b (id), gone integer references nowhere);
    ";
    let service = Service::with(tables, |_| ());
    let listed = service.get("/sources").is(200).tree();
    let links = |name: &str| {
        let all = listed.as_array().unwrap();
        all.iter().find(|source| source["name"] == name).unwrap()["links"].to_string()
    };
    assert_eq!(links("a"), "[]");
    assert_eq!(
        links("b"),
        r#"[{"columns":["self"],"table":"b","to":["id"]},{"columns":["p","q"],"table":"a","to":["x","y"]}]"#
    );
    assert_eq!(links("c"), r#"[{"columns":["b"],"table":"b","to":["id"]}]"#);
}
