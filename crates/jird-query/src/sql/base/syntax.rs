//! Small parts of the syntax tree: making them, and looking into them. Names that are made here are quoted, so that
//! DataFusion takes them literally.

use super::functions::{JSON_OBJECT, STREAM};
use crate::sql::base::visit;
use sqlparser::ast::{
    BinaryOperator, DictionaryField, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, Query, SelectItem, SetExpr, TableAlias, TableFactor,
    TableWithJoins, Value, Visit, Visitor,
};
use std::ops::ControlFlow;

/// A name, quoted so that it is taken literally.
pub(crate) fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}

/// `relation.name`, quoted.
pub(crate) fn qualified(relation: &str, name: &str) -> Expr {
    Expr::CompoundIdentifier(vec![quoted(relation), quoted(name)])
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

/// A constant text.
pub(crate) fn string(text: &str) -> Expr {
    Expr::value(Value::SingleQuotedString(text.to_owned()))
}

/// A constant number.
pub(crate) fn number(number: usize) -> Expr {
    Expr::value(Value::Number(number.to_string(), false))
}

pub(crate) fn null() -> Expr {
    Expr::value(Value::Null)
}

/// A call of one of our functions.
pub(crate) fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let args = arguments.into_iter().map(|expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

pub(crate) fn is_call(function: &Function, name: &str) -> bool {
    function_name(function) == name
}

/// The name of a function, in lower case, because function names are not case-sensitive.
pub(crate) fn function_name(function: &Function) -> String {
    match function.name.0.as_slice() {
        [part] => part.as_ident().map_or_else(String::new, |ident| ident.value.to_lowercase()),
        _ => function.name.to_string(),
    }
}

/// The arguments of a call that are expressions.
pub(crate) fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    list.args
        .iter()
        .filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
            _ => None,
        })
        .collect()
}

/// The same, to be changed.
pub(crate) fn arguments_mut(function: &mut Function) -> Vec<&mut Expr> {
    let FunctionArguments::List(list) = &mut function.args else { return Vec::new() };
    list.args
        .iter_mut()
        .filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
            | FunctionArg::Named { arg: FunctionArgExpr::Expr(expr), .. } => Some(expr),
            _ => None,
        })
        .collect()
}

pub(crate) fn is_distinct(function: &Function) -> bool {
    matches!(&function.args, FunctionArguments::List(list) if list.duplicate_treatment == Some(DuplicateTreatment::Distinct))
}

/// Whether a function is given `*`.
pub(crate) fn has_wildcard(function: &Function) -> bool {
    let is_wildcard = |given: &FunctionArg| matches!(given, FunctionArg::Unnamed(FunctionArgExpr::Wildcard));
    matches!(&function.args, FunctionArguments::List(list) if list.args.iter().any(is_wildcard))
}

/// The elements of a JSON array, in brackets.
pub(crate) fn bracketed(elements: Expr) -> Expr {
    let joined = |left: Expr, right: Expr| Expr::BinaryOp {
        left: left.into(),
        op: BinaryOperator::StringConcat,
        right: right.into(),
    };
    joined(joined(string("["), elements), string("]"))
}

/// `{'k': a}`
pub(crate) fn object(fields: &[DictionaryField]) -> Expr {
    let members = fields.iter().flat_map(|field| [string(&field.key.value), (*field.value).clone()]);
    call(JSON_OBJECT, members.collect())
}

/// `expr as name`.
pub(crate) fn aliased(expr: Expr, name: &str) -> SelectItem {
    SelectItem::ExprWithAlias { expr, alias: quoted(name) }
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

/// An expression without the brackets around it.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => bare(inner),
        expr => expr,
    }
}

/// Whether something calls such a function, outside of subqueries.
pub(crate) fn has_call(part: &impl Visit, is_wanted: impl Fn(&Function) -> bool) -> bool {
    has_expr(part, |expr| matches!(expr, Expr::Function(function) if is_wanted(function)))
}

/// Whether there is such an expression in something, outside of subqueries.
fn has_expr(part: &impl Visit, is_wanted: impl Fn(&Expr) -> bool) -> bool {
    has_expr_within(part, |expr, depth| depth == 0 && is_wanted(expr))
}

/// Whether there is such an expression in something; the test is also given the number of subqueries around it.
pub(crate) fn has_expr_within(part: &impl Visit, is_wanted: impl Fn(&Expr, usize) -> bool) -> bool {
    visit::read(part, &mut ExprFinder { is_wanted, depth: 0 }).is_break()
}

/// Finds an expression.
struct ExprFinder<F> {
    is_wanted: F,
    /// The number of subqueries around the current place.
    depth: usize,
}

impl<F: Fn(&Expr, usize) -> bool> Visitor for ExprFinder<F> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if (self.is_wanted)(expr, self.depth) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Whether a key of `group by` stands for several sets of keys.
pub(crate) fn is_set(expr: &Expr) -> bool {
    matches!(expr, Expr::Rollup(_) | Expr::Cube(_) | Expr::GroupingSets(_))
}
