//! Transactions, which keep all of the writes or none.

use crate::error::{Error, ErrorKind};
use rusqlite::Connection;

/// A transaction, or a savepoint if there is a transaction already. If it is dropped while it is open, it is rolled
/// back.
#[derive(Debug)]
pub(super) struct Scope<'c> {
    conn: &'c Connection,
    open: Option<Kind>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Transaction,
    Savepoint,
}

impl<'c> Scope<'c> {
    pub(super) fn new(conn: &'c Connection) -> Self {
        Self { conn, open: None }
    }

    /// Begins, unless it has begun. The lock is taken here, so that the work cannot fail halfway because another
    /// connection has it.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        if self.is_lost() {
            // What is written now would stay, without what came before.
            return Err(Error::new(ErrorKind::Other, "the transaction was rolled back"));
        }
        if self.open.is_some() {
            return Ok(());
        }
        let (sql, kind) = if self.conn.is_autocommit() {
            ("begin immediate", Kind::Transaction)
        } else {
            ("savepoint jird", Kind::Savepoint)
        };
        self.conn.execute_batch(sql).map_err(|error| Error::sqlite("beginning to write", error))?;
        self.open = Some(kind);
        Ok(())
    }

    /// Whether SQLite itself rolled the transaction back, as it does when the disk is full, for example.
    pub(super) fn is_lost(&self) -> bool {
        self.open.is_some() && self.conn.is_autocommit()
    }

    /// Commits what was written. If that fails, the transaction is still open.
    pub(super) fn commit(&mut self) -> Result<(), Error> {
        let sql = match self.open {
            None => return Ok(()),
            Some(Kind::Transaction) => "commit",
            Some(Kind::Savepoint) => "release jird",
        };
        self.conn.execute_batch(sql).map_err(|error| Error::sqlite("committing", error))?;
        self.open = None;
        Ok(())
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let sql = match self.open {
            None => return,
            Some(Kind::Transaction) => "rollback",
            Some(Kind::Savepoint) => "rollback to jird; release jird",
        };
        // A drop cannot report errors. SQLite rolls back what is not committed anyway; if a write failed, it does so
        // with the next read.
        let _ = self.conn.execute_batch(sql);
        if self.conn.is_autocommit() {
            let _ = self.conn.query_row("select count(*) from sqlite_schema", [], |_| Ok(()));
        }
    }
}
