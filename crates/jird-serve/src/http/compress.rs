//! Compressed answers.

use crate::request::negotiation::Coding;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// Levels at which compression costs little compared with making the rows.
const GZIP_LEVEL: u32 = 1;
const ZSTD_LEVEL: i32 = 1;

/// Packs what is pushed, or leaves it as it is.
pub(crate) enum Packer {
    Plain,
    Gzip(Box<GzEncoder<Vec<u8>>>),
    Zstd(Box<zstd::stream::write::Encoder<'static, Vec<u8>>>),
}

impl Packer {
    pub(crate) fn new(coding: Option<Coding>) -> io::Result<Self> {
        Ok(match coding {
            None => Self::Plain,
            Some(Coding::Gzip) => Self::Gzip(Box::new(GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL)))),
            Some(Coding::Zstd) => Self::Zstd(Box::new(zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL)?)),
        })
    }

    /// Takes the text, and returns what is ready to be sent; often nothing.
    pub(crate) fn push(&mut self, text: &mut Vec<u8>) -> io::Result<Vec<u8>> {
        let ready = match self {
            Self::Plain => return Ok(std::mem::take(text)),
            Self::Gzip(encoder) => {
                encoder.write_all(text)?;
                std::mem::take(encoder.get_mut())
            }
            Self::Zstd(encoder) => {
                encoder.write_all(text)?;
                std::mem::take(encoder.get_mut())
            }
        };
        text.clear();
        Ok(ready)
    }

    /// What is left.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(Vec::new()),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        }
    }
}

/// All of a text.
pub(crate) fn packed(mut text: Vec<u8>, coding: Coding) -> io::Result<Vec<u8>> {
    let mut packer = Packer::new(Some(coding))?;
    let mut packed = packer.push(&mut text)?;
    packed.extend_from_slice(&packer.finish()?);
    Ok(packed)
}
