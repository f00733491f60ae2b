//! Reads the wanted fields of each element of an array in a document.

use super::FieldReader;
use crate::error::Error;
use crate::fault::{ErrorKind, Fault};
use crate::kernel::Kernel;
use crate::limits::SIZE_MAX;
use crate::path::{Path, Step};
use crate::policy::Duplicates;
use crate::record::finder::value_len;
use crate::record::select::{Elements, Stretch};
use crate::record::{Field, Slot};
use crate::scan::{Mode, TextSoFar, Tokens};
use crate::tape::structure::{Structure, StructurePass};
use crate::text::{closing_quote, eq_unescaped, is_space};
use crate::walk::PassTwo;
use core::ops::{ControlFlow, Range};

impl FieldReader<'_> {
    /// Checks a document whole, and finds the fields of each element of the array at `array`: `each` gets them one
    /// element after the other, slot `i` of the projection in place `i`, and says whether it wants more. If it does
    /// not, the rest of the document is not checked. A document without an array there has no elements.
    ///
    /// Makes no tape. Linear in the document; copies nothing. If a path leads to an element of an array, the document
    /// is read twice.
    ///
    /// ```
    /// use jird::{Path, record::{FieldReader, Projection}};
    /// use std::ops::ControlFlow;
    /// let projection = Projection::new(&[Path::root().key("id")]);
    /// let mut reader = FieldReader::new(&projection);
    /// let mut ids = Vec::new();
    /// let mut read = |document: &str| {
    ///     reader.read_each(document.as_bytes(), &Path::root().key("users"), |fields| {
    ///         ids.push(fields[0].raw().to_owned());
    ///         ControlFlow::Continue(())
    ///     })
    /// };
    /// read(r#"{"users": [{"id": 1}, {"name": "b", "id": 20}]}"#)?;
    /// assert_eq!(read(r#"{"users": [{"id": 3}], }"#).unwrap_err().offset(), 23);
    /// assert_eq!(ids[..2], ["1", "20"]);
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Parser::parse`](crate::Parser::parse). `each` may have got elements before the error then.
    pub fn read_each<'t>(
        &mut self,
        document: &'t [u8],
        array: &Path,
        mut each: impl FnMut(&[Field<'t>]) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let are_keys = array.steps().iter().all(|step| matches!(step, Step::Key(_)));
        if !are_keys || !self.projection.has_only_keys() || self.policy.duplicates == Duplicates::Refuse {
            self.parser.validate(document)?;
            return self.read_each_trusted(document, array, each);
        }
        let mut structure = Structure::new(&self.policy);
        let mut pass = EachPass {
            kernel: self.kernel,
            structure: &mut structure,
            ahead: 0,
            scanned: TextSoFar::new(document),
            whole: self.projection.whole(),
            elements: Elements::new(&mut self.select, array.steps()),
            fields: vec![Field::MISSING; self.projection.slots()],
            each: &mut each,
            is_stopped: false,
        };
        let read = self.finder.chunks.read(document, Mode::Document, &mut pass);
        if pass.is_stopped { Ok(()) } else { read.map_err(|fault| Error::in_text(fault, document)) }
    }

    /// Finds the fields of each element of the array at `array`, in a document that was checked before, without
    /// checking it again: `each` gets them one element after the other, slot `i` of the projection in place `i`, and
    /// says whether it wants more. A document without an array there has no elements. Linear in the document; copies
    /// nothing.
    ///
    /// Reads the document up to the array's end, and passes by everything that is not wanted in steps of 64 bytes.
    /// Longer takes what [`FieldReader::read_trusted`] says, for the elements in which it occurs.
    ///
    /// This function is safe on any text. In a text that is not JSON it finds *some* fields.
    ///
    /// ```
    /// use jird::{Path, record::{FieldReader, Projection}};
    /// use std::ops::ControlFlow;
    /// let document = br#"{"count": 2, "users": [{"id": 1, "name": "a"}, {"name": "b", "id": 20}]}"#;
    /// let projection = Projection::new(&[Path::root().key("id")]);
    /// let mut sum = 0;
    /// FieldReader::new(&projection).read_each_trusted(document, &Path::root().key("users"), |fields| {
    ///     sum += fields[0].as_number().and_then(|id| id.as_i64()).unwrap_or_default();
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(sum, 21);
    /// # Ok::<(), jird::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a field that was found is not a value, or is not UTF-8, or if the array does not end, which happens only if
    /// the text is not JSON; and `size` for a text of 4 GiB. `each` has got the elements before it then.
    pub fn read_each_trusted<'t>(
        &mut self,
        document: &'t [u8],
        array: &Path,
        mut each: impl FnMut(&[Field<'t>]) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        if document.len() > SIZE_MAX {
            return Err(Error::new(ErrorKind::Size, SIZE_MAX as u64));
        }
        let mut place = Place { reader: self, text: document, at: 0 };
        if !place.go(array) {
            return Ok(());
        }
        place.elements(&mut each).map_err(|fault| Error::in_text(fault, document))
    }
}

/// The second pass of [`FieldReader::read_each`]: it checks the grammar of tokens, and then looks for fields in them.
struct EachPass<'a, 'p, 't, F> {
    kernel: Kernel,
    structure: &'a mut Structure,
    /// The number of tokens that were checked and not looked at.
    ahead: usize,
    scanned: TextSoFar<'t>,
    whole: &'p [usize],
    elements: Elements<'a, 'p>,
    fields: Vec<Field<'t>>,
    each: &'a mut F,
    /// Whether the caller wants no more.
    is_stopped: bool,
}

impl<'t, F: FnMut(&[Field<'t>]) -> ControlFlow<()>> PassTwo<'t> for EachPass<'_, '_, 't, F> {
    const WANTS_PLAIN_KINDS: bool = false;

    fn consume(&mut self, text: &[u8], tokens: &Tokens, at: &mut usize, last: bool) -> Result<(), Fault> {
        let mut to = *at + self.ahead;
        let mut check = StructurePass { kernel: self.kernel, state: self.structure, words: None };
        check.consume(text, tokens, &mut to, last)?;
        while let Some(element) = self.elements.next(self.kernel, Stretch { text, tokens, at, to, last }) {
            let found = self.elements.select().found();
            let scanned = &self.scanned;
            fill(&mut self.fields, found, self.whole, scanned.chunk().text, element.clone(), |field, text, slot| {
                // A chunk with a fault does not come here, but elements before the fault do.
                let Some(raw) = scanned.value(slot.range()) else { return Field::fill(field, text, slot) };
                *field = Field::new(slot.kind, slot.escaped, raw);
                Ok(())
            })?;
            if (self.each)(&self.fields).is_break() {
                self.is_stopped = true;
                // This error is never shown.
                return Err(Fault::at_byte(ErrorKind::Data, element.end));
            }
        }
        self.ahead = to - *at;
        Ok(())
    }

    fn scanned(&mut self, scanned: &TextSoFar<'t>, _tokens: &Tokens) {
        self.scanned = *scanned;
    }
}

/// Fills the fields of the element at a range of the text; `whole` are those that want all of it. `set` fills one field.
#[inline(always)]
fn fill<'t>(
    fields: &mut [Field<'t>],
    found: &[Slot],
    whole: &[usize],
    text: &'t [u8],
    element: Range<usize>,
    set: impl Fn(&mut Field<'t>, &'t [u8], Slot) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for (field, &slot) in fields.iter_mut().zip(found) {
        set(field, text, slot)?;
    }
    for &slot in whole {
        let first = Slot::first_kind(&text[element.clone()]);
        set(&mut fields[slot], text, Slot::whole(first, element.start, element.end))?;
    }
    Ok(())
}

/// A place between tokens of a document that is not checked.
struct Place<'a, 'p, 't> {
    reader: &'a mut FieldReader<'p>,
    text: &'t [u8],
    at: usize,
}

impl<'t> Place<'_, '_, 't> {
    /// Goes to the value at a path. Returns whether there is one.
    fn go(&mut self, path: &Path) -> bool {
        path.steps().iter().all(|step| match step {
            Step::Key(key) => self.eats(b'{') && self.goes_to_member(key),
            Step::Index(index) => self.eats(b'[') && self.goes_to_element(*index),
        })
    }

    fn goes_to_member(&mut self, key: &str) -> bool {
        while self.eats(b'"') {
            let Some(len) = closing_quote(self.rest()) else { return false };
            let raw = &self.rest()[..len];
            let is_wanted = raw == key.as_bytes() || raw.contains(&b'\\') && eq_unescaped(raw, key);
            self.at += len + 1;
            if !self.eats(b':') {
                return false;
            }
            if is_wanted {
                return true;
            }
            self.skip_value();
            if !self.eats(b',') {
                return false;
            }
        }
        false
    }

    fn goes_to_element(&mut self, index: usize) -> bool {
        for _ in 0..index {
            self.skip_value();
            if !self.eats(b',') {
                return false;
            }
        }
        self.next() != Some(b']')
    }

    /// Reads the elements of the array that begins here, if it is one.
    fn elements(&mut self, each: &mut impl FnMut(&[Field<'t>]) -> ControlFlow<()>) -> Result<(), Fault> {
        if !self.eats(b'[') || self.next() == Some(b']') {
            return Ok(());
        }
        let mut fields = vec![Field::MISSING; self.reader.projection.slots()];
        loop {
            self.skip_space();
            let text = self.rest();
            let FieldReader { projection, select, finder, .. } = &mut *self.reader;
            let len = finder.find_in_element(text, select);
            if len == 0 {
                return Err(Fault::at_byte(ErrorKind::Value, self.at));
            }
            let here = |fault: Fault| fault.shifted(self.at as u64);
            fill(&mut fields, select.found(), projection.whole(), text, 0..len, Field::fill).map_err(here)?;
            if each(&fields).is_break() {
                return Ok(());
            }
            self.at += len;
            match self.next() {
                Some(b',') => self.at += 1,
                Some(b']') => return Ok(()),
                Some(_) => return Err(Fault::at_byte(ErrorKind::Comma, self.at)),
                None => return Err(Fault::at_byte(ErrorKind::Unclosed, self.text.len())),
            }
        }
    }

    /// The text from here on.
    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.iter().position(|&byte| !is_space(byte)).unwrap_or(rest.len());
    }

    /// The next byte after white space.
    fn next(&mut self) -> Option<u8> {
        self.skip_space();
        self.rest().first().copied()
    }

    /// Passes the next byte after white space, if it is this one.
    fn eats(&mut self, byte: u8) -> bool {
        let is_it = self.next() == Some(byte);
        self.at += usize::from(is_it);
        is_it
    }

    fn skip_value(&mut self) {
        self.skip_space();
        self.at += value_len(self.reader.kernel, self.rest());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::policy::Policy;
    use crate::record::Projection;

    /// The texts of the fields of each element.
    type Elements = Vec<Vec<String>>;

    fn read(kernel: Kernel, projection: &Projection, text: &str, array: &Path) -> Result<Elements, Error> {
        let mut reader = FieldReader::with_kernel(projection, Policy::default(), kernel);
        let mut all = Vec::new();
        reader.read_each_trusted(text.as_bytes(), array, |fields| {
            all.push(fields.iter().map(|field| field.raw().to_owned()).collect());
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }

    fn checked(
        (kernel, bytes): (Kernel, usize),
        projection: &Projection,
        text: &str,
        array: &Path,
    ) -> Result<Elements, Error> {
        let mut reader = FieldReader::with_kernel(projection, Policy::default(), kernel);
        reader.finder.chunks = crate::walk::Chunks::new(kernel).with_chunk_bytes(bytes);
        let mut all = Vec::new();
        reader.read_each(text.as_bytes(), array, |fields| {
            all.push(fields.iter().map(|field| field.raw().to_owned()).collect());
            ControlFlow::Continue(())
        })?;
        Ok(all)
    }

    fn projection() -> Projection {
        let root = Path::root;
        Projection::new(&[root().key("a"), root().key("b").key("a"), root(), root().key("value")])
    }

    #[test]
    fn each_element_has_the_fields_that_a_parse_finds() {
        let elements = [
            r#"{"a":1,"b":{"a":"x"}}"#,
            r#" {"b" : {"a" : [1, {"a":2}]}, "\u0061": null} "#,
            r#"{"c":{"a":1,"b":{"a":1}},"b":{"c":"}","a":true},"a":"\\"}"#,
            "{}",
            "7",
            r#""a]""#,
            "[1,[2]]",
            " null",
            r#"{"a":{"a":{}},"x":[[[{"a":1}]]],"b":[{"a":1}]}"#,
        ];
        let projection = projection();
        for pad in 0..=64 {
            for kernel in Kernel::available() {
                let list = elements.join(",");
                let text = format!(r#"{{"p":"{}","x":{{"l":[0]}},"\u006c":[0,[{list}],1],"l":[]}}"#, "-".repeat(pad));
                let array = Path::root().key("l").index(1);
                let found = read(kernel, &projection, &text, &array).expect("it is JSON");
                let document = crate::parse(text.as_bytes()).expect("it is JSON");
                let list = document.root().get("l").and_then(|list| list.at(1)).expect("it has the array");
                assert_eq!(found.len(), list.len());
                for (found, element) in found.iter().zip(list.elements()) {
                    let raw = |value: Option<crate::Value<'_>>| {
                        value.map_or(String::new(), |value| String::from_utf8_lossy(value.raw()).into_owned())
                    };
                    let lone = (element.kind() != crate::Kind::Object).then_some(element);
                    let nested = element.get("b").and_then(|b| b.get("a"));
                    let wanted = [element.get("a"), nested, Some(element), element.get("value").or(lone)].map(raw);
                    assert_eq!(found.as_slice(), wanted, "{kernel:?} {text}");
                }
            }
        }
    }

    #[test]
    fn checked_elements_are_those_of_a_trusted_reader() {
        let root = Path::root;
        let paths =
            [vec![], vec![root().key("a")], vec![root().key("b"), root().key("a").key("b"), root().key("value")]];
        let projections = paths.map(|paths| Projection::new(&paths)).into_iter().chain([projection()]);
        let projections: Vec<_> = projections.collect();
        let mut random = checks::random::Random::new(8);
        let mut seen = 0;
        for round in 0..if cfg!(miri) { 20 } else { 3000 } {
            let mut list = Vec::new();
            for _ in 0..random.below(12) {
                let mut text = String::new();
                checks::random::object(&mut random, 3, &mut text);
                list.push(random.pick(&[&*text, "[[]]", "-1 ", "\n{}", "\"\\n\""]).to_owned());
            }
            let spaces = " ".repeat(random.below(70));
            let list = list.join(",");
            let texts = [
                format!("{spaces}[{list}]"),
                format!(r#"{{{spaces}"x":[{{"l":1}}],"l" :{{"k":2,"\u006d":[{list}]}},"y":[{list}]}}"#),
            ];
            for (text, array) in texts.iter().zip([root(), root().key("l").key("m")]) {
                for kernel in Kernel::available() {
                    let projection = &projections[round % projections.len()];
                    let wanted = read(kernel, projection, text, &array).expect("it is JSON");
                    seen += wanted.len();
                    for bytes in [64, 256, 1 << 16] {
                        let found = checked((kernel, bytes), projection, text, &array);
                        assert_eq!(found.as_ref(), Ok(&wanted), "{kernel:?} {bytes} {:?} {text}", projection.paths());
                    }
                    let cut = &text[..text.len() - 1];
                    let refused = checked((kernel, 128), projection, cut, &array).unwrap_err();
                    assert_eq!(refused, crate::validate(cut.as_bytes()).unwrap_err(), "{kernel:?} {cut}");
                }
            }
        }
        assert!(cfg!(miri) || seen > 20_000, "{seen}");
    }

    #[test]
    fn without_an_array_there_are_no_elements() {
        let path = Path::root().key("l");
        for text in ["", "{}", "[]", r#"{"l":{}}"#, r#"{"l":1}"#, r#"{"l":[ ] }"#, r#"{"k":["#, r#"{"l"#, r#"{"l":"#] {
            assert_eq!(read(Kernel::best(), &projection(), text, &path), Ok(vec![]), "{text}");
            let checked = checked((Kernel::best(), 64), &projection(), text, &path);
            assert_eq!(checked, crate::validate(text.as_bytes()).map(|()| vec![]), "{text}");
        }
        assert_eq!(read(Kernel::best(), &projection(), "[[1]]", &Path::root().index(1)), Ok(vec![]));
    }

    #[test]
    fn what_is_not_an_array_to_its_end_is_refused() {
        let cases = [("[1 2]", 3, ErrorKind::Comma), ("[1,", 3, ErrorKind::Value), ("[1", 2, ErrorKind::Unclosed)];
        for (text, at, kind) in cases {
            let error = read(Kernel::best(), &projection(), text, &Path::root()).unwrap_err();
            assert_eq!((error.offset(), error.kind()), (at, kind), "{text}");
        }
    }

    #[test]
    fn any_bytes_give_some_elements_on_every_kernel() {
        const ALPHABETS: [&[u8]; 3] = [b"{}[]:,\"a\\ \n1", b"[[{{\"a\":,,]]}}", b"{\"b\":\xFF\x00,}]["];
        let mut random = checks::random::Random::new(22);
        let (projection, kernels) = (projection(), Kernel::available().collect::<Vec<_>>());
        for round in 0..if cfg!(miri) { 100 } else { 20_000 } {
            let mut text = random.pick(&[&b"["[..], b"{\"l\":[", b"{\"k\":{\"a\":1},\"l\":[{\"a\":"]).to_vec();
            text.extend((0..random.below(200)).map(|_| random.pick(ALPHABETS[round % ALPHABETS.len()])));
            let array = if text[0] == b'[' { Path::root() } else { Path::root().key("l") };
            let found = kernels.iter().map(|&kernel| {
                let mut reader = FieldReader::with_kernel(&projection, Policy::default(), kernel);
                let mut all = Vec::new();
                let mut each = |fields: &[Field<'_>]| {
                    all.push(fields.iter().map(|field| field.raw().to_owned()).collect::<Vec<_>>());
                    ControlFlow::Continue(())
                };
                let trusted = reader.read_each_trusted(&text, &array, &mut each);
                let checked = reader.read_each(&text, &array, &mut each);
                assert_eq!(checked, crate::validate(&text), "{kernel:?} {:?}", String::from_utf8_lossy(&text));
                (all, trusted)
            });
            let found: Vec<_> = found.collect();
            assert!(found.windows(2).all(|two| two[0] == two[1]), "{:?}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn a_caller_may_stop() {
        let projection = projection();
        let mut count = 0;
        let stopped = FieldReader::new(&projection).read_each_trusted(b"[1,2,3", &Path::root(), |_| {
            count += 1;
            if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((stopped, count), (Ok(()), 2));
        let stopped = FieldReader::new(&projection).read_each(b"[1,2,3,]", &Path::root(), |_| ControlFlow::Break(()));
        assert_eq!(stopped.map_err(|error| error.kind()), Err(ErrorKind::Value), "it is one chunk");
    }
}
