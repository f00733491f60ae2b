//! Rewrites `from` and joins.
//!
//! In go tables as they are written; out come tables that DataFusion knows, and for each one a [`Relation`] in the
//! innermost scope. What must hold: a subquery does not see its sibling tables unless it is `lateral`, and a join that
//! pairs all rows says so.

use super::state::Rewriter;
use super::unnest;
use crate::base::error::Error;
use crate::sql::base::syntax::{call, null, quote, quoted, take_names};
use crate::sql::base::visit;
use crate::sql::resolve::columns::Derived;
use crate::sql::resolve::resolver::Resolver;
use crate::sql::resolve::scope::{Columns, Merged, Relation};
use crate::sql::resolve::uses::Rep;
use crate::sql::text::plain::plain_query;
use crate::sql::text::supported;
use crate::sql::values::walk::{Emit, Walk};
use sqlparser::ast::{
    BinaryOperator, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, OrderBy, OrderByKind,
    Query, Select, SelectItem, TableAlias, TableFactor, TableWithJoins, Value, VisitorMut,
};
use std::mem::{replace, take};
use std::ops::ControlFlow;
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
        supported::table(factor)?;
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
                if let ([ObjectNamePart::Identifier(written)], None) = (name.0.as_slice(), &alias)
                    && self.ctes.iter().any(|cte| cte.table == table && cte.name != table)
                {
                    let name = written.clone();
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
        // Without `from`, a subquery that sees its neighbours reads them, and not the stream.
        let is_outermost = self.resolver.scopes.len() < 2 && !lateral;
        // A subquery in `from` does not see the tables next to it, unless it is `lateral`.
        let beside = if lateral { None } else { self.resolver.scopes.pop() };
        let columns = self.query(subquery, Emit::All, is_outermost);
        self.resolver.scopes.extend(beside);
        Ok((quote(&mut alias.name), Rc::new(columns?)))
    }

    pub(crate) fn add(&mut self, relation: Relation) -> Result<(), Error> {
        let Relation { alias, .. } = &relation;
        let Some(scope) = self.resolver.scopes.last_mut() else {
            return Err(Error::sql("a table outside of a select"));
        };
        if scope.relations.iter().any(|other| other.alias == *alias) {
            return Err(Error::sql(format!("two tables are called {alias}: give one another name, `from … as …`")));
        }
        scope.relations.push(relation);
        Ok(())
    }

    fn join(&mut self, join: &mut Join) -> Result<(), Error> {
        let before = self.resolver.scopes.last().map_or(0, |scope| scope.relations.len());
        join.join_operator = match replace(&mut join.join_operator, JoinOperator::CrossJoin(JoinConstraint::None)) {
            JoinOperator::Semi(constraint) => JoinOperator::LeftSemi(constraint),
            JoinOperator::Anti(constraint) => JoinOperator::LeftAnti(constraint),
            other => other,
        };
        self.asof(join)?;
        let written = join.to_string();
        self.table(&mut join.relation)?;
        self.join_constraint(join, before, &written)?;
        // What is only looked for is not there afterwards.
        let relations = self.resolver.scopes.last_mut().map(|scope| &mut scope.relations);
        match (&join.join_operator, relations) {
            (JoinOperator::LeftSemi(_) | JoinOperator::LeftAnti(_), Some(relations)) => relations.truncate(before),
            (JoinOperator::RightSemi(_) | JoinOperator::RightAnti(_), Some(relations)) => {
                relations.drain(..before);
            }
            _ => {}
        }
        Ok(())
    }

    fn join_constraint(&mut self, join: &mut Join, before: usize, written: &str) -> Result<(), Error> {
        let pairs_all = matches!(join.join_operator, JoinOperator::CrossJoin(_));
        let outer = Outer::of(&join.join_operator);
        let (JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::CrossJoin(constraint)
        | JoinOperator::LeftSemi(constraint)
        | JoinOperator::RightSemi(constraint)
        | JoinOperator::LeftAnti(constraint)
        | JoinOperator::RightAnti(constraint)) = &mut join.join_operator
        else {
            return Err(Error::sql("this kind of join is not supported"));
        };
        if let JoinConstraint::Using(names) = constraint {
            *constraint = JoinConstraint::On(self.using(&names.clone(), before, outer)?);
            return Ok(());
        }
        match constraint {
            JoinConstraint::On(condition) => self.walk().conjuncts(condition, false),
            JoinConstraint::Natural => {
                let names = self.common_names(before)?;
                *constraint = JoinConstraint::On(if names.is_empty() {
                    Expr::value(Value::Boolean(true))
                } else {
                    self.using(&names, before, outer)?
                });
                Ok(())
            }
            _ if pairs_all => Ok(()),
            _ => Err(Error::sql(format!(
                "`{}` needs `on` or `using`; `cross join` is each row with each row",
                written.trim()
            ))),
        }
    }

    /// The columns that the tables of a natural join have in common.
    fn common_names(&mut self, before: usize) -> Result<Vec<ObjectName>, Error> {
        let relations = self.resolver.scopes.last().map_or_else(Vec::new, |scope| scope.relations.clone());
        let (left, right) = relations.split_at(before);
        let mut names = |relations: &[Relation]| -> Result<Vec<String>, Error> {
            let mut all = Vec::new();
            for relation in relations {
                match &relation.columns {
                    Columns::Any(source) => {
                        all.extend(self.resolver.records.keys(&self.resolver.sources[*source].table)?);
                    }
                    Columns::These(columns) => all.extend(columns.iter().map(|column| column.name.clone())),
                }
            }
            Ok(all)
        };
        let (left, right) = (names(left)?, names(right)?);
        let common = left.into_iter().filter(|name| right.contains(name));
        Ok(common.map(|name| ObjectName::from(vec![quoted(&name)])).collect())
    }

    /// The tables whose columns `using` compares: those that have the column so far, and the joined one.
    fn sides_of(&mut self, name: &str, before: usize) -> Result<(Option<Merged>, Option<String>), Error> {
        let Resolver { scopes, sources, records, .. } = &mut self.resolver;
        let Some(scope) = scopes.last() else { return Ok((None, None)) };
        let (left, right) = scope.relations.split_at(before.min(scope.relations.len()));
        let right = right.first().map(|relation| relation.alias.clone());
        if let Some(merged) = scope.using.iter().find(|merged| merged.name == name) {
            return Ok((Some(merged.clone()), right));
        }
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
        let alone = |relation: &Relation| {
            let tables = vec![relation.alias.clone()];
            Merged { name: name.to_owned(), sides: tables.clone(), tables }
        };
        Ok((found.map(alone), right))
    }

    /// Converts `using (a, b)` to a condition. From here on, each name means one column of both tables.
    fn using(&mut self, names: &[ObjectName], before: usize, outer: Outer) -> Result<Expr, Error> {
        let mut condition = None;
        for name in names {
            let name = match name.0.as_slice() {
                [ObjectNamePart::Identifier(ident)] => ident.value.clone(),
                _ => return Err(Error::sql(format!("`using ({name})` takes names of columns"))),
            };
            let (Some(mut merged), Some(right)) = self.sides_of(&name, before)? else {
                return Err(Error::sql("`using` needs two tables"));
            };
            let mut sides = Vec::new();
            let mut keys = Vec::new();
            for relation in merged.sides.iter().chain([&right]) {
                let side = Expr::CompoundIdentifier(vec![quoted(relation), quoted(&name)]);
                keys.extend(self.resolver.field_at(&side)?.map(|field| self.resolver.column(&field, Rep::Key)));
                sides.push(side);
            }
            let equal = if keys.len() == sides.len() {
                equal(keys)
            } else {
                let mut equal = equal(sides);
                self.walk().conjuncts(&mut equal, false)?;
                equal
            };
            merged.tables.push(right.clone());
            match outer {
                Outer::Left => {}
                Outer::Right => merged.sides = vec![right],
                Outer::Both => merged.sides.push(right),
            }
            if let Some(scope) = self.resolver.scopes.last_mut() {
                scope.using.retain(|other| other.name != name);
                scope.using.push(merged);
            }
            condition = Some(match condition {
                None => equal,
                Some(all) => Expr::BinaryOp { left: Box::new(all), op: BinaryOperator::And, right: equal.into() },
            });
        }
        condition.ok_or_else(|| Error::sql("`using ()` names nothing"))
    }
}

/// Whether the last of these is equal to the first of the others that is not null.
fn equal(mut sides: Vec<Expr>) -> Expr {
    let right = sides.pop().unwrap_or_else(null);
    let left = if sides.len() == 1 { sides.remove(0) } else { call("coalesce", sides) };
    Expr::BinaryOp { left: left.into(), op: BinaryOperator::Eq, right: right.into() }
}

/// Which tables of a join have all of their rows in it, so that a merged column has its value from there.
#[derive(Clone, Copy, Debug)]
enum Outer {
    /// Or neither: then the values are equal.
    Left,
    Right,
    Both,
}

impl Outer {
    fn of(operator: &JoinOperator) -> Self {
        match operator {
            JoinOperator::FullOuter(_) => Self::Both,
            JoinOperator::Right(_)
            | JoinOperator::RightOuter(_)
            | JoinOperator::RightSemi(_)
            | JoinOperator::RightAnti(_) => Self::Right,
            _ => Self::Left,
        }
    }
}

/// Puts the columns that `using` makes of several in the places of their names.
pub(crate) fn merge_columns(select: &mut Select, order_by: Option<&mut OrderBy>, using: &[Merged]) {
    let mut merging = Merging { using, depth: 0 };
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(Expr::Identifier(name)) = item {
            let (expr, alias) = (Expr::Identifier(name.clone()), name.clone());
            *item = SelectItem::ExprWithAlias { expr, alias };
        }
    }
    let from = take(&mut select.from);
    let _whole = visit::change(select, &mut merging);
    select.from = from;
    let named = |name: &str| {
        select
            .projection
            .iter()
            .any(|item| matches!(item, SelectItem::ExprWithAlias { alias, .. } if alias.value == name))
    };
    for key in order_by.into_iter().flat_map(|order_by| match &mut order_by.kind {
        OrderByKind::Expressions(keys) => keys.iter_mut(),
        OrderByKind::All(_) => [].iter_mut(),
    }) {
        // A name of the output goes before a column.
        if !matches!(&key.expr, Expr::Identifier(name) if named(&name.value)) {
            let _whole = visit::change(&mut key.expr, &mut merging);
        }
    }
}

/// Replaces names outside of subqueries.
struct Merging<'u> {
    using: &'u [Merged],
    depth: usize,
}

impl VisitorMut for Merging<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(name) = &*expr
            && let Some(merged) = self.using.iter().find(|merged| self.depth == 0 && merged.name == name.value)
        {
            *expr = merged.expr();
        }
        ControlFlow::Continue(())
    }
}
