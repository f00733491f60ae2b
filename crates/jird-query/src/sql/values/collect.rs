//! `array_agg` and `string_agg` of distinct values, in the order that is named or else in that of the values.
//!
//! The distinct values are collected in any order, and then sorted: DataFusion sorts them while it collects, and would
//! collect once for two aggregates that differ in the direction only.

use super::walk::Walk;
use crate::base::error::Error;
use crate::sql::base::forms::{Form, canonical, to_json, to_key};
use crate::sql::base::functions::{JSON_JOIN, JSON_OF_KEYS};
use crate::sql::base::syntax::{arguments, bare, call, function_name, string};
use crate::sql::resolve::resolver::{Context, Wants};
use sqlparser::ast::{
    BinaryOperator, DuplicateTreatment, Expr, Function, FunctionArgumentClause, FunctionArgumentList,
    FunctionArguments, NullTreatment, OrderByExpr,
};

impl dyn Walk<'_> + '_ {
    /// Rewrites such an aggregate. `None` if it is another function.
    pub(crate) fn distinct_in_order(&mut self, expr: &mut Expr, context: Context) -> Result<Option<Form>, Error> {
        let Expr::Function(function) = &*expr else { return Ok(None) };
        let joins = match function_name(function).as_str() {
            "array_agg" => false,
            "string_agg" => true,
            _ => return Ok(None),
        };
        let (Some(keys), None) = (order_of_distinct(function), &function.over) else { return Ok(None) };
        let given: Vec<_> = arguments(function).into_iter().cloned().collect();
        let (Some(value), rest) = (given.first(), given.get(1..).unwrap_or_default()) else { return Ok(None) };
        let (ascends, nulls_first) = match keys {
            [] => (true, None),
            [key] if bare(&key.expr) == bare(value) => (key.options.asc != Some(false), key.options.nulls_first),
            _ => return Ok(None),
        };
        if rest.len() != usize::from(joins) {
            return Ok(None);
        }
        let ignores_nulls = function.null_treatment == Some(NullTreatment::IgnoreNulls);
        let inner = Context { in_aggregate: true, wants: Wants::Numbers };
        let (mut value, mut rest, mut filter) = (value.clone(), rest.to_vec(), function.filter.clone());
        let form = self.any(&mut value, inner)?;
        if joins || form == Form::Json {
            value = to_key(canonical(to_json(value, form)));
        }
        self.all(&mut rest, Context { wants: Wants::Texts, ..context })?;
        if let Some(filter) = &mut filter {
            self.condition(filter, inner)?;
        }
        if joins || ignores_nulls {
            let is_there = Expr::IsNotNull(value.clone().into());
            filter = Some(match filter {
                None => is_there.into(),
                Some(other) => {
                    Expr::BinaryOp { left: Expr::Nested(other).into(), op: BinaryOperator::And, right: is_there.into() }
                        .into()
                }
            });
        }
        let mut all = call("array_agg", vec![value]);
        if let Expr::Function(Function { args: FunctionArguments::List(list), filter: own, .. }) = &mut all {
            list.duplicate_treatment = Some(DuplicateTreatment::Distinct);
            *own = filter;
        }
        let order = if ascends { "ASC" } else { "DESC" };
        let nulls = if nulls_first.unwrap_or(!ascends) { "NULLS FIRST" } else { "NULLS LAST" };
        let sorted = call("array_sort", vec![all, string(order), string(nulls)]);
        let (made, form) = match (joins, form) {
            (false, Form::Typed) => (sorted, Form::Typed),
            (false, Form::Json) => (call(JSON_OF_KEYS, vec![sorted]), Form::Json),
            (true, _) => {
                let parts = call(JSON_OF_KEYS, vec![sorted]);
                (call(JSON_JOIN, std::iter::once(parts).chain(rest).collect()), Form::Typed)
            }
        };
        *expr = made;
        Ok(Some(form))
    }
}

/// The keys of the `order by` of an aggregate of distinct values; none if it has no such clause. `None` for other aggregates.
fn order_of_distinct(function: &Function) -> Option<&[OrderByExpr]> {
    let FunctionArguments::List(FunctionArgumentList { duplicate_treatment, clauses, .. }) = &function.args else {
        return None;
    };
    match clauses.as_slice() {
        _ if *duplicate_treatment != Some(DuplicateTreatment::Distinct) => None,
        [] => Some(&[]),
        [FunctionArgumentClause::OrderBy(keys)] => Some(keys),
        _ => None,
    }
}
