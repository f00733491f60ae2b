//! Reading on a thread of its own, so that it is unpacked and cut while what came before is scanned.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Bytes of a block.
const BLOCK_BYTES: usize = 256 << 10;

/// Blocks that may wait.
const WAITING: usize = 4;

/// What another thread has read.
#[derive(Debug)]
pub(crate) struct Ahead {
    blocks: Receiver<io::Result<Vec<u8>>>,
    /// Blocks to be filled again.
    used: Sender<Vec<u8>>,
    block: Vec<u8>,
    at: usize,
}

impl Ahead {
    /// Begins to read. The thread ends when all was read, or nobody wants more.
    pub(crate) fn start(reader: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, blocks) = sync_channel(WAITING);
        let (used, free) = channel();
        let _detached =
            thread::Builder::new().name("jird-read".to_owned()).spawn(move || run(reader, &sender, &free))?;
        Ok(Self { blocks, used, block: Vec::new(), at: 0 })
    }
}

fn run(mut reader: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>, free: &Receiver<Vec<u8>>) {
    loop {
        let mut block = free.try_recv().unwrap_or_default();
        block.resize(BLOCK_BYTES, 0);
        let read = match reader.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) => return,
            read => read,
        };
        let is_last = read.is_err();
        let sent = sender.send(read.map(|read| {
            block.truncate(read);
            block
        }));
        if sent.is_err() || is_last {
            return;
        }
    }
}

impl Read for Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            let Ok(block) = self.blocks.recv() else { return Ok(0) };
            // The reader may be gone already.
            let _ = self.used.send(std::mem::replace(&mut self.block, block?));
            self.at = 0;
        }
        let len = buffer.len().min(self.block.len() - self.at);
        buffer[..len].copy_from_slice(&self.block[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}
