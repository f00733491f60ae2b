//! What the user wants: a JSON Pointer, a JSONPath, or neither.

use anyhow::{Result, bail};
use jird::JsonPath;

pub(super) enum PathArgument {
    Pointer,
    Path(JsonPath),
}

impl PathArgument {
    pub(super) fn new(text: &str) -> Result<Self> {
        if text.starts_with('$') {
            return match JsonPath::new(text) {
                Ok(path) => Ok(Self::Path(path)),
                Err(wrong) => bail!("{wrong}{}", excerpt(text, wrong.offset())),
            };
        }
        if text.is_empty() || text.starts_with('/') {
            return Ok(Self::Pointer);
        }
        if let Some(path) = of_jq(text) {
            let pointer = path.as_path().map_or_else(String::new, |path| format!(", or as a JSON Pointer `{path}`"));
            bail!("{text:?} is in the notation of jq: write it as a JSONPath `{path}`{pointer}");
        }
        bail!(
            "{text:?} is not a JSON Pointer: it must be empty or begin with `/`, as in `/{text}`; a JSONPath begins with \
             `$`, as in `$.a[0].b`"
        );
    }
}

/// The path, and a mark below the place of an error. Nothing if it would not be on one line.
fn excerpt(path: &str, offset: usize) -> String {
    const SHOWN: usize = 120;
    if path.len() > SHOWN || path.chars().any(char::is_control) {
        return String::new();
    }
    let before = path.get(..offset).unwrap_or(path).chars().count();
    format!("\n  {path}\n  {}^", " ".repeat(before))
}

/// The JSONPath for a simple path of jq: `.a[0].b`, `.a[]`, `.["a b"]`, `.[1:]`, `..`.
fn of_jq(text: &str) -> Option<JsonPath> {
    if !text.starts_with(['.', '[']) {
        return None;
    }
    let path = text.replace(".[", "[").replace("[]", "[*]").replace('?', "");
    let path = match path.as_str() {
        "." => "",
        ".." => "..*",
        path => path,
    };
    JsonPath::new(&format!("${path}")).ok()
}
