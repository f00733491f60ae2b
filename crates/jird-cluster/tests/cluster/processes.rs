//! The processes of a cluster on this machine.

use jird_cluster::{Address, reach};
use jird_query::cluster::Cluster;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// A scheduler and its executors. They end with it.
pub(crate) struct Processes {
    scheduler: Child,
    executors: Vec<Child>,
    pub(crate) at: Address,
    /// A folder of the test's own.
    pub(crate) folder: PathBuf,
    cores: usize,
}

/// The first of `count` ports in a row that were free a moment ago.
pub(crate) fn free_ports(count: u16) -> u16 {
    loop {
        let first = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = first.local_addr().expect("it has an address").port();
        let is_free = |next: u16| TcpListener::bind(("127.0.0.1", next)).is_ok();
        if port.checked_add(count).is_some_and(|end| (port + 1..end).all(is_free)) {
            return port;
        }
    }
}

/// Starts a process, and waits until it says that it is there.
fn start(arguments: &[String]) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_jird-cluster"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let stderr = child.stderr.take().expect("it is piped");
    let mut lines = BufReader::new(stderr).lines();
    let first = lines.next().and_then(Result::ok).unwrap_or_default();
    assert!(first.starts_with("jird-cluster: the "), "{arguments:?}: {first}");
    // What it says later is shown with the output of the test that failed.
    thread::spawn(move || lines.map_while(Result::ok).for_each(|line| eprintln!("{line}")));
    child
}

impl Processes {
    /// A cluster with this many executors, each with `cores` cores.
    pub(crate) fn start(name: &str, executors: usize, cores: usize) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cluster-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder can be made");
        let at: Address = format!("127.0.0.1:{}", free_ports(2)).parse().expect("it is an address");
        let scheduler =
            start(&["scheduler".to_owned(), "--listen".to_owned(), at.to_string(), "--timeout".into(), "5".into()]);
        let mut all = Self { scheduler, executors: Vec::new(), at, folder, cores };
        (0..executors).for_each(|_| all.add());
        all
    }

    /// Starts one more executor, in place of one that has ended.
    pub(crate) fn add(&mut self) {
        let number = self.executors.len();
        let port = free_ports(2);
        let arguments = ["executor", "--at", &self.at.to_string(), "--listen", &format!("127.0.0.1:{port}"), "--cores"];
        let mut arguments: Vec<_> = arguments.iter().map(ToString::to_string).collect();
        let work = self.folder.join(format!("work-{number}"));
        arguments.extend([self.cores.to_string(), "--folder".to_owned(), work.to_string_lossy().into_owned()]);
        self.executors.push(start(&arguments));
    }

    /// The cluster, when all executors that run are known to the scheduler.
    pub(crate) fn reach(&mut self, tasks: usize) -> Arc<dyn Cluster> {
        let since = Instant::now();
        let running =
            self.executors.iter_mut().filter_map(|child| child.try_wait().ok()).filter(Option::is_none).count();
        loop {
            // Two tasks for each core are asked for.
            match reach(&self.at, None) {
                Ok(found) if found.cluster.tasks() == running * self.cores * 2 => break,
                other => {
                    let words = other.map_or_else(|error| format!("{error:#}"), |_| "executors are missing".to_owned());
                    assert!(since.elapsed() < Duration::from_secs(60), "{words}");
                }
            }
            thread::sleep(Duration::from_millis(100));
        }
        reach(&self.at, Some(tasks)).unwrap_or_else(|error| panic!("{error:#}")).cluster
    }

    /// Ends the executor that was started last, at once.
    pub(crate) fn kill(&mut self) {
        let child = self.executors.last_mut().expect("there is one");
        child.kill().expect("it can be ended");
        child.wait().expect("it ends");
    }

    /// The process of the executor that was started last.
    pub(crate) fn last_executor(&self) -> u32 {
        self.executors.last().expect("there is one").id()
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in self.executors.iter_mut().chain([&mut self.scheduler]) {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}
