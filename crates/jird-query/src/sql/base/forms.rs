//! Values of mixed kinds. What DataFusion computes has one type; a field may hold numbers that no one type holds, or
//! texts among numbers. Such a field stays JSON text, and each use takes from it what it needs: arithmetic the numbers,
//! text functions the texts, `min`, `max` and `order by` keys that order all values.

use super::functions::{
    JSON_COMPARE, JSON_IN_TEXT, JSON_KEY, JSON_OF_KEY, JSON_TEXT, ONLY_NUMBERS, ORDER_KEY, ORDER_VALUE,
};
use super::literal::literal;
use super::syntax::{call, null, number, string};
use crate::base::error::Error;
use jird::record::Literal;
use sqlparser::ast::{BinaryOperator, Expr, Value};

/// What the rewriter made of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A value of one type.
    Typed,
    /// JSON text, of any kind of value.
    Json,
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

    /// Whether both are numbers, or both the same other kind.
    pub(crate) fn is_like(self, other: Self) -> bool {
        let is_number = |kind| matches!(kind, Self::Integer | Self::Number | Self::Fraction);
        is_number(self) && is_number(other) || self == other
    }
}

/// JSON text of a value of any form. A constant keeps its digits: DataFusion would make a double of a long one.
pub(crate) fn to_json(expr: Expr, form: Form) -> Expr {
    if form == Form::Typed
        && let Some(Literal::Number(json) | Literal::Container(json)) = literal(&expr)
    {
        let json = string(&json);
        return call(JSON_IN_TEXT, vec![json, null()]);
    }
    let is_null = matches!(&expr, Expr::Value(value) if value.value == Value::Null);
    if form == Form::Json || is_null { expr } else { call(JSON_TEXT, vec![expr]) }
}

/// The numbers of JSON text; what is left out is not counted.
pub(crate) fn uncounted_numbers(json: Expr) -> Expr {
    call(ONLY_NUMBERS, vec![json, null()])
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

/// Whether JSON text is `true`; unknown if it is neither `true` nor `false`.
pub(crate) fn truth(json: Expr) -> Expr {
    let yes = string("true");
    compared(json, BinaryOperator::Eq, yes)
}

/// A key that can be turned back into JSON text.
pub(crate) fn to_key(json: Expr) -> Expr {
    call(ORDER_KEY, vec![json])
}

/// The JSON text of such a key.
pub(crate) fn of_key(key: Expr) -> Expr {
    call(JSON_OF_KEY, vec![key])
}
