//! The Arrow side of a span file: its schema, and where the buffers of a record batch are. Everything that is read is
//! checked by the verifier of its flatbuffer first, and its numbers are checked here.

use crate::settings::Compression;
use arrow_ipc::CompressionType;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;

/// The key in the metadata of a footer under which the table stands.
pub(super) const TABLE_KEY: &str = "jird.table";
/// What an Arrow IPC file begins and ends with.
pub(super) const ARROW_MAGIC: &[u8; 6] = b"ARROW1";
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The buffers of the columns: each has one for validity, and `document` has offsets.
const TIME: usize = 1;
const ARRIVAL: usize = 3;
const OFFSETS: usize = 5;
const DOCUMENT: usize = 6;

/// The columns of a span file: `time`, `arrival` and `document` first, then the extra columns. The type of `document`
/// is `Utf8` in the file.
pub(super) fn schema(document: DataType, base: u64, more: Vec<Field>) -> Schema {
    let zone = Some("UTC".into());
    let mut fields = vec![
        Field::new("time", DataType::Timestamp(TimeUnit::Nanosecond, zone), false),
        Field::new("arrival", DataType::UInt32, false),
        Field::new("document", document, false),
    ];
    fields.extend(more);
    let metadata = [("jird.format", "1".to_owned()), ("jird.arrival", base.to_string())];
    Schema::new_with_metadata(fields, metadata.map(|(key, value)| (key.to_owned(), value)).into())
}

pub(super) fn compression_type(compression: Compression) -> Option<CompressionType> {
    match compression {
        Compression::None => None,
        Compression::Lz4 => Some(CompressionType::LZ4_FRAME),
        Compression::Zstd => Some(CompressionType::ZSTD),
    }
}

/// Where the buffers of a record batch are, counted from the start of its message.
#[derive(Debug)]
pub(super) struct BatchLayout {
    pub(super) rows: u64,
    /// Where the metadata end.
    pub(super) body: usize,
    pub(super) times: Range<usize>,
    pub(super) arrivals: Range<usize>,
    pub(super) offsets: Range<usize>,
    pub(super) documents: Range<usize>,
    /// The buffers of the extra columns.
    pub(super) others: Vec<Range<usize>>,
    /// Where the message ends.
    pub(super) end: usize,
    pub(super) compression: Compression,
}

/// Reads the metadata at the start of a message; the body need not be there. `None` if it is not a record batch of a
/// span.
pub(super) fn layout(message: &[u8]) -> Option<BatchLayout> {
    let rest = message.strip_prefix(&CONTINUATION)?;
    let (len, rest) = rest.split_first_chunk::<4>()?;
    let len = usize::try_from(i32::from_le_bytes(*len)).ok()?;
    let body = 8 + len;
    let message = arrow_ipc::root_as_message(rest.get(..len)?).ok()?;
    let batch = message.header_as_record_batch()?;
    let compression = match batch.compression().map(|compression| compression.codec()) {
        None => Compression::None,
        Some(CompressionType::LZ4_FRAME) => Compression::Lz4,
        Some(CompressionType::ZSTD) => Compression::Zstd,
        Some(_) => return None,
    };
    let buffers = batch.buffers()?;
    let range = |number: usize| {
        let buffer = (number < buffers.len()).then(|| buffers.get(number))?;
        let start = body.checked_add(usize::try_from(buffer.offset()).ok()?)?;
        Some(start..start.checked_add(usize::try_from(buffer.length()).ok()?)?)
    };
    Some(BatchLayout {
        rows: u64::try_from(batch.length()).ok()?,
        body,
        times: range(TIME)?,
        arrivals: range(ARRIVAL)?,
        offsets: range(OFFSETS)?,
        documents: range(DOCUMENT)?,
        others: (DOCUMENT + 1..buffers.len()).map(range).collect::<Option<_>>()?,
        end: body.checked_add(usize::try_from(message.bodyLength()).ok()?)?,
        compression,
    })
}

/// Where the messages of a file begin: magic and padding come first.
pub(super) const MESSAGES_START: usize = 64;

/// Where the first record batch begins in a file: after the schema and the dictionaries.
pub(super) fn batch_start(file: &[u8]) -> Option<usize> {
    let mut at = MESSAGES_START;
    while layout(file.get(at..)?).is_none() {
        at = at.checked_add(other_message_len(&file[at..])?)?;
    }
    Some(at)
}

/// The length of a message that is not a record batch. `message` begins with its metadata.
pub(super) fn other_message_len(message: &[u8]) -> Option<usize> {
    let (len, rest) = message.strip_prefix(&CONTINUATION)?.split_first_chunk::<4>()?;
    let len = usize::try_from(i32::from_le_bytes(*len)).ok()?;
    let message = arrow_ipc::root_as_message(rest.get(..len)?).ok()?;
    (8 + len).checked_add(usize::try_from(message.bodyLength()).ok()?)
}

/// Where the record batches of a file are, and the metadata of its footer.
pub(super) type Footer = (Vec<Range<u64>>, HashMap<String, String>);

/// Reads a footer.
pub(super) fn footer(bytes: &[u8]) -> Option<Footer> {
    let footer = arrow_ipc::root_as_footer(bytes).ok()?;
    let block = |block: &arrow_ipc::Block| {
        let start = u64::try_from(block.offset()).ok()?;
        let len = u64::try_from(block.metaDataLength()).ok()?.checked_add(u64::try_from(block.bodyLength()).ok()?)?;
        Some(start..start.checked_add(len)?)
    };
    let blocks = footer.recordBatches()?.iter().map(block).collect::<Option<_>>()?;
    let pairs = footer.custom_metadata().into_iter().flatten();
    let metadata = pairs.filter_map(|pair| Some((pair.key()?.to_owned(), pair.value()?.to_owned()))).collect();
    Some((blocks, metadata))
}

/// Buffers up to this length are decompressed at once, without a look at what is there of them.
const AT_ONCE_MAX: usize = 1 << 20;

thread_local! {
    /// Making one clears as much memory as many buffers take.
    static ZSTD: RefCell<zstd::bulk::Decompressor<'static>> = RefCell::default();
}

/// Replaces `out` by a buffer of `len` bytes that lies in `bytes` as its compression says. `None` if it has another
/// length. Memory grows with what is there, whatever is claimed.
pub(super) fn unpack(bytes: &[u8], compression: Compression, len: usize, out: &mut Vec<u8>) -> Option<()> {
    out.clear();
    if compression == Compression::None {
        out.extend_from_slice(bytes.get(..len)?);
        return Some(());
    }
    let (claimed, packed) = bytes.split_first_chunk::<8>()?;
    let claimed = i64::from_le_bytes(*claimed);
    if claimed == -1 {
        out.extend_from_slice(packed.get(..len)?);
        return Some(());
    }
    (usize::try_from(claimed) == Ok(len)).then_some(())?;
    if compression == Compression::Zstd && len <= AT_ONCE_MAX {
        out.reserve_exact(len);
        let unpacked = ZSTD.with_borrow_mut(|zstd| zstd.decompress_to_buffer(packed, out).ok());
        return (unpacked? == len).then_some(());
    }
    // Little compresses better than a hundredfold; a forged length does not make us allocate it.
    out.reserve(len.min(packed.len().saturating_mul(100)));
    let limit = len as u64 + 1;
    let read = match compression {
        Compression::Zstd => {
            zstd::Decoder::with_buffer(packed).and_then(|decoder| decoder.take(limit).read_to_end(out))
        }
        _ => lz4_flex::frame::FrameDecoder::new(packed).take(limit).read_to_end(out),
    };
    (read.ok()? == len).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_has_the_length_that_is_wanted_and_claimed() {
        let packed = |claimed: i64, bytes: Vec<u8>| [&claimed.to_le_bytes()[..], &bytes].concat();
        let zstd = zstd::bulk::compress(b"abcd", 3).expect("it fits into memory");
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        std::io::Write::write_all(&mut encoder, b"abcd").expect("it is written to memory");
        let lz4 = encoder.finish().expect("it is written to memory");
        let mut out = Vec::new();
        for (compression, bytes) in [(Compression::Zstd, zstd), (Compression::Lz4, lz4)] {
            for (claimed, len, is_right) in [(4, 4, true), (5, 4, false), (4, 5, false), (3, 3, false), (-2, 4, false)]
            {
                let unpacked = unpack(&packed(claimed, bytes.clone()), compression, len, &mut out);
                assert_eq!(unpacked.is_some(), is_right, "{claimed} {len}");
                assert!(!is_right || out == b"abcd");
            }
            let plain = packed(-1, b"abcd".to_vec());
            assert!(unpack(&plain, compression, 4, &mut out).is_some() && out == b"abcd");
            assert!(unpack(&plain, compression, 5, &mut out).is_none());
            assert!(unpack(b"abcd", compression, 4, &mut out).is_none());
        }
        assert!(unpack(b"abc", Compression::None, 4, &mut out).is_none());
    }
}
