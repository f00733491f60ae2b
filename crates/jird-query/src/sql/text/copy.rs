//! Reads `copy … to '…' (…)`, and sorts what goes to folders.

use super::plain::around;
use super::words::{Words, word};
use crate::base::error::Error;
use crate::sql::base::syntax::{aliased, quoted};
use sqlparser::ast::{
    Expr, Ident, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, Query, SelectItem, SetExpr, Value,
};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Where a query puts its result: `copy (select …) to 'slow.csv'`, or
/// `copy (select …) to 'days' (format parquet, partition_by (day))`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyTo {
    /// The file, or the folder if there are parts.
    pub path: String,
    /// The name of the format, if given.
    pub format: Option<String>,
    /// The columns whose values name the folders of the parts.
    pub partition_by: Vec<String>,
    /// The name of the compression of the parts, if given.
    pub compression: Option<String>,
    /// Whether a file that is there is replaced.
    pub overwrite: bool,
}

/// The start of the names of columns that are there only to sort by.
pub(crate) const HIDDEN: &str = "order:";

/// The name of a result whose columns are sorted.
const RESULT: &str = "result";

/// The rows of a query, sorted by these columns first and then as they were. Sort keys that are not columns become
/// columns whose names begin with [`HIDDEN`].
pub(crate) fn sorted(mut inner: Box<Query>, columns: &[String]) -> Result<Box<Query>, Error> {
    let column = |name: &String| Expr::CompoundIdentifier(vec![Ident::new(RESULT), Ident::new(name)]);
    let mut keys: Vec<_> = columns.iter().map(|name| ascending(column(name))).collect();
    // With a limit, the order decides which rows there are.
    if inner.limit_clause.is_none()
        && let Some(OrderBy { kind: OrderByKind::Expressions(own), .. }) = inner
            .order_by
            .take_if(|order| matches!(&order.kind, OrderByKind::Expressions(_)) && order.interpolate.is_none())
    {
        for (at, key) in own.into_iter().enumerate() {
            keys.push(OrderByExpr { expr: outer_key(&mut inner, key.expr, at), ..key });
        }
    }
    let mut query = around(&format!("select * from (select 1) as {}", quoted(RESULT)), inner)?;
    query.order_by = Some(OrderBy { kind: OrderByKind::Expressions(keys), interpolate: None });
    Ok(query)
}

fn ascending(expr: Expr) -> OrderByExpr {
    OrderByExpr { expr, options: OrderByOptions { asc: None, nulls_first: None }, with_fill: None }
}

/// A key of a query's `order by` as a column of its result.
fn outer_key(query: &mut Query, key: Expr, at: usize) -> Expr {
    let SetExpr::Select(select) = &mut *query.body else { return key };
    let is_alias = |item: &SelectItem| match (item, &key) {
        (SelectItem::ExprWithAlias { alias, .. }, Expr::Identifier(name)) => alias.value == name.value,
        _ => false,
    };
    let is_number = matches!(&key, Expr::Value(value) if matches!(value.value, Value::Number(..)));
    if is_number || select.distinct.is_some() || select.projection.iter().any(is_alias) {
        return key;
    }
    let name = format!("{HIDDEN}{at}");
    select.projection.push(aliased(key, &name));
    Expr::Identifier(quoted(&name))
}

/// Splits the tokens after `copy` into the query or the name, and where its rows go.
pub(super) fn copy(tokens: &[TokenWithSpan]) -> Result<(Vec<TokenWithSpan>, CopyTo), Error> {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0 && word(token) == "to"
    });
    let Some(end) = end else { return Err(Error::sql("`copy (select …) to 'FILE'` lacks a `to`")) };
    let mut words = Words::new(&tokens[end + 1..]);
    let path = words.text().ok_or_else(|| words.wrong("the name of a file in quotes, behind `to`"))?;
    let mut to = CopyTo { path, ..CopyTo::default() };
    if words.take("partition") {
        words.want("by")?;
        to.partition_by = words.names()?;
    }
    words.take("with");
    if words.take("(") {
        loop {
            option(&mut words, &mut to)?;
            if !words.take(",") {
                break;
            }
        }
        words.want(")")?;
    }
    if words.is_over() {
        Ok((unwrapped(&tokens[..end]).to_vec(), to))
    } else {
        Err(words.wrong("the end of the statement"))
    }
}

fn option(words: &mut Words<'_>, to: &mut CopyTo) -> Result<(), Error> {
    let Some(name) = words.name() else { return Err(words.wrong("the name of an option")) };
    let given = match name.to_ascii_lowercase().as_str() {
        "format" => to.format.replace(words.name().ok_or_else(|| words.wrong("a format"))?).is_some(),
        "compression" => to.compression.replace(words.name().ok_or_else(|| words.wrong("a compression"))?).is_some(),
        "partition_by" => !std::mem::replace(&mut to.partition_by, words.names()?).is_empty(),
        "overwrite" => {
            let is_off = words.take("false");
            let _ = is_off || words.take("true");
            std::mem::replace(&mut to.overwrite, !is_off)
        }
        _ => {
            let known = "format, partition_by, compression and overwrite";
            return Err(Error::sql(format!("`copy` has no option {name}; it has {known}")));
        }
    };
    if given { Err(Error::sql(format!("`copy` has the option {name} twice"))) } else { Ok(()) }
}

/// The tokens within the brackets around all of them, if there are such brackets.
fn unwrapped(tokens: &[TokenWithSpan]) -> &[TokenWithSpan] {
    let is_blank = |token: &TokenWithSpan| matches!(token.token, Token::Whitespace(_));
    let start = tokens.iter().position(|token| !is_blank(token)).unwrap_or_default();
    let end = tokens.iter().rposition(|token| !is_blank(token)).unwrap_or_default();
    match (tokens.get(start).map(|token| &token.token), tokens.get(end).map(|token| &token.token)) {
        (Some(Token::LParen), Some(Token::RParen)) if end > start => &tokens[start + 1..end],
        _ => &tokens[start.min(tokens.len())..],
    }
}
