//! Rewrites `from` and joins.

use super::expr::quoted;
use super::parse::plain_query;
use super::scope::{Columns, Derived, Relation};
use super::select::{Emit, Rewriter};
use super::unnest;
use super::uses::{Rep, STREAM, SourceUse};
use crate::error::Error;
use crate::named::Named;
use crate::nearest::nearest;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, SetExpr,
    TableAlias, TableFactor, TableWithJoins, Value,
};
use std::rc::Rc;

impl Rewriter<'_> {
    /// Adds the tables of a `from` to the innermost scope, and rewrites the conditions of its joins.
    pub(crate) fn from(&mut self, from: &mut Vec<TableWithJoins>) -> Result<(), Error> {
        let unnests = unnest::take(from)?;
        for table in &mut *from {
            self.table(&mut table.relation)?;
            for join in &mut table.joins {
                self.join(join)?;
            }
        }
        unnests.into_iter().try_for_each(|unnest| self.unnest(from, unnest))
    }

    fn table(&mut self, factor: &mut TableFactor) -> Result<(), Error> {
        super::supported::table(factor)?;
        self.shaped(factor)?;
        if let TableFactor::Table { name, alias: alias @ Some(_), args: None, .. } = factor
            && alias.as_ref().is_some_and(|alias| !alias.columns.is_empty())
        {
            let subquery = plain_query(&format!("select * from {name}"))?;
            *factor = TableFactor::Derived { lateral: false, subquery, alias: alias.take(), sample: None };
        }
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let (table, columns) = self.named(name)?;
                if let ([_, ObjectNamePart::Identifier(of_database)], None) = (name.0.as_slice(), &alias) {
                    let name = of_database.clone();
                    *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
                }
                *name = ObjectName::from(vec![quoted(&table)]);
                let alias = alias.as_mut().map(|alias| quote(&mut alias.name));
                self.add(Relation { alias: alias.unwrap_or(table), columns, holder: None })
            }
            TableFactor::Derived { lateral, subquery, alias, .. } => {
                let (alias, columns) = self.derived(subquery, alias, *lateral)?;
                self.add(Relation { alias, columns: Columns::These(columns), holder: None })
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                self.table(&mut table_with_joins.relation)?;
                table_with_joins.joins.iter_mut().try_for_each(|join| self.join(join))
            }
            other => Err(Error::sql(format!("`{other}` is not supported in from"))),
        }
    }

    /// The table with this name, and its columns.
    pub(super) fn named(&mut self, name: &ObjectName) -> Result<(String, Columns), Error> {
        if let [ObjectNamePart::Identifier(file), ObjectNamePart::Identifier(table)] = name.0.as_slice()
            && file.quote_style.is_some()
            && self.named.is_none()
        {
            // A table of a database: `from 'shop.db'.orders`.
            let table = format!("{}::{}", file.value, table.value);
            let records = self.records(&table);
            return Ok((table, records));
        }
        let [ObjectNamePart::Identifier(ident)] = name.0.as_slice() else {
            if let Some(named) = self.named {
                return Err(unknown(&name.to_string(), named));
            }
            return Err(Error::sql(format!("there is no table {name}: a path is written in quotes, '{name}'")));
        };
        let is_stream = ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case(STREAM);
        let is_cte = |name: &str| self.ctes.iter().any(|(other, _)| other == name);
        let table = if is_stream && !is_cte(&ident.value) { STREAM.to_owned() } else { ident.value.clone() };
        if let Some((_, columns)) = self.ctes.iter().rev().find(|(other, _)| *other == table) {
            return Ok((table, Columns::These(Rc::clone(columns))));
        }
        if let Some(named) = self.named {
            let table = match named.iter().find(|named| named.name == ident.value) {
                Some(named) => named,
                None if is_stream => only(named)?,
                None => return Err(unknown(&ident.value, named).at(ident.span.start.line, ident.span.start.column)),
            };
            return Ok((table.name.clone(), self.records(&table.name)));
        }
        if ident.quote_style.is_none() && table != STREAM {
            return Err(Error::sql(format!(
                "there is no table {table}: `{STREAM}` is all files of the command line, and a path is written in quotes, '{table}'"
            )));
        }
        let records = self.records(&table);
        Ok((table, records))
    }

    /// The records of a table, at one more place.
    fn records(&mut self, table: &str) -> Columns {
        let source = self.source(table);
        self.sources[source].places += 1;
        Columns::Any(source)
    }

    /// The number of the source for a table.
    pub(super) fn source(&mut self, table: &str) -> usize {
        if let Some(known) = self.sources.iter().position(|source| source.table == table) {
            return known;
        }
        self.sources.push(SourceUse {
            table: table.to_owned(),
            columns: Vec::new(),
            needs: Vec::new(),
            named: Vec::new(),
            places: 0,
            required: Vec::new(),
        });
        self.sources.len() - 1
    }

    fn derived(
        &mut self,
        subquery: &mut Query,
        alias: &mut Option<TableAlias>,
        lateral: bool,
    ) -> Result<(String, Rc<Vec<Derived>>), Error> {
        self.subqueries += 1;
        let alias = alias.get_or_insert_with(|| TableAlias {
            explicit: true,
            name: Ident::new(format!("subquery_{}", self.subqueries)),
            columns: Vec::new(),
            at: None,
        });
        self.names = take_names(alias, subquery);
        let is_outermost = self.scopes.len() < 2;
        // A subquery in `from` does not see the tables next to it, unless it is `lateral`.
        let beside = if lateral { None } else { self.scopes.pop() };
        let columns = self.query(subquery, Emit::All, is_outermost);
        self.scopes.extend(beside);
        Ok((quote(&mut alias.name), Rc::new(columns?)))
    }

    pub(super) fn add(&mut self, relation: Relation) -> Result<(), Error> {
        let Relation { alias, .. } = &relation;
        let Some(scope) = self.scopes.last_mut() else { return Err(Error::sql("a table outside of a select")) };
        if scope.relations.iter().any(|other| other.alias == *alias) {
            return Err(Error::sql(format!("two tables are called {alias}: give one another name, `from … as …`")));
        }
        scope.relations.push(relation);
        Ok(())
    }

    fn join(&mut self, join: &mut Join) -> Result<(), Error> {
        let before = self.scopes.last().map_or(0, |scope| scope.relations.len());
        self.asof(join)?;
        self.table(&mut join.relation)?;
        self.join_constraint(join, before)?;
        // What is only looked for is not there afterwards.
        let relations = self.scopes.last_mut().map(|scope| &mut scope.relations);
        match (&join.join_operator, relations) {
            (
                JoinOperator::Semi(_) | JoinOperator::LeftSemi(_) | JoinOperator::Anti(_) | JoinOperator::LeftAnti(_),
                Some(relations),
            ) => {
                relations.truncate(before);
            }
            (JoinOperator::RightSemi(_) | JoinOperator::RightAnti(_), Some(relations)) => {
                relations.drain(..before);
            }
            _ => {}
        }
        Ok(())
    }

    fn join_constraint(&mut self, join: &mut Join, before: usize) -> Result<(), Error> {
        let pairs_all = matches!(join.join_operator, JoinOperator::CrossJoin(_));
        let (JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::CrossJoin(constraint)
        | JoinOperator::Semi(constraint)
        | JoinOperator::LeftSemi(constraint)
        | JoinOperator::RightSemi(constraint)
        | JoinOperator::Anti(constraint)
        | JoinOperator::LeftAnti(constraint)
        | JoinOperator::RightAnti(constraint)) = &mut join.join_operator
        else {
            return Err(Error::sql("this kind of join is not supported"));
        };
        if let JoinConstraint::Using(names) = constraint {
            *constraint = JoinConstraint::On(self.using(&names.clone(), before)?);
            return Ok(());
        }
        match constraint {
            JoinConstraint::On(condition) => self.conjuncts(condition, false),
            JoinConstraint::Natural => {
                let names = self.common_names(before)?;
                *constraint = JoinConstraint::On(if names.is_empty() {
                    Expr::value(Value::Boolean(true))
                } else {
                    self.using(&names, before)?
                });
                Ok(())
            }
            _ if pairs_all => Ok(()),
            _ => Err(Error::sql(format!(
                "`{}` needs `on` or `using`; `cross join` is each row with each row",
                join.to_string().trim()
            ))),
        }
    }

    /// The columns that the tables of a natural join have in common.
    fn common_names(&mut self, before: usize) -> Result<Vec<ObjectName>, Error> {
        let relations = self.scopes.last().map_or_else(Vec::new, |scope| scope.relations.clone());
        let (left, right) = relations.split_at(before);
        let mut names = |relations: &[Relation]| -> Result<Vec<String>, Error> {
            let mut all = Vec::new();
            for relation in relations {
                match &relation.columns {
                    Columns::Any(source) => all.extend(self.records.keys(&self.sources[*source].table)?),
                    Columns::These(columns) => all.extend(columns.iter().map(|column| column.name.clone())),
                }
            }
            Ok(all)
        };
        let (left, right) = (names(left)?, names(right)?);
        let common = left.into_iter().filter(|name| right.contains(name));
        Ok(common.map(|name| ObjectName::from(vec![quoted(&name)])).collect())
    }

    /// The tables whose columns `using` compares: the first of those before that has the name, and the joined one.
    fn sides_of(&mut self, name: &str, before: usize) -> Result<(Option<String>, Option<String>), Error> {
        let Self { scopes, sources, records, .. } = self;
        let relations = scopes.last().map_or(&[][..], |scope| &scope.relations);
        let (left, right) = relations.split_at(before.min(relations.len()));
        let mut found = left.first();
        for relation in left.iter().filter(|_| left.len() > 1) {
            let has = match &relation.columns {
                Columns::Any(source) => records.has(&sources[*source].table, name)?,
                Columns::These(columns) => columns.iter().any(|column| column.name == name),
            };
            if has {
                found = Some(relation);
                break;
            }
        }
        let alias = |relation: &Relation| relation.alias.clone();
        Ok((found.map(alias), right.first().map(alias)))
    }

    /// Converts `using (a, b)` to a condition. From here on, the names mean the columns of the left table.
    fn using(&mut self, names: &[ObjectName], before: usize) -> Result<Expr, Error> {
        let mut condition = None;
        for name in names {
            let name = match name.0.as_slice() {
                [ObjectNamePart::Identifier(ident)] => ident.value.clone(),
                _ => return Err(Error::sql(format!("`using ({name})` takes names of columns"))),
            };
            let (Some(left), Some(right)) = self.sides_of(&name, before)? else {
                return Err(Error::sql("`using` needs two tables"));
            };
            let (left, right) = (&left, &right);
            let mut side = |relation: &str| -> Result<Expr, Error> {
                let expr = Expr::CompoundIdentifier(vec![quoted(relation), quoted(&name)]);
                match self.field_at(&expr)? {
                    Some(field) => Ok(self.column(&field, Rep::Key)),
                    None => Ok(expr),
                }
            };
            let equal = Expr::BinaryOp { left: side(left)?.into(), op: BinaryOperator::Eq, right: side(right)?.into() };
            if let Some(scope) = self.scopes.last_mut() {
                scope.using.push((name, left.clone()));
            }
            condition = Some(match condition {
                None => equal,
                Some(all) => Expr::BinaryOp { left: Box::new(all), op: BinaryOperator::And, right: equal.into() },
            });
        }
        condition.ok_or_else(|| Error::sql("`using ()` names nothing"))
    }
}

/// `from stream`, for a `select` without `from`.
pub(crate) fn stream() -> TableWithJoins {
    let relation = TableFactor::Table {
        name: ObjectName::from(vec![Ident::new(STREAM)]),
        alias: None,
        args: None,
        with_hints: Vec::new(),
        version: None,
        with_ordinality: false,
        partitions: Vec::new(),
        json_path: None,
        sample: None,
        index_hints: Vec::new(),
    };
    TableWithJoins { relation, joins: Vec::new() }
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

/// Some of many names.
pub(super) fn some<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let mut some: Vec<_> = names.by_ref().take(10).collect();
    if names.next().is_some() {
        some.push("others");
    }
    some.join(", ")
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

/// Quotes a name, so that DataFusion takes it literally.
pub(crate) fn quote(name: &mut Ident) -> String {
    *name = quoted(&name.value);
    name.value.clone()
}

/// The names in `as t (a, b)`. DataFusion names the columns of `values`; we name the columns of other queries.
pub(crate) fn take_names(alias: &mut TableAlias, query: &Query) -> Option<Vec<String>> {
    if alias.columns.is_empty() {
        return None;
    }
    let names = alias.columns.iter_mut().map(|column| quote(&mut column.name)).collect();
    if !matches!(*query.body, SetExpr::Values(_)) {
        alias.columns.clear();
    }
    Some(names)
}
