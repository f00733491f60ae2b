//! JSON to Rust types: pulls the tokens of pass one as serde asks for values. There is no tape and no tree.
//!
//! The grammar is checked as tokens are pulled. serde's visitors check the types. When a visitor refuses a value, this
//! module adds the position to the error, and then the steps of the path as the error is returned.

mod access;
mod key;
pub(crate) mod number;
mod records;
mod stream;
mod tree;

pub use records::Records;
pub use stream::StreamDeserializer;
pub use tree::ValueDeserializer;

use crate::data_model::{ALL_NUMBERS, Buffers, EXACT_NUMBERS, Filler, RAW_TEXT, RawTextVisitor, is_buffer};
use crate::error::Error;
use crate::event::Pattern;
use crate::fault::ErrorKind;
use crate::kernel::Kernel;
use crate::policy::TYPED_DEPTH_MAX;
use crate::scan::{Content, IoRead, Pull, Read, SliceRead, Token};
use crate::text;
use access::{ArrayAccess, ObjectAccess, VariantObject};
use serde_core::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde_core::de::{self, DeserializeOwned, Expected, Unexpected, Visitor};
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Decodes a text that is one JSON value. All of it is checked, including what `T` ignores: UTF-8, grammar, escapes,
/// numbers.
///
/// Strings without escapes can be borrowed (`&str`; `Cow<str>` with `#[serde(borrow)]`). The time is linear in the
/// text. Apart from per-thread buffers and escaped strings, only `T` itself allocates. A collection of scalars gets its
/// exact length in advance if its end is within the 64 KB or so that were scanned.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct User<'a> {
///     name: &'a str,
///     id: u64,
/// }
///
/// let user: User = jird::from_slice(br#"{"id": 7, "ignored": [1, {}], "name": "Ada"}"#)?;
/// assert_eq!((user.name, user.id), ("Ada", 7));
///
/// let error = jird::from_slice::<Vec<User>>(b"[\n  {\"name\": \"Ada\", \"id\": \"7\"}]").map(drop).unwrap_err();
/// assert_eq!(error.to_string(), "invalid type: string \"7\", expected u64 at line 2 column 25 (at /0/id)");
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// The first byte that breaks a rule of JSON, or the first value that does not fit `T`, whichever comes first.
#[inline]
pub fn from_slice<'a, T: de::Deserialize<'a>>(text: &'a [u8]) -> Result<T, Error> {
    Deserializer::from_slice(text).whole()
}

/// [`from_slice`] for a `str`.
///
/// ```
/// let numbers: Vec<f64> = jird::from_str("[1, 2.5, 1e3]")?;
/// assert_eq!(numbers, [1.0, 2.5, 1000.0]);
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// As [`from_slice`].
#[inline]
pub fn from_str<'a, T: de::Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    from_slice(text.as_bytes())
}

/// Decodes one JSON value from a reader, up to the reader's end. Reads some 64 KB at a time, and keeps these and the
/// longest string in memory, not the whole text. A buffered reader has no advantage.
///
/// ```
/// let numbers: Vec<u32> = jird::from_reader(std::io::Cursor::new("[1, 2, 3]"))?;
/// assert_eq!(numbers, [1, 2, 3]);
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// As [`from_slice`]; also errors of the reader.
pub fn from_reader<R: io::Read, T: DeserializeOwned>(reader: R) -> Result<T, Error> {
    Deserializer::from_reader(reader).whole()
}

/// Decodes one value or several consecutive ones from a text or a reader. `&mut Deserializer` is serde's
/// `Deserializer`.
///
/// ```
/// use serde::Deserialize;
/// let mut deserializer = jird::Deserializer::from_str("{\"a\": 1} [2]");
/// let map = std::collections::BTreeMap::<String, u8>::deserialize(&mut deserializer)?;
/// let list = Vec::<u8>::deserialize(&mut deserializer)?;
/// deserializer.end()?;
/// assert_eq!((map["a"], list), (1, vec![2]));
/// # Ok::<(), jird::Error>(())
/// ```
pub struct Deserializer<R> {
    pull: Pull<R>,
    /// A string with its escapes decoded.
    scratch: String,
    depth_left: usize,
    depth_max: usize,
    /// Fills buffers of serde's.
    buffers: Buffers,
}

/// A panic of a type that is decoded leaves a deserializer that returns values or errors as before.
impl<R: UnwindSafe> UnwindSafe for Deserializer<R> {}
impl<R: RefUnwindSafe> RefUnwindSafe for Deserializer<R> {}

impl<'de> Deserializer<SliceRead<'de>> {
    /// Decodes from bytes.
    #[inline]
    pub fn from_slice(text: &'de [u8]) -> Self {
        Self::new(SliceRead::new(text))
    }

    /// Decodes from a `str`.
    #[expect(clippy::should_implement_trait, reason = "named as in serde_json; it cannot fail")]
    #[inline]
    pub fn from_str(text: &'de str) -> Self {
        Self::from_slice(text.as_bytes())
    }
}

impl<R: io::Read> Deserializer<IoRead<R>> {
    /// Decodes from a reader, reading ahead.
    pub fn from_reader(reader: R) -> Self {
        Self::new(IoRead::new(reader))
    }
}

impl<'de, R: Read<'de>> Deserializer<R> {
    #[inline]
    fn new(read: R) -> Self {
        Self {
            pull: Pull::new(read, Kernel::best()),
            scratch: String::new(),
            depth_left: TYPED_DEPTH_MAX,
            depth_max: TYPED_DEPTH_MAX,
            buffers: Buffers(Filler::new()),
        }
    }

    /// Allows `depth_max` arrays, objects and variants to be open at once, instead of 127. Each takes
    /// some of the stack; how much depends on the type that is decoded. A stack overflow ends the process.
    #[must_use]
    pub fn with_depth_max(self, depth_max: usize) -> Self {
        Self { depth_left: depth_max, depth_max, ..self }
    }

    /// Scans chunks of `bytes` bytes. For tests: it moves the borders between chunks.
    #[doc(hidden)]
    #[must_use]
    pub fn with_chunk_bytes(mut self, bytes: usize) -> Self {
        self.pull.set_chunk_bytes(bytes);
        self
    }

    /// Decodes the one remaining value, as [`from_slice`] does. For tests, together with the options above.
    #[doc(hidden)]
    #[inline]
    pub fn whole<T: de::Deserialize<'de>>(mut self) -> Result<T, Error> {
        let value = self.value()?;
        self.end()?;
        Ok(value)
    }

    /// Decodes the next value.
    #[inline]
    fn value<T: de::Deserialize<'de>>(&mut self) -> Result<T, Error> {
        self.buffers.0.begin(true);
        let token = self.pull.token();
        let at = self.pull.offset(token.start);
        let decoded = T::deserialize(&mut *self);
        self.buffers.0.forget();
        match decoded {
            Ok(value) => Ok(value),
            Err(error) => Err(self.pull.place_at(error, at)),
        }
    }

    /// Checks that nothing but white space is left.
    ///
    /// # Errors
    /// Kind [`Trailing`](ErrorKind::Trailing) if something is left; or an error in the end of the text.
    #[inline]
    pub fn end(&mut self) -> Result<(), Error> {
        self.buffers.0.forget();
        self.pull.end()
    }

    /// An iterator over the remaining values.
    #[expect(
        clippy::should_implement_trait,
        reason = "named as in serde_json; the caller chooses the type of the values"
    )]
    pub fn into_iter<T: de::Deserialize<'de>>(self) -> StreamDeserializer<'de, R, T> {
        StreamDeserializer::new(self)
    }

    /// An iterator over the values that `pattern` leads to, each decoded as its text arrives: for example, the elements
    /// of an array, without the array. Other values are checked but not decoded.
    ///
    /// ```
    /// #[derive(serde::Deserialize)]
    /// struct Artist {
    ///     name: String,
    /// }
    ///
    /// let reader = std::io::Cursor::new(r#"{"total": 2, "items": [{"name": "AC/DC"}, {"name": "Accept"}]}"#);
    /// let artists = jird::Deserializer::from_reader(reader).records::<Artist>("/items/*".parse()?);
    /// let names = artists.map(|artist| Ok(artist?.name)).collect::<Result<Vec<_>, jird::Error>>()?;
    /// assert_eq!(names, ["AC/DC", "Accept"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn records<T: de::Deserialize<'de>>(self, pattern: Pattern) -> Records<'de, R, T> {
        Records::new(self, pattern)
    }

    /// The error for a next token that no value begins with.
    #[cold]
    #[inline(never)]
    fn no_value(&mut self) -> Error {
        let token = self.pull.token();
        let is_empty = self.depth_left == self.depth_max && self.pull.is_end(token);
        self.pull.unexpected(if is_empty { ErrorKind::Empty } else { ErrorKind::Value })
    }

    /// The error for a next value that is not of the wanted type, or is not a value.
    #[cold]
    #[inline(never)]
    fn wrong_type(&mut self, wanted: &dyn Expected) -> Error {
        let token = self.pull.token();
        let at = token.start;
        let error = match token.kind {
            b'n' => self.pull.literal(token, b"null").map(|()| de::Error::invalid_type(Unexpected::Unit, wanted)),
            b't' => self.pull.literal(token, b"true").map(|()| de::Error::invalid_type(Unexpected::Bool(true), wanted)),
            b'f' => {
                self.pull.literal(token, b"false").map(|()| de::Error::invalid_type(Unexpected::Bool(false), wanted))
            }
            b'-' | b'0'..=b'9' => self.number().map(|number| de::Error::invalid_type(number.unexpected(), wanted)),
            _ => match self.pull.bracket(token) {
                b'"' => self.with_string(|content| {
                    let (StringText::Borrowed(content) | StringText::Passing(content)) = content;
                    Ok(de::Error::invalid_type(Unexpected::Str(content), wanted))
                }),
                b'[' => Ok(de::Error::invalid_type(Unexpected::Seq, wanted)),
                b'{' => Ok(de::Error::invalid_type(Unexpected::Map, wanted)),
                _ => Err(self.no_value()),
            },
        };
        match error {
            // The window may have moved, but the token at `at` is still in it.
            Ok(error) => self.pull.place(error, at),
            Err(error) => error,
        }
    }

    /// Passes the string that is the next token to `then`, with escapes decoded; steps over it.
    #[inline(always)]
    fn with_string<T>(&mut self, then: impl FnOnce(StringText<'de, '_>) -> Result<T, Error>) -> Result<T, Error> {
        let token = self.pull.token();
        if token.kind == b'"' {
            return then(match self.pull.string()? {
                Content::Borrowed(content) => StringText::Borrowed(content),
                Content::Passing(content) => StringText::Passing(content),
            });
        }
        self.unescape()?;
        then(StringText::Passing(&self.scratch))
    }

    #[inline(never)]
    fn unescape(&mut self) -> Result<(), Error> {
        self.scratch.clear();
        let (Content::Borrowed(raw) | Content::Passing(raw)) = self.pull.string()?;
        text::unescape(raw, &mut self.scratch);
        Ok(())
    }

    #[inline(always)]
    fn visit_string<V: Visitor<'de>>(&mut self, token: Token, visitor: V) -> Result<V::Value, Error> {
        let visited = self.with_string(|content| match content {
            StringText::Borrowed(content) => visitor.visit_borrowed_str(content),
            StringText::Passing(content) => visitor.visit_str(content),
        });
        self.placed(visited, token.start)
    }

    /// The visitor's result for the value at `at`; an error gets that position.
    #[inline(always)]
    fn placed<T>(&mut self, visited: Result<T, Error>, at: usize) -> Result<T, Error> {
        match visited {
            Ok(value) => Ok(value),
            Err(error) => Err(self.pull.place(error, at)),
        }
    }

    /// How many containers are open.
    fn depth(&self) -> usize {
        self.depth_max - self.depth_left
    }

    /// Leaves the buffers of serde's that were filled to the type that is decoded from them.
    pub(crate) fn leave_buffers(&mut self) {
        self.buffers.leave();
    }

    /// Visits the next value with a visitor that fills a buffer of serde's, if that has not begun.
    #[inline(never)]
    fn visit_buffer<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let depth = self.depth();
        self.buffers.0.begin_value(depth);
        let visited = de::Deserializer::deserialize_any(&mut *self, visitor);
        self.buffers.0.end();
        visited
    }

    /// Steps over an opening bracket.
    #[inline(always)]
    fn enter(&mut self, token: Token) -> Result<(), Error> {
        let Some(left) = self.depth_left.checked_sub(1) else {
            return Err(self.pull.syntax(ErrorKind::Depth, token.start));
        };
        self.depth_left = left;
        self.pull.step();
        Ok(())
    }

    #[inline(always)]
    fn visit_array<V: Visitor<'de>>(&mut self, token: Token, visitor: V) -> Result<V::Value, Error> {
        self.enter(token)?;
        let visited = visitor.visit_seq(ArrayAccess::new(self));
        self.leave(visited, b']')
    }

    #[inline(always)]
    fn visit_object<V: Visitor<'de>>(&mut self, token: Token, visitor: V) -> Result<V::Value, Error> {
        self.enter(token)?;
        let visited = visitor.visit_map(ObjectAccess::new(self));
        if !is_buffer::<V::Value>() && self.buffers.0.has_any() {
            let depth = self.depth();
            self.buffers.0.leave(depth);
        }
        self.leave(visited, b'}')
    }

    /// Steps over the closing bracket, which must follow what the visitor has consumed.
    #[inline(always)]
    fn leave<T>(&mut self, visited: Result<T, Error>, closing: u8) -> Result<T, Error> {
        self.depth_left += 1;
        match visited {
            Ok(value) => {
                let token = self.pull.token();
                if self.pull.bracket(token) != closing {
                    return Err(self.left_over());
                }
                self.pull.step();
                Ok(value)
            }
            Err(error) => Err(self.refused(error)),
        }
    }

    /// The error for elements or members that the visitor did not consume.
    #[cold]
    #[inline(never)]
    fn left_over(&mut self) -> Error {
        let token = self.pull.token();
        self.pull.unexpected(if token.plain() == b',' { ErrorKind::Trailing } else { ErrorKind::Comma })
    }

    /// A visitor refused an array or an object. The error's position is the container's end, or the last token that was
    /// consumed.
    #[cold]
    #[inline(never)]
    fn refused(&mut self, error: Error) -> Error {
        if error.is_placed() {
            return error;
        }
        let token = self.pull.token();
        let at = match self.pull.bracket(token) {
            b']' | b'}' => token.start,
            _ => self.pull.before().unwrap_or(token.start),
        };
        self.pull.place(error, at)
    }
}

/// A string: borrowed from the input, or valid only for the moment.
#[derive(Clone, Copy)]
enum StringText<'de, 's> {
    Borrowed(&'de str),
    Passing(&'s str),
}

macro_rules! numbers {
    ($($visit:ident: $($method:ident)*;)*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
                let token = self.pull.token();
                match token.kind {
                    b'-' | b'0'..=b'9' => self.$visit(token, visitor),
                    _ => Err(self.wrong_type(&visitor)),
                }
            }
        )*)*
    };
}

macro_rules! containers {
    ($($bracket:literal => $visit:ident: $($method:ident($($argument:ty),*))*;)*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'de>>(self, $(_: $argument,)* visitor: V) -> Result<V::Value, Error> {
                let token = self.pull.token();
                if self.pull.bracket(token) == $bracket {
                    self.$visit(token, visitor)
                } else {
                    Err(self.wrong_type(&visitor))
                }
            }
        )*)*
    };
}

impl<'de, R: Read<'de>> de::Deserializer<'de> for &mut Deserializer<R> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if is_buffer::<V::Value>() && !self.buffers.0.is_filling() {
            return self.visit_buffer(visitor);
        }
        let token = self.pull.token();
        let at = token.start;
        match token.kind {
            b'-' | b'0'..=b'9' if is_buffer::<V::Value>() => self.visit_buffered_number(token, visitor),
            b'-' | b'0'..=b'9' => self.visit_number(token, visitor),
            b'n' => {
                self.pull.literal(token, b"null")?;
                let visited = visitor.visit_unit();
                self.placed(visited, at)
            }
            b't' => {
                self.pull.literal(token, b"true")?;
                let visited = visitor.visit_bool(true);
                self.placed(visited, at)
            }
            b'f' => {
                self.pull.literal(token, b"false")?;
                let visited = visitor.visit_bool(false);
                self.placed(visited, at)
            }
            _ => match self.pull.bracket(token) {
                b'"' => self.visit_string(token, visitor),
                b'[' => self.visit_array(token, visitor),
                b'{' => self.visit_object(token, visitor),
                _ => Err(self.no_value()),
            },
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let token = self.pull.token();
        let value = match token.kind {
            b't' => self.pull.literal(token, b"true").map(|()| true)?,
            b'f' => self.pull.literal(token, b"false").map(|()| false)?,
            _ => return Err(self.wrong_type(&visitor)),
        };
        let visited = visitor.visit_bool(value);
        self.placed(visited, token.start)
    }

    numbers! {
        visit_number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64;
        visit_number: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        visit_f32: deserialize_f32;
        visit_f64: deserialize_f64;
        visit_i128: deserialize_i128;
        visit_u128: deserialize_u128;
    }

    #[inline]
    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let token = self.pull.token();
        if token.plain() == b'"' { self.visit_string(token, visitor) } else { Err(self.wrong_type(&visitor)) }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let token = self.pull.token();
        match self.pull.bracket(token) {
            b'"' => {
                let visited = self.with_string(|content| match content {
                    StringText::Borrowed(content) => visitor.visit_borrowed_bytes(content.as_bytes()),
                    StringText::Passing(content) => visitor.visit_bytes(content.as_bytes()),
                });
                self.placed(visited, token.start)
            }
            b'[' => self.visit_array(token, visitor),
            _ => Err(self.wrong_type(&visitor)),
        }
    }

    #[inline]
    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let token = self.pull.token();
        if token.kind == b'n' {
            self.pull.literal(token, b"null")?;
            let visited = visitor.visit_none();
            self.placed(visited, token.start)
        } else {
            visitor.visit_some(self)
        }
    }

    #[inline]
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let token = self.pull.token();
        if token.kind != b'n' {
            return Err(self.wrong_type(&visitor));
        }
        self.pull.literal(token, b"null")?;
        let visited = visitor.visit_unit();
        self.placed(visited, token.start)
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        match name {
            RAW_TEXT => match self.pull.raw()? {
                Content::Borrowed(raw) => RawTextVisitor(visitor).visit_borrowed_str(raw),
                Content::Passing(raw) => RawTextVisitor(visitor).visit_str(raw),
            },
            EXACT_NUMBERS => {
                let token = self.pull.token();
                match token.kind {
                    b'-' | b'0'..=b'9' => self.visit_exact_number(token, visitor, false),
                    _ => self.deserialize_any(visitor),
                }
            }
            ALL_NUMBERS => {
                let token = self.pull.token();
                match token.kind {
                    b'-' | b'0'..=b'9' => self.visit_exact_number(token, visitor, true),
                    _ => self.deserialize_any(visitor),
                }
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    containers! {
        b'[' => visit_array: deserialize_seq() deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize);
        b'{' => visit_object: deserialize_map();
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let token = self.pull.token();
        match self.pull.bracket(token) {
            b'{' => self.visit_object(token, visitor),
            b'[' => self.visit_array(token, visitor),
            _ => Err(self.wrong_type(&visitor)),
        }
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let token = self.pull.token();
        match self.pull.bracket(token) {
            b'{' => {
                self.enter(token)?;
                let visited = visitor.visit_enum(VariantObject::new(self));
                self.depth_left += 1;
                let value = visited.map_err(|error| self.refused(error))?;
                let token = self.pull.token();
                if self.pull.bracket(token) != b'}' {
                    return Err(self.pull.unexpected(ErrorKind::Comma));
                }
                self.pull.step();
                Ok(value)
            }
            b'"' => {
                let visited = self.with_string(|name| match name {
                    StringText::Borrowed(name) => visitor.visit_enum(BorrowedStrDeserializer::new(name)),
                    StringText::Passing(name) => visitor.visit_enum(StrDeserializer::new(name)),
                });
                self.placed(visited, token.start)
            }
            _ => Err(self.no_value()),
        }
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.pull.skip()?;
        visitor.visit_unit()
    }
}
