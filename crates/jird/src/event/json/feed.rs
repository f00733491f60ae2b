//! JSON text that arrives in pieces.

use super::Failing;
use super::cutter::{Cutter, CutterStep};
use crate::error::Error;
use crate::event::pattern::Pattern;
use crate::event::{Failure, Sink};
use crate::fault::ErrorKind;
use crate::kernel::Kernel;
use crate::scan::{Pieces, Pull};

/// JSON text that the caller pushes in pieces, cut anywhere. Each piece sends the events that it completes.
///
/// After each [`feed`](Self::feed) the sink has received every event that the bytes so far decide: a string once its
/// closing quote has arrived, a number once another byte has followed it. So if the text is cut off, the sink holds
/// everything that is complete. A call takes time proportional to the new bytes (plus some 100 ns for a piece), and
/// memory for the largest token.
///
/// ```
/// use jird::event::{Feed, JsonSink};
/// let mut out = JsonSink::new(Vec::new());
/// let mut feed = Feed::new();
/// for piece in [&br#"{"answer": "It de"#[..], br#"pends", "confid"#, br#"ence": 0.5, "because": ["#] {
///     feed.feed(piece, &mut out)?;
/// }
/// assert_eq!(out.so_far(), br#"{"answer":"It depends","confidence":0.5,"because":["#);
/// feed.feed(b"]}", &mut out)?;
/// feed.finish(&mut out)?;
/// assert_eq!(out.into_inner(), b"{\"answer\":\"It depends\",\"confidence\":0.5,\"because\":[]}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Feed {
    pull: Pull<Pieces>,
    cutter: Cutter,
    /// The sink wants no more records.
    over: bool,
}

impl Feed {
    /// The records are the consecutive values of the text.
    pub fn new() -> Self {
        Self::records(Pattern::default())
    }

    /// The records are the values that `pattern` leads to, as for [`JsonSource::records`](super::JsonSource::records).
    pub fn records(pattern: Pattern) -> Self {
        Self { pull: Pull::new(Pieces::default(), Kernel::best()), cutter: Cutter::new(pattern), over: false }
    }

    /// Takes more text, and sends the events that it completes.
    ///
    /// # Errors
    /// An error in the text so far, reported as soon as the byte has arrived that rules out a valid text; or the sink's
    /// error. The feed cannot be used after an error.
    pub fn feed<S: Sink>(&mut self, piece: &[u8], sink: &mut S) -> Result<(), Failing<S::Error>> {
        // Text that the sink no longer wants need not be kept.
        if !self.over {
            self.pull.add(piece);
        }
        self.send(sink).map(drop)
    }

    /// The text ends here: sends the remaining events, and [finishes](Sink::finish) the sink.
    ///
    /// # Errors
    /// As [`feed`](Self::feed); also if the text is not complete.
    pub fn finish<S: Sink>(mut self, sink: &mut S) -> Result<(), Failing<S::Error>> {
        self.pull.finish();
        if self.send(sink)? == CutterStep::Dry && !self.over {
            return Err(Failure::Source(Error::new(ErrorKind::Unclosed, 0)));
        }
        sink.finish().map_err(|error| Failure::Sink(error, self.cutter.place))
    }

    fn send<S: Sink>(&mut self, sink: &mut S) -> Result<CutterStep, Failing<S::Error>> {
        loop {
            self.over |= !self.cutter.in_record() && !sink.wants_more();
            if self.over {
                return Ok(CutterStep::Dry);
            }
            let cut = self.cutter.run(&mut self.pull, sink)?;
            if cut != CutterStep::Record {
                return Ok(cut);
            }
        }
    }
}

impl Default for Feed {
    fn default() -> Self {
        Self::new()
    }
}
