//! Reads SQL that is in plain form, also what the rewrite itself puts together.

use super::dialect::Ours;
use super::statements::known;
use crate::base::error::Error;
use sqlparser::ast::{Expr, Query, SetExpr, TableFactor};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

/// Parses one query that has a plain form already.
pub(crate) fn plain_query(sql: &str) -> Result<Box<Query>, Error> {
    parser(&tokens(sql)?)?.parse_query().map_err(|error| Error::sql(error.to_string()))
}

/// Parses one expression that has a plain form already.
pub(crate) fn plain_expression(sql: &str) -> Result<Expr, Error> {
    let wrong = |error: ParserError| Error::parser(&error);
    let mut parser = parser(&tokens(sql)?)?;
    let expr = parser.parse_expr().map_err(wrong)?;
    parser.expect_token(&Token::EOF).map_err(wrong)?;
    Ok(expr)
}

/// A query in plain form around another one, which takes the place of its `(select 1)`.
pub(crate) fn around(outer: &str, inner: Box<Query>) -> Result<Box<Query>, Error> {
    let mut query = plain_query(outer)?;
    if let SetExpr::Select(select) = &mut *query.body
        && let Some(TableFactor::Derived { subquery, .. }) = select.from.first_mut().map(|table| &mut table.relation)
    {
        *subquery = inner;
    }
    Ok(query)
}

/// The tokens of a text.
pub(crate) fn tokens(sql: &str) -> Result<Vec<TokenWithSpan>, Error> {
    let tokens = Tokenizer::new(&Ours, sql).tokenize_with_location();
    tokens.map_err(|error| Error::parser(&error))
}

/// A parser that reads `timestamp "@t"` and `timestamp a.b` as calls of the function, and `from stream where …` as
/// `select * from stream where …`.
pub(crate) fn parser(written: &[TokenWithSpan]) -> Result<Parser<'static>, Error> {
    let mut tokens: Vec<TokenWithSpan> = Vec::new();
    let written = with_selects(&known(written.to_vec()))?;
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
    Ok(Parser::new(&Ours).with_tokens_with_locations(tokens))
}

/// Puts `select *` before each `from` that begins a query without one.
fn with_selects(written: &[TokenWithSpan]) -> Result<Vec<TokenWithSpan>, Error> {
    let keyword = |token: &TokenWithSpan| match &token.token {
        Token::Word(word) if word.quote_style.is_none() => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let mut made = Vec::new();
    let mut before = None;
    for (at, token) in written.iter().enumerate() {
        let begins = before.is_none_or(|before| matches!(keyword(before), Keyword::AS | Keyword::EXPLAIN));
        if begins && keyword(token) == Keyword::FROM && !selects(&written[at..]) {
            made.extend(tokens("select * ")?.into_iter().map(|made| TokenWithSpan { span: token.span, ..made }));
        }
        made.push(token.clone());
        if !matches!(token.token, Token::Whitespace(_)) {
            before = Some(token);
        }
    }
    Ok(made)
}

/// Whether there is a `select` outside of brackets.
fn selects(tokens: &[TokenWithSpan]) -> bool {
    let mut depth = 0;
    tokens.iter().any(|token| {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            Token::Word(word) => return depth == 0 && word.keyword == Keyword::SELECT,
            _ => {}
        }
        false
    })
}
