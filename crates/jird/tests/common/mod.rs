//! Where tests find the corpus: example documents and conformance data that are too large to be part of the source.

use std::path::{Path, PathBuf};

/// The folder named by `JIRD_CORPUS`, else `shared/corpus` beside the workspace or beside the folder that it is in.
///
/// If there is none, says `skipped: corpus`, and the test passes; unless `JIRD_REQUIRE_ALL` is `1`: then it fails.
#[allow(clippy::print_stdout, reason = "tells whoever reads the test's output")]
pub(crate) fn corpus() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = match std::env::var_os("JIRD_CORPUS") {
        Some(named) => vec![PathBuf::from(named)],
        None => ["../shared/corpus", "../../shared/corpus"].map(|place| workspace.join(place)).to_vec(),
    };
    let found = places.into_iter().find(|place| place.is_dir());
    if found.is_none() {
        assert!(
            std::env::var_os("JIRD_REQUIRE_ALL").is_none_or(|all| all != "1"),
            "the corpus is required, and missing"
        );
        println!("skipped: corpus");
    }
    found
}
