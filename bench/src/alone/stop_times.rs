//! `gtfs`: reads 139 MB of GTFS stop times from a file into a `Vec` of structs.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jird_formats::{CsvSource, CsvType};
use serde::Deserialize;

use super::{Contestant, Run, here, told};
use crate::peers::{CXX, JIRD};
use crate::task;
use crate::whole::{self, Report};

/// The size of a large city's stop times.
const BYTES: usize = 139_000_000;

pub(super) const CONTESTANTS: &[Contestant] = &[
    here("jird", "CsvSource, and event::for_each", |setting| timed(|| jird(setting.file))),
    here("csv", "the csv crate and serde: one StringRecord used again", |setting| timed(|| csv_crate(setting.file))),
    here("csv-simple", "the csv crate and serde: deserialize()", |setting| timed(|| csv_simple(setting.file))),
    Contestant {
        name: "polars",
        builds: JIRD,
        note: "columns, no structs: read_csv with a schema, one thread",
        run: Run::Script,
    },
    Contestant {
        name: "duckdb",
        builds: CXX,
        note: "columns, no structs: a table in memory, with a schema, one thread",
        run: Run::Script,
    },
];

/// A record.
#[derive(Deserialize)]
struct StopTime {
    trip_id: String,
    arrival_time: String,
    departure_time: String,
    stop_id: String,
    stop_sequence: u32,
    stop_headsign: String,
    pickup_type: u8,
    drop_off_type: u8,
    timepoint: u8,
}

impl StopTime {
    fn sum(&self) -> u64 {
        let texts = [&self.trip_id, &self.arrival_time, &self.departure_time, &self.stop_id, &self.stop_headsign];
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let numbers = [self.pickup_type, self.drop_off_type, self.timepoint].map(u64::from);
        bytes as u64 + u64::from(self.stop_sequence) + numbers.iter().sum::<u64>()
    }
}

fn timed(read: impl FnOnce() -> Result<Vec<StopTime>, String>) -> Result<Report, String> {
    let started = Instant::now();
    let all = read()?;
    let report = told(started.elapsed().as_secs_f64(), all.len() as u64);
    Ok(Report { checksum: all.iter().map(StopTime::sum).sum(), ..report })
}

fn jird(path: &Path) -> Result<Vec<StopTime>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut source = CsvSource::new(file);
    for name in ["stop_sequence", "pickup_type", "drop_off_type", "timepoint"] {
        source = source.column_type(name, CsvType::Number);
    }
    let mut all = Vec::new();
    let each = |_, stop_time| {
        all.push(stop_time);
        Ok::<(), jird::Error>(())
    };
    jird::event::for_each(&mut source, each).map_err(|failure| format!("{failure:?}"))?;
    Ok(all)
}

fn csv_crate(path: &Path) -> Result<Vec<StopTime>, String> {
    let failed = |error: csv::Error| error.to_string();
    let mut reader = csv::Reader::from_path(path).map_err(failed)?;
    let headers = reader.headers().map_err(failed)?.clone();
    let (mut record, mut all) = (csv::StringRecord::new(), Vec::new());
    while reader.read_record(&mut record).map_err(failed)? {
        all.push(record.deserialize(Some(&headers)).map_err(failed)?);
    }
    Ok(all)
}

fn csv_simple(path: &Path) -> Result<Vec<StopTime>, String> {
    let reader = csv::Reader::from_path(path).map_err(|error| error.to_string())?;
    reader.into_deserialize().collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// The stop times of the corpus: their header, followed by their records, repeated until the size is reached.
pub(super) fn file() -> Result<PathBuf, String> {
    whole::kept("bench-stop-times.csv", |path| {
        let from = task::corpus().join("tables/rust-csv/bench/gtfs-mbta-stop-times.csv");
        let text = fs::read_to_string(&from).map_err(|error| format!("{}: {error}", from.display()))?;
        let (header, records) = text.split_once('\n').ok_or("no header")?;
        let mut all = format!("{header}\n");
        while all.len() < BYTES {
            all.push_str(records);
        }
        File::create(path).and_then(|mut file| file.write_all(all.as_bytes())).map_err(|error| error.to_string())
    })
}
