// A calculator: numbers, their conversions and limits.
use self::serde_json::{Number, Value, from_str, from_value, json, to_string, to_value};
use std::fmt::Write;

pub fn run() -> String {
    let mut out = String::new();
    let texts = ["0", "-1", "7", "2.5", "-0.5", "1e3x", "18446744073709551615", "-9223372036854775808", "01", "1.", "-", "", " 1", "1 ", "1e999", "\"1\""];
    for text in texts {
        let number = text.parse::<Number>();
        writeln!(out, "{text} {number:?}").unwrap();
        let Ok(number) = number else { continue };
        writeln!(
            out,
            "{number} {} {} {} {:?} {:?} {:?} {:?} {:?}",
            number.is_i64(), number.is_u64(), number.is_f64(), number.as_i64(), number.as_u64(), number.as_f64(),
            number.as_i128(), number.as_u128()
        )
        .unwrap();
        writeln!(out, "{} {:?} {:?}", to_string(&number).unwrap(), to_value(&number), from_str::<Number>(text)).unwrap();
        writeln!(out, "{:?} {:?}", from_value::<f64>(Value::Number(number.clone())), from_value::<u8>(json!(number))).unwrap();
        writeln!(out, "{:?} {:?}", from_value::<Number>(json!(number)), from_value::<i128>(json!(number)).is_ok()).unwrap();
    }
    writeln!(out, "{:?} {:?} {:?}", Number::from_f64(0.1), Number::from_f64(f64::NAN), Number::from_f64(1e300)).unwrap();
    writeln!(out, "{:?} {:?}", Number::from_i128(-5), Number::from_u128(5)).unwrap();
    let all: [Number; 10] = [1u8.into(), 1u16.into(), 1u32.into(), 1u64.into(), 1usize.into(), (-1i8).into(), 1i16.into(), 1i32.into(), 1i64.into(), 1isize.into()];
    writeln!(out, "{all:?} {}", all[0] == all[9]).unwrap();
    for wrong in ["\"1\"", "null", "[1]", "{\"a\":1}", "true", "1.5.5", "x"] {
        writeln!(out, "{:?}", from_str::<Number>(wrong)).unwrap();
    }
    writeln!(out, "{:?} {:?}", from_str::<u8>("256"), from_str::<i8>("1.0")).unwrap();
    writeln!(out, "{:?} {:?}", from_str::<i128>("-170141183460469231731687303715884105728"), from_str::<u128>("-1")).unwrap();
    writeln!(out, "{:?} {:?} {:?}", from_str::<f32>("1e39"), from_str::<f64>("1e400"), from_str::<Value>("1e400")).unwrap();
    writeln!(out, "{:?}", from_str::<f64>("0.1e-7")).unwrap();
    writeln!(out, "{}", to_string(&(f64::NAN, f32::INFINITY, 1e16, 1.0f32, u128::MAX)).unwrap()).unwrap();
    out
}
