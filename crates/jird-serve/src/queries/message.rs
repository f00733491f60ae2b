//! What a server and the processes of its queries tell each other, over a socket of their own.
//!
//! A message is a byte that says what it is, the number of its bytes in four, and its fields, each after its length. Both
//! ends are the same program. Still the server takes nothing from a process on trust: a message has a greatest length,
//! and one that cannot be read ends the process.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The most bytes of a message. SQL has 64 KiB, and a part of an answer not more.
const BYTES_MAX: usize = 4 << 20;

/// The first message to a process: what it may read, and how much it may take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setup {
    /// The memory of a query for grouping, sorting and joins, in bytes.
    pub(crate) memory_max: u64,
    /// The seconds that a query may take.
    pub(crate) seconds: u64,
    /// What its queries read.
    pub(crate) paths: Vec<PathBuf>,
}

/// A query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) sql: String,
    /// The position of the form of the result in the list of all.
    pub(crate) form: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) rows_max: Option<u64>,
    /// What the SQL may name.
    pub(crate) tables: Vec<Table>,
}

/// Something that SQL may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Its position among the paths of the [`Setup`].
    pub(crate) path: u64,
    /// Whether the path is that of a database, and the name that of a table of it.
    pub(crate) is_of_database: bool,
}

/// What a process tells of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProcessMessage {
    /// It waits for a query.
    Ready,
    /// It has the query.
    Begun,
    /// The next bytes of the result.
    Part(Vec<u8>),
    /// The result is complete, with this many rows.
    Whole { rows: u64 },
    /// The query failed, before or after the first bytes of its result.
    Failed(Failure),
}

/// Why a query failed, as the answer says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) detail: String,
    /// The line of the SQL where something is wrong, and the character in it.
    pub(crate) place: Option<(u64, u64)>,
}

impl Setup {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut message = Message::new(b'S');
        message.number(self.memory_max).number(self.seconds);
        for path in &self.paths {
            message.bytes(path.as_os_str().as_bytes());
        }
        message.write(out)
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        let (b'S', bytes) = read(from)? else { return Err(garbled()) };
        let mut fields = Fields(&bytes);
        let (memory_max, seconds) = (fields.number()?, fields.number()?);
        let mut paths = Vec::new();
        while !fields.0.is_empty() {
            paths.push(PathBuf::from(OsStr::from_bytes(fields.bytes()?)));
        }
        Ok(Self { memory_max, seconds, paths })
    }
}

impl Order {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut message = Message::new(b'Q');
        message.bytes(self.sql.as_bytes());
        message.number(self.form).optional(self.limit).optional(self.rows_max);
        for table in &self.tables {
            message.bytes(table.name.as_bytes());
            message.number(table.path).number(table.is_of_database.into());
        }
        message.write(out)
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        let (b'Q', bytes) = read(from)? else { return Err(garbled()) };
        let mut fields = Fields(&bytes);
        let (sql, form) = (fields.text()?, fields.number()?);
        let (limit, rows_max) = (fields.optional()?, fields.optional()?);
        let mut tables = Vec::new();
        while !fields.0.is_empty() {
            let (name, path) = (fields.text()?, fields.number()?);
            tables.push(Table { name, path, is_of_database: fields.number()? != 0 });
        }
        Ok(Self { sql, form, limit, rows_max, tables })
    }
}

impl ProcessMessage {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Ready => Message::new(b'R').write(out),
            Self::Begun => Message::new(b'B').write(out),
            Self::Part(bytes) => write_part(bytes, out),
            Self::Whole { rows } => Message::new(b'W').number(*rows).write(out),
            Self::Failed(Failure { status, detail, place }) => {
                let mut message = Message::new(b'F');
                message.number((*status).into()).bytes(detail.as_bytes());
                message.optional(place.map(|place| place.0)).optional(place.map(|place| place.1)).write(out)
            }
        }
    }

    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        let (kind, bytes) = read(from)?;
        let mut fields = Fields(&bytes);
        match kind {
            b'R' => Ok(Self::Ready),
            b'B' => Ok(Self::Begun),
            b'P' => Ok(Self::Part(bytes)),
            b'W' => Ok(Self::Whole { rows: fields.number()? }),
            b'F' => {
                let status = u16::try_from(fields.number()?).map_err(|_| garbled())?;
                let detail = fields.text()?;
                let place = fields.optional()?.zip(fields.optional()?);
                Ok(Self::Failed(Failure { status, detail, place }))
            }
            _ => Err(garbled()),
        }
    }
}

/// Writes a part of a result, without a copy of it.
pub(crate) fn write_part(bytes: &[u8], out: &mut impl Write) -> io::Result<()> {
    out.write_all(&head(b'P', bytes.len())?)?;
    out.write_all(bytes)
}

fn head(kind: u8, len: usize) -> io::Result<[u8; 5]> {
    let len = u32::try_from(len).ok().filter(|_| len <= BYTES_MAX).ok_or(io::ErrorKind::FileTooLarge)?.to_le_bytes();
    Ok([kind, len[0], len[1], len[2], len[3]])
}

/// The kind of the next message, and its bytes.
fn read(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let [kind, len @ ..] = head;
    let len = u32::from_le_bytes(len) as usize;
    if len > BYTES_MAX {
        return Err(garbled());
    }
    let mut bytes = vec![0; len];
    from.read_exact(&mut bytes)?;
    Ok((kind, bytes))
}

fn garbled() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a message that makes no sense")
}

/// A message that is being made.
struct Message {
    kind: u8,
    bytes: Vec<u8>,
}

impl Message {
    fn new(kind: u8) -> Self {
        Self { kind, bytes: Vec::new() }
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn number(&mut self, number: u64) -> &mut Self {
        self.bytes(&number.to_le_bytes())
    }

    /// A number, or a field without bytes.
    fn optional(&mut self, number: Option<u64>) -> &mut Self {
        match number {
            Some(number) => self.number(number),
            None => self.bytes(&[]),
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut all = head(self.kind, self.bytes.len())?.to_vec();
        all.extend_from_slice(&self.bytes);
        out.write_all(&all)
    }
}

/// The fields of a message that were not read yet.
struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    fn bytes(&mut self) -> io::Result<&'b [u8]> {
        let (len, rest) = self.0.split_first_chunk().ok_or_else(garbled)?;
        let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| garbled())?;
        let (bytes, rest) = rest.split_at_checked(len).ok_or_else(garbled)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> io::Result<String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| garbled())
    }

    fn optional(&mut self) -> io::Result<Option<u64>> {
        match self.bytes()? {
            [] => Ok(None),
            bytes => Ok(Some(u64::from_le_bytes(bytes.try_into().map_err(|_| garbled())?))),
        }
    }

    fn number(&mut self) -> io::Result<u64> {
        self.optional()?.ok_or_else(garbled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders() -> [Order; 2] {
        let table = |name: &str, path, is_of_database| Table { name: name.to_owned(), path, is_of_database };
        let sql = "select 'ä\0\n'".to_owned();
        let tables = vec![table("log", 0, false), table("", 7, true)];
        [Order::default(), Order { sql, form: 3, limit: Some(0), rows_max: None, tables }]
    }

    fn all_told() -> Vec<ProcessMessage> {
        let failed =
            |place| ProcessMessage::Failed(Failure { status: 422, detail: "no \"such\" thing".to_owned(), place });
        let parts = [Vec::new(), vec![0; 70_000]].map(ProcessMessage::Part);
        [
            ProcessMessage::Ready,
            ProcessMessage::Begun,
            ProcessMessage::Whole { rows: u64::MAX },
            failed(None),
            failed(Some((1, 2))),
        ]
        .into_iter()
        .chain(parts)
        .collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let path = PathBuf::from(OsStr::from_bytes(b"not \xff UTF-8\n"));
        let setup = Setup { memory_max: 1 << 40, seconds: 30, paths: vec![path, PathBuf::new()] };
        let mut bytes = Vec::new();
        setup.write(&mut bytes).unwrap();
        orders().iter().for_each(|order| order.write(&mut bytes).unwrap());
        all_told().iter().for_each(|told| told.write(&mut bytes).unwrap());
        let mut rest = &bytes[..];
        assert_eq!(Setup::read(&mut rest).unwrap(), setup);
        orders().iter().for_each(|order| assert_eq!(Order::read(&mut rest).unwrap(), *order));
        all_told().iter().for_each(|told| assert_eq!(ProcessMessage::read(&mut rest).unwrap(), *told));
        assert!(rest.is_empty());
    }

    #[test]
    fn what_a_broken_process_writes_is_refused() {
        for told in all_told() {
            let mut bytes = Vec::new();
            told.write(&mut bytes).unwrap();
            for end in 0..bytes.len().min(200) {
                assert!(ProcessMessage::read(&mut &bytes[..end]).is_err(), "{told:?} {end}");
            }
        }
        // More than a message has, a field beyond its end, a number of three bytes, an unknown kind.
        for bytes in [
            &b"P\xff\xff\xff\xff"[..],
            b"W\x08\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
            b"W\x0b\0\0\0\x03\0\0\0\0\0\0\0abc",
            b"X\0\0\0\0",
        ] {
            assert!(ProcessMessage::read(&mut &*bytes).is_err(), "{bytes:?}");
        }
        assert!(write_part(&vec![0; BYTES_MAX + 1], &mut Vec::new()).is_err());
    }
}
