//! Functions of arrays, and subscripts that a path does not have. A field that holds an array is JSON text, for which we
//! have functions of our own; lists that DataFusion computes, such as those of `array_agg`, have DataFusion's.

use super::walk::Walk;
use crate::base::error::Error;
use crate::sql::base::chain::chain;
use crate::sql::base::forms::{Form, to_json};
use crate::sql::base::functions::{
    JSON_AT, JSON_CONTAINS, JSON_DISTINCT, JSON_ELEMENTS, JSON_EXCEPT, JSON_FLATTEN, JSON_GREATEST, JSON_HAS_ALL,
    JSON_HAS_ANY, JSON_INTERSECT, JSON_JOIN, JSON_KEYS, JSON_LEAST, JSON_LEN, JSON_LENGTH, JSON_MEAN, JSON_PATH,
    JSON_POP_BACK, JSON_POP_FRONT, JSON_POSITION, JSON_POSITIONS, JSON_REVERSE, JSON_SLICE, JSON_SORT, JSON_TOTAL,
    JSON_UNION, JSON_WITHOUT, ONLY_ARRAYS,
};
use crate::sql::base::literal::literal;
use crate::sql::base::syntax::{arguments, arguments_mut, call, function_name, string};
use crate::sql::resolve::resolver::{Context, Wants};
use crate::sql::resolve::uses::KindOfValues;
use crate::sql::text::plain::plain_expression;
use jird::record::Literal;
use sqlparser::ast::{AccessExpr, Expr, Function, Ident, ObjectName, Subscript, Value};

/// The functions of arrays, and ours for JSON text; how many arguments ours takes, and what else to say.
const FUNCTIONS: &[(&str, &str, usize, &str)] = &[
    ("array_avg", JSON_MEAN, 1, ""),
    ("array_contains", JSON_CONTAINS, 2, ": the array, and a value"),
    ("array_distinct", JSON_DISTINCT, 1, ""),
    ("array_element", JSON_AT, 2, ": the array, and a place; places count from 1, or from -1 at the end"),
    ("array_except", JSON_EXCEPT, 2, ": two arrays"),
    ("array_has_all", JSON_HAS_ALL, 2, ": two arrays"),
    ("array_has_any", JSON_HAS_ANY, 2, ": two arrays"),
    ("array_intersect", JSON_INTERSECT, 2, ": two arrays"),
    ("array_length", JSON_LENGTH, 1, ": arrays of JSON have one dimension"),
    ("array_max", JSON_GREATEST, 1, ""),
    ("array_min", JSON_LEAST, 1, ""),
    ("array_pop_back", JSON_POP_BACK, 1, ""),
    ("array_pop_front", JSON_POP_FRONT, 1, ""),
    ("array_position", JSON_POSITION, 2, ""),
    ("array_positions", JSON_POSITIONS, 2, ""),
    ("array_remove_all", JSON_WITHOUT, 2, ": the array, and a value"),
    ("array_reverse", JSON_REVERSE, 1, ""),
    (
        "array_slice",
        JSON_SLICE,
        3,
        ": the array, the first place, and the last one; both count from 1, or from -1 at the end",
    ),
    ("array_sort", JSON_SORT, 1, ""),
    ("array_sum", JSON_TOTAL, 1, ""),
    ("array_to_string", JSON_JOIN, 2, ": the array, and what stands between its elements"),
    ("array_union", JSON_UNION, 2, ": two arrays"),
    ("flatten", JSON_FLATTEN, 1, ""),
    ("json_keys", JSON_KEYS, 1, ""),
    ("json_object_keys", JSON_KEYS, 1, ""),
    ("json_path", JSON_PATH, 2, ": a value, and a JSONPath such as '$.items[*].price'"),
    ("len", JSON_LEN, 1, ""),
    ("unnest", JSON_ELEMENTS, 1, ""),
];

/// Those of our functions whose second argument is a JSON value too.
const OF_TWO: &[&str] = &[
    JSON_CONTAINS,
    JSON_EXCEPT,
    JSON_HAS_ALL,
    JSON_HAS_ANY,
    JSON_INTERSECT,
    JSON_POSITION,
    JSON_POSITIONS,
    JSON_UNION,
    JSON_WITHOUT,
];

/// Whether the result of one of our functions is JSON text.
fn gives_json(own: &str) -> bool {
    !matches!(own, JSON_CONTAINS | JSON_HAS_ALL | JSON_HAS_ANY | JSON_JOIN | JSON_LEN | JSON_LENGTH | JSON_POSITION)
}

impl dyn Walk<'_> + '_ {
    /// Rewrites a function of arrays. `None` if it is another function.
    pub(crate) fn array_function(&mut self, expr: &mut Expr, context: Context) -> Result<Option<Form>, Error> {
        let Expr::Function(function) = expr else { return Ok(None) };
        let name = function_name(function);
        let Some((_, own, wanted, usage)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            return Ok(None);
        };
        let mut given = arguments_mut(function).into_iter();
        let Some(subject) = given.next() else { return Ok(None) };
        if name == "unnest" && is_object(subject) {
            return Err(Error::sql("`unnest` takes an array, and this is an object: name its members"));
        }
        let written = subject.to_string();
        let mut is_json = self.json_of(subject, context)?;
        let takes_two = OF_TWO.contains(own);
        for argument in given {
            if !takes_two {
                let wants = if *own == JSON_JOIN { Wants::Texts } else { Wants::Numbers };
                self.expr(argument, Context { wants, ..context })?;
                continue;
            }
            let form = if self.resolver().field_at(argument)?.is_some() {
                self.json_of(argument, context)?;
                Form::Json
            } else {
                self.any(argument, context)?
            };
            if form == Form::Json && !is_json {
                *subject = to_json(subject.clone(), Form::Typed);
                is_json = true;
            }
            if is_json {
                *argument = to_json(argument.clone(), form);
            }
        }
        if !is_json && name == "len" {
            // A list or a text: its JSON tells which it is.
            if let Some(subject) = arguments_mut(function).into_iter().next() {
                *subject = to_json(subject.clone(), Form::Typed);
            }
        } else if !is_json {
            return Ok(Some(Form::Typed));
        }
        let given = arguments(function).len();
        if *wanted != given {
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
            let Expr::Function(function) = expr else { return Ok(None) };
            for array in arguments_mut(function) {
                let index = self.resolver().narrowed(&written, KindOfValues::Arrays);
                *array = call(ONLY_ARRAYS, vec![array.clone(), index]);
            }
            *expr = call("unnest", vec![expr.clone()]);
        }
        Ok(Some(if gives_json(own) { Form::Json } else { Form::Typed }))
    }

    /// Rewrites subscripts that no path of a field has: `list[-1]`, or those of a computed value.
    pub(crate) fn subscripts(&mut self, expr: &mut Expr, context: Context) -> Result<Option<Form>, Error> {
        let Expr::CompoundFieldAccess { root, access_chain } = expr else { return Ok(None) };
        let Some(steps) = access_chain.iter().map(step).collect::<Option<Vec<_>>>() else { return Ok(None) };
        // The first steps may be the path of a field.
        let split = (0..=access_chain.len()).rev().find_map(|count| {
            let subject = match count {
                0 => (**root).clone(),
                _ => Expr::CompoundFieldAccess { root: root.clone(), access_chain: access_chain[..count].to_vec() },
            };
            chain(&subject).map(|_| (subject, count))
        });
        let (mut subject, count) = split.unwrap_or_else(|| ((**root).clone(), 0));
        if !self.json_of(&mut subject, context)? {
            // A list that is computed: places count from 1, as in DuckDB.
            let element = |list, place| call("array_element", vec![list, place]);
            *expr = steps.into_iter().skip(count).fold(subject, element);
            return Ok(Some(Form::Typed));
        }
        let mut given = vec![subject];
        given.extend(steps.into_iter().skip(count));
        *expr = call(JSON_AT, given);
        Ok(Some(Form::Json))
    }
}

/// Whether an expression makes an object.
fn is_object(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_object(inner),
        Expr::Dictionary(_) | Expr::Struct { .. } => true,
        Expr::Function(function) => ["json_object", "json_build_object", "named_struct", "row", "struct"]
            .contains(&function_name(function).as_str()),
        other => matches!(literal(other), Some(Literal::Container(json)) if json.starts_with('{')),
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
    match access {
        AccessExpr::Dot(Expr::Identifier(name)) => Some(string(&name.value)),
        AccessExpr::Subscript(Subscript::Index { index }) => match literal(index)? {
            Literal::Text(key) => Some(string(&key)),
            Literal::Number(digits) => Some(Expr::value(Value::Number(digits.into(), false))),
            _ => None,
        },
        _ => None,
    }
}
