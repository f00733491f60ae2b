use super::check as check_settings;
use super::*;
use jird_store::time;

/// 2024-03-05T07:00:00Z, when messages come.
const ARRIVAL: i64 = 1_709_622_000_000_000_000;

fn event(message: &[u8]) -> String {
    let mut text = Vec::new();
    Events::new(&Settings::default()).write(message, ARRIVAL, &mut text);
    String::from_utf8(text).unwrap()
}

/// The time of an event, and what comes after it.
fn parts(message: &str) -> (i64, String) {
    let event = event(message.as_bytes());
    let (time, rest) = event.strip_prefix("{\"@t\":\"").unwrap().split_once('"').unwrap();
    (time::of_text(time.as_bytes()).unwrap(), rest.strip_prefix(',').unwrap().strip_suffix('}').unwrap().to_owned())
}

/// A message with a time that everybody reads alike.
#[track_caller]
fn check(message: &str, time: &str, rest: &str) {
    let (known, members) = parts(message);
    assert_eq!((time::to_text(known).as_str(), members.as_str()), (time, rest), "{message}");
}

/// A message without a head that is known: its time is that of its arrival.
#[track_caller]
fn check_plain(message: &str, rest: &str) {
    check(message, "2024-03-05T07:00:00Z", rest);
}

/// A message whose time has no zone: it differs from that of UTC by the zone of this machine.
#[track_caller]
fn check_local(message: &str, time: &str, rest: &str) {
    let (known, members) = parts(message);
    let zone = known - time::of_text(time.as_bytes()).unwrap();
    assert!(zone.abs() <= 14 * 3_600_000_000_000 && zone % 900_000_000_000 == 0, "{message}: {}", time::to_text(known));
    assert_eq!(members, rest, "{message}");
}

#[test]
fn messages_of_rfc_5424_become_events() {
    check(
        "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \u{feff}'su root' failed on /dev/pts/8\n",
        "2003-10-11T22:14:15.003Z",
        r#""@l":"Fatal","@m":"'su root' failed on /dev/pts/8","facility":"auth","severity":"crit","host":"mymachine.example.com","app":"su","msgid":"ID47""#,
    );
    check(
        "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time.",
        "2003-08-24T12:14:15.000003Z",
        r#""@l":"Information","@m":"%% It's time.","facility":"local4","severity":"notice","host":"192.0.2.1","app":"myproc","procid":"8710""#,
    );
    check(
        r#"<165>1 2003-10-11T22:14:15.003Z h e - ID47 [exampleSDID@32473 iut="3" eventSource="Application"][examplePriority@32473 class="high"]"#,
        "2003-10-11T22:14:15.003Z",
        r#""@l":"Information","@m":"","facility":"local4","severity":"notice","host":"h","app":"e","msgid":"ID47","sd":{"exampleSDID@32473":{"iut":"3","eventSource":"Application"},"examplePriority@32473":{"class":"high"}}"#,
    );
    check_plain("<0>1 - - - - - -", r#""@l":"Fatal","@m":"","facility":"kern","severity":"emerg""#);
    // Spaces of the text are kept, those of the head are as many as there are; an address may end with a colon.
    check(
        "<191>1  1969-12-31T23:59:59Z fe80::  a 007 -  -   {indented} \u{e4} \r\n\0",
        "1969-12-31T23:59:59Z",
        r#""@l":"Debug","@m":"  {indented} ä ","facility":"local7","severity":"debug","host":"fe80::","app":"a","procid":"007""#,
    );
    // As rsyslog writes it.
    check_plain(
        "<13>1 - h a - - -  x",
        r#""@l":"Information","@m":"x","facility":"user","severity":"notice","host":"h","app":"a""#,
    );
    // No structured data.
    check_plain(
        "<11>1 - h a 1 m text -5",
        r#""@l":"Error","@m":"text -5","facility":"user","severity":"err","host":"h","app":"a","procid":"1","msgid":"m""#,
    );
    // Versions, times and heads that the RFC does not know.
    for text in
        ["2 - h a 1 m - x", "1 2024-13-05T07:00:00Z h a 1 m - x", "1 - h a", "1 0000-01-01T00:00:00Z h a 1 m - x"]
    {
        check_plain(
            &format!("<12>{text}"),
            &format!(r#""@l":"Warning","@m":"{text}","facility":"user","severity":"warning""#),
        );
    }
}

#[test]
fn structured_data_keeps_every_value() {
    let sd = |data: &str, text: &str, json: &str| {
        let rest = format!(r#""@m":{text},"host":"h","app":"a"{json}"#);
        check_plain(&format!("1 - h a - - {data}"), &rest);
    };
    sd(r#"[a b="1\"\\\]\n\x" c=""] x"#, r#""x""#, r#","sd":{"a":{"b":"1\"\\]\\n\\x","c":""}}"#);
    sd("[a b=\"]\u{e4}\n\"][b]y", r#""y""#, ",\"sd\":{\"a\":{\"b\":\"]ä\\n\"},\"b\":{}}");
    sd(
        r#"[a n="1" m="2" n="3"][b n="4"][a n="5"] x"#,
        r#""x""#,
        r#","sd":{"a":{"n":["1","3","5"],"m":"2"},"b":{"n":"4"}}"#,
    );
    sd(r#"[a  b="1"  c="2" ]"#, r#""""#, r#","sd":{"a":{"b":"1","c":"2"}}"#);
    // What is none stays text.
    sd(r#"[a b="1"][c d=2] x"#, r#""[c d=2] x""#, r#","sd":{"a":{"b":"1"}}"#);
    for text in ["[a b c", "[]", "[a=\\\"1\\\"]", "[a b=\\\"1", "[a b=\\\"1\\\\\\\"", "-5 degrees"] {
        let data: String = jird::from_str(&format!("\"{text}\"")).unwrap();
        sd(&data, &format!("\"{text}\""), "");
    }
    sd("- -5 degrees", r#""-5 degrees""#, "");
    // Many parameters take no time out of proportion.
    let many = |count: usize| (0..count).map(|n| format!(" k{n}=\"\"")).collect::<Vec<_>>().concat();
    let begun = std::time::Instant::now();
    let (_, long) = parts(&format!("1 - h a - - [a{}]", many(40_000)));
    assert_eq!(long.matches(":\"\"").count(), 40_001);
    assert!(begun.elapsed().as_secs() < 2, "{:?}", begun.elapsed());
}

#[test]
fn messages_of_rfc_3164_become_events() {
    let user = r#""facility":"user","severity":"notice""#;
    let info = |text: &str, names: &str| format!(r#""@l":"Information","@m":"{text}",{user}{names}"#);
    check_local(
        "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8",
        "2023-10-11T22:14:15Z",
        r#""@l":"Fatal","@m":"'su root' failed for lonvick on /dev/pts/8","facility":"auth","severity":"crit","host":"mymachine","app":"su""#,
    );
    for (message, time, text, names) in [
        (
            "Mar  5 07:00:00 h sshd[007]:  x ",
            "2024-03-05T07:00:00Z",
            " x ",
            r#","host":"h","app":"sshd","procid":"007""#,
        ),
        ("Mar  5 07:00:00 h temp: -5 degrees", "2024-03-05T07:00:00Z", "-5 degrees", r#","host":"h","app":"temp""#),
        ("Mar  5 07:00:00 h temp: - x", "2024-03-05T07:00:00Z", "- x", r#","host":"h","app":"temp""#),
        ("Mar 5 07:00:00 h a: [b c=5] x", "2024-03-05T07:00:00Z", "[b c=5] x", r#","host":"h","app":"a""#),
        ("Mar 05 07:00:00 h a[b]: x", "2024-03-05T07:00:00Z", "x", r#","host":"h","app":"a","procid":"b""#),
        // As `syslog()` of the C library writes it.
        ("Mar  5 07:00:00 su: x", "2024-03-05T07:00:00Z", "x", r#","app":"su""#),
        ("Mar  5 07:00:00 su[7]: x", "2024-03-05T07:00:00Z", "x", r#","app":"su","procid":"7""#),
        ("Mar  5 07:00:00 h  {x}", "2024-03-05T07:00:00Z", "{x}", r#","host":"h""#),
        // Routers.
        ("Mar  5 07:00:00.25: %SYS-5-CONFIG_I: x", "2024-03-05T07:00:00.25Z", "x", r#","app":"%SYS-5-CONFIG_I""#),
        ("Mar  5 2021 07:00:00.123456789 h a: x", "2021-03-05T07:00:00.123456789Z", "x", r#","host":"h","app":"a""#),
        ("Mar  5 2021 07:00:00 h a: x", "2021-03-05T07:00:00Z", "x", r#","host":"h","app":"a""#),
        ("Mar  5 07:00:00", "2024-03-05T07:00:00Z", "", ""),
        // The year that is nearest.
        ("Sep  3 00:00:00 h a: x", "2024-09-03T00:00:00Z", "x", r#","host":"h","app":"a""#),
        ("Sep  6 00:00:00 h a: x", "2023-09-06T00:00:00Z", "x", r#","host":"h","app":"a""#),
        ("Feb 29 00:00:00 h a: x", "2024-02-29T00:00:00Z", "x", r#","host":"h","app":"a""#),
        ("Dec 31 23:59:59 h a: x", "2023-12-31T23:59:59Z", "x", r#","host":"h","app":"a""#),
    ] {
        check_local(&format!("<13>{message}"), time, &info(text, names));
    }
    // As rsyslog forwards it with RSYSLOG_ForwardFormat.
    check(
        "<13>2024-03-05T09:00:00.5+02:00 h a[7]: x [b c=\"d\"]",
        "2024-03-05T07:00:00.5Z",
        &info(r#"x [b c=\"d\"]"#, r#","host":"h","app":"a","procid":"7""#),
    );
    check(
        "<13>2024-03-05T07:00:00Z h a: [b c=\"d\"] x",
        "2024-03-05T07:00:00Z",
        &info(r#"[b c=\"d\"] x"#, r#","host":"h","app":"a""#),
    );
    check_local("Mar  5 07:00:00 h a: x", "2024-03-05T07:00:00Z", r#""@m":"x","host":"h","app":"a""#);
}

#[test]
fn what_has_no_head_is_the_text_of_an_event() {
    let user = r#""facility":"user","severity":"info""#;
    for (message, members) in [
        ("hello", r#""@m":"hello""#.to_owned()),
        ("a: b", r#""@m":"a: b""#.to_owned()),
        ("-5 - 3 x: y", r#""@m":"-5 - 3 x: y""#.to_owned()),
        ("2024-03-05T07:00:00Z ERROR it failed: x", r#""@m":"2024-03-05T07:00:00Z ERROR it failed: x""#.to_owned()),
        ("<13", r#""@m":"<13""#.to_owned()),
        ("<>x", r#""@m":"<>x""#.to_owned()),
        ("<192>x", r#""@m":"<192>x""#.to_owned()),
        ("<250>Mar  5 07:00:00 h a: x", r#""@m":"<250>Mar  5 07:00:00 h a: x""#.to_owned()),
        ("<0013>x", r#""@m":"<0013>x""#.to_owned()),
        ("<+13>x", r#""@m":"<+13>x""#.to_owned()),
        // As Python's `SysLogHandler` sends it.
        ("<14>hello\0", format!(r#""@l":"Information","@m":"hello",{user}"#)),
        ("<14>shop: ready\0", format!(r#""@l":"Information","@m":"ready",{user},"app":"shop""#)),
        (
            "<14>shop[7]: \u{feff}ready\0",
            format!(r#""@l":"Information","@m":"ready",{user},"app":"shop","procid":"7""#),
        ),
        ("<14>{\"a\": {x}}", format!(r#""@l":"Information","@m":"{{\"a\": {{x}}}}",{user}"#)),
        ("<14>it failed: x", format!(r#""@l":"Information","@m":"it failed: x",{user}"#)),
        ("<14>45: *Mar  5 07:00:00: %A: x", format!(r#""@l":"Information","@m":"45: *Mar  5 07:00:00: %A: x",{user}"#)),
        ("<14><15>Mar  5 07:00:00 h a: x", format!(r#""@l":"Information","@m":"<15>Mar  5 07:00:00 h a: x",{user}"#)),
        ("<14>", format!(r#""@l":"Information","@m":"",{user}"#)),
        ("<14>Feb 30 07:00:00 h a: x", format!(r#""@l":"Information","@m":"Feb 30 07:00:00 h a: x",{user}"#)),
    ] {
        check_plain(message, &members);
    }
    assert_eq!(
        event(b"<14>\xff\xc3 x\x01\n"),
        format!(r#"{{"@t":"2024-03-05T07:00:00.000000000Z","@l":"Information","@m":"��� x\u0001",{user}}}"#)
            .replace("���", "\u{fffd}\u{fffd}")
    );
}

#[test]
fn any_bytes_are_an_event() {
    let seeds: [&[u8]; 4] = [
        b"<34>1 2003-10-11T22:14:15.003Z h su 7 ID47 [a b=\"c\\\"\"][d e=\"f\"] \xef\xbb\xbftext",
        b"<34>Oct 11 22:14:15.25 h su[7]: [a b=\"c\"] - text",
        b"<34>Oct 11 2021 22:14:15: su: - text",
        b"<34>2003-10-11T22:14:15.003Z - su[7]: text",
    ];
    let mut seed = 7_u64;
    let mut below = |end: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % end as u64).unwrap()
    };
    for round in 0..20_000 {
        let mut message = seeds[round % 4].to_vec();
        for _ in 0..=below(4) {
            let at = below(message.len());
            match below(4) {
                0 => message[at] = below(256) as u8,
                1 => message[at] = b"<>[]\"\\= :-.0123456789\xff\xc3"[below(23)],
                2 => drop(message.drain(at..(at + 1 + below(9)).min(message.len()))),
                _ => {
                    let part = message[at..(at + 1 + below(9)).min(message.len())].to_vec();
                    message.splice(at..at, part);
                }
            }
        }
        message.extend(b"END");
        let event = event(&message);
        let tree: jird::Json = jird::from_slice(event.as_bytes()).unwrap_or_else(|error| panic!("{error}: {event}"));
        assert!(tree["@m"].as_str().is_some() && tree["@t"].as_str().is_some(), "{event}");
        // Whatever became of its form, nothing is lost.
        assert!(event.contains("END"), "{event}");
    }
}

/// A parser of others passes over words beside a dash.
#[test]
fn no_word_is_lost_wherever_dashes_and_colons_stand() {
    for (message, text) in [
        ("<13>Mar  6 07:00:00 hostz - textC", "hostz - textC"),
        ("<13>Mar  6 07:00:00 hostx -: textA", "hostx -: textA"),
        ("<13>Mar 5 07:00:00 appC[77] - x", "appC[77] - x"),
        ("<13>2024-03-05T07:00:00Z a.b.c -: x", "a.b.c -: x"),
        ("<13>Mar 5 07:00:00 10:30 - x", "10:30 - x"),
    ] {
        assert!(event(message.as_bytes()).contains(&format!("\"@m\":\"{text}\"")), "{}", event(message.as_bytes()));
    }
    let words = [
        "-",
        "-:",
        ":",
        "host1",
        "app2:",
        "app3[44]:",
        "app5[66]",
        "text7",
        "[a8 b9=\"c\"]",
        "10:30",
        "2024",
        "UTC",
        "<7>",
    ];
    let times = [
        "Mar  6 07:00:00",
        "Mar 6 07:00:00.25",
        "2024-03-06T07:00:00Z",
        "Mar 6 2024 07:00:00",
        "1 2024-03-06T07:00:00Z",
    ];
    let mut dice = 1_usize;
    let mut below = |most: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % most
    };
    for _ in 0..20_000 {
        let rest: Vec<&str> = (0..=below(6)).map(|_| words[below(words.len())]).collect();
        let message = format!("<13>{} {}", times[below(times.len())], rest.join(" "));
        let event = event(message.as_bytes());
        for word in rest.iter().flat_map(|word| word.split(|char: char| !char.is_alphanumeric())) {
            assert!(event.contains(word), "{message}: {word}: {event}");
        }
    }
}

#[test]
fn a_date_alone_is_no_time_of_rfc_5424() {
    check_plain(
        "<13>1 2024-03-05 07:00:00 h a p m - x",
        r#""@l":"Information","@m":"1 2024-03-05 07:00:00 h a p m - x","facility":"user","severity":"notice""#,
    );
}

#[test]
fn a_store_with_times_in_a_member_of_messages_is_refused() {
    for (field, is_fine) in [("@t", true), ("time", true), ("host", false), ("@m", false), ("sd", false)] {
        let settings = Settings { time_field: jird::Path::root().key(field), ..Settings::default() };
        assert_eq!(check_settings(&settings).is_ok(), is_fine, "{field}");
    }
}
