//! Models that are read: each document is read into the model that fits it.

use serde::Deserialize;

use super::Text;

/// The model of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Twitter,
    Catalog,
    Canada,
    Event,
    Request,
    Unknown,
}

impl Shape {
    /// The shape of each document, found before the timing begins.
    pub(crate) fn of_all(documents: &[Vec<u8>]) -> Vec<Self> {
        documents.iter().map(|text| Self::of(text)).collect()
    }

    fn of(text: &[u8]) -> Self {
        let head = String::from_utf8_lossy(&text[..text.len().min(60)]);
        let shapes = [
            ("statuses", Self::Twitter),
            ("areaNames", Self::Catalog),
            ("FeatureCollection", Self::Canada),
            ("@t", Self::Event),
            ("method", Self::Request),
        ];
        shapes
            .into_iter()
            .find(|(key, _)| head.contains(&format!("\"{key}\"")))
            .map_or(Self::Unknown, |(_, shape)| shape)
    }
}

/// Reads a document into its model and drops the model: `decode!(shape, read, arguments of read)`.
macro_rules! decode {
    ($shape:expr, $read:path, $($argument:expr),+) => {{
        use $crate::models::decoded::{Event, Request, Shape};
        use $crate::models::{canada::Canada, citm::Catalog, twitter::Twitter};
        use $crate::peer::Refusal;
        fn dropped<T, E>(model: Result<T, E>) -> Result<(), Refusal> {
            model.map(|model| drop(std::hint::black_box(model))).map_err(Refusal::rejected)
        }
        match $shape {
            Shape::Twitter => dropped::<Twitter<'_>, _>($read($($argument),+)),
            Shape::Catalog => dropped::<Catalog<'_>, _>($read($($argument),+)),
            Shape::Canada => dropped::<Canada<'_>, _>($read($($argument),+)),
            Shape::Event => dropped::<Event<'_>, _>($read($($argument),+)),
            Shape::Request => dropped::<Request<'_>, _>($read($($argument),+)),
            Shape::Unknown => Err(Refusal::Rejected),
        }
    }};
}
pub(crate) use decode;

/// The body of a small request.
pub(crate) const REQUEST: &str = r#"{"method":"GET","path":"/api/v1/users/42","user":123456,"session":"c2Vzc2lvbi1pZC0x","ip":"192.168.10.20","tags":["a","bb","ccc"],"retry":false,"weight":12.5,"trace":"00-4bf92f3577b34da6a3ce929d0e0e4736"}"#;

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read, and dropped")]
pub(crate) struct Request<'a> {
    method: &'a str,
    path: &'a str,
    user: u64,
    session: &'a str,
    ip: &'a str,
    #[serde(borrow)]
    tags: Vec<&'a str>,
    retry: bool,
    weight: f64,
    trace: &'a str,
}

/// A log event, with all its fields.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read, and dropped")]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Event<'a> {
    #[serde(rename = "@t")]
    time: &'a str,
    #[serde(rename = "@mt", borrow)]
    template: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    elapsed: f64,
    status_code: u16,
    #[serde(borrow)]
    properties: Properties<'a>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "read, and dropped")]
#[serde(rename_all = "PascalCase")]
struct Properties<'a> {
    request_id: &'a str,
    #[serde(borrow)]
    user: Text<'a>,
    customer_id: u64,
    cached: bool,
    parent: Option<u32>,
    sizes: [u32; 3],
    #[serde(borrow)]
    agent: Text<'a>,
    machine: &'a str,
    source_context: &'a str,
    application: &'a str,
    environment: &'a str,
    trace_id: &'a str,
    retries: u8,
    region: &'a str,
    #[serde(borrow, default)]
    exception: Option<Text<'a>>,
}
