//! How long it takes to open a store, and to find out which of its blocks may have a text at a path.
//!
//!     cargo run --release -p jird-store --example ask -- STORE /Properties/RequestId 0HN4SMMRQ28NO:00000001
#![expect(clippy::print_stdout, reason = "its purpose")]

use jird::record::{Comparison, Literal, Predicate};
use jird_store::{Condition, Skipped, Store, Window};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [store, path, text] = &arguments[..] else { return Err("give a store, a path, and a text".into()) };
    let path = path.split('/').skip(1).fold(jird::Path::root(), jird::Path::key);
    let literal = Literal::Text(text.as_str().into());
    let predicate = Predicate::Compare { slot: 0, op: Comparison::Eq, literal };
    let condition = Condition::new(&predicate, std::slice::from_ref(&path));
    for _ in 0..3 {
        let mut clock = Clock(Instant::now());
        let snapshot = Store::open(Path::new(store))?.snapshot()?;
        let opened = clock.lap();
        let events = snapshot.text(Window::ALL)?;
        let known = clock.lap();
        let last =
            events.sections().checked_sub(1).map(|section| events.select(section, Some(&condition)).blocks.len());
        let newest = clock.lap();
        let (mut skipped, mut blocks) = (Skipped::default(), Vec::new());
        for section in 0..events.sections() {
            let selected = events.select(section, Some(&condition));
            blocks.extend(selected.blocks);
            skipped.merge(&selected.skipped);
        }
        let selected = clock.lap();
        let (mut buffer, mut bytes) = (Vec::new(), 0);
        for block in &blocks {
            events.read(*block, Some(&condition), &mut buffer)?;
            bytes += buffer.len();
        }
        println!(
            "files opened {opened:.2?}, text {known:.2?}, the newest of {} sections {newest:.2?} ({last:?}), selected \
             {} of {} blocks {selected:.2?}, read {bytes} bytes {:.2?}",
            events.sections(),
            blocks.len(),
            blocks.len() as u64 + skipped.blocks,
            clock.lap(),
        );
    }
    Ok(())
}

/// Tells the time since it was last asked.
struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> Duration {
        let before = std::mem::replace(&mut self.0, Instant::now());
        self.0.duration_since(before)
    }
}
