//! Conditions on fields that the engine decides exactly: comparisons with constants and between fields, combined with
//! `and`, `or` and `not`. They become one call of a function of ours over raw JSON text, which the scan can evaluate.

use super::columns::FieldRef;
use super::required;
use super::resolver::{Context, FieldKnowledge, Records, Resolver};
use super::scope::{Columns, Relation, Scope};
use super::uses::{Leaf, Rep};
use crate::base::error::Error;
use crate::sql::base::functions::STREAM;
use crate::sql::base::literal::{literal, text};
use crate::sql::base::syntax::{arguments, call, is_call};
use crate::sql::text::parse::expression;
use jird::hooks::event::Condition;
use jird::{
    Path,
    record::{Comparison, JsonTest, Like, Matcher, Predicate},
};
use jird_store::time::{self, Time};
use jird_store::{Search, TimeHint};
use regex::RegexBuilder;
use sqlparser::ast::{BinaryOperator, DataType, Expr, Function, UnaryOperator, Value, ValueWithSpan};
use std::sync::Arc;

/// The most bytes of a compiled pattern in an untrusted query: matching takes as long as it is large.
const SERVED_PATTERN_BYTES: usize = 1 << 20;

/// The fields of a predicate; slot `i` is field `i`.
#[derive(Default)]
struct Slots(Vec<FieldRef>);

impl Slots {
    fn slot(&mut self, field: FieldRef) -> usize {
        if let Some(slot) = self.0.iter().position(|other| other.is(&field)) {
            slot
        } else {
            self.0.push(field);
            self.0.len() - 1
        }
    }

    /// The paths of the fields in the records of a source.
    fn paths(self) -> Vec<Path> {
        self.0.into_iter().filter_map(|field| field.origins.into_iter().next()).map(|(_, path)| path).collect()
    }

    fn one_relation(&self) -> bool {
        self.0.windows(2).all(|pair| pair[0].relation == pair[1].relation)
    }
}

/// Reads a condition by itself, such as `Elapsed > 200 and Level in ('Error', 'Warning')`. It may contain everything in
/// a `where` that the engine decides alone: comparisons of fields with constants or with each other, `in`, `between`,
/// `like`, `match()`, `search()`, `is null`, and combinations of these with `and`, `or` and `not`.
///
/// ```
/// let condition = jird_query::condition("user.name like 'A%' and not deleted")?;
/// assert_eq!(condition.paths()[0].to_string(), "/user/name");
/// assert!(jird_query::condition("lower(name) = 'a'").is_err());
/// # Ok::<(), jird_query::Error>(())
/// ```
///
/// # Errors
/// Of kind [`Sql`](crate::ErrorKind::Sql) if the text is not a condition, or if it is one that only a query can decide.
pub fn condition(sql: &str) -> Result<Condition, Error> {
    let expr = expression(sql)?;
    let no_aggregates = |_: &str| false;
    let nothing_known = FieldKnowledge::default();
    let mut unread = Unread;
    let mut resolver = Resolver::new(&no_aggregates, &mut unread, &nothing_known, None);
    let columns = Columns::Any(resolver.source(STREAM));
    resolver.scopes.push(Scope {
        relations: vec![Relation { alias: STREAM.to_owned(), columns, holder: None }],
        ..Scope::default()
    });
    let mut slots = Slots::default();
    match resolver.condition_part(&expr, &mut slots)? {
        Some(predicate) => Ok(Condition::new(predicate, slots.paths())),
        None => Err(Error::sql(format!(
            "`{sql}` is more than a comparison of fields with constants: filter it by a query (`jird query`)"
        ))),
    }
}

/// A table whose records are not there yet.
struct Unread;

impl Records for Unread {
    fn keys(&mut self, _: &str) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }
}

impl Resolver<'_> {
    /// The call that decides `expr`, if the engine can decide it. A field by itself counts as a condition only if
    /// `as_condition` is set.
    pub(crate) fn leaf(&mut self, expr: &Expr, as_condition: bool, context: Context) -> Result<Option<Expr>, Error> {
        let mut slots = Slots::default();
        let predicate = match self.field_at(expr)? {
            Some(field) if as_condition => Some(Predicate::Truth { slot: slots.slot(field) }),
            Some(_) => None,
            None => self.predicate(expr, &mut slots)?,
        };
        let Some(predicate) = predicate else { return Ok(None) };
        let mut columns = Vec::new();
        for field in &slots.0 {
            columns.push(self.field(field, Rep::Raw, context)?);
        }
        // The same condition is the same function, so that DataFusion computes it once.
        let known = self.conditions.iter().position(|(other, of)| other == expr && *of == columns);
        let name = if let Some(known) = known {
            self.leaves[known].name.clone()
        } else {
            let names = columns.iter().map(ToString::to_string).collect();
            let text = expr.to_string();
            let name = format!("predicate_{}", self.leaves.len());
            let source = slots.0.first().and_then(|field| field.source);
            let is_one = slots.0.iter().all(|field| field.source == source);
            let fields = source.filter(|_| is_one).map(|source| (source, slots.paths()));
            self.conditions.push((expr.clone(), columns.clone()));
            self.leaves.push(Arc::new(Leaf { name: name.clone(), text, predicate, columns: names, fields }));
            name
        };
        Ok(Some(call(&name, columns)))
    }

    fn predicate(&mut self, expr: &Expr, slots: &mut Slots) -> Result<Option<Predicate>, Error> {
        match expr {
            Expr::Nested(inner) => self.condition_part(inner, slots),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
                Ok(self.condition_part(expr, slots)?.map(|inner| Predicate::Not(inner.into())))
            }
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => self.both(left, right, slots, Predicate::And),
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => self.both(left, right, slots, Predicate::Or),
            Expr::BinaryOp { left, op, right } => match comparison(op) {
                Some(op) => self.comparison(left, op, right, slots),
                None => Ok(None),
            },
            Expr::IsNull(inner) => self.over(inner, slots, |slot| Predicate::IsNull { slot }),
            Expr::IsNotNull(inner) => self.over(inner, slots, |slot| not(Predicate::IsNull { slot })),
            Expr::InList { expr, list, negated } => {
                let Some(list) = list.iter().map(literal).collect::<Option<Vec<_>>>() else { return Ok(None) };
                self.over(expr, slots, |slot| negate(Predicate::In { slot, list }, *negated))
            }
            Expr::Between { expr, negated, low, high } => {
                if let Some(between) = self.time_between(expr, low, high, slots)? {
                    return Ok(Some(negate(between, *negated)));
                }
                let (Some(low), Some(high)) = (literal(low), literal(high)) else { return Ok(None) };
                self.over(expr, slots, |slot| {
                    let low = Predicate::Compare { slot, op: Comparison::Ge, literal: low };
                    let high = Predicate::Compare { slot, op: Comparison::Le, literal: high };
                    negate(Predicate::And(vec![low, high]), *negated)
                })
            }
            Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                let Some(pattern) = text(pattern) else { return Ok(None) };
                let pattern = Like::new(&like_pattern(&pattern, escape_char.as_ref())?);
                self.over(expr, slots, |slot| negate(Predicate::Like { slot, pattern }, *negated))
            }
            Expr::Function(function) if is_call(function, "search") => self.search_call(function, slots),
            Expr::Function(function) => self.match_call(function, slots),
            _ => Ok(None),
        }
    }

    /// A part of a condition. A field by itself is a condition here.
    fn condition_part(&mut self, expr: &Expr, slots: &mut Slots) -> Result<Option<Predicate>, Error> {
        match self.field_at(expr)? {
            Some(field) => Ok(Some(Predicate::Truth { slot: slots.slot(field) })),
            None => self.predicate(expr, slots),
        }
    }

    /// `and` or `or`, if the engine can decide both sides and both concern one table. The parts of a join's condition
    /// stay apart, so that each can go to its table.
    fn both(
        &mut self,
        left: &Expr,
        right: &Expr,
        slots: &mut Slots,
        make: fn(Vec<Predicate>) -> Predicate,
    ) -> Result<Option<Predicate>, Error> {
        let Some(left) = self.condition_part(left, slots)? else { return Ok(None) };
        let Some(right) = self.condition_part(right, slots)? else { return Ok(None) };
        Ok(slots.one_relation().then(|| flat(make, left, right)))
    }

    fn over(
        &mut self,
        expr: &Expr,
        slots: &mut Slots,
        make: impl FnOnce(usize) -> Predicate,
    ) -> Result<Option<Predicate>, Error> {
        Ok(self.field_at(expr)?.map(|field| make(slots.slot(field))))
    }

    fn comparison(
        &mut self,
        left: &Expr,
        op: Comparison,
        right: &Expr,
        slots: &mut Slots,
    ) -> Result<Option<Predicate>, Error> {
        if let Some(predicate) = self.time_comparison(left, op, right, slots)? {
            return Ok(Some(predicate));
        }
        let (left_field, right_field) = (self.field_at(left)?, self.field_at(right)?);
        Ok(match (left_field, right_field) {
            (Some(left), Some(right)) => {
                let (left, right) = (slots.slot(left), slots.slot(right));
                Some(Predicate::CompareSlots { left, op, right })
            }
            (Some(field), None) => {
                literal(right).map(|literal| Predicate::Compare { slot: slots.slot(field), op, literal })
            }
            (None, Some(field)) => {
                literal(left).map(|literal| Predicate::Compare { slot: slots.slot(field), op: turned(op), literal })
            }
            (None, None) => None,
        })
    }

    /// A comparison of a field with a constant, if one of them is marked as a time.
    fn time_comparison(
        &mut self,
        left: &Expr,
        op: Comparison,
        right: &Expr,
        slots: &mut Slots,
    ) -> Result<Option<Predicate>, Error> {
        for (subject, op, constant) in [(left, op, right), (right, turned(op), left)] {
            let asked = asked_time(subject);
            let constant = match (typed_time(constant), asked.and_then(|_| text(constant))) {
                (Some(typed), _) => typed,
                (None, Some(text)) => text.into(),
                (None, None) => continue,
            };
            let Some(field) = self.field_at(asked.unwrap_or(subject))? else { continue };
            let Some(time) = time::parse(constant.as_bytes()) else {
                return Err(Error::sql(format!("'{constant}' is not a time; write it as '2024-03-05T07:00:00Z'")));
            };
            return Ok(Some(at_time(slots.slot(field), op, time)));
        }
        Ok(None)
    }

    fn time_between(
        &mut self,
        subject: &Expr,
        low: &Expr,
        high: &Expr,
        slots: &mut Slots,
    ) -> Result<Option<Predicate>, Error> {
        let Some(low) = self.time_comparison(subject, Comparison::Ge, low, slots)? else { return Ok(None) };
        let high = self.time_comparison(subject, Comparison::Le, high, slots)?;
        Ok(high.map(|high| Predicate::And(vec![low, high])))
    }

    fn match_call(&mut self, function: &Function, slots: &mut Slots) -> Result<Option<Predicate>, Error> {
        if !is_call(function, "match") {
            return Ok(None);
        }
        let arguments = arguments(function);
        let [subject, pattern] = arguments.as_slice() else {
            return Err(Error::sql("match takes a text and a regular expression"));
        };
        let Some(pattern) = text(pattern) else {
            return Err(Error::sql(format!("the regular expression of match must be a constant text, not {pattern}")));
        };
        let mut builder = RegexBuilder::new(&pattern);
        if self.named.is_some() {
            builder.size_limit(SERVED_PATTERN_BYTES);
        }
        let regex = builder
            .build()
            .map_err(|error| Error::sql(format!("the regular expression '{pattern}' is wrong: {error}")))?;
        let matcher = Matcher::new(move |text| regex.is_match(text)).requiring(required::literals(&pattern));
        self.over(subject, slots, |slot| Predicate::Matches { slot, matcher })
    }

    /// `search('words')`, in a whole record, and `search(field, 'words')`.
    fn search_call(&mut self, function: &Function, slots: &mut Slots) -> Result<Option<Predicate>, Error> {
        let arguments = arguments(function);
        let (subject, words) = match arguments.as_slice() {
            [words] => (None, words),
            [subject, words] => (Some(subject), words),
            _ => return Err(Error::sql("search takes words, as search('timeout payment'), or a field and words")),
        };
        let Some(words) = text(words) else {
            return Err(Error::sql(format!("the words of search must be a constant text, not {words}")));
        };
        let field = match subject {
            None => self.record()?,
            Some(subject) => self.field_at(subject)?.ok_or_else(|| {
                Error::sql(format!("search looks into a field, and `{subject}` is computed: use `like` or `match`"))
            })?,
        };
        let search = Search::new(&words).map_err(|error| Error::sql(error.to_string()))?;
        let test = search.map_or_else(|| JsonTest::new(|_| true), |search| search.test());
        Ok(Some(Predicate::Json { slot: slots.slot(field), test }))
    }

    /// The whole record of the only table.
    fn record(&self) -> Result<FieldRef, Error> {
        let relations = self.scopes.last().map_or(&[][..], |scope| &scope.relations);
        let [Relation { alias, columns: Columns::Any(source), .. }] = relations else {
            return Err(Error::sql(
                "search('…') looks into the records of one table: name a field, as in search(a.message, '…')",
            ));
        };
        Ok(FieldRef {
            relation: alias.clone(),
            local: true,
            key: Path::root().to_string(),
            fixed: None,
            origins: vec![(*source, Path::root())],
            source: Some(*source),
            written: "search('…')".to_owned(),
        })
    }
}

/// The argument of `timestamp(x)`.
fn asked_time(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Nested(inner) => asked_time(inner),
        Expr::Function(function) if is_call(function, "timestamp") => match arguments(function).as_slice() {
            [subject] => Some(subject),
            _ => None,
        },
        _ => None,
    }
}

/// The text of `timestamp '…'`.
fn typed_time(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => typed_time(inner),
        Expr::TypedString(typed) if matches!(typed.data_type, DataType::Timestamp(..)) => match &typed.value.value {
            Value::SingleQuotedString(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Compares the time that a text or a number holds; unknown if it is not a time. A store knows where such times are.
fn at_time(slot: usize, op: Comparison, time: Time) -> Predicate {
    let holds = move |found: Time| op.holds(found.cmp(&time));
    let text = Matcher::unsure(move |text| time::parse(text.as_bytes()).map(holds));
    let text = text.with_hint(TimeHint { op, time, is_of_texts: false });
    Predicate::Matches { slot, matcher: text.with_numbers(move |text| time::parse_number(text).map(holds)) }
}

fn flat(make: fn(Vec<Predicate>) -> Predicate, left: Predicate, right: Predicate) -> Predicate {
    match (make(Vec::new()), left) {
        (Predicate::And(_), Predicate::And(mut parts)) | (Predicate::Or(_), Predicate::Or(mut parts)) => {
            parts.push(right);
            make(parts)
        }
        (_, left) => make(vec![left, right]),
    }
}

fn not(predicate: Predicate) -> Predicate {
    Predicate::Not(predicate.into())
}

fn negate(predicate: Predicate, negated: bool) -> Predicate {
    if negated { not(predicate) } else { predicate }
}

fn comparison(op: &BinaryOperator) -> Option<Comparison> {
    Some(match op {
        BinaryOperator::Eq => Comparison::Eq,
        BinaryOperator::NotEq => Comparison::Ne,
        BinaryOperator::Lt => Comparison::Lt,
        BinaryOperator::LtEq => Comparison::Le,
        BinaryOperator::Gt => Comparison::Gt,
        BinaryOperator::GtEq => Comparison::Ge,
        _ => return None,
    })
}

/// The equivalent comparison after swapping both sides.
fn turned(op: Comparison) -> Comparison {
    match op {
        Comparison::Lt => Comparison::Gt,
        Comparison::Le => Comparison::Ge,
        Comparison::Gt => Comparison::Lt,
        Comparison::Ge => Comparison::Le,
        same => same,
    }
}

/// The pattern with `\` as its escape character, whatever character the query uses.
fn like_pattern(pattern: &str, escape: Option<&ValueWithSpan>) -> Result<String, Error> {
    let Some(escape) = escape else { return Ok(pattern.to_owned()) };
    let Value::SingleQuotedString(escape) = &escape.value else {
        return Err(Error::sql("the escape of like must be one character"));
    };
    let mut escape = escape.chars();
    let (Some(escape), None) = (escape.next(), escape.next()) else {
        return Err(Error::sql("the escape of like must be one character"));
    };
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        if char == escape {
            out.push('\\');
            out.push(chars.next().unwrap_or(escape));
        } else if char == '\\' {
            out.push_str("\\\\");
        } else {
            out.push(char);
        }
    }
    Ok(out)
}
