//! Writes objects and arrays, member by member. The shape of the code is that of the JSON, so that commas and brackets
//! need no thought and cannot be wrong.

use super::escape::is_plain;
use super::{write_number, write_string};

/// Appends an object to `text`: its members are what `write` adds. Returns what `write` returns.
///
/// ```
/// let mut text = Vec::new();
/// jird::hooks::write_object(&mut text, |object| {
///     object.member("title", "Not Found");
///     object.member("status", 404_u16);
///     object.member("detail", None::<&str>);
///     object.array("errors", |errors| {
///         errors.object(|error| error.member("line", 7_u64));
///         errors.raw(b"1.50");
///     });
/// });
/// assert_eq!(text, br#"{"title":"Not Found","status":404,"detail":null,"errors":[{"line":7},1.50]}"#);
/// ```
pub fn write_object<R>(text: &mut Vec<u8>, write: impl FnOnce(&mut ObjectWriter<'_>) -> R) -> R {
    text.push(b'{');
    let result = write(&mut ObjectWriter { text, is_empty: true });
    text.push(b'}');
    result
}

/// Appends an array to `text`: its elements are what `write` adds. Returns what `write` returns.
pub fn write_array<R>(text: &mut Vec<u8>, write: impl FnOnce(&mut ArrayWriter<'_>) -> R) -> R {
    text.push(b'[');
    let result = write(&mut ArrayWriter { text, is_empty: true });
    text.push(b']');
    result
}

/// Adds members to an object.
#[derive(Debug)]
pub struct ObjectWriter<'t> {
    text: &'t mut Vec<u8>,
    is_empty: bool,
}

impl ObjectWriter<'_> {
    /// Adds a member with a scalar.
    #[inline]
    pub fn member(&mut self, key: &str, value: impl WriteScalar) {
        value.write(self.key(key));
    }

    /// Adds a member whose value is JSON already.
    #[inline]
    pub fn raw(&mut self, key: &str, value: &[u8]) {
        self.key(key).extend_from_slice(value);
    }

    /// Adds a member with an object.
    #[inline]
    pub fn object<R>(&mut self, key: &str, write: impl FnOnce(&mut ObjectWriter<'_>) -> R) -> R {
        write_object(self.key(key), write)
    }

    /// Adds a member with an array.
    #[inline]
    pub fn array<R>(&mut self, key: &str, write: impl FnOnce(&mut ArrayWriter<'_>) -> R) -> R {
        write_array(self.key(key), write)
    }

    /// Adds a member whose value `write` appends as JSON.
    #[inline]
    pub fn with<R>(&mut self, key: &str, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        write(self.key(key))
    }

    /// Writes what is before a value.
    #[inline]
    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !core::mem::take(&mut self.is_empty) {
            self.text.push(b',');
        }
        if is_plain(key.as_bytes()) {
            self.text.push(b'"');
            self.text.extend_from_slice(key.as_bytes());
            self.text.extend_from_slice(b"\":");
        } else {
            write_string(key, self.text);
            self.text.push(b':');
        }
        self.text
    }
}

/// Adds elements to an array.
#[derive(Debug)]
pub struct ArrayWriter<'t> {
    text: &'t mut Vec<u8>,
    is_empty: bool,
}

impl ArrayWriter<'_> {
    /// Adds a scalar.
    #[inline]
    pub fn element(&mut self, value: impl WriteScalar) {
        value.write(self.next());
    }

    /// Adds a value that is JSON already.
    #[inline]
    pub fn raw(&mut self, value: &[u8]) {
        self.next().extend_from_slice(value);
    }

    /// Adds an object.
    #[inline]
    pub fn object<R>(&mut self, write: impl FnOnce(&mut ObjectWriter<'_>) -> R) -> R {
        write_object(self.next(), write)
    }

    /// Adds an array.
    #[inline]
    pub fn array<R>(&mut self, write: impl FnOnce(&mut ArrayWriter<'_>) -> R) -> R {
        write_array(self.next(), write)
    }

    /// Adds a value that `write` appends as JSON.
    #[inline]
    pub fn with<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        write(self.next())
    }

    /// Writes what is before a value.
    #[inline]
    fn next(&mut self) -> &mut Vec<u8> {
        if !core::mem::take(&mut self.is_empty) {
            self.text.push(b',');
        }
        self.text
    }
}

/// A value that is neither an object nor an array: a string, an integer, a boolean; `None` is null.
pub trait WriteScalar {
    /// Appends the value as JSON.
    fn write(self, text: &mut Vec<u8>);
}

impl<T: AsRef<str> + ?Sized> WriteScalar for &T {
    #[inline]
    fn write(self, text: &mut Vec<u8>) {
        write_string(self.as_ref(), text);
    }
}

impl WriteScalar for bool {
    #[inline]
    fn write(self, text: &mut Vec<u8>) {
        text.extend_from_slice(if self { b"true" } else { b"false" });
    }
}

impl<T: WriteScalar> WriteScalar for Option<T> {
    #[inline]
    fn write(self, text: &mut Vec<u8>) {
        match self {
            Some(value) => value.write(text),
            None => text.extend_from_slice(b"null"),
        }
    }
}

impl WriteScalar for i64 {
    fn write(self, text: &mut Vec<u8>) {
        write_number(text, |writer| writer.signed(self));
    }
}

impl WriteScalar for u64 {
    fn write(self, text: &mut Vec<u8>) {
        write_number(text, |writer| writer.unsigned(self));
    }
}

/// Integers that every `u64` holds.
macro_rules! short {
    ($($integer:ty),+) => {
        $(impl WriteScalar for $integer {
            fn write(self, text: &mut Vec<u8>) {
                u64::from(self).write(text);
            }
        })+
    };
}
short!(u8, u16, u32);

impl WriteScalar for usize {
    fn write(self, text: &mut Vec<u8>) {
        (self as u64).write(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape::parse;

    #[track_caller]
    fn object(expected: &str, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        let mut text = b"before ".to_vec();
        write_object(&mut text, write);
        assert_eq!(text, format!("before {expected}").as_bytes());
        assert!(parse(&text[7..]).is_ok(), "{expected}");
    }

    #[test]
    fn containers_may_be_empty() {
        object("{}", |_| {});
        object(r#"{"a":{},"b":[],"":[[],{}]}"#, |object| {
            object.object("a", |_| {});
            object.array("b", |_| {});
            object.array("", |array| {
                array.array(|_| {});
                array.object(|_| {});
            });
        });
    }

    #[test]
    fn every_scalar_is_written() {
        object(
            r#"{"s":"x","b":[true,false,null],"n":[18446744073709551615,-9223372036854775808,0,7,65535]}"#,
            |object| {
                object.member("s", Some(&String::from("x")));
                object.array("b", |array| {
                    array.element(true);
                    array.element(false);
                    array.element(None::<u64>);
                });
                object.array("n", |array| {
                    array.element(u64::MAX);
                    array.element(i64::MIN);
                    array.element(0_usize);
                    array.element(7_u32);
                    array.element(u16::MAX);
                });
            },
        );
    }

    #[test]
    fn keys_and_strings_are_escaped() {
        let keys = ["quote\"", "\\", "a\nb", "\u{1}", "é", "long enough for words, and a quote \" after them"];
        let mut text = Vec::new();
        write_object(&mut text, |object| keys.iter().for_each(|key| object.member(key, key)));
        let document = parse(&text).expect("it is JSON");
        let found: Vec<_> = document.root().entries().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let wanted: Vec<_> = keys.map(|key| (Some(key.into()), Some(key.into()))).into();
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_a_caller_writes_itself_has_its_commas() {
        object(r#"{"a":1.50,"b":[2e1,"x",{"c":3}],"d":4}"#, |object| {
            object.raw("a", b"1.50");
            object.array("b", |array| {
                array.raw(b"2e1");
                array.with(|text| write_string("x", text));
                array.object(|object| object.member("c", 3_u64));
            });
            object.with("d", |text| text.push(b'4'));
        });
    }

    #[test]
    fn an_error_goes_through() {
        let mut text = Vec::new();
        let result = write_object(&mut text, |object| object.array("a", |_| Err::<(), _>("why")));
        assert_eq!((result, &text[..]), (Err("why"), &br#"{"a":[]}"#[..]));
    }
}
