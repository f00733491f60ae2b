//! The tables and functions of a query, as DataFusion knows them.

use crate::base::error::Error;
use crate::functions::{JsonArithmetic, LeftOut, Narrow, PredicateUdf, Timestamp};
use crate::scan::Table;
use crate::sql::Rewritten;
use crate::types::prepared::Source;
use datafusion::common::TableReference;
use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionContext;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// What the functions of a query count.
pub(crate) struct Registered {
    /// Comparisons of values of different kinds.
    pub(crate) mismatches: Arc<AtomicU64>,
    pub(crate) left_out: LeftOut,
    /// Results that are not numbers.
    pub(crate) infinite: Arc<AtomicU64>,
}

/// Registers the tables and functions of a query.
pub(crate) fn register(
    context: &SessionContext,
    rewritten: &Rewritten,
    sources: &[Source<'_>],
) -> Result<Registered, Error> {
    let mismatches = Arc::new(AtomicU64::new(0));
    let infinite = Arc::default();
    context.register_udf(ScalarUDF::from(JsonArithmetic::new(Arc::clone(&infinite))));
    let left_out: LeftOut = Arc::new(rewritten.narrowed.iter().map(|_| AtomicU64::new(0)).collect());
    context.register_udf(ScalarUDF::from(Narrow::numbers(Arc::clone(&left_out))));
    context.register_udf(ScalarUDF::from(Narrow::texts(Arc::clone(&left_out))));
    context.register_udf(ScalarUDF::from(Narrow::json(Arc::clone(&left_out))));
    context.register_udf(ScalarUDF::from(Narrow::arrays(Arc::clone(&left_out))));
    for of_json in [false, true] {
        context.register_udf(ScalarUDF::from(Timestamp::new(of_json, Arc::clone(&left_out))));
    }
    for leaf in &rewritten.leaves {
        let udf = PredicateUdf::new(Arc::clone(leaf), Arc::clone(&mismatches));
        #[cfg(feature = "cluster")]
        let udf = match &rewritten.recipe {
            Some(recipe) => udf.with_recipe(Arc::clone(recipe)),
            None => udf,
        };
        context.register_udf(ScalarUDF::from(udf));
    }
    for source in sources {
        let table = Table::new(source.input.clone(), Arc::clone(&source.shared), Arc::clone(&source.schema));
        context
            .register_table(TableReference::bare(source.used.table.as_str()), Arc::new(table))
            .map_err(|error| Error::of(&error))?;
    }
    Ok(Registered { mismatches, left_out, infinite })
}
