//! Compiles the C and C++ peers and notes what this build is made of.
//!
//! A peer that cannot be built never fails the build: its `cfg` stays unset, and `BENCH_<PEER>_MISSING` holds the
//! reason, which becomes a failed row.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() {
    for input in ["build.rs", "peers", "../Cargo.lock"] {
        println!("cargo::rerun-if-changed={input}");
    }
    for variable in ["BENCH_WITHOUT_FOREIGN", "BENCH_CXX_ARCH", "CXX", "CC"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    foreign("simdjson", simdjson);
    foreign("yyjson", yyjson);
    foreign("rapidjson", rapidjson);
    if let Err(error) = task_rows() {
        // Not left out as other peers are: without a C compiler the bundled SQLite is not there either.
        println!("cargo::error=the C loop of sqlite_rows: {error}");
    }
    for peer in ["serde_json", "simd-json", "sonic-rs"] {
        let variable = peer.replace('-', "_").to_uppercase();
        println!("cargo::rustc-env=BENCH_{variable}_VERSION={}", locked_version(peer).unwrap_or_default());
    }
    describe_build();
}

/// Runs one peer's build and turns its outcome into a `cfg` and a reason.
fn foreign(peer: &str, build: fn() -> Result<()>) {
    println!("cargo::rustc-check-cfg=cfg(bench_{peer})");
    let outcome =
        if env::var_os("BENCH_WITHOUT_FOREIGN").is_some() { Err("only in the default build".into()) } else { build() };
    let reason = match outcome {
        Ok(()) => {
            println!("cargo::rustc-cfg=bench_{peer}");
            String::new()
        }
        Err(error) => error.to_string(),
    };
    let reason = reason.lines().next().unwrap_or_default();
    println!("cargo::rustc-env=BENCH_{}_MISSING={reason}", peer.to_uppercase());
}

fn simdjson() -> Result<()> {
    let sources = crate_folder("simdjson-sys")?.join("vendor/simdjson");
    driver("simdjson").include(sources).try_compile("bench_simdjson")?;
    Ok(())
}

fn yyjson() -> Result<()> {
    let sources = crate_folder("yyjson-sys")?.join("yyjson/src");
    // The linker wants the driver before what it calls.
    driver("yyjson").include(&sources).try_compile("bench_yyjson_driver")?;
    with_flags(cc::Build::new().file(sources.join("yyjson.c"))).try_compile("bench_yyjson")?;
    Ok(())
}

/// The C loop, against the SQLite that jird has.
fn task_rows() -> Result<()> {
    let headers = env::var("DEP_SQLITE3_INCLUDE")?;
    with_flags(cc::Build::new().include(headers).file("peers/task_rows.c")).try_compile("bench_task_rows")?;
    Ok(())
}

fn rapidjson() -> Result<()> {
    let headers = "/usr/include/rapidjson/document.h";
    println!("cargo::rerun-if-changed={headers}");
    if !Path::new(headers).exists() {
        return Err("no RapidJSON headers: apt-get install rapidjson-dev".into());
    }
    driver("rapidjson").try_compile("bench_rapidjson")?;
    Ok(())
}

fn driver(peer: &str) -> cc::Build {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").file(format!("peers/{peer}_driver.cpp"));
    with_flags(&mut build).clone()
}

fn with_flags(build: &mut cc::Build) -> &mut cc::Build {
    if arch() != "native" {
        // simdjson's DOM looks at the CPU and would take its AVX-512 all the same; On-Demand has what `-march` says.
        build.define("SIMDJSON_IMPLEMENTATION_ICELAKE", "0");
    }
    build.define("NDEBUG", None).warnings(false).cargo_warnings(false).debug(false).opt_level(3);
    build.flag(format!("-march={}", arch()))
}

/// What the C and C++ peers are compiled for: this machine, unless `BENCH_CXX_ARCH` names an older one (`haswell`: AVX2).
fn arch() -> String {
    env::var("BENCH_CXX_ARCH").unwrap_or_else(|_| "native".to_owned())
}

/// Where the registry keeps the sources of a crate that `peers/sources` depends on (downloaded when need be).
fn crate_folder(name: &str) -> Result<PathBuf> {
    let output = Command::new(env::var("CARGO")?)
        .args(["metadata", "--format-version=1", "--locked", "--manifest-path=peers/sources/Cargo.toml"])
        .output()?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
        return Err(format!("cargo metadata: {words}").into());
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let package = metadata["packages"].as_array().and_then(|all| all.iter().find(|one| one["name"] == name));
    let manifest = package.and_then(|one| one["manifest_path"].as_str()).ok_or("crate not in the metadata")?;
    Ok(Path::new(manifest).parent().ok_or("a manifest without a folder")?.to_owned())
}

fn locked_version(name: &str) -> Option<String> {
    let lock = fs::read_to_string("../Cargo.lock").ok()?;
    let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{name}\"\n")))?;
    let version = entry.lines().find_map(|line| line.strip_prefix("version = "))?;
    Some(version.trim_matches('"').to_owned())
}

fn describe_build() {
    let rustc = first_line(Command::new(env::var("RUSTC").unwrap_or_default()).arg("--version"));
    let compiler = cc::Build::new().cpp(true).cargo_warnings(false).try_get_compiler();
    let cxx = compiler.map_or_else(|error| error.to_string(), |one| first_line(one.to_command().arg("--version")));
    println!("cargo::rustc-env=BENCH_RUSTC={rustc}");
    println!("cargo::rustc-env=BENCH_CXX={cxx}");
    println!("cargo::rustc-env=BENCH_PROFILE={}", env::var("PROFILE").unwrap_or_default());
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\u{1f}', " ");
    println!("cargo::rustc-env=BENCH_RUST_FLAGS={flags}");
}

fn first_line(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or_default().to_owned()
}
