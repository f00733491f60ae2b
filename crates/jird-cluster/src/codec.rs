//! The codec of all processes: ours, with Ballista's for what is not ours.

use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use jird_query::cluster::{Codec, functions};
use std::sync::Arc;

/// The largest message, in bytes: a plan names all files of a query, and a task tells of all bad records it has found.
pub(crate) const MESSAGE_BYTES_MAX: u32 = 256 << 20;

/// The codec. A scan that must not be cut is read by `threads` threads.
pub(crate) fn codec(threads: usize) -> Arc<dyn PhysicalExtensionCodec> {
    Arc::new(Codec::new(Arc::new(BallistaPhysicalExtensionCodec::default()), threads))
}

/// The functions that the processes know by their names: Ballista's, and ours.
pub(crate) fn registry() -> BallistaFunctionRegistry {
    let mut registry = BallistaFunctionRegistry::default();
    let ours = functions().iter().map(|function| (function.name().to_owned(), Arc::new(function.clone())));
    registry.scalar_functions.extend(ours);
    registry
}
