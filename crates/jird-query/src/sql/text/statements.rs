//! Statements and clauses of `DuckDB` that the parser does not know, token by token: `pivot t on a using sum(b)`,
//! `unpivot t on a, b`, `asof join`, `using sample`.

use super::dialect::Ours;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

/// What the name of a pivoted table begins with whose groups are named: they follow.
pub(crate) const GROUPED_BY: &str = "pivot by:";

/// Rewrites tokens to those of a form that the parser knows.
pub(crate) fn known(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let has = |wanted: &str| tokens.iter().any(|token| is(token, wanted));
    let (has_pivot, has_join, has_sample) = (has("PIVOT") || has("UNPIVOT"), has("ASOF"), has("SAMPLE"));
    let mut tokens = tokens;
    if has_pivot {
        while let Some(at) = tokens.iter().enumerate().position(|(at, _)| begins_pivot(&tokens, at)) {
            pivot(&mut tokens, at);
        }
    }
    if has_join {
        asof(&mut tokens);
    }
    if has_sample {
        sample(&mut tokens);
    }
    tokens
}

/// Whether a token is this word, without quotes.
fn is(token: &TokenWithSpan, wanted: &str) -> bool {
    matches!(&token.token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
}

fn is_blank(token: &TokenWithSpan) -> bool {
    matches!(token.token, Token::Whitespace(_))
}

/// The last token before a place that is not blank.
fn before(tokens: &[TokenWithSpan], at: usize) -> Option<&TokenWithSpan> {
    tokens[..at].iter().rev().find(|token| !is_blank(token))
}

/// The place of the next token that is not blank.
fn next(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    (from..tokens.len()).find(|at| !is_blank(&tokens[*at]))
}

/// Whether a statement begins here, and not a clause behind a table.
fn begins_pivot(tokens: &[TokenWithSpan], at: usize) -> bool {
    let is_word = is(&tokens[at], "PIVOT") || is(&tokens[at], "UNPIVOT");
    let opens = before(tokens, at).is_none_or(|token| {
        matches!(token.token, Token::LParen | Token::SemiColon | Token::RParen) || is(token, "EXPLAIN")
    });
    // `(a) pivot (…)` goes on from a table.
    let goes_on = next(tokens, at + 1).is_some_and(|next| tokens[next].token == Token::LParen);
    let follows_table = before(tokens, at).is_some_and(|token| token.token == Token::RParen);
    // A field may have this name, as in `max(pivot)`: nothing is turned `on` there.
    let turns = || clauses(tokens, at + 1).0.first().is_some_and(|(index, clause)| *clause == "ON" && *index > at + 1);
    is_word && opens && !(goes_on && follows_table) && turns()
}

fn of_text(text: &str) -> Vec<TokenWithSpan> {
    Tokenizer::new(&Ours, text).tokenize_with_location().unwrap_or_default()
}

/// The clauses of a statement that begins at a place, outside of brackets, and the place where it ends.
fn clauses(tokens: &[TokenWithSpan], from: usize) -> (Vec<(usize, &'static str)>, usize) {
    const CLAUSES: [&str; 6] = ["ON", "IN", "USING", "GROUP", "INTO", "VALUE"];
    const ENDS: [&str; 3] = ["ORDER", "LIMIT", "OFFSET"];
    let (mut depth, mut marks) = (0_usize, Vec::new());
    for (index, token) in tokens.iter().enumerate().skip(from) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen | Token::SemiColon if depth == 0 => return (marks, index),
            Token::RParen => depth -= 1,
            _ if depth > 0 => {}
            _ if ENDS.into_iter().any(|end| is(token, end)) => return (marks, index),
            _ => marks.extend(CLAUSES.into_iter().find(|clause| is(token, clause)).map(|clause| (index, clause))),
        }
    }
    (marks, tokens.len())
}

/// `pivot t on c in (…) using a group by g` as `select * from t pivot (a for c in (…)) as "pivot by:g"`, and
/// `unpivot t on a, b into name n value v` as `select * from t unpivot (v for n in (a, b))`.
fn pivot(tokens: &mut Vec<TokenWithSpan>, at: usize) {
    let is_unpivot = is(&tokens[at], "UNPIVOT");
    let (marks, end) = clauses(tokens, at + 1);
    let part = |name: &str| -> Vec<TokenWithSpan> {
        let Some(place) = marks.iter().position(|(_, clause)| *clause == name) else { return Vec::new() };
        let until = marks.get(place + 1).map_or(end, |(index, _)| *index);
        tokens[marks[place].0 + 1..until].to_vec()
    };
    let table = tokens[at + 1..marks.first().map_or(end, |(index, _)| *index)].to_vec();
    // The word after the clause's own: `group by`, `into name`.
    let after = |part: Vec<TokenWithSpan>, word: &str| -> Vec<TokenWithSpan> {
        let start = part.iter().position(|token| is(token, word)).map_or(0, |place| place + 1);
        part[start..].to_vec()
    };
    let mut made = of_text("SELECT * FROM ");
    made.extend(table);
    if is_unpivot {
        let (name, value) = (after(part("INTO"), "NAME"), part("VALUE"));
        made.extend(of_text(" UNPIVOT ("));
        made.extend(if value.is_empty() { of_text("\"value\"") } else { value });
        made.extend(of_text(" FOR "));
        made.extend(if name.is_empty() { of_text("\"name\"") } else { name });
        made.extend(of_text(" IN ("));
        made.extend(part("ON"));
        made.extend(of_text(")) "));
    } else {
        let (values, groups) = (part("IN"), after(part("GROUP"), "BY"));
        made.extend(of_text(" PIVOT ("));
        let aggregates = part("USING");
        made.extend(if aggregates.is_empty() { of_text("count(*)") } else { aggregates });
        made.extend(of_text(" FOR "));
        made.extend(part("ON"));
        made.extend(of_text(" IN "));
        made.extend(if values.is_empty() { of_text("(ANY)") } else { values });
        made.extend(of_text(") "));
        if !groups.is_empty() {
            let groups: String = groups.iter().map(|token| token.token.to_string()).collect();
            let name = format!("{GROUPED_BY}{}", groups.trim()).replace('"', "\"\"");
            made.extend(of_text(&format!("AS \"{name}\" ")));
        }
    }
    tokens.splice(at..end, made);
}

/// `asof join` is marked as a `global join`, which no other SQL has here.
fn asof(tokens: &mut [TokenWithSpan]) {
    for at in 0..tokens.len() {
        let follows = next(tokens, at + 1)
            .is_some_and(|next| ["JOIN", "LEFT", "INNER"].into_iter().any(|word| is(&tokens[next], word)));
        if follows && is(&tokens[at], "ASOF") {
            tokens[at].token = Token::make_keyword("GLOBAL");
        }
    }
}

/// `using sample 10%` is `tablesample (10 percent)`.
fn sample(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at < tokens.len() {
        let name = next(tokens, at + 1).filter(|next| is(&tokens[at], "USING") && is(&tokens[*next], "SAMPLE"));
        let number = name.and_then(|name| next(tokens, name + 1));
        let Some(number) = number.filter(|number| matches!(tokens[*number].token, Token::Number(..))) else {
            at += 1;
            continue;
        };
        let unit = next(tokens, number + 1);
        let is_percent = unit.is_some_and(|unit| tokens[unit].token == Token::Mod || is(&tokens[unit], "PERCENT"));
        let is_rows = unit.is_some_and(|unit| is(&tokens[unit], "ROWS"));
        let end = if is_percent || is_rows { unit.unwrap_or(number) } else { number };
        let word = if is_percent { "PERCENT" } else { "ROWS" };
        let made = of_text(&format!("TABLESAMPLE ({} {word})", tokens[number].token));
        tokens.splice(at..=end, made);
        at += 1;
    }
}
