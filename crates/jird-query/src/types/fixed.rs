//! Types of fields that the user has fixed.

use crate::base::error::Error;
use jird::{Kind, Path, Value};
use jird_formats::ColumnType;

/// The types that a schema file fixes for fields.
///
/// ```
/// let types = jird_query::FieldTypes::parse(br#"{"id": "u64", "user": {"name": "text"}}"#)?;
/// assert!(jird_query::FieldTypes::parse(br#"{"id": "number"}"#).is_err());
/// # Ok::<(), jird_query::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FieldTypes(Vec<(Path, ColumnType)>);

/// The names of the types; the first name of each is the usual one.
const NAMES: [(&[&str], ColumnType); 7] = [
    (&["boolean", "bool"], ColumnType::Bool),
    (&["i64", "int64", "integer", "int", "bigint"], ColumnType::Int64),
    (&["u64", "uint64"], ColumnType::UInt64),
    (&["decimal", "decimal(38,0)"], ColumnType::Decimal),
    (&["f64", "float64", "double", "float"], ColumnType::Float64),
    (&["text", "string", "varchar", "utf8"], ColumnType::Text),
    (&["json"], ColumnType::Json),
];

impl FieldTypes {
    /// Reads a schema: an object of fields and their types. Nested objects stand for nested objects of records.
    ///
    /// # Errors
    /// If the text is not a schema.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let document = jird::parse(text).map_err(|error| Error::sql(format!("no schema: {}", error.locate(text))))?;
        let mut types = Self::default();
        types.add(&Path::root(), document.root())?;
        Ok(types)
    }

    fn add(&mut self, path: &Path, value: Value<'_>) -> Result<(), Error> {
        if value.kind() == Kind::Object {
            for (key, value) in value.entries() {
                self.add(&path.clone().key(key.as_str().unwrap_or_default()), value)?;
            }
            return Ok(());
        }
        let named = value.as_str().map(|name| name.to_lowercase());
        let known = NAMES.iter().find(|(names, _)| named.as_deref().is_some_and(|name| names.contains(&name)));
        let Some((_, kind)) = known else {
            let names: Vec<_> = NAMES.iter().map(|(names, _)| names[0]).collect();
            return Err(Error::sql(format!(
                "no schema: {} at {path:#} is no type; there are {}",
                String::from_utf8_lossy(value.raw()),
                names.join(", ")
            )));
        };
        self.0.push((path.clone(), *kind));
        Ok(())
    }

    /// All fields that are fixed.
    pub(crate) fn all(&self) -> impl Iterator<Item = &(Path, ColumnType)> {
        self.0.iter()
    }

    /// The type of a field, if it is fixed.
    pub(crate) fn of(&self, path: &Path) -> Option<ColumnType> {
        self.0.iter().find(|(other, _)| other == path).map(|(_, kind)| *kind)
    }
}
