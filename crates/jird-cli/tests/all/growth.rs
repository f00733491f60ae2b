//! What `jird` costs grows linearly with its input, whatever stands in it. valgrind counts the instructions of the whole
//! program on inputs of n, 2n and 4n bytes; `testing/growth` does the same for the libraries, way by way.
#![allow(clippy::print_stdout, reason = "what is skipped, and what it cost, is for who reads the log")]

use crate::folder::Folder;
use growth::shapes::{self, Shape};
use growth::{Bar, Measured, callgrind, judge};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The smallest of the three sizes.
const BYTES: usize = 10 << 10;

/// The program without its 80 MB of symbols, which valgrind would read before each run.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let program = Path::new(env!("CARGO_BIN_EXE_jird"));
    let lean = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jird-without-symbols");
    let stripped = Command::new("strip").arg("-s").arg("-o").arg(&lean).arg(program).status();
    if stripped.is_ok_and(|status| status.success()) { lean } else { program.to_owned() }
});

/// The first of some shapes, or all of them with `JIRD_GROWTH=all`: the worst stand first, and each takes three runs.
fn first<'n>(count: usize, names: &[&'n str]) -> Vec<&'n str> {
    let is_all = std::env::var_os("JIRD_GROWTH").is_some_and(|value| value == "all");
    names.iter().copied().take(if is_all { names.len() } else { count }).collect()
}

/// Runs `jird` with these arguments on the shape of this name, in a file `in.SUFFIX`, and says how it ended if it costs too much.
fn assert_linear(args: &[&str], shapes: &[Shape], names: &[&str]) {
    if !callgrind::is_there() {
        println!("skipped: the growth of {} (no valgrind)", args[0]);
        return;
    }
    let mut wrong = Vec::new();
    for name in names {
        let shape = shapes.iter().find(|shape| shape.name == *name).expect("there is such a shape");
        let measured = measured(args, *shape);
        println!("{} · {name}: {measured}", args.join(" "));
        if let Some(fault) = judge(&measured, &Bar::LINEAR.of_a_program()) {
            wrong.push(format!("jird {} · {name}: {fault}: {measured}", args.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn measured(args: &[&str], shape: Shape) -> Measured {
    let folder = Folder::new("growth");
    let mut measured = Measured::default();
    let input = args.iter().find(|arg| arg.starts_with("in.")).expect("an input is named");
    for (index, times) in [1, 2, 4].into_iter().enumerate() {
        let _none_yet = fs::remove_file(folder.0.join("bad.ndjson"));
        let text = (shape.make)(BYTES / shape.smaller * times);
        fs::write(folder.0.join(input), &text).expect("it can be written");
        let mut command = Command::new(&*PROGRAM);
        // valgrind does not know all that the other kernels use.
        command.args(args).current_dir(&folder.0).env("JIRD_KERNEL", "portable");
        let (code, count) = callgrind::count_of(&command).expect("valgrind runs");
        assert!(matches!(code, Some(0 | 1)), "jird {} · {}: exit code {code:?}", args.join(" "), shape.name);
        measured.bytes[index] = text.len() as u64;
        measured.cost[index] = count;
    }
    measured
}

#[test]
fn documents_are_validated_formatted_and_looked_into_in_linear_time() {
    let shapes = shapes::documents::ALL;
    assert_linear(
        &["validate", "in.json"],
        shapes,
        &first(1, &["nothing but [", "a string of escapes", "a comma at the end"]),
    );
    assert_linear(&["validate", "--unique-keys", "in.json"], shapes, &["small objects, then a large one"]);
    assert_linear(&["fmt", "--canonical", "in.json"], shapes, &first(0, &["small objects, then a large one"]));
    assert_linear(&["get", "/100000/a", "in.json"], shapes, &first(0, &["many empty objects"]));
}

#[test]
fn lines_are_validated_in_linear_time() {
    let bad = first(1, &["lines that open a string", "one line without end", "lines of x", "lines that are not UTF-8"]);
    assert_linear(&["validate", "--lines", "in.ndjson"], shapes::lines::ALL, &bad);
}

#[test]
#[cfg(feature = "convert")]
fn bad_records_are_left_out_and_set_aside_in_linear_time() {
    let bad = ["lines that open a string", "a bad line after each good one", "lines of x", "good lines"];
    let lines = shapes::lines::ALL;
    assert_linear(&["convert", "--on-error", "skip", "in.ndjson", "out.csv"], lines, &first(1, &bad));
    assert_linear(
        &["convert", "--on-error", "quarantine=bad.ndjson", "in.ndjson", "out.ndjson"],
        lines,
        &first(0, &bad[..2]),
    );
    let tables = ["a quote in each row that is never closed", "a quote that is never closed", "rows that are too long"];
    assert_linear(&["convert", "--on-error", "skip", "in.csv", "out.ndjson"], shapes::csv::ALL, &first(1, &tables));
}

#[test]
#[cfg(feature = "convert")]
fn columns_are_found_in_linear_time() {
    let lines = ["a new key in each line", "lines of x", "good lines"];
    assert_linear(&["describe", "--on-error", "skip", "in.ndjson"], shapes::lines::ALL, &first(1, &lines[1..]));
    assert_linear(&["convert", "in.ndjson", "out.ndjson"], shapes::lines::ALL, &first(0, &lines[..1]));
}

#[test]
#[cfg(feature = "query")]
fn bad_records_cost_a_query_linear_time() {
    let bad = ["lines that open a string", "lines of x", "good lines"];
    let query = ["query", "--on-error", "skip", "select id where name like '%a%needle%'", "in.ndjson"];
    // valgrind takes half a minute for each query, whatever its input: `cargo xtask deep growth` runs them.
    assert_linear(&query, shapes::lines::ALL, &first(0, &bad));
    assert_linear(&["query", "select count(*)", "in.ndjson"], shapes::lines::ALL, &first(0, &["one long line"]));
}
