//! The report of a query.

use crate::input::StoreReads;
use crate::sql::Narrowed;
use jird::lines::Check;
use std::fmt;
use std::time::Duration;

/// What a query did, even if it failed. `Display` gives the lines of `--stats`.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of rows in the result.
    pub rows: u64,
    /// The number of records that were read or skipped.
    pub records: u64,
    /// The number of records that were tokenised. Each other record contains none of the literals that a match needs.
    pub touched: u64,
    /// The number of bytes read, not counting those read to infer types.
    pub bytes: u64,
    /// The texts that were searched for in the raw bytes, with a quote where a string begins or ends. Every record that
    /// can match has one of them.
    pub literals: Vec<String>,
    /// The number of bytes that were searched.
    pub searched_bytes: u64,
    /// The number of bytes for which the search was switched off because it did not pay.
    pub unsearched_bytes: u64,
    /// The total time.
    pub elapsed: Duration,
    /// How many of the records were checked.
    pub check: Check,
    /// The instruction set.
    pub kernel: &'static str,
    /// The number of threads that scanned.
    pub threads: usize,
    /// The conditions that the scan decided, as they were written.
    pub pushed: Vec<String>,
    /// JSON Pointers of the fields that were read.
    pub fields: Vec<String>,
    /// The number of comparisons that were unknown because the kinds differ, such as a number and a text. Records that
    /// were not tokenised are not counted.
    pub mismatches: u64,
    /// The fields whose numbers alone were computed with, and how many other values were left out.
    pub(crate) left_out: Vec<(Narrowed, u64)>,
    /// How many results became null because no number is that large.
    pub(crate) infinite: u64,
    /// The fields whose types were widened, and the records that caused it.
    pub widened: Vec<String>,
    /// How many files were left out because the keys of their folders rule them out.
    pub files_left_out: usize,
    /// What was read of event stores.
    stores: Vec<(String, StoreReads)>,
    /// Whether types were inferred from all records.
    pub inferred: bool,
    /// The number of bad records that were skipped.
    pub bad: u64,
    /// The message for the first of them.
    pub first_bad: Option<String>,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
    /// Files that are not UTF-8.
    pub refused: Vec<String>,
    /// Other notes for the user, such as names that never occur.
    pub notes: Vec<String>,
    /// Whether one scan was the answer, and no plan was made.
    pub direct: bool,
}

impl Report {
    /// Adds what was read of a store. Its damaged blocks are among the files that are not as they should be.
    pub(crate) fn add_store(&mut self, name: String, reads: StoreReads) {
        for damage in &reads.damage {
            let message = format!("damaged: {damage}");
            if !self.refused.contains(&message) {
                self.refused.push(message);
            }
        }
        self.stores.retain(|(other, _)| *other != name);
        self.stores.push((name, reads));
    }

    /// How much was searched, for which literals, and where the search was off.
    fn searched(&self) -> String {
        if self.literals.is_empty() || self.searched_bytes + self.unsearched_bytes == 0 {
            return "nothing".to_owned();
        }
        let off = match self.unsearched_bytes {
            0 => String::new(),
            bytes => format!("; switched off for {bytes} bytes, where it did not pay"),
        };
        format!("{} bytes for {}{off}", self.searched_bytes, quoted(&self.literals).join(", "))
    }
}

/// The literals in backticks, because many begin or end with a quote.
pub(crate) fn quoted(literals: &[String]) -> Vec<String> {
    literals.iter().map(|literal| format!("`{literal}`")).collect()
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.elapsed.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = self.bytes as f64 / 1e6 / seconds.max(1e-9);
        let check = match self.check {
            Check::All => "all",
            Check::Touched => "touched",
            Check::Trusted => "trusted",
        };
        let list = |items: &[String]| if items.is_empty() { "none".to_owned() } else { items.join("; ") };
        writeln!(f, "rows        {}", self.rows)?;
        writeln!(f, "records     {}", self.records)?;
        writeln!(f, "bytes       {}", self.bytes)?;
        writeln!(f, "seconds     {seconds:.3}")?;
        writeln!(f, "MB/s        {rate:.0}")?;
        writeln!(f, "check       {check}")?;
        let threads = if self.threads == 1 { "thread" } else { "threads" };
        writeln!(f, "kernel      {}, {} {threads}", self.kernel, self.threads)?;
        writeln!(f, "pushed      {}", list(&self.pushed))?;
        writeln!(f, "fields      {}", list(&self.fields))?;
        writeln!(f, "searched    {}", self.searched())?;
        writeln!(f, "tokenised   {} of {} records", self.touched, self.records)?;
        writeln!(f, "types       {}", if self.inferred { "inferred from all records" } else { "not needed" })?;
        writeln!(f, "widened     {}", list(&self.widened))?;
        writeln!(f, "mismatches  {}", self.mismatches)?;
        writeln!(f, "bad         {}", self.bad)?;
        if self.files_left_out > 0 {
            writeln!(f, "left out    {} files, by their folders", self.files_left_out)?;
        }
        for (name, reads) in &self.stores {
            writeln!(f, "store       {name}: {reads}")?;
        }
        Ok(())
    }
}
