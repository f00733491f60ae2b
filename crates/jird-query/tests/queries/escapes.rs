//! Where raw bytes are searched before records are read, no match is lost, however its characters are written.

use crate::dice::{Random, spelled};
use crate::model::{Condition, Folder, Form, Item, Literal, Operand, Query, Step, Way, records};
use crate::random::{Maker, TEXTS, Tables, Words};
use jird_query::Check;
use std::fmt::Write;

const M: &[Step] = &[Step::Key("m/é")];
const I: &[Step] = &[Step::Key("i")];

/// Lines that have one of the texts in some spelling, as the field that is asked for or as another one, or have nearly.
fn lines(random: &mut Random) -> String {
    let mut text = String::new();
    for number in 0..=random.below(30) {
        let _ = write!(text, "{{\"i\":{number},");
        for _ in 0..=random.below(3) {
            let key = random.pick(&["m/é", "m/é", "m/é", "m", "other"]);
            spelled(random, key, &mut text);
            text.push(':');
            let content =
                [random.pick(&["", "", "x", "\\", "u0061"]), random.pick(&TEXTS), random.pick(&["", "", "/"])];
            match random.below(8) {
                0 => text.push_str(random.pick(&["1", "null", "{\"m/é\":\"a\"}", "[\"a/b\"]"])),
                // An escaped backslash does not escape what follows: `\\u0061`.
                1 => text.push_str(random.pick(&[
                    r#""\\u0061""#,
                    r#""\\\u0061b""#,
                    r#""a\\/b""#,
                    r#""\\\/""#,
                    r#""x\\""#,
                ])),
                _ => spelled(random, &content.concat(), &mut text),
            }
            text.push(',');
        }
        text.push_str("\"end\":0}\n");
    }
    text
}

/// A condition that literals can be found in, or several.
fn condition(maker: &mut Maker<'_>, depth: usize) -> Condition {
    let text = |maker: &mut Maker<'_>| Literal::Text(maker.random.pick(&TEXTS).to_owned());
    let parts = |maker: &mut Maker<'_>| (0..2).map(|_| condition(maker, depth - 1)).collect();
    match maker.random.below(if depth == 0 { 4 } else { 7 }) {
        0 => Condition::Compare(Operand::Field(M), "=", Operand::Literal(text(maker))),
        1 => Condition::In(M, (0..=maker.random.below(4)).map(|_| text(maker)).collect()),
        2 => Condition::Like(M, maker.pattern()),
        3 => Condition::Match(M, maker.expression()),
        4 => Condition::And(parts(maker)),
        5 => Condition::Or(parts(maker)),
        _ => Condition::Not(condition(maker, depth - 1).into()),
    }
}

#[test]
fn no_spelling_of_a_text_hides_it_from_a_search() {
    const TRIES: u64 = 400;
    let words = Words {
        paths: vec![M],
        ends: Vec::new(),
        unique: Vec::new(),
        texts: TEXTS.map(String::from).to_vec(),
        numbers: Vec::new(),
        tables: Tables::One,
    };
    let mut folder = Folder::new("escapes");
    let (mut searched, mut hits) = (0, 0);
    for seed in 0..TRIES {
        let mut random = Random::new(seed);
        let text = lines(&mut random);
        folder.hold(&[&text]);
        let input = records(&text);
        let condition = Some(condition(&mut Maker { words: &words, random: &mut random }, 2));
        let query = Query { items: vec![Item::Field(I), Item::Field(M)], condition, ..Query::default() };
        let way = |check, chunk_bytes| Way { form: Form::Lines, check, threads: 1, chunk_bytes };
        let pieces = random.pick(&[None, Some(1), Some(97)]);
        let ways = [Check::All, Check::Touched, Check::Trusted].map(|check| way(check, pieces));
        let some = folder.check(&query, &[input], &ways, seed);
        searched += u64::from(some.searched_bytes > 0);
        hits += u64::from(some.searched_bytes > 0 && some.rows.is_some_and(|rows| rows > 0));
    }
    assert!(searched * 2 > TRIES && hits * 5 > TRIES, "{searched} searched, {hits} had hits");
}
