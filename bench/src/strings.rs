//! Lists of strings: of common kinds, and of every length up to a block.

/// Strings of one kind. The first kind is only read; in writing it equals "cyrillic".
pub(crate) const KINDS: &[&str] = &[CYRILLIC_ESCAPED, "prose", "cyrillic", "short-keys", "base64"];

/// Cyrillic text in which every character is a `\u` escape.
const CYRILLIC_ESCAPED: &str = "cyrillic-escaped";

macro_rules! lengths {
    ($($len:literal)+) => { &[$(concat!("length-", $len)),+] };
}

/// Strings of one length.
pub(crate) const LENGTHS: &[&str] = lengths!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
);

const COUNT: usize = KINDS.len() + LENGTHS.len();

/// All inputs.
pub(crate) const INPUTS: &[&str] = &{
    let mut all = [""; COUNT];
    let mut index = 0;
    while index < COUNT {
        all[index] = if index < KINDS.len() { KINDS[index] } else { LENGTHS[index - KINDS.len()] };
        index += 1;
    }
    all
};

/// The inputs that are written.
pub(crate) const WRITTEN: &[&str] = INPUTS.split_at(1).1;

/// Melville, Tolstoy, and the keys of a timeline.
const PROSE: &str = "Call me Ishmael. Some years ago—never mind how long precisely—having little or no money in my purse, and \
    nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of the world. \
    \"It is a way I have,\" he said, \"of driving off the spleen, and regulating the circulation.\"\n";
const CYRILLIC: &str = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. Всё \
    смешалось в доме Облонских. Жена узнала, что муж был в связи с бывшею в их доме француженкою-гувернанткой. ";
const KEYS: &[&str] = &[
    "id",
    "text",
    "user",
    "name",
    "screen_name",
    "location",
    "url",
    "entities",
    "lang",
    "created_at",
    "source",
    "geo",
    "place",
    "retweet_count",
    "favorited",
    "truncated",
    "indices",
    "w",
    "h",
    "resize",
    "in_reply_to_status_id",
];
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The strings of an input that can be written; `None` for other inputs.
pub(crate) fn texts(input: &str) -> Option<Vec<String>> {
    let mut random = 1_u64;
    let mut next = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    let texts = match input {
        "prose" => (0..200).map(|_| cut(PROSE, next() % 200, 50 + next() % 900)).collect(),
        "cyrillic" => (0..200).map(|_| cut(CYRILLIC, next() % 200, 50 + next() % 900)).collect(),
        "short-keys" => (0..2000).map(|_| KEYS[next() % KEYS.len()].to_owned()).collect(),
        "base64" => {
            let mut blob = |len| (0..len).map(|_| char::from(BASE64[next() % 64])).collect();
            [300, 5_000, 40_000, 120, 64_000].map(&mut blob).to_vec()
        }
        _ => {
            let len = input.strip_prefix("length-")?.parse().ok()?;
            (0..500)
                .map(|index| "abcdefghijklmnopqrstuvwxyz".chars().cycle().skip(index % 26).take(len).collect())
                .collect()
        }
    };
    Some(texts)
}

/// A document in which every character is an escape.
pub(crate) fn escaped(input: &str) -> Option<Vec<u8>> {
    if input != CYRILLIC_ESCAPED {
        return None;
    }
    let string = |text: &String| {
        let units: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        format!("\"{}\"", units.concat())
    };
    let strings: Vec<_> = texts("cyrillic")?.iter().map(string).collect();
    Some(format!("[{}]", strings.join(",")).into_bytes())
}

/// Takes `len` characters from the endless repetition of a text.
fn cut(text: &str, from: usize, len: usize) -> String {
    text.chars().cycle().skip(from).take(len).collect()
}
