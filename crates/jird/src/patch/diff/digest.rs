//! Digests of values: equal values have equal ones, and others almost never have. Whoever relies on equality looks at the
//! values too.

use crate::patch::equal::{are_equal, name};
use crate::tape::{Document, Kind, Value};
use std::hash::{BuildHasher, RandomState};

/// The secret of a comparison: no input knows it, so none can be made whose digests collide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Secret([u64; 3]);

impl Secret {
    pub(super) fn new() -> Self {
        let random = RandomState::new();
        Self([0_u8, 1, 2].map(|index| random.hash_one(index)))
    }

    /// The digest of some bytes. A product of two numbers that the secret is part of, folded, takes sixteen bytes.
    fn of_bytes(self, kind: u8, bytes: &[u8]) -> u64 {
        let (chunks, rest) = bytes.as_chunks::<16>();
        let mut sum = self.of_two(u64::from(kind), bytes.len() as u64);
        for chunk in chunks {
            sum = self.add(sum, chunk);
        }
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        self.add(sum, &last)
    }

    #[inline(always)]
    fn add(self, sum: u64, bytes: &[u8; 16]) -> u64 {
        let [low, high] = [0, 8].map(|at| u64::from_le_bytes(core::array::from_fn(|byte| bytes[at + byte])));
        folded(low ^ self.0[0], high ^ sum)
    }

    /// The digest of two numbers, whose order has a meaning.
    #[inline(always)]
    fn of_two(self, one: u64, other: u64) -> u64 {
        folded(folded(one ^ self.0[1], self.0[0]) ^ other, self.0[2])
    }
}

#[inline(always)]
fn folded(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// The digests of all values of a document.
#[derive(Debug)]
pub(super) struct Digests<'d> {
    document: &'d Document<'d>,
    /// By the place of the value.
    digests: Vec<u64>,
}

impl<'d> Digests<'d> {
    /// Takes time linear in the document, and no stack.
    pub(super) fn of(document: &'d Document<'d>, secret: Secret) -> Self {
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
                Kind::String => secret.of_bytes(kind, value.str_in(&mut scratch).unwrap_or_default().as_bytes()),
                Kind::Number => {
                    order.clear();
                    if let Some(number) = value.as_number() {
                        number.order_key(&mut order);
                    }
                    secret.of_bytes(kind, &order)
                }
                _ => secret.of_two(u64::from(kind), value.as_bool().map_or(2, u64::from)),
            };
        }
        // What is in a container comes after it.
        for container in containers.into_iter().rev() {
            this.digests[document.place_of(container)] = this.of_container(container, secret);
        }
        this
    }

    fn of_container(&self, container: Value<'_>, secret: Secret) -> u64 {
        let kind = u64::from(container.kind() as u8);
        if container.kind() == Kind::Array {
            let add = |sum, element| secret.of_two(sum, self.of_value(element));
            return container.elements().fold(secret.of_two(kind, container.len() as u64), add);
        }
        // The order of members has no meaning.
        let members = container.entries().map(|(key, value)| secret.of_two(self.of_value(key), self.of_value(value)));
        secret.of_two(kind, members.fold(0, u64::wrapping_add))
    }

    pub(super) fn of_value(&self, value: Value<'_>) -> u64 {
        self.digests[self.document.place_of(value)]
    }
}

/// Whether two values are equal. Of values that are not, the digests tell almost always.
pub(super) fn is_same<'d>((old, one): (&Digests<'d>, Value<'d>), (new, other): (&Digests<'d>, Value<'d>)) -> bool {
    old.of_value(one) == new.of_value(other) && (one.raw() == other.raw() || are_equal(one, other))
}

/// An object with so few members is searched for a repeated key pair by pair.
const PAIRS_MAX: usize = 12;

/// Whether a key occurs twice in an object.
pub(super) fn repeats_a_key(object: Value<'_>) -> bool {
    let len = object.len();
    if len <= PAIRS_MAX {
        let mut keys = [&b""[..]; PAIRS_MAX];
        object.entries().zip(&mut keys).for_each(|((key, _), raw)| *raw = key.raw());
        let keys = &keys[..len];
        // Without escapes, a key has one text.
        if keys.iter().all(|key| !key.contains(&b'\\')) {
            return (1..len).any(|at| keys[..at].contains(&keys[at]));
        }
    }
    let mut keys: Vec<_> = object.entries().map(|(key, _)| name(key)).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}
