//! Values of mixed kinds. What DataFusion computes has one type; a field may hold numbers that no one type holds, or
//! texts among numbers. Such a field stays JSON text, and each use takes from it what it needs: arithmetic the numbers,
//! text functions the texts, `min`, `max` and `order by` keys that order all values.

use super::expr::{arguments, call, function_name};
use super::literal::literal;
use super::scope::FieldRef;
use super::select::Rewriter;
use super::uses::{
    JSON_COMPARE, JSON_IN_TEXT, JSON_KEY, JSON_OF_KEY, JSON_TEXT, Kept, Narrowed, ONLY_NUMBERS, ORDER_KEY, ORDER_VALUE,
    Rep,
};
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Function, UnaryOperator, Value};
use jird::Path;
use jird::record::Literal;
use jird_formats::ColumnType;

/// What the rewriter made of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A value of one type.
    Typed,
    /// JSON text, of any kind of value.
    Json,
}

/// What is known of the fields of the tables before the query is rewritten. At first it is what a schema says. Types
/// that are inferred later may add to it, and then the query is rewritten again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// The types of fields, by table. Those whose values have no common type are [`ColumnType::Json`].
    pub(crate) types: Vec<(String, Path, ColumnType)>,
}

/// Functions that take numbers. All other scalar functions take texts of a mixed field.
const NUMERIC: &[&str] = &[
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "cot",
    "degrees",
    "exp",
    "factorial",
    "floor",
    "gcd",
    "isnan",
    "iszero",
    "lcm",
    "ln",
    "log",
    "log10",
    "log2",
    "mod",
    "nanvl",
    "pow",
    "power",
    "radians",
    "round",
    "signum",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "to_hex",
    "trunc",
    "chr",
];

/// Functions that return one of their arguments.
const CHOOSING: &[&str] = &["coalesce", "nvl", "ifnull", "nvl2"];

/// Functions that return the least or the greatest of their arguments or of a group.
const EXTREME: &[&str] = &["min", "max", "least", "greatest"];

/// Functions of windows and groups that return one of the values of their first argument.
const PASSING: &[&str] = &["first_value", "last_value", "nth_value", "lag", "lead", "any_value"];

/// Functions of one number whose results are integers for integers.
const EXACT: &[&str] = &["abs", "ceil", "floor", "round", "trunc"];

/// What a function does with values of mixed kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mixing {
    Numbers,
    Texts,
    Chooses,
    Extreme,
    Passes,
    /// Makes an array of all values.
    Collects,
    /// Computes with one number, exactly if it is an integer.
    Exact,
    Sum,
    Mean,
}

impl Mixing {
    pub(crate) fn of(name: &str, is_aggregate: bool) -> Self {
        match name {
            "sum" => Self::Sum,
            "avg" | "mean" => Self::Mean,
            _ if EXTREME.contains(&name) => Self::Extreme,
            _ if CHOOSING.contains(&name) => Self::Chooses,
            _ if PASSING.contains(&name) => Self::Passes,
            "string_agg" => Self::Texts,
            "array_agg" => Self::Collects,
            _ if EXACT.contains(&name) => Self::Exact,
            _ if is_aggregate || NUMERIC.contains(&name) => Self::Numbers,
            _ => Self::Texts,
        }
    }
}

/// The kind of values of an expression of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    Bool,
    /// A column of integers, or an integer that no double holds.
    Integer,
    /// Numbers that doubles hold, or that DataFusion computes.
    Number,
    Fraction,
    Text,
    Array,
}

impl Plain {
    /// Whether values of both kinds have one type that loses nothing.
    pub(crate) fn goes_with(self, other: Self) -> bool {
        use Plain::{Fraction, Integer, Number};
        match (self, other) {
            (Integer, Fraction) | (Fraction, Integer) => false,
            (Integer | Number | Fraction, Integer | Number | Fraction) => true,
            _ => self == other,
        }
    }
}

/// The kind of a constant. Small integers become doubles without loss.
fn number_kind(text: &str) -> Plain {
    match text.parse::<u64>() {
        Ok(small) if small <= 1 << 53 => Plain::Number,
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => Plain::Integer,
        _ => Plain::Fraction,
    }
}

impl Rewriter<'_> {
    /// The form in which a field can be had.
    pub(crate) fn form(&self, field: &FieldRef) -> Form {
        let is_json = match field.fixed {
            Some(rep) => !rep.is_inferred() || self.has_type(field, ColumnType::Json),
            None => self.has_type(field, ColumnType::Json),
        };
        if is_json { Form::Json } else { Form::Typed }
    }

    /// Whether one of the fields that `field` stands for has this type.
    pub(crate) fn has_type(&self, field: &FieldRef, wanted: ColumnType) -> bool {
        self.types(field).any(|kind| kind == wanted)
    }

    /// The known types of the fields that `field` stands for.
    fn types(&self, field: &FieldRef) -> impl Iterator<Item = ColumnType> {
        field.origins.iter().filter_map(|(source, path)| {
            let table = &self.sources[*source].table;
            let known = self.known.types.iter().find(|(other, of, _)| other == table && of == path);
            known.map(|(.., kind)| *kind)
        })
    }

    /// The kind of value that an expression has, if that is plain before it is rewritten.
    pub(super) fn kind(&mut self, expr: &Expr) -> Result<Option<Plain>, Error> {
        use BinaryOperator::{
            And, Divide, Eq, Gt, GtEq, Lt, LtEq, Minus, Modulo, Multiply, NotEq, Or, Plus, StringConcat,
        };
        Ok(match expr {
            Expr::Nested(inner) => self.kind(inner)?,
            Expr::Value(value) => match &value.value {
                Value::Number(text, _) => Some(number_kind(text)),
                Value::SingleQuotedString(_) => Some(Plain::Text),
                Value::Boolean(_) => Some(Plain::Bool),
                _ => None,
            },
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => self.kind(expr)?,
            Expr::UnaryOp { op: UnaryOperator::Not, .. }
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::Like { .. }
            | Expr::Between { .. }
            | Expr::InList { .. }
            | Expr::BinaryOp { op: And | Or | Eq | NotEq | Lt | LtEq | Gt | GtEq, .. } => Some(Plain::Bool),
            Expr::BinaryOp { op: StringConcat, .. } => Some(Plain::Text),
            Expr::BinaryOp { left, op: Plus | Minus | Multiply | Divide | Modulo, right } => {
                Some(match (self.kind(left)?, self.kind(right)?) {
                    (Some(Plain::Fraction), _) | (_, Some(Plain::Fraction)) => Plain::Fraction,
                    (Some(Plain::Integer), Some(Plain::Integer | Plain::Number))
                    | (Some(Plain::Number), Some(Plain::Integer)) => Plain::Integer,
                    _ => Plain::Number,
                })
            }
            Expr::Array(_) => Some(Plain::Array),
            Expr::Function(function) => self.kind_of_call(function)?,
            _ => match self.field_at(expr)? {
                // A field without any value counts as a number.
                Some(field) if self.types(&field).next().is_none() => Some(Plain::Number),
                Some(field) => self.types(&field).find_map(|kind| match kind {
                    ColumnType::Bool => Some(Plain::Bool),
                    ColumnType::Text => Some(Plain::Text),
                    ColumnType::Json => None,
                    ColumnType::Float64 => Some(Plain::Fraction),
                    ColumnType::Int64 | ColumnType::UInt64 | ColumnType::Decimal => Some(Plain::Integer),
                }),
                None => None,
            },
        })
    }

    fn kind_of_call(&mut self, function: &Function) -> Result<Option<Plain>, Error> {
        let name = function_name(function);
        let first = arguments(function).into_iter().next();
        Ok(match name.as_str() {
            "avg" | "median" | "stddev" | "var_pop" => Some(Plain::Fraction),
            "array_length" | "count" | "length" | "strpos" => Some(Plain::Number),
            "sum" => match first.map_or(Ok(None), |first| self.kind(first))? {
                Some(Plain::Fraction) => Some(Plain::Fraction),
                Some(Plain::Integer) => Some(Plain::Integer),
                _ => Some(Plain::Number),
            },
            "concat" | "left" | "lower" | "replace" | "right" | "string_agg" | "substr" | "text" | "to_char"
            | "trim" | "upper" => Some(Plain::Text),
            _ if NUMERIC.contains(&name.as_str()) || EXACT.contains(&name.as_str()) => Some(Plain::Number),
            "nullif" => first.map_or(Ok(None), |first| self.kind(first))?,
            _ if [EXTREME, CHOOSING, PASSING].concat().contains(&name.as_str()) => {
                first.map_or(Ok(None), |first| self.kind(first))?
            }
            _ => None,
        })
    }

    /// The numbers of JSON text; what is left out is counted for the note on `written`.
    pub(crate) fn only_numbers(&mut self, json: Expr, written: &str) -> Expr {
        let index = self.narrowed(written, Kept::Numbers);
        call(ONLY_NUMBERS, vec![json, index])
    }

    /// The number of a new call that uses only some values of an expression.
    pub(crate) fn narrowed(&mut self, written: &str, to: Kept) -> Expr {
        self.narrowed.push(Narrowed { written: written.to_owned(), to });
        number(self.narrowed.len() - 1)
    }

    /// The numbers of JSON text as doubles.
    pub(crate) fn numbers(&mut self, json: Expr, written: &str) -> Expr {
        let index = self.narrowed(written, Kept::Numbers);
        call("number", vec![call(ONLY_NUMBERS, vec![json, index, number(1)])])
    }
}

impl FieldRef {
    /// The representation of the field as JSON text.
    pub(crate) fn json_rep(&self) -> Rep {
        self.fixed.unwrap_or(Rep::Json)
    }
}

/// JSON text of a value of any form. A constant keeps its digits: DataFusion would make a double of a long one.
pub(crate) fn to_json(expr: Expr, form: Form) -> Expr {
    if form == Form::Typed
        && let Some(Literal::Number(json) | Literal::Container(json)) = literal(&expr)
    {
        let json = Expr::value(Value::SingleQuotedString(json.into()));
        return call(JSON_IN_TEXT, vec![json, Expr::value(Value::Null)]);
    }
    let is_null = matches!(&expr, Expr::Value(value) if value.value == Value::Null);
    if form == Form::Json || is_null { expr } else { call(JSON_TEXT, vec![expr]) }
}

/// The numbers of JSON text; what is left out is not counted.
pub(crate) fn uncounted_numbers(json: Expr) -> Expr {
    call(ONLY_NUMBERS, vec![json, Expr::value(Value::Null)])
}

fn number(number: usize) -> Expr {
    Expr::value(Value::Number(number.to_string(), false))
}

/// The error for values of mixed kinds where they have no meaning yet.
pub(crate) fn mixed(written: &str, what: &str) -> Error {
    Error::data(format!(
        "`{written}` has values of several kinds, which {what} does not take: use number() or text() of its fields"
    ))
}

/// JSON text that is equal for equal values.
pub(crate) fn canonical(json: Expr) -> Expr {
    call(JSON_KEY, vec![json])
}

/// A key to sort JSON text by.
pub(crate) fn to_order(json: Expr) -> Expr {
    call(ORDER_VALUE, vec![json])
}

/// `left op right` for JSON texts: exact, and unknown if their kinds differ.
pub(crate) fn compared(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: call(JSON_COMPARE, vec![left, right]).into(), op, right: number(0).into() }
}

/// Whether JSON text is `true`; unknown if it is no truth value.
pub(crate) fn truth(json: Expr) -> Expr {
    let yes = Expr::value(Value::SingleQuotedString("true".to_owned()));
    compared(json, BinaryOperator::Eq, yes)
}

/// A key of which JSON text can be made again.
pub(crate) fn to_key(json: Expr) -> Expr {
    call(ORDER_KEY, vec![json])
}

/// The JSON text of such a key.
pub(crate) fn of_key(key: Expr) -> Expr {
    call(JSON_OF_KEY, vec![key])
}
