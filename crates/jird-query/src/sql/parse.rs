//! SQL text to one parsed query.

use crate::error::Error;
use datafusion::sql::sqlparser::ast::{Expr, Query, Statement};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::Token;

/// Parses one `select`, with whatever belongs to it.
pub(crate) fn parse(sql: &str) -> Result<Box<Query>, Error> {
    let mut statements = Parser::parse_sql(&GenericDialect {}, sql).map_err(|error| Error::sql(error.to_string()))?;
    match (statements.pop(), statements.is_empty()) {
        (Some(Statement::Query(query)), true) => Ok(query),
        (None, _) => Err(Error::sql("there is no query")),
        (Some(_), false) => Err(Error::sql("one query at a time")),
        (Some(_), true) => Err(Error::sql("only `select` (and `with … select`) is understood")),
    }
}

/// Parses one expression, and nothing behind it.
pub(crate) fn expression(sql: &str) -> Result<Expr, Error> {
    let wrong = |error: datafusion::sql::sqlparser::parser::ParserError| Error::sql(error.to_string());
    let mut parser = Parser::new(&GenericDialect {}).try_with_sql(sql).map_err(wrong)?;
    let expr = parser.parse_expr().map_err(wrong)?;
    parser.expect_token(&Token::EOF).map_err(wrong)?;
    Ok(expr)
}
