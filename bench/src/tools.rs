//! The programs for measurements of whole processes: jird as its users get it, and the Python packages of its peers.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::run;

/// The versions are fixed, so that each figure has known versions.
const PACKAGES: &[&str] = &["duckdb==2.0.0", "polars==2.1.0", "pyarrow==26.0.1", "sqlite-utils==4.2.1"];

/// The `jird` that a user gets: release profile, default flags. If queries are not measured, it is built without them,
/// which takes minutes less.
pub(crate) fn jird(with_queries: bool) -> Result<PathBuf, String> {
    let target = run::target_folder()?;
    let mut build = run::cargo();
    build.args(["build", "--release", "--quiet", "--package", "jird-cli", "--target-dir"]).arg(&target);
    if !with_queries {
        build.args(["--no-default-features", "--features", "convert"]);
    }
    let status = build.status().map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err(format!("jird does not build: {status}"));
    }
    // A copy, because the next build would overwrite the binary.
    let own = target.join(if with_queries { "bench-jird-query" } else { "bench-jird-convert" });
    fs::copy(target.join("release/jird"), &own).map_err(|error| format!("{}: {error}", own.display()))?;
    Ok(own)
}

/// The Python of a virtual environment under the target folder, with all packages.
pub(crate) fn python() -> Result<PathBuf, String> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PYTHON.get_or_init(python_with_packages).clone()
}

fn python_with_packages() -> Result<PathBuf, String> {
    let folder = run::target_folder()?.join("bench-venv");
    let python = folder.join("bin/python");
    if has_packages(&python) {
        return Ok(python);
    }
    eprintln!("installing {} into {}", PACKAGES.join(", "), folder.display());
    let done = |command: &mut Command| match command.stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("Python packages could not be installed: {status}")),
        Err(error) => Err(format!("Python packages could not be installed: {error}")),
    };
    done(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    done(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))?;
    if has_packages(&python) { Ok(python) } else { Err("Python packages were installed but are not there".to_owned()) }
}

fn has_packages(python: &Path) -> bool {
    let check = "import sys; from importlib.metadata import version
for package in sys.argv[1:]:
    name, wanted = package.split('==')
    assert version(name) == wanted";
    let status = Command::new(python).args(["-c", check]).args(PACKAGES).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The command for a script of `peers` in that Python.
pub(crate) fn script(name: &str) -> Result<[OsString; 3], String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name);
    Ok([python()?.into(), "-I".into(), path.into()])
}

/// The path of a system program, or an error that says how to install it.
pub(crate) fn installed(name: &str, package: &str) -> Result<PathBuf, String> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| format!("no {name}: apt-get install {package}"))
}
