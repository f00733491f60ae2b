//! The manual pages, which `jird man` writes.

use crate::folder::Folder;
use std::process::{Command, Output, Stdio};

#[test]
fn every_command_has_a_page_with_its_examples() {
    let folder = pages();
    let help = text(&Command::new(env!("CARGO_BIN_EXE_jird")).arg("--help").output().unwrap());
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands = list.filter_map(|line| line.strip_prefix("  ")?.split_once("  ")).map(|(name, _)| name);
    let commands = commands.filter(|name| !name.is_empty() && *name != "help").map(|name| format!("jird-{name}.1"));
    let mut wanted: Vec<_> = commands.chain(["jird.1".to_owned()]).collect();
    wanted.sort();
    assert_eq!(folder.names(), wanted);
    for name in wanted {
        let page = folder.text(&name);
        for heading in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"] {
            assert!(page.contains(&format!("\n.SH {heading}\n")), "{name} lacks {heading}");
        }
        assert!(!page.contains("kernel "), "{name} names this machine's instruction sets");
    }
}

/// Character for character: a reader copies them. groff must have no warning about any page.
#[test]
fn pages_show_the_examples_as_they_stand_in_the_help() {
    let folder = pages();
    for name in folder.names() {
        let Some(page) = shown(&folder, &name) else { return };
        let command = name.strip_suffix(".1").and_then(|name| name.strip_prefix("jird-"));
        let output = Command::new(env!("CARGO_BIN_EXE_jird")).args(command).arg("--help").output().unwrap();
        let help = text(&output);
        let examples = help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty());
        let missing: Vec<_> = examples.filter(|example| !page.contains(example.trim())).collect();
        assert!(missing.is_empty(), "{name} lacks {missing:#?}\n{page}");
    }
}

fn pages() -> Folder {
    let folder = Folder::new("man");
    let output = Command::new(env!("CARGO_BIN_EXE_jird")).arg("man").arg(&folder.0).output().unwrap();
    assert!(output.status.success(), "{}", crate::folder::words(&output));
    folder
}

/// The page as a terminal shows it. `None` if there is no groff; the test fails if there are warnings.
#[expect(clippy::print_stdout, reason = "the runner of the tests counts such lines")]
fn shown(folder: &Folder, name: &str) -> Option<String> {
    let mut groff = Command::new("groff");
    // -k: the page is UTF-8; -P-c: no escape sequences for bold.
    groff.args(["-k", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=200n", name]).current_dir(&folder.0);
    let Ok(output) = groff.stdin(Stdio::null()).output() else {
        println!("skipped: groff, which shows manual pages");
        return None;
    };
    assert!(output.status.success() && output.stderr.is_empty(), "{name}: {}", crate::folder::words(&output));
    Some(text(&output))
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}
