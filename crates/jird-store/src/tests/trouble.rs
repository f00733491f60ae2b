//! One course of things, and trouble at every operation of it.

use super::model::Run;
use crate::Extent;
use crate::files::simulated::Trouble;
use crate::{Sync, WriterOptions};

/// Appends, with a seal, compactions, deletions and another writer.
fn course(run: &mut Run) {
    for _ in 0..6 {
        let _ = run.append();
    }
    let _ = run.store().and_then(|store| store.compact(Extent::Full));
    run.close();
    let _ = run.delete();
    for _ in 0..6 {
        let _ = run.append();
    }
    let _ = run.delete();
    run.close();
    let _ = run.store().and_then(|store| store.compact(Extent::Full));
}

fn operations() -> u64 {
    let mut run = Run::new(7);
    run.set(Trouble::None);
    course(&mut run);
    run.check();
    run.disk.operations()
}

#[test]
fn the_power_may_go_at_every_operation() {
    for at in 1..=operations() {
        for kill in [false, true] {
            let mut run = Run::new(7);
            run.set(Trouble::Crash(at));
            course(&mut run);
            run.crash(kill);
            run.check();
            run.verify();
        }
    }
}

#[test]
fn every_operation_may_fail() {
    for at in 1..=operations() {
        for trouble in [Trouble::Fail(at), Trouble::FailFrom(at)] {
            let mut run = Run::new(7);
            run.set(trouble);
            course(&mut run);
            run.set(Trouble::None);
            run.check();
            run.append().unwrap();
            run.close();
            run.check();
            run.verify();
        }
    }
}

#[test]
fn what_is_sealed_is_durable_without_its_log() {
    let run = Run::new(7);
    let options = WriterOptions { sync: Sync::Batch, ..WriterOptions::default() };
    let writer = run.store().unwrap().writer(&options).unwrap();
    let first = writer.append_event(b"{\"n\":1}").unwrap();
    writer.seal().unwrap();
    let second = writer.append_event(b"{\"n\":2}").unwrap();
    run.set(Trouble::FailFrom(1));
    writer.commit(first).unwrap();
    assert_eq!(run.disk.operations(), 0);
    assert!(writer.commit(second).is_err());
}
