//! Files of servers that send no ranges: read once, from the start to the end.

use super::address::Address;
use super::{runtime, words};
use crate::detached::apart;
use bytes::Bytes;
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// How many parts of an answer wait to be read.
const WAITING: usize = 32;

/// A file that is read while it arrives, like a pipe.
#[derive(Debug)]
pub struct Download {
    len: u64,
    parts: Receiver<io::Result<Bytes>>,
    part: Bytes,
    /// How many bytes are still to come.
    left: u64,
}

impl Download {
    /// Asks for the whole file.
    pub(super) async fn start(address: Address, store: Arc<dyn ObjectStore>, path: Path) -> io::Result<Self> {
        let result = store.get_opts(&path, GetOptions::default()).await.map_err(|error| words::of(&address, &error))?;
        let len = result.meta.size;
        let (sender, parts) = sync_channel(WAITING);
        let handle = runtime::handle()?;
        // The thread waits for the reader, which the threads of requests must not do.
        apart("jird-download", None, move || {
            let mut stream = result.into_stream();
            let mut got = 0;
            while let Some(part) = handle.block_on(stream.next()) {
                let part = part.map_err(|error| match words::of(&address, &error) {
                    // The rest cannot be asked for.
                    error if error.kind() == io::ErrorKind::Unsupported => cut_off(len, got),
                    error => error,
                });
                got += part.as_ref().map_or(0, |part| part.len() as u64);
                if !send(&sender, part) {
                    return;
                }
            }
        })?;
        Ok(Self { len, parts, part: Bytes::new(), left: len })
    }

    /// How many bytes the server says that the file has.
    #[expect(clippy::len_without_is_empty, reason = "as of a file")]
    pub fn len(&self) -> u64 {
        self.len
    }
}

/// Whether more is wanted.
fn send(sender: &SyncSender<io::Result<Bytes>>, part: io::Result<Bytes>) -> bool {
    let is_last = part.is_err();
    sender.send(part).is_ok() && !is_last
}

fn cut_off(expected: u64, got: u64) -> io::Error {
    let cut = super::watch::Refusal::CutOff { expected, got };
    io::Error::new(io::ErrorKind::ConnectionAborted, cut.to_string())
}

impl Read for Download {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.part.is_empty() && !buffer.is_empty() {
            match self.parts.recv() {
                Ok(part) => self.part = part?,
                Err(_) if self.left == 0 => return Ok(0),
                Err(_) => return Err(cut_off(self.len, self.len - self.left)),
            }
        }
        let len = self.part.len().min(buffer.len());
        buffer[..len].copy_from_slice(&self.part.split_to(len));
        self.left = self.left.saturating_sub(len as u64);
        Ok(len)
    }
}
