//! Describes the machine and the build that produced the figures.

use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The flags that the build was given; usually none.
const RUST_FLAGS: &str = env!("BENCH_RUST_FLAGS");

/// The description that accompanies every table.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) commit: String,
    pub(crate) cpu: String,
    pub(crate) cpus: usize,
    /// The instruction sets that affect the peers' choices.
    pub(crate) features: Vec<String>,
    pub(crate) memory_bytes: u64,
    pub(crate) system: String,
    pub(crate) allocator: String,
    pub(crate) rustc: String,
    pub(crate) rust_profile: String,
    pub(crate) rust_flags: String,
    pub(crate) cxx: String,
    /// The flags of the C and C++ peers.
    pub(crate) cxx_flags: String,
    /// The one-minute load when the run began. If it is above about 0.2, another program was working.
    pub(crate) load_before: f64,
    pub(crate) load_after: f64,
}

impl Machine {
    /// Describes this machine.
    ///
    /// `arch` is the architecture for which peers with flags of their own are built.
    pub(crate) fn here(arch: &str) -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let wanted = ["sse4_2", "pclmulqdq", "avx2", "bmi2", "avx512bw", "avx512vbmi", "avx512_vbmi2"];
        let flags = field("flags");
        Self {
            date: output("date", &["-u", "+%FT%TZ"]),
            commit: output("git", &["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty"]),
            cpu: format!("{} family {} model {}", field("model name"), field("cpu family"), field("model\t")),
            cpus: std::thread::available_parallelism().map_or(0, usize::from),
            features: flags.split(' ').filter(|flag| wanted.contains(flag)).map(str::to_owned).collect(),
            memory_bytes: memory_bytes(),
            system: output("uname", &["-srm"]),
            allocator: format!("malloc of {}", output("getconf", &["GNU_LIBC_VERSION"])),
            rustc: env!("BENCH_RUSTC").to_owned(),
            rust_profile: env!("BENCH_PROFILE").to_owned(),
            rust_flags: RUST_FLAGS.to_owned(),
            cxx: env!("BENCH_CXX").to_owned(),
            cxx_flags: format!("-O3 -march={arch}"),
            load_before: load(),
            load_after: f64::NAN,
        }
    }

    /// The line below a chart.
    pub(crate) fn line(&self) -> String {
        // Leaves out the text in brackets and the commits, which the JSON has.
        let rustc = self.rustc.split(" (").next().unwrap_or_default();
        let day = self.date.split('T').next().unwrap_or_default();
        let cxx = self.cxx.rsplit(' ').next().unwrap_or_default();
        format!(
            "{}, {} CPU{} · {} · load {:.2} · {rustc} · C++ compiler {cxx} {}",
            self.cpu,
            self.cpus,
            if self.cpus == 1 { "" } else { "s" },
            day,
            self.load_before,
            self.cxx_flags
        )
    }

    /// Notes the load at the end.
    pub(crate) fn finished(&mut self) {
        self.load_after = load();
    }
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).trim().to_owned()
}

fn memory_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes = text.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}

fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}
