//! Compares every kernel with the oracle: all offsets, all tail lengths, all modes, next to unreadable pages.

use super::{Carry, Chunk, Mode, NumberCheck, Tokens, oracle, scan};
use crate::kernel::{BLOCK, Kernel};
use checks::random::Random;
use guard_page::Guarded;

const MODES: [Mode; 5] = [Mode::Document, Mode::DocumentBlanks, Mode::Lines, Mode::DocumentTrusted, Mode::LinesTrusted];

/// The number of leading bytes dropped from a seed, so that its content stands at every place of a block.
const OFFSETS: std::ops::RangeInclusive<usize> = 0..=64;
/// The lengths of a text: up to a little more than two blocks, so that every tail length comes after none, one and two
/// blocks.
const LENGTHS: std::ops::RangeInclusive<usize> = 0..=130;

/// Scans `text` in chunks on every kernel and compares each chunk with the oracle.
fn check(kernels: &[Kernel], text: &[u8], chunk_bytes: usize) {
    for mode in MODES {
        let mut wanted =
            oracle::Scanned { tokens: Vec::new(), found: super::Violations::default(), carry: Carry::default() };
        // Documents are scanned by another loop where no masks are kept for the check of numbers.
        let checks: &[_] = match mode {
            Mode::Document => &[NumberCheck::ByMasks, NumberCheck::OneByOne, NumberCheck::Gathered],
            _ => &[NumberCheck::ByMasks],
        };
        let mut runs = Vec::new();
        for (&kernel, &numbers) in kernels.iter().flat_map(|kernel| checks.iter().map(move |check| (kernel, check))) {
            let mut tokens = Tokens::default();
            tokens.tuning.numbers = numbers;
            runs.push((kernel, tokens, Carry::default()));
        }
        let mut from = 0;
        loop {
            let to = text.len().min(from + chunk_bytes);
            let chunk = Chunk { text, from, to };
            wanted = oracle::scan(chunk, mode, wanted);
            for (kernel, tokens, carry) in &mut runs {
                let found = scan(*kernel, &chunk, mode, carry, tokens);
                let (kind, pos) = tokens.slices();
                // Another test compares the checks of numbers.
                let found = super::Violations { number: false, ..found };
                let judged = Carry { number: super::NumberCarry::default(), ..*carry };
                let listed = kind.iter().copied().zip(pos.iter().copied()).collect();
                let scanned = oracle::Scanned { tokens: listed, found, carry: judged };
                assert_eq!(scanned, wanted, "{kernel:?} {mode:?} {from}..{to} of {:?}", String::from_utf8_lossy(text));
            }
            // After an error no caller goes on: later chunks may report it again, or not.
            if to == text.len() || wanted.found.not_utf8 || wanted.found.escape.is_some() {
                break;
            }
            from = to;
        }
        if mode == Mode::Document && wanted.found == super::Violations::default() {
            let wrong = wanted.tokens.iter().any(|&(kind, pos)| is_wrong_number(text, kind, pos as usize));
            for (kernel, tokens, _) in &runs {
                let one_by_one = tokens.tuning.numbers == NumberCheck::OneByOne;
                let owed = if one_by_one { tokens.len() > 0 } else { wrong };
                assert_eq!(tokens.owe_numbers(0), owed, "{kernel:?}: numbers of {:?}", String::from_utf8_lossy(text));
            }
        }
    }
}

/// Whether a token begins as a number does but is not a number.
fn is_wrong_number(text: &[u8], kind: u8, pos: usize) -> bool {
    let ends = |byte: &u8| b" \t\n\r{}[]:,\"".contains(byte);
    let len = text[pos..].iter().position(ends).unwrap_or(text.len() - pos);
    let before_quote = text.get(pos + len) == Some(&b'"');
    matches!(kind, b'-' | b'0'..=b'9') && (before_quote || crate::number::check(&text[pos..pos + len]).is_err())
}

/// All offsets and lengths of `seed`, which is repeated as needed, at both edges of readable memory.
fn check_seed(seed: &[u8]) {
    let kernels: Vec<_> = Kernel::available().collect();
    let mut guarded = Guarded::new(4096);
    let seed: Vec<u8> = seed.iter().copied().cycle().take(OFFSETS.end() + LENGTHS.end() + seed.len()).collect();
    for offset in OFFSETS {
        for len in LENGTHS {
            let text = &seed[offset..offset + len];
            check(&kernels, guarded.at_end(text), BLOCK);
            if len % 3 == offset % 3 {
                check(&kernels, guarded.at_start(text), 2 * BLOCK);
            }
        }
    }
}

#[test]
fn every_kernel_equals_the_oracle_on_ordinary_text() {
    check_seed(br#"{"a":[1, -2.5e3, "b\n\"c\"", true,false,null,{}] , "d" : {"e":"\\","f":"\u00e9"}}"#);
}

#[test]
fn every_kernel_equals_the_oracle_on_quotes_and_runs_of_backslashes() {
    check_seed(br#"\"\\"\\\"\\\\"\\\\\"\\\\\\"\\\\\\\"#);
    check_seed(b"\"");
    check_seed(b"\\");
    check_seed(&[&b"\""[..], &b"\\".repeat(63), b"\" "].concat());
    check_seed(&[&b"\""[..], &b"\\".repeat(64), b"\","].concat());
    check_seed(&[&b"\""[..], &b"\\".repeat(129), b"\"\""].concat());
}

#[test]
fn every_kernel_equals_the_oracle_on_long_strings() {
    let kernels: Vec<_> = Kernel::available().collect();
    let filler: Vec<u8> = b"ab, 1 {\xC3\xA9:[".iter().copied().cycle().take(70 * BLOCK).collect();
    let faults: [&[u8]; 8] = [b"", b"\\\"", b"\\", b"\\ud83d\\ude00", b"\\u00", b"\n", b"\xFF", b"\" , \"-0."];
    for offset in OFFSETS {
        for (index, fault) in faults.iter().enumerate() {
            // Within a group, across the border of one, and with the error in any block and at any place of it.
            for len in [3 * BLOCK + index, 5 * BLOCK - 3 - 2 * offset.min(BLOCK), 62 * BLOCK + 13 * index] {
                let (before, behind) = filler[..len].split_at(len - (offset * 7 + index) % (3 * BLOCK).min(len));
                let text = [&filler[..offset], b" \"", before, fault, behind, b"\" ,1 "].concat();
                check(&kernels, &text, 4 * BLOCK);
                check(&kernels, &text, 66 * BLOCK);
            }
        }
    }
    // The state of one group's blocks must not stay for the next group.
    let text = [b"-1.5,".repeat(820), b"\"".to_vec(), b"1.2.3 ".repeat(1400), b"\"".to_vec()].concat();
    check(&kernels, &text, text.len().next_multiple_of(BLOCK));
}

#[test]
fn every_kernel_equals_the_oracle_on_escapes_across_borders() {
    check_seed(br#"["\ud83d\ude00\uD83D\uDE00","\u00e9\u12","\ud800x","\udc00"]"#);
    check_seed(br#""aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\ud83d\ude00\q""#);
    check_seed(br#""\u""#);
}

#[test]
fn every_kernel_equals_the_oracle_on_text_beyond_ascii() {
    check_seed("[\"é€😀\", \"日本語\", 😀, \"\\é\"]\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}".as_bytes());
    check_seed(b"\"\xF0\x9F\x98\xE2\x82\xC3\xFF\x80\xED\xA0\x80\xC0\xAF\"");
    check_seed(b"\xA2\xDB\xFB\xAC\xBA");
}

#[test]
fn every_kernel_equals_the_oracle_on_controls_and_white_space() {
    check_seed(b" \t\r\n\"\t\r\n\0\x1F\x7F\"\x0C\x0B\x1A\0");
    check_seed(b"\"a\n\"\n\"b\\\n\"\n{\"a\":1}\r\n\r\n[1]\n");
    check_seed(b" ");
    check_seed(b"\n");
    check_seed(&(0..=255).collect::<Vec<u8>>());
}

#[test]
fn every_kernel_equals_the_oracle_on_numbers() {
    check_seed(b"[0,-0,1.5,-1.5e+10,1E-7,12345678901234567890.123456789012345678901234567890e-1234567890]");
    check_seed(b"01 -01 1. .5 1.e5 1e 1e+ 1e+-1 1.2.3 1e5.5 1e5e5 --1 +1 -a 1a 1-1 1\"\" 1e1.0e1 0x1 00 0.0 0e0");
    check_seed(b"-");
    check_seed(b"1.");
    check_seed(b"1e");
    check_seed(b"0");
}

#[test]
fn every_kernel_finds_a_wrong_byte_in_any_number_at_any_place() {
    const ALPHABET: &[u8] = b"-+.eE019a,";
    let kernels: Vec<_> = Kernel::available().collect();
    let mut random = Random::new(7);
    for round in 0..60_000 {
        let mut text = vec![b' '; random.below(70)];
        for _ in 0..random.below(4) {
            match random.below(4) {
                0 => text.extend_from_slice(format!("{},", random.bits() as i64).as_bytes()),
                1 => text.extend_from_slice(format!("{:e},", f64::from_bits(random.bits())).as_bytes()),
                2 => text.extend_from_slice(format!("{}.{},", random.below(100), random.bits()).as_bytes()),
                _ => text.extend((0..random.below(9)).map(|_| random.pick(ALPHABET))),
            }
        }
        if round % 2 == 0 && !text.is_empty() {
            let at = random.below(text.len());
            text[at] = random.pick(ALPHABET);
        }
        check(&kernels, &text, BLOCK);
    }
}

#[test]
fn every_kernel_equals_the_oracle_on_brackets_and_words() {
    check_seed(b"{}[]:,");
    check_seed(b"[[{{}}]],,::1true\"a\"1\"a\\n\"false\"\"\"\"null");
    check_seed(b"1,");
    check_seed(b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ");
}

#[test]
fn every_kernel_equals_the_oracle_on_random_bytes() {
    const ALPHABETS: [&[u8]; 4] =
        [b"\\\"", b"\\\"{}[]:, \n\ta1\x01", b"\\\"ud8c0DC,\xF0\x9F\x98\x80\n", b"\"\\nnrt\xC3\xA9 aaaaaaaa,"];
    let mut random = Random::new(2);
    let kernels: Vec<_> = Kernel::available().collect();
    let mut guarded = Guarded::new(4096);
    for round in 0..30_000 {
        let len = random.below(300);
        let text: Vec<u8> = match round % 5 {
            0 => (0..len).map(|_| random.bits() as u8).collect(),
            kind => (0..len).map(|_| random.pick(ALPHABETS[kind - 1])).collect(),
        };
        let text = if round % 2 == 0 { guarded.at_end(&text) } else { guarded.at_start(&text) };
        check(&kernels, text, random.pick(&[64, 128, 192]));
    }
}

/// Checks that every kernel accepts `text` as UTF-8, in chunks of one block and as a whole, exactly if it is UTF-8.
fn check_utf8(kernels: &[Kernel], tokens: &mut Tokens, text: &[u8]) {
    let wanted = core::str::from_utf8(text).is_err();
    for kernel in kernels {
        for chunk_bytes in [BLOCK, 4 * BLOCK] {
            let mut carry = Carry::default();
            tokens.clear();
            let mut from = 0;
            let found = loop {
                let to = text.len().min(from + chunk_bytes);
                if scan(*kernel, &Chunk { text, from, to }, Mode::Document, &mut carry, tokens).not_utf8 {
                    break true;
                }
                if to == text.len() {
                    break false;
                }
                from = to;
            };
            assert_eq!(found, wanted, "{kernel:?} in chunks of {chunk_bytes}: {text:X?}");
        }
    }
}

/// `sequence` in text of 130 bytes, at `at`.
fn check_sequence(kernels: &[Kernel], tokens: &mut Tokens, text: &mut [u8; 130], sequence: &[u8], at: usize) {
    let len = sequence.len().min(text.len() - at);
    text[at..at + len].copy_from_slice(&sequence[..len]);
    check_utf8(kernels, tokens, text);
    text[at..at + len].fill(b'a');
}

#[test]
fn every_pair_of_bytes_is_utf8_exactly_if_it_is_at_every_kind_of_border() {
    let kernels: Vec<_> = Kernel::available().collect();
    let (mut tokens, mut text) = (Tokens::default(), [b'a'; 130]);
    for pair in 0..=u16::MAX {
        // Inside a quarter of a block, across the borders of quarters, halves, blocks and chunks, and at the text's
        // end.
        for at in [0, 15, 31, 63, 127, 128] {
            check_sequence(&kernels, &mut tokens, &mut text, &pair.to_be_bytes(), at);
        }
    }
}

#[test]
fn every_lead_with_every_second_byte_is_utf8_exactly_if_it_is() {
    const THIRD: [u8; 8] = [b'a', 0x7F, 0x80, 0x8F, 0xBF, 0xC0, 0xE1, 0xFF];
    let kernels: Vec<_> = Kernel::available().collect();
    let (mut tokens, mut text) = (Tokens::default(), [b'a'; 130]);
    let mut round = 0;
    for lead in 0xC0..=0xFF {
        for second in 0..=0xFF {
            for third in THIRD {
                for fourth in [b'a', 0x80, 0xBF, 0xC2] {
                    round += 1;
                    // Each place before a border gets one sequence; the sequences take turns.
                    let at = 60 + round % 5;
                    check_sequence(&kernels, &mut tokens, &mut text, &[lead, second, third, fourth], at);
                }
            }
        }
    }
}

#[test]
fn sequences_of_every_class_are_judged_alike_at_every_place() {
    // The first and the last sequence of each row of RFC 3629's table, their neighbours outside it, and truncated
    // sequences.
    const SEQUENCES: &[&[u8]] = &[
        b"\x7F",
        b"\x80",
        b"\xBF",
        b"\xC0\x80",
        b"\xC1\xBF",
        b"\xC2\x80",
        b"\xDF\xBF",
        b"\xC2",
        b"\xC2\x80\x80",
        b"\xE0\x9F\xBF",
        b"\xE0\xA0\x80",
        b"\xE0\xBF\xBF",
        b"\xE1\x80\x80",
        b"\xEC\xBF\xBF",
        b"\xED\x80\x80",
        b"\xED\x9F\xBF",
        b"\xED\xA0\x80",
        b"\xED\xBF\xBF",
        b"\xEE\x80\x80",
        b"\xEF\xBF\xBF",
        b"\xE2\x82",
        b"\xE2",
        b"\xE2\x82\xAC\x80",
        b"\xE2\x82\xC2\x80",
        b"\xF0\x8F\xBF\xBF",
        b"\xF0\x90\x80\x80",
        b"\xF1\x80\x80\x80",
        b"\xF3\xBF\xBF\xBF",
        b"\xF4\x8F\xBF\xBF",
        b"\xF4\x90\x80\x80",
        b"\xF5\x80\x80\x80",
        b"\xF8\x88\x80\x80\x80",
        b"\xFE",
        b"\xFF",
        b"\xF0\x9F\x98",
        b"\xF0\x9F",
        b"\xF0",
        b"\xF0\x9F\x98\x80\x80",
        b"\xF0\x9F\x98\xF0\x9F\x98\x80",
        b"\xF0\x9F\x98\x80\xF0\x9F\x98\x80",
        "é€😀".as_bytes(),
    ];
    let kernels: Vec<_> = Kernel::available().collect();
    let mut tokens = Tokens::default();
    for sequence in SEQUENCES {
        for around in [b'a', b' ', b'"'] {
            for at in 0..130 {
                let mut text = [around; 130];
                let len = sequence.len().min(text.len() - at);
                text[at..at + len].copy_from_slice(&sequence[..len]);
                check_utf8(&kernels, &mut tokens, &text);
                // Text that ends with the sequence, or inside it.
                (at..=at + len).for_each(|end| check_utf8(&kernels, &mut tokens, &text[..end]));
            }
        }
    }
    // Only characters beyond ASCII, so that no block is plain ASCII.
    for sequence in ["é", "€", "😀", "é€😀a"] {
        let text = sequence.repeat(100);
        (0..text.len()).for_each(|end| check_utf8(&kernels, &mut tokens, &text.as_bytes()[..end]));
        (0..text.len()).for_each(|start| check_utf8(&kernels, &mut tokens, &text.as_bytes()[start..]));
    }
}

#[test]
fn the_offset_of_what_is_not_utf8_is_the_first_byte_that_is_wrong_whatever_the_chunk() {
    // The string's content, and how many of its bytes may be the beginning of a character.
    let faults: [(&[u8], usize); 8] = [
        (b"\xFF", 0),
        (b"\x80", 0),
        (b"\xC3", 1),
        (b"\xE0\x80", 1),
        (b"\xE2\x82", 2),
        (b"\xF0\x9F\x98", 3),
        (b"\xED\xA0\x80", 1),
        (b"\xF4\x90\x80\x80", 1),
    ];
    for kernel in Kernel::available() {
        for chunk_bytes in [64, 128, 1 << 16] {
            let policy = crate::policy::Policy::default();
            let mut parser = crate::Parser::with_kernel(policy, kernel).with_chunk_bytes(chunk_bytes);
            for (fault, right) in faults {
                for at in 1..140 {
                    let text = [b"\"", &b"x".repeat(at - 1)[..], fault, b"xxx\""].concat();
                    let error = parser.validate(&text).expect_err("it is not UTF-8");
                    assert_eq!(
                        (error.code(), error.offset()),
                        ("utf8", (at + right) as u64),
                        "{kernel:?} {chunk_bytes} {fault:X?}"
                    );
                }
            }
        }
    }
}
