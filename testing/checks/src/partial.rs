//! Documents that arrive in pieces have the value that a naive model finds, wherever they are cut.

use crate::reference::{self, Fault, Node};
use crate::{assert_same, shown, ways};
use jird::Error;
use jird::partial::{PartialDocument, Snapshot, repair};
use jird::policy::Policy;

/// What the reference makes of a whole text.
type Wanted = Result<Node, Fault>;

/// However a text is cut, its value so far is that of the model, errors come with the byte that causes them, and a
/// repaired text is valid.
///
/// # Panics
/// If this does not hold.
pub fn partial(text: &[u8]) {
    let wanted = reference::read(text, Policy::DEPTH_MAX);
    let parts: [fn(&[u8], &Wanted); 4] = [byte_by_byte, in_pieces, withheld, repaired];
    ways(parts).for_each(|check| check(text, &wanted));
}

/// The longest text whose every prefix is compared with the model, and the number of prefixes of any other.
const PREFIXES: usize = 80;

fn byte_by_byte(text: &[u8], wanted: &Wanted) {
    let mut document = PartialDocument::new();
    for (index, byte) in text.iter().enumerate() {
        let pushed = document.push(std::slice::from_ref(byte));
        match fault_before(text, wanted) {
            Some(fault) if fault.1 == index => {
                assert_eq!(pushed.map_err(|error| told(&error)), Err(fault), "byte {index}: {}", shown(text));
                assert!(document.push(b" ").is_err() && document.finish().is_err(), "nothing follows an error");
                return check_snapshot(&text[..=index], document.snapshot(), wanted, Strings::Kept);
            }
            _ => assert!(pushed.is_ok(), "byte {index} is no error: {}", shown(text)),
        }
        if index < PREFIXES || index % (text.len() / 8) == 0 {
            check_snapshot(&text[..=index], document.snapshot(), wanted, Strings::Kept);
        }
    }
    let finished = document.finish().map_err(|error| told(&error));
    assert_eq!(finished, wanted.as_ref().map(|_| ()).map_err(|fault| *fault), "finished: {}", shown(text));
    if let Ok(node) = wanted {
        let whole = document.snapshot().expect("it has a value");
        assert_eq!((whole.text().len(), whole.kept()), (node.end, node.end), "nothing is added: {}", shown(text));
        assert_same(text, whole.root(), node);
        assert!(document.is_complete() && document.finish().is_ok() && document.push(b"").is_err());
    }
}

/// Pieces of any size give what single bytes give.
fn in_pieces(text: &[u8], wanted: &Wanted) {
    for bytes in ways([2, 3, 20, 64, 1 << 20]) {
        let (mut single, mut document) = (PartialDocument::new(), PartialDocument::new());
        for (index, piece) in text.chunks(bytes).enumerate() {
            let by_one = piece.iter().try_for_each(|byte| single.push(std::slice::from_ref(byte)));
            let at_once = document.push(piece);
            let (by_one, at_once) = (by_one.map_err(|error| told(&error)), at_once.map_err(|error| told(&error)));
            let fault = fault_before(text, wanted).filter(|fault| fault.1 / bytes <= index);
            assert_eq!(at_once, fault.map_or(Ok(()), Err), "pieces of {bytes}: {}", shown(text));
            assert_eq!(at_once, by_one, "pieces of {bytes}: {}", shown(text));
            if index < PREFIXES || fault.is_some() {
                let (found, same) = (document.snapshot(), single.snapshot());
                let parts = |so_far: Snapshot<'_>| (so_far.text().to_owned(), so_far.kept());
                assert_eq!(found.map(parts), same.map(parts), "pieces of {bytes}: {}", shown(text));
                if let Some(so_far) = found {
                    let node = reference::read(so_far.text().as_bytes(), Policy::DEPTH_MAX).expect("it is valid");
                    assert_same(so_far.text().as_bytes(), so_far.root(), &node);
                }
            }
            if fault.is_some() {
                break;
            }
        }
    }
}

/// Strings that are cut can be withheld.
fn withheld(text: &[u8], wanted: &Wanted) {
    let mut document = PartialDocument::new().withhold_strings();
    for (index, byte) in text.iter().enumerate().take(PREFIXES) {
        if document.push(std::slice::from_ref(byte)).is_err() {
            return;
        }
        check_snapshot(&text[..=index], document.snapshot(), wanted, Strings::Withheld);
    }
}

/// Texts that are valid so far are repaired, and no others.
fn repaired(text: &[u8], wanted: &Wanted) {
    match (repair(text), wanted) {
        (Ok(whole), Ok(_)) => assert!(!whole.is_changed() && whole.text().as_bytes() == text, "{}", shown(text)),
        (Ok(repair), Err((_, offset))) => {
            assert_eq!(*offset, text.len(), "only a cut is repaired: {}", shown(text));
            assert!(repair.is_changed() && jird::parse(repair.text().as_bytes()).is_ok(), "{}", shown(text));
            assert_eq!([&repair.text().as_bytes()[..repair.kept()], repair.removed()].concat(), text);
            let mut document = PartialDocument::new();
            document.push(text).expect("it is valid so far");
            let so_far = document.snapshot().expect("it has a value");
            assert_eq!((repair.text(), repair.kept()), (so_far.text(), so_far.kept()));
        }
        (Err(error), Err(fault)) => {
            assert_eq!(told(&error), *fault, "{}", shown(text));
            let is_cut = fault.1 == text.len();
            assert!(!is_cut || so_far(text, text.len(), Strings::Kept).is_none(), "a cut is repaired: {}", shown(text));
        }
        (Err(error), Ok(_)) => panic!("{error}: {}", shown(text)),
    }
}

/// The fault, if it is one that no longer text would mend.
fn fault_before(text: &[u8], wanted: &Wanted) -> Option<Fault> {
    wanted.as_ref().err().copied().filter(|fault| fault.1 < text.len())
}

fn told(error: &Error) -> Fault {
    (error.kind(), error.offset() as usize)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Strings {
    Kept,
    Withheld,
}

/// Checks the value of `arrived`, which the text that `wanted` describes begins with. It may end in the byte that is
/// wrong.
fn check_snapshot(arrived: &[u8], found: Option<Snapshot<'_>>, wanted: &Wanted, strings: Strings) {
    let valid = wanted.as_ref().map_or_else(|fault| fault.1.min(arrived.len()), |_| arrived.len());
    let prefix = &arrived[..valid];
    if prefix.len() <= PREFIXES {
        let model = so_far(arrived, valid, strings);
        let found = found.map(|found| jird::minify(found.text().as_bytes()).expect("it is valid"));
        assert_eq!(found, model, "the value so far of {}", shown(prefix));
    }
    let Some(found) = found else { return };
    let (text, kept) = (found.text().as_bytes(), found.kept());
    let node = reference::read(text, Policy::DEPTH_MAX).expect("it is valid");
    assert_same(text, found.root(), &node);
    assert_eq!(text[..kept], prefix[..kept], "what has arrived is kept: {}", shown(prefix));
    // Without a character that is cut; after an error, with what is wrong.
    let (rest, withheld) = (&prefix[kept..], found.withheld().as_bytes());
    assert!(rest.starts_with(withheld) && rest.len() < withheld.len() + 4 || withheld.starts_with(rest));
    if let Ok(whole) = wanted {
        assert_lasts(found, found.root(), whole);
    }
}

/// What is said to be complete is in the whole document as it is here, and what is not goes on.
fn assert_lasts(so_far: Snapshot<'_>, value: jird::Value<'_>, whole: &Node) {
    assert_eq!(value.offset(), whole.start);
    let len = value.raw().len();
    if so_far.is_complete(value) {
        return assert_eq!(len, whole.end - whole.start, "it is complete: {value:?}");
    }
    assert!(value.offset() + len > so_far.kept() && whole.end > so_far.kept(), "it goes on: {value:?}");
    for (index, element) in value.elements().enumerate() {
        assert_lasts(so_far, element, whole.at(index).expect("it is there"));
    }
    if let reference::Tree::Object(members) = &whole.tree {
        for ((key, member), (whole_key, whole_member)) in value.entries().zip(members) {
            assert!(so_far.is_complete(key), "a key is complete");
            assert_lasts(so_far, key, whole_key);
            assert_lasts(so_far, member, whole_member);
        }
    }
}

/// The model: the longest beginning of `text`, of at most `valid` bytes, that a quote and brackets make valid, unless it
/// ends in a number that nothing has ended.
fn so_far(text: &[u8], valid: usize, strings: Strings) -> Option<Vec<u8>> {
    for cut in (0..=valid).rev() {
        let kept = &text[..cut];
        let quotes: &[&[u8]] = if strings == Strings::Kept { &[b"", b"\""] } else { &[b""] };
        for quote in quotes {
            let mut closed = [kept, quote].concat();
            let ends_in_digit = closed.last().is_some_and(u8::is_ascii_digit);
            let is_ended = text.get(cut).is_some_and(|next| b",]} \t\n\r".contains(next));
            closed.extend(brackets(&closed));
            if (is_ended || !ends_in_digit) && reference::read(&closed, Policy::DEPTH_MAX).is_ok() {
                return Some(jird::minify(&closed).expect("it is valid"));
            }
        }
    }
    None
}

/// What closes the brackets that are open.
fn brackets(text: &[u8]) -> Vec<u8> {
    let mut open = Vec::new();
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => open.push(byte + 2),
            b'}' | b']' => drop(open.pop()),
            b'"' => {
                while bytes.next().is_some_and(|&byte| byte != b'"' && (byte != b'\\' || bytes.next().is_some())) {}
            }
            _ => {}
        }
    }
    open.reverse();
    open
}
