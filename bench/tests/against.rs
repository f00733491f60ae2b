//! The barometer as a program, compared with another build of itself: `--against`.
//!
//! `small` is the task, since its documents are generated.

use std::path::Path;
use std::process::{Command, Output};

const BENCH: &str = env!("CARGO_BIN_EXE_bench");

fn bench(words: &[&str]) -> Output {
    Command::new(BENCH).args(words).output().expect("the program is built before its tests")
}

fn small(against: &str, more: &[&str]) -> Output {
    let brief = ["--task", "small", "--rounds", "3", "--milliseconds", "1", "--against", against];
    bench(&[&brief[..], more].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn impostor(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/impostors").join(name).display().to_string()
}

#[test]
fn a_build_beside_itself_has_rows_of_its_own_and_ratios() {
    let file = std::env::temp_dir().join(format!("jird-bench-against-{}.json", std::process::id()));
    let output = small(BENCH, &["--peer", "jird", "--within", "99%", "--out", &file.display().to_string()]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    for words in ["\njird ", "\njird-before ", "\njird-before-again ", "how many times as fast jird is as /", "holds "]
    {
        assert!(out.contains(words), "no {words:?} in {out}{err}");
    }
    let report = std::fs::read_to_string(&file).expect("--out writes it");
    let _ = std::fs::remove_file(&file);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let against = &report["against"];
    assert_eq!(against["program"], "bench");
    let comparison = &against["comparisons"][0];
    assert_eq!((&comparison["peer"], &comparison["input"]), (&"jird".into(), &"events".into()));
    for ratios in [&comparison["ratios"], &comparison["noise"]] {
        assert_eq!(ratios["rounds"].as_array().map(Vec::len), Some(3), "{comparison}");
    }
    let peers: Vec<_> = report["rows"].as_array().into_iter().flatten().map(|row| &row["peer"]).collect();
    assert_eq!(peers, ["jird", "jird-before", "jird-before-again"]);
}

#[test]
fn a_program_that_is_no_jird_ends_the_run_before_it_begins() {
    let folder = impostor("");
    let cases = [
        (impostor("not-there"), "No such file"),
        (folder, "a folder"),
        (impostor("garbage"), "neither a jird program nor a barometer"),
        (impostor("quitter"), "died (exit status: 3)"),
        (impostor("newer"), "version 7 of the protocol"),
        (impostor("program"), "the task small wants a `bench` executable"),
    ];
    for (program, words) in cases {
        let output = small(&program, &[]);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{program}: {err}");
        assert!(err.contains(words) && output.stdout.is_empty(), "{program}: {err}");
    }
}
