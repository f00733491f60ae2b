//! How trees are read from `serde_json`'s deserializers on this thread: as raw text, or value by value.

use core::cell::Cell;

thread_local! {
    static PLAIN: Cell<bool> = const { Cell::new(false) };
}

/// Whether trees are read from `serde_json` value by value, without the text of numbers: its errors are then exactly
/// those that it has for its own trees.
pub(crate) fn is_plain() -> bool {
    PLAIN.try_with(Cell::get).unwrap_or(false)
}

/// Runs `read` so that [`is_plain`] is true.
pub(crate) fn plainly<T>(read: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = PLAIN.try_with(|plain| plain.set(self.0));
        }
    }
    let _restore = Restore(PLAIN.try_with(|plain| plain.replace(true)).unwrap_or(false));
    read()
}
