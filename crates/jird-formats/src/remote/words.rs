//! Errors of stores in words for people. They do not name the URL: the code that prints them does.

use super::address::{Address, Kind};
use super::watch::Refusal;
use object_store::Error;
use std::error::Error as StdError;
use std::io;

/// The most characters of what a server says.
const SAID_MAX: usize = 200;

/// What is wrong with a key.
pub(super) fn of_key(error: &object_store::path::Error) -> io::Error {
    use object_store::path::Error as Wrong;
    let words = match error {
        Wrong::EmptySegment { .. } => "a key with two slashes one after the other is not read".to_owned(),
        Wrong::BadSegment { .. } => {
            "a key with `.` or `..` between slashes, or with control characters, is not read".to_owned()
        }
        other => other.to_string(),
    };
    io::Error::new(io::ErrorKind::InvalidInput, words)
}

/// What is wrong with a request to a store.
pub(super) fn of(address: &Address, error: &Error) -> io::Error {
    if let Some(refused) = refused(error) {
        let kind = match refused {
            Refusal::Stalled(_) => io::ErrorKind::TimedOut,
            Refusal::CutOff { .. } => io::ErrorKind::ConnectionAborted,
            Refusal::NoCredentials => io::ErrorKind::PermissionDenied,
            Refusal::NoRanges => io::ErrorKind::Unsupported,
            Refusal::Budget(_) => io::ErrorKind::QuotaExceeded,
            Refusal::OtherRange { .. } | Refusal::TooLong => io::ErrorKind::InvalidData,
        };
        let words = match refused {
            Refusal::NoCredentials => format!("{refused}{}", credentials(address)),
            refused => refused.to_string(),
        };
        return io::Error::new(kind, words);
    }
    let said = said(error);
    let (kind, words) = match error {
        Error::NotFound { .. } => (io::ErrorKind::NotFound, missing(address, &said)),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            let status = if matches!(error, Error::PermissionDenied { .. }) { 403 } else { 401 };
            let words = format!("the server refuses access ({})", with_code(status, &said));
            (io::ErrorKind::PermissionDenied, words + &credentials(address))
        }
        Error::Precondition { .. } => (io::ErrorKind::InvalidData, CHANGED.to_owned()),
        _ => of_answer(address, error, &said),
    };
    io::Error::new(kind, words)
}

/// The message when the object is another one than before.
pub(super) const CHANGED: &str =
    "it has changed while it was read, so there is no answer from one version of it; run the command again";

fn missing(address: &Address, said: &str) -> String {
    match address.kind {
        Kind::Web => "the server has nothing there (404)".to_owned(),
        _ if said.contains("NoSuchBucket") || said.contains("ContainerNotFound") => {
            format!("{NO_BUCKET} {}", address.bucket())
        }
        _ => "there is no object with this key; a folder ends with a slash".to_owned(),
    }
}

/// Errors that the crate does not tell apart.
fn of_answer(address: &Address, error: &Error, said: &str) -> (io::ErrorKind, String) {
    if let Some(status) = status(said) {
        return match status {
            404 => (io::ErrorKind::NotFound, missing(address, said)),
            300..=399 => (
                io::ErrorKind::Other,
                format!(
                    "the server sends the request elsewhere ({status}); is this the region of the bucket? {}",
                    region(address)
                ),
            ),
            400..=499 => {
                (io::ErrorKind::Other, format!("the server refuses the request ({})", with_code(status, said)))
            }
            _ => (io::ErrorKind::Other, format!("the server fails ({}); try again", with_code(status, said))),
        };
    }
    let chain = || std::iter::successors(Some(error as &(dyn StdError + 'static)), |error| (*error).source());
    let words: Vec<String> = chain().map(ToString::to_string).collect();
    let last = words.last().map_or("", String::as_str);
    let has = |what: &str| words.iter().any(|words| words.contains(what));
    if let Some(io) = chain().find_map(|error| error.downcast_ref::<io::Error>())
        && has("error trying to connect") | has("client error (Connect)")
    {
        return (io.kind(), format!("cannot connect: {}", plain(last)));
    }
    if has("Missing AccessKeyId") || has("Missing SecretAccessKey") {
        return (
            io::ErrorKind::PermissionDenied,
            format!("half of the credentials are missing{}", credentials(address)),
        );
    }
    if has("URL scheme is not allowed") {
        let what = if address.kind == Kind::S3 { "AWS_ALLOW_HTTP=true" } else { "the variable …_ALLOW_HTTP=true" };
        return (io::ErrorKind::InvalidInput, format!("the endpoint is plain http, which only {what} allows"));
    }
    if has("Content-Length Header missing") || has("MissingContentLength") || has("Content-Length") {
        return (
            io::ErrorKind::Unsupported,
            "the server does not say how long the file is; `curl -s URL | jird …` reads it".to_owned(),
        );
    }
    if has("ccount must be specified") || has("MissingAccount") {
        return (
            io::ErrorKind::InvalidInput,
            "no account is named; AZURE_STORAGE_ACCOUNT_NAME does it, or a URL like \
             abfss://container@account.dfs.core.windows.net/key"
                .to_owned(),
        );
    }
    (io::ErrorKind::Other, plain(last))
}

fn region(address: &Address) -> &'static str {
    if address.kind == Kind::S3 { "AWS_REGION names it" } else { "" }
}

/// What gives credentials.
fn credentials(address: &Address) -> String {
    let ways = match address.kind {
        Kind::S3 => {
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY give credentials, and AWS_SKIP_SIGNATURE=true reads a public \
             bucket without any"
        }
        Kind::Google => {
            "GOOGLE_APPLICATION_CREDENTIALS names a file of credentials, and GOOGLE_SKIP_SIGNATURE=true reads a public \
             bucket without any"
        }
        Kind::Azure => {
            "AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN gives credentials, and AZURE_SKIP_SIGNATURE=true reads a \
             public container without any"
        }
        Kind::Web => return String::new(),
    };
    format!("; {ways}")
}

/// Whether a store says that it has nothing in a range: the object is empty, or shorter than it was.
pub(super) fn is_no_range(error: &Error) -> bool {
    status(&said(error)) == Some(416)
}

/// Whether what is missing is not an object, but all of the bucket.
pub(super) fn is_no_bucket(error: &io::Error) -> bool {
    error.to_string().starts_with(NO_BUCKET)
}

const NO_BUCKET: &str = "there is no bucket";

/// The refusal of ours that is the cause.
pub(super) fn refused(error: &Error) -> Option<&Refusal> {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(refused) = error.downcast_ref() {
            return Some(refused);
        }
        cause = error.source();
    }
    None
}

/// What the server said, with its status.
fn said(error: &Error) -> String {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    let mut said = String::new();
    while let Some(error) = cause {
        said = error.to_string();
        if said.starts_with("Server returned") {
            break;
        }
        cause = error.source();
    }
    said
}

/// The status in what the server said.
fn status(said: &str) -> Option<u16> {
    if said.starts_with("Received redirect without LOCATION") {
        return Some(301);
    }
    let (_, rest) = said.split_once("status code: ")?;
    rest.get(..3)?.parse().ok()
}

/// A status with the code and the message that the server gives.
fn with_code(status: u16, said: &str) -> String {
    let inner = |tag: &str| {
        let (_, rest) = said.split_once(&format!("<{tag}>"))?;
        rest.split_once("</").map(|(text, _)| plain(text))
    };
    match (inner("Code"), inner("Message")) {
        (Some(code), Some(message)) => format!("{status} {code}: {message}"),
        (Some(code), None) => format!("{status} {code}"),
        _ => status.to_string(),
    }
}

/// One line of words, without control characters, that is not too long.
fn plain(words: &str) -> String {
    let words = words.split(" (os error").next().unwrap_or_default();
    let line: String = words.chars().map(|char| if char.is_control() { ' ' } else { char }).take(SAID_MAX).collect();
    line.trim().trim_end_matches('.').to_owned()
}
