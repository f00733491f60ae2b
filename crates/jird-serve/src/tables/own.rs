//! The server's own database: views that users of the page have saved, and alerts. They share it.
//!
//! Clients read and change it as any table, at `/saved` and `/alerts`. What must hold for them is in its schema.

use crate::base::error::Error;
use crate::base::settings::Limits;
use crate::cache::readers::LOCK_TIME;
use crate::tables::database::Database;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Its tables.
pub(crate) const SAVED: &str = "saved";
pub(crate) const ALERTS: &str = "alerts";

/// Marks the file, so that no other database is taken for one ("jird" in ASCII).
const APPLICATION: i64 = 0x6A69_7264;

const SCHEMA: &str = "
    create table if not exists saved (
        id integer primary key,
        name text not null unique check (length(name) between 1 and 200),
        place text not null check (length(place) between 1 and 100000)
    );
    create trigger if not exists saved_max before insert on saved
        when (select count(*) from saved) >= 10000
        begin select raise(abort, 'there are 10,000 saved views already'); end;
    create table if not exists alerts (
        id integer primary key,
        name text not null unique check (typeof(name) = 'text' and length(name) between 1 and 200),
        condition text check (condition is null or typeof(condition) = 'text' and length(condition) <= 20000),
        search text check (search is null or typeof(search) = 'text' and length(search) <= 1000),
        more_than integer not null default 0
            check (typeof(more_than) = 'integer' and more_than between 0 and 1000000000),
        minutes integer not null check (typeof(minutes) = 'integer' and minutes between 1 and 10080),
        firing boolean not null default 0 check (typeof(firing) = 'integer' and firing in (0, 1)),
        events integer,
        changed text,
        problem text
    );
    create trigger if not exists alerts_max before insert on alerts
        when (select count(*) from alerts) >= 100
        begin select raise(abort, 'there are 100 alerts already'); end;
    create trigger if not exists alerts_begin after insert on alerts
        begin update alerts set firing = 0, events = null, changed = null, problem = null where id = new.id; end;
";

/// The database, and which alerts fire.
pub(crate) struct Own {
    path: PathBuf,
    pub(crate) database: Arc<Database>,
    firing: Mutex<Vec<(String, bool)>>,
}

/// An alert. It fires while the last minutes have more events than it allows.
#[derive(Clone, Debug)]
pub(crate) struct Alert {
    id: i64,
    pub(crate) name: String,
    pub(crate) condition: Option<String>,
    pub(crate) search: Option<String>,
    pub(crate) more_than: i64,
    pub(crate) minutes: i64,
    pub(crate) firing: bool,
}

/// What a check has found.
pub(crate) struct Checked {
    pub(crate) firing: bool,
    /// The events of the time, as far as they were counted.
    pub(crate) events: Option<i64>,
    /// Why they could not be counted.
    pub(crate) problem: Option<String>,
}

impl Own {
    /// Opens the file, and makes it if it is not there.
    ///
    /// # Errors
    /// If it is another database, or none.
    pub(crate) fn open(path: &Path, limits: &Limits) -> Result<Self, Error> {
        let failed = |error: rusqlite::Error| Error::new(format!("{}: {error}", path.display()));
        if !make(path).map_err(failed)? {
            let detail = "this is another program's database; name a file of the server's own";
            return Err(Error::new(format!("{}: {detail}", path.display())));
        }
        let database = Arc::new(Database::open(path.to_owned(), true, limits)?);
        Ok(Self { path: path.to_owned(), database, firing: Mutex::default() })
    }

    /// The alerts, in the order in which they were made.
    pub(crate) fn alerts(&self) -> rusqlite::Result<Vec<Alert>> {
        let conn = self.connect()?;
        let mut all =
            conn.prepare("select id, name, condition, search, more_than, minutes, firing from alerts order by id")?;
        let alert = |row: &rusqlite::Row<'_>| {
            Ok(Alert {
                id: row.get(0)?,
                name: row.get(1)?,
                condition: row.get(2)?,
                search: row.get(3)?,
                more_than: row.get(4)?,
                minutes: row.get(5)?,
                firing: row.get(6)?,
            })
        };
        all.query_map([], alert)?.collect()
    }

    /// Writes down what the checks have found, and gives the alerts that begin or end. The metrics have it in any case.
    pub(crate) fn checked(&self, found: Vec<(Alert, Checked)>) -> rusqlite::Result<Vec<(Alert, Checked)>> {
        let firing = found.iter().map(|(alert, checked)| (alert.name.clone(), checked.firing)).collect();
        *self.firing.lock().unwrap_or_else(PoisonError::into_inner) = firing;
        let conn = self.connect()?;
        let mut changed = Vec::new();
        for (alert, checked) in found {
            if write(&conn, &alert, &checked)? && alert.firing != checked.firing {
                changed.push((alert, checked));
            }
        }
        Ok(changed)
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let conn = Connection::open_with_flags(&self.path, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.busy_timeout(LOCK_TIME)?;
        Ok(conn)
    }

    /// Appends to the metrics which alerts fire.
    pub(crate) fn metrics(&self, text: &mut String) {
        let firing = self.firing.lock().unwrap_or_else(PoisonError::into_inner);
        *text += "# HELP jird_alert_firing Whether an alert fires.\n# TYPE jird_alert_firing gauge\n";
        for (name, firing) in &*firing {
            let name = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let line = format!("jird_alert_firing{{name=\"{name}\"}} {}\n", u8::from(*firing));
            text.push_str(&line);
        }
    }
}

/// Writes what a check has found, if it is something new, and if the alert is still the one that was checked.
fn write(conn: &Connection, alert: &Alert, checked: &Checked) -> rusqlite::Result<bool> {
    let Alert { id, condition, search, more_than, minutes, .. } = alert;
    let Checked { firing, events, problem } = checked;
    let rows = conn.execute(
        "update alerts set firing = ?2, events = ?3, problem = ?4,
            changed = iif(firing is ?2, changed, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
         where id = ?1 and (firing is not ?2 or events is not ?3 or problem is not ?4)
            and condition is ?5 and search is ?6 and more_than = ?7 and minutes = ?8",
        (id, firing, events, problem, condition, search, more_than, minutes),
    )?;
    Ok(rows > 0)
}

/// Makes the tables; false if the database has others.
fn make(path: &Path) -> rusqlite::Result<bool> {
    let mut conn = Connection::open(path)?;
    conn.busy_timeout(LOCK_TIME)?;
    let all = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let mark: i64 = all.query_row("pragma application_id", [], |row| row.get(0))?;
    let things: i64 = all.query_row("select count(*) from sqlite_schema", [], |row| row.get(0))?;
    if mark != APPLICATION && (mark != 0 || things > 0) {
        return Ok(false);
    }
    all.execute_batch(SCHEMA)?;
    all.pragma_update(None, "application_id", APPLICATION)?;
    all.commit()?;
    Ok(true)
}
