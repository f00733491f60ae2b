//! Writes the edited document: parts of its text as they are, and between them what is new.
//!
//! Only containers in which something was edited are taken apart, and of their children only those that were edited. No
//! function recurses: open containers are on a stack of their own.

use super::array::ArrayEdits;
use super::content::Content;
use super::error::{EditError, EditErrorKind};
use super::object::{Change, ObjectEdits};
use super::overlay::{Edits, Overlay};
use super::sequence::Stretch;
use super::style::{Extent, Style, is_spaced};
use super::texts::{Texts, end};
use crate::fault::ErrorKind;
use crate::policy::Policy;
use crate::tape::{Document, Value};
use crate::text::writer::write_string;
use core::cell::OnceCell;
use core::ops::Range;

/// A part of a container.
enum Item<'e> {
    /// Children as they were.
    Run(Range<usize>),
    /// A child with another key or another value: its range, and that of its value.
    Put {
        child: Range<usize>,
        value: Range<usize>,
        key: Option<NewKey<'e>>,
        content: Option<Content>,
    },
    New {
        key: Option<&'e str>,
        content: Content,
    },
}

/// The new key of a member, and where its old one ends.
struct NewKey<'e> {
    key: &'e str,
    old_end: usize,
}

/// A container that is being written.
struct Frame<'e> {
    container: Value<'e>,
    place: Extent<'e>,
    /// Most containers have nothing new in them, and need none.
    style: OnceCell<Style>,
    is_spaced: bool,
    items: std::vec::IntoIter<Item<'e>>,
    is_first: bool,
    /// The last children of the source that were written.
    near: Option<Range<usize>>,
    /// The gap next to them, which new children after them get.
    comma: Option<Vec<u8>>,
    /// The text after the current child's value, which is to be written before the next item.
    rest: Range<usize>,
}

impl Overlay<'_> {
    /// Appends a value of the edited document to a text, which must not exceed [`size_max`](Self::size_max) then.
    pub(super) fn write(&self, content: Content, out: Vec<u8>) -> Result<Vec<u8>, EditError> {
        self.write_as(content, out, NewValues::LaidOut)
    }

    fn write_as(&self, content: Content, out: Vec<u8>, new_values: NewValues) -> Result<Vec<u8>, EditError> {
        let is_spaced = is_spaced(self.texts.document(0).root(), self.texts.bytes(0));
        let size_max = self.size_max();
        let output = Output { text: out, size_max };
        let mut writer = Writer { overlay: self, is_spaced, new_values, output, frames: Vec::new() };
        writer.content(content)?;
        while let Some(frame) = writer.frames.last_mut() {
            let rest = &frame.place.text[core::mem::take(&mut frame.rest)];
            let next = frame.items.next();
            writer.output.put(rest)?;
            match next {
                Some(item) => writer.item(item)?,
                None => writer.close()?,
            }
        }
        Ok(writer.output.text)
    }

    /// A text that was written, as a document of its own.
    pub(super) fn parse_written(&self, text: &[u8]) -> Result<Document<'static>, EditError> {
        let document = crate::parse(text).map_err(|error| match error.kind() {
            ErrorKind::Size => too_large(self.size_max()),
            _ => too_deep(),
        })?;
        Ok(document.into_owned())
    }
}

/// How values of new texts are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NewValues {
    /// Like their neighbours.
    LaidOut,
    AsTheyAre,
}

struct Writer<'e> {
    overlay: &'e Overlay<'e>,
    is_spaced: bool,
    new_values: NewValues,
    output: Output,
    frames: Vec<Frame<'e>>,
}

/// The text so far, and the most bytes that it may have.
struct Output {
    text: Vec<u8>,
    size_max: usize,
}

impl Output {
    fn put(&mut self, bytes: &[u8]) -> Result<(), EditError> {
        if bytes.len() > self.size_max.saturating_sub(self.text.len()) {
            return Err(too_large(self.size_max));
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    fn put_key(&mut self, key: &str) -> Result<(), EditError> {
        let before = self.text.len();
        write_string(key, &mut self.text);
        if self.text.len() > self.size_max {
            self.text.truncate(before);
            return Err(too_large(self.size_max));
        }
        Ok(())
    }
}

impl<'e> Writer<'e> {
    /// Writes a value, or begins to write a container that was edited.
    fn content(&mut self, content: Content) -> Result<(), EditError> {
        let texts = &self.overlay.texts;
        let leaf = match content {
            Content::Plain(leaf) => leaf,
            Content::Open(at) => self.overlay.open[at].source(),
        };
        let value = texts.value(leaf);
        let frame = self.frames.last().filter(|_| self.new_values == NewValues::LaidOut && texts.is_new(leaf.text));
        match (frame, content) {
            (Some(frame), Content::Plain(_)) => self.output.put(&frame.style().lay_out(value)),
            (Some(frame), Content::Open(_)) if value.raw().contains(&b'\n') => {
                let written = self.overlay.write_as(content, Vec::new(), NewValues::AsTheyAre)?;
                let written = crate::parse(&written).map_err(|_| too_deep())?;
                self.output.put(&frame.style().lay_out(written.root()))
            }
            (_, Content::Open(at)) => self.open(at),
            (None, Content::Plain(_)) => self.output.put(value.raw()),
        }
    }

    fn open(&mut self, at: usize) -> Result<(), EditError> {
        let texts = &self.overlay.texts;
        let edits = &self.overlay.open[at];
        let source = edits.source();
        let container = texts.value(source);
        let place = Extent { text: texts.bytes(source.text), start: container.offset(), end: end(container) };
        let items = match edits {
            Edits::Object(object) => items_of_object(texts, object, place),
            Edits::Array(array) => items_of_array(texts, array, place),
        };
        let style = OnceCell::new();
        if container.is_empty() {
            let parent = self.frames.last().map(Frame::style);
            _ = style.set(Style::of_empty(parent, self.is_spaced));
        }
        self.output.put(&place.text[place.start..=place.start])?;
        self.frames.push(Frame {
            container,
            place,
            style,
            is_spaced: self.is_spaced,
            items: items.into_iter(),
            is_first: true,
            near: None,
            comma: None,
            rest: 0..0,
        });
        Ok(())
    }

    fn item(&mut self, item: Item<'e>) -> Result<(), EditError> {
        let frame = self.frames.last_mut().expect("an item has its container");
        self.output.put(frame.gap_before(&item))?;
        frame.is_first = false;
        let text = frame.place.text;
        match item {
            Item::Run(children) => {
                (frame.near, frame.comma) = (Some(children.clone()), None);
                self.output.put(&text[children])
            }
            Item::Put { child, value, key, content } => {
                (frame.near, frame.comma) = (Some(child.clone()), None);
                frame.rest = value.end..child.end;
                let mut start = child.start;
                if let Some(NewKey { key, old_end }) = key {
                    self.output.put_key(key)?;
                    start = old_end;
                }
                self.output.put(&text[start..value.start])?;
                match content {
                    Some(content) => self.content(content),
                    None => self.output.put(&text[value]),
                }
            }
            Item::New { key, content } => {
                if let Some(key) = key {
                    self.output.put_key(key)?;
                    self.output.put(&frame.style().colon)?;
                }
                self.content(content)
            }
        }
    }

    /// Writes the end of the innermost container.
    fn close(&mut self) -> Result<(), EditError> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let place = frame.place;
        match (frame.is_first, frame.had_children()) {
            (true, true) => {}
            (false, false) => self.output.put(&frame.style().tail)?,
            (true, false) | (false, true) => self.output.put(&place.text[place.tail()])?,
        }
        self.output.put(&place.text[place.end - 1..place.end])
    }
}

impl Frame<'_> {
    fn style(&self) -> &Style {
        self.style.get_or_init(|| Style::of_filled(self.container, self.place, self.is_spaced))
    }

    fn had_children(&self) -> bool {
        !self.container.is_empty()
    }

    /// What stands before an item: what stood there, or what stands between its neighbours.
    fn gap_before(&mut self, item: &Item<'_>) -> &[u8] {
        let text = self.place.text;
        let source = match item {
            Item::Run(children) | Item::Put { child: children, .. } => Some(children.start),
            Item::New { .. } => None,
        };
        match (self.is_first, source) {
            (true, _) if self.had_children() => &text[self.place.lead()],
            (true, _) => &self.style().lead,
            (false, Some(start)) => match self.place.gap_before(start) {
                (gap, true) => &text[gap],
                (_, false) => &self.style().comma,
            },
            (false, None) => {
                if self.comma.is_none() {
                    let near = self.near.as_ref().and_then(|near| self.place.comma_near(near));
                    self.comma = Some(near.map_or_else(|| self.style().comma.clone(), <[u8]>::to_vec));
                }
                self.comma.as_deref().unwrap_or_default()
            }
        }
    }
}

fn items_of_object<'e>(texts: &Texts<'_>, object: &'e ObjectEdits, place: Extent<'_>) -> Vec<Item<'e>> {
    let mut items = Vec::new();
    let mut rest = place.lead().end..place.tail().start;
    for (old, change) in object.changed() {
        let document = texts.document(object.source.text);
        let Some(old) = document.at_place(old) else { continue };
        let Some(value) = document.at_place(document.place_behind(old)) else { continue };
        let child = old.offset()..end(value);
        before(&mut items, &mut rest, &child, place);
        if let Change::Put { key, content } = change {
            let key = key.as_deref().map(|key| NewKey { key, old_end: end(old) });
            items.push(Item::Put { child, value: value.offset()..end(value), key, content: *content });
        }
    }
    if rest.start < rest.end {
        items.push(Item::Run(rest));
    }
    items.extend(object.added().map(|(key, content)| Item::New { key: Some(key), content: *content }));
    items
}

/// Adds the children before an edited child, and takes them and the child from those that are left.
fn before(items: &mut Vec<Item<'_>>, rest: &mut Range<usize>, child: &Range<usize>, place: Extent<'_>) {
    let run_end = place.gap_before(child.start).0.start;
    if rest.start < run_end {
        items.push(Item::Run(rest.start..run_end));
    }
    // The next child begins after the gap.
    rest.start = place.gap_after(child.end).0.end.min(rest.end);
}

fn items_of_array<'e>(texts: &Texts<'_>, array: &'e ArrayEdits, place: Extent<'_>) -> Vec<Item<'e>> {
    let range = |origin: usize| {
        let value = texts.value(array.leaf(texts, origin));
        value.offset()..end(value)
    };
    let item = |piece| match piece {
        Stretch::Run { from, to } => {
            let start = if from == 0 { place.lead().end } else { range(from).start };
            let end = if to == array.source_len() { place.tail().start } else { range(to - 1).end };
            Item::Run(start..end)
        }
        Stretch::New { value: content, origin: None } => Item::New { key: None, content },
        Stretch::New { value: content, origin: Some(origin) } => {
            let child = range(origin);
            Item::Put { value: child.clone(), child, key: None, content: Some(content) }
        }
    };
    array.pieces().into_iter().map(item).collect()
}

/// The result, or all that was copied, exceeds the limit.
#[cold]
pub(super) fn too_large(limit: usize) -> EditError {
    let words = format!(
        "the result would have more than {limit} bytes; `DocumentMut::with_growth_max` allows copies to add more to a document"
    );
    EditError::new(EditErrorKind::Size, words)
}

#[cold]
pub(super) fn too_deep() -> EditError {
    let words = format!("the result would be nested more than {} levels deep", Policy::DEPTH_MAX);
    EditError::new(EditErrorKind::Depth, words)
}
