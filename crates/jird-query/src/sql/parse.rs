//! Parses SQL text to one query.

use crate::error::Error;
use datafusion::sql::sqlparser::ast::{Expr, Query, Statement};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

/// A parsed query, and whether the user wants it explained instead of run.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) query: Box<Query>,
    pub(crate) explain: bool,
}

/// Parses one `select` statement, or `explain` of one.
pub(crate) fn parse(sql: &str) -> Result<Parsed, Error> {
    let wrong = |error: ParserError| Error::sql(error.to_string());
    let mut statements = parser(sql)?.parse_statements().map_err(wrong)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(Statement::Query(query)), true) => Ok(Parsed { query, explain: false }),
        (Some(Statement::Explain { statement, analyze: false, .. }), true) => match *statement {
            Statement::Query(query) => Ok(Parsed { query, explain: true }),
            _ => Err(Error::sql("only `select` can be explained")),
        },
        (Some(Statement::Explain { .. }), true) => Err(Error::sql("`explain analyze`: run the query with --stats")),
        (None, _) => Err(Error::sql("there is no query")),
        (Some(_), false) => Err(Error::sql("one query at a time")),
        (Some(_), true) => Err(Error::sql("only `select` (and `with … select`) is understood")),
    }
}

/// A parser that reads `timestamp "@t"` as `timestamp("@t")`.
fn parser(sql: &str) -> Result<Parser<'_>, Error> {
    let mut tokens: Vec<TokenWithSpan> = Vec::new();
    let mut opened = None;
    let written = Tokenizer::new(&GenericDialect {}, sql)
        .tokenize_with_location()
        .map_err(|error| Error::sql(error.to_string()))?;
    for token in written {
        let span = token.span;
        let is_name = matches!(&token.token, Token::Word(word) if word.quote_style == Some('"'));
        let is_timestamp = matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("timestamp"));
        let is_blank = matches!(token.token, Token::Whitespace(_));
        match opened {
            Some(at) if is_name => {
                tokens.insert(at, TokenWithSpan { token: Token::LParen, span });
                tokens.push(token);
                tokens.push(TokenWithSpan { token: Token::RParen, span });
            }
            _ => tokens.push(token),
        }
        opened = match opened {
            _ if is_timestamp => Some(tokens.len()),
            Some(at) if is_blank => Some(at),
            _ => None,
        };
    }
    Ok(Parser::new(&GenericDialect {}).with_tokens_with_locations(tokens))
}

/// Parses one expression. Nothing may follow it.
pub(crate) fn expression(sql: &str) -> Result<Expr, Error> {
    let wrong = |error: ParserError| Error::sql(error.to_string());
    let mut parser = parser(sql)?;
    let expr = parser.parse_expr().map_err(wrong)?;
    parser.expect_token(&Token::EOF).map_err(wrong)?;
    Ok(expr)
}
