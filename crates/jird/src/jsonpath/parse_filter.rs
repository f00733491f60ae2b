//! Text to filters: logical expressions, comparisons and functions (RFC 9535 §2.3.5 and §2.4), and whether they are
//! well-typed (§2.4.3).

use super::bad_path::BadPath;
use super::cursor::{Cursor, Written};
use super::pattern::{Pattern, PatternSource, compile};
use super::syntax::{Comparison, Operand, Start, Subquery, Test};
use crate::number::Number;

/// What an operand or a test begins with.
enum Term {
    Value(Operand),
    Query(Written),
    /// A function whose result is a truth: `match` or `search`.
    Truth(Test),
}

const OPERATORS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// What programs before the standard wrote `=~` for.
const BY_FUNCTIONS: &str = "regular expressions are matched by `match(@.a, 'x.*')` and `search`";

const NO_TRUTH: &str = "a value alone is neither true nor false: compare it, as in `@.a == 1`";

impl Cursor<'_> {
    /// `logical-expr`. White space after it is not consumed.
    pub(super) fn test(&mut self) -> Result<Test, BadPath> {
        self.chain("||", Self::all, Test::Any)
    }

    fn all(&mut self) -> Result<Test, BadPath> {
        self.chain("&&", Self::basic, Test::All)
    }

    /// One or more of what `parse` reads, with `operator` between them.
    fn chain(
        &mut self,
        operator: &str,
        parse: impl Fn(&mut Self) -> Result<Test, BadPath>,
        join: impl FnOnce(Vec<Test>) -> Test,
    ) -> Result<Test, BadPath> {
        let first = parse(self)?;
        let mut tests = Vec::new();
        loop {
            let before = self.at;
            self.skip_space();
            if !self.eats(operator) {
                self.at = before;
                break;
            }
            self.skip_space();
            tests.push(parse(self)?);
        }
        if tests.is_empty() {
            return Ok(first);
        }
        tests.insert(0, first);
        Ok(join(tests))
    }

    /// `basic-expr`
    fn basic(&mut self) -> Result<Test, BadPath> {
        let negates = self.eats("!");
        if negates {
            self.skip_space();
        }
        let test = if self.eats("(") { self.group()? } else { self.test_or_comparison(negates)? };
        Ok(if negates { Test::Not(Box::new(test)) } else { test })
    }

    /// `paren-expr`, after its `(`.
    fn group(&mut self) -> Result<Test, BadPath> {
        self.skip_space();
        let test = self.nested(Self::test)?;
        self.skip_space();
        if self.eats(")") { Ok(test) } else { Err(self.expected("`)`, `&&` or `||`")) }
    }

    fn test_or_comparison(&mut self, negated: bool) -> Result<Test, BadPath> {
        let begin = self.at;
        let term = self.term()?;
        let after = self.at;
        self.skip_space();
        let Some(operator) = OPERATORS.iter().find(|(text, _)| self.eats(text)).map(|(_, operator)| *operator) else {
            if self.rest().starts_with(['=', '~']) {
                let is_match = self.rest().trim_start_matches('=').starts_with('~');
                return Err(self.wrong(if is_match { BY_FUNCTIONS } else { "a comparison is written `==`" }));
            }
            self.at = after;
            return match term {
                Term::Query(query) => Ok(Test::Exists(query.query)),
                Term::Truth(test) => Ok(test),
                Term::Value(_) => Err(BadPath::new(NO_TRUTH, begin)),
            };
        };
        if negated {
            return Err(BadPath::new("`!` before a comparison needs brackets, as in `!(@.a == 1)`", begin));
        }
        let left = comparable(term, begin)?;
        self.skip_space();
        let begin = self.at;
        let right = self.term()?;
        Ok(Test::Compare(left, operator, comparable(right, begin)?))
    }

    /// `literal`, `filter-query` or `function-expr`
    fn term(&mut self) -> Result<Term, BadPath> {
        match self.peek() {
            Some('@' | '$') => self.filter_query().map(Term::Query),
            Some('\'' | '"') => {
                let text = self.string()?.unwrap_or_default();
                Ok(Term::Value(Operand::String(text.into())))
            }
            Some('-' | '0'..='9') => self.number().map(Term::Value),
            Some('a'..='z') => self.word(),
            Some('!') => Err(self.wrong("`!` stands twice")),
            _ => Err(self.expected("`@`, `$`, a value, a function or `(`")),
        }
    }

    fn filter_query(&mut self) -> Result<Written, BadPath> {
        let at = self.at;
        let start = if self.eats("@") {
            Start::Current
        } else {
            self.at += 1;
            Start::Root(self.new_memo())
        };
        let segments = self.segments()?;
        Ok(Written { query: Subquery { start, query: segments.query }, at, is_singular: segments.is_singular })
    }

    fn number(&mut self) -> Result<Operand, BadPath> {
        let rest = self.rest();
        let len =
            rest.find(|char: char| !matches!(char, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        let text = &rest[..len];
        if Number::new(text).is_none() {
            return Err(self.wrong(format!("{text:?} is not a number of JSON")));
        }
        self.at += len;
        Ok(Operand::Number(text.into()))
    }

    /// A function, or `true`, `false` or `null`.
    fn word(&mut self) -> Result<Term, BadPath> {
        let (begin, rest) = (self.at, self.rest());
        let is_part = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
        let name = &rest[..rest.find(|char| !is_part(char)).unwrap_or(rest.len())];
        self.at += name.len();
        if self.eats("(") {
            return self.nested(|cursor| cursor.function(name, begin));
        }
        Ok(Term::Value(match name {
            "null" => Operand::Null,
            "true" => Operand::Bool(true),
            "false" => Operand::Bool(false),
            _ => {
                let message = format!(
                    "{name:?} is not a value: a string stands in quotes, and a member of the node is `@.{name}`"
                );
                return Err(BadPath::new(message, begin));
            }
        }))
    }

    /// A function, after its name and `(`.
    fn function(&mut self, name: &str, begin: usize) -> Result<Term, BadPath> {
        let term = match name {
            "length" => Term::Value(Operand::Length(Box::new(self.value_argument(name)?))),
            "count" => Term::Value(Operand::Count(self.nodes_argument(name)?)),
            "value" => Term::Value(Operand::Value(self.nodes_argument(name)?)),
            "match" | "search" => {
                let text = self.value_argument(name)?;
                self.skip_space();
                if !self.eats(",") {
                    return Err(self.expected(&format!("`,` and the pattern of `{name}`")));
                }
                let source = match self.value_argument(name)? {
                    Operand::String(pattern) => {
                        let compiled = compile(&pattern, name == "match");
                        PatternSource::Literal(pattern, compiled)
                    }
                    operand => PatternSource::Computed(Box::new(operand), self.new_memo()),
                };
                Term::Truth(Test::Matches(text, Pattern { whole: name == "match", source }))
            }
            _ => {
                let message =
                    format!("{name:?} is not a function; the functions are length, count, match, search and value");
                return Err(BadPath::new(message, begin));
            }
        };
        self.skip_space();
        if self.eats(")") { Ok(term) } else { Err(self.expected(&format!("the `)` of `{name}`"))) }
    }

    /// An argument of `ValueType`.
    fn value_argument(&mut self, function: &str) -> Result<Operand, BadPath> {
        self.skip_space();
        let begin = self.at;
        match self.term()? {
            Term::Truth(_) => {
                Err(BadPath::new(format!("`{function}` takes a value, and `match` and `search` have none"), begin))
            }
            Term::Query(query) if !query.is_singular => Err(BadPath::new(
                format!("`{function}` takes one value, and this query may find several: {SINGULAR}"),
                begin,
            )),
            term => comparable(term, begin),
        }
    }

    /// An argument of `NodesType`.
    fn nodes_argument(&mut self, function: &str) -> Result<Subquery, BadPath> {
        self.skip_space();
        let begin = self.at;
        match self.term()? {
            Term::Query(query) => Ok(query.query),
            _ => Err(BadPath::new(format!("`{function}` takes a query, which begins with `@` or `$`"), begin)),
        }
    }
}

/// What a singular query is.
const SINGULAR: &str = "name its node by names and indexes alone, as in `@.a[0]`";

/// A side of a comparison.
fn comparable(term: Term, begin: usize) -> Result<Operand, BadPath> {
    match term {
        Term::Value(operand) => Ok(operand),
        Term::Query(query) if query.is_singular => Ok(Operand::Singular(query.query)),
        Term::Query(query) => Err(BadPath::new(
            format!("a comparison takes one value, and this query may find several: {SINGULAR}"),
            query.at,
        )),
        Term::Truth(_) => Err(BadPath::new("`match` and `search` are tests: they cannot be compared", begin)),
    }
}
