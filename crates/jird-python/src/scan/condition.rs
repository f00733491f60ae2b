//! Conditions on records, as in SQL: `Level = 'Error' and (Elapsed > 200 or user.name like 'A%')`.
//!
//! This is the part of the query language's conditions that compares fields with constants and with each other, without
//! the query engine. What it takes means the same there.

use jird::Path;
use jird::record::{Comparison, Like, Literal, Predicate};

/// The most brackets and `not`s that may stand in each other.
const DEPTH_MAX: usize = 200;

/// Reads a condition. Its fields get the slots from `paths.len()` on; those that are there already keep theirs.
///
/// # Errors
/// What is wrong, with the place in the condition.
pub(super) fn condition(text: &str, paths: &mut Vec<Path>) -> Result<Predicate, String> {
    let tokens = tokens(text)?;
    let mut grammar = Grammar { text, tokens: &tokens, at: 0, depth: 0, paths };
    let condition = grammar.any()?;
    match grammar.peek() {
        None => Ok(condition),
        Some(_) => Err(grammar.wanted("and, or, or the end")),
    }
}

/// A name as in SQL: keys, joined by dots, in double quotes where they are not plain words.
///
/// # Errors
/// What is wrong.
pub(crate) fn path(text: &str) -> Result<Path, String> {
    let tokens = tokens(text)?;
    let mut paths = Vec::new();
    let mut grammar = Grammar { text, tokens: &tokens, at: 0, depth: 0, paths: &mut paths };
    let path = grammar.path()?;
    if grammar.peek().is_some() { Err(grammar.wanted("the end")) } else { Ok(path) }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A word that is not in quotes: a key, or a word of the language.
    Word(String),
    /// A key in double quotes.
    Key(String),
    /// A text in single quotes.
    Text(String),
    Number(String),
    Sign(&'static str),
}

/// The tokens, each with its offset.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    const SIGNS: [&str; 12] = ["<>", "!=", "<=", ">=", "==", "=", "<", ">", "(", ")", ",", "."];
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, len) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first == '\'' || first == '"' {
            let (inner, len) = quoted(rest, first).ok_or_else(|| format!("the {first} at {at} is not closed"))?;
            (if first == '"' { Token::Key(inner) } else { Token::Text(inner) }, len)
        } else if first.is_ascii_digit() || first == '-' {
            let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '+' | '-');
            let len = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
            let number = &rest[..len];
            if jird::Number::new(number).is_none() {
                return Err(format!("{number} is no number of JSON"));
            }
            (Token::Number(number.to_owned()), len)
        } else if first.is_alphabetic() || matches!(first, '_' | '@' | '$') {
            let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '@' | '$');
            let len = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
            (Token::Word(rest[..len].to_owned()), len)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            return Err(format!("{first:?} at {at} has no meaning in a condition"));
        };
        tokens.push((at, token));
        at += len;
    }
    Ok(tokens)
}

/// What is between two quotes, where a doubled quote is one; and the length with the quotes.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, char)) = chars.next() {
        if char != quote {
            inner.push(char);
        } else if chars.peek().is_some_and(|(_, next)| *next == quote) {
            chars.next();
            inner.push(quote);
        } else {
            return Some((inner, at + 1));
        }
    }
    None
}

struct Grammar<'t, 'p> {
    text: &'t str,
    tokens: &'t [(usize, Token)],
    at: usize,
    depth: usize,
    paths: &'p mut Vec<Path>,
}

impl Grammar<'_, '_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn wanted(&self, what: &str) -> String {
        let place = self.tokens.get(self.at).map_or(self.text.len(), |(at, _)| *at);
        match &self.text[place..] {
            "" => format!("the condition ends where {what} should follow"),
            rest => {
                let shown = rest.chars().take(20).collect::<String>();
                format!("{what} should stand before {shown:?}, at {place}")
            }
        }
    }

    /// Takes a word of the language, in capitals or not.
    fn word(&mut self, wanted: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(wanted));
        self.at += usize::from(is);
        is
    }

    fn sign(&mut self, wanted: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Sign(sign)) if *sign == wanted);
        self.at += usize::from(is);
        is
    }

    fn any(&mut self) -> Result<Predicate, String> {
        let mut parts = vec![self.all()?];
        while self.word("or") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Predicate::Or(parts) })
    }

    fn all(&mut self) -> Result<Predicate, String> {
        let mut parts = vec![self.one()?];
        while self.word("and") {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Predicate::And(parts) })
    }

    fn one(&mut self) -> Result<Predicate, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("the condition is too deep".to_owned());
        }
        let made = if self.word("not") {
            Predicate::Not(Box::new(self.one()?))
        } else if self.sign("(") {
            let inner = self.any()?;
            if !self.sign(")") {
                return Err(self.wanted("`)`"));
            }
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(made)
    }

    fn comparison(&mut self) -> Result<Predicate, String> {
        // `200 < Elapsed`
        if let Some(literal) = self.literal() {
            let op = self.op().ok_or_else(|| self.wanted("a comparison"))?;
            let slot = self.slot()?;
            return Ok(Predicate::Compare { slot, op: mirrored(op), literal });
        }
        let slot = self.slot()?;
        if let Some(op) = self.op() {
            if let Some(literal) = self.literal() {
                return Ok(Predicate::Compare { slot, op, literal });
            }
            return Ok(Predicate::CompareSlots { left: slot, op, right: self.slot()? });
        }
        if self.word("is") {
            let is_not = self.word("not");
            if !self.word("null") {
                return Err(self.wanted("null"));
            }
            return Ok(negated(Predicate::IsNull { slot }, is_not));
        }
        let is_not = self.word("not");
        if self.word("in") {
            let list = self.list()?;
            return Ok(negated(Predicate::In { slot, list }, is_not));
        }
        if self.word("like") {
            let Some(Literal::Text(pattern)) = self.literal() else { return Err(self.wanted("a pattern in quotes")) };
            return Ok(negated(Predicate::Like { slot, pattern: Like::new(&pattern) }, is_not));
        }
        if self.word("between") {
            let low = self.literal().ok_or_else(|| self.wanted("a constant"))?;
            if !self.word("and") {
                return Err(self.wanted("and"));
            }
            let high = self.literal().ok_or_else(|| self.wanted("a constant"))?;
            let compare = |op, literal| Predicate::Compare { slot, op, literal };
            let both = vec![compare(Comparison::Ge, low), compare(Comparison::Le, high)];
            return Ok(negated(Predicate::And(both), is_not));
        }
        if is_not { Err(self.wanted("in, like or between")) } else { Ok(Predicate::Truth { slot }) }
    }

    fn list(&mut self) -> Result<Vec<Literal>, String> {
        let mut list = Vec::new();
        if !self.sign("(") {
            return Err(self.wanted("`(`"));
        }
        loop {
            list.push(self.literal().ok_or_else(|| self.wanted("a constant"))?);
            if self.sign(")") {
                return Ok(list);
            }
            if !self.sign(",") {
                return Err(self.wanted("`,` or `)`"));
            }
        }
    }

    fn op(&mut self) -> Option<Comparison> {
        let op = match self.peek()? {
            Token::Sign("=" | "==") => Comparison::Eq,
            Token::Sign("<>" | "!=") => Comparison::Ne,
            Token::Sign("<") => Comparison::Lt,
            Token::Sign("<=") => Comparison::Le,
            Token::Sign(">") => Comparison::Gt,
            Token::Sign(">=") => Comparison::Ge,
            _ => return None,
        };
        self.at += 1;
        Some(op)
    }

    fn literal(&mut self) -> Option<Literal> {
        let literal = match self.peek()? {
            Token::Text(text) => Literal::Text(text.as_str().into()),
            Token::Number(number) => Literal::Number(number.as_str().into()),
            Token::Word(word) if word.eq_ignore_ascii_case("true") => Literal::Bool(true),
            Token::Word(word) if word.eq_ignore_ascii_case("false") => Literal::Bool(false),
            Token::Word(word) if word.eq_ignore_ascii_case("null") => Literal::Null,
            _ => return None,
        };
        self.at += 1;
        Some(literal)
    }

    fn slot(&mut self) -> Result<usize, String> {
        let path = self.path()?;
        if let Some(slot) = self.paths.iter().position(|known| *known == path) {
            return Ok(slot);
        }
        self.paths.push(path);
        Ok(self.paths.len() - 1)
    }

    fn path(&mut self) -> Result<Path, String> {
        const RESERVED: [&str; 10] = ["and", "or", "not", "is", "in", "like", "between", "null", "true", "false"];
        let mut path = Path::root();
        loop {
            path = match self.peek() {
                Some(Token::Key(key)) => path.key(key.as_str()),
                Some(Token::Word(word)) if !RESERVED.iter().any(|other| word.eq_ignore_ascii_case(other)) => {
                    path.key(word.as_str())
                }
                _ => return Err(self.wanted("the name of a field")),
            };
            self.at += 1;
            if !self.sign(".") {
                return Ok(path);
            }
        }
    }
}

fn negated(predicate: Predicate, is_not: bool) -> Predicate {
    if is_not { Predicate::Not(Box::new(predicate)) } else { predicate }
}

/// The comparison with its sides exchanged.
fn mirrored(op: Comparison) -> Comparison {
    match op {
        Comparison::Eq => Comparison::Eq,
        Comparison::Ne => Comparison::Ne,
        Comparison::Lt => Comparison::Gt,
        Comparison::Le => Comparison::Ge,
        Comparison::Gt => Comparison::Lt,
        Comparison::Ge => Comparison::Le,
    }
}
