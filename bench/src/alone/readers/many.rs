//! Reads many lines per scan: `lines::Scanner` with the query as its predicate.

use std::ops::ControlFlow;

use jird::lines::{Check, Options, Scanner};
use jird::{
    Path,
    record::{Comparison, Like, Literal, Matcher, Predicate, Projection},
};

use super::{Answer, JOB, PATH, Query, SLOW};

/// A query in jird's types.
pub(super) struct Scans {
    scanner: Scanner,
    projection: Projection,
    /// None: the records are counted.
    predicate: Option<Predicate>,
    scratch: String,
}

impl Scans {
    pub(super) fn new(query: &Query, check: Check) -> Self {
        let (message, elapsed) = (Path::root().key("Message"), Path::root().key("Elapsed"));
        let (paths, predicate) = match query {
            Query::Filter => {
                let literal = Literal::Number(SLOW.to_string().into());
                (vec![message, elapsed], Some(Predicate::Compare { slot: 1, op: Comparison::Gt, literal }))
            }
            Query::Match(regex) => {
                let regex = regex.clone();
                // The literal that the query layer would extract from the expression.
                let matcher = Matcher::new(move |text| regex.is_match(text)).requiring([PATH]);
                (vec![message], Some(Predicate::Matches { slot: 0, matcher }))
            }
            Query::Rare(_) => {
                (vec![message], Some(Predicate::Like { slot: 0, pattern: Like::new(&format!("%{JOB}%")) }))
            }
            Query::Count => (Vec::new(), None),
        };
        let scanner = Scanner::new(Options { check, ..Options::default() });
        Self { scanner, projection: Projection::new(&paths), predicate, scratch: String::new() }
    }

    pub(super) fn read(&mut self, text: &[u8]) -> Option<Answer> {
        let Self { scanner, projection, predicate, scratch } = self;
        let mut answer = Answer::default();
        let counts = predicate.is_none();
        let visit = |row: jird::lines::Match<'_, '_>| {
            if counts {
                return ControlFlow::Continue(());
            }
            match row.field(0).text(scratch) {
                Some(message) => {
                    answer.add(message);
                    ControlFlow::Continue(())
                }
                None => ControlFlow::Break(()),
            }
        };
        let scanned = scanner.scan(text, projection, predicate.as_ref(), visit).ok()?;
        answer.records = scanned.records;
        (!scanned.stopped).then_some(answer)
    }
}
