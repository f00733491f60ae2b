//! Documents that a validator should refuse or accept. The barometer thus finds shortfalls instead of claiming them.

/// A small document and whether RFC 8259 allows it.
pub(crate) struct Probe {
    pub(crate) name: &'static str,
    pub(crate) text: &'static [u8],
    pub(crate) legal: bool,
}

const fn bad(name: &'static str, text: &'static [u8]) -> Probe {
    Probe { name, text, legal: false }
}

const fn good(name: &'static str, text: &'static [u8]) -> Probe {
    Probe { name, text, legal: true }
}

/// One document for each rule in which peers are known to differ, and a few that all peers should judge correctly.
pub(crate) static ALL: &[Probe] = &[
    bad("bad UTF-8 in a string", b"{\"a\":\"\xff\",\"b\":[1,2,3,4,5,6,7,8]}"),
    bad("overlong UTF-8", b"[\"\xc0\xaf\"]"),
    bad("UTF-8 surrogate", b"[\"\xed\xa0\x80\"]"),
    bad("truncated UTF-8", b"[\"\xe2\x82\"]"),
    bad("bad UTF-8 between tokens", b"[1,\xff2]"),
    bad("control character in a string", b"[\"a\x01b\"]"),
    bad("raw newline in a string", b"[\"a\nb\"]"),
    bad("unknown escape", br#"["\q"]"#),
    bad("short \\u escape", br#"["\u12"]"#),
    bad("\\u escape without hex digits", br#"["\uZZZZ"]"#),
    bad("leading zero", b"[01]"),
    bad("minus alone", b"[-]"),
    bad("point without digits", b"[1.]"),
    bad("exponent without digits", b"[1e]"),
    bad("plus sign", b"[+1]"),
    bad("misspelt literal", b"[trux]"),
    bad("trailing comma in an array", b"[1,]"),
    bad("trailing comma in an object", br#"{"a":1,}"#),
    bad("missing comma", b"[1 2]"),
    bad("missing colon", br#"{"a" 1}"#),
    bad("key that is no string", b"{1:2}"),
    bad("mismatched brackets", b"[1}"),
    bad("text after the document", b"[1] x"),
    bad("two documents", b"[1] [2]"),
    bad("empty document", b"  "),
    bad("unclosed array", b"[1"),
    bad("form feed as white space", b"[1,\x0c2]"),
    bad("NUL after the document", b"[1]\0"),
    bad("byte order mark", b"\xef\xbb\xbf[1]"),
    good("1e309", b"[1e309]"),
    good("integer beyond 64 bits", b"[123456789012345678901234567890]"),
    good("lone surrogate escape", br#"["\ud800"]"#),
    good("\\u0000", br#"["\u0000"]"#),
    good("duplicate keys", br#"{"a":1,"a":2}"#),
    good("scalar document", b"3"),
];
