//! `canada.json`: numbers.

use serde::{Deserialize, Serialize};

use super::Text;

#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Canada<'a> {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(borrow)]
    features: Vec<Feature<'a>>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Feature<'a> {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(borrow)]
    properties: Properties<'a>,
    geometry: Geometry,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Properties<'a> {
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Geometry {
    #[serde(rename = "type")]
    kind: Kind,
    coordinates: Vec<Vec<(f64, f64)>>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
enum Kind {
    FeatureCollection,
    Feature,
    Polygon,
}
