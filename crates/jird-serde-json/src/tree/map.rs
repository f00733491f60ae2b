//! A map of strings to values: the members of an object.
//!
//! Members are sorted by their keys, or with the feature `preserve_order` kept in the order of insertion.

use crate::error::Error;
use crate::tree::Value;
use core::borrow::Borrow;
use core::fmt::{self, Debug};
use core::hash::{Hash, Hasher};
use core::iter::FusedIterator;
use core::ops;
#[cfg(feature = "preserve_order")]
use indexmap::map as inner;
use serde_core::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_core::ser::{Serialize, Serializer};
#[cfg(not(feature = "preserve_order"))]
use std::collections::btree_map as inner;

#[cfg(not(feature = "preserve_order"))]
type Inner<K, V> = std::collections::BTreeMap<K, V>;
#[cfg(feature = "preserve_order")]
type Inner<K, V> = indexmap::IndexMap<K, V>;

/// The members of an object.
///
/// ```
/// use jird_serde_json::{Map, Value, json};
/// let mut map = Map::new();
/// map.insert("b".to_owned(), json!(2));
/// map.insert("a".to_owned(), json!([1]));
/// assert_eq!(map["a"], json!([1]));
/// assert_eq!(Value::Object(map).to_string(), r#"{"a":[1],"b":2}"#);
/// ```
pub struct Map<K, V> {
    map: Inner<K, V>,
}

impl Map<String, Value> {
    /// No members.
    #[inline]
    pub fn new() -> Self {
        Self { map: Inner::new() }
    }

    /// No members; with the feature `preserve_order`, room for `capacity` of them.
    #[inline]
    pub fn with_capacity(capacity: usize) -> Self {
        #[cfg(not(feature = "preserve_order"))]
        let (map, _) = (Inner::new(), capacity);
        #[cfg(feature = "preserve_order")]
        let map = Inner::with_capacity(capacity);
        Self { map }
    }

    /// The map of members; the last one counts if a key is repeated. Faster than inserting them one by one.
    #[inline]
    pub(crate) fn of_members(members: Vec<(String, Value)>) -> Self {
        Self { map: members.into_iter().collect() }
    }

    /// Removes all members.
    #[inline]
    pub fn clear(&mut self) {
        self.map.clear();
    }

    /// The value of a key.
    #[inline]
    pub fn get<Q>(&self, key: &Q) -> Option<&Value>
    where
        String: Borrow<Q>,
        Q: ?Sized + Ord + Eq + Hash,
    {
        self.map.get(key)
    }

    /// Whether there is a member with this key.
    #[inline]
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        String: Borrow<Q>,
        Q: ?Sized + Ord + Eq + Hash,
    {
        self.map.contains_key(key)
    }

    /// The value of a key, to be changed.
    #[inline]
    pub fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut Value>
    where
        String: Borrow<Q>,
        Q: ?Sized + Ord + Eq + Hash,
    {
        self.map.get_mut(key)
    }

    /// The member of a key.
    #[inline]
    pub fn get_key_value<Q>(&self, key: &Q) -> Option<(&String, &Value)>
    where
        String: Borrow<Q>,
        Q: ?Sized + Ord + Eq + Hash,
    {
        self.map.get_key_value(key)
    }

    /// Sets the value of a key, and returns the one that it had.
    #[inline]
    pub fn insert(&mut self, k: String, v: Value) -> Option<Value> {
        self.map.insert(k, v)
    }

    /// Sets the value of a key, and moves the member to a place in the order.
    ///
    /// # Panics
    /// If there is no such place.
    #[cfg(feature = "preserve_order")]
    #[inline]
    pub fn shift_insert(&mut self, index: usize, k: String, v: Value) -> Option<Value> {
        self.map.shift_insert(index, k, v)
    }

    /// Removes a key, and returns its value. With the feature `preserve_order`, the last member takes its place.
    #[inline]
    pub fn remove<Q>(&mut self, key: &Q) -> Option<Value>
    where
        String: Borrow<Q>,
        Q: ?Sized + Ord + Eq + Hash,
    {
        #[cfg(not(feature = "preserve_order"))]
        return self.map.remove(key);
        #[cfg(feature = "preserve_order")]
        return self.map.swap_remove(key);
    }

    /// As [`remove`](Self::remove), and returns the key too.
    #[inline]
    pub fn remove_entry<Q>(&mut self, key: &Q) -> Option<(String, Value)>
    where
        String: Borrow<Q>,
        Q: ?Sized + Ord + Eq + Hash,
    {
        #[cfg(not(feature = "preserve_order"))]
        return self.map.remove_entry(key);
        #[cfg(feature = "preserve_order")]
        return self.map.swap_remove_entry(key);
    }

    /// Moves the members of another map into this one.
    #[inline]
    pub fn append(&mut self, other: &mut Self) {
        #[cfg(not(feature = "preserve_order"))]
        self.map.append(&mut other.map);
        #[cfg(feature = "preserve_order")]
        self.map.extend(core::mem::take(&mut other.map));
    }

    /// The place of a key, with or without a value.
    ///
    /// ```
    /// # use jird_serde_json::{Map, json};
    /// let mut map = Map::new();
    /// map.entry("n").or_insert(json!(1));
    /// map.entry("n").and_modify(|n| *n = json!(2)).or_insert(json!(1));
    /// assert_eq!(map["n"], 2);
    /// ```
    pub fn entry<S>(&mut self, key: S) -> Entry<'_>
    where
        S: Into<String>,
    {
        match self.map.entry(key.into()) {
            inner::Entry::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant }),
            inner::Entry::Occupied(occupied) => Entry::Occupied(OccupiedEntry { occupied }),
        }
    }

    /// The number of members.
    #[inline]
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are no members.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The members.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter { iter: self.map.iter() }
    }

    /// The members, with values to be changed.
    #[inline]
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        IterMut { iter: self.map.iter_mut() }
    }

    /// The keys.
    #[inline]
    pub fn keys(&self) -> Keys<'_> {
        Keys { iter: self.map.keys() }
    }

    /// The values.
    #[inline]
    pub fn values(&self) -> Values<'_> {
        Values { iter: self.map.values() }
    }

    /// The values, to be changed.
    #[inline]
    pub fn values_mut(&mut self) -> ValuesMut<'_> {
        ValuesMut { iter: self.map.values_mut() }
    }

    /// The values, without the keys.
    #[inline]
    pub fn into_values(self) -> IntoValues {
        IntoValues { iter: self.map.into_values() }
    }

    /// Keeps the members for which `f` returns true.
    #[inline]
    pub fn retain<F>(&mut self, f: F)
    where
        F: FnMut(&String, &mut Value) -> bool,
    {
        self.map.retain(f);
    }

    /// Sorts the members by their keys. Without the feature `preserve_order` they are sorted anyway.
    #[inline]
    pub fn sort_keys(&mut self) {
        #[cfg(feature = "preserve_order")]
        self.map.sort_unstable_keys();
    }
}

/// What only a map in the order of insertion has.
#[cfg(feature = "preserve_order")]
impl Map<String, Value> {
    /// Removes a key; the last member takes its place.
    pub fn swap_remove<Q>(&mut self, key: &Q) -> Option<Value>
    where
        String: Borrow<Q>,
        Q: ?Sized + Ord + Eq + Hash,
    {
        self.map.swap_remove(key)
    }

    /// As [`swap_remove`](Self::swap_remove), and returns the key too.
    pub fn swap_remove_entry<Q>(&mut self, key: &Q) -> Option<(String, Value)>
    where
        String: Borrow<Q>,
        Q: ?Sized + Ord + Eq + Hash,
    {
        self.map.swap_remove_entry(key)
    }

    /// Removes a key; the members after it move up. Takes time linear in their number.
    pub fn shift_remove<Q>(&mut self, key: &Q) -> Option<Value>
    where
        String: Borrow<Q>,
        Q: ?Sized + Ord + Eq + Hash,
    {
        self.map.shift_remove(key)
    }

    /// As [`shift_remove`](Self::shift_remove), and returns the key too.
    pub fn shift_remove_entry<Q>(&mut self, key: &Q) -> Option<(String, Value)>
    where
        String: Borrow<Q>,
        Q: ?Sized + Ord + Eq + Hash,
    {
        self.map.shift_remove_entry(key)
    }
}

impl Default for Map<String, Value> {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Map<String, Value> {
    #[inline]
    fn clone(&self) -> Self {
        Self { map: self.map.clone() }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        self.map.clone_from(&source.map);
    }
}

impl PartialEq for Map<String, Value> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}

impl Eq for Map<String, Value> {}

impl Hash for Map<String, Value> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        #[cfg(not(feature = "preserve_order"))]
        self.map.hash(state);
        #[cfg(feature = "preserve_order")]
        {
            let mut members: Vec<_> = self.map.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            members.hash(state);
        }
    }
}

impl<Q> ops::Index<&Q> for Map<String, Value>
where
    String: Borrow<Q>,
    Q: ?Sized + Ord + Eq + Hash,
{
    type Output = Value;

    fn index(&self, index: &Q) -> &Value {
        self.map.get(index).expect("no entry found for key")
    }
}

impl<Q> ops::IndexMut<&Q> for Map<String, Value>
where
    String: Borrow<Q>,
    Q: ?Sized + Ord + Eq + Hash,
{
    fn index_mut(&mut self, index: &Q) -> &mut Value {
        self.map.get_mut(index).expect("no entry found for key")
    }
}

impl Debug for Map<String, Value> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.map.fmt(f)
    }
}

impl Serialize for Map<String, Value> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde_core::ser::SerializeMap;
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Map<String, Value> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MapVisitor)
    }
}

struct MapVisitor;

impl<'de> Visitor<'de> for MapVisitor {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    #[inline]
    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Map::new())
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        members_of(members, Vec::new())
    }
}

/// Reads the members that are left after `read`.
#[inline]
pub(crate) fn members_of<'de, A: MapAccess<'de>>(
    mut members: A,
    mut read: Vec<(String, Value)>,
) -> Result<Map<String, Value>, A::Error> {
    /// Enough for most objects; a larger hint may be wrong.
    const HINT_MAX: usize = 1 << 16;
    read.reserve(members.size_hint().unwrap_or(0).min(HINT_MAX));
    while let Some(key) = members.next_key()? {
        read.push((key, members.next_value()?));
    }
    Ok(Map::of_members(read))
}

impl FromIterator<(String, Value)> for Map<String, Value> {
    fn from_iter<T: IntoIterator<Item = (String, Value)>>(iter: T) -> Self {
        Self { map: iter.into_iter().collect() }
    }
}

impl Extend<(String, Value)> for Map<String, Value> {
    fn extend<T: IntoIterator<Item = (String, Value)>>(&mut self, iter: T) {
        self.map.extend(iter);
    }
}

impl de::IntoDeserializer<'_, Error> for Map<String, Value> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> de::IntoDeserializer<'de, Error> for &'de Map<String, Value> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The place of a key: [`Map::entry`] returns it.
pub enum Entry<'a> {
    /// The key has no value.
    Vacant(VacantEntry<'a>),
    /// The key has a value.
    Occupied(OccupiedEntry<'a>),
}

/// The place of a key that has no value.
pub struct VacantEntry<'a> {
    vacant: inner::VacantEntry<'a, String, Value>,
}

/// The place of a key that has a value.
pub struct OccupiedEntry<'a> {
    occupied: inner::OccupiedEntry<'a, String, Value>,
}

impl<'a> Entry<'a> {
    /// The key.
    pub fn key(&self) -> &String {
        match self {
            Entry::Vacant(entry) => entry.key(),
            Entry::Occupied(entry) => entry.key(),
        }
    }

    /// The value, which is `default` if there was none.
    pub fn or_insert(self, default: Value) -> &'a mut Value {
        self.or_insert_with(|| default)
    }

    /// The value, which `default` makes if there was none.
    pub fn or_insert_with<F>(self, default: F) -> &'a mut Value
    where
        F: FnOnce() -> Value,
    {
        match self {
            Entry::Vacant(entry) => entry.insert(default()),
            Entry::Occupied(entry) => entry.into_mut(),
        }
    }

    /// Changes the value, if there is one.
    #[allow(clippy::return_self_not_must_use, reason = "it need not be used further")]
    pub fn and_modify<F>(self, f: F) -> Self
    where
        F: FnOnce(&mut Value),
    {
        match self {
            Entry::Occupied(mut entry) => {
                f(entry.get_mut());
                Entry::Occupied(entry)
            }
            vacant @ Entry::Vacant(_) => vacant,
        }
    }
}

impl<'a> VacantEntry<'a> {
    /// The key.
    #[inline]
    pub fn key(&self) -> &String {
        self.vacant.key()
    }

    /// Sets the value.
    #[inline]
    pub fn insert(self, value: Value) -> &'a mut Value {
        self.vacant.insert(value)
    }
}

impl<'a> OccupiedEntry<'a> {
    /// The key.
    #[inline]
    pub fn key(&self) -> &String {
        self.occupied.key()
    }

    /// The value.
    #[inline]
    pub fn get(&self) -> &Value {
        self.occupied.get()
    }

    /// The value, to be changed.
    #[inline]
    pub fn get_mut(&mut self) -> &mut Value {
        self.occupied.get_mut()
    }

    /// The value, to be changed as long as the map is borrowed.
    #[inline]
    pub fn into_mut(self) -> &'a mut Value {
        self.occupied.into_mut()
    }

    /// Sets the value, and returns the one before.
    #[inline]
    pub fn insert(&mut self, value: Value) -> Value {
        self.occupied.insert(value)
    }

    /// Removes the member, and returns its value. With the feature `preserve_order`, the last member takes its place.
    #[inline]
    pub fn remove(self) -> Value {
        self.remove_entry().1
    }

    /// As [`remove`](Self::remove), and returns the key too.
    #[inline]
    pub fn remove_entry(self) -> (String, Value) {
        #[cfg(not(feature = "preserve_order"))]
        return self.occupied.remove_entry();
        #[cfg(feature = "preserve_order")]
        return self.occupied.swap_remove_entry();
    }
}

/// What only a map in the order of insertion has.
#[cfg(feature = "preserve_order")]
impl OccupiedEntry<'_> {
    /// Removes the member; the last member takes its place.
    pub fn swap_remove(self) -> Value {
        self.occupied.swap_remove()
    }

    /// Removes the member; the members after it move up.
    pub fn shift_remove(self) -> Value {
        self.occupied.shift_remove()
    }

    /// As [`swap_remove`](Self::swap_remove), and returns the key too.
    pub fn swap_remove_entry(self) -> (String, Value) {
        self.occupied.swap_remove_entry()
    }

    /// As [`shift_remove`](Self::shift_remove), and returns the key too.
    pub fn shift_remove_entry(self) -> (String, Value) {
        self.occupied.shift_remove_entry()
    }
}

macro_rules! iterators {
    ($($(#[$doc:meta])* $name:ident $(<$life:lifetime>)?: $inner:ty => $item:ty;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $name $(<$life>)? {
                iter: $inner,
            }

            impl $(<$life>)? Iterator for $name $(<$life>)? {
                type Item = $item;

                #[inline]
                fn next(&mut self) -> Option<$item> {
                    self.iter.next()
                }

                #[inline]
                fn size_hint(&self) -> (usize, Option<usize>) {
                    self.iter.size_hint()
                }
            }

            impl $(<$life>)? DoubleEndedIterator for $name $(<$life>)? {
                #[inline]
                fn next_back(&mut self) -> Option<$item> {
                    self.iter.next_back()
                }
            }

            impl $(<$life>)? ExactSizeIterator for $name $(<$life>)? {
                #[inline]
                fn len(&self) -> usize {
                    self.iter.len()
                }
            }

            impl $(<$life>)? FusedIterator for $name $(<$life>)? {}
        )*
    };
}
iterators! {
    /// The members of a map.
    Iter<'a>: inner::Iter<'a, String, Value> => (&'a String, &'a Value);
    /// The members of a map, with values to be changed.
    IterMut<'a>: inner::IterMut<'a, String, Value> => (&'a String, &'a mut Value);
    /// The members of a map, owned.
    IntoIter: inner::IntoIter<String, Value> => (String, Value);
    /// The keys of a map.
    Keys<'a>: inner::Keys<'a, String, Value> => &'a String;
    /// The values of a map.
    Values<'a>: inner::Values<'a, String, Value> => &'a Value;
    /// The values of a map, to be changed.
    ValuesMut<'a>: inner::ValuesMut<'a, String, Value> => &'a mut Value;
    /// The values of a map, owned.
    IntoValues: inner::IntoValues<String, Value> => Value;
}

macro_rules! cloned {
    ($($name:ident)*) => {
        $(
            impl Clone for $name<'_> {
                fn clone(&self) -> Self {
                    Self { iter: self.iter.clone() }
                }
            }
        )*
    };
}
cloned!(Iter Keys Values);

impl<'a> IntoIterator for &'a Map<String, Value> {
    type Item = (&'a String, &'a Value);
    type IntoIter = Iter<'a>;

    #[inline]
    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Map<String, Value> {
    type Item = (&'a String, &'a mut Value);
    type IntoIter = IterMut<'a>;

    #[inline]
    fn into_iter(self) -> IterMut<'a> {
        self.iter_mut()
    }
}

impl IntoIterator for Map<String, Value> {
    type Item = (String, Value);
    type IntoIter = IntoIter;

    #[inline]
    fn into_iter(self) -> IntoIter {
        IntoIter { iter: self.map.into_iter() }
    }
}
