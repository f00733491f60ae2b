//! Optional parts of a manifest: JSON values by name. A program keeps those that it does not know as they are, so a
//! part that some later version adds survives the changes that this one makes.

use crate::error::{Error, ErrorKind};
use jird::Value;
use jird::hooks::ObjectWriter;
use std::collections::BTreeMap;

/// The optional parts of a manifest: for each name the text of a JSON value, which has no line feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sections(BTreeMap<String, Vec<u8>>);

/// What an optional part holds.
pub(crate) trait Section: Sized {
    /// Its name in the manifest.
    const NAME: &'static str;

    /// Appends it as JSON on one line.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads what [`write`](Self::write) wrote. `None` if that cannot be.
    fn read(value: Value<'_>) -> Option<Self>;
}

/// Noted in a manifest that was rebuilt from other files: the record of which stretches of which files were ingested is
/// lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourcesLost;

impl Section for SourcesLost {
    const NAME: &'static str = "sources_lost";

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"true");
    }

    fn read(value: Value<'_>) -> Option<Self> {
        value.as_bool().filter(|is_lost| *is_lost).map(|_| Self)
    }
}

impl Sections {
    /// The part of this type; `None` if the manifest has none.
    ///
    /// # Errors
    /// `Damaged` if it holds something else.
    pub(crate) fn get<S: Section>(&self) -> Result<Option<S>, Error> {
        let Some(text) = self.0.get(S::NAME) else { return Ok(None) };
        let document = jird::parse(text).ok();
        let section = document.and_then(|document| S::read(document.root()));
        let wrong = || Error::new(ErrorKind::Damaged, format!("the manifest's section {:?} cannot be read", S::NAME));
        section.map(Some).ok_or_else(wrong)
    }

    /// Puts a part into the manifest, in the place of one of its type.
    pub(crate) fn set<S: Section>(&mut self, section: &S) {
        let mut text = Vec::new();
        section.write(&mut text);
        debug_assert!(!text.contains(&b'\n'), "a manifest is one line");
        self.0.insert(S::NAME.into(), text);
    }

    /// Only the part of this type, if there is one.
    pub(crate) fn only<S: Section>(&self) -> Self {
        let part = self.0.get_key_value(S::NAME);
        Self(part.into_iter().map(|(name, text)| (name.clone(), text.clone())).collect())
    }

    pub(super) fn write(&self, out: &mut ObjectWriter<'_>) {
        self.0.iter().for_each(|(name, text)| out.raw(name, text));
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(super) fn read(value: Value<'_>) -> Option<Self> {
        let section = |(name, value): (Value<'_>, Value<'_>)| Some((name.as_str()?.into(), value.raw().into()));
        let sections = value.entries().map(section).collect::<Option<_>>()?;
        (value.kind() == jird::Kind::Object).then_some(Self(sections))
    }
}
