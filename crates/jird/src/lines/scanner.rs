//! Reads many lines at a time: one scan of a piece of whole lines, one check of all of them, then a few steps per
//! record.

use super::gate::{self, Gate};
use super::lines_with::{FoundLines, Lines};
use super::options::{Check, Options};
use super::row::{Bad, Match, Scanned};
use super::run::{PieceText, Run, SlotGroup};
use super::sweeps::Sweeps;
use crate::error::Error;
use crate::fault::{ErrorKind, Fault};
use crate::limits::SIZE_MAX;
use crate::policy::Duplicates;
use crate::record::{Field, Finder, Mark, Mismatches, Needles, Predicate, Projection, Select, Slot, lines_are_right};
use crate::scan::{END, Mode, Tokens, Whole};
use crate::tape::Parser;
use crate::text::{is_space, trim_end};
use crate::walk::{Walk, Walked};
use core::ops::{ControlFlow, Range};

/// Bytes that are scanned at a time after a bad record; doubled with each piece that is valid.
const REACH_AFTER_BAD: usize = 512;

/// The searched length in pieces: after each search of this many pieces the gate decides whether to go on searching.
const SEARCH_PIECES: usize = 4;

/// Reads lines with one set of buffers. Use one scanner per thread.
#[derive(Debug)]
pub struct Scanner {
    options: Options,
    tokens: Tokens,
    walk: Walk<Mark>,
    finder: Finder,
    sweeps: Sweeps,
    gate: Gate,
    /// Finds repeated keys, if the policy refuses them.
    duplicates: Option<Parser>,
}

impl Scanner {
    /// A scanner with fresh buffers.
    pub fn new(options: Options) -> Self {
        let refuse = options.policy.duplicates == Duplicates::Refuse;
        let mut tokens = Tokens::default();
        tokens.tuning.prefetches = options.prefetch;
        Self {
            options,
            tokens,
            walk: Walk::new(&options.policy),
            finder: Finder::new(options.kernel),
            sweeps: Sweeps::new(options.kernel),
            gate: Gate::new(if options.check == Check::All { gate::CHECKED } else { gate::UNREAD }),
            duplicates: refuse.then(|| Parser::with_kernel(options.policy, options.kernel)),
        }
    }

    /// Reads `text`, which is whole lines (the last newline may be missing), and calls `visit` for each record that
    /// passes `filter`, in order, until `visit` breaks. Blank lines are not records; a carriage return before a
    /// newline is white space.
    ///
    /// ```
    /// use jird::{Path, lines, record::Projection};
    /// let projection = Projection::new(&[Path::root().key("a")]);
    /// let mut found = Vec::new();
    /// lines::Scanner::new(lines::Options::default()).scan(b"{\"a\": 1}\n\n{\"b\": 2}\n", &projection, None, |row| {
    ///     found.push(row.field(0).raw().to_owned());
    ///     std::ops::ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(found, ["1", ""]);
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first record that breaks a rule, with its offset in `text`; the records before it were visited.
    pub fn scan<'t>(
        &mut self,
        text: &'t [u8],
        projection: &Projection,
        filter: Option<&Predicate>,
        visit: impl FnMut(Match<'_, 't>) -> ControlFlow<()>,
    ) -> Result<Scanned, Error> {
        let mut first_bad = None;
        let scanned = self.scan_all(text, projection, filter, visit, |bad| {
            first_bad = Some(bad.error);
            ControlFlow::Break(())
        });
        first_bad.map_or(Ok(scanned), Err)
    }

    /// Reads `text` as [`Scanner::scan`] does, but continues after a bad record. It calls `bad` for bad records, in
    /// their place among the others, until `visit` or `bad` breaks. A text that consists of bad records takes linear
    /// time too.
    pub fn scan_all<'t>(
        &mut self,
        text: &'t [u8],
        projection: &Projection,
        filter: Option<&Predicate>,
        mut visit: impl FnMut(Match<'_, 't>) -> ControlFlow<()>,
        mut bad: impl FnMut(Bad<'t>) -> ControlFlow<()>,
    ) -> Scanned {
        let asks = |slot: usize| filter.is_none_or(|filter| filter.asks(slot));
        let (asked, rest) = (projection.only(asks), projection.only(|slot| !asks(slot)));
        let mut run = Run {
            asked: SlotGroup::new(&asked, asks),
            rest: SlotGroup::new(&rest, |slot| !asks(slot)),
            fields: vec![Field::MISSING; projection.slots()],
            filter,
            kernel: self.options.kernel,
            needles: None,
            scanned: Scanned::default(),
        };
        let needles = filter.and_then(|filter| Needles::of(filter, projection));
        run.needles = needles.as_ref();
        let Some(needles) = needles.as_ref().filter(|_| self.options.check != Check::All) else {
            self.read(text, 0, &mut run, &mut visit, &mut bad);
            return run.scanned;
        };
        let mut from = 0;
        while from < text.len() && !run.scanned.stopped {
            let to = piece_end(text, from, self.options.piece_bytes.saturating_mul(SEARCH_PIECES));
            if self.searches(to - from, &mut run) {
                let mut found = FoundLines::new(self.options.kernel, needles, &text[..to], from);
                for Lines { range, passed } in &mut found {
                    run.scanned.records += passed;
                    self.read(&text[..range.end], range.start, &mut run, &mut visit, &mut bad);
                    if run.scanned.stopped {
                        break;
                    }
                }
                self.gate.measure(to - from, found.bytes, found.tried);
            } else {
                self.read(&text[..to], from, &mut run, &mut visit, &mut bad);
            }
            from = to;
        }
        run.scanned
    }

    /// Whether the next `bytes` are searched for needles. Counts them.
    fn searches(&mut self, bytes: usize, run: &mut Run<'_, '_>) -> bool {
        let searches = self.gate.opens(self.options.search, bytes);
        let count = if searches { &mut run.scanned.searched_bytes } else { &mut run.scanned.unsearched_bytes };
        *count += bytes as u64;
        searches
    }

    /// Reads the lines from `from` on, until `visit` or `bad` breaks.
    fn read<'t>(
        &mut self,
        text: &'t [u8],
        mut from: usize,
        run: &mut Run<'_, 't>,
        visit: &mut impl FnMut(Match<'_, 't>) -> ControlFlow<()>,
        bad: &mut impl FnMut(Bad<'t>) -> ControlFlow<()>,
    ) {
        let mut reach = self.options.piece_bytes.min(SIZE_MAX);
        while from < text.len() && !run.scanned.stopped {
            let mut to = piece_end(text, from, reach);
            let scanned = self.within_limit(&text[from..to]).and_then(|len| {
                to = from + len;
                self.scan_piece(&text[from..to], from, run, visit)
            });
            let fault = match scanned {
                Ok(()) => {
                    reach = self.options.piece_bytes.min(SIZE_MAX).min(reach * 2);
                    from = to;
                    continue;
                }
                Err(fault) => fault,
            };
            let at = usize::try_from(fault.offset()).map_or(to, |at| to.min(from + at));
            // An error at the end of a line belongs to that line.
            let start = memchr::memrchr(b'\n', &text[from..at]).map_or(from, |newline| from + newline + 1);
            let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline);
            // All ways of reading have the same part of a line that is too long.
            let known = if fault.kind() == ErrorKind::Size { end.min(at + 1) } else { end };
            let line = &text[start..known];
            let error = Error::in_text(Fault::at_byte(fault.kind(), at - start), line).shifted(start as u64);
            if self.options.check != Check::All && run.would_pass_by(line) {
                run.scanned.records += 1;
            } else {
                run.scanned.bad += 1;
                run.scanned.stopped = bad(Bad { error, text: line, offset: start }).is_break();
            }
            from = text.len().min(end + 1);
            // Otherwise a long run of bad records would make the lines after each of them be scanned again and again.
            reach = REACH_AFTER_BAD.min(self.options.piece_bytes);
        }
    }

    /// The length of the part of `piece` before a record that is longer than the limit. An error if the first record
    /// is.
    #[inline]
    fn within_limit(&self, piece: &[u8]) -> Result<usize, Fault> {
        // Offsets of tokens are 32 bits wide.
        let limit = self.options.record_bytes_max.min(SIZE_MAX);
        if piece.len() <= limit {
            return Ok(piece.len());
        }
        let mut start = 0;
        for line in piece.split(|&byte| byte == b'\n') {
            if line.len() > limit {
                return if start == 0 { Err(Fault::at_byte(ErrorKind::Size, limit)) } else { Ok(start) };
            }
            start += line.len() + 1;
        }
        Ok(piece.len())
    }

    fn scan_piece<'t>(
        &mut self,
        piece: &'t [u8],
        base: usize,
        run: &mut Run<'_, 't>,
        visit: &mut impl FnMut(Match<'_, 't>) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let trusted = self.options.check == Check::Trusted;
        if trusted && run.asked.select.may_sweep() && self.sweeps.opens(self.options.sweep, piece.len()) {
            return self.sweep(piece, base, run, visit);
        }
        let mode = if trusted { Mode::LinesTrusted } else { Mode::Lines };
        self.tokens.clear();
        let whole = Whole::scan(self.options.kernel, piece, mode, &mut self.tokens);
        let fault = if trusted { None } else { line_fault(piece, &whole) };
        let end = fault.map_or(piece.len(), |fault| usize::try_from(fault.offset()).unwrap_or(usize::MAX));
        self.tokens.end_at(end);
        let checked = whole.as_str_up_to(end);
        let is_tight = run.seeks_nothing() || !self.tokens.has_loose_colon(piece);
        let text = PieceText { bytes: piece, checked, base, is_tight };
        let records = if trusted || fault.is_none() && self.is_right(piece) {
            self.skim_found(&text, run, visit)
        } else {
            self.records(&text, fault.is_some(), end, run, visit)
        };
        match (records, fault) {
            (Err(error), Some(fault)) if error.offset() < fault.offset() => Err(error),
            (_, Some(fault)) if !run.scanned.stopped => Err(fault),
            (records, _) => records,
        }
    }

    /// Walks the records that end before `end`, and checks each completely. `faulty` says that pass one found an error
    /// there.
    fn records<'t>(
        &mut self,
        text: &PieceText<'t>,
        faulty: bool,
        end: usize,
        run: &mut Run<'_, 't>,
        visit: &mut impl FnMut(Match<'_, 't>) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let mut at = 0;
        loop {
            let (kind, pos) = self.tokens.slices();
            let (byte, start) = (kind[at], pos[at] as usize);
            if byte == b'\n' {
                at += 1;
                continue;
            }
            if start >= end {
                return Ok(());
            }
            let first = at;
            run.asked.select.begin(byte == b'{');
            self.walk.restart();
            let walked = self.walk.run(text.bytes, &self.tokens, &mut at, &mut run.asked.select)?;
            debug_assert_eq!(walked, Walked::Value, "sentinels stand after the last token");
            let (kind, pos) = self.tokens.slices();
            let next = pos[at] as usize;
            match kind[at] {
                b'\n' => {}
                // The valid part of the text ends here, but the record does not.
                END if faulty && next >= end => return Ok(()),
                END if next == text.bytes.len() => {}
                _ => return Err(Fault::at_byte(ErrorKind::Trailing, next)),
            }
            if let Some(parser) = &mut self.duplicates {
                parser.fill(&text.bytes[start..next]).map_err(|fault| fault.shifted(start as u64))?;
            }
            let line = Line { first: byte, start, end: next };
            let again = |scanner: &mut Self, select: &mut Select<'_>| scanner.find(text, &mut { first }, select);
            if self.record(text, line, again, run, visit)?.is_break() {
                return Ok(());
            }
        }
    }

    /// Whether the mask check finds all records of a piece valid. Pass one found no error in the piece.
    fn is_right(&self, piece: &[u8]) -> bool {
        self.duplicates.is_none() && lines_are_right(self.options.kernel, piece, &self.tokens, &self.options.policy)
    }

    /// Skims records that are valid or trusted. If all had to be checked first, and searching pays off, skims only the
    /// records that have a needle.
    fn skim_found<'t>(
        &mut self,
        text: &PieceText<'t>,
        run: &mut Run<'_, 't>,
        visit: &mut impl FnMut(Match<'_, 't>) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let needles = run.needles.filter(|_| self.options.check == Check::All);
        let Some(needles) = needles.filter(|_| self.searches(text.bytes.len(), run)) else {
            return self.skim(text, 0..text.bytes.len(), run, visit);
        };
        let mut found = FoundLines::new(self.options.kernel, needles, text.bytes, 0);
        for Lines { range, passed } in &mut found {
            run.scanned.records += passed;
            run.scanned.touched += passed;
            self.skim(text, range, run, visit)?;
            if run.scanned.stopped {
                break;
            }
        }
        self.gate.measure(text.bytes.len(), found.bytes, found.tried);
        Ok(())
    }

    /// Looks up the wanted fields in the records of some lines. Unless the text was checked, only the fields that are
    /// returned are checked.
    fn skim<'t>(
        &mut self,
        text: &PieceText<'t>,
        lines: Range<usize>,
        run: &mut Run<'_, 't>,
        visit: &mut impl FnMut(Match<'_, 't>) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let mut at = self.tokens.slices().1.partition_point(|&pos| (pos as usize) < lines.start);
        loop {
            let (kind, pos) = self.tokens.slices();
            let (byte, start) = (kind[at], pos[at] as usize);
            if start >= lines.end {
                return Ok(());
            }
            if byte == b'\n' {
                at += 1;
                continue;
            }
            let first = at;
            self.find(text, &mut at, &mut run.asked.select);
            // The rest of the line is skipped.
            let (kind, pos) = self.tokens.slices();
            if kind[at] != b'\n' {
                at += memchr::memchr(b'\n', &kind[at..]).unwrap_or_else(|| kind.len() - at - 1);
            }
            let line = Line { first: byte, start, end: pos[at] as usize };
            let again = |scanner: &mut Self, select: &mut Select<'_>| scanner.find(text, &mut { first }, select);
            if self.record(text, line, again, run, visit)?.is_break() {
                return Ok(());
            }
        }
    }

    /// Looks up the wanted fields in the records of a piece of trusted lines, without a scan for tokens.
    fn sweep<'t>(
        &mut self,
        piece: &'t [u8],
        base: usize,
        run: &mut Run<'_, 't>,
        visit: &mut impl FnMut(Match<'_, 't>) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let (mut records, mut swept) = (0, 0);
        let mut from = 0;
        while from < piece.len() {
            let start = from;
            if is_space(piece[start]) {
                from += 1;
                continue;
            }
            let (len, looked_at) = self.finder.find_in_line(&piece[start..], &mut run.asked.select);
            from += len;
            records += 1;
            swept += looked_at.unwrap_or(Sweeps::TOKENS_BYTES);
            let bytes = &piece[start..from];
            let text = PieceText { bytes, checked: None, base: base + start, is_tight: false };
            let line = Line { first: Slot::first_kind(bytes), start: 0, end: bytes.len() };
            let again = |scanner: &mut Self, select: &mut Select<'_>| scanner.finder.find(bytes, select);
            if self.record(&text, line, again, run, visit).map_err(|fault| fault.shifted(start as u64))?.is_break() {
                return Ok(());
            }
        }
        self.sweeps.measure(piece.len(), records, swept);
        Ok(())
    }

    /// Finds the wanted fields of the record whose first token is at `at`, without checks. Leaves `at` in the record,
    /// after all wanted fields, or at the line's end.
    #[inline(always)]
    fn find(&mut self, text: &PieceText<'_>, at: &mut usize, select: &mut Select<'_>) {
        self.finder.find_among(text.bytes, &self.tokens, at, text.is_tight, select);
    }

    /// Fills the fields that the filter needs, applies the filter, and passes a matching record to `visit`. `find` finds
    /// the other fields of the record.
    #[inline(always)]
    fn record<'t>(
        &mut self,
        text: &PieceText<'t>,
        line: Line,
        find: impl FnOnce(&mut Self, &mut Select<'_>),
        run: &mut Run<'_, 't>,
        visit: &mut impl FnMut(Match<'_, 't>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Fault> {
        let Line { first, start, end } = line;
        // Computed only on demand, because few callers need the record's end.
        let record = || Slot::whole(first, start, trim_end(text.bytes, start, end));
        #[cfg(jird_checked)]
        self.compare_with_model(text, record(), &run.asked.select);
        run.asked.fill(text, record, &mut run.fields)?;
        let mut mismatches = Mismatches::default();
        let holds = run.filter.is_none_or(|filter| filter.eval(&run.fields, &mut mismatches) == Some(true));
        if holds && !run.rest.is_empty() {
            find(self, &mut run.rest.select);
            #[cfg(jird_checked)]
            self.compare_with_model(text, record(), &run.rest.select);
            run.rest.fill(text, record, &mut run.fields)?;
        }
        // Bad records returned before this point, so they are not counted.
        run.scanned.records += 1;
        run.scanned.touched += 1;
        if mismatches.kinds > 0 && !run.would_pass_by(&text.bytes[start..end]) {
            run.scanned.mismatches.kinds += mismatches.kinds;
        }
        if !holds {
            return Ok(ControlFlow::Continue(()));
        }
        run.scanned.matched += 1;
        let raw = &text.bytes[record().range()];
        let flow = visit(Match { fields: &run.fields, text: raw, offset: text.base + start });
        run.scanned.stopped = flow.is_break();
        Ok(flow)
    }

    /// In checked builds the fields found in a record must be those that the naive parser finds.
    #[cfg(jird_checked)]
    fn compare_with_model(&self, text: &PieceText<'_>, record: Slot, select: &Select<'_>) {
        let bytes = &text.bytes[record.range()];
        let projection = select.projection();
        let compared = crate::tape::model::read(bytes, &self.options.policy, |root| {
            let wanted = crate::record::model::fields(root, projection);
            let slots = select.found().iter().zip(projection.paths()).enumerate();
            for ((slot, (found, path)), wanted) in slots.zip(wanted) {
                if projection.seeks(slot) {
                    assert!(
                        &text.bytes[found.range()] == wanted,
                        "the model finds another {path} in {:?}",
                        String::from_utf8_lossy(bytes)
                    );
                }
            }
        });
        // A trusted text may be no JSON; then any fields may be found.
        assert!(compared.is_ok() || text.checked.is_none(), "the model accepts the record too");
    }
}

/// A line with a record: the kind of the record's first token, where it begins, and the line's end.
#[derive(Clone, Copy)]
struct Line {
    first: u8,
    start: usize,
    end: usize,
}

/// The end of the piece that begins at `from`: after the last line that is complete within `reach`; if there is none,
/// after the first line.
fn piece_end(text: &[u8], from: usize, reach: usize) -> usize {
    let rest = &text[from..];
    let near = &rest[..rest.len().min(reach)];
    if near.len() == rest.len() {
        text.len()
    } else if let Some(newline) = memchr::memrchr(b'\n', near) {
        from + newline + 1
    } else {
        memchr::memchr(b'\n', rest).map_or(text.len(), |newline| from + newline + 1)
    }
}

/// The first error of pass one in lines. A newline where a control character is forbidden means that a string is not
/// closed.
pub(super) fn line_fault(text: &[u8], whole: &Whole<'_>) -> Option<Fault> {
    match whole.first_fault() {
        Some(fault) if usize::try_from(fault.offset()).is_ok_and(|at| text.get(at) == Some(&b'\n')) => {
            Some(Fault::new(ErrorKind::String, fault.offset()))
        }
        Some(fault) => Some(fault),
        None => whole.ends_in_string().then(|| Fault::at_byte(ErrorKind::String, text.len())),
    }
}
