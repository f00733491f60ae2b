//! Tokens, and what requests with them may do.

use crate::base::error::Error;
use core::fmt;
use std::hint::black_box;

/// Something that a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// Tables, events and metrics are read.
    Read = 1,
    /// SQL is run.
    Query = 2,
    /// Rows of tables are changed.
    Write = 4,
    /// Events are appended.
    Ingest = 8,
}

/// Their names in a file of tokens.
const NAMES: [(&str, Right); 4] =
    [("read", Right::Read), ("query", Right::Query), ("write", Right::Write), ("ingest", Right::Ingest)];

/// What a request may do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rights(u8);

impl Rights {
    pub(crate) const ALL: Self = Self(15);

    pub(crate) fn has(self, right: Right) -> bool {
        self.0 & right as u8 != 0
    }

    /// Its name, for who lacks it.
    pub(crate) fn name(right: Right) -> &'static str {
        NAMES.iter().find(|(_, known)| *known == right).map_or("", |(name, _)| name)
    }
}

/// A token that requests send, and what they may do with it. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    text: String,
    rights: Rights,
}

impl Token {
    /// A token that allows everything that the server does.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), rights: Rights::ALL }
    }

    /// The tokens of a file: one on each line, and after it what it allows, of `read`, `query`, `write` and `ingest`;
    /// without any, everything. Empty lines and those with `#` in front say nothing.
    ///
    /// ```
    /// use jird_serve::Token;
    /// let tokens = Token::read_all("# of the shop\ns3cret\npublic read,query\nshipper ingest\n").unwrap();
    /// assert_eq!((tokens.len(), &tokens[0]), (3, &Token::new("s3cret")));
    /// assert!(Token::read_all("s3cret everything").is_err());
    /// ```
    ///
    /// # Errors
    /// If the file has no token, a token has other than visible ASCII characters, or a right is unknown. The message never
    /// shows a token.
    pub fn read_all(text: &str) -> Result<Vec<Self>, Error> {
        let lines =
            (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let token = |(number, line): (u32, &str)| {
            let (token, rights) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let names = rights.split([',', ' ', '\t']).filter(|name| !name.is_empty());
            let mut all = 0;
            for name in names {
                let Some((_, right)) = NAMES.iter().find(|(known, _)| *known == name) else {
                    let known = NAMES.map(|(name, _)| name).join(", ");
                    return Err(Error::new(format!("line {number}: unknown right {name:?}; the rights are {known}")));
                };
                all |= *right as u8;
            }
            let rights = if all == 0 { Rights::ALL } else { Rights(all) };
            Ok(Self { text: token.to_owned(), rights })
        };
        let tokens = lines.map(token).collect::<Result<Vec<Self>, Error>>()?;
        if tokens.is_empty() { Err(Error::new("the file has no token")) } else { check(&tokens).map(|()| tokens) }
    }
}

/// Refuses tokens that no request could send.
pub(crate) fn check(tokens: &[Token]) -> Result<(), Error> {
    let is_good = |token: &Token| !token.text.is_empty() && token.text.bytes().all(|byte| byte.is_ascii_graphic());
    if tokens.iter().all(is_good) {
        return Ok(());
    }
    Err(Error::new("a token has ASCII letters, digits and signs, and no spaces"))
}

/// What a request with this token may do, if it is one of them. The time does not tell how much of it is right.
pub(crate) fn rights_of(tokens: &[Token], given: &[u8]) -> Option<Rights> {
    let found = |found, token: &Token| if is_same(given, token.text.as_bytes()) { Some(token.rights) } else { found };
    tokens.iter().fold(None, found)
}

/// Whether two secrets are the same, in a time that does not tell at which byte they differ.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    given.len() == token.len()
        && given.iter().zip(token).fold(0, |differences, (a, b)| black_box(differences | (a ^ b))) == 0
}

impl From<&str> for Token {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = NAMES.iter().filter(|(_, right)| self.rights.has(*right)).map(|(name, _)| *name);
        write!(f, "Token(… {})", names.collect::<Vec<_>>().join(","))
    }
}
