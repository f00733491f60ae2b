//! Log events of about 600 bytes for `small`, in the Compact Log Event Format. No two are alike, and every run has the
//! same ones.

use std::fmt::Write;

/// The number of events: as many as fit in the second-level cache, and too many for a branch predictor to memorize.
pub(crate) const COUNT: usize = 1000;

/// Generates `COUNT` events, each of which is a document.
pub(crate) fn events() -> Vec<Vec<u8>> {
    let mut dice = Dice(0x6A69_7264);
    (0..COUNT).map(|number| event(number, &mut dice).into_bytes()).collect()
}

fn event(number: usize, dice: &mut Dice) -> String {
    let path = dice.pick(&["/api/customers", "/api/orders", "/health", "/api/products/search", "/login"]);
    let method = dice.pick(&["GET", "POST", "PUT", "DELETE"]);
    let status = dice.pick(&["200", "201", "204", "301", "404", "500"]);
    let who = dice.pick(&["Zoë", "Łukasz", "anna", "bob", "李雷", "carol"]);
    let elapsed = f64::from(u32::try_from(dice.below(4_000_000)).expect("below 2^32")) / 10_000.0;
    let id = dice.below(1_000_000);
    let (minute, second) = (number / 60 % 60, number % 60);
    let mut text = format!(
        r#"{{"@t":"2024-05-14T08:{minute:02}:{second:02}.{:07}Z","@mt":"HTTP {{RequestMethod}} {{RequestPath}} responded {{StatusCode}} in {{Elapsed:0.0000}} ms","#,
        dice.below(10_000_000),
    );
    write!(
        text,
        r#""Message":"HTTP {method} {path}/{id} responded {status} in {elapsed} ms","Elapsed":{elapsed},"StatusCode":{status},"#
    )
    .expect("writing to a String");
    write!(
        text,
        r#""Properties":{{"RequestId":"{:016x}:{:08x}","User":"{who}","CustomerId":{id},"Cached":{},"Parent":{},"Sizes":[{},{},{}],"#,
        dice.next(),
        dice.below(1 << 32),
        dice.below(2) == 0,
        if dice.below(3) == 0 { "null".to_owned() } else { dice.below(99_999).to_string() },
        dice.below(100),
        dice.below(10_000),
        dice.below(1_000_000),
    )
    .expect("writing to a String");
    let agent = dice.pick(&["Mozilla\\/5.0 (X11; Linux x86_64)", "curl/8.5.0", "Java \\\"21\\\" client", "k6/0.50"]);
    write!(
        text,
        r#""Agent":"{agent}","Machine":"web-{:02}","SourceContext":"Shop.Web.{method}Handler""#,
        dice.below(40)
    )
    .expect("writing to a String");
    write!(
        text,
        r#","Application":"Shop.Web","Environment":"production","TraceId":"{:016x}{:016x}","Retries":{},"Region":"eu-north-{}""#,
        dice.next(),
        dice.next(),
        dice.below(4),
        1 + dice.below(3),
    )
    .expect("writing to a String");
    if dice.below(16) == 0 {
        text.push_str(r#","Exception":"System.TimeoutException: timed out\r\n   at Shop.Web.Handler.Run()\r\n""#);
    }
    text.push_str("}}");
    text
}

/// The generator known as `SplitMix64`.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let index = usize::try_from(self.below(choices.len() as u64)).expect("below a length");
        choices[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_about_600_bytes_of_valid_json() {
        let events = events();
        let total: usize = events.iter().map(Vec::len).sum();
        assert!((550..650).contains(&(total / events.len())), "{} bytes on average", total / events.len());
        for event in events {
            serde_json::from_slice::<serde_json::Value>(&event).expect("valid JSON");
        }
    }
}
