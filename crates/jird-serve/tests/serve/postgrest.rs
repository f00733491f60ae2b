//! PostgREST's own client, from npm, under Node.

use crate::common::Service;
use std::path::PathBuf;
use std::process::Command;

const TABLES: &str = "
    create table people (id integer primary key, name text not null unique, age integer, ok boolean not null default 0,
        tags json, meta json);
    create table posts (id integer primary key, title text, body blob, author integer references people (id),
        editor integer references people);
";

/// Where npm has put the package: `npm install --prefix FOLDER @supabase/postgrest-js`.
fn modules() -> PathBuf {
    let folder = std::env::var_os("JIRD_NODE").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/jird-tools/node"),
        PathBuf::from,
    );
    folder.join("node_modules")
}

#[test]
fn postgrests_client_does_what_its_documentation_says() {
    let has_node = Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_node || !modules().join("@supabase/postgrest-js").is_dir() {
        println!("skipped: PostgREST's client (node, and npm's @supabase/postgrest-js)");
        return;
    }
    let service = Service::with(TABLES, |settings| settings.write = true);
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/serve/postgrest.js");
    let run = Command::new("node")
        .args([program, &format!("http://{}", service.address)])
        .env("NODE_PATH", modules())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    let methods = said.lines().filter(|line| line.starts_with("ran ")).count();
    assert!(said.contains("all of them") && methods > 98, "{methods}");
}
