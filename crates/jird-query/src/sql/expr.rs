//! Rewrites expressions: every name in them becomes a column.

use super::calls::bracketed;
use super::forms::{Form, Plain, canonical, compared, mixed, to_json, to_order, truth};
use super::literal::{is_json, is_long};
use super::member::{is_in_subquery, negated};
use super::scope::{ComputedRef, FieldRef, Resolved, Tells, resolve};
use super::select::{Emit, Records, Rewriter};
use super::times::is_span;
use super::uses::{AT_TIME_ZONE, JSON_ARITHMETIC, JSON_IN_TEXT, Kept, Need, NeedKind, ONLY_TEXTS, Rep, SourceUse};
use super::{chain::chain, scope::DerivedKind};
use crate::error::Error;
use datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, CeilFloorKind, DataType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, OrderByExpr, Query, UnaryOperator, Value,
};

/// The context of an expression.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Context {
    /// Whether the expression is within an aggregate's arguments, where it sees the records before grouping.
    pub(crate) in_aggregate: bool,
    pub(crate) wants: Wants,
}

/// What is used of values of several kinds. A field that has no value in any record is of this kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wants {
    #[default]
    Numbers,
    Texts,
    /// Texts, and other values as they are written: what `||` joins.
    AllAsTexts,
}

/// The sources of a query, whose records can be asked.
struct Asked<'a> {
    sources: &'a [SourceUse],
    records: &'a mut dyn Records,
}

impl Tells for Asked<'_> {
    fn has(&mut self, source: usize, key: &str) -> Result<bool, Error> {
        self.records.has(&self.sources[source].table, key)
    }

    fn is_empty(&mut self, source: usize) -> Result<bool, Error> {
        Ok(self.records.keys(&self.sources[source].table)?.is_empty())
    }
}

impl Rewriter<'_> {
    /// Resolves `expr` if it is a name. An unknown name is an error.
    pub(crate) fn resolve(&mut self, expr: &Expr) -> Result<Option<Resolved>, Error> {
        let Some(parts) = chain(expr) else { return Ok(None) };
        let written = expr.to_string();
        let Self { scopes, sources, records, .. } = self;
        let resolved = resolve(scopes, &parts, &written, &mut Asked { sources, records: *records })?;
        self.reaches_out |= match &resolved {
            Some(Resolved::Field(FieldRef { local, .. }) | Resolved::Computed(ComputedRef { local, .. })) => !local,
            None => false,
        };
        if let Some(Resolved::Field(FieldRef { source: Some(source), origins, .. })) = &resolved {
            let (path, named) = (&origins[0].1, &mut self.sources[*source].named);
            if !named.iter().any(|(other, _)| other == path) {
                named.push((path.clone(), written));
            }
            return Ok(resolved);
        }
        match resolved {
            Some(resolved) => Ok(Some(resolved)),
            None => Err(Error::sql(format!("no column `{written}` here"))),
        }
    }

    /// The column that holds a field in a representation. After `group by`, the field must be among the groups.
    pub(crate) fn field(&mut self, field: &FieldRef, rep: Rep, context: Context) -> Result<Expr, Error> {
        let mut rep = rep;
        if field.local
            && !context.in_aggregate
            && let Some(grouped) = self.scopes.last_mut().and_then(|scope| scope.grouped.as_mut())
        {
            let Some((_, used)) = grouped.fields.iter_mut().find(|(other, _)| other.is(field)) else {
                return Err(Error::sql(format!(
                    "`{}` is neither in `group by` nor in an aggregate such as min or max",
                    field.written
                )));
            };
            if !rep.is_inferred() {
                rep = Rep::Key;
            }
            used.insert(rep);
        }
        Ok(self.column(field, rep))
    }

    /// Like [`Self::field`], regardless of groups.
    pub(crate) fn column(&mut self, field: &FieldRef, rep: Rep) -> Expr {
        if let Some(source) = field.source {
            self.sources[source].add(&field.origins[0].1, rep);
        }
        let name = if field.fixed.is_some() { field.key.clone() } else { rep.column(&field.key) };
        let column = qualified(&field.relation, &name);
        match field.fixed {
            // A subquery gives the text as it stands,
            Some(Rep::Raw | Rep::Json) if rep == Rep::Key => canonical(column),
            // or groups as values of their type.
            Some(fixed) if fixed.is_inferred() && !rep.is_inferred() => match self.form(field) {
                Form::Json => column,
                Form::Typed => to_json(column, Form::Typed),
            },
            _ => column,
        }
    }

    /// Notes that a field's type is needed.
    pub(crate) fn need(&mut self, field: &FieldRef, kind: &NeedKind) {
        for (source, path) in &field.origins {
            let need = Need { path: path.clone(), written: field.written.clone(), kind: kind.clone() };
            self.sources[*source].needs.push(need);
        }
    }

    /// A field as a value of its type, or as JSON text if its values have no common type.
    pub(crate) fn value(&mut self, field: &FieldRef, context: Context) -> Result<(Expr, Form), Error> {
        self.need(field, &NeedKind::Value { text: context.wants != Wants::Numbers });
        let form = self.form(field);
        let rep = if form == Form::Json { field.json_rep() } else { Rep::Typed };
        Ok((self.field(field, rep, context)?, form))
    }

    /// Rewrites an expression whose value is used as a value of one type: of values of mixed kinds the numbers, or the
    /// texts where texts are wanted.
    pub(crate) fn expr(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let written = expr.to_string();
        if self.any(expr, context)? == Form::Json {
            let json = expr.clone();
            *expr = match context.wants {
                Wants::Numbers => self.numbers(json, &written),
                Wants::Texts => {
                    let index = self.narrowed(&written, Kept::Texts);
                    call("text", vec![call(ONLY_TEXTS, vec![json, index])])
                }
                Wants::AllAsTexts => call("text", vec![json]),
            };
        }
        Ok(())
    }

    /// Rewrites an expression whose value is used. Returns the form of the value.
    pub(crate) fn any(&mut self, expr: &mut Expr, context: Context) -> Result<Form, Error> {
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
                *expr = call("timestamp", vec![Expr::Value(typed.value.clone())]);
                Ok(Form::Typed)
            }
            Expr::AtTimeZone { timestamp, time_zone } => {
                self.time(timestamp, context)?;
                *expr = call(AT_TIME_ZONE, vec![(**timestamp).clone(), (**time_zone).clone()]);
                Ok(Form::Typed)
            }
            Expr::BinaryOp { op, .. } if is_arithmetic(op) => self.arithmetic(expr, context),
            Expr::Cast { expr: inner, data_type, .. } if is_json(data_type) => {
                let written = inner.to_string();
                let form = self.any(inner, context)?;
                let index = self.narrowed(&written, Kept::Json);
                *expr = call(JSON_IN_TEXT, vec![to_json((**inner).clone(), form), index]);
                Ok(Form::Json)
            }
            Expr::Array(_) => self.array(expr, context),
            // Unlike DataFusion's negation, `0 - x` does not overflow unnoticed.
            Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } if self.is_column(inner)? => {
                let zero = Expr::value(Value::Number("0".to_owned(), false));
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
            && let Some(grouped) = self.scopes.last().and_then(|scope| scope.grouped.as_ref())
            && let Some((rewritten, form)) = grouped.group_of(expr)
        {
            *expr = rewritten.clone();
            return Ok(Some(form));
        }
        match self.resolve(expr)? {
            Some(Resolved::Field(field)) => {
                let form;
                (*expr, form) = self.value(&field, context)?;
                return Ok(Some(form));
            }
            Some(Resolved::Computed(computed)) => {
                *expr = self.computed(&computed, context);
                return Ok(Some(computed.form));
            }
            None => {}
        }
        if let Some(leaf) = self.leaf(expr, false, context)? {
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
        if self.alike(array.elem.iter_mut().collect(), context)? == Form::Typed {
            return Ok(Form::Typed);
        }
        let text = |text: &str| Expr::value(Value::SingleQuotedString(text.to_owned()));
        let element = |element: &Expr| call("coalesce", vec![element.clone(), text("null")]);
        let elements = array.elem.iter().map(element).collect::<Vec<_>>();
        *expr = bracketed(call("concat_ws", [vec![text(",")], elements].concat()));
        Ok(Form::Json)
    }

    /// Whether an expression names a field, or is a value of several kinds.
    fn is_column(&mut self, expr: &Expr) -> Result<bool, Error> {
        if self.resolve(expr)?.is_some() {
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
        let mut given = vec![Expr::value(Value::SingleQuotedString(op.to_string()))];
        for ((side, form), written) in [left, right].into_iter().zip(forms).zip(&written) {
            given.push(self.only_numbers(to_json((**side).clone(), form), written));
        }
        *expr = call(JSON_ARITHMETIC, given);
        Ok(Form::Json)
    }

    /// A computed column of a subquery; or the group that it is, after `group by`.
    pub(crate) fn computed(&self, computed: &ComputedRef, context: Context) -> Expr {
        let column = computed.expr();
        let grouped = self.scopes.last().and_then(|scope| scope.grouped.as_ref()).filter(|_| !context.in_aggregate);
        let group = grouped.and_then(|grouped| grouped.group_of(&column)).map(|(rewritten, _)| rewritten.clone());
        group.unwrap_or(column)
    }

    /// Rewrites a condition. A field by itself is a truth value there.
    pub(crate) fn condition(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        self.truth_or_number(expr)?;
        if let Some(leaf) = self.leaf(expr, true, context)? {
            *expr = leaf;
            return Ok(());
        }
        match expr {
            Expr::Nested(inner) | Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => {
                self.condition(inner, context)
            }
            Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
                self.condition(left, context)?;
                self.condition(right, context)
            }
            expr => {
                if self.any(expr, context)? == Form::Json {
                    *expr = truth(expr.clone());
                }
                Ok(())
            }
        }
    }

    /// The condition of `if`, where a number other than 0 is true, as a plain condition.
    fn truth_or_number(&mut self, expr: &mut Expr) -> Result<(), Error> {
        let Expr::Function(function) = &*expr else { return Ok(()) };
        let (true, [condition]) = (is_call(function, "truth_or_number"), &arguments(function)[..]) else {
            return Ok(());
        };
        let mut condition = (*condition).clone();
        while let Expr::Nested(inner) = condition {
            condition = *inner;
        }
        let is_field = self.field_at(&condition)?.is_some();
        // Other expressions may be numbers only because nothing is known of the fields in them.
        let computes = match &condition {
            Expr::Value(_) | Expr::UnaryOp { .. } | Expr::BinaryOp { .. } => true,
            Expr::Function(function) => (self.aggregates)(&function_name(function)),
            _ => false,
        };
        let is_number =
            computes && matches!(self.kind(&condition)?, Some(Plain::Integer | Plain::Number | Plain::Fraction));
        let condition = Box::new(if is_field { condition } else { Expr::Nested(condition.into()) });
        let zero = Box::new(Expr::value(Value::Number("0".to_owned(), false)));
        let is_not_zero = Expr::BinaryOp { left: condition.clone(), op: BinaryOperator::NotEq, right: zero };
        *expr = match (is_field, is_number) {
            (true, _) => Expr::BinaryOp { left: condition, op: BinaryOperator::Or, right: is_not_zero.into() },
            (false, true) => is_not_zero,
            (false, false) => *condition,
        };
        Ok(())
    }

    /// Rewrites a condition that decides which rows remain. Equality between fields of two tables becomes equality of
    /// their keys, by which DataFusion can join.
    /// `filters` is whether the condition is that of a `where`, and not that of a join.
    pub(crate) fn conjuncts(&mut self, expr: &mut Expr, filters: bool) -> Result<(), Error> {
        let context = Context::default();
        match expr {
            Expr::Nested(inner)
                if matches!(**inner, Expr::BinaryOp { .. } | Expr::InSubquery { .. } | Expr::Nested(_)) =>
            {
                return self.conjuncts(inner, filters);
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                if let (Some(left_field), Some(right_field)) = (self.field_at(left)?, self.field_at(right)?)
                    && left_field.relation != right_field.relation
                {
                    **left = self.field(&left_field, Rep::Key, context)?;
                    **right = self.field(&right_field, Rep::Key, context)?;
                    return Ok(());
                }
            }
            Expr::InSubquery { .. } if filters => return self.in_subquery(expr),
            Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } if filters && is_in_subquery(inner) => {
                *expr = negated(inner);
                return self.in_subquery(expr);
            }
            Expr::BinaryOp { op: BinaryOperator::And, .. } => {
                if let Some(leaf) = self.leaf(expr, true, context)? {
                    *expr = leaf;
                    return Ok(());
                }
                let Expr::BinaryOp { left, right, .. } = expr else { return Ok(()) };
                self.conjuncts(left, filters)?;
                return self.conjuncts(right, filters);
            }
            _ => {}
        }
        self.condition(expr, context)
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
            Expr::Cast { expr: inner, data_type, .. } => self.cast(inner, &data_type.to_string(), context),
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
                if !is(&["int", "bigint", "smallint", "tinyint", "decimal", "numeric", "unsigned"]) {
                    return Err(mixed(&written, "this cast"));
                }
                // A text of digits is cast exactly.
                *inner = self.only_numbers((*inner).clone(), &written);
                if !is(&["decimal", "numeric"]) {
                    let text = |text: &str| Expr::value(Value::SingleQuotedString(text.to_owned()));
                    *inner = call(JSON_ARITHMETIC, vec![text("integer"), (*inner).clone(), text("0")]);
                }
            }
            Ok(())
        }
    }

    pub(super) fn all<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e mut Expr>,
        context: Context,
    ) -> Result<(), Error> {
        exprs.into_iter().try_for_each(|expr| self.expr(expr, context))
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
                let right = std::mem::replace(&mut when.condition, Expr::value(Value::Null));
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

    pub(crate) fn sort_keys(&mut self, keys: &mut [OrderByExpr], context: Context) -> Result<(), Error> {
        keys.iter_mut().try_for_each(|key| {
            if self.any(&mut key.expr, context)? == Form::Json {
                key.expr = to_order(key.expr.clone());
            }
            Ok(())
        })
    }
}

/// `relation.name`, quoted.
pub(crate) fn qualified(relation: &str, name: &str) -> Expr {
    Expr::CompoundIdentifier(vec![quoted(relation), quoted(name)])
}

/// A name, quoted so that it is taken literally.
pub(crate) fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
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

/// `nullif(value, other)`, by a comparison that is exact.
fn null_if(value: Expr, other: Expr) -> Expr {
    let is_equal = Expr::BinaryOp { left: value.clone().into(), op: BinaryOperator::Eq, right: other.into() };
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen { condition: is_equal, result: Expr::value(Value::Null) }],
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
