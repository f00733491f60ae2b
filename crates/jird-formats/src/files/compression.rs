//! How the bytes of a file are compressed, detected from its name or its first bytes.

use super::Reader;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

/// Compressions that are recognised but neither read nor written: the name, the suffix, and the bytes that identify it,
/// with their place. Brotli has no such bytes.
const FOREIGN: [(&str, &str, usize, &[u8]); 4] = [
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
    /// bzip2, which is only read. Several streams, one after the other, are one text.
    Bzip2,
    /// xz, which is only read. Several streams, one after the other, are one text.
    Xz,
    /// Frames of LZ4, which are only read.
    Lz4,
}

/// The decoder of an xz file may take this much memory, in KiB: four times what the highest level needs.
const XZ_KB_MAX: u32 = 256 << 10;

impl Compression {
    /// Detects the compression from the suffix.
    pub fn of_name(path: &Path) -> Self {
        match path.extension().and_then(|suffix| suffix.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("gz" | "gzip") => Self::Gzip,
            Some("zst" | "zstd") => Self::Zstd,
            Some("bz2") => Self::Bzip2,
            Some("xz") => Self::Xz,
            Some("lz4") => Self::Lz4,
            _ => Self::None,
        }
    }

    /// Detects the compression from the first bytes.
    pub fn of_bytes(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            // The second one is that of an empty text.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..] | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, ..] => {
                Self::Bzip2
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x04, 0x22, 0x4d, 0x18, ..] => Self::Lz4,
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
            Self::Bzip2 => Some("bzip2"),
            Self::Xz => Some("xz"),
            Self::Lz4 => Some("LZ4"),
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
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(reader)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(reader, true, XZ_KB_MAX)),
            Self::Lz4 => Box::new(Lz4Frames::new(reader)),
        })
    }

    /// The compression that a new file of this name has.
    ///
    /// # Errors
    /// If files of this compression are not written.
    pub fn of_target(path: &Path) -> Result<Self, String> {
        let of_name = Self::of_name(path);
        let unwritten = match of_name {
            Self::None => Self::foreign(Some(path), &[]),
            Self::Gzip | Self::Zstd => None,
            Self::Bzip2 | Self::Xz | Self::Lz4 => of_name.name(),
        };
        match unwritten {
            Some(name) => Err(format!(
                "{}: jird does not write {name}; it writes gzip (.gz) and Zstandard (.zst)",
                path.display()
            )),
            None => Ok(of_name),
        }
    }

    /// A writer that compresses to `writer`, at the usual level of the compression.
    ///
    /// # Errors
    /// If the encoder cannot be created, or if this compression is [only read](Self::of_target).
    pub fn compress<W: Write>(self, writer: W) -> io::Result<Compressor<W>> {
        Ok(match self {
            Self::None => Compressor::None(writer),
            Self::Gzip => Compressor::Gzip(flate2::write::GzEncoder::new(writer, flate2::Compression::default())),
            Self::Zstd => Compressor::Zstd(zstd::Encoder::new(writer, zstd::DEFAULT_COMPRESSION_LEVEL)?),
            Self::Bzip2 | Self::Xz | Self::Lz4 => return Err(io::ErrorKind::Unsupported.into()),
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

/// Reads all frames of a file.
struct Lz4Frames<R: Read> {
    decoder: lz4_flex::frame::FrameDecoder<Endless<R>>,
    ended: bool,
}

impl<R: Read> Lz4Frames<R> {
    fn new(reader: R) -> Self {
        Self { decoder: lz4_flex::frame::FrameDecoder::new(Endless(BufReader::new(reader))), ended: false }
    }
}

impl<R: Read> Read for Lz4Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !buffer.is_empty() {
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            // A frame is complete. Another one may follow.
            self.ended = self.decoder.get_mut().0.fill_buf()?.is_empty();
        }
        Ok(0)
    }
}

/// Fails at its end, and not with `UnexpectedEof`: the decoder would take a file for complete that is cut off.
struct Endless<R: Read>(BufReader<R>);

impl<R: Read> Read for Endless<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::Error::other("the LZ4 frame is cut off")),
            read => Ok(read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"{\"a\":1}\n{\"a\":2}\n";
    const BZIP2: &[u8] = b"\
        \x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x22\x9d\xe2\xe9\x00\x00\x06\x59\x80\x00\x10\x10\x00\x30\x10\x20\
        \x00\x00\x0a\x20\x00\x31\x0c\x08\x12\x80\x7a\x89\xc2\x26\x86\x8b\xe2\xee\x48\xa7\x0a\x12\x04\x53\xbc\x5d\
        \x20";
    const XZ: &[u8] = b"\
        \xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\x01\x00\
        \x0f\x7b\x22\x61\x22\x3a\x31\x7d\x0a\x7b\x22\x61\x22\x3a\x32\x7d\x0a\x00\x14\x5f\x11\x02\x79\xf7\x0d\xcc\
        \x00\x01\x28\x10\xe5\x0b\x6c\x60\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a";
    const LZ4: &[u8] = b"\
        \x04\x22\x4d\x18\x6c\x40\x10\x00\x00\x00\x00\x00\x00\x00\x83\x10\x00\x00\x80\x7b\x22\x61\x22\x3a\x31\x7d\
        \x0a\x7b\x22\x61\x22\x3a\x32\x7d\x0a\x00\x00\x00\x00\x62\x3a\xb3\xdb";

    fn decompressed(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let compression = Compression::of_bytes(packed);
        compression.decompress(Box::new(io::Cursor::new(packed.to_vec())))?.read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn a_truncated_bzip2_xz_or_lz4_file_is_an_error() {
        for packed in [BZIP2, XZ, LZ4] {
            assert_eq!(decompressed(packed).unwrap(), TEXT);
            assert_eq!(decompressed(&packed.repeat(3)).unwrap(), TEXT.repeat(3));
            for cut in 10..packed.len() {
                assert!(decompressed(&packed[..cut]).is_err(), "{:?} cut at {cut}", Compression::of_bytes(packed));
                let second = [packed, &packed[..cut]].concat();
                assert!(decompressed(&second).is_err(), "the second stream cut at {cut}");
            }
            for at in 6..packed.len() {
                for bit in 0..8 {
                    let mut wrong = packed.to_vec();
                    wrong[at] ^= 1 << bit;
                    // Nothing panics; a flag without meaning for the text may be set.
                    if let Ok(text) = decompressed(&wrong) {
                        assert_eq!(text, TEXT, "bit {bit} of byte {at}");
                    }
                }
            }
            assert!(Compression::of_bytes(packed).compress(io::sink()).is_err());
        }
    }

    #[test]
    fn the_compression_is_recognised_by_the_first_bytes() {
        assert_eq!(Compression::of_bytes(&[0x1f, 0x8b, 8]), Compression::Gzip);
        assert_eq!(Compression::of_bytes(b"BZh91AY&SY"), Compression::Bzip2);
        assert_eq!(Compression::foreign(Some(Path::new("a.csv.br")), b"any"), Some("Brotli"));
        assert!(Compression::of_target(Path::new("a.csv.xz")).is_err_and(|words| words.contains("does not write xz")));
    }
}
