//! Our functions that DataFusion calls.

mod arithmetic;
mod convert;
mod exact;
mod frequent;
mod in_rows;
mod json_arithmetic;
mod json_array;
mod json_build;
mod json_edit;
mod json_text;
mod json_type;
mod narrow;
mod number_compare;
mod order_key;
mod percentile;
mod predicate;
mod regexp_extract;
mod sort_key;
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
pub(crate) use timestamp::Timestamp;

use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

/// The functions that replace DataFusion's.
pub(crate) fn aggregate_functions() -> Vec<AggregateUDF> {
    let mut functions = exact::Exact::all();
    functions.extend(frequent::Frequent::all());
    functions.extend([percentile::PercentileCont::new().into(), percentile::PercentileApprox::new().into()]);
    functions
}

/// All scalar functions except those that are created for each query.
pub(crate) fn scalar_functions() -> Vec<ScalarUDF> {
    let mut functions = vec![json_type::JsonType::new().into(), time_bucket::TimeBucket::new().into()];
    functions.extend([convert::Convert::number().into(), convert::Convert::text().into()]);
    functions.push(arithmetic::SumArgument::new().into());
    functions.push(sort_key::SortKey::new().into());
    functions.extend([zoned::AtTimeZone::new().into(), zoned::ToChar::new().into()]);
    functions.extend(regexp_extract::RegexpExtract::all().map(ScalarUDF::from));
    functions.extend(texts::Texts::all().map(ScalarUDF::from));
    functions.extend(json_array::JsonArray::all().map(ScalarUDF::from));
    functions.extend(json_build::JsonBuild::all().map(ScalarUDF::from));
    functions.extend(json_edit::JsonEdit::all().map(ScalarUDF::from));
    functions.push(json_text::JsonText::new().into());
    functions.push(json_text::JsonText::of_json().into());
    functions.extend([order_key::OrderKey::bare().into(), order_key::OrderKey::with_text().into()]);
    functions.extend([order_key::JsonOfKey::new().into(), order_key::JsonCompare::new().into()]);
    functions.extend([order_key::JsonOfKeys::new().into(), in_rows::InRows::new().into()]);
    functions
}
