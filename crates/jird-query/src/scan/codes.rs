//! Texts as numbers: a column of a scan that groups are made by.
//!
//! In go values, out come codes: 0 for null, and for each text the number that it got when it came first. The columns of a
//! store have such numbers for the texts of a span ([`Cells::texts`](jird_store::Cells::texts)), and a table of at most 256
//! codes turns these into those of the query, so that no text of a row is looked at. All other values are looked up by
//! their text. What must hold: two values have the same code if and only if the column that the builder makes of them would
//! have the same text.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt8Type;
use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, Int32Array, StringArray};
use jird::record::Field;
use jird_formats::ColumnBuilder;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The code of null.
const NULL: i32 = 0;
/// Stands for a text that did not fit into the query's memory.
const NO_ROOM: i32 = -1;
/// Each text is kept in this table and by the threads that met it: the memory of four copies is taken, each with this many
/// bytes of overhead.
const COPIES: usize = 4;
const AROUND: usize = 64;

/// The codes of a column, which all scans of it share.
pub(crate) struct Codes {
    known: Mutex<CodeTable>,
    /// Takes this number of bytes of the query's memory, or says why it cannot.
    take_memory: Box<TakeMemory>,
}

type TakeMemory = dyn Fn(usize) -> Result<(), String> + Send + Sync;

#[derive(Debug, Default)]
struct CodeTable {
    codes: HashMap<Arc<str>, i32>,
    /// That of code 1 first.
    texts: Vec<Arc<str>>,
    /// Why there was no memory for a text.
    failure: Option<String>,
}

impl fmt::Debug for Codes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codes").field("known", &self.known).finish_non_exhaustive()
    }
}

impl Codes {
    /// No codes yet. Their texts will take memory.
    pub(crate) fn new(take_memory: impl Fn(usize) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self { known: Mutex::default(), take_memory: Box::new(take_memory) }
    }

    fn of(&self, text: &str) -> i32 {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = known.codes.get(text) {
            return *code;
        }
        if let Err(words) = (self.take_memory)(COPIES * (text.len() + AROUND)) {
            known.failure.get_or_insert(words);
            return NO_ROOM;
        }
        let (text, code) = (Arc::<str>::from(text), i32::try_from(known.texts.len() + 1).unwrap_or(NO_ROOM));
        known.texts.push(Arc::clone(&text));
        known.codes.insert(text, code);
        code
    }

    /// Says if there was no memory for a text of some codes, and why.
    pub(crate) fn check(&self, codes: &[i32]) -> Result<(), String> {
        if codes.contains(&NO_ROOM) { Err(self.failure()) } else { Ok(()) }
    }

    #[cold]
    fn failure(&self) -> String {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).failure.clone().unwrap_or_default()
    }

    /// The texts of some codes.
    pub(crate) fn texts(&self, codes: &[Option<i64>]) -> StringArray {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let text = |code: &Option<i64>| Some(&*known.texts[usize::try_from(code.as_ref()?.checked_sub(1)?).ok()?]);
        codes.iter().map(text).collect()
    }
}

/// Builds a column of codes next to a builder of the texts, which takes all values but those of words.
#[derive(Debug)]
pub(super) struct CodeBuilder {
    all: Arc<Codes>,
    codes: Vec<i32>,
    /// What this thread knows of the codes.
    known: HashMap<Box<str>, i32>,
    /// The words of the column that came last, and their codes.
    words: Option<(StringArray, [i32; 256])>,
}

impl CodeBuilder {
    pub(super) fn new(all: &Arc<Codes>) -> Self {
        Self { all: Arc::clone(all), codes: Vec::new(), known: HashMap::new(), words: None }
    }

    /// Appends those values of a column of words that are kept, after the values that the builder took before.
    pub(super) fn append_words(
        &mut self,
        texts: &mut ColumnBuilder,
        values: &DictionaryArray<UInt8Type>,
        kept: &BooleanArray,
    ) {
        self.encode(texts);
        let (keys, codes) = (values.keys(), self.codes_of(values.values().as_string(), texts));
        let numbers = keys.values();
        let code = |row: usize| if keys.is_valid(row) { codes[usize::from(numbers[row])] } else { NULL };
        if kept.true_count() < kept.len() {
            self.codes.extend(kept.values().set_indices().map(code));
            return;
        }
        // Without a branch for each row: what is null may have any number.
        let start = self.codes.len();
        self.codes.extend(numbers.iter().map(|key| codes[usize::from(*key)]));
        if let Some(nulls) = keys.nulls().filter(|nulls| nulls.null_count() > 0) {
            (!nulls.inner()).set_indices().for_each(|row| self.codes[start + row] = NULL);
        }
    }

    /// The column of all values.
    pub(super) fn finish(&mut self, texts: &mut ColumnBuilder) -> ArrayRef {
        self.encode(texts);
        Arc::new(Int32Array::from(std::mem::take(&mut self.codes)))
    }

    /// The codes of some words, by their numbers.
    fn codes_of(&mut self, words: &StringArray, texts: &mut ColumnBuilder) -> [i32; 256] {
        // All blocks of a span share their words.
        let is_same = |(same, _): &&(StringArray, _)| {
            same.values().ptr_eq(words.values()) && same.offsets().ptr_eq(words.offsets())
        };
        if let Some((_, codes)) = self.words.as_ref().filter(is_same) {
            return *codes;
        }
        let mut quoted = Vec::new();
        for word in words {
            quoted.clear();
            jird::hooks::write_string(word.unwrap_or_default(), &mut quoted);
            let appended = texts.append(std::str::from_utf8(&quoted).map_or(Field::MISSING, Field::from_raw));
            debug_assert!(appended.is_ok(), "a column with codes holds texts");
        }
        let start = self.codes.len();
        self.encode(texts);
        let mut codes = [NULL; 256];
        codes.iter_mut().zip(self.codes.drain(start..)).for_each(|(code, of_word)| *code = of_word);
        self.words = Some((words.clone(), codes));
        codes
    }

    /// Looks up the codes of the values that the builder took.
    fn encode(&mut self, texts: &mut ColumnBuilder) {
        for text in texts.finish().as_string::<i32>() {
            let code = text.map_or(NULL, |text| self.code(text));
            self.codes.push(code);
        }
    }

    fn code(&mut self, text: &str) -> i32 {
        if let Some(code) = self.known.get(text) {
            return *code;
        }
        let code = self.all.of(text);
        if code != NO_ROOM {
            self.known.insert(text.into(), code);
        }
        code
    }
}
