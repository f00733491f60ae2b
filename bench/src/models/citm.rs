//! `citm_catalog.json`: small objects of integers, and maps with integer keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Text;

type Id = u32;

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Catalog<'a> {
    #[serde(borrow)]
    area_names: BTreeMap<Id, Text<'a>>,
    #[serde(borrow)]
    audience_sub_category_names: BTreeMap<Id, Text<'a>>,
    #[serde(borrow)]
    block_names: BTreeMap<Id, Text<'a>>,
    #[serde(borrow)]
    events: BTreeMap<Id, Event<'a>>,
    #[serde(borrow)]
    performances: Vec<Performance<'a>>,
    #[serde(borrow)]
    seat_category_names: BTreeMap<Id, Text<'a>>,
    #[serde(borrow)]
    sub_topic_names: BTreeMap<Id, Text<'a>>,
    #[serde(borrow)]
    subject_names: BTreeMap<Id, Text<'a>>,
    #[serde(borrow)]
    topic_names: BTreeMap<Id, Text<'a>>,
    topic_sub_topics: BTreeMap<Id, Vec<Id>>,
    #[serde(borrow)]
    venue_names: BTreeMap<Text<'a>, Text<'a>>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    description: (),
    id: Id,
    #[serde(borrow)]
    logo: Option<Text<'a>>,
    #[serde(borrow)]
    name: Text<'a>,
    sub_topic_ids: Vec<Id>,
    subject_code: (),
    subtitle: (),
    topic_ids: Vec<Id>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Performance<'a> {
    event_id: Id,
    id: Id,
    #[serde(borrow)]
    logo: Option<Text<'a>>,
    name: (),
    prices: Vec<Price>,
    seat_categories: Vec<SeatCategory>,
    seat_map_image: (),
    start: u64,
    #[serde(borrow)]
    venue_code: Text<'a>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Price {
    amount: u32,
    audience_sub_category_id: Id,
    seat_category_id: Id,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct SeatCategory {
    areas: Vec<Area>,
    seat_category_id: Id,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Area {
    area_id: Id,
    block_ids: Vec<Id>,
}
