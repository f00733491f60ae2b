//! Rewrites SQL as the user writes it to SQL over scanned columns.
//!
//! A table has no fixed schema: its columns are the fields that the query names. The rewrite resolves every name to a
//! path in a source, and replaces it by a column in one of five [representations](Rep), which depends on how the query
//! uses the field. Comparisons become calls of our own predicates over raw JSON text, so no type coercion affects them.

mod alike;
mod arrays;
mod building;
mod calls;
mod chain;
mod collect;
mod copy;
mod counted;
mod exists;
mod expr;
mod forms;
mod from;
mod group;
mod items;
mod literal;
mod member;
mod names;
mod order;
mod parse;
mod predicate;
mod required;
mod scope;
mod select;
mod served;
mod shaped;
mod spelling;
mod supported;
mod times;
mod twice;
mod unnest;
mod uses;
mod views;
mod wanted;
mod words;

pub(crate) use arrays::gives_json;
pub use copy::CopyTo;
pub(crate) use copy::HIDDEN;
pub(crate) use forms::Known;
pub(crate) use parse::{Asks, Parsed, SUMMARIZED, parse};
pub use predicate::condition;
pub(crate) use select::{Records, rewrite};
pub(crate) use served::{check as check_served, check_text as check_served_text};
pub(crate) use twice::names_twice;
pub(crate) use uses::{
    ALL, ANY, AT_TIME_ZONE, IN_ROWS, JSON_ARITHMETIC, JSON_ARRAY, JSON_AT, JSON_BRACED, JSON_COMPARE, JSON_CONCAT,
    JSON_CONTAINS, JSON_DISTINCT, JSON_ELEMENTS, JSON_EXCEPT, JSON_FLATTEN, JSON_GREATEST, JSON_HAS_ALL, JSON_HAS_ANY,
    JSON_HISTOGRAM, JSON_IN_TEXT, JSON_INSERT, JSON_INTERSECT, JSON_JOIN, JSON_KEY, JSON_KEYS, JSON_LEAST, JSON_LEN,
    JSON_LENGTH, JSON_MEAN, JSON_MEMBER, JSON_MERGE_PATCH, JSON_MODE, JSON_OBJECT, JSON_OF_KEY, JSON_OF_KEYS,
    JSON_OF_LIST, JSON_POP_BACK, JSON_POP_FRONT, JSON_POSITION, JSON_POSITIONS, JSON_REMOVE, JSON_REPEAT, JSON_REPLACE,
    JSON_REVERSE, JSON_SET, JSON_SLICE, JSON_SORT, JSON_SUM, JSON_TEXT, JSON_TOTAL, JSON_UNION, JSON_WITHOUT, Kept,
    Leaf, NUMBER_AVG, NUMBER_SUM, Narrowed, Need, NeedKind, ONLY_ARRAYS, ONLY_NUMBERS, ONLY_TEXTS, ORDER_KEY,
    ORDER_VALUE, Output, OutputKind, Rep, Rewritten, SORT_KEY, STREAM, SUM_ARGUMENT, SourceUse, Style, TIME_OF_JSON,
    TO_CHAR,
};
pub(crate) use wanted::each_slot;
