//! In place of `execute`, in a build without the engine of SQL.

use crate::base::error::Error;
use crate::output::Parted;
use crate::output::report::Report;
use crate::run::bounds::Bounds;
use crate::sql::Rewritten;
use crate::types::guess::Gate;
use crate::types::prepared::Source;
use std::io::Write;

/// What a build with the engine would run plans with.
pub(crate) struct Execution<'q> {
    #[expect(dead_code, reason = "no plan is made")]
    pub(crate) bounds: Bounds<'q>,
    #[expect(dead_code, reason = "no plan is made")]
    pub(crate) spares: bool,
    #[expect(dead_code, reason = "no plan is made")]
    pub(crate) parted: Option<&'q Parted>,
}

impl Execution<'_> {
    #[expect(clippy::unused_self, reason = "the engine has it so")]
    pub(crate) fn execute(
        &self,
        _: &Rewritten,
        _: &[Source<'_>],
        _: &Gate<'_>,
        _: &mut dyn Write,
        _: &mut Report,
    ) -> Result<(), Error> {
        Err(missing())
    }

    #[expect(clippy::unused_self, reason = "the engine has it so")]
    pub(crate) fn explain(
        &self,
        _: &Rewritten,
        _: &[Source<'_>],
        _: &Gate<'_>,
        _: &mut Report,
    ) -> Result<String, Error> {
        Err(missing())
    }
}

/// Whether a function of this name is an aggregate.
pub(crate) fn is_aggregate(name: &str) -> bool {
    name == "count"
}

fn missing() -> Error {
    Error::sql(
        "this build of jird reads `select … [from stream] [where …] [limit …]` with fields, `*` or `count(*)`, and conditions \
         of fields and constants; `cargo install jird-cli` and, in Python, pip install 'jird[query]' bring one with all of SQL",
    )
}
