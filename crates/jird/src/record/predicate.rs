//! Predicates over the fields of a record, in SQL's three-valued logic.
//!
//! `None` is SQL's unknown: the result of a comparison with null or with a missing value; `not` leaves it unknown.
//! Numbers compare by their exact value, whatever their spelling; texts compare by their UTF-8 bytes; arrays and objects
//! compare by the order of [`Field::order_key`]. A comparison of two different kinds, such as a number and a text, is unknown, and is counted.

use super::field::Field;
use super::like::Like;
use super::needles::Needles;
use super::order::compare_containers;
use super::select::Projection;
use crate::number::Number;
use crate::tape::Kind;
use core::any::Any;
use core::cmp::Ordering;
use core::fmt;
use std::sync::Arc;

/// The six comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Eq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Comparison {
    /// Whether the comparison holds for two values in this order.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            Self::Lt => order.is_lt(),
            Self::Le => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Ge => order.is_ge(),
        }
    }
}

/// A constant of a predicate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// Every comparison with it is unknown.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number in JSON's spelling.
    Number(Box<str>),
    /// A text.
    Text(Box<str>),
    /// An array or an object, in JSON's spelling.
    Container(Box<str>),
}

/// A test of a string's content, such as a regular expression.
///
/// ```
/// let matcher = jird::record::Matcher::new(|text| text.ends_with(".png") || text.ends_with(".jpg")).requiring([".png", ".jpg"]);
/// assert!(matcher.matches("logo.png"));
/// ```
///
/// A clone has a clone of the test. If a test has state, as a `Regex` has, threads that each have a clone do not wait
/// for each other.
pub struct Matcher {
    test: Box<dyn Test>,
    /// The test of numbers, if they are not of another kind.
    numbers: Option<Box<dyn Test>>,
    literals: Arc<[Box<str>]>,
    hint: Option<Arc<dyn Any + Send + Sync>>,
}

/// A function that can be cloned through a trait object.
trait Test: Fn(&str) -> Option<bool> + Send + Sync {
    fn boxed_clone(&self) -> Box<dyn Test>;
}

impl<T: Fn(&str) -> Option<bool> + Clone + Send + Sync + 'static> Test for T {
    fn boxed_clone(&self) -> Box<dyn Test> {
        Box::new(self.clone())
    }
}

impl Clone for Matcher {
    fn clone(&self) -> Self {
        let numbers = self.numbers.as_ref().map(|test| (**test).boxed_clone());
        Self {
            test: (*self.test).boxed_clone(),
            numbers,
            literals: Arc::clone(&self.literals),
            hint: self.hint.clone(),
        }
    }
}

impl Matcher {
    /// A matcher from a test that always has an answer.
    pub fn new(test: impl Fn(&str) -> bool + Clone + Send + Sync + 'static) -> Self {
        Self::unsure(move |text| Some(test(text)))
    }

    /// A matcher from a test that has no answer for some texts. The result is then unknown, and is counted, as for a
    /// comparison of different kinds.
    ///
    /// ```
    /// let even = jird::record::Matcher::unsure(|text| text.parse::<u64>().ok().map(|number| number % 2 == 0));
    /// assert!(even.matches("4") && !even.matches("5") && !even.matches("four"));
    /// ```
    pub fn unsure(test: impl Fn(&str) -> Option<bool> + Clone + Send + Sync + 'static) -> Self {
        Self { test: Box::new(test), numbers: None, literals: Arc::default(), hint: None }
    }

    /// Adds a test of numbers, which gets a number as it stands in its record. Without one, numbers are unknown.
    ///
    /// ```
    /// use jird::record::{Field, Matcher, Mismatches, Predicate};
    /// let is_even = |text: &str| text.parse::<u64>().ok().map(|number| number % 2 == 0);
    /// let even = Predicate::Matches { slot: 0, matcher: Matcher::unsure(is_even).with_numbers(is_even) };
    /// assert_eq!(even.eval(&[Field::from_raw("4")], &mut Mismatches::default()), Some(true));
    /// assert_eq!(even.eval(&[Field::from_raw("\"5\"")], &mut Mismatches::default()), Some(false));
    /// ```
    #[must_use]
    pub fn with_numbers(self, test: impl Fn(&str) -> Option<bool> + Clone + Send + Sync + 'static) -> Self {
        Self { numbers: Some(Box::new(test)), ..self }
    }

    /// Whether numbers are tested too.
    pub fn takes_numbers(&self) -> bool {
        self.numbers.is_some()
    }

    /// Declares that every text that passes the test contains at least one of these literals. If that is not true,
    /// matching records may be lost. An empty list declares nothing.
    #[must_use]
    pub fn requiring<T: Into<Box<str>>>(self, literals: impl IntoIterator<Item = T>) -> Self {
        Self { literals: literals.into_iter().map(Into::into).collect(), ..self }
    }

    /// Adds what an index may know of the test that the engine does not, such as the bounds of times.
    ///
    /// ```
    /// let matcher = jird::record::Matcher::new(|text| text < "b").with_hint("before b");
    /// assert_eq!(matcher.hint::<&str>(), Some(&"before b"));
    /// assert_eq!(matcher.hint::<u64>(), None);
    /// ```
    #[must_use]
    pub fn with_hint(self, hint: impl Any + Send + Sync) -> Self {
        Self { hint: Some(Arc::new(hint)), ..self }
    }

    /// The hint, if it is of this type.
    pub fn hint<T: Any>(&self) -> Option<&T> {
        self.hint.as_deref()?.downcast_ref()
    }

    /// Whether `text` passes.
    pub fn matches(&self, text: &str) -> bool {
        (self.test)(text) == Some(true)
    }

    /// Literals such that every passing text contains at least one; empty if none are known.
    pub fn literals(&self) -> &[Box<str>] {
        &self.literals
    }
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher").field("literals", &self.literals).finish_non_exhaustive()
    }
}

/// A test of the JSON text of a value of any kind, such as a search in all texts of an object. It is cloned as a
/// [`Matcher`] is.
///
/// ```
/// use jird::record::{Field, JsonTest, Mismatches, Predicate};
/// let has_word = Predicate::Json { slot: 0, test: JsonTest::new(|json| json.contains("timeout")) };
/// let eval = |field| has_word.eval(&[field], &mut Mismatches::default());
/// assert_eq!(eval(Field::from_raw(r#"{"error":["timeout"]}"#)), Some(true));
/// assert_eq!(eval(Field::from_raw("17")), Some(false));
/// assert_eq!(eval(Field::MISSING), None);
/// ```
pub struct JsonTest {
    test: Box<dyn Test>,
    hint: Option<Arc<dyn Any + Send + Sync>>,
}

impl JsonTest {
    /// The test. It gets a value as it stands in its record.
    pub fn new(test: impl Fn(&str) -> bool + Clone + Send + Sync + 'static) -> Self {
        Self { test: Box::new(move |json: &str| Some(test(json))), hint: None }
    }

    /// Adds what an index may know of the test that the engine does not, such as the words of a search.
    #[must_use]
    pub fn with_hint(self, hint: impl Any + Send + Sync) -> Self {
        Self { hint: Some(Arc::new(hint)), ..self }
    }

    /// The hint, if it is of this type.
    pub fn hint<T: Any>(&self) -> Option<&T> {
        self.hint.as_deref()?.downcast_ref()
    }

    /// Whether a value passes.
    pub fn holds(&self, json: &str) -> bool {
        (self.test)(json) == Some(true)
    }
}

impl Clone for JsonTest {
    fn clone(&self) -> Self {
        Self { test: (*self.test).boxed_clone(), hint: self.hint.clone() }
    }
}

impl fmt::Debug for JsonTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonTest").finish_non_exhaustive()
    }
}

/// A condition on the slots of a [`Projection`](super::Projection).
#[derive(Clone, Debug)]
pub enum Predicate {
    /// True if all parts are true; false if any is false; otherwise unknown.
    And(Vec<Self>),
    /// True if any part is true; otherwise unknown if any is unknown; otherwise false.
    Or(Vec<Self>),
    /// The opposite; unknown stays unknown.
    Not(Box<Self>),
    /// Compares a field with a constant.
    Compare {
        /// The field.
        slot: usize,
        /// The comparison, with the field on its left.
        op: Comparison,
        /// The constant.
        literal: Literal,
    },
    /// Compares two fields.
    CompareSlots {
        /// The field on the left.
        left: usize,
        /// The comparison.
        op: Comparison,
        /// The field on the right.
        right: usize,
    },
    /// Whether the field equals one of the constants; unknown if it does not and a comparison was unknown.
    In {
        /// The field.
        slot: usize,
        /// The constants.
        list: Vec<Literal>,
    },
    /// Whether the field is null or missing. Never unknown.
    IsNull {
        /// The field.
        slot: usize,
    },
    /// Whether a string matches a pattern.
    Like {
        /// The field.
        slot: usize,
        /// The pattern.
        pattern: Like,
    },
    /// Whether a string's content passes a test; unknown if the test has no answer.
    Matches {
        /// The field.
        slot: usize,
        /// The test.
        matcher: Matcher,
    },
    /// Whether the JSON text of a value passes a test; unknown if the field is null or missing.
    Json {
        /// The field, or the whole record.
        slot: usize,
        /// The test.
        test: JsonTest,
    },
    /// The value of a boolean field.
    Truth {
        /// The field.
        slot: usize,
    },
}

/// Counts of comparisons between values of different kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mismatches {
    /// Comparisons that were unknown because the kinds differ.
    pub kinds: u64,
}

impl Predicate {
    /// Whether the result depends on a slot.
    pub(crate) fn asks(&self, wanted: usize) -> bool {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().any(|part| part.asks(wanted)),
            Self::Not(inner) => inner.asks(wanted),
            Self::CompareSlots { left, right, .. } => [*left, *right].contains(&wanted),
            Self::Compare { slot, .. }
            | Self::In { slot, .. }
            | Self::IsNull { slot }
            | Self::Like { slot, .. }
            | Self::Matches { slot, .. }
            | Self::Json { slot, .. }
            | Self::Truth { slot } => *slot == wanted,
        }
    }

    /// Texts such that every record that the predicate keeps contains at least one, with a quote where a string or
    /// key begins or ends. A scan that reads only records that may match searches for them. Empty if no such texts are
    /// known.
    ///
    /// ```
    /// use jird::{Path, record::{Like, Predicate, Projection}};
    /// let projection = Projection::new(&[Path::root().key("RequestPath")]);
    /// let predicate = Predicate::Like { slot: 0, pattern: Like::new("/api/%/orders") };
    /// assert_eq!(predicate.literals(&projection), ["/orders\""]);
    /// ```
    pub fn literals(&self, projection: &Projection) -> Vec<String> {
        Needles::of(self, projection).map_or_else(Vec::new, |needles| needles.texts().map(str::to_owned).collect())
    }

    /// Evaluates the predicate on the fields of a record, one per slot. `None` is unknown.
    ///
    /// # Panics
    /// If a slot is not among `fields`.
    pub fn eval(&self, fields: &[Field<'_>], mismatches: &mut Mismatches) -> Option<bool> {
        match self {
            Self::And(all) => fold(all, false, fields, mismatches),
            Self::Or(any) => fold(any, true, fields, mismatches),
            Self::Not(inner) => inner.eval(fields, mismatches).map(|known| !known),
            Self::Compare { slot, op, literal } => {
                compare(fields[*slot], literal, mismatches).map(|order| op.holds(order))
            }
            Self::CompareSlots { left, op, right } => {
                compare_fields(fields[*left], fields[*right], mismatches).map(|order| op.holds(order))
            }
            Self::In { slot, list } => {
                let mut unknown = false;
                for literal in list {
                    match compare(fields[*slot], literal, mismatches) {
                        Some(Ordering::Equal) => return Some(true),
                        Some(_) => {}
                        None => unknown = true,
                    }
                }
                (!unknown).then_some(false)
            }
            Self::IsNull { slot } => Some(fields[*slot].is_null()),
            Self::Like { slot, pattern } => with_text(fields[*slot], mismatches, |text| Some(pattern.matches(text))),
            Self::Matches { slot, matcher } => match &matcher.numbers {
                Some(test) if fields[*slot].kind() == Some(Kind::Number) => {
                    test(fields[*slot].raw()).or_else(|| mismatch(mismatches))
                }
                _ => with_text(fields[*slot], mismatches, |text| (matcher.test)(text)),
            },
            Self::Json { slot, test } => match fields[*slot] {
                field if field.is_null() => None,
                field => Some(test.holds(field.raw())),
            },
            Self::Truth { slot } => match fields[*slot].kind() {
                None | Some(Kind::Null) => None,
                Some(Kind::Bool) => fields[*slot].as_bool(),
                Some(_) => mismatch(mismatches),
            },
        }
    }
}

/// Evaluates an and (`decisive` is false) or an or (`decisive` is true): the first decisive part decides.
fn fold(parts: &[Predicate], decisive: bool, fields: &[Field<'_>], mismatches: &mut Mismatches) -> Option<bool> {
    let mut result = Some(!decisive);
    for part in parts {
        match part.eval(fields, mismatches) {
            Some(known) if known == decisive => return Some(decisive),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}

#[inline(always)]
fn compare(field: Field<'_>, literal: &Literal, mismatches: &mut Mismatches) -> Option<Ordering> {
    match (field.kind()?, literal) {
        (Kind::Null, _) | (_, Literal::Null) => None,
        (Kind::Number, Literal::Number(wanted)) => Some(field.as_number()?.compare(Number::of_checked(wanted))),
        (Kind::String, Literal::Text(wanted)) => compare_text(field, wanted),
        (Kind::Bool, Literal::Bool(wanted)) => Some(field.as_bool()?.cmp(wanted)),
        (Kind::Array | Kind::Object, Literal::Container(wanted)) => {
            compare_fields(field, Field::from_raw(wanted), mismatches)
        }
        _ => mismatch(mismatches),
    }
}

fn compare_fields(left: Field<'_>, right: Field<'_>, mismatches: &mut Mismatches) -> Option<Ordering> {
    match (left.kind()?, right.kind()?) {
        (Kind::Null, _) | (_, Kind::Null) => None,
        (Kind::Number, Kind::Number) => Some(left.as_number()?.compare(right.as_number()?)),
        (Kind::String, Kind::String) => compare_text(left, &right.as_str()?),
        (Kind::Bool, Kind::Bool) => Some(left.as_bool()?.cmp(&right.as_bool()?)),
        (Kind::Array, Kind::Array) | (Kind::Object, Kind::Object) => Some(compare_containers(left, right)),
        _ => mismatch(mismatches),
    }
}

/// Compares texts by their bytes.
fn compare_text(field: Field<'_>, wanted: &str) -> Option<Ordering> {
    field.with_text(|text| text.as_bytes().cmp(wanted.as_bytes()))
}

fn with_text(field: Field<'_>, mismatches: &mut Mismatches, test: impl FnOnce(&str) -> Option<bool>) -> Option<bool> {
    match field.kind()? {
        Kind::Null => None,
        Kind::String => field.with_text(test)?.or_else(|| mismatch(mismatches)),
        _ => mismatch(mismatches),
    }
}

#[cold]
fn mismatch<T>(mismatches: &mut Mismatches) -> Option<T> {
    mismatches.kinds += 1;
    None
}
