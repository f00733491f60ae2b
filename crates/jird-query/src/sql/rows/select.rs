//! Rewrites a `select`, clause by clause.

use super::from::merge_columns;
use super::state::Rewriter;
use crate::base::error::Error;
use crate::sql::base::chain::{Part, chain};
use crate::sql::base::functions::STREAM;
use crate::sql::base::syntax::{function_name, has_expr_within, stream};
use crate::sql::resolve::columns::Derived;
use crate::sql::resolve::resolver::Context;
use crate::sql::resolve::scope::Scope;
use crate::sql::text::supported;
use crate::sql::values::walk::Emit;
use sqlparser::ast::{AccessExpr, Expr, Ident, OrderBy, Select, SelectItem};
use std::cell::RefCell;

impl Rewriter<'_> {
    pub(crate) fn select(
        &mut self,
        select: &mut Select,
        mut order_by: Option<&mut OrderBy>,
        emit: Emit,
        outermost: bool,
    ) -> Result<Vec<Derived>, Error> {
        supported::select(select)?;
        let names = self.names.take();
        if outermost && select.from.is_empty() && self.reads_something(select) {
            select.from.push(stream());
        }
        self.resolver.scopes.push(Scope::default());
        self.from(&mut select.from)?;
        let using = self.resolver.scopes.last().map_or_else(Vec::new, |scope| scope.using.clone());
        let several: Vec<_> = using.into_iter().filter(|merged| merged.sides.len() > 1).collect();
        if !several.is_empty() {
            merge_columns(select, order_by.as_deref_mut(), &several);
        }
        if let Some(condition) = &mut select.selection {
            self.walk().conjuncts(condition, true)?;
            self.resolver.require(condition);
        }
        let items = self.items(select, names.as_deref(), emit)?;
        self.group(select, order_by.as_deref(), &items)?;
        let mut columns = Vec::new();
        select.projection.clear();
        for item in &items {
            columns.push(self.item(item, emit, &mut select.projection)?);
        }
        if let Some(having) = &mut select.having {
            self.walk().condition(having, Context::default())?;
        }
        if let Some(qualify) = &mut select.qualify {
            self.walk().condition(qualify, Context::default())?;
        }
        self.order_by(order_by, &items, &columns)?;
        if let Some(grouped) = self.resolver.scopes.pop().and_then(|scope| scope.grouped) {
            select.group_by = self.group_by(grouped);
            self.groups = true;
        }
        Ok(columns)
    }

    /// Whether a `select` without `from` names a column, `*` or an aggregate.
    fn reads_something(&self, select: &Select) -> bool {
        let wildcard = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
        select.projection.iter().any(wildcard) || self.names_something(select)
    }

    /// Whether a `select` names a column or an aggregate; the parameter of a lambda is neither. What its subqueries name is theirs, unless they say otherwise.
    fn names_something(&self, select: &Select) -> bool {
        let parameters = RefCell::new(Vec::new());
        let is_parameter = |name: &Ident| parameters.borrow().contains(&name.value);
        // What follows a dot is a key, although the tree has it as a name.
        let keys = RefCell::new(Vec::new());
        let is_key = |expr: &Expr| keys.borrow().contains(&std::ptr::from_ref(expr));
        let is_stream = |name: &Ident| name.quote_style.is_none() && name.value.eq_ignore_ascii_case(STREAM);
        has_expr_within(select, |expr, depth| match expr {
            Expr::Lambda(lambda) => {
                parameters.borrow_mut().extend(lambda.params.iter().map(|parameter| parameter.name.value.clone()));
                false
            }
            Expr::CompoundIdentifier(names) => {
                depth == 0 && !names.first().is_some_and(is_parameter) || names.first().is_some_and(is_stream)
            }
            Expr::CompoundFieldAccess { access_chain, .. } => {
                keys.borrow_mut().extend(access_chain.iter().filter_map(|access| match access {
                    AccessExpr::Dot(key) => Some(std::ptr::from_ref(key)),
                    AccessExpr::Subscript(_) => None,
                }));
                // The path of a field whose first name is a word of SQL, as `user.name`.
                depth == 0
                    && matches!(chain(expr).as_deref(), Some([Part::Name(name), ..]) if !parameters.borrow().contains(name))
            }
            Expr::Identifier(name) => depth == 0 && !is_parameter(name) && !is_key(expr),
            Expr::Function(function) => depth == 0 && (self.resolver.aggregates)(&function_name(function)),
            _ => false,
        })
    }
}
