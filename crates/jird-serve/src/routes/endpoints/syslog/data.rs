//! Structured data of RFC 5424, section 6.3: `[id name="value" name="value"][id name="value"]`.
//!
//! Anything else, and all that follows it, stays in the text of the message unchanged. In JSON,
//! elements are members of one object; of names that occur more than once, no value is lost.

use super::ietf::NIL;
use jird::hooks::write_object;
use std::borrow::Cow;
use std::collections::HashMap;

/// An element: its name, and its parameters without escapes.
#[derive(Debug)]
pub(super) struct Element<'m> {
    id: &'m str,
    parameters: Vec<(&'m str, Cow<'m, str>)>,
}

/// The elements at the beginning of a text, and the message after them, from which one space divides it.
pub(super) fn read(text: &str) -> (Vec<Element<'_>>, &str) {
    let (mut elements, mut rest) = (Vec::new(), text);
    match text.strip_prefix(NIL) {
        Some(after) if after.is_empty() || after.starts_with(' ') => rest = after,
        _ => {
            while let Some((element, after)) = read_element(rest) {
                elements.push(element);
                rest = after;
            }
        }
    }
    (elements, rest.strip_prefix(' ').unwrap_or(rest))
}

fn read_element(text: &str) -> Option<(Element<'_>, &str)> {
    let (id, mut rest) = read_name(text.strip_prefix('[')?)?;
    let mut parameters = Vec::new();
    loop {
        if let Some(rest) = rest.trim_start_matches(' ').strip_prefix(']') {
            return Some((Element { id, parameters }, rest));
        }
        let (name, after) = read_name(rest.strip_prefix(' ')?.trim_start_matches(' '))?;
        let (value, after) = read_value(after.strip_prefix("=\"")?)?;
        parameters.push((name, value));
        rest = after;
    }
}

/// A name, and what comes after it.
fn read_name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(['=', ' ', ']', '"']).filter(|end| *end > 0)?;
    Some(text.split_at(end))
}

/// A value up to its closing quote, and what comes after that. A backslash escapes `"`, `\` and `]`; before anything else it
/// is itself.
fn read_value(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut value = Cow::Borrowed("");
    // Where a part begins that is not in the value yet.
    let (mut start, mut at) = (0, 0);
    loop {
        at += text[at..].find(['"', '\\'])?;
        let mark = text.as_bytes()[at];
        if mark == b'"' {
            value += &text[start..at];
            return Some((value, &text[at + 1..]));
        }
        at += 1;
        if matches!(text.as_bytes().get(at), Some(b'"' | b'\\' | b']')) {
            value += &text[start..at - 1];
            start = at;
            at += 1;
        }
    }
}

/// Appends `{"id":{"name":"value"}}`. A name that an element, or several of the same name, have more than once, has an array.
pub(super) fn write(elements: &[Element<'_>], json: &mut Vec<u8>) {
    write_object(json, |object| {
        for (id, elements) in grouped(elements.iter().map(|element| (element.id, element))) {
            let parameters = elements.iter().flat_map(|element| &element.parameters);
            object.object(id, |object| {
                for (name, values) in grouped(parameters.map(|(name, value)| (*name, &**value))) {
                    match &values[..] {
                        [value] => object.member(name, *value),
                        values => object.array(name, |array| values.iter().for_each(|value| array.element(*value))),
                    }
                }
            });
        }
    });
}

/// Values by their keys, in the order in which the keys occur first.
fn grouped<'k, V>(pairs: impl Iterator<Item = (&'k str, V)>) -> Vec<(&'k str, Vec<V>)> {
    let (mut places, mut groups) = (HashMap::new(), Vec::<(&str, Vec<V>)>::new());
    for (key, value) in pairs {
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}
