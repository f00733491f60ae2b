//! Parses SQL text to one query.

use super::served::check_depth;
use super::spelling;
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{Expr, Query, Statement};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
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
    let wrong = |error: ParserError| Error::parser(error.to_string());
    check_depth(sql)?;
    let mut statements = parser(sql)?.parse_statements().map_err(wrong)?;
    let plain = |mut query: Box<Query>, explain| {
        spelling::plain(&mut *query)?;
        Ok(Parsed { query, explain })
    };
    match (statements.pop(), statements.is_empty()) {
        (Some(Statement::Query(query)), true) => plain(query, false),
        (Some(Statement::Explain { statement, analyze: false, .. }), true) => match *statement {
            Statement::Query(query) => plain(query, true),
            _ => Err(Error::sql("only `select` can be explained")),
        },
        (Some(Statement::Explain { .. }), true) => Err(Error::sql("`explain analyze`: run the query with --stats")),
        (None, _) => Err(Error::sql("there is no query")),
        (Some(_), false) => Err(Error::sql("one query at a time")),
        (Some(_), true) => Err(Error::sql("only `select` (and `with … select`) is understood")),
    }
}

/// A parser that reads `timestamp "@t"` and `timestamp a.b` as calls of the function, and `from stream where …` as
/// `select * from stream where …`.
fn parser(sql: &str) -> Result<Parser<'_>, Error> {
    let written = Tokenizer::new(&GenericDialect {}, sql)
        .tokenize_with_location()
        .map_err(|error| Error::parser(error.to_string()))?;
    let mut tokens: Vec<TokenWithSpan> = Vec::new();
    if lacks_select(&written) {
        let select = Tokenizer::new(&GenericDialect {}, "select * ").tokenize_with_location();
        tokens.extend(select.map_err(|error| Error::sql(error.to_string()))?);
    }
    let mut rest = written.into_iter().peekable();
    while let Some(token) = rest.next() {
        let is_timestamp = matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("timestamp"));
        let span = token.span;
        let before = tokens.iter().rev().find(|token| !matches!(token.token, Token::Whitespace(_)));
        let is_no_call = |token: &TokenWithSpan| match &token.token {
            Token::Period | Token::DoubleColon => true,
            Token::Word(word) => word.keyword == Keyword::AS,
            _ => false,
        };
        let follows_name = before.is_some_and(is_no_call);
        tokens.push(token);
        if !is_timestamp || follows_name {
            continue;
        }
        let opened = tokens.len();
        while let Some(blank) = rest.next_if(|token| matches!(token.token, Token::Whitespace(_))) {
            tokens.push(blank);
        }
        let is_name =
            |token: &TokenWithSpan| matches!(&token.token, Token::Word(word) if word.keyword == Keyword::NoKeyword);
        let Some(name) = rest.next_if(is_name) else { continue };
        tokens.insert(opened, TokenWithSpan { token: Token::LParen, span });
        tokens.push(name);
        while let Some(period) = rest.next_if(|token| token.token == Token::Period) {
            tokens.push(period);
            tokens.extend(rest.next());
        }
        tokens.push(TokenWithSpan { token: Token::RParen, span });
    }
    Ok(Parser::new(&GenericDialect {}).with_tokens_with_locations(tokens))
}

/// Whether a query begins with `from` and has no `select` outside of brackets.
fn lacks_select(tokens: &[TokenWithSpan]) -> bool {
    let keyword = |token: &TokenWithSpan| match &token.token {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let mut depth = 0;
    let begins = tokens.iter().find(|token| !matches!(token.token, Token::Whitespace(_)));
    begins.is_some_and(|first| keyword(first) == Keyword::FROM)
        && !tokens.iter().any(|token| {
            match token.token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                _ => {}
            }
            depth == 0 && keyword(token) == Keyword::SELECT
        })
}

/// Parses one expression. Nothing may follow it.
pub(crate) fn expression(sql: &str) -> Result<Expr, Error> {
    check_depth(sql)?;
    let mut expr = plain_expression(sql)?;
    spelling::plain(&mut expr)?;
    Ok(expr)
}

/// Parses one query that has a plain form already.
pub(super) fn plain_query(sql: &str) -> Result<Box<Query>, Error> {
    parser(sql)?.parse_query().map_err(|error| Error::sql(error.to_string()))
}

/// Parses one expression that has a plain form already.
pub(super) fn plain_expression(sql: &str) -> Result<Expr, Error> {
    let wrong = |error: ParserError| Error::parser(error.to_string());
    let mut parser = parser(sql)?;
    let expr = parser.parse_expr().map_err(wrong)?;
    parser.expect_token(&Token::EOF).map_err(wrong)?;
    Ok(expr)
}
