//! Says what a name means at the current place of a query, and notes what is read of the tables.
//!
//! In goes a name; out comes a column in the representation that is asked for. Noted on the way: the columns and types
//! that each table must give, names for the note about fields that no record has, and whether a subquery depends on the
//! rows around it.

use super::columns::{ComputedRef, FieldRef, Resolved};
use super::scope::{Columns, Scope, Tells, resolve};
use super::uses::{KindOfValues, Leaf, Narrowed, Need, NeedKind, Rep, SourceUse};
use crate::base::error::Error;
use crate::base::named::Named;
use crate::sql::base::chain::chain;
use crate::sql::base::forms::{Form, canonical, to_json};
use crate::sql::base::functions::ONLY_NUMBERS;
use crate::sql::base::syntax::{call, number, qualified};
use jird::Path;
use jird_formats::ColumnType;
use sqlparser::ast::Expr;
use std::sync::Arc;

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

/// What is known of the fields of the tables before the query is rewritten. At first it is what a schema says. Types
/// that are inferred later may add to it, and then the query is rewritten again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldKnowledge {
    /// The types of fields, by table. Those whose values have no common type are [`ColumnType::Json`].
    pub(crate) types: Vec<(String, Path, ColumnType)>,
    /// Fields whose numbers are the shortest decimals of their doubles, so that the doubles say all of them.
    pub(crate) decimals: Vec<(String, Path)>,
}

/// Whether a function of this name is an aggregate.
pub(crate) type Aggregates<'a> = dyn Fn(&str) -> bool + 'a;

/// What the records of tables tell of names.
pub(crate) trait Records {
    /// All top-level keys of a table's records, in the order of their first appearance.
    fn keys(&mut self, table: &str) -> Result<Vec<String>, Error>;

    /// The different values of a field, in their order, as JSON texts without nulls.
    fn values(&mut self, table: &str, path: &Path) -> Result<Vec<String>, Error> {
        let _ = table;
        Err(Error::sql(format!("the values of {path:#} are not known here: name them, `in ('a', 'b')`")))
    }

    /// Whether any record of a table has this top-level key.
    fn has(&mut self, table: &str, key: &str) -> Result<bool, Error> {
        Ok(self.keys(table)?.iter().any(|known| known == key))
    }
}

/// What is in sight at a place of a query, what is known of its tables, and what was noted on the way.
pub(crate) struct Resolver<'k> {
    /// The innermost `select` is the last one.
    pub(crate) scopes: Vec<Scope>,
    pub(crate) sources: Vec<SourceUse>,
    pub(crate) leaves: Vec<Arc<Leaf>>,
    /// For each leaf: the condition as written, and the columns it is called with.
    pub(crate) conditions: Vec<(Expr, Vec<Expr>)>,
    /// The expressions of whose values only some are used.
    pub(crate) narrowed: Vec<Narrowed>,
    /// Whether a name meant a column of an outer query.
    pub(crate) reaches_out: bool,
    /// Whether a function of this name is an aggregate.
    pub(crate) aggregates: &'k dyn Fn(&str) -> bool,
    pub(crate) records: &'k mut dyn Records,
    pub(crate) known: &'k FieldKnowledge,
    /// What may be read, if not everything may.
    pub(crate) named: Option<&'k [Named]>,
}

/// The sources of a query, whose records can be asked.
struct SourceKeys<'a> {
    sources: &'a [SourceUse],
    records: &'a mut dyn Records,
}

impl Tells for SourceKeys<'_> {
    fn has(&mut self, source: usize, key: &str) -> Result<bool, Error> {
        self.records.has(&self.sources[source].table, key)
    }

    fn is_empty(&mut self, source: usize) -> Result<bool, Error> {
        Ok(self.records.keys(&self.sources[source].table)?.is_empty())
    }
}

impl<'k> Resolver<'k> {
    /// A resolver that has not seen any query yet.
    pub(crate) fn new(
        aggregates: &'k dyn Fn(&str) -> bool,
        records: &'k mut dyn Records,
        known: &'k FieldKnowledge,
        named: Option<&'k [Named]>,
    ) -> Self {
        Self {
            scopes: Vec::new(),
            sources: Vec::new(),
            leaves: Vec::new(),
            conditions: Vec::new(),
            narrowed: Vec::new(),
            reaches_out: false,
            aggregates,
            records,
            known,
            named,
        }
    }
}

impl Resolver<'_> {
    /// The records of a table, at one more place.
    pub(crate) fn records(&mut self, table: &str) -> Columns {
        let source = self.source(table);
        self.sources[source].places += 1;
        Columns::Any(source)
    }

    /// The number of the source for a table.
    pub(crate) fn source(&mut self, table: &str) -> usize {
        if let Some(known) = self.sources.iter().position(|source| source.table == table) {
            return known;
        }
        self.sources.push(SourceUse {
            table: table.to_owned(),
            columns: Vec::new(),
            needs: Vec::new(),
            named: Vec::new(),
            places: 0,
            required: Vec::new(),
        });
        self.sources.len() - 1
    }

    /// Resolves `expr` if it is a name. An unknown name is an error.
    pub(crate) fn resolve(&mut self, expr: &Expr) -> Result<Option<Resolved>, Error> {
        let Some(parts) = chain(expr) else { return Ok(None) };
        let written = expr.to_string();
        let Self { scopes, sources, records, .. } = self;
        let resolved = resolve(scopes, &parts, &written, &mut SourceKeys { sources, records: *records })?;
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

    /// The field that `expr` names, if it is the name of a field.
    pub(crate) fn field_at(&mut self, expr: &Expr) -> Result<Option<FieldRef>, Error> {
        Ok(match self.resolve(expr)? {
            Some(Resolved::Field(field)) => Some(field),
            _ => None,
        })
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

    /// A computed column of a subquery; or the group that it is, after `group by`.
    pub(crate) fn computed(&self, computed: &ComputedRef, context: Context) -> Expr {
        let column = computed.expr();
        let grouped = self.scopes.last().and_then(|scope| scope.grouped.as_ref()).filter(|_| !context.in_aggregate);
        let group = grouped.and_then(|grouped| grouped.group_of(&column)).map(|(rewritten, _)| rewritten.clone());
        group.unwrap_or(column)
    }

    /// Whether the current place is within the body of a lambda.
    pub(crate) fn is_in_lambda(&self) -> bool {
        self.scopes.last().is_some_and(|scope| !scope.variables.is_empty())
    }

    /// Whether the rows around the current place are groups of several sets.
    pub(crate) fn has_sets(&self) -> bool {
        let grouped = self.scopes.last().and_then(|scope| scope.grouped.as_ref());
        grouped.is_none_or(|grouped| !grouped.sets.is_empty())
    }

    /// The form in which a field can be had.
    pub(crate) fn form(&self, field: &FieldRef) -> Form {
        let is_json = match field.fixed {
            Some(rep) => !rep.is_inferred() || self.has_type(field, ColumnType::Json),
            None => self.has_type(field, ColumnType::Json),
        };
        if is_json { Form::Json } else { Form::Typed }
    }

    /// Whether one of the fields that `field` stands for has this type.
    pub(crate) fn has_type(&self, field: &FieldRef, wanted: ColumnType) -> bool {
        self.types(field).any(|kind| kind == wanted)
    }

    /// Whether doubles say all of the numbers of the fields that `field` stands for.
    pub(crate) fn has_decimals(&self, field: &FieldRef) -> bool {
        let is_known = |(source, path): &(usize, Path)| {
            let table = &self.sources[*source].table;
            self.known.decimals.iter().any(|(other, of)| other == table && of == path)
        };
        !field.origins.is_empty() && field.origins.iter().all(is_known)
    }

    /// The known types of the fields that `field` stands for.
    pub(crate) fn types(&self, field: &FieldRef) -> impl Iterator<Item = ColumnType> {
        field.origins.iter().filter_map(|(source, path)| {
            let table = &self.sources[*source].table;
            let known = self.known.types.iter().find(|(other, of, _)| other == table && of == path);
            known.map(|(.., kind)| *kind)
        })
    }

    /// The numbers of JSON text; what is left out is counted for the note on `written`.
    pub(crate) fn only_numbers(&mut self, json: Expr, written: &str) -> Expr {
        let index = self.narrowed(written, KindOfValues::Numbers);
        call(ONLY_NUMBERS, vec![json, index])
    }

    /// The number of a new call that uses only some values of an expression.
    pub(crate) fn narrowed(&mut self, written: &str, to: KindOfValues) -> Expr {
        self.narrowed.push(Narrowed { written: written.to_owned(), to });
        number(self.narrowed.len() - 1)
    }

    /// The numbers of JSON text as doubles.
    pub(crate) fn numbers(&mut self, json: Expr, written: &str) -> Expr {
        let index = self.narrowed(written, KindOfValues::Numbers);
        call("number", vec![call(ONLY_NUMBERS, vec![json, index, number(1)])])
    }
}
