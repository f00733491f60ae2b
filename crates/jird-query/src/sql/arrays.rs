//! Functions of arrays, and subscripts that a path does not have. A field that holds an array is JSON text, for which we
//! have functions of our own; lists that DataFusion computes, such as those of `array_agg`, have DataFusion's.

use super::chain::Part;
use super::expr::{Context, arguments_mut, call, function_name, qualified};
use super::forms::{Form, to_json};
use super::literal::literal;
use super::parse::plain_expression;
use super::scope::ComputedRef;
use super::select::Rewriter;
use super::uses::{
    JSON_AT, JSON_CONTAINS, JSON_DISTINCT, JSON_ELEMENTS, JSON_GREATEST, JSON_JOIN, JSON_KEYS, JSON_LEAST, JSON_LEN,
    JSON_LENGTH, JSON_POSITION, JSON_REVERSE, JSON_SLICE, JSON_SORT, Rep,
};
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{AccessExpr, Expr, Function, Ident, ObjectName, Subscript, Value};
use jird::record::Literal;

/// The functions of arrays, and ours for JSON text.
const FUNCTIONS: &[(&str, &str)] = &[
    ("array_contains", JSON_CONTAINS),
    ("array_distinct", JSON_DISTINCT),
    ("array_element", JSON_AT),
    ("array_length", JSON_LENGTH),
    ("array_max", JSON_GREATEST),
    ("array_min", JSON_LEAST),
    ("array_position", JSON_POSITION),
    ("array_reverse", JSON_REVERSE),
    ("array_slice", JSON_SLICE),
    ("array_sort", JSON_SORT),
    ("array_to_string", JSON_JOIN),
    ("json_keys", JSON_KEYS),
    ("json_object_keys", JSON_KEYS),
    ("len", JSON_LEN),
    ("unnest", JSON_ELEMENTS),
];

/// How many arguments a function takes, and what to say beside it.
const COUNTS: &[(&str, usize, &str)] = &[
    (JSON_AT, 2, ": the array, and a place; places count from 1, or from -1 at the end"),
    (JSON_CONTAINS, 2, ": the array, and a value"),
    (JSON_ELEMENTS, 1, ""),
    (JSON_JOIN, 2, ": the array, and what stands between its elements"),
    (JSON_KEYS, 1, ""),
    (JSON_LEN, 1, ""),
    (JSON_LENGTH, 1, ": arrays of JSON have one dimension"),
    (JSON_SLICE, 3, ": the array, the first place, and the last one; both count from 1, or from -1 at the end"),
    (JSON_POSITION, 2, ""),
    (JSON_SORT, 1, ""),
    (JSON_DISTINCT, 1, ""),
    (JSON_REVERSE, 1, ""),
    (JSON_LEAST, 1, ""),
    (JSON_GREATEST, 1, ""),
];

/// Whether the result of one of our functions is JSON text.
pub(crate) fn gives_json(own: &str) -> bool {
    !matches!(own, JSON_CONTAINS | JSON_JOIN | JSON_LEN | JSON_LENGTH | JSON_POSITION)
}

impl Rewriter<'_> {
    /// Rewrites a function of arrays. `None` if it is another function.
    pub(super) fn array_function(&mut self, expr: &mut Expr, context: Context) -> Result<Option<Form>, Error> {
        let Expr::Function(function) = expr else { return Ok(None) };
        let name = function_name(function);
        let Some((_, own)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else { return Ok(None) };
        let mut arguments = arguments_mut(function).into_iter();
        let Some(subject) = arguments.next() else { return Ok(None) };
        let is_json = self.json_of(subject, context)?;
        for argument in arguments {
            let form = self.any(argument, context)?;
            if matches!(*own, JSON_CONTAINS | JSON_POSITION) && (is_json || form == Form::Json) {
                *argument = to_json(argument.clone(), form);
            }
        }
        if !is_json {
            if name == "len" {
                rename(function, "length");
            }
            return Ok(Some(Form::Typed));
        }
        let given = super::expr::arguments(function).len();
        if let Some((_, wanted, usage)) = COUNTS.iter().find(|(count, wanted, _)| count == own && *wanted != given) {
            let plural = if *wanted == 1 { "" } else { "s" };
            return Err(Error::sql(format!("`{name}` of a field takes {wanted} argument{plural}{usage}")));
        }
        rename(function, own);
        if name == "array_element"
            && let Some(place) = arguments_mut(function).into_iter().nth(1)
        {
            // Elements count from 0 in paths.
            *place = place_of(place)?;
        }
        if name == "unnest" {
            *expr = call("unnest", vec![expr.clone()]);
        }
        Ok(Some(if gives_json(own) { Form::Json } else { Form::Typed }))
    }

    /// Rewrites an expression to JSON text, if it is a field or computed from fields of several kinds. Other expressions
    /// are rewritten to values of their types.
    fn json_of(&mut self, expr: &mut Expr, context: Context) -> Result<bool, Error> {
        let Some(field) = self.field_at(expr)? else { return Ok(self.any(expr, context)? == Form::Json) };
        *expr = self.field(&field, Rep::Json, context)?;
        Ok(true)
    }

    /// Rewrites subscripts that no path of a field has: `list[-1]`, or those of a computed value.
    pub(super) fn subscripts(&mut self, expr: &mut Expr, context: Context) -> Result<Option<Form>, Error> {
        let Expr::CompoundFieldAccess { root, access_chain } = expr else { return Ok(None) };
        if access_chain.iter().any(|access| matches!(access, AccessExpr::Subscript(Subscript::Slice { .. }))) {
            let advice = format!("`array_slice({root}, first, last)` does that; its places count from 1");
            return Err(Error::sql(format!("a slice in brackets is not supported: {advice}")));
        }
        let Some(steps) = access_chain.iter().map(step).collect::<Option<Vec<_>>>() else { return Ok(None) };
        // The first steps may be the path of a field.
        let split = (0..=access_chain.len()).rev().find_map(|count| {
            let subject = match count {
                0 => (**root).clone(),
                _ => Expr::CompoundFieldAccess { root: root.clone(), access_chain: access_chain[..count].to_vec() },
            };
            super::chain::chain(&subject).map(|_| (subject, count))
        });
        let (mut subject, count) = split.unwrap_or_else(|| ((**root).clone(), 0));
        if !self.json_of(&mut subject, context)? {
            return Ok(None);
        }
        let mut given = vec![subject];
        given.extend(steps.into_iter().skip(count));
        *expr = call(JSON_AT, given);
        Ok(Some(Form::Json))
    }
}

impl ComputedRef {
    /// The column, or the part of it that the name leads to.
    pub(super) fn expr(&self) -> Expr {
        let column = qualified(&self.relation, &self.name);
        if self.steps.is_empty() {
            return column;
        }
        let step = |part: &Part| match part {
            Part::Name(key) => Expr::value(Value::SingleQuotedString(key.clone())),
            Part::Index(index) => Expr::value(Value::Number(index.to_string(), false)),
        };
        call(JSON_AT, std::iter::once(column).chain(self.steps.iter().map(step)).collect())
    }
}

/// The place of the element with this number, which counts from 1, or from -1 at the end.
fn place_of(number: &Expr) -> Result<Expr, Error> {
    plain_expression(&format!("CASE WHEN ({number}) > 0 THEN ({number}) - 1 WHEN ({number}) < 0 THEN ({number}) END"))
}

fn rename(function: &mut Function, name: &str) {
    function.name = ObjectName::from(vec![Ident::new(name)]);
}

/// A subscript as an argument.
fn step(access: &AccessExpr) -> Option<Expr> {
    let text = |text: &str| Expr::value(Value::SingleQuotedString(text.to_owned()));
    match access {
        AccessExpr::Dot(Expr::Identifier(name)) => Some(text(&name.value)),
        AccessExpr::Subscript(Subscript::Index { index }) => match literal(index)? {
            Literal::Text(key) => Some(text(&key)),
            Literal::Number(digits) => Some(Expr::value(Value::Number(digits.into(), false))),
            _ => None,
        },
        _ => None,
    }
}
