//! Cuts records out of a text of JSON.

use super::Failing;
use super::guide::Guide;
use super::machine::{Machine, Seeks, Tells, WalkEnd, of_source};
use super::steps::stopped;
use crate::error::{Category, Error};
use crate::event::pattern::Pattern;
use crate::event::{Failure, Place, Sink};
use crate::fault::ErrorKind;
use crate::policy::Policy;
use crate::scan::{Pull, TextSource};

/// Finds the records in the text around them. The [`Machine`] reads both, and the [`Guide`] chooses.
#[derive(Debug)]
pub(crate) struct Cutter {
    /// `None` if each document is a record.
    guide: Option<Box<Guide>>,
    pub(super) depth_max: usize,
    /// Each line is a document; blank lines are ignored.
    pub(crate) lines: bool,
    machine: Machine,
    scratch: String,
    at: At,
    /// The place of the last record that was sent or begun.
    pub(super) place: Place,
    /// The number of records that were begun.
    pub(super) records: u64,
    /// Where the last record that was looked at begins.
    pub(super) begun: u64,
    /// The last run or check failed, or a sink panicked, so it is unknown what of the record was read, and which of its
    /// events the sink has received.
    is_broken: bool,
}

/// Where the text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Between records.
    Around,
    /// Before the first token of a record.
    Start,
    /// In a record that was sent in part.
    Within,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutterStep {
    Record,
    End,
    /// There is no more text for now.
    Dry,
}

impl Cutter {
    pub(crate) fn new(pattern: Pattern) -> Self {
        Self {
            guide: Guide::new(pattern),
            depth_max: Policy::DEPTH_MAX,
            lines: false,
            machine: Machine::default(),
            scratch: String::new(),
            at: At::Around,
            place: Place::default(),
            records: 0,
            begun: 0,
            is_broken: false,
        }
    }

    pub(super) fn set_pattern(&mut self, pattern: Pattern) {
        self.guide = Guide::new(pattern);
    }

    pub(crate) fn restart(&mut self) {
        self.machine.reset();
        if let Some(guide) = &mut self.guide {
            guide.restart();
        }
        self.at = At::Around;
        self.is_broken = false;
    }

    /// Whether a record was begun and is not complete.
    pub(super) fn in_record(&self) -> bool {
        self.at == At::Within
    }

    /// Checks the next record, and goes back to its start. After an error it cannot be called again without a `restart`.
    pub(super) fn check<'de, R: TextSource<'de>>(&mut self, pull: &mut Pull<R>) -> Result<(), Error> {
        if self.is_broken {
            return Err(used_again());
        }
        self.is_broken = true;
        if self.go(pull)? == CutterStep::Record {
            let start = pull.token().start;
            self.begun = pull.offset(start);
            pull.keep();
            self.machine.skip_next();
            self.machine.skip(pull, &mut self.scratch, self.depth_max)?;
            self.check_line_end(pull)?;
            pull.rewind();
            self.machine.expect_value();
        }
        self.is_broken = false;
        Ok(())
    }

    /// Goes to the start of the next record, which the caller then reads itself. Returns false if there is none.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn begin<'de, R: TextSource<'de>>(&mut self, pull: &mut Pull<R>) -> Result<bool, Error> {
        // As `go` does it, inlined for the most frequent case.
        if let Some(guide) = &mut self.guide
            && !self.machine.is_before_value()
            && guide.is_among_records()
            && pull.token().plain() == b','
        {
            pull.step();
            guide.count_record();
            self.machine.expect_value();
            self.at = At::Start;
            return Ok(true);
        }
        Ok(self.go(pull)? == CutterStep::Record)
    }

    /// The caller has read the record.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn taken<'de, R: TextSource<'de>>(&mut self, pull: &mut Pull<R>) -> Result<(), Error> {
        self.at = At::Around;
        self.machine.value_ended();
        self.check_line_end(pull)
    }

    /// Adds the steps that lead to the record.
    #[cfg(feature = "serde")]
    #[cold]
    pub(crate) fn inside(&self, error: Error) -> Error {
        match &self.guide {
            Some(guide) => guide.inside(error),
            None => error,
        }
    }

    /// Sends one record, or the rest of one. After an error it cannot be called again without a `restart`.
    pub(super) fn run<'de, R: TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        sink: &mut S,
    ) -> Result<CutterStep, Failing<S::Error>> {
        if self.is_broken {
            return Err(Failure::Source(used_again()));
        }
        self.is_broken = true;
        match self.send(pull, sink) {
            Ok(cut) => {
                self.is_broken = false;
                Ok(cut)
            }
            Err(Failure::Sink(error, _)) => Err(Failure::Sink(error, self.place)),
            Err(Failure::Source(error)) => Err(Failure::Source(error)),
        }
    }

    #[inline(always)]
    fn send<'de, R: TextSource<'de>, S: Sink>(
        &mut self,
        pull: &mut Pull<R>,
        sink: &mut S,
    ) -> Result<CutterStep, Failing<S::Error>> {
        if self.at != At::Within {
            let cut = self.go(pull).map_err(Failure::Source)?;
            if cut != CutterStep::Record {
                return Ok(cut);
            }
            let token = pull.token();
            self.place = Place { record: self.records, offset: pull.offset(token.start), line: pull.line(token.start) };
            self.records += 1;
            self.at = At::Within;
            sink.begin_record(self.place).map_err(stopped)?;
        }
        let around = self.guide.as_ref().map_or(0, |guide| guide.depth());
        if self.machine.run::<Tells, _, _>(pull, &mut self.scratch, self.depth_max, around, sink)? == WalkEnd::Dry {
            return Ok(CutterStep::Dry);
        }
        self.at = At::Around;
        self.check_line_end(pull).map_err(Failure::Source)?;
        sink.end_record().map_err(stopped)?;
        Ok(CutterStep::Record)
    }

    /// In `lines` mode: checks that nothing follows a document in its line, before its last record is reported as
    /// complete.
    fn check_line_end<'de, R: TextSource<'de>>(&self, pull: &mut Pull<R>) -> Result<(), Error> {
        if !self.lines || !self.machine.is_outside() {
            return Ok(());
        }
        let token = pull.token();
        if token.kind == b'\n' || pull.is_end(token) || pull.is_dry(token) {
            return Ok(());
        }
        Err(pull.unexpected(ErrorKind::Trailing))
    }

    /// Goes to where the next record begins.
    #[inline]
    fn go<'de, R: TextSource<'de>>(&mut self, pull: &mut Pull<R>) -> Result<CutterStep, Error> {
        if self.at == At::Start {
            return Ok(CutterStep::Record);
        }
        loop {
            let token = pull.token();
            if self.machine.is_outside() {
                if self.lines && token.kind == b'\n' {
                    pull.step();
                    continue;
                }
                if pull.is_end(token) {
                    return Ok(CutterStep::End);
                }
            }
            let Some(guide) = &mut self.guide else {
                // An error in a record is reported only after the record has begun.
                if pull.waits_for(token, ErrorKind::Value).unwrap_or(false) {
                    return Ok(CutterStep::Dry);
                }
                break;
            };
            if self.machine.is_before_value() {
                // An error in a record is reported only after the record has begun.
                if pull.is_dry(token) && pull.waits_for(token, ErrorKind::Value).unwrap_or(false) {
                    return Ok(CutterStep::Dry);
                }
                let leads = guide.leads();
                if leads.there.is_some() {
                    break;
                }
                if !leads.further {
                    self.machine.skip_next();
                }
            }
            if self
                .machine
                .run::<Seeks, _, _>(pull, &mut self.scratch, self.depth_max, 0, &mut **guide)
                .map_err(of_source)?
                == WalkEnd::Dry
            {
                return Ok(CutterStep::Dry);
            }
            self.check_line_end(pull)?;
        }
        self.at = At::Start;
        Ok(CutterStep::Record)
    }
}

#[cold]
fn used_again() -> Error {
    let words = "this source was used again after an error; make a new one, or skip the bad line first";
    Error::message(Category::Data, &words)
}
