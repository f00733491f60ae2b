//! Syslog over UDP, RFC 5426: each datagram is a message.
//!
//! One task reads, and another appends; between them is a queue of bounded size. What does not fit is dropped, and counted. What
//! the system drops before that, because the buffer of the socket is full, is counted by the system alone.

use super::frames::{Frame, without_length};
use super::reception::{Reception, Taking, now};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::sync::Notify;
use tokio::time::sleep;

/// The most bytes that wait to be appended, with `OWN_BYTES` for each datagram. While they are appended, as many may wait again.
const QUEUE_BYTES: usize = 8 << 20;
const OWN_BYTES: usize = 32;
/// The most bytes of datagrams that become one batch.
const PIECE_BYTES: usize = 256 << 10;
/// The greatest datagram that there is.
const DATAGRAM_BYTES: usize = 64 << 10;
/// How many datagrams are read before another task may run.
const BURST: usize = 64;
/// How long to wait after an error of the socket.
const PAUSE: Duration = Duration::from_millis(20);

/// Datagrams between the two tasks.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    came: Notify,
}

/// Datagrams one after the other.
#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Where each ends, and when it came.
    datagrams: Vec<(usize, i64)>,
    /// Nothing more comes.
    is_ended: bool,
}

/// Takes datagrams until the server is told to stop, and those that have come by then.
pub(super) async fn receive(reception: Arc<Reception>, socket: UdpSocket) {
    let queue = Arc::new(Queue::default());
    let appending = tokio::spawn(append(Arc::clone(&reception), Arc::clone(&queue)));
    let mut ending = reception.ending();
    let mut datagram = vec![0; DATAGRAM_BYTES];
    while let Some(is_readable) = ending.next(socket.readable()).await {
        if is_readable.is_err() {
            sleep(PAUSE).await;
            continue;
        }
        for _ in 0..BURST {
            let Ok((len, _)) = socket.try_recv_from(&mut datagram) else { break };
            if !queue.add(&datagram[..len]) {
                reception.counts.receive(1);
                reception.counts.lose(1);
            }
        }
        tokio::task::yield_now().await;
    }
    queue.lock().is_ended = true;
    queue.came.notify_one();
    let _ = appending.await;
}

/// Appends datagrams until nothing more comes.
async fn append(reception: Arc<Reception>, queue: Arc<Queue>) {
    while let Some(mut waiting) = queue.next().await {
        let (mut start, mut first) = (0, 0);
        while first < waiting.datagrams.len() {
            let (from, limit) = (start, reception.limit);
            let rest = &waiting.datagrams[first..];
            let count = rest.iter().take_while(|(end, _)| end - start <= PIECE_BYTES).count().max(1);
            let take = move |waiting: &mut Waiting, taking: &mut Taking<'_, '_, '_>| {
                let mut start = from;
                for (end, arrival) in &waiting.datagrams[first..first + count] {
                    let datagram = without_length(&waiting.bytes[start..*end]);
                    let is_long = datagram.len() > limit;
                    let frame = if is_long { Frame::Long(datagram) } else { Frame::Message(datagram) };
                    taking.add(&frame, *arrival);
                    start = *end;
                }
            };
            start = waiting.datagrams[first + count - 1].0;
            first += count;
            let Some(back) = reception.take(waiting, take).await else { break };
            waiting = back;
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a datagram, if there is room.
    fn add(&self, datagram: &[u8]) -> bool {
        let mut waiting = self.lock();
        let taken = waiting.bytes.len() + waiting.datagrams.len() * OWN_BYTES;
        if taken + datagram.len() + OWN_BYTES > QUEUE_BYTES {
            return false;
        }
        waiting.bytes.extend_from_slice(datagram);
        let end = waiting.bytes.len();
        waiting.datagrams.push((end, now()));
        drop(waiting);
        self.came.notify_one();
        true
    }

    /// All that waits; `None` when nothing more comes.
    async fn next(&self) -> Option<Waiting> {
        loop {
            {
                let mut waiting = self.lock();
                let is_ended = waiting.is_ended;
                if !waiting.datagrams.is_empty() {
                    return Some(std::mem::replace(&mut waiting, Waiting { is_ended, ..Waiting::default() }));
                }
                if is_ended {
                    return None;
                }
            }
            self.came.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_takes_no_more_and_loses_nothing_that_it_took() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let queue = Queue::default();
        let datagram = vec![b'x'; DATAGRAM_BYTES];
        let count = (0..1000).take_while(|_| queue.add(&datagram)).count();
        assert_eq!(count, QUEUE_BYTES / (DATAGRAM_BYTES + OWN_BYTES));
        // Empty ones take room, too.
        let empty = (0..QUEUE_BYTES).take_while(|_| queue.add(b"")).count();
        assert!((1..QUEUE_BYTES / OWN_BYTES).contains(&empty), "{empty}");
        let waiting = runtime.block_on(queue.next()).unwrap();
        assert_eq!((waiting.datagrams.len(), waiting.bytes.len()), (count + empty, count * DATAGRAM_BYTES));
        assert!(queue.add(b"y"));
        queue.lock().is_ended = true;
        assert_eq!(runtime.block_on(queue.next()).unwrap().bytes, b"y");
        assert!(runtime.block_on(queue.next()).is_none());
    }
}
