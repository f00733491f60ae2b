//! What a file contains, detected from its name or its first bytes.

use super::{Compression, RECORD_SEPARATOR};
use crate::encoding::MARK;
use std::ffi::OsStr;
use std::path::Path;

/// What a file contains.
///
/// ```
/// use jird_formats::files::FileFormat;
/// use std::path::Path;
/// assert_eq!(FileFormat::of_name(Path::new("log.jsonl.gz")), Some(FileFormat::Ndjson));
/// assert_eq!(FileFormat::of_bytes(b"PAR1\x15\x04"), Some(FileFormat::Parquet));
/// assert_eq!(FileFormat::Sqlite.suffix(), "db");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// One JSON value on each line.
    Ndjson,
    /// One JSON value, or several, one after the other.
    Json,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// An SQLite database.
    Sqlite,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, as a file or as a stream.
    Arrow,
    /// Bad records that were set aside, as [`Quarantined`](super::Quarantined) reads them.
    Quarantine,
}

/// What a format is called, and the signs by which it is recognised.
struct Facts {
    format: FileFormat,
    /// Its name on a command line, and others that it has there.
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
    /// The suffixes of its files, in lower case. New files get the first one.
    suffixes: &'static [&'static str],
    /// Suffixes that other kinds of files use too.
    shared_suffixes: &'static [&'static str],
    /// The first bytes of its files.
    magic: &'static [&'static [u8]],
}

/// In the order of [`FileFormat`].
const FORMATS: [Facts; 8] = [
    Facts {
        format: FileFormat::Ndjson,
        name: "ndjson",
        aliases: &["jsonl"],
        about: "One JSON value per line",
        suffixes: &["ndjson", "jsonl", "jsonlines", "ldjson"],
        shared_suffixes: &["log"],
        magic: &[],
    },
    Facts {
        format: FileFormat::Json,
        name: "json",
        aliases: &[],
        about: "JSON: the elements of an array, or one value after the other",
        suffixes: &["json", "geojson"],
        shared_suffixes: &[],
        magic: &[],
    },
    Facts {
        format: FileFormat::Csv,
        name: "csv",
        aliases: &[],
        about: "Comma-separated values with a header",
        suffixes: &["csv"],
        shared_suffixes: &[],
        magic: &[],
    },
    Facts {
        format: FileFormat::Tsv,
        name: "tsv",
        aliases: &[],
        about: "Tab-separated values with a header",
        suffixes: &["tsv", "tab"],
        shared_suffixes: &[],
        magic: &[],
    },
    Facts {
        format: FileFormat::Sqlite,
        name: "sqlite",
        aliases: &["db"],
        about: "A table of an SQLite database",
        suffixes: &["db", "sqlite", "sqlite3", "db3"],
        shared_suffixes: &[],
        magic: &[b"SQLite format 3\0"],
    },
    Facts {
        format: FileFormat::Parquet,
        name: "parquet",
        aliases: &[],
        about: "Apache Parquet",
        suffixes: &["parquet", "pq"],
        shared_suffixes: &[],
        magic: &[b"PAR1"],
    },
    Facts {
        format: FileFormat::Arrow,
        name: "arrow",
        aliases: &["ipc"],
        about: "Apache Arrow IPC",
        suffixes: &["arrow", "arrows", "ipc", "feather"],
        shared_suffixes: &[],
        // For files and for streams.
        magic: &[b"ARROW1", &[0xff; 4]],
    },
    Facts {
        format: FileFormat::Quarantine,
        name: "quarantine",
        aliases: &[],
        about: "Bad records that `--on-error quarantine=FILE` set aside: only read",
        suffixes: &[],
        shared_suffixes: &[],
        magic: &[],
    },
];

/// The most bytes that are needed to tell a format or a compression.
pub const MAGIC_BYTES: usize = 16;

impl FileFormat {
    /// All formats.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|facts| facts.format)
    }

    /// Detects the format from the suffix, after removing that of a compression.
    pub fn of_name(path: &Path) -> Option<Self> {
        by_suffix(path, |facts, suffix| facts.suffixes.contains(&suffix) || facts.shared_suffixes.contains(&suffix))
    }

    /// Detects the format from a suffix that no other kind of file uses. Unlike [`of_name`](Self::of_name), it does not
    /// accept `.log`, because most logs are not JSON.
    pub fn of_own_name(path: &Path) -> Option<Self> {
        by_suffix(path, |facts, suffix| facts.suffixes.contains(&suffix))
    }

    /// Detects the format from the first bytes. A file that looks like nothing else and begins like JSON is JSON.
    pub fn of_bytes(start: &[u8]) -> Option<Self> {
        let facts = FORMATS.iter().find(|facts| facts.magic.iter().any(|magic| start.starts_with(magic)));
        if let Some(facts) = facts {
            return Some(facts.format);
        }
        let text = start.strip_prefix(MARK).unwrap_or(start);
        let first = text.trim_ascii_start().first()?;
        matches!(*first, b'{' | b'[' | b'"' | RECORD_SEPARATOR).then_some(Self::Json)
    }

    /// The format with this name.
    pub fn named(name: &str) -> Option<Self> {
        let is_named = |facts: &&Facts| facts.name == name || facts.aliases.contains(&name);
        FORMATS.iter().find(is_named).map(|facts| facts.format)
    }

    fn facts(self) -> &'static Facts {
        &FORMATS[self as usize]
    }

    /// Its name, as on a command line.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Other names that it has there.
    pub fn aliases(self) -> &'static [&'static str] {
        self.facts().aliases
    }

    /// What it is, in a line.
    pub fn about(self) -> &'static str {
        self.facts().about
    }

    /// The suffix of new files, without the dot.
    pub fn suffix(self) -> &'static str {
        self.facts().suffixes.first().unwrap_or(&self.name())
    }

    /// Whether its files are not text.
    pub fn is_binary(self) -> bool {
        match self {
            Self::Sqlite | Self::Parquet | Self::Arrow => true,
            Self::Ndjson | Self::Json | Self::Csv | Self::Tsv | Self::Quarantine => false,
        }
    }

    /// Whether records are written in this format. All are read.
    pub fn can_write(self) -> bool {
        self != Self::Quarantine
    }

    /// Whether files of this format are read with seeks instead of from beginning to end.
    pub fn is_seekable(self) -> bool {
        matches!(self, Self::Parquet | Self::Sqlite)
    }
}

fn by_suffix(path: &Path, is_told: impl Fn(&Facts, &str) -> bool) -> Option<FileFormat> {
    let name = match Compression::of_name(path) {
        Compression::None => path.file_name()?,
        _ => path.file_stem()?,
    };
    let suffix = Path::new(name).extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
    FORMATS.iter().find(|facts| is_told(facts, &suffix)).map(|facts| facts.format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_format_and_compression() {
        let told = |name: &str| (FileFormat::of_name(Path::new(name)), Compression::of_name(Path::new(name)));
        assert_eq!(told("a/b.ndjson"), (Some(FileFormat::Ndjson), Compression::None));
        assert_eq!(told("b.CSV"), (Some(FileFormat::Csv), Compression::None));
        assert_eq!(told("b.jsonl.gz"), (Some(FileFormat::Ndjson), Compression::Gzip));
        assert_eq!(told("b.csv.gzip"), (Some(FileFormat::Csv), Compression::Gzip));
        assert_eq!(told("b.json.zst"), (Some(FileFormat::Json), Compression::Zstd));
        assert_eq!(told("b.gz"), (None, Compression::Gzip));
        assert_eq!(told("csv"), (None, Compression::None));
    }

    #[test]
    fn a_log_is_read_as_lines_but_its_name_does_not_decide() {
        let log = Path::new("a.log");
        assert_eq!((FileFormat::of_name(log), FileFormat::of_own_name(log)), (Some(FileFormat::Ndjson), None));
        assert_eq!(FileFormat::of_own_name(Path::new("a.ldjson.zst")), Some(FileFormat::Ndjson));
    }

    #[test]
    fn the_format_is_recognised_by_the_first_bytes() {
        assert_eq!(FileFormat::of_bytes(b" \n[1"), Some(FileFormat::Json));
        assert_eq!(FileFormat::of_bytes(b"\xef\xbb\xbf{"), Some(FileFormat::Json));
        assert_eq!(FileFormat::of_bytes(b"\x1e{"), Some(FileFormat::Json));
        assert_eq!(FileFormat::of_bytes(b"a,b\n"), None);
        assert_eq!(FileFormat::of_bytes(b"PAR1\x15"), Some(FileFormat::Parquet));
        let longest = FORMATS.iter().flat_map(|facts| facts.magic).map(|magic| magic.len()).max();
        assert_eq!(longest, Some(MAGIC_BYTES));
    }

    #[test]
    fn each_format_is_recognised_by_its_names_and_its_own_suffix() {
        for (index, format) in FileFormat::all().enumerate() {
            assert_eq!(format as usize, index);
            assert!(
                [&[format.name()], format.aliases()]
                    .concat()
                    .iter()
                    .all(|name| FileFormat::named(name) == Some(format))
            );
            let name = format!("a.{}", format.suffix());
            assert_eq!(FileFormat::of_own_name(Path::new(&name)), Some(format).filter(|format| format.can_write()));
        }
    }
}
