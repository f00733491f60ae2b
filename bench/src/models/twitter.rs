//! `twitter.json`: text, much of it not ASCII, and some integers.
#![expect(clippy::struct_field_names, reason = "the document's names")]

use serde::{Deserialize, Serialize};

use super::Text;

#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Twitter<'a> {
    #[serde(borrow)]
    statuses: Vec<Status<'a>>,
    #[serde(borrow)]
    search_metadata: SearchMetadata<'a>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Status<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
    #[serde(borrow)]
    created_at: Text<'a>,
    id: u64,
    #[serde(borrow)]
    id_str: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    source: Text<'a>,
    truncated: bool,
    in_reply_to_status_id: Option<u64>,
    #[serde(borrow)]
    in_reply_to_status_id_str: Option<Text<'a>>,
    in_reply_to_user_id: Option<u32>,
    #[serde(borrow)]
    in_reply_to_user_id_str: Option<Text<'a>>,
    #[serde(borrow)]
    in_reply_to_screen_name: Option<Text<'a>>,
    #[serde(borrow)]
    user: User<'a>,
    geo: (),
    coordinates: (),
    place: (),
    contributors: (),
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    retweeted_status: Option<Box<Status<'a>>>,
    retweet_count: u32,
    favorite_count: u32,
    #[serde(borrow)]
    entities: Entities<'a>,
    favorited: bool,
    retweeted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    possibly_sensitive: Option<bool>,
    #[serde(borrow)]
    lang: Text<'a>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    result_type: Text<'a>,
    #[serde(borrow)]
    iso_language_code: Text<'a>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "as in the document")]
struct User<'a> {
    id: u32,
    #[serde(borrow)]
    id_str: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    screen_name: Text<'a>,
    #[serde(borrow)]
    location: Text<'a>,
    #[serde(borrow)]
    description: Text<'a>,
    #[serde(borrow)]
    url: Option<Text<'a>>,
    #[serde(borrow)]
    entities: UserEntities<'a>,
    protected: bool,
    followers_count: u32,
    friends_count: u32,
    listed_count: u32,
    #[serde(borrow)]
    created_at: Text<'a>,
    favourites_count: u32,
    utc_offset: Option<i32>,
    #[serde(borrow)]
    time_zone: Option<Text<'a>>,
    geo_enabled: bool,
    verified: bool,
    statuses_count: u32,
    #[serde(borrow)]
    lang: Text<'a>,
    contributors_enabled: bool,
    is_translator: bool,
    is_translation_enabled: bool,
    #[serde(borrow)]
    profile_background_color: Text<'a>,
    #[serde(borrow)]
    profile_background_image_url: Text<'a>,
    #[serde(borrow)]
    profile_background_image_url_https: Text<'a>,
    profile_background_tile: bool,
    #[serde(borrow)]
    profile_image_url: Text<'a>,
    #[serde(borrow)]
    profile_image_url_https: Text<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    profile_banner_url: Option<Text<'a>>,
    #[serde(borrow)]
    profile_link_color: Text<'a>,
    #[serde(borrow)]
    profile_sidebar_border_color: Text<'a>,
    #[serde(borrow)]
    profile_sidebar_fill_color: Text<'a>,
    #[serde(borrow)]
    profile_text_color: Text<'a>,
    profile_use_background_image: bool,
    default_profile: bool,
    default_profile_image: bool,
    following: bool,
    follow_request_sent: bool,
    notifications: bool,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct UserEntities<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    url: Option<Urls<'a>>,
    #[serde(borrow)]
    description: Urls<'a>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Urls<'a> {
    #[serde(borrow)]
    urls: Vec<Url<'a>>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Url<'a> {
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow)]
    expanded_url: Text<'a>,
    #[serde(borrow)]
    display_url: Text<'a>,
    indices: (u32, u32),
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Entities<'a> {
    #[serde(borrow)]
    hashtags: Vec<Hashtag<'a>>,
    symbols: Vec<()>,
    #[serde(borrow)]
    urls: Vec<Url<'a>>,
    #[serde(borrow)]
    user_mentions: Vec<Mention<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    media: Option<Vec<Medium<'a>>>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Hashtag<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    indices: (u32, u32),
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Mention<'a> {
    #[serde(borrow)]
    screen_name: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    id: u32,
    #[serde(borrow)]
    id_str: Text<'a>,
    indices: (u32, u32),
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Medium<'a> {
    id: u64,
    #[serde(borrow)]
    id_str: Text<'a>,
    indices: (u32, u32),
    #[serde(borrow)]
    media_url: Text<'a>,
    #[serde(borrow)]
    media_url_https: Text<'a>,
    #[serde(borrow)]
    url: Text<'a>,
    #[serde(borrow)]
    display_url: Text<'a>,
    #[serde(borrow)]
    expanded_url: Text<'a>,
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    sizes: Sizes,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_status_id: Option<u64>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    source_status_id_str: Option<Text<'a>>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Sizes {
    medium: Size,
    small: Size,
    thumb: Size,
    large: Size,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct Size {
    w: u32,
    h: u32,
    resize: Resize,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Resize {
    Fit,
    Crop,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
struct SearchMetadata<'a> {
    completed_in: f64,
    max_id: u64,
    #[serde(borrow)]
    max_id_str: Text<'a>,
    #[serde(borrow)]
    next_results: Text<'a>,
    #[serde(borrow)]
    query: Text<'a>,
    #[serde(borrow)]
    refresh_url: Text<'a>,
    count: u32,
    since_id: u64,
    #[serde(borrow)]
    since_id_str: Text<'a>,
}
