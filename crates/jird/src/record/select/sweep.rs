//! Finds the wanted values of a record that was checked before, without tokens.
//!
//! The record is taken 64 bytes at a time, as masks of its quotes, colons and brackets. A key stands where a colon
//! follows a quote; it may be wanted if another quote stands as far before the colon as a wanted key is long. Whether
//! its member belongs to the root is a matter of counting brackets. Only the wanted values are looked at, and the
//! sweep stops at the last of them. So it takes less than half the time of a scan for tokens, to which it leaves
//! what is rare: keys with escapes, colons that stand apart from their keys, and elements of arrays.
//!
//! The key `id` of the root is wanted:
//!
//! ```text
//! record   {"a":{"id":1},"id":"x:y"}
//! quotes   .1.1..1..1....1..1.1...1.
//! outside  1..111...11111...11....11  not within a string
//! colons   ....1.....1.......1......  outside, each after a quote
//! wanted   ..........1.......1......  four bytes before the colon stands a quote
//! ```
//!
//! The first of the two candidates is not the root's: a bracket is open before it.

use super::{NOWHERE, Select, Slot};
use crate::kernel::{BLOCK, Kernel, Outline, Pass, Simd};
use crate::scan::escaped_bytes;
use crate::tape::Kind;
use crate::text::is_space;

/// How a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Swept {
    /// All wanted values that the record has were found. The offset is in the record's line, or at its end.
    Found(usize),
    /// A wanted value is a container. Only a sweep by levels finds its end.
    Container,
    /// A walk over tokens is needed.
    Unclear,
}

/// A pass that sweeps a record for scalars of its root. If `LINES` is set, the record ends at the first newline.
struct Sweep<'a, 'b, const LINES: bool> {
    select: &'a mut Select<'b>,
    text: &'a [u8],
}

impl<const LINES: bool> Pass for Sweep<'_, '_, LINES> {
    type Out = Swept;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Swept {
        self.select.by_outlines::<S, LINES>(simd, self.text)
    }
}

impl Select<'_> {
    /// Finds the wanted values of the object that begins with the text's first byte, and ends with the text or, in
    /// `LINES`, with the first line. Returns an offset in that line, or at its end, before which no newline ends it.
    /// Returns `None` if a walk is needed, which must start over: for elements of arrays, keys with escapes, colons
    /// after white space, and some texts that are not JSON. In other texts that are not JSON it finds some values.
    /// Linear in the text up to the last wanted value.
    #[inline]
    pub(crate) fn sweep<const LINES: bool>(&mut self, kernel: Kernel, text: &[u8]) -> Option<usize> {
        if !self.projection.has_only_keys {
            return None;
        }
        self.begin(true);
        if self.is_complete() {
            return Some(0);
        }
        if !self.brackets {
            match kernel.enter(Sweep::<LINES> { select: self, text }) {
                Swept::Found(at) => return Some(at),
                Swept::Unclear => return None,
                Swept::Container => {
                    // The next records will have a container there too.
                    self.brackets = true;
                    self.begin(true);
                }
            }
        }
        self.by_levels::<LINES, false>(kernel, text)
    }

    /// The same for the object that begins with the text's first byte, with more text after it. Returns the offset of
    /// its closing bracket, or the text's length if it has none. Linear in the object.
    #[inline]
    pub(crate) fn sweep_element(&mut self, kernel: Kernel, text: &[u8]) -> Option<usize> {
        if !self.projection.has_only_keys {
            return None;
        }
        self.begin(true);
        self.by_levels::<false, true>(kernel, text)
    }

    #[inline(always)]
    fn by_outlines<S: Simd, const LINES: bool>(&mut self, simd: S, text: &[u8]) -> Swept {
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        let rest = simd.load_rest(rest);
        let mut bytes = Bytes::default();
        // How many containers are open.
        let mut depth = 0_usize;
        for index in 0..=blocks.len() {
            let base = index * BLOCK;
            let block = simd.load(blocks.get(index).unwrap_or(&rest));
            let outline = simd.outline(block);
            let Some(found) = bytes.step(simd, &outline) else { return Swept::Unclear };
            let (mut wanted, mut outside) = (found.among(&self.projection.distances), found.outside);
            let end = if LINES { simd.eq(block, b'\n') } else { 0 };
            if LINES {
                let line = end ^ end.wrapping_sub(1);
                (wanted, outside) = (wanted & line, outside & line);
            }
            let (open, close) = (outline.open & outside, outline.close & outside);
            while wanted != 0 {
                let bit = wanted & wanted.wrapping_neg();
                wanted ^= bit;
                let at = base + bit.trailing_zeros() as usize;
                // The member is one of the root's if only the root's bracket is open.
                let before = bit - 1;
                let opened = (open & before).count_ones() as usize;
                if depth.wrapping_add(opened).wrapping_sub((close & before).count_ones() as usize) != 1 {
                    continue;
                }
                // The colon, the closing quote, and the key before it.
                let end = at.wrapping_sub(1);
                let Some(start) = found.key_start(text, base, bit, end) else { return Swept::Unclear };
                let child = self.meet(0, &text[..end], start, false);
                if child == NOWHERE {
                    continue;
                }
                let Some((start, first)) = value(text, at + 1) else { return Swept::Unclear };
                if matches!(first, b'{' | b'[') {
                    return Swept::Container;
                }
                let Some(slot) = scalar(simd, text, start, first) else { return Swept::Unclear };
                self.fill(child, slot);
                if self.is_complete() {
                    return Swept::Found(at);
                }
            }
            let opened = open.count_ones() as usize;
            depth = depth.wrapping_add(opened).wrapping_sub(close.count_ones() as usize);
            if end != 0 {
                return Swept::Found(base + end.trailing_zeros() as usize);
            }
        }
        Swept::Found(text.len())
    }
}

/// What the bytes so far leave for the next block.
#[derive(Default)]
pub(super) struct Bytes {
    /// 1 if the next byte is escaped.
    escape: u64,
    /// All ones inside a string.
    in_string: u64,
    /// The quotes of the block before.
    quotes: u64,
    /// 1 if a string is open that has a backslash.
    escaped_open: u64,
    /// 1 if the last byte closes such a string.
    escaped_closed: u64,
}

/// What a block has.
pub(super) struct Candidates {
    /// The colons after keys.
    keys: u64,
    /// The quotes that begin and end strings.
    quotes: u64,
    /// Those of the block before.
    quotes_before: u64,
    /// The bytes outside strings; opening quotes are not.
    pub(super) outside: u64,
}

impl Bytes {
    /// Takes the next block. `None` if a key in it has an escape, or if a colon stands apart from its key.
    #[inline(always)]
    pub(super) fn step<S: Simd>(&mut self, simd: S, outline: &Outline) -> Option<Candidates> {
        let quotes_before = self.quotes;
        let special = outline.backslash | self.escape;
        let mut escaped = 0;
        if special != 0 {
            (escaped, self.escape) = escaped_bytes(outline.backslash, self.escape);
        }
        let quotes = outline.quote & !escaped;
        let inside = simd.prefix_xor(quotes) ^ self.in_string;
        self.in_string = (inside.cast_signed() >> 63).cast_unsigned();
        let colons = outline.colon & !inside;
        let keys = colons & (quotes << 1 | quotes_before >> 63);
        if keys != colons {
            return None;
        }
        if special | self.escaped_open | self.escaped_closed != 0 {
            // From a backslash, a carry runs to the quote that closes its string.
            let (sum, over) = inside.overflowing_add(outline.backslash & inside | self.escaped_open & inside);
            let closed = sum & !inside | self.escaped_open & !inside;
            let after = closed << 1 | self.escaped_closed;
            (self.escaped_open, self.escaped_closed) = (u64::from(over), closed >> 63);
            if keys & after != 0 {
                return None;
            }
        }
        self.quotes = quotes;
        Some(Candidates { keys, quotes, quotes_before, outside: !inside })
    }

    /// Takes the next block if all of it is inside `depth` unwanted containers, and at least one of them stays open.
    /// Returns how many are open after it; `None` if it was not taken.
    #[inline(always)]
    pub(super) fn pass_by<S: Simd>(&mut self, simd: S, outline: &Outline, depth: usize) -> Option<usize> {
        let (next, outside) = self.next(simd, outline);
        let closed = (outline.close & outside).count_ones() as usize;
        if closed >= depth {
            return None;
        }
        *self = next;
        Some(depth - closed + (outline.open & outside).count_ones() as usize)
    }

    /// What the next block leaves, if no key in it is looked at, and its bytes outside strings.
    #[inline(always)]
    pub(super) fn next<S: Simd>(&self, simd: S, outline: &Outline) -> (Self, u64) {
        // No branch for backslashes: where text has them here and there, it would be mispredicted.
        let (escaped, escape) = escaped_bytes(outline.backslash, self.escape);
        let quotes = outline.quote & !escaped;
        let inside = simd.prefix_xor(quotes) ^ self.in_string;
        let in_string = (inside.cast_signed() >> 63).cast_unsigned();
        (Self { escape, in_string, quotes, escaped_open: 0, escaped_closed: 0 }, !inside)
    }
}

impl Candidates {
    /// The colons after keys with an opening quote at one of these distances, or all if there are none.
    #[inline(always)]
    pub(super) fn among(&self, distances: &[u32]) -> u64 {
        if distances.is_empty() {
            return self.keys;
        }
        let quote = |far: u32| self.quotes << far | self.quotes_before >> (64 - far);
        distances.iter().fold(0, |any, &far| any | quote(far)) & self.keys
    }

    /// Where the key begins whose colon is at `bit` of the block at `base`, and whose closing quote is at `end`. No
    /// quote in a key without escapes is escaped.
    #[inline(always)]
    pub(super) fn key_start(&self, text: &[u8], base: usize, bit: u64, end: usize) -> Option<usize> {
        let here = self.quotes & ((bit - 1) >> 1);
        // If the colon is the block's first byte, the block before ends with the closing quote.
        let there = self.quotes_before & if bit == 1 { u64::MAX >> 1 } else { u64::MAX };
        let quote = match (here, there) {
            (0, 0) => text.get(..end)?.iter().rposition(|&byte| byte == b'"')?,
            (0, _) => base - BLOCK + there.ilog2() as usize,
            _ => base + here.ilog2() as usize,
        };
        Some(quote + 1)
    }
}

/// The offset and the first byte of the value after a colon.
#[inline(always)]
pub(super) fn value(text: &[u8], behind: usize) -> Option<(usize, u8)> {
    let blank = text.get(behind..)?.iter().position(|&byte| !is_space(byte))?;
    Some((behind + blank, text[behind + blank]))
}

/// The string, number or literal at `start`.
#[inline(always)]
pub(super) fn scalar<S: Simd>(simd: S, text: &[u8], start: usize, first: u8) -> Option<Slot> {
    let kind = match first {
        b'"' => {
            let (end, escaped) = string_end(simd, text, start + 1)?;
            return Some(Slot::new(Kind::String, escaped, start, end));
        }
        b't' | b'f' => Kind::Bool,
        b'n' => Kind::Null,
        b'-' | b'0'..=b'9' => Kind::Number,
        _ => return None,
    };
    let mut end = start;
    loop {
        let block = window(simd, text, end);
        // White space and quotes are among the bytes up to `"`. In a text that is not JSON a quote may follow. Ending there
        // keeps the time linear: no other scalar's search passes the same bytes.
        let over = simd.eq(block, b',') | simd.eq(block, b'}') | simd.eq(block, b']') | simd.between(block, 0, b'"');
        if over != 0 {
            return Some(Slot::new(kind, false, start, text.len().min(end + over.trailing_zeros() as usize)));
        }
        end += BLOCK;
    }
}

/// The end of the string whose content begins at `at`, after its closing quote, and whether it has an escape.
#[inline(always)]
fn string_end<S: Simd>(simd: S, text: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let (mut escape, mut escapes) = (0, 0);
    while at < text.len() {
        let block = window(simd, text, at);
        let (backslash, mut quotes) = (simd.eq(block, b'\\'), simd.eq(block, b'"'));
        if backslash | escape != 0 {
            let escaped;
            (escaped, escape) = escaped_bytes(backslash, escape);
            quotes &= !escaped;
        }
        if quotes != 0 {
            escapes |= backslash & (quotes ^ quotes.wrapping_sub(1));
            return Some((at + quotes.trailing_zeros() as usize + 1, escapes != 0));
        }
        escapes |= backslash;
        at += BLOCK;
    }
    None
}

/// The 64 bytes from `at` on, with spaces after the text's end.
#[inline(always)]
fn window<S: Simd>(simd: S, text: &[u8], at: usize) -> S::Block {
    let rest = text.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => simd.load(bytes),
        None => simd.load(&simd.load_rest(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Path;
    use crate::record::Projection;
    use crate::record::select::{Select, container_len};
    use checks::random::{self, Random};

    /// The kind, the text and whether it has escapes, of each wanted value.
    type Fields = Vec<Option<(Kind, Vec<u8>, bool)>>;

    fn swept<const LINES: bool>(kernel: Kernel, projection: &Projection, text: &[u8]) -> Option<(Fields, usize)> {
        let mut select = Select::new(projection);
        let at = select.sweep::<LINES>(kernel, text)?;
        Some((fields(&select, text), at))
    }

    fn fields(select: &Select<'_>, text: &[u8]) -> Fields {
        let field = |slot: &Slot| slot.kind.map(|kind| (kind, text[slot.range()].to_vec(), slot.escaped));
        select.found().iter().map(field).collect()
    }

    /// As `swept`, with the object's end, for the object that begins with the text.
    fn swept_element(kernel: Kernel, projection: &Projection, text: &[u8]) -> Option<(Fields, usize)> {
        let mut select = Select::new(projection);
        let at = select.sweep_element(kernel, text)?;
        Some((fields(&select, text), at))
    }

    /// What a parse finds.
    fn parsed(projection: &Projection, text: &[u8]) -> Option<Fields> {
        let document = crate::parse(text).ok()?;
        let find = |path: &Path| {
            let value = path.steps().iter().try_fold(document.root(), |value, step| match step {
                crate::path::Step::Key(key) => value.get(key),
                crate::path::Step::Index(index) => value.at(*index),
            })?;
            let raw = value.raw();
            Some((value.kind(), raw.to_vec(), value.kind() == Kind::String && raw.contains(&b'\\')))
        };
        Some(projection.paths().iter().map(find).collect())
    }

    /// Compares a sweep of a record, and of a line with it, with a parse. Returns whether it needed no walk.
    fn check(kernels: &[Kernel], projection: &Projection, text: &str) -> bool {
        let Some(wanted) = parsed(projection, text.as_bytes()) else { panic!("{text:?} is JSON") };
        let lines = format!("{text}\n{{\"a\":\"next\",\"b\" :0}}\n");
        let mut all = true;
        for &kernel in kernels {
            let found = swept::<false>(kernel, projection, text.as_bytes());
            all &= found.is_some();
            if let Some((fields, _)) = found {
                assert_eq!(fields, wanted, "{kernel:?} {:?} of {text:?}", projection.paths());
            }
            if let Some((fields, at)) = swept::<true>(kernel, projection, lines.as_bytes()) {
                assert_eq!(fields, wanted, "{kernel:?} {:?} of the line {text:?}", projection.paths());
                assert!(at <= text.len(), "{kernel:?}: the line {text:?} ends before {at}");
            }
            let more = format!("{text},{{\"a\":\"next\"}}]");
            let mut select = Select::new(projection);
            if let Some(last) = select.sweep_element(kernel, more.as_bytes()) {
                assert_eq!(last + 1, text.len(), "{kernel:?} {:?}: the end of {text:?}", projection.paths());
                assert_eq!(fields(&select, more.as_bytes()), wanted, "{kernel:?} {:?} of {text:?}", projection.paths());
            }
            assert_eq!(container_len(kernel, more.as_bytes()), text.len(), "{kernel:?} {text:?}");
        }
        all
    }

    fn projections() -> Vec<Projection> {
        let root = Path::root;
        let far = "k".repeat(70);
        vec![
            Projection::new(&[root().key("a")]),
            Projection::new(&[root().key("a"), root().key("b"), root().key("a")]),
            Projection::new(&[root().key("c"), root().key("nothing")]),
            Projection::new(&[
                root().key(""),
                root().key("é"),
                root().key("value"),
                root().key("longer key"),
                root().key("a"),
            ]),
            Projection::new(&[root().key(far), root().key("a/b"), root().key("k\""), root().key("😀")]),
            Projection::new(&[root().key("a").key("a"), root().key("b")]),
            Projection::new(&[root().key("a"), root().key("a").key("b"), root().key("a").key("b").key("c")]),
            Projection::new(&[root().key("b").key("a"), root().key("b").key("b").key("c"), root().key("c").key("a")]),
            Projection::new(
                &["a", "b", "é", "pad", "value", "k\"", "longer key", "nothing"].map(|key| root().key(key)),
            ),
            Projection::new(&[]),
        ]
    }

    #[test]
    fn ordinary_records_need_no_tokens() {
        let kernels: Vec<_> = Kernel::available().collect();
        let records = [
            "{}".to_owned(),
            r#"{"a":1}"#.to_owned(),
            r#"{"b":{"a":1,"b":[{"a":2}]},"a":"x","c":null}"#.to_owned(),
            r#"{"a": {"a": "\\\"", "b": {"c": [true]}} , "b": "{[:,\\" }"#.to_owned(),
            r#"{"a":1,"a":2,"b":{"b":3},"b":-4.5e+6}"#.to_owned(),
            format!(r#"{{"b":"{}\"{}","a":["{}"],"c":false}}"#, "x".repeat(61), "y:".repeat(70), "\\\\".repeat(40)),
        ];
        for projection in projections() {
            for record in &records {
                // Each byte of the record at each place of a block.
                for len in 0..=BLOCK {
                    let shifted =
                        record.replacen('{', &format!("{{\"pad\":\"{}\",", "-".repeat(len)), 1).replace(",}", "}");
                    for text in [record, &shifted] {
                        assert!(check(&kernels, &projection, text), "{:?} of {text}", projection.paths());
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_rare_is_left_to_a_walk() {
        let projection = Projection::new(&[Path::root().key("a")]);
        for len in 0..=BLOCK {
            let pad = "-".repeat(len);
            for member in [r#""\u0061":1"#, r#""a" :1"#, "\"b\"\n:1", r#""x\\":1"#] {
                let text = format!(r#"{{"pad":"{pad}",{member},"a":2}}"#);
                for kernel in Kernel::available() {
                    assert!(swept::<false>(kernel, &projection, text.as_bytes()).is_none(), "{kernel:?} {text}");
                }
            }
        }
        let elements = Projection::new(&[Path::root().key("a").index(0)]);
        assert!(swept::<false>(Kernel::best(), &elements, br#"{"a":[1]}"#).is_none());
    }

    #[test]
    fn a_scalar_ends_before_the_next_key_in_any_text() {
        let projection = Projection::new(&[Path::root().key("a"), Path::root().key("b")]);
        for kernel in Kernel::available() {
            let found = swept::<false>(kernel, &projection, br#"{"a":1"b":true"c":"#);
            let (fields, _) = found.expect("no walk is needed");
            let texts: Vec<_> = fields.iter().flatten().map(|(_, text, _)| text.as_slice()).collect();
            assert_eq!(texts, [&b"1"[..], b"true"], "{kernel:?}");
        }
    }

    #[test]
    fn random_records_are_swept_as_they_are_parsed() {
        let kernels: Vec<_> = Kernel::available().collect();
        let projections = projections();
        let mut random = Random::new(20);
        let mut swept = 0;
        for round in 0..if cfg!(miri) { 20 } else { 12_000 } {
            let mut text = String::new();
            random::object(&mut random, 3, &mut text);
            let pad = "é\\".repeat(round % 2 * random.below(40)) + &"x".repeat(random.below(64));
            let text = text.replacen('{', &format!("{{\"pad\":\"{}\",", pad.replace('\\', "\\\\")), 1);
            // An object that had no member ends with the comma.
            let text = if crate::validate(text.as_bytes()).is_ok() { text } else { text.replacen("\",}", "\"}", 1) };
            swept += usize::from(check(&kernels, random.pick(&projections.iter().collect::<Vec<_>>()), &text));
        }
        assert!(cfg!(miri) || swept > 2_000, "{swept}");
    }

    #[test]
    fn any_bytes_give_some_fields_on_every_kernel() {
        const ALPHABETS: [&[u8]; 3] = [b"{}[]:,\"a\\ \n", b"\"\"\"a::\\\\{}1", b"{\"a\":\xFF\x00,}]"];
        let kernels: Vec<_> = Kernel::available().collect();
        let projections = projections();
        let mut random = Random::new(21);
        for round in 0..if cfg!(miri) { 100 } else { 60_000 } {
            let mut text = b"{".to_vec();
            for _ in 0..random.below(6) {
                text.extend_from_slice(random.pick(&[&b"\"a\":"[..], b"\"b\":1,", b"{", b"", b"\"c\":\"\\"]));
                text.extend((0..random.below(50)).map(|_| random.pick(ALPHABETS[round % ALPHABETS.len()])));
            }
            for projection in &projections {
                let found = kernels.iter().map(|&kernel| swept::<true>(kernel, projection, &text));
                let found: Vec<_> = found.collect();
                assert!(found.windows(2).all(|two| two[0] == two[1]), "{:?}", String::from_utf8_lossy(&text));
                assert!(found.iter().flatten().all(|(_, at)| *at <= text.len()));
                let found: Vec<_> = kernels.iter().map(|&kernel| swept_element(kernel, projection, &text)).collect();
                assert!(found.windows(2).all(|two| two[0] == two[1]), "{:?}", String::from_utf8_lossy(&text));
                let lens: Vec<_> = kernels.iter().map(|&kernel| container_len(kernel, &text)).collect();
                assert!(lens.iter().all(|&len| len == lens[0] && len <= text.len()), "{lens:?}");
            }
        }
    }
}
