//! A table as a Rust struct.

use super::SqliteError;
use super::database::{ColumnInfo, TableInfo};
use core::fmt::Write;
use rusqlite::Connection;

/// A Rust struct for the rows of a table or view, with serde's attributes, as source text.
///
/// Columns that may be null are `Option`s. Names become identifiers, with `rename` where they differ. The Rust type
/// follows from the column's declared type, which SQLite itself does not enforce. Dates and times are texts, decimals
/// are doubles, and columns without a type take any JSON value. Bytes need the crate `serde_bytes`.
///
/// ```
/// use jird_formats::sqlite::{describe_rust, rusqlite::Connection};
/// let conn = Connection::open_in_memory()?;
/// conn.execute_batch("create table [Order] (OrderId INTEGER PRIMARY KEY, type TEXT NOT NULL, Total NUMERIC(10,2))")?;
/// assert_eq!(
///     describe_rust(&conn, "Order")?,
///     r#"#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// pub struct Order {
///     #[serde(rename = "OrderId")]
///     pub order_id: i64,
///     pub r#type: String,
///     #[serde(rename = "Total")]
///     pub total: Option<f64>,
/// }
/// "#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no such table, or if SQLite fails.
pub fn describe_rust(conn: &Connection, table: &str) -> Result<String, SqliteError> {
    let info = TableInfo::of_table(conn, table)?;
    let any = info.columns.iter().any(|column| rust_type(column) == ANY);
    let traits = if any { "Clone, Debug, serde::Serialize, serde::Deserialize" } else { TRAITS };
    let mut text = format!("#[derive({traits})]\npub struct {} {{\n", type_name(&info.name));
    let mut taken: Vec<String> = Vec::new();
    for (index, column) in info.columns.iter().enumerate() {
        let base = field_name(&column.name);
        let field = free(&base, |name| taken.iter().any(|other| other == name));
        let plain = field.strip_prefix("r#").unwrap_or(&field);
        if plain != column.name {
            let _ = writeln!(text, "    #[serde(rename = {:?})]", column.name);
        }
        let kind = rust_type(column);
        let is_required = column.is_not_null || info.rowid == Some(index) || kind == ANY;
        if kind == BYTES {
            // Serde treats an absent `Option` as `None`, but not if the field has a `with`.
            let or_none = if is_required { "" } else { ", default" };
            let _ = writeln!(text, "    #[serde(with = \"serde_bytes\"{or_none})]");
        }
        let kind = if is_required { kind.to_owned() } else { format!("Option<{kind}>") };
        let _ = writeln!(text, "    pub {field}: {kind},");
        taken.push(field);
    }
    text += "}\n";
    Ok(text)
}

const TRAITS: &str = "Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize";
const ANY: &str = "serde_json::Value";
const BYTES: &str = "Vec<u8>";

/// Rust types by words within the declared type; the first word found counts.
const TYPES: [(&str, &str); 14] = [
    ("JSON", ANY),
    ("INT", "i64"),
    ("CHAR", "String"),
    ("CLOB", "String"),
    ("TEXT", "String"),
    ("BLOB", BYTES),
    ("REAL", "f64"),
    ("FLOA", "f64"),
    ("DOUB", "f64"),
    ("BOOL", "i64"),
    ("DATE", "String"),
    ("TIME", "String"),
    ("NUM", "f64"),
    ("DEC", "f64"),
];

fn rust_type(column: &ColumnInfo) -> &'static str {
    let declared = column.declared.to_ascii_uppercase();
    TYPES.iter().find(|(word, _)| declared.contains(word)).map_or(ANY, |(_, rust)| rust)
}

/// The words of a name, split where a character is neither letter nor digit, and where capitals begin.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() {
            let starts = c.is_uppercase()
                && (before.is_lowercase()
                    || before.is_numeric()
                    || chars.peek().is_some_and(|next| next.is_lowercase()));
            if starts || !before.is_alphanumeric() || words.is_empty() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words
}

/// An identifier in snake case.
fn field_name(name: &str) -> String {
    identifier(&words(name).join("_"))
}

/// An identifier in upper camel case.
fn type_name(name: &str) -> String {
    let capitalised = |word: &String| {
        let mut chars = word.chars();
        chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect::<String>()
    };
    match identifier(&words(name).iter().map(capitalised).collect::<String>()) {
        name if name == "Self" || name == UNNAMED => "Row".into(),
        name => name,
    }
}

/// The name to use if no character of a name is left.
const UNNAMED: &str = "unnamed";

/// A valid identifier. Letters beyond ASCII that the language might refuse are left out.
fn identifier(name: &str) -> String {
    let mut name: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    if name.starts_with(|c: char| !c.is_ascii_alphabetic()) {
        name.insert(0, '_');
    }
    match name.as_str() {
        "" | "_" => UNNAMED.into(),
        "self" | "super" | "crate" => name + "_",
        word if KEYWORDS.contains(&word) => format!("r#{word}"),
        _ => name,
    }
}

/// A name that is not taken: the name itself, or with a number after it.
pub(super) fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    let mut number = 2;
    loop {
        let name = format!("{name}_{number}");
        if !is_taken(&name) {
            return name;
        }
        number += 1;
    }
}

/// The strict and reserved keywords, of all editions, that can be raw identifiers.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
