//! Models that are written, for documents of every kind.

use serde::de::IgnoredAny;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::canada::Canada;
use super::citm::Catalog;
use super::twitter::Twitter;
use super::{Text, same};
use crate::peer::{Answer, Refusal};

/// The model of one of the documents.
pub(crate) enum Model {
    Twitter(Box<Twitter<'static>>),
    Catalog(Box<Catalog<'static>>),
    Canada(Canada<'static>),
    Texts(Vec<Text<'static>>),
}

impl Model {
    /// Reads a model; all peers get the same one. The text is never freed, because models borrow from it. A process
    /// reads only few.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let text: &'static [u8] = Box::leak(text.into());
        // jird reads the text, because the floats must be exact.
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

/// The models of the documents that a peer has loaded, and the peer's last output.
#[derive(Default)]
pub(crate) struct Encoded {
    models: Vec<Option<Model>>,
    text: Vec<u8>,
}

impl Encoded {
    /// Replaces all earlier documents.
    pub(crate) fn load(&mut self, documents: &[Vec<u8>]) {
        self.models.clear();
        self.models.resize_with(documents.len(), || None);
    }

    /// Writes the model of `document`. The model is read at its first use, which is before the timing begins.
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

/// Whether a peer's output has the same values as the document.
pub(crate) fn check(document: &[u8], written: &[u8]) -> Result<(), &'static str> {
    serde_json::from_slice::<IgnoredAny>(written).map_err(|_| "writes what is no JSON")?;
    let read = |text: &[u8]| jird::from_slice::<Value>(text).map_err(|_| "writes what is no JSON");
    if same(&read(written)?, &read(document)?) { Ok(()) } else { Err("writes something else") }
}
