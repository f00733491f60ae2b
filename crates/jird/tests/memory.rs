//! The memory of a whole process. A program of its own, because among other tests the peak would be theirs.

mod common;

use jird::event::{Place, Sink};
use jird::hooks::event::pipe;
use std::convert::Infallible;

/// Counts complete records.
struct Complete(u64);

impl Sink for Complete {
    type Error = Infallible;

    fn end_record(&mut self) -> Result<(), Infallible> {
        self.0 += 1;
        Ok(())
    }
}

#[test]
fn records_that_are_abandoned_do_not_pile_up_in_a_pipe() {
    common::force_kernel();
    let mut sink = Complete(0);
    let text = "x".repeat(100_000);
    pipe(&mut sink, |pipe| {
        for record in 0..20_000_u64 {
            let place = Place { record, ..Place::default() };
            pipe.begin_record(place).unwrap();
            pipe.string(&text).unwrap();
            if record % 5000 == 0 {
                pipe.end_record().unwrap();
            }
        }
    })
    .unwrap();
    assert_eq!(sink.0, 4);
    assert!(peak_kib() < 400 << 10, "{} KiB", peak_kib());
}

/// The most memory that this process has had.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    peak.unwrap_or(0)
}
