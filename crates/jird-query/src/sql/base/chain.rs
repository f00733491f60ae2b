//! Names with dots and subscripts: `a`, `a.b`, `a['b']`, `a[0]`, `"a.b"`.

use jird::Path;
use sqlparser::ast::{AccessExpr, Expr, Function, FunctionArguments, Ident, Subscript, Value};

/// One part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Name(String),
    Index(usize),
}

/// The parts of a name; `None` if the expression is not a name.
pub(crate) fn chain(expr: &Expr) -> Option<Vec<Part>> {
    match expr {
        Expr::Nested(inner) => chain(inner),
        Expr::Identifier(ident) => Some(vec![name(ident)]),
        Expr::CompoundIdentifier(idents) => Some(idents.iter().map(name).collect()),
        // For the parser, `user` is a function of standard SQL; in records it is a key.
        Expr::Function(function) if is_user(function) => Some(vec![Part::Name(function.name.to_string())]),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let mut parts = chain(root)?;
            for access in access_chain {
                match access {
                    AccessExpr::Dot(part) => parts.extend(chain(part)?),
                    AccessExpr::Subscript(Subscript::Index { index }) => parts.push(subscript(index)?),
                    AccessExpr::Subscript(Subscript::Slice { .. }) => return None,
                }
            }
            Some(parts)
        }
        _ => None,
    }
}

/// Whether a function is `user` without brackets.
pub(crate) fn is_user(function: &Function) -> bool {
    matches!(function.args, FunctionArguments::None) && function.name.to_string().eq_ignore_ascii_case("user")
}

/// The path that the parts describe.
pub(crate) fn path(parts: &[Part]) -> Path {
    parts.iter().fold(Path::root(), |path, part| match part {
        Part::Name(name) => path.key(name.as_str()),
        Part::Index(index) => path.index(*index),
    })
}

fn name(ident: &Ident) -> Part {
    Part::Name(ident.value.clone())
}

fn subscript(index: &Expr) -> Option<Part> {
    match index {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(key) | Value::DoubleQuotedString(key) => Some(Part::Name(key.clone())),
            Value::Number(digits, _) => digits.parse().ok().map(Part::Index),
            _ => None,
        },
        Expr::Identifier(ident) if ident.quote_style.is_some() => Some(name(ident)),
        _ => None,
    }
}
