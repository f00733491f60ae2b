//! Records that are incomplete, and sources whose events come out of order.

use jird::event::filter::{Flatten, Project};
use jird::event::{Interest, JsonSink, JsonSource, Key, Pattern, Place, Sink, Source};
use jird::hooks::event::{Condition, Recording};
use jird::{
    Path,
    record::{Comparison, Literal, Predicate},
};

#[test]
fn a_condition_does_not_hold_of_half_a_record() {
    let over = Predicate::Compare { slot: 0, op: Comparison::Gt, literal: Literal::Number("1".into()) };
    let mut condition = Condition::new(over, vec![Path::root().key("a")]);
    for text in [&br#"{"b":{"c":["#[..], br#"{"b":{"c":1},"a":2"#, b"{", b""] {
        let mut recording = Recording::new();
        let sent = JsonSource::from_slice(text).send_record(&mut recording);
        assert!(!sent.is_ok_and(|sent| sent) && !condition.holds(&recording), "{}", checks::shown(text));
    }
}

#[test]
fn rows_are_made_of_keys_that_no_record_begins() {
    let mut rows = Flatten::new(JsonSink::new(Vec::new()));
    // The key of the object before is left, and would end within a character of the next.
    for keys in [["x", "abc"], ["\u{e9}\u{e9}", "x"]] {
        assert!(rows.begin_object().is_ok());
        assert!(keys.iter().all(|key| rows.key(Key::new(key)).is_ok() && rows.null().is_ok()));
        assert!(rows.end_object().is_ok());
    }
}

#[test]
fn a_key_in_an_array_leads_nowhere() {
    let pattern = "/0/a".parse::<Pattern>().expect("a pattern");
    let mut some = Project::new(JsonSink::new(Vec::new()), [pattern]);
    assert!(some.begin_record(Place::default()).is_ok() && some.begin_array().is_ok());
    assert_eq!(some.key(Key::new("0")).ok(), Some(Interest::Skip));
}
