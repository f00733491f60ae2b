//! What is appended is read, in order.

use crate::common::{Scratch, all, append, blocks, event, options, read};
use jird_store::{Compression, ErrorKind, Patience, Settings, Store, Window, WriterOptions};
use std::time::{Duration, Instant};

#[test]
fn an_event_is_read_as_soon_as_it_is_appended_and_after_the_writer_has_ended() {
    let scratch = Scratch::new();
    let store = scratch.store();
    assert_eq!(all(&store), "");
    let writer = store.writer(&WriterOptions::default()).unwrap();
    append(&writer, "{\"@t\": \"2024-03-05T07:00:01Z\", \"n\": 1.50}\n{\"@t\":\"2024-03-05T07:00:00Z\"}");
    let lines = "{\"@t\":\"2024-03-05T07:00:00Z\"}\n{\"@t\":\"2024-03-05T07:00:01Z\",\"n\":1.50}\n";
    assert_eq!(all(&store), lines);
    assert_eq!(writer.finish().unwrap().events, 2);
    assert_eq!(all(&Store::open(scratch.path()).unwrap()), lines);
}

#[test]
fn sealed_and_late_events_are_one_sequence_in_every_compression() {
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let scratch = Scratch::new();
        let settings = Settings { compression, ..Settings::default() };
        let store = Store::create(scratch.path(), &settings).unwrap();
        let writer = store.writer(&options(400_000)).unwrap();
        let mut wanted = Vec::new();
        for number in 0..8000 {
            // Every tenth is late, and some have the same second.
            let second = if number % 10 == 3 { number / 20 } else { number / 4 };
            wanted.push((second, number, event(second, number)));
        }
        for events in wanted.chunks(100) {
            append(&writer, &events.iter().map(|(.., event)| event.as_str()).collect::<String>());
        }
        let spans = writer.finish().unwrap().spans;
        assert!(spans >= 3, "{spans}");
        wanted.sort();
        let lines: String = wanted.iter().map(|(.., event)| event.as_str()).collect();
        assert!(all(&store) == lines, "{compression:?}");
        // Another writer takes over.
        let writer = store.writer(&options(1000)).unwrap();
        append(&writer, &event(0, 9999));
        append(&writer, &event(3000, 9998));
        writer.finish().unwrap();
        wanted.extend([(0, 9999), (3000, 9998)].map(|(second, number)| (second, number, event(second, number))));
        wanted.sort();
        assert_eq!(all(&store).lines().count(), 8002);
        for (since, until) in [(0, 10), (100, 101), (1000, 1500), (1999, 9999)] {
            let nanos = |second: u64| Some(second as i64 * 1_000_000_000);
            let window = Window { since: nanos(since), until: nanos(until) };
            let got = read(&store.snapshot().unwrap(), window);
            let wanted = wanted.iter().filter(|(second, ..)| (since..until).contains(second));
            let wanted: String = wanted.map(|(.., event)| event.as_str()).collect();
            assert!(got == wanted, "{since}..{until}");
        }
    }
}

#[test]
fn a_window_ends_before_the_first_event_that_came_and_after_the_last_key_of_a_span() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let writer = store.writer(&options(1 << 20)).unwrap();
    let early = event(5, 1);
    // The first event that comes has the number 0, as the end of a window has.
    append(&writer, &(event(10, 0) + &early));
    let check = || {
        let window = Window { since: None, until: Some(10_000_000_000) };
        let snapshot = store.snapshot().unwrap();
        assert_eq!(read(&snapshot, window), early);
        let window = Window { since: window.until, until: None };
        assert_eq!(read(&snapshot, window), event(10, 0));
    };
    check();
    writer.seal().unwrap();
    check();
}

#[test]
fn blocks_are_bounded_and_in_order() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let writer = store.writer(&options(1 << 20)).unwrap();
    for number in 0..200 {
        append(&writer, &(0..100).map(|at| event(number + at % 7 * 10, number * 100 + at)).collect::<String>());
    }
    writer.finish().unwrap();
    let text = store.snapshot().unwrap().text(Window::ALL).unwrap();
    let blocks = blocks(&text);
    assert!(blocks.len() > 5);
    assert!(
        blocks.iter().all(|block| block.len() < 4 << 20),
        "{:?}",
        blocks.iter().map(String::len).collect::<Vec<_>>()
    );
    let facts: Vec<_> = text.blocks().map(|id| text.block(id).times).collect();
    assert!(facts.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{facts:?}");
}

#[test]
fn there_is_one_writer_and_the_second_is_told() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let writer = store.writer(&WriterOptions::default()).unwrap();
    let error = store.writer(&WriterOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    writer.finish().unwrap();
    store.writer(&WriterOptions::default()).unwrap();
}

#[test]
fn a_writer_with_patience_waits_for_the_other() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let writer = store.writer(&WriterOptions::default()).unwrap();
    let (begun, time) = (Instant::now(), Duration::from_millis(200));
    let patient = store.clone().with_patience(Patience::For(time));
    assert_eq!(patient.writer(&WriterOptions::default()).unwrap_err().kind(), ErrorKind::Locked);
    assert!(begun.elapsed() >= time);
    std::thread::scope(|scope| {
        let patient = store.clone().with_patience(Patience::Endless);
        let waiting = scope.spawn(move || patient.writer(&WriterOptions::default()).map(drop));
        std::thread::sleep(time);
        assert!(!waiting.is_finished());
        writer.finish().unwrap();
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn a_writer_does_not_take_a_store_for_another_one_that_was_in_its_place() {
    let scratch = Scratch::new();
    let store = scratch.store();
    std::fs::remove_dir_all(scratch.path()).unwrap();
    let error = store.clone().with_patience(Patience::Endless).writer(&WriterOptions::default()).unwrap_err();
    assert_ne!(error.kind(), ErrorKind::Locked);
    let settings = Settings { compression: Compression::Zstd, ..Settings::default() };
    Store::create(scratch.path(), &settings).unwrap();
    assert_eq!(store.writer(&WriterOptions::default()).unwrap_err().kind(), ErrorKind::Version);
}

#[test]
fn only_an_empty_folder_becomes_a_store() {
    let scratch = Scratch::new();
    assert_eq!(Store::open(scratch.path()).unwrap_err().kind(), ErrorKind::Missing);
    std::fs::create_dir(scratch.path()).unwrap();
    std::fs::write(scratch.path().join("notes"), "").unwrap();
    assert_eq!(Store::create(scratch.path(), &Settings::default()).unwrap_err().kind(), ErrorKind::Exists);
    std::fs::remove_file(scratch.path().join("notes")).unwrap();
    Store::create(scratch.path(), &Settings::default()).unwrap();
    assert_eq!(Store::create(scratch.path(), &Settings::default()).unwrap_err().kind(), ErrorKind::Exists);
    let other = Settings { compression: Compression::Lz4, ..Settings::default() };
    assert_eq!(Store::open_or_create(scratch.path(), &other).unwrap_err().kind(), ErrorKind::Version);
}

#[test]
#[cfg(unix)]
fn only_its_owner_may_read_a_store() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let store = scratch.store();
    let writer = store.writer(&options(1000)).unwrap();
    (0..100).for_each(|number| append(&writer, &event(number, number)));
    writer.finish().unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(scratch.path()), 0o700);
    for entry in std::fs::read_dir(scratch.path()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn retention_keeps_the_events_of_its_own_time_in_spans_and_in_the_log() {
    for is_sealed in [true, false] {
        let scratch = Scratch::new();
        let store = scratch.store();
        let writer = store.writer(&WriterOptions::default()).unwrap();
        // The last span's last event is of the time itself, and so is the first of the log.
        for second in [1, 2] {
            append(&writer, &event(second, 0));
            if is_sealed {
                writer.seal().unwrap();
            }
        }
        store.retain(2_000_000_000).unwrap();
        assert_eq!(all(&store), event(2, 0), "sealed: {is_sealed}");
        store.retain(2_000_000_001).unwrap();
        assert_eq!(all(&store), "", "sealed: {is_sealed}");
        writer.finish().unwrap();
    }
}
