//! `sonic-rs`: its `Value`, its lazy values and its typed reader.

use std::hint::black_box;

use serde::de::IgnoredAny;
use sonic_rs::{JsonContainerTrait, JsonNumberTrait, JsonValueTrait, LazyValue, PointerTree, Value, ValueRef, pointer};

use crate::fold::Fold;
use crate::migrate::{Migrant, migrates};
use crate::million::{self, Part};
use crate::models::Text;
use crate::models::decoded::{Shape, decode};
use crate::models::encoded::Encoded;
use crate::peer::typed::{Authors, Event, Timeline};
use crate::peer::{Answer, Peer, Refusal, fold_distinct, fold_texts, fold_two};
use crate::peers::shared::{reads_structs, reads_tree};
use crate::streamed::Visited;

/// `sonic_rs::Value`.
#[derive(Default)]
pub(super) struct Tree {
    documents: Vec<Vec<u8>>,
    minified: Vec<u8>,
    migrant: Migrant<super::names::SonicRs>,
}

impl Tree {
    fn read(&self, index: usize) -> Answer<Value> {
        sonic_rs::from_slice(&self.documents[index]).map_err(Refusal::rejected)
    }
}

impl Peer for Tree {
    fn events(&mut self, index: usize) -> Answer<Fold> {
        Visited::sum(sonic_rs::Deserializer::from_slice(&self.documents[index]).into_stream())
    }

    fn version(&self) -> String {
        version()
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.documents = documents.to_vec();
    }

    fn dom(&mut self, index: usize) -> Answer<Fold> {
        let mut fold = Fold::default();
        visit(&self.read(index)?, &mut fold);
        Ok(fold)
    }

    fn parse(&mut self, index: usize) -> Answer<()> {
        self.read(index).map(drop)
    }

    fn million(&mut self, index: usize, part: Part) -> Answer<usize> {
        let text = &self.documents[index];
        match part {
            Part::Validate => sonic_rs::from_slice::<IgnoredAny>(text).map(|_| 0).map_err(Refusal::rejected),
            Part::Tree => self.parse(index).map(|()| 0),
            Part::TreeStructs => million::counted(sonic_rs::from_value(&self.read(index)?)),
            Part::Structs => million::counted(sonic_rs::from_slice(text)),
            Part::Made => Ok(black_box(million::made()).len()),
        }
    }

    fn validate(&mut self, index: usize) -> Answer<()> {
        self.parse(index)
    }

    reads_tree!();

    fn minify(&mut self, index: usize) -> Answer<usize> {
        // Numbers keep their text, which is the fastest way.
        let mut reader = sonic_rs::Deserializer::from_slice(&self.documents[index]).use_rawnumber();
        let root: Value = reader.deserialize().map_err(Refusal::rejected)?;
        reader.end().map_err(Refusal::rejected)?;
        self.minified.clear();
        sonic_rs::to_writer(&mut self.minified, &root).map_err(Refusal::rejected)?;
        Ok(self.minified.len())
    }

    migrates!(migrant);
}

/// `sonic_rs::get_many` over each lazy tweet, and `IgnoredAny` for validation.
pub(super) struct Lazy {
    documents: Vec<Vec<u8>>,
    fields: PointerTree,
    ids: PointerTree,
    two: PointerTree,
}

impl Default for Lazy {
    fn default() -> Self {
        let mut fields = PointerTree::new();
        for name in ["created_at", "text", "id", "retweet_count", "favorite_count"] {
            fields.add_path([name]);
        }
        for name in ["screen_name", "id", "followers_count"] {
            fields.add_path(pointer!["user", name].iter());
        }
        let mut ids = PointerTree::new();
        ids.add_path(pointer!["user", "id"].iter());
        ids.add_path(pointer!["retweeted_status", "user", "id"].iter());
        let mut two = PointerTree::new();
        ["Message", "Elapsed"].iter().for_each(|name| two.add_path([*name]));
        Self { documents: Vec::new(), fields, ids, two }
    }
}

impl Lazy {
    fn tweet(&self, tweet: &LazyValue<'_>, fold: &mut Fold) -> Option<()> {
        let values = sonic_rs::get_many(tweet.as_raw_str(), &self.fields).ok()?;
        let value = |slot: usize| values[slot].as_ref();
        for slot in [0, 1, 5] {
            fold.string(value(slot)?.as_str()?);
        }
        for slot in [2, 3, 4, 6, 7] {
            fold.integer(value(slot)?.as_i64()?);
        }
        Some(())
    }
}

impl Peer for Lazy {
    fn version(&self) -> String {
        version()
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.documents = documents.to_vec();
    }

    fn validate(&mut self, index: usize) -> Answer<()> {
        sonic_rs::from_slice::<IgnoredAny>(&self.documents[index]).map(drop).map_err(Refusal::rejected)
    }

    fn partial(&mut self, index: usize) -> Answer<Fold> {
        let tweets = sonic_rs::get_from_slice(&self.documents[index], ["statuses"]).map_err(Refusal::rejected)?;
        let mut fold = Fold::default();
        for tweet in tweets.into_array_iter().ok_or(Refusal::Rejected)? {
            self.tweet(&tweet.map_err(Refusal::rejected)?, &mut fold).ok_or(Refusal::Rejected)?;
        }
        Ok(fold)
    }

    fn users(&mut self, index: usize) -> Answer<Fold> {
        let tweets = sonic_rs::get_from_slice(&self.documents[index], ["statuses"]).map_err(Refusal::rejected)?;
        let mut ids = Vec::new();
        for tweet in tweets.into_array_iter().ok_or(Refusal::Rejected)? {
            let tweet = tweet.map_err(Refusal::rejected)?;
            let found = sonic_rs::get_many(tweet.as_raw_str(), &self.ids).map_err(Refusal::rejected)?;
            ids.extend(found.iter().flatten().filter_map(JsonValueTrait::as_u64));
        }
        Ok(fold_distinct(ids))
    }

    fn two(&mut self, index: usize) -> Answer<Fold> {
        let found = sonic_rs::get_many(self.documents[index].as_slice(), &self.two).map_err(Refusal::rejected)?;
        let (message, elapsed) = (found[0].as_ref(), found[1].as_ref());
        let message = message.and_then(JsonValueTrait::as_str).ok_or(Refusal::Rejected)?;
        Ok(fold_two(message, elapsed.and_then(JsonValueTrait::as_f64).ok_or(Refusal::Rejected)?))
    }
}

reads_structs!(sonic_rs, "BENCH_SONIC_RS_VERSION");

fn visit(value: &Value, fold: &mut Fold) {
    match value.as_ref() {
        ValueRef::Null => fold.null(),
        ValueRef::Bool(value) => fold.boolean(value),
        ValueRef::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => fold.integer(value),
            (None, Some(value)) => fold.unsigned(value),
            (None, None) => fold.real(number.as_f64().unwrap_or(f64::NAN)),
        },
        ValueRef::String(text) => fold.string(text),
        ValueRef::Array(elements) => {
            elements.iter().for_each(|element| visit(element, fold));
            fold.container(elements.len());
        }
        ValueRef::Object(members) => {
            for (key, value) in members {
                fold.string(key);
                visit(value, fold);
            }
            fold.container(members.len());
        }
    }
}

fn version() -> String {
    env!("BENCH_SONIC_RS_VERSION").to_owned()
}
