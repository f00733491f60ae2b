//! A reader of JSON as plain as it can be written: byte by byte, RFC 8259 rule by rule, by recursion.
//!
//! It says what a text means, with the offsets of everything, or which byte is the first at which the text can no longer be
//! right, and which rule that byte breaks. What the engine says must be the same.

use jird::ErrorKind;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Offset of its first byte.
    pub start: usize,
    /// Offset past its last byte.
    pub end: usize,
    /// What it is.
    pub tree: Tree,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number; its text is all there is to it.
    Number,
    /// A string, decoded.
    String(String),
    /// The elements.
    Array(Vec<Node>),
    /// The members: a key, which is a string, and a value. Repeated keys are all there.
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

/// The rule that is broken, and the first byte that breaks it.
pub type Fault = (ErrorKind, usize);

/// Reads `text` as one document in which at most `depth_max` objects and arrays are open at once.
///
/// # Errors
/// The first byte at which `text` can no longer be right.
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

/// Reads `text` line by line. Blank lines are left out; offsets are of `text`. What comes before the first fault is there
/// beside it.
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

    /// The byte here breaks this rule; unless nothing is here, or what is here is no character. Of an escape that goes on
    /// with what is no character, it is the escape that is named.
    fn fault(&self, rule: ErrorKind) -> Fault {
        let kind = match (self.character(), rule) {
            // A word that ends too early is a wrong word, and no open bracket.
            (Character::Broken, ErrorKind::Escape) | (Character::End, ErrorKind::Number | ErrorKind::Literal) => rule,
            (Character::Broken, _) => ErrorKind::Utf8,
            (Character::End, ErrorKind::Escape) => ErrorKind::String,
            (Character::End, _) => ErrorKind::Unclosed,
            _ => rule,
        };
        (kind, self.at)
    }

    fn character(&self) -> Character {
        let rest = &self.text[self.at..];
        let rest = &rest[..rest.len().min(4)];
        if rest.is_empty() {
            return Character::End;
        }
        let valid = match core::str::from_utf8(rest) {
            Ok(valid) => valid,
            Err(error) => core::str::from_utf8(&rest[..error.valid_up_to()]).expect("valid up to there"),
        };
        valid.chars().next().map_or(Character::Broken, Character::Char)
    }

    /// A value begins here, after white space.
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

    /// From after the bracket, up to the closing one.
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

    /// From after the bracket, up to the closing one.
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

    /// After a value: the closing bracket, or a comma, which is passed.
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

    /// A number or literal reaches to white space, to a structural byte, or to the end: what else follows belongs to it.
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
                Character::End => return Err((ErrorKind::String, self.at)),
                Character::Broken => return Err((ErrorKind::Utf8, self.at)),
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
        let backslash = self.at;
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
                return self.code_point(backslash);
            }
            _ => return Err(self.fault(ErrorKind::Escape)),
        };
        self.at += 1;
        Ok(char)
    }

    /// From after `\u`. A trailing surrogate by itself is refused at its backslash; a leading one at the first byte that
    /// begins or continues no trailing one.
    fn code_point(&mut self, backslash: usize) -> Result<char, Fault> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit << 4 | self.hex_digit(u32::MAX)?;
        }
        match unit {
            0xD800..=0xDBFF => {}
            0xDC00..=0xDFFF => return Err((ErrorKind::Escape, backslash)),
            _ => return Ok(char::from_u32(unit).expect("no surrogate")),
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

    /// A hexadecimal digit whose bit is set in `allowed`.
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
    End,
    Broken,
    Char(char),
}
