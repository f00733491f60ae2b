//! jird itself, at default flags: with a reused parser, with a fresh document for every parse, and reading on trust.

use std::hint::black_box;
use std::sync::LazyLock;

use jird::event::{self, JsonSource};
use jird::hooks::Kernel;
use jird::value::MachineNumber;
use jird::{
    Kind, Parser, Path, Value,
    record::{Field, FieldReader, Projection},
};

use core::ops::ControlFlow;

use crate::fold::Fold;
use crate::million::{self, Part};
use crate::models::Text;
use crate::models::decoded::{Shape, decode};
use crate::models::encoded::Encoded;
use crate::peer::{Answer, Peer, Refusal, fold_distinct, fold_texts, fold_two};
use crate::streamed::{Folding, TwoFields};

/// The fields of `two`.
static TWO: LazyLock<Projection> =
    LazyLock::new(|| Projection::new(&[Path::root().key("Message"), Path::root().key("Elapsed")]));

/// The fields of `partial`: those of each tweet.
static TWEET: LazyLock<Projection> = LazyLock::new(|| {
    let (root, user) = (Path::root, || Path::root().key("user"));
    Projection::new(&[
        root().key("created_at"),
        root().key("id"),
        root().key("text"),
        user().key("id"),
        user().key("screen_name"),
        user().key("followers_count"),
        root().key("retweet_count"),
        root().key("favorite_count"),
    ])
});

/// The fields of `users`: those of each tweet.
static AUTHORS: LazyLock<Projection> = LazyLock::new(|| {
    let root = Path::root;
    Projection::new(&[root().key("user").key("id"), root().key("retweeted_status").key("user").key("id")])
});

/// Parses each document with the same parser.
pub(super) struct Reused {
    kernel: Kernel,
    documents: Vec<Vec<u8>>,
    parser: Parser,
    fields: FieldReader<'static>,
    tweets: FieldReader<'static>,
    authors: FieldReader<'static>,
    scratch: String,
    minified: Vec<u8>,
    encoded: Encoded,
    shapes: Vec<Shape>,
}

impl Reused {
    /// Fails if the kernel that `JIRD_KERNEL` names is not available.
    pub(super) fn new() -> Result<Self, String> {
        let kernel = forced_kernel()?;
        let (documents, minified, encoded) = (Vec::new(), Vec::new(), Encoded::default());
        Ok(Self {
            kernel,
            documents,
            parser: Parser::new(),
            fields: FieldReader::new(&TWO),
            tweets: FieldReader::new(&TWEET),
            authors: FieldReader::new(&AUTHORS),
            scratch: String::new(),
            minified,
            encoded,
            shapes: Vec::new(),
        })
    }
}

impl Peer for Reused {
    fn version(&self) -> String {
        version(self.kernel)
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.documents = documents.to_vec();
        self.encoded.load(documents);
        self.shapes = Shape::of_all(documents);
    }

    fn typed(&mut self, index: usize) -> Answer<()> {
        decode!(self.shapes[index], jird::from_slice, &self.documents[index])
    }

    fn dom(&mut self, index: usize) -> Answer<Fold> {
        let root = self.parser.parse(&self.documents[index]).map_err(Refusal::rejected)?;
        let mut fold = Fold::default();
        visit(root, &mut self.scratch, &mut fold);
        Ok(fold)
    }

    fn parse(&mut self, index: usize) -> Answer<()> {
        self.parser.parse(&self.documents[index]).map(drop).map_err(Refusal::rejected)
    }

    fn million(&mut self, index: usize, part: Part) -> Answer<usize> {
        let text = &self.documents[index];
        match part {
            Part::Validate => self.validate(index).map(|()| 0),
            Part::Tree => self.parse(index).map(|()| 0),
            Part::TreeStructs => million::counted(self.parser.parse(text).map_err(Refusal::rejected)?.decode()),
            Part::Structs => million::counted(jird::from_slice(text)),
            Part::Made => Ok(black_box(million::made()).len()),
        }
    }

    fn validate(&mut self, index: usize) -> Answer<()> {
        self.parser.validate(&self.documents[index]).map_err(Refusal::rejected)
    }

    fn partial(&mut self, index: usize) -> Answer<Fold> {
        let (mut tweets, statuses) = (Tweets::new(&mut self.scratch), Path::root().key("statuses"));
        self.tweets
            .read_each(&self.documents[index], &statuses, |fields| tweets.add(fields))
            .map_err(Refusal::rejected)?;
        tweets.fold()
    }

    fn users(&mut self, index: usize) -> Answer<Fold> {
        let (mut ids, statuses) = (Vec::new(), Path::root().key("statuses"));
        self.authors
            .read_each(&self.documents[index], &statuses, |fields| add_ids(fields, &mut ids))
            .map_err(Refusal::rejected)?;
        Ok(fold_distinct(ids))
    }

    fn two(&mut self, index: usize) -> Answer<Fold> {
        let mut fields = [Field::MISSING; 2];
        self.fields.read(&self.documents[index], &mut fields).map_err(Refusal::rejected)?;
        two_fields(fields, &mut self.scratch).ok_or(Refusal::Rejected)
    }

    fn events(&mut self, index: usize) -> Answer<Fold> {
        let mut sink = Folding::default();
        event::copy(&mut JsonSource::from_slice(&self.documents[index]), &mut sink).map_err(Refusal::rejected)?;
        Ok(sink.fold)
    }

    fn events_skip(&mut self, index: usize) -> Answer<Fold> {
        let mut sink = TwoFields::default();
        event::copy(&mut JsonSource::from_slice(&self.documents[index]), &mut sink).map_err(Refusal::rejected)?;
        Ok(sink.fold)
    }

    fn minify(&mut self, index: usize) -> Answer<usize> {
        self.minified.clear();
        self.parser.minify(&self.documents[index], &mut self.minified).map_err(Refusal::rejected)?;
        Ok(self.minified.len())
    }

    fn minified(&self) -> Result<Vec<u8>, String> {
        Ok(self.minified.clone())
    }

    fn scan(&mut self, index: usize) -> Answer<u64> {
        Ok(jird::hooks::scan_only(self.kernel, &self.documents[index]) as u64)
    }

    fn encode(&mut self, index: usize) -> Answer<&[u8]> {
        self.encoded.write(index, &self.documents[index], jird::to_vec)
    }

    fn strings(&mut self, index: usize) -> Answer<Fold> {
        let texts: Vec<Text<'_>> = jird::from_slice(&self.documents[index]).map_err(Refusal::rejected)?;
        Ok(fold_texts(&texts))
    }
}

/// `jird::parse` and `jird::validate`: all allocation and freeing is inside the timing.
pub(super) struct Fresh {
    kernel: Kernel,
    documents: Vec<Vec<u8>>,
}

impl Fresh {
    /// Fails if the kernel that `JIRD_KERNEL` names is not available.
    pub(super) fn new() -> Result<Self, String> {
        Ok(Self { kernel: forced_kernel()?, documents: Vec::new() })
    }
}

impl Peer for Fresh {
    fn version(&self) -> String {
        version(self.kernel)
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.documents = documents.to_vec();
    }

    fn dom(&mut self, index: usize) -> Answer<Fold> {
        let document = jird::parse(&self.documents[index]).map_err(Refusal::rejected)?;
        let mut fold = Fold::default();
        visit(document.root(), &mut String::new(), &mut fold);
        Ok(fold)
    }

    fn parse(&mut self, index: usize) -> Answer<()> {
        jird::parse(&self.documents[index]).map(drop).map_err(Refusal::rejected)
    }

    fn validate(&mut self, index: usize) -> Answer<()> {
        jird::validate(&self.documents[index]).map_err(Refusal::rejected)
    }

    fn partial(&mut self, index: usize) -> Answer<Fold> {
        let document = jird::parse(&self.documents[index]).map_err(Refusal::rejected)?;
        tweets(document.root(), &mut String::new()).ok_or(Refusal::Rejected)
    }
}

/// Reads without checks: for texts that were checked before.
pub(super) struct Trusted {
    kernel: Kernel,
    documents: Vec<Vec<u8>>,
    fields: FieldReader<'static>,
    tweets: FieldReader<'static>,
    authors: FieldReader<'static>,
    scratch: String,
}

impl Trusted {
    /// Fails if the kernel that `JIRD_KERNEL` names is not available.
    pub(super) fn new() -> Result<Self, String> {
        let kernel = forced_kernel()?;
        let [fields, tweets, authors] = [&*TWO, &*TWEET, &*AUTHORS].map(FieldReader::new);
        Ok(Self { kernel, documents: Vec::new(), fields, tweets, authors, scratch: String::new() })
    }
}

impl Peer for Trusted {
    fn version(&self) -> String {
        version(self.kernel)
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.documents = documents.to_vec();
    }

    fn partial(&mut self, index: usize) -> Answer<Fold> {
        let (mut tweets, statuses) = (Tweets::new(&mut self.scratch), Path::root().key("statuses"));
        self.tweets
            .read_each_trusted(&self.documents[index], &statuses, |fields| tweets.add(fields))
            .map_err(Refusal::rejected)?;
        tweets.fold()
    }

    fn users(&mut self, index: usize) -> Answer<Fold> {
        let (mut ids, statuses) = (Vec::new(), Path::root().key("statuses"));
        self.authors
            .read_each_trusted(&self.documents[index], &statuses, |fields| add_ids(fields, &mut ids))
            .map_err(Refusal::rejected)?;
        Ok(fold_distinct(ids))
    }

    fn two(&mut self, index: usize) -> Answer<Fold> {
        let mut fields = [Field::MISSING; 2];
        self.fields.read_trusted(&self.documents[index], &mut fields).map_err(Refusal::rejected)?;
        two_fields(fields, &mut self.scratch).ok_or(Refusal::Rejected)
    }
}

/// Visits everything in the document, in order. The fold needs no structure, and this is jird's way to visit values
/// without it.
fn visit(root: Value<'_>, scratch: &mut String, fold: &mut Fold) {
    for value in root.descendants() {
        match value.kind() {
            Kind::Null => fold.null(),
            Kind::Bool => fold.boolean(value.as_bool() == Some(true)),
            Kind::Number => number(value, fold),
            Kind::String => fold.string(value.str_in(scratch).unwrap_or_default()),
            Kind::Array | Kind::Object => fold.container(value.len()),
        }
    }
}

fn number(value: Value<'_>, fold: &mut Fold) {
    match value.machine_number() {
        Some(MachineNumber::I64(value)) => fold.integer(value),
        Some(MachineNumber::U64(value)) => fold.unsigned(value),
        Some(MachineNumber::F64(value)) => fold.real(value),
        // An integer beyond 64 bits: the peers read it as a float.
        _ => fold.real(value.as_f64().unwrap_or(f64::NAN)),
    }
}

fn tweets(root: Value<'_>, scratch: &mut String) -> Option<Fold> {
    let mut fold = Fold::default();
    for tweet in root.get("statuses")?.elements() {
        // Seeks the fields in the order in which the document has them.
        let mut tweet = tweet.entries();
        let (created_at, id, text) = (tweet.seek("created_at")?, tweet.seek("id")?, tweet.seek("text")?);
        let mut user = tweet.seek("user")?.entries();
        let (user_id, name, followers) = (user.seek("id")?, user.seek("screen_name")?, user.seek("followers_count")?);
        for text in [created_at, text, name] {
            fold.string(text.str_in(scratch)?);
        }
        let counts = [tweet.seek("retweet_count")?, tweet.seek("favorite_count")?, followers];
        for number in [id, user_id].into_iter().chain(counts) {
            fold.integer(number.as_i64()?);
        }
    }
    Some(fold)
}

/// The answer of `partial`.
struct Tweets<'s> {
    fold: Fold,
    scratch: &'s mut String,
    is_missing: bool,
}

impl<'s> Tweets<'s> {
    fn new(scratch: &'s mut String) -> Self {
        Self { fold: Fold::default(), scratch, is_missing: false }
    }

    /// Adds the fields of [`TWEET`].
    fn add(&mut self, fields: &[Field<'_>]) -> ControlFlow<()> {
        self.is_missing |= self.tweet(fields).is_none();
        ControlFlow::Continue(())
    }

    fn tweet(&mut self, fields: &[Field<'_>]) -> Option<()> {
        let &[created_at, id, text, user_id, name, followers, retweets, favorites] = fields else { return None };
        for text in [created_at, text, name] {
            self.fold.string(text.text(self.scratch)?);
        }
        for number in [id, user_id, retweets, favorites, followers] {
            self.fold.integer(number.as_number()?.as_i64()?);
        }
        Some(())
    }

    fn fold(self) -> Answer<Fold> {
        if self.is_missing { Err(Refusal::Rejected) } else { Ok(self.fold) }
    }
}

/// Adds the fields of [`AUTHORS`].
fn add_ids(fields: &[Field<'_>], ids: &mut Vec<u64>) -> ControlFlow<()> {
    ids.extend(fields.iter().filter_map(|field| field.as_number()?.as_u64()));
    ControlFlow::Continue(())
}

fn two_fields([message, elapsed]: [Field<'_>; 2], scratch: &mut String) -> Option<Fold> {
    let elapsed = elapsed.as_number()?.to_f64()?;
    Some(fold_two(message.text(scratch)?, elapsed))
}

fn forced_kernel() -> Result<Kernel, String> {
    if let Ok(name) = std::env::var("JIRD_KERNEL") {
        let kernel = Kernel::named(&name).map_err(|error| error.to_string())?;
        kernel.force().map_err(|error| error.to_string())?;
    }
    Ok(Kernel::best())
}

fn version(kernel: Kernel) -> String {
    format!("{} ({})", env!("CARGO_PKG_VERSION"), kernel.name())
}
