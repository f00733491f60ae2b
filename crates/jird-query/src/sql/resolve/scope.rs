//! Resolves names at a place of the query.
//!
//! In go the scopes around a place, the innermost last, and the parts of a name; out comes the field or column that it
//! means. Where records of several tables may have a field, the records decide.

use super::columns::{ComputedRef, Derived, DerivedKind, FieldRef, Resolved};
use super::grouped::Grouped;
use crate::base::error::Error;
use crate::sql::base::chain::{Part, path};
use crate::sql::base::forms::Form;
use crate::sql::base::syntax::{call, qualified};
use sqlparser::ast::Expr;
use std::rc::Rc;

/// The tables that a `select` sees. Scopes nest: a subquery also sees the tables of the queries around it.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) relations: Vec<Relation>,
    /// The parameters of the lambdas around the current place, which go before all columns.
    pub(crate) variables: Vec<Variable>,
    /// The columns that `using` makes of those of several tables.
    pub(crate) using: Vec<Merged>,
    /// Set while the part after `group by` is rewritten.
    pub(crate) grouped: Option<Grouped>,
}

/// A parameter of a lambda.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// As the query has it.
    pub(crate) written: String,
    /// As the rewritten query has it: `DataFusion` would take a column of the same name for it.
    pub(crate) name: String,
    pub(crate) form: Form,
}

/// A column that `using` makes of those of several tables.
#[derive(Clone, Debug)]
pub(crate) struct Merged {
    pub(crate) name: String,
    /// The tables that have it. In `*` it stands where the first one does.
    pub(crate) tables: Vec<String>,
    /// Those that have its value: the first one that does.
    pub(crate) sides: Vec<String>,
}

impl Merged {
    /// The column as an expression.
    pub(crate) fn expr(&self) -> Expr {
        let mut sides: Vec<_> = self.sides.iter().map(|side| qualified(side, &self.name)).collect();
        if sides.len() == 1 { sides.remove(0) } else { call("coalesce", sides) }
    }
}

/// A table of a `from`, with its name there.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    pub(crate) alias: String,
    pub(crate) columns: Columns,
    /// If this is an `unnest`: the table that has its column too, under [another name](Self::held).
    pub(crate) holder: Option<String>,
}

/// The columns of a table.
#[derive(Clone, Debug)]
pub(crate) enum Columns {
    /// Any field: the table is this source's records.
    Any(usize),
    /// These columns: the table is a subquery or a common table expression.
    These(Rc<Vec<Derived>>),
}

/// What the records of the sources tell.
pub(crate) trait Tells {
    /// Whether any record of the source with this number has a top-level key.
    fn has(&mut self, source: usize, key: &str) -> Result<bool, Error>;

    /// Whether it has no records.
    fn is_empty(&mut self, source: usize) -> Result<bool, Error>;
}

/// Resolves `parts`, from the innermost scope outwards. `None` if nothing has such a name.
///
/// Records may have any field. Where several tables may have one, or a table and one of an outer query, those have it
/// whose records do; the records are asked only there.
pub(crate) fn resolve(
    scopes: &[Scope],
    parts: &[Part],
    written: &str,
    told: &mut dyn Tells,
) -> Result<Option<Resolved>, Error> {
    for (depth, scope) in scopes.iter().rev().enumerate() {
        let Some((Part::Name(name), steps)) = parts.split_first() else { break };
        if let Some(variable) = scope.variables.iter().rev().find(|variable| variable.written == *name) {
            let Variable { name, form, .. } = variable.clone();
            let (relation, local, steps) = (String::new(), depth == 0, steps.to_vec());
            return Ok(Some(Resolved::Computed(ComputedRef { relation, local, name, steps, form, plain: None })));
        }
    }
    // A table name, even that of an outer table, takes precedence over a key with that name.
    for (depth, scope) in scopes.iter().rev().enumerate() {
        if let Some((relation, rest)) = scope.qualified(parts) {
            return relation.column(rest, written, depth == 0).map(Some);
        }
    }
    let mut guess = None;
    for (depth, scope) in scopes.iter().rev().enumerate() {
        let mut candidates = scope.candidates(parts);
        if candidates.len() > 1
            && let [Part::Name(name)] = parts
            && let Some(Merged { sides, .. }) = scope.using.iter().find(|merged| merged.name == *name)
        {
            candidates.retain(|relation| sides.contains(&relation.alias));
        }
        // Elements of arrays have the name that they were given.
        if candidates.iter().any(|relation| relation.holder.is_some()) {
            candidates.retain(|relation| matches!(relation.columns, Columns::These(_)));
        }
        let goes_on = scopes.iter().rev().skip(depth + 1).any(|outer| !outer.candidates(parts).is_empty());
        if candidates.len() > 1 || guess.is_some() || goes_on {
            let before = candidates.clone();
            let mut known = Vec::new();
            for relation in candidates {
                if relation.has(parts, told)? {
                    known.push(relation);
                }
            }
            candidates = known;
            if candidates.is_empty() {
                guess = guess.or_else(|| (!before.is_empty()).then_some((depth, before)));
            }
        }
        if !candidates.is_empty() {
            return one_of(&candidates, parts, written, depth).map(Some);
        }
    }
    // No record has it, so it is a field that is missing in all of them; or that of the only table without records.
    let Some((depth, candidates)) = guess else { return Ok(None) };
    let mut empty = Vec::new();
    for relation in &candidates {
        if let Columns::Any(source) = relation.columns
            && told.is_empty(source)?
        {
            empty.push(*relation);
        }
    }
    let candidates = if empty.len() == 1 { empty } else { candidates };
    one_of(&candidates, parts, written, depth).map(Some)
}

/// The column of the only table that has it.
fn one_of(candidates: &[&Relation], parts: &[Part], written: &str, depth: usize) -> Result<Resolved, Error> {
    match candidates {
        [relation] => relation.column(parts, written, depth == 0),
        [first, second, ..] => Err(Error::sql(format!(
            "`{written}` may be {0}'s or {1}'s: write {0}.{written} or {1}.{written}",
            first.alias, second.alias
        ))),
        [] => Err(Error::sql(format!("no column `{written}` here"))),
    }
}

impl Scope {
    /// The table that the first part names, if other parts follow.
    fn qualified<'s, 'p>(&'s self, parts: &'p [Part]) -> Option<(&'s Relation, &'p [Part])> {
        let (Part::Name(first), rest) = parts.split_first()? else { return None };
        if rest.is_empty() {
            return None;
        }
        self.relations.iter().find(|relation| relation.alias == *first).map(|relation| (relation, rest))
    }

    /// The tables that have such a column. If there is none, those that may have had it.
    fn candidates(&self, parts: &[Part]) -> Vec<&Relation> {
        let with = |named: &dyn Fn(&Derived) -> bool| {
            let has = |relation: &&Relation| match &relation.columns {
                Columns::Any(_) => true,
                Columns::These(columns) => columns.iter().any(named),
            };
            self.relations.iter().filter(has).collect::<Vec<_>>()
        };
        let found = with(&|column| parts.first() == Some(&Part::Name(column.name.clone())));
        if found.is_empty() { with(&Derived::is_nothing) } else { found }
    }
}

impl Relation {
    /// Whether a candidate has the column, or its records the field.
    fn has(&self, parts: &[Part], told: &mut dyn Tells) -> Result<bool, Error> {
        match (&self.columns, parts.first()) {
            (Columns::Any(source), Some(Part::Name(name))) => told.has(*source, name),
            _ => Ok(true),
        }
    }

    /// The name of the column of an `unnest` in the table that has the array.
    pub(crate) fn held(alias: &str, column: &str) -> String {
        format!("{alias}:{column}")
    }

    fn column(&self, parts: &[Part], written: &str, local: bool) -> Result<Resolved, Error> {
        let field = |key: String, fixed, origins, source| {
            Resolved::Field(FieldRef {
                relation: self.alias.clone(),
                local,
                key,
                fixed,
                origins,
                source,
                written: written.to_owned(),
            })
        };
        match &self.columns {
            Columns::Any(source) => {
                let path = path(parts);
                Ok(field(path.to_string(), None, vec![(*source, path)], Some(*source)))
            }
            Columns::These(columns) => {
                let named = |column: &&Derived| parts.first() == Some(&Part::Name(column.name.clone()));
                let of_element = columns.first().filter(|_| self.holder.is_some());
                let found = columns.iter().find(named);
                let of_nothing = columns.iter().find(|column| column.is_nothing());
                let steps = match found {
                    Some(_) => parts.get(1..).unwrap_or_default(),
                    None if of_nothing.is_some() => &[],
                    None => parts,
                };
                let Some(column) = found.or(of_element).or(of_nothing) else {
                    let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
                    return Err(Error::sql(format!("no column `{written}`: {} has {}", self.alias, names.join(", "))));
                };
                let is_json = matches!(column.kind, DerivedKind::Computed(Form::Json));
                if !steps.is_empty() && !is_json {
                    return Err(Error::sql(format!(
                        "`{written}` looks into a column of the subquery {}: select that field there, under a name",
                        self.alias
                    )));
                }
                Ok(match &column.kind {
                    DerivedKind::Plain(origins) => field(column.name.clone(), None, origins.clone(), None),
                    DerivedKind::Fixed(origins, rep) => field(column.name.clone(), Some(*rep), origins.clone(), None),
                    DerivedKind::Computed(_) | DerivedKind::Record => {
                        let form = if let DerivedKind::Computed(form) = column.kind { form } else { Form::Json };
                        let (relation, name) = match &self.holder {
                            Some(holder) => (holder.clone(), Self::held(&self.alias, &column.name)),
                            None => (self.alias.clone(), column.name.clone()),
                        };
                        let (steps, plain) = (steps.to_vec(), column.plain);
                        Resolved::Computed(ComputedRef { relation, local, name, steps, form, plain })
                    }
                })
            }
        }
    }
}
