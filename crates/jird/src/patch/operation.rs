//! Patches: the operations of RFC 6902, read and checked.

use super::equal::name;
use crate::edit::{EditError, EditErrorKind, Pointer, shown};
use crate::tape::{Document, Kind, Value};

/// A JSON Patch (RFC 6902): operations that are applied one after the other. It is read once, and applied to any number
/// of documents by [`DocumentMut::apply`](crate::edit::DocumentMut::apply).
///
/// ```
/// use jird::{edit::DocumentMut, patch::Patch};
/// let patch = Patch::parse(br#"[{"op": "replace", "path": "/level", "value": "info"}]"#)?;
/// let mut texts = Vec::new();
/// for line in [r#"{"id": 1.50, "level": "INFO"}"#, r#"{"id": 2,"level":null}"#] {
///     let line = jird::parse(line.as_bytes())?;
///     texts.push(DocumentMut::from(&line).apply(&patch)?.to_string()?);
/// }
/// assert_eq!(texts, [r#"{"id": 1.50, "level": "info"}"#, r#"{"id": 2,"level":"info"}"#]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Patch<'p> {
    pub(super) document: Document<'p>,
    pub(super) operations: Vec<Operation>,
}

/// One operation. Values are places in the patch.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) verb: Verb,
    pub(super) path: Pointer<'static>,
}

#[derive(Debug)]
pub(super) enum Verb {
    Add(usize),
    Remove,
    Replace(usize),
    Move(Pointer<'static>),
    Copy(Pointer<'static>),
    Test(usize),
}

impl Verb {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Add(_) => "add",
            Self::Remove => "remove",
            Self::Replace(_) => "replace",
            Self::Move(_) => "move",
            Self::Copy(_) => "copy",
            Self::Test(_) => "test",
        }
    }
}

impl<'p> Patch<'p> {
    /// Reads and checks a patch. Members that no operation knows are ignored (RFC 6902 §4).
    ///
    /// # Errors
    /// [`EditErrorKind::Patch`] if it is not JSON, [`EditErrorKind::Malformed`] or [`EditErrorKind::Pointer`] for the
    /// first operation that is wrong.
    pub fn parse(text: &'p [u8]) -> Result<Self, EditError> {
        let document = crate::parse(text).map_err(|error| EditError::text(EditErrorKind::Patch, error))?;
        Self::of_document(document)
    }

    /// The same for a document that was parsed before.
    ///
    /// # Errors
    /// As [`Patch::parse`].
    pub fn of_document(document: Document<'p>) -> Result<Self, EditError> {
        let root = document.root();
        if root.kind() != Kind::Array {
            let kind = root.kind().name();
            let words = format!("a JSON Patch is an array of operations, and this is a value of kind {kind}");
            let hint = if root.kind() == Kind::Object { "; an object may be a merge patch (RFC 7396)" } else { "" };
            return Err(malformed(words + hint));
        }
        let read = |(index, value)| operation(&document, value).map_err(|error| error.of_operation(index));
        let operations = root.elements().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Self { document, operations })
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

#[cold]
fn malformed(words: impl Into<String>) -> EditError {
    EditError::new(EditErrorKind::Malformed, words)
}

/// The members of an operation that have a meaning.
#[derive(Default)]
struct Members<'v> {
    op: Option<Value<'v>>,
    path: Option<Value<'v>>,
    from: Option<Value<'v>>,
    value: Option<Value<'v>>,
}

fn operation(document: &Document<'_>, operation: Value<'_>) -> Result<Operation, EditError> {
    let members = members(operation)?;
    let op = text(members.op, "op")?;
    let path = pointer(members.path, "path")?;
    let value = || members.value.map(|value| document.place_of(value)).ok_or_else(|| without("value"));
    let from = || pointer(members.from, "from");
    let verb = match &*op {
        "add" => value().map(Verb::Add),
        "remove" => Ok(Verb::Remove),
        "replace" => value().map(Verb::Replace),
        "move" => from().map(Verb::Move),
        "copy" => from().map(Verb::Copy),
        "test" => value().map(Verb::Test),
        other => Err(malformed(format!(
            "{:?} is not an operation; there are add, remove, replace, move, copy and test",
            shown(other)
        ))),
    };
    Ok(Operation { verb: verb?, path })
}

fn members(operation: Value<'_>) -> Result<Members<'_>, EditError> {
    if operation.kind() != Kind::Object {
        return Err(malformed(format!(
            "an operation is an object, and this is a value of kind {}",
            operation.kind().name()
        )));
    }
    let mut members = Members::default();
    for (key, value) in operation.entries() {
        let key = name(key);
        let member = match &*key {
            "op" => &mut members.op,
            "path" => &mut members.path,
            "from" => &mut members.from,
            "value" => &mut members.value,
            _ => continue,
        };
        if member.replace(value).is_some() {
            return Err(malformed(format!("it has two members {key:?}")));
        }
    }
    Ok(members)
}

fn text(value: Option<Value<'_>>, member: &str) -> Result<String, EditError> {
    let value = value.ok_or_else(|| without(member))?;
    let text = value.as_str().map(std::borrow::Cow::into_owned);
    text.ok_or_else(|| malformed(format!("its member {member:?} is not a string, but of kind {}", value.kind().name())))
}

fn pointer(value: Option<Value<'_>>, member: &str) -> Result<Pointer<'static>, EditError> {
    Pointer::new(text(value, member)?.into())
}

#[cold]
fn without(member: &str) -> EditError {
    malformed(format!("it has no member {member:?}"))
}
