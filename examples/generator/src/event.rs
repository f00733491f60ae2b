//! One event as a line of JSON.
use crate::clock::{Clock, digits};
use crate::deck::{Card, Deck, Kind};
use crate::random::Random;
use crate::words;

/// What counts as slow, in ten-thousandths of a millisecond, the unit of every duration here.
const SLOW: u64 = 200 * 10_000;

/// The percentage of events of a request that name its path in the properties too; set so that a line has about 358
/// bytes on average.
const PATHS_PERCENT: u64 = 27;

/// Makes one event after the other.
pub(crate) struct Generator {
    random: Random,
    deck: Deck,
    clock: Clock,
    requests: u64,
}

/// Where an event belongs: a request's path and id, written into its message and its properties.
struct Request {
    /// JSON string text.
    path: &'static str,
    /// What follows the path.
    number: u64,
    connection: u64,
    sequence: u64,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), deck: Deck::new(), clock: Clock::new(), requests: 0 }
    }

    /// The same events at the times of another clock.
    pub(crate) fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Appends the next event and a newline to `out`.
    pub(crate) fn next(&mut self, out: &mut Vec<u8>) {
        let card = self.deck.draw(&mut self.random);
        text(out, "{\"@t\":\"");
        out.extend_from_slice(self.clock.next(&mut self.random));
        match card.kind {
            Kind::Request => self.request(out, card),
            Kind::Database => self.database(out, card),
            Kind::Job => self.job(out, card),
            Kind::Order => self.order(out),
            Kind::SignIn => self.sign_in(out),
            Kind::Cache => self.cache(out),
            Kind::Exception => self.exception(out, card),
        }
        text(out, "}}\n");
    }

    fn request(&mut self, out: &mut Vec<u8>, card: Card) {
        let request = self.new_request(card.customers);
        let method = self.random.pick(&words::METHODS);
        let status = self.random.pick(&words::STATUS);
        let elapsed = self.elapsed(card.slow);
        text(out, "\",\"@mt\":\"{Method} {RequestPath} responded {StatusCode} in {Elapsed} ms");
        if status == "500" {
            text(out, "\",\"@l\":\"Error");
        }
        text(out, "\",\"Message\":\"");
        text(out, method);
        text(out, " ");
        request.path(out);
        text(out, " responded ");
        text(out, status);
        text(out, " in ");
        fixed(out, elapsed);
        text(out, " ms\",\"Elapsed\":");
        shortest(out, elapsed);
        text(out, ",\"Properties\":{\"SourceContext\":\"Shop.Requests\"");
        self.place(out, &request);
        text(out, ",\"StatusCode\":");
        text(out, status);
        if self.random.one_in(10) {
            text(out, ",\"UserAgent\":\"");
            text(out, self.random.pick(&words::AGENTS));
            text(out, "\"");
        }
        self.application(out);
    }

    fn database(&mut self, out: &mut Vec<u8>, card: Card) {
        // Often on behalf of a request about customers: the path is in the properties then, and not in the message.
        let customers = self.random.one_in(3);
        let request = self.new_request(customers);
        let elapsed = self.elapsed(card.slow);
        let sql = self.random.pick(&words::SQL);
        text(out, "\",\"@mt\":\"Executed DbCommand ({Elapsed} ms){NewLine}{CommandText}");
        if card.slow {
            text(out, "\",\"@l\":\"Warning");
        }
        text(out, "\",\"Message\":\"Executed DbCommand (");
        shortest(out, elapsed);
        text(out, " ms)\\r\\n");
        text(out, sql);
        text(out, "\",\"Elapsed\":");
        shortest(out, elapsed);
        text(out, ",\"Properties\":{\"SourceContext\":\"Shop.Database\"");
        self.place(out, &request);
        text(out, ",\"Parameters\":[");
        number(out, request.number);
        text(out, ",null,\"@p0\"]");
        self.application(out);
    }

    fn job(&mut self, out: &mut Vec<u8>, card: Card) {
        let name = self.random.pick(&words::JOBS);
        // Jobs are timed in whole milliseconds.
        let elapsed = self.elapsed(card.slow) / 10_000 * 10_000 + if card.slow { 10_000 } else { 0 };
        let rows = self.random.below(50_000);
        text(out, "\",\"@mt\":\"Job {Job} finished in {Elapsed} ms, {Rows} rows");
        text(out, "\",\"Message\":\"Job \\\"");
        text(out, name);
        text(out, "\\\" finished in ");
        shortest(out, elapsed);
        text(out, " ms, ");
        number(out, rows);
        text(out, " rows\",\"Elapsed\":");
        shortest(out, elapsed);
        text(out, ",\"Properties\":{\"SourceContext\":\"Shop.Jobs.Runner\",\"Job\":\"");
        text(out, name);
        text(out, "\",\"Rows\":");
        number(out, rows);
        text(out, ",\"Checksum\":");
        number(out, self.random.bits() | 1 << 63);
        text(out, ",\"Steps\":[{\"Name\":\"read\",\"Ok\":true},{\"Name\":\"write\",\"Ok\":");
        text(out, self.random.pick(&["true", "true", "false", "null"]));
        text(out, "}]");
        self.application(out);
    }

    fn order(&mut self, out: &mut Vec<u8>) {
        // Twitter's snowflakes: the time in the high bits, so that every id is above 2^53.
        let order = (1 << 62) + self.random.below(1 << 60);
        let who = self.random.pick(&words::PEOPLE);
        let cents = self.random.between(100, 1_000_000);
        text(out, "\",\"@mt\":\"Order {OrderId} for {Customer} placed, total {Total}");
        text(out, "\",\"Message\":\"Order ");
        number(out, order);
        text(out, " for \\\"");
        text(out, who);
        text(out, "\\\" placed, total ");
        money(out, cents);
        text(out, "\",\"Properties\":{\"SourceContext\":\"");
        text(out, self.random.pick(&words::CONTEXTS));
        text(out, "\",\"OrderId\":");
        number(out, order);
        text(out, ",\"Customer\":{\"Name\":\"");
        text(out, who);
        text(out, "\",\"City\":\"");
        text(out, self.random.pick(&words::CITIES));
        text(out, "\",\"Vip\":");
        text(out, self.random.pick(&["true", "false", "false"]));
        text(out, "},\"Total\":");
        money(out, cents);
        let request = self.new_request(false);
        self.place(out, &request);
        self.application(out);
    }

    fn sign_in(&mut self, out: &mut Vec<u8>) {
        let who = self.random.pick(&words::PEOPLE);
        text(out, "\",\"@mt\":\"{User} signed in from {City}");
        text(out, "\",\"@l\":\"Debug\",\"Message\":\"");
        text(out, who);
        text(out, " signed in from ");
        text(out, self.random.pick(&words::CITIES));
        text(out, "\",\"Properties\":{\"SourceContext\":\"Shop.Accounts.SignIn\",\"User\":\"");
        text(out, who);
        text(out, "\",\"UserId\":");
        number(out, self.random.below(5_000_000));
        text(out, ",\"Roles\":[\"customer\"]");
        let request = self.new_request(false);
        self.place(out, &request);
        self.application(out);
    }

    fn cache(&mut self, out: &mut Vec<u8>) {
        let key = self.random.bits();
        text(out, "\",\"@mt\":\"Cache miss for {Key}\",\"@l\":\"Verbose\",\"Message\":\"Cache miss for product\\t");
        hexadecimal(out, key, 16);
        text(out, "\",\"Properties\":{\"SourceContext\":\"Shop.Cache\",\"Key\":\"");
        hexadecimal(out, key, 16);
        text(out, "\",\"Tags\":[],\"Extra\":{},\"Age\":null");
        self.application(out);
    }

    fn exception(&mut self, out: &mut Vec<u8>, card: Card) {
        let request = self.new_request(card.customers);
        text(out, "\",\"@mt\":\"Unhandled exception for {RequestPath}\",\"@l\":\"");
        text(out, self.random.pick(&["Error", "Error", "Fatal"]));
        text(out, "\",\"Message\":\"Unhandled exception for ");
        request.path(out);
        text(out, "\",\"@x\":\"");
        text(out, self.random.pick(&words::EXCEPTIONS));
        for _ in 0..self.random.between(3, 9) {
            text(out, "\\r\\n\\tat ");
            text(out, self.random.pick(&words::FRAMES));
            number(out, self.random.between(10, 900));
        }
        text(out, "\",\"Properties\":{\"SourceContext\":\"Shop.Api.ErrorHandler\"");
        self.place(out, &request);
        self.application(out);
    }

    /// A request about customers or about something else. Once in a while the customers' path has its slashes escaped,
    /// as PHP and older .NET serialisers write it: the same text, and a match all the same.
    fn new_request(&mut self, customers: bool) -> Request {
        self.requests += 1;
        let path = match customers {
            true if self.random.one_in(200) => "\\/api\\/customers\\/",
            true => "/api/customers/",
            false => self.random.pick(&words::PATHS),
        };
        let number = self.random.below(100_000);
        Request { path, number, connection: self.random.bits(), sequence: self.requests % 50 + 1 }
    }

    /// The properties that say where: `RequestId`, and for some `RequestPath`.
    fn place(&mut self, out: &mut Vec<u8>, request: &Request) {
        text(out, ",\"RequestId\":\"0HN");
        hexadecimal(out, request.connection, 8);
        text(out, ":");
        hexadecimal(out, request.sequence, 4);
        text(out, "\"");
        if self.random.below(100) < PATHS_PERCENT {
            text(out, ",\"RequestPath\":\"");
            request.path(out);
            text(out, "\"");
        }
        if self.random.one_in(10) {
            text(out, ",\"TraceId\":");
            number(out, request.connection);
        }
    }

    /// The last property of every event.
    fn application(&mut self, out: &mut Vec<u8>) {
        text(out, ",\"Application\":\"");
        text(out, self.random.pick(&words::APPLICATIONS));
        text(out, "\"");
    }

    /// A duration over 200 ms, or one of at most that: most are short, a few are whole milliseconds, and some lie at
    /// the border.
    fn elapsed(&mut self, slow: bool) -> u64 {
        if self.random.one_in(500) {
            return if slow { SLOW + 1 } else { SLOW };
        }
        let elapsed = match (slow, self.random.below(4)) {
            (true, 0) => self.random.between(SLOW + 1, 100 * SLOW),
            (true, _) => self.random.between(SLOW + 1, 5 * SLOW),
            (false, 0) => self.random.between(1, SLOW + 1),
            (false, _) => self.random.between(1, SLOW / 5),
        };
        if self.random.one_in(25) { elapsed.next_multiple_of(10_000) } else { elapsed }
    }
}

impl Request {
    fn path(&self, out: &mut Vec<u8>) {
        text(out, self.path);
        number(out, self.number);
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn number(out: &mut Vec<u8>, number: u64) {
    let len = number.checked_ilog10().map_or(1, |power| power as usize + 1);
    let mut place = [0; 20];
    digits(&mut place[..len], number);
    out.extend_from_slice(&place[..len]);
}

/// The last `len` hexadecimal digits of `number`.
fn hexadecimal(out: &mut Vec<u8>, number: u64, len: u32) {
    out.extend((0..len).rev().map(|digit| b"0123456789ABCDEF"[(number >> (4 * digit) & 15) as usize]));
}

/// A duration in milliseconds with four decimals: `26.0067`, `26.0000`.
fn fixed(out: &mut Vec<u8>, elapsed: u64) {
    number(out, elapsed / 10_000);
    let mut place = *b".0000";
    digits(&mut place[1..], elapsed % 10_000);
    out.extend_from_slice(&place);
}

/// The same without trailing zeros: `26.0067`, `26.5`, `26`.
fn shortest(out: &mut Vec<u8>, elapsed: u64) {
    fixed(out, elapsed);
    while out.last() == Some(&b'0') {
        out.pop();
    }
    if out.last() == Some(&b'.') {
        out.pop();
    }
}

fn money(out: &mut Vec<u8>, cents: u64) {
    number(out, cents / 100);
    let mut place = *b".00";
    digits(&mut place[1..], cents % 100);
    out.extend_from_slice(&place);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_with_four_decimals_or_without_their_zeros() {
        let check = |elapsed, fixed_expected: &str, shortest_expected: &str| {
            let (mut long, mut short) = (Vec::new(), Vec::new());
            fixed(&mut long, elapsed);
            shortest(&mut short, elapsed);
            assert_eq!(long, fixed_expected.as_bytes());
            assert_eq!(short, shortest_expected.as_bytes());
        };
        check(260_067, "26.0067", "26.0067");
        check(265_000, "26.5000", "26.5");
        check(2_000_000, "200.0000", "200");
        check(1, "0.0001", "0.0001");
        check(0, "0.0000", "0");
    }
}
