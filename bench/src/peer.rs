//! What every competitor implements, so that the tasks are written once.

use serde::{Deserialize, Serialize};

use crate::fold::Fold;
use crate::million::Part;
use crate::models::Text;

/// A JSON library under test. It owns its documents, in whatever buffers it likes best.
///
/// Each method answers for the document with the given index in the order of loading. A task that a peer does not do
/// keeps its default body.
pub(crate) trait Peer {
    /// The version, with what the peer chose at run time.
    fn version(&self) -> String;

    /// Untimed: forgets earlier documents and takes copies of these.
    fn load(&mut self, documents: &[Vec<u8>]);

    /// Untimed, before each run over a document: restores what the last run overwrote.
    fn refresh(&mut self, _index: usize) {}

    /// Parses, then visits everything: decodes every string and key, converts every number.
    fn dom(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Parses into whatever the peer makes of a whole document, without visiting it.
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

    /// Reads the distinct ids of those who wrote or were retweeted: `user.id` of each status and of its
    /// `retweeted_status`, where it has one.
    fn users(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Reads `Message` and `Elapsed` of a log event, the latter as `f64` however it is written.
    fn two(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Receives everything as events: decodes every string and key, converts every number.
    fn events(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// As [`two`](Self::two), from events, of which all others are skipped.
    fn events_skip(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Writes the document without white space between its tokens, into memory that is reused where the peer lets it.
    fn minify(&mut self, _index: usize) -> Answer<&[u8]> {
        Err(Refusal::NotDone)
    }

    /// Reads the document into its model: see [`decode`](crate::models::decoded::decode).
    fn typed(&mut self, _index: usize) -> Answer<()> {
        Err(Refusal::NotDone)
    }

    /// Reads the million objects as far as this part goes; how many there are, if it counts.
    fn million(&mut self, _index: usize, _part: Part) -> Answer<usize> {
        Err(Refusal::NotDone)
    }

    /// Writes the document's model: see [`Encoded`](crate::models::encoded::Encoded).
    fn encode(&mut self, _index: usize) -> Answer<&[u8]> {
        Err(Refusal::NotDone)
    }

    /// Reads a list of strings, borrowed where nothing is escaped.
    fn strings(&mut self, _index: usize) -> Answer<Fold> {
        Err(Refusal::NotDone)
    }

    /// Goes over the bytes once, as far as the peer has such a pass of its own.
    fn scan(&mut self, _index: usize) -> Answer<u64> {
        Err(Refusal::NotDone)
    }
}

/// What a peer says to a document.
pub(crate) type Answer<T> = Result<T, Refusal>;

/// Why there is no answer. Without a message: making one would be charged to the failing side of `error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The peer has no such task.
    NotDone,
    /// The peer found the document bad.
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
}

impl Build {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Native => "native",
            Self::Cxx => "cxx",
        }
    }
}

/// What `users` answers: the distinct ids, each folded once.
pub(crate) fn fold_distinct(mut ids: Vec<u64>) -> Fold {
    ids.sort_unstable();
    ids.dedup();
    let mut fold = Fold::default();
    ids.into_iter().for_each(|id| fold.unsigned(id));
    fold
}

/// What `two` answers.
pub(crate) fn fold_two(message: &str, elapsed: f64) -> Fold {
    let mut fold = Fold::default();
    fold.string(message);
    fold.real(elapsed);
    fold
}

/// What `strings-in` answers.
pub(crate) fn fold_texts(texts: &[Text<'_>]) -> Fold {
    let mut fold = Fold::default();
    texts.iter().for_each(|text| fold.string(&text.0));
    fold.container(texts.len());
    fold
}

/// The wanted fields, shared by the peers that read them through serde.
pub(crate) mod typed {
    use std::borrow::Cow;

    use serde::Deserialize;

    use super::{fold_distinct, fold_two};
    use crate::fold::Fold;

    /// `twitter.json`, as far as the task reads it.
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

    /// `twitter.json`, as far as `users` reads it.
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

    /// A log event, as far as `two` reads it.
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
