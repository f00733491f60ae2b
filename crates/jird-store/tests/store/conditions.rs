//! Conditions leave out work, and no match.

use crate::common::{Scratch, append, options};
use jird::Path;
use jird::lines::{Check, Options, Scanner};
use jird::record::{Comparison, Literal, Predicate, Projection};
use jird_store::{ColumnChoice, Compression, Condition, Extent, Fields, Settings, Snapshot, Store, Window};
use std::ops::ControlFlow;

fn filled(compression: Compression) -> (Scratch, Store) {
    let scratch = Scratch::new();
    let columns = vec![Path::root().key("n"), Path::root().key("level"), Path::root().key("ok")];
    let settings = Settings { columns: ColumnChoice::Fields(columns), compression, ..Settings::default() };
    let store = Store::create(scratch.path(), &settings).unwrap();
    let writer = store.writer(&options(500_000)).unwrap();
    for number in 0..100_u64 {
        let event = |at: u64| {
            let (number, level) = (number * 100 + at, ["Debug", "Information", "Error"][(at % 40 / 19) as usize]);
            let n = if at == 7 { "null".to_owned() } else { format!("{number}.5") };
            let pad = "x".repeat((number * 37 % 300) as usize);
            format!(
                "{{\"@t\":{number},\"n\":{n},\"level\":\"{level}\",\"ok\":{},\"pad\":\"{pad}\"}}\n",
                number % 9 == 0
            )
        };
        append(&writer, &(0..100).map(event).collect::<String>());
    }
    writer.finish().unwrap();
    (scratch, store)
}

/// The lines that match, of the blocks that may have one, and the bytes that were read.
fn matches(
    snapshot: &Snapshot,
    predicate: &Predicate,
    paths: &[Path],
    condition: Option<&Condition>,
) -> (Vec<String>, usize) {
    let text = snapshot.text(Window::ALL).unwrap();
    let mut scanner = Scanner::new(Options { check: Check::Trusted, ..Options::default() });
    let projection = Projection::new(paths);
    // What is in the buffer before is none of the lines.
    let (mut found, mut bytes, mut lines) = (Vec::new(), 0, b"{\"n\":9001}\n".to_vec());
    let selected: Vec<_> = (0..text.sections()).map(|section| text.select(section, condition)).collect();
    selected.iter().for_each(|selected| snapshot.note_saved(&selected.saved));
    for block in selected.into_iter().flat_map(|selected| selected.blocks) {
        text.read(block, condition, &mut lines).unwrap();
        bytes += lines.len();
        let scanned = scanner.scan(&lines, &projection, Some(predicate), |row| {
            found.push(String::from_utf8(row.text().to_vec()).unwrap());
            ControlFlow::Continue(())
        });
        scanned.unwrap();
    }
    (found, bytes)
}

#[test]
fn no_match_is_lost_and_what_cannot_match_is_not_read() {
    let paths = ["n", "level", "ok", "pad"].map(|key| Path::root().key(key));
    let compare = |slot, op, literal| Predicate::Compare { slot, op, literal };
    let number = |text: &str| Literal::Number(text.into());
    let text = |text: &str| Literal::Text(text.into());
    let predicates = [
        compare(0, Comparison::Gt, number("9900")),
        compare(0, Comparison::Le, number("10.5")),
        compare(0, Comparison::Eq, number("5000.5")),
        compare(1, Comparison::Eq, text("Error")),
        compare(1, Comparison::Eq, text("Fatal")),
        Predicate::Not(Box::new(compare(1, Comparison::Eq, text("Debug")))),
        Predicate::And(vec![compare(1, Comparison::Eq, text("Error")), compare(0, Comparison::Lt, number("300"))]),
        Predicate::Or(vec![compare(0, Comparison::Lt, number("3")), compare(0, Comparison::Ge, number("9999"))]),
        // No index knows that nothing is between these, but the column.
        Predicate::And(vec![
            compare(0, Comparison::Gt, number("9000.5")),
            compare(0, Comparison::Lt, number("9001.5")),
        ]),
    ];
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let (_scratch, store) = filled(compression);
        let snapshot = store.snapshot().unwrap();
        for predicate in &predicates {
            let condition = Condition::new(predicate, &paths);
            let (wanted, all) = matches(&snapshot, predicate, &paths, None);
            let (found, read) = matches(&snapshot, predicate, &paths, Some(&condition));
            assert_eq!(found, wanted, "{predicate:?}");
            assert!(read < all / 10 * 7, "{compression:?}, {predicate:?}: read {read} of {all}");
        }
        let info = store.info().unwrap();
        assert!(info.spans.iter().all(|span| span.index_bytes.is_some() && span.unknown_blocks == 0));
        assert!(info.spans.iter().map(|span| span.saved.by_pairs + span.saved.by_range).sum::<u64>() > 0);
        assert_eq!(store.verify(false).unwrap().damage, []);
        // The columns are there after a compaction, too.
        assert!(store.compact(Extent::Full).unwrap().merged > 0);
        let snapshot = store.snapshot().unwrap();
        let condition = Condition::new(&predicates[3], &paths);
        let (wanted, all) = matches(&snapshot, &predicates[3], &paths, None);
        let (found, read) = matches(&snapshot, &predicates[3], &paths, Some(&condition));
        assert_eq!(found, wanted);
        assert!(read < all / 2, "{read} of {all}");
        assert_eq!(store.verify(false).unwrap().damage, []);
    }
}

#[test]
fn a_block_that_is_merged_of_two_spans_is_read_if_either_may_match() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let writer = store.writer(&options(500_000)).unwrap();
    for n in [1, 2] {
        for time in 0..3 {
            append(&writer, &format!("{{\"@t\":{time},\"n\":{n}}}\n"));
        }
        writer.seal().unwrap();
    }
    writer.finish().unwrap();
    let snapshot = store.snapshot().unwrap();
    let text = snapshot.text(Window::ALL).unwrap();
    assert_eq!((text.sections(), text.blocks().count()), (1, 1));
    let paths = [Path::root().key("n")];
    for (n, wanted) in [("1", 3), ("2", 3), ("3", 0)] {
        let predicate = Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Number(n.into()) };
        let condition = Condition::new(&predicate, &paths);
        assert_eq!(matches(&snapshot, &predicate, &paths, Some(&condition)).0.len(), wanted, "n = {n}");
        assert_eq!(text.select(0, Some(&condition)).blocks.is_empty(), wanted == 0, "n = {n}");
    }
}

/// The texts of some fields of the lines that match, in order, and how many blocks columns answered for.
fn fields_of(
    snapshot: &Snapshot,
    window: Window,
    paths: &[Path],
    predicate: Option<&Predicate>,
    fields: Option<&Fields>,
) -> (Vec<Vec<String>>, usize) {
    let text = snapshot.text(window).unwrap();
    let condition = predicate.map(|predicate| Condition::new(predicate, paths));
    let mut scanner = Scanner::new(Options { check: Check::Trusted, ..Options::default() });
    let projection = Projection::new(paths);
    let (mut found, mut by_columns, mut lines) = (Vec::new(), 0, Vec::new());
    for block in text.blocks() {
        match fields {
            Some(fields) => {
                let answered = text.read_fields(block, fields, condition.as_ref(), &mut lines).unwrap();
                assert!(!answered || lines.len() < text.block(block).bytes as usize / 2);
                by_columns += usize::from(answered);
            }
            None => text.read(block, None, &mut lines).unwrap(),
        }
        let scanned = scanner.scan(&lines, &projection, predicate, |row| {
            found.push(row.fields().iter().map(|field| field.raw().to_owned()).collect());
            ControlFlow::Continue(())
        });
        scanned.unwrap();
    }
    (found, by_columns)
}

#[test]
fn columns_answer_in_windows_and_after_late_events_and_compactions() {
    let paths = ["level", "n"].map(|key| Path::root().key(key));
    let fields = Fields::new(paths.iter().cloned()).unwrap();
    let errors = Predicate::Compare { slot: 0, op: Comparison::Eq, literal: Literal::Text("Error".into()) };
    let second = |second: i64| Some(second * 1_000_000_000);
    let windows = [
        Window::ALL,
        Window { since: second(1234), until: second(8765) },
        Window { since: second(2990), until: second(3010) },
    ];
    for compression in [Compression::None, Compression::Zstd] {
        let (_scratch, store) = filled(compression);
        let check = |has_late: bool| {
            let snapshot = store.snapshot().unwrap();
            for (window, predicate) in windows.iter().flat_map(|window| [(*window, None), (*window, Some(&errors))]) {
                let (wanted, _) = fields_of(&snapshot, window, &paths, predicate, None);
                let (found, by_columns) = fields_of(&snapshot, window, &paths, predicate, Some(&fields));
                assert_eq!(found, wanted);
                assert!(by_columns > 0 || has_late, "{window:?}");
                assert!(found.len() >= 10 || predicate.is_some());
            }
            assert_eq!(snapshot.damage(), []);
        };
        check(false);
        let writer = store.writer(&options(500_000)).unwrap();
        append(&writer, "{\"@t\":5000,\"level\":\"late\",\"n\":1.50}\n{\"@t\":9995,\"level\":null,\"n\":null}\n");
        check(true);
        writer.finish().unwrap();
        check(true);
        store.compact(Extent::Full).unwrap();
        check(false);
        store.retain(second(2000).unwrap()).unwrap();
        check(false);
    }
}
