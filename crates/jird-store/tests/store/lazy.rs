//! Little is read of spans that a question does not concern: what is damaged there is not even noticed.

use crate::common::{Scratch, append, event, options};
use jird::Path;
use jird::record::{Comparison, Literal, Predicate};
use jird_store::{Condition, FieldKinds, Skipped, Store, Window};
use std::fs;

/// A store of spans that do not overlap, ten events each, and the numbers of its spans.
fn spans(count: u64) -> (Scratch, Store, Vec<u64>) {
    let scratch = Scratch::new();
    let store = scratch.store().with_block_bytes(500);
    let writer = store.writer(&options(1 << 20)).unwrap();
    for part in 0..count {
        append(&writer, &(0..10).map(|at| event(part * 10 + at, part * 10 + at)).collect::<String>());
        writer.seal().unwrap();
    }
    writer.finish().unwrap();
    let numbers = store.info().unwrap().spans.iter().map(|span| span.number).collect();
    (scratch, store, numbers)
}

/// Makes every byte of a span's file another one, and the table in its index file.
fn damage(scratch: &Scratch, span: u64) {
    let (file, index) = ["arrow", "index"].map(|end| scratch.path().join(format!("span-{span}.{end}"))).into();
    let bytes: Vec<u8> = fs::read(&file).unwrap().iter().map(|byte| !byte).collect();
    fs::write(&file, bytes).unwrap();
    let mut bytes = fs::read(&index).unwrap();
    let at = bytes.windows(9).position(|part| part == b"\"version\"").unwrap();
    bytes[at] ^= 1;
    fs::write(&index, bytes).unwrap();
}

#[test]
fn only_the_section_that_is_asked_is_opened() {
    let (scratch, store, numbers) = spans(4);
    numbers[..3].iter().for_each(|span| damage(&scratch, *span));
    let snapshot = store.snapshot().unwrap();
    let text = snapshot.text(Window::ALL).unwrap();
    assert_eq!((text.sections(), text.events(), text.section(3).events), (4, 40, 10));
    assert!(text.is_ordered_by(&Path::root().key("@t")));
    assert_eq!(text.kinds(&Path::root().key("@t")), Some(FieldKinds::STRING));
    let (mut events, mut lines) = (0, Vec::new());
    for id in text.blocks_of(3) {
        text.read(id, None, &mut lines).unwrap();
        events += lines.iter().filter(|byte| **byte == b'\n').count();
    }
    assert_eq!((events, snapshot.damage()), (10, vec![]));
    assert_eq!(text.blocks_of(2).count(), 0);
    assert_eq!(snapshot.damage().iter().map(|damage| damage.events).collect::<Vec<_>>(), [Some(0), Some(10)]);
}

#[test]
fn a_span_that_its_index_rules_out_is_not_opened() {
    let (scratch, store, numbers) = spans(4);
    numbers[1..].iter().for_each(|span| damage(&scratch, *span));
    let snapshot = store.snapshot().unwrap();
    let text = snapshot.text(Window::ALL).unwrap();
    let paths = [Path::root().key("n")];
    let predicate = Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Number("7".into()) };
    let condition = Condition::new(&predicate, &paths);
    let (mut found, mut skipped) = (Vec::new(), Skipped::default());
    for section in 0..text.sections() {
        let selected = text.select(section, Some(&condition));
        found.extend(selected.blocks);
        skipped.merge(&selected.skipped);
        assert_eq!(selected.saved.len(), 1);
    }
    let mut lines = Vec::new();
    text.read(found[0], Some(&condition), &mut lines).unwrap();
    assert!(String::from_utf8(lines).unwrap().contains("\"n\":7,"));
    assert_eq!((found.len(), snapshot.damage()), (1, vec![]));
    // Of the others, all blocks and bytes count as left out.
    let rest = text.block(found[0]).bytes;
    assert_eq!(skipped.bytes, text.bytes() - rest);
    assert!(skipped.blocks > 8 && skipped.by_range == skipped.blocks, "{skipped:?}");
}

#[test]
fn a_window_opens_the_spans_that_it_cuts() {
    let (scratch, store, numbers) = spans(5);
    for span in [numbers[0], numbers[2], numbers[4]] {
        damage(&scratch, span);
    }
    let snapshot = store.snapshot().unwrap();
    let second = |second: i64| Some(second * 1_000_000_000);
    let text = snapshot.text(Window { since: second(15), until: second(34) }).unwrap();
    assert_eq!((text.sections(), text.events()), (3, 5 + 10 + 4));
    assert_eq!(snapshot.damage(), []);
    assert_eq!(text.section(1).times, (20_000_000_000, 29_000_000_000));
}
