//! The examples in the help of each command, run as a reader would run them.
//!
//! An example is an indented line below `Examples:`. Two blanks or more end the command, and what follows them is a comment.
//! The examples of a command run one after the other in one folder, which has the files that [`with_files`] makes. So an example
//! that names another file fails. The manual pages have the same examples: see `man.rs`.
#![cfg(feature = "convert")]

use crate::folder::{Folder, gzip};
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Examples that end with another code than 0, each with what the help says about the code.
const CODES: [(&str, i32, &str); 5] = [
    ("jird diff data.json user.json", 1, "exits with 1"),
    ("jird diff --patch data.json user.json > to-user.json", 1, "exits with 1"),
    ("jird diff --merge data.json user.json > to-user.json", 1, "exits with 1"),
    ("jird convert --on-error quarantine=bad.ndjson log.ndjson log.parquet", 1, "1 some records were bad"),
    ("jird query \"select Message\" log.ndjson --on-error quarantine=bad.ndjson", 1, "1 a record is not JSON"),
];

/// What an example assumes that its reader did: the comment, and a command that does it.
const BEFORE: [(&str, &str); 1] =
    [("after correcting them there", r#"sed -i 's/"raw":.*/"raw":"{\\"id\\":2}"}/' bad.ndjson"#)];

/// Commands that go on until they are ended.
const ENDLESS: [&str; 3] = ["jird serve ", "jird store tail ", "jird ingest shop-log events.ndjson --watch"];

#[test]
fn every_example_of_every_command_runs() {
    for name in commands() {
        let help = help(&name);
        let folder = with_files();
        let (mut ran, mut left_out) = (0, 0);
        for (example, comment) in examples(&help) {
            if needs_sql(example) && cfg!(not(feature = "query")) {
                left_out += 1;
                continue;
            }
            if let Some((_, command)) = BEFORE.iter().find(|(said, _)| *said == comment) {
                assert!(shell(&folder, command).status.success(), "{command}");
            }
            let (wanted, said) =
                CODES.iter().find(|(of, ..)| *of == example).map_or((0, ""), |(_, code, said)| (*code, said));
            assert!(help.contains(said), "jird {name} --help does not say: {said}");
            let is_endless = ENDLESS.iter().any(|command| example.starts_with(command));
            let (example, wanted) =
                if is_endless { (format!("timeout 1 {example}"), 124) } else { (example.to_owned(), wanted) };
            // There is no such bucket.
            let (example, wanted) = match example.split_once("s3://") {
                Some(_) => (
                    format!(
                        "AWS_ENDPOINT=https://127.0.0.1:1 AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=key {example} --remote-patience 0.1"
                    ),
                    2,
                ),
                None => (example, wanted),
            };
            let output = shell(&folder, &example);
            assert_eq!(output.status.code(), Some(wanted), "{example}\n{}", crate::folder::words(&output));
            ran += 1;
        }
        assert!(ran + left_out > 0, "jird {name} --help has no example");
    }
}

/// A line that is too long is broken, and a copy of its first half is not a command.
#[test]
fn examples_are_not_broken() {
    for name in commands() {
        for line in
            help(&name).lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty())
        {
            assert!(line.starts_with("  ") && line.contains("jird "), "jird {name} --help: {line}");
        }
    }
}

/// The names of all commands, and the empty one for `jird` itself.
fn commands() -> Vec<String> {
    let help = help("");
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names =
        list.filter_map(|line| line.strip_prefix("  ")).filter_map(|line| line.split_once("  ")).map(|line| line.0);
    let names: Vec<_> = names.filter(|name| !name.is_empty() && *name != "help").collect();
    assert!(names.contains(&"validate") && names.contains(&"completions"), "{names:?}");
    [""].into_iter().chain(names).map(str::to_owned).collect()
}

fn help(name: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jird"));
    let output = command.args(Some(name).filter(|name| !name.is_empty())).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Each example with its comment.
fn examples(help: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.strip_prefix("  ")).map(|line| match line.split_once("  ") {
        Some((command, comment)) => (command, comment.trim()),
        None => (line, ""),
    })
}

/// Whether the example needs the feature `query`.
fn needs_sql(example: &str) -> bool {
    ["jird query ", "jird bench ", " --where ", " customers=users.csv"].iter().any(|word| example.contains(word))
}

/// Runs a command in the shell. The first programs on its path are those in `bin`.
fn shell(folder: &Folder, command: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_jird")).parent().unwrap();
    let first = [folder.0.join("bin"), program.to_owned()];
    let path = env::join_paths(first.into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())));
    Command::new("sh")
        .args(["-c", command])
        .env("PATH", path.unwrap())
        .env("HOME", &folder.0)
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// A folder with every file that an example names.
fn with_files() -> Folder {
    let events = r#"{"@t":"2024-03-05T07:00:00Z","Level":"Error","Message":"a time out","Elapsed":250.5,"user":{"id":7},"id":1}
{"@t":"2024-03-05T09:00:00Z","Level":"Information","Message":"fine","Elapsed":3,"user":{"id":8},"id":2}
"#;
    let folder = Folder::new("examples");
    for name in ["bin", "logs", "src", ".zfunc", ".local/share/bash-completion/completions", ".config/fish/completions"]
    {
        fs::create_dir_all(folder.0.join(name)).unwrap();
    }
    let folder = folder
        .with("events.ndjson", events)
        .with("events.ndjson.gz", gzip(events))
        .with("logs.ndjson.gz", gzip(events))
        .with("2024-01.ndjson.gz", gzip(events))
        .with("logs/one.ndjson", events)
        .with("log", events)
        .with("log.ndjson", "{\"id\":1,\"Message\":\"a\"}\n{\"id\":\n")
        .with("new.ndjson", "{\"id\":1,\"name\":\"Ada Brandt\"}\n{\"id\":3,\"name\":\"Lin\"}\n")
        .with("names.ndjson", "{\"id\":1,\"name\":\"Ada\"}\n")
        .with("old.json", "[{\"user\":\"Ada\"}]")
        .with("data.json", r#"{"a/b":[1,2.50]}"#)
        .with("pretty.json", "{\n  \"a\": 1\n}\n")
        .with("events.schema.json", "{\"type\":\"object\"}")
        .with("settings.json5", "{theme: 'dark', /* new */}")
        .with("settings.jsonc", "{\"theme\": \"dark\", /* new */}")
        .with("user.json", r#"{"name":"Ada"}"#)
        .with(
            "twitter.json",
            r#"{"statuses":[{"text":"a","user":{"name":"Ada","screen_name":"ada","url":null,"verified":true}}]}"#,
        )
        .with("answer.json", r#"{"items":[{"id":1},{"id":2}]}"#)
        .with("users.csv", "id,name\n1,Ada\n2,Tor\n")
        .with("orders.csv", "id,customer\n10,1\n")
        .with("people.ndjson", "{\"id\":1,\"name\":\"Ada\"}\n")
        .with("Artist.ndjson", "{\"ArtistId\":1,\"Name\":\"AC/DC\"}\n")
        .with("users.ndjson", "{\"id\":1,\"name\":\"Ada\"}\n")
        .with("Album.ndjson", "{\"AlbumId\":1,\"ArtistId\":1}\n")
        .with("samples.ndjson", "{\"ts\":1709622000,\"host\":\"a\",\"value\":1.5}\n")
        .with("names.sql", "create view errors as from 'logs/*.ndjson' where Level = 'Error';\n")
        .with("cases.sql", "-- slow\nselect Message where Elapsed > 200\n")
        // They follow a file that grows, and reach another machine.
        .with("bin/tail", "#!/bin/sh\nshift\nexec cat \"$@\"\n")
        .with("bin/curl", "#!/bin/sh\nexec cat log\n");
    for program in ["tail", "curl"] {
        fs::set_permissions(folder.0.join("bin").join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (table, database) in [("Artist", "chinook.db"), ("Album", "chinook.db"), ("people", "shop.db")] {
        folder.fine(&["--quiet", &format!("{table}.ndjson"), database, "--table", table]);
    }
    folder.fine(&["--quiet", "--key", "id", "users.ndjson", "people.db"]);
    let ingested = folder.jird("ingest", &["shop-log", "events.ndjson"], b"");
    assert!(ingested.status.success(), "{}", crate::folder::words(&ingested));
    folder
}

#[test]
fn comments_stand_apart_from_commands() {
    let help = "Notes.\n\nExamples:\n  jird a b    says c\n  d | jird e\n\n  jird f\n";
    assert_eq!(examples(help).collect::<Vec<_>>(), [("jird a b", "says c"), ("d | jird e", "")]);
}
