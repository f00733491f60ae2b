//! jird itself, at default flags: a reused parser, and a fresh document for every parse.

use jird::{Kernel, Kind, Parser, Value};

use crate::fold::Fold;
use crate::peer::{Answer, Peer, Refusal};

/// The parser of before, for the next document.
pub(super) struct Reused {
    kernel: Kernel,
    documents: Vec<Vec<u8>>,
    parser: Parser,
    scratch: String,
}

impl Reused {
    /// Fails if the kernel that `JIRD_KERNEL` names is not to be had.
    pub(super) fn new() -> Result<Self, String> {
        let kernel = forced_kernel()?;
        Ok(Self { kernel, documents: Vec::new(), parser: Parser::new(), scratch: String::new() })
    }
}

impl Peer for Reused {
    fn version(&self) -> String {
        version(self.kernel)
    }

    fn load(&mut self, documents: &[Vec<u8>]) {
        self.documents = documents.to_vec();
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

    fn validate(&mut self, index: usize) -> Answer<()> {
        self.parser.validate(&self.documents[index]).map_err(Refusal::rejected)
    }

    fn partial(&mut self, index: usize) -> Answer<Fold> {
        let root = self.parser.parse(&self.documents[index]).map_err(Refusal::rejected)?;
        tweets(root, &mut self.scratch).ok_or(Refusal::Rejected)
    }

    fn scan(&mut self, index: usize) -> Answer<u64> {
        Ok(jird::scan_only(self.kernel, &self.documents[index]) as u64)
    }
}

/// `jird::parse` and `jird::validate`: everything allocated and freed inside the timing.
pub(super) struct Fresh {
    kernel: Kernel,
    documents: Vec<Vec<u8>>,
}

impl Fresh {
    /// Fails if the kernel that `JIRD_KERNEL` names is not to be had.
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

fn visit(value: Value<'_>, scratch: &mut String, fold: &mut Fold) {
    match value.kind() {
        Kind::Null => fold.null(),
        Kind::Bool => fold.boolean(value.as_bool() == Some(true)),
        Kind::Number => number(value, fold),
        Kind::String => fold.string(value.str_in(scratch).unwrap_or_default()),
        Kind::Array => {
            value.elements().for_each(|element| visit(element, scratch, fold));
            fold.container(value.len());
        }
        Kind::Object => {
            for (key, value) in value.entries() {
                fold.string(key.str_in(scratch).unwrap_or_default());
                visit(value, scratch, fold);
            }
            fold.container(value.len());
        }
    }
}

/// As the peers' types have it: what is written as an integer and fits one is one.
fn number(value: Value<'_>, fold: &mut Fold) {
    if value.is_integer() {
        if let Some(value) = value.as_i64() {
            return fold.integer(value);
        }
        if let Some(value) = value.as_u64() {
            return fold.unsigned(value);
        }
    }
    fold.real(value.as_f64().unwrap_or(f64::NAN));
}

fn tweets(root: Value<'_>, scratch: &mut String) -> Option<Fold> {
    let mut fold = Fold::default();
    for tweet in root.get("statuses")?.elements() {
        let user = tweet.get("user")?;
        for text in [tweet.get("created_at")?, tweet.get("text")?, user.get("screen_name")?] {
            fold.string(text.str_in(scratch)?);
        }
        let counts = [tweet.get("retweet_count")?, tweet.get("favorite_count")?, user.get("followers_count")?];
        for number in [tweet.get("id")?, user.get("id")?].into_iter().chain(counts) {
            fold.integer(number.as_i64()?);
        }
    }
    Some(fold)
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
