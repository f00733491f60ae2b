//! The commands of README.md and of the guide, run as a reader would run them, and what they print.
//!
//! A block of the language `console` is a session. A line that begins with `$ ` is a command, which goes on in the next
//! line where a quote is open, or after a `\`. The lines up to the next command are what it prints on standard output and on standard
//! error. In them, `…` is any text, and a line of `…` alone is any lines. A command that fails is followed by
//! `$ echo $?`.
//!
//! The sessions of a page share a folder, in which `examples/` has the example files. A server of the test has them at
//! `http://example.org/`, and in the bucket `shop-logs` of S3.
//!
//!     JIRD_GUIDE=write cargo test -p jird-cli --test all guide
//!
//! puts what the commands print in place of what was wrong. Look at the difference before you commit it.
#![cfg(all(feature = "convert", feature = "query"))]

use crate::folder::{Folder, same_lines};
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn every_command_prints_what_the_page_says() {
    let write = env::var("JIRD_GUIDE").is_ok_and(|value| value == "write");
    let mut wrong = String::new();
    for path in pages() {
        let text = read(&path);
        let (rewritten, differences) = run(&text);
        if write && rewritten != text {
            fs::write(root().join(&path), rewritten).unwrap();
        }
        for (line, difference) in differences {
            writeln!(wrong, "{}:{line}: {difference}", path.display()).unwrap();
        }
    }
    assert!(write || wrong.is_empty(), "\n{wrong}JIRD_GUIDE=write puts what was found into the pages");
}

/// Tables of commands have no room for output.
#[test]
fn every_command_in_a_table_succeeds() {
    for path in pages() {
        let text = read(&path);
        let folder = with_examples();
        let rows = lines(&text).filter(|(_, line, language)| language.is_none() && line.starts_with('|'));
        for (number, line, _) in rows {
            // Between backticks, in a table, a bar is escaped.
            for command in line.split('`').skip(1).step_by(2).filter(|code| code.starts_with("jird ")) {
                let (printed, code) = session(&folder, 0, &format!("cd examples\n{}", command.replace("\\|", "|")));
                assert_eq!(code, 0, "{}:{number}: {command}\n{printed}", path.display());
            }
        }
    }
}

/// A command elsewhere would not be tested.
#[test]
fn commands_stand_in_sessions() {
    for path in pages() {
        let text = read(&path);
        for (number, line, language) in lines(&text) {
            let command = line.trim_start().starts_with("jird ") && (language.is_some() || line.starts_with("    "));
            assert!(!command || matches!(language, Some("console" | "toml")), "{}:{number}: {line}", path.display());
        }
    }
}

#[test]
fn links_lead_to_files_and_the_book_has_all_of_its_pages() {
    let summary = read(Path::new("docs/SUMMARY.md"));
    for path in pages() {
        let text = read(&path);
        let in_book = path.strip_prefix("docs").is_ok();
        for link in lines(&text).filter(|(_, _, language)| language.is_none()).flat_map(|(_, line, _)| links(line)) {
            let Some(target) = target(&path, link) else { continue };
            assert!(root().join(&target).exists(), "{}: {link} leads nowhere", path.display());
            assert!(!in_book || is_in_book(&summary, &target), "{}: {link} leads out of the book", path.display());
        }
        assert!(!in_book || is_in_book(&summary, &path), "docs/SUMMARY.md lacks {}", path.display());
    }
}

/// The file that a link of a page leads to; `None` if it leads to another place.
fn target(page: &Path, link: &str) -> Option<PathBuf> {
    let file = link.split('#').next().filter(|file| !file.is_empty() && !file.contains("://"))?;
    let mut target = page.parent()?.to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => _ = target.pop(),
            part => target.push(part),
        }
    }
    Some(target)
}

/// The book has all files in `docs`, but only those pages that its summary names.
fn is_in_book(summary: &str, file: &Path) -> bool {
    let is_page = file.extension().is_some_and(|end| end == "md");
    file.strip_prefix("docs").is_ok_and(|name| !is_page || summary.contains(&format!("({})", name.display())))
}

/// README.md, the guide and its reference pages, in the folder of the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec!["README.md".into()];
    for folder in ["docs", "docs/guide"] {
        let names = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        pages.extend(names.map(|name| Path::new(folder).join(name)));
    }
    pages.retain(|path: &PathBuf| path.extension().is_some_and(|end| end == "md") && !path.ends_with("SUMMARY.md"));
    pages.sort();
    pages
}

fn read(path: &Path) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each line with its number and the language of the fenced block that it stands in. Fences belong to no block.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str, Option<&str>)> {
    let mut language = None;
    text.lines().zip(1..).map(move |(line, number)| match line.strip_prefix("```") {
        Some(name) => {
            language = if language.is_none() { Some(name) } else { None };
            (number, line, None)
        }
        None => (number, line, language),
    })
}

/// What stands in the round brackets after square ones.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The page with the output of its commands, and the differences, each with the number of a line.
fn run(page: &str) -> (String, Vec<(usize, String)>) {
    let folder = with_examples();
    let mut rewritten = String::new();
    let mut differences = Vec::new();
    let mut code = 0;
    let mut rest = lines(page).peekable();
    while let Some((number, line, language)) = rest.next() {
        rewritten.extend([line, "\n"]);
        let Some(mut command) = line.strip_prefix("$ ").filter(|_| language == Some("console")).map(str::to_owned)
        else {
            continue;
        };
        while goes_on(&command) {
            let (_, line, _) = rest.next().expect("a command that goes on");
            rewritten.extend([line, "\n"]);
            command.extend(["\n", line]);
        }
        let mut wanted = Vec::new();
        while let Some((_, line, _)) = rest.next_if(|(_, line, language)| language.is_some() && !line.starts_with("$ "))
        {
            wanted.push(line);
        }
        let found = session(&folder, code, &command);
        code = found.1;
        let found: Vec<&str> = found.0.lines().map(str::trim_end).collect();
        let said = if same_lines(&wanted, &found) { &wanted } else { &found };
        rewritten.extend(said.iter().flat_map(|line| [*line, "\n"]));
        if !same_lines(&wanted, &found) {
            let [wanted, found] = [&wanted, &found].map(|lines| lines.join("\n"));
            differences.push((number, format!("{command}\n--- the page\n{wanted}\n--- the command\n{found}\n")));
        }
        let shown = rest.peek().is_some_and(|(_, line, _)| *line == "$ echo $?");
        if code != 0 && !shown {
            differences.push((number, format!("{command}\nfails with {code}, which `$ echo $?` must show\n")));
        }
    }
    (rewritten, differences)
}

/// Whether a quote is open at the end of a command, or a `\` stands there.
fn goes_on(command: &str) -> bool {
    let mut open = None;
    let mut escaped = false;
    for symbol in command.chars() {
        match symbol {
            _ if escaped => escaped = false,
            '\\' if open != Some('\'') => escaped = true,
            '"' | '\'' if open.is_none() => open = Some(symbol),
            _ if open == Some(symbol) => open = None,
            _ => {}
        }
    }
    escaped || open.is_some()
}

/// A folder with the example files.
fn with_examples() -> Folder {
    let folder = Folder::new("guide");
    fs::create_dir(folder.0.join("examples")).unwrap();
    for entry in fs::read_dir(root().join("examples")).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), folder.0.join("examples").join(entry.file_name())).unwrap();
        }
    }
    folder
}

/// Runs a command in the shell, with `$?` as the command before left it. What it prints and its exit code.
fn session(folder: &Folder, code: i32, command: &str) -> (String, i32) {
    let program = Path::new(env!("CARGO_BIN_EXE_jird")).parent().unwrap();
    let path = env::join_paths([program.to_owned()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())));
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n(exit {code})\n{command}")])
        .env("PATH", path.unwrap())
        .envs(elsewhere())
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code().expect("no signal"))
}

/// The variables by which commands find a server, through which they reach every host.
#[cfg(feature = "remote")]
fn elsewhere() -> [(&'static str, &'static str); 7] {
    use std::sync::LazyLock;
    static SERVER: LazyLock<(Folder, crate::server::Server, String)> = LazyLock::new(|| {
        let folder = with_examples();
        let examples = folder.0.join("examples");
        for (day, name) in [("05", "events.ndjson"), ("06", "events.ndjson"), ("06", "customers.json")] {
            let logs = folder.0.join("shop-logs/2024/03").join(day);
            fs::create_dir_all(&logs).unwrap();
            fs::copy(examples.join(name), logs.join(name)).unwrap();
        }
        fs::rename(examples.join("events.ndjson"), folder.0.join("events.ndjson")).unwrap();
        let server = crate::server::Server::new(&folder.0, crate::server::Trick::None);
        let proxy = server.url("");
        (folder, server, proxy)
    });
    [
        ("http_proxy", &SERVER.2),
        ("AWS_ENDPOINT", "http://s3.example.org"),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "eu-central-1"),
        ("no_proxy", "127.0.0.1"),
    ]
}

#[cfg(not(feature = "remote"))]
fn elsewhere() -> [(&'static str, &'static str); 0] {
    []
}

#[test]
fn an_ellipsis_is_any_text_or_any_lines() {
    for (wanted, found, same) in [
        ("a b", "a b", true),
        ("a …", "a b", true),
        ("… b …", "a b c", true),
        ("… x …", "a b c", false),
        ("a\n…", "a", true),
        ("a\n…\nd", "a\nb\nc\nd", true),
        ("a\n…\nd", "a\nb\nc", false),
        ("a", "a\nb", false),
    ] {
        let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
        assert_eq!(same_lines(&lines(wanted), &lines(found)), same, "{wanted:?} and {found:?}");
    }
}
