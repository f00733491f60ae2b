//! Rewrites expressions: every name in them becomes a column.

use super::scope::{FieldRef, Resolved, resolve};
use super::select::{Emit, Rewriter};
use super::uses::{Need, NeedKind, Rep};
use super::{chain::chain, scope::DerivedKind};
use crate::error::Error;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, OrderByExpr, UnaryOperator, WindowType,
};

/// The context of an expression.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Context {
    /// Whether the expression is within an aggregate's arguments, where it sees the records before grouping.
    pub(crate) in_aggregate: bool,
    /// Whether a text is likelier here than a number. This matters only for fields that have no value in any record.
    pub(crate) text: bool,
}

impl Rewriter<'_> {
    /// Resolves `expr` if it is a name. An unknown name is an error.
    pub(crate) fn resolve(&mut self, expr: &Expr) -> Result<Option<Resolved>, Error> {
        let Some(parts) = chain(expr) else { return Ok(None) };
        let written = expr.to_string();
        let resolved = resolve(&self.scopes, &parts, &written)?;
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
        qualified(&field.relation, &name)
    }

    /// Notes that a field's type is needed.
    pub(crate) fn need(&mut self, field: &FieldRef, kind: &NeedKind) -> Result<(), Error> {
        if matches!(kind, NeedKind::Value { .. }) && matches!(field.fixed, Some(Rep::Raw | Rep::Json | Rep::Key)) {
            return Err(Error::sql(format!(
                "`{0}` comes from a union and is JSON text: use number({0}) or text({0})",
                field.written
            )));
        }
        for (source, path) in &field.origins {
            let need = Need { path: path.clone(), written: field.written.clone(), kind: kind.clone() };
            self.sources[*source].needs.push(need);
        }
        Ok(())
    }

    /// A field as a value to compute with.
    pub(crate) fn value(&mut self, field: &FieldRef, context: Context) -> Result<Expr, Error> {
        self.need(field, &NeedKind::Value { text: context.text })?;
        self.field(field, Rep::Typed, context)
    }

    /// Rewrites an expression whose value is used.
    pub(crate) fn expr(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        if !context.in_aggregate
            && let Some(grouped) = self.scopes.last().and_then(|scope| scope.grouped.as_ref())
        {
            let written = expr.to_string();
            if let Some((_, rewritten)) = grouped.exprs.iter().find(|(original, _)| *original == written) {
                *expr = rewritten.clone();
                return Ok(());
            }
        }
        match self.resolve(expr)? {
            Some(Resolved::Field(field)) => {
                *expr = self.value(&field, context)?;
                return Ok(());
            }
            Some(Resolved::Computed { relation, name }) => {
                *expr = qualified(&relation, &name);
                return Ok(());
            }
            None => {}
        }
        if let Some(leaf) = self.leaf(expr, false, context)? {
            *expr = leaf;
            return Ok(());
        }
        self.parts(expr, context)
    }

    /// Rewrites a condition. A field by itself is a truth value there.
    pub(crate) fn condition(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
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
            expr => self.expr(expr, context),
        }
    }

    /// Rewrites a condition that decides which rows remain. Equality between fields of two tables becomes equality of
    /// their keys, by which DataFusion can join.
    pub(crate) fn conjuncts(&mut self, expr: &mut Expr) -> Result<(), Error> {
        let context = Context::default();
        match expr {
            Expr::Nested(inner) if matches!(**inner, Expr::BinaryOp { .. }) => return self.conjuncts(inner),
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
                if let (Some(left_field), Some(right_field)) = (self.field_at(left)?, self.field_at(right)?)
                    && left_field.relation != right_field.relation
                {
                    **left = self.field(&left_field, Rep::Key, context)?;
                    **right = self.field(&right_field, Rep::Key, context)?;
                    return Ok(());
                }
            }
            Expr::BinaryOp { op: BinaryOperator::And, .. } => {
                if let Some(leaf) = self.leaf(expr, true, context)? {
                    *expr = leaf;
                    return Ok(());
                }
                let Expr::BinaryOp { left, right, .. } = expr else { return Ok(()) };
                self.conjuncts(left)?;
                return self.conjuncts(right);
            }
            _ => {}
        }
        self.condition(expr, context)
    }

    /// Rewrites the parts of an expression.
    fn parts(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let text = Context { text: true, ..context };
        match expr {
            Expr::Value(_) | Expr::TypedString(_) | Expr::Interval(_) => Ok(()),
            Expr::Function(function) => self.function(function, context),
            Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. }
            | Expr::UnaryOp { op: UnaryOperator::Not, .. } => self.logic(expr, context),
            Expr::BinaryOp { left, op, right } => {
                let context = if *op == BinaryOperator::StringConcat { text } else { context };
                self.expr(left, context)?;
                self.expr(right, context)
            }
            Expr::IsTrue(inner) | Expr::IsNotTrue(inner) | Expr::IsFalse(inner) | Expr::IsNotFalse(inner) => {
                self.condition(inner, context)
            }
            Expr::IsUnknown(inner) | Expr::IsNotUnknown(inner) => self.condition(inner, context),
            Expr::Nested(inner)
            | Expr::UnaryOp { expr: inner, .. }
            | Expr::Cast { expr: inner, .. }
            | Expr::Ceil { expr: inner, .. }
            | Expr::Floor { expr: inner, .. }
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner) => self.expr(inner, context),
            Expr::Extract { expr: inner, .. } => self.expr(inner, text),
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.all([&mut **left, &mut **right], context)
            }
            Expr::Between { expr, low, high, .. } => self.all([&mut **expr, &mut **low, &mut **high], context),
            Expr::Like { expr, pattern, .. }
            | Expr::ILike { expr, pattern, .. }
            | Expr::SimilarTo { expr, pattern, .. }
            | Expr::RLike { expr, pattern, .. } => self.all([&mut **expr, &mut **pattern], text),
            Expr::Position { expr, r#in } => self.all([&mut **expr, &mut **r#in], text),
            Expr::AtTimeZone { timestamp, time_zone } => self.all([&mut **timestamp, &mut **time_zone], text),
            Expr::InList { expr, list, .. } => {
                self.expr(expr, context)?;
                self.all(list, context)
            }
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
            Expr::Case { .. } => self.case(expr, context),
            Expr::Subquery(query) => self.query(query, Emit::Fixed(Rep::Typed), false).map(|_| ()),
            Expr::Exists { subquery, .. } => self.query(subquery, Emit::Fixed(Rep::Json), false).map(|_| ()),
            Expr::InSubquery { .. } => self.in_subquery(expr, context),
            other => Err(Error::sql(format!("`{other}` is not supported"))),
        }
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e mut Expr>, context: Context) -> Result<(), Error> {
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

    fn case(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let Expr::Case { operand, conditions, else_result, .. } = expr else { return Ok(()) };
        // `case x when 1 …` compares exactly, as `x = 1` does.
        if let Some(operand) = operand.take() {
            for when in conditions.iter_mut() {
                let right =
                    std::mem::replace(&mut when.condition, Expr::value(datafusion::sql::sqlparser::ast::Value::Null));
                when.condition = Expr::BinaryOp { left: operand.clone(), op: BinaryOperator::Eq, right: right.into() };
            }
        }
        for when in conditions {
            self.condition(&mut when.condition, context)?;
            self.expr(&mut when.result, context)?;
        }
        self.all(else_result.iter_mut().map(|part| &mut **part), context)
    }

    fn in_subquery(&mut self, expr: &mut Expr, context: Context) -> Result<(), Error> {
        let Expr::InSubquery { expr: subject, subquery, .. } = expr else { return Ok(()) };
        let columns = self.query(subquery, Emit::Fixed(Rep::Key), false)?;
        let plain = matches!(columns.first().map(|column| &column.kind), Some(DerivedKind::Fixed(_, Rep::Key)));
        match self.field_at(subject)? {
            Some(field) if plain => {
                **subject = self.field(&field, Rep::Key, context)?;
                Ok(())
            }
            None if plain => Err(Error::sql(format!(
                "`{subject}` is computed and the subquery gives a field: use number() or text()"
            ))),
            _ => self.expr(subject, context),
        }
    }

    fn function(&mut self, function: &mut Function, context: Context) -> Result<(), Error> {
        let name = function_name(function);
        let aggregate = (self.aggregates)(&name);
        let text = !aggregate && function.over.is_none();
        let inner = Context { in_aggregate: context.in_aggregate || aggregate && function.over.is_none(), text };
        let representation = match name.as_str() {
            "json_type" => Some(Rep::Raw),
            "number" | "text" | "timestamp" => Some(Rep::Json),
            "count" if is_distinct(function) => Some(Rep::Key),
            "count" | "approx_distinct" if aggregate => Some(Rep::Json),
            "match" => {
                function.name = ObjectName::from(vec![Ident::new("regexp_like")]);
                None
            }
            _ => None,
        };
        if let FunctionArguments::List(FunctionArgumentList { args, clauses, .. }) = &mut function.args {
            for argument in args {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
                | FunctionArg::Named { arg: FunctionArgExpr::Expr(expr), .. } = argument
                {
                    self.argument(expr, representation, &name, inner)?;
                }
            }
            for clause in clauses {
                if let FunctionArgumentClause::OrderBy(order) = clause {
                    self.sort_keys(order, inner)?;
                }
            }
        }
        if name == "sum" {
            wrap_arguments(function, super::SUM_ARGUMENT);
        }
        if let Some(filter) = &mut function.filter {
            self.condition(filter, inner)?;
        }
        self.sort_keys(&mut function.within_group, inner)?;
        if let Some(WindowType::WindowSpec(window)) = &mut function.over {
            self.all(&mut window.partition_by, context)?;
            self.sort_keys(&mut window.order_by, context)?;
        }
        Ok(())
    }

    fn argument(&mut self, expr: &mut Expr, rep: Option<Rep>, function: &str, context: Context) -> Result<(), Error> {
        let Some(rep) = rep else { return self.expr(expr, context) };
        match self.field_at(expr)? {
            Some(field) => {
                *expr = self.field(&field, rep, context)?;
                Ok(())
            }
            None if rep == Rep::Raw || matches!(function, "number" | "text" | "timestamp") => {
                Err(Error::sql(format!("{function} takes a field, not `{expr}`")))
            }
            None => self.expr(expr, context),
        }
    }

    pub(crate) fn sort_keys(&mut self, keys: &mut [OrderByExpr], context: Context) -> Result<(), Error> {
        keys.iter_mut().try_for_each(|key| self.expr(&mut key.expr, context))
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

/// Wraps each argument of a call in one of our functions.
fn wrap_arguments(function: &mut Function, wrapper: &str) {
    if let FunctionArguments::List(list) = &mut function.args {
        for argument in &mut list.args {
            if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument {
                *expr = call(wrapper, vec![expr.clone()]);
            }
        }
    }
}

fn is_distinct(function: &Function) -> bool {
    use datafusion::sql::sqlparser::ast::DuplicateTreatment;
    matches!(&function.args, FunctionArguments::List(list) if list.duplicate_treatment == Some(DuplicateTreatment::Distinct))
}
