//! The record of what was deleted from a store. It is part of the manifest, so it changes with what it tells about.

use crate::error::Error;
use crate::manifest::{Manifest, Section};
use crate::settings::Window;
use jird::Value;
use jird::hooks::{ObjectWriter, write_object};

/// The records of more deletions are not kept: they are read with the manifest.
const DELETIONS_MAX: usize = 100;
/// A note has no more bytes.
const NOTE_BYTES_MAX: usize = 1000;

/// The record of a deletion. It does not say which events were meant: a condition may name a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deletion {
    /// When it began, in nanoseconds since 1970.
    pub time: i64,
    /// The times of the events that were looked at.
    pub window: Window,
    /// The events that were deleted.
    pub events: u64,
    /// The spans that had them.
    pub spans: u64,
    /// What was noted of it.
    pub note: Option<String>,
    /// Whether it came to its end. If not, some such events may still be there.
    pub is_complete: bool,
}

/// The records of a store, the newest last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deletions {
    pub(crate) list: Vec<Deletion>,
    /// How many are no longer kept, the oldest first.
    pub(crate) forgotten: u64,
    /// The numbers of spans without which the store does, and whose files may still be there.
    pub(crate) unremoved: Vec<u64>,
}

impl Deletions {
    /// Puts a record into a manifest: a new one, or in place of the last one.
    pub(crate) fn record(
        manifest: &mut Manifest,
        deletion: &Deletion,
        is_new: bool,
        unremoved: &[u64],
    ) -> Result<(), Error> {
        let mut deletions = manifest.sections.get::<Self>()?.unwrap_or_default();
        deletions.unremoved = unremoved.to_vec();
        if !is_new {
            deletions.list.pop();
        }
        deletions.list.push(deletion.clone());
        let surplus = deletions.list.len().saturating_sub(DELETIONS_MAX);
        deletions.list.drain(..surplus);
        deletions.forgotten += surplus as u64;
        manifest.sections.set(&deletions);
        Ok(())
    }

    /// Notes in a manifest that all files are removed.
    pub(crate) fn removed(manifest: &mut Manifest) -> Result<(), Error> {
        let deletions = manifest.sections.get::<Self>()?.unwrap_or_default();
        manifest.sections.set(&Self { unremoved: Vec::new(), ..deletions });
        Ok(())
    }
}

/// A note as it is kept: its beginning, if it is too long.
pub(super) fn kept(note: &str) -> String {
    note[..note.floor_char_boundary(NOTE_BYTES_MAX)].to_owned()
}

impl Section for Deletions {
    const NAME: &'static str = "deletions";

    fn write(&self, out: &mut Vec<u8>) {
        write_object(out, |object| {
            object.member("forgotten", self.forgotten);
            object.array("unremoved", |array| self.unremoved.iter().for_each(|number| array.element(*number)));
            object.array("list", |list| {
                self.list.iter().for_each(|deletion| list.object(|object| deletion.write(object)));
            });
        });
    }

    fn read(value: Value<'_>) -> Option<Self> {
        let list = value.get("list")?.elements().map(Deletion::read).collect::<Option<_>>()?;
        let unremoved = value.get("unremoved")?.elements().map(Value::as_u64).collect::<Option<_>>()?;
        Some(Self { list, forgotten: value.get("forgotten")?.as_u64()?, unremoved })
    }
}

impl Deletion {
    fn write(&self, out: &mut ObjectWriter<'_>) {
        out.member("time", self.time);
        out.member("events", self.events);
        out.member("spans", self.spans);
        for (key, bound) in [("since", self.window.since), ("until", self.window.until)] {
            bound.iter().for_each(|time| out.member(key, *time));
        }
        self.note.iter().for_each(|note| out.member("note", &**note));
        out.member("complete", self.is_complete);
    }

    fn read(value: Value<'_>) -> Option<Self> {
        let number = |key: &str| value.get(key)?.as_u64();
        let bound = |key: &str| match value.get(key) {
            Some(time) => Some(Some(time.as_i64()?)),
            None => Some(None),
        };
        Some(Self {
            time: value.get("time")?.as_i64()?,
            window: Window { since: bound("since")?, until: bound("until")? },
            events: number("events")?,
            spans: number("spans")?,
            note: match value.get("note") {
                Some(note) => Some(note.as_str()?.into_owned()),
                None => None,
            },
            is_complete: value.get("complete")?.as_bool()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn the_oldest_records_are_forgotten_and_counted() {
        let mut manifest = Manifest::new(&Settings::default());
        for time in 0..DELETIONS_MAX as i64 + 3 {
            let note = Some(format!("\"{time}\"\n"));
            let window = Window { since: Some(-time), until: (time > 5).then_some(time) };
            let deletion = Deletion { time, window, note, spans: 1, ..Deletion::default() };
            Deletions::record(&mut manifest, &deletion, true, &[7]).unwrap();
            Deletions::record(&mut manifest, &Deletion { events: 9, is_complete: true, ..deletion }, false, &[8, 9])
                .unwrap();
        }
        let Deletions { list, forgotten, unremoved } = manifest.sections.get::<Deletions>().unwrap().unwrap();
        assert_eq!((list.len(), forgotten, list[0].time), (DELETIONS_MAX, 3, 3));
        assert!(list.iter().all(|deletion| deletion.events == 9 && deletion.is_complete));
        assert_eq!(unremoved, [8, 9]);
        assert_eq!(list[2].note.as_deref(), Some("\"5\"\n"));
        assert_eq!(list[3].window, Window { since: Some(-6), until: Some(6) });
    }

    #[test]
    fn a_long_note_is_cut_between_characters() {
        assert_eq!(kept(&"é".repeat(600)).chars().count(), NOTE_BYTES_MAX / 2);
        assert_eq!(kept(&format!("x{}", "é".repeat(600))).len(), NOTE_BYTES_MAX - 1);
    }
}
