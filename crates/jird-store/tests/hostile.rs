//! Indexes of any bytes: an error or an answer, in bounded memory, and never a panic.

mod made;

use checks::random::{Random, mutate};
use jird::Path;
use jird::hooks::lines::ReadAt;
use jird::record::{Comparison, Like, Literal, Predicate};
use jird_store::index::{Answer, Condition, SpanIndex, Wrong};
use made::{Made, blob_of, blocks};
use std::io;
use std::sync::Arc;

fn conditions(paths: &[Path]) -> Vec<Condition> {
    let literal = |literal: Literal| Predicate::Compare { slot: 0, op: Comparison::Eq, literal };
    let predicates = [
        literal(Literal::Text("Error".into())),
        literal(Literal::Number("200".into())),
        Predicate::Compare { slot: 0, op: Comparison::Gt, literal: Literal::Number("3".into()) },
        Predicate::Like { slot: 0, pattern: Like::new("%longer%") },
        Predicate::IsNull { slot: 0 },
    ];
    predicates.iter().map(|predicate| Condition::new(predicate, paths)).collect()
}

/// Asks everything. True if all of it was sound.
fn ask(bytes: &[u8], blocks: usize, paths: &[Path]) -> Result<Vec<Vec<Answer>>, Wrong> {
    let index = SpanIndex::of_bytes(bytes, blocks)?;
    index.paths();
    for path in paths {
        index.kinds(path)?;
    }
    conditions(paths).iter().map(|condition| index.answers(condition)).collect()
}

#[test]
fn a_cut_or_changed_index_is_an_error_or_gives_the_right_answers() {
    let (mut errors, mut answers) = (0, 0);
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let Made { blocks, paths } = blocks(&mut random);
        let sound = blob_of(&blocks);
        let wanted = ask(&sound, blocks.len(), &paths).expect("it was just made");
        SpanIndex::of_bytes(&sound, blocks.len()).unwrap().verify().unwrap();
        for cut in (0..sound.len()).step_by(1 + sound.len() / 200) {
            assert!(ask(&sound[..cut], blocks.len(), &paths).is_err(), "cut at {cut} of {}", sound.len());
        }
        assert!(ask(&[&sound[..], b"x"].concat(), blocks.len(), &paths).is_err());
        for other in [0, blocks.len() + 1, usize::MAX] {
            assert!(ask(&sound, other, &paths).is_err(), "{other} blocks");
        }
        for _ in 0..200 {
            let mut changed = sound.clone();
            let at = random.below(changed.len());
            changed[at] ^= 1 << random.below(8);
            match ask(&changed, blocks.len(), &paths) {
                Ok(found) => {
                    answers += 1;
                    // What was changed was not read.
                    assert_eq!(found, wanted, "a bit of byte {at} of {}", sound.len());
                }
                Err(wrong) => {
                    errors += 1;
                    assert!(wrong.is_damage() && !wrong.to_string().is_empty());
                }
            }
            if let Ok(index) = SpanIndex::of_bytes(&changed, blocks.len()) {
                assert!(index.verify().is_err(), "a bit of byte {at} of {}", sound.len());
            }
            (0..random.below(4)).for_each(|_| mutate(&mut random, &mut changed));
            let _ = ask(&changed, blocks.len(), &paths);
        }
    }
    assert!(errors > 1000 && answers > 1000, "{errors} errors, {answers} answers");
}

/// Says that it has read more than it was asked for, or fails.
struct Lying(Vec<u8>, u64);

impl ReadAt for Lying {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.1 {
            return Err(io::Error::other("no disk"));
        }
        let read = (&self.0[..]).read_at(buffer, offset)?;
        Ok(read + 7)
    }
}

#[test]
fn a_reader_that_lies_or_fails_is_an_error_or_tells_the_truth() {
    let Made { blocks, paths } = blocks(&mut Random::new(3));
    let sound = blob_of(&blocks);
    for fails_at in 0..sound.len() as u64 {
        let source = Arc::new(Lying(sound.clone(), fails_at));
        let Ok(index) = SpanIndex::open(source, 0, sound.len() as u64, Some(blocks.len())) else { continue };
        for condition in conditions(&paths) {
            let _ = index.answers(&condition);
        }
    }
    let source = Arc::new(Lying(sound.clone(), 0));
    let wrong = SpanIndex::open(source, 0, sound.len() as u64, Some(blocks.len())).err().expect("there is no disk");
    assert_eq!(wrong.to_string(), "the index cannot be read: no disk");
    assert!(!wrong.is_damage());
}

#[test]
fn an_index_may_stand_anywhere_in_its_source() {
    let Made { blocks, paths } = blocks(&mut Random::new(5));
    let sound = blob_of(&blocks);
    let among: &'static [u8] = [b"before", &sound[..], b"behind"].concat().leak();
    let index = SpanIndex::open(Arc::new(among), 6, sound.len() as u64, Some(blocks.len())).unwrap();
    index.verify().unwrap();
    for (condition, wanted) in conditions(&paths).iter().zip(ask(&sound, blocks.len(), &paths).unwrap()) {
        assert_eq!(index.answers(condition).unwrap(), wanted);
    }
}
