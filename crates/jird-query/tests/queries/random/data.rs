//! Random records that are hard to read right.

use super::queries::{Tables, Words};
use crate::dice::{Random, spelled};
use crate::model::Step::{self, Back, Index, Key};
use crate::model::{TIMES, regular};

/// Texts of records and of queries. U+FFFD is less than U+1F600 in UTF-8, and greater in UTF-16.
pub(crate) const TEXTS: [&str; 24] = [
    "",
    "a",
    "ab",
    "A",
    "b",
    "1",
    "null",
    "true",
    "é",
    "日本",
    "\u{FFFD}",
    "\u{1F600}",
    "a/b",
    "api/customers",
    "x\"y",
    "back\\slash",
    "tab\t",
    "\u{0}",
    "100%",
    "a_b",
    "it's",
    "line\nline",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    " ",
];

const INTEGERS: [&str; 10] = ["0", "-0", "1", "-1", "2", "7", "100", "-25", "9007199254740993", "4294967296"];
const WIDE: [&str; 8] = [
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "10000000000000000000000000",
    "10000000000000000000000001",
    "1",
];
const FLOATS: [&str; 14] = [
    "0.5",
    "1.0",
    "1e0",
    "1",
    "-1.25",
    "0.1",
    "1E+2",
    "100",
    "10e-1",
    "-0.0",
    "0",
    "0.0",
    "2.50",
    "0.30000000000000004",
];
const ODD: [&str; 6] = [
    "1e400",
    "-1e400",
    "1e-400",
    "0.1000000000000000055",
    "123456789012345678901234567890.5",
    "1.00000000000000000001",
];

/// What the values of a field are, mostly.
#[derive(Clone, Copy)]
enum Kind {
    Integer,
    Wide,
    Float,
    Text,
    Bool,
    Nested,
    Any,
}

const KINDS: [Kind; 8] =
    [Kind::Integer, Kind::Wide, Kind::Float, Kind::Text, Kind::Text, Kind::Bool, Kind::Nested, Kind::Any];

/// The keys of records, but for `i`, which counts them, `t`, which may be a time, and `p`, which has more of them.
const KEYS: [&str; 9] = ["a", "b", "A", "n", "a.b", "é", "k\"", "x/y", "value"];

const PATHS: [&[Step]; 19] = [
    &[Key("a")],
    &[Key("a")],
    &[Key("b")],
    &[Key("b")],
    &[Key("A")],
    &[Key("n")],
    &[Key("n")],
    &[Key("a.b")],
    &[Key("é")],
    &[Key("k\"")],
    &[Key("x/y")],
    &[Key("value")],
    &[Key("value"), Index(0)],
    &[Key("p"), Key("q")],
    &[Key("p"), Key("l"), Index(1)],
    &[Key("p"), Key("p"), Key("q")],
    &[Key("i")],
    &[Key("t")],
    &[Key("never")],
];

/// Fields that no path leads to, because elements are counted from the end. They are for conditions: elsewhere they are
/// computed values, and a missing one is null.
const ENDS: [&[Step]; 6] = [
    &[Key("value"), Back(1)],
    &[Key("p"), Key("l"), Back(1)],
    &[Key("p"), Key("l"), Back(2)],
    &[Key("a"), Back(1), Key("q")],
    &[Key("a"), Back(2)],
    &[Key("b"), Back(2)],
];

/// Where records have times.
pub(crate) const TIME: &[Step] = &[Key("t")];

/// What queries of such records are made of.
pub(crate) fn words() -> Words {
    let numbers = [&INTEGERS[..], &WIDE, &FLOATS, &ODD].concat();
    Words {
        paths: PATHS.to_vec(),
        ends: ENDS.to_vec(),
        unique: vec![&[Key("i")]],
        texts: TEXTS.iter().copied().chain(TIMES.map(|(text, _)| text)).map(String::from).collect(),
        numbers: numbers.into_iter().map(String::from).collect(),
        tables: Tables::One,
    }
}

/// What records have at `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// Some have a time, in any notation, or what is none.
    Odd,
    /// All have a time of the same width.
    Regular,
    /// The same, and no two records have the same one.
    Unique,
}

/// `count` records, in one file or two.
pub(crate) fn texts(random: &mut Random, count: usize) -> (Vec<String>, Times) {
    let kinds = KEYS.map(|_| random.pick(&KINDS));
    let times = random.pick(&[Times::Odd, Times::Regular, Times::Unique]);
    let mut writer = Writer { random, out: String::new(), times };
    let mut texts = Vec::new();
    let cut = if writer.random.below(3) == 0 { writer.random.below(count + 1) } else { count };
    for number in 0..count {
        if number == cut {
            texts.push(std::mem::take(&mut writer.out));
        }
        writer.line(number, &kinds);
    }
    if writer.random.below(2) == 0 {
        writer.out.pop();
    }
    texts.push(writer.out);
    (texts, times)
}

struct Writer<'r> {
    random: &'r mut Random,
    out: String,
    times: Times,
}

impl Writer<'_> {
    fn line(&mut self, number: usize, kinds: &[Kind]) {
        match self.random.below(16) {
            0 => self.out.push_str(" \t\n"),
            // No object: `i` is missing there, but only once.
            1 if number == 0 && self.times == Times::Odd => {
                self.value(Kind::Any);
                self.end();
            }
            _ => {}
        }
        let mut members: Vec<(&str, Option<Kind>)> = KEYS
            .into_iter()
            .zip(kinds)
            .filter(|_| self.random.below(4) > 0)
            .map(|(key, kind)| (key, Some(*kind)))
            .collect();
        members.insert(self.random.below(members.len() + 1), ("i", None));
        if self.times != Times::Odd || self.random.below(4) > 0 {
            let at = self.random.below(members.len() + 1) * self.random.below(2);
            members.insert(at, ("t", None));
        }
        if self.random.below(2) == 0 {
            members.push(("p", Some(Kind::Nested)));
        }
        if self.random.below(6) == 0 {
            // Repeated, of another kind; if behind the other one, then without effect.
            let key = self.random.pick(&KEYS);
            members.insert(self.random.below(members.len()), (key, Some(Kind::Any)));
        }
        self.out.push('{');
        for (at, (key, kind)) in members.into_iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.space();
            self.text(key);
            self.space();
            self.out.push(':');
            self.space();
            match kind {
                None if key == "t" => self.time(number),
                None => self.out.push_str(&number.to_string()),
                Some(_) if self.random.below(12) == 0 => self.out.push_str("null"),
                Some(kind) => self.value(kind),
            }
            self.space();
        }
        self.out.push('}');
        self.end();
    }

    fn end(&mut self) {
        self.space();
        let end = self.random.pick(&["\n", "\n", "\r\n", " \n"]);
        self.out.push_str(end);
    }

    fn time(&mut self, number: usize) {
        match self.times {
            Times::Odd if self.random.below(4) == 0 => self.value(Kind::Any),
            Times::Odd if self.random.below(4) == 0 => {
                self.one_of(&["1709622000", "1709622000.001", "1709622000123", "1709622000000000001", "-1", "1e30"]);
            }
            Times::Odd => {
                let (text, _) = self.random.pick(&TIMES);
                self.text(text);
            }
            Times::Regular => {
                let text = regular(self.random.below(40));
                self.out.extend(["\"", &text, "\""]);
            }
            // No order of the numbers: 7919 and 3600000 have no factor in common.
            Times::Unique => self.out.extend(["\"", &regular(number * 7919 * 101 % 3_600_000), "\""]),
        }
    }

    fn value(&mut self, kind: Kind) {
        let kind = if let Kind::Any = kind { self.random.pick(&KINDS) } else { kind };
        match kind {
            Kind::Integer => self.one_of(&INTEGERS),
            Kind::Wide => self.one_of(&WIDE),
            Kind::Float => self.one_of(&FLOATS),
            Kind::Any => self.one_of(&ODD),
            Kind::Bool => self.one_of(&["true", "false"]),
            Kind::Text => {
                let text = self.random.pick(&TEXTS);
                self.text(text);
            }
            Kind::Nested => self.nested(),
        }
    }

    fn nested(&mut self) {
        let shape =
            self.random.pick(&["{}", "[]", "{q:.}", "{l:[., .],q:.}", "{q:.,q:.}", "[ .,{q:.}]", "{ p:{q:.} }"]);
        for char in shape.chars() {
            match char {
                '.' => self.scalar(),
                'q' | 'l' | 'p' => self.text(&char.to_string()),
                char => self.out.push(char),
            }
        }
    }

    fn scalar(&mut self) {
        let kind = self.random.pick(&[Kind::Integer, Kind::Text, Kind::Bool, Kind::Float]);
        self.value(kind);
    }

    fn one_of(&mut self, among: &[&str]) {
        let text = self.random.pick(among);
        self.out.push_str(text);
    }

    /// A string, as plainly as it can be written, or in any spelling.
    fn text(&mut self, text: &str) {
        let is_plain = !text.contains(|char: char| char < ' ' || char == '"' || char == '\\');
        if is_plain && self.random.below(3) > 0 {
            self.out.extend(["\"", text, "\""]);
        } else {
            spelled(self.random, text, &mut self.out);
        }
    }

    fn space(&mut self) {
        if self.random.below(8) == 0 {
            let space = self.random.pick(&[" ", "\t", "  "]);
            self.out.push_str(space);
        }
    }
}
