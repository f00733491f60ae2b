//! Walks over the parts of a query.
//!
//! `sqlparser` derives the code of a walk for each type of visitor, and each time it is as large as all of this crate's
//! own code. So there are two types: one that reads and one that changes, whatever the visitor behind it is.

use sqlparser::ast::{Expr, ObjectName, Query, Select, Statement, TableFactor, ValueWithSpan};
use sqlparser::ast::{Visit, VisitMut, Visitor, VisitorMut};
use std::ops::ControlFlow;

/// Shows a visitor all parts, until it breaks.
pub(crate) fn read<V: Visitor>(part: &impl Visit, visitor: &mut V) -> ControlFlow<V::Break> {
    let mut outcome = Until { visitor, broken: None };
    let _ = part.visit(&mut Reader(&mut outcome));
    outcome.broken.map_or(ControlFlow::Continue(()), ControlFlow::Break)
}

/// Has a visitor change all parts, until it breaks.
pub(crate) fn change<V: VisitorMut>(part: &mut impl VisitMut, visitor: &mut V) -> ControlFlow<V::Break> {
    let mut outcome = UntilMut { visitor, broken: None };
    let _ = part.visit(&mut Changer(&mut outcome));
    outcome.broken.map_or(ControlFlow::Continue(()), ControlFlow::Break)
}

/// Calls `see` with each expression, the outer before the inner, also in subqueries.
pub(crate) fn exprs<B>(part: &impl Visit, see: impl FnMut(&Expr) -> ControlFlow<B>) -> ControlFlow<B> {
    read(part, &mut Exprs(see))
}

/// Calls `change` with each expression, the inner before the outer, also in subqueries.
pub(crate) fn exprs_mut<B>(
    part: &mut impl VisitMut,
    change: impl FnMut(&mut Expr) -> ControlFlow<B>,
) -> ControlFlow<B> {
    self::change(part, &mut Exprs(change))
}

/// Whether there is such an expression, also in subqueries.
pub(crate) fn any_expr(part: &impl Visit, is_wanted: impl Fn(&Expr) -> bool) -> bool {
    exprs(part, |expr| if is_wanted(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }).is_break()
}

/// Calls `see` with the name of each table, as often as it is there, also in subqueries.
pub(crate) fn relations<B>(part: &impl Visit, see: impl FnMut(&ObjectName) -> ControlFlow<B>) -> ControlFlow<B> {
    read(part, &mut Relations(see))
}

struct Exprs<F>(F);

impl<B, F: FnMut(&Expr) -> ControlFlow<B>> Visitor for Exprs<F> {
    type Break = B;

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<B> {
        (self.0)(expr)
    }
}

impl<B, F: FnMut(&mut Expr) -> ControlFlow<B>> VisitorMut for Exprs<F> {
    type Break = B;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<B> {
        (self.0)(expr)
    }
}

struct Relations<F>(F);

impl<B, F: FnMut(&ObjectName) -> ControlFlow<B>> Visitor for Relations<F> {
    type Break = B;

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<B> {
        (self.0)(name)
    }
}

/// A visitor, and what it broke with.
struct Until<'v, V: Visitor> {
    visitor: &'v mut V,
    broken: Option<V::Break>,
}

/// A visitor that changes, and what it broke with.
struct UntilMut<'v, V: VisitorMut> {
    visitor: &'v mut V,
    broken: Option<V::Break>,
}

/// The one type of visitor that walks are compiled for.
struct Reader<'v>(&'v mut dyn Visitor<Break = ()>);

/// The one type of visitor that walks with changes are compiled for.
struct Changer<'v>(&'v mut dyn VisitorMut<Break = ()>);

/// Keeps what a visitor breaks with.
fn keep<B>(flow: ControlFlow<B>, broken: &mut Option<B>) -> ControlFlow<()> {
    flow.map_break(|found| *broken = Some(found))
}

/// All hooks of a visitor, passed on.
macro_rules! pass_on {
    ($($hook:ident: $part:ty),* $(,)?) => {
        impl<V: Visitor> Visitor for Until<'_, V> {
            type Break = ();
            $(fn $hook(&mut self, part: &$part) -> ControlFlow<()> {
                keep(self.visitor.$hook(part), &mut self.broken)
            })*
        }

        impl<V: VisitorMut> VisitorMut for UntilMut<'_, V> {
            type Break = ();
            $(fn $hook(&mut self, part: &mut $part) -> ControlFlow<()> {
                keep(self.visitor.$hook(part), &mut self.broken)
            })*
        }

        impl Visitor for Reader<'_> {
            type Break = ();
            $(fn $hook(&mut self, part: &$part) -> ControlFlow<()> {
                self.0.$hook(part)
            })*
        }

        impl VisitorMut for Changer<'_> {
            type Break = ();
            $(fn $hook(&mut self, part: &mut $part) -> ControlFlow<()> {
                self.0.$hook(part)
            })*
        }
    };
}

pass_on! {
    pre_visit_query: Query,
    post_visit_query: Query,
    pre_visit_select: Select,
    post_visit_select: Select,
    pre_visit_relation: ObjectName,
    post_visit_relation: ObjectName,
    pre_visit_table_factor: TableFactor,
    post_visit_table_factor: TableFactor,
    pre_visit_expr: Expr,
    post_visit_expr: Expr,
    pre_visit_statement: Statement,
    post_visit_statement: Statement,
    pre_visit_value: ValueWithSpan,
    post_visit_value: ValueWithSpan,
}
