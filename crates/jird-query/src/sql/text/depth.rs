//! Refuses text that would be parsed to something deep, which is walked recursively.

use super::plain::tokens;
use crate::base::error::Error;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The most operators and keywords of untrusted queries. A chain of this many is that deep, and plans are walked
/// recursively, in more than linear time: a sum of a thousand numbers took half a minute without optimisation, and no time
/// limit ends that.
const SIGNS_MAX: usize = 300;

/// The most operators and keywords of any query: a chain of more would need more stack than there is.
const ALL_SIGNS_MAX: usize = 5000;

/// Refuses untrusted SQL that would be parsed to something deep.
pub(crate) fn check_text(sql: &str) -> Result<(), Error> {
    match signs(&tokens(sql)?) {
        0..=SIGNS_MAX => Ok(()),
        _ => Err(Error::sql(format!("queries of others have at most {SIGNS_MAX} operators and keywords"))),
    }
}

/// Refuses SQL that would be parsed to something very deep.
pub(crate) fn check_depth(tokens: &[TokenWithSpan]) -> Result<(), Error> {
    match signs(tokens) {
        0..=ALL_SIGNS_MAX => Ok(()),
        count => Err(Error::sql(format!("the query has {count} operators and keywords, {ALL_SIGNS_MAX} are the most"))),
    }
}

/// How many operators and keywords SQL has.
fn signs(tokens: &[TokenWithSpan]) -> usize {
    let is_sign = |token: &&TokenWithSpan| match &token.token {
        Token::Word(word) => word.keyword != Keyword::NoKeyword && word.quote_style.is_none(),
        token => !matches!(
            token,
            Token::Number(..)
                | Token::SingleQuotedString(_)
                | Token::Comma
                | Token::LParen
                | Token::RParen
                | Token::Whitespace(_)
        ),
    };
    tokens.iter().filter(is_sign).count()
}
