//! Lists of a request: `id,author(name,age),"a, b"`.

use crate::base::problem::Problem;

/// The parts between commas that are in no brackets.
pub(super) fn items(value: &str) -> Result<Vec<&str>, Problem> {
    let (mut items, mut depth, mut start, mut is_quoted) = (Vec::new(), 0_usize, 0, false);
    let mut bytes = value.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if is_quoted => drop(bytes.next()),
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.checked_sub(1).ok_or_else(unclosed)?,
            b',' if depth == 0 => {
                items.push(&value[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 || is_quoted {
        return Err(unclosed());
    }
    items.push(&value[start..]);
    Ok(items)
}

#[cold]
pub(super) fn unclosed() -> Problem {
    Problem::bad("there is a bracket or a quote without its other half")
}
