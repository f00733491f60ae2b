//! The text of a manifest.

use super::{LogEntry, Loss, Manifest, Needs, Sections, SpanEntry};
use crate::error::{Error, ErrorKind};
use crate::event::{Clip, Key, TextOrder};
use crate::files::checksum;
use crate::notation;
use crate::settings::{ColumnChoice, Settings};
use jird::Value;
use jird::hooks::{ObjectWriter, write_object};
use std::path::Path;

/// The version of the format that this crate writes. It reads this one and those before.
const FORMAT: u64 = 2;
/// No span has more bytes of events, so that those of all spans can be added up.
const SPAN_BYTES_MAX: u64 = 1 << 40;

pub(super) fn write(manifest: &Manifest) -> String {
    let mut out = Vec::new();
    write_object(&mut out, |object| write_members(manifest, object));
    let sum = notation::digits(checksum(&out));
    out.extend_from_slice(format!("\n{sum}\n").as_bytes());
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn write_members(manifest: &Manifest, object: &mut ObjectWriter<'_>) {
    let Manifest { generation, store, next, arrivals, sealed, settings, .. } = manifest;
    object.member("format", FORMAT);
    object.member("generation", *generation);
    object.member("store", &notation::digits(*store));
    object.member("next", *next);
    object.member("arrivals", *arrivals);
    if let Some(sealed) = sealed {
        object.member("sealed", *sealed);
    }
    object.object("settings", |object| {
        object.array("time_field", |steps| notation::write_path(&settings.time_field, steps));
        object.array("columns", |columns| {
            if let ColumnChoice::Fields(paths) = &settings.columns {
                paths.iter().for_each(|path| columns.array(|steps| notation::write_path(path, steps)));
            }
        });
        if settings.columns == ColumnChoice::Auto {
            object.member("auto_columns", true);
        }
        object.member("compression", settings.compression.name());
    });
    object.array("spans", |spans| manifest.spans.iter().for_each(|span| spans.object(|out| write_span(span, out))));
    object.array("logs", |logs| manifest.logs.iter().for_each(|log| logs.object(|out| write_log(log, out))));
    object.array("lost", |lost| manifest.lost.iter().for_each(|loss| lost.object(|out| write_loss(loss, out))));
    for (what, needed) in [("needs_to_read", &manifest.needs.read), ("needs_to_write", &manifest.needs.write)] {
        if !needed.is_empty() {
            object.array(what, |array| needed.iter().for_each(|name| array.element(name)));
        }
    }
    object.object("sections", |sections| manifest.sections.write(sections));
}

fn write_span(span: &SpanEntry, out: &mut ObjectWriter<'_>) {
    out.member("number", span.number);
    out.member("events", span.events);
    out.member("text_bytes", span.text_bytes);
    out.member("file_bytes", span.file_bytes);
    for (name, key) in [("first", span.first), ("last", span.last)] {
        out.array(name, |array| {
            array.element(key.time);
            array.element(key.arrival);
        });
    }
    out.member("width", span.order.width());
    out.member("table", &notation::digits(span.table_sum));
    if let Some(time) = span.keep_from {
        out.member("keep_from", time);
    }
}

fn write_log(log: &LogEntry, out: &mut ObjectWriter<'_>) {
    out.member("number", log.number);
    if let Some(identity) = log.identity {
        out.member("identity", &notation::digits(identity));
    }
    out.array("clips", |clips| {
        for clip in &log.clips {
            clips.array(|array| {
                array.element(clip.before);
                array.element(clip.arrivals_below);
            });
        }
    });
}

fn write_loss(loss: &Loss, out: &mut ObjectWriter<'_>) {
    out.member("file", &loss.file);
    out.array("arrivals", |array| [loss.arrivals.start, loss.arrivals.end].map(|arrival| array.element(arrival)));
    out.member("reason", &loss.reason);
    out.member("accepted", loss.is_accepted);
}

/// Bytes that have the generation of a manifest.
pub(super) const HEAD_BYTES: u64 = 64;

/// The generation that the beginning of a manifest says, without a look at its checksum; 0 if it says none.
pub(super) fn generation(head: &[u8]) -> u64 {
    let text = std::str::from_utf8(head).unwrap_or_default();
    let digits = text.split_once("\"generation\":").and_then(|(_, rest)| rest.split(',').next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// Why a manifest cannot be read.
#[derive(Debug)]
pub(super) enum Fault {
    Damaged(&'static str),
    /// A later version made it.
    Later(Error),
}

impl Fault {
    pub(super) fn told(self, damaged: impl FnOnce(&str) -> Error) -> Error {
        match self {
            Self::Damaged(what) => damaged(what),
            Self::Later(error) => error,
        }
    }
}

pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Manifest, Fault> {
    let (line, rest) = memchr::memchr(b'\n', bytes)
        .map(|end| (&bytes[..end], &bytes[end + 1..]))
        .ok_or(Fault::Damaged("the manifest is cut off"))?;
    if rest != format!("{:016x}\n", checksum(line)).as_bytes() {
        return Err(Fault::Damaged("the manifest does not have its checksum"));
    }
    let document = jird::parse(line).map_err(|_| Fault::Damaged("the manifest is not JSON"))?;
    let root = document.root();
    match root.get("format").and_then(Value::as_u64) {
        Some(1..=FORMAT) => {}
        Some(later) => {
            let path = path.display();
            let message =
                format!("{path}: the store has format {later}, and this program reads up to {FORMAT}: use a later one");
            return Err(Fault::Later(Error::new(ErrorKind::Version, message)));
        }
        None => return Err(Fault::Damaged("the manifest has no format")),
    }
    let manifest =
        manifest(root).ok_or(Fault::Damaged("the manifest lacks something, or has something that cannot be"))?;
    Needs::check(&manifest.needs.read, "read", path).map_err(Fault::Later)?;
    Ok(manifest)
}

fn manifest(root: Value<'_>) -> Option<Manifest> {
    let settings = root.get("settings")?;
    let texts = |key: &str| match root.get(key) {
        Some(texts) => texts.elements().map(|text| Some(text.as_str()?.into_owned())).collect(),
        None => Some(Vec::new()),
    };
    let manifest = Manifest {
        store: root.get("store").map_or(Some(0), notation::sum)?,
        sealed: match root.get("sealed") {
            Some(sealed) => Some(sealed.as_u64()?),
            None => None,
        },
        lost: root.get("lost").map_or_else(|| Some(Vec::new()), |lost| lost.elements().map(loss).collect())?,
        // The first format has neither this nor sections.
        generation: root.get("generation").map_or(Some(0), Value::as_u64).filter(|number| *number < u64::MAX / 2)?,
        needs: Needs { read: texts("needs_to_read")?, write: texts("needs_to_write")? },
        sections: root.get("sections").map_or_else(|| Some(Sections::default()), Sections::read)?,
        next: root.get("next")?.as_u64().filter(|next| *next < u64::MAX / 2)?,
        arrivals: root.get("arrivals")?.as_u64().filter(|arrivals| *arrivals < u64::MAX / 2)?,
        settings: Settings {
            time_field: notation::path(settings.get("time_field")?)?,
            columns: match settings.get("auto_columns").and_then(Value::as_bool) {
                Some(true) => ColumnChoice::Auto,
                _ => ColumnChoice::Fields(notation::paths(settings.get("columns")?)?),
            },
            compression: notation::compression(settings.get("compression")?)?,
        },
        spans: root.get("spans")?.elements().map(span).collect::<Option<_>>()?,
        logs: root.get("logs")?.elements().map(log).collect::<Option<_>>()?,
    };
    let mut numbers: Vec<u64> = manifest.spans.iter().map(|span| span.number).collect();
    numbers.extend(manifest.logs.iter().map(|log| log.number));
    numbers.sort_unstable();
    // A file that is there twice would have its events twice.
    let is_once = numbers.windows(2).all(|pair| pair[0] != pair[1]);
    (is_once && numbers.last().is_none_or(|last| *last < manifest.next)).then_some(manifest)
}

fn span(value: Value<'_>) -> Option<SpanEntry> {
    let number = |key: &str| value.get(key)?.as_u64();
    let entry = SpanEntry {
        number: number("number")?,
        events: number("events")?,
        text_bytes: number("text_bytes")?,
        file_bytes: number("file_bytes")?,
        first: key(value.get("first")?)?,
        last: key(value.get("last")?)?,
        order: TextOrder::of_width(u8::try_from(number("width")?).ok()?),
        table_sum: notation::sum(value.get("table")?)?,
        keep_from: match value.get("keep_from") {
            Some(time) => Some(time.as_i64()?),
            None => None,
        },
    };
    let can_be = entry.first <= entry.last && entry.text_bytes <= SPAN_BYTES_MAX && entry.events <= entry.text_bytes;
    can_be.then_some(entry)
}

fn log(value: Value<'_>) -> Option<LogEntry> {
    let clip = |value: Value<'_>| Some(Clip { before: value.at(0)?.as_i64()?, arrivals_below: value.at(1)?.as_u64()? });
    let clips = value.get("clips")?.elements().map(clip).collect::<Option<_>>()?;
    let identity = match value.get("identity") {
        Some(identity) => Some(notation::sum(identity)?),
        None => None,
    };
    Some(LogEntry { number: value.get("number")?.as_u64()?, identity, clips })
}

fn loss(value: Value<'_>) -> Option<Loss> {
    let text = |key: &str| Some(value.get(key)?.as_str()?.into_owned());
    let arrivals = value.get("arrivals")?;
    Some(Loss {
        file: text("file")?,
        arrivals: arrivals.at(0)?.as_u64()?..arrivals.at(1)?.as_u64()?,
        reason: text("reason")?,
        is_accepted: value.get("accepted")?.as_bool()?,
    })
}

pub(super) fn key(value: Value<'_>) -> Option<Key> {
    Some(Key { time: value.at(0)?.as_i64()?, arrival: value.at(1)?.as_u64()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Section;
    use crate::settings::Compression;

    fn example() -> Manifest {
        let key = |time, arrival| Key { time, arrival };
        Manifest {
            settings: Settings {
                time_field: jird::Path::root().key("a\"b").index(3),
                columns: ColumnChoice::Fields(vec![jird::Path::root().key("Elapsed")]),
                compression: Compression::Zstd,
            },
            store: 0xabc,
            generation: 7,
            sealed: Some(4),
            next: 9,
            arrivals: 1 << 60,
            spans: vec![SpanEntry {
                number: 3,
                events: 10,
                text_bytes: 1000,
                file_bytes: 1200,
                first: key(i64::MIN, 0),
                last: key(i64::MAX, u64::MAX),
                order: TextOrder::Width(28),
                table_sum: u64::MAX,
                keep_from: Some(-5),
            }],
            lost: vec![Loss {
                file: "log-\"7\".damaged".into(),
                arrivals: 2..4,
                reason: "it is\ngone".into(),
                is_accepted: true,
            }],
            logs: vec![LogEntry { number: 8, identity: Some(77), clips: vec![Clip { before: -1, arrivals_below: 4 }] }],
            needs: Needs { read: Vec::new(), write: Vec::new() },
            sections: Sections::default(),
        }
    }

    /// A manifest of this line, with its checksum.
    fn sealed(line: &str) -> String {
        format!("{line}\n{:016x}\n", checksum(line.as_bytes()))
    }

    struct Numbers(Vec<u64>);

    impl Section for Numbers {
        const NAME: &'static str = "numbers";

        fn write(&self, out: &mut Vec<u8>) {
            out.extend_from_slice(format!("{:?}", self.0).as_bytes());
        }

        fn read(value: Value<'_>) -> Option<Self> {
            value.elements().map(Value::as_u64).collect::<Option<_>>().map(Self)
        }
    }

    #[test]
    fn a_section_is_kept_by_programs_that_do_not_know_it() {
        let text = write(&example());
        let line = text.lines().next().unwrap();
        let other = "{\"of\":[\"a later\",{\"version\":1.50}]}";
        let line = line.replace("\"sections\":{}", &format!("\"sections\":{{\"x \\\"y\":{other}}}"));
        let mut manifest = read(sealed(&line).as_bytes(), Path::new("M")).unwrap();
        assert!(manifest.sections.get::<Numbers>().unwrap().is_none());
        manifest.sections.set(&Numbers(vec![1]));
        manifest.sections.set(&Numbers(vec![2, 3]));
        let text = write(&manifest);
        assert!(text.contains(&format!("\"x \\\"y\":{other}")), "{text}");
        let again = read(text.as_bytes(), Path::new("M")).unwrap();
        assert_eq!(again, manifest);
        assert_eq!(again.sections.get::<Numbers>().unwrap().unwrap().0, [2, 3]);
        let wrong = read(sealed(&line.replace("x \\\"y", "numbers").replace(other, "[-1]")).as_bytes(), Path::new("M"))
            .unwrap();
        assert_eq!(wrong.sections.get::<Numbers>().err().unwrap().kind(), ErrorKind::Damaged);
    }

    #[test]
    fn a_store_that_needs_what_this_program_lacks_is_refused() {
        let manifest = Manifest { needs: Needs { read: vec!["wings".into()], write: Vec::new() }, ..example() };
        let Err(Fault::Later(error)) = read(write(&manifest).as_bytes(), Path::new("M")) else { panic!("it is read") };
        assert_eq!(error.kind(), ErrorKind::Version);
        assert!(error.to_string().contains("wings"), "{error}");
        let manifest = Manifest { needs: Needs { read: Vec::new(), write: vec!["wings".into()] }, ..example() };
        assert_eq!(read(write(&manifest).as_bytes(), Path::new("M")).unwrap(), manifest);
    }

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let with = |columns| Manifest { settings: Settings { columns, ..example().settings }, ..example() };
        for manifest in [example(), with(ColumnChoice::Auto), with(ColumnChoice::NONE)] {
            let text = write(&manifest);
            assert_eq!(read(text.as_bytes(), Path::new("MANIFEST")).unwrap(), manifest);
        }
    }

    #[test]
    fn a_damaged_manifest_is_told_wherever_it_is_damaged() {
        let text = write(&example()).into_bytes();
        for at in 0..text.len() {
            assert!(read(&text[..at], Path::new("M")).is_err(), "{at}");
            let mut flipped = text.clone();
            flipped[at] ^= 1;
            assert!(read(&flipped, Path::new("M")).is_err(), "{at}");
        }
    }

    #[test]
    fn a_forged_manifest_is_an_error_and_a_later_one_is_told() {
        let good = write(&example());
        let good = good.lines().next().unwrap();
        for (from, to) in [
            ("\"number\":8", "\"number\":3"),
            ("\"next\":9", "\"next\":8"),
            ("\"next\":9", "\"next\":18446744073709551615"),
            ("[\"a\\\"b\",3]", "{}"),
            ("\"zstd\"", "\"rar\""),
            ("\"first\":[-9223372036854775808,0]", "\"first\":[0]"),
            ("\"events\":10", "\"events\":-10"),
            ("\"events\":10", "\"events\":1001"),
            ("\"text_bytes\":1000", "\"text_bytes\":1099511627777"),
        ] {
            let forged = good.replace(from, to);
            assert_ne!(forged, good, "{from}");
            assert!(read(sealed(&forged).as_bytes(), Path::new("M")).is_err(), "{to}");
        }
        let later = read(sealed(&good.replace("\"format\":2", "\"format\":3")).as_bytes(), Path::new("M"));
        assert!(matches!(later, Err(Fault::Later(error)) if error.kind() == ErrorKind::Version));
    }
}
