//! Adds up `Elapsed` over NDJSON, exactly, with one record's buffers for all lines:
//!
//!     cargo run --release --example sum_elapsed examples/events.ndjson
//!
//! Every line is checked whole, but only the wanted number is ever decoded.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use jird::record::{Record, RecordBuffer};
use rust_decimal::Decimal;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: sum_elapsed FILE")?;
    let (scanned, elapsed) = sum(BufReader::new(File::open(&path)?)).map_err(|error| format!("{path}:{error}"))?;
    println!("scanned: {scanned}");
    println!("total elapsed: {elapsed}");
    Ok(())
}

/// How many lines there are, and the sum.
pub(crate) fn sum(mut file: impl BufRead) -> Result<(u64, Decimal), Box<dyn Error>> {
    let mut line = Vec::new();
    let mut buffer = RecordBuffer::new();
    let mut elapsed = Decimal::ZERO;
    let mut scanned = 0;
    while file.read_until(b'\n', &mut line)? > 0 {
        scanned += 1;
        // A blank line is not a record.
        if !line.trim_ascii().is_empty() {
            let record =
                Record::scan(&line, &mut buffer).map_err(|error| format!("{scanned}: {}", error.locate(&line)))?;
            if let Some(number) = record.get("Elapsed").and_then(jird::Value::as_number) {
                elapsed += number.parse::<Decimal>()?;
            }
        }
        line.clear();
    }
    Ok((scanned, elapsed))
}
