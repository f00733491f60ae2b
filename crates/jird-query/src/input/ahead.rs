//! Reads or makes a text on a separate thread, so that it is decompressed, cut and converted while earlier text is
//! scanned.

use jird_formats::Crew;
use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// The size of a block.
const BLOCK_BYTES: usize = 256 << 10;

/// The maximum number of blocks that wait to be read.
const WAITING: usize = 4;

/// A reader of blocks that another thread has read.
#[derive(Debug)]
pub(crate) struct Ahead {
    blocks: Receiver<io::Result<Vec<u8>>>,
    /// Used blocks, which the thread fills again.
    used: Sender<Vec<u8>>,
    block: Vec<u8>,
    at: usize,
    ended: bool,
}

impl Ahead {
    /// Has a thread read. It ends when everything was read, or when this reader is dropped.
    pub(crate) fn start(crew: &Crew, reader: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, blocks) = sync_channel(WAITING);
        let (used, free) = channel();
        crew.run("jird-read", move || run(reader, &sender, &free))?;
        Ok(Self { blocks, used, block: Vec::new(), at: 0, ended: false })
    }

    /// Has a thread write the text.
    pub(crate) fn write(
        crew: &Crew,
        write: impl FnOnce(SharedBlocks<'_>) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, blocks) = sync_channel(WAITING);
        let (used, free) = channel();
        crew.run("jird-read", move || {
            let blocks = Rc::new(RefCell::new(Blocks { sender: &sender, free: &free, block: Vec::new() }));
            let written = write(Rc::clone(&blocks));
            let rest = blocks.borrow_mut().send();
            // If this reader is gone, the end is not needed.
            let _ = sender.send(written.and(rest).map(|()| Vec::new()));
        })?;
        Ok(Self { blocks, used, block: Vec::new(), at: 0, ended: false })
    }
}

/// Blocks that a writer fills, and that a reader sends before it waits.
pub(crate) type SharedBlocks<'a> = Rc<RefCell<Blocks<'a>>>;

/// Takes text, and sends it in blocks.
#[derive(Debug)]
pub(crate) struct Blocks<'a> {
    sender: &'a SyncSender<io::Result<Vec<u8>>>,
    free: &'a Receiver<Vec<u8>>,
    block: Vec<u8>,
}

impl Blocks<'_> {
    /// Sends what was taken.
    pub(crate) fn send(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut next = self.free.try_recv().unwrap_or_default();
        next.clear();
        let block = std::mem::replace(&mut self.block, next);
        self.sender.send(Ok(block)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for Blocks<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.block.extend_from_slice(text);
        if self.block.len() >= BLOCK_BYTES {
            self.send()?;
        }
        Ok(text.len())
    }

    /// There is nothing to do: what is left is sent with the end, or when it is [asked for](Self::send).
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends blocks. The last is empty or an error. If the channel closes without such a block, the text is incomplete.
fn run(mut reader: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>, free: &Receiver<Vec<u8>>) {
    loop {
        let mut block = free.try_recv().unwrap_or_default();
        block.resize(BLOCK_BYTES, 0);
        let read = match reader.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        let is_last = matches!(read, Ok(0) | Err(_));
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
        if self.at == self.block.len() && !self.ended {
            let block = self.blocks.recv().map_err(|_| io::Error::other("the thread that reads it has failed"))??;
            self.ended = block.is_empty();
            // The thread may have ended already.
            let _ = self.used.send(std::mem::replace(&mut self.block, block));
            self.at = 0;
        }
        let len = buffer.len().min(self.block.len() - self.at);
        buffer[..len].copy_from_slice(&self.block[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a few bytes, and then does what it is told.
    struct Then(u8, fn() -> io::Result<usize>);

    impl Read for Then {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return (self.1)();
            }
            self.0 -= 1;
            buffer[..2].copy_from_slice(b"ab");
            Ok(2)
        }
    }

    #[test]
    fn what_was_not_read_to_its_end_is_an_error() {
        let read = |end| {
            let mut ahead = Ahead::start(&Crew::default(), Then(9, end)).unwrap();
            let mut text = String::new();
            let read = ahead.read_to_string(&mut text);
            (text, read.map_err(|error| error.to_string()))
        };
        let text = "ab".repeat(9);
        assert_eq!(read(|| Ok(0)), (text.clone(), Ok(18)));
        assert_eq!(read(|| Err(io::Error::other("gone"))), (text.clone(), Err("gone".to_owned())));
        let failed = "the thread that reads it has failed".to_owned();
        assert_eq!(read(|| std::panic::resume_unwind(Box::new(()))), (text, Err(failed)));
    }
}
