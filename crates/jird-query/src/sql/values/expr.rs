//! Rewrites expressions: every name in them becomes a column.
//!
//! In goes an expression as it is written; out come the same expression over columns, and its [`Form`]: a value of one
//! type, or JSON text. This file knows the kinds of expressions, and hands each one to the file that rewrites it. What
//! must hold: a constant keeps all of its digits, and two values are compared as JSON unless both have one type.

use super::times::check_time;
use super::walk::{Emit, Walk};
use crate::base::error::Error;
use crate::sql::base::forms::{Form, canonical, compared, mixed, to_json};
use crate::sql::base::functions::{AT_TIME_ZONE, CAST_AS, JSON_ARITHMETIC, JSON_ARRAY, JSON_IN_TEXT, TIME_OF_JSON};
use crate::sql::base::literal::{is_json, is_long, literal};
use crate::sql::base::syntax::{arguments, call, function_name, is_call, null, number, string};
use crate::sql::base::times::{is_span, is_time, is_type_of_spans};
use crate::sql::resolve::columns::{DerivedKind, Resolved};
use crate::sql::resolve::kinds::MAKING_ARRAYS;
use crate::sql::resolve::resolver::{Context, Wants};
use crate::sql::resolve::uses::{KindOfValues, Rep};
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, CeilFloorKind, DataType, DateTimeField, Expr, Query, UnaryOperator, Value,
};
use std::mem::take;

impl dyn Walk<'_> + '_ {
    /// Rewrites an expression whose value is used. Returns the form of the value.
    pub(crate) fn rewrite(&mut self, expr: &mut Expr, context: Context) -> Result<Form, Error> {
        if let Some(form) = self.column_or_constant(expr, context)? {
            return Ok(form);
        }
        match expr {
            Expr::Nested(inner) => self.any(inner, context),
            Expr::Case { .. } => self.case(expr, context),
            Expr::Subquery(query) => self.value_of_query(query),
            Expr::Function(_) => self.function(expr, context),
            Expr::CompoundFieldAccess { .. } => match self.subscripts(expr, context)? {
                Some(form) => Ok(form),
                None => Err(Error::sql(format!("`{expr}` is not supported"))),
            },
            // Times are of UTC, and say so.
            Expr::TypedString(typed) if matches!(typed.data_type, DataType::Timestamp(..)) => {
                if let Value::SingleQuotedString(text) = &typed.value.value {
                    check_time(text)?;
                }
                *expr = call("timestamp", vec![Expr::Value(typed.value.clone())]);
                Ok(Form::Typed)
            }
            Expr::AtTimeZone { timestamp, time_zone } => {
                self.time(timestamp, context)?;
                *expr = call(AT_TIME_ZONE, vec![(**timestamp).clone(), (**time_zone).clone()]);
                Ok(Form::Typed)
            }
            Expr::BinaryOp { op, .. } if is_arithmetic(op) => self.arithmetic(expr, context),
            Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right } if is_array(left) || is_array(right) => {
                let both = vec![(**left).clone(), (**right).clone()];
                if !self.some_json(&both, context)? {
                    return self.parts(expr, context).map(|()| Form::Typed);
                }
                *expr = call("array_concat", both);
                self.function(expr, context)
            }
            Expr::Cast { expr: inner, data_type, kind, .. } if is_json(data_type) => {
                let written = inner.to_string();
                let form = self.any(inner, context)?;
                // `try_cast` is written where some texts are not JSON: they need no note.
                let is_tried = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
                let index = if is_tried { null() } else { self.resolver().narrowed(&written, KindOfValues::Json) };
                *expr = call(JSON_IN_TEXT, vec![to_json((**inner).clone(), form), index]);
                Ok(Form::Json)
            }
            Expr::Array(_) => self.array(expr, context),
            // Unlike DataFusion's negation, `0 - x` does not overflow unnoticed.
            Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } if self.is_column(inner)? => {
                let zero = number(0);
                *expr = Expr::BinaryOp { left: zero.into(), op: BinaryOperator::Minus, right: inner.clone() };
                self.arithmetic(expr, context)
            }
            Expr::Ceil { expr: inner, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                *expr = call("ceil", vec![(**inner).clone()]);
                self.call(expr, context)
            }
            Expr::Floor { expr: inner, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                *expr = call("floor", vec![(**inner).clone()]);
                self.call(expr, context)
            }
            expr => self.parts(expr, context).map(|()| Form::Typed),
        }
    }

    /// Rewrites what is a group, a column, a condition on fields, or a long constant. `None` for all else.
    fn column_or_constant(&mut self, expr: &mut Expr, context: Context) -> Result<Option<Form>, Error> {
        if !context.in_aggregate
            && let Some(grouped) = self.resolver().scopes.last().and_then(|scope| scope.grouped.as_ref())
            && let Some((rewritten, form)) = grouped.group_of(expr)
        {
            *expr = rewritten.clone();
            return Ok(Some(form));
        }
        match self.resolver().resolve(expr)? {
            Some(Resolved::Field(field)) => {
                let form;
                (*expr, form) = self.resolver().value(&field, context)?;
                return Ok(Some(form));
            }
            Some(Resolved::Computed(computed)) => {
                *expr = self.resolver().computed(&computed, context);
                return Ok(Some(computed.form));
            }
            None => {}
        }
        if let Some(leaf) = self.resolver().leaf(expr, false, context)? {
            *expr = leaf;
            return Ok(Some(Form::Typed));
        }
        if is_long(expr) {
            *expr = to_json(expr.clone(), Form::Typed);
            return Ok(Some(Form::Json));
        }
        Ok(None)
    }

    /// Rewrites a query whose only column is used as a value.
    fn value_of_query(&mut self, query: &mut Query) -> Result<Form, Error> {
        let columns = self.query(query, Emit::Fixed(Rep::Typed), false)?;
        let is_json = matches!(
            columns.first().map(|column| &column.kind),
            Some(DerivedKind::Computed(Form::Json) | DerivedKind::Fixed(_, Rep::Raw | Rep::Json | Rep::Key))
        );
        Ok(if is_json { Form::Json } else { Form::Typed })
    }

    /// Rewrites a call: of a function that builds values, of one of arrays, or of another one.
    fn function(&mut self, expr: &mut Expr, context: Context) -> Result<Form, Error> {
        if let Expr::Function(function) = &*expr
            && is_call(function, "nullif")
        {
            let arguments = arguments(function).into_iter().cloned().collect::<Vec<_>>();
            let [value, other] = <[Expr; 2]>::try_from(arguments).map_err(|_| Error::sql("nullif takes two values"))?;
            *expr = null_if(value, other);
            return self.case(expr, context);
        }
        if let Some(form) = self.building(expr, context)? {
            return Ok(form);
        }
        match self.array_function(expr, context)? {
            Some(form) => Ok(form),
            None => self.call(expr, context),
        }
    }

    /// `[a, b]`
    fn array(&mut self, expr: &mut Expr, context: Context) -> Result<Form, Error> {
        let Expr::Array(array) = expr else { return Ok(Form::Typed) };
        // DataFusion casts the elements to one type: a number in an array with times would become a time. It also finds the
        // parameters of lambdas in the arguments of functions, but not within brackets.
        let is_one_kind = array.elem.iter().all(is_time) || self.all_known(&array.elem)?;
        let is_mixed = !is_one_kind || self.resolver().is_in_lambda();
        if !is_mixed && self.alike(array.elem.iter_mut().collect(), context)? == Form::Typed {
            return Ok(Form::Typed);
        }
        let elements = take(&mut array.elem);
        *expr = call(JSON_ARRAY, if is_mixed { self.all_json(elements, context)? } else { elements });
        Ok(Form::Json)
    }

    /// Whether the kind of each value is known.
    fn all_known(&mut self, values: &[Expr]) -> Result<bool, Error> {
        for value in values {
            // Bytes, for example, are a type that JSON does not have: a constant or a cast tells DataFusion its type.
            let is_told = matches!(value, Expr::Value(_) | Expr::Cast { .. });
            if !is_told && self.resolver().kind(value)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether an expression names a field, or is a value of several kinds.
    fn is_column(&mut self, expr: &Expr) -> Result<bool, Error> {
        if self.resolver().resolve(expr)?.is_some() {
            return Ok(true);
        }
        let Expr::Nested(inner) = expr else { return Ok(false) };
        self.is_column(inner)
    }

    /// `+`, `-`, `*`, `/` and `%`, also of numbers in JSON text.
    fn arithmetic(&mut self, expr: &mut Expr, context: Context) -> Result<Form, Error> {
        let Expr::BinaryOp { left, op, right } = expr else { return Ok(Form::Typed) };
        if self.moved((left, op, right), context)? {
            return Ok(Form::Typed);
        }
        let written = [left.to_string(), right.to_string()];
        let forms = [self.any(left, context)?, self.any(right, context)?];
        if forms == [Form::Typed; 2] {
            return Ok(Form::Typed);
        }
        let mut given = vec![string(&op.to_string())];
        for ((side, form), written) in [left, right].into_iter().zip(forms).zip(&written) {
            given.push(self.resolver().only_numbers(to_json((**side).clone(), form), written));
        }
        *expr = call(JSON_ARITHMETIC, given);
        Ok(Form::Json)
    }

    /// Rewrites the parts of an expression.
    fn parts(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let text = Context { wants: Wants::Texts, ..context };
        match expr {
            Expr::Value(_) | Expr::TypedString(_) | Expr::Interval(_) => Ok(()),
            Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. }
            | Expr::UnaryOp { op: UnaryOperator::Not, .. } => self.logic(expr, context),
            Expr::BinaryOp { left, op, right } if is_comparison(op) => {
                if self.as_times(&mut [&mut **left, &mut **right], context)? {
                    return Ok(());
                }
                let forms = (self.any(left, context)?, self.any(right, context)?);
                if forms != (Form::Typed, Form::Typed) {
                    let (left, right) = (to_json((**left).clone(), forms.0), to_json((**right).clone(), forms.1));
                    *expr = compared(left, op.clone(), right);
                }
                Ok(())
            }
            Expr::BinaryOp { left, op, right } => {
                let joins = Context { wants: Wants::AllAsTexts, ..context };
                let context = if *op == BinaryOperator::StringConcat { joins } else { context };
                self.expr(left, context)?;
                self.expr(right, context)
            }
            Expr::IsTrue(inner) | Expr::IsNotTrue(inner) | Expr::IsFalse(inner) | Expr::IsNotFalse(inner) => {
                self.condition(inner, context)
            }
            Expr::IsUnknown(inner) | Expr::IsNotUnknown(inner) => self.condition(inner, context),
            Expr::Cast { expr: inner, data_type, kind, .. } => {
                let to = data_type.to_string();
                let has_name = literal(inner).is_some() || is_type_of_spans(data_type);
                let told = string(&if *kind == CastKind::TryCast { format!("try {to}") } else { to.clone() });
                self.cast(inner, &to, context)?;
                if !has_name {
                    *expr = call(CAST_AS, vec![expr.clone(), told]);
                }
                Ok(())
            }
            Expr::UnaryOp { expr: inner, .. } | Expr::Ceil { expr: inner, .. } | Expr::Floor { expr: inner, .. } => {
                self.expr(inner, context)
            }
            Expr::IsNull(inner) | Expr::IsNotNull(inner) => self.any(inner, context).map(|_| ()),
            Expr::Extract { expr: inner, .. } if is_span(inner) => self.expr(inner, context),
            Expr::Extract { expr: inner, .. } => self.time(inner, context),
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                if self.alike(vec![&mut **left, &mut **right], context)? == Form::Json {
                    **left = canonical((**left).clone());
                    **right = canonical((**right).clone());
                }
                Ok(())
            }
            Expr::Between { .. } => self.between(expr, context),
            Expr::Like { expr, pattern, .. }
            | Expr::ILike { expr, pattern, .. }
            | Expr::SimilarTo { expr, pattern, .. }
            | Expr::RLike { expr, pattern, .. } => self.all([&mut **expr, &mut **pattern], text),
            Expr::Position { expr, r#in } => self.all([&mut **expr, &mut **r#in], text),
            Expr::InList { .. } => self.in_list(expr, context),
            Expr::Tuple(list) => self.all(list, context),
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                self.expr(expr, text)?;
                self.all(substring_from.iter_mut().chain(substring_for).map(|part| &mut **part), context)
            }
            Expr::Trim { trim_what, expr, trim_characters, .. } => {
                self.expr(expr, text)?;
                self.all(trim_what.iter_mut().map(|part| &mut **part), text)?;
                self.all(trim_characters.iter_mut().flatten(), text)
            }
            Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                self.all([&mut **expr, &mut **overlay_what], text)?;
                self.expr(overlay_from, context)?;
                self.all(overlay_for.iter_mut().map(|part| &mut **part), context)
            }
            Expr::Exists { .. } => self.exists(expr),
            Expr::InSubquery { .. } => self.in_rows(expr, context),
            other => Err(Error::sql(format!("`{other}` is not supported"))),
        }
    }

    /// Rewrites what is cast to a type.
    fn cast(&mut self, inner: &mut Expr, data_type: &str, context: Context) -> Result<(), Error> {
        let name = data_type.to_lowercase();
        let is = |kinds: &[&str]| kinds.iter().any(|kind| name.starts_with(kind));
        if is(&["varchar", "char", "text", "string"]) {
            self.expr(inner, Context { wants: Wants::AllAsTexts, ..context })
        } else if is(&["double", "float", "real"]) {
            self.expr(inner, context)
        } else {
            let written = inner.to_string();
            if self.any(inner, context)? == Form::Json {
                if is(&["bool"]) {
                    // Numbers other than 0 are true, as in other columns.
                    let number = compared((*inner).clone(), BinaryOperator::NotEq, string("0"));
                    let texts = [number, (*inner).clone()].map(|value| call("text", vec![value]));
                    *inner = call("coalesce", texts.to_vec());
                    return Ok(());
                }
                if is(&["date", "timestamp"]) {
                    let index = self.resolver().narrowed(&written, KindOfValues::Times);
                    *inner = call(TIME_OF_JSON, vec![(*inner).clone(), index]);
                    return Ok(());
                }
                if !is(&["int", "bigint", "smallint", "tinyint", "decimal", "numeric", "unsigned"]) {
                    return Err(mixed(&written, "this cast"));
                }
                // A text of digits is cast exactly.
                *inner = self.resolver().only_numbers((*inner).clone(), &written);
                if !is(&["decimal", "numeric"]) {
                    *inner = call(JSON_ARITHMETIC, vec![string("integer"), (*inner).clone(), string("0")]);
                }
            }
            Ok(())
        }
    }

    fn logic(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        match expr {
            Expr::BinaryOp { left, right, .. } => {
                self.condition(left, context)?;
                self.condition(right, context)
            }
            Expr::UnaryOp { expr: inner, .. } => self.condition(inner, context),
            _ => Ok(()),
        }
    }

    /// If one result is JSON text, all are.
    fn case(&mut self, expr: &mut Expr, context: Context) -> Result<Form, Error> {
        let Expr::Case { operand, conditions, else_result, .. } = expr else { return Ok(Form::Typed) };
        // `case x when 1 …` compares exactly, as `x = 1` does.
        if let Some(operand) = operand.take() {
            for when in conditions.iter_mut() {
                let right = std::mem::replace(&mut when.condition, null());
                when.condition = Expr::BinaryOp { left: operand.clone(), op: BinaryOperator::Eq, right: right.into() };
            }
        }
        let mut results = Vec::new();
        for when in conditions {
            self.condition(&mut when.condition, context)?;
            results.push(&mut when.result);
        }
        results.extend(else_result.as_deref_mut());
        self.alike(results, context)
    }
}

/// Whether an expression is an array, as far as it says so itself.
fn is_array(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_array(inner),
        Expr::Array(_) => true,
        Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right } => is_array(left) || is_array(right),
        Expr::Function(function) => MAKING_ARRAYS.contains(&function_name(function).as_str()),
        _ => false,
    }
}

/// `nullif(value, other)`, by a comparison that is exact.
fn null_if(value: Expr, other: Expr) -> Expr {
    let is_equal = Expr::BinaryOp { left: value.clone().into(), op: BinaryOperator::Eq, right: other.into() };
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen { condition: is_equal, result: null() }],
        else_result: Some(value.into()),
    }
}

fn is_arithmetic(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus};
    matches!(op, Plus | Minus | Multiply | Divide | Modulo)
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}
