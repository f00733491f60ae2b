//! Objects of S3, Google Cloud Storage and Azure, and files of web servers, as inputs.
//!
//! The rest of the code reads files by blocking calls: [`Read`](std::io::Read) and
//! [`ReadAt`](jird::hooks::lines::ReadAt). This folder gives it such readers. The requests run on a few threads of their own;
//! readers wait for them. What a reader will want next is fetched ahead, several ranges at a time.
//!
//! Servers are strangers. `watch` stands between the client and the network: it counts what comes against the budget,
//! ends answers that stall, and refuses answers that are not what was asked for. A range is handed on when all of it is
//! there, from the same version of the object as the first one.
//!
//! Credentials and endpoints come from the environment variables of the crate `object_store`: `AWS_…`, `GOOGLE_…`,
//! `AZURE_…`.

mod address;
mod any;
mod blocks;
mod clients;
mod download;
mod file;
mod list;
mod runtime;
mod watch;
mod words;

pub use any::AnyFile;
pub use download::Download;
pub use file::{Access, RemoteFile, RemoteReader};
pub use list::{Listed, Listing};

use address::Address;
use blocks::Blocks;
use clients::Clients;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use watch::Limits;

/// How remote inputs are read.
#[derive(Clone, Copy, Debug)]
pub struct RemoteOptions {
    /// The most bytes that are fetched, all inputs together. Without it, there is no limit.
    pub budget: Option<u64>,
    /// A server that sends less than 16 kB in this time is given up. What failed for a moment is tried again as long.
    pub patience: Duration,
    /// Bytes that are fetched at a time. Results do not depend on it.
    #[doc(hidden)]
    pub block_bytes: u64,
}

impl RemoteOptions {
    /// The default of [`patience`](Self::patience).
    pub const PATIENCE: Duration = Duration::from_secs(30);

    /// The default of `block_bytes`: one connection to S3 brings about 90 MB/s, so that a range takes 50 ms, and the
    /// time to the first byte does not matter.
    const BLOCK_BYTES: u64 = 4 << 20;
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self { budget: None, patience: Self::PATIENCE, block_bytes: Self::BLOCK_BYTES }
    }
}

/// Remote inputs, with what they share: connections, the budget, and blocks in memory. Clones share them.
///
/// At most 128 MB of blocks are in memory, or one block for each thread that reads, if these are more.
///
/// ```
/// use jird_formats::remote::Remotes;
/// let error = Remotes::default().open("http://127.0.0.1:1/events.ndjson").unwrap_err();
/// assert!(error.to_string().starts_with("cannot connect"), "{error}");
/// ```
#[derive(Clone, Debug)]
pub struct Remotes {
    clients: Arc<Clients>,
    blocks: Arc<Blocks>,
}

impl Default for Remotes {
    fn default() -> Self {
        Self::new(RemoteOptions::default())
    }
}

/// A remote input that was opened.
#[derive(Debug)]
pub enum Remote {
    /// It can be read at any offset.
    File(RemoteFile),
    /// The server sends it only as a whole.
    Whole(Download),
}

impl Remotes {
    /// Remote inputs that are read like this. Nothing is asked of any server yet.
    pub fn new(options: RemoteOptions) -> Self {
        let limits = Arc::new(Limits::new(options.budget, options.patience));
        let block_bytes = options.block_bytes.max(1);
        Self { clients: Arc::new(Clients::new(limits)), blocks: Arc::new(Blocks::new(block_bytes)) }
    }

    /// Opens an input, and fetches its first 64 kB. Costs one request.
    ///
    /// # Errors
    /// If it is no URL that is read here, or if the server does not give it. The words do not name the URL.
    pub fn open(&self, url: &str) -> io::Result<Remote> {
        self.open_all(std::slice::from_ref(&url)).pop().unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))
    }

    /// Opens several inputs, up to 16 at a time. The results are in the order of the URLs.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_all<U: AsRef<str>>(&self, urls: &[U]) -> Vec<io::Result<Remote>> {
        let open = |url: &U| {
            let this = self.clone();
            let address = Address::parse(url.as_ref());
            async move {
                let address = address?;
                file::open(&this, &address).await
            }
        };
        runtime::wait_for_all(urls.iter().map(open))
    }

    /// How many bytes were fetched, or asked for and still to come.
    pub fn fetched(&self) -> u64 {
        self.clients.limits.fetched()
    }
}
