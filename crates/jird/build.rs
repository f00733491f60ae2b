//! Turns environment variables into `cfg`s for tests. With `JIRD_CHECKED=1` every unchecked access is checked, also when
//! optimised (`cfg(jird_checked)`). With `JIRD_SMALL_LIMITS=1` documents and what they hold have small limits, so that tests reach
//! them (`cfg(jird_small_limits)`). Variables and not cargo features, because features of one user become those of all.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for (variable, cfg) in [("JIRD_CHECKED", "jird_checked"), ("JIRD_SMALL_LIMITS", "jird_small_limits")] {
        println!("cargo::rerun-if-env-changed={variable}");
        println!("cargo::rustc-check-cfg=cfg({cfg})");
        if std::env::var_os(variable).is_some_and(|value| value == "1") {
            println!("cargo::rustc-cfg={cfg}");
        }
    }
}
