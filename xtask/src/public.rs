//! The public names of the engine, which change on purpose only: `crates/jird/PUBLIC.txt` lists what its documentation
//! lists, and each change of it is a change of this file.
use std::collections::BTreeSet;
use std::fs;

use crate::house::House;
use crate::step::{Log, Outcome, Step};

/// The committed list.
const LIST: &str = "crates/jird/PUBLIC.txt";

/// What brings the list up to date.
const WRITE: &str = "JIRD_PUBLIC";

pub(crate) fn step() -> Step {
    Step::new("docs", "the engine's documentation has no broken links, and lists the public names of PUBLIC.txt", run)
}

fn run(house: &House, log: &mut Log) -> Outcome {
    let mut command = house.cargo(["doc", "--no-deps", "--package", "jird", "--features", "jsonpath"]);
    if !log.run(command.env("RUSTDOCFLAGS", "-D warnings")) {
        return Outcome::Failed;
    }
    let (page, list) = (house.target.join("doc/jird/all.html"), house.root.join(LIST));
    let Ok(page) = fs::read_to_string(&page) else {
        log.say(&format!("error: {} cannot be read", page.display()));
        return Outcome::Failed;
    };
    let found = names(&page);
    if std::env::var_os(WRITE).is_some_and(|value| value == "write") {
        let text: String = found.iter().flat_map(|name| [name.as_str(), "\n"]).collect();
        return fs::write(list, text).is_ok().into();
    }
    let listed = fs::read_to_string(list).unwrap_or_default();
    let listed: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    found.difference(&listed).for_each(|name| log.say(&format!("error: {name} is public and not in {LIST}")));
    listed.difference(&found).for_each(|name| log.say(&format!("error: {name} is in {LIST} and not public")));
    if found == listed {
        return Outcome::Passed;
    }
    log.say(&format!("If that is meant: {WRITE}=write cargo xtask test docs"));
    Outcome::Failed
}

/// The names on rustdoc's page of all items, each with its kind: `struct event::Feed`.
fn names(page: &str) -> BTreeSet<String> {
    let item = |link: &str| {
        let path = link.split_once(".html\"")?.0;
        let (folder, file) = path.rsplit_once('/').map_or(("", path), |(folder, file)| (folder, file));
        let (kind, name) = file.split_once('.')?;
        let module = folder.split('/').filter(|part| !part.is_empty()).flat_map(|part| [part, "::"]);
        Some(format!("{kind} {}{name}", module.collect::<String>()))
    };
    page.split("<li><a href=\"").skip(1).filter_map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_their_kinds_and_modules() {
        let page =
            "<li><a href=\"struct.Path.html\">Path</a></li><li><a href=\"de/fn.read.html\">de::read</a></li><li>";
        assert_eq!(names(page).into_iter().collect::<Vec<_>>(), ["fn de::read", "struct Path"]);
    }
}
