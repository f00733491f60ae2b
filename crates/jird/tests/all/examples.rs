//! The examples do what they say.

#[path = "../../../../examples/sum_elapsed.rs"]
#[allow(dead_code, reason = "its `main` is for the command line")]
mod sum_elapsed;

#[test]
fn elapsed_is_added_up_exactly() {
    let events = include_bytes!("../../../../examples/events.ndjson");
    let (scanned, elapsed) = sum_elapsed::sum(&events[..]).expect("every event is JSON");
    assert_eq!((scanned, elapsed.to_string().as_str()), (3000, "2838092.3250"));
}

#[test]
fn a_bad_line_is_named() {
    let error = sum_elapsed::sum(&b"{\"Elapsed\": 1}\n\n{\"Elapsed\": 1.}\n"[..]).expect_err("a bad number");
    assert!(error.to_string().starts_with("3: not a valid number at line 1 column 15"), "{error}");
}
