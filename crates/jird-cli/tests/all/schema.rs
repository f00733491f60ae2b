//! `jird describe --schema` and `jird validate --schema` from outside.

use crate::folder::{Folder, words};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Small numbers, always the same ones for a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// Some JSON, nested up to `levels` levels.
    fn value(&mut self, levels: u64) -> String {
        const SCALARS: [&str; 10] =
            ["null", "true", "0", "-0", "18446744073709551617", "1e400", "0.1", "1.0", "\"x\\u0000\"", "\"é\""];
        match self.roll(if levels == 0 { 3 } else { 7 }) {
            0..3 => SCALARS[self.roll(10) as usize].to_owned(),
            3 | 4 => {
                let all: Vec<_> = (0..self.roll(4)).map(|_| self.value(levels - 1)).collect();
                format!("[{}]", all.join(","))
            }
            _ => self.object(levels - 1),
        }
    }

    fn object(&mut self, levels: u64) -> String {
        const KEYS: [&str; 6] = ["a", "b", "a/b~c", "", "[]\\u0000", "k\\\"\\n"];
        let member = |dice: &mut Self| format!("\"{}\":{}", KEYS[dice.roll(6) as usize], dice.value(levels));
        let all: Vec<_> = (0..self.roll(5)).map(|_| member(self)).collect();
        format!("{{{}}}", all.join(","))
    }
}

#[test]
fn every_record_satisfies_the_schema_that_describes_it() {
    let folder = Folder::new("schema-property");
    for seed in 0..8 {
        let mut dice = Dice(seed);
        let lines = (0..200).fold(String::new(), |mut all, _| {
            let record = if seed % 2 == 0 { dice.object(4) } else { dice.value(4) };
            all.extend([&record, "\n"]);
            all
        });
        std::fs::write(folder.0.join("a.ndjson"), lines).unwrap();
        let described = folder.jird("describe", &["--schema", "a.ndjson"], b"");
        assert_eq!(described.status.code(), Some(0), "{}", words(&described));
        std::fs::write(folder.0.join("s.json"), described.stdout).unwrap();
        let checked = folder.jird("validate", &["--schema", "s.json", "a.ndjson"], b"");
        assert_eq!(checked.status.code(), Some(0), "seed {seed}: {}", String::from_utf8_lossy(&checked.stdout));
    }
}

#[track_caller]
fn check(schema: &str, arguments: &[&str], stdin: &str, printed: &str) {
    let folder = Folder::new("schema-check").with("s.json", schema);
    let output = folder.jird("validate", &[&["--schema", "s.json"], arguments].concat(), stdin.as_bytes());
    assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{}", words(&output));
    assert_eq!(output.status.code(), Some(i32::from(!printed.is_empty())));
}

#[test]
fn a_wrong_record_is_told_with_place_and_reason() {
    let schema = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}},"required":["a"]}"##;
    let lines = "{\"a\":1}\n\n {\"a\":\"x\"}\n{\"a\":\n{}\n{\"a\":1,\"a\":\"x\"}\n";
    let printed = "\
<stdin>:3:7: \"x\" is not of type \"integer\" (byte 15, at /a, schema /$defs/n/type)
<stdin>:4:6: an array or object is not closed (byte 25, at /a)
<stdin>:5:1: \"a\" is a required property (byte 26, schema /required)
";
    for chunk in ["1", "7", "1000000"] {
        check(schema, &["--lines", "--chunk-bytes", chunk], lines, printed);
    }
    check(
        schema,
        &[],
        "{\n  \"a\": []\n}",
        "<stdin>:2:8: [] is not of type \"integer\" (byte 9, at /a, schema /$defs/n/type)\n",
    );
    check(schema, &[], "{\"a\":1e400}", "");
}

#[test]
fn numbers_are_compared_exactly_where_the_guide_says_so() {
    let wrong = |reason: &str| format!("<stdin>:1:1: {reason}\n");
    let uniq = r#"{"uniqueItems":true}"#;
    check(uniq, &[], "[18446744073709551617,18446744073709551616]", "");
    check(uniq, &[], "[1.0,10e-1]", &wrong("[1.0,10e-1] has non-unique elements (byte 0, schema /uniqueItems)"));
    check(r#"{"const":0.1}"#, &[], "1e-1", "");
    check(r#"{"const":0.1}"#, &[], "0.10000000000000001", "");
    check(r#"{"type":"integer"}"#, &[], "1e400", "");
    let not_integer = "1.00000000000000000000001 is not of type \"integer\" (byte 0, schema /type)";
    check(r#"{"type":"integer"}"#, &[], "1.00000000000000000000001", &wrong(not_integer));
    check(
        r#"{"maximum":1e308}"#,
        &[],
        "1e400",
        &wrong("1e400 is greater than the maximum of 1e+308 (byte 0, schema /maximum)"),
    );
}

#[test]
fn a_hostile_schema_ends_with_an_error_in_bounded_time() {
    let twice = (0..60).fold(String::new(), |mut all, at| {
        let _ = write!(all, r##""c{at}":{{"allOf":[{{"$ref":"#/$defs/c{0}"}},{{"$ref":"#/$defs/c{0}"}}]}},"##, at + 1);
        all
    });
    let chain = (0..30_000).fold(String::new(), |mut all, at| {
        let _ = write!(all, r##""c{at}":{{"$ref":"#/$defs/c{}"}},"##, at + 1);
        all
    });
    let deep = format!("{}{{}}{}", "{\"not\":".repeat(500), "}".repeat(500));
    let doubled = format!(r##"{{"$ref":"#/$defs/c0","$defs":{{{twice}"c60":{{}}}}}}"##);
    let chained = format!(r##"{{"$ref":"#/$defs/c0","$defs":{{{chain}"c30000":{{}}}}}}"##);
    let both = r##"{"anyOf":[{"type":"array","items":{"$ref":"#"}},{"items":{"$ref":"#"},"type":"array"}]}"##;
    let (record, small) = (format!("{}1{}", "[".repeat(900), "]".repeat(900)), "1".to_owned());
    let cases: [(&str, &str, &str, i32); 13] = [
        (&deep, &small, "nested too deeply", 2),
        (&doubled, &small, "checks one value more than 100000 times", 2),
        (&chained, &small, "a chain of more than 5000 references", 2),
        (r##"{"$ref":"#"}"##, &small, "without end", 2),
        (both, &record, "", 1),
        (r#"{"pattern":"^(a|aa)+\\1$"}"#, "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"", "backtracking", 1),
        (r#"{"pattern":"("}"#, &small, "is not a \"regex\" (at /pattern)", 2),
        (r#"{"maximum":1e400}"#, &small, "out of the allowed range", 2),
        (r#"{"maximum":18446744073709551616}"#, &small, "out of the allowed range", 2),
        (r#"{"$ref":"https://example.com/s.json"}"#, &small, "nothing is fetched", 2),
        (r#"{"$ref":"file:///etc/passwd"}"#, &small, "nothing is fetched", 2),
        (r#"{"type":"text"}"#, &small, "not a usable schema", 2),
        ("[1]", &small, "not a usable schema", 2),
    ];
    let folder = Folder::new("schema-hostile");
    for (schema, record, said, code) in cases {
        let start = Instant::now();
        std::fs::write(folder.0.join("s.json"), schema).unwrap();
        let output = folder.jird("validate", &["--schema", "s.json"], record.as_bytes());
        let all = words(&output) + &String::from_utf8_lossy(&output.stdout);
        let brief: String = schema.chars().take(80).collect();
        assert_eq!(output.status.code(), Some(code), "{brief}: {all}");
        assert!(all.contains(said), "{brief}: {all}");
        assert!(start.elapsed() < Duration::from_mins(1), "{brief} took {:?}", start.elapsed());
    }
}
