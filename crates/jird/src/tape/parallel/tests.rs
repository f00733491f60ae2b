//! Reading in pieces gives the same tape or the same error as reading in one piece, wherever the borders are and
//! whatever the guess at them is.

use super::*;
use crate::Parser;
use checks::random::{self, Random};

/// Reads `text` in pieces of `bytes` bytes; with one thread, on this thread. `None` if it is not read in pieces.
fn read(kernel: Kernel, policy: &Policy, text: &[u8], bytes: usize, threads: usize) -> Option<Result<Vec<u64>, Fault>> {
    let pieces = Pieces::default().with_threads(threads.max(2)).with_bytes(bytes);
    if !pieces.pay_for(text) {
        return None;
    }
    let pieces = pieces.with_threads(threads);
    let mut words = Vec::new();
    let made = pieces.read(kernel, policy, text, Some(&mut words));
    assert_eq!(pieces.read(kernel, policy, text, None), made, "validate: {}", checks::shown(text));
    Some(made.map(|()| words))
}

fn whole(kernel: Kernel, policy: &Policy, text: &[u8]) -> Result<Vec<u64>, Fault> {
    let mut parser = Parser::with_kernel(*policy, kernel);
    parser.parse(text).map_err(|error| Fault::new(error.kind(), error.offset()))?;
    Ok(parser.words().to_vec())
}

fn check_policy(policy: &Policy, text: &[u8], threads: usize) {
    for kernel in Kernel::available() {
        let wanted = whole(kernel, policy, text);
        for bytes in [64, 128, 192, 1024] {
            let found = read(kernel, policy, text, bytes, threads);
            assert!(
                found.as_ref().is_none_or(|found| *found == wanted),
                "{} in pieces of {bytes}: {:?} and not {:?}: {}",
                kernel.name(),
                found.as_ref().map(|found| found.as_ref().map(Vec::len)),
                wanted.as_ref().map(Vec::len),
                String::from_utf8_lossy(text)
            );
        }
    }
}

fn check(text: &[u8]) {
    check_policy(&Policy::default(), text, 1);
}

/// `text` with a border at every place.
fn check_borders(text: &str) {
    for space in 0..64 {
        check(&[&b" ".repeat(space), text.as_bytes()].concat());
        check(&[b"[", &b" ".repeat(space)[..], text.as_bytes(), b"]"].concat());
        check(&[b"[\"", &b"x".repeat(space)[..], b"\",", text.as_bytes(), b"]"].concat());
    }
}

#[test]
fn documents_are_the_same_with_the_border_at_every_place() {
    for text in [
        r#"{"a":[1, -2.5e3, "b\n\"c\"", true,false,null,{}] , "d" : {"e":"\\","f":"\u00e9"}}"#,
        &format!("{}1{},[]{},{{\"a\":[[[{{}}]]]}}{}", "[".repeat(40), "]".repeat(5), "]".repeat(20), "]".repeat(15)),
        r#"["\ud83d\ude00\uD83D\uDE00","\u00e9\u12ab é€😀日本語",{"\\\\\\\\\"":"\\\\"}  ,  "" ,""]"#,
        r"[ 1234567890123456789012345678901234567890123456789012345678901234567890123456789.5e10 , 0.5 ]",
        &format!("[{:?},1]", "a long string ".repeat(30)),
        &format!("[\"{}\",{{\"a\":\"{}\"}}]", "\\n".repeat(100), "\\\\".repeat(140)),
        &format!("[1{}, true{}]", " ".repeat(200), "\n".repeat(150)),
    ] {
        assert!(crate::validate(text.as_bytes()).is_ok(), "{text}");
        check_borders(text);
    }
}

#[test]
fn the_first_error_is_the_same_with_the_border_at_every_place() {
    for text in [
        "[1 2]",
        "[1,]",
        "{\"a\" 1}",
        "{\"a\":1 2}",
        "{\"a\":1,}",
        "{1:2}",
        "{\"a\",1}",
        "[1]]",
        "[1] 2",
        "{]",
        "[}",
        "[tru]",
        "[01]",
        "[1.]",
        "[-]",
        "[1\"a\"]",
        "[\"a\"1]",
        "[\"a\" \"b\"]",
        "{\"a\" \"b\"}",
        "[\"\\q\"]",
        "[\"\\u12g4\"]",
        "[\"\\ud800\"]",
        "[\"a\nb\"]",
        "[\"a",
        "[[[",
        "[{\"a\":",
        "[nul,\"\x01\"]",
        "[\"\x01\",nul]",
        "[ۛ 1]",
        "[1ۛ]",
        "[\"a\"ۛ]",
        "[۝",
        "[1 \0 2]",
        "\0[1]",
        "[\\\"a\\\"]",
        "[\"a\"\\,1]",
        "[1 1 1 1 1 1",
        "{\"a\":1,\"b\" \"c\" \"d\"}",
    ] {
        assert!(crate::validate(text.as_bytes()).is_err(), "{text}");
        check_borders(text);
    }
    for wrong in
        [&b"\xFF"[..], b"\xC3", b"\xE2\x82", b"\xF0\x9F\x98", b"\xED\xA0\x80", b"\xDB", b"\xDD]", "\u{740}".as_bytes()]
    {
        for space in 0..140 {
            let space = b" ".repeat(space);
            check(&[b"[", &space[..], wrong, b",\"xxxxxxxxxxxxxxxxxxxxxxxx\"]"].concat());
            check(&[b"[\"", &space[..], wrong, b"\",\"xxxxxxxxxxxxxxxxxxxxxxxx\"]"].concat());
            check(&[b"[\"", &space[..], b"\"", wrong, b",nul,\"xxxxxxxxxxxxxxxxxxxxxxxx\"]"].concat());
        }
    }
}

/// A valid document with records of every kind, of about `len` bytes.
fn document(random: &mut Random, len: usize) -> Vec<u8> {
    let mut text = String::from("[");
    while text.len() < len {
        random::value(random, 6, &mut text);
        text.push_str(random.pick(&[",", " ,\n  "]));
    }
    text.push_str("0]");
    text.into_bytes()
}

#[test]
fn generated_documents_and_what_is_wrong_with_them_are_the_same() {
    const ALPHABET: &[u8] = b"\"\"\"\\\\{}[]:,1-.e \nt\0\xC3\xDB\xFF";
    for seed in 0..checks::rounds(1500) {
        let mut random = Random::new(seed as u64);
        let len = random.below(2000);
        let mut text = document(&mut random, len);
        check(&text);
        for _ in 0..random.below(3) {
            let at = random.below(text.len());
            text[at] = random.pick(ALPHABET);
        }
        check(&text);
        let end = random.below(text.len());
        check(&text[..end]);
    }
}

#[test]
fn random_bytes_are_the_same() {
    const ALPHABETS: [&[u8]; 4] =
        [b"[[[]]]{}\"a\":,1 ", b"\\\"{}[]:, \n\ta1\x01", b"\\\\\\\"\"ud8c0DC, \xF0\x9F\x98\x80\n", b"[1,]"];
    let mut random = Random::new(11);
    for round in 0..checks::rounds(20_000) {
        let mut text = b"[".to_vec();
        let alphabet = ALPHABETS[round % ALPHABETS.len()];
        text.extend((0..random.below(400)).map(|_| random.pick(alphabet)));
        check(&text);
    }
}

#[test]
fn limits_hold_over_borders() {
    for depth in [1, 63, 64, 65, 199, 200, 201, 500] {
        for depth_max in [1, 64, 200] {
            let policy = Policy { depth_max, numbers: crate::policy::Numbers::Machine, ..Policy::default() };
            for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[ 0 ,", ", 1e5, 2]")] {
                let text = [&open.repeat(depth), "12345678901", &close.repeat(depth)].concat();
                check_policy(&policy, text.as_bytes(), 1);
                check_policy(&policy, text.replace("1e5", "1e999").as_bytes(), 1);
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    for threads in 1..=4 {
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let mut text = document(&mut random, 5000);
            check_policy(&Policy::default(), &text, threads);
            let at = random.below(text.len());
            text[at] = b'"';
            check_policy(&Policy::default(), &text, threads);
        }
    }
}

#[test]
fn what_misleads_every_guess_is_read_all_the_same() {
    // Opening quotes that look like closing ones and the reverse, and strings so long that the window has no quote.
    for text in [
        format!("[{}0]", "\":,\" , \":,\" ,".repeat(2000)),
        format!("[{}0]", "\",\",".repeat(9000)),
        format!("[\"{}\"]", "x".repeat(30_000)),
        format!("[\"{}\"]", "\\\\".repeat(15_000)),
        format!("[\"\\n{}\"]", "x".repeat(30_000)),
        format!("[\"{}\"]", "[1],".repeat(10_000)),
        format!("[\"{}\"]", "\\\": \\\"".repeat(6000)),
    ] {
        check(text.as_bytes());
        check_policy(&Policy::default(), text.as_bytes(), 2);
    }
    let text = format!("[{}0]", "\":,\" , \":,\" ,".repeat(20_000)).into_bytes();
    let kernel = Kernel::best();
    let wrong = (1..text.len() / 4096).filter(|piece| {
        let (from, mut tokens) = (piece * 4096, Tokens::default());
        let mut carry = Carry::default();
        scan(kernel, &Chunk { text: &text, from: 0, to: from }, Mode::Document, &mut carry, &mut tokens);
        Carry::guess(kernel, &text, from, &mut tokens) != carry.at_border(from)
    });
    assert!(wrong.count() > 10, "the text does not mislead");
}

#[test]
fn brackets_without_partners_are_found() {
    let mut random = Random::new(5);
    let (mut tokens, mut unpaired) = (Tokens::default(), Unpaired::default());
    for _ in 0..5000 {
        let text: Vec<u8> = (0..random.below(300)).map(|_| random.pick(b"[[[]]]{}:,1\xDB\xDD ")).collect();
        for kernel in Kernel::available() {
            tokens.clear();
            let chunk = Chunk { text: &text, from: 0, to: text.len() };
            scan(kernel, &chunk, Mode::Document, &mut Carry::default(), &mut tokens);
            let kinds = tokens.slices().0;
            let at = random.below(kinds.len() + 1);
            let (mut closed, mut open) = (0, Vec::new());
            for kind in kinds[at..].iter().map(|kind| kind & 0x7F) {
                match kind {
                    b'[' | b'{' => open.push(kind == b'{'),
                    b']' | b'}' if open.pop().is_none() => closed += 1,
                    _ => {}
                }
            }
            super::unpaired(kernel, &tokens, at, &mut unpaired);
            let mut found = vec![true; closed];
            assert!(unpaired.apply(&mut found) && unpaired.closed == closed, "{kinds:?}");
            assert_eq!(found, open, "{kinds:?}");
            assert!(closed == 0 || !unpaired.apply(&mut Vec::new()));
        }
    }
}
