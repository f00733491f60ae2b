//! Patches (RFC 6902), applied.

use super::equal::are_equal;
use super::operation::{Operation, Patch, Verb};
use crate::edit::{DocumentMut, EditError, EditErrorKind, Leaf, Pointer, shown};

/// A `test` may compare this many times the bytes of its own value before it counts as copying.
const TEST_RATIO: usize = 16;

impl<'a> DocumentMut<'a> {
    /// Applies a patch: all of its operations, one after the other. Each sees what those before it have done.
    ///
    /// # Errors
    /// The first operation that cannot be applied, or whose `test` fails. The document is gone then, so that no part of a
    /// patch is ever applied; a [clone](DocumentMut::clone) from before costs little.
    pub fn apply(mut self, patch: &'a Patch<'a>) -> Result<Self, EditError> {
        let text = self.overlay.texts.lend(&patch.document, true);
        self.overlay.given += patch.document.text().len();
        for (index, operation) in patch.operations.iter().enumerate() {
            self.operate(operation, text)
                .map_err(|error| error.of_operation(index).at(operation.verb.name(), operation.path.text()))?;
        }
        Ok(self)
    }

    fn operate(&mut self, operation: &Operation, text: usize) -> Result<(), EditError> {
        let path = &operation.path;
        match &operation.verb {
            Verb::Add(place) => self.add_at(path, Leaf { text, place: *place }),
            Verb::Remove => self.remove_at(path),
            Verb::Replace(place) => self.replace_at(path, Leaf { text, place: *place }),
            Verb::Move(from) => self.move_at(from, path),
            Verb::Copy(from) => self.copy_at(from, path),
            Verb::Test(place) => self.test(path, Leaf { text, place: *place }),
        }
    }

    fn test(&mut self, path: &Pointer<'_>, wanted: Leaf) -> Result<(), EditError> {
        let found = self.overlay.find(path, false)?;
        let found = self.settle_at(found)?;
        let [value, wanted] = [found, wanted].map(|leaf| self.overlay.texts.value(leaf));
        let is_worth_it = value.kind() == wanted.kind() && value.len() == wanted.len();
        let excess = value.raw().len().saturating_sub(TEST_RATIO * wanted.raw().len());
        if is_worth_it && are_equal(value, wanted) {
            // Otherwise white space and zeros could make each of many short tests read megabytes.
            return self.charge(excess);
        }
        let [value, wanted] = [value, wanted].map(|value| shown(value.raw_str().unwrap_or_default()));
        Err(EditError::new(EditErrorKind::Test, format!("the value is {value}, and the test wants {wanted}")))
    }
}
