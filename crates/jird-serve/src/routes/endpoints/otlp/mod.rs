//! OpenTelemetry's logs and traces by OTLP/HTTP, as Protocol Buffers and as JSON.
//!
//! A log record, or a span, becomes an event with the names of compact events where they have one: `@t`, `@l`, `@m`, `@tr`, `@sp`.
//! What is the same for many records, resource and scope, stands in each of them, so that an event says all there is to
//! say of it.

mod json;
mod parts;
mod protobuf;
mod record;
mod signal;
mod span;

use super::media::Form;
use super::outcome::BodyOutcome;
use super::wire;
use crate::base::problem::Problem;
use crate::base::settings::Limits;
use crate::events::intake::RefusedEvent;
use hyper::StatusCode;
use jird::hooks::write_object;
use jird_store::Settings;
use record::Record;
use signal::Signal;
use span::Span;

/// The most values within each other.
const DEPTH_MAX: usize = 32;
/// The most refused records that the answer names.
const NAMED_MAX: usize = 100;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telemetry {
    /// `/v1/logs`
    Logs,
    /// `/v1/traces`
    Traces,
}

impl Telemetry {
    /// What a call of gRPC sends.
    pub(super) fn of_call(service: &str, call: &str) -> Option<Self> {
        match (service, call) {
            ("opentelemetry.proto.collector.logs.v1.LogsService", "Export") => Some(Self::Logs),
            ("opentelemetry.proto.collector.trace.v1.TraceService", "Export") => Some(Self::Traces),
            _ => None,
        }
    }
}

/// The events of a body.
///
/// # Errors
/// It is no such request, or has too many events.
pub(super) fn take<'b>(
    body: &'b [u8],
    (sent, form): (Telemetry, Form),
    settings: &Settings,
    limits: &Limits,
) -> Result<BodyOutcome<'b>, Problem> {
    match (sent, form) {
        (Telemetry::Logs, Form::Protobuf) => protobuf::take::<Record>(body, settings, limits),
        (Telemetry::Logs, _) => json::take::<Record>(body, settings, limits),
        (Telemetry::Traces, Form::Protobuf) => protobuf::take::<Span>(body, settings, limits),
        (Telemetry::Traces, _) => json::take::<Span>(body, settings, limits),
    }
}

/// What is wrong with the records that were refused, in one text.
fn message(taken: &BodyOutcome<'_>) -> String {
    let named = taken.refused.iter().take(NAMED_MAX);
    let tell = |refused: &RefusedEvent<'_>| format!("{} {}: {}", refused.kind, refused.index + 1, refused.message);
    let mut text: Vec<_> = named.map(tell).collect();
    let more = taken.refused_count() - text.len() as u64;
    if more > 0 {
        text.push(format!("and {more} more"));
    }
    text.join("; ")
}

/// The response in JSON.
pub(super) fn answer_json(sent: Telemetry, taken: &BodyOutcome<'_>) -> Vec<u8> {
    let [.., refused] = match sent {
        Telemetry::Logs => Record::NAMES,
        Telemetry::Traces => Span::NAMES,
    };
    let mut text = Vec::new();
    write_object(&mut text, |object| {
        if !taken.refused.is_empty() {
            object.object("partialSuccess", |object| {
                object.member(refused, &taken.refused_count().to_string());
                object.member("errorMessage", &message(taken));
            });
        }
    });
    text
}

/// The response, which has the same fields for both.
pub(super) fn answer_protobuf(taken: &BodyOutcome<'_>) -> Vec<u8> {
    let mut answer = Vec::new();
    if !taken.refused.is_empty() {
        let mut partial = Vec::new();
        wire::write_number(1, taken.refused_count(), &mut partial);
        wire::write_bytes(2, message(taken).as_bytes(), &mut partial);
        wire::write_bytes(1, &partial, &mut answer);
    }
    answer
}

/// `google.rpc.Status` in JSON.
pub(super) fn failure_json(problem: &Problem) -> Vec<u8> {
    let mut text = Vec::new();
    write_object(&mut text, |object| {
        object.member("code", code(problem.status));
        object.member("message", &problem.to_string());
    });
    text
}

/// `google.rpc.Status`.
pub(super) fn failure_protobuf(problem: &Problem) -> Vec<u8> {
    let mut status = Vec::new();
    wire::write_number(1, code(problem.status), &mut status);
    wire::write_bytes(2, problem.to_string().as_bytes(), &mut status);
    status
}

/// The number of `google.rpc.Code`.
fn code(status: StatusCode) -> u64 {
    match status {
        StatusCode::UNAUTHORIZED => 16,
        StatusCode::FORBIDDEN => 7,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::PAYLOAD_TOO_LARGE => 8,
        StatusCode::METHOD_NOT_ALLOWED => 12,
        StatusCode::SERVICE_UNAVAILABLE => 14,
        status if status.is_client_error() => 3,
        _ => 13,
    }
}
