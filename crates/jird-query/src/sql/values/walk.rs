//! The walk over a query, as seen by the code that rewrites a part of it.
//!
//! Queries have values within them, and values have queries. Each file of this room rewrites one kind of value. For what
//! stands within it, it asks the [`Walk`], which knows all kinds; so no file needs another one that needs it.

use crate::base::error::Error;
use crate::sql::base::forms::{Form, to_order};
use crate::sql::base::functions::{ONLY_TEXTS, TIME_OF_JSON};
use crate::sql::base::syntax::call;
use crate::sql::resolve::columns::Derived;
use crate::sql::resolve::resolver::{Context, Resolver, Wants};
use crate::sql::resolve::uses::{KindOfValues, Rep};
use sqlparser::ast::{Expr, OrderByExpr, Query};

/// How a `select` passes on the fields among its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emit {
    /// To the output.
    Output,
    /// To an enclosing query, in every representation.
    All,
    /// In this representation.
    Fixed(Rep),
}

/// Rewrites whatever stands within something.
pub(crate) trait Walk<'k> {
    /// What names mean here.
    fn resolver(&mut self) -> &mut Resolver<'k>;

    /// Rewrites an expression whose value is used. Returns the form of the value.
    fn any(&mut self, expr: &mut Expr, context: Context) -> Result<Form, Error>;

    /// Rewrites a query. Returns its columns.
    fn query(&mut self, query: &mut Query, emit: Emit, outermost: bool) -> Result<Vec<Derived>, Error>;
}

impl dyn Walk<'_> + '_ {
    /// Rewrites an expression whose value is used as a value of one type: of values of mixed kinds the numbers, or the
    /// texts where texts are wanted.
    pub(crate) fn expr(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let written = expr.to_string();
        if self.any(expr, context)? == Form::Json {
            let json = expr.clone();
            *expr = match context.wants {
                Wants::Numbers => self.resolver().numbers(json, &written),
                Wants::Texts => {
                    let index = self.resolver().narrowed(&written, KindOfValues::Texts);
                    call("text", vec![call(ONLY_TEXTS, vec![json, index])])
                }
                Wants::AllAsTexts => call("text", vec![json]),
            };
        }
        Ok(())
    }

    pub(crate) fn all<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e mut Expr>,
        context: Context,
    ) -> Result<(), Error> {
        exprs.into_iter().try_for_each(|expr| self.expr(expr, context))
    }

    pub(crate) fn sort_keys(&mut self, keys: &mut [OrderByExpr], context: Context) -> Result<(), Error> {
        keys.iter_mut().try_for_each(|key| {
            if self.any(&mut key.expr, context)? == Form::Json {
                key.expr = to_order(key.expr.clone());
            }
            Ok(())
        })
    }

    /// Rewrites an expression to JSON text, if it is a field or computed from fields of several kinds. Other expressions
    /// are rewritten to values of their types.
    pub(crate) fn json_of(&mut self, expr: &mut Expr, context: Context) -> Result<bool, Error> {
        let Some(field) = self.resolver().field_at(expr)? else { return Ok(self.any(expr, context)? == Form::Json) };
        *expr = self.resolver().field(&field, Rep::Json, context)?;
        Ok(true)
    }

    /// Rewrites an expression to a point in time. Values that are not times become null and are counted.
    pub(crate) fn time(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let written = expr.to_string();
        let is_json = match self.resolver().field_at(expr)? {
            Some(field) => {
                *expr = self.resolver().field(&field, Rep::Json, context)?;
                true
            }
            None => self.any(expr, context)? == Form::Json,
        };
        let index = self.resolver().narrowed(&written, KindOfValues::Times);
        *expr = call(if is_json { TIME_OF_JSON } else { "timestamp" }, vec![expr.clone(), index]);
        Ok(())
    }
}
