//! Our functions that DataFusion calls.
//!
//! A new one also gets a place in `guard/growth.rs`, which says how long its results may be (a test looks for it); if it takes
//! numbers, in `NUMERIC` of `sql/resolve/kinds.rs`; if it takes a time, in `TIMED` of `sql/values/calls.rs`. Without the last
//! two it is given texts. `kind_of_call` in `kinds.rs` names what has texts or numbers as results, for comparisons with fields.
//!
//! ```text
//! stateless   functions without state, as rows of a table
//! exact       exact sums and means
//! order_key   the order of all values
//! ```

mod arithmetic;
mod cast_as;
mod convert;
mod digests;
mod exact;
mod extreme;
mod frequent;
mod in_rows;
mod intervals;
mod json_arithmetic;
mod json_array;
mod json_build;
mod json_edit;
mod json_path;
mod json_text;
mod json_type;
mod moving;
mod narrow;
mod number_compare;
mod order_key;
mod percentile;
mod predicate;
mod regexp_extract;
mod sort_key;
mod stateless;
mod texts;
mod time_bucket;
mod time_compare;
mod timestamp;
mod zoned;

pub(crate) use arithmetic::CheckedPlanner;
pub(crate) use json_arithmetic::JsonArithmetic;
pub(crate) use json_text::json_text;
pub(crate) use narrow::{LeftOut, Narrow};
pub(crate) use predicate::{PredicateUdf, json_texts};
pub(crate) use time_bucket::bucket_nanoseconds;
pub(crate) use timestamp::Timestamp;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

/// The functions that replace DataFusion's.
pub(crate) fn aggregate_functions() -> Vec<AggregateUDF> {
    let mut functions = exact::Exact::all();
    functions.extend(extreme::Extreme::all());
    functions.extend(frequent::Frequent::all());
    functions.extend(moving::all());
    functions.extend([percentile::Percentile::exact().into(), percentile::Percentile::approximate().into()]);
    functions
}

/// All scalar functions except those that are created for each query.
pub(crate) fn scalar_functions() -> Vec<ScalarUDF> {
    let mut functions = vec![
        arithmetic::sum_argument(),
        cast_as::CastAs::new().into(),
        in_rows::InRows::new().into(),
        json_text::of_any(),
        json_text::of_json(),
        json_path::json_path(),
        json_type::json_type(),
        sort_key::SortKey::new().into(),
        time_bucket::time_bucket(),
    ];
    functions.extend(convert::all());
    functions.extend(json_array::all());
    functions.extend(json_build::all());
    functions.extend(json_edit::all());
    functions.extend(order_key::all());
    functions.extend(regexp_extract::all());
    functions.extend(texts::all());
    functions.extend(zoned::all());
    functions
}

/// The functions that stand for operators in a plan. No query can name them.
#[cfg(feature = "cluster")]
pub(crate) fn operator_functions() -> Vec<ScalarUDF> {
    vec![
        arithmetic::checked_add(),
        arithmetic::checked_mul(),
        arithmetic::checked_sub(),
        intervals::scaled(),
        number_compare::number_compare(),
        time_compare::length(),
    ]
}
