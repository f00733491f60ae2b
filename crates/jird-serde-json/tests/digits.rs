//! The feature `arbitrary_precision` does what it does in `serde_json`.
#![cfg(feature = "arbitrary_precision")]
#![allow(missing_docs, reason = "tests")]

use jird_serde_json::{Number, Value, from_str, from_value, to_string, to_value};
use serde::Serialize;

#[test]
fn a_number_of_any_size_is_one() {
    for (text, written) in
        [("1e400", "1e+400"), ("-1E999", "-1e+999"), ("[1e+400]", "[1e+400]"), ("{\"a\":1e-999}", "{\"a\":1e-999}")]
    {
        let value: Value = from_str(text).expect("JSON");
        assert_eq!(to_string(&value).expect("JSON"), written);
        assert_eq!(from_str::<Value>(written).expect("JSON"), value);
    }
    let number: Number = from_str("1e400").expect("a number");
    assert_eq!((number.as_f64(), number.as_str(), number.to_string()), (None, "1e+400", "1e+400".to_owned()));
    assert_eq!("1e400".parse::<Number>().expect("a number"), number);
    assert!(from_str::<f64>("1e400").is_err() && from_value::<f64>(Value::Number(number)).is_err());
    let long = "9".repeat(400);
    assert_eq!(from_str::<Value>(&long).expect("JSON").to_string(), long);
    let mut stream = jird_serde_json::Deserializer::from_str("1e400 2").into_iter::<Value>();
    assert_eq!(stream.next().expect("a value").expect("JSON").to_string(), "1e+400");
}

#[test]
fn an_f32_has_its_own_digits() {
    assert_eq!(to_value(5.55_f32).expect("a number").to_string(), "5.55");
    assert_eq!(Value::from(0.1_f32).to_string(), "0.1");
    assert_eq!(Value::from(f32::NAN), Value::Null);
}

#[test]
fn numbers_are_equal_if_their_texts_are() {
    let number = |text: &str| text.parse::<Number>().expect("a number");
    assert_ne!(number("-0.0"), number("0.0"));
    assert_ne!(number("1.50"), number("1.5"));
    assert_eq!(number("1E5"), number("1e+5"));
    assert_eq!(number("7"), Number::from(7));
}

#[test]
fn a_struct_with_the_name_of_numbers_must_be_one() {
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::Number")]
    struct Named {
        #[serde(rename = "$serde_json::private::Number")]
        text: &'static str,
    }
    assert_eq!(to_value(Named { text: "1.50" }).expect("a number").to_string(), "1.50");
    for text in ["x", "", "1.", "{}", "01"] {
        let error = to_value(Named { text }).expect_err("no number");
        assert!(error.to_string().starts_with("invalid number") || error.is_eof(), "{text}: {error}");
    }
}
