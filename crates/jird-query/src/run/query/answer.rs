//! What a query asks for: its rows, rows about them, or parts of them in folders.

use super::Query;
use crate::base::error::Error;
use crate::output::Format;
use crate::output::report::Report;
use crate::run::facts;
use crate::scan::bad::BadSink;
use crate::setup::inputs::Inputs;
use crate::setup::options::Options;
use crate::sql::{self, Parsed, Purpose};
use crate::types::FieldTypes;
use jird_formats::files::OnError;
use std::io::Write;

impl Query {
    /// The query with all that its names stand for.
    pub(super) fn parsed(&self) -> Result<Parsed, Error> {
        let mut parsed = sql::parse(&self.sql)?;
        if self.named.is_some() {
            return sql::check_served(&parsed).map(|()| parsed);
        }
        let Options { defined, definitions, .. } = &self.options;
        #[cfg(feature = "cluster")]
        if self.cluster.is_some() && !(defined.is_empty() && definitions.is_empty()) {
            return Err(Error::sql("a cluster knows the text of a query, and no names that are defined beside it"));
        }
        parsed.expand(defined, definitions)?;
        Ok(parsed)
    }

    /// Answers with the rows of the query, or with rows about them, which are records of a table of their own.
    pub(super) fn answer(
        &self,
        parsed: &Parsed,
        bad: Option<&BadSink>,
        out: &mut dyn Write,
        report: &mut Report,
    ) -> Result<(), Error> {
        let mut inputs = Inputs::new(&self.inputs, self.named.as_deref(), &self.options, &self.progress);
        match (&parsed.asks, &self.parted) {
            (Purpose::Copy(_), _) if !self.copies => return Err(Error::sql("`copy` is for the command line")),
            #[cfg(feature = "cluster")]
            (_, Some(_)) if self.cluster.is_some() => {
                return Err(Error::sql("a cluster writes no parts: run `copy` with partition_by without it"));
            }
            (Purpose::Copy(_), Some(parted)) => {
                return self.run_parsed(&parsed.sorted_by(&parted.by)?, &mut inputs, bad, out, report);
            }
            (Purpose::Rows | Purpose::Plan | Purpose::Copy(_), _) => {
                return self.run_parsed(parsed, &mut inputs, bad, out, report);
            }
            _ => {}
        }
        inputs.repeats = parsed.asks == Purpose::Summary;
        let lines = self.of_lines();
        let mut is_first = true;
        let mut ask = |query: Parsed, out: &mut dyn Write| {
            // The others only look again at what the first one has read.
            let report = if std::mem::take(&mut is_first) { &mut *report } else { &mut Report::default() };
            lines.run_parsed(&query, &mut inputs, bad, out, report)
        };
        let (rows, beyond) = match &parsed.asks {
            Purpose::Names(names) => {
                let stream = [sql::STREAM.to_owned(), "files".to_owned(), self.inputs.join(" ")];
                (facts::names(&[&[stream], &names[..]].concat()), 0)
            }
            Purpose::Summary => facts::summarize(&parsed.rows(), &mut ask)?,
            _ => facts::describe(parsed.rows(), &mut ask)?,
        };
        let (last, nothing, mut of_last) = (self.of_facts(), ["-".to_owned()], Report::default());
        let mut inputs = Inputs::new(&nothing, None, &last.options, &self.progress).with(facts::TABLE, rows);
        let done = last.run_parsed(&Parsed::all_of(facts::TABLE)?, &mut inputs, None, out, &mut of_last);
        report.rows = of_last.rows;
        if beyond > 0 {
            report.notes.push(format!("{beyond} values of other fields are not described: there are too many names"));
        }
        done
    }

    /// A query like this one whose result is all of its rows, as JSON lines.
    fn of_lines(&self) -> Self {
        let options = Options { format: Format::Ndjson, limit: None, rows_max: None, ..self.options.clone() };
        Self { options, ..self.clone() }
    }

    /// A query whose result is like that of this one, and which reads none of its files.
    fn of_facts(&self) -> Self {
        let options = Options { schema: FieldTypes::default(), on_error: OnError::Stop, ..self.options.clone() };
        Self {
            options,
            #[cfg(feature = "cluster")]
            cluster: None,
            ..self.clone()
        }
    }
}
