//! Digests of values: equal values have equal ones, and others almost never have.

use crate::patch::equal::name;
use crate::tape::{Document, Kind, Value};
use std::hash::{BuildHasher, RandomState};

/// The digests of all values of a document.
#[derive(Debug)]
pub(super) struct Digests<'d> {
    document: &'d Document<'d>,
    /// By the place of the value.
    digests: Vec<u64>,
}

impl<'d> Digests<'d> {
    /// Takes time linear in the document, and no stack. An input cannot know the digests, which depend on `random`.
    pub(super) fn of(document: &'d Document<'d>, random: &RandomState) -> Self {
        let root = document.root();
        let mut this = Self { document, digests: vec![0; document.place_behind(root)] };
        let (mut containers, mut scratch, mut order) = (Vec::new(), String::new(), Vec::new());
        for value in root.descendants() {
            if value.kind().is_container() {
                containers.push(value);
                continue;
            }
            let kind = value.kind() as u8;
            this.digests[document.place_of(value)] = match value.kind() {
                Kind::String => random.hash_one((kind, value.str_in(&mut scratch))),
                Kind::Number => {
                    order.clear();
                    if let Some(number) = value.as_number() {
                        number.order_key(&mut order);
                    }
                    random.hash_one((kind, &order))
                }
                _ => random.hash_one((kind, value.as_bool())),
            };
        }
        // What is in a container comes after it.
        for container in containers.into_iter().rev() {
            this.digests[document.place_of(container)] = this.of_container(container, random);
        }
        this
    }

    fn of_container(&self, container: Value<'_>, random: &RandomState) -> u64 {
        let kind = container.kind() as u8;
        if container.kind() == Kind::Array {
            let add = |sum, element| random.hash_one((sum, self.of_value(element)));
            return container.elements().fold(random.hash_one((kind, container.len())), add);
        }
        // The order of members has no meaning.
        let members =
            container.entries().map(|(key, value)| random.hash_one((self.of_value(key), self.of_value(value))));
        random.hash_one((kind, members.fold(0, u64::wrapping_add)))
    }

    pub(super) fn of_value(&self, value: Value<'_>) -> u64 {
        self.digests[self.document.place_of(value)]
    }
}

/// Whether a key occurs twice in an object.
pub(super) fn repeats_a_key(object: Value<'_>) -> bool {
    let mut keys: Vec<_> = object.entries().map(|(key, _)| name(key)).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}
