//! How the bytes of a file are compressed, detected from its name or its first bytes.

use super::Reader;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;

/// Compressions that are recognised but neither read nor written: the name, the suffix, and the bytes that identify it,
/// with their place. Brotli has no such bytes.
const FOREIGN: [(&str, &str, usize, &[u8]); 7] = [
    ("bzip2", "bz2", 4, b"1AY&SY"),
    ("xz", "xz", 0, b"\xfd7zXZ\0"),
    ("LZ4", "lz4", 0, b"\x04\x22\x4d\x18"),
    ("Brotli", "br", 0, b""),
    ("zip", "zip", 0, b"PK\x03\x04"),
    ("7-Zip", "7z", 0, b"7z\xbc\xaf\x27\x1c"),
    ("compress", "Z", 0, b"\x1f\x9d"),
];

/// How the bytes of a file are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not compressed.
    #[default]
    None,
    /// gzip (RFC 1952). Several members, one after the other, are one text.
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl Compression {
    /// Detects the compression from the suffix.
    pub fn of_name(path: &Path) -> Self {
        match path.extension().and_then(|suffix| suffix.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("gz" | "gzip") => Self::Gzip,
            Some("zst" | "zstd") => Self::Zstd,
            _ => Self::None,
        }
    }

    /// Detects the compression from the first bytes.
    pub fn of_bytes(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    /// The name of a compression that is neither read nor written, detected from a file's name or its first bytes.
    pub fn foreign(path: Option<&Path>, start: &[u8]) -> Option<&'static str> {
        let suffix = path.and_then(Path::extension).and_then(|suffix| suffix.to_str()).unwrap_or_default();
        let found = FOREIGN.iter().find(|(_, named, at, magic)| {
            let is_told = !magic.is_empty() && start.get(*at..).is_some_and(|start| start.starts_with(magic));
            is_told || (start.is_empty() || magic.is_empty()) && *named == suffix
        });
        found.map(|(name, ..)| *name)
    }

    /// The name of the compression.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("Zstandard"),
        }
    }

    /// The decompressed content of `reader`.
    ///
    /// # Errors
    /// If the decoder cannot be created.
    pub fn decompress(self, reader: Reader) -> io::Result<Reader> {
        Ok(match self {
            Self::None => reader,
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(reader)),
            Self::Zstd => Box::new(Frames(zstd::Decoder::new(reader)?)),
        })
    }

    /// A writer that compresses to `writer`, at the usual level of the compression.
    ///
    /// # Errors
    /// If the encoder cannot be created.
    pub fn compress<W: Write>(self, writer: W) -> io::Result<Compressor<W>> {
        Ok(match self {
            Self::None => Compressor::None(writer),
            Self::Gzip => Compressor::Gzip(flate2::write::GzEncoder::new(writer, flate2::Compression::default())),
            Self::Zstd => Compressor::Zstd(zstd::Encoder::new(writer, zstd::DEFAULT_COMPRESSION_LEVEL)?),
        })
    }
}

/// A writer that compresses what it is given.
pub enum Compressor<W: Write> {
    /// Writes everything unchanged.
    None(W),
    /// Compresses to gzip.
    Gzip(flate2::write::GzEncoder<W>),
    /// Compresses to Zstandard.
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Compressor<W> {
    /// Writes the end, and returns the writer, flushed.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn finish(self) -> io::Result<W> {
        let mut writer = match self {
            Self::None(writer) => writer,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        writer.flush()?;
        Ok(writer)
    }
}

impl<W: Write> fmt::Debug for Compressor<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None(_) => "None",
            Self::Gzip(_) => "Gzip",
            Self::Zstd(_) => "Zstd",
        })
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::None(writer) => writer.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::None(writer) => writer.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }
}

/// Gives messages for errors that zstd reports by number only.
struct Frames<R: io::BufRead>(zstd::Decoder<'static, R>);

impl<R: io::BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "the Zstandard frame is cut off"),
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_a_packing() {
        assert_eq!(Compression::of_bytes(&[0x1f, 0x8b, 8]), Compression::Gzip);
        assert_eq!(Compression::foreign(None, b"BZh91AY&SY"), Some("bzip2"));
        assert_eq!(Compression::foreign(Some(Path::new("a.csv.br")), b"any"), Some("Brotli"));
        assert_eq!(Compression::foreign(Some(Path::new("a.csv.xz")), b"a,b\n"), None);
    }
}
