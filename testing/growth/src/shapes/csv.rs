//! Tables as text.

use super::{Shape, numbered, repeat, shape};

/// All shapes of this file.
pub const ALL: &[Shape] = &[
    shape("good rows", |n| {
        ["id,name\n", &numbered(n, "", |index| format!("{index},\"row {index}\"\n"))].concat().into_bytes()
    }),
    shape("a quote that is never closed", |n| ["a,b\n1,\"", &repeat("x,y\n", n)].concat().into_bytes()),
    shape("a quote in each row that is never closed", |n| ["a,b\n", &repeat("1,\"x\n", n)].concat().into_bytes()),
    shape("a column of quotes", |n| ["a\n", &repeat("\"", n)].concat().into_bytes()),
    shape("doubled quotes", |n| ["a\n\"", &repeat("\"\"", n), "\"\n"].concat().into_bytes()),
    shape("text after a quote", |n| ["a,b\n", &repeat("\"x\"y,1\n", n)].concat().into_bytes()),
    shape("rows that are too short", |n| ["a,b,c\n", &repeat("1\n", n)].concat().into_bytes()),
    shape("rows that are too long", |n| ["a\n", &repeat("1,2,3\n", n)].concat().into_bytes()),
    shape("rows of nothing but commas", |n| ["a,b\n", &repeat(",,,,,,,,,,,,,,,\n", n)].concat().into_bytes()),
    shape("rows that are not UTF-8", |n| [b"a,b\n".to_vec(), b"1,\xFF\n".repeat(n / 4)].concat()),
    shape("rows that are blank", |n| ["a\n", &repeat("\n", n)].concat().into_bytes()),
    shape("rows of carriage returns", |n| ["a,b\r\n", &repeat("\r", n)].concat().into_bytes()),
    shape("many columns", |n| {
        [&numbered(n / 2, ",", |index| format!("c{index}")), "\n", &numbered(n / 2, ",", |_| "12345".into()), "\n"]
            .concat()
            .into_bytes()
    }),
    shape("columns of one name", |n| [&repeat("a,", n / 2), "a\n", &repeat("1,", n / 2), "1\n"].concat().into_bytes()),
    shape("columns without a name", |n| [&repeat(",", n), "\n"].concat().into_bytes()),
    shape("one long field", |n| ["a\n", &repeat("x", n), "\n"].concat().into_bytes()),
    shape("one long field in quotes", |n| ["a\n\"", &repeat("x\n", n), "\"\n"].concat().into_bytes()),
    shape("a field of digits", |n| ["a\n", &repeat("1", n), "\n"].concat().into_bytes()),
];
