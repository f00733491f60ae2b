//! SQL's `like`: `%` matches any run of characters, `_` matches any one character, `\` makes the next one literal.
//! Case-sensitive.

use memchr::memmem::Finder;

/// A compiled pattern.
///
/// ```
/// let like = jird::record::Like::new("/api/%\\_v_");
/// assert!(like.matches("/api/customers_v2"));
/// assert!(!like.matches("/api/customers-v2"));
/// ```
#[derive(Clone, Debug)]
pub struct Like {
    pieces: Vec<Piece>,
    /// The literal of a pattern `%literal%`, which needs only a search. The searcher is built once, because that takes
    /// as long as searching a short text.
    contains: Option<Box<Finder<'static>>>,
}

/// Two patterns are equal if their pieces are.
impl PartialEq for Like {
    fn eq(&self, other: &Self) -> bool {
        self.pieces == other.pieces
    }
}

impl Eq for Like {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Char(char),
    AnyChar,
    AnyRun,
}

impl Like {
    /// Compiles a pattern. A `\` at its end stands for itself.
    pub fn new(pattern: &str) -> Self {
        let mut pieces = Vec::new();
        let mut chars = pattern.chars();
        while let Some(char) = chars.next() {
            let piece = match char {
                '%' => Piece::AnyRun,
                '_' => Piece::AnyChar,
                '\\' => Piece::Char(chars.next().unwrap_or('\\')),
                char => Piece::Char(char),
            };
            if piece != Piece::AnyRun || pieces.last() != Some(&Piece::AnyRun) {
                pieces.push(piece);
            }
        }
        let contains = match pieces.as_slice() {
            [Piece::AnyRun, inner @ .., Piece::AnyRun] => inner
                .iter()
                .map(|piece| if let Piece::Char(char) = piece { Some(*char) } else { None })
                .collect::<Option<String>>(),
            _ => None,
        };
        Self { pieces, contains: contains.map(|literal| Box::new(Finder::new(&literal).into_owned())) }
    }

    /// Whether all of `text` matches. The time is linear in `text`, except for patterns with several `%`, where the
    /// worst case is the product of both lengths.
    pub fn matches(&self, text: &str) -> bool {
        if let Some(literal) = &self.contains {
            return literal.find(text.as_bytes()).is_some();
        }
        self.matches_pieces(text)
    }

    /// What all matching texts begin with: what stands before the first wildcard.
    ///
    /// ```
    /// assert_eq!(jird::record::Like::new("/api/%.js").prefix(), "/api/");
    /// ```
    pub fn prefix(&self) -> String {
        self.pieces.iter().map_while(|piece| if let Piece::Char(char) = piece { Some(*char) } else { None }).collect()
    }

    /// The literal parts between the wildcards. The first flag says whether a matching text begins with the part, the
    /// second whether it ends with it.
    pub(super) fn fixed_parts(&self) -> Vec<(String, bool, bool)> {
        let is_char = |piece: &Piece| matches!(piece, Piece::Char(_));
        let mut at = 0;
        let mut parts = Vec::new();
        for part in self.pieces.split(|piece| !is_char(piece)) {
            let text: String = part
                .iter()
                .filter_map(|piece| if let Piece::Char(char) = piece { Some(*char) } else { None })
                .collect();
            parts.push((text, at == 0, at + part.len() == self.pieces.len()));
            at += part.len() + 1;
        }
        parts
    }

    /// Greedy matching with one place to return to: a later `%` makes the earlier ones final.
    fn matches_pieces(&self, text: &str) -> bool {
        let pieces = &self.pieces;
        let (mut piece, mut rest) = (0, text.chars());
        let mut retry: Option<(usize, core::str::Chars<'_>)> = None;
        loop {
            if pieces.get(piece) == Some(&Piece::AnyRun) {
                piece += 1;
                retry = Some((piece, rest.clone()));
                continue;
            }
            let before = rest.clone();
            let matched = match (rest.next(), pieces.get(piece)) {
                (None, None) => return true,
                (Some(char), Some(Piece::Char(wanted))) => char == *wanted,
                (Some(_), Some(Piece::AnyChar)) => true,
                _ => false,
            };
            if matched {
                piece += 1;
                continue;
            }
            if before.as_str().is_empty() {
                return false;
            }
            let Some((from, chars)) = &mut retry else { return false };
            chars.next();
            (piece, rest) = (*from, chars.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Like;

    /// The definition, by recursion.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['%', rest @ ..] => (0..=text.len()).any(|skip| naive(rest, &text[skip..])),
            ['_', rest @ ..] => !text.is_empty() && naive(rest, &text[1..]),
            ['\\', char, rest @ ..] | [char, rest @ ..] => text.first() == Some(char) && naive(rest, &text[1..]),
        }
    }

    fn strings(alphabet: &[char], len_max: usize) -> Vec<Vec<char>> {
        let mut all = vec![Vec::new()];
        let mut last = all.clone();
        for _ in 0..len_max {
            last = last.iter().flat_map(|word| alphabet.iter().map(|&char| [&word[..], &[char]].concat())).collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    #[test]
    fn like_equals_its_definition() {
        let texts = strings(&['a', 'é', '%'], 5);
        for pattern in strings(&['a', 'é', '%', '_', '\\'], 4) {
            let like = Like::new(&pattern.iter().collect::<String>());
            for text in &texts {
                let found = like.matches(&text.iter().collect::<String>());
                assert_eq!(found, naive(&pattern, text), "{text:?} like {pattern:?}");
            }
        }
    }

    #[test]
    fn many_runs_do_not_take_exponential_time() {
        assert!(!Like::new(&"%a".repeat(30)).matches(&"a".repeat(20_000).replace("aaaaaaaaa", "b")));
    }
}
