//! A reader of JSON, as plain as possible: byte by byte, RFC 8259 rule by rule, by recursion.
//!
//! It returns what a text means, with the offset of everything; or else the first byte at which the text can no longer
//! be valid, and the rule that this byte breaks. The engine must return the same.

use jird::ErrorKind;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The offset of its first byte.
    pub start: usize,
    /// The offset after its last byte.
    pub end: usize,
    /// The value.
    pub tree: Tree,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, which is fully described by its text.
    Number,
    /// A string, decoded.
    String(String),
    /// The elements.
    Array(Vec<Node>),
    /// The members: a key, which is a string, and a value. Repeated keys are all included.
    Object(Vec<(Node, Node)>),
}

impl Node {
    /// The first member with this key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Tree::Object(members) = &self.tree else { return None };
        members.iter().find(|(found, _)| found.tree == Tree::String(key.into())).map(|(_, value)| value)
    }

    /// The element at this index.
    pub fn at(&self, index: usize) -> Option<&Node> {
        let Tree::Array(elements) = &self.tree else { return None };
        elements.get(index)
    }
}

/// The broken rule, and the first byte that breaks it.
pub type Fault = (ErrorKind, usize);

/// Reads `text` as one document in which at most `depth_max` objects and arrays are open at once.
///
/// # Errors
/// The first byte at which `text` can no longer be valid.
pub fn read(text: &[u8], depth_max: usize) -> Result<Node, Fault> {
    let mut reader = Reader { text, at: 0, depth_left: depth_max };
    reader.space();
    if reader.peek().is_none() {
        return Err((ErrorKind::Empty, reader.at));
    }
    let node = reader.value()?;
    reader.space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.fault(ErrorKind::Trailing)),
    }
}

/// Reads `text` as values one after the other, with or without white space between them. The values before the first
/// fault are returned with the fault.
pub fn read_values(text: &[u8], depth_max: usize) -> (Vec<Node>, Option<Fault>) {
    let mut reader = Reader { text, at: 0, depth_left: depth_max };
    let mut nodes = Vec::new();
    loop {
        reader.space();
        if reader.peek().is_none() {
            return (nodes, None);
        }
        match reader.value() {
            Ok(node) => nodes.push(node),
            Err(fault) => return (nodes, Some(fault)),
        }
    }
}

/// Reads `text` line by line. Blank lines are skipped, and offsets are relative to `text`. The values before the first
/// fault are returned with the fault.
pub fn read_lines(text: &[u8], depth_max: usize) -> (Vec<Node>, Option<Fault>) {
    let mut nodes = Vec::new();
    let mut from = 0;
    for line in text.split(|&byte| byte == b'\n') {
        match read(line, depth_max) {
            Ok(mut node) => {
                shift(&mut node, from);
                nodes.push(node);
            }
            Err((ErrorKind::Empty, _)) => {}
            Err((kind, offset)) => return (nodes, Some((kind, from + offset))),
        }
        from += line.len() + 1;
    }
    (nodes, None)
}

fn shift(node: &mut Node, by: usize) {
    node.start += by;
    node.end += by;
    match &mut node.tree {
        Tree::Array(elements) => elements.iter_mut().for_each(|element| shift(element, by)),
        Tree::Object(members) => members.iter_mut().for_each(|(key, value)| {
            shift(key, by);
            shift(value, by);
        }),
        _ => {}
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    depth_left: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The fault if the current byte breaks this rule. At the end of the text, or at a byte that begins no character,
    /// the fault is another one. An escape that continues with such a byte is still an escape fault.
    fn fault(&self, rule: ErrorKind) -> Fault {
        let kind = match (self.peek(), rule) {
            // A word that ends too early is a wrong word, not an open bracket.
            (None, ErrorKind::Number | ErrorKind::Literal) => rule,
            (None, ErrorKind::Escape) => ErrorKind::String,
            (None, _) => ErrorKind::Unclosed,
            (Some(0x80..=0xC1 | 0xF5..), rule) if rule != ErrorKind::Escape => ErrorKind::Utf8,
            _ => rule,
        };
        (kind, self.at)
    }

    /// The current character. Its prefixes are tried from the shortest on. The first prefix that no further byte could
    /// complete ends with the wrong byte.
    fn character(&self) -> Character {
        let rest = &self.text[self.at..];
        for len in 1..=rest.len().min(4) {
            match core::str::from_utf8(&rest[..len]) {
                Ok(char) => return char.chars().next().map_or(Character::End, Character::Char),
                Err(error) if error.error_len().is_some() => return Character::Broken(self.at + len - 1),
                Err(_) => {}
            }
        }
        Character::End
    }

    /// Reads a value, after white space.
    fn value(&mut self) -> Result<Node, Fault> {
        self.space();
        let start = self.at;
        let tree = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Tree::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.literal(b"true", Tree::Bool(true))?,
            Some(b'f') => self.literal(b"false", Tree::Bool(false))?,
            Some(b'n') => self.literal(b"null", Tree::Null)?,
            _ => return Err(self.fault(ErrorKind::Value)),
        };
        Ok(Node { start, end: self.at, tree })
    }

    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Result<Tree, Fault>) -> Result<Tree, Fault> {
        if self.depth_left == 0 {
            return Err((ErrorKind::Depth, self.at));
        }
        self.depth_left -= 1;
        self.at += 1;
        self.space();
        let tree = inner(self)?;
        self.at += 1;
        self.depth_left += 1;
        Ok(tree)
    }

    /// Reads from after the opening bracket up to the closing one.
    fn object(&mut self) -> Result<Tree, Fault> {
        let mut members = Vec::new();
        if self.peek() == Some(b'}') {
            return Ok(Tree::Object(members));
        }
        loop {
            self.space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.fault(ErrorKind::Key));
            }
            let tree = Tree::String(self.string()?);
            let key = Node { start, end: self.at, tree };
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.fault(ErrorKind::Colon));
            }
            self.at += 1;
            members.push((key, self.value()?));
            if self.closes(b'}')? {
                return Ok(Tree::Object(members));
            }
        }
    }

    /// Reads from after the opening bracket up to the closing one.
    fn array(&mut self) -> Result<Tree, Fault> {
        let mut elements = Vec::new();
        if self.peek() == Some(b']') {
            return Ok(Tree::Array(elements));
        }
        loop {
            elements.push(self.value()?);
            if self.closes(b']')? {
                return Ok(Tree::Array(elements));
            }
        }
    }

    /// Reads what follows a value: the closing bracket, or a comma, which is passed.
    fn closes(&mut self, bracket: u8) -> Result<bool, Fault> {
        self.space();
        match self.peek() {
            Some(byte) if byte == bracket => Ok(true),
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.fault(ErrorKind::Comma)),
        }
    }

    fn literal(&mut self, word: &[u8], tree: Tree) -> Result<Tree, Fault> {
        for &byte in word {
            if self.peek() != Some(byte) {
                return Err(self.fault(ErrorKind::Literal));
            }
            self.at += 1;
        }
        self.word_ends(ErrorKind::Literal)?;
        Ok(tree)
    }

    /// RFC 8259 §6.
    fn number(&mut self) -> Result<Tree, Fault> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        self.word_ends(ErrorKind::Number)?;
        Ok(Tree::Number)
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.fault(ErrorKind::Number)) } else { Ok(()) }
    }

    /// Checks that a number or literal ends at white space, at a structural byte, or at the end of the text. Any other
    /// byte after it belongs to it.
    fn word_ends(&self, rule: ErrorKind) -> Result<(), Fault> {
        match self.peek() {
            None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'{' | b'}' | b'[' | b']' | b':' | b',') => Ok(()),
            Some(_) => Err(self.fault(rule)),
        }
    }

    /// RFC 8259 §7.
    fn string(&mut self) -> Result<String, Fault> {
        let mut content = String::new();
        self.at += 1;
        loop {
            match self.character() {
                Character::End => return Err((ErrorKind::String, self.text.len())),
                Character::Broken(at) => return Err((ErrorKind::Utf8, at)),
                Character::Char('"') => {
                    self.at += 1;
                    return Ok(content);
                }
                Character::Char('\\') => content.push(self.escape()?),
                Character::Char('\0'..='\x1F') => return Err((ErrorKind::Control, self.at)),
                Character::Char(char) => {
                    content.push(char);
                    self.at += char.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        self.at += 1;
        let char = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0C',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.code_point();
            }
            _ => return Err(self.fault(ErrorKind::Escape)),
        };
        self.at += 1;
        Ok(char)
    }

    /// Reads from after `\u`. A lone trailing surrogate is refused at the digit that makes it one. A lone leading
    /// surrogate is refused at the first byte that does not begin or continue a trailing one.
    fn code_point(&mut self) -> Result<char, Fault> {
        let mut unit = self.hex_digit(u32::MAX)?;
        for allowed in [if unit == 0xD { 0xFFF } else { u32::MAX }, u32::MAX, u32::MAX] {
            unit = unit << 4 | self.hex_digit(allowed)?;
        }
        if !(0xD800..=0xDBFF).contains(&unit) {
            return Ok(char::from_u32(unit).expect("no surrogate"));
        }
        for byte in *b"\\u" {
            if self.peek() != Some(byte) {
                return Err(self.fault(ErrorKind::Escape));
            }
            self.at += 1;
        }
        let mut trailing = 0;
        for allowed in [1 << 0xD, 0xF << 0xC, u32::MAX, u32::MAX] {
            trailing = trailing << 4 | self.hex_digit(allowed)?;
        }
        Ok(char::from_u32(0x1_0000 + (unit - 0xD800) * 0x400 + (trailing - 0xDC00)).expect("a surrogate pair"))
    }

    /// Reads a hexadecimal digit whose bit is set in `allowed`.
    fn hex_digit(&mut self, allowed: u32) -> Result<u32, Fault> {
        match self.peek().and_then(|byte| char::from(byte).to_digit(16)) {
            Some(digit) if allowed >> digit & 1 == 1 => {
                self.at += 1;
                Ok(digit)
            }
            _ => Err(self.fault(ErrorKind::Escape)),
        }
    }
}

enum Character {
    /// The text ends here, or within the character.
    End,
    /// This byte does not continue the character, or begins none.
    Broken(usize),
    Char(char),
}
