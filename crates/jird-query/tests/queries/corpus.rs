//! Random queries over logs that others have written.

use crate::common::corpus;
use crate::dice::Random;
use crate::model::{Folder, Form, Json, Step, Value, Way, records, ways};
use crate::random::{Maker, Tables, Words};
use Step::{Index, Key};
use std::fs;

/// A file, fields of it, and one that no two records share.
type Log = (&'static str, &'static [&'static [Step]], Option<&'static [Step]>);

const LOGS: [Log; 5] = [
    (
        "gharchive_2015-01-01.ndjson",
        &[
            &[Key("id")],
            &[Key("type")],
            &[Key("actor"), Key("id")],
            &[Key("actor"), Key("login")],
            &[Key("repo"), Key("name")],
            &[Key("repo"), Key("url")],
            &[Key("public")],
            &[Key("created_at")],
            &[Key("payload"), Key("ref")],
            &[Key("payload"), Key("size")],
            &[Key("payload"), Key("commits"), Index(0), Key("message")],
            &[Key("payload"), Key("pull_request"), Key("id")],
        ],
        Some(&[Key("id")]),
    ),
    (
        "hdfs_otel.ndjson",
        &[
            &[Key("timestamp")],
            &[Key("severity_text")],
            &[Key("body")],
            &[Key("resource"), Key("$facet:service")],
            &[Key("attributes"), Key("class")],
        ],
        None,
    ),
    (
        "zeek_rdp.ndjson",
        &[
            &[Key("uid")],
            &[Key("id.orig_h")],
            &[Key("id.orig_p")],
            &[Key("result")],
            &[Key("security_protocol")],
            &[Key("cert_count")],
            &[Key("cert_permanent")],
            &[Key("cookie")],
            &[Key("client_channels")],
        ],
        None,
    ),
    (
        "windows_events_psh_python_webserver.ndjson",
        &[
            &[Key("Message")],
            &[Key("EventID")],
            &[Key("Hostname")],
            &[Key("Task")],
            &[Key("@timestamp")],
            &[Key("ProcessName")],
            &[Key("RuleName")],
            &[Key("SourceAddress")],
        ],
        None,
    ),
    (
        "amazon_cellphones.ndjson",
        &[&[Key("value"), Index(0)], &[Key("value"), Index(1)], &[Key("value"), Index(5)], &[Key("value")]],
        None,
    ),
];

#[test]
fn random_queries_of_real_logs_answer_as_the_model_does() {
    const QUERIES: u64 = 25;
    let Some(corpus) = corpus() else { return };
    let mut folder = Folder::new("corpus");
    // Not in pieces of one byte, and in no other form: these files are large.
    let is_quick = |way: &Way| way.chunk_bytes != Some(1) && way.form == Form::Lines;
    let ways: Vec<_> = ways().into_iter().filter(is_quick).collect();
    for (name, paths, unique) in LOGS {
        let file = corpus.join("ndjson").join(name);
        let input = [records(&fs::read_to_string(&file).expect("the file can be read"))];
        folder.look_at(&file);
        let mut random = Random::new(input[0].len() as u64);
        let words = words(&mut random, &input[0], paths, unique);
        for seed in 0..QUERIES {
            let query = Maker { words: &words, random: &mut random }.query();
            let way = random.pick(&ways);
            folder.check(&query, &input, &[way], seed);
        }
    }
}

/// What stands in the records, and parts of it.
fn words(random: &mut Random, input: &[Value], paths: &[&'static [Step]], unique: Option<&'static [Step]>) -> Words {
    let mut words = Words {
        paths: paths.to_vec(),
        ends: Vec::new(),
        unique: unique.into_iter().collect(),
        texts: vec![String::new()],
        numbers: vec!["0".to_owned()],
        tables: Tables::One,
    };
    for _ in 0..60 {
        let record = &input[random.below(input.len())];
        let value = record.field(random.pick(paths));
        match value.map(|value| &value.json) {
            Some(Json::Number(_)) => words.numbers.extend(value.map(|value| value.raw.clone())),
            Some(Json::Text(text)) => {
                let chars: Vec<_> = text.chars().collect();
                let from = random.below(chars.len());
                words.texts.push(chars[from..].iter().take(3 + random.below(9)).collect());
                words.texts.push(text.clone());
            }
            _ => {}
        }
    }
    words
}
