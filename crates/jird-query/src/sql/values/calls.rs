//! Rewrites calls: functions, aggregates and windows.
//!
//! In goes a call with arguments as they are written; out come a call over columns, and the form of its result. What a
//! function makes of values of several kinds is defined once, by [`Mixing`]. What must hold: a value that a function
//! does not take is counted for a note, and never changed without one.

use super::walk::Walk;
use crate::base::error::Error;
use crate::sql::base::forms::{Form, canonical, mixed, of_key, to_json, to_key, to_order, uncounted_numbers};
use crate::sql::base::functions::{
    JSON_ARITHMETIC, JSON_HISTOGRAM, JSON_MODE, JSON_SUM, NUMBER_AVG, NUMBER_SUM, ORDER_VALUE, SORT_KEY, SUM_ARGUMENT,
};
use crate::sql::base::literal;
use crate::sql::base::syntax::{
    arguments, arguments_mut, bracketed, call, function_name, has_wildcard, is_call, is_distinct, number, string,
};
use crate::sql::base::times::{is_range_of_times, is_span, is_time};
use crate::sql::resolve::kinds::Mixing;
use crate::sql::resolve::resolver::{Context, Wants};
use crate::sql::resolve::uses::{NeedKind, Rep};
use jird::record::Literal;
use jird_formats::ColumnType;
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    CaseWhen, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, Ident, NullTreatment, ObjectName, OrderByExpr, Value, WindowFrame,
    WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

/// Functions that take a time, and the place of that argument.
const TIMED: &[(&str, usize)] = &[
    ("date_bin", 1),
    ("date_part", 1),
    ("date_trunc", 1),
    ("datepart", 1),
    ("datetrunc", 1),
    ("time_bucket", 1),
    ("timestamp", 0),
    ("to_char", 0),
    ("to_date", 0),
];

/// Aggregates that count how often there is each value, of any kind.
const COUNTING: &[&str] = &[JSON_MODE, JSON_HISTOGRAM];

/// Aggregates whose result depends on the order of what they are given.
const ORDERED: &[&str] = &["array_agg", "first_value", "last_value", "nth_value", "string_agg"];

impl dyn Walk<'_> + '_ {
    pub(crate) fn call(&mut self, expr: &mut Expr, context: Context) -> Result<Form, Error> {
        if let Some(form) = self.distinct_in_order(expr, context)? {
            return Ok(form);
        }
        if let Some(meant) = next_value(expr)? {
            *expr = meant;
            return self.any(expr, context);
        }
        let Expr::Function(function) = expr else { return Ok(Form::Typed) };
        let name = function_name(function);
        if let ("numbers_of" | "order_of_numbers", Some(value)) = (name.as_str(), arguments(function).first()) {
            // Of values of several kinds, the numbers; other values as they are.
            let (mut value, written) = ((*value).clone(), value.to_string());
            let form = self.any(&mut value, context)?;
            *expr = match form {
                Form::Typed => value,
                // What is left out is counted elsewhere. Aggregates with one order have the same expression for it.
                Form::Json if name == "order_of_numbers" => uncounted_numbers(value),
                Form::Json => self.resolver().only_numbers(value, &written),
            };
            return Ok(form);
        }
        let has_format = name == "to_date" && arguments(function).len() > 1;
        if let Some((_, place)) = TIMED.iter().find(|(known, _)| *known == name && !has_format) {
            *expr = self.time_call(function, &name, *place, context)?;
            return Ok(Form::Typed);
        }
        if let Some(meant) = matches_all(function) {
            *expr = meant;
            return self.any(expr, context);
        }
        let aggregate = (self.resolver().aggregates)(&name);
        if is_distinct(function) && has_wildcard(function) {
            return Err(Error::sql(format!("`{expr}`: name what is counted once, as in `{name}(distinct a)`")));
        }
        let mixing = Mixing::of(&name, aggregate);
        let inner = Context {
            // `grouping(x)` asks about a group.
            in_aggregate: context.in_aggregate || aggregate && function.over.is_none() && name != "grouping",
            wants: match name.as_str() {
                _ if mixing != Mixing::Texts || function.over.is_some() => Wants::Numbers,
                "concat" | "concat_ws" | "string_agg" => Wants::AllAsTexts,
                // A constant is seconds, with any number of digits; fields are texts.
                name if name.starts_with("to_timestamp") && is_number(&arguments(function)) => Wants::Numbers,
                _ => Wants::Texts,
            },
        };
        let form = if matches!(name.as_str(), "bool_and" | "bool_or") {
            arguments_mut(function).into_iter().try_for_each(|argument| self.condition(argument, inner))?;
            Form::Typed
        } else if let Some(rep) = representation(function, &name, aggregate) {
            for argument in arguments_mut(function) {
                self.argument(argument, Some(rep), &name, inner)?;
            }
            if COUNTING.contains(&name.as_str()) { Form::Json } else { Form::Typed }
        } else {
            self.mixing(function, mixing, inner)?
        };
        if name == "grouping" && !self.resolver().has_sets() {
            // Each row is of all groups.
            *expr = number(0);
            return Ok(Form::Typed);
        }
        if name == "match" {
            function.name = ObjectName::from(vec![Ident::new("regexp_like")]);
        }
        self.clauses(function, aggregate && !ORDERED.contains(&name.as_str()), inner)?;
        self.within_group(function, mixing, inner)?;
        self.window(function, context)?;
        match (form, mixing) {
            (Form::Json, Mixing::Extreme) => *expr = of_key(expr.clone()),
            (Form::Json, Mixing::Collects) => *expr = bracketed(expr.clone()),
            _ => {}
        }
        Ok(form)
    }

    /// The `order by` and the `filter` of an aggregate.
    fn clauses(&mut self, function: &mut Function, without_order: bool, context: Context) -> Result<(), Error> {
        if let FunctionArguments::List(FunctionArgumentList { clauses, .. }) = &mut function.args {
            if without_order {
                // DataFusion hands the keys to functions that do not ask for an order, which panic.
                clauses.retain(|clause| !matches!(clause, FunctionArgumentClause::OrderBy(_)));
            }
            for clause in clauses {
                if let FunctionArgumentClause::OrderBy(order) = clause {
                    self.sort_keys(order, context)?;
                }
            }
        }
        match &mut function.filter {
            Some(filter) => self.condition(filter, context),
            None => Ok(()),
        }
    }

    /// A function that takes a time as this argument.
    fn time_call(
        &mut self,
        function: &mut Function,
        name: &str,
        place: usize,
        context: Context,
    ) -> Result<Expr, Error> {
        for (index, argument) in arguments_mut(function).into_iter().enumerate() {
            if index == place && is_span(argument) {
                self.expr(argument, context)?;
            } else if index == place {
                self.time(argument, context)?;
            } else {
                self.expr(argument, context)?;
            }
        }
        Ok(match (name, &arguments(function)[..]) {
            ("timestamp", [time, ..]) => (*time).clone(),
            // Like `time_bucket`, for all years.
            ("date_trunc" | "datetrunc", [unit, time]) if literal::text(unit).is_some() => {
                let width = format!("1 {}", literal::text(unit).unwrap_or_default());
                call("time_bucket", vec![string(&width), (*time).clone()])
            }
            _ => Expr::Function(function.clone()),
        })
    }

    /// The window of a function.
    fn window(&mut self, function: &mut Function, context: Context) -> Result<(), Error> {
        let Some(WindowType::WindowSpec(window)) = &mut function.over else { return Ok(()) };
        // Equal values are in one partition and in one place, however they are spelled.
        for group in &mut window.partition_by {
            *group = match self.any(group, context)? {
                Form::Json => canonical(group.clone()),
                Form::Typed => call(SORT_KEY, vec![group.clone()]),
            };
        }
        if let (Some(frame), [key]) = (&window.window_frame, &mut window.order_by[..])
            && frame.units == WindowFrameUnits::Range
            && is_range_of_times(frame)
        {
            return if is_time(&key.expr) {
                self.expr(&mut key.expr, context)
            } else {
                self.time(&mut key.expr, context)
            };
        }
        let before = window.order_by.clone();
        for key in &mut window.order_by {
            key.expr = match self.any(&mut key.expr, context)? {
                Form::Json => to_order(key.expr.clone()),
                Form::Typed => call(SORT_KEY, vec![key.expr.clone()]),
            };
        }
        let is_mixed = |key: &OrderByExpr| matches!(&key.expr, Expr::Function(key) if is_call(key, ORDER_VALUE));
        if let Some(at) = window.order_by.iter().position(is_mixed)
            && window.window_frame.as_ref().is_some_and(counts_a_range)
        {
            return Err(mixed(&before[at].expr.to_string(), "a range of values"));
        }
        Ok(())
    }

    /// `percentile_cont(0.5) within group (order by x)` computes with the numbers of x.
    fn within_group(&mut self, function: &mut Function, mixing: Mixing, context: Context) -> Result<(), Error> {
        if mixing == Mixing::Numbers {
            return function.within_group.iter_mut().try_for_each(|key| self.expr(&mut key.expr, context));
        }
        self.sort_keys(&mut function.within_group, context)
    }

    /// Rewrites the arguments of a function, and the function too if it is given values of mixed kinds.
    fn mixing(&mut self, function: &mut Function, mixing: Mixing, context: Context) -> Result<Form, Error> {
        match mixing {
            Mixing::Sum | Mixing::Mean => self.total(function, mixing, context),
            Mixing::Chooses => self.alike(arguments_mut(function), context),
            Mixing::Extreme => {
                let form = self.alike(arguments_mut(function), context)?;
                if form == Form::Json {
                    arguments_mut(function).into_iter().for_each(|argument| *argument = to_key(argument.clone()));
                }
                Ok(form)
            }
            Mixing::Passes => {
                let given = arguments(function).into_iter().cloned().collect::<Vec<_>>();
                if let [value, _, default] = &given[..]
                    && let (Some(kind), Some(other)) = (self.resolver().kind(value)?, self.resolver().kind(default)?)
                    && !kind.goes_with(other)
                {
                    // `lag(n, 1, 'none')`
                    for (index, argument) in arguments_mut(function).into_iter().enumerate() {
                        let form = self.any(argument, context)?;
                        if index != 1 {
                            *argument = to_json(argument.clone(), form);
                        }
                    }
                    return Ok(Form::Json);
                }
                let mut arguments = arguments_mut(function).into_iter();
                let form = arguments.next().map_or(Ok(Form::Typed), |first| self.any(first, context))?;
                for (index, argument) in arguments.enumerate() {
                    let own = self.any(argument, context)?;
                    // `lag(x, 1, default)`: the number of rows stays a number.
                    if form == Form::Json && index == 1 {
                        *argument = to_json(argument.clone(), own);
                    }
                }
                Ok(form)
            }
            Mixing::Collects => self.collect(function, context),
            Mixing::Exact => self.exact(function, context),
            Mixing::Texts if function_name(function) == "string_agg" && is_distinct(function) => {
                let mut given = arguments_mut(function).into_iter();
                if let Some(value) = given.next()
                    && self.any(value, context)? == Form::Json
                {
                    // Equal values have one text.
                    *value = call("text", vec![canonical(value.clone())]);
                }
                self.all(given, context)?;
                Ok(Form::Typed)
            }
            Mixing::Numbers | Mixing::Texts => {
                self.all(arguments_mut(function), context)?;
                Ok(Form::Typed)
            }
        }
    }

    /// A function of one number that is computed exactly for integers. `round` and `trunc` also take a number of places.
    fn exact(&mut self, function: &mut Function, context: Context) -> Result<Form, Error> {
        let name = function_name(function);
        let arguments_max = if matches!(name.as_str(), "round" | "trunc") { 2 } else { 1 };
        if arguments(function).len() > arguments_max {
            // DataFusion refuses the call.
            self.all(arguments_mut(function), context)?;
            return Ok(Form::Typed);
        }
        let written = arguments(function).first().map(ToString::to_string).unwrap_or_default();
        let mut given = arguments_mut(function).into_iter();
        let Some(argument) = given.next() else { return Ok(Form::Typed) };
        let form = self.any(argument, context)?;
        let mut places = string("0");
        if let Some(second) = given.next() {
            if form == Form::Json {
                let own = self.any(second, context)?;
                places = to_json(second.clone(), own);
            } else {
                self.expr(second, context)?;
            }
        }
        if form == Form::Typed {
            return Ok(Form::Typed);
        }
        let json = self.resolver().only_numbers(argument.clone(), &written);
        let Expr::Function(exact) = call(JSON_ARITHMETIC, vec![string(&name), json, places]) else {
            return Ok(Form::Typed);
        };
        *function = exact;
        Ok(Form::Json)
    }

    /// `array_agg`. Values of several kinds become a JSON array.
    fn collect(&mut self, function: &mut Function, context: Context) -> Result<Form, Error> {
        let FunctionArguments::List(list) = &mut function.args else { return Ok(Form::Typed) };
        let [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))] = &mut list.args[..] else {
            return Ok(Form::Typed);
        };
        if self.any(argument, context)? == Form::Typed {
            return Ok(Form::Typed);
        }
        let json = match list.duplicate_treatment {
            Some(DuplicateTreatment::Distinct) => canonical(argument.clone()),
            _ => argument.clone(),
        };
        *argument = call("coalesce", vec![json, string("null")]);
        list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(string(","))));
        function.name = ObjectName::from(vec![Ident::new("string_agg")]);
        Ok(Form::Json)
    }

    /// `sum` and `avg`.
    fn total(&mut self, function: &mut Function, mixing: Mixing, context: Context) -> Result<Form, Error> {
        let Some(argument) = arguments_mut(function).into_iter().next() else { return Ok(Form::Typed) };
        let written = argument.to_string();
        let field = self.resolver().field_at(argument)?;
        let is_double = field.as_ref().is_some_and(|field| {
            field.fixed.is_none()
                && self.resolver().form(field) == Form::Typed
                && self.resolver().has_type(field, ColumnType::Float64)
        });
        let is_sum = mixing == Mixing::Sum;
        if let (true, Some(field)) = (is_double, field) {
            // From the texts, which are exact, unless the doubles are.
            self.resolver().need(&field, &NeedKind::Value { text: false });
            let rep = if self.resolver().has_decimals(&field) { Rep::Typed } else { Rep::Json };
            *argument = self.resolver().field(&field, rep, context)?;
            function.name = ObjectName::from(vec![Ident::new(if is_sum { NUMBER_SUM } else { NUMBER_AVG })]);
            return Ok(Form::Typed);
        }
        if self.any(argument, context)? == Form::Json {
            *argument = self.resolver().only_numbers(argument.clone(), &written);
            function.name = ObjectName::from(vec![Ident::new(if is_sum { JSON_SUM } else { NUMBER_AVG })]);
            return Ok(if is_sum { Form::Json } else { Form::Typed });
        }
        if is_sum {
            *argument = call(SUM_ARGUMENT, vec![argument.clone()]);
        }
        Ok(Form::Typed)
    }

    fn argument(&mut self, expr: &mut Expr, rep: Option<Rep>, function: &str, context: Context) -> Result<(), Error> {
        let Some(rep) = rep else { return self.expr(expr, context) };
        match self.resolver().field_at(expr)? {
            Some(field) => {
                *expr = self.resolver().field(&field, rep, context)?;
                Ok(())
            }
            None if matches!(function, "json_type" | "number" | "text") || COUNTING.contains(&function) => {
                let form = self.any(expr, context)?;
                *expr = to_json(expr.clone(), form);
                Ok(())
            }
            None => {
                let form = self.any(expr, context)?;
                if form == Form::Json && rep == Rep::Key {
                    *expr = canonical(expr.clone());
                } else if function == "approx_distinct" {
                    // DataFusion estimates how many texts there are, and of no other type.
                    *expr = to_json(expr.clone(), form);
                }
                Ok(())
            }
        }
    }
}

/// The representation that a function wants of the fields it is given, if it wants no values.
fn representation(function: &Function, name: &str, aggregate: bool) -> Option<Rep> {
    match name {
        "json_type" => Some(Rep::Raw),
        "number" | "text" => Some(Rep::Json),
        "grouping" => Some(Rep::Key),
        "count" if is_distinct(function) => Some(Rep::Key),
        "approx_distinct" if aggregate => Some(Rep::Key),
        name if COUNTING.contains(&name) => Some(Rep::Json),
        "count" if aggregate => Some(Rep::Json),
        _ => None,
    }
}

/// Whether a window reaches a distance of values before or after the current one.
fn counts_a_range(frame: &WindowFrame) -> bool {
    let is_far = |bound: &WindowFrameBound| {
        matches!(bound, WindowFrameBound::Preceding(Some(_)) | WindowFrameBound::Following(Some(_)))
    };
    frame.units == WindowFrameUnits::Range
        && (is_far(&frame.start_bound) || frame.end_bound.as_ref().is_some_and(is_far))
}

/// Whether the first argument is a number.
fn is_number(given: &[&Expr]) -> bool {
    given.first().is_some_and(|first| matches!(literal::literal(first), Some(Literal::Number(_))))
}

/// `lead(x, n) ignore nulls` as the n-th value of the rows that follow, and `lag` as that of the rows before: DataFusion 55
/// counts nulls in `lead` (apache/datafusion#25471). `None` for other calls.
fn next_value(expr: &Expr) -> Result<Option<Expr>, Error> {
    let Expr::Function(function) = expr else { return Ok(None) };
    let follows = match function_name(function).as_str() {
        "lead" => true,
        "lag" => false,
        _ => return Ok(None),
    };
    let FunctionArguments::List(list) = &function.args else { return Ok(None) };
    let is_whole =
        |places: &&Expr| matches!(literal::literal(places), Some(Literal::Number(n)) if n.parse::<i64>().is_ok());
    if function.over.is_some() && arguments(function).get(1).is_some_and(|places| !is_whole(places)) {
        return Err(Error::sql("`lag` and `lead` take a constant number of rows"));
    }
    let ignores = FunctionArgumentClause::IgnoreOrRespectNulls(NullTreatment::IgnoreNulls);
    if function.null_treatment != Some(NullTreatment::IgnoreNulls) && !list.clauses.contains(&ignores) {
        return Ok(None);
    }
    let Some(WindowType::WindowSpec(window)) = &function.over else { return Ok(None) };
    let given = arguments(function);
    let (Some(value), rest) = (given.first(), given.get(1..).unwrap_or_default()) else { return Ok(None) };
    let places = match rest.first().map(|places| literal::literal(places)) {
        None => 1,
        Some(Some(Literal::Number(places))) => places.parse::<i64>().ok().filter(|places| *places > 0).unwrap_or(0),
        Some(_) => 0,
    };
    if places == 0 {
        return Err(Error::sql("`ignore nulls` takes `lead` and `lag` by a constant number of rows above 0"));
    }
    let place = Expr::value(Value::Number(if follows { places } else { -places }.to_string(), false));
    let Expr::Function(mut nth) = call("nth_value", vec![(*value).clone(), place]) else { return Ok(None) };
    nth.null_treatment = Some(NullTreatment::IgnoreNulls);
    nth.filter.clone_from(&function.filter);
    let one = || Some(Box::new(number(1)));
    let (start_bound, end_bound) = if follows {
        (WindowFrameBound::Following(one()), WindowFrameBound::Following(None))
    } else {
        (WindowFrameBound::Preceding(None), WindowFrameBound::Preceding(one()))
    };
    let frame = WindowFrame { units: WindowFrameUnits::Rows, start_bound, end_bound: Some(end_bound) };
    nth.over = Some(WindowType::WindowSpec(WindowSpec { window_frame: Some(frame), ..window.clone() }));
    let nth = Expr::Function(nth);
    Ok(Some(match rest.get(1) {
        Some(default) => call("coalesce", vec![nth, (*default).clone()]),
        None => nth,
    }))
}

/// A call that matches `.*` as a condition: DataFusion 55 says false of null there (apache/datafusion#24379). `None` for
/// other calls.
fn matches_all(function: &Function) -> Option<Expr> {
    let given = arguments(function);
    let (true, [value, pattern, ..]) = (is_call(function, "regexp_like"), &given[..]) else { return None };
    (*literal::text(pattern)? == *".*").then(|| Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen {
            condition: Expr::IsNotNull(call("lower", vec![(*value).clone()]).into()),
            result: Expr::value(Value::Boolean(true)),
        }],
        else_result: None,
    })
}
