//! Indexes that are forged: every check is right, and nothing else need be.

use super::layout::HEADER;
use super::{Answer, Condition, Index, IndexBuilder, SpanIndex, hash};
use crate::search::Search;
use checks::random::{self, Random};
use jird::Path;
use jird::record::{Comparison, Like, Literal, Predicate};

/// Makes the checks of header and table right.
fn seal(bytes: &mut [u8]) {
    let len = bytes.len();
    let Some(table) = bytes.get(32..40).and_then(|len| len.first_chunk()).map(|len| u64::from_le_bytes(*len)) else {
        return;
    };
    if let Some(end) = usize::try_from(table).ok().and_then(|table| table.checked_add(HEADER)).filter(|end| *end <= len)
        && let Some(start) = end.checked_sub(8).filter(|start| *start >= HEADER)
    {
        let check = hash::check(&bytes[HEADER..start]);
        bytes[start..end].copy_from_slice(&check.to_le_bytes());
    }
    if len >= HEADER {
        let check = hash::check(&bytes[..56]);
        bytes[56..HEADER].copy_from_slice(&check.to_le_bytes());
    }
}

fn index(random: &mut Random, blocks: usize) -> Vec<u8> {
    let mut builder = IndexBuilder::new();
    for _ in 0..blocks {
        builder.begin_block();
        for _ in 0..random.below(9) {
            let mut event = String::new();
            random::object(random, 3, &mut event);
            builder.add(&jird::minify(event.as_bytes()).expect("it is JSON"));
        }
        builder.end_block();
    }
    builder.finish()
}

#[test]
fn a_forged_index_never_panics() {
    let paths = [Path::root().key("a"), Path::root().key("c").key("a")];
    let compare = |slot, op, literal| Predicate::Compare { slot, op, literal };
    let predicates = [
        compare(0, Comparison::Eq, Literal::Text("ab".into())),
        compare(1, Comparison::Eq, Literal::Number("100".into())),
        compare(0, Comparison::Gt, Literal::Number("3".into())),
        Predicate::Like { slot: 0, pattern: Like::new("%longer%") },
        Predicate::IsNull { slot: 1 },
    ];
    let conditions = predicates.map(|predicate| Condition::new(&predicate, &paths));
    let mut opened = 0;
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let blocks = random.below(5);
        let mut forged = index(&mut random, blocks);
        for _ in 0..=random.below(3) {
            let part = random.pick(&[HEADER, 100, 400, usize::MAX]);
            let at = random.below(forged.len().min(part));
            forged[at] = random.pick(&[0, 1, 2, 16, 0x7f, 0x80, 0xff]);
        }
        seal(&mut forged);
        let Ok(index) = SpanIndex::of_bytes(&forged, blocks) else { continue };
        opened += 1;
        index.paths();
        let _ = (index.verify(), index.unknown(), index.filter_bytes());
        for path in &paths {
            let _ = index.kinds(path);
        }
        for condition in &conditions {
            let _ = index.answers(condition).map(|answers| assert_eq!(answers.len(), blocks));
        }
    }
    assert!(opened > 500, "{opened}");
}

#[test]
fn an_index_that_was_made_before_searches_leaves_nothing_out_for_them() {
    let event = br#"{"@mt":"{A}out","A":"time"}"#;
    let mut builder = IndexBuilder::new();
    builder.begin_block();
    builder.add(event);
    builder.end_block();
    let blob = builder.finish();
    let answers = |blob: &[u8], search: &str| {
        let test = Search::new(search).unwrap().expect("there are words").test();
        let condition = Condition::new(&Predicate::Json { slot: 0, test }, &[Path::root()]);
        SpanIndex::of_bytes(blob, 1).expect("the index is sound").answers(&condition).expect("the index is sound")
    };
    assert_eq!(answers(&blob, "timeout"), [Answer::May]);
    assert_eq!(answers(&blob, "customer"), [Answer::No(Index::Words)]);
    // The flags of the block are the first byte of the table, after the header. Earlier versions did not set that of searches.
    let mut before = blob.clone();
    before[HEADER] = 0;
    seal(&mut before);
    assert_eq!(answers(&before, "customer"), [Answer::May]);
}
