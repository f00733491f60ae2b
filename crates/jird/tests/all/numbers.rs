//! Numbers against the conformance data of parse-number-fxx-test-data: each line has the bits of the text's value as half,
//! single and double precision.

use crate::common;

use jird::Number;
use jird::value::MachineNumber;

#[test]
fn every_number_of_the_conformance_data_is_rounded_correctly() {
    let Some(corpus) = common::corpus() else { return };
    let folder = corpus.join("conformance/numbers/parse-number-fxx");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus has this folder") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        for line in std::fs::read_to_string(&path).expect("it is text").lines() {
            let [_, single, double, text] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("four columns: {line}")
            };
            // JSON has no `.5`, no `+1` and no `1.`; the value is the same with the zero that it wants.
            let Some(number) = as_json(text) else { continue };
            let number = Number::new(&number).unwrap_or_else(|| panic!("{line}"));
            let expected = u64::from_str_radix(double, 16).map(f64::from_bits).expect("16 digits");
            let expected = expected.is_finite().then(|| expected.to_bits());
            assert_eq!(number.to_f64().map(f64::to_bits), expected, "{line}");
            if !number.is_integer() {
                let found = number.machine_number().map(|found| match found {
                    MachineNumber::F64(value) => value.to_bits(),
                    integer => panic!("{integer:?} of {line}"),
                });
                assert_eq!(found, expected, "{line}");
            }
            let expected = u32::from_str_radix(single, 16).map(f32::from_bits).expect("8 digits");
            let expected = expected.is_finite().then(|| expected.to_bits());
            assert_eq!(number.to_f32().map(f32::to_bits), expected, "{line}");
            count += 1;
        }
    }
    assert!(count > 15_000, "only {count} numbers");
}

/// The nearest spelling that JSON allows; `None` for names (`Infinity`).
fn as_json(text: &str) -> Option<String> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (sign, size) = text.strip_prefix('-').map_or(("", text), |size| ("-", size));
    if !size.starts_with(|char: char| char.is_ascii_digit() || char == '.') {
        return None;
    }
    let (mantissa, exponent) = size.find(['e', 'E']).map_or((size, ""), |at| size.split_at(at));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{whole}{point}{fraction}{exponent}"))
}
