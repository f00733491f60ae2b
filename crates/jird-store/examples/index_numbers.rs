//! Figures of the index over a file of events: `index_numbers FILE [BLOCK_KB]`.
#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::format_push_string,
    reason = "a program that prints figures"
)]

use jird::Path;
use jird::record::{Comparison, Like, Literal, Predicate};
use jird_store::index::{Answer, Condition, IndexBuilder, SpanIndex};
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("a file of events");
    let block_bytes = arguments.next().map_or(256, |kb| kb.parse().expect("a number of KB")) << 10;
    let mut text = std::fs::read(file).expect("the file can be read");
    if let Some(mb) = arguments.next() {
        text.truncate(mb.parse::<usize>().expect("a number of MB") << 20);
        text.truncate(memchr(&text));
    }
    let mut blocks = vec![0];
    while let Some(&start) = blocks.last().filter(|start| **start < text.len()) {
        let end = (start + block_bytes).min(text.len());
        blocks.push(start + memchr(&text[start..end]));
    }
    let started = Instant::now();
    let mut builder = IndexBuilder::new();
    for block in blocks.windows(2) {
        builder.begin_block();
        let mut rest = &text[block[0]..block[1]];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            builder.add(&rest[..end]);
            rest = &rest[end + 1..];
        }
        builder.end_block();
    }
    let walked = started.elapsed().as_secs_f64();
    let blob = builder.finish();
    let all = started.elapsed().as_secs_f64();
    let mb = text.len() as f64 / 1e6;
    println!(
        "{mb:.0} MB, {} blocks: {walked:.3} s to walk, {all:.3} s in all, {:.2} ns/byte",
        blocks.len() - 1,
        all * 1e3 / mb
    );
    let index = SpanIndex::of_bytes(&blob, blocks.len() - 1).expect("it was just made");
    let [pairs, words] = index.filter_bytes().map(|bytes| bytes as f64 / text.len() as f64 * 100.0);
    println!(
        "index {:.2} %: pairs {pairs:.2} %, words {words:.2} %; {} paths",
        blob.len() as f64 / mb / 1e4,
        index.paths().len()
    );

    let id = text.windows(14).position(|part| part == b"\"RequestId\":\"0").expect("there is one") + 13;
    let id = std::str::from_utf8(&text[id..id + 16]).expect("ASCII");
    let properties = |key: &str| Path::root().key("Properties").key(key);
    let eq = |wanted: &str| Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Text(wanted.into()) };
    let number = |op, wanted: &str| Predicate::Compare { slot: 0, op, literal: Literal::Number(wanted.into()) };
    let like = |pattern: &str| Predicate::Like { slot: 0, pattern: Like::new(pattern) };
    let rows = [
        ("request id that is there", properties("RequestId"), eq(id)),
        ("request id that is not there", properties("RequestId"), eq("0HNZZZZZZZZ:0001")),
        ("application that is not there", properties("Application"), eq("Shop.Nowhere")),
        ("number that is not there", Path::root().key("Elapsed"), number(Comparison::Eq, "3246.90412345")),
        ("number above all", Path::root().key("Elapsed"), number(Comparison::Gt, "1e9")),
        ("rare word in Message", Path::root().key("Message"), like("%Deadlock%")),
        ("rare word in Message", Path::root().key("Message"), like("%zebra%")),
        ("rare word in Message", Path::root().key("Message"), like("%timeout%")),
        ("user", Path::root().key("Message"), like("%Łukasz%")),
        ("words", Path::root().key("Message"), like("%stock-sync%")),
        ("path that is not there", Path::root().key("Nowhere"), like("%")),
    ];
    for (name, path, predicate) in rows {
        let condition = Condition::new(&predicate, &[path]);
        let started = Instant::now();
        let answers = index.answers(&condition).expect("it was just made");
        let took = started.elapsed().as_secs_f64() * 1e6;
        let left = answers.iter().filter(|answer| **answer == Answer::May).count();
        let true_blocks = count(&text, &blocks, &predicate);
        println!("{name:30} {left:5} of {} blocks read ({true_blocks} have the text), {took:.0} µs", answers.len());
    }
}

fn count(text: &[u8], blocks: &[usize], predicate: &Predicate) -> String {
    let wanted = match predicate {
        Predicate::Compare { literal: Literal::Text(wanted), .. } => format!("\"{wanted}\""),
        Predicate::Like { .. } => {
            let shown = format!("{:?}", predicate.literals(&jird::record::Projection::new(&[Path::root()])));
            shown.trim_matches(['[', ']', '"']).to_owned()
        }
        _ => return "?".into(),
    };
    if wanted.is_empty() {
        return "?".into();
    }
    let text = String::from_utf8_lossy(text);
    blocks.windows(2).filter(|block| text[block[0]..block[1]].contains(&wanted)).count().to_string()
}

/// The end of the last line.
fn memchr(text: &[u8]) -> usize {
    text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}
