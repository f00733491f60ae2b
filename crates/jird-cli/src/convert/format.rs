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

/// Packings that are met and neither read nor written: name, suffix, and the bytes that tell it with their place. Brotli has none.
const FOREIGN: [(&str, &str, usize, &[u8]); 7] = [
    ("bzip2", "bz2", 4, b"1AY&SY"),
    ("xz", "xz", 0, b"\xfd7zXZ\0"),
    ("LZ4", "lz4", 0, b"\x04\x22\x4d\x18"),
    ("Brotli", "br", 0, b""),
    ("zip", "zip", 0, b"PK\x03\x04"),
    ("7-Zip", "7z", 0, b"7z\xbc\xaf\x27\x1c"),
    ("compress", "Z", 0, b"\x1f\x9d"),
];

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
        let Some(path) = path else { return Ok(asked.unwrap_or(Self::Ndjson)) };
        let name = path.display();
        if let Some(packer) = Packing::foreign(Some(path), &[]) {
            bail!("{name}: {packer} is not written; gzip (.gz) and Zstandard (.zst) are");
        }
        let Some(format) = asked.or_else(|| Self::of_name(path)) else {
            bail!("{name}: the name does not say which format; say it with --to");
        };
        if format.is_seekable() && Packing::of_name(path) != Packing::None {
            bail!(
                "{name}: a file of this format is read here and there, and cannot be packed; leave the last suffix away"
            );
        }
        Ok(format)
    }

    /// Whether its files are read here and there, and not from beginning to end.
    pub(crate) fn is_seekable(self) -> bool {
        matches!(self, Self::Parquet | Self::Sqlite)
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

    /// The name of a packing that is neither read nor written, by what tells it.
    pub(crate) fn foreign(path: Option<&Path>, start: &[u8]) -> Option<&'static str> {
        let suffix = path.and_then(Path::extension).and_then(|suffix| suffix.to_str()).unwrap_or_default();
        let found = FOREIGN.iter().find(|(_, named, at, magic)| {
            let is_told = !magic.is_empty() && start.get(*at..).is_some_and(|start| start.starts_with(magic));
            is_told || (start.is_empty() || magic.is_empty()) && *named == suffix
        });
        found.map(|(name, ..)| *name)
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
        assert_eq!(Packing::foreign(None, b"BZh91AY&SY"), Some("bzip2"));
        assert_eq!(Packing::foreign(Some(Path::new("a.csv.br")), b"any"), Some("Brotli"));
        assert_eq!(Packing::foreign(Some(Path::new("a.csv.xz")), b"a,b\n"), None);
    }
}
