//! Sinks that several threads write to.

use super::Sink;
use std::io;

/// A sink whose output can be made in parts, each on a thread of its own. The parts are then joined in order.
///
/// With [`in_order`](crate::threads::in_order) a text is converted on all cores, piece by piece:
///
/// ```
/// use jird::event::{JsonSink, JsonSource, Sink, Source};
/// use jird::hooks::event::Parts;
/// use std::ops::ControlFlow;
/// let pieces: [&[u8]; 3] = [b"1\n2\n", b"3\n", b"4"];
/// let mut out = JsonSink::new(Vec::new()).array();
/// let first = out.part(usize::MAX);
/// let convert = |_: &mut (), piece: &[u8]| {
///     let mut part = first.part(1 << 20);
///     JsonSource::from_slice(piece).lines().send(&mut part).map(|()| part)
/// };
/// jird::hooks::lines::in_order(pieces, 2, || (), convert, |part| {
///     out.join(part.unwrap()).unwrap();
///     ControlFlow::Continue(())
/// });
/// out.finish()?;
/// assert_eq!(out.into_inner(), b"[\n1,\n2,\n3,\n4\n]\n");
/// # Ok::<(), jird::Error>(())
/// ```
pub trait Parts: Sink {
    /// A sink that takes some of the records.
    type Part: Parts<Part = Self::Part, Error = Self::Error> + Send + Sync;

    /// A new, empty part, which takes about `bytes_max` bytes. A longer one is an I/O error.
    fn part(&self, bytes_max: usize) -> Self::Part;

    /// Appends the output of a part. This sink must have made the part, its last record must be complete, and it must
    /// not be [finished](Sink::finish).
    ///
    /// # Errors
    /// The sink's error.
    ///
    /// # Panics
    /// May panic if another sink has made the part.
    fn join(&mut self, part: Self::Part) -> Result<(), Self::Error>;

    /// Passes on the output so far, so that a reader waiting for it can see it.
    ///
    /// # Errors
    /// The sink's error.
    fn flush(&mut self) -> Result<(), Self::Error>;
}

/// The buffer that a [part](Parts::part) of a text is written to. It lives in memory and has a maximum size.
#[derive(Debug)]
pub struct PartBuffer {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl PartBuffer {
    /// A buffer for at most `bytes_max` bytes.
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes: Vec::new(), bytes_max }
    }

    /// The bytes that were written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl io::Write for PartBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes_max - self.bytes.len() < bytes.len() {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "a part is larger than it may be"));
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
