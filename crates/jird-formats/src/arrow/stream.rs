//! Reads Arrow IPC: files and streams.

use super::check;
use super::error::{malformed, unsupported};
use super::source::Batches;
use crate::error::Error;
use arrow_array::ArrayRef;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::{Message, MetadataVersion};
use arrow_schema::{DataType, Field, SchemaRef};
use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

/// The first and last bytes of a file, which a stream does not have.
const MAGIC: &[u8; 6] = b"ARROW1";
/// The number of bytes that tell a file from a stream.
const HEAD: usize = 8;
/// The most bytes to which a file's magic is padded.
const HEAD_MAX: usize = 512;
/// The first bytes of a message, except in the oldest streams.
const CONTINUATION: [u8; 4] = [0xFF; 4];
/// The least step in which memory is allocated. The reader does not allocate as much as a length in the file claims.
const STEP: usize = 1 << 20;

/// A file or a stream, which is read from beginning to end.
pub(super) struct Stream<R> {
    reader: R,
    is_file: bool,
    schema: SchemaRef,
    /// Every dictionary's id, with the type of its values.
    dictionary_types: HashMap<i64, DataType>,
    dictionaries: HashMap<i64, ArrayRef>,
    batches: usize,
    /// The current batch's message and body.
    batch: Option<(Vec<u8>, Buffer)>,
}

impl<R: Read> Stream<R> {
    /// Reads up to the end of the schema.
    pub(super) fn open(mut reader: R) -> Result<Self, Error> {
        let mut head = [0; HEAD];
        read_exact(&mut reader, &mut head)?;
        let is_file = head.starts_with(MAGIC);
        if is_file {
            // The magic is padded with zeros to eight bytes or to some power of two.
            for _ in 0..HEAD_MAX / HEAD {
                read_exact(&mut reader, &mut head)?;
                if head != [0; HEAD] {
                    break;
                }
            }
        }
        let meta = read_meta(&mut reader, Some(head))?;
        let meta = meta.ok_or_else(|| malformed("the file has no schema"))?;
        let message = message(&meta)?;
        let fb = message.header_as_schema().ok_or_else(|| malformed("the first message is not a schema"))?;
        check::schema(fb)?;
        let schema = Arc::new(arrow_ipc::convert::fb_to_schema(fb));
        let mut dictionary_types = HashMap::new();
        schema.fields().iter().try_for_each(|field| find_dictionaries(field, &mut dictionary_types))?;
        let dictionaries = HashMap::new();
        Ok(Self { reader, is_file, schema, dictionary_types, dictionaries, batches: 0, batch: None })
    }

    fn read_dictionary(&mut self, meta: &[u8], body: &Buffer) -> Result<(), Error> {
        let message = message(meta)?;
        let header =
            message.header_as_dictionary_batch().ok_or_else(|| malformed("a dictionary message has no dictionary"))?;
        let values = header.data().ok_or_else(|| malformed("a dictionary has no values"))?;
        let of_type = self.dictionary_types.get(&header.id());
        let of_type = of_type.ok_or_else(|| malformed("no column has this dictionary"))?;
        check::batch(values, [of_type].into_iter(), message.version(), body)?;
        let dictionaries = &mut self.dictionaries;
        Ok(arrow_ipc::reader::read_dictionary(body, header, &self.schema, dictionaries, &message.version())?)
    }

    /// Checks a file's end: a footer, which has the number of batches, its length, and the magic.
    fn check_end(&mut self) -> Result<(), Error> {
        if !self.is_file {
            return Ok(());
        }
        let mut end = Vec::new();
        // Unlike a message, a footer has an entry for every batch, so only the file's length bounds it.
        self.reader.read_to_end(&mut end)?;
        let rest = end.strip_suffix(MAGIC).ok_or_else(|| malformed("the file ends early"))?;
        let (footer, len) = rest.split_last_chunk().ok_or_else(|| malformed("the file has no footer"))?;
        if usize::try_from(i32::from_le_bytes(*len)).ok() != Some(footer.len()) {
            return Err(malformed("the length in the footer is wrong"));
        }
        let footer = arrow_ipc::root_as_footer(footer).map_err(malformed)?;
        let batches = footer.recordBatches().map_or(0, |blocks| blocks.len());
        if batches == self.batches {
            Ok(())
        } else {
            Err(malformed("the footer does not list the batches of the file"))
        }
    }
}

impl<R: Read> Batches for Stream<R> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn advance(&mut self) -> Result<Option<usize>, Error> {
        self.batch = None;
        while let Some(meta) = read_meta(&mut self.reader, None)? {
            let message = message(&meta)?;
            let body = read_body(&mut self.reader, message.bodyLength())?;
            if message.header_as_dictionary_batch().is_some() {
                self.read_dictionary(&meta, &body)?;
            } else if let Some(batch) = message.header_as_record_batch() {
                let types = self.schema.fields().iter().map(|field| field.data_type());
                check::batch(batch, types, message.version(), &body)?;
                let rows = batch.length() as usize;
                self.batches += 1;
                self.batch = Some((meta, body));
                return Ok(Some(rows));
            } else {
                return Err(malformed("a message is not a batch"));
            }
        }
        self.check_end()?;
        Ok(None)
    }

    fn load(&mut self, columns: &[usize]) -> Result<Vec<ArrayRef>, Error> {
        let Some((meta, body)) = &self.batch else { return Ok(Vec::new()) };
        let message = message(meta)?;
        let batch = message.header_as_record_batch().ok_or_else(|| malformed("a batch message has no batch"))?;
        let (schema, version) = (self.schema.clone(), message.version());
        let read =
            arrow_ipc::reader::read_record_batch(body, batch, schema, &self.dictionaries, Some(columns), &version)?;
        Ok(read.columns().to_vec())
    }
}

/// Records the types of values of a field's dictionaries.
fn find_dictionaries(field: &Field, found: &mut HashMap<i64, DataType>) -> Result<(), Error> {
    #[expect(deprecated, reason = "the schema of a stream has the number nowhere else")]
    let id = field.dict_id();
    let mut data_type = field.data_type();
    if let (DataType::Dictionary(_, values), Some(id)) = (data_type, id) {
        if found.entry(id).or_insert_with(|| (**values).clone()) != &**values {
            return Err(malformed("a dictionary has two types"));
        }
        data_type = values;
    }
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => find_dictionaries(field, found),
        DataType::Struct(fields) => fields.iter().try_for_each(|field| find_dictionaries(field, found)),
        DataType::Union(fields, _) => fields.iter().try_for_each(|(_, field)| find_dictionaries(field, found)),
        DataType::RunEndEncoded(ends, values) => {
            [ends, values].into_iter().try_for_each(|field| find_dictionaries(field, found))
        }
        _ => Ok(()),
    }
}

/// Reads a message without its body; `None` at the end of a stream. `head` has eight bytes that were read already.
fn read_meta(reader: &mut impl Read, head: Option<[u8; HEAD]>) -> Result<Option<Vec<u8>>, Error> {
    let mut first = [0; 4];
    let mut meta = Vec::new();
    let len = match head {
        Some([a, b, c, d, len @ ..]) if [a, b, c, d] == CONTINUATION => len,
        // Streams from before 2019 begin with the length.
        Some([a, b, c, d, rest @ ..]) => {
            meta.extend_from_slice(&rest);
            [a, b, c, d]
        }
        None if !read_or_end(reader, &mut first)? => return Ok(None),
        None if first == CONTINUATION => {
            read_exact(reader, &mut first)?;
            first
        }
        None => first,
    };
    let len = usize::try_from(i32::from_le_bytes(len)).map_err(|_| malformed("a message has a negative length"))?;
    if len == 0 {
        return Ok(None);
    }
    let rest = len.checked_sub(meta.len()).ok_or_else(|| malformed("a message is too short"))?;
    reader.take(rest as u64).read_to_end(&mut meta)?;
    if meta.len() == len { Ok(Some(meta)) } else { Err(malformed("the file ends within a message")) }
}

fn message(meta: &[u8]) -> Result<Message<'_>, Error> {
    let message = arrow_ipc::root_as_message(meta).map_err(malformed)?;
    match message.version() {
        MetadataVersion::V4 | MetadataVersion::V5 => Ok(message),
        other => Err(unsupported(format_args!("the file has version {other:?} of the format"))),
    }
}

/// Reads a body into aligned memory, as arrays require it.
fn read_body(reader: &mut impl Read, len: i64) -> Result<Buffer, Error> {
    let len = usize::try_from(len).map_err(|_| malformed("a body has a negative length"))?;
    let mut body = MutableBuffer::new(len.min(STEP));
    while body.len() < len {
        let start = body.len();
        body.resize(len.min(start.saturating_add(start.max(STEP))), 0);
        read_exact(reader, &mut body[start..])?;
    }
    Ok(body.into())
}

fn read_exact(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), Error> {
    reader.read_exact(bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => malformed("the file ends early"),
        _ => error.into(),
    })
}

/// Returns false if nothing is left.
fn read_or_end(reader: &mut impl Read, bytes: &mut [u8]) -> Result<bool, Error> {
    let mut first = [0];
    let read = loop {
        match reader.read(&mut first) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    if read == 0 {
        return Ok(false);
    }
    bytes[0] = first[0];
    read_exact(reader, &mut bytes[1..])?;
    Ok(true)
}
