//! Writes strings.

#![allow(unsafe_code, reason = "stores into a vector's spare capacity, with room made before")]

use super::swar::{below, equal, lowest};
use crate::kernel::{BLOCK, Kernel, Pass, SHORT, Simd, any_escapes, escapes};
use core::mem::MaybeUninit;

/// The escape for each byte that needs one, in the form that `serde_json` writes: `\\n`, or `\\u001f`, with its length
/// in the last byte; zero if the byte needs no escape.
static ESCAPES: [u64; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut table = [0; 256];
    let mut control = 0;
    while control < 0x20 {
        let low = DIGITS[control & 15];
        table[control] = u64::from_le_bytes([b'\\', b'u', b'0', b'0', DIGITS[control >> 4], low, 0, 6]);
        control += 1;
    }
    let pairs = *b"\"\"\\\\\x08b\x0cf\nn\rr\tt";
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at] as usize] = u64::from_le_bytes([b'\\', pairs[at + 1], 0, 0, 0, 0, 0, 2]);
        at += 2;
    }
    table
};

/// Length of the longest escape.
pub(super) const ESCAPE_MAX: usize = 6;

/// Whether `byte` needs an escape.
#[inline(always)]
fn needs(byte: u8) -> bool {
    ESCAPES[usize::from(byte)] != 0
}

/// Whether nothing in `key` needs an escape. A compile-time constant if `key` is one.
#[inline(always)]
pub(super) fn is_plain(key: &[u8]) -> bool {
    let (words, rest) = key.as_chunks::<8>();
    let seen = words.iter().fold(0, |seen, word| seen | hits(u64::from_le_bytes(*word)));
    let last = match (key.last_chunk::<8>(), rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        (Some(&last), ..) => hits(u64::from_le_bytes(last)),
        (None, Some(&low), Some(&high)) => {
            hits(u64::from(u32::from_le_bytes(high)) << 32 | u64::from(u32::from_le_bytes(low)))
        }
        _ => u64::from(rest.iter().any(|&byte| needs(byte))),
    };
    seen | last == 0
}

/// Copies `content`, at most a block, to `to`, up to the first byte that needs an escape. Returns the number of bytes
/// before that; anything stored after them does not count.
///
/// There are no loops, whose ends would be mispredicted, but copies that overlap.
///
/// # Safety
/// At `to` there is room for `content` and for `SLACK` bytes more.
#[inline(always)]
pub(super) unsafe fn copy_plain(content: &[u8], to: *mut u8) -> usize {
    let len = content.len();
    match len {
        0 => 0,
        1..4 => {
            // SAFETY: all three are within the content.
            let bytes = unsafe {
                [copy_at(content, 0, to), copy_at(content, len / 2, to), copy_at(content, len - 1, to)]
                    .map(|[byte]| byte)
            };
            if bytes.iter().fold(false, |any, &byte| any | needs(byte)) {
                return content.iter().position(|&byte| needs(byte)).unwrap_or(len);
            }
            len
        }
        4..8 => {
            // SAFETY: both are within the content.
            let (low, high) = unsafe { (copy_at(content, 0, to), copy_at(content, len - 4, to)) };
            let word = u64::from(u32::from_le_bytes(low)) | u64::from(u32::from_le_bytes(high)) << 32;
            first_of_two(lowest(hits(word)), 4, len)
        }
        8..16 => {
            // SAFETY: both are within the content.
            let (low, high) = unsafe { (copy_at(content, 0, to), copy_at(content, len - 8, to)) };
            let words = u128::from(u64::from_le_bytes(low)) | u128::from(u64::from_le_bytes(high)) << 64;
            let hits = escapes(words.to_le_bytes()) | 1 << 16;
            first_of_two(hits.trailing_zeros() as usize, 8, len)
        }
        16..=32 => {
            // SAFETY: both are within the content.
            let hits = unsafe { hits_at(content, 0, to) | hits_at(content, len - SHORT, to) };
            len.min(hits.trailing_zeros() as usize)
        }
        33..=BLOCK => {
            let (b, c, d) = (SHORT, len - 2 * SHORT, len - SHORT);
            // SAFETY: all four are within the content.
            let blocks = unsafe {
                (copy_at(content, 0, to), copy_at(content, b, to), copy_at(content, c, to), copy_at(content, d, to))
            };
            if !any_escapes(blocks.0, blocks.1, blocks.2, blocks.3) {
                return len;
            }
            let hits = |block, at: usize| u64::from(escapes(block)) << at;
            let hits = hits(blocks.0, 0) | hits(blocks.1, b) | hits(blocks.2, c) | hits(blocks.3, d);
            hits.trailing_zeros() as usize
        }
        _ => unreachable!("longer strings are written by `escape_blocks`"),
    }
}

/// Copies 16 bytes from `at` on, and returns which of them need an escape, with bit `at` for the first.
///
/// # Safety
/// As [`copy_at`].
#[inline(always)]
unsafe fn hits_at(content: &[u8], at: usize, to: *mut u8) -> u64 {
    // SAFETY: the caller's promise.
    u64::from(escapes(unsafe { copy_at(content, at, to) })) << at
}

/// The offset of the first hit in `len` bytes that are covered by two words of `width` bytes, at their beginning and at
/// their end. `hit` is the index in the two words; the result is `len` if there is no hit.
#[inline(always)]
fn first_of_two(hit: usize, width: usize, len: usize) -> usize {
    if hit < width { hit } else { hit + len - 2 * width }
}

/// Copies `LEN` bytes of `content` from offset `at` to the same offset from `to`, and returns them.
///
/// # Safety
/// `at + LEN <= content.len()`, which checked builds check, and there is room.
#[inline(always)]
unsafe fn copy_at<const LEN: usize>(content: &[u8], at: usize, to: *mut u8) -> [u8; LEN] {
    if cfg!(any(debug_assertions, jird_checked)) {
        assert!(at + LEN <= content.len());
    }
    // SAFETY: the caller's promises.
    unsafe {
        let bytes = content.as_ptr().add(at).cast::<[u8; LEN]>().read();
        to.add(at).cast::<[u8; LEN]>().write(bytes);
        bytes
    }
}

/// Writes the escaped form of `content`, which is at least a block: block by block to the end, as long as there is room
/// for a block of escapes. Returns the numbers of bytes read and written; anything stored after the latter does not
/// count.
pub(super) fn escape_blocks(kernel: Kernel, content: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    kernel.enter(Escape { content, out })
}

/// Copies `content`, less than a block, to `to`, and returns the number of bytes before the first that needs an escape;
/// what is stored after them does not count. For kernels that [load rests](Kernel::loads_rests): there is one way for
/// all lengths, so none is mispredicted.
#[inline(always)]
pub(super) fn copy_block(kernel: Kernel, content: &[u8], to: &mut [MaybeUninit<u8>; BLOCK]) -> usize {
    kernel.enter(Copy { content, to })
}

struct Copy<'a> {
    content: &'a [u8],
    to: &'a mut [MaybeUninit<u8>; BLOCK],
}

impl Pass for Copy<'_> {
    type Out = usize;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> usize {
        let block = simd.load_rest(self.content);
        *self.to = block.map(MaybeUninit::new);
        // Spaces follow the content, which need no escape.
        let hits = simd.escapes(simd.load(&block));
        self.content.len().min(hits.trailing_zeros() as usize)
    }
}

struct Escape<'a> {
    content: &'a [u8],
    out: &'a mut [MaybeUninit<u8>],
}

impl Pass for Escape<'_> {
    type Out = (usize, usize);

    /// Each block is first stored as it is. After each escape, the rest of the block is stored again, at its shifted
    /// place. That costs a load and a store for any number of bytes, and the mask of the first block serves to its end.
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> (usize, usize) {
        let Self { content, out } = self;
        let mut read = plain_blocks(simd, content, out);
        let mut written = read;
        let Some(last) = content.last_chunk().filter(|_| read < content.len()) else { return (read, written) };
        let end = padded_end(content, last);
        while let (left @ 1.., Some(room)) = (content.len() - read, out[written..].first_chunk_mut::<ROOM>()) {
            let escapes = |block| simd.escapes(simd.load(block));
            let rest = &content[read..];
            let two = rest
                .first_chunk()
                .or_else(|| end.get(2 * BLOCK - left..)?.first_chunk())
                .expect("two blocks, or the end");
            // The mask is computed from the text and not from the copy: a load from the copy would have to wait for its
            // store.
            let hits = rest.first_chunk().map_or_else(|| escapes(last) >> (BLOCK - left), escapes);
            let len = left.min(BLOCK);
            written += len + escape_one(two, rest, hits, room);
            read += len;
        }
        (read, written)
    }
}

/// The last two blocks of a text, or all of it if it is shorter, followed by two blocks of spaces.
#[inline(always)]
fn padded_end(content: &[u8], last: &[u8; BLOCK]) -> [u8; 4 * BLOCK] {
    let mut end = [b' '; 4 * BLOCK];
    let first = content.len().saturating_sub(2 * BLOCK);
    let from = 2 * BLOCK - content.len().min(2 * BLOCK);
    if let (Some(first), Some(to)) = (content[first..].first_chunk(), end[from..].first_chunk_mut::<BLOCK>()) {
        *to = *first;
    }
    end[BLOCK..2 * BLOCK].copy_from_slice(last);
    end
}

/// Escapes the first of two blocks; `hits` marks the bytes that need it. Returns by how many bytes the block grows.
#[inline(always)]
fn escape_one(two: &[u8; 2 * BLOCK], rest: &[u8], mut hits: u64, room: &mut [MaybeUninit<u8>; ROOM]) -> usize {
    store(room, two.first_chunk::<BLOCK>().expect("of two"));
    let mut more = 0;
    while hits != 0 {
        let at = hits.trailing_zeros() as usize;
        hits &= hits - 1;
        let escape = ESCAPES[usize::from(rest[at])];
        // SAFETY: `at` is below 64. An escape has at most six bytes, whatever byte is a hit: `more` is at most `5 * at`
        // before it and `5 * (at + 1)` after it. So these stores begin at most at 6 * 63 and 6 * 64, and `ROOM` is two
        // blocks more than that.
        unsafe {
            store_at(room, at + more, &escape.to_le_bytes());
            more += ((escape >> 56) as usize).saturating_sub(1);
            store_at(room, at + 1 + more, two[at + 1..].first_chunk::<BLOCK>().expect("of two"));
        }
    }
    more
}

/// Copies blocks up to the first that needs an escape. If no block does, also copies the rest after the last block, if
/// the rest needs no escape either. Returns the number of bytes copied.
#[inline(always)]
fn plain_blocks<S: Simd>(simd: S, content: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let mut done = 0;
    for (block, out) in content.as_chunks::<BLOCK>().0.iter().zip(out.as_chunks_mut::<BLOCK>().0) {
        if simd.escapes(simd.load(block)) != 0 {
            return done;
        }
        *out = block.map(MaybeUninit::new);
        done += BLOCK;
    }
    let left = content.len() - done;
    if let (1..BLOCK, Some(last)) = (left, content.last_chunk::<BLOCK>()) {
        // The rest is stored as the end of a block whose beginning was already copied.
        if simd.escapes(simd.load(last)) == 0 && out.len() >= content.len() {
            store(&mut out[done + left - BLOCK..], last);
            done += left;
        }
    }
    done
}

/// # Panics
/// If there is no room.
#[inline(always)]
fn store<const LEN: usize>(out: &mut [MaybeUninit<u8>], bytes: &[u8; LEN]) {
    *out.first_chunk_mut().expect("room for a block of escapes and a block more") = bytes.map(MaybeUninit::new);
}

/// [`store`] at `at`.
///
/// # Safety
/// `at + LEN <= ROOM`, which checked builds check.
#[inline(always)]
unsafe fn store_at<const LEN: usize>(room: &mut [MaybeUninit<u8>; ROOM], at: usize, bytes: &[u8; LEN]) {
    if cfg!(any(debug_assertions, jird_checked)) {
        assert!(at + LEN <= ROOM);
    }
    // SAFETY: the caller's promise.
    unsafe { room.as_mut_ptr().add(at).cast::<[u8; LEN]>().write(*bytes) }
}

/// The room for a block of escapes and for what is stored after it.
pub(super) const ROOM: usize = (ESCAPE_MAX + 2) * BLOCK;

/// Writes the escaped form of `content[from..end]`, at most a block, to `start`, and returns its length.
///
/// # Safety
/// At `start` there is room for `ESCAPE_MAX` times the number of bytes read, and for `SLACK` bytes more.
#[inline(always)]
pub(super) unsafe fn escape_block(content: &[u8], from: usize, end: usize, start: *mut u8) -> usize {
    // Bit 0 belongs to the byte at `done`.
    let mut hits = hits_between(content, from, end);
    let (mut done, mut to) = (from, start);
    while hits != 0 {
        let plain = hits.trailing_zeros();
        if plain > 0 {
            // SAFETY: each byte becomes at most `ESCAPE_MAX` bytes, and anything stored after them is in the slack.
            to = unsafe { copy_short(content, done, plain as usize, to) };
            done += plain as usize;
            hits >>= plain;
        }
        // Escapes often come in rows.
        let row = hits.trailing_ones();
        for &byte in &content[done..done + row as usize] {
            let escape = ESCAPES[usize::from(byte)];
            // SAFETY: as above.
            unsafe {
                to.cast::<[u8; 8]>().write(escape.to_le_bytes());
                to = to.add((escape >> 56) as usize);
            }
        }
        done += row as usize;
        hits = hits >> (row - 1) >> 1;
    }
    // SAFETY: as above.
    let to = unsafe { copy_short(content, done, end - done, to) };
    to.addr() - start.addr()
}

/// Copies `len` bytes of `content` from `from` on to `to`, and returns the end of the copy.
///
/// # Safety
/// There is room for them, and for `SLACK` bytes more.
#[inline(always)]
unsafe fn copy_short(content: &[u8], from: usize, len: usize, to: *mut u8) -> *mut u8 {
    let mut done = 0;
    while done < len {
        // SAFETY: there is room for the first byte, and for a block.
        unsafe { to.add(done).cast::<[u8; SHORT]>().write(block_at(content, from + done)) };
        done += SHORT;
    }
    // SAFETY: there is room for `len` bytes.
    unsafe { to.add(len) }
}

/// Which bytes of `content[from..end]`, at most a block, need an escape; bit 0 is for the first.
#[inline(always)]
fn hits_between(content: &[u8], from: usize, end: usize) -> u64 {
    let blocks = (from..end).step_by(SHORT).enumerate();
    let hits = blocks.fold(0, |hits, (index, at)| hits | u64::from(escapes(block_at(content, at))) << (SHORT * index));
    hits & u64::MAX.checked_shr((BLOCK - (end - from)) as u32).unwrap_or(0)
}

/// 16 bytes of `content` from `at` on; if there are fewer, followed by zeros. There is at least one.
#[inline(always)]
fn block_at(content: &[u8], at: usize) -> [u8; SHORT] {
    match (content[at..].first_chunk(), content.last_chunk()) {
        (Some(block), _) => *block,
        // One load that ends with the content.
        (None, Some(&last)) => (u128::from_le_bytes(last) >> ((8 * (at + SHORT - content.len())) & 127)).to_le_bytes(),
        (None, None) => short_block(&content[at..]).to_le_bytes(),
    }
}

/// 1 to 15 bytes, followed by zeros.
#[inline(always)]
fn short_block(bytes: &[u8]) -> u128 {
    let len = bytes.len();
    // Two loads that overlap, instead of a call.
    if let (Some(&low), Some(&high)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return u128::from(u64::from_le_bytes(low)) | u128::from(u64::from_le_bytes(high)) << (8 * len - 64);
    }
    if let (Some(&low), Some(&high)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return u128::from(u64::from(u32::from_le_bytes(low)) | u64::from(u32::from_le_bytes(high)) << (8 * len - 32));
    }
    let word = |at: usize| u128::from(bytes[at]) << (8 * at);
    word(0) | word(len / 2) | word(len - 1)
}

/// Sets the high bit of each byte that needs an escape; exact up to the lowest.
#[inline(always)]
fn hits(word: u64) -> u64 {
    below(word, 0x20) | equal(word, b'"') | equal(word, b'\\')
}

#[cfg(test)]
mod tests {
    use super::super::write_string;

    fn escaped(content: &str) -> String {
        let mut out = b"before".to_vec();
        write_string(content, &mut out);
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    /// Escapes byte by byte, as the RFC defines it.
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
