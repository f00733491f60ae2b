//! For the crates built on jird, and for its tests and benchmarks: this may change with every version.

#[cfg(feature = "serde")]
pub use crate::data_model::{ALL_NUMBERS, BufferedFloat, Decimal, EXACT_NUMBERS, RAW_TEXT, buffered_float};
pub use crate::event::facts::base64;
pub use crate::kernel::{Kernel, UnknownKernel};
pub use crate::number::{decimal, number_at, two_digits};
pub use crate::tape::{Technique, pointer_index, pointer_key};
pub use crate::text::compose::{ArrayWriter, ObjectWriter, WriteScalar, write_array, write_object};
pub use crate::text::direct::{NUMBER_ROOM, put_content, put_f32, put_f64, put_i64, put_string, put_u64, string_room};
pub use crate::text::plain_end;
pub use crate::text::writer::{quoted, write_string};
pub use crate::walk::scan_only;

/// Reading parts of texts, on one thread or several.
pub mod lines {
    #[cfg(feature = "parallel")]
    pub use crate::lines::drive::{drive, ranges};
    pub use crate::lines::gate::When;
    pub use crate::lines::part::{Counting, LineReader, Part, PieceSource};
    pub use crate::lines::piece::{LinePiece, newlines};
    pub use crate::lines::position::write_all_at;
    pub use crate::lines::read::{ReadAt, read_range};
    pub use crate::lines::stream::{StreamPiece, StreamPieces};
    #[cfg(feature = "parallel")]
    pub use crate::threads::in_order;
}

/// What sources, sinks and filters are made of.
pub mod event {
    pub use crate::event::condition::Condition;
    pub use crate::event::keys::KeyTable;
    pub use crate::event::parts::{PartBuffer, Parts};
    pub use crate::event::pipe::{Pipe, PipeError, pipe};
    pub use crate::event::recording::{Recording, Replay};
    pub use crate::event::tape::{send, send_text};
}
