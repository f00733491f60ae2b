//! Reading the pieces of a text's block, and merging those that overlap.

use super::State;
use super::text::{Home, Piece};
use crate::column::Fields;
use crate::error::{Error, ErrorKind};
use crate::event::Key;
use crate::index::Condition;
use crate::span::{BlockRows, Fault};
use arrow_buffer::BooleanBuffer;

/// A piece that was read: its lines, and the keys and offsets of its block if they are needed.
struct Lines<'p> {
    piece: &'p Piece,
    text: Vec<u8>,
    rows: Option<BlockRows>,
}

impl State {
    /// The keys and offsets of a block. `None` if they cannot be read, which is noted.
    pub(super) fn rows(&self, home: Home) -> Option<BlockRows> {
        match home {
            Home::Span(number, block) => {
                let span = &self.spans[number];
                span.read_rows(block).map_err(|fault| span.note(block, &fault)).ok()
            }
            Home::Recent(block) => {
                let rows = self.recent.block(block);
                let mut offsets = vec![0];
                let mut end = 0;
                offsets.extend(rows.iter().map(|row| {
                    end += row.len() as u32;
                    end
                }));
                Some(BlockRows { keys: rows.iter().map(|row| row.key).collect(), offsets })
            }
        }
    }

    /// Replaces `buffer` by the lines of some pieces, in their order. Returns whether columns answered, so that no
    /// document was read.
    pub(super) fn read(
        &self,
        pieces: &[Piece],
        fields: Option<&Fields>,
        condition: Option<&Condition>,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        if let [piece] = pieces {
            return self.read_alone(piece, fields, condition, buffer);
        }
        buffer.clear();
        let overlap = pieces.windows(2).any(|pair| pair[0].last >= pair[1].first);
        let (mut read, mut by_columns) = (Vec::new(), !overlap);
        for piece in pieces {
            let mut text = Vec::new();
            if !overlap {
                by_columns &= self.read_alone(piece, fields, condition, &mut text)?;
                buffer.extend_from_slice(&text);
                continue;
            }
            if !self.read_piece(piece, &mut text)? {
                continue;
            }
            let rows = self.rows(piece.home);
            if rows.is_some() {
                read.push(Lines { piece, text, rows });
            }
        }
        merge(&read, None, buffer);
        Ok(by_columns)
    }

    /// Replaces `buffer` by the lines of some pieces, and `keys` by the keys of their events, in the order of these.
    pub(super) fn read_keyed(&self, pieces: &[Piece], keys: &mut Vec<Key>, buffer: &mut Vec<u8>) -> Result<(), Error> {
        keys.clear();
        buffer.clear();
        let mut read = Vec::new();
        for piece in pieces {
            let mut text = Vec::new();
            if self.read_piece(piece, &mut text)? {
                let rows = self.rows(piece.home);
                read.push(Lines { piece, text, rows });
            }
        }
        merge(&read, Some(keys), buffer);
        Ok(())
    }

    /// Replaces `buffer` by the lines of a piece that overlaps with no other: lines of its columns if they have all
    /// that is looked at, else documents; in both cases without those that the columns prove not to match. Returns
    /// whether columns answered.
    fn read_alone(
        &self,
        piece: &Piece,
        fields: Option<&Fields>,
        condition: Option<&Condition>,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let columns = match piece.home {
            Home::Span(span, block) => self.spans[span].columns(block, fields, condition),
            Home::Recent(_) => None,
        };
        let Some(columns) = columns.filter(|columns| piece.rows.end <= columns.rows()) else {
            return self.read_piece(piece, buffer).map(|_| false);
        };
        let kept = condition.and_then(|condition| columns.decide(condition));
        let kept = kept.unwrap_or_else(|| BooleanBuffer::new_set(columns.rows()));
        let kept = kept.slice(piece.rows.start, piece.rows.len());
        let count = kept.count_set_bits();
        if count == 0 {
            buffer.clear();
            return Ok(true);
        }
        let numbers = kept.set_indices().map(|row| piece.rows.start + row);
        if fields.is_some_and(|fields| columns.write(fields, numbers, buffer)) {
            return Ok(true);
        }
        if !self.read_piece(piece, buffer)? || count > piece.rows.len() / 4 * 3 {
            return Ok(false);
        }
        let rows = self.rows(piece.home).filter(|rows| rows.keys.len() == columns.rows());
        let Some(rows) = rows else { return Ok(false) };
        let mut filled = 0;
        for (start, end) in kept.set_slices() {
            let bytes = |row: usize| (rows.offsets[piece.rows.start + row] as usize).saturating_sub(piece.bytes.start);
            let (start, end) = (bytes(start), bytes(end).min(buffer.len()));
            if start < end && buffer[end - 1] == b'\n' {
                buffer.copy_within(start..end, filled);
                filled += end - start;
            }
        }
        buffer.truncate(filled);
        Ok(false)
    }

    /// Replaces `buffer` by the lines of a piece. `false` if its block is damaged, which is noted.
    fn read_piece(&self, piece: &Piece, buffer: &mut Vec<u8>) -> Result<bool, Error> {
        match piece.home {
            Home::Recent(block) => {
                let rows = &self.recent.block(block)[piece.rows.clone()];
                buffer.clear();
                buffer.reserve(piece.bytes.len());
                rows.iter().for_each(|row| buffer.extend_from_slice(self.recent.event(row)));
                Ok(true)
            }
            Home::Span(number, block) => {
                let span = &self.spans[number];
                match span.read_documents(block, buffer) {
                    Ok(()) => {}
                    Err(Fault::Io(error)) if !is_of_content(&error) => {
                        let file = self.folder.span(span.number());
                        return Err(Error::new(
                            ErrorKind::Io(error.kind()),
                            format!("cannot read {}: {error}", file.display()),
                        ));
                    }
                    Err(fault) => {
                        buffer.clear();
                        span.note(block, &fault);
                        return Ok(false);
                    }
                }
                // The offsets come from another stretch of the file than the documents, and may lie.
                if !piece.is_whole {
                    buffer.truncate(piece.bytes.end);
                    buffer.drain(..piece.bytes.start.min(buffer.len()));
                    if buffer.last() != Some(&b'\n') {
                        buffer.clear();
                        span.note(block, &Fault::Wrong("its offsets are not those of its lines"));
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

/// Whether a read failed because of what is in the file, and not because the operating system refused.
fn is_of_content(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidData)
}

/// Appends the lines of some pieces in the order of their keys, and these, if they are wanted.
fn merge(read: &[Lines<'_>], keys: Option<&mut Vec<Key>>, buffer: &mut Vec<u8>) {
    let mut all: Vec<(Key, &[u8])> = Vec::new();
    for Lines { piece, text, rows } in read {
        let Some(rows) = rows else { continue };
        for number in piece.rows.clone() {
            let (Some(&key), Some(&[start, end])) =
                (rows.keys.get(number), rows.offsets.get(number..number + 2).and_then(|pair| pair.first_chunk::<2>()))
            else {
                continue;
            };
            let within = |offset: u32| (offset as usize).checked_sub(piece.bytes.start);
            let range = within(start).zip(within(end));
            let Some(line) = range.and_then(|(start, end)| text.get(start..end)) else { continue };
            // A lying offset gives a piece of a line, which must not run into the next.
            if line.last() == Some(&b'\n') {
                all.push((key, line));
            }
        }
    }
    // Sorting finds the runs that are in order already.
    all.sort_by_key(|(key, _)| *key);
    buffer.reserve(all.iter().map(|(_, line)| line.len()).sum());
    all.iter().for_each(|(_, line)| buffer.extend_from_slice(line));
    if let Some(keys) = keys {
        keys.extend(all.iter().map(|(key, _)| *key));
    }
}
