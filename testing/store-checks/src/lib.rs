//! What must hold of a store with one corrupted file: no panic, no unbounded memory, and no text that is not UTF-8. The
//! body of the fuzz target `store`; the ordinary tests run it on its seeds.
//!
//! Checksums would keep a fuzzer from everything behind them. Built by cargo-fuzz (`cfg(fuzzing)`), `jird_store` takes any
//! checksum for right. Elsewhere only the manifest gets a right one here.
#![forbid(unsafe_code)]

mod sample;

pub use sample::{Sample, event, samples};

use jird::lines::{Check, Options, Scanner};
use jird::record::{Comparison, Field, Like, Literal, Predicate, Projection};
use jird::{Kind, Path};
use jird_store::{Condition, Fields, Snapshot, Store, Window, WriterOptions};
use sample::{Folder, SAMPLES};
use std::ops::ControlFlow;

/// Checks a store with one file replaced by the bytes of `input` after the first. The first byte says which store (bit
/// 0), which of its files (bits 1 to 3), whether its index files are missing (bit 4) and whether it is also written to
/// (bit 5).
///
/// # Panics
/// If the property does not hold.
pub fn store(input: &[u8]) {
    let Some((first, bytes)) = input.split_first() else { return };
    let sample = &samples()[usize::from(first & 1) % SAMPLES];
    let (name, _) = &sample[usize::from(first >> 1 & 7) % sample.len()];
    let forged = if name == "MANIFEST" { with_checksum(bytes) } else { bytes.to_vec() };
    let folder = Folder::filled(sample);
    folder.put(name, &forged);
    if first & 0x10 != 0 {
        let indexes =
            sample.iter().filter(|(name, _)| std::path::Path::new(name).extension().is_some_and(|end| end == "index"));
        indexes.for_each(|(name, _)| folder.remove(name));
    }
    let Ok(store) = Store::open(folder.path()) else { return };
    look_at(&store);
    if first & 0x20 != 0 {
        let _ = store.verify(true);
        let _ = store.compact(jird_store::Extent::Full);
        let _ = store.retain(1_000_000_000);
        let _ = store.writer(&WriterOptions::default()).map(jird_store::Writer::finish);
        look_at(&store);
    }
}

/// The events of a sample, in order, and what is damaged in it, also where an ordinary query reads nothing.
///
/// # Panics
/// If it cannot be opened, or an index hides an event.
pub fn contents(sample: &Sample) -> (String, Vec<String>) {
    let folder = Folder::filled(sample);
    let store = Store::open(folder.path()).expect("a store");
    let mut events = Vec::new();
    let mut damage = store.export(Window::ALL, &mut events).expect("it can be read").damage;
    damage.extend(store.verify(false).expect("it can be read").damage);
    let damage = damage.iter().map(ToString::to_string).collect();
    let events = String::from_utf8(events).expect("events are UTF-8");
    for number in 0..sample::EVENTS {
        let (wanted, value) = (format!("\"n\":{number}.5,"), Literal::Number(format!("{number}.5").into()));
        let found = selected(&store, &Predicate::Compare { slot: 0, op: Comparison::Eq, literal: value });
        assert_eq!(found.matches(&wanted).count(), events.matches(&wanted).count(), "{wanted} in {found}");
    }
    for level in ["Error", "Warning", "Debug"] {
        let literal = Literal::Text(level.into());
        let found = selected(&store, &Predicate::Compare { slot: 1, op: Comparison::Eq, literal });
        assert_eq!(found.matches(level).count(), events.matches(level).count(), "{level} in {found}");
    }
    (events, damage)
}

/// The lines of the blocks that may match.
fn selected(store: &Store, predicate: &Predicate) -> String {
    let text = store.snapshot().and_then(|snapshot| snapshot.text(Window::ALL)).expect("it can be read");
    let condition = Condition::new(predicate, &paths());
    let (mut all, mut lines) = (Vec::new(), Vec::new());
    for id in (0..text.sections()).flat_map(|section| text.select(section, Some(&condition)).blocks) {
        text.read(id, Some(&condition), &mut lines).expect("it can be read");
        all.extend_from_slice(&lines);
    }
    String::from_utf8(all).expect("events are UTF-8")
}

/// The first line as a manifest, with its checksum.
fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    [line, format!("\n{:016x}\n", twox_hash::XxHash3_64::oneshot(line)).as_bytes()].concat()
}

/// Does everything that only reads.
fn look_at(store: &Store) {
    let Ok(snapshot) = store.snapshot() else { return };
    let paths = paths();
    let conditions: Vec<Condition> = predicates().iter().map(|predicate| Condition::new(predicate, &paths)).collect();
    let second = |second: i64| Some(second * 1_000_000_000);
    for window in [Window::ALL, Window { since: second(3), until: second(6) }, Window { since: second(5), until: None }]
    {
        read(&snapshot, window, &paths, None);
        for condition in &conditions {
            read(&snapshot, window, &paths, Some(condition));
        }
    }
    let _ = store.info();
    let _ = store.verify(false);
    let _ = store.export(Window::ALL, &mut std::io::sink());
    let _ = snapshot.damage();
}

/// What is handed out of a field must be UTF-8.
fn check(field: Field<'_>) {
    assert!(std::str::from_utf8(field.raw().as_bytes()).is_ok(), "a field that is no UTF-8");
    if field.kind() == Some(Kind::String)
        && let Some(content) = field.as_str()
    {
        assert!(std::str::from_utf8(content.as_bytes()).is_ok(), "a text that is no UTF-8");
    }
}

/// Reads the blocks that may match, as documents, as lines where columns answer, and as cells, and looks at fields of
/// their events.
fn read(snapshot: &Snapshot, window: Window, paths: &[Path], condition: Option<&Condition>) {
    let text = snapshot.text(window).expect("it never fails");
    let projection = Projection::new(paths);
    let mut scanner = Scanner::new(Options { check: Check::Trusted, ..Options::default() });
    let fields = Fields::new(paths.iter().cloned());
    let (mut lines, mut at) = (Vec::new(), 0);
    for section in 0..text.sections() {
        for id in text.select(section, condition).blocks {
            let facts = text.block(id);
            assert!(at <= facts.offset && facts.offset < text.bytes(), "{facts:?} after {at} of {}", text.bytes());
            at = facts.offset;
            for count in 0..=paths.len() {
                for cells in text.read_cells(id, &paths[..count], count, condition).into_iter().flatten() {
                    let mut json = Vec::new();
                    (0..count).for_each(|column| cells.each(column, |cell| cell.write(&mut json)));
                    assert!(std::str::from_utf8(&json).is_ok(), "cells that are no UTF-8");
                }
            }
            for fields in [None, fields.as_ref()] {
                let read = match fields {
                    Some(fields) => text.read_fields(id, fields, condition, &mut lines).map(drop),
                    None => text.read(id, condition, &mut lines),
                };
                if read.is_err() {
                    continue;
                }
                assert!(lines.is_empty() || lines.ends_with(b"\n"), "a block of whole lines");
                let _ = scanner.scan(&lines, &projection, None, |row| {
                    row.fields().iter().for_each(|field| check(*field));
                    ControlFlow::Continue(())
                });
            }
        }
    }
    for path in paths {
        let _ = (text.kinds(path), text.numbers(path), text.is_ordered_by(path));
    }
}

fn paths() -> [Path; 4] {
    ["n", "level", "text", "@t"].map(|key| Path::root().key(key))
}

fn predicates() -> Vec<Predicate> {
    let compare = |slot, op, literal| Predicate::Compare { slot, op, literal };
    vec![
        compare(0, Comparison::Gt, Literal::Number("2.5".into())),
        compare(0, Comparison::Eq, Literal::Number("3".into())),
        compare(1, Comparison::Eq, Literal::Text("Error".into())),
        Predicate::Like { slot: 2, pattern: Like::new("%longer%") },
        Predicate::IsNull { slot: 1 },
        Predicate::Not(Box::new(compare(1, Comparison::Lt, Literal::Text("F".into())))),
    ]
}
