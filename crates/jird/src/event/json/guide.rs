//! Follows a pattern through the text around records.

#[cfg(feature = "serde")]
use crate::error::Error;
use crate::event::tracker::{Leads, Tracker};
use crate::event::{Interest, Key, Pattern, Sink};
#[cfg(feature = "serde")]
use crate::path::Step;
use core::convert::Infallible;

/// Receives the events of the text around the records, and says at each value whether it is a record.
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "only types take records by themselves and name paths"))]
#[derive(Debug)]
pub(super) struct Guide {
    tracker: Tracker,
    /// The depth of the containers that have records as all of their elements or members, if there are any.
    depth_of_all: Option<usize>,
    /// By depth: the key that led on from the object there. Entries of arrays, and of objects that have ended, mean nothing.
    keys: Vec<String>,
}

#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "only types take records by themselves and name paths"))]
impl Guide {
    /// None if each document is a record.
    pub(super) fn new(pattern: Pattern) -> Option<Box<Self>> {
        let segments = pattern.segments();
        let last = segments.last()?;
        Some(Box::new(Self {
            depth_of_all: last.name().is_none().then_some(segments.len()),
            tracker: Tracker::new(vec![pattern]),
            keys: Vec::new(),
        }))
    }

    /// A document begins.
    pub(super) fn restart(&mut self) {
        self.tracker.restart();
    }

    /// The number of arrays and objects around the value that comes next.
    pub(super) fn depth(&self) -> usize {
        self.tracker.depth()
    }

    /// Whether the innermost container is an array, and all of its elements are records.
    #[inline]
    pub(super) fn is_among_records(&self) -> bool {
        self.depth_of_all == Some(self.tracker.depth()) && self.tracker.is_in_array()
    }

    /// The caller goes to the next element of an array of records without asking where the pattern leads.
    #[inline]
    pub(super) fn count_record(&mut self) {
        self.tracker.count_element();
    }

    /// Where the pattern leads at the value that comes next. To be asked once for each value.
    #[inline]
    pub(super) fn leads(&mut self) -> Leads {
        if self.tracker.is_in_array() {
            return self.tracker.element();
        }
        if self.tracker.is_at_root() {
            self.tracker.restart();
        }
        self.tracker.here()
    }

    /// Adds the steps that lead to the value.
    #[cfg(feature = "serde")]
    pub(super) fn inside(&self, error: Error) -> Error {
        let steps = self.tracker.indices().zip(&self.keys).rev();
        steps.fold(error, |error, (index, key)| {
            error.inside(
                index.map_or_else(|| Step::key(key), |index| Step::Index(usize::try_from(index).unwrap_or(usize::MAX))),
            )
        })
    }

    /// An array or object begins.
    fn enter(&mut self, object: bool) {
        self.tracker.enter(object);
        if self.keys.len() < self.tracker.depth() {
            self.keys.push(String::new());
        }
    }
}

impl Sink for Guide {
    type Error = Infallible;

    fn begin_object(&mut self) -> Result<(), Infallible> {
        self.enter(true);
        Ok(())
    }

    fn key(&mut self, key: Key<'_>) -> Result<Interest, Infallible> {
        let leads = self.tracker.key(key.text());
        if leads.there.is_none() && !leads.further {
            return Ok(Interest::Skip);
        }
        let noted = &mut self.keys[self.tracker.depth() - 1];
        noted.clear();
        noted.push_str(key.text());
        Ok(Interest::Take)
    }

    fn end_object(&mut self) -> Result<(), Infallible> {
        self.tracker.leave();
        Ok(())
    }

    fn begin_array(&mut self) -> Result<(), Infallible> {
        self.enter(false);
        Ok(())
    }

    fn end_array(&mut self) -> Result<(), Infallible> {
        self.tracker.leave();
        Ok(())
    }
}
