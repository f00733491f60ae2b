//! Spellings of `PostgreSQL`, `DuckDB` and SQLite, rewritten to the forms that the rest of the rewrite understands.
//!
//! This pass looks at the text of the query alone: it does not know tables or types.

mod clauses;
mod constants;
mod functions;
mod operators;
mod rows;

pub(crate) use clauses::conjuncts;

use crate::base::error::Error;
use crate::sql::base::literal::text;
use crate::sql::base::names::column_name;
use crate::sql::base::syntax::aliased;
use crate::sql::base::visit;
use sqlparser::ast::{BinaryOperator, Expr, Query, Select, SelectItem, VisitMut, VisitorMut};
use std::ops::ControlFlow;

/// Rewrites a query to plain forms.
pub(crate) fn plain(query: &mut impl VisitMut) -> Result<(), Error> {
    match visit::change(query, &mut Speller::default()) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Visits all parts of a query.
#[derive(Default)]
struct Speller {
    /// The names of the columns of each `select` around the current place, as the user wrote them.
    names: Vec<Vec<Option<String>>>,
}

impl VisitorMut for Speller {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        done(clauses::query(query))
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        self.names.push(select.projection.iter().map(written_name).collect());
        done(clauses::select(select))
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        clauses::named_windows(select);
        let names = self.names.pop().unwrap_or_default();
        for (item, name) in select.projection.iter_mut().zip(names) {
            if let (SelectItem::UnnamedExpr(expr), Some(name)) = (&*item, name)
                && column_name(expr) != name
            {
                *item = aliased(expr.clone(), &name);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        functions::lambda(expr);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        done([constants::expr, functions::expr, operators::expr, rows::expr].iter().try_for_each(|spell| spell(expr)))
    }
}

fn done(result: Result<(), Error>) -> ControlFlow<Error> {
    result.map_or_else(ControlFlow::Break, ControlFlow::Continue)
}

/// The name of a column without an alias. `a -> 'b'` is called `b`, as `a.b` is.
fn written_name(item: &SelectItem) -> Option<String> {
    let SelectItem::UnnamedExpr(expr) = item else { return None };
    match expr {
        Expr::BinaryOp { op: BinaryOperator::Arrow | BinaryOperator::LongArrow, right, .. } => {
            Some(text(right).map_or_else(|| column_name(expr), Into::into))
        }
        _ => Some(column_name(expr)),
    }
}

#[cfg(test)]
mod tests {
    use crate::sql::parse;

    #[test]
    fn spellings_mean_plain_forms() {
        for (written, meant) in [
            ("from stream", "SELECT * FROM stream"),
            ("from stream where a > 1", "SELECT * FROM stream WHERE a > 1"),
            ("select a as x from s fetch first 2 rows only", "SELECT a AS x FROM s LIMIT 2"),
            (
                "select sum(a) over w as x, sum(b) over (w rows 1 preceding) as y from s window w as (partition by c order by d)",
                "SELECT sum(a) OVER (PARTITION BY c ORDER BY d) AS x, sum(b) OVER (PARTITION BY c ORDER BY d ROWS 1 PRECEDING) AS y FROM s",
            ),
            (
                "select distinct on (b) b as k, a as v from s order by k, v desc",
                "SELECT b AS k, a AS v FROM s QUALIFY row_number() OVER (PARTITION BY b ORDER BY b, a DESC) = 1 ORDER BY k, v DESC",
            ),
            (
                "select row_number() over (order by a) as r from s qualify r = 1",
                "SELECT row_number() OVER (ORDER BY a) AS r FROM s QUALIFY row_number() OVER (ORDER BY a) = 1",
            ),
            ("select a as x from s tablesample bernoulli (10)", "SELECT a AS x FROM s WHERE random() * 100 < 10"),
            (
                "select if(a > 1, b, c) as x from s",
                "SELECT CASE WHEN truth_or_number((a > 1)) THEN b ELSE c END AS x FROM s",
            ),
            ("select mod(a + 1, 2) from s", "SELECT (a + 1) % 2 AS \"mod(a + 1, 2)\" FROM s"),
            ("select a ^ 2 as x from s", "SELECT power(a, 2) AS x FROM s"),
            ("select a -> 'b' ->> 'c' from s", "SELECT text(a['b']['c']) AS \"c\" FROM s"),
            ("select a ->> -1 as x from s", "SELECT text(a[-1]) AS x FROM s"),
            ("select json_extract(a, '$.b[0].\"c d\"') as x from s", "SELECT a['b'][0]['c d'] AS x FROM s"),
            (
                "select quantile_cont(a, 0.5) filter (where b) as x from s",
                "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FILTER (WHERE b) AS x FROM s",
            ),
            (
                "select count_if(a > 1) filter (where b) as x from s",
                "SELECT count(*) FILTER (WHERE (a > 1) AND b) AS x FROM s",
            ),
            (
                "select group_concat(distinct a order by b) as x from s",
                "SELECT string_agg(DISTINCT a, ',' ORDER BY b) AS x FROM s",
            ),
            ("select list(distinct a order by a) as x from s", "SELECT array_agg(DISTINCT a ORDER BY a) AS x FROM s"),
            ("select a as x from s where a = any(array[1, 2])", "SELECT a AS x FROM s WHERE a IN (1, 2)"),
            ("select a as x from s where a <> all(array[1, 2])", "SELECT a AS x FROM s WHERE a NOT IN (1, 2)"),
            ("select a as x from s where 2 = any(l)", "SELECT a AS x FROM s WHERE json_any(l, 2, '=')"),
            (
                "select a as x from s where a = any(select b from t)",
                "SELECT a AS x FROM s WHERE a IN (SELECT b FROM t)",
            ),
            ("select a similar to 'x%|y_' as x from s", "SELECT regexp_like(a, '^(?s:x.*|y.)$') AS x FROM s"),
            ("select a as x from s where (a, b) <> (1, c)", "SELECT a AS x FROM s WHERE NOT (a = 1 AND b = c)"),
            (
                "select a as x from s where (a, b) in ((1, 2), (3, 4))",
                "SELECT a AS x FROM s WHERE ((a = 1 AND b = 2) OR (a = 3 AND b = 4))",
            ),
            ("select year(a) as x from s", "SELECT date_part('year', a) AS x FROM s"),
            (
                "select strftime('%Y', a) as x, strftime(a, '%Y') as y from s",
                "SELECT to_char(a, '%Y') AS x, to_char(a, '%Y') AS y FROM s",
            ),
        ] {
            assert_eq!(parse(written).unwrap().query.to_string(), meant, "{written}");
        }
    }

    #[test]
    fn what_has_no_plain_form_is_refused() {
        for (sql, reason) in [
            ("select a from s fetch first 2 rows with ties", "with ties"),
            ("select a from s tablesample (5 rows)", "order by random() limit"),
            ("select a from s tablesample bernoulli (5), t", "in a subquery"),
            ("select if(a) from s", "`if` takes 3 values"),
            ("select any_value(distinct a) from s", "no `distinct`"),
            ("select a similar to b from s", "constant"),
            ("select a from s where (a, b) = (1, 2, 3)", "2 values are compared with 3"),
            ("select a from s where (a, b) in (1, 2)", "`1` is one value"),
            ("select sum(a) over w from s", "no window is called `w`"),
        ] {
            let error = parse(sql).unwrap_err().to_string();
            assert!(error.contains(reason), "{sql}: {error}");
        }
    }
}
