//! Forwards some paths, and nothing else.

use crate::event::protocol::{Scalar, forwards, scalars};
use crate::event::tracker::{Leads, Tracker};
use crate::event::{Interest, Key, Pattern, Place, Sink};

/// Forwards the values that some patterns lead to, with the arrays and objects around them, and answers
/// [`Skip`](Interest::Skip) to everything else. Unwanted values are neither converted nor sent.
///
/// If an object has a key twice and a pattern names that key, the first one counts. Objects and arrays on the way to a
/// value are kept, even if nothing is left in them; elements that are left out close the gap. Where a pattern leads
/// into a value that is a scalar, nothing is sent; a record that is such a scalar becomes `null`.
///
/// ```
/// use jird::event::{self, JsonSink, JsonSource, Pattern, filter::Project};
/// let text = br#"{"id":1,"user":{"name":"Ada","age":36},"tags":[{"k":1,"v":2},{"k":3}]} {"user":"Alan"} 5"#;
/// let paths = [Pattern::dotted("user.name"), "/tags/*/k".parse()?];
/// let mut out = Project::new(JsonSink::new(Vec::new()), paths);
/// event::copy(&mut JsonSource::from_slice(text), &mut out)?;
/// assert_eq!(out.into_inner().into_inner(), br#"{"user":{"name":"Ada"},"tags":[{"k":1},{"k":3}]}
/// {}
/// null
/// "#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Project<S> {
    sink: S,
    tracker: Tracker,
    /// By pattern: whether a value was there.
    met: Vec<bool>,
    /// Where the patterns lead that match up to the value of the current key.
    behind_key: Option<Leads>,
    /// A key held back until its value has begun: the value is wanted only if it is not a scalar.
    pending: Pending,
    state: ProjectState,
    /// The depth within a value that is taken or dropped as a whole.
    depth: usize,
}

/// A key that is held back.
#[derive(Clone, Debug, Default)]
struct Pending {
    is_there: bool,
    text: String,
    number: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProjectState {
    /// Patterns lead further into the value.
    Looks,
    /// Everything is wanted.
    Takes,
    /// Nothing is wanted.
    Drops,
}

impl<S: Sink> Project<S> {
    /// Forwards to `sink` the values that `paths` lead to.
    pub fn new(sink: S, paths: impl IntoIterator<Item = Pattern>) -> Self {
        let paths: Vec<_> = paths.into_iter().collect();
        Self {
            sink,
            met: vec![false; paths.len()],
            tracker: Tracker::new(paths).first_only(),
            behind_key: None,
            pending: Pending::default(),
            state: ProjectState::Looks,
            depth: 0,
        }
    }

    /// By pattern: whether a record so far had a value there. Of several patterns that lead to a value, it is the first.
    pub fn met(&self) -> &[bool] {
        &self.met
    }

    /// A reference to the sink.
    pub fn get_ref(&self) -> &S {
        &self.sink
    }

    /// The sink.
    pub fn into_inner(self) -> S {
        self.sink
    }

    /// Where the patterns lead that match up to the value that begins.
    fn leads(&mut self) -> Leads {
        match self.behind_key.take() {
            Some(leads) => leads,
            None if self.tracker.is_in_array() => self.tracker.element(),
            // Every record is forwarded, even if it is empty.
            None => Leads { further: true, ..self.tracker.root() },
        }
    }

    #[inline]
    fn meet(&mut self, leads: Leads) {
        if let Some(pattern) = leads.there {
            self.met[pattern] = true;
        }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<(), S::Error> {
        match self.state {
            ProjectState::Takes => return scalar.send(&mut self.sink),
            ProjectState::Drops => return Ok(()),
            ProjectState::Looks => {}
        }
        let is_record = self.behind_key.is_none() && self.tracker.is_at_root();
        self.pending.is_there = false;
        match self.leads() {
            Leads { there: Some(_), .. } => scalar.send(&mut self.sink),
            _ if is_record => self.sink.null(),
            _ => Ok(()),
        }
    }

    /// Whether to forward the array or object that begins.
    #[inline]
    fn begin(&mut self, object: bool) -> Result<bool, S::Error> {
        if self.state == ProjectState::Looks {
            let leads = self.leads();
            if leads.there.is_some() {
                self.state = ProjectState::Takes;
            } else if !leads.further || self.refuses()? {
                self.state = ProjectState::Drops;
            } else {
                self.tracker.enter(object);
                return Ok(true);
            }
        }
        self.depth += 1;
        Ok(self.state == ProjectState::Takes)
    }

    /// Sends the key that was held back, if there is one. Returns whether the sink skips its value.
    fn refuses(&mut self) -> Result<bool, S::Error> {
        let Pending { is_there, text, number } = &mut self.pending;
        if !core::mem::take(is_there) {
            return Ok(false);
        }
        let key = number.map_or(Key::new(text), |number| Key::numbered(text, number));
        Ok(self.sink.key(key)? == Interest::Skip)
    }

    /// Whether to forward the end of an array or object.
    #[inline]
    fn end(&mut self) -> bool {
        let state = self.state;
        if state == ProjectState::Looks {
            self.tracker.leave();
            return true;
        }
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.state = ProjectState::Looks;
        }
        state == ProjectState::Takes
    }
}

impl<S: Sink> Sink for Project<S> {
    type Error = S::Error;

    fn begin_record(&mut self, place: Place) -> Result<(), S::Error> {
        self.tracker.restart();
        (self.behind_key, self.pending.is_there, self.state, self.depth) = (None, false, ProjectState::Looks, 0);
        self.sink.begin_record(place)
    }

    fn begin_object(&mut self) -> Result<(), S::Error> {
        if self.begin(true)? { self.sink.begin_object() } else { Ok(()) }
    }

    #[inline]
    fn key(&mut self, key: Key<'_>) -> Result<Interest, S::Error> {
        match self.state {
            ProjectState::Takes => return self.sink.key(key),
            ProjectState::Drops => return Ok(Interest::Skip),
            ProjectState::Looks => {}
        }
        let leads = self.tracker.key(key.text());
        self.meet(leads);
        if leads.there.is_some() {
            if self.sink.key(key)? == Interest::Skip {
                return Ok(Interest::Skip);
            }
        } else if leads.further {
            self.pending.is_there = true;
            self.pending.number = key.number();
            self.pending.text.clear();
            self.pending.text.push_str(key.text());
        } else {
            return Ok(Interest::Skip);
        }
        self.behind_key = Some(leads);
        Ok(Interest::Take)
    }

    fn end_object(&mut self) -> Result<(), S::Error> {
        if self.end() { self.sink.end_object() } else { Ok(()) }
    }

    fn begin_array(&mut self) -> Result<(), S::Error> {
        if self.begin(false)? { self.sink.begin_array() } else { Ok(()) }
    }

    fn end_array(&mut self) -> Result<(), S::Error> {
        if self.end() { self.sink.end_array() } else { Ok(()) }
    }

    scalars!();

    forwards!(self => self.sink, Into::into; end_record wants_more finish);
}
