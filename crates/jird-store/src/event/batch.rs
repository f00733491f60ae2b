//! Some events that came together, ready for the log.

use super::TextOrder;
use super::future::{EventError, FutureLimit, LastTimes};
use crate::settings::Settings;
use crate::time;
use jird::policy::RECORD_BYTES_MAX;
use jird::record::{Field, FieldReader, Projection};
use jird::{Error, ErrorKind, Kind, Parser, Path};
use std::time::{SystemTime, UNIX_EPOCH};

/// Some events, checked and minified, each with its time. A batch is appended whole or not at all.
///
/// Batches can be made on any thread, several at a time; only the appending is done by one after the other.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The events, each with a line feed at its end.
    text: Vec<u8>,
    times: Vec<i64>,
    /// How many events have no time of their own.
    undated: u64,
    /// Those of them that get it when they are appended, by their places.
    open: Vec<u32>,
    order: TextOrder,
}

impl Batch {
    /// Checks and minifies the lines of a piece of NDJSON. Blank lines are skipped; the last line feed may be missing.
    /// `bad` gets the offset of each line that is invalid JSON or too long, its bytes, and its error, whose offset is
    /// that in `lines`.
    ///
    /// Numbers and strings keep their text; only white space between tokens goes. Linear in the lines.
    ///
    /// ```
    /// use jird_store::{Batch, Settings};
    /// let mut bad = Vec::new();
    /// let lines = b"{\"@t\": \"2024-03-05T07:00:00Z\", \"n\": 1.50}\n\n{\"n\": }\n";
    /// let batch = Batch::prepare(lines, &Settings::default(), &mut |offset, line, error| {
    ///     bad.push((offset, line.to_vec(), error.offset()));
    /// });
    /// assert_eq!(batch.text(), b"{\"@t\":\"2024-03-05T07:00:00Z\",\"n\":1.50}\n");
    /// assert_eq!(bad, [(43, b"{\"n\": }".to_vec(), 49)]);
    /// ```
    pub fn prepare(lines: &[u8], settings: &Settings, bad: &mut dyn FnMut(usize, &[u8], Error)) -> Self {
        Self::prepare_with(lines, settings, None, None, &mut json_only(bad))
    }

    /// As [`Batch::prepare`]; events whose times are further in the future than the limit are bad, too.
    ///
    /// ```
    /// use jird_store::{Batch, FutureLimit, Settings};
    /// use std::time::Duration;
    /// let (lines, limit) = (b"{\"@t\":1}\n{\"@t\":\"2261-01-01\"}\n", FutureLimit::new(Duration::from_secs(3600)));
    /// let mut bad = Vec::new();
    /// let batch = Batch::prepare_within(lines, &Settings::default(), Some(limit), &mut |offset, _, error| {
    ///     bad.push((offset, error.to_string()));
    /// });
    /// assert_eq!(batch.text(), b"{\"@t\":1}\n");
    /// assert_eq!(bad, [(9, "the time 2261-01-01T00:00:00Z is more than 1h in the future".to_owned())]);
    /// ```
    pub fn prepare_within(
        lines: &[u8],
        settings: &Settings,
        limit: Option<FutureLimit>,
        bad: &mut dyn FnMut(usize, &[u8], EventError),
    ) -> Self {
        Self::prepare_with(lines, settings, None, limit, bad)
    }

    /// As [`Batch::prepare`]; events without a time get `arrival`, in nanoseconds since 1970.
    pub fn prepare_at(
        lines: &[u8],
        settings: &Settings,
        arrival: i64,
        bad: &mut dyn FnMut(usize, &[u8], Error),
    ) -> Self {
        Self::prepare_with(lines, settings, Some(arrival), None, &mut json_only(bad))
    }

    fn prepare_with(
        lines: &[u8],
        settings: &Settings,
        arrival: Option<i64>,
        limit: Option<FutureLimit>,
        bad: &mut dyn FnMut(usize, &[u8], EventError),
    ) -> Self {
        Self::build_at(settings, lines.len(), arrival, |builder| {
            builder.limit_future(limit);
            let mut start = 0;
            while start < lines.len() {
                let end = memchr::memchr(b'\n', &lines[start..]).map_or(lines.len(), |len| start + len);
                let line = &lines[start..end];
                if let Err(error) = builder.add(line) {
                    let error = match error {
                        EventError::Json(error) => EventError::Json(error.shifted(start as u64)),
                        late @ EventError::Late { .. } => late,
                    };
                    bad(start, line, error);
                }
                start = end + 1;
            }
        })
        .0
    }

    /// Makes a batch of events that come one by one, of about `bytes` bytes in all: `work` adds them. What it returns
    /// is returned, too.
    ///
    /// ```
    /// use jird_store::{Batch, Settings};
    /// let (batch, refused) = Batch::build(&Settings::default(), 20, |builder| {
    ///     let events = [&b"{\"n\": 1}"[..], b"{\"n\": }", b"[\n2\n]"];
    ///     events.iter().filter(|event| builder.add(event).is_err()).count()
    /// });
    /// assert_eq!((batch.text(), refused), (&b"{\"n\":1}\n[2]\n"[..], 1));
    /// ```
    pub fn build<R>(settings: &Settings, bytes: usize, work: impl FnOnce(&mut BatchBuilder<'_>) -> R) -> (Self, R) {
        Self::build_at(settings, bytes, None, work)
    }

    /// Events without a time get `arrival`, or that at which they are appended.
    fn build_at<R>(
        settings: &Settings,
        bytes: usize,
        arrival: Option<i64>,
        work: impl FnOnce(&mut BatchBuilder<'_>) -> R,
    ) -> (Self, R) {
        let projection = Projection::new(std::slice::from_ref(&settings.time_field));
        let batch = Self { text: Vec::with_capacity(bytes + 64), ..Self::default() };
        let clock = Clock::new(&settings.time_field, &projection);
        let mut builder = BatchBuilder { batch, arrival, last_times: None, parser: Parser::new(), clock };
        let result = work(&mut builder);
        (builder.batch, result)
    }

    /// A batch of one event.
    pub(crate) fn of_event(event: &[u8], settings: &Settings) -> Result<Self, crate::error::Error> {
        let wrong = |what: &dyn std::fmt::Display| {
            let message = format!("the event was not taken: {what}");
            crate::error::Error::new(crate::error::ErrorKind::Event, message)
        };
        let (batch, added) = Self::build_at(settings, event.len(), None, |builder| builder.add(event));
        added.map_err(|error| wrong(&error))?;
        if batch.is_empty() { Err(wrong(&"it is empty")) } else { Ok(batch) }
    }

    /// Adds the events of another batch after its own. Copies the other batch.
    ///
    /// ```
    /// # use jird_store::{Batch, Settings};
    /// let [mut one, two] = [b"1", b"2"].map(|line| Batch::prepare(line, &Settings::default(), &mut |_, _, _| {}));
    /// one.join(&two);
    /// assert_eq!((one.text(), one.events()), (&b"1\n2\n"[..], 2));
    /// ```
    pub fn join(&mut self, other: &Self) {
        let before = self.times.len() as u32;
        self.open.extend(other.open.iter().map(|row| before + row));
        self.text.extend_from_slice(&other.text);
        self.times.extend_from_slice(&other.times);
        self.undated += other.undated;
        self.order = self.order.and(other.order);
    }

    /// Leaves out the events for which `keeps` is false. It gets them one by one, without their line feeds.
    ///
    /// ```
    /// # use jird_store::{Batch, Settings};
    /// let mut batch = Batch::prepare(b"1\n22\n3", &Settings::default(), &mut |_, _, _| {});
    /// batch.keep(|event| event.len() == 1);
    /// assert_eq!((batch.text(), batch.events(), batch.undated()), (&b"1\n3\n"[..], 2, 2));
    /// ```
    pub fn keep(&mut self, mut keeps: impl FnMut(&[u8]) -> bool) {
        let old = std::mem::take(self);
        let fixed = old.undated - old.open.len() as u64;
        let mut open = old.open.iter().peekable();
        for (row, (event, time)) in old.text.split_inclusive(|byte| *byte == b'\n').zip(&old.times).enumerate() {
            let is_open = open.next_if(|next| **next as usize == row).is_some();
            if keeps(&event[..event.len() - 1]) {
                self.open.extend(is_open.then_some(self.times.len() as u32));
                self.text.extend_from_slice(event);
                self.times.push(*time);
            }
        }
        self.undated = fixed + self.open.len() as u64;
        self.order = old.order;
    }

    /// The events, each with a line feed at its end.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Gives the events without a time this one, in which they are appended.
    pub(crate) fn arrive(&mut self, time: i64) {
        self.open.drain(..).for_each(|row| self.times[row as usize] = time);
    }

    /// Whether there are events that get their time when they are appended.
    pub(crate) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The times of the events, in nanoseconds since 1970. An event without one gets it when it is appended; until then,
    /// this is 0.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// The number of events.
    pub fn events(&self) -> u64 {
        self.times.len() as u64
    }

    /// How many of the events have no time of their own, or none that can be read.
    pub fn undated(&self) -> u64 {
        self.undated
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub(crate) fn order(&self) -> TextOrder {
        self.order
    }

    pub(crate) fn into_parts(self) -> (Vec<u8>, Vec<i64>) {
        (self.text, self.times)
    }
}

/// A batch to which events are added; see [`Batch::build`].
#[derive(Debug)]
pub struct BatchBuilder<'p> {
    batch: Batch,
    /// The time of events without one; `None` if they get it when they are appended.
    arrival: Option<i64>,
    last_times: Option<LastTimes>,
    parser: Parser,
    clock: Clock<'p>,
}

impl BatchBuilder<'_> {
    /// From now on, takes no event whose time is further in the future than this, counted from now.
    pub fn limit_future(&mut self, limit: Option<FutureLimit>) {
        self.last_times = limit.map(FutureLimit::last_times);
    }

    /// Checks, minifies and adds an event, which may have any white space between its tokens. One that is nothing but
    /// blanks is left out.
    ///
    /// # Errors
    /// It is no JSON, or longer than a record may be, or its time is too late; nothing was added.
    pub fn add(&mut self, event: &[u8]) -> Result<(), EventError> {
        if event.len() > RECORD_BYTES_MAX {
            return Err(Error::new(ErrorKind::Size, RECORD_BYTES_MAX as u64).into());
        }
        let batch = &mut self.batch;
        let start = batch.text.len();
        if let Err(error) = self.parser.minify(event, &mut batch.text) {
            return if is_blank(event) { Ok(()) } else { Err(error.into()) };
        }
        let found = self.clock.read(&batch.text[start..]);
        if let Some(last) = &self.last_times {
            let time = found.map(|(time, _)| time);
            if let Err(error) = last.check(time, &batch.text[start..], &mut self.clock.reader) {
                batch.text.truncate(start);
                return Err(error);
            }
        }
        let (time, order) = found.unwrap_or_else(|| {
            batch.undated += 1;
            if self.arrival.is_none() {
                batch.open.push(batch.times.len() as u32);
            }
            (self.arrival.unwrap_or_default(), TextOrder::Unknown)
        });
        batch.text.push(b'\n');
        batch.times.push(time);
        batch.order = batch.order.and(order);
        Ok(())
    }

    /// The number of events so far.
    pub fn events(&self) -> u64 {
        self.batch.events()
    }

    /// Their bytes, minified, with line feeds.
    pub fn bytes(&self) -> usize {
        self.batch.text.len()
    }
}

/// The time at which events come. It never goes back, as the clock on the wall does when it is set: events without a time
/// have the order in which they came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivalClock {
    last: i64,
}

impl ArrivalClock {
    /// A clock that was read before.
    pub(crate) fn after(last: i64) -> Self {
        Self { last }
    }

    /// The time now, in nanoseconds since 1970.
    pub(crate) fn now(&mut self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.at(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
    }

    fn at(&mut self, now: i64) -> i64 {
        self.last = self.last.max(now);
        self.last
    }
}

/// For lines without a limit to their times.
fn json_only(bad: &mut dyn FnMut(usize, &[u8], Error)) -> impl FnMut(usize, &[u8], EventError) {
    move |offset, line, error| match error {
        EventError::Json(error) => bad(offset, line, error),
        EventError::Late { .. } => unreachable!("without a limit, no time is late"),
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// Finds the time of minified events.
#[derive(Debug)]
struct Clock<'p> {
    /// What an event begins with that has the time as its first member, and as a text.
    head: Vec<u8>,
    reader: FieldReader<'p>,
}

impl<'p> Clock<'p> {
    fn new(path: &Path, projection: &'p Projection) -> Self {
        let head = match path.steps() {
            [jird::record::Step::Key(key)] => format!("{{{}:\"", jird::hooks::quoted(key)),
            _ => String::new(),
        };
        Self { head: head.into_bytes(), reader: FieldReader::new(projection) }
    }

    fn read(&mut self, event: &[u8]) -> Option<(i64, TextOrder)> {
        if let Some(rest) = event.strip_prefix(&*self.head).filter(|_| !self.head.is_empty()) {
            let end = memchr::memchr2(b'"', b'\\', rest)?;
            if rest[end] == b'"' {
                return of_plain(&rest[..end]);
            }
        }
        let mut field = [Field::MISSING];
        self.reader.read_trusted(event, &mut field).ok()?;
        let [field] = field;
        match field.kind()? {
            Kind::Number => Some((time::of_number(field.raw())?, TextOrder::Dated)),
            Kind::String if field.raw().contains('\\') => {
                Some((time::of_text(field.as_str()?.as_bytes())?, TextOrder::Dated))
            }
            Kind::String => of_plain(field.as_str()?.as_bytes()),
            _ => None,
        }
    }
}

/// The time of a text without escapes.
fn of_plain(text: &[u8]) -> Option<(i64, TextOrder)> {
    let order = time::ordered_width(text).map_or(TextOrder::Dated, TextOrder::Width);
    Some((time::of_text(text)?, order))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(lines: &str) -> Batch {
        Batch::prepare_at(lines.as_bytes(), &Settings::default(), 7, &mut |_, line, error| {
            panic!("{}: {error}", String::from_utf8_lossy(line))
        })
    }

    #[test]
    fn events_keep_everything_but_white_space() {
        let batch = prepare(" { \"a\" : \"b  c\\u0041\" , \"n\" : 1.50e0 }\r\n\t\n5\n[ ]");
        assert_eq!(batch.text(), b"{\"a\":\"b  c\\u0041\",\"n\":1.50e0}\n5\n[]\n");
        assert_eq!((batch.times(), batch.undated()), (&[7, 7, 7][..], 3));
    }

    #[test]
    fn an_event_has_its_time_wherever_the_member_stands_and_the_first_one_counts() {
        for (line, time) in [
            (r#"{"@t":"1970-01-01T00:00:01Z"}"#, 1_000_000_000),
            (r#"{"a":"\"@t\"","@t":"1970-01-01T00:00:01Z"}"#, 1_000_000_000),
            (r#"{"@t":"1970-01-01T00:00:0\u0031Z"}"#, 1_000_000_000),
            (r#"{"@t":"1970-01-01T00:00:01Z","@t":"1970-01-01T00:00:02Z"}"#, 1_000_000_000),
            (r#"{"@t":2}"#, 2_000_000_000),
            (r#"{"@t":null}"#, 7),
            (r#"{"@t":"soon"}"#, 7),
            (r#"{"x":{"@t":"1970-01-01T00:00:01Z"}}"#, 7),
            (r#"["@t"]"#, 7),
        ] {
            assert_eq!(prepare(line).times(), [time], "{line}");
        }
    }

    #[test]
    fn events_without_a_time_get_that_of_their_arrival_also_when_batches_are_joined() {
        let lines = |text: &str| Batch::prepare(text.as_bytes(), &Settings::default(), &mut |_, _, _| panic!("{text}"));
        let mut batch = lines("1\n{\"@t\":2}\n3");
        batch.join(&lines("{\"@t\":4}\n5"));
        assert!(batch.is_open());
        batch.arrive(9);
        assert_eq!((batch.times(), batch.undated()), (&[9, 2_000_000_000, 9, 4_000_000_000, 9][..], 3));
        batch.arrive(10);
        assert_eq!((batch.times()[0], batch.is_open()), (9, false));
    }

    #[test]
    fn the_time_of_arrival_never_goes_back() {
        let mut clock = ArrivalClock::after(5);
        assert_eq!([3, 7, 6, 7, 8].map(|now| clock.at(now)), [5, 7, 7, 7, 8]);
    }

    #[test]
    fn the_order_of_the_texts_is_known_only_if_all_have_one_width() {
        let order = |lines: &str| prepare(lines).order();
        let one = r#"{"@t":"2024-03-05T07:00:00Z"}"#;
        assert_eq!(order(""), TextOrder::Empty);
        assert_eq!(order(&format!("{one}\n{one}")), TextOrder::Width(20));
        assert_eq!(order(&format!("{one}\n{{}}")), TextOrder::Unknown);
        assert_eq!(order(&format!("{one}\n{{\"@t\":\"2024-03-05T07:00:00.5Z\"}}")), TextOrder::Dated);
        assert_eq!(order(r#"{"@t":"2024-03-05T07:00:0\u0030Z"}"#), TextOrder::Dated);
        assert_eq!(order(&format!("{one}\n{{\"@t\":1709622000}}")), TextOrder::Dated);
        // Its time is beyond what the store can sort by.
        assert_eq!(order(r#"{"@t":"9999-12-31T00:00:00Z"}"#), TextOrder::Unknown);
    }

    #[test]
    fn times_beyond_the_limit_are_bad_also_those_that_no_store_knows() {
        let lines = b"{}\n{\"@t\":\"9999-12-31T00:00:00Z\"}\n{\"@t\":\"1000-01-01\"}\n{\n{\"@t\":\"soon\"}\n\n {\"@t\":99999999999999999999} \n{\"@t\": \"2261-01-01\"}\n7";
        let found = |days: u64| {
            let limit = FutureLimit::new(std::time::Duration::from_secs(days * 86_400));
            let mut bad = Vec::new();
            let note = &mut |offset, line: &[u8], error| {
                bad.push((offset, line.len(), matches!(error, EventError::Late { .. })));
            };
            let batch = Batch::prepare_within(lines, &Settings::default(), Some(limit), note);
            (String::from_utf8(batch.text().to_vec()).unwrap(), bad, batch.undated())
        };
        let taken = "{}\n{\"@t\":\"1000-01-01\"}\n{\"@t\":\"soon\"}\n7\n";
        assert_eq!(found(1), (taken.into(), vec![(3, 29, true), (53, 1, false), (70, 29, true), (100, 20, true)], 4));
        let taken = "{}\n{\"@t\":\"1000-01-01\"}\n{\"@t\":\"soon\"}\n{\"@t\":\"2261-01-01\"}\n7\n";
        assert_eq!(found(90_000), (taken.into(), vec![(3, 29, true), (53, 1, false), (70, 29, true)], 4));
    }

    #[test]
    fn a_line_that_is_too_long_is_bad_and_the_next_is_read() {
        let mut lines = vec![b' '; RECORD_BYTES_MAX + 1];
        lines.extend_from_slice(b"\n1\n");
        let mut bad = Vec::new();
        let batch =
            Batch::prepare_at(&lines, &Settings::default(), 7, &mut |at, _, error| bad.push((at, error.kind())));
        assert_eq!((batch.text(), &bad[..]), (&b"1\n"[..], &[(0, ErrorKind::Size)][..]));
    }
}
