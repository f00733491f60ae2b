//! JSON that is not quite JSON: comments, trailing commas, JSON5 and more, each by a named option, turned into strict JSON.
//!
//! [`to_strict`] is a front before the parser, not a second parser. It rewrites what an option allows, token by token, and
//! the result is checked by the rules of [`validate`](crate::validate()). So whatever no option allows is refused exactly as
//! without it, and everything else of this crate reads the result. Numbers keep their digits.
//!
//! ```
//! use jird::lenient::{Leniency, to_strict};
//! let strict = to_strict(b"{name: 'jird', legs: 0x04, /* sic */}", Leniency::JSON5).unwrap();
//! assert_eq!(jird::parse(&strict)?.root().pointer("/legs").unwrap().raw(), b"4");
//! let error = to_strict(b"[1,\n 'a']", Leniency::JSONC).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "expected a value at line 2 column 2 (byte 5); the option `single-quotes` allows strings in single quotes"
//! );
//! # Ok::<(), jird::Error>(())
//! ```
//!
//! # The source, from the ground up
//!
//! ```text
//! options       what can be allowed              error     what no option allows
//! hexadecimal   hexadecimal digits to decimal    front     the state, and what stands between values
//! spaces        white space and comments         strings, numbers, words   values and keys
//! ```

mod error;
mod front;
mod hexadecimal;
mod numbers;
mod options;
mod spaces;
mod strings;
mod words;

pub use error::LenientError;
pub use hexadecimal::HEX_DIGITS_MAX;
pub use options::{Allow, Leniency};

use crate::tape::validate;
use front::Front;
use std::borrow::Cow;

/// Turns a text into strict JSON, with what `leniency` allows. A text that is strict already is borrowed, and costs one
/// [`validate`](crate::validate()); any other costs at most two, and one pass that rewrites it. The result has at most six
/// times the bytes of the text, and the same lines, except for lines that a string spans.
///
/// ```
/// use jird::lenient::{Allow, Leniency, to_strict};
/// let python = Leniency::STRICT.with(Allow::SingleQuotes).with(Allow::PythonLiterals);
/// assert_eq!(to_strict(b"{'ok': True}", python).unwrap(), &b"{\"ok\": true}"[..]);
/// ```
///
/// # Errors
/// For the first place that neither strict JSON nor an option allows. The error says where that is in `text`, and
/// which option would allow it.
pub fn to_strict(text: &[u8], leniency: Leniency) -> Result<Cow<'_, [u8]>, LenientError> {
    if validate(text).is_ok() {
        return Ok(Cow::Borrowed(text));
    }
    let rewritten = Front::new(text, leniency).run();
    match validate(&rewritten.strict) {
        Ok(()) => Ok(Cow::Owned(rewritten.strict)),
        Err(error) => {
            let at = usize::try_from(error.offset()).unwrap_or(usize::MAX);
            let offset = Front::new(text, leniency).offset_of(at);
            Err(LenientError::new(text, error.kind(), offset, rewritten.stop))
        }
    }
}

#[cfg(test)]
mod tests;
