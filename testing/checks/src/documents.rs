//! Whole documents and single records, on every kernel and with every chunk size.

use crate::lines::{assert_field, find, path_sets, paths};
use crate::reference::{self, Fault, Node};
use crate::{CHUNK_BYTES, assert_consistent, assert_same, shown, ways};
use jird::hooks::Kernel;
use jird::lenient::{Allow, Leniency, to_strict};
use jird::policy::Policy;
use jird::{
    Error, Parser, Path,
    hooks::Technique,
    record::{Field, FieldReader, Projection, Record, RecordBuffer},
};

/// `parse` and `validate` agree with the reference: the same values, or the same fault at the same byte.
///
/// # Panics
/// If they do not.
pub fn parse(text: &[u8]) {
    let wanted = reference::read(text, Policy::DEPTH_MAX);
    check(text, &wanted, "parse", jird::parse(text).as_ref().map(jird::Document::root).map_err(jird::Error::clone));
    assert_eq!(jird::validate(text).map_err(|error| fault(&error)), verdict(&wanted), "validate: {}", shown(text));
    if let Err((kind, offset)) = wanted {
        locate(text, &Error::new(kind, offset as u64));
    }
    lenient(text, &wanted);
}

/// Without options, lenient reading refuses what is not JSON, as validation does. With all of them, what it returns is JSON.
fn lenient(text: &[u8], wanted: &Result<Node, Fault>) {
    let strict = to_strict(text, Leniency::STRICT);
    assert_eq!(strict.is_ok(), wanted.is_ok(), "lenient: {}", shown(text));
    if let (Err(error), Err((kind, offset))) = (strict, wanted)
        && error.option() != Some(Allow::InvalidUtf8)
    {
        assert_eq!((error.kind(), error.offset()), (*kind, *offset as u64), "lenient: {}", shown(text));
    }
    let all = Allow::ALL.into_iter().fold(Leniency::STRICT, Leniency::with);
    if let Ok(strict) = to_strict(text, all) {
        assert!(jird::validate(&strict).is_ok(), "lenient: {}", shown(text));
        assert!(strict.len() <= 6 * text.len(), "lenient: {}", shown(text));
    }
}

/// Every kernel gives the same result, with every chunk size and without any technique; and so does a parser that was
/// used before.
///
/// # Panics
/// If one does not.
pub fn kernels(text: &[u8]) {
    let wanted = reference::read(text, Policy::DEPTH_MAX);
    let in_chunks = CHUNK_BYTES.map(|bytes| (bytes, None));
    let without = TECHNIQUES.map(|technique| (piece_bytes(text), Some(technique)));
    for kernel in ways(Kernel::available()) {
        for (bytes, technique) in ways(in_chunks.into_iter().chain(without)) {
            let mut parser = Parser::with_kernel(Policy::default(), kernel).with_chunk_bytes(bytes);
            if let Some(technique) = technique {
                parser = parser.without(technique);
            }
            let name = format!("{} in chunks of {bytes} without {technique:?}", kernel.name());
            check(text, &wanted, &name, parser.parse(text));
            let validated = parser.validate(text).map_err(|error| fault(&error));
            assert_eq!(validated, verdict(&wanted), "{name}, validate: {}", shown(text));
        }
    }
}

/// The expected result of a validation.
fn verdict(wanted: &Result<Node, Fault>) -> Result<(), Fault> {
    wanted.as_ref().map(|_| ()).map_err(|fault| *fault)
}

/// A size that cuts a text into up to 64 pieces.
fn piece_bytes(text: &[u8]) -> usize {
    (text.len() / 64).max(CHUNK_BYTES[0])
}

const TECHNIQUES: [Technique; 5] = [
    Technique::Batches,
    Technique::NumbersByMasks,
    Technique::NumbersInPlace,
    Technique::NumbersOneByOne,
    Technique::AsciiShortcut,
];

/// Two threads give the same result, with many borders.
///
/// # Panics
/// If they do not.
pub fn threads(text: &[u8]) {
    let wanted = reference::read(text, Policy::DEPTH_MAX);
    let parser = Parser::with_kernel(Policy::default(), Kernel::best());
    let mut parser = parser.with_chunk_bytes(piece_bytes(text)).with_threads(2);
    check(text, &wanted, "threads", parser.parse(text));
    assert_eq!(
        parser.validate(text).map_err(|error| fault(&error)),
        verdict(&wanted),
        "threads, validate: {}",
        shown(text)
    );
}

/// A validated record agrees with the reference, and so do its fields. A trusted record does so if the text is JSON, and
/// is consistent in itself if it is not.
///
/// # Panics
/// If this does not hold.
pub fn record(text: &[u8]) {
    fields(text);
    let wanted = reference::read(text, Policy::DEPTH_MAX);
    for kernel in ways(Kernel::available()) {
        let mut buffer = RecordBuffer::with_kernel(Policy::default(), kernel);
        check(text, &wanted, kernel.name(), Record::scan(text, &mut buffer).map(Record::root));
        let trusted = Record::scan_trusted(text, &mut buffer);
        let values = assert_consistent(text, trusted.root());
        // A byte makes at most a value, a key, and another value in place of one that is missing.
        assert!(values <= 3 * text.len() + 3, "{values} values of {} bytes", text.len());
        if let Ok(node) = &wanted {
            assert_same(text, trusted.root(), node);
        }
        // The buffers keep no state of the trusted scan.
        check(text, &wanted, kernel.name(), Record::scan(text, &mut buffer).map(Record::root));
    }
}

/// A reader of fields finds what the reference finds at each path, or the same fault at the same byte. Without checks
/// it finds the same if the text is JSON, and some fields that are texts if it is not.
fn fields(text: &[u8]) {
    let wanted = reference::read(text, Policy::DEPTH_MAX);
    let paths = paths(text, wanted.as_ref().map(core::slice::from_ref).unwrap_or_default());
    for kernel in ways(Kernel::available()) {
        for paths in ways(path_sets(&paths)) {
            let projection = Projection::new(&paths);
            let mut reader = FieldReader::with_kernel(&projection, Policy::default(), kernel);
            // Again with used buffers, and after what the first record has taught the reader.
            for _ in 0..2 {
                let name = kernel.name();
                let mut fields = vec![Field::MISSING; paths.len()];
                let read = reader.read(text, &mut fields).map_err(|error| fault(&error));
                assert_eq!(read, verdict(&wanted), "{name}, fields: {}", shown(text));
                assert_fields(text, &wanted, &paths, &fields, name);
                let mut fields = vec![Field::MISSING; paths.len()];
                let read = reader.read_trusted(text, &mut fields);
                assert!(wanted.is_err() || read.is_ok(), "{name} refuses what is right: {}", shown(text));
                assert_fields(text, &wanted, &paths, &fields, name);
            }
        }
    }
}

/// The fields are those of the reference, if the text is JSON.
fn assert_fields(text: &[u8], wanted: &Result<Node, Fault>, paths: &[Path], fields: &[Field<'_>], name: &str) {
    for (path, field) in paths.iter().zip(fields) {
        match wanted {
            Ok(root) => assert_field(text, *field, find(root, path), || format!("{name}: {path} of {}", shown(text))),
            Err(_) => assert!(core::str::from_utf8(field.raw().as_bytes()).is_ok(), "a str that is not UTF-8"),
        }
    }
}

fn check(text: &[u8], wanted: &Result<Node, Fault>, name: &str, found: Result<jird::Value<'_>, Error>) {
    match (wanted, found) {
        (Ok(node), Ok(value)) => assert_same(text, value, node),
        (Err(wanted), Err(error)) => assert_eq!(fault(&error), *wanted, "{name}: {}", shown(text)),
        (Ok(_), Err(error)) => panic!("{name} refuses what is right, {error}: {}", shown(text)),
        (Err((kind, offset)), Ok(_)) => panic!("{name} takes what is wrong, {kind} at {offset}: {}", shown(text)),
    }
}

pub(crate) fn fault(error: &Error) -> Fault {
    (error.kind(), usize::try_from(error.offset()).expect("offsets are of a slice"))
}

/// The place of an error is within the text.
fn locate(text: &[u8], error: &Error) {
    let located = error.locate(text);
    let before = &text[..usize::try_from(error.offset()).expect("offsets are of a slice")];
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
    assert_eq!((located.line(), located.column()), (lines as u64 + 1, column as u64 + 1), "{}", shown(text));
    assert!(located.snippet().chars().count() <= 200, "a long snippet of {}", shown(text));
    assert!(!located.to_string().chars().any(|char| char.is_control() && char != '\n'), "{}", shown(text));
}
