//! The peers.

use crate::{Deed, Edit, Step};

/// Reads a text, edits it, and returns the text that it wrote.
pub(crate) type Run = fn(&[u8], &[Edit]) -> Vec<u8>;

pub(crate) const PEERS: &[(&str, Run)] = &[
    ("serde_json", in_serde_json),
    ("jird-serde-json", in_dropin),
    ("sonic-rs", in_sonic_rs),
    ("simd-json", in_simd_json),
    ("jird", in_jird),
];

fn in_jird(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut document = jird::edit::DocumentMut::parse(text).expect("JSON");
    for edit in edits {
        match edit.deed {
            Deed::Set(value) | Deed::Push(value) => document.set(&edit.pointer, value),
            Deed::Remove => document.remove(&edit.pointer),
        }
        .expect("the edit can be done");
    }
    document.to_vec().expect("it can be written")
}

/// The same for the two trees with the names of `serde_json`; one removes the member of a sorted map, the other keeps the
/// order of those behind it.
macro_rules! in_tree {
    ($name:ident, $krate:ident, $remove:ident) => {
        fn $name(text: &[u8], edits: &[Edit]) -> Vec<u8> {
            let mut tree: $krate::Value = $krate::from_slice(text).expect("JSON");
            for Edit { deed, above, last, .. } in edits {
                let parent = above.iter().fold(&mut tree, |value, step| match step {
                    Step::Key(key) => &mut value[key.as_str()],
                    Step::Index(index) => &mut value[*index],
                });
                match (deed, last) {
                    (Deed::Set(value), Step::Key(key)) => parent[key.as_str()] = (*value).into(),
                    (Deed::Set(value), Step::Index(index)) => parent[*index] = (*value).into(),
                    (Deed::Remove, Step::Key(key)) => _ = parent.as_object_mut().expect("an object").$remove(key),
                    (Deed::Push(value), _) => parent.as_array_mut().expect("an array").push((*value).into()),
                    (Deed::Remove, Step::Index(_)) => unreachable!("only members are removed"),
                }
            }
            $krate::to_vec(&tree).expect("it can be written")
        }
    };
}

in_tree!(in_serde_json, serde_json, shift_remove);
in_tree!(in_dropin, jird_serde_json, remove);

fn in_sonic_rs(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    use sonic_rs::JsonValueMutTrait;
    let mut tree: sonic_rs::Value = sonic_rs::from_slice(text).expect("JSON");
    for Edit { deed, above, last, .. } in edits {
        let parent = above.iter().fold(&mut tree, |value, step| {
            match step {
                Step::Key(key) => value.get_mut(key.as_str()),
                Step::Index(index) => value.get_mut(*index),
            }
            .expect("the path is there")
        });
        match (deed, last) {
            (Deed::Set(value), Step::Key(key)) => _ = parent.as_object_mut().expect("an object").insert(key, *value),
            (Deed::Set(value), Step::Index(index)) => parent[*index] = (*value).into(),
            (Deed::Remove, Step::Key(key)) => _ = parent.as_object_mut().expect("an object").remove(key),
            (Deed::Push(value), _) => parent.as_array_mut().expect("an array").push(*value),
            (Deed::Remove, Step::Index(_)) => unreachable!("only members are removed"),
        }
    }
    sonic_rs::to_vec(&tree).expect("it can be written")
}

/// It reads a text in place, so the text is copied first.
fn in_simd_json(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    use simd_json::prelude::*;
    let mut copy = text.to_vec();
    let mut tree = simd_json::to_borrowed_value(&mut copy).expect("JSON");
    for Edit { deed, above, last, .. } in edits {
        let parent = above.iter().fold(&mut tree, |value, step| {
            match step {
                Step::Key(key) => value.get_mut(key.as_str()),
                Step::Index(index) => value.get_idx_mut(*index),
            }
            .expect("the path is there")
        });
        match (deed, last) {
            (Deed::Set(value), Step::Key(key)) => {
                _ = parent.as_object_mut().expect("an object").insert(key.clone().into(), (*value).into());
            }
            (Deed::Set(value), Step::Index(index)) => {
                *parent.get_idx_mut(*index).expect("it is there") = (*value).into()
            }
            (Deed::Remove, Step::Key(key)) => _ = parent.as_object_mut().expect("an object").remove(key.as_str()),
            (Deed::Push(value), _) => parent.as_array_mut().expect("an array").push((*value).into()),
            (Deed::Remove, Step::Index(_)) => unreachable!("only members are removed"),
        }
    }
    tree.encode().into_bytes()
}
