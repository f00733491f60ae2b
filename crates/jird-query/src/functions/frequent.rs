//! `mode(x)` and `histogram(x)`: the most frequent value, and how often there is each.

use super::predicate::json_field;
use crate::sql::{JSON_HISTOGRAM, JSON_MODE};
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field as ArrowField, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use jird::hooks::write_object;
use jird::record::Field;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::collections::hash_map::{self, HashMap};
use std::sync::Arc;

/// One of the two functions, over JSON texts. Equal values are one, however they are spelled; of values that are as
/// frequent the least is the mode, so that it is the same with any number of threads.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frequent {
    histogram: bool,
    signature: Signature,
}

impl Frequent {
    /// Both of them.
    pub(crate) fn all() -> impl Iterator<Item = AggregateUDF> {
        let signature = || Signature::any(1, Volatility::Immutable);
        [false, true].map(|histogram| Self { histogram, signature: signature() }.into()).into_iter()
    }
}

impl AggregateUDFImpl for Frequent {
    fn name(&self) -> &'static str {
        if self.histogram { JSON_HISTOGRAM } else { JSON_MODE }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field(&self, _: &[FieldRef]) -> Result<FieldRef> {
        Ok(json_field(self.name()))
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Counts { histogram: self.histogram, values: BTreeMap::new(), bytes: 0 }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(ArrowField::new(format!("{}[counts]", args.name), DataType::Utf8, true))])
    }
}

/// How often there is each value. The keys order them and are equal for equal ones.
#[derive(Debug)]
struct Counts {
    histogram: bool,
    values: BTreeMap<Vec<u8>, (Box<str>, u64)>,
    /// What keys and texts take.
    bytes: usize,
}

/// What an entry takes besides its key and its text.
const ENTRY_BYTES: usize = 80;

impl Counts {
    fn add(&mut self, text: &str, count: u64) {
        let field = Field::from_raw(text);
        if field.is_null() {
            return;
        }
        let mut key = Vec::new();
        field.order_key(&mut key);
        match self.values.entry(key) {
            // Of several spellings, the first in the order of texts: not that of the thread that came first.
            Entry::Occupied(mut known) => {
                let (known, counted) = known.get_mut();
                *counted += count;
                if text < &**known {
                    *known = text.into();
                }
            }
            Entry::Vacant(vacant) => {
                self.bytes += vacant.key().len() + text.len() + ENTRY_BYTES;
                vacant.insert((text.into(), count));
            }
        }
    }

    fn histogram(&self) -> String {
        // The keys of an object are texts: 1 and "1" have one.
        let mut counts: Vec<(Cow<'_, str>, u64)> = Vec::new();
        let mut places: HashMap<Cow<'_, str>, usize> = HashMap::new();
        for (value, count) in self.values.values() {
            let key = Field::from_raw(value).as_str().unwrap_or(Cow::Borrowed(value));
            match places.entry(key.clone()) {
                hash_map::Entry::Occupied(place) => counts[*place.get()].1 += count,
                hash_map::Entry::Vacant(place) => {
                    place.insert(counts.len());
                    counts.push((key, *count));
                }
            }
        }
        let mut text = Vec::new();
        write_object(&mut text, |object| counts.iter().for_each(|(key, count)| object.member(key, *count)));
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Accumulator for Counts {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let texts = arrow_cast::cast(&columns[0], &DataType::Utf8)?;
        texts.as_string::<i32>().iter().flatten().for_each(|text| self.add(text, 1));
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for state in states[0].as_string::<i32>().iter().flatten() {
            for line in state.lines() {
                if let Some((count, text)) = line.split_once(' ') {
                    self.add(text, count.parse().unwrap_or_default());
                }
            }
        }
        Ok(())
    }

    /// A line for each value: JSON texts of records have no line feeds that count.
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut text = String::new();
        for (value, count) in self.values.values() {
            text.extend([&count.to_string(), " ", &value.replace(['\n', '\r'], " "), "\n"]);
        }
        Ok(vec![ScalarValue::Utf8(Some(text))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.histogram {
            return Ok(ScalarValue::Utf8((!self.values.is_empty()).then(|| self.histogram())));
        }
        let mut most: Option<&(Box<str>, u64)> = None;
        for counted in self.values.values() {
            if most.is_none_or(|most| counted.1 > most.1) {
                most = Some(counted);
            }
        }
        Ok(ScalarValue::Utf8(most.map(|(text, _)| text.to_string())))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.bytes
    }
}
