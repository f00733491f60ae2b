//! What a name means: the field of a record, or a column of a subquery.

use super::uses::{Origin, Rep};
use crate::sql::base::chain::Part;
use crate::sql::base::forms::{Form, Plain};
use crate::sql::base::functions::JSON_AT;
use crate::sql::base::syntax::{call, number, qualified, quoted, string};
use sqlparser::ast::Expr;

/// A column of a subquery.
#[derive(Clone, Debug)]
pub(crate) struct Derived {
    pub(crate) name: String,
    pub(crate) kind: DerivedKind,
    /// The kind of its values, if it is computed and its expression says so.
    pub(crate) plain: Option<Plain>,
}

impl Derived {
    /// The name of the one column that `*` stands for in a subquery if there are no records: it is taken for any column,
    /// because any records may be added later.
    pub(crate) const NOTHING: &str = "nothing:";

    /// A computed column.
    pub(crate) fn computed(name: impl Into<String>, form: Form, plain: Option<Plain>) -> Self {
        let plain = plain.filter(|_| form == Form::Typed);
        Self { name: name.into(), kind: DerivedKind::Computed(form), plain }
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.name == Self::NOTHING
    }
}

/// What a subquery returns under a name.
#[derive(Clone, Debug)]
pub(crate) enum DerivedKind {
    /// A field, in every representation that the outer query uses.
    Plain(Vec<Origin>),
    /// A field, in this representation only.
    Fixed(Vec<Origin>, Rep),
    /// A whole record.
    Record,
    /// A value that DataFusion computes.
    Computed(Form),
}

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(crate) enum Resolved {
    /// A field of a record.
    Field(FieldRef),
    /// A computed column of a subquery.
    Computed(ComputedRef),
}

/// A computed column of a subquery, or a part of it.
#[derive(Clone, Debug)]
pub(crate) struct ComputedRef {
    pub(crate) relation: String,
    /// Whether the table belongs to the innermost `select`.
    pub(crate) local: bool,
    pub(crate) name: String,
    /// The keys and indices that lead from the column's value to the part.
    pub(crate) steps: Vec<Part>,
    pub(crate) form: Form,
    pub(crate) plain: Option<Plain>,
}

impl ComputedRef {
    /// The column, or the part of it that the name leads to.
    pub(crate) fn expr(&self) -> Expr {
        let column = match self.relation.as_str() {
            "" => Expr::Identifier(quoted(&self.name)),
            relation => qualified(relation, &self.name),
        };
        if self.steps.is_empty() {
            return column;
        }
        let step = |part: &Part| match part {
            Part::Name(key) => string(key),
            Part::Index(index) => number(*index),
        };
        call(JSON_AT, std::iter::once(column).chain(self.steps.iter().map(step)).collect())
    }
}

/// A field of a record, as a table provides it.
#[derive(Clone, Debug)]
pub(crate) struct FieldRef {
    pub(crate) relation: String,
    /// Whether the table belongs to the innermost `select`.
    pub(crate) local: bool,
    /// The pointer in a source, or the name in a subquery.
    pub(crate) key: String,
    pub(crate) fixed: Option<Rep>,
    pub(crate) origins: Vec<Origin>,
    /// The source, if the table is one.
    pub(crate) source: Option<usize>,
    pub(crate) written: String,
}

impl FieldRef {
    /// Whether both are the same column of the same table.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.relation == other.relation && self.key == other.key
    }

    /// The representation of the field as JSON text.
    pub(crate) fn json_rep(&self) -> Rep {
        self.fixed.unwrap_or(Rep::Json)
    }
}
