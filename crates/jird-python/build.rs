//! Tells the compiler which Python this is built for, as `cfg(Py_3_14)` and the like.

fn main() {
    #[cfg(feature = "extension")]
    pyo3_build_config::use_pyo3_cfgs();
}
