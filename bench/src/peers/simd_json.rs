//! `simd-json`: its tape (padded input, reused buffers), its borrowed value and its typed reader.
//!
//! It overwrites its input. The copy is restored outside the timing.

use simd_json::{Buffers, INPUT_PADDING, Node, StaticNode, Tape, borrowed};

use crate::fold::Fold;
use crate::migrate::{Migrant, migrates};
use crate::models::decoded::{Shape, decode};
use crate::peer::typed::{Authors, Event, Timeline};
use crate::peer::{Answer, Peer, Refusal, fold_distinct, fold_two};

/// The documents, and the copies that parsing overwrites.
#[derive(Default)]
struct Copies {
    originals: Vec<Vec<u8>>,
    copies: Vec<Vec<u8>>,
}

impl Copies {
    fn load(&mut self, documents: &[Vec<u8>], padding: usize) {
        self.originals = documents.to_vec();
        for document in &mut self.originals {
            document.resize(document.len() + padding, b' ');
        }
        self.copies.clone_from(&self.originals);
    }

    fn refresh(&mut self, index: usize) {
        self.copies[index].copy_from_slice(&self.originals[index]);
    }
}

/// The tape in its fastest form: `fill_tape_padded` with reused buffers and a reused tape.
pub(super) struct Flat {
    text: Copies,
    buffers: Buffers,
    tape: Tape<'static>,
    minified: Vec<u8>,
    migrant: Migrant<super::names::SimdJson>,
}

impl Default for Flat {
    fn default() -> Self {
        let (text, buffers, minified) = (Copies::default(), Buffers::default(), Vec::new());
        Self { text, buffers, tape: Tape::null(), minified, migrant: Migrant::default() }
    }
}

impl Flat {
    /// Parses one document and passes its tape to `read`.
    fn with_tape<T>(&mut self, index: usize, read: impl FnOnce(&Tape<'_>) -> Option<T>) -> Answer<T> {
        let copy = &mut self.text.copies[index];
        let len = copy.len() - INPUT_PADDING;
        let mut tape = std::mem::replace(&mut self.tape, Tape(Vec::new())).reset();
        let parsed = simd_json::fill_tape_padded(copy, len, &mut self.buffers, &mut tape);
        let answer = parsed.map_err(Refusal::rejected).and_then(|()| read(&tape).ok_or(Refusal::Rejected));
        self.tape = tape.reset();
        answer
    }
}

impl Peer for Flat {
    fn version(&self) -> String {
        version()
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.text.load(documents, INPUT_PADDING);
    }

    fn refresh(&mut self, index: usize) {
        self.text.refresh(index);
        self.migrant.refresh(index);
    }

    fn dom(&mut self, index: usize) -> Answer<Fold> {
        self.with_tape(index, |tape| {
            let mut fold = Fold::default();
            tape.0.iter().for_each(|node| visit_node(node, &mut fold));
            Some(fold)
        })
    }

    fn parse(&mut self, index: usize) -> Answer<()> {
        self.with_tape(index, |_| Some(()))
    }

    fn validate(&mut self, index: usize) -> Answer<()> {
        self.parse(index)
    }

    fn partial(&mut self, index: usize) -> Answer<Fold> {
        use simd_json::prelude::*;
        self.with_tape(index, |tape| {
            let mut fold = Fold::default();
            let root = tape.as_value();
            for tweet in &root.get("statuses")?.as_array()? {
                let user = tweet.get("user")?;
                for text in [tweet.get("created_at")?, tweet.get("text")?, user.get("screen_name")?] {
                    fold.string(text.as_str()?);
                }
                let counts = [tweet.get("retweet_count")?, tweet.get("favorite_count")?, user.get("followers_count")?];
                for number in [tweet.get("id")?, user.get("id")?].into_iter().chain(counts) {
                    fold.integer(number.as_i64()?);
                }
            }
            Some(fold)
        })
    }

    fn users(&mut self, index: usize) -> Answer<Fold> {
        use simd_json::prelude::*;
        self.with_tape(index, |tape| {
            let mut ids = Vec::new();
            for tweet in &tape.as_value().get("statuses")?.as_array()? {
                ids.push(tweet.get("user")?.get("id")?.as_u64()?);
                if let Some(original) = tweet.get("retweeted_status") {
                    ids.push(original.get("user")?.get("id")?.as_u64()?);
                }
            }
            Some(fold_distinct(ids))
        })
    }

    fn two(&mut self, index: usize) -> Answer<Fold> {
        use simd_json::prelude::*;
        self.with_tape(index, |tape| {
            let root = tape.as_value();
            Some(fold_two(root.get("Message")?.as_str()?, root.get("Elapsed")?.cast_f64()?))
        })
    }

    fn minify(&mut self, index: usize) -> Answer<usize> {
        use simd_json::prelude::*;
        let mut minified = std::mem::take(&mut self.minified);
        minified.clear();
        let written = self.with_tape(index, |tape| tape.as_value().write(&mut minified).ok());
        self.minified = minified;
        written.map(|()| self.minified.len())
    }

    fn minified(&self) -> Result<Vec<u8>, String> {
        Ok(self.minified.clone())
    }

    migrates!(migrant);
}

/// The borrowed value, with reused parse buffers.
#[derive(Default)]
pub(super) struct Borrowed {
    text: Copies,
    buffers: Buffers,
}

impl Peer for Borrowed {
    fn version(&self) -> String {
        version()
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.text.load(documents, 0);
    }

    fn refresh(&mut self, index: usize) {
        self.text.refresh(index);
    }

    fn dom(&mut self, index: usize) -> Answer<Fold> {
        let root = simd_json::to_borrowed_value_with_buffers(&mut self.text.copies[index], &mut self.buffers);
        let mut fold = Fold::default();
        visit_value(&root.map_err(Refusal::rejected)?, &mut fold);
        Ok(fold)
    }

    fn parse(&mut self, index: usize) -> Answer<()> {
        let root = simd_json::to_borrowed_value_with_buffers(&mut self.text.copies[index], &mut self.buffers);
        root.map(drop).map_err(Refusal::rejected)
    }
}

/// Its serde reader into a struct of the wanted fields.
#[derive(Default)]
pub(super) struct Typed {
    text: Copies,
    buffers: Buffers,
    shapes: Vec<Shape>,
}

impl Peer for Typed {
    fn version(&self) -> String {
        version()
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.text.load(documents, 0);
        self.shapes = Shape::of_all(documents);
    }

    fn typed(&mut self, index: usize) -> Answer<()> {
        let copy = &mut self.text.copies[index];
        decode!(self.shapes[index], simd_json::serde::from_slice_with_buffers, copy, &mut self.buffers)
    }

    fn refresh(&mut self, index: usize) {
        self.text.refresh(index);
    }

    fn partial(&mut self, index: usize) -> Answer<Fold> {
        let copy = &mut self.text.copies[index];
        let timeline: Timeline<'_> =
            simd_json::serde::from_slice_with_buffers(copy, &mut self.buffers).map_err(Refusal::rejected)?;
        Ok(timeline.fold())
    }

    fn users(&mut self, index: usize) -> Answer<Fold> {
        let copy = &mut self.text.copies[index];
        let authors: Authors =
            simd_json::serde::from_slice_with_buffers(copy, &mut self.buffers).map_err(Refusal::rejected)?;
        Ok(authors.fold())
    }

    fn two(&mut self, index: usize) -> Answer<Fold> {
        let copy = &mut self.text.copies[index];
        let event: Event<'_> =
            simd_json::serde::from_slice_with_buffers(copy, &mut self.buffers).map_err(Refusal::rejected)?;
        Ok(event.fold())
    }
}

fn visit_node(node: &Node<'_>, fold: &mut Fold) {
    match node {
        Node::String(text) => fold.string(text),
        Node::Object { len, .. } | Node::Array { len, .. } => fold.container(*len),
        Node::Static(value) => visit_static(*value, fold),
    }
}

fn visit_static(value: StaticNode, fold: &mut Fold) {
    match value {
        StaticNode::Null => fold.null(),
        StaticNode::Bool(value) => fold.boolean(value),
        StaticNode::I64(value) => fold.integer(value),
        StaticNode::U64(value) => fold.unsigned(value),
        StaticNode::F64(value) => fold.real(value),
    }
}

fn visit_value(value: &borrowed::Value<'_>, fold: &mut Fold) {
    match value {
        borrowed::Value::Static(value) => visit_static(*value, fold),
        borrowed::Value::String(text) => fold.string(text),
        borrowed::Value::Array(elements) => {
            elements.iter().for_each(|element| visit_value(element, fold));
            fold.container(elements.len());
        }
        borrowed::Value::Object(members) => {
            for (key, value) in members.iter() {
                fold.string(key);
                visit_value(value, fold);
            }
            fold.container(members.len());
        }
    }
}

fn version() -> String {
    format!("{} ({})", env!("BENCH_SIMD_JSON_VERSION"), simd_json::Deserializer::algorithm())
}
