//! The value so far.

use crate::tape::Value;
use core::fmt;

/// The value of a [`PartialDocument`](super::PartialDocument) so far.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    root: Value<'a>,
    text: &'a str,
    /// The length of the text before what closes it.
    kept: usize,
    withheld: &'a str,
}

impl<'a> Snapshot<'a> {
    pub(super) fn new(root: Value<'a>, text: &'a str, kept: usize, withheld: &'a str) -> Self {
        Self { root, text, kept, withheld }
    }

    /// The value.
    #[inline]
    pub fn root(self) -> Value<'a> {
        self.root
    }

    /// Whether a value of this snapshot is complete: nothing that arrives later changes it. Free. Without a meaning for
    /// values of anything else.
    ///
    /// Incomplete are the objects and arrays that are open, and a string that is cut.
    ///
    /// ```
    /// let mut document = jird::partial::PartialDocument::new();
    /// document.push(br#"{"tags": ["new", "re"#)?;
    /// let so_far = document.snapshot().expect("a value has begun");
    /// let tags = so_far.root().get("tags").expect("it has begun");
    /// let complete: Vec<bool> = tags.elements().map(|tag| so_far.is_complete(tag)).collect();
    /// assert_eq!(complete, [true, false]);
    /// assert!(!so_far.is_complete(tags) && !so_far.is_complete(so_far.root()));
    /// # Ok::<(), jird::Error>(())
    /// ```
    #[inline]
    pub fn is_complete(self, value: Value<'_>) -> bool {
        // What is not complete ends with something that closes it.
        value.offset() + value.raw().len() <= self.kept
    }

    /// A JSON text of the value: the text that has arrived, cut where a value can end, and closed. Free.
    pub fn text(self) -> &'a str {
        self.text
    }

    /// The number of bytes of [`text`](Self::text) that have arrived. What comes after them closes the text: a quote, if
    /// a string is cut, and brackets.
    pub fn kept(self) -> usize {
        self.kept
    }

    /// The text that has arrived after [`kept`](Self::kept) bytes, in whole characters: what no value can be made of yet,
    /// such as `, "nam` or `12`. After an error it may be anything.
    pub fn withheld(self) -> &'a str {
        self.withheld
    }
}

impl fmt::Debug for Snapshot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, kept, withheld, .. } = self;
        f.debug_struct("Snapshot").field("text", text).field("kept", kept).field("withheld", withheld).finish()
    }
}
