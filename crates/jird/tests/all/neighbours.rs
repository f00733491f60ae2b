//! Neighbours that misbehave (`checks::neighbours`): scripts by chance, the same on every run. The seeds and regressions of the fuzz
//! target are replayed with those of the others.

use crate::common;

use checks::random::{self, Random};

/// Bytes that mean the most where a byte is a step of a program.
const STEPS: [u8; 6] = [0, 1, 2, 3, 64, 255];

/// A script for this neighbour: where it meets the engine, what it does and at which calls; and a text, or steps of any kind.
fn script(random: &mut Random, neighbour: u8) -> Vec<u8> {
    let deeds = random.below(4);
    let mut script = vec![neighbour, random.bits() as u8, random.bits() as u8, deeds as u8];
    for _ in 0..deeds {
        let call = if random.below(8) == 0 { u8::MAX } else { small(random, 6) };
        script.extend([call, random.bits() as u8, small(random, 8)]);
    }
    // Types that are decoded have their program before the text.
    if neighbour >= 6 {
        let steps = random.below(20);
        script.push(steps as u8);
        script.extend(steps_of(random, steps));
    }
    match random.below(4) {
        0 => script.extend(text(random)),
        1 if (4..6).contains(&neighbour) => script.extend(b"x\"y"),
        _ if (4..6).contains(&neighbour) => {
            let len = random.below(120);
            script.extend(steps_of(random, len));
        }
        _ => script.extend(text(random)),
    }
    script
}

/// A number of at most this many bits, usually small.
fn small(random: &mut Random, bits: usize) -> u8 {
    let limit = 1 << random.below(bits + 1);
    random.below(limit) as u8
}

fn steps_of(random: &mut Random, len: usize) -> Vec<u8> {
    (0..len).map(|_| if random.below(4) == 0 { random.pick(&STEPS) } else { random.bits() as u8 }).collect()
}

/// Some lines of JSON, a few of them wrong; now and then with long strings, and with bytes after them that are not
/// text.
fn text(random: &mut Random) -> Vec<u8> {
    let count = random.below(6);
    let mut text = random::lines(random, count, 9);
    if random.below(3) == 0 {
        let long = [&b"\""[..], &b"a".repeat(random.below(300)), b"\"\n"].concat();
        let at = if random.below(2) == 0 { 0 } else { text.len() };
        text.splice(at..at, long);
    }
    if random.below(3) == 0 {
        text.extend(b"1 ".repeat(random.below(150)));
    }
    if random.below(4) == 0 {
        text.extend([0xFF; 100]);
    }
    text
}

fn check(neighbour: u8) {
    common::force_kernel();
    let mut random = Random::new(u64::from(neighbour));
    let count = std::env::var("JIRD_SCRIPTS").ok().and_then(|count| count.parse().ok()).unwrap_or(8_000);
    for _ in 0..count {
        let script = script(&mut random, neighbour);
        let checked = std::panic::catch_unwind(|| checks::neighbours(&script));
        if let Err(panic) = checked {
            // Shown if the check fails.
            #[expect(clippy::print_stdout, reason = "the script that fails, to be made a regression")]
            {
                println!("{}", script.escape_ascii());
            }
            std::panic::resume_unwind(panic);
        }
    }
}

macro_rules! neighbours {
    ($($name:ident: $($number:literal)+;)*) => {
        $(#[test]
        fn $name() {
            $(check($number);)+
        })*
    };
}

neighbours! {
    readers_may_do_what_they_like: 0 1;
    writers_may_do_what_they_like: 2;
    sinks_may_do_what_they_like: 3;
    sources_may_do_what_they_like: 4;
    types_that_are_written_may_do_what_they_like: 5;
    types_that_are_decoded_may_do_what_they_like: 6 7;
}
