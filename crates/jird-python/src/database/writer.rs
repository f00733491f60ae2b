//! What the process that writes does: it answers requests, one after the other, on its standard input, which is a socket.
//! There is no such process on Windows, where `jird.Sqlite` refuses to be made.
//!
//! A request is a line of JSON; see [`Request`]. The answer is a line too: `{"ready":true}` if rows may come, after which
//! they come as frames, and then `{"rows":N}`; or instead of either, and as soon as it is known, `{"error":WORDS,"kind":KIND}`.

use super::batches;
use super::cells;
use super::{ABANDONED, END, HEAD};
use crate::system::{self, ParentStream};
use core::time::Duration;
use jird::{Document, Value};
use jird_formats::Error;
use jird_formats::sqlite::rusqlite::Connection;
use jird_formats::sqlite::{ColumnDefinition, Definition, Inserter, StorageType, open_within, tables};
use pyo3::prelude::*;
use serde_core::Serialize;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Writes databases for the process that has started this one, until it is gone. It is to be all that this
/// process does.
#[pyfunction]
pub(crate) fn write_databases(py: Python<'_>) -> PyResult<()> {
    py.detach(|| {
        let (input, output) = system::parent()?;
        let mut client = Client { input: BufReader::new(input), output };
        while client.answer()? {}
        Ok(())
    })
}

/// What is asked for.
enum Request {
    /// The database is to be there.
    Open,
    /// A table is to be there.
    Table { name: String, columns: Vec<ColumnDefinition>, key: Vec<String> },
    /// Rows are to be inserted into a table: frames of Arrow, or of [`cells`] for these columns.
    Insert { table: String, columns: Option<Arc<[String]>> },
}

/// The process that asks.
struct Client {
    input: BufReader<ParentStream>,
    output: ParentStream,
}

/// What comes after a request for an insert.
enum Frame {
    Rows(Vec<u8>),
    End,
    Abandoned,
}

impl Client {
    /// Answers the next request. False if there are no more.
    fn answer(&mut self) -> io::Result<bool> {
        let mut line = Vec::new();
        if self.input.read_until(b'\n', &mut line)? == 0 {
            return Ok(false);
        }
        let request = jird::parse(&line).ok().and_then(|document| of(&document));
        let Some((path, patience, request)) = request else {
            return Err(io::Error::other("the request is not understood"));
        };
        let connection = match open_within(path, patience) {
            Ok(connection) => connection,
            Err(error) => return self.refuse(&error).map(|()| true),
        };
        match request {
            Request::Open => self.say("{\"rows\":0}"),
            Request::Table { name, columns, key } => match made(&connection, &name, columns, &key) {
                Ok(()) => self.say("{\"rows\":0}"),
                Err(error) => self.refuse(&error),
            },
            Request::Insert { table, columns: None } => {
                self.insert(&connection, &table, |frame| batches::rows(&frame).map_err(io::Error::other))
            }
            Request::Insert { table, columns: Some(columns) } => self.insert(&connection, &table, |frame| {
                cells::rows(&columns, frame).ok_or_else(|| io::Error::other("the rows are not understood"))
            }),
        }?;
        Ok(true)
    }

    /// Inserts the rows of frames, in one transaction. If the sender is gone it is rolled back.
    fn insert<R: Serialize>(
        &mut self,
        connection: &Connection,
        table: &str,
        rows: impl Fn(Vec<u8>) -> io::Result<Vec<R>>,
    ) -> io::Result<()> {
        let mut inserter = match Inserter::<R>::new(connection, table) {
            Ok(inserter) => inserter,
            Err(error) => return self.refuse(&error),
        };
        self.say("{\"ready\":true}")?;
        loop {
            match self.frame()? {
                Frame::Rows(frame) => {
                    if let Err(error) = inserter.insert_all(rows(frame)?) {
                        // There is no waiting for a lock on a transaction that has failed.
                        drop(inserter);
                        self.refuse(&error)?;
                        while let Frame::Rows(_) = self.frame()? {}
                        return Ok(());
                    }
                }
                Frame::End => {
                    return match inserter.finish() {
                        Ok(rows) => self.say(&format!("{{\"rows\":{rows}}}")),
                        Err(error) => self.refuse(&error),
                    };
                }
                Frame::Abandoned => {
                    drop(inserter);
                    return self.say("{\"rows\":0}");
                }
            }
        }
    }

    fn frame(&mut self) -> io::Result<Frame> {
        let mut head = [0; HEAD];
        self.input.read_exact(&mut head)?;
        match u64::from_le_bytes(head) {
            END => Ok(Frame::End),
            ABANDONED => Ok(Frame::Abandoned),
            len => {
                let mut frame = Vec::with_capacity(usize::try_from(len).unwrap_or(0).min(1 << 26));
                if self.input.by_ref().take(len).read_to_end(&mut frame)? as u64 != len {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
                Ok(Frame::Rows(frame))
            }
        }
    }

    fn refuse(&mut self, error: &Error) -> io::Result<()> {
        let words = jird::hooks::quoted(&error.to_string());
        self.say(&format!("{{\"error\":{words},\"kind\":\"{}\"}}", error.kind().code()))
    }

    fn say(&mut self, line: &str) -> io::Result<()> {
        self.output.write_all(format!("{line}\n").as_bytes())
    }
}

/// The database of a request, how long to wait for others' locks, and what is asked for.
fn of(document: &Document<'_>) -> Option<(PathBuf, Duration, Request)> {
    let root = document.root();
    // The bytes of the path, each as a character.
    let bytes =
        text(root.get("path")?)?.chars().map(|char| u8::try_from(u32::from(char)).ok()).collect::<Option<_>>()?;
    let patience = Duration::from_millis(root.get("patience")?.as_u64()?);
    let request = match (root.get("insert"), root.get("table")) {
        (None, None) => Request::Open,
        (Some(table), _) => {
            let columns = match root.get("columns") {
                Some(columns) => Some(texts(columns)?.into()),
                None => None,
            };
            Request::Insert { table: text(table)?, columns }
        }
        (None, Some(table)) => Request::Table {
            name: text(table)?,
            columns: root.get("columns")?.elements().map(column).collect::<Option<_>>()?,
            key: texts(root.get("key")?)?,
        },
    };
    Some((system::path_of(bytes)?, patience, request))
}

fn text(value: Value<'_>) -> Option<String> {
    value.as_str().map(String::from)
}

fn texts(value: Value<'_>) -> Option<Vec<String>> {
    value.elements().map(text).collect()
}

/// `["name","integer",true]`: a column, its storage, and whether it may be null.
fn column(value: Value<'_>) -> Option<ColumnDefinition> {
    let storage = match &*value.at(1)?.as_str()? {
        "integer" => StorageType::Integer,
        "real" => StorageType::Real,
        "text" => StorageType::Text,
        "blob" => StorageType::Blob,
        _ => StorageType::Any,
    };
    Some(ColumnDefinition { name: text(value.at(0)?)?, storage, is_nullable: value.at(2)?.as_bool()? })
}

/// Makes a table, unless there is one of its name.
fn made(connection: &Connection, name: &str, columns: Vec<ColumnDefinition>, key: &[String]) -> Result<(), Error> {
    if tables(connection)?.iter().any(|known| known == name) {
        return Ok(());
    }
    Definition::of_columns(name, columns).key(key.iter().map(String::as_str))?.create(connection)
}
