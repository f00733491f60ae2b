//! How a container is laid out, so that what is inserted looks like its neighbours.
//!
//! A *gap* is the white space between two children of a container, with the comma in it; the white space before the
//! first child; or that after the last.

use super::texts::end;
use crate::layout::{Layout, format, minify};
use crate::tape::Value;
use core::ops::Range;
use std::borrow::Cow;

/// Longer gaps are not imitated, so that white space does not multiply.
const GAP_MAX: usize = 256;

/// New values that are nested more deeply are not indented: indentation would grow with the square of their depth.
const INDENTED_DEPTH_MAX: usize = 32;

/// How new children of a container are laid out.
#[derive(Clone, Debug)]
pub(super) struct Style {
    /// Before the first child, if the container had none.
    pub(super) lead: Vec<u8>,
    /// After the last child, if the container had none.
    pub(super) tail: Vec<u8>,
    /// Between children.
    pub(super) comma: Vec<u8>,
    /// Between a key and its value.
    pub(super) colon: Vec<u8>,
    /// The lines of the children, if each has a line of its own.
    lines: Option<Lines>,
}

#[derive(Clone, Debug)]
struct Lines {
    newline: &'static [u8],
    /// The indentation of the children.
    indent: Vec<u8>,
    /// What each level adds to it.
    unit: Vec<u8>,
}

/// The container's text, and where it is in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent<'t> {
    pub(super) text: &'t [u8],
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Extent<'_> {
    /// The gap after the opening bracket.
    pub(super) fn lead(&self) -> Range<usize> {
        self.start + 1..self.past_space(self.start + 1)
    }

    /// The gap before the closing bracket.
    pub(super) fn tail(&self) -> Range<usize> {
        self.before_space(self.end - 1)..self.end - 1
    }

    /// The gap before a child that begins at `start`, and whether a comma is in it: there is none before the first child.
    pub(super) fn gap_before(&self, start: usize) -> (Range<usize>, bool) {
        let comma = self.before_space(start);
        if comma > 0 && self.text[comma - 1] == b',' {
            (self.before_space(comma - 1)..start, true)
        } else {
            (comma..start, false)
        }
    }

    /// The gap after a child that ends at `end`, and whether a comma is in it.
    pub(super) fn gap_after(&self, end: usize) -> (Range<usize>, bool) {
        let comma = self.past_space(end);
        if self.text.get(comma) == Some(&b',') { (end..self.past_space(comma + 1), true) } else { (end..comma, false) }
    }

    fn past_space(&self, from: usize) -> usize {
        self.text[from..].iter().position(|byte| !is_space(*byte)).map_or(self.text.len(), |len| from + len)
    }

    fn before_space(&self, to: usize) -> usize {
        self.text[..to].iter().rposition(|byte| !is_space(*byte)).map_or(0, |at| at + 1)
    }

    /// The gap with a comma next to a child, or to several that follow each other.
    pub(super) fn comma_near(&self, children: &Range<usize>) -> Option<&[u8]> {
        let (before, after) = (self.gap_before(children.start), self.gap_after(children.end));
        let gap = [before, after].into_iter().find(|(_, has_comma)| *has_comma)?.0;
        Some(&self.text[gap]).filter(|gap| gap.len() <= GAP_MAX)
    }
}

impl Style {
    /// The style of a container with children. `is_spaced` says whether the document has spaces after commas and colons.
    pub(super) fn of_filled(container: Value<'_>, place: Extent<'_>, is_spaced: bool) -> Self {
        let [lead, tail] = [place.lead(), place.tail()].map(|gap| &place.text[gap]);
        let short = |gap: &[u8]| (gap.len() <= GAP_MAX).then(|| gap.to_vec());
        let lines = Lines::of(lead, tail);
        let colon = container.entries().next().and_then(|(key, value)| short(&place.text[end(key)..value.offset()]));
        let is_spaced = colon.as_ref().map_or(is_spaced, |colon| colon.ends_with(b" "));
        let comma = match container.entries().map(|(key, value)| key.offset()..end(value)).next() {
            Some(first) => place.comma_near(&first),
            None => container.elements().next().and_then(|first| place.comma_near(&(first.offset()..end(first)))),
        };
        let other_comma = || if lines.is_some() { [b",", lead].concat() } else { spaced(b',', is_spaced) };
        let comma = comma.map_or_else(other_comma, <[u8]>::to_vec);
        let colon = colon.unwrap_or_else(|| spaced(b':', is_spaced));
        Self { lead: Vec::new(), tail: Vec::new(), comma, colon, lines }
    }

    /// The style of a container without children. `parent` is that of the one around it.
    pub(super) fn of_empty(parent: Option<&Self>, is_spaced: bool) -> Self {
        let Some(parent) = parent.and_then(|parent| parent.lines.as_ref()) else {
            let [comma, colon] = [b',', b':'].map(|byte| spaced(byte, is_spaced));
            return Self { lead: Vec::new(), tail: Vec::new(), comma, colon, lines: None };
        };
        let indent = [&parent.indent[..], &parent.unit].concat();
        let lead = [parent.newline, &indent].concat();
        let tail = [parent.newline, &parent.indent].concat();
        let comma = [b",", &lead[..]].concat();
        let lines = (lead.len() <= GAP_MAX).then(|| Lines { indent, ..parent.clone() });
        if lines.is_none() {
            return Self::of_empty(None, is_spaced);
        }
        Self { lead, tail, comma, colon: spaced(b':', true), lines }
    }

    /// A new value as it is written in this container. It stays as it is, unless it is a container with line breaks: then
    /// it gets the indentation of the others, or one line if they have one line.
    pub(super) fn lay_out<'v>(&self, value: Value<'v>) -> Cow<'v, [u8]> {
        let raw = value.raw();
        if !value.kind().is_container() || !raw.contains(&b'\n') {
            return Cow::Borrowed(raw);
        }
        let laid_out = match &self.lines {
            Some(lines) if depth(value) <= INDENTED_DEPTH_MAX => {
                format(raw, Layout::Indent(1)).map(|text| lines.indent_by(&text))
            }
            _ => minify(raw),
        };
        laid_out.map_or(Cow::Borrowed(raw), Cow::Owned)
    }
}

impl Lines {
    /// The lines of a container with this first gap and this last.
    fn of(lead: &[u8], tail: &[u8]) -> Option<Self> {
        let last_line = |gap: &[u8]| gap.iter().rposition(|byte| *byte == b'\n').map(|at| gap[at + 1..].to_vec());
        if lead.len() > GAP_MAX {
            return None;
        }
        let indent = last_line(lead)?;
        let unit = last_line(tail).and_then(|outer| indent.strip_prefix(&outer[..]).map(<[u8]>::to_vec));
        let newline: &[u8] = if lead.contains(&b'\r') { b"\r\n" } else { b"\n" };
        Some(Self { newline, indent, unit: unit.unwrap_or_else(|| b"  ".to_vec()) })
    }

    /// A text that is indented by one space for each level, indented as these lines are.
    fn indent_by(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len() * 2);
        for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let content = line.trim_ascii_start();
            if at > 0 {
                out.extend_from_slice(self.newline);
                out.extend_from_slice(&self.indent);
                (content.len()..line.len()).for_each(|_| out.extend_from_slice(&self.unit));
            }
            out.extend_from_slice(content);
        }
        out
    }
}

fn spaced(byte: u8, is_spaced: bool) -> Vec<u8> {
    if is_spaced { vec![byte, b' '] } else { vec![byte] }
}

/// Whether a document has spaces after commas and colons, as far as its beginning tells.
pub(super) fn is_spaced(root: Value<'_>, text: &[u8]) -> bool {
    let mut value = root;
    // A list of records says it in the first one.
    for _ in 0..2 {
        if let Some((key, value)) = value.entries().next() {
            return text[end(key)..value.offset()].ends_with(b" ");
        }
        let mut elements = value.elements();
        let Some(first) = elements.next() else { return false };
        if let Some(second) = elements.next() {
            return text[end(first)..second.offset()].ends_with(b" ");
        }
        value = first;
    }
    false
}

/// How many containers are nested in each other; 0 for a scalar. Takes time linear in the value, and no stack.
pub(super) fn depth(value: Value<'_>) -> usize {
    let (mut deepest, mut ends) = (0, Vec::new());
    for value in value.descendants().filter(|value| value.kind().is_container()) {
        while ends.last().is_some_and(|end| *end <= value.offset()) {
            ends.pop();
        }
        ends.push(end(value));
        deepest = deepest.max(ends.len());
    }
    deepest
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_containers_and_not_their_number() {
        for (text, wanted) in [("1", 0), ("[]", 1), (r#"{"a":1}"#, 1), ("[[],[[]],{}]", 3), ("[[],[],[1]]", 2)] {
            assert_eq!(depth(crate::parse(text.as_bytes()).unwrap().root()), wanted, "{text}");
        }
    }
}
