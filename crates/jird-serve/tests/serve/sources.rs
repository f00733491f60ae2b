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
    let wanted = r#"[{"name":"tasks","kind":"table","writable":true,"key":"id"},
{"name":"pairs","kind":"table","writable":true,"key":null},
{"name":"open_tasks","kind":"view","writable":false,"key":null},
{"name":"odd \" name","kind":"table","writable":true,"key":"select"},
{"name":"log","kind":"store","writable":false,"key":null},
{"name":"people","kind":"file","writable":false,"key":null},
{"name":"\"x\" y","kind":"file","writable":false,"key":null}]
"#;
    assert_eq!(service.get("/sources").is(200).text(), wanted);
    service.send("POST", "/sources", &[], b"").is(405);
    service.get("/tasks").is(200);
    for name in ["people", "log"] {
        assert!(service.get(&format!("/{name}")).is(404).text().contains("/query reads it"), "{name}");
    }
    service.get("/events").is(404);
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
