use super::*;
use guard_page::Guarded;

fn unescaped(raw: &str) -> String {
    let mut out = "before".to_owned();
    unescape(raw, &mut out);
    let text = out.strip_prefix("before").unwrap().to_owned();
    assert!(eq_unescaped(raw.as_bytes(), &text), "{raw:?} means {text:?}");
    assert!(!eq_unescaped(raw.as_bytes(), &format!("{text}x")), "{raw:?}");
    assert!(!eq_unescaped(format!("{raw}x").as_bytes(), &text), "{raw:?}");
    text
}

/// Checks the escape with text before and after it, and at the very end of the text.
fn checks(escape: &[u8], expected: Result<usize, usize>) {
    let shown = String::from_utf8_lossy(escape);
    assert_eq!(check_escape(escape, 0), expected, "{shown}");
    let behind = [b"\\u0041", escape].concat();
    assert_eq!(check_escape(&behind, 6), expected.map_err(|at| at + 6), "{shown}");
    if expected != Err(escape.len()) {
        for next in [b'"', b'0', b'\\'] {
            assert_eq!(check_escape(&[escape, &[next]].concat(), 0), expected, "{shown}");
        }
    }
}

/// The same number in lower case, in upper case and in both mixed cases.
fn spellings(unit: u32) -> [String; 4] {
    let lower = format!("{unit:04x}");
    let mixed = |odd: usize| -> String {
        let change = |(at, char): (usize, char)| if at % 2 == odd { char.to_ascii_uppercase() } else { char };
        lower.chars().enumerate().map(change).collect()
    };
    [lower.to_uppercase(), mixed(0), mixed(1), lower]
}

#[test]
fn every_letter_behind_a_backslash_is_known_or_refused() {
    let known = [
        (b'"', '"'),
        (b'\\', '\\'),
        (b'/', '/'),
        (b'b', '\u{8}'),
        (b'f', '\u{c}'),
        (b'n', '\n'),
        (b'r', '\r'),
        (b't', '\t'),
    ];
    for byte in 0..=255_u8 {
        let escape = [b'\\', byte];
        match known.iter().find(|row| row.0 == byte) {
            Some(&(_, means)) => {
                checks(&escape, Ok(2));
                assert_eq!(unescaped(str::from_utf8(&escape).unwrap()), means.to_string());
            }
            None if byte == b'u' => checks(&escape, Err(2)),
            None => checks(&escape, Err(1)),
        }
    }
    checks(b"\\", Err(1));
}

#[test]
fn all_code_units_are_read_in_every_case() {
    for unit in 0..=0xffff_u32 {
        for digits in spellings(unit) {
            let escape = format!("\\u{digits}");
            if let Some(char) = char::from_u32(unit) {
                checks(escape.as_bytes(), Ok(6));
                assert_eq!(unescaped(&escape), char.to_string());
            } else {
                checks(escape.as_bytes(), Err(if unit < 0xdc00 { 6 } else { 3 }));
                assert_eq!(unescaped(&escape), "\u{fffd}");
            }
        }
    }
}

#[test]
fn surrogate_pairs_are_one_character() {
    for code in (0x1_0000..=0x10_ffff).step_by(17).chain([0x1_03ff, 0x1_0400, 0x10_fc00, 0x10_ffff]) {
        let char = char::from_u32(code).unwrap();
        let mut units = [0; 2];
        char.encode_utf16(&mut units);
        let [high, low] = units.map(|unit| spellings(u32::from(unit)));
        for (high, low) in [(0, 0), (1, 2), (3, 3)].map(|(at, other)| (&high[at], &low[other])) {
            let escape = format!("\\u{high}\\u{low}");
            checks(escape.as_bytes(), Ok(12));
            assert_eq!(unescaped(&escape), char.to_string());
        }
    }
}

#[test]
fn a_wrong_digit_is_found_at_each_place() {
    for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_hexdigit()) {
        for place in 0..4 {
            let mut escape = *b"\\u12aB";
            escape[2 + place] = byte;
            checks(&escape, Err(2 + place));
            if byte.is_ascii() {
                let rest = unescaped(str::from_utf8(&escape).unwrap());
                let rest = rest.strip_prefix('\u{fffd}').unwrap();
                // A backslash begins the next bad escape.
                let expected = String::from_utf8(escape[2 + place..].to_vec()).unwrap().replace('\\', "\u{fffd}");
                if byte != b'\\' {
                    assert_eq!(rest, expected);
                }
            }
        }
    }
    for len in 1..6 {
        checks(&b"\\u12aB"[..len], Err(len));
    }
    // A second digit that makes the code unit a trailing surrogate is an error, whatever follows.
    for escape in ["\\udc", "\\uDFx", "\\uDe0", "\\udF0\"", "\\udc00"] {
        checks(escape.as_bytes(), Err(3));
    }
}

#[test]
fn what_the_end_cuts_off_is_left_out_as_a_whole() {
    let whole = r"a\nb\u0041\ud83d\ude00é€😀c";
    let ends = [0, 1, 3, 4, 10, 22, 24, 27, 31, 32];
    for end in 0..=whole.len() {
        let wanted = ends.iter().rev().find(|&&place| place <= end).copied();
        assert_eq!(Some(whole_len(&whole.as_bytes()[..end])), wanted, "{end}");
    }
    // An invalid escape is not a truncated one.
    for wrong in [&b"\\q"[..], b"\\udc00", b"\xff", b"\\uzzzz"] {
        assert_eq!(whole_len(wrong), wrong.len(), "{wrong:X?}");
    }
}

#[test]
fn a_wrong_byte_in_a_trailing_surrogate_is_found_at_each_place() {
    let good = b"\\ud83d\\ude00";
    checks(good, Ok(12));
    for len in 6..12 {
        checks(&good[..len], Err(len));
    }
    for place in 6..12 {
        for byte in 0..=255_u8 {
            let mut escape = *good;
            escape[place] = byte;
            let fits = match place {
                6 => byte == b'\\',
                7 => byte == b'u',
                8 => matches!(byte, b'd' | b'D'),
                9 => matches!(byte, b'c'..=b'f' | b'C'..=b'F'),
                _ => byte.is_ascii_hexdigit(),
            };
            checks(&escape, if fits { Ok(12) } else { Err(place) });
        }
    }
}

#[test]
fn bad_escapes_of_unchecked_text_become_replacement_characters() {
    let rows = [
        (r"\", "\u{fffd}"),
        (r"a\", "a\u{fffd}"),
        (r"\x", "\u{fffd}x"),
        (r"\é", "\u{fffd}é"),
        (r"\u", "\u{fffd}"),
        (r"\u1", "\u{fffd}"),
        (r"\u12é", "\u{fffd}é"),
        (r"\u123", "\u{fffd}"),
        (r"\u123g", "\u{fffd}g"),
        (r"\ud83d", "\u{fffd}"),
        (r"\ud83d\", "\u{fffd}\u{fffd}"),
        (r"\ud83dx", "\u{fffd}x"),
        (r"\ud83d\n", "\u{fffd}\n"),
        (r"\ud83d\u0041", "\u{fffd}A"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (r"\ude00\ude00", "\u{fffd}\u{fffd}"),
        (
            r"\x\x\x\x\x\x\x\x\x\x\x\x",
            "\u{fffd}x\u{fffd}x\u{fffd}x\u{fffd}x\u{fffd}x\u{fffd}x\u{fffd}x\u{fffd}x\u{fffd}x\u{fffd}x\u{fffd}x\u{fffd}x",
        ),
    ];
    for (raw, expected) in rows {
        assert_eq!(unescaped(raw), expected, "{raw}");
    }
}

/// Decodes character by character, in the plainest way.
fn naive(raw: &str) -> String {
    let mut units = Vec::new();
    let mut rest = raw;
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        if char != '\\' {
            let mut buffer = [0; 2];
            units.extend_from_slice(char.encode_utf16(&mut buffer));
            continue;
        }
        let letter = rest.chars().next().unwrap();
        rest = &rest[1..];
        units.push(match letter {
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'u' => {
                let unit = u16::from_str_radix(&rest[..4], 16).unwrap();
                rest = &rest[4..];
                unit
            }
            other => u16::try_from(u32::from(other)).unwrap(),
        });
    }
    String::from_utf16(&units).unwrap()
}

/// xorshift64: the same texts in every run.
fn random(state: &mut u64, below: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state % below as u64).unwrap()
}

#[test]
fn generated_strings_are_read_as_piece_by_piece() {
    const PIECES: [&str; 16] = [
        "a",
        "plain",
        "eight by",
        "somewhat more than sixteen bytes",
        "é",
        "语言",
        "😀",
        r"\n",
        r"\\",
        r#"\""#,
        r"\u0041",
        r"\u00E9",
        r"\u8BED",
        r"\ud83d\ude00",
        r"\/",
        r"\u0000",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for round in 0..100_000 {
        let mut raw = String::new();
        for _ in 0..random(&mut state, 12) {
            let piece = PIECES[random(&mut state, PIECES.len())];
            (0..=random(&mut state, 3)).for_each(|_| raw += piece);
        }
        let expected = naive(&raw);
        assert_eq!(unescaped(&raw), expected, "{raw}");
        if round % 8 == 0 {
            // Changing one character anywhere makes the texts differ.
            for (at, char) in expected.char_indices() {
                let mut other = expected.clone();
                other.replace_range(at..at + char.len_utf8(), if char == '~' { "!" } else { "~" });
                assert!(!eq_unescaped(raw.as_bytes(), &other));
            }
        }
    }
}

#[test]
fn garbage_is_read_without_panic_and_stays_utf8() {
    const BYTES: [&str; 12] = ["\\", "\\", "u", "d", "8", "c", "0", "\"", "é", "😀", "x", "\u{1}"];
    let mut state = 0x2545_f491_4f6c_dd1d;
    for _ in 0..200_000 {
        let raw: String = (0..random(&mut state, 30)).map(|_| BYTES[random(&mut state, BYTES.len())]).collect();
        let text = unescaped(&raw);
        assert!(str::from_utf8(text.as_bytes()).is_ok());
        let mut out = Vec::new();
        let cut = random(&mut state, raw.len() + 1);
        unescape_bytes(raw.as_bytes(), cut, raw.len(), &mut out);
        if raw.is_char_boundary(cut) {
            assert!(str::from_utf8(&out).is_ok());
        }
        // The text after the end does not change the result.
        let end = cut + random(&mut state, raw.len() - cut + 1);
        let (mut inside, mut alone) = (Vec::new(), Vec::new());
        unescape_bytes(raw.as_bytes(), cut, end, &mut inside);
        unescape_bytes(&raw.as_bytes()[cut..end], 0, end - cut, &mut alone);
        assert_eq!(inside, alone, "{cut}..{end} of {raw}");
        // The check agrees: it accepts exactly the texts whose decoded form has no replacement character.
        let mut at = 0;
        let mut good = true;
        while let Some(offset) = raw[at..].find('\\') {
            let Ok(len) = check_escape(raw.as_bytes(), at + offset) else {
                good = false;
                break;
            };
            at += offset + len;
        }
        assert_eq!(good, !text.contains('\u{fffd}'), "{raw}");
    }
}

/// Reads `raw` at the end of accessible memory, and followed by other text, which must not be taken for a part of it.
fn reads(guarded: &mut Guarded, raw: &str, expected: &str) {
    for behind in ["", "\"", "\"\\n", r#"":"\\u0041","#, r#"", "\ud83d\ude00\\\n" and more of it: \r\n\r\n"#] {
        for before in [0, 1, 30] {
            let text = ["#".repeat(before).as_str(), raw, behind].concat();
            let mut out = "before".to_owned();
            let text = guarded.at_end(text.as_bytes());
            // SAFETY: this is where `raw` was put.
            unsafe { unescape_in(text, before, before + raw.len(), &mut out) };
            assert_eq!(out.strip_prefix("before"), Some(expected), "{raw} before {behind}");
        }
    }
}

/// An escape of each kind, and its meaning.
const ESCAPES: [(&str, &str); 9] = [
    (r"\n", "\n"),
    (r#"\""#, "\""),
    (r"\\", "\\"),
    (r"\u0041", "A"),
    (r"\u00e9", "é"),
    (r"\u041b", "Л"),
    (r"\u8bed", "语"),
    (r"\uffFD", "\u{fffd}"),
    (r"\ud83d\ude00", "😀"),
];

#[test]
fn every_escape_is_read_at_every_place_of_every_length() {
    let mut guarded = Guarded::new(4096);
    for (escape, means) in ESCAPES {
        for before in 0..=70 {
            for behind in (0..=70 - before).filter(|behind| behind % 7 == before % 7 || *behind < 4) {
                let [head, tail] = [("a", before), ("z", behind)].map(|(piece, count)| piece.repeat(count));
                reads(&mut guarded, &[&head, escape, &tail].concat(), &[&head, means, &tail].concat());
            }
        }
    }
}

#[test]
fn rows_of_escapes_are_read_wherever_they_begin() {
    let mut guarded = Guarded::new(4096);
    for (first, means_first) in ESCAPES {
        for (second, means_second) in ESCAPES {
            for count in [1, 2, 3, 8, 17] {
                for before in 0..=17 {
                    for tail in ["", "z", "somewhat more than a block"] {
                        let row = |pieces: [&str; 2]| {
                            ["a".repeat(before), pieces.concat().repeat(count), tail.to_owned()].concat()
                        };
                        reads(&mut guarded, &row([first, second]), &row([means_first, means_second]));
                    }
                }
            }
        }
    }
}

#[test]
fn bad_escapes_make_room_for_themselves() {
    let mut guarded = Guarded::new(4096);
    for (bad, means) in [(r"\", "\u{fffd}"), (r"\u", "\u{fffd}"), (r"\ud83d", "\u{fffd}")] {
        for count in 0..100 {
            // No escape can continue with an `x`.
            let mut text = String::new();
            reads(&mut guarded, &format!("{bad}x").repeat(count), &format!("{means}x").repeat(count));
            text.reserve_exact(count);
            unescape(&format!("{bad}x").repeat(count), &mut text);
            assert_eq!(text, format!("{means}x").repeat(count));
        }
    }
}
