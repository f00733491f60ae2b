//! Prints the measurements, for people and for programs.

use super::{Answer, Header, Measured};
use serde::Serialize;
use std::io::{self, Write};

/// Prints a header and a table.
pub(super) fn text(out: &mut impl Write, header: &Header, measured: &[Measured]) -> io::Result<()> {
    let Header { source, records, bytes, time_range, threads, check, kernel, runs, percentile } = header;
    let times = time_range.as_ref().map_or("none".to_owned(), |(first, last)| format!("{first} to {last}"));
    writeln!(out, "source      {}", source.join(" "))?;
    writeln!(out, "records     {records}")?;
    writeln!(out, "bytes       {bytes}")?;
    writeln!(out, "time range  {times}")?;
    writeln!(out, "read by     {threads} threads, {kernel}, {check} checked")?;
    writeln!(out, "runs        {runs}")?;
    writeln!(out, "percentile  {percentile}\n")?;
    let time = format!("p{percentile} ms");
    let names = [&*time, "spread", "records/s", "hits/s", "hit rate", "MB/s"];
    let mut rows = vec![names.map(str::to_owned).to_vec()];
    for one in measured {
        let rates = Rates::of(one, *percentile);
        rows.push(vec![
            format!("{:.2}", rates.seconds * 1e3),
            format!("±{:.1} %", one.timing.spread() * 100.0),
            short(rates.records_per_second),
            short(rates.hits_per_second),
            format!("{:.2} %", rates.hit_rate * 100.0),
            format!("{:.0}", rates.megabytes_per_second),
        ]);
    }
    let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..names.len()).map(wide).collect();
    let queries = ["query"].into_iter().chain(measured.iter().map(|one| &*one.case.sql));
    for (row, query) in rows.iter().zip(queries) {
        for (cell, width) in row.iter().zip(&widths) {
            write!(out, "{cell:>width$}  ")?;
        }
        writeln!(out, "{query}")?;
    }
    Ok(())
}

/// Prints one JSON object.
pub(super) fn json(out: &mut impl Write, header: &Header, measured: &[Measured]) -> Result<(), jird::Error> {
    #[derive(Serialize)]
    struct Document<'a> {
        #[serde(flatten)]
        header: &'a Header,
        cases: Vec<Row<'a>>,
    }

    #[derive(Serialize)]
    struct Row<'a> {
        query: &'a str,
        hits: u64,
        #[serde(flatten)]
        rates: Rates,
        spread: f64,
        all_seconds: &'a [f64],
    }

    let cases = measured.iter().map(|one| Row {
        query: &one.case.sql,
        hits: one.answer.rows,
        rates: Rates::of(one, header.percentile),
        spread: one.timing.spread(),
        all_seconds: one.timing.seconds(),
    });
    let cases = cases.collect();
    jird::to_writer_pretty(&mut *out, &Document { header, cases })?;
    Ok(writeln!(out)?)
}

/// Rates, computed from the time at the percentile.
#[derive(Serialize)]
struct Rates {
    seconds: f64,
    records_per_second: f64,
    hits_per_second: f64,
    /// Hits divided by records.
    hit_rate: f64,
    megabytes_per_second: f64,
}

impl Rates {
    fn of(one: &Measured, percentile: u8) -> Self {
        let seconds = one.timing.percentile(percentile);
        let Answer { rows, records, bytes, .. } = one.answer;
        #[expect(clippy::cast_precision_loss, reason = "rates for people")]
        let (rows, records, bytes) = (rows as f64, records as f64, bytes as f64);
        Self {
            seconds,
            records_per_second: records / seconds,
            hits_per_second: rows / seconds,
            hit_rate: if records > 0.0 { rows / records } else { 0.0 },
            megabytes_per_second: bytes / 1e6 / seconds,
        }
    }
}

/// Formats a value with up to four digits, and k, M or G for thousands, millions or thousands of millions.
fn short(value: f64) -> String {
    let (unit, letter) = match value {
        1e10.. => (1e9, " G"),
        1e7.. => (1e6, " M"),
        1e4.. => (1e3, " k"),
        _ => (1.0, ""),
    };
    format!("{:.0}{letter}", value / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_short() {
        let found = [0.0, 9.6, 9999.0, 12_345.0, 7e6, 2.5e7, 3e10].map(short);
        assert_eq!(found, ["0", "10", "9999", "12 k", "7000 k", "25 M", "30 G"]);
    }
}
