//! Care for a store: compaction, retention, deletion, checks, and what a person wants to know. All of it runs next to a writer
//! and readers, in the same process or another.

mod backup;
mod compact;
mod delete;
mod deletions;
mod export;
mod info;
mod merge;
mod pace;
mod place;
mod restore;
mod retain;
mod tiers;
mod upkeep;
mod verify;

pub use backup::{Backup, BackupOptions};
pub use compact::Compacted;
pub use delete::{DeleteScope, Deleted};
pub use deletions::Deletion;
pub use export::Export;
pub use info::{Info, LogInfo, Size, SpanInfo};
pub use pace::Pace;
pub use restore::Restored;
pub use retain::{Limits, Retained};
pub use tiers::Extent;
pub use upkeep::{Upkeep, UpkeepLimits};
pub use verify::Verified;
