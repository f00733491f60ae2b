//! The trait that every competitor implements, so that the tasks are written once.

use serde::{Deserialize, Serialize};

use crate::fold::Fold;
use crate::migrate::{Deed, KeptText};
use crate::million::Part;
use crate::models::Text;

/// A JSON library under test. It owns its documents, in buffers of its choice.
///
/// Each method works on the document with the given index, in the order of loading. If a peer does not do a task, it
/// keeps the method's default body.
pub(crate) trait Peer {
    /// The version, and the choices that the peer made at run time.
    fn version(&self) -> String;

    /// Untimed: replaces earlier documents by copies of these.
    fn load(&mut self, documents: &[Vec<u8>]);

    /// Untimed, before each run over a document: restores the text that the last run overwrote.
    fn refresh(&mut self, _index: usize) {}

    /// Parses, then visits everything: decodes every string and key, and converts every number.
    fn dom(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Parses into the peer's representation of a whole document, without visiting it.
    fn parse(&mut self, _index: usize) -> Answer<()> {
        Err(Refusal::NotDone)
    }

    /// Checks a whole document.
    fn validate(&mut self, _index: usize) -> Answer<()> {
        Err(Refusal::NotDone)
    }

    /// Reads eight fields of every tweet.
    fn partial(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Reads the distinct ids of all authors and of all retweeted authors: `user.id` of each status, and of its
    /// `retweeted_status` if it has one.
    fn users(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Reads `Message` and `Elapsed` of a log event. `Elapsed` is read as an `f64`, whatever its notation.
    fn two(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Receives everything as events: decodes every string and key, and converts every number.
    fn events(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Like [`two`](Self::two), from events. All other events are skipped.
    fn events_skip(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Writes the document without white space between its tokens, into reused memory if the peer allows it. Returns the
    /// length of the text, which stays with the peer.
    fn minify(&mut self, _index: usize) -> Answer<usize> {
        Err(Refusal::NotDone)
    }

    /// Untimed: a copy of the text that `minify` wrote last.
    fn minified(&self) -> Result<Vec<u8>, String> {
        Err("does not minify".to_owned())
    }

    /// Reads the document into its model; see [`decode`](crate::models::decoded::decode).
    fn typed(&mut self, _index: usize) -> Answer<()> {
        Err(Refusal::NotDone)
    }

    /// Reads the million objects as far as this part goes. Returns the number of objects if the part counts them.
    fn million(&mut self, _index: usize, _part: Part) -> Answer<usize> {
        Err(Refusal::NotDone)
    }

    /// Untimed, before the other two: replaces the documents of `migrate` by copies of these.
    fn prepare(&mut self, _documents: &[Vec<u8>], _deed: Deed) -> Answer<()> {
        Err(Refusal::NotDone)
    }

    /// Does what programs do with `serde_json`'s names.
    fn migrate(&mut self, _index: usize, _deed: Deed) -> Answer<()> {
        Err(Refusal::NotDone)
    }

    /// Untimed: the same, with the results as text.
    fn migrated(&mut self, _index: usize, _deed: Deed) -> Answer<KeptText> {
        Err(Refusal::NotDone)
    }

    /// Writes the document's model; see [`Encoded`](crate::models::encoded::Encoded).
    fn encode(&mut self, _index: usize) -> Answer<&[u8]> {
        Err(Refusal::NotDone)
    }

    /// Reads a list of strings, which are borrowed if they have no escapes.
    fn strings(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Passes over the bytes once, if the peer has such a pass.
    fn scan(&mut self, _index: usize) -> Answer<u64> {
        Err(Refusal::NotDone)
    }
}

/// A peer's answer for a document.
pub(crate) type Answer<T> = Result<T, Refusal>;

/// Why there is no answer. It has no message, because the time to make one would count against the peer in `error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The peer does not do the task.
    NotDone,
    /// The peer refused the document.
    Rejected,
}

impl Refusal {
    /// For `map_err`.
    pub(crate) fn rejected<E>(_error: E) -> Self {
        Self::Rejected
    }
}

/// The flags that a peer was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Build {
    /// Rust's default flags.
    Default,
    /// `-C target-cpu=native`.
    Native,
    /// The C++ compiler with its own flags.
    Cxx,
    /// Rust's default flags, with `jird-serde-json`.
    Facade,
}

impl Build {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Native => "native",
            Self::Cxx => "cxx",
            Self::Facade => "facade",
        }
    }
}

/// The answer of `users`: the distinct ids, each folded once.
pub(crate) fn fold_distinct(mut ids: Vec<u64>) -> Fold {
    ids.sort_unstable();
    ids.dedup();
    let mut fold = Fold::default();
    ids.into_iter().for_each(|id| fold.unsigned(id));
    fold
}

/// The answer of `two`.
pub(crate) fn fold_two(message: &str, elapsed: f64) -> Fold {
    let mut fold = Fold::default();
    fold.string(message);
    fold.real(elapsed);
    fold
}

/// The answer of `strings-in`.
pub(crate) fn fold_texts(texts: &[Text<'_>]) -> Fold {
    let mut fold = Fold::default();
    texts.iter().for_each(|text| fold.string(&text.0));
    fold.container(texts.len());
    fold
}

/// The wanted fields. All peers that read through serde share these types.
pub(crate) mod typed {
    use std::borrow::Cow;

    use serde::Deserialize;

    use super::{fold_distinct, fold_two};
    use crate::fold::Fold;

    /// The fields of `twitter.json` that the task reads.
    #[derive(Deserialize)]
    pub(crate) struct Timeline<'a> {
        #[serde(borrow)]
        statuses: Vec<Tweet<'a>>,
    }

    #[derive(Deserialize)]
    struct Tweet<'a> {
        #[serde(borrow)]
        created_at: Cow<'a, str>,
        id: i64,
        #[serde(borrow)]
        text: Cow<'a, str>,
        #[serde(borrow)]
        user: User<'a>,
        retweet_count: i64,
        favorite_count: i64,
    }

    #[derive(Deserialize)]
    struct User<'a> {
        id: i64,
        #[serde(borrow)]
        screen_name: Cow<'a, str>,
        followers_count: i64,
    }

    /// The fields of `twitter.json` that `users` reads.
    #[derive(Deserialize)]
    pub(crate) struct Authors {
        statuses: Vec<Authored>,
    }

    #[derive(Deserialize)]
    struct Authored {
        user: Author,
        retweeted_status: Option<Original>,
    }

    #[derive(Deserialize)]
    struct Original {
        user: Author,
    }

    #[derive(Deserialize)]
    struct Author {
        id: u64,
    }

    impl Authors {
        pub(crate) fn fold(&self) -> Fold {
            let mut ids = Vec::new();
            for tweet in &self.statuses {
                ids.push(tweet.user.id);
                ids.extend(tweet.retweeted_status.as_ref().map(|original| original.user.id));
            }
            fold_distinct(ids)
        }
    }

    /// The fields of a log event that `two` reads.
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    pub(crate) struct Event<'a> {
        #[serde(borrow)]
        message: Cow<'a, str>,
        elapsed: f64,
    }

    impl Event<'_> {
        pub(crate) fn fold(&self) -> Fold {
            fold_two(&self.message, self.elapsed)
        }
    }

    impl Timeline<'_> {
        pub(crate) fn fold(&self) -> Fold {
            let mut fold = Fold::default();
            for tweet in &self.statuses {
                fold.string(&tweet.created_at);
                fold.integer(tweet.id);
                fold.string(&tweet.text);
                fold.integer(tweet.user.id);
                fold.string(&tweet.user.screen_name);
                fold.integer(tweet.user.followers_count);
                fold.integer(tweet.retweet_count);
                fold.integer(tweet.favorite_count);
            }
            fold
        }
    }
}
