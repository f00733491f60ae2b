//! What a query reports besides its answer.

use crate::output::report::Report;
use crate::scan::ScanOptions;
use crate::sql::{KindOfValues, Narrowed, Rewritten};
use crate::types::kinds;
use crate::types::prepared::Source;

/// Notes on parts of the query that are probably mistakes.
pub(crate) fn of(rewritten: &Rewritten, sources: &[Source<'_>], options: &ScanOptions, report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    for (Narrowed { written, to }, count) in &report.left_out {
        let values = match (to, count) {
            (KindOfValues::Numbers, 1) => "value that is not a number was left out of what is computed",
            (KindOfValues::Numbers, _) => "values that are not numbers were left out of what is computed",
            (KindOfValues::Texts, 1) => "value that is not a text became null",
            (KindOfValues::Texts, _) => "values that are not texts became null",
            (KindOfValues::Arrays, 1) => "value that is not an array has no rows",
            (KindOfValues::Arrays, _) => "values that are not arrays have no rows",
            (KindOfValues::Json, 1) => "text that is not JSON became null",
            (KindOfValues::Json, _) => "texts that are not JSON became null",
            (KindOfValues::Times, 1) => "value that is not a time became null",
            (KindOfValues::Times, _) => "values that are not times became null",
        };
        let met = sources.iter().find_map(|source| source.met(written));
        let met = met.map_or_else(String::new, |met| format!(" has {met}"));
        notes.push(format!("`{written}`{met}: {count} {values}"));
    }
    let what = "beyond the largest number (about 1.8e308), or a division by zero";
    match report.infinite {
        0 => {}
        1 => notes.push(format!("1 result became null: it is {what}")),
        count => notes.push(format!("{count} results became null: they are {what}")),
    }
    for (index, source) in sources.iter().enumerate() {
        notes.append(&mut source.absent(options));
        notes.extend(rewritten.leaves.iter().flat_map(|leaf| kinds::notes(leaf, index, source, options)));
    }
    notes
}
