//! What programs do with `serde_json`'s names: trees, structs, writing, readers, of documents and of small messages.

use std::io::{self, Read};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::fold::Agreement;
use crate::models::decoded::Shape;
use crate::models::encoded::Model;
use crate::models::same;
use crate::peer::{Answer, Refusal};
use crate::peers::fold_value;
use crate::task::DOCUMENTS;

/// What is done with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Makes a tree of the text.
    Tree,
    /// Makes structs of the text, strings borrowed.
    Structs,
    /// Writes structs.
    Write,
    /// Writes a tree.
    WriteTree,
    /// Makes a message with `json!` and writes it.
    Message,
    /// Makes a tree of structs.
    ToValue,
    /// Makes a tree of the text, and structs of the tree.
    FromValue,
    /// Makes structs of a reader that gives 64 KB at a time, with `from_reader`.
    Reader,
    /// The same, into a tree.
    ReaderTree,
    /// Takes one value after the other from a reader, exactly its bytes, into structs.
    Exact,
    /// The same, into trees.
    ExactTree,
}

/// The events as one array, for readers.
const ARRAY: &str = "event-array";

/// The inputs that are more than a document or the events: the name, what is done, and with which input.
const OTHERS: &[(&str, Deed, &str)] = &[
    ("events", Deed::Tree, "events"),
    ("structs-events", Deed::Structs, "events"),
    ("structs-request", Deed::Structs, "request"),
    ("write-twitter", Deed::Write, "twitter"),
    ("write-citm", Deed::Write, "citm_catalog"),
    ("write-canada", Deed::Write, "canada"),
    ("write-events", Deed::Write, "events"),
    ("write-tree", Deed::WriteTree, "twitter"),
    ("message", Deed::Message, "events"),
    ("to_value", Deed::ToValue, "events"),
    ("from_value", Deed::FromValue, "events"),
    ("reader-structs", Deed::Reader, ARRAY),
    ("reader-tree", Deed::ReaderTree, "twitter"),
    ("exact-structs", Deed::Exact, crate::task::STREAM),
    ("exact-trees", Deed::ExactTree, crate::task::STREAM),
];

/// The names of the inputs: the documents, into trees, and the others.
pub(crate) const INPUTS: &[&str] = &{
    let mut all = [""; DOCUMENTS.len() + OTHERS.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = if index < DOCUMENTS.len() { DOCUMENTS[index] } else { OTHERS[index - DOCUMENTS.len()].0 };
        index += 1;
    }
    all
};

impl Deed {
    /// What is done with the input of this name, and the input that has its text.
    pub(crate) fn of(name: &str) -> (Self, &str) {
        let other = OTHERS.iter().find(|(other, ..)| *other == name);
        other.map_or((Self::Tree, name), |&(_, deed, input)| (deed, input))
    }
}

/// The documents of an input.
pub(crate) fn documents(name: &str) -> Result<Vec<Vec<u8>>, String> {
    let (_, input) = Deed::of(name);
    if input == ARRAY {
        let events = crate::task::documents("events")?;
        return Ok(vec![[&b"["[..], &events.join(&b','), b"]"].concat()]);
    }
    crate::task::documents(input)
}

/// An event with text of its own.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Event {
    #[serde(rename = "@t")]
    time: String,
    #[serde(rename = "@mt")]
    template: String,
    message: String,
    elapsed: f64,
    status_code: u16,
    properties: Properties,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Properties {
    request_id: String,
    user: String,
    customer_id: u64,
    cached: bool,
    parent: Option<u32>,
    sizes: [u32; 3],
    agent: String,
    machine: String,
    source_context: String,
    application: String,
    environment: String,
    trace_id: String,
    retries: u8,
    region: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exception: Option<String>,
}

impl Event {
    /// The parts of a message: time, text, status, milliseconds, user, sizes.
    pub(crate) fn parts(&self) -> (&str, &str, u16, f64, &str, &[u32; 3]) {
        let Self { time, message, status_code, elapsed, properties, .. } = self;
        (time, message, *status_code, *elapsed, &properties.user, &properties.sizes)
    }
}

/// Makes a message with a crate's `json!`.
macro_rules! message {
    ($json:ident, $event:expr) => {{
        let (time, message, status, elapsed, user, sizes) = $event.parts();
        $json!({
            "time": time,
            "level": "information",
            "text": message,
            "http": { "status": status, "milliseconds": elapsed, "slow": elapsed > 100.0 },
            "user": { "name": user, "roles": ["reader", "writer"], "parent": null },
            "sizes": sizes,
        })
    }};
}
pub(crate) use message;

/// What a reader gives at a time.
pub(crate) const PIECE_BYTES: usize = 64 << 10;

/// Gives 64 KB at a time.
pub(crate) struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let len = to.len().min(PIECE_BYTES).min(self.0.len());
        let (now, rest) = self.0.split_at(len);
        to[..len].copy_from_slice(now);
        self.0 = rest;
        Ok(len)
    }
}

/// The functions of a crate that has `serde_json`'s names, or some of them. What a crate does not have keeps the
/// default body.
pub(crate) trait Names {
    type Tree: Serialize;

    fn tree(text: &mut [u8]) -> Answer<Self::Tree>;
    fn structs(text: &mut [u8], shape: Shape) -> Answer<()>;
    fn write<T: Serialize>(value: &T) -> Answer<Vec<u8>>;
    fn message(_event: &Event) -> Answer<String> {
        Err(Refusal::NotDone)
    }
    fn to_tree<T: Serialize>(_value: &T) -> Answer<Self::Tree> {
        Err(Refusal::NotDone)
    }
    fn of_tree<T: DeserializeOwned>(_tree: Self::Tree) -> Answer<T> {
        Err(Refusal::NotDone)
    }
    /// Called with a reader that gives 64 KB at a time.
    fn read<T: DeserializeOwned>(_reader: Pieces<'_>) -> Answer<T> {
        Err(Refusal::NotDone)
    }
    fn read_tree(_reader: Pieces<'_>) -> Answer<Self::Tree> {
        Err(Refusal::NotDone)
    }
    /// Takes one value, and leaves what stands after it.
    fn take<T: DeserializeOwned>(_reader: &mut impl Read) -> Answer<T> {
        Err(Refusal::NotDone)
    }
    fn take_tree(_reader: &mut impl Read) -> Answer<Self::Tree> {
        Err(Refusal::NotDone)
    }
}

/// The documents of a peer that does all this, and what is made of them before the timing begins.
pub(crate) struct Migrant<N: Names> {
    originals: Vec<Vec<u8>>,
    /// What a parser may overwrite.
    copies: Vec<Vec<u8>>,
    shapes: Vec<Shape>,
    models: Vec<Option<Model>>,
    events: Vec<Option<Event>>,
    trees: Vec<Option<N::Tree>>,
}

impl<N: Names> Default for Migrant<N> {
    fn default() -> Self {
        let (originals, copies, shapes, models) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { originals, copies, shapes, models, events: Vec::new(), trees: Vec::new() }
    }
}

impl<N: Names> Migrant<N> {
    /// Replaces all earlier documents, and makes what deeds need that do not begin with a text.
    pub(crate) fn prepare(&mut self, documents: &[Vec<u8>], deed: Deed) -> Answer<()> {
        let is_event = |index: usize| Shape::of_all(&documents[index..=index]) == [Shape::Event];
        let each = 0..documents.len();
        let from_event = matches!(deed, Deed::Write | Deed::Message | Deed::ToValue);
        let event = |index: usize| jird::from_slice(&documents[index]).ok().filter(|_| from_event && is_event(index));
        let model = |index: usize| Model::read(&documents[index]).filter(|_| deed == Deed::Write && !is_event(index));
        self.events = each.clone().map(event).collect();
        self.models = each.map(model).collect();
        let tree = |text: &Vec<u8>| (deed == Deed::WriteTree).then(|| N::tree(&mut text.clone())).transpose();
        self.trees = documents.iter().map(tree).collect::<Answer<_>>()?;
        self.shapes = Shape::of_all(documents);
        self.originals = documents.to_vec();
        self.copies = documents.to_vec();
        Ok(())
    }

    /// Restores the text that the last run overwrote.
    pub(crate) fn refresh(&mut self, index: usize) {
        if let Some(copy) = self.copies.get_mut(index) {
            copy.copy_from_slice(&self.originals[index]);
        }
    }

    /// Does the work, and gives the result to `result`.
    pub(crate) fn work(&mut self, index: usize, deed: Deed, result: &mut impl ResultSink) -> Answer<()> {
        let text = &mut self.copies[index];
        let event = self.events[index].as_ref().ok_or(Refusal::Rejected);
        match deed {
            Deed::Tree => result.is(N::tree(text)?),
            Deed::Structs => N::structs(text, self.shapes[index])?,
            Deed::Write => result.is_text(match (&self.models[index], event) {
                (Some(model), _) => N::write(model)?,
                (None, event) => N::write(event?)?,
            }),
            Deed::WriteTree => result.is_text(N::write(self.trees[index].as_ref().ok_or(Refusal::Rejected)?)?),
            Deed::Message => result.is_text(N::message(event?)?.into_bytes()),
            Deed::ToValue => result.is(N::to_tree(event?)?),
            Deed::FromValue => result.is(N::of_tree::<Event>(N::tree(text)?)?),
            Deed::Reader => result.is(N::read::<Vec<Event>>(Pieces(text))?),
            Deed::ReaderTree => result.is(N::read_tree(Pieces(text))?),
            Deed::Exact | Deed::ExactTree => {
                let mut reader = io::BufReader::with_capacity(PIECE_BYTES, Pieces(text));
                for _ in 0..crate::events::COUNT {
                    if deed == Deed::Exact {
                        result.is(N::take::<Event>(&mut reader)?);
                    } else {
                        result.is(N::take_tree(&mut reader)?);
                    }
                }
            }
        }
        Ok(())
    }
}

/// What becomes of a result.
pub(crate) trait ResultSink {
    fn is<T: Serialize>(&mut self, value: T);
    fn is_text(&mut self, text: Vec<u8>);
}

/// It is dropped: for the timing.
pub(crate) struct Dropped;

impl ResultSink for Dropped {
    #[inline(always)]
    fn is<T: Serialize>(&mut self, value: T) {
        drop(std::hint::black_box(value));
    }

    #[inline(always)]
    fn is_text(&mut self, text: Vec<u8>) {
        drop(std::hint::black_box(text));
    }
}

/// It is kept as text, to be checked.
#[derive(Default)]
pub(crate) struct KeptText {
    texts: Vec<Vec<u8>>,
}

impl ResultSink for KeptText {
    fn is<T: Serialize>(&mut self, value: T) {
        // A value that cannot be written is no JSON, which the check finds.
        self.texts.push(jird::to_vec(&value).unwrap_or_default());
    }

    fn is_text(&mut self, text: Vec<u8>) {
        self.texts.push(text);
    }
}

impl KeptText {
    /// Whether the results are those of the document.
    pub(crate) fn check(&self, document: &[u8], deed: Deed) -> Result<(), &'static str> {
        let read = |text: &[u8]| jird::from_slice::<serde_json::Value>(text).map_err(|_| "makes what is no JSON");
        let wanted: Vec<serde_json::Value> = match deed {
            Deed::Structs => return Ok(()),
            Deed::Message => {
                let event: Event = jird::from_slice(document).map_err(|_| "not an event")?;
                vec![message!(json, event)]
            }
            Deed::Exact | Deed::ExactTree => {
                document.split(|&byte| byte == b'\n').map(read).collect::<Result<_, _>>()?
            }
            _ => vec![read(document)?],
        };
        let is_same = self.texts.len() == wanted.len();
        for (text, wanted) in self.texts.iter().zip(&wanted) {
            let made = read(text)?;
            // With default features, `serde_json` reads some floats wrong by the last bit.
            let is_near = || fold_value(&made).agrees(fold_value(wanted)) != Agreement::Differs;
            if !same(&made, wanted) && !is_near() {
                return Err("makes something else");
            }
        }
        if is_same { Ok(()) } else { Err("makes too few values, or too many") }
    }
}

/// The methods of a [`Peer`](crate::peer::Peer) that has a [`Migrant`] in this field.
macro_rules! migrates {
    ($field:ident) => {
        fn prepare(&mut self, documents: &[Vec<u8>], deed: $crate::migrate::Deed) -> $crate::peer::Answer<()> {
            self.$field.prepare(documents, deed)
        }

        fn migrate(&mut self, index: usize, deed: $crate::migrate::Deed) -> $crate::peer::Answer<()> {
            self.$field.work(index, deed, &mut $crate::migrate::Dropped)
        }

        fn migrated(
            &mut self,
            index: usize,
            deed: $crate::migrate::Deed,
        ) -> $crate::peer::Answer<$crate::migrate::KeptText> {
            let mut kept = $crate::migrate::KeptText::default();
            self.$field.work(index, deed, &mut kept)?;
            Ok(kept)
        }
    };
}
pub(crate) use migrates;
