//! A few blocks have the least and the greatest number, and what events of logs have is known.

use crate::common::{Scratch, append, options};
use checks::random::Random;
use jird::{Kind, Path, Value};
use jird_store::{BlockId, Extent, Extreme, FieldKinds, Numbers, Settings, Store, Text, Window};

fn n() -> Path {
    Path::root().key("n")
}

/// The numbers at `n` of some blocks. The first of two members with one key counts.
fn numbers(text: &Text, blocks: impl IntoIterator<Item = BlockId>) -> Vec<f64> {
    let (mut found, mut lines) = (Vec::new(), Vec::new());
    for block in blocks {
        text.read(block, None, &mut lines).unwrap();
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let document = jird::parse(line).unwrap();
            let first = document.root().entries().find(|(key, _)| key.as_str().as_deref() == Some("n"));
            let value = first.map(|(_, value)| value).filter(|value| value.kind() == Kind::Number);
            found.extend(value.and_then(Value::as_f64));
        }
    }
    found
}

/// The least and the greatest, with the signs of zeros.
fn ends(mut numbers: Vec<f64>) -> Option<[u64; 2]> {
    numbers.sort_by(f64::total_cmp);
    Some([numbers.first()?.to_bits(), numbers.last()?.to_bits()])
}

/// A store of random numbers, and whether all of them are 0 or 1.
fn filled(scratch: &Scratch, seed: u64, has_logs: bool) -> (Store, bool) {
    let mut random = Random::new(seed);
    let store = Store::create(scratch.path(), &Settings::default()).unwrap().with_block_bytes(1000);
    let writer = store.writer(&options(1 << 20)).unwrap();
    let zeros = random.below(3) == 0;
    for part in 0..4 {
        let event = |at: u64, random: &mut Random| {
            let number = match random.below(12) {
                _ if zeros => ["0", "-0", "0.0", "-0.0", "1"][random.below(5)].to_owned(),
                0 => "1.50".to_owned(),
                1 => format!("-{}e-3", random.below(90_000)),
                2 => "null".to_owned(),
                _ => format!("{}.25", random.below(5000)),
            };
            // Bounds in the index know of both.
            let again = if random.below(400) == 0 { ",\"n\":1e15" } else { "" };
            let field = if random.below(20) == 0 { String::new() } else { format!(",\"n\":{number}{again}") };
            format!("{{\"@t\":{}{field}}}\n", 10_000 * part + at)
        };
        let lines: String = (0..300).map(|at| event(at, &mut random)).collect();
        append(&writer, &lines);
        if part < 3 || !has_logs {
            writer.seal().unwrap();
        }
    }
    writer.finish().unwrap();
    (store, zeros)
}

#[test]
fn a_few_blocks_have_the_extremes() {
    let mut few = 0;
    for seed in 0..24 {
        let scratch = Scratch::new();
        let (store, has_zeros) = filled(&scratch, seed, seed % 2 == 0);
        if seed % 3 == 0 {
            store.compact(Extent::Full).unwrap();
        }
        let snapshot = store.snapshot().unwrap();
        let text = snapshot.text(Window::ALL).unwrap();
        let all = text.blocks().count();
        for (end, extreme) in [Extreme::Least, Extreme::Greatest].into_iter().enumerate() {
            let Some(chosen) = text.extreme(&n(), extreme) else {
                assert!(has_zeros, "{seed}");
                continue;
            };
            let [found, expected] =
                [chosen.clone(), text.blocks().collect()].map(|blocks| ends(numbers(&text, blocks)));
            assert_eq!(found.map(|ends| ends[end]), expected.map(|ends| ends[end]), "{seed} {extreme:?}");
            few += usize::from(chosen.len() < all);
            // A window that cuts a block, and a field that is not there.
            let cut = snapshot.text(Window { since: Some(5_000_000_000), until: None }).unwrap();
            let other = Path::root().key("other");
            assert_eq!((cut.extreme(&n(), extreme), text.extreme(&other, extreme)), (None, None));
        }
    }
    assert!(few > 8, "{few}");
}

#[test]
fn what_the_events_of_logs_have_is_known() {
    let scratch = Scratch::new();
    let store = Store::create(scratch.path(), &Settings::default()).unwrap().with_block_bytes(1000);
    let writer = store.writer(&options(1 << 20)).unwrap();
    let facts = || {
        let text = store.snapshot().unwrap().text(Window::ALL).unwrap();
        (text.kinds(&n()), text.numbers(&n()))
    };
    let lines = |from: u64, value: &str| {
        let lines: Vec<_> = (from..from + 50).map(|at| format!("{{\"@t\":{at},\"n\":{value}}}\n")).collect();
        lines.concat()
    };
    append(&writer, &lines(0, "7"));
    assert_eq!(facts(), (Some(FieldKinds::NUMBER), Some(Numbers::Integers)));
    writer.seal().unwrap();
    append(&writer, &lines(100, "2.5"));
    assert_eq!(facts(), (Some(FieldKinds::NUMBER), Some(Numbers::Floats)));
    append(&writer, &lines(200, "true"));
    append(&writer, "{\"@t\":300}\n{\"@t\":301,\"n\":null}\n");
    let kinds = FieldKinds::NUMBER.with(FieldKinds::TRUE).with(FieldKinds::NULLS);
    assert_eq!(facts(), (Some(kinds), Some(Numbers::Floats)));
    append(&writer, "{\"@t\":302,\"n\":9007199254740993}\n");
    assert_eq!(facts(), (Some(kinds), None));
    // Of a window, only its own events count.
    let window = Window { since: Some(100_000_000_000), until: Some(150_000_000_000) };
    let text = store.snapshot().unwrap().text(window).unwrap();
    assert_eq!((text.kinds(&n()), text.numbers(&n())), (Some(FieldKinds::NUMBER), Some(Numbers::Floats)));
    writer.finish().unwrap();
}
