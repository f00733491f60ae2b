//! Elasticsearch's `_bulk`: lines in pairs, where the first says what to do with the second.
//!
//! An event is the document as it came, and in its last members `_index` and `_id`, if they were named: what searches
//! find under these names in Elasticsearch, too, where no document may have them. A store only adds, so `index` does as
//! `create` does, and `update` and `delete` are refused, each by its item in the answer.

use super::lines::{Lines, is_object, no_object};
use super::outcome::{BodyOutcome, build, late, malformed, write};
use crate::base::problem::Problem;
use crate::base::settings::Limits;
use crate::events::intake::RefusedEvent;
use hyper::StatusCode;
use jird::hooks::{ObjectWriter, quoted, write_object};
use jird::{Json, Kind, Parser, Value, json};
use jird_store::{BatchBuilder, EventError, Settings};
use std::borrow::Cow;
use std::time::Instant;

/// The most actions of a body: each has an item in the answer.
const ACTIONS_MAX: usize = 100_000;
/// The most bytes of the name of an index, as in Elasticsearch.
const INDEX_BYTES_MAX: usize = 255;
/// The most bytes of an `_id`, as in Elasticsearch.
const ID_BYTES_MAX: usize = 512;

/// What Elasticsearch says of itself. Clients look at the number, the tagline and a header.
pub(super) const GREETING: &str = "{\"name\":\"jird\",\"cluster_name\":\"jird\",\"cluster_uuid\":\"_na_\",\
    \"version\":{\"number\":\"8.19.0\",\"build_flavor\":\"default\",\"build_type\":\"jird\",\
    \"minimum_wire_compatibility_version\":\"7.17.0\",\"minimum_index_compatibility_version\":\"7.0.0\"},\
    \"tagline\":\"You Know, for Search\"}\n";

/// What it says of its health. There is one copy of everything.
pub(super) const HEALTH: &str = "{\"cluster_name\":\"jird\",\"status\":\"green\",\"timed_out\":false,\"number_of_nodes\":1,\
    \"number_of_data_nodes\":1,\"active_primary_shards\":1,\"active_shards\":1,\"relocating_shards\":0,\
    \"initializing_shards\":0,\"unassigned_shards\":0,\"delayed_unassigned_shards\":0,\"number_of_pending_tasks\":0,\
    \"number_of_in_flight_fetch\":0,\"task_max_waiting_in_queue_millis\":0,\"active_shards_percent_as_number\":100.0}\n";
/// What it says after a refresh. What is acknowledged is found at once.
pub(super) const REFRESHED: &str = "{\"_shards\":{\"total\":1,\"successful\":1,\"failed\":0}}\n";

/// Whether a client of Elasticsearch asks, or another program that wants JSON and no page.
pub(super) fn is_asked(accept: Option<Cow<'_, str>>) -> bool {
    accept.is_some_and(|accept| {
        let accept = accept.to_ascii_lowercase();
        accept.contains("json") && !accept.contains("text/html")
    })
}

/// Refuses what a request asks for and does not get.
///
/// # Errors
/// 400.
pub(super) fn check(index: Option<&str>, parameters: &[(String, String)]) -> Result<(), Problem> {
    if index.is_some_and(|index| index.len() > INDEX_BYTES_MAX) {
        return Err(Problem::bad(format!("the name of an index has at most {INDEX_BYTES_MAX} bytes")));
    }
    match parameters.iter().find(|(name, value)| name == "pipeline" && !value.is_empty() && value != "_none") {
        Some((_, pipeline)) => Err(Problem::bad(format!("there is no pipeline {pipeline:?} here: there are none"))),
        None => Ok(()),
    }
}

/// The events of a body, and the items of its answer.
pub(super) fn take<'b>(
    body: &'b [u8],
    index: Option<&str>,
    settings: &Settings,
    limits: &Limits,
) -> Result<BodyOutcome<'b>, Problem> {
    let begun = Instant::now();
    let mut taken = BodyOutcome::default();
    let path_index = index.map(|index| quoted(index).into_bytes());
    let (batch, result) = build(settings, limits, body.len(), |builder| {
        let (mut parser, mut lines, mut text) = (Parser::new(), Lines::new(body), Vec::new());
        let mut count = 0;
        while let Some((line, number, offset)) = lines.next() {
            taken.check_room(builder, 0, limits)?;
            count += 1;
            if count > ACTIONS_MAX {
                let detail = format!("a body has at most {ACTIONS_MAX} actions here");
                return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
            }
            let root = parser.parse(line).map_err(|error| Problem::of_line(&error, line, number, offset as u64))?;
            let action = Action::of(root, number, path_index.as_deref())?;
            let document = if action.name == "delete" { None } else { lines.next() };
            match (action.name, document) {
                ("index" | "create", Some(document)) => {
                    taken.add(builder, &action, document, count as u64 - 1, &mut text);
                }
                ("index" | "create" | "update", None) => {
                    return Err(Problem::bad(format!("the action on line {number} has no document")));
                }
                _ => {
                    let why = "a store of events only adds: the actions are index and create";
                    taken.item_error(&action, "illegal_argument_exception", why);
                }
            }
        }
        Ok(())
    });
    result?;
    taken.batch = batch;
    taken.millis = begun.elapsed().as_millis() as u64;
    Ok(taken)
}

/// The one event of a body, on one line.
pub(super) fn take_one<'b>(
    body: &'b [u8],
    (index, id): (&str, Option<&str>),
    settings: &Settings,
    limits: &Limits,
) -> Result<BodyOutcome<'b>, Problem> {
    if id.is_some_and(|id| id.len() > ID_BYTES_MAX) {
        return Err(Problem::bad(format!("an _id has at most {ID_BYTES_MAX} bytes")));
    }
    let (index, id) = (quoted(index).into_bytes(), id.map(|id| Cow::Owned(quoted(id).into_bytes())));
    let action = Action { name: "create", index: Some(&index), id };
    let mut taken = BodyOutcome::default();
    let (batch, result) = build(settings, limits, body.len(), |builder| {
        taken.check_room(builder, 0, limits)?;
        taken.add(builder, &action, (body, 1, 0), 0, &mut Vec::new());
        Ok(())
    });
    result?;
    taken.batch = batch;
    Ok(taken)
}

/// What to do with a document.
struct Action<'a> {
    name: &'static str,
    /// Texts in JSON.
    index: Option<&'a [u8]>,
    id: Option<Cow<'a, [u8]>>,
}

impl<'a> Action<'a> {
    fn of(root: Value<'a>, line: u64, path_index: Option<&'a [u8]>) -> Result<Self, Problem> {
        let wrong = |why: &str| Problem::bad(format!("line {line} {why}"));
        let mut entries = root.entries();
        let (Some((key, about)), None) = (entries.next(), entries.next()) else {
            return Err(wrong("is no action, such as {\"create\":{}}"));
        };
        let Some(name) = ["index", "create", "update", "delete"].into_iter().find(|name| key.is_str(name)) else {
            return Err(wrong("has an action that is none of index, create, update and delete"));
        };
        if about.kind() != Kind::Object {
            return Err(wrong("has an action without an object"));
        }
        let index = match about.get("_index").filter(|index| !index.is_null()) {
            None => path_index,
            Some(index) if index.kind() == Kind::String && index.raw().len() <= INDEX_BYTES_MAX + 2 => {
                Some(index.raw())
            }
            Some(_) => return Err(wrong("has an _index that is no text of at most 255 bytes")),
        };
        let id = match about.get("_id").filter(|id| !id.is_null()) {
            None => None,
            Some(id) if id.raw().len() > ID_BYTES_MAX + 2 => return Err(wrong("has an _id of more than 512 bytes")),
            Some(id) if id.kind() == Kind::String => Some(Cow::Borrowed(id.raw())),
            Some(id) if id.kind() == Kind::Number => Some(Cow::Owned([b"\"", id.raw(), b"\""].concat())),
            Some(_) => return Err(wrong("has an _id that is no text")),
        };
        Ok(Self { name, index, id })
    }

    /// What it says of the document, as JSON.
    fn names(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        let names = [("_index", self.index), ("_id", self.id.as_deref())];
        names.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

impl<'b> BodyOutcome<'b> {
    /// Adds a document, and its item.
    fn add(
        &mut self,
        builder: &mut BatchBuilder<'_>,
        action: &Action<'_>,
        (document, line, offset): (&'b [u8], u64, usize),
        index: u64,
        text: &mut Vec<u8>,
    ) {
        let refused = if is_object(document) {
            builder.add(named(document, action, text)).err().map(|error| match error {
                EventError::Late { .. } => late(&error, document, index, line, offset),
                // It may be where the names were added, so the document itself is looked at.
                EventError::Json(_) => {
                    let error = jird::validate(document).err();
                    let size = || jird::Error::new(jird::ErrorKind::Size, 0);
                    malformed(&error.unwrap_or_else(size), document, index, line, offset)
                }
            })
        } else {
            Some(no_object(document, index, line, offset))
        };
        match refused {
            None => self.item(action, |item| {
                item.member("result", "created");
                item.member("status", 201_u16);
            }),
            Some(refused) => {
                let RefusedEvent { message, column, .. } = &refused;
                let why = format!("line {line}, column {column}: {message}");
                self.item_error(action, "document_parsing_exception", &why);
                self.refuse(|| refused);
            }
        }
    }

    fn item(&mut self, action: &Action<'_>, rest: impl FnOnce(&mut ObjectWriter<'_>)) {
        let text = &mut self.items;
        text.extend_from_slice(if text.is_empty() { b"" } else { b",\n" });
        write_object(text, |object| {
            object.object(action.name, |item| {
                action.names().for_each(|(name, value)| item.raw(name, value));
                rest(item);
            });
        });
    }

    fn item_error(&mut self, action: &Action<'_>, kind: &str, why: &str) {
        self.errors += 1;
        self.item(action, |item| {
            item.member("status", 400_u16);
            item.object("error", |error| {
                error.member("type", kind);
                error.member("reason", why);
            });
        });
    }
}

/// The document with the names of its action as last members. It is JSON if and only if the document is an object: the
/// names can follow only what a closing brace can follow, after a member of the outermost object.
fn named<'t>(document: &'t [u8], action: &Action<'_>, text: &'t mut Vec<u8>) -> &'t [u8] {
    let Some(members) = document.trim_ascii_end().strip_suffix(b"}") else { return document };
    if action.index.is_none() && action.id.is_none() {
        return document;
    }
    text.clear();
    text.extend_from_slice(members);
    let mut separator = if members.trim_ascii() == b"{" { "" } else { "," };
    for (name, value) in action.names() {
        write(text, format_args!("{separator}\"{name}\":"));
        text.extend_from_slice(value);
        separator = ",";
    }
    text.push(b'}');
    text
}

/// The answer to a body.
pub(super) fn answer(taken: &BodyOutcome<'_>) -> Vec<u8> {
    let mut text = Vec::with_capacity(taken.items.len() + 64);
    write_object(&mut text, |object| {
        object.member("took", taken.millis);
        object.member("errors", taken.errors > 0);
        object.with("items", |text| {
            text.push(b'[');
            text.extend_from_slice(&taken.items);
            text.push(b']');
        });
    });
    text.push(b'\n');
    text
}

/// The answer to a single document: its item, without the name of the action.
pub(super) fn answer_one(taken: &BodyOutcome<'_>) -> Vec<u8> {
    let item: Json = jird::from_slice(&taken.items).unwrap_or_default();
    let mut item = item.get("create").cloned().unwrap_or_default();
    if taken.errors == 0
        && let Some(item) = item.as_object_mut()
    {
        item.insert("_version".into(), json!(1));
        item.insert("_shards".into(), json!({"total": 1, "successful": 1, "failed": 0}));
    }
    format!("{item}\n").into_bytes()
}

/// A problem as Elasticsearch tells it.
pub(super) fn failure(problem: &Problem) -> Vec<u8> {
    let kind = match problem.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "security_exception",
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => "es_rejected_execution_exception",
        _ => "illegal_argument_exception",
    };
    let mut text = Vec::new();
    write_object(&mut text, |object| {
        object.object("error", |error| {
            error.member("type", kind);
            error.member("reason", &problem.to_string());
        });
        object.member("status", problem.status.as_u16());
    });
    text.push(b'\n');
    text
}
