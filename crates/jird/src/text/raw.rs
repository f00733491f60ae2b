//! JSON values that are kept as text.

#![allow(unsafe_code, reason = "a reference to text becomes one to a type that is nothing but text")]

use core::fmt;
use std::borrow::Cow;

/// One JSON value as text, exactly as it stands in the input: for values that are passed on, or decoded later.
/// `&RawValue` borrows the input's text; `Box<RawValue>` owns its text. White space around the value is not part of it.
///
/// ```
/// use jird::RawValue;
/// #[derive(serde::Deserialize)]
/// struct Message<'a> {
///     kind: &'a str,
///     #[serde(borrow)]
///     body: &'a RawValue,
/// }
/// let message: Message = jird::from_str(r#"{"body": {"n" : 1.50}, "kind": "x"}"#)?;
/// assert_eq!(message.body.get(), r#"{"n" : 1.50}"#);
/// let body: std::collections::BTreeMap<String, f64> = jird::from_str(message.body.get())?;
/// assert_eq!((message.kind, body["n"]), ("x", 1.5));
/// # Ok::<(), jird::Error>(())
/// ```
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct RawValue {
    json: str,
}

impl RawValue {
    /// `null`.
    pub const NULL: &'static Self = Self::of_checked("null");
    /// `true`.
    pub const TRUE: &'static Self = Self::of_checked("true");
    /// `false`.
    pub const FALSE: &'static Self = Self::of_checked("false");

    /// The value as text. O(1).
    pub const fn get(&self) -> &str {
        &self.json
    }

    /// Wraps text that was checked to be one JSON value.
    pub(crate) const fn of_checked(json: &str) -> &Self {
        // SAFETY: `RawValue` is `repr(transparent)` over `str`, so that both have the same representation.
        unsafe { &*(core::ptr::from_ref(json) as *const Self) }
    }

    /// Wraps owned text that was checked to be one JSON value.
    pub(crate) fn of_checked_box(json: Box<str>) -> Box<Self> {
        // SAFETY: as above; dropping a box of the one type frees the same memory as dropping a box of the other.
        unsafe { Box::from_raw(Box::into_raw(json) as *mut Self) }
    }

    /// The text of an owned value. Copies nothing.
    pub(crate) fn into_text(self: Box<Self>) -> Box<str> {
        // SAFETY: as above.
        unsafe { Box::from_raw(Box::into_raw(self) as *mut str) }
    }
}

impl ToOwned for RawValue {
    type Owned = Box<Self>;

    fn to_owned(&self) -> Box<Self> {
        Self::of_checked_box(self.json.into())
    }
}

impl Clone for Box<RawValue> {
    fn clone(&self) -> Self {
        (**self).to_owned()
    }
}

impl Default for Box<RawValue> {
    fn default() -> Self {
        RawValue::NULL.to_owned()
    }
}

impl<'a> From<&'a RawValue> for Cow<'a, RawValue> {
    fn from(value: &'a RawValue) -> Self {
        Cow::Borrowed(value)
    }
}

impl From<Box<RawValue>> for Box<str> {
    fn from(value: Box<RawValue>) -> Self {
        value.into_text()
    }
}

impl AsRef<str> for RawValue {
    fn as_ref(&self) -> &str {
        self.get()
    }
}

impl fmt::Display for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}

impl fmt::Debug for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RawValue").field(&format_args!("{}", &self.json)).finish()
    }
}
