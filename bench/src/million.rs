//! A million objects, read in parts: shows what each step towards structs costs.

use std::fmt::Write;
use std::hint::black_box;

use serde::Deserialize;

use crate::peer::{Answer, Refusal};

/// How far a peer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Checks the text and keeps nothing.
    Validate,
    /// Builds the peer's tree.
    Tree,
    /// Builds the peer's tree, and structs from the tree.
    TreeStructs,
    /// Builds structs from the text.
    Structs,
    /// Builds the same structs without a text, which is the same for every peer.
    Made,
}

impl Part {
    /// The inputs of the task, in the order of the parts.
    pub(crate) const NAMES: &[&str] = &["validate", "tree", "tree-structs", "structs", "made"];

    /// The part with this input name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [Self::Validate, Self::Tree, Self::TreeStructs, Self::Structs, Self::Made];
        all.into_iter().zip(Self::NAMES).find_map(|(part, own)| (*own == name).then_some(part))
    }

    /// Whether the part returns structs, which are counted.
    pub(crate) fn counts(self) -> bool {
        matches!(self, Self::TreeStructs | Self::Structs | Self::Made)
    }
}

/// The number of objects in the text.
pub(crate) const LEN: usize = 1_000_000;

/// One of the objects.
#[derive(Debug, PartialEq, Deserialize)]
pub(crate) struct Hello<'a> {
    hi: u64,
    there: u64,
    comment: &'a str,
}

/// The text: 49 MB.
pub(crate) fn text() -> Vec<u8> {
    let mut text = String::from("[");
    for index in 0..LEN {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(text, "{comma}{{\"hi\":{index},\"there\":{index},\"comment\":\"comment\"}}");
    }
    text.push(']');
    text.into_bytes()
}

/// The structs, built without a text.
pub(crate) fn made() -> Vec<Hello<'static>> {
    (0..black_box(LEN) as u64).map(|index| Hello { hi: index, there: index, comment: black_box("comment") }).collect()
}

/// Counts the structs and drops them.
pub(crate) fn counted<E>(structs: Result<Vec<Hello<'_>>, E>) -> Answer<usize> {
    structs.map(|structs| black_box(structs).len()).map_err(Refusal::rejected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers;

    #[test]
    fn every_part_has_its_name() {
        let parts: Vec<_> = Part::NAMES.iter().filter_map(|name| Part::named(name)).collect();
        assert_eq!(parts, [Part::Validate, Part::Tree, Part::TreeStructs, Part::Structs, Part::Made]);
        assert_eq!(Part::named("million"), None);
    }

    #[test]
    fn what_is_made_is_what_the_text_holds() {
        let text = text();
        assert_eq!(text.len(), 48_777_781);
        assert!(serde_json::from_slice::<Vec<Hello<'_>>>(&text).is_ok_and(|read| read == made()));
    }

    #[test]
    fn every_peer_that_has_the_task_does_all_of_it() {
        let text = br#"[{"hi":0,"there":0,"comment":"comment"},{"hi":1,"there":1,"comment":"comment"}]"#;
        let mut peers_with_it = Vec::new();
        for entry in peers::ALL {
            let Ok(mut peer) = (entry.make)() else { continue };
            peer.load(&[text.to_vec()]);
            for part in Part::NAMES.iter().filter_map(|name| Part::named(name)) {
                let wanted = if part == Part::Made { LEN } else { 2 };
                match peer.million(0, part) {
                    Ok(len) => assert!(!part.counts() || len == wanted, "{} {part:?}", entry.name),
                    Err(Refusal::NotDone) => break,
                    Err(Refusal::Rejected) => panic!("{} refuses it", entry.name),
                }
                if part == Part::Made {
                    peers_with_it.push(entry.name);
                }
            }
        }
        assert_eq!(peers_with_it, ["jird", "sonic-rs", "serde_json"]);
    }
}
