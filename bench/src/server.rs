//! One process for each peer and build. The barometer tells it over a pipe what to load and when to run.
//!
//! So each peer has a heap of its own, peers built with other flags take part in the same interleaving, and a peer that
//! crashes loses only its row. Only one process works at a time; the others wait for their next line.

use std::hint::black_box;
use std::io::{BufRead, Write};
use std::ops::Range;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::fold::Fold;
use crate::migrate::Deed;
use crate::minified;
use crate::models::encoded;
use crate::peer::{Peer, Refusal};
use crate::peers::Entry;
use crate::probe;
use crate::task::{self, Detail, Task};

/// The version of the messages and of their meaning, because barometers of two checkouts talk over this pipe. It goes
/// up when an older server would misunderstand a request, or would do other work under the name of the same task.
pub(crate) const PROTOCOL: u32 = 1;

/// The version of a server that does not state one.
fn first_protocol() -> u32 {
    1
}

/// A request of the barometer: one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Load the inputs, run the task once over each, and return the results.
    Load { task: Task, inputs: Vec<String> },
    /// Warm up, then run for about this long for each input. The inputs take turns: one run over the first, one over
    /// the second, and so on, then the first again.
    Batch { milliseconds: u64 },
    /// Return the documents that the validator judges wrongly.
    Probe,
}

/// An answer of the server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Response {
    /// The peer is ready.
    Ready {
        version: String,
        #[serde(default = "first_protocol")]
        protocol: u32,
    },
    /// For each input: the first run's answer, or why there is none.
    Loaded { inputs: Vec<Result<Loaded, String>> },
    /// The peer does not do the task.
    NotDone,
    /// For each input that was loaded without failure, one lane. Tasks that measure refusals have two: for the whole
    /// document and for the broken one.
    Batch { lanes: Vec<Lane> },
    /// The names of the documents that the validator judges wrongly.
    Probed { wrong: Vec<String> },
    /// The request failed.
    Failed { reason: String },
}

/// An input in the server's memory, and the first run's answer for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) fold: Fold,
    pub(crate) bytes: usize,
    pub(crate) documents: usize,
}

/// The timings of one batch, in nanoseconds per run over the whole input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lane {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) runs: usize,
}

/// Serves one peer on standard input and output until the input ends.
pub(crate) fn serve(entry: &Entry) -> std::io::Result<()> {
    let made = (entry.make)();
    let greeting = match &made {
        Ok(peer) => Response::Ready { version: peer.version(), protocol: PROTOCOL },
        Err(reason) => Response::Failed { reason: reason.clone() },
    };
    send(&greeting)?;
    let Ok(peer) = made else { return Ok(()) };
    let mut session = Session { peer, task: Task::Dom, lanes: Vec::new(), detail: Detail::None };
    for line in std::io::stdin().lock().lines() {
        let response = match serde_json::from_str(&line?) {
            Ok(request) => session.answer(request),
            Err(error) => Response::Failed { reason: error.to_string() },
        };
        send(&response)?;
    }
    Ok(())
}

fn send(response: &Response) -> std::io::Result<()> {
    let mut line = serde_json::to_string(response)?;
    line.push('\n');
    let mut output = std::io::stdout().lock();
    output.write_all(line.as_bytes())?;
    output.flush()
}

struct Session {
    peer: Box<dyn Peer>,
    task: Task,
    /// The documents of each run, in the order of the runs.
    lanes: Vec<Range<usize>>,
    detail: Detail,
}

impl Session {
    fn answer(&mut self, request: Request) -> Response {
        match request {
            Request::Load { task, inputs } => self.load(task, &inputs),
            Request::Batch { milliseconds } => self.batch(Duration::from_millis(milliseconds)),
            Request::Probe => self.probe(),
        }
    }

    /// Loads everything and runs once over each input. If the task has a verdict, also checks that a broken copy is
    /// refused.
    fn load(&mut self, task: Task, inputs: &[String]) -> Response {
        let mut documents = Vec::new();
        let mut ranges = Vec::new();
        for input in inputs {
            ranges.push(task.documents(input).map(|own| {
                let start = documents.len();
                documents.extend(own);
                let range = start..documents.len();
                if task.judges() {
                    documents.push(task::broken(&documents[start]));
                }
                range
            }));
        }
        self.task = task;
        self.detail = inputs.first().map_or(Detail::None, |input| Detail::of(task, input));
        self.lanes.clear();
        self.peer.load(&documents);
        if let Detail::Deed(deed) = self.detail {
            match self.peer.prepare(&documents, deed) {
                Err(Refusal::NotDone) => return Response::NotDone,
                Err(Refusal::Rejected) => return Response::Failed { reason: "refuses the document".into() },
                Ok(()) => (),
            }
        }
        let mut answers = Vec::new();
        for range in ranges {
            let answer = match range.map(|range| self.first_run(range, &documents)) {
                Ok(Err(FirstRun::NotDone)) => return Response::NotDone,
                Ok(Err(FirstRun::Wrong(reason))) | Err(reason) => Err(reason),
                Ok(Ok(loaded)) => Ok(loaded),
            };
            answers.push(answer);
        }
        Response::Loaded { inputs: answers }
    }

    /// Adds the lanes of an input that the peer has an answer for.
    fn first_run(&mut self, range: Range<usize>, documents: &[Vec<u8>]) -> Result<Loaded, FirstRun> {
        let fold = self.run(range.clone()).map_err(|refusal| match refusal {
            Refusal::NotDone => FirstRun::NotDone,
            Refusal::Rejected => FirstRun::wrong("refuses the document"),
        })?;
        let broken = range.end..range.end + 1;
        if self.task.judges() && self.run(broken.clone()).is_ok() {
            return Err(FirstRun::wrong("accepts the broken document"));
        }
        if self.task == Task::Minify {
            self.check_minified(range.clone(), documents)?;
        }
        if let Detail::Deed(deed) = self.detail {
            self.check_migrated(range.clone(), documents, deed)?;
        }
        let bytes = if self.task.writes() {
            self.check_encoded(range.clone(), documents)?
        } else {
            documents[range.clone()].iter().map(Vec::len).sum()
        };
        let loaded = Loaded { fold, bytes, documents: range.len() };
        self.lanes.push(range);
        if matches!(self.task, Task::Error | Task::ErrorTyped) {
            self.lanes.push(broken);
        }
        Ok(loaded)
    }

    fn check_minified(&mut self, range: Range<usize>, documents: &[Vec<u8>]) -> Result<(), FirstRun> {
        for index in range {
            self.peer.refresh(index);
            let len = self.peer.minify(index).map_err(|_| FirstRun::wrong("refuses the document"))?;
            let text = self.peer.minified().map_err(FirstRun::Wrong)?;
            if text.len() != len {
                return Err(FirstRun::Wrong(format!("says that it wrote {len} bytes, and has {}", text.len())));
            }
            minified::check(&documents[index], &text).map_err(FirstRun::wrong)?;
        }
        Ok(())
    }

    /// Checks what `migrate` makes of the documents.
    fn check_migrated(&mut self, range: Range<usize>, documents: &[Vec<u8>], deed: Deed) -> Result<(), FirstRun> {
        for index in range {
            self.peer.refresh(index);
            let kept = self.peer.migrated(index, deed).map_err(|_| FirstRun::wrong("refuses the document"))?;
            kept.check(&documents[index], deed).map_err(FirstRun::wrong)?;
        }
        Ok(())
    }

    /// Checks the written documents. Returns the number of bytes written.
    fn check_encoded(&mut self, range: Range<usize>, documents: &[Vec<u8>]) -> Result<usize, FirstRun> {
        let mut bytes = 0;
        for index in range {
            let text = self.peer.encode(index).map_err(|_| FirstRun::wrong("writes nothing"))?;
            encoded::check(&documents[index], text).map_err(FirstRun::wrong)?;
            bytes += text.len();
        }
        Ok(bytes)
    }

    fn run(&mut self, range: Range<usize>) -> Result<Fold, Refusal> {
        task::refresh(&mut *self.peer, range.clone());
        task::run(self.task, self.detail, &mut *self.peer, range)
    }

    /// Does two untimed runs, then timed runs until the time is used up.
    fn batch(&mut self, budget: Duration) -> Response {
        const RUNS_MIN: usize = 5;
        const WARMING: usize = 2;
        let lanes = self.lanes.clone();
        let mut samples = vec![Vec::new(); lanes.len()];
        if lanes.is_empty() {
            return Response::Batch { lanes: Vec::new() };
        }
        for _ in 0..WARMING {
            for lane in &lanes {
                self.timed_run(lane.clone());
            }
        }
        let budget = budget * u32::try_from(lanes.len() / self.task.lanes()).unwrap_or(u32::MAX);
        let started = Instant::now();
        while samples[0].len() < RUNS_MIN || started.elapsed() < budget {
            for (lane, samples) in lanes.iter().zip(&mut samples) {
                samples.push(self.timed_run(lane.clone()));
            }
        }
        Response::Batch { lanes: samples.into_iter().map(Lane::of).collect() }
    }

    fn timed_run(&mut self, range: Range<usize>) -> f64 {
        task::refresh(&mut *self.peer, range.clone());
        let started = Instant::now();
        // The result counts as used. Whether it is right was checked when the input was loaded.
        let _ = black_box(task::run(black_box(self.task), self.detail, &mut *self.peer, black_box(range)));
        started.elapsed().as_secs_f64() * 1e9
    }

    fn probe(&mut self) -> Response {
        let mut wrong = Vec::new();
        for probe in probe::ALL {
            self.peer.load(&[probe.text.to_vec()]);
            self.peer.refresh(0);
            match self.peer.validate(0) {
                Err(Refusal::NotDone) => return Response::NotDone,
                verdict if verdict.is_ok() != probe.legal => {
                    wrong.push(format!("{} {}", if probe.legal { "refuses" } else { "accepts" }, probe.name));
                }
                _ => {}
            }
        }
        Response::Probed { wrong }
    }
}

/// Why an input has no lane.
enum FirstRun {
    NotDone,
    Wrong(String),
}

impl FirstRun {
    fn wrong(reason: &str) -> Self {
        Self::Wrong(reason.to_owned())
    }
}

impl Lane {
    fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self { median: samples[samples.len() / 2], least: samples[0], runs: samples.len() }
    }
}
