//! What a text stands for: one of a few names, or of many.

use crate::raw::keys::is_same;
use std::collections::HashMap;

/// Things by their names.
pub(super) struct ByText<T> {
    things: Vec<(Box<[u8]>, T)>,
    /// The indexes of things.
    indexes: HashMap<Box<[u8]>, usize>,
}

/// As many names are compared one by one: that takes less time than a hash of the text.
const FEW_MAX: usize = 8;

impl<T> ByText<T> {
    /// Adds a name, or replaces what it stands for.
    pub(super) fn insert(&mut self, name: &str, thing: T) {
        let name = Box::<[u8]>::from(name.as_bytes());
        if let Some(&index) = self.indexes.get(&name) {
            self.things[index].1 = thing;
        } else {
            self.indexes.insert(name.clone(), self.things.len());
            self.things.push((name, thing));
        }
    }

    /// What the text stands for.
    #[inline]
    pub(super) fn get(&self, text: &[u8]) -> Option<&T> {
        if self.things.len() <= FEW_MAX {
            return self.things.iter().find(|(name, _)| is_same(name, text)).map(|(_, thing)| thing);
        }
        self.indexes.get(text).map(|&index| &self.things[index].1)
    }
}

impl<T> Default for ByText<T> {
    fn default() -> Self {
        Self { things: Vec::new(), indexes: HashMap::new() }
    }
}
