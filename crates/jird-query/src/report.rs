//! What a query has done.

use jird::lines::Check;
use std::fmt;
use std::time::Duration;

/// What a query has done, also if it failed. `Display` gives the lines of `--stats`.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Rows of the result.
    pub rows: u64,
    /// Records read for it, or passed by.
    pub records: u64,
    /// Those that were tokenised: the others have no literal that a match must have.
    pub touched: u64,
    /// Bytes read for it, without those read to infer types.
    pub bytes: u64,
    /// What was searched for in the raw bytes, with a quote where a string begins or ends: a record that can match has one of them.
    pub literals: Vec<String>,
    /// Bytes that were searched.
    pub searched_bytes: u64,
    /// Bytes for which the search was switched off, since it did not pay.
    pub unsearched_bytes: u64,
    /// Time in all.
    pub elapsed: Duration,
    /// How much was checked.
    pub check: Check,
    /// The instruction set.
    pub kernel: &'static str,
    /// Threads that scanned.
    pub threads: usize,
    /// Conditions that the scan decided, as written.
    pub pushed: Vec<String>,
    /// JSON Pointers of the fields that were read.
    pub fields: Vec<String>,
    /// Comparisons that were unknown because the kinds differ, a number against a text; as far as the records were looked into.
    pub mismatches: u64,
    /// Fields whose type had to give way, and to which record.
    pub widened: Vec<String>,
    /// Whether types were inferred: those that all records have.
    pub inferred: bool,
    /// Bad records that were passed by.
    pub bad: u64,
    /// The first of them, in words.
    pub first_bad: Option<String>,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
    /// Files that are not in UTF-8.
    pub refused: Vec<String>,
    /// Things worth knowing, such as names that never occur.
    pub notes: Vec<String>,
}

impl Report {
    /// What was searched for, and where not.
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

/// Literals, of which many begin or end with a quote.
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
        writeln!(f, "kernel      {}, {} threads", self.kernel, self.threads)?;
        writeln!(f, "pushed      {}", list(&self.pushed))?;
        writeln!(f, "fields      {}", list(&self.fields))?;
        writeln!(f, "searched    {}", self.searched())?;
        writeln!(f, "tokenised   {} of {} records", self.touched, self.records)?;
        writeln!(f, "types       {}", if self.inferred { "inferred from all records" } else { "not needed" })?;
        writeln!(f, "widened     {}", list(&self.widened))?;
        writeln!(f, "mismatches  {}", self.mismatches)?;
        writeln!(f, "bad         {}", self.bad)
    }
}
