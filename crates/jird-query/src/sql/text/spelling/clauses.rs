//! Clauses: `fetch`, `distinct on`, named windows, `qualify`, samples, `from` without `select`.

use super::super::plain::plain_query;
use crate::base::error::Error;
use crate::sql::base::syntax::stream;
use crate::sql::base::syntax::{call, number};
use crate::sql::base::visit;
use sqlparser::ast::{
    BinaryOperator, Distinct, Expr, Fetch, Function, FunctionArg, FunctionArgExpr, GroupByExpr, Ident, Join,
    JoinConstraint, JoinOperator, LimitClause, NamedWindowDefinition, NamedWindowExpr, OrderBy, OrderByExpr,
    OrderByKind, Query, Select, SelectFlavor, SelectItem, SetExpr, TableAlias, TableFactor, TableSample,
    TableSampleKind, TableSampleUnit, Value, VisitMut, WildcardAdditionalOptions, WindowSpec, WindowType,
};
use std::ops::ControlFlow;

/// The clauses of a query.
pub(super) fn query(query: &mut Query) -> Result<(), Error> {
    if let Some(fetch) = query.fetch.take() {
        limit(query, fetch)?;
    }
    let Query { body, order_by, .. } = query;
    let SetExpr::Select(select) = &mut **body else { return Ok(()) };
    if let Some(order_by) = order_by.as_mut() {
        put_windows(order_by, &select.named_window);
    }
    distinct_on(select, order_by.as_ref())?;
    distinct_of_results(select)
}

/// `select distinct` of groups or windows is `select distinct *` of the query without it.
fn distinct_of_results(select: &mut Box<Select>) -> Result<(), Error> {
    let is_window = |expr: &Expr| matches!(expr, Expr::Function(Function { over: Some(_), .. }));
    let has_window = visit::any_expr(&select.projection, is_window);
    let is_grouped = !matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
    let wraps = is_grouped || has_window || select.qualify.is_some();
    if !matches!(select.distinct, Some(Distinct::Distinct)) || !wraps {
        return Ok(());
    }
    let mut outer = plain_query("select distinct * from (select 1)")?;
    let SetExpr::Select(body) = &mut *outer.body else { return Ok(()) };
    if let Some(TableFactor::Derived { subquery, .. }) = body.from.first_mut().map(|table| &mut table.relation)
        && let SetExpr::Select(inner) = &mut *subquery.body
    {
        select.distinct = None;
        if select.from.is_empty() {
            select.from.push(stream());
        }
        std::mem::swap(inner, select);
        std::mem::swap(select, body);
    }
    Ok(())
}

/// `fetch first 2 rows only` is `limit 2`.
fn limit(query: &mut Query, fetch: Fetch) -> Result<(), Error> {
    if fetch.with_ties || fetch.percent {
        return Err(Error::sql("`fetch` takes a number of rows; `with ties` and `percent` are not supported"));
    }
    let rows = fetch.quantity.unwrap_or_else(|| number(1));
    match query.limit_clause.get_or_insert(LimitClause::LimitOffset { limit: None, offset: None, limit_by: Vec::new() })
    {
        LimitClause::LimitOffset { limit: limit @ None, .. } => *limit = Some(rows),
        _ => return Err(Error::sql("`limit` and `fetch` say the same: write one of them")),
    }
    Ok(())
}

/// `distinct on (a) … order by b` keeps the first row of each `a` in that order.
fn distinct_on(select: &mut Select, order_by: Option<&OrderBy>) -> Result<(), Error> {
    let Some(Distinct::On(keys)) = &select.distinct else { return Ok(()) };
    if select.qualify.is_some() {
        return Err(Error::sql("`distinct on` and `qualify` do not go together: use one of them in a subquery"));
    }
    let order_by = match order_by.map(|order_by| &order_by.kind) {
        None => Vec::new(),
        Some(OrderByKind::Expressions(keys)) => keys.clone(),
        Some(OrderByKind::All(_)) => return Err(Error::sql("`distinct on` needs named keys in `order by`")),
    };
    let meant = |expr: &Expr| meaning(expr, &select.projection).unwrap_or(expr).clone();
    let partition_by = keys.iter().map(meant).collect();
    let order_by = order_by.into_iter().map(|key| OrderByExpr { expr: meant(&key.expr), ..key }).collect();
    let Expr::Function(mut counted) = call("row_number", Vec::new()) else { return Ok(()) };
    let window = WindowSpec { window_name: None, partition_by, order_by, window_frame: None };
    counted.over = Some(WindowType::WindowSpec(window));
    select.distinct = None;
    select.qualify =
        Some(Expr::BinaryOp { left: Expr::Function(counted).into(), op: BinaryOperator::Eq, right: number(1).into() });
    Ok(())
}

/// The column of a `select` that a name or a number stands for.
fn meaning<'s>(expr: &Expr, columns: &'s [SelectItem]) -> Option<&'s Expr> {
    let of = |item: &'s SelectItem| match item {
        SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr) => Some(expr),
        _ => None,
    };
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => columns.get(number.parse::<usize>().ok()?.checked_sub(1)?).and_then(of),
            _ => None,
        },
        Expr::Identifier(name) => columns.iter().find_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if alias.value == name.value => Some(expr),
            _ => None,
        }),
        _ => None,
    }
}

/// Whether an expression names a field. `max(a) as a` does: its `a` is not the column.
fn names(expr: &Expr, field: &Ident) -> bool {
    let is_named = |expr: &Expr| matches!(expr, Expr::Identifier(name) if name.value == field.value);
    visit::any_expr(expr, is_named)
}

/// The clauses of a `select`.
pub(super) fn select(select: &mut Select) -> Result<(), Error> {
    if select.flavor == SelectFlavor::FromFirstNoSelect {
        select.flavor = SelectFlavor::Standard;
        select.projection.push(SelectItem::Wildcard(WildcardAdditionalOptions::default()));
    }
    let columns = &select.projection;
    for condition in select.qualify.iter_mut().chain(&mut select.having) {
        let _ = visit::exprs_mut(condition, |expr| {
            if let (Expr::Identifier(name), Some(meant)) = (&*expr, meaning(expr, columns))
                && !names(meant, name)
            {
                *expr = meant.clone();
            }
            ControlFlow::<()>::Continue(())
        });
    }
    tables(select, series);
    subqueries_of_joins(select)?;
    sample(select)?;
    check_windows(select)
}

/// Moves the conditions of joins that ask subqueries into `where`, where DataFusion takes them: where all tables are there in
/// full, it is the same.
fn subqueries_of_joins(select: &mut Select) -> Result<(), Error> {
    let asks = |expr: &Expr| {
        let is_subquery =
            |expr: &Expr| matches!(expr, Expr::Exists { .. } | Expr::InSubquery { .. } | Expr::Subquery(_));
        visit::any_expr(expr, is_subquery)
    };
    let mut moved = Vec::new();
    for table in &mut select.from {
        let fills = |join: &Join| {
            use JoinOperator::{FullOuter, Right, RightOuter};
            matches!(join.join_operator, FullOuter(_) | Right(_) | RightOuter(_))
        };
        let last_filling = table.joins.iter().rposition(fills);
        for (at, join) in table.joins.iter_mut().enumerate() {
            let is_inner = matches!(join.join_operator, JoinOperator::Join(_) | JoinOperator::Inner(_));
            let (JoinOperator::Join(JoinConstraint::On(on))
            | JoinOperator::Inner(JoinConstraint::On(on))
            | JoinOperator::Left(JoinConstraint::On(on))
            | JoinOperator::LeftOuter(JoinConstraint::On(on))
            | JoinOperator::Right(JoinConstraint::On(on))
            | JoinOperator::RightOuter(JoinConstraint::On(on))
            | JoinOperator::FullOuter(JoinConstraint::On(on))) = &mut join.join_operator
            else {
                continue;
            };
            let (asking, plain): (Vec<_>, Vec<_>) = conjuncts(on).into_iter().partition(|part| asks(part));
            if asking.is_empty() {
                continue;
            }
            if !is_inner || last_filling.is_some_and(|last| last > at) {
                let what = "a subquery in the `on` of an outer join, or of a join before a right or full one";
                return Err(Error::sql(format!("not supported: {what}; join a subquery that has asked already")));
            }
            moved.extend(asking);
            *on = all_of(plain).unwrap_or_else(|| Expr::value(Value::Boolean(true)));
        }
    }
    if !moved.is_empty() {
        moved.splice(0..0, select.selection.take());
        select.selection = all_of(moved);
    }
    Ok(())
}

/// The conditions that all hold, from left to right.
pub(crate) fn conjuncts(condition: &Expr) -> Vec<Expr> {
    match condition {
        Expr::Nested(inner) => conjuncts(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => [conjuncts(left), conjuncts(right)].concat(),
        other => vec![other.clone()],
    }
}

/// The condition that all of these hold.
fn all_of(conditions: Vec<Expr>) -> Option<Expr> {
    let both =
        |left: Expr, right: Expr| Expr::BinaryOp { left: left.into(), op: BinaryOperator::And, right: right.into() };
    conditions.into_iter().map(|condition| Expr::Nested(condition.into())).reduce(both)
}

/// Visits the tables of a `from` outside of brackets.
fn tables(select: &mut Select, mut visit: impl FnMut(&mut TableFactor)) {
    for table in &mut select.from {
        visit(&mut table.relation);
        table.joins.iter_mut().for_each(|join| visit(&mut join.relation));
    }
}

/// `from range(5)` is `from unnest(range(5))`.
fn series(table: &mut TableFactor) {
    let (name, args, alias) = match table {
        TableFactor::Table { name, args: Some(args), alias, .. } => (&*name, &args.args, &*alias),
        TableFactor::Function { name, args, alias, .. } => (&*name, &*args, &*alias),
        _ => return,
    };
    let known = ["generate_series", "range"].into_iter().find(|known| name.to_string().eq_ignore_ascii_case(known));
    let given = args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    });
    let (Some(known), Some(given)) = (known, given.collect::<Option<Vec<_>>>()) else { return };
    let named = || TableAlias { explicit: true, name: Ident::new(known), columns: Vec::new(), at: None };
    *table = TableFactor::UNNEST {
        alias: Some(alias.clone().unwrap_or_else(named)),
        array_exprs: vec![call(known, given)],
        with_offset: false,
        with_offset_alias: None,
        with_ordinality: false,
    };
}

/// `tablesample bernoulli (10)` is a condition that a tenth of the rows fulfil.
fn sample(select: &mut Select) -> Result<(), Error> {
    let mut taken = None;
    tables(select, |table| {
        if let TableFactor::Table { sample, .. } | TableFactor::Derived { sample, .. } = table {
            taken = taken.take().or(sample.take());
        }
    });
    let Some(TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) = taken else {
        return Ok(());
    };
    if select.from.len() > 1 || select.from.iter().any(|table| !table.joins.is_empty()) {
        return Err(Error::sql("a sample of one of several tables: take it in a subquery"));
    }
    let TableSample { quantity: Some(quantity), seed: None, bucket: None, offset: None, .. } = *sample else {
        return Err(Error::sql("a sample is a share of the rows, such as `tablesample bernoulli (10)`"));
    };
    if quantity.unit == Some(TableSampleUnit::Rows) {
        return Err(Error::sql("a sample of a number of rows is written `order by random() limit …`"));
    }
    let percent = number(100);
    let random =
        Expr::BinaryOp { left: call("random", Vec::new()).into(), op: BinaryOperator::Multiply, right: percent.into() };
    let is_in = Expr::BinaryOp { left: random.into(), op: BinaryOperator::Lt, right: quantity.value.into() };
    select.selection = Some(match select.selection.take() {
        None => is_in,
        Some(condition) => {
            Expr::BinaryOp { left: Expr::Nested(condition.into()).into(), op: BinaryOperator::And, right: is_in.into() }
        }
    });
    Ok(())
}

/// Replaces the names of the windows of a `select` by the windows.
pub(super) fn named_windows(select: &mut Select) {
    let windows = std::mem::take(&mut select.named_window);
    put_windows(select, &windows);
}

fn put_windows<T: VisitMut>(part: &mut T, windows: &[NamedWindowDefinition]) {
    let _ = visit::exprs_mut(part, |expr| {
        if let Expr::Function(function) = expr {
            put_window(function, windows);
        }
        ControlFlow::<()>::Continue(())
    });
}

fn put_window(function: &mut Function, windows: &[NamedWindowDefinition]) {
    let Some(over) = &mut function.over else { return };
    let (name, own) = match over {
        WindowType::NamedWindow(name) => (name.clone(), None),
        WindowType::WindowSpec(spec @ WindowSpec { window_name: Some(_), .. }) => {
            let Some(name) = spec.window_name.take() else { return };
            (name, Some(spec.clone()))
        }
        WindowType::WindowSpec(_) => return,
    };
    let Some(window) = window_of(&name, windows) else { return };
    *over = WindowType::WindowSpec(match own {
        Some(own) => within(window, own),
        None => window,
    });
}

/// A window that goes on from another one.
fn within(base: WindowSpec, own: WindowSpec) -> WindowSpec {
    WindowSpec {
        window_name: None,
        partition_by: [base.partition_by, own.partition_by].concat(),
        order_by: [base.order_by, own.order_by].concat(),
        window_frame: own.window_frame.or(base.window_frame),
    }
}

/// The window with this name. A window may be defined by the name of an earlier one.
fn window_of(name: &Ident, windows: &[NamedWindowDefinition]) -> Option<WindowSpec> {
    let at = windows.iter().position(|window| window.0.value == name.value)?;
    match &windows[at].1 {
        NamedWindowExpr::WindowSpec(spec) => match &spec.window_name {
            Some(base) => window_of(base, &windows[..at]).map(|base| within(base, spec.clone())),
            None => Some(spec.clone()),
        },
        NamedWindowExpr::NamedWindow(other) => window_of(other, &windows[..at]),
    }
}

/// Refuses names of windows that do not exist.
fn check_windows(select: &Select) -> Result<(), Error> {
    let windows = &select.named_window;
    let unknown = |name: &Ident| match window_of(name, windows) {
        Some(_) => ControlFlow::Continue(()),
        None => ControlFlow::Break(name.value.clone()),
    };
    for window in windows {
        if let NamedWindowExpr::NamedWindow(base)
        | NamedWindowExpr::WindowSpec(WindowSpec { window_name: Some(base), .. }) = &window.1
            && windows.iter().take_while(|other| other.0 != window.0).all(|other| other.0.value != base.value)
        {
            return Err(Error::sql(format!("no window before `{}` is called `{base}`", window.0)));
        }
    }
    let flow = visit::exprs(select, |expr| match expr {
        Expr::Function(Function { over: Some(WindowType::NamedWindow(name)), .. }) => unknown(name),
        Expr::Function(Function { over: Some(WindowType::WindowSpec(spec)), .. }) => {
            spec.window_name.as_ref().map_or(ControlFlow::Continue(()), unknown)
        }
        _ => ControlFlow::Continue(()),
    });
    match flow {
        ControlFlow::Break(name) => Err(Error::sql(format!("no window is called `{name}`"))),
        ControlFlow::Continue(()) => Ok(()),
    }
}
