//! Values that are compared with each other, or become one column: `between`, `in (…)`, the results of `case`.

use super::walk::Walk;
use crate::base::error::Error;
use crate::sql::base::forms::{Form, Plain, compared, to_json};
use crate::sql::base::syntax::{arguments, function_name};
use crate::sql::resolve::resolver::Context;
use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

impl dyn Walk<'_> + '_ {
    /// `subject between low and high`
    pub(crate) fn between(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let Expr::Between { expr: subject, negated, low, high } = expr else { return Ok(()) };
        let negated = *negated;
        let is_mixed = self.mixes_numbers([&**subject, &**low, &**high])?;
        if is_mixed {
            // DataFusion would compare doubles.
            let side = |op, bound: &Expr| joined(Expr::Nested(subject.clone()), op, Expr::Nested(bound.clone().into()));
            let (low, high) = (side(BinaryOperator::GtEq, low), side(BinaryOperator::LtEq, high));
            *expr = negate(joined(low, BinaryOperator::And, high), negated);
            return self.condition(expr, context);
        }
        if self.alike(vec![&mut **subject, &mut **low, &mut **high], context)? == Form::Json {
            let side = |op, bound: &Expr| compared((**subject).clone(), op, bound.clone());
            let (low, high) = (side(BinaryOperator::GtEq, low), side(BinaryOperator::LtEq, high));
            *expr = negate(joined(low, BinaryOperator::And, high), negated);
        }
        Ok(())
    }

    /// `subject in (…)`
    pub(crate) fn in_list(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let Expr::InList { expr: subject, list, negated } = expr else { return Ok(()) };
        let negated = *negated;
        if self.mixes_numbers(std::iter::once(&**subject).chain(list.iter()))? {
            let equal = |other: &Expr| {
                joined(Expr::Nested(subject.clone()), BinaryOperator::Eq, Expr::Nested(other.clone().into()))
            };
            let any = any_of(list.iter().map(equal).collect())?;
            *expr = negate(any, negated);
            return self.condition(expr, context);
        }
        let all = std::iter::once(&mut **subject).chain(list.iter_mut()).collect();
        if self.alike(all, context)? == Form::Json {
            let equal = |other: &Expr| compared((**subject).clone(), BinaryOperator::Eq, other.clone());
            let any = any_of(list.iter().map(equal).collect())?;
            *expr = negate(any, negated);
        }
        Ok(())
    }

    /// Whether some of these are integers and others may be doubles.
    fn mixes_numbers<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Result<bool, Error> {
        let (mut integers, mut fractions) = (false, false);
        for expr in exprs {
            match self.resolver().kind(expr)? {
                Some(Plain::Integer) => integers = true,
                Some(Plain::Fraction) => fractions = true,
                _ => {}
            }
        }
        Ok(integers && fractions)
    }

    /// Rewrites expressions that become values of one column. If one is JSON text, or if their kinds differ, all are.
    pub(crate) fn alike(&mut self, mut exprs: Vec<&mut Expr>, context: Context) -> Result<Form, Error> {
        if self.as_times(&mut exprs, context)? {
            return Ok(Form::Typed);
        }
        let mut all = Vec::new();
        let mut kinds = Vec::new();
        let are_arrays_alike = self.are_arrays_alike(&exprs)?;
        for expr in exprs {
            kinds.extend(self.resolver().kind(expr)?);
            let form = self.any(expr, context)?;
            all.push((expr, form));
        }
        let is_one_kind = kinds.iter().all(|kind: &Plain| kinds.iter().all(|other| kind.goes_with(*other)));
        if is_one_kind && are_arrays_alike && all.iter().all(|(_, form)| *form == Form::Typed) {
            return Ok(Form::Typed);
        }
        for (expr, form) in all {
            *expr = to_json(expr.clone(), form);
        }
        Ok(Form::Json)
    }

    /// Whether the elements of several arrays are known to have one kind. DataFusion would cast them to one type.
    fn are_arrays_alike(&mut self, exprs: &[&mut Expr]) -> Result<bool, Error> {
        let mut arrays = Vec::new();
        for expr in exprs {
            if self.resolver().kind(expr)? == Some(Plain::Array) {
                arrays.push((&**expr, 0));
            }
        }
        if arrays.len() < 2 {
            return Ok(true);
        }
        let mut kinds = Vec::new();
        while let Some((expr, depth)) = arrays.pop() {
            match expr {
                Expr::Nested(inner) => arrays.push((inner, depth)),
                Expr::Array(array) if array.elem.is_empty() && depth > 0 => return Ok(false),
                Expr::Array(array) => arrays.extend(array.elem.iter().map(|element| (element, depth + 1))),
                Expr::Function(function) if function_name(function) == "make_array" => {
                    arrays.extend(arguments(function).into_iter().map(|element| (element, depth + 1)));
                }
                Expr::Value(value) if value.value == Value::Null => {}
                expr => match self.resolver().kind(expr)? {
                    None | Some(Plain::Array) => return Ok(false),
                    Some(kind) => kinds.push((kind, depth)),
                },
            }
        }
        let is_like = |one: &(Plain, usize), other: &(Plain, usize)| one.1 == other.1 && one.0.goes_with(other.0);
        Ok(kinds.iter().all(|one| kinds.iter().all(|other| is_like(one, other))))
    }
}

/// The most values of a list that are compared one by one.
const COMPARED_MAX: usize = 1000;

/// Whether one of the conditions holds. They become a tree that is not deep, because it is walked recursively.
fn any_of(mut conditions: Vec<Expr>) -> Result<Expr, Error> {
    if conditions.len() > COMPARED_MAX {
        let message = format!("`in` with a computed value of several kinds takes at most {COMPARED_MAX} values");
        return Err(Error::sql(message));
    }
    while conditions.len() > 1 {
        let mut pairs = conditions.into_iter();
        conditions = std::iter::from_fn(|| {
            let one = pairs.next()?;
            Some(match pairs.next() {
                Some(other) => Expr::Nested(joined(one, BinaryOperator::Or, other).into()),
                None => one,
            })
        })
        .collect();
    }
    Ok(conditions.pop().unwrap_or_else(|| Expr::value(Value::Boolean(false))))
}

fn joined(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: left.into(), op, right: right.into() }
}

fn negate(expr: Expr, negated: bool) -> Expr {
    if negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: Expr::Nested(expr.into()).into() } } else { expr }
}
