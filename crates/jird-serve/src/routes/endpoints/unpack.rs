//! Bodies that are compressed: unpacked within the limit of a body and the room of all.

use super::Endpoint;
use super::media::Form;
use crate::base::problem::Problem;
use crate::http::body::{ROOM, Received};
use crate::request::negotiation::text;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use hyper::StatusCode;
use hyper::header::{CONTENT_ENCODING, HeaderMap, HeaderName};
use std::io::Read;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The greatest window of Zstandard, as a power of two: 8 MiB, which every decoder should take (RFC 8878, section
/// 3.1.1.1.2).
const WINDOW_LOG_MAX: u32 = 23;

const MESSAGE_ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packed {
    Plain,
    Gzip,
    Deflate,
    Zstd,
    /// One block.
    Snappy,
}

impl Packed {
    /// What a request says of its body.
    ///
    /// # Errors
    /// 415.
    pub(super) fn of(endpoint: &Endpoint, form: Form, headers: &HeaderMap) -> Result<Self, Problem> {
        if matches!(endpoint, Endpoint::Call(_)) {
            return Self::of_message(headers);
        }
        // Its clients never say so.
        let is_snappy = *endpoint == Endpoint::Loki && form == Form::Protobuf;
        let coding = text(headers, &CONTENT_ENCODING).unwrap_or_default();
        match &*coding.trim().to_ascii_lowercase() {
            "" | "snappy" if is_snappy => Ok(Self::Snappy),
            "" | "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "deflate" => Ok(Self::Deflate),
            "zstd" => Ok(Self::Zstd),
            _ => Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "bodies are packed by gzip, deflate or zstd")),
        }
    }

    /// How messages of gRPC are compressed that say they are.
    fn of_message(headers: &HeaderMap) -> Result<Self, Problem> {
        match &*text(headers, &MESSAGE_ENCODING).unwrap_or_default() {
            "" | "identity" => Ok(Self::Plain),
            "gzip" => Ok(Self::Gzip),
            "deflate" => Ok(Self::Deflate),
            "zstd" => Ok(Self::Zstd),
            _ => Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "messages are packed by gzip, deflate or zstd")),
        }
    }

    /// The text of a body. What it takes is added to what the body holds.
    ///
    /// # Errors
    /// 413 if it is longer than a body may be, 400 if it cannot be unpacked, 503 if there is no room.
    pub(super) fn unpack(
        self,
        body: Vec<u8>,
        bytes_max: usize,
        rooms: &Arc<Semaphore>,
        received: &mut Received,
    ) -> Result<Vec<u8>, Problem> {
        match self {
            Self::Plain => Ok(body),
            Self::Snappy => {
                let len = snap::raw::decompress_len(&body).map_err(|error| broken(&error))?;
                if len > bytes_max {
                    return Err(too_long(bytes_max));
                }
                received.take_room(rooms, len.div_ceil(ROOM))?;
                snap::raw::Decoder::new().decompress_vec(&body).map_err(|error| broken(&error))
            }
            Self::Gzip => read(MultiGzDecoder::new(&body[..]), bytes_max, rooms, received),
            Self::Deflate => read(ZlibDecoder::new(&body[..]), bytes_max, rooms, received),
            Self::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(&body[..]).and_then(|mut decoder| {
                    decoder.window_log_max(WINDOW_LOG_MAX)?;
                    Ok(decoder)
                });
                read(decoder.map_err(|error| broken(&error))?, bytes_max, rooms, received)
            }
        }
    }
}

fn read(
    mut decoder: impl Read,
    bytes_max: usize,
    rooms: &Arc<Semaphore>,
    received: &mut Received,
) -> Result<Vec<u8>, Problem> {
    let mut text = Vec::new();
    loop {
        // As much as there is already, so that the text is copied seldom.
        let units = text.len().div_ceil(ROOM).max(4);
        received.take_room(rooms, units)?;
        let wanted = (units * ROOM).min(bytes_max - text.len() + 1);
        text.reserve_exact(wanted);
        let read = decoder.by_ref().take(wanted as u64).read_to_end(&mut text).map_err(|error| broken(&error))?;
        if text.len() > bytes_max {
            return Err(too_long(bytes_max));
        }
        if read < wanted {
            return Ok(text);
        }
    }
}

fn too_long(bytes_max: usize) -> Problem {
    let detail = format!("an unpacked body has at most {bytes_max} bytes here");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
}

fn broken(error: &dyn core::fmt::Display) -> Problem {
    Problem::bad(format!("the body cannot be unpacked: {error}"))
}
