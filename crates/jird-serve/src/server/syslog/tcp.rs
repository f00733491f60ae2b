//! Syslog over TCP: connections that live long, each read no faster than its messages are appended.

use super::connections::{Connections, Place};
use super::frames::Frames;
use super::reception::Reception;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// How long to wait when the system has no more files.
const PAUSE: Duration = Duration::from_millis(20);

/// Accepts connections until the server is told to stop, and those that have come by then.
pub(super) async fn listen(reception: Arc<Reception>, listener: TcpListener, connections: Arc<Connections>) {
    let mut ending = reception.ending();
    while let Some(accepted) = ending.next(listener.accept()).await {
        let Ok((socket, peer)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        match connections.admit(peer.ip()) {
            Some(place) => drop(tokio::spawn(receive(Arc::clone(&reception), socket, place))),
            None => reception.counts.turn_away(),
        }
    }
}

/// Takes messages until the client ends the connection, or the server is told to stop and all is read that came by then.
async fn receive(reception: Arc<Reception>, socket: TcpStream, _place: Place) {
    let _open = reception.counts.open();
    let mut frames = Frames::new(reception.limit);
    let mut ending = reception.ending();
    while let Some(Ok(())) = ending.next(socket.readable()).await {
        match socket.try_read_buf(frames.room()) {
            Ok(0) => break,
            Ok(_) => {
                let Some(rest) = reception.take_frames(frames, false).await else { return };
                frames = rest;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => frames.rest(),
            Err(_) => break,
        }
    }
    reception.take_frames(frames, true).await;
}
