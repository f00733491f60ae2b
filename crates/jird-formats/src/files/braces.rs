//! Patterns with braces.

/// The patterns without braces that `a.{ndjson,json}` stands for.
///
/// ```
/// let patterns = jird_formats::files::alternatives("a.{ndjson,json}");
/// assert_eq!(patterns, ["a.ndjson", "a.json"]);
/// ```
pub fn alternatives(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let mut depth = 1;
    let mut parts = vec![String::new()];
    for (at, char) in rest.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            let after = &rest[at + 1..];
            return parts.iter().flat_map(|part| alternatives(&format!("{before}{part}{after}"))).collect();
        }
        parts.last_mut().into_iter().for_each(|part| part.push(char));
    }
    vec![pattern.to_owned()]
}
