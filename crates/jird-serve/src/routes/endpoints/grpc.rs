//! Unary calls of gRPC ("gRPC over HTTP2"): one message in a frame, and the status in trailers.

use super::media::GRPC;
use super::unpack::Packed;
use crate::base::problem::Problem;
use crate::http::body::{Body, Outcome};
use crate::request::uri;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

const ACCEPT_ENCODING: HeaderName = HeaderName::from_static("grpc-accept-encoding");
const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

/// Bytes before a message: whether it is compressed, and its length.
const FRAME: usize = 5;

/// Takes the frame away from the only message of a call, and says how that is compressed.
///
/// # Errors
/// 400 unless the body is exactly one message.
pub(super) fn unframe(body: &mut Vec<u8>, coding: Packed) -> Result<Packed, Problem> {
    let wrong = || Problem::bad("a call has one message, with its length before it");
    let (flag, len) = match body[..] {
        [flag, a, b, c, d, ..] => (flag, u32::from_be_bytes([a, b, c, d]) as usize),
        _ => return Err(wrong()),
    };
    if body.len() - FRAME != len {
        return Err(wrong());
    }
    let packed = match (flag, coding) {
        (0, _) => Packed::Plain,
        (1, coding) if coding != Packed::Plain => coding,
        _ => return Err(Problem::bad("a message is compressed, and grpc-encoding does not say how")),
    };
    body.drain(..FRAME);
    Ok(packed)
}

/// The answer to a call that went well.
pub(super) fn answer(message: &[u8]) -> Response<Body> {
    let mut framed = Vec::with_capacity(FRAME + message.len());
    framed.push(0);
    framed.extend_from_slice(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
    framed.extend_from_slice(message);
    let mut trailers = HeaderMap::new();
    trailers.insert(STATUS, HeaderValue::from_static("0"));
    let mut response = Response::new(Body::trailed(framed, trailers));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(GRPC));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip,deflate,zstd"));
    response
}

/// The answer to one that failed. Its HTTP status is always 200; the outcome is for the log.
pub(super) fn failure(problem: &Problem) -> Response<Body> {
    let mut response = Response::new(Body::whole(Vec::new()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(GRPC));
    headers.insert(STATUS, HeaderValue::from(status(problem.status)));
    let message = HeaderValue::from_str(&uri::encoded(&problem.to_string()));
    headers.insert(MESSAGE, message.expect("it has letters, digits and signs"));
    response.extensions_mut().insert(Outcome(problem.status));
    response
}

/// The status of a call. Clients of OpenTelemetry send again what failed with 14 (UNAVAILABLE) or 4 (`DEADLINE_EXCEEDED`).
fn status(status: StatusCode) -> u16 {
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE | StatusCode::INSUFFICIENT_STORAGE => 14,
        StatusCode::REQUEST_TIMEOUT => 4,
        StatusCode::UNAUTHORIZED => 16,
        StatusCode::FORBIDDEN => 7,
        StatusCode::PAYLOAD_TOO_LARGE => 8,
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::UNSUPPORTED_MEDIA_TYPE => 12,
        status if status.is_client_error() => 3,
        _ => 13,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_one_message() {
        let mut body = b"\0\0\0\0\x02ab".to_vec();
        assert_eq!(unframe(&mut body, Packed::Zstd).unwrap(), Packed::Plain);
        assert_eq!(body, b"ab");
        let mut body = b"\x01\0\0\0\x02ab".to_vec();
        assert_eq!(unframe(&mut body, Packed::Zstd).unwrap(), Packed::Zstd);
        for wrong in [&b""[..], b"\0\0\0\0", b"\0\0\0\0\x02a", b"\0\0\0\0\x01ab", b"\x01\0\0\0\0", b"\x02\0\0\0\0"] {
            assert!(unframe(&mut wrong.to_vec(), Packed::Plain).is_err(), "{wrong:?}");
        }
    }
}
