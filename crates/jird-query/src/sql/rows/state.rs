//! What a rewrite gathers while it walks over a query.

use crate::base::error::Error;
use crate::base::named::Named;
use crate::base::nearest::{nearest, some};
use crate::sql::base::functions::STREAM;
use crate::sql::resolve::columns::Derived;
use crate::sql::resolve::resolver::Resolver;
use crate::sql::resolve::scope::Columns;
use crate::sql::resolve::uses::Style;
use crate::sql::values::walk::Walk;
use sqlparser::ast::{ObjectName, ObjectNamePart};
use std::rc::Rc;

/// The column of an `asof join` that says where the next row of its group begins. `*` does not name it.
pub(crate) const NEXT: &str = "next:";

/// Rewrites a query: each file of this room does a clause.
pub(crate) struct Rewriter<'k> {
    pub(crate) resolver: Resolver<'k>,
    pub(crate) ctes: Vec<Cte>,
    /// The names of the next `select`'s columns, from `as t (a, b)`.
    pub(crate) names: Option<Vec<String>>,
    pub(crate) subqueries: usize,
    /// Whether any `select` groups.
    pub(crate) groups: bool,
    /// The keys of the columns that the records of the result become.
    pub(crate) apart: Vec<String>,
    pub(crate) style: Style,
}

/// A name of `with`.
pub(crate) struct Cte {
    pub(crate) name: String,
    /// What DataFusion calls it, which knows each name once.
    pub(crate) table: String,
    pub(crate) columns: Rc<Vec<Derived>>,
}

impl<'k> Rewriter<'k> {
    /// A rewriter that has not seen any query yet.
    pub(crate) fn new(resolver: Resolver<'k>, style: Style) -> Self {
        Self { resolver, ctes: Vec::new(), names: None, subqueries: 0, groups: false, apart: Vec::new(), style }
    }

    /// Itself, as the rooms below see it.
    pub(crate) fn walk(&mut self) -> &mut dyn Walk<'k> {
        self
    }

    /// The table with this name, and its columns.
    pub(crate) fn named(&mut self, name: &ObjectName) -> Result<(String, Columns), Error> {
        if let [ObjectNamePart::Identifier(file), ObjectNamePart::Identifier(table)] = name.0.as_slice()
            && file.quote_style.is_some()
            && self.resolver.named.is_none()
        {
            // A table of a database: `from 'shop.db'.orders`.
            let table = format!("{}::{}", file.value, table.value);
            let records = self.resolver.records(&table);
            return Ok((table, records));
        }
        let [ObjectNamePart::Identifier(ident)] = name.0.as_slice() else {
            if let Some(named) = self.resolver.named {
                return Err(unknown(&name.to_string(), named));
            }
            return Err(Error::sql(format!("there is no table {name}: a path is written in quotes, '{name}'")));
        };
        let is_stream = ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case(STREAM);
        let is_cte = |name: &str| self.ctes.iter().any(|cte| cte.name == name);
        let table = if is_stream && !is_cte(&ident.value) { STREAM.to_owned() } else { ident.value.clone() };
        if let Some(cte) = self.ctes.iter().rev().find(|cte| cte.name == table) {
            return Ok((cte.table.clone(), Columns::These(Rc::clone(&cte.columns))));
        }
        if let Some(named) = self.resolver.named {
            let table = match named.iter().find(|named| named.name == ident.value) {
                Some(named) => named,
                None if is_stream => only(named)?,
                None => return Err(unknown(&ident.value, named).at(ident.span.start.line, ident.span.start.column)),
            };
            return Ok((table.name.clone(), self.resolver.records(&table.name)));
        }
        if ident.quote_style.is_none() && table != STREAM {
            return Err(Error::sql(format!(
                "there is no table {table}: `{STREAM}` is all files of the command line, and a path is written in quotes, '{table}'"
            )));
        }
        let records = self.resolver.records(&table);
        Ok((table, records))
    }
}

/// There is no table of this name.
#[cold]
fn unknown(name: &str, named: &[Named]) -> Error {
    let names = || named.iter().map(|named| named.name.as_str());
    let shown: String = name.chars().take(80).collect();
    Error::sql(match nearest(name, names()) {
        Some(near) => format!("there is no table {shown}; did you mean {near}?"),
        None => format!("there is no table {shown}; there are {}", some(names())),
    })
}

/// The table that is meant by a query which names none.
fn only(named: &[Named]) -> Result<&Named, Error> {
    match named {
        [named] => Ok(named),
        [] => Err(Error::sql("there are no tables")),
        many => {
            let mut stores = many.iter().filter(|named| jird_store::is_store(&named.path));
            if let (Some(store), None) = (stores.next(), stores.next()) {
                return Ok(store);
            }
            let names = some(many.iter().map(|named| named.name.as_str()));
            Err(Error::sql(format!("name a table, as in `from {}`: there are {names}", many[0].name)))
        }
    }
}
