//! Random numbers that are the same in every run, and JSON made of them.

/// `SplitMix64` (Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, figure 17).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ bits >> 31
    }

    /// A number below `limit`, or 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit.max(1) as u64) as usize
    }

    /// One of these items.
    pub fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }
}

/// Keys that repeat often, some of them escaped.
const KEYS: [&str; 12] =
    ["a", "b", "a", "\\u0061", "", "value", "é", "k\\\"", "a\\/b", "longer key", "c", "\\ud83d\\ude00"];
const STRINGS: [&str; 14] = [
    "",
    "a",
    "b",
    "ab",
    "\\u0061",
    "true",
    "1",
    "é",
    "\\\\",
    "\\\"",
    "日本語",
    "a\\nb",
    "\\ud83d\\ude00",
    "// /* */ {[,:]}",
];
const NUMBERS: [&str; 22] = [
    "0",
    "-0",
    "1",
    "-1",
    "1.0",
    "10e-1",
    "2",
    "0.1",
    "1e2",
    "100",
    "1E+2",
    "-1.5e-3",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1e400",
    "-1e400",
    "1e-400",
    "123456789.123456789",
    "0.0",
    "4e0",
    "0.30000000000000004",
];
const SPACES: [&str; 6] = ["", "", "", " ", "\t", "  \r "];

/// Appends `text` as a JSON string. Each character is written as it is, or as one of the escapes for it.
pub fn spelled(random: &mut Random, text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        let short = "\"\\/\u{8}\u{c}\n\r\t".find(char).and_then(|at| "\"\\/bfnrt".get(at..=at));
        match (random.below(8), short) {
            (0..3, Some(short)) => out.extend(["\\", short]),
            (3.., None | Some("/")) if char >= ' ' => out.push(char),
            (spelling, _) => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    let digits = if spelling % 2 == 0 { format!("{unit:04x}") } else { format!("{unit:04X}") };
                    out.extend(["\\u", &digits]);
                }
            }
        }
    }
    out.push('"');
}

/// Appends a value of at most this depth, on one line.
pub fn value(random: &mut Random, depth: usize, out: &mut String) {
    let kinds = if depth == 0 { 5 } else { 9 };
    match random.below(kinds) {
        0 => out.push_str(random.pick(&["null", "true", "false"])),
        1 | 2 => out.push_str(random.pick(&NUMBERS)),
        3 | 4 => string(random, &STRINGS, out),
        5 | 6 => {
            out.push('[');
            for index in 0..random.below(5) {
                comma(random, index, out);
                value(random, depth - 1, out);
                space(random, out);
            }
            out.push(']');
        }
        _ => object(random, depth, out),
    }
}

/// Appends an object of at most this depth, on one line.
pub fn object(random: &mut Random, depth: usize, out: &mut String) {
    out.push('{');
    for index in 0..random.below(6) {
        comma(random, index, out);
        string(random, &KEYS, out);
        space(random, out);
        out.push(':');
        space(random, out);
        value(random, depth.saturating_sub(1), out);
        space(random, out);
    }
    out.push('}');
}

/// Lines of records. Some lines are not an object, are blank, or end in CR LF. One in `broken_every` (none if 0) has a
/// byte changed.
pub fn lines(random: &mut Random, count: usize, broken_every: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..count {
        let mut line = String::new();
        space(random, &mut line);
        match random.below(10) {
            0 => {}
            1 => value(random, 2, &mut line),
            _ => object(random, 3, &mut line),
        }
        let mut line = line.into_bytes();
        if broken_every > 0 && random.below(broken_every) == 0 {
            mutate(random, &mut line);
        }
        text.extend(line);
        text.extend(random.pick(&[&b"\n"[..], b"\n", b"\r\n", b" \n"]));
    }
    if random.below(2) == 0 {
        text.pop();
    }
    text
}

/// Changes, removes or inserts one byte.
pub fn mutate(random: &mut Random, text: &mut Vec<u8>) {
    const BYTES: &[u8] = b"{}[]:,\"\\ \n\r\t019-+.eEtrufalsn/\x00\x1F\x7F\x80\xBF\xC2\xE0\xED\xF0\xF4\xFF\xA2ab";
    let byte = random.pick(BYTES);
    let at = random.below(text.len() + 1);
    match random.below(3) {
        0 if at < text.len() => text[at] = byte,
        1 if at < text.len() => drop(text.remove(at)),
        _ => text.insert(at, byte),
    }
}

fn comma(random: &mut Random, index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
    space(random, out);
}

fn string(random: &mut Random, among: &[&str], out: &mut String) {
    out.push('"');
    out.push_str(random.pick(among));
    out.push('"');
}

fn space(random: &mut Random, out: &mut String) {
    out.push_str(random.pick(&SPACES));
}
