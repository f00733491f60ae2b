//! Results in parts: rows go to folders that their values name, as `day=2024-01-01`.

use super::cell::{Cells, known};
use super::{Format, WriteError, Writer, writer};
use crate::input::LACKING;
use crate::sql::{HIDDEN, Output};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use jird::Kind;
use jird::record::Field;
use jird_formats::value_text;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Takes a result in parts, one after the other.
pub trait Parts: fmt::Debug + Send {
    /// Begins a part in this folder, whose name has a `/` between the names of its folders. A folder may come again.
    ///
    /// # Errors
    /// If the part cannot be created.
    fn begin(&mut self, folder: &str) -> io::Result<()>;

    /// Takes the next bytes of the part.
    ///
    /// # Errors
    /// If they cannot be written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Ends the part.
    ///
    /// # Errors
    /// If its end cannot be written.
    fn end(&mut self) -> io::Result<()>;
}

/// The columns that name folders, and what takes the parts.
#[derive(Clone, Debug)]
pub(crate) struct Parted {
    pub(crate) by: Vec<String>,
    pub(crate) parts: Arc<Mutex<dyn Parts>>,
}

/// Writes rows that come sorted by the columns which name folders. One part is open at a time.
pub(super) struct PartedWriter {
    format: Format,
    parted: Parted,
    columns: Vec<Output>,
    schema: Option<SchemaRef>,
    /// The folder of the part that is open.
    open: Option<(String, Box<dyn Writer>)>,
}

impl PartedWriter {
    pub(super) fn new(format: Format, columns: Vec<Output>, parted: Parted) -> Self {
        Self { format, parted, columns, schema: None, open: None }
    }

    /// The positions of the columns that stay.
    fn kept(&self) -> Vec<usize> {
        let is_kept = |at: &usize| {
            let name = &self.columns[*at].name;
            !self.parted.by.contains(name) && !name.starts_with(HIDDEN)
        };
        (0..self.columns.len()).filter(is_kept).collect()
    }

    /// The folder of each row.
    fn folders(&self, batch: &RecordBatch) -> Result<Vec<String>, WriteError> {
        let mut folders = vec![String::new(); batch.num_rows()];
        let mut json = Vec::new();
        for name in &self.parted.by {
            let at = self.columns.iter().position(|column| column.name == *name);
            let Some(at) = at else { return Err(WriteError::Format(format!("it has no column `{name}`"))) };
            let array = known(batch.column(at))?;
            let cells = Cells::new(&self.columns[at], &batch.schema().fields()[at].clone(), &array)?;
            for (row, folder) in folders.iter_mut().enumerate() {
                json.clear();
                if !cells.is_null(row) {
                    cells.json(row, &mut json)?;
                }
                let value = value_name(name, &String::from_utf8_lossy(&json))?;
                if !folder.is_empty() {
                    folder.push('/');
                }
                folder.extend([&*encoded(name), "=", &value]);
            }
        }
        Ok(folders)
    }

    /// Takes rows of one folder.
    fn rows(&mut self, folder: &str, rows: &RecordBatch, text: &mut Vec<u8>) -> Result<(), WriteError> {
        if self.open.as_ref().is_none_or(|(open, _)| open != folder) {
            self.close(text)?;
            let kept = self.kept().into_iter().map(|at| self.columns[at].clone()).collect();
            let mut part = writer(self.format, kept, &[], None);
            self.parts().begin(folder)?;
            if let Some(schema) = &self.schema {
                part.begin(schema)?;
            }
            self.open = Some((folder.to_owned(), part));
        }
        if let Some((_, part)) = &mut self.open {
            part.batch(rows, text)?;
        }
        self.pass_on(text)
    }

    fn close(&mut self, text: &mut Vec<u8>) -> Result<(), WriteError> {
        let Some((_, mut part)) = self.open.take() else { return Ok(()) };
        part.finish(text)?;
        self.pass_on(text)?;
        Ok(self.parts().end()?)
    }

    fn pass_on(&self, text: &mut Vec<u8>) -> Result<(), WriteError> {
        self.parts().write(text)?;
        text.clear();
        Ok(())
    }

    fn parts(&self) -> std::sync::MutexGuard<'_, dyn Parts + 'static> {
        self.parted.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer for PartedWriter {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), WriteError> {
        self.schema = Some(schema.project(&self.kept())?.into());
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let folders = self.folders(batch)?;
        let rest = batch.project(&self.kept())?;
        let mut start = 0;
        for rows in folders.chunk_by(|one, other| one == other) {
            self.rows(&rows[0], &rest.slice(start, rows.len()), out)?;
            start += rows.len();
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.close(out)
    }
}

/// A value in the name of a folder. Equal numbers have one name.
fn value_name(column: &str, json: &str) -> Result<String, WriteError> {
    let field = Field::from_raw(json);
    match field.kind().filter(|_| !json.is_empty()) {
        None | Some(Kind::Null) => Ok(LACKING.to_owned()),
        Some(Kind::String) => Ok(encoded(&field.as_str().unwrap_or_default())),
        Some(Kind::Object | Kind::Array) => {
            let words = format!(
                "a value of `{column}` is {json:.60}, and no folder can be called so: use text() or a field of it"
            );
            Err(WriteError::Format(words))
        }
        Some(_) => Ok(encoded(value_text(field, &mut String::new()))),
    }
}

/// A text as the name of a file, with `%2F` in place of `/`, and so on.
fn encoded(text: &str) -> String {
    let mut name = String::new();
    for char in text.chars() {
        let is_special = char.is_control()
            || matches!(char, '/' | '\\' | '%' | '=' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '[' | ']' | '{' | '}');
        if is_special {
            let mut bytes = [0; 4];
            name.extend(char.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        } else {
            name.push(char);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_name_folders() {
        for (json, wanted) in [
            ("\"2024-01-01\"", "2024-01-01"),
            ("\"a/b=c%\\u0000\"", "a%2Fb%3Dc%25%00"),
            ("\"..\"", ".."),
            ("\"\"", ""),
            ("\"São\"", "São"),
            ("1.0", "1"),
            ("10e1", "100"),
            ("-0", "0"),
            ("2.50", "2.5"),
            ("true", "true"),
            ("null", LACKING),
            ("", LACKING),
        ] {
            assert_eq!(value_name("k", json).unwrap_or_default(), wanted, "{json}");
        }
        assert!(value_name("k", "[1]").is_err() && value_name("k", "{}").is_err());
    }
}
