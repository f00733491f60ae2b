//! Parses SQL text to one query.

use super::copy::{CopyTo, copy};
use super::expr::quoted;
use super::served::check_depth;
use super::spelling;
use super::views::{View, Views, is_view};
use super::words::word;
use crate::defined::{Defined, Definitions};
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{Expr, ObjectName, Query, SetExpr, Spanned, Statement, TableFactor};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

/// What is wanted of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
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
    pub(crate) asks: Asks,
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
        if let Asks::Names(names) = &mut self.asks {
            names.extend(views.described());
        }
        views.expand(&mut self.query)
    }

    /// The rows of the same query.
    pub(crate) fn rows(&self) -> Self {
        Self { asks: Asks::Rows, ..self.clone() }
    }

    /// All rows of a table.
    pub(crate) fn all_of(table: &str) -> Result<Self, Error> {
        let query = plain_query(&format!("select * from {}", quoted(table)))?;
        Ok(Self { views: Vec::new(), query, asks: Asks::Rows })
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
        Ok(Self { views: Vec::new(), query, asks: Asks::Rows })
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
        (Asks::Rows, Statement::Explain { statement, analyze: false, .. }) => match *statement {
            Statement::Query(query) => (Asks::Plan, query),
            _ => return Err(Error::sql("only `select` can be explained")),
        },
        (Asks::Rows, Statement::Explain { .. }) => {
            return Err(Error::sql("`explain analyze`: run the query with --stats"));
        }
        (Asks::Rows, Statement::CreateView(_)) => {
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

fn views(statements: Vec<(Asks, Statement)>, not_a_view: &str) -> Result<Vec<View>, Error> {
    let view = |statement| match statement {
        (Asks::Rows, Statement::CreateView(mut view)) => {
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
fn statements(sql: &str) -> Result<Vec<(Asks, Statement)>, Error> {
    let tokens = tokens(sql)?;
    let parts = tokens.split(|token| token.token == Token::SemiColon);
    let begun = |part: &[TokenWithSpan]| part.iter().position(|token| !matches!(token.token, Token::Whitespace(_)));
    parts.filter_map(|part| begun(part).map(|start| statement(&part[start..]))).collect()
}

/// Parses one statement, which begins with a word.
fn statement(tokens: &[TokenWithSpan]) -> Result<(Asks, Statement), Error> {
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
fn asked(tokens: &[TokenWithSpan]) -> Result<(Asks, Vec<TokenWithSpan>), Error> {
    let words: Vec<_> = tokens.iter().filter(|token| !matches!(token.token, Token::Whitespace(_))).map(word).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let asks = match &words[..] {
        ["show", "tables"] | ["show", "all", "tables"] | ["describe" | "desc"] => {
            return Ok((Asks::Names(Vec::new()), self::tokens("select 1")?));
        }
        ["show", ..] => return Err(Error::sql("`show tables` shows names; `describe` shows the columns of one")),
        ["copy", ..] => {
            let (query, to) = copy(&tokens[1..])?;
            return Ok((Asks::Copy(to), whole(query)?));
        }
        ["describe" | "desc", ..] => Asks::Description,
        ["summarize" | "summarise", ..] => Asks::Summary,
        _ => return Ok((Asks::Rows, tokens.to_vec())),
    };
    Ok((asks, whole(tokens[1..].to_vec())?))
}

/// A query, or all rows of what is named.
fn whole(tokens: Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>, Error> {
    let first = tokens.iter().find(|token| !matches!(token.token, Token::Whitespace(_))).map(word);
    if matches!(first.as_deref(), Some("select" | "with" | "from" | "values" | "(")) {
        return Ok(tokens);
    }
    let mut query = self::tokens("select * from ")?;
    query.extend(tokens);
    Ok(query)
}

fn tokens(sql: &str) -> Result<Vec<TokenWithSpan>, Error> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location();
    tokens.map_err(|error| Error::parser(&error))
}

/// A parser that reads `timestamp "@t"` and `timestamp a.b` as calls of the function, and `from stream where …` as
/// `select * from stream where …`.
fn parser(written: &[TokenWithSpan]) -> Result<Parser<'static>, Error> {
    let mut tokens: Vec<TokenWithSpan> = Vec::new();
    let written = with_selects(&spelling::known(written.to_vec()))?;
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
            made.extend(self::tokens("select * ")?.into_iter().map(|made| TokenWithSpan { span: token.span, ..made }));
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

/// Parses one expression. Nothing may follow it.
pub(crate) fn expression(sql: &str) -> Result<Expr, Error> {
    check_depth(&tokens(sql)?)?;
    let mut expr = plain_expression(sql)?;
    spelling::plain(&mut expr)?;
    Ok(expr)
}

/// A query in plain form around another one, which takes the place of its `(select 1)`.
pub(super) fn around(outer: &str, inner: Box<Query>) -> Result<Box<Query>, Error> {
    let mut query = plain_query(outer)?;
    if let SetExpr::Select(select) = &mut *query.body
        && let Some(TableFactor::Derived { subquery, .. }) = select.from.first_mut().map(|table| &mut table.relation)
    {
        *subquery = inner;
    }
    Ok(query)
}

/// Parses one query that has a plain form already.
pub(super) fn plain_query(sql: &str) -> Result<Box<Query>, Error> {
    parser(&tokens(sql)?)?.parse_query().map_err(|error| Error::sql(error.to_string()))
}

/// Parses one expression that has a plain form already.
pub(super) fn plain_expression(sql: &str) -> Result<Expr, Error> {
    let wrong = |error: ParserError| Error::parser(&error);
    let mut parser = parser(&tokens(sql)?)?;
    let expr = parser.parse_expr().map_err(wrong)?;
    parser.expect_token(&Token::EOF).map_err(wrong)?;
    Ok(expr)
}
