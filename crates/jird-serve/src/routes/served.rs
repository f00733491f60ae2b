//! `GET /sources`: what is served, for programs that show it.

use crate::routes::state::State;
use jird::hooks::write_string;

/// A list of what is served: tables and views, the store, files.
pub(crate) fn list(state: &State) -> Vec<u8> {
    let mut text = b"[".to_vec();
    let writes = state.writes_tables();
    for table in state.tables() {
        let kind = if table.info.is_view() { "view" } else { "table" };
        let key = table.id.map(|id| table.info.columns()[id].name());
        item(table.info.name(), kind, writes && !table.info.is_view(), key, &mut text);
        let mut separator: &[u8] = b",\"columns\":[";
        for column in table.info.columns() {
            text.extend_from_slice(separator);
            text.extend_from_slice(b"{\"name\":");
            write_string(column.name(), &mut text);
            text.extend_from_slice(b",\"type\":");
            write_string(column.declared(), &mut text);
            text.push(b'}');
            separator = b",";
        }
        text.extend_from_slice(b"]}");
    }
    if let Some(store) = &state.store {
        item(&store.name, "store", store.intake.is_some(), None, &mut text);
        text.extend_from_slice(b",\"time\":");
        write_string(&store.store.settings().time_field.to_string(), &mut text);
        text.push(b'}');
    }
    for file in &state.files {
        item(&file.name, "file", false, None, &mut text);
        text.push(b'}');
    }
    text.extend_from_slice(b"]\n");
    text
}

/// What all of them have; the object stays open.
fn item(name: &str, kind: &str, is_writable: bool, key: Option<&str>, text: &mut Vec<u8>) {
    let separator: &[u8] = if text.len() == 1 { b"" } else { b",\n" };
    text.extend_from_slice(separator);
    text.extend_from_slice(b"{\"name\":");
    write_string(name, text);
    text.extend_from_slice(format!(",\"kind\":\"{kind}\",\"writable\":{is_writable},\"key\":").as_bytes());
    match key {
        Some(key) => write_string(key, text),
        None => text.extend_from_slice(b"null"),
    }
}
