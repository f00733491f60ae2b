//! The fields at which a reader looks, and the shape of a document that has these and no others.

use jird::Path;
use jird::record::Step;

/// The fields at which a reader looks: if all of them are columns of a block, lines of its cells serve the reader as the
/// documents do.
///
/// ```
/// use jird::Path;
/// use jird_store::Fields;
/// let level = Path::root().key("Level");
/// let fields = Fields::new([level.clone()]).expect("a field of an object may be a column");
/// assert!(fields.cover(&[level]) && !fields.cover(&[Path::root()]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    paths: Vec<Path>,
    pub(super) shape: Shape,
}

/// A document that has some fields and no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The value at the path with this number.
    Value(usize),
    /// Members, each with its key as JSON and a colon.
    Object(Vec<(String, Shape)>),
}

impl Fields {
    /// The fields at some paths. `None` if no document has just these: elements of arrays are at no fixed place, and a
    /// field that lies in another is a part of it.
    pub fn new(paths: impl IntoIterator<Item = Path>) -> Option<Self> {
        let mut fields = Self { paths: Vec::new(), shape: Shape::Object(Vec::new()) };
        for path in paths {
            if !fields.paths.contains(&path) {
                fields.shape.add(path.steps(), fields.paths.len())?;
                fields.paths.push(path);
            }
        }
        Some(fields)
    }

    /// The paths, each once.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Whether a reader that looks at these paths looks at nothing else than these fields.
    pub fn cover(&self, paths: &[Path]) -> bool {
        paths.iter().all(|path| self.paths.contains(path))
    }
}

impl Shape {
    fn add(&mut self, steps: &[Step], value: usize) -> Option<()> {
        let (Self::Object(members), [Step::Key(key), rest @ ..]) = (self, steps) else { return None };
        let key = format!("{}:", jird::hooks::quoted(key));
        let known = members.iter().position(|(other, _)| *other == key);
        match (known, rest) {
            // A field, and another one in it.
            (Some(_), []) => return None,
            (Some(known), rest) => members[known].1.add(rest, value)?,
            (None, []) => members.push((key, Self::Value(value))),
            (None, rest) => {
                let mut inner = Self::Object(Vec::new());
                inner.add(rest, value)?;
                members.push((key, inner));
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_in_another_and_an_element_have_no_shape() {
        let path = |keys: &[&str]| keys.iter().fold(Path::root(), |path, key| path.key(*key));
        let is_shape = |paths: &[Path]| Fields::new(paths.iter().cloned()).is_some();
        assert!(is_shape(&[]));
        assert!(is_shape(&[path(&["a", "b"]), path(&["a", "c"]), path(&["b"]), path(&["b"])]));
        assert!(!is_shape(&[path(&[])]));
        assert!(!is_shape(&[path(&["a"]), path(&["a", "b"])]));
        assert!(!is_shape(&[path(&["a", "b", "c"]), path(&["a", "b"])]));
        assert!(!is_shape(&[path(&["a"]).index(0)]));
    }
}
