//! stand-in
#![allow(unsafe_code, reason = "x")]
pub(crate) fn check_escape(t: &[u8], at: usize) -> Result<usize, usize> {
    let hex = |from: usize| -> Result<u32, usize> { let mut v = 0; for i in from..from + 4 { match t.get(i).and_then(|b| (*b as char).to_digit(16)) { Some(d) => v = v * 16 + d, None => return Err(i) } } Ok(v) };
    match t.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
        Some(b'u') => { let v = hex(at + 2)?; if (0xDC00..0xE000).contains(&v) { return Err(at); } if (0xD800..0xDC00).contains(&v) {
            if t.get(at + 6) != Some(&b'\\') { return Err(at + 6); } if t.get(at + 7) != Some(&b'u') { return Err(at + 7); }
            let w = hex(at + 8)?; if !(0xDC00..0xE000).contains(&w) { return Err(at + 8); } return Ok(12); } Ok(6) }
        _ => Err(at + 1),
    }
}
pub(crate) fn unescape(raw: &[u8], out: &mut String) {
    let q = format!("\"{}\"", String::from_utf8_lossy(raw));
    out.push_str(&q);
}
pub(crate) fn eq_unescaped(raw: &[u8], wanted: &str) -> bool { let mut s = String::new(); unescape(raw, &mut s); s == wanted }
pub(crate) unsafe fn utf8_unchecked(b: &[u8]) -> &str { unsafe { core::str::from_utf8_unchecked(b) } }
pub(crate) fn closing_quote(rest: &[u8]) -> Option<usize> { let mut i = 0; while i < rest.len() { match rest[i] { b'"' => return Some(i), b'\\' => i += 2, _ => i += 1 } } None }
