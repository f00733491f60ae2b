//! What a file holds, by its name or its first bytes.

use anyhow::{Result, bail};
use clap::ValueEnum;
use jird_formats::encoding::MARK;
use jird_formats::files::Compression;
use std::path::Path;

/// What `convert` reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON value a line
    #[value(alias = "jsonl")]
    Ndjson,
    /// JSON: the elements of an array, or one value after the other
    Json,
    /// Comma-separated values with a header
    Csv,
    /// The same, separated by tabs
    Tsv,
    /// A table of an SQLite database
    #[value(alias = "db")]
    Sqlite,
    /// Apache Parquet
    Parquet,
    /// Apache Arrow IPC
    #[value(alias = "ipc")]
    Arrow,
    /// Records that were set aside by `--on-error quarantine=FILE`: only read
    Quarantine,
}

impl Format {
    /// By the suffix, below that of a compression.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let name = Compression::of_name(path).suffix().and_then(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
        Some(match Path::new(name).extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "ndjson" | "jsonl" | "jsonlines" | "log" => Self::Ndjson,
            "json" | "geojson" => Self::Json,
            "csv" => Self::Csv,
            "tsv" | "tab" => Self::Tsv,
            "db" | "sqlite" | "sqlite3" | "db3" => Self::Sqlite,
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "arrows" | "ipc" | "feather" => Self::Arrow,
            _ => return None,
        })
    }

    /// By the first bytes; what looks like nothing else and begins like JSON is JSON.
    pub(crate) fn of_bytes(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"SQLite format 3\0") {
            return Some(Self::Sqlite);
        }
        if start.starts_with(b"PAR1") {
            return Some(Self::Parquet);
        }
        if start.starts_with(b"ARROW1") || start.starts_with(&[0xff; 4]) {
            return Some(Self::Arrow);
        }
        let text = start.strip_prefix(MARK).unwrap_or(start);
        let first = text.trim_ascii_start().first()?;
        matches!(first, b'{' | b'[' | b'"').then_some(Self::Json)
    }

    /// The suffix of files that are made.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Sqlite => "db",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Quarantine => "quarantine",
        }
    }

    /// What was asked for, or the name says.
    pub(crate) fn of_target(asked: Option<Self>, path: Option<&Path>) -> Result<Self> {
        if asked == Some(Self::Quarantine) {
            bail!("a quarantine is written by --on-error quarantine=FILE");
        }
        let Some(path) = path else { return Ok(asked.unwrap_or(Self::Ndjson)) };
        let name = path.display();
        if let Some(compressor) = Compression::foreign(Some(path), &[]) {
            bail!("{name}: {compressor} is not written; gzip (.gz) and Zstandard (.zst) are");
        }
        let Some(format) = asked.or_else(|| Self::of_name(path)) else {
            bail!("{name}: the name does not say which format; say it with --to");
        };
        if format.is_seekable() && Compression::of_name(path) != Compression::None {
            bail!(
                "{name}: a file of this format is read here and there, and cannot be compressed; leave the last suffix away"
            );
        }
        Ok(format)
    }

    /// Whether its files are read here and there, and not from beginning to end.
    pub(crate) fn is_seekable(self) -> bool {
        matches!(self, Self::Parquet | Self::Sqlite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_format_and_packing() {
        let told = |name: &str| (Format::of_name(Path::new(name)), Compression::of_name(Path::new(name)));
        assert_eq!(told("a/b.ndjson"), (Some(Format::Ndjson), Compression::None));
        assert_eq!(told("b.CSV"), (Some(Format::Csv), Compression::None));
        assert_eq!(told("b.jsonl.gz"), (Some(Format::Ndjson), Compression::Gzip));
        assert_eq!(told("b.json.zst"), (Some(Format::Json), Compression::Zstd));
        assert_eq!(told("b.gz"), (None, Compression::Gzip));
        assert_eq!(told("csv"), (None, Compression::None));
    }

    #[test]
    fn first_bytes_say_the_same() {
        assert_eq!(Format::of_bytes(b" \n[1"), Some(Format::Json));
        assert_eq!(Format::of_bytes(b"a,b\n"), None);
        assert_eq!(Format::of_bytes(b"PAR1\x15"), Some(Format::Parquet));
    }
}
