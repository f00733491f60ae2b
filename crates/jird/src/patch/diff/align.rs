//! Which elements of two arrays belong together.
//!
//! Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1(2), 1986: the greedy algorithm of section 4.

use core::hash::{BuildHasherDefault, Hasher};
use core::ops::Range;
use std::collections::HashSet;

/// Elements that differ: those of the one array, and those of the other in the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Arrays that differ in more elements are compared element by element, in order.
const EDITS_MAX: usize = 1024;

/// The most steps per element of both arrays, besides a million.
const STEPS_PER_ELEMENT: usize = 16;

/// The hunks between two lists of digests, in order. The digests between hunks are equal. Takes time linear in the lists: if
/// a shortest script of edits cannot be found so, one hunk has all that is between the equal beginning and the equal end.
pub(super) fn hunks(old: &[u64], new: &[u64]) -> Vec<Hunk> {
    let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let [old_rest, new_rest] = [&old[before..], &new[before..]];
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let [old_rest, new_rest] = [&old_rest[..old_rest.len() - after], &new_rest[..new_rest.len() - after]];
    if old_rest.is_empty() && new_rest.is_empty() {
        return Vec::new();
    }
    let all = || vec![Hunk { old: 0..old_rest.len(), new: 0..new_rest.len() }];
    let is_one_sided = old_rest.is_empty() || new_rest.is_empty();
    let mut hunks = if is_one_sided { all() } else { among_common(old_rest, new_rest).unwrap_or_else(all) };
    for Hunk { old, new } in &mut hunks {
        (*old, *new) = (old.start + before..old.end + before, new.start + before..new.end + before);
    }
    hunks
}

/// The hunks of a shortest script; `None` if it takes too many edits or steps. A digest that is in one list only is an edit
/// whatever the script is, so only the others are searched.
fn among_common(old: &[u64], new: &[u64]) -> Option<Vec<Hunk>> {
    let [old_set, new_set] = [old, new].map(|digests| digests.iter().copied().collect::<DigestSet>());
    let [old_at, new_at] = [(old, new_set), (new, old_set)]
        .map(|(digests, others)| (0..digests.len()).filter(|at| others.contains(&digests[*at])).collect::<Vec<_>>());
    let [old_common, new_common] =
        [(old, &old_at), (new, &new_at)].map(|(digests, at)| at.iter().map(|at| digests[*at]).collect::<Vec<_>>());
    let found = shortest(&old_common, &new_common)?;
    let mut hunks = Vec::with_capacity(found.len());
    let (mut done, mut common) = ((0, 0), (0, 0));
    // What is between two pairs that stay is a hunk.
    let mut pair = |old: usize, new: usize| {
        if done != (old, new) {
            hunks.push(Hunk { old: done.0..old, new: done.1..new });
        }
        done = (old + 1, new + 1);
    };
    for Hunk { old, new } in found {
        (common.0..old.start).zip(common.1..new.start).for_each(|(old, new)| pair(old_at[old], new_at[new]));
        common = (old.end, new.end);
    }
    (common.0..old_at.len()).zip(common.1..new_at.len()).for_each(|(old, new)| pair(old_at[old], new_at[new]));
    pair(old.len(), new.len());
    Some(hunks)
}

/// Digests are spread already, and no input knows them.
type DigestSet = HashSet<u64, BuildHasherDefault<AsItIs>>;

/// Takes a digest for its own hash.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, digest: u64) {
        self.0 = digest;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The hunks of a shortest script; `None` if it takes too many edits or steps.
fn shortest(old: &[u64], new: &[u64]) -> Option<Vec<Hunk>> {
    let search = EditGraph { old: old.len() as i64, new: new.len() as i64 };
    let edits_max = EDITS_MAX.min(old.len() + new.len()) as i64;
    let mut steps = 1_000_000 + STEPS_PER_ELEMENT * (old.len() + new.len());
    let mut rounds: Vec<Vec<i64>> = Vec::new();
    for edits in 0..=edits_max {
        let mut round = Vec::with_capacity(edits as usize + 1);
        for diagonal in (-edits..=edits).step_by(2) {
            let mut x = search.step(rounds.last(), edits, diagonal).map_or(NOWHERE, |(x, _)| x);
            while x != NOWHERE && x < search.old && x - diagonal < search.new {
                if old[x as usize] != new[(x - diagonal) as usize] {
                    break;
                }
                x += 1;
                steps = steps.checked_sub(1)?;
            }
            steps = steps.checked_sub(1)?;
            round.push(x);
            if x == search.old && x - diagonal == search.new {
                return Some(search.traced(&rounds, diagonal));
            }
        }
        rounds.push(round);
    }
    None
}

/// The diagonal is not reached with this number of edits.
const NOWHERE: i64 = -1;

/// The lengths of both lists. A place is `x` elements of the old list and `y` of the new one; its diagonal is `x - y`.
struct EditGraph {
    old: i64,
    new: i64,
}

impl EditGraph {
    /// The furthest `x` on a diagonal after one edit more than in the round before, and the diagonal that it comes from.
    fn step(&self, before: Option<&Vec<i64>>, edits: i64, diagonal: i64) -> Option<(i64, i64)> {
        let Some(before) = before else { return Some((0, 0)) };
        let at = |from: i64| {
            let index = usize::try_from(from + edits - 1).ok()? / 2;
            before.get(index).copied().filter(|x| *x != NOWHERE)
        };
        let inserted = at(diagonal + 1).filter(|x| x - diagonal <= self.new).map(|x| (x, diagonal + 1));
        let removed = at(diagonal - 1).filter(|x| *x < self.old).map(|x| (x + 1, diagonal - 1));
        inserted.max(removed)
    }

    /// Goes back along the path that ends on a diagonal in the round after these.
    fn traced(&self, rounds: &[Vec<i64>], mut diagonal: i64) -> Vec<Hunk> {
        let mut hunks: Vec<Hunk> = Vec::new();
        for edits in (1..=rounds.len() as i64).rev() {
            let before = rounds.get(edits as usize - 1);
            let Some((x, from)) = self.step(before, edits, diagonal) else { break };
            let (end, new_end) = (x as usize, (x - diagonal) as usize);
            let is_insert = from > diagonal;
            let (start, new_start) = if is_insert { (end, new_end - 1) } else { (end - 1, new_end) };
            match hunks.last_mut().filter(|hunk| (hunk.old.start, hunk.new.start) == (end, new_end)) {
                Some(hunk) => (hunk.old.start, hunk.new.start) = (start, new_start),
                None => hunks.push(Hunk { old: start..end, new: new_start..new_end }),
            }
            diagonal = from;
        }
        hunks.reverse();
        hunks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The number of edits of a shortest script, by the textbook's table.
    fn shortest_len(old: &[u64], new: &[u64]) -> usize {
        let mut row: Vec<usize> = (0..=new.len()).collect();
        for (at, element) in old.iter().enumerate() {
            let mut diagonal = core::mem::replace(&mut row[0], at + 1);
            for (column, other) in new.iter().enumerate() {
                let edits = if element == other { diagonal } else { 1 + row[column].min(row[column + 1]) };
                diagonal = core::mem::replace(&mut row[column + 1], edits);
            }
        }
        row[new.len()]
    }

    proptest! {
        #[test]
        fn hunks_are_all_that_differs_and_few(
            old in prop::collection::vec(0_u64..4, 0..30),
            new in prop::collection::vec(0_u64..4, 0..30),
        ) {
            let hunks = hunks(&old, &new);
            let (mut made, mut at) = (Vec::new(), 0);
            for hunk in &hunks {
                made.extend_from_slice(&old[at..hunk.old.start]);
                prop_assert_eq!(made.len(), hunk.new.start);
                made.extend_from_slice(&new[hunk.new.clone()]);
                at = hunk.old.end;
            }
            made.extend_from_slice(&old[at..]);
            prop_assert_eq!(&made, &new);
            let edits: usize = hunks.iter().map(|hunk| hunk.old.len() + hunk.new.len()).sum();
            prop_assert_eq!(edits, shortest_len(&old, &new));
        }
    }

    #[test]
    fn what_is_in_one_list_only_costs_no_search() {
        let old: Vec<u64> = (0..100_000).collect();
        let new: Vec<u64> = (0..100_000).map(|at| if at == 50_000 { at } else { at + 1_000_000 }).collect();
        let wanted = [0..50_000, 50_001..100_000].map(|range| Hunk { old: range.clone(), new: range });
        assert_eq!(hunks(&old, &new), wanted);
    }

    #[test]
    fn lists_in_another_order_are_one_hunk() {
        let old: Vec<u64> = (0..100_000).collect();
        let new: Vec<u64> = (0..100_000).rev().collect();
        assert_eq!(hunks(&old, &new), [Hunk { old: 0..100_000, new: 0..100_000 }]);
    }
}
