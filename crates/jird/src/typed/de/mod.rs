//! JSON to Rust types: the tokens of pass one, pulled as serde asks for values. No tape and no tree.
//!
//! The grammar is checked as tokens are pulled. What is asked for is checked by serde's visitors; where they refuse, the error
//! gets its place here, and on its way out the steps of its path.

mod access;
mod key;
pub(crate) mod number;
mod records;
mod stream;
mod tree;

pub use records::Records;
pub use stream::StreamDeserializer;
pub use tree::ValueDeserializer;

use crate::data_model::RAW_TEXT;
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

/// Decodes a text that is one JSON value. All of it is checked, also what `T` ignores: UTF-8, grammar, escapes, numbers.
///
/// Strings without escapes can be borrowed (`&str`; `Cow<str>` with `#[serde(borrow)]`). Time is linear in the text, and
/// nothing is allocated that `T` does not ask for, but for buffers of the thread's and for escaped strings. Collections of
/// scalars are told exactly how many will come, if their end is in the 64 KB or so that were scanned.
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
/// assert_eq!(error.to_string(), "[0].id: invalid type: string \"7\", expected u64 at line 2 column 25");
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// The first byte that breaks a rule of JSON, or the first value that is not what `T` asks for, whichever comes first.
#[inline]
pub fn from_slice<'a, T: de::Deserialize<'a>>(text: &'a [u8]) -> Result<T, Error> {
    Deserializer::from_slice(text).whole()
}

/// [`from_slice`] for text.
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

/// Decodes one JSON value from a reader, up to its end. Reads some 64 KB at a time and keeps that and the longest string, not
/// the whole text; a buffered reader gains nothing.
///
/// ```
/// let numbers: Vec<u32> = jird::from_reader(std::io::Cursor::new("[1, 2, 3]"))?;
/// assert_eq!(numbers, [1, 2, 3]);
/// # Ok::<(), jird::Error>(())
/// ```
///
/// # Errors
/// As [`from_slice`], and what reading gives.
pub fn from_reader<R: io::Read, T: DeserializeOwned>(reader: R) -> Result<T, Error> {
    Deserializer::from_reader(reader).whole()
}

/// Decodes values, one or one after the other, from a text or a reader. `&mut Deserializer` is serde's `Deserializer`.
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
    /// A string whose escapes were taken out.
    scratch: String,
    depth_left: usize,
    depth_max: usize,
}

impl<'de> Deserializer<SliceRead<'de>> {
    /// Decodes from bytes.
    #[inline]
    pub fn from_slice(text: &'de [u8]) -> Self {
        Self::new(SliceRead::new(text))
    }

    /// Decodes from text.
    #[expect(clippy::should_implement_trait, reason = "named as in serde_json; it cannot fail")]
    #[inline]
    pub fn from_str(text: &'de str) -> Self {
        Self::from_slice(text.as_bytes())
    }
}

impl<R: io::Read> Deserializer<IoRead<R>> {
    /// Decodes from a reader, which is read ahead.
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
        }
    }

    /// Goes into so many arrays, objects and variants that are open at once, instead of [`TYPED_DEPTH_MAX`]. Each takes some
    /// of the stack, how much depends on the type that is decoded; a stack that is used up ends the process.
    #[must_use]
    pub fn with_depth_max(self, depth_max: usize) -> Self {
        Self { depth_left: depth_max, depth_max, ..self }
    }

    /// Scans chunks of this many bytes. For tests: it moves the borders between chunks.
    #[doc(hidden)]
    #[must_use]
    pub fn with_chunk_bytes(mut self, bytes: usize) -> Self {
        self.pull.set_chunk_bytes(bytes);
        self
    }

    /// The one value that is left, as [`from_slice`] gives it. For tests, with what is above.
    #[doc(hidden)]
    #[inline]
    pub fn whole<T: de::Deserialize<'de>>(mut self) -> Result<T, Error> {
        let value = self.value()?;
        self.end()?;
        Ok(value)
    }

    /// The next value.
    #[inline]
    fn value<T: de::Deserialize<'de>>(&mut self) -> Result<T, Error> {
        let token = self.pull.token();
        let at = self.pull.offset(token.start);
        match T::deserialize(&mut *self) {
            Ok(value) => Ok(value),
            Err(error) => Err(self.pull.place_at(error, at)),
        }
    }

    /// Checks that nothing but white space is left.
    ///
    /// # Errors
    /// Kind [`Trailing`](ErrorKind::Trailing) if something is; or what is wrong with the text's end.
    #[inline]
    pub fn end(&mut self) -> Result<(), Error> {
        self.pull.end()
    }

    /// The values that are left, one after the other.
    #[expect(
        clippy::should_implement_trait,
        reason = "named as in serde_json; the caller chooses the type of the values"
    )]
    pub fn into_iter<T: de::Deserialize<'de>>(self) -> StreamDeserializer<'de, R, T> {
        StreamDeserializer::new(self)
    }

    /// The values that `pattern` leads to, one by one as their text arrives: the elements of an array, say, without the array.
    /// What is beside them is checked and not decoded.
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

    /// The next token is none that a value begins with.
    #[cold]
    #[inline(never)]
    fn no_value(&mut self) -> Error {
        let token = self.pull.token();
        let is_empty = self.depth_left == self.depth_max && self.pull.is_end(token);
        self.pull.unexpected(if is_empty { ErrorKind::Empty } else { ErrorKind::Value })
    }

    /// The next value is something else than what is wanted; or it is none.
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
            // The window may have moved, but not past what was looked at last.
            Ok(error) => self.pull.place(error, at),
            Err(error) => error,
        }
    }

    /// The string that is the next token, without escapes; steps over it.
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

    /// What a visitor made of the value at `at`.
    #[inline(always)]
    fn placed<T>(&mut self, visited: Result<T, Error>, at: usize) -> Result<T, Error> {
        match visited {
            Ok(value) => Ok(value),
            Err(error) => Err(self.pull.place(error, at)),
        }
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
        self.leave(visited, b'}')
    }

    /// Steps over the closing bracket that must come behind what a visitor took.
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

    /// Something is left that nobody asked for.
    #[cold]
    #[inline(never)]
    fn left_over(&mut self) -> Error {
        let token = self.pull.token();
        self.pull.unexpected(if token.plain() == b',' { ErrorKind::Trailing } else { ErrorKind::Comma })
    }

    /// A visitor refused an array or an object: where it ends, or what was taken of it last.
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

/// A string.
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
        let token = self.pull.token();
        let at = token.start;
        match token.kind {
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
        if name != RAW_TEXT {
            return visitor.visit_newtype_struct(self);
        }
        match self.pull.raw()? {
            Content::Borrowed(raw) => visitor.visit_borrowed_str(raw),
            Content::Passing(raw) => visitor.visit_str(raw),
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
