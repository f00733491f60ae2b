//! Reads back the records that are in a quarantine file.

use jird::policy::RECORD_BYTES_MAX;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

/// A line may contain a record in which every byte is escaped, and a message about it.
const LINE_BYTES_MAX: u64 = 7 * RECORD_BYTES_MAX as u64;

/// The records in a quarantine file, one a line, as they stood in their input. With them a run can be repeated, after
/// the program was updated or the texts in `raw` were corrected. The n-th output line is the record of the file's n-th
/// line.
///
/// ```
/// use std::io::Read;
/// let file = br#"{"file":"a.ndjson","line":7,"offset":99,"kind":"comma","message":"","raw":"{\"a\":1 \"b\":2}"}"#;
/// let mut records = String::new();
/// jird_formats::files::Quarantined::new(&file[..]).read_to_string(&mut records)?;
/// assert_eq!(records, "{\"a\":1 \"b\":2}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Quarantined<R> {
    lines: BufReader<R>,
    number: u64,
    line: Vec<u8>,
    record: Vec<u8>,
    /// The number of the record's bytes that were read.
    at: usize,
}

impl<R> fmt::Debug for Quarantined<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quarantined").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<R: Read> Quarantined<R> {
    /// Reads the quarantine file that `reader` reads.
    pub fn new(reader: R) -> Self {
        let lines = BufReader::with_capacity(1 << 16, reader);
        Self { lines, number: 0, line: Vec::new(), record: Vec::new(), at: 0 }
    }

    fn next(&mut self) -> io::Result<()> {
        (self.at, self.number) = (0, self.number + 1);
        self.line.clear();
        self.record.clear();
        let read = (&mut self.lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(());
        }
        if !self.line.trim_ascii().is_empty() {
            let Some(record) = record(&self.line) else {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!(
                        "line {} is not a line of a quarantine file: it has no text `raw` or `base64`",
                        self.number
                    ),
                ));
            };
            self.record = record;
            // In a JSON record, a line feed can be only where a blank could be, except for the one at its end.
            self.record.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b'\r');
        }
        self.record.push(b'\n');
        Ok(())
    }
}

/// The record in a line of a quarantine file.
fn record(line: &[u8]) -> Option<Vec<u8>> {
    let document = jird::parse(line).ok()?;
    let text = |pointer| document.root().pointer(pointer).and_then(|value| Some(value.as_str()?.into_owned()));
    match text("/raw") {
        Some(raw) => Some(raw.into_bytes()),
        None => base64_simd::STANDARD.decode_to_vec(text("/base64")?).ok(),
    }
}

impl<R: Read> Read for Quarantined<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.record.len() {
            self.next()?;
        }
        let len = (self.record.len() - self.at).min(buffer.len());
        buffer[..len].copy_from_slice(&self.record[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}
