//! Writes the edited document: parts of its text as they are, and between them what is new.
//!
//! Only containers in which something was edited are taken apart, and of their children only those that were edited. No
//! function recurses: open containers are on a stack of their own.

use super::array::ArrayEdits;
use super::content::Content;
use super::error::{PatchError, PatchErrorKind};
use super::object::ObjectEdits;
use super::sequence::Stretch;
use super::style::{Extent, Style, is_spaced};
use super::texts::{Texts, end};
use crate::text::writer::write_string;
use core::ops::Range;

/// What is edited in a container.
#[derive(Debug)]
pub(super) enum Edits {
    Object(ObjectEdits),
    Array(ArrayEdits),
}

/// What the writer reads.
#[derive(Clone, Copy)]
pub(super) struct Overlay<'e> {
    pub(super) texts: &'e Texts<'e>,
    pub(super) open: &'e [Edits],
}

/// A part of a container.
enum Item<'e> {
    /// Children as they were.
    Run(Range<usize>),
    /// A child with another value: the range of the child, and of its value.
    Put {
        child: Range<usize>,
        value: Range<usize>,
        content: Content,
    },
    New {
        key: Option<&'e str>,
        content: Content,
    },
}

/// A container that is being written.
struct Frame<'e> {
    place: Extent<'e>,
    style: Style,
    items: std::vec::IntoIter<Item<'e>>,
    /// Whether the container had children.
    had_children: bool,
    is_first: bool,
    /// The last children of the source that were written.
    near: Option<Range<usize>>,
    /// The gap next to them, which new children after them get.
    comma: Option<Vec<u8>>,
    /// The text after the current child's value, which is to be written before the next item.
    rest: Range<usize>,
}

/// Appends a value of the edited document to a text that may then have up to `limit` bytes.
pub(super) fn write(parts: Overlay<'_>, content: Content, out: Vec<u8>, limit: usize) -> Result<Vec<u8>, PatchError> {
    let root = parts.texts.value(super::texts::Leaf { text: 0, place: 0 });
    let is_spaced = is_spaced(root, parts.texts.bytes(0));
    let mut writer = Writer { parts, is_spaced, out, limit, frames: Vec::new() };
    writer.content(content)?;
    while let Some(frame) = writer.frames.last_mut() {
        let rest = &frame.place.text[core::mem::take(&mut frame.rest)];
        let next = frame.items.next();
        writer.put(rest)?;
        match next {
            Some(item) => writer.item(item)?,
            None => writer.close()?,
        }
    }
    Ok(writer.out)
}

struct Writer<'e> {
    parts: Overlay<'e>,
    is_spaced: bool,
    out: Vec<u8>,
    limit: usize,
    frames: Vec<Frame<'e>>,
}

impl<'e> Writer<'e> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), PatchError> {
        if bytes.len() > self.limit.saturating_sub(self.out.len()) {
            return Err(too_large(self.limit));
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes a value, or begins to write a container that was edited.
    fn content(&mut self, content: Content) -> Result<(), PatchError> {
        let leaf = match content {
            Content::Open(at) => return self.open(at),
            Content::Plain(leaf) => leaf,
        };
        let value = self.parts.texts.value(leaf);
        match self.frames.last() {
            Some(frame) if self.parts.texts.is_new(leaf.text) => {
                let laid_out = frame.style.lay_out(value);
                self.put(&laid_out)
            }
            _ => self.put(value.raw()),
        }
    }

    fn open(&mut self, at: usize) -> Result<(), PatchError> {
        let Overlay { texts, open } = self.parts;
        let edits = &open[at];
        let source = match edits {
            Edits::Object(object) => object.source,
            Edits::Array(array) => array.source,
        };
        let container = texts.value(source);
        let place = Extent { text: texts.bytes(source.text), start: container.offset(), end: end(container) };
        let items = match edits {
            Edits::Object(object) => items_of_object(texts, object, place),
            Edits::Array(array) => items_of_array(texts, array, place),
        };
        let parent = self.frames.last().map(|frame| &frame.style);
        let style = Style::of(container, place, parent, self.is_spaced);
        self.put(&place.text[place.start..=place.start])?;
        let items = items.into_iter();
        let had_children = !container.is_empty();
        self.frames.push(Frame {
            place,
            style,
            items,
            had_children,
            is_first: true,
            near: None,
            comma: None,
            rest: 0..0,
        });
        Ok(())
    }

    fn item(&mut self, item: Item<'e>) -> Result<(), PatchError> {
        let frame = self.frames.last_mut().expect("an item has its container");
        let gap = frame.gap_before(&item);
        frame.is_first = false;
        let (text, colon) = (frame.place.text, frame.style.colon.clone());
        match &item {
            Item::Run(children) | Item::Put { child: children, .. } => {
                (frame.near, frame.comma) = (Some(children.clone()), None);
            }
            Item::New { .. } => {}
        }
        if let Item::Put { child, value, .. } = &item {
            frame.rest = value.end..child.end;
        }
        self.put(&gap)?;
        match item {
            Item::Run(children) => self.put(&text[children]),
            Item::Put { child, value, content } => {
                self.put(&text[child.start..value.start])?;
                self.content(content)
            }
            Item::New { key, content } => {
                if let Some(key) = key {
                    let mut written = Vec::with_capacity(key.len() + 2);
                    write_string(key, &mut written);
                    self.put(&written)?;
                    self.put(&colon)?;
                }
                self.content(content)
            }
        }
    }

    /// Writes the end of the innermost container.
    fn close(&mut self) -> Result<(), PatchError> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let place = frame.place;
        match (frame.is_first, frame.had_children) {
            (true, true) => {}
            (false, false) => self.put(&frame.style.tail)?,
            (true, false) | (false, true) => self.put(&place.text[place.tail()])?,
        }
        self.put(&place.text[place.end - 1..place.end])
    }
}

impl Frame<'_> {
    /// What stands before an item: what stood there, or what stands between its neighbours.
    fn gap_before(&mut self, item: &Item<'_>) -> Vec<u8> {
        let text = self.place.text;
        let source = match item {
            Item::Run(children) | Item::Put { child: children, .. } => Some(children.start),
            Item::New { .. } => None,
        };
        match (self.is_first, source) {
            (true, _) if self.had_children => text[self.place.lead()].to_vec(),
            (true, _) => self.style.lead.clone(),
            (false, Some(start)) => match self.place.gap_before(start) {
                (gap, true) => text[gap].to_vec(),
                (_, false) => self.style.comma.clone(),
            },
            (false, None) => {
                let Self { place, style, near, comma, .. } = self;
                let near = || near.as_ref().and_then(|near| place.comma_near(near)).map(<[u8]>::to_vec);
                comma.get_or_insert_with(|| near().unwrap_or_else(|| style.comma.clone())).clone()
            }
        }
    }
}

fn items_of_object<'e>(texts: &Texts<'_>, object: &'e ObjectEdits, place: Extent<'_>) -> Vec<Item<'e>> {
    let mut items = Vec::new();
    let mut rest = place.lead().end..place.tail().start;
    for (key, content) in object.changed() {
        let document = texts.document(object.source.text);
        let Some(key) = document.at_place(key) else { continue };
        let Some(value) = document.at_place(document.place_behind(key)) else { continue };
        let child = key.offset()..end(value);
        before(&mut items, &mut rest, &child, place);
        if let Some(content) = content {
            items.push(Item::Put { child, value: value.offset()..end(value), content });
        }
    }
    if rest.start < rest.end {
        items.push(Item::Run(rest));
    }
    items.extend(object.added().map(|(key, content)| Item::New { key: Some(key), content }));
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
            Item::Put { value: child.clone(), child, content }
        }
    };
    array.pieces().into_iter().map(item).collect()
}

/// The result, or all that was copied, exceeds the limit.
#[cold]
pub(super) fn too_large(limit: usize) -> PatchError {
    let words = format!(
        "the result would have more than {limit} bytes; `Editor::with_growth_max` allows copies to add more to a document"
    );
    PatchError::new(PatchErrorKind::Size, words)
}
