//! Where files are, and what this machine has.
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How the names of the variables begin by which cargo tells a program of its package.
const OF_A_PACKAGE: [&str; 5] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_NAME", "OUT_DIR"];

/// The workspace and its environment.
pub(crate) struct House {
    /// The root of the workspace.
    pub(crate) root: PathBuf,
    /// Cargo's target folder. Builds with other flags use subfolders of their own, so that no build overwrites another.
    pub(crate) target: PathBuf,
    /// The tools that `.ci/run`, `aarch64.sh` and `platforms.sh` installed, if they ran.
    pub(crate) tools: PathBuf,
    /// `JIRD_REQUIRE_ALL=1`
    pub(crate) require_all: bool,
    /// `JIRD_CHECKED=1`
    pub(crate) checked: bool,
    /// `JIRD_TIDY=1`
    pub(crate) is_tidy: bool,
}

impl House {
    pub(crate) fn open() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned();
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
        let tools = env::var_os("JIRD_TOOLS").map_or_else(
            || Path::new(&env::var_os("HOME").unwrap_or_default()).join(".cache/jird-tools"),
            PathBuf::from,
        );
        let on = |name| env::var_os(name).is_some_and(|value| value == "1");
        Self {
            root,
            target,
            tools,
            require_all: on("JIRD_REQUIRE_ALL"),
            checked: on("JIRD_CHECKED"),
            is_tidy: on("JIRD_TIDY"),
        }
    }

    /// A command in the workspace's root, with the installed tools on its path. The variables of the cargo that started
    /// this program are removed from the environment: its library folder, above all its toolchain, and what it tells of
    /// this package. Build scripts that read the latter would run again, and half of what was built would be built again.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        command.env_remove("LD_LIBRARY_PATH").env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
        for (name, _) in env::vars_os() {
            if name.to_str().is_some_and(|name| OF_A_PACKAGE.iter().any(|prefix| name.starts_with(prefix))) {
                command.env_remove(name);
            }
        }
        // Each step decides itself what it builds.
        command.env_remove("JIRD_CHECKED").env_remove("JIRD_KERNEL");
        let own = ["cargo-fuzz/bin", "cargo-deb/bin"].map(|folder| self.tools.join(folder));
        let path = env::var_os("PATH").unwrap_or_default();
        if let Ok(path) = env::join_paths(own.into_iter().chain(env::split_paths(&path))) {
            command.env("PATH", path);
        }
        command
    }

    /// `cargo` with these arguments.
    pub(crate) fn cargo<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.command("cargo");
        command.args(arguments);
        command
    }

    /// Whether the command runs successfully; used to ask programs for their version.
    pub(crate) fn answers(&self, program: &str, arguments: &[&str]) -> bool {
        let mut command = self.command(program);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// The command's output; `None` if it fails.
    pub(crate) fn says(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let output = self.command(program).args(arguments).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Whether rustup has installed the standard library for a target.
    pub(crate) fn has_target(&self, target: &str) -> bool {
        let installed = self.says("rustup", &["target", "list", "--installed"]).unwrap_or_default();
        installed.lines().any(|line| line == target)
    }

    /// Whether the workspace contains the package.
    pub(crate) fn has_member(&self, folder: &str) -> bool {
        self.root.join(folder).join("Cargo.toml").is_file()
    }
}
