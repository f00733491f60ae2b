//! What SQLite does to a value because of its column's declared type.

use super::value::Value;

/// A column's type affinity ("Datatypes In SQLite", section 3): what it converts the values written to it into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affinity {
    /// Converts nothing: a column without a type, or a `BLOB` column.
    None,
    /// Converts numbers to texts.
    Text,
    /// Converts texts that read as numbers to numbers, and doubles that are whole to integers: `NUMERIC`, and every type
    /// that has no other affinity, such as `DATE`.
    Numeric,
    /// Converts as [`Numeric`](Self::Numeric) does: a type with `INT` in its name.
    Integer,
    /// Converts integers, and texts that read as numbers, to doubles.
    Real,
}

/// What a conversion does to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The value stays the same, though an integer may become a double or the other way round.
    Same,
    /// -0.0 becomes 0.
    LosesSign,
    /// The value changes.
    Changes,
}

impl Affinity {
    /// The affinity of a declared type ("Datatypes In SQLite", section 3.1).
    pub(super) fn of(declared: &str, is_strict: bool) -> Self {
        let declared = declared.to_ascii_uppercase();
        let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
        if has(&["INT"]) {
            Self::Integer
        } else if has(&["CHAR", "CLOB", "TEXT"]) {
            Self::Text
        } else if declared.is_empty() || has(&["BLOB"]) || is_strict && declared == "ANY" {
            Self::None
        } else if has(&["REAL", "FLOA", "DOUB"]) {
            Self::Real
        } else {
            Self::Numeric
        }
    }

    /// What happens to a value when it is written.
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "whether it is lost is the question")]
    pub(super) fn fit(self, value: Value<'_>) -> Fit {
        match (self, value) {
            (Self::Numeric | Self::Integer | Self::Real, Value::Real(value))
                if value == 0.0 && value.is_sign_negative() =>
            {
                Fit::LosesSign
            }
            // 2^63 does not fit `i64`, though `as` would saturate it.
            (Self::Real, Value::Integer(value)) if i128::from(value) == value as f64 as i128 => Fit::Same,
            (Self::Real, Value::Integer(_)) | (Self::Text, Value::Integer(_) | Value::Real(_)) => Fit::Changes,
            (Self::Numeric | Self::Integer | Self::Real, Value::Text(text)) if reads_as_number(text) => Fit::Changes,
            _ => Fit::Same,
        }
    }
}

/// Whether SQLite takes a text for a number: white space, sign, digits with a point, exponent, white space. After that
/// it may hold a NUL, followed by anything.
#[inline]
pub(super) fn reads_as_number(text: &str) -> bool {
    let is_space = |byte: u8| byte == b' ' || (b'\t'..=b'\r').contains(&byte);
    let mut bytes = text.as_bytes();
    while let [first, rest @ ..] = bytes
        && is_space(*first)
    {
        bytes = rest;
    }
    if let [b'+' | b'-', rest @ ..] = bytes {
        bytes = rest;
    }
    if !matches!(bytes.first(), Some(b'0'..=b'9' | b'.')) {
        return false;
    }
    let digits = |bytes: &mut &[u8]| {
        let len = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        *bytes = &bytes[len..];
        len
    };
    let mut len = digits(&mut bytes);
    if let [b'.', rest @ ..] = bytes {
        bytes = rest;
        len += digits(&mut bytes);
    }
    if let [b'e' | b'E', b'+' | b'-', rest @ ..] | [b'e' | b'E', rest @ ..] = bytes {
        bytes = rest;
        if digits(&mut bytes) == 0 {
            return false;
        }
    }
    len > 0 && bytes.iter().take_while(|byte| **byte != 0).all(|byte| is_space(*byte))
}

/// Whether a declared type is one of blobs.
pub(super) fn is_declared_blob(declared: &str) -> bool {
    Affinity::of(declared, false) == Affinity::None && !declared.is_empty()
}

/// Whether a declared type is one of JSON.
pub(super) fn is_declared_json(declared: &str) -> bool {
    declared.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("json"))
}

/// Whether a declared type is one of booleans, which SQLite keeps as 0 and 1.
pub(super) fn is_declared_boolean(declared: &str) -> bool {
    declared.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("bool"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;
    use rusqlite::types::ValueRef;

    /// What SQLite itself does to the value.
    #[expect(clippy::float_cmp, clippy::cast_precision_loss, reason = "whether they are the same is the question")]
    fn fit_by_sqlite(declared: &str, value: Value<'_>) -> Fit {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(&format!("create table t (a {declared})")).unwrap();
        let mut statement = conn.prepare("insert into t values (?)").unwrap();
        value.bind(&mut statement, 1).unwrap();
        statement.raw_execute().unwrap();
        conn.query_row("select a from t", [], |row| {
            Ok(match (value, row.get_ref(0)?) {
                (Value::Null, ValueRef::Null) => Fit::Same,
                (Value::Text(text), ValueRef::Text(kept)) if text.as_bytes() == kept => Fit::Same,
                (Value::Blob(bytes), ValueRef::Blob(kept)) if bytes == kept => Fit::Same,
                (Value::Integer(value), ValueRef::Integer(kept)) if value == kept => Fit::Same,
                (Value::Integer(value), ValueRef::Real(kept)) if i128::from(value) == kept as i128 => Fit::Same,
                (Value::Real(value), ValueRef::Real(kept)) if value.to_bits() == kept.to_bits() => Fit::Same,
                (Value::Real(value), ValueRef::Integer(kept)) if value == 0.0 && value.is_sign_negative() => {
                    assert_eq!(kept, 0);
                    Fit::LosesSign
                }
                (Value::Real(value), ValueRef::Real(kept)) if value == kept => Fit::LosesSign,
                (Value::Real(value), ValueRef::Integer(kept)) if value == kept as f64 => Fit::Same,
                _ => Fit::Changes,
            })
        })
        .unwrap()
    }

    #[test]
    fn values_are_converted_as_sqlite_converts_them() {
        let texts = [
            "",
            "12",
            " 12\t",
            "+1",
            "-1.50",
            ".5",
            "5.",
            ".",
            "1e5",
            "1e",
            "1e+",
            "e5",
            "0x10",
            "12 x",
            "inf",
            "nan",
            "1_0",
            "12\u{0}",
            "12\u{0}x",
            "12 \u{0}x",
            "1e\u{0}",
            "1e5\u{0}",
            "\u{0}12",
            "\u{a0}12",
            "99999999999999999999",
            "1e999",
            "١",
        ];
        let integers = [0, 1, -1, 1 << 53, (1 << 53) + 1, i64::MAX, i64::MIN];
        let reals = [0.0, -0.0, 1.0, 1.5, -3.0, 1e300, 9_223_372_036_854_775_808.0, f64::MAX];
        let values = texts
            .into_iter()
            .map(Value::Text)
            .chain(integers.map(Value::Integer))
            .chain(reals.map(Value::Real))
            .chain([Value::Null, Value::Blob(b""), Value::Blob(b"12")]);
        for value in values {
            for declared in
                ["", "TEXT", "VARCHAR(20)", "INTEGER", "FLOATING POINT", "REAL", "DECIMAL(10,2)", "BLOB", "ANY"]
            {
                let fit = Affinity::of(declared, false).fit(value);
                assert_eq!(fit, fit_by_sqlite(declared, value), "{value:?} in {declared}");
            }
        }
    }
}
