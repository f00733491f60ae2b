//! Parses SQL text to one query.
//!
//! In goes the text of statements: views, then a query, or `explain`, `describe`, `summarize` or `copy` of one. Out come
//! the query in plain form and what is asked of it. Errors have the line and column of the text.

use super::copy::{CopyTo, copy, sorted};
use super::depth::check_depth;
use super::plain::{around, parser, plain_expression, plain_query, tokens as tokens_of};
use super::spelling;
use super::views::{View, Views, is_view};
use super::words::word;
use crate::base::defined::{Defined, Definitions};
use crate::base::error::Error;
use crate::sql::base::syntax::quoted;
use sqlparser::ast::{Expr, ObjectName, Query, SetExpr, Spanned, Statement, TableFactor};
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// What is wanted of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Rows,
    /// How it would run.
    Plan,
    /// Its columns, and the types of their values.
    Description,
    /// Figures of its columns.
    Summary,
    /// To be written somewhere.
    Copy(CopyTo),
    /// No query, but these names, what they are, and what they stand for.
    Names(Vec<[String; 3]>),
}

/// A parsed query, the views that stand before it, and what is wanted of it.
#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    pub(crate) views: Vec<View>,
    pub(crate) query: Box<Query>,
    pub(crate) asks: Purpose,
}

impl Parsed {
    /// Puts in what names stand for: these names of files, and views of these files and of the query's own text.
    pub(crate) fn expand(&mut self, files: &[Defined], defined: &[Definitions]) -> Result<(), Error> {
        let mut views = Vec::new();
        for Definitions { name, sql } in defined {
            let here = definitions(sql).map_err(|error| error.renamed(|message| format!("{name}: {message}")))?;
            views.extend(here.into_iter().map(|view| view.of_file(name)));
        }
        views.append(&mut self.views);
        let views = Views::new(files, views)?;
        if let Purpose::Names(names) = &mut self.asks {
            names.extend(views.described());
        }
        views.expand(&mut self.query)
    }

    /// The rows of the same query.
    pub(crate) fn rows(&self) -> Self {
        Self { asks: Purpose::Rows, ..self.clone() }
    }

    /// All rows of a table.
    pub(crate) fn all_of(table: &str) -> Result<Self, Error> {
        let query = plain_query(&format!("select * from {}", quoted(table)))?;
        Ok(Self { views: Vec::new(), query, asks: Purpose::Rows })
    }

    /// The same rows, sorted by these columns first and then as they were. Sort keys that are not columns become
    /// columns whose names begin with [`HIDDEN`](super::copy::HIDDEN).
    pub(crate) fn sorted_by(&self, columns: &[String]) -> Result<Self, Error> {
        Ok(Self { query: sorted(self.query.clone(), columns)?, ..self.rows() })
    }

    /// Whether the rows are all records of files, as they are.
    pub(crate) fn is_all_records(&self) -> bool {
        self.all_records().is_some()
    }

    /// The files whose records the rows are, if the rows are that.
    fn all_records(&self) -> Option<&ObjectName> {
        let SetExpr::Select(select) = &*self.query.body else { return None };
        let [from] = &select.from[..] else { return None };
        let TableFactor::Table { name, .. } = &from.relation else { return None };
        let is_all = self.query.to_string() == format!("SELECT * FROM {}", from.relation);
        (is_all && !is_view(name)).then_some(name)
    }

    /// A query of these expressions over all rows, which are the table [`SUMMARIZED`].
    pub(crate) fn summary(&self, figures: &str) -> Result<Self, Error> {
        let table = quoted(SUMMARIZED);
        let mut query = match self.all_records() {
            Some(files) => plain_query(&format!("select {figures} from {files} as {table}"))?,
            None => around(&format!("select {figures} from (select 1) as {table}"), self.query.clone())?,
        };
        spelling::plain(&mut *query)?;
        Ok(Self { views: Vec::new(), query, asks: Purpose::Rows })
    }
}

impl CopyTo {
    /// What the query `sql` copies to, if it is a query that copies. Its errors are reported when it runs.
    pub fn of(sql: &str) -> Option<Self> {
        match parse(sql).ok()?.asks {
            Purpose::Copy(to) => Some(to),
            _ => None,
        }
    }
}

/// The name of what is summarized.
pub(crate) const SUMMARIZED: &str = "summarized:";

/// Parses one `select` statement, or `explain`, `describe` or `summarize` of one, and the definitions of views before it.
pub(crate) fn parse(sql: &str) -> Result<Parsed, Error> {
    let mut statements = statements(sql)?;
    let Some((asks, last)) = statements.pop() else { return Err(Error::sql("there is no query")) };
    let views = views(statements, "one query at a time: before it, there may be `create view … as …;`")?;
    let (asks, mut query) = match (asks, last) {
        (asks, Statement::Query(query)) => (asks, query),
        (Purpose::Rows, Statement::Explain { statement, analyze: false, .. }) => match *statement {
            Statement::Query(query) => (Purpose::Plan, query),
            _ => return Err(Error::sql("only `select` can be explained")),
        },
        (Purpose::Rows, Statement::Explain { .. }) => {
            return Err(Error::sql("`explain analyze`: run the query with --stats"));
        }
        (Purpose::Rows, Statement::CreateView(_)) => {
            return Err(Error::sql("a query must follow the views, as in `create view v as …; from v`"));
        }
        _ => return Err(Error::sql("only `select` (and `with … select`) is understood")),
    };
    spelling::plain(&mut *query)?;
    Ok(Parsed { views, query, asks })
}

/// Parses definitions of views, without a query after them.
fn definitions(sql: &str) -> Result<Vec<View>, Error> {
    views(statements(sql.trim_start_matches('\u{feff}'))?, "definitions are `create view … as …;` and nothing else")
}

fn views(statements: Vec<(Purpose, Statement)>, not_a_view: &str) -> Result<Vec<View>, Error> {
    let view = |statement| match statement {
        (Purpose::Rows, Statement::CreateView(mut view)) => {
            let written = view.query.to_string();
            spelling::plain(&mut *view.query)?;
            View::new(view, written)
        }
        (_, other) => {
            let start = other.span().start;
            Err(Error::sql(not_a_view).at(start.line, start.column))
        }
    };
    statements.into_iter().map(view).collect()
}

/// Parses the statements of a text, with semicolons between them.
fn statements(sql: &str) -> Result<Vec<(Purpose, Statement)>, Error> {
    let tokens = tokens_of(sql)?;
    let parts = tokens.split(|token| token.token == Token::SemiColon);
    let begun = |part: &[TokenWithSpan]| part.iter().position(|token| !matches!(token.token, Token::Whitespace(_)));
    parts.filter_map(|part| begun(part).map(|start| statement(&part[start..]))).collect()
}

/// Parses one statement, which begins with a word.
fn statement(tokens: &[TokenWithSpan]) -> Result<(Purpose, Statement), Error> {
    check_depth(tokens)?;
    let wrong = |error: ParserError| Error::parser(&error);
    let (asks, tokens) = asked(tokens)?;
    let mut parser = parser(&tokens)?;
    let statement = parser.parse_statement().map_err(wrong)?;
    match parser.peek_token().token {
        Token::EOF => Ok((asks, statement)),
        _ => parser.expected("end of statement", parser.peek_token()).map_err(wrong),
    }
}

/// What a statement asks for, and the query that it asks it of. `describe errors` is `describe select * from errors`.
fn asked(tokens: &[TokenWithSpan]) -> Result<(Purpose, Vec<TokenWithSpan>), Error> {
    let words: Vec<_> = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).map(word).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let asks = match &words[..] {
        ["show", "tables"] | ["show", "all", "tables"] | ["describe" | "desc"] => {
            return Ok((Purpose::Names(Vec::new()), tokens_of("select 1")?));
        }
        ["show", ..] => return Err(Error::sql("`show tables` shows names; `describe` shows the columns of one")),
        ["copy", ..] => {
            let (query, to) = copy(&tokens[1..])?;
            return Ok((Purpose::Copy(to), whole(query)?));
        }
        ["describe" | "desc", ..] => Purpose::Description,
        ["summarize" | "summarise", ..] => Purpose::Summary,
        _ => return Ok((Purpose::Rows, tokens.to_vec())),
    };
    Ok((asks, whole(tokens[1..].to_vec())?))
}

/// A query, or all rows of what is named.
fn whole(tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>, Error> {
    let first = tokens.iter().find(|token| !matches!(token.token, Token::Whitespace(_))).map(word);
    if matches!(first.as_deref(), Some("select" | "with" | "from" | "values" | "(")) {
        return Ok(tokens);
    }
    let mut query = tokens_of("select * from ")?;
    query.extend(tokens);
    Ok(query)
}

/// Parses one expression. Nothing may follow it.
pub(crate) fn expression(sql: &str) -> Result<Expr, Error> {
    check_depth(&tokens_of(sql)?)?;
    let mut expr = plain_expression(sql)?;
    spelling::plain(&mut expr)?;
    Ok(expr)
}
