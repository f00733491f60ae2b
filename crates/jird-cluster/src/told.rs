//! What the servers tell.

/// Sends what Ballista tells to standard error: warnings, or what `RUST_LOG` asks for.
pub(crate) fn tell() {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
}
