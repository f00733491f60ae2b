//! One dictionary for each column of a file.
//!
//! In an Arrow file, a column has one dictionary, which later batches may only extend. In streams and in Parquet, each
//! batch may have a dictionary of its own. So the values of each dictionary are looked up in the column's dictionary,
//! those that are new are added to it, and the keys are changed to match.

use super::column::{ArrowColumn, ArrowStop, WrittenDown};
use super::error::unsupported;
use crate::bad_value::RawRecord;
use crate::error::Error;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    AnyDictionaryArray, Array, ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch, RecordBatchOptions, UInt64Array,
    make_array,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Field};
use arrow_select::{concat::concat, take::take};
use jird::event::{Place, Sink};
use std::collections::HashMap;
use std::sync::Arc;

/// The dictionaries of a file's columns, in the order in which the columns' types have them.
#[derive(Default)]
pub(super) struct Dictionaries(Vec<Dictionary>);

impl Dictionaries {
    /// The same batch, with the file's dictionaries.
    pub(super) fn unify(&mut self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let mut next = 0;
        let arrays = batch.columns().iter().map(|array| self.array(array, &mut next)).collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(batch.schema(), arrays, &options)?)
    }

    /// An array of any type, which may contain dictionaries; `next` is the number of its first one.
    fn array(&mut self, array: &ArrayRef, next: &mut usize) -> Result<ArrayRef, Error> {
        if !has_dictionary(array.data_type()) {
            return Ok(array.clone());
        }
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            if *next == self.0.len() {
                self.0.push(Dictionary::new(dictionary.values()));
            }
            *next += 1;
            return self.0[*next - 1].unify(dictionary);
        }
        let data = array.to_data();
        let child = |child: &_| self.array(&make_array(Clone::clone(child)), next).map(|array| array.to_data());
        let children = data.child_data().iter().map(child).collect::<Result<Vec<_>, _>>()?;
        Ok(make_array(data.into_builder().child_data(children).build()?))
    }
}

/// Whether values of a type may have a dictionary.
pub(super) fn has_dictionary(data_type: &DataType) -> bool {
    let in_field = |field: &Arc<Field>| has_dictionary(field.data_type());
    match data_type {
        DataType::Dictionary(..) => true,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => in_field(field),
        DataType::Struct(fields) => fields.iter().any(in_field),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| in_field(field)),
        _ => false,
    }
}

/// A column's dictionary, which grows.
struct Dictionary {
    values: ArrayRef,
    /// The place of each value, by its text.
    places: HashMap<Vec<u8>, usize>,
    /// The dictionary of the last batch, and the place of each of its values.
    last: ArrayRef,
    last_places: Vec<usize>,
}

impl Dictionary {
    fn new(values: &ArrayRef) -> Self {
        let values = values.slice(0, 0);
        Self { last: values.clone(), values, places: HashMap::new(), last_places: Vec::new() }
    }

    fn unify(&mut self, array: &dyn AnyDictionaryArray) -> Result<ArrayRef, Error> {
        if !self.last.to_data().ptr_eq(&array.values().to_data()) {
            self.add(array.values())?;
        }
        let is_null = |row: usize| array.keys().is_null(row);
        // Without values, every key is null.
        let keys = if array.values().is_empty() { vec![0; array.len()] } else { array.normalized_keys() };
        let place = |(row, key): (usize, &usize)| (!is_null(row)).then(|| self.last_places[*key]);
        let places = keys.iter().enumerate().map(place);
        match array.keys().data_type() {
            DataType::Int8 => self.with_keys::<Int8Type>(places),
            DataType::Int16 => self.with_keys::<Int16Type>(places),
            DataType::Int32 => self.with_keys::<Int32Type>(places),
            DataType::Int64 => self.with_keys::<Int64Type>(places),
            DataType::UInt8 => self.with_keys::<UInt8Type>(places),
            DataType::UInt16 => self.with_keys::<UInt16Type>(places),
            DataType::UInt32 => self.with_keys::<UInt32Type>(places),
            _ => self.with_keys::<UInt64Type>(places),
        }
    }

    /// Finds the place of each value of a batch's dictionary, and adds those that have none.
    fn add(&mut self, values: &ArrayRef) -> Result<(), Error> {
        let column = ArrowColumn::new(&Field::new("", values.data_type().clone(), true), values)?;
        let mut new = Vec::new();
        self.last_places.clear();
        for row in 0..values.len() {
            let mut text = RawRecord::default();
            let Ok(()) = text.begin_record(Place::default());
            match column.send(row, WrittenDown, &mut text) {
                Ok(()) => {}
                Err(ArrowStop::Source(error)) => return Err(error),
                Err(ArrowStop::Sink(never)) => match never {},
            }
            let next = self.values.len() + new.len();
            let place = *self.places.entry(text.into_text()).or_insert(next);
            if place == next {
                new.push(row as u64);
            }
            self.last_places.push(place);
        }
        if !new.is_empty() {
            let new = take(values, &UInt64Array::from(new), None)?;
            self.values = concat(&[&self.values, &new])?;
        }
        self.last = values.clone();
        Ok(())
    }

    fn with_keys<K: ArrowDictionaryKeyType>(
        &self,
        places: impl Iterator<Item = Option<usize>>,
    ) -> Result<ArrayRef, Error> {
        let key = |place: Option<usize>| match place {
            Some(place) => K::Native::from_usize(place).map(Some).ok_or(()),
            None => Ok(None),
        };
        let Ok(keys) = places.map(key).collect::<Result<PrimitiveArray<K>, ()>>() else {
            let message = format!("a dictionary has more values than its keys can count, which are {}", K::DATA_TYPE);
            return Err(unsupported(message));
        };
        Ok(Arc::new(DictionaryArray::try_new(keys, self.values.clone())?))
    }
}
