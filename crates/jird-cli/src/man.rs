//! `jird man FOLDER`: a manual page for each command, from the definitions that also make the help. `cargo xtask man`
//! calls it.
//!
//! `clap_mangen` writes the sections up to the commands. The text after the options is ours to divide: lines below
//! `Examples:` become a section, and so do the exit codes and the environment. Everything else becomes notes.

use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::roff::{Roff, roman};
use clap_mangen::{Man, roff};
use std::fs;
use std::io;
use std::path::Path;

const SECTION: &str = "1";
const SOURCE: &str = concat!("jird ", env!("CARGO_PKG_VERSION"));
const MANUAL: &str = "User Commands";
/// Examples and other text that keeps its lines are indented by this many columns.
const INDENT: &str = "4";

/// Characters that groff turns into similar ones, and the escapes that keep them: a reader copies examples.
const LITERAL: [(char, &str); 3] = [('~', "\\(ti"), ('^', "\\(ha"), ('`', "\\(ga")];

/// Writes the pages of `command` and of its subcommands into the folder, which is created if necessary.
pub(crate) fn write(command: Command, folder: &Path) -> Result<()> {
    let mut command =
        command.disable_help_subcommand(true).subcommand_help_heading("COMMANDS").subcommand_value_name("COMMAND");
    command.build();
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for page in [&command].into_iter().chain(command.get_subcommands()) {
        let path = folder.join(format!("{}.{SECTION}", name(page)));
        fs::write(&path, text(page)?).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// `jird` or `jird-validate`
fn name(page: &Command) -> &str {
    page.get_display_name().unwrap_or_else(|| page.get_name())
}

fn text(page: &Command) -> io::Result<String> {
    let man = Man::new(page.clone());
    // Without a date, `Man` would put each of the next two in the place before its own.
    let title = name(page).to_uppercase();
    let mut out = format!(".TH {title} {SECTION} \"\" \"{SOURCE}\" \"{MANUAL}\"\n").into_bytes();
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if page.has_subcommands() {
        man.render_subcommands_section(&mut out)?;
    }
    let mut more = Roff::new();
    let help = page.get_after_help().map(ToString::to_string).unwrap_or_default();
    for (heading, lines) in sections(&help) {
        more.control("SH", [heading]);
        add(&mut more, &lines);
    }
    if !page.has_subcommands() {
        more.control("SH", ["SEE ALSO"]).text([roff::bold("jird"), roman("(1)")]);
    }
    more.to_writer(&mut out)?;
    Ok(literal(&String::from_utf8_lossy(&out)))
}

/// The sections of the text after the options, in the order of the pages of other programs.
fn sections(help: &str) -> Vec<(&'static str, Vec<&str>)> {
    const BEGINNINGS: [(&str, &str); 4] =
        [("", "NOTES"), ("Exit codes: ", "EXIT STATUS"), ("Environment: ", "ENVIRONMENT"), ("Examples:", "EXAMPLES")];
    let mut sections = BEGINNINGS.map(|(_, heading)| (heading, Vec::new()));
    for paragraph in help.split("\n\n") {
        let mut at = 0;
        for line in paragraph.lines() {
            if let Some(begun) = (1..BEGINNINGS.len()).find(|begun| line.starts_with(BEGINNINGS[*begun].0)) {
                at = begun;
            }
            let line = line.strip_prefix(BEGINNINGS[at].0).unwrap_or(line);
            sections[at].1.extend(Some(line).filter(|line| !line.is_empty()));
        }
        // Paragraphs are separated by an empty line.
        sections[at].1.push("");
    }
    sections.into_iter().filter(|(_, lines)| lines.iter().any(|line| !line.is_empty())).collect()
}

/// Adds lines. Those that are indented keep their breaks, and others are filled.
fn add(out: &mut Roff, lines: &[&str]) {
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let mut kept = false;
    for line in &lines[..end] {
        let keeps = line.starts_with("  ");
        if keeps && !kept {
            out.control("RS", [INDENT]).control("nf", []);
        } else if kept && !keeps {
            out.control("fi", []).control("RE", []);
        }
        kept = keeps;
        match line.trim_start() {
            "" => out.control("PP", []),
            line => out.text([roman(line)]),
        };
    }
    if kept {
        out.control("fi", []).control("RE", []);
    }
}

/// Each section comes with a definition of the apostrophe: one of them is enough. In text, characters stay as they are.
fn literal(page: &str) -> String {
    let (mut text, mut seen) = (String::new(), Vec::new());
    for line in page.lines() {
        let defines = line.starts_with(".ie") || line.starts_with(".el");
        if defines && seen.contains(&line) {
            continue;
        }
        seen.extend(defines.then_some(line));
        let is_text = !line.starts_with('.');
        for symbol in line.chars() {
            match LITERAL.iter().find(|(literal, _)| is_text && *literal == symbol) {
                Some((_, escape)) => text.push_str(escape),
                None => text.push(symbol),
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_after_the_options_is_divided_by_its_beginnings() {
        let help = "A note.\n  kept\n\nExamples:\n  jird a\n\nMore.\nExit codes: 0 fine.\nOr not.";
        let found = sections(help);
        assert_eq!(
            found,
            [
                ("NOTES", vec!["A note.", "  kept", "", "More."]),
                ("EXIT STATUS", vec!["0 fine.", "Or not.", ""]),
                ("EXAMPLES", vec!["  jird a", ""]),
            ]
        );
    }

    #[test]
    fn characters_that_groff_would_replace_are_escaped_in_text() {
        assert_eq!(literal(".SH ^\njird get /a~1b"), ".SH ^\njird get /a\\(ti1b\n");
    }
}
