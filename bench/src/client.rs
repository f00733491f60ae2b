//! The barometer's end of the pipe to a server. Every wait has a limit: a server that hangs loses its row, not the run.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::server::{PROTOCOL, Request, Response};
use crate::task;

/// The time that a server has for its greeting. It loads nothing before the greeting.
pub(crate) const GREETING: Duration = Duration::from_secs(20);

/// The time that a server has for an answer, in addition to the requested duration of a batch.
pub(crate) const ANSWER: Duration = Duration::from_mins(5);

/// The time that a process has to end after it has closed its output.
const END: Duration = Duration::from_secs(2);

/// The maximum length of an answer. A program that is not a server may write without end.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// A server that has greeted.
pub(crate) struct Client {
    child: Child,
    requests: ChildStdin,
    lines: Receiver<Vec<u8>>,
    pub(crate) version: String,
}

/// Why a server is missing.
#[derive(Debug)]
pub(crate) enum NoServer {
    /// The program could not be started, or did not greet as a server does.
    Unlike(String),
    /// The program is a server, but the peer cannot take part.
    Unfit(String),
}

impl fmt::Display for NoServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Unlike(reason) | Self::Unfit(reason)) = self;
        f.write_str(reason)
    }
}

impl Client {
    /// Starts `binary` as the server of one peer, and waits `patience` for its greeting.
    pub(crate) fn start(binary: &Path, peer: &str, kernel: Option<&str>, patience: Duration) -> Result<Self, NoServer> {
        let mut command = Command::new(binary);
        command.args(["--serve", peer]).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A barometer of another checkout would look for the corpus next to that checkout.
        command.env("JIRD_CORPUS", task::corpus());
        if let Some(kernel) = kernel {
            command.env("JIRD_KERNEL", kernel);
        }
        let mut child = command.spawn().map_err(|error| NoServer::Unlike(format!("{}: {error}", binary.display())))?;
        let requests = child.stdin.take().expect("piped above");
        let lines = lines_of(child.stdout.take().expect("piped above"));
        let mut client = Self { child, requests, lines, version: String::new() };
        match client.receive(patience).map_err(NoServer::Unlike)? {
            Response::Ready { version, protocol: PROTOCOL } => client.version = version,
            Response::Ready { protocol, .. } => {
                return Err(NoServer::Unfit(format!(
                    "it speaks version {protocol} of the protocol between barometer and server, and this barometer \
                     speaks version {PROTOCOL}"
                )));
            }
            Response::Failed { reason } => return Err(NoServer::Unfit(reason)),
            other => return Err(NoServer::Unlike(format!("unexpected greeting: {other:?}"))),
        }
        Ok(client)
    }

    /// Sends a request and waits for the answer. If the server is dead or silent, returns an error that says so.
    pub(crate) fn ask(&mut self, request: &Request, patience: Duration) -> Result<Response, String> {
        let mut line = serde_json::to_string(request).map_err(|error| error.to_string())?;
        line.push('\n');
        self.requests.write_all(line.as_bytes()).map_err(|error| format!("the server is gone: {error}"))?;
        self.receive(patience)
    }

    fn receive(&mut self, patience: Duration) -> Result<Response, String> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => serde_json::from_slice(&line).map_err(|error| format!("{error} in {}", beginning(&line))),
            Err(RecvTimeoutError::Timeout) => Err(format!("gave no answer within {patience:?}")),
            Err(RecvTimeoutError::Disconnected) => Err(self.end()),
        }
    }

    /// Describes how a process ended after it closed its output.
    fn end(&mut self) -> String {
        const STEPS: u32 = 200;
        for _ in 0..STEPS {
            match self.child.try_wait() {
                Ok(Some(status)) => return format!("died ({status})"),
                Ok(None) => std::thread::sleep(END / STEPS),
                Err(error) => return format!("died ({error})"),
            }
        }
        "closed its output without an answer".to_owned()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The server would end by itself when the pipe closes; killing it avoids the wait. It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a process, read by a thread, because a wait for a thread can time out and a read from a pipe cannot.
///
/// The thread ends with the process's output, or with the first line after the receiver is gone.
pub(crate) fn lines_of(output: ChildStdout) -> Receiver<Vec<u8>> {
    let (sender, lines) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            match output.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if sender.send(line).is_err() => return,
                Ok(_) => {}
            }
        }
    });
    lines
}

/// The start of a line, quoted, for messages.
pub(crate) fn beginning(line: &[u8]) -> String {
    const CHARACTERS: usize = 60;
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end();
    let shown: String = text.chars().take(CHARACTERS).collect();
    if shown.len() < text.len() { format!("{shown:?}…") } else { format!("{shown:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Task;

    const SHORT: Duration = Duration::from_millis(500);

    /// Starts a script of `tests/impostors` as the server of a peer.
    fn start(impostor: &str, patience: Duration) -> Result<Client, NoServer> {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/impostors"));
        Client::start(&folder.join(impostor), "jird", None, patience)
    }

    #[test]
    fn a_program_that_is_no_server_is_told_from_one() {
        let cases = [
            ("garbage", GREETING, r#"in "hello, whatever you are""#),
            ("endless", GREETING, r#"in "xxxxxxxx"#),
            ("quitter", GREETING, "died (exit status: 3)"),
            ("closed", GREETING, "closed its output without an answer"),
            ("silent", SHORT, "gave no answer within 500ms"),
            ("not-there", GREETING, "No such file"),
        ];
        for (impostor, patience, words) in cases {
            let reason = match start(impostor, patience) {
                Err(NoServer::Unlike(reason)) => reason,
                other => panic!("{impostor}: {:?}", other.map(|client| client.version.clone())),
            };
            assert!(reason.contains(words), "{impostor}: {reason}");
        }
    }

    #[test]
    fn a_server_that_cannot_take_part_says_why() {
        for (impostor, words) in [("newer", "version 7 of the protocol"), ("unwilling", "no such kernel here")] {
            let reason = match start(impostor, GREETING) {
                Err(NoServer::Unfit(reason)) => reason,
                other => panic!("{impostor}: {:?}", other.map(|client| client.version.clone())),
            };
            assert!(reason.contains(words), "{impostor}: {reason}");
        }
    }

    #[test]
    fn a_server_that_names_no_version_of_the_protocol_speaks_the_first_one() {
        let client = start("mute", GREETING).expect("it greets");
        assert_eq!(client.version, "0.1.0 (mute)");
    }

    #[test]
    fn the_wait_for_an_answer_ends() {
        let mut client = start("mute", GREETING).expect("it greets");
        let request = Request::Load { task: Task::Dom, inputs: Vec::new() };
        let reason = client.ask(&request, SHORT).expect_err("nothing is answered");
        assert_eq!(reason, "gave no answer within 500ms");
    }
}
