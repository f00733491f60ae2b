//! JSONPath (RFC 9535): queries that find values in a document.
//!
//! [`JsonPath`] is a compiled query. What it finds, and where, can be had in four ways:
//!
//! | | order | a node that is found twice | text |
//! |---|---|---|---|
//! | [`JsonPath::find`] | that of RFC 9535 | comes twice | parsed |
//! | [`JsonPath::find_in_order`] | that of the document | comes once | parsed |
//! | [`JsonPath::search`] | that of the document | comes once | from memory or a reader, checked on the way, no tree |
//! | [`JsonPath::search_trusted`] | that of the document | comes once | from memory, checked before |
//!
//! All of RFC 9535 is there: names, wildcards, indexes, slices, `..`, filters with comparisons, and the functions
//! `length`, `count`, `match`, `search` and `value`, with the checks of types that it asks for. Numbers compare exactly,
//! as everywhere here: `9007199254740993` is not `9007199254740992`. Patterns are those of I-Regexp (RFC 9485). Of
//! members with one key a name selects the first; `*`, `..` and filters look at all.
//!
//! ```
//! use jird::JsonPath;
//! let document = jird::parse(br#"{"users":[{"name":"ada","age":36},{"name":"bob","age":17}]}"#)?;
//! let adults = JsonPath::new("$.users[?@.age >= 18].name")?;
//! let names: Vec<_> = adults.find(document.root()).filter_map(|name| name.as_str()).collect();
//! assert_eq!(names, ["ada"]);
//!
//! let mut found = adults.find(document.root());
//! assert!(found.next().is_some());
//! assert_eq!(found.location().normalized().to_string(), "$['users'][0]['name']");
//! assert_eq!(found.location().to_string(), "/users/0/name");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cost
//! Compiling takes time linear in the query, apart from its patterns; a compiled pattern takes at most 1 MB. Filters,
//! groups and functions may be nested 24 deep. The document is walked without recursion.
//!
//! [`find`](JsonPath::find) with several `..` can find, as RFC 9535 wants, far more nodes than the document has: `$..a..b`
//! goes through a value again for each `a` around it, and each further `..` multiplies that. It finds them one by one, so
//! take only as many as you need, or limit the work with [`find_within`](JsonPath::find_within).
//! [`find_in_order`](JsonPath::find_in_order) and [`search`](JsonPath::search) look at each node once, whatever the query.
//! A filter is worked out for each node that it tests: the cost of `[?@..x]` is the size of that node. A query that begins
//! with `$` in a filter is worked out once.

mod automaton;
mod bad_path;
mod children;
mod compare;
mod cursor;
mod display;
mod evaluation;
mod find;
mod needs;
mod nodes;
mod ordered;
mod parse;
mod parse_filter;
mod pattern;
mod search;
mod steps;
mod syntax;
mod trusted;

pub use bad_path::BadPath;
pub use find::{JsonPath, Nodes, OrderedNodes, TooManySteps};
pub use needs::NeedsDocument;
pub use search::{FoundNode, TextSearch};
pub use trusted::TrustedNode;
