//! The kinds of values that an expression says itself, before it is rewritten; and what functions do with values of
//! several kinds.

use super::columns::Resolved;
use super::resolver::Resolver;
use crate::base::error::Error;
use crate::sql::base::forms::Plain;
use crate::sql::base::syntax::{arguments, function_name};
use crate::sql::base::times::{is_span, is_time};
use jird_formats::ColumnType;
use sqlparser::ast::{BinaryOperator, DataType, Expr, Function, UnaryOperator, Value};

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

/// Functions whose results are arrays.
pub(crate) const MAKING_ARRAYS: &[&str] = &[
    "array_agg",
    "array_append",
    "array_concat",
    "array_distinct",
    "array_filter",
    "array_prepend",
    "array_reverse",
    "array_slice",
    "array_sort",
    "array_transform",
    "json_array",
    "make_array",
    "range",
    "string_to_array",
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

/// The kind of a constant. Small integers become doubles without loss.
fn number_kind(text: &str) -> Plain {
    match text.parse::<u64>() {
        Ok(small) if small <= 1 << 53 => Plain::Number,
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => Plain::Integer,
        _ => Plain::Fraction,
    }
}

/// The kind of the values of a type.
fn kind_of_type(data_type: &DataType) -> Option<Plain> {
    match data_type {
        DataType::Array(_) => Some(Plain::Array),
        DataType::Bool | DataType::Boolean => Some(Plain::Bool),
        DataType::Char(_) | DataType::Varchar(_) | DataType::String(_) | DataType::Text => Some(Plain::Text),
        DataType::Double(_) | DataType::DoublePrecision | DataType::Float(_) | DataType::Real => Some(Plain::Fraction),
        DataType::TinyInt(_)
        | DataType::SmallInt(_)
        | DataType::Int(_)
        | DataType::Integer(_)
        | DataType::BigInt(_)
        | DataType::Decimal(_)
        | DataType::Numeric(_) => Some(Plain::Number),
        _ => None,
    }
}

impl Resolver<'_> {
    /// The kind of value that an expression has, if that is plain before it is rewritten.
    pub(crate) fn kind(&mut self, expr: &Expr) -> Result<Option<Plain>, Error> {
        use BinaryOperator::{
            And, Divide, Eq, Gt, GtEq, Lt, LtEq, Minus, Modulo, Multiply, NotEq, Or, Plus, StringConcat,
        };
        Ok(match expr {
            Expr::Nested(inner) => self.kind(inner)?,
            _ if is_time(expr) || is_span(expr) => None,
            Expr::Value(value) => match &value.value {
                Value::Number(text, _) => Some(number_kind(text)),
                Value::SingleQuotedString(_) => Some(Plain::Text),
                Value::Boolean(_) => Some(Plain::Bool),
                _ => None,
            },
            Expr::Cast { data_type, .. } => kind_of_type(data_type),
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
            _ => match self.resolve(expr)? {
                Some(Resolved::Computed(column)) => column.plain.filter(|_| column.steps.is_empty()),
                // A field without any value counts as a number.
                Some(Resolved::Field(field)) if self.types(&field).next().is_none() => Some(Plain::Number),
                Some(Resolved::Field(field)) => self.types(&field).find_map(|kind| match kind {
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
            "approx_percentile_cont"
            | "avg"
            | "corr"
            | "covar_pop"
            | "covar_samp"
            | "cume_dist"
            | "median"
            | "percent_rank"
            | "percentile_cont"
            | "stddev"
            | "stddev_pop"
            | "stddev_samp"
            | "var_pop"
            | "var_samp" => Some(Plain::Fraction),
            "array_length" | "count" | "length" | "strpos" => Some(Plain::Number),
            "sum" => match first.map_or(Ok(None), |first| self.kind(first))? {
                Some(Plain::Fraction) => Some(Plain::Fraction),
                Some(Plain::Integer) => Some(Plain::Integer),
                _ => Some(Plain::Number),
            },
            "contains" | "ends_with" | "isnan" | "iszero" | "regexp_like" | "starts_with" => Some(Plain::Bool),
            "chr" | "concat" | "left" | "lower" | "replace" | "right" | "string_agg" | "substr" | "text"
            | "to_char" | "to_hex" | "trim" | "upper" => Some(Plain::Text),
            _ if MAKING_ARRAYS.contains(&name.as_str()) => Some(Plain::Array),
            _ if NUMERIC.contains(&name.as_str()) || EXACT.contains(&name.as_str()) => Some(Plain::Number),
            "nullif" => first.map_or(Ok(None), |first| self.kind(first))?,
            _ if [EXTREME, CHOOSING, PASSING].concat().contains(&name.as_str()) => {
                first.map_or(Ok(None), |first| self.kind(first))?
            }
            _ => None,
        })
    }
}
