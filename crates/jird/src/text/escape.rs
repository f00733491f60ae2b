//! Writing strings.

use super::swar::{below, equal, lowest};

/// What stands for each byte that cannot stand for itself, as serde_json writes it: the letter behind the backslash,
/// `u` for `\u00xx`, 0 if the byte needs no escape.
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut control = 0;
    while control < 0x20 {
        table[control] = b'u';
        control += 1;
    }
    let pairs = *b"\"\"\\\\\x08b\x0cf\nn\rr\tt";
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at] as usize] = pairs[at + 1];
        at += 2;
    }
    table
};

/// Appends `content` as a JSON string with its quotes. Escapes only what RFC 8259 §7 demands, in the shortest form that
/// has a name: `\b \t \n \f \r \" \\`, else `\u00xx` in lower case. DEL, `/` and all beyond ASCII stand for themselves.
pub(crate) fn escape_into(content: &str, out: &mut Vec<u8>) {
    let bytes = content.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut at = 0;
    while at < bytes.len() {
        let len = plain_len(&bytes[at..]);
        out.extend_from_slice(&bytes[at..at + len]);
        at += len;
        if let Some(&byte) = bytes.get(at) {
            push_escape(byte, out);
            at += 1;
        }
    }
    out.push(b'"');
}

/// How many bytes stand before the first that needs an escape.
#[inline(always)]
fn plain_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(block) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*block);
        let hits = below(word, 0x20) | equal(word, b'"') | equal(word, b'\\');
        if hits != 0 {
            return at + lowest(hits);
        }
        at += 8;
    }
    bytes[at..].iter().position(|&byte| ESCAPES[usize::from(byte)] != 0).map_or(bytes.len(), |index| at + index)
}

#[inline]
fn push_escape(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    match ESCAPES[usize::from(byte)] {
        b'u' => {
            let digits = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digits[0], digits[1]]);
        }
        letter => out.extend_from_slice(&[b'\\', letter]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(content: &str) -> String {
        let mut out = b"before".to_vec();
        escape_into(content, &mut out);
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    /// Byte by byte, as the RFC has it.
    fn naive(content: &str) -> String {
        let inside: String = content
            .chars()
            .map(|char| match char {
                '"' => r#"\""#.to_owned(),
                '\\' => r"\\".to_owned(),
                '\n' => r"\n".to_owned(),
                '\r' => r"\r".to_owned(),
                '\t' => r"\t".to_owned(),
                '\u{8}' => r"\b".to_owned(),
                '\u{c}' => r"\f".to_owned(),
                '\0'..'\u{20}' => format!(r"\u{:04x}", u32::from(char)),
                _ => char.to_string(),
            })
            .collect();
        format!("\"{inside}\"")
    }

    #[test]
    fn every_character_is_escaped_at_every_place() {
        let chars: Vec<char> = (0..=0x7f_u8).map(char::from).chain(['\u{80}', 'é', '\u{2028}', '语', '😀']).collect();
        for &char in &chars {
            for before in 0..20 {
                for behind in [0, 1, 7, 8, 9, 40] {
                    let content = format!("{}{char}{}", "a".repeat(before), "z".repeat(behind));
                    assert_eq!(escaped(&content), naive(&content));
                }
            }
        }
    }

    #[test]
    fn texts_of_every_length_keep_their_bytes() {
        for len in 0..200 {
            for content in
                ["é".repeat(len), "x".repeat(len), "\"".repeat(len), "\u{1}\\".repeat(len), "😀a".repeat(len)]
            {
                assert_eq!(escaped(&content), naive(&content));
            }
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let content: String = (0..0x1_0000).filter_map(char::from_u32).chain(['😀', '\u{10ffff}']).collect();
        let string = escaped(&content);
        let mut again = String::new();
        super::super::unescape(&string[1..string.len() - 1], &mut again);
        assert_eq!(again, content);
    }
}
