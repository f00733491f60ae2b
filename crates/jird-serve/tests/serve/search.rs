//! `/events?search=` against a plain model, and `/events/facets`.

use crate::common::{Random, Service};
use jird_serve::Settings;
use jird_store::{Store, Sync, WriterOptions};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A server of a store with these events, in that order of their times, in small blocks.
fn serve(events: &[String], change: impl FnOnce(&mut Settings)) -> Service {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let store = Store::create(&path, &jird_store::Settings::default()).unwrap().with_block_bytes(2000);
    let writer = store.writer(&WriterOptions { sync: Sync::None, seal_bytes: 1 << 20 }).unwrap();
    for (number, event) in events.iter().enumerate() {
        writer.append_event(event.as_bytes()).unwrap();
        if number == events.len() / 2 {
            writer.seal().unwrap();
        }
    }
    drop(writer);
    Service::start(folder, path, change)
}

/// A text as a parameter.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        write!(all, "%{byte:02X}").unwrap();
        all
    })
}

/// The numbers of the events that a query finds, from the newest on.
fn found(service: &Service, query: &str) -> Vec<u64> {
    let answer = service.get(&format!("/events?limit=10000&{query}")).is(200);
    let events: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
    events.iter().map(|event| event["#"].as_u64().unwrap()).collect()
}

/// The plain model: all texts of an event, folded, and every term in one of them.
mod model {
    use serde_json::Value;

    pub(super) fn fold(text: &str) -> String {
        text.to_lowercase().to_uppercase().to_lowercase().replace('ς', "σ")
    }

    fn terms(search: &str) -> Vec<String> {
        let mut terms = vec![String::new()];
        let mut is_phrase = false;
        for char in search.chars() {
            match char {
                '"' => {
                    is_phrase = !is_phrase;
                    terms.push(String::new());
                }
                char if char.is_whitespace() && !is_phrase => terms.push(String::new()),
                char => terms.last_mut().unwrap().push(char),
            }
        }
        terms.into_iter().filter(|term| !term.is_empty()).map(|term| fold(&term)).collect()
    }

    fn shown(value: &Value) -> String {
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// The message, hole by hole, in the most obvious way.
    pub(super) fn message(template: &str, event: &Value) -> String {
        let text: Vec<char> = template.chars().collect();
        let (mut message, mut at, mut formatted) = (String::new(), 0, 0);
        while at < text.len() {
            let is_doubled = text.get(at + 1) == Some(&text[at]);
            if (text[at] == '{' || text[at] == '}') && is_doubled {
                message.push(text[at]);
                at += 2;
                continue;
            }
            let hole = (text[at] == '{')
                .then(|| text[at + 1..].iter().position(|char| "{}".contains(*char)).map(|len| at + 1 + len))
                .flatten()
                .filter(|end| text[*end] == '}');
            let Some(end) = hole else {
                message.push(text[at]);
                at += 1;
                continue;
            };
            let inner: String = text[at + 1..end].iter().collect();
            let named = inner.strip_prefix('@').or(inner.strip_prefix('$')).unwrap_or(&inner);
            let name: String =
                named.chars().take_while(|char| char.is_ascii_alphanumeric() || "_.".contains(*char)).collect();
            if name.is_empty() {
                message.push('{');
                at += 1;
                continue;
            }
            let mut rendering = None;
            if named[name.len()..].contains(':') {
                rendering = event["@r"][formatted].as_str();
                formatted += 1;
            }
            let value = event.get(&name).or_else(|| event.get("Properties")?.get(&name));
            match (rendering, value) {
                (Some(text), _) => message.push_str(text),
                (None, Some(value)) => message.push_str(&shown(value)),
                (None, None) => message.extend(&text[at..=end]),
            }
            at = end + 1;
        }
        message
    }

    fn texts(value: &Value, all: &mut Vec<String>) {
        match value {
            Value::String(text) => all.push(text.clone()),
            Value::Number(number) => all.push(number.to_string()),
            Value::Array(values) => values.iter().for_each(|value| texts(value, all)),
            Value::Object(members) => members.values().for_each(|value| texts(value, all)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    pub(super) fn holds(search: &str, event: &Value) -> bool {
        let mut all = Vec::new();
        texts(event, &mut all);
        for name in ["@mt", "MessageTemplate"] {
            if let Some(template) = event[name].as_str() {
                all.push(message(template, event));
            }
        }
        terms(search).iter().all(|term| all.iter().any(|text| fold(text).contains(term)))
    }
}

/// The first ones are in JSON as they are.
const WORDS: [&str; 28] = [
    "timeout",
    "TimeOut",
    "payment",
    "{",
    "}}",
    "{{Who}}",
    "ab",
    "aba",
    "fix",
    "k",
    "",
    "4711",
    "x}y",
    "Zoë",
    "ZOË",
    "straße",
    "STRASSE",
    "ΣΊΣΥΦΟΣ",
    "σίσυφος",
    "İstanbul",
    "a\"b",
    "a\\b",
    "tab\tin",
    "new\nline",
    "e\u{301}t\u{e9}",
    "ﬁx",
    "\u{1F600}",
    "\u{212A}",
];
const PLAIN_WORDS: &[&str] = WORDS.split_at(13).0;

fn text(random: &mut Random, words: &[&str]) -> String {
    (0..random.below(4)).map(|_| random.of(words)).collect::<Vec<_>>().join(" ")
}

fn value(random: &mut Random, words: &[&str], depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 | 1 => json!(text(random, words)),
        2 => json!(random.below(5000)),
        3 => json!([true, false][random.below(2)]),
        4 => Value::Null,
        5 => json!([value(random, words, depth - 1), value(random, words, depth - 1)]),
        _ => {
            let key = text(random, words);
            json!({key: value(random, words, depth - 1), "Who": value(random, words, depth - 1)})
        }
    }
}

fn event(number: usize, random: &mut Random) -> Value {
    // Most events of most logs need no look beyond their bytes.
    let (is_plain, parts) = (number.is_multiple_of(2), ["out", "Out", "ou", "ſ", "\u{212A}"]);
    let (words, parts) = if is_plain { (PLAIN_WORDS, &parts[..3]) } else { (&WORDS[..], &parts[..]) };
    let mut event = Map::new();
    event.insert(
        "@t".into(),
        json!(format!("2024-03-05T{:02}:{:02}:{:02}Z", number / 3600, number / 60 % 60, number % 60)),
    );
    event.insert("#".into(), json!(number));
    let templates = [
        "{Who} pays {Sum:0.0}",
        "{@Who}{Sum}",
        "pay{Who,5}ment",
        "{{Who}} {Nobody} {Who",
        "}{Sum:x}{Who:y}{",
        "time{Part}",
    ];
    if random.below(3) > 0 {
        let name = ["@mt", "MessageTemplate"][random.below(2)];
        event.insert(name.into(), json!(templates[random.below(templates.len())]));
    }
    if random.below(3) == 0 {
        event.insert("@r".into(), json!([text(random, words), text(random, words)]));
    }
    event.insert("Who".into(), value(random, words, 2));
    event.insert(text(random, words), value(random, words, 2));
    event.insert("Part".into(), json!(random.of(parts)));
    event.insert("Properties".into(), json!({"Sum": value(random, words, 1), "somekey": 1}));
    Value::Object(event)
}

/// The text of an event; some letters are escaped that need not be.
fn written(event: &Value, random: &mut Random) -> String {
    let plain = event.to_string();
    match random.below(3) {
        0 => plain.chars().fold(String::new(), |mut all, char| {
            if char.is_ascii() {
                all.push(char);
            } else {
                char.encode_utf16(&mut [0; 2]).iter().for_each(|unit| write!(all, "\\u{unit:04x}").unwrap());
            }
            all
        }),
        1 => plain.replace('o', "\\u006F"),
        _ => plain,
    }
}

#[test]
fn search_finds_what_a_plain_model_finds() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let events: Vec<Value> = (0..1500).map(|number| event(number, &mut random)).collect();
    let lines: Vec<String> = events.iter().map(|event| written(event, &mut random)).collect();
    let service = serve(&lines, |settings| settings.limits.time = std::time::Duration::from_mins(1));
    let mut searches: Vec<String> = WORDS.iter().map(|&word| word.to_owned()).collect();
    for _ in 0..150 {
        let words = (0..=random.below(3)).map(|_| match random.below(3) {
            0 => format!("\"{}\"", text(&mut random, &WORDS)),
            1 => random.of(&WORDS).chars().skip(random.below(3)).take(1 + random.below(4)).collect(),
            _ => random.of(&WORDS).to_owned(),
        });
        searches.push(words.collect::<Vec<_>>().join(" "));
    }
    // Parts of messages that stand in no field as they are.
    for event in events.iter().step_by(4) {
        if let Some(template) = event["@mt"].as_str() {
            let message: Vec<char> = model::message(template, event).chars().filter(|char| *char != '"').collect();
            let begin = random.below(message.len().max(1));
            let part: String = message[begin..].iter().take(1 + random.below(12)).collect();
            searches.push(format!("\"{}\"", part.to_uppercase()));
        }
    }
    let mut some = 0;
    for search in &searches {
        let wanted = (0..events.len()).rev().filter(|number| model::holds(search, &events[*number]));
        let wanted: Vec<u64> = wanted.map(|number| number as u64).collect();
        some += usize::from(!wanted.is_empty() && wanted.len() < events.len());
        assert_eq!(found(&service, &format!("search={}", encoded(search))), wanted, "{search:?}");
    }
    assert!(some > searches.len() / 3, "{some} of {}", searches.len());
}

#[test]
fn search_knows_case_escapes_phrases_and_messages_but_no_keys() {
    let lines = [
        r##"{"@t":"2024-03-05T00:00:00Z","#":0,"@mt":"Payment of {Who} failed after {Ms:0.0} ms","@r":["12.5"],"Who":"Zo\u00eb","Ms":12.53}"##,
        r##"{"@t":"2024-03-05T00:00:01Z","#":1,"@m":"TIMEOUT of a payment","deep":[{"x":"Ärger"}]}"##,
        r##"{"@t":"2024-03-05T00:00:02Z","#":2,"timeout":null,"code":-4.50e3}"##,
    ];
    let service = serve(&lines.map(str::to_owned), |_| ());
    for (search, wanted) in [
        ("", &[2, 1, 0][..]),
        ("  ", &[2, 1, 0]),
        ("timeout payment", &[1]),
        ("payment", &[1, 0]),
        ("zoË", &[0]),
        ("\"of zoë failed\"", &[0]),
        ("\"of failed\"", &[]),
        ("of failed", &[0]),
        ("\"after 12.5 ms\"", &[0]),
        ("\"after 12.53", &[]),
        ("12.53", &[0]),
        ("ärger", &[1]),
        ("-4.50e3", &[2]),
        ("null", &[]),
        ("2024-03-05t00:00:02", &[2]),
    ] {
        assert_eq!(found(&service, &format!("search={}", encoded(search))), wanted, "{search:?}");
    }
    // With a time, and page by page.
    assert_eq!(found(&service, "search=payment&until=2024-03-05T00:00:01Z"), [0]);
    let first = service.get("/events?search=%22payment%22&limit=1").is(200);
    let link = first.header("link").unwrap();
    assert!(link.contains("&search=%22payment%22&limit=1"), "{link}");
    let rest = service.get(&link[1..link.len() - 13]).is(200);
    assert!(rest.header("link").is_none() && rest.text().contains("\"#\":0"));
    for wrong in
        [format!("search={}", "a".repeat(1001)), format!("search={}", "a+".repeat(33)), "search=a&search=b".into()]
    {
        service.get(&format!("/events?{wrong}")).is(400);
    }
}

#[cfg(feature = "query")]
#[test]
fn search_and_a_condition_hold_both() {
    let lines: Vec<String> = (0..300)
        .map(|n| format!(r##"{{"@t":"2024-03-05T00:{:02}:{:02}Z","#":{n},"who":"w{}"}}"##, n / 60, n % 60, n % 3))
        .collect();
    let service = serve(&lines, |_| ());
    let wanted: Vec<u64> = (100..200).rev().filter(|n| n % 3 == 2).collect();
    let condition = encoded("\"#\" >= 100 and \"#\" < 200");
    assert_eq!(found(&service, &format!("search=W2&where={condition}")), wanted);
    let answer = service.get(&format!("/events/facets?search=W2&where={condition}")).is(200).tree();
    assert_eq!((answer["events"].as_u64(), answer["all"].as_bool()), (Some(wanted.len() as u64), Some(true)));
}

#[test]
fn search_takes_as_long_as_the_server_allows() {
    let lines: Vec<String> = (0..20_000)
        .map(|n| {
            format!(
                r##"{{"@t":"2024-03-05T00:{:02}:{:02}Z","#":{n},"@mt":"{{A}} é {{B}}","A":"{n}","B":"x"}}"##,
                n / 60 % 60,
                n % 60
            )
        })
        .collect();
    let service = serve(&lines, |settings| settings.limits.time = std::time::Duration::from_millis(1));
    let told = service.get("/events?search=nowhere").is(503).text().to_owned();
    assert!(told.contains("longer than this server allows"), "{told}");
}

/// Values of a field, with the numbers of events.
type Counts = BTreeMap<String, u64>;

fn counts(answer: &Value, field: &str) -> Option<(Counts, u64)> {
    let field = answer["fields"].as_array().unwrap().iter().find(|one| one["field"] == field)?;
    let values = field["values"].as_array().unwrap().iter();
    let values = values.map(|one| (one["value"].to_string(), one["events"].as_u64().unwrap())).collect();
    Some((values, field["others"].as_u64().unwrap()))
}

fn facets(service: &Service, query: &str) -> Value {
    serde_json::from_slice(&service.get(&format!("/events/facets?{query}")).is(200).body).unwrap()
}

#[test]
fn facets_are_what_a_plain_model_counts() {
    let mut random = Random(77);
    let levels = [json!("Error"), json!("it\"s é"), json!(1.50), json!(null), json!(true)];
    let names = ["level", "a/b~c", "<b>", "\u{202e}"];
    let events: Vec<Value> = (0..2000)
        .map(|number| {
            let name = random.of(&names);
            json!({"@t": format!("2024-03-05T00:{:02}:{:02}Z", number / 60 % 60, number % 60),
                name: (levels[random.below(5)]),
                "in": {"deep": random.below(4), "list": [1]}, "id": format!("id-{number}"), "long": "x".repeat(300)})
        })
        .collect();
    let lines: Vec<String> = events.iter().map(|event| written(event, &mut random)).collect();
    let service = serve(&lines, |_| ());
    let answer = facets(&service, "");
    assert_eq!((answer["events"].as_u64(), answer["all"].as_bool()), (Some(2000), Some(true)));
    for name in names {
        let mut wanted = Counts::new();
        for event in &events {
            if let Some(value) = event.get(name) {
                *wanted.entry(value.to_string()).or_default() += 1;
            }
        }
        let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        assert_eq!(counts(&answer, &pointer), Some((wanted, 0)), "{name}");
    }
    let (deep, _) = counts(&answer, "/in/deep").unwrap();
    assert_eq!(deep.values().sum::<u64>(), 2000);
    assert!(counts(&answer, "/in/list").is_none() && counts(&answer, "/in").is_none());
    // More values than are told apart are counted together.
    assert_eq!(counts(&answer, "/id").unwrap().1, 1000);
    assert_eq!(counts(&answer, "/long").unwrap(), (Counts::new(), 2000));
    // With a search.
    let some = facets(&service, "search=%C3%89");
    let wanted = events.iter().filter(|event| model::holds("É", event)).count() as u64;
    assert_eq!(some["events"].as_u64(), Some(wanted));
    for wrong in ["limit=1", "follow=true", "since=x", "search=a&search=a", "before=1.1"] {
        service.get(&format!("/events/facets?{wrong}")).is(400);
    }
    service.send("POST", "/events/facets", &[], b"x").is(405);
    service.send("GET", "/events/facets", &[("Origin", "http://evil.example")], b"").is(403);
}

#[test]
fn facets_of_hostile_events_take_bounded_memory() {
    // Each event has fields of its own.
    let lines: Vec<String> = (0..3000)
        .map(|n| {
            let members =
                (0..20).map(|m| format!("\"{}-{n}-{m}\":\"{n}\"", "k".repeat(100))).collect::<Vec<_>>().join(",");
            format!(r#"{{"@t":"2024-03-05T00:{:02}:{:02}Z",{members}}}"#, n / 60 % 60, n % 60)
        })
        .collect();
    let service = serve(&lines, |_| ());
    let answer = service.get("/events/facets").is(200);
    assert!(answer.body.len() < 1 << 20, "{}", answer.body.len());
    assert_eq!(answer.tree()["fields"].as_array().unwrap().len(), 200);
}

#[test]
fn templates_and_words_that_would_take_all_memory_or_time_take_little() {
    let many = |count: usize, hole: &str| hole.repeat(count);
    let long = json!({"#": 0, "@t": "2024-03-05T07:00:00Z", "@mt": many(20_000, "{A}"), "A": "x".repeat(300_000)});
    let mut wide = json!({"#": 1, "@t": "2024-03-05T07:00:01Z", "@mt": many(50_000, "{zz}")});
    for key in 0..20_000 {
        wide[format!("k{key}")] = json!(key);
    }
    let repeated = json!({"#": 2, "@t": "2024-03-05T07:00:02Z", "m": (many(999, "a") + "e").repeat(1000)});
    let service = serve(&[long, wide, repeated].map(|event| event.to_string()), |_| ());
    let begun = std::time::Instant::now();
    assert!(found(&service, "search=hello").is_empty());
    assert!(found(&service, &format!("search={}", many(1000, "a"))).is_empty());
    assert_eq!(found(&service, &format!("search={}", many(999, "A"))), [2]);
    assert_eq!(found(&service, "search=xxxx"), [0]);
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    service.get("/events/facets").is(200);
}

#[test]
fn names_in_templates_have_letters_of_any_script() {
    let event =
        json!({"#": 7, "@t": "2024-03-05T07:00:00Z", "@mt": "Hi {Gr\u{f6}\u{df}e} x", "Gr\u{f6}\u{df}e": "tall"});
    let service = serve(&[event.to_string()], |_| ());
    assert_eq!(found(&service, &format!("search={}", encoded("\"hi tall x\""))), [7]);
}
