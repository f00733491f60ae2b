//! What no message may say, and texts of queries that no user would write.

use crate::dice::Random;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Whitespace};
use std::collections::HashSet;

/// Words of the inside: DataFusion's and Arrow's, and names that the engine makes.
pub(super) const INSIDE: &str = include_str!("inside.txt");

/// The word of the inside that a message about a query has, if the query does not have it too.
pub(super) fn leak(message: &str, sql: &str) -> Option<&'static str> {
    INSIDE.lines().find(|word| message.contains(word) && !sql.contains(word))
}

/// The query with its names in lower case, as DataFusion reads those without quotes, and all its words.
pub(super) fn lowered(sql: &str) -> (String, HashSet<String>) {
    let mut words = HashSet::new();
    let tokens = tokens(sql).into_iter().map(|token| match token {
        Token::Word(mut word) => {
            if word.quote_style.is_none() {
                word.value = word.value.to_lowercase();
            }
            words.insert(word.value.to_lowercase());
            Token::Word(word).to_string()
        }
        Token::Whitespace(Whitespace::SingleLineComment { .. }) => "\n".to_owned(),
        other => other.to_string(),
    });
    let text = tokens.collect::<String>();
    (text.trim().trim_end_matches(';').to_owned(), words)
}

fn tokens(sql: &str) -> Vec<Token> {
    let mut tokenizer = Tokenizer::new(&GenericDialect {}, sql).with_unescape(false);
    tokenizer.tokenize().unwrap_or_default()
}

/// What stands in for a literal.
const LITERALS: [&str; 14] = [
    "null",
    "''",
    "'x'",
    "0",
    "-1",
    "1.5",
    "1e999",
    "18446744073709551617",
    "true",
    "[1, null]",
    "{'a': 1}",
    "interval '1 day'",
    "timestamp '2024-01-01'",
    "(select 1)",
];

/// What stands in for anything.
const OTHERS: [&str; 10] = ["*", "(", ")", ",", "and", "not", "over", "distinct", "exists", "[0]"];

/// What a word is, so that it may take the place of another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Name,
    Keyword,
    Literal,
    Operator,
    Mark,
}

fn kind(token: &Token) -> Kind {
    match token {
        Token::Word(word) if word.keyword == Keyword::NoKeyword => Kind::Name,
        Token::Word(_) => Kind::Keyword,
        Token::Number(..) | Token::SingleQuotedString(_) => Kind::Literal,
        Token::Comma | Token::LParen | Token::RParen | Token::Period | Token::LBracket | Token::RBracket => Kind::Mark,
        _ => Kind::Operator,
    }
}

/// The query with some of its words exchanged with others of their kind or put in their places, so that most are queries
/// still; or dropped, doubled and replaced.
pub(super) fn mutated(sql: &str, random: &mut Random) -> String {
    let tokens = tokens(sql).into_iter().filter(|token| !matches!(token, Token::Whitespace(_)));
    let mut words: Vec<_> = tokens.map(|token| (kind(&token), token.to_string())).collect();
    for _ in 0..=random.below(3) {
        if words.is_empty() {
            break;
        }
        let at = random.below(words.len());
        let kind = words[at].0;
        let alike: Vec<_> = (0..words.len()).filter(|other| words[*other].0 == kind).collect();
        let other = random.pick(&alike);
        match random.below(12) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[at].clone()),
            2 => words[at] = (kind, random.pick(&OTHERS).to_owned()),
            3..=6 if [Kind::Literal, Kind::Name].contains(&kind) => {
                words[at] = (kind, random.pick(&LITERALS).to_owned());
            }
            3..=7 => words[at] = words[other].clone(),
            _ => words.swap(at, other),
        }
    }
    words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}
