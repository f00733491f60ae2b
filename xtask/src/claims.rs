//! Tests that the tests that `docs/claims.md` names are there.
use std::fs;
use std::path::{Path, PathBuf};

/// Where the paths of the page begin.
const ROOTS: [&str; 4] = ["crates", "testing", "crates/jird-python/tests", ""];

/// What is wrong with the names of tests in a text: `path.rs`, `path.rs::name`, and `::name` of the file before it.
fn faults(root: &Path, text: &str) -> Vec<String> {
    let (mut faults, mut file) = (Vec::new(), None);
    let spans = text.lines().filter(|line| line.starts_with('|')).flat_map(|line| line.split('`').skip(1).step_by(2));
    for span in spans {
        let (path, name) = span.split_once("::").map_or((span, None), |(path, name)| (path, Some(name)));
        let suffix = Path::new(path).extension().and_then(|suffix| suffix.to_str());
        if suffix == Some("py") || path.contains('/') && suffix == Some("rs") {
            file = find(root, path);
            if file.is_none() {
                faults.push(format!("docs/claims.md: there is no file {path}"));
            }
        } else if !path.is_empty() {
            continue;
        }
        let (Some(name), Some(file)) = (name, &file) else { continue };
        // A macro may make the function, so its name alone is looked for.
        let name = name.rsplit("::").next().unwrap_or(name);
        let text = fs::read_to_string(file).unwrap_or_default();
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        if !text.split(|char| !is_word(char)).any(|word| word == name) {
            faults.push(format!("docs/claims.md: {} has no test {name}", file.display()));
        }
    }
    faults
}

fn find(root: &Path, path: &str) -> Option<PathBuf> {
    ROOTS.iter().map(|folder| root.join(folder).join(path)).find(|path| path.is_file())
}

#[test]
fn the_tests_of_all_claims_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let page = fs::read_to_string(root.join("docs/claims.md")).expect("the page is there");
    assert_eq!(faults(root, &page), Vec::<String>::new());
    assert!(page.matches(".rs::").count() > 190, "the page has lost its claims");
}

#[test]
fn what_is_not_there_is_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let page = "| a | `xtask/src/claims.rs::what_is_not_there_is_told`, `::nothing_of_this_name_is_` |\n| b | `jird/tests/none.rs::a` |";
    // The name stands in the text above, so it is found there; a file that is missing is told.
    assert_eq!(faults(root, page), ["docs/claims.md: there is no file jird/tests/none.rs"]);
    let page = format!("| a | `xtask/src/main.rs::{}` |", ["nothing", "of", "this", "name"].join("_"));
    assert_eq!(faults(root, &page).len(), 1);
}
