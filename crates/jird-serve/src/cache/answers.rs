//! The response cache: answers are kept until this server or any other process writes to the database.
//!
//! Each connection that reads keeps answers of its own, because SQLite's `data_version` tells whether another
//! connection has committed something since the same connection asked before. An answer is kept under the version that
//! was asked for before its rows were read, and given while the version is still that one. So a commit makes all
//! answers void at once, and one that falls between the question and the rows only makes an answer void that was not
//! yet old. Where there is a write-ahead log, a look at its head spares the question.

use crate::http::etag::Tag;
use crate::log::{self, Head};
use crate::request::negotiation::Coding;
use crate::request::rows::Format;
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use rusqlite::Connection;
use std::collections::HashMap;

/// What an answer may depend on, besides the rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    /// Path and query, as the client has sent them.
    pub(crate) target: String,
    pub(crate) format: Format,
    pub(crate) coding: Option<Coding>,
    pub(crate) counts: bool,
}

/// A whole answer, which is sent to all clients that ask the same.
#[derive(Clone, Debug)]
pub(crate) struct CachedAnswer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) tag: Tag,
}

/// The answers that a connection keeps.
#[derive(Debug)]
pub(crate) struct Answers {
    kept: HashMap<Question, CachedAnswer>,
    /// Of the database, and of the schema as the server knows it.
    versions: Option<(i64, i64)>,
    /// There is a write-ahead log.
    has_log: bool,
    /// Of the log, at the last look.
    head: Option<Head>,
    bytes: usize,
    bytes_max: usize,
}

/// What an entry takes besides its texts, about: headers, places of tables.
const ENTRY_BYTES: usize = 1024;

impl Answers {
    /// Keeps about this many bytes at most; 0: nothing.
    pub(crate) fn new(has_log: bool, bytes_max: usize) -> Self {
        Self { kept: HashMap::new(), versions: None, has_log, head: None, bytes: 0, bytes_max }
    }

    pub(crate) fn is_off(&self) -> bool {
        self.bytes_max == 0
    }

    /// Asks the database for its version, and forgets all answers if it is another one. `schema` is the version of the
    /// schema that requests are read with.
    pub(crate) fn look(&mut self, conn: &Connection, schema: i64) {
        // Looked at first: a commit that comes after it makes it another one.
        let head = if self.has_log { log::head(conn) } else { None };
        if head.is_some() && head == self.head && self.versions.is_some_and(|(_, known)| known == schema) {
            return;
        }
        self.head = head;
        let version =
            conn.prepare_cached("pragma data_version").and_then(|mut asked| asked.query_row([], |row| row.get(0)));
        let versions = version.ok().map(|version: i64| (version, schema));
        if versions.is_none() || versions != self.versions {
            self.kept.clear();
            self.bytes = 0;
            self.versions = versions;
        }
    }

    /// The answer, if there is one of the version that was [looked](Self::look) at last.
    pub(crate) fn find(&self, question: &Question) -> Option<&CachedAnswer> {
        self.kept.get(question)
    }

    /// Keeps an answer whose rows were read after the [last look](Self::look).
    pub(crate) fn keep(&mut self, question: Question, kept: CachedAnswer) {
        let bytes = question.target.len() + kept.body.len() + ENTRY_BYTES;
        if self.versions.is_none() || bytes > self.bytes_max / 4 {
            return;
        }
        if self.bytes + bytes > self.bytes_max {
            self.kept.clear();
            self.bytes = 0;
        }
        if self.kept.insert(question, kept).is_none() {
            self.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(number: usize) -> Question {
        Question { target: format!("/tasks?id=eq.{number}"), format: Format::Array, coding: None, counts: false }
    }

    fn kept(len: usize) -> CachedAnswer {
        let body = Bytes::from(vec![b'x'; len]);
        CachedAnswer { status: StatusCode::OK, headers: HeaderMap::new(), tag: Tag::of(&body), body }
    }

    #[test]
    fn what_is_kept_has_a_limit() {
        let conn = Connection::open_in_memory().unwrap();
        let mut answers = Answers::new(false, 100_000);
        answers.keep(question(0), kept(1));
        assert!(answers.find(&question(0)).is_none(), "nobody has asked for the version");
        answers.look(&conn, 1);
        answers.keep(question(0), kept(30_000));
        assert!(answers.find(&question(0)).is_none(), "it is too long");
        for number in 0..1000 {
            answers.keep(question(number), kept(10_000));
            assert!(answers.find(&question(number)).is_some());
            let bytes: usize =
                answers.kept.iter().map(|(question, kept)| question.target.len() + kept.body.len()).sum();
            assert!(bytes <= 100_000 && answers.kept.len() <= 10);
        }
        answers.look(&conn, 1);
        assert!(answers.find(&question(999)).is_some());
        answers.look(&conn, 2);
        assert!(answers.find(&question(999)).is_none(), "the schema is another one");
    }
}
