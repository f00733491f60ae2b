//! The command line from outside, linked as one program: `cargo test -p jird-cli --test all NAME` runs a part of it.
//! Arguments, files and standard input go in; standard output, standard error, files and exit codes come out.
#![expect(clippy::tests_outside_test_module, reason = "all of them are tests")]

mod folder; // `jird` in a folder of the test's own
#[cfg(feature = "remote")]
#[path = "../../../jird-query/tests/server/mod.rs"]
mod server; // a web server that may play tricks

mod bad_lines; // every command names the same line and reason
mod bench; // `jird bench`
mod commands; // usage, parse, validate, minify, pretty, stats
mod convert; // `jird convert`
mod databases; // SQLite as source and sink
mod describe; // `jird describe`
mod edit; // `jird set`, `unset`, `patch`, `merge`, `diff`
mod encoding; // byte order marks, UTF-16, UTF-32
mod examples; // the examples of every command's help
mod get; // `jird get` with a JSONPath
mod growth; // costs, in instructions
mod guide; // the commands of README and guide
mod lenient; // JSON5 and other notations
mod locks; // locks of SQLite
mod man; // manual pages
mod page; // the page of `jird serve` in a browser
mod query; // `jird query`
mod random; // random queries, compared with DuckDB
mod remote; // URLs and S3
#[cfg(all(feature = "convert", feature = "schema"))]
mod schema; // `jird describe --schema`, `jird validate --schema`
mod serve; // `jird serve`
mod signals; // signals, closed pipes, terminals
mod store; // `jird ingest`, `jird store`
mod tables; // Arrow, Parquet, CSV as inputs
