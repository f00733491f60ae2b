//! `GET /sources`: what is served, for programs that show it.

use crate::routes::state::State;
use jird::hooks::{ObjectWriter, write_object};

/// A list of what is served: tables and views, the store, files.
pub(crate) fn list(state: &State) -> Vec<u8> {
    let mut text = b"[".to_vec();
    let writes = state.writes_tables();
    for table in state.tables().iter().filter(|table| !state.is_own(table.info.name())) {
        let kind = if table.info.is_view() { "view" } else { "table" };
        item(&mut text, table.info.name(), kind, |object| {
            object.member("writable", writes && !table.info.is_view());
            object.member("key", table.id.map(|id| table.info.columns()[id].name()));
            object.array("columns", |columns| {
                for column in table.info.columns() {
                    columns.object(|object| {
                        object.member("name", column.name());
                        object.member("type", column.declared());
                    });
                }
            });
            object.array("links", |links| {
                for link in table.links().iter().filter(|link| !link.is_many) {
                    links.object(|object| {
                        object.member("table", &link.table);
                        object.array("columns", |names| link.columns.iter().for_each(|(own, _)| names.element(own)));
                        object.array("to", |names| link.columns.iter().for_each(|(_, other)| names.element(other)));
                    });
                }
            });
        });
    }
    for table in state.own_tables() {
        item(&mut text, table.info.name(), "own", |object| {
            object.member("writable", true);
            object.member("key", "id");
        });
    }
    if let Some(store) = &state.store {
        item(&mut text, &store.name, "store", |object| {
            object.member("writable", store.intake.is_some());
            object.member("key", None::<&str>);
            object.member("time", &store.store.settings().time_field.to_string());
        });
    }
    for file in &state.files {
        item(&mut text, &file.name, "file", |object| {
            object.member("writable", false);
            object.member("key", None::<&str>);
        });
    }
    text.extend_from_slice(b"]\n");
    text
}

/// Writes one of them, on a line of its own: what all have, and the rest.
fn item(text: &mut Vec<u8>, name: &str, kind: &str, rest: impl FnOnce(&mut ObjectWriter<'_>)) {
    text.extend_from_slice(if text.len() == 1 { b"" } else { b",\n" });
    write_object(text, |object| {
        object.member("name", name);
        object.member("kind", kind);
        rest(object);
    });
}
