//! `serde_json`: its `Value` and its typed reader. It has default features, so its floats may be off by the last bit.

use std::hint::black_box;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::fold::Fold;
use crate::migrate::{Migrant, migrates};
use crate::million::{self, Hello, Part};
use crate::models::Text;
use crate::models::decoded::{Shape, decode};
use crate::models::encoded::Encoded;
use crate::peer::typed::{Authors, Event, Timeline};
use crate::peer::{Answer, Peer, Refusal, fold_distinct, fold_texts, fold_two};
use crate::peers::shared::{reads_structs, reads_tree};
use crate::streamed::Visited;

/// `serde_json::Value`.
#[derive(Default)]
pub(super) struct Tree {
    documents: Vec<Vec<u8>>,
    minified: Vec<u8>,
    migrant: Migrant<super::names::SerdeJson>,
}

impl Tree {
    fn read(&self, index: usize) -> Answer<Value> {
        serde_json::from_slice(&self.documents[index]).map_err(Refusal::rejected)
    }
}

impl Peer for Tree {
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
        match part {
            Part::Validate => self.validate(index).map(|()| 0),
            Part::Tree => self.parse(index).map(|()| 0),
            Part::TreeStructs => million::counted(Vec::<Hello<'_>>::deserialize(&self.read(index)?)),
            Part::Structs => million::counted(serde_json::from_slice(&self.documents[index])),
            Part::Made => Ok(black_box(million::made()).len()),
        }
    }

    fn validate(&mut self, index: usize) -> Answer<()> {
        serde_json::from_slice::<IgnoredAny>(&self.documents[index]).map(drop).map_err(Refusal::rejected)
    }

    fn events(&mut self, index: usize) -> Answer<Fold> {
        Visited::sum(serde_json::Deserializer::from_slice(&self.documents[index]).into_iter())
    }

    reads_tree!();

    fn minify(&mut self, index: usize) -> Answer<usize> {
        let root = self.read(index)?;
        self.minified.clear();
        serde_json::to_writer(&mut self.minified, &root).map_err(Refusal::rejected)?;
        Ok(self.minified.len())
    }

    migrates!(migrant);
}

reads_structs!(serde_json, "BENCH_SERDE_JSON_VERSION");

/// The fold of a value, for `dom`.
pub(super) fn fold_value(value: &Value) -> Fold {
    let mut fold = Fold::default();
    visit(value, &mut fold);
    fold
}

fn visit(value: &Value, fold: &mut Fold) {
    match value {
        Value::Null => fold.null(),
        Value::Bool(value) => fold.boolean(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => fold.integer(value),
            (None, Some(value)) => fold.unsigned(value),
            (None, None) => fold.real(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => fold.string(text),
        Value::Array(elements) => {
            for element in elements {
                visit(element, fold);
            }
            fold.container(elements.len());
        }
        Value::Object(members) => {
            for (key, value) in members {
                fold.string(key);
                visit(value, fold);
            }
            fold.container(members.len());
        }
    }
}

fn version() -> String {
    env!("BENCH_SERDE_JSON_VERSION").to_owned()
}
