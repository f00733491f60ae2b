//! What kind of body comes.

use super::Endpoint;
use crate::base::problem::Problem;
use crate::request::negotiation::text;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderMap};

pub(super) const PROTOBUF: &str = "application/x-protobuf";
pub(super) const GRPC: &str = "application/grpc";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";

/// The form of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Lines,
    Json,
    Protobuf,
}

impl Form {
    /// What a request says of its body. A page of another server can send a body without asking first, but only with a
    /// type that is none of these.
    ///
    /// # Errors
    /// 415 if the endpoint does not accept it.
    pub(super) fn of(
        endpoint: &Endpoint,
        headers: &HeaderMap,
        parameters: &[(String, String)],
    ) -> Result<Self, Problem> {
        let media = media(headers);
        let is_json = media == "application/json";
        let is_lines = matches!(&*media, "application/x-ndjson" | "application/ndjson" | "application/jsonl");
        let is_clef = media == "application/vnd.serilog.clef" || is_lines;
        let is_elastic =
            matches!(&*media, "application/vnd.elasticsearch+x-ndjson" | "application/vnd.elasticsearch+json");
        let asks_clef = || parameters.iter().any(|(name, _)| name == "clef");
        match endpoint {
            Endpoint::Ingest if is_clef => Ok(Self::Lines),
            Endpoint::Clef if is_clef || is_json => Ok(Self::Lines),
            Endpoint::Raw if is_clef || is_json && asks_clef() => Ok(Self::Lines),
            Endpoint::Bulk(_) if is_lines || is_json || is_elastic => Ok(Self::Lines),
            Endpoint::Ingest | Endpoint::Raw | Endpoint::Telemetry(_) | Endpoint::Loki if is_json => Ok(Self::Json),
            Endpoint::Document(..) if is_json || is_elastic => Ok(Self::Json),
            Endpoint::Telemetry(_) | Endpoint::Loki if media == PROTOBUF => Ok(Self::Protobuf),
            // `application/grpc+json` and others are not those of OpenTelemetry.
            Endpoint::Call(_) if media == GRPC || media == "application/grpc+proto" => Ok(Self::Protobuf),
            _ => Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, endpoint.wanted())),
        }
    }
}

impl Endpoint {
    fn wanted(&self) -> &'static str {
        match self {
            Self::Ingest => "events come as application/x-ndjson or application/json",
            Self::Clef | Self::Raw => "events come as application/vnd.serilog.clef or application/json",
            Self::Document(..) => "a document comes as application/json",
            Self::Bulk(_) | Self::Elastic(_) => "actions come as application/x-ndjson or application/json",
            Self::Loki => "streams come as application/x-protobuf or application/json",
            Self::Call(_) => "messages come as application/grpc",
            Self::Telemetry(_) => "logs and traces come as application/x-protobuf or application/json",
        }
    }
}

/// Whether a request is a call of gRPC.
pub(super) fn is_call(headers: &HeaderMap) -> bool {
    let media = media(headers);
    media == GRPC || media.starts_with("application/grpc+")
}

/// Whether a request has a body in the format of Protocol Buffers.
pub(super) fn is_protobuf(headers: &HeaderMap) -> bool {
    media(headers) == PROTOBUF
}

/// The type of the body, without parameters.
fn media(headers: &HeaderMap) -> String {
    let media = text(headers, &CONTENT_TYPE).unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
