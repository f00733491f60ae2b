//! The order of a round.

/// The indices of all contestants, in the order in which they work in this round.
///
/// Neighbours with equal keys are counterparts and stay together, so that a slow phase of the host slows them alike.
/// Each round begins with another group, and each group with another of its members.
pub(crate) fn order<K: PartialEq>(keys: &[K], round: usize) -> Vec<usize> {
    let indices: Vec<usize> = (0..keys.len()).collect();
    let mut groups: Vec<Vec<usize>> = indices.chunk_by(|&a, &b| keys[a] == keys[b]).map(<[usize]>::to_vec).collect();
    if groups.is_empty() {
        return indices;
    }
    let first = round % groups.len();
    groups.rotate_left(first);
    for group in &mut groups {
        let first = round % group.len();
        group.rotate_left(first);
    }
    groups.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_counterparts_each_round_begins_with_the_next_contestant() {
        assert_eq!(order(&["a", "b", "c"], 0), [0, 1, 2]);
        assert_eq!(order(&["a", "b", "c"], 1), [1, 2, 0]);
        assert_eq!(order(&["a", "b", "c"], 5), [2, 0, 1]);
        assert_eq!(order::<&str>(&[], 3), [0; 0]);
    }

    #[test]
    fn counterparts_follow_each_other_and_take_turns_at_being_first() {
        let keys = ["jird", "jird", "jird-lines", "jird-lines", "simdjson"];
        assert_eq!(order(&keys, 0), [0, 1, 2, 3, 4]);
        assert_eq!(order(&keys, 1), [3, 2, 4, 1, 0]);
        assert_eq!(order(&keys, 2), [4, 0, 1, 2, 3]);
        assert_eq!(order(&keys[..2], 7), [1, 0]);
    }
}
