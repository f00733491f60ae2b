//! What indexes saved so far: a file of counts, one line for each query and span. It is a note and no part of the state:
//! if it cannot be written, as on a disk that is read-only, nothing is noted.

use crate::files::Unfinished;
use crate::index::{Answer, Index};
use crate::manifest::Folder;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

const NAME: &str = "SAVED";
/// No more is noted when the file has this length; a compaction sums it up.
const BYTES_MAX: u64 = 4 << 20;

/// How many blocks conditions were asked of, and how many of them which index ruled out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// Blocks that conditions were asked of, in all queries so far.
    pub asked: u64,
    /// Ruled out by the least and greatest numbers of fields.
    pub by_range: u64,
    /// Ruled out by the filter of fields with their values.
    pub by_pairs: u64,
    /// Ruled out by the filter of words.
    pub by_words: u64,
    /// Ruled out by the keys and kinds of values.
    pub by_keys: u64,
    /// Blocks whose documents were not read because columns answered.
    pub by_columns: u64,
}

impl Saved {
    pub(super) fn of(answers: &[Answer]) -> Self {
        let mut saved = Self { asked: answers.len() as u64, ..Self::default() };
        for answer in answers {
            match answer {
                Answer::May => {}
                Answer::No(Index::Range) => saved.by_range += 1,
                Answer::No(Index::Pairs) => saved.by_pairs += 1,
                Answer::No(Index::Words) => saved.by_words += 1,
                Answer::No(Index::Keys) => saved.by_keys += 1,
            }
        }
        saved
    }

    /// One block that columns answered.
    pub fn of_columns() -> Self {
        Self { by_columns: 1, ..Self::default() }
    }

    fn add(&mut self, other: Self) {
        self.asked = self.asked.saturating_add(other.asked);
        self.by_range = self.by_range.saturating_add(other.by_range);
        self.by_pairs = self.by_pairs.saturating_add(other.by_pairs);
        self.by_words = self.by_words.saturating_add(other.by_words);
        self.by_keys = self.by_keys.saturating_add(other.by_keys);
        self.by_columns = self.by_columns.saturating_add(other.by_columns);
    }
}

/// Adds a line for each of some spans.
pub(super) fn note(folder: &Folder, spans: &[(u64, Saved)]) {
    if spans.is_empty() {
        return;
    }
    let mut sums: BTreeMap<u64, Saved> = BTreeMap::new();
    spans.iter().for_each(|(span, saved)| sums.entry(*span).or_default().add(*saved));
    let path = folder.file(NAME);
    if folder.files.open(&path).and_then(|file| file.len()).is_ok_and(|len| len > BYTES_MAX) {
        return;
    }
    let _ = folder.files.add(&path, lines(sums.into_iter()).as_bytes());
}

/// What was noted, by the numbers of spans.
pub(crate) fn saved(folder: &Folder) -> HashMap<u64, Saved> {
    let mut sums: HashMap<u64, Saved> = HashMap::new();
    let bytes = crate::files::read_whole(&*folder.files, &folder.file(NAME), 2 * BYTES_MAX).unwrap_or_default();
    for line in String::from_utf8_lossy(&bytes).lines() {
        let numbers: Vec<u64> = line.split(' ').map_while(|number| number.parse().ok()).collect();
        // Older notes have nothing of columns.
        if let [span, asked, by_range, by_pairs, by_words, by_keys, ref rest @ ..] = numbers[..] {
            let by_columns = rest.first().copied().unwrap_or_default();
            sums.entry(span).or_default().add(Saved { asked, by_range, by_pairs, by_words, by_keys, by_columns });
        }
    }
    sums
}

/// Sums up the file, without spans that are gone. Lines that come meanwhile may be lost.
pub(crate) fn sum_up(folder: &Folder, is_there: impl Fn(u64) -> bool) {
    let sums = saved(folder);
    if sums.is_empty() {
        return;
    }
    let text = lines(sums.into_iter().filter(|(span, _)| is_there(*span)));
    let (path, new) = (folder.file(NAME), folder.file("SAVED.new"));
    let _ = Unfinished::create(&folder.files, &new).and_then(|(file, unfinished)| {
        file.append(text.as_bytes())?;
        unfinished.rename(&path)
    });
}

fn lines(spans: impl Iterator<Item = (u64, Saved)>) -> String {
    spans.fold(String::new(), |mut out, (span, saved)| {
        let Saved { asked, by_range, by_pairs, by_words, by_keys, by_columns } = saved;
        let _ = writeln!(out, "{span} {asked} {by_range} {by_pairs} {by_words} {by_keys} {by_columns}");
        out
    })
}
