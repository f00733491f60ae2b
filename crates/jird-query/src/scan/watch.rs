//! Observes types during a scan: a scan with guessed types finds out whether the guess was right.

use crate::input::{Input, InputFile};
use jird::Path;
use jird_formats::Accumulator;
use std::sync::{Mutex, PoisonError};

/// Observes some fields of every record that is scanned, whether it matches or not.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) paths: Vec<Path>,
    seen: Mutex<Observations>,
    /// The extent of the whole input.
    all: Extent,
}

#[derive(Debug)]
struct Observations {
    fields: Vec<Accumulator>,
    extent: Extent,
}

/// An amount of input: the bytes of files that can be cut, and the number of other files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) bytes: u64,
    pub(crate) files: usize,
}

impl Extent {
    fn of(file: &InputFile) -> Self {
        file.size.map_or(Self { bytes: 0, files: 1 }, |bytes| Self { bytes, files: 0 })
    }

    fn add(&mut self, more: Self) {
        self.bytes += more.bytes;
        self.files += more.files;
    }
}

impl Watch {
    pub(crate) fn new(paths: Vec<Path>, input: &Input) -> Self {
        let mut all = Extent::default();
        input.files.iter().for_each(|file| all.add(Extent::of(file)));
        let seen = Observations { fields: vec![Accumulator::default(); paths.len()], extent: Extent::default() };
        Self { paths, seen: Mutex::new(seen), all }
    }

    /// A watch that another process has set. It alone knows how much there is to be seen.
    #[cfg(feature = "cluster")]
    pub(crate) fn elsewhere(paths: Vec<Path>) -> Self {
        let seen = Observations { fields: vec![Accumulator::default(); paths.len()], extent: Extent::default() };
        Self { paths, seen: Mutex::new(seen), all: Extent::default() }
    }

    /// The observations, and how much of the input they cover.
    #[cfg(feature = "cluster")]
    pub(crate) fn seen(&self) -> (Vec<Accumulator>, Extent) {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        (seen.fields.clone(), seen.extent)
    }

    /// Adds the observations of a scan over a part of the input.
    pub(crate) fn take(&self, fields: &[Accumulator], extent: Extent) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.fields.iter_mut().zip(fields).for_each(|(all, field)| all.merge(field));
        seen.extent.add(extent);
    }

    /// The observations, if they cover the whole input.
    pub(crate) fn all(&self) -> Option<Vec<Accumulator>> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        (seen.extent == self.all).then(|| seen.fields.clone())
    }
}
