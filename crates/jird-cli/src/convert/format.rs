//! What a file holds, by its name or its first bytes.

use anyhow::{Result, bail};
use clap::ValueEnum;
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
}

/// How the bytes of a file are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Format {
    /// By the suffix, below that of a packing.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let name = Packing::of_name(path).suffix().and_then(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
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
        let first = start.trim_ascii_start().first()?;
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
        }
    }

    /// What was asked for, or the name says.
    pub(crate) fn of_target(asked: Option<Self>, path: Option<&Path>) -> Result<Self> {
        match (asked, path) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(Self::Ndjson),
            (None, Some(path)) => match Self::of_name(path) {
                Some(format) => Ok(format),
                None => bail!("{}: the name does not say which format; say it with --to", path.display()),
            },
        }
    }
}

impl Packing {
    /// By the suffix.
    pub(crate) fn of_name(path: &Path) -> Self {
        match path.extension().and_then(|suffix| suffix.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("gz" | "gzip") => Self::Gzip,
            Some("zst" | "zstd") => Self::Zstd,
            _ => Self::None,
        }
    }

    /// By the first bytes.
    pub(crate) fn of_bytes(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    fn suffix(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Gzip => Some(".gz"),
            Self::Zstd => Some(".zst"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_format_and_packing() {
        let told = |name: &str| (Format::of_name(Path::new(name)), Packing::of_name(Path::new(name)));
        assert_eq!(told("a/b.ndjson"), (Some(Format::Ndjson), Packing::None));
        assert_eq!(told("b.CSV"), (Some(Format::Csv), Packing::None));
        assert_eq!(told("b.jsonl.gz"), (Some(Format::Ndjson), Packing::Gzip));
        assert_eq!(told("b.json.zst"), (Some(Format::Json), Packing::Zstd));
        assert_eq!(told("b.gz"), (None, Packing::Gzip));
        assert_eq!(told("csv"), (None, Packing::None));
    }

    #[test]
    fn first_bytes_say_the_same() {
        assert_eq!(Format::of_bytes(b" \n[1"), Some(Format::Json));
        assert_eq!(Format::of_bytes(b"a,b\n"), None);
        assert_eq!(Format::of_bytes(b"PAR1\x15"), Some(Format::Parquet));
        assert_eq!(Packing::of_bytes(&[0x1f, 0x8b, 8]), Packing::Gzip);
    }
}
