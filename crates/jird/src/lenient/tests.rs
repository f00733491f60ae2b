//! What each option allows, what none allows, and what holds for any text.

use super::{Allow, HEX_DIGITS_MAX, Leniency, to_strict};
use crate::fault::ErrorKind;
use std::borrow::Cow;

fn strict(text: &str, leniency: Leniency) -> Result<String, String> {
    let result = to_strict(text.as_bytes(), leniency);
    result.map(|text| String::from_utf8(text.into_owned()).unwrap()).map_err(|error| error.to_string())
}

/// Texts, each with its strict form by JSON5.
const JSON5: &[(&str, &str)] = &[
    // White space and comments.
    ("// first\n1", " \n1"),
    ("1 // last", "1  "),
    ("/* a\n * b\r\n */[/**/]", "\n\n[ ]"),
    ("[1,/*/ */2]", "[1, 2]"),
    ("[1//\r,2]", "[1 \r,2]"),
    ("[1//\u{2028},2//\u{2029}]", "[1  ,2  ]"),
    ("\"// no\" //", "\"// no\"  "),
    ("'/* no */'", "\"/* no */\""),
    ("\u{FEFF}\u{B}[\u{C}\u{A0}1\u{3000}\u{2028},\u{FEFF}2\u{2003}]\u{1680}", " [  1  , 2 ] "),
    // Containers.
    ("[1,]", "[1]"),
    ("[1 , /* last */ ]", "[1    ]"),
    ("{a:1,}", "{\"a\":1}"),
    ("{\n  'a' : [ ] ,\n}", "{\n  \"a\" : [ ] \n}"),
    ("[[],{},[[1,],],]", "[[],{},[[1]]]"),
    // Keys.
    (
        "{$_:1, _$:2, a1:3, ü:4, a\u{301}:5, x\u{200D}y:6}",
        "{\"$_\":1, \"_$\":2, \"a1\":3, \"ü\":4, \"a\u{301}\":5, \"x\u{200D}y\":6}",
    ),
    ("{\\u0061b\\u0063:1}", "{\"\\u0061b\\u0063\":1}"),
    ("{null:null,true:1,NaN:2,Infinity:3,if:4}", "{\"null\":null,\"true\":1,\"NaN\":2,\"Infinity\":3,\"if\":4}"),
    ("{'':1,'a b':2,\"c\":3}", "{\"\":1,\"a b\":2,\"c\":3}"),
    ("{a/**/:/**/1}", "{\"a\" : 1}"),
    ("[{a:[{b:1},{c:2}]},{d:3}]", "[{\"a\":[{\"b\":1},{\"c\":2}]},{\"d\":3}]"),
    // Numbers.
    ("[+1,-1,+0,-0,.5,-.5,+.5,5.,-5.,5.e3,.5E-2,1e5]", "[1,-1,0,-0,0.5,-0.5,0.5,5.0,-5.0,5.0e3,0.5E-2,1e5]"),
    ("[0x10,0XfF,-0xC8,+0x0,-0x0,0xdecaf]", "[16,255,-200,0,-0,912559]"),
    ("0xFFFFFFFFFFFFFFFFFFFF", "1208925819614629174706175"),
    ("[1.00000000000000000000000000000000000000000001e400,]", "[1.00000000000000000000000000000000000000000001e400]"),
    // Strings.
    ("'a\"b'", "\"a\\\"b\""),
    ("'it\\'s \\\"'", "\"it's \\\"\""),
    ("\"it's \\' \"", "\"it's ' \""),
    ("'\\x41\\x22\\x5c\\x0a\\xe9\\v\\0\\a\\ü\\ '", "\"A\\\"\\\\\\n\u{e9}\\u000b\\u0000aü \""),
    ("'\\b\\f\\n\\r\\t\\\\\\/\\u00e9'", "\"\\b\\f\\n\\r\\t\\\\\\/\\u00e9\""),
    ("'a\\\nb\\\r\nc\\\rd\\\u{2028}e\\\u{2029}f'", "\"abcdef\""),
    ("'\t\u{1}\u{7f}\u{2028}'", "\"\\t\\u0001\u{7f}\u{2028}\""),
    ("'\\\t'", "\"\\t\""),
    ("'\\ud83d\\ude00 \\ud83d\\\n\\ude00'", "\"\\ud83d\\ude00 \\ud83d\\ude00\""),
];

/// Texts that JSON5 refuses, each with the kind of the error, its offset, and the option that would allow it.
const NOT_JSON5: &[(&str, ErrorKind, usize, Option<Allow>)] = &[
    ("", ErrorKind::Empty, 0, None),
    ("// only", ErrorKind::Empty, 7, None),
    ("/* open", ErrorKind::Value, 0, None),
    ("[1, /*/]", ErrorKind::Value, 4, None),
    ("# no", ErrorKind::Value, 0, None),
    ("[,]", ErrorKind::Value, 1, None),
    ("[1,,]", ErrorKind::Value, 3, None),
    ("[,1]", ErrorKind::Value, 1, None),
    ("{,}", ErrorKind::Key, 1, None),
    ("{a:,}", ErrorKind::Value, 3, None),
    ("{a,}", ErrorKind::Colon, 3, None),
    ("{a b:1}", ErrorKind::Colon, 3, None),
    ("{1:1}", ErrorKind::Key, 1, None),
    ("{a-b:1}", ErrorKind::Colon, 2, None),
    ("{\\u0031a:1}", ErrorKind::Key, 1, None),
    ("{a\\u002d:1}", ErrorKind::Colon, 2, None),
    ("[a]", ErrorKind::Value, 1, None),
    ("[1 2]", ErrorKind::Comma, 3, None),
    ("1,", ErrorKind::Trailing, 1, None),
    ("[1", ErrorKind::Unclosed, 2, None),
    ("[1}", ErrorKind::Comma, 2, None),
    ("010", ErrorKind::Number, 1, None),
    ("+010", ErrorKind::Number, 2, None),
    ("-0x", ErrorKind::Number, 2, None),
    ("0xg", ErrorKind::Number, 1, None),
    ("0x1.5", ErrorKind::Number, 1, None),
    ("0x1+2", ErrorKind::Number, 1, None),
    ("5..5", ErrorKind::Number, 2, None),
    (".5.5", ErrorKind::Value, 0, None),
    (".", ErrorKind::Value, 0, None),
    ("1e", ErrorKind::Number, 2, None),
    (".e1", ErrorKind::Value, 0, None),
    ("+ 1", ErrorKind::Value, 0, None),
    ("- 1", ErrorKind::Number, 1, None),
    ("++1", ErrorKind::Value, 0, None),
    ("'a", ErrorKind::String, 2, None),
    ("'a\"", ErrorKind::String, 3, None),
    ("'a\nb'", ErrorKind::Control, 2, Some(Allow::LineBreaks)),
    ("'\\1'", ErrorKind::Escape, 2, None),
    ("'\\01'", ErrorKind::Escape, 2, None),
    ("'\\x4'", ErrorKind::Escape, 2, None),
    ("'\\u12g4'", ErrorKind::Escape, 5, None),
    ("'\\ud800'", ErrorKind::Escape, 7, Some(Allow::LoneSurrogates)),
    ("[NaN]", ErrorKind::Value, 1, Some(Allow::NonfiniteAsNull)),
    ("-Infinity", ErrorKind::Number, 1, Some(Allow::NonfiniteAsNull)),
    ("True", ErrorKind::Value, 0, Some(Allow::PythonLiterals)),
    ("[undefined]", ErrorKind::Value, 1, Some(Allow::Undefined)),
    ("nulll", ErrorKind::Literal, 4, None),
];

#[test]
fn json5_becomes_strict() {
    for (text, wanted) in JSON5 {
        assert_eq!(strict(text, Leniency::JSON5).as_deref(), Ok(*wanted), "{text:?}");
    }
}

#[test]
fn what_json5_refuses_is_refused_at_its_place() {
    let found = |text: &str| {
        let error = to_strict(text.as_bytes(), Leniency::JSON5).expect_err(text);
        (error.kind(), usize::try_from(error.offset()).unwrap(), error.option())
    };
    let wrong = NOT_JSON5.iter().filter(|(text, kind, offset, option)| found(text) != (*kind, *offset, *option));
    let wrong: Vec<_> = wrong.map(|(text, ..)| (text, found(text))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// One text for each option, and its strict form. Without the option, it is refused, and the error names the option.
const ALONE: &[(Allow, &str, &str)] = &[
    (Allow::Comments, "[1/*\n*/]//x", "[1\n] "),
    (Allow::TrailingCommas, "[{\"a\":1 , }\n,]", "[{\"a\":1  }\n]"),
    (Allow::SingleQuotes, "{'a':'it\\'s'}", "{\"a\":\"it's\"}"),
    (Allow::BareKeys, "{a:{b_1:[]}}", "{\"a\":{\"b_1\":[]}}"),
    (Allow::NonfiniteAsNull, "[NaN,-NaN,Infinity,-Infinity]", "[null,null,null,null]"),
    (Allow::Hexadecimal, "[0xff,-0X1]", "[255,-1]"),
    (Allow::PlusSign, "[+1.5e+3]", "[1.5e+3]"),
    (Allow::BarePoint, "[.5,-5.]", "[0.5,-5.0]"),
    (Allow::ByteOrderMark, "\u{FEFF}{}", "{}"),
    (Allow::ControlCharacters, "\"\0\t\u{1f}\"", "\"\\u0000\\t\\u001f\""),
    (Allow::LineBreaks, "\"a\r\n\"", "\"a\\r\\n\""),
    (Allow::Escapes, "\"\\x7A\\v\\'\\0\"", "\"z\\u000b'\\u0000\""),
    (Allow::LineContinuations, "\"a\\\r\nb\"", "\"ab\""),
    (Allow::WhiteSpace, "\u{A0}[\u{B}1\u{2028}]", " [ 1 ]"),
    (
        Allow::LoneSurrogates,
        "[\"\\ud800\",\"\\udc00\\ud800\\ud800\\udc00\\n\"]",
        "[\"\\uFFFD\",\"\\uFFFD\\uFFFD\\ud800\\udc00\\n\"]",
    ),
    (Allow::PythonLiterals, "[True,False,None]", "[true,false,null]"),
    (Allow::Undefined, "[undefined]", "[null]"),
];

#[test]
fn each_option_is_needed_and_enough() {
    let all = Allow::ALL.into_iter().fold(Leniency::STRICT, Leniency::with);
    for (allow, text, wanted) in ALONE {
        assert_eq!(strict(text, Leniency::STRICT.with(*allow)).as_deref(), Ok(*wanted), "{text:?}");
        let others = all.without(*allow).without(Allow::NonfiniteAsText).without(Allow::WhiteSpace);
        let others =
            if *allow == Allow::ByteOrderMark { others } else { others.with(Allow::WhiteSpace).without(*allow) };
        let error = to_strict(text.as_bytes(), others).expect_err(text);
        assert_eq!(error.option(), Some(*allow), "{text:?}: {error}");
        assert!(error.to_string().contains(allow.name()), "{error}");
    }
    let text = Leniency::STRICT.with(Allow::NonfiniteAsText).with(Allow::NonfiniteAsNull);
    let wanted = "[\"NaN\",\"NaN\",\"-Infinity\"]";
    assert_eq!(strict("[NaN,-NaN,-Infinity]", text).as_deref(), Ok(wanted));
    assert_eq!(strict("[+Infinity]", text.with(Allow::PlusSign)).as_deref(), Ok("[\"Infinity\"]"));
    assert!(strict("[+Infinity]", text).unwrap_err().contains("plus-sign"));
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_in_strings_and_comments_only() {
    let leniency = Leniency::JSON5.with(Allow::InvalidUtf8);
    let text = b"[ /* \xff */ 'a\xff\xe2\x82b\xf0\x9f', \"\xc3\xa9\\\xc0\"]";
    let wanted = "[   \"a\u{FFFD}\u{FFFD}b\u{FFFD}\", \"\u{e9}\u{FFFD}\"]";
    assert_eq!(to_strict(text, leniency).unwrap(), wanted.as_bytes());
    for (text, offset) in [(&b"[1, // \xff\n2]"[..], 7), (b"['a\xff']", 3), (b"{'a\\'\xff':1}", 5)] {
        let error = to_strict(text, Leniency::JSON5).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Utf8, offset));
        assert_eq!(error.option(), Some(Allow::InvalidUtf8));
    }
    for text in [&b"[\xff]"[..], b"{a\xff:1}", b"1 \xc0"] {
        assert_eq!(to_strict(text, leniency).unwrap_err().option(), None, "{text:?}");
    }
}

#[test]
fn long_hexadecimal_integers_are_refused_and_others_are_not() {
    let longest = format!("[-0x{}]", "f".repeat(HEX_DIGITS_MAX));
    assert!(strict(&longest, Leniency::JSON5).is_ok());
    let error = strict(&longest.replace("0x", "0x1"), Leniency::JSON5).unwrap_err();
    assert!(error.contains("at most 1024 digits"), "{error}");
}

#[test]
fn depth_is_that_of_strict_json() {
    let nested = |depth: usize| format!("{}/**/{}", "[".repeat(depth), "]".repeat(depth));
    assert!(strict(&nested(1024), Leniency::JSON5).is_ok());
    let error = to_strict(nested(1025).as_bytes(), Leniency::JSON5).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Depth, 1024));
    assert!(strict(&nested(1_000_000), Leniency::JSON5).is_err());
}

#[test]
fn places_are_those_of_the_text_as_it_was_given() {
    let text = "{\n  // one\n  a: 'x\\\ny', /* two\n */ b: [0x10, 5.,, 1],\n}";
    let error = to_strict(text.as_bytes(), Leniency::JSON5).unwrap_err();
    let at = text.find(",, ").unwrap() + 1;
    assert_eq!((error.offset(), error.line(), error.column()), (at as u64, 5, 18));
    assert_eq!((error.snippet(), error.caret()), (" */ b: [0x10, 5.,, 1],", 17));
    let later = error.after_lines(10, 1000);
    assert_eq!((later.line(), later.offset()), (15, 1000 + at as u64));
}

/// Numbers that look random (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % end
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Writes a random value twice: as strict JSON, and with whatever JSON5 allows for the same value.
fn value(random: &mut Random, depth: usize, plain: &mut String, lax: &mut String) {
    let space = |random: &mut Random, lax: &mut String| {
        let some = ["", "", " ", "\n", "/* ] */", "// '\n", "\t//\u{2028}", "\u{A0}", "/**//***/", "\u{FEFF}"];
        lax.push_str(random.one_of(&some));
    };
    space(random, lax);
    let kinds = if depth == 0 { 3 } else { 5 };
    let kind = random.below(kinds);
    if kind < 3 {
        let (strict, same) = match kind {
            0 => [("1", "+1"), ("0.5", ".5"), ("-2.0e3", "-2.e3"), ("-31", "-0x1F"), ("0", "0X0"), ("7e-2", "7e-2")]
                [random.below(6)],
            1 => [("true", "true"), ("null", "null"), ("false", "false")][random.below(3)],
            _ => STRINGS[random.below(STRINGS.len())],
        };
        plain.push_str(strict);
        lax.push_str(same);
    } else {
        let (open, close) = if kind == 3 { ('[', ']') } else { ('{', '}') };
        plain.push(open);
        lax.push(open);
        let len = random.below(4);
        for index in 0..len {
            if index > 0 {
                plain.push(',');
                lax.push(',');
            }
            if kind == 4 {
                let (strict, same) = KEYS[random.below(KEYS.len())];
                space(random, lax);
                plain.push_str(strict);
                lax.push_str(same);
                space(random, lax);
                plain.push(':');
                lax.push(':');
            }
            value(random, depth - 1, plain, lax);
        }
        if len > 0 && random.below(2) == 0 {
            lax.push(',');
        }
        space(random, lax);
        plain.push(close);
        lax.push(close);
    }
    space(random, lax);
}

const STRINGS: &[(&str, &str)] = &[
    ("\"\"", "''"),
    ("\"it's\"", "'it\\'s'"),
    ("\"\\\"\"", "'\"'"),
    ("\"ab\"", "\"a\\\nb\""),
    ("\"// no\"", "'// no'"),
    ("\"\\u000b\"", "'\\v'"),
    ("\"\\ud83d\\ude00\"", "'\\ud83d\\\r\n\\ude00'"),
    ("\"\\t]\"", "\"\t]\""),
];

const KEYS: &[(&str, &str)] = &[
    ("\"a\"", "a"),
    ("\"$1\"", "$1"),
    ("\"null\"", "null"),
    ("\"b c\"", "'b c'"),
    ("\"\u{e9}\"", "\u{e9}"),
    ("\"d\"", "\"d\""),
];

#[test]
fn a_document_keeps_its_value_however_it_is_decorated() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..20_000 {
        let (mut plain, mut lax) = (String::new(), String::new());
        value(&mut random, 4, &mut plain, &mut lax);
        assert!(matches!(to_strict(plain.as_bytes(), Leniency::STRICT), Ok(Cow::Borrowed(_))), "{plain}");
        let strict = to_strict(lax.as_bytes(), Leniency::JSON5).unwrap_or_else(|error| panic!("{lax:?}: {error}"));
        assert_eq!(String::from_utf8(compact(&strict)).unwrap(), plain, "{lax:?}");
    }
}

/// A valid text without the white space between its tokens.
fn compact(text: &[u8]) -> Vec<u8> {
    let mut in_string = false;
    let mut is_escaped = false;
    let keep = |byte: &&u8| {
        let is_quote = **byte == b'"' && !is_escaped;
        is_escaped = in_string && **byte == b'\\' && !is_escaped;
        in_string ^= is_quote;
        in_string || !byte.is_ascii_whitespace()
    };
    text.iter().filter(keep).copied().collect()
}

/// Without options, the front changes nothing: errors are those of `validate`, at the same place. With any options, what
/// it returns is valid, strict texts are borrowed, and errors have a place in the text.
#[test]
fn texts_of_any_bytes_are_refused_as_by_validate_or_become_valid() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    for _ in 0..40_000 {
        let (mut plain, mut lax) = (String::new(), String::new());
        value(&mut random, 3, &mut plain, &mut lax);
        let mut text = if random.below(3) == 0 { plain } else { lax }.into_bytes();
        for _ in 0..random.below(4) {
            let (at, piece) = (random.below(text.len() + 1), random.one_of(PIECES));
            let end = (at + random.below(3)).min(text.len());
            text.splice(at..end, piece.bytes());
        }
        if random.below(8) == 0 {
            let at = random.below(text.len() + 1);
            text.insert(at, 0x80 | u8::try_from(random.below(128)).unwrap());
        }
        let shown = String::from_utf8_lossy(&text).into_owned();
        let validated = crate::tape::validate(&text);
        match (&validated, to_strict(&text, Leniency::STRICT)) {
            (Ok(()), Ok(Cow::Borrowed(same))) => assert_eq!(same, text),
            (Err(one), Err(other)) => {
                let is_same = (one.kind(), one.offset()) == (other.kind(), other.offset());
                assert!(is_same || other.option() == Some(Allow::InvalidUtf8), "{shown:?}: {one}, {other}");
            }
            (one, other) => panic!("{shown:?}: {one:?}, {other:?}"),
        }
        let some = |leniency: Leniency, allow| if random.below(2) == 0 { leniency.with(allow) } else { leniency };
        let leniency = Allow::ALL.into_iter().fold(Leniency::STRICT, some);
        match to_strict(&text, leniency) {
            Ok(strict) => {
                assert!(crate::tape::validate(&strict).is_ok(), "{shown:?}");
                assert_eq!(matches!(strict, Cow::Borrowed(_)), validated.is_ok(), "{shown:?}");
            }
            Err(error) => {
                assert!(validated.is_err() && error.offset() <= text.len() as u64, "{shown:?}: {error}");
                assert!(error.option().is_none_or(|allow| !leniency.allows(allow)), "{shown:?}: {error}");
                let strict = validated.unwrap_err();
                assert!(
                    error.offset() >= strict.offset() || error.offset() + 6 > strict.offset(),
                    "{shown:?}: {error}, {strict}"
                );
            }
        }
    }
}

const PIECES: &[&str] = &[
    "",
    "",
    "/",
    "*/",
    "/*",
    "//",
    "'",
    "\"",
    "\\",
    "\n",
    "\r",
    ",",
    ":",
    "[",
    "]",
    "{",
    "}",
    "+",
    "-",
    ".",
    "0x",
    "1",
    "e",
    "NaN",
    "Infinity",
    "True",
    "None",
    "undefined",
    "\u{2028}",
    "\u{FEFF}",
    "\0",
    "\t",
    "\\x41",
    "\\u00",
    "\\ud800",
    "\\udc00",
    "a",
    "$",
    "\u{e9}",
    " ",
    "\u{B}",
];
