//! Models that are written, whatever document they came from.

use serde::de::IgnoredAny;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::canada::Canada;
use super::citm::Catalog;
use super::twitter::Twitter;
use super::{Text, same};
use crate::peer::{Answer, Refusal};

/// What one of the documents was read into.
pub(crate) enum Model {
    Twitter(Box<Twitter<'static>>),
    Catalog(Box<Catalog<'static>>),
    Canada(Canada<'static>),
    Texts(Vec<Text<'static>>),
}

impl Model {
    /// The same for every peer. The text is never freed: models borrow it, and a process reads few.
    fn read(text: &[u8]) -> Option<Self> {
        let text: &'static [u8] = Box::leak(text.into());
        // By jird, since the floats are to be exact.
        let twitter = || jird::from_slice(text).ok().map(Self::Twitter);
        let catalog = || jird::from_slice(text).ok().map(Self::Catalog);
        let canada = || jird::from_slice(text).ok().map(Self::Canada);
        let texts = || jird::from_slice(text).ok().map(Self::Texts);
        twitter().or_else(catalog).or_else(canada).or_else(texts)
    }
}

impl Serialize for Model {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Twitter(model) => model.serialize(serializer),
            Self::Catalog(model) => model.serialize(serializer),
            Self::Canada(model) => model.serialize(serializer),
            Self::Texts(model) => model.serialize(serializer),
        }
    }
}

/// The models of the documents that a peer has loaded, and what it wrote last.
#[derive(Default)]
pub(crate) struct Encoded {
    models: Vec<Option<Model>>,
    text: Vec<u8>,
}

impl Encoded {
    /// Forgets earlier ones.
    pub(crate) fn load(&mut self, documents: &[Vec<u8>]) {
        self.models.clear();
        self.models.resize_with(documents.len(), || None);
    }

    /// Writes the model of `document`, which is read when it is needed first: before anything is timed.
    pub(crate) fn write<E>(
        &mut self,
        index: usize,
        document: &[u8],
        write: impl FnOnce(&Model) -> Result<Vec<u8>, E>,
    ) -> Answer<&[u8]> {
        let model = &mut self.models[index];
        if model.is_none() {
            *model = Model::read(document);
        }
        self.text = write(model.as_ref().ok_or(Refusal::Rejected)?).map_err(Refusal::rejected)?;
        Ok(&self.text)
    }
}

/// Whether what a peer wrote holds what the document does.
pub(crate) fn check(document: &[u8], written: &[u8]) -> Result<(), &'static str> {
    serde_json::from_slice::<IgnoredAny>(written).map_err(|_| "writes what is no JSON")?;
    let read = |text: &[u8]| jird::from_slice::<Value>(text).map_err(|_| "writes what is no JSON");
    if same(&read(written)?, &read(document)?) { Ok(()) } else { Err("writes something else") }
}
