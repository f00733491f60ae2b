//! Events that are written member by member.

use super::time_key::TimeKey;
use jird::hooks::write_string;
use jird_store::time;

/// The members of an event, or of an object within it. What is empty or zero was not said, and is left out.
pub(super) struct Members<'t> {
    text: &'t mut Vec<u8>,
    start: usize,
}

impl<'t> Members<'t> {
    /// An event, which is all of the text.
    pub(super) fn begin(text: &'t mut Vec<u8>) -> Self {
        text.clear();
        Self::within(text)
    }

    /// An object at the end of a text.
    pub(super) fn within(text: &'t mut Vec<u8>) -> Self {
        text.push(b'{');
        let start = text.len();
        Self { text, start }
    }

    /// The time of an event, in nanoseconds since 1970, where the store looks for it.
    ///
    /// # Errors
    /// It is after the year 2262.
    pub(super) fn key_time(&mut self, time: u64, key: &TimeKey) -> Result<(), &'static str> {
        if time != 0 {
            key.write(format!("\"{}\"", text_of(time)?).as_bytes(), self.text);
        }
        Ok(())
    }

    /// As [`key_time`](Self::key_time), of a time that may be before 1970, or then.
    pub(super) fn key_instant(&mut self, time: i64, key: &TimeKey) {
        key.write(format!("\"{}\"", time::to_wide_text(time)).as_bytes(), self.text);
    }

    /// A text, which is escaped where it must be.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        let mut json = Vec::with_capacity(text.len() + 2);
        write_string(text, &mut json);
        self.json(name, &json);
    }

    /// Another time.
    ///
    /// # Errors
    /// It is after the year 2262.
    pub(super) fn time(&mut self, name: &str, time: u64) -> Result<(), &'static str> {
        if time != 0 {
            self.quoted(name, text_of(time)?.as_bytes());
        }
        Ok(())
    }

    fn member(&mut self, name: &str, before: &[u8], value: &[u8], after: &[u8]) {
        if value.is_empty() {
            return;
        }
        self.text.extend_from_slice(if self.text.len() == self.start { b"\"" } else { b",\"" });
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
        [before, value, after].iter().for_each(|part| self.text.extend_from_slice(part));
    }

    /// A value that is JSON already.
    pub(super) fn json(&mut self, name: &str, value: &[u8]) {
        self.member(name, b"", value, b"");
    }

    /// A text of letters, digits and signs that JSON does not escape.
    pub(super) fn quoted(&mut self, name: &str, text: &[u8]) {
        self.member(name, b"\"", text, b"\"");
    }

    pub(super) fn number(&mut self, name: &str, number: u64) {
        if number != 0 {
            self.member(name, b"", number.to_string().as_bytes(), b"");
        }
    }

    /// Members of an object, or elements of an array, each with a comma after it.
    pub(super) fn list(&mut self, name: &str, [open, close]: [u8; 2], list: &[u8]) {
        self.member(name, &[open], without_comma(list), &[close]);
    }

    /// Ends it. The last members are those of the context, which each has a comma before it.
    pub(super) fn end(self, context: &[u8]) {
        let is_first = self.text.len() == self.start;
        self.text.extend_from_slice(if is_first { context.get(1..).unwrap_or_default() } else { context });
        self.text.push(b'}');
    }
}

/// A time as a text, with nine decimals.
fn text_of(time: u64) -> Result<String, &'static str> {
    let time = i64::try_from(time).map_err(|_| "its time is after the year 2262")?;
    Ok(time::to_wide_text(time))
}

/// Members without the comma after the last one.
pub(super) fn without_comma(members: &[u8]) -> &[u8] {
    members.strip_suffix(b",").unwrap_or(members)
}
