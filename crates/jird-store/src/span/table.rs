//! The table of the blocks of a span file.

use super::{BLOCK_BYTES_MAX, columns};
use crate::column::{ColumnFacts, ColumnType, Digits, TEXT_MAX};
use crate::event::Key;
use crate::notation;
use crate::settings::Compression;
use arrow_array::StringArray;
use jird::hooks::{ArrayWriter, write_object};
use jird::{Path, Value};

/// Where the blocks of a span file are, and what is in them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// The arrival number to which the column `arrival` adds.
    pub(crate) base: u64,
    /// The highest arrival number.
    pub(crate) arrival_last: u64,
    pub(crate) compression: Compression,
    /// The fields that are stored as columns, and their types.
    pub(crate) columns: Vec<(Path, ColumnType)>,
    /// The words of each of these columns that is one of words.
    pub(crate) words: Vec<StringArray>,
    /// Whether the events suggested these fields.
    pub(crate) has_auto_columns: bool,
    pub(crate) blocks: Vec<BlockEntry>,
}

/// A block of a span file. Its message is three stretches, one after the other: the head, with the columns `time` and
/// `arrival` and the offsets of the documents; the documents; the tail, with the other columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockEntry {
    /// Where the message begins in the file.
    pub(crate) offset: u64,
    /// Bytes of the three stretches on disk.
    pub(crate) head_bytes: u64,
    pub(crate) document_bytes: u64,
    pub(crate) tail_bytes: u64,
    /// Bytes of the documents, not compressed.
    pub(crate) text_bytes: u64,
    pub(crate) events: u64,
    pub(crate) first: Key,
    pub(crate) last: Key,
    /// The checksums of the three stretches; `None` if the table was made from a file without one.
    pub(crate) sums: Option<[u64; 3]>,
    /// What each of these columns does not show.
    pub(crate) facts: Vec<ColumnFacts>,
    /// Checksums for those who read only some columns; `None` in older files.
    pub(crate) parts: Option<PartSums>,
}

/// Checksums of parts of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartSums {
    /// Bytes of the metadata with which the head begins, and their checksum.
    pub(crate) metadata_bytes: u64,
    pub(crate) metadata: u32,
    /// Of the stretch of each further column.
    pub(crate) columns: Vec<u32>,
}

impl BlockEntry {
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.head_bytes + self.document_bytes + self.tail_bytes
    }

    pub(crate) fn document_offset(&self) -> u64 {
        self.offset + self.head_bytes
    }

    fn write(&self, out: &mut ArrayWriter<'_>) {
        let Self { offset, head_bytes, document_bytes, tail_bytes, text_bytes, events, first, last, .. } = *self;
        for number in [offset, head_bytes, document_bytes, tail_bytes, text_bytes, events] {
            out.element(number);
        }
        for key in [first, last] {
            out.element(key.time);
            out.element(key.arrival);
        }
        self.sums.unwrap_or_default().iter().for_each(|sum| out.element(&notation::digits(*sum)));
        self.facts.iter().for_each(|facts| out.element(facts.to_byte()));
    }

    fn write_parts(&self, out: &mut ArrayWriter<'_>) {
        let Some(PartSums { metadata_bytes, metadata, columns }) = &self.parts else { return };
        out.element(*metadata_bytes);
        out.element(*metadata);
        columns.iter().for_each(|sum| out.element(*sum));
    }

    /// Whether it can be in a file of this length.
    fn fits(&self, file_bytes: u64) -> bool {
        let parts = [self.offset, self.head_bytes, self.document_bytes, self.tail_bytes];
        let end = parts.iter().try_fold(0_u64, |end, part| end.checked_add(*part));
        end.is_some_and(|end| end <= file_bytes)
            && self.text_bytes <= BLOCK_BYTES_MAX
            && (1..=self.text_bytes).contains(&self.events)
            && self.first <= self.last
            && self.parts.as_ref().is_none_or(|parts| parts.metadata_bytes <= self.head_bytes)
    }
}

impl Table {
    /// A table of no blocks, to whose arrival numbers `base` is added.
    pub(crate) fn without_blocks(base: u64, compression: Compression) -> Self {
        Self {
            base,
            arrival_last: base,
            compression,
            columns: Vec::new(),
            words: Vec::new(),
            has_auto_columns: false,
            blocks: Vec::new(),
        }
    }

    pub(crate) fn write(&self) -> String {
        let mut out = Vec::with_capacity(200 + 200 * self.blocks.len());
        write_object(&mut out, |table| {
            table.member("version", 1_u64);
            table.array("arrivals", |range| [self.base, self.arrival_last].map(|arrival| range.element(arrival)));
            table.member("compression", self.compression.name());
            table.array("columns", |columns| {
                for ((path, kind), words) in self.columns.iter().zip(&self.words) {
                    columns.array(|column| {
                        column.array(|steps| notation::write_path(path, steps));
                        column.element(columns::type_name(*kind));
                        match kind {
                            ColumnType::Words => {
                                column.array(|out| words.iter().flatten().for_each(|word| out.element(word)));
                            }
                            ColumnType::Decimal(digits) => column.element(u64::from(digits.count())),
                            _ => {}
                        }
                    });
                }
            });
            if self.has_auto_columns {
                table.member("auto_columns", true);
            }
            table.array("blocks", |blocks| self.blocks.iter().for_each(|block| blocks.array(|out| block.write(out))));
            if self.blocks.iter().all(|block| block.parts.is_some()) {
                let parts = |block: &BlockEntry, out: &mut ArrayWriter<'_>| out.array(|out| block.write_parts(out));
                table.array("parts", |out| self.blocks.iter().for_each(|block| parts(block, out)));
            }
        });
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    /// Reads a table of a file of this length. `None` if something is missing, or cannot be.
    pub(crate) fn read(text: &[u8], file_bytes: u64) -> Option<Self> {
        let document = jird::parse(text).ok()?;
        let root = document.root();
        root.get("version").and_then(Value::as_u64).filter(|version| *version == 1)?;
        let arrivals = root.get("arrivals")?;
        let columns: Vec<_> = root.get("columns")?.elements().map(column).collect::<Option<_>>()?;
        let (columns, words) = columns.into_iter().unzip();
        let mut blocks: Vec<_> = root.get("blocks")?.elements().map(block).collect::<Option<_>>()?;
        if let Some(parts) = root.get("parts") {
            let parts: Vec<_> = parts.elements().map(part_sums).collect::<Option<_>>()?;
            (parts.len() == blocks.len()).then_some(())?;
            blocks.iter_mut().zip(parts).for_each(|(block, parts)| block.parts = Some(parts));
        }
        let table = Self {
            base: arrivals.at(0)?.as_u64()?,
            arrival_last: arrivals.at(1)?.as_u64()?,
            compression: notation::compression(root.get("compression")?)?,
            columns,
            words,
            has_auto_columns: root.get("auto_columns").and_then(Value::as_bool) == Some(true),
            blocks,
        };
        let in_order = table.blocks.windows(2).all(|pair| pair[0].last <= pair[1].first);
        let fits = table.blocks.iter().all(|block| block.fits(file_bytes));
        let has_arrivals = table.arrival_last.checked_sub(table.base).is_some_and(|range| u32::try_from(range).is_ok());
        let is_whole = |block: &BlockEntry| {
            let sums = block.parts.as_ref().map(|parts| parts.columns.len());
            block.facts.len() == table.columns.len() && sums.is_none_or(|sums| sums == table.columns.len())
        };
        let has_facts = table.blocks.iter().all(is_whole);
        (has_facts && in_order && fits && has_arrivals && !table.blocks.is_empty()).then_some(table)
    }

    pub(crate) fn events(&self) -> u64 {
        self.blocks.iter().map(|block| block.events).sum()
    }

    pub(crate) fn text_bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.text_bytes).sum()
    }
}

/// A column with its type, and its words.
fn column(value: Value<'_>) -> Option<((Path, ColumnType), StringArray)> {
    let digits = || Digits::new(u8::try_from(value.at(2)?.as_u64()?).ok()?);
    let kind = columns::type_of_name(&value.at(1)?.as_str()?, digits)?;
    let words: Vec<_> = match kind {
        ColumnType::Words => {
            let words: Vec<_> = value.at(2)?.elements().map(Value::as_str).collect::<Option<_>>()?;
            // A row of a few bits may not stand for megabytes.
            words.iter().all(|word| word.len() <= TEXT_MAX).then_some(words)?
        }
        _ => Vec::new(),
    };
    Some(((notation::path(value.at(0)?)?, kind), StringArray::from_iter_values(words)))
}

fn block(value: Value<'_>) -> Option<BlockEntry> {
    let mut elements = value.elements();
    let mut block = BlockEntry::default();
    for number in [
        &mut block.offset,
        &mut block.head_bytes,
        &mut block.document_bytes,
        &mut block.tail_bytes,
        &mut block.text_bytes,
        &mut block.events,
    ] {
        *number = elements.next()?.as_u64()?;
    }
    for key in [&mut block.first, &mut block.last] {
        *key = Key { time: elements.next()?.as_i64()?, arrival: elements.next()?.as_u64()? };
    }
    let mut sums = [0; 3];
    for sum in &mut sums {
        *sum = notation::sum(elements.next()?)?;
    }
    block.sums = Some(sums);
    let fact = |value: Value<'_>| Some(ColumnFacts::of_byte(u8::try_from(value.as_u64()?).ok()?));
    block.facts = elements.map(fact).collect::<Option<_>>()?;
    Some(block)
}

fn part_sums(value: Value<'_>) -> Option<PartSums> {
    let mut elements = value.elements();
    let metadata_bytes = elements.next()?.as_u64()?;
    let mut sums = elements.map(|sum| u32::try_from(sum.as_u64()?).ok());
    Some(PartSums { metadata_bytes, metadata: sums.next()??, columns: sums.collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::{BlockEntry, ColumnFacts, PartSums, Table, block};
    use crate::column::{ColumnType, Digits};
    use crate::settings::Compression;
    use arrow_array::StringArray;
    use jird::hooks::write_array;

    /// The checksums stand between numbers and facts, so leaving them out would move what follows.
    #[test]
    fn a_block_is_written_with_a_place_for_each_checksum() {
        let facts = vec![ColumnFacts::of_byte(1), ColumnFacts::of_byte(0)];
        for sums in [Some([1, u64::MAX, 7]), None] {
            let entry = BlockEntry {
                offset: 9,
                events: 3,
                text_bytes: 40,
                sums,
                facts: facts.clone(),
                ..BlockEntry::default()
            };
            let mut text = Vec::new();
            write_array(&mut text, |out| entry.write(out));
            let read = block(jird::parse(&text).unwrap().root());
            assert_eq!(read, Some(BlockEntry { sums: Some(sums.unwrap_or_default()), ..entry }));
        }
    }

    /// Without digits, or with more than nine, it is no type of decimals.
    #[test]
    fn a_type_of_decimals_has_its_digits() {
        let kind = ColumnType::Decimal(Digits::new(4).unwrap());
        let entry =
            BlockEntry { events: 1, text_bytes: 3, facts: vec![ColumnFacts::of_byte(0)], ..BlockEntry::default() };
        let table = Table {
            columns: vec![(jird::Path::root().key("a"), kind)],
            words: vec![StringArray::from_iter_values([""; 0])],
            blocks: vec![BlockEntry { sums: Some([1; 3]), ..entry }],
            ..Table::without_blocks(0, Compression::None)
        };
        let text = table.write();
        assert_eq!(Table::read(text.as_bytes(), 99), Some(table));
        for wrong in ["", ",10", ",-1", ",300", ",\"4\""] {
            let forged = text.replace("\"decimal\",4", &format!("\"decimal\"{wrong}"));
            assert!(forged != text && Table::read(forged.as_bytes(), 99).is_none(), "{wrong}");
        }
    }

    /// Parts that are not one per block, or have another number of columns, are no table.
    #[test]
    fn parts_are_of_all_blocks_and_columns() {
        let parts = |columns: &[u32]| Some(PartSums { metadata_bytes: 5, metadata: u32::MAX, columns: columns.into() });
        let entry = |parts| BlockEntry {
            head_bytes: 9,
            events: 1,
            text_bytes: 3,
            sums: Some([1; 3]),
            facts: vec![ColumnFacts::of_byte(0)],
            parts,
            ..BlockEntry::default()
        };
        let table = |blocks: Vec<BlockEntry>| Table {
            columns: vec![(jird::Path::root().key("a"), ColumnType::Number)],
            words: vec![StringArray::from_iter_values([""; 0])],
            blocks,
            ..Table::without_blocks(0, Compression::None)
        };
        let whole = table(vec![entry(parts(&[7])), entry(parts(&[8]))]);
        let text = whole.write();
        assert_eq!(Table::read(text.as_bytes(), 99), Some(whole.clone()));
        for (old, new) in [("[5,4294967295,8]", "[5,4294967295]"), (",[5,4294967295,8]", ""), (",8]", ",4294967296]")] {
            assert!(text.contains(old) && Table::read(text.replace(old, new).as_bytes(), 99).is_none(), "{new}");
        }
        assert_eq!(Table::read(text.replace("[5,4294967295,8]", "[10,4294967295,8]").as_bytes(), 99), None);
        // Without them, as in an older file.
        let without = table(vec![entry(None), entry(None)]);
        assert_eq!(Table::read(without.write().as_bytes(), 99), Some(without));
        let mixed = table(vec![entry(parts(&[7])), entry(None)]);
        assert!(!mixed.write().contains("parts"));
    }
}
