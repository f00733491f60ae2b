//! `--against PATH`: the jird of another build takes part in every round.
//!
//! Each row of jird gets a counterpart, whose work the program at PATH does: `jird-before` for `jird`,
//! `jird-lines-before` for `jird-lines`. Each round gives a ratio of the two. The median and spread of these ratios are
//! shown below the task's table.
//!
//! ```text
//! other    what the program at PATH is, found by asking it
//! side     the names of the rows, and which program a row belongs to
//! turns    the order of a round: counterparts follow each other
//! ratios   the comparison, computed from the rounds
//! ```

mod other;
mod ratios;
mod side;
pub(crate) mod turns;

pub(crate) use other::Other;
pub(crate) use ratios::{Comparison, bars, compared, table};
pub(crate) use side::{Side, base, is_jird, is_other_build};

use crate::row::{Outcome, Row};
use crate::task::Task;

/// Fails those rows of the other program that were measured over other documents than jird's own rows.
///
/// Another checkout may generate its documents differently, and the ratio of different work means nothing.
pub(crate) fn same_work(rows: &mut [Row], task: Task) {
    let work = |row: &Row| {
        let measured = row.measured()?;
        // For a task that writes, the bytes are the output. The output is checked as text and may differ between
        // builds.
        Some((measured.documents, if task.writes() { 0 } else { measured.bytes }))
    };
    let own: Vec<_> = rows.iter().map(|row| (row.peer.clone(), row.input.clone(), work(row))).collect();
    for row in rows.iter_mut().filter(|row| is_other_build(&row.peer)) {
        let counterpart = own.iter().find(|(peer, input, _)| peer == base(&row.peer) && *input == row.input);
        if let (Some((.., Some(own))), Some(theirs)) = (counterpart, work(row))
            && *own != theirs
        {
            let reason = format!(
                "reads other documents: {} of {} bytes, where this barometer has {} of {}",
                theirs.0, theirs.1, own.0, own.1
            );
            row.outcome = Outcome::Failed(reason);
            row.loaded = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::Build;
    use crate::row::Measured;

    #[test]
    fn unlike_work_is_not_compared() {
        let row = |peer: &str, bytes| {
            let outcome = Outcome::Measured(Measured { bytes, documents: 1, ..Measured::default() });
            let (task, input, peer) = (Task::Small, "events".into(), peer.into());
            Row { task, input, peer, build: Build::Default, loaded: true, outcome }
        };
        let mut rows = [row("jird", 10), row("jird-before", 10), row("jird-before-again", 11), row("simdjson", 12)];
        same_work(&mut rows, Task::Small);
        let measured = rows.each_ref().map(|row| row.measured().is_some());
        assert_eq!(measured, [true, true, false, true], "{rows:?}");
        same_work(&mut rows, Task::Encode);
        assert!(rows[1].measured().is_some());
    }
}
