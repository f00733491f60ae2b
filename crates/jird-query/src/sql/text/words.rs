//! Reads statements that the parser of SQL does not know, word by word.

use crate::base::error::Error;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// A word in lower case, or a sign. What stands in quotes keeps them.
pub(super) fn word(token: &TokenWithSpan) -> String {
    match &token.token {
        Token::Word(word) if word.quote_style.is_none() => word.value.to_ascii_lowercase(),
        other => other.to_string(),
    }
}

/// The words of a statement, from the first one that was not taken.
pub(super) struct Words<'t>(Vec<&'t TokenWithSpan>);

impl<'t> Words<'t> {
    pub(super) fn new(tokens: &'t [TokenWithSpan]) -> Self {
        Self(tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).rev().collect())
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the next word if it is this one.
    pub(super) fn take(&mut self, wanted: &str) -> bool {
        let is = self.0.last().is_some_and(|token| word(token) == wanted);
        if is {
            self.0.pop();
        }
        is
    }

    pub(super) fn want(&mut self, wanted: &str) -> Result<(), Error> {
        if self.take(wanted) { Ok(()) } else { Err(self.wrong(&format!("`{wanted}`"))) }
    }

    /// Takes a text in single quotes.
    pub(super) fn text(&mut self) -> Option<String> {
        let Token::SingleQuotedString(text) = &self.0.last()?.token else { return None };
        self.0.pop();
        Some(text.clone())
    }

    /// Takes a name, in any quotes or none.
    pub(super) fn name(&mut self) -> Option<String> {
        let name = match &self.0.last()?.token {
            Token::Word(word) => word.value.clone(),
            Token::SingleQuotedString(text) => text.clone(),
            _ => return None,
        };
        self.0.pop();
        Some(name)
    }

    /// Takes a name, or names in brackets.
    pub(super) fn names(&mut self) -> Result<Vec<String>, Error> {
        let in_brackets = self.take("(");
        let mut names = Vec::new();
        loop {
            names.push(self.name().ok_or_else(|| self.wrong("the name of a column"))?);
            if !(in_brackets && self.take(",")) {
                break;
            }
        }
        if in_brackets {
            self.want(")")?;
        }
        Ok(names)
    }

    /// The error that something else is expected here.
    pub(super) fn wrong(&self, expected: &str) -> Error {
        match self.0.last() {
            Some(token) => {
                let start = token.span.start;
                let found = word(token);
                let message =
                    format!("expected {expected}, found {found} (line {}, column {})", start.line, start.column);
                Error::sql(message).at(start.line, start.column)
            }
            None => Error::sql(format!("expected {expected}, found the end")),
        }
    }
}
