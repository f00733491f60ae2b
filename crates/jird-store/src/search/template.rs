//! Message templates (messagetemplates.org): `Order {Number} took {Elapsed:0.0} ms`, as Serilog and Seq render them.
//!
//! The page renders them in the same way, in `value.js`: what is seen is found.

use jird::hooks::write_string;
use jird::{Kind, Value};

/// The fields that hold templates.
pub(crate) const TEMPLATES: [&str; 2] = ["@mt", "MessageTemplate"];
/// Texts that the program made of properties, for the holes of the template that have a format, in their order.
const RENDERINGS: &str = "@r";
/// Where Serilog's older form has the properties.
const PROPERTIES: &str = "Properties";

/// The most bytes of a message, about, and the most holes that are filled: the text behind them is left out. A template
/// could otherwise name a long property as often as it likes.
const MESSAGE_BYTES: usize = 64 << 10;
const HOLES_MAX: usize = 100;

/// Appends the message of a template and an event's properties. A hole that names no property stays as it is.
pub(super) fn render(template: &str, event: Value<'_>, message: &mut String) {
    let mut renderings = event.get(RENDERINGS).into_iter().flat_map(Value::elements);
    let mut rest = template;
    let mut holes = 0;
    while let Some(at) = rest.find(['{', '}']) {
        message.push_str(&rest[..at]);
        rest = &rest[at..];
        let used = if rest.starts_with("{{") || rest.starts_with("}}") {
            message.push_str(&rest[..1]);
            2
        } else if let Some(hole) = Hole::at_start(rest) {
            holes += 1;
            if holes > HOLES_MAX || message.len() > MESSAGE_BYTES {
                return;
            }
            let rendering = hole.has_format.then(|| renderings.next()).flatten();
            match rendering.and_then(Value::as_str) {
                Some(text) => message.push_str(&text),
                None => match property(event, hole.name) {
                    Some(value) => push(value, message),
                    None => message.push_str(&rest[..hole.len]),
                },
            }
            hole.len
        } else {
            message.push_str(&rest[..1]);
            1
        };
        rest = &rest[used..];
    }
    message.push_str(rest);
}

/// Whether no ASCII letter or digit of what fills a hole can stand next to one of the template: there are marks or spaces
/// between them.
pub(crate) fn sets_holes_apart(template: &str) -> bool {
    let is_apart =
        |neighbour: Option<&u8>| neighbour.is_none_or(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric());
    let bytes = template.as_bytes();
    // A brace that follows another one may be that of another hole, whose value is next to this one's.
    let is_brace = |neighbour: Option<&u8>| neighbour.is_some_and(|byte| matches!(byte, b'{' | b'}'));
    memchr::memchr2_iter(b'{', b'}', bytes).all(|at| {
        let neighbour =
            if bytes[at] == b'{' { at.checked_sub(1).map(|before| &bytes[before]) } else { bytes.get(at + 1) };
        is_apart(neighbour) && !is_brace(neighbour)
    })
}

/// `{Name}`, `{@Name}`, `{$Name}`, with an alignment or a format behind the name.
struct Hole<'t> {
    name: &'t str,
    has_format: bool,
    len: usize,
}

impl<'t> Hole<'t> {
    fn at_start(text: &'t str) -> Option<Self> {
        let inner = text.strip_prefix('{')?;
        let len = inner.find(['{', '}']).filter(|end| inner.as_bytes()[*end] == b'}')?;
        let named = inner[..len].strip_prefix(['@', '$']).unwrap_or(&inner[..len]);
        let is_name = |char: char| char.is_alphanumeric() || char == '_' || char == '.';
        let (name, format) = named.split_at(named.find(|char| !is_name(char)).unwrap_or(named.len()));
        (!name.is_empty()).then_some(Self { name, has_format: format.contains(':'), len: len + 2 })
    }
}

fn property<'e>(event: Value<'e>, name: &str) -> Option<Value<'e>> {
    event.get(name).or_else(|| event.get(PROPERTIES)?.get(name))
}

fn push(value: Value<'_>, message: &mut String) {
    match (value.kind(), value.as_str()) {
        (_, Some(text)) => message.push_str(&text),
        // Escapes that need not be there are not in the message.
        (Kind::Object | Kind::Array, _) if value.raw().contains(&b'\\') => {
            let mut text = Vec::new();
            write(value, &mut text);
            message.push_str(&String::from_utf8_lossy(&text));
        }
        _ => message.push_str(value.raw_str().unwrap_or_default()),
    }
}

/// Appends a value, with those escapes that must be there. It is as deep as the parser lets documents be.
fn write(value: Value<'_>, out: &mut Vec<u8>) {
    match (value.kind(), value.as_str()) {
        (_, Some(text)) => write_string(&text, out),
        (Kind::Array, _) => {
            out.push(b'[');
            for (number, element) in value.elements().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                write(element, out);
            }
            out.push(b']');
        }
        (Kind::Object, _) => {
            out.push(b'{');
            for (number, (key, member)) in value.entries().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                write(key, out);
                out.push(b':');
                write(member, out);
            }
            out.push(b'}');
        }
        _ => out.extend_from_slice(value.raw()),
    }
}
