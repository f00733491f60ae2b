//! Where the least and the greatest number of a field are.

use super::text::{BlockId, Home, Text, UnitHome};
use crate::column::{Cell, Numbers};
use crate::index::FieldKinds;
use jird::{Number, Path};
use std::collections::HashSet;

/// A block of a span, and a bound of its numbers as a key.
struct Bounded {
    key: Vec<u8>,
    home: Home,
}

/// Where zero is the most extreme number of more blocks than this, all are read.
const BLOCKS_MAX: usize = 16;

/// An end of the numbers of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The least number.
    Least,
    /// The greatest number.
    Greatest,
}

impl Extreme {
    /// Whether a number is more extreme than another one, by their keys.
    fn is_beyond(self, found: &[u8], other: &[u8]) -> bool {
        match self {
            Self::Least => found < other,
            Self::Greatest => found > other,
        }
    }
}

impl Text {
    /// The blocks that have the least or the greatest number at a path, and all blocks with events of the logs: usually a few,
    /// because the bounds in the indexes tell which columns have to be looked at. `None` if all blocks must be read: there are
    /// values of other kinds, some blocks have no column of the path, or the text ends within a block.
    pub fn extreme(&self, path: &Path, extreme: Extreme) -> Option<Vec<BlockId>> {
        let state = &*self.snapshot.0;
        (self.sections.iter().all(|section| !section.is_cut())).then_some(())?;
        self.kinds(path)?.is_within(FieldKinds::NUMBER.with(FieldKinds::NULLS)).then_some(())?;
        let numbers = self.numbers(path)?;
        let homes = self.sections.iter().flat_map(|section| &section.units).map(|unit| unit.home);
        let spans: HashSet<usize> = homes
            .filter_map(|home| match home {
                UnitHome::Span(span) => Some(span),
                UnitHome::Recent(_) => None,
            })
            .collect();
        let mut bounded = Vec::new();
        for span in spans {
            for (block, range) in state.spans[span].block_ranges(path)?.into_iter().enumerate() {
                let Some([least, greatest]) = range else { continue };
                let key = if extreme == Extreme::Least { least } else { greatest };
                bounded.push(Bounded { key, home: Home::Span(span, block) });
            }
        }
        bounded.sort_unstable_by(|one, two| match extreme {
            Extreme::Least => one.key.cmp(&two.key),
            Extreme::Greatest => two.key.cmp(&one.key),
        });
        let homes = self.most_extreme(path, extreme, numbers, &bounded)?;
        let is_wanted = |id: &BlockId| {
            let mut pieces = self.text_block(*id).pieces.iter();
            pieces.any(|piece| matches!(piece.home, Home::Recent(_)) || homes.contains(&piece.home))
        };
        Some(self.blocks().filter(is_wanted).collect())
    }

    /// The blocks that have the most extreme of all numbers. Reads columns in the order of their bounds, which may be those of
    /// values that do not count, until no other block may have a number that is as extreme.
    fn most_extreme(
        &self,
        path: &Path,
        extreme: Extreme,
        numbers: Numbers,
        bounded: &[Bounded],
    ) -> Option<HashSet<Home>> {
        let (mut homes, mut best, mut zero) = (HashSet::new(), Vec::new(), Vec::new());
        Number::new("0")?.order_key(&mut zero);
        for Bounded { key, home } in bounded {
            // Of equal numbers one is enough, but zeros may differ in their signs, if they are no integers.
            if !best.is_empty()
                && (extreme.is_beyond(&best, key) || best == *key && (best != zero || numbers == Numbers::Integers))
            {
                break;
            }
            if homes.len() == BLOCKS_MAX {
                return None;
            }
            let Home::Span(span, block) = *home else { continue };
            let rows = usize::try_from(self.snapshot.0.spans[span].table().blocks[block].events).ok()?;
            let paths = (std::slice::from_ref(path), 1);
            let cells = self.snapshot.0.spans[span].cells(block, 0..rows, paths, None)?;
            let (numbers, _) = cells.numbers(0)?;
            let numbers = numbers.iter().flatten();
            let found = match extreme {
                Extreme::Least => numbers.reduce(f64::min),
                Extreme::Greatest => numbers.reduce(f64::max),
            };
            let Some(found) = found else { continue };
            let mut text = Vec::new();
            Cell::Number(found).write(&mut text);
            let mut key = Vec::new();
            Number::new(std::str::from_utf8(&text).ok()?)?.order_key(&mut key);
            if best.is_empty() || extreme.is_beyond(&key, &best) {
                best = key;
                homes.clear();
            } else if key != best {
                continue;
            }
            homes.insert(*home);
        }
        Some(homes)
    }
}
