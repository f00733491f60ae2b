//! Turns the environment variable `JIRD_CHECKED=1` into `cfg(jird_checked)`: a build in which every unchecked access is
//! checked, also when optimised. A variable and not a cargo feature, because features of one user become those of all.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=JIRD_CHECKED");
    println!("cargo::rustc-check-cfg=cfg(jird_checked)");
    if std::env::var_os("JIRD_CHECKED").is_some_and(|value| value == "1") {
        println!("cargo::rustc-cfg=jird_checked");
    }
}
