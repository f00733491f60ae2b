//! Other layouts of the same document: minified, indented, canonical.

use crate::common;

use jird::{Layout, format, minify};
use std::path::Path;

fn documents(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut documents = Vec::new();
    for folder in ["bench", "conformance/roundtrip", "conformance/unicode/blns"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("the corpus has this folder") {
            let path = entry.expect("the folder can be listed").path();
            if path.extension().is_some_and(|extension| extension == "json") {
                documents.push((path.display().to_string(), std::fs::read(&path).expect("the file can be read")));
            }
        }
    }
    documents
}

#[test]
fn layouts_keep_every_number_and_string_as_it_stands() {
    let Some(root) = common::corpus() else { return };
    for (name, text) in documents(&root) {
        let small = minify(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let wide = format(&text, Layout::Indent(3)).expect("it was minified before");
        assert_eq!(minify(&wide).as_deref(), Ok(&small[..]), "{name}");
        assert_eq!(minify(&small).as_deref(), Ok(&small[..]), "{name}");
        // What is between the tokens is white space and nothing else.
        let strip = |text: &[u8]| text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<_>>();
        assert_eq!(strip(&small), strip(&text), "{name}");
        let value = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).expect("serde_json reads it");
        assert_eq!(value(&small), value(&text), "{name}");
        assert_eq!(value(&wide), value(&text), "{name}");
    }
}

#[test]
fn documents_made_for_round_trips_come_back_as_they_were() {
    let Some(root) = common::corpus() else { return };
    for (name, text) in documents(&root).into_iter().filter(|(name, _)| name.contains("roundtrip")) {
        assert_eq!(minify(&text), Ok(text), "{name}");
    }
}

#[test]
fn an_indented_document_equals_what_serde_json_writes() {
    let Some(root) = common::corpus() else { return };
    let text = std::fs::read(root.join("bench/github_events.json")).expect("the file can be read");
    let value: serde_json::Value = serde_json::from_slice(&text).expect("serde_json reads it");
    let minified = serde_json::to_vec(&value).expect("it can be written");
    let pretty = serde_json::to_vec_pretty(&value).expect("it can be written");
    assert_eq!(format(&minified, Layout::Indent(2)), Ok(pretty));
}

#[test]
fn the_canonical_form_is_that_of_rfc_8785() {
    let Some(root) = common::corpus() else { return };
    let folder = root.join("conformance/jcs");
    for entry in std::fs::read_dir(folder.join("input")).expect("the corpus has this folder") {
        let path = entry.expect("the folder can be listed").path();
        let input = std::fs::read(&path).expect("the file can be read");
        let name = path.file_name().expect("a file has a name");
        let output = std::fs::read(folder.join("output").join(name)).expect("the file can be read");
        let canonical = format(&input, Layout::Canonical).map(|text| String::from_utf8_lossy(&text).into_owned());
        assert_eq!(canonical, Ok(String::from_utf8_lossy(&output).into_owned()), "{name:?}");
    }
    let numbers = std::fs::read_to_string(folder.join("rfc8785_appendix_b_numbers.txt")).expect("the file can be read");
    let mut checked = 0;
    for line in numbers.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split([',', ' ', '\t']).filter(|word| !word.is_empty());
        let (Some(bits), Some(wanted)) = (words.next(), words.next()) else { continue };
        let Ok(bits) = u64::from_str_radix(bits, 16) else { continue };
        let number = f64::from_bits(bits);
        if number.is_finite() {
            let canonical = format(format!("{number:e}").as_bytes(), Layout::Canonical).expect("it is a number");
            assert_eq!(String::from_utf8_lossy(&canonical), wanted, "{bits:x}");
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} numbers were checked");
}

#[test]
fn what_has_no_canonical_form_is_an_error() {
    for (text, code) in [("[1e309]", "range"), (r#"{"a":1,"\u0061":2}"#, "duplicate"), ("[1,]", "value")] {
        assert_eq!(format(text.as_bytes(), Layout::Canonical).map_err(|error| error.code()), Err(code), "{text}");
    }
}

/// White space behind every number, in more chunks than buffers have room for at a time.
#[test]
fn a_large_document_of_numbers_and_spaces_is_laid_out() {
    common::force_kernel();
    let text = format!("[{}1 ]", "1 ,".repeat(300_000));
    let wanted = format!("[\n{}  1\n]", "  1,\n".repeat(300_000));
    let laid_out = jird::format(text.as_bytes(), jird::Layout::Indent(2)).expect("the text is right");
    assert!(laid_out == wanted.as_bytes());
}
