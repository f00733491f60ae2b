//! How much of a thread's stack is left.
//!
//! Threads of a program that others wrote may have stacks of any size. Each function that calls itself for what is
//! inside of a value, or code of Python, asks here first: what would need more than there is, is a RecursionError.

use core::cell::Cell;
use core::hint::black_box;
use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;

/// What is kept free for what runs between two questions: one level of ours and of Python's interpreter, finalizers,
/// and the class of an exception. Of a small stack it is a quarter.
const RESERVE_MAX: usize = 64 << 10;

/// How much of a stack with unknown bounds is used after the first question.
const UNKNOWN: usize = 64 << 10;

/// The stack of this thread.
#[derive(Clone, Copy)]
pub(crate) struct Stack {
    /// The lowest address that may be used.
    floor: usize,
}

impl Stack {
    /// Of the thread that asks.
    #[inline]
    pub(crate) fn here() -> Self {
        thread_local! {
            /// Found out once.
            static FLOOR: Cell<usize> = const { Cell::new(0) };
        }
        let known = FLOOR.get();
        if known != 0 {
            return Self { floor: known };
        }
        let floor = floor();
        FLOOR.set(floor);
        Self { floor }
    }

    /// Whether one level more may be begun.
    #[inline(always)]
    pub(crate) fn has_room(self) -> bool {
        address() > self.floor
    }

    /// # Errors
    /// If no level more may be begun.
    #[inline]
    pub(crate) fn check(self) -> PyResult<()> {
        if self.has_room() { Ok(()) } else { Err(exhausted()) }
    }
}

/// The exception for a stack that is used up.
#[cold]
pub(crate) fn exhausted() -> PyErr {
    PyRecursionError::new_err("maximum recursion depth exceeded: the stack of this thread has no room for more levels")
}

/// An address in the frame of the caller, or near it.
#[inline(always)]
fn address() -> usize {
    let here = 0_u8;
    black_box(&raw const here).addr()
}

#[cold]
fn floor() -> usize {
    let here = address();
    match bounds() {
        Some((low, size)) => low + (size / 4).min(RESERVE_MAX),
        None => here.saturating_sub(UNKNOWN),
    }
}

/// The lowest address of this thread's stack, and its size.
#[cfg(target_os = "linux")]
fn bounds() -> Option<(usize, usize)> {
    use core::mem::MaybeUninit;
    use core::ptr;
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut low, mut size, mut guard) = (ptr::null_mut(), 0, 0);
    // SAFETY: there is room for all that is written. The attributes are read after they were initialised, and destroyed
    // once.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let attributes = attributes.assume_init_mut();
        let got = libc::pthread_attr_getstack(attributes, &raw mut low, &raw mut size);
        let guarded = libc::pthread_attr_getguardsize(attributes, &raw mut guard);
        libc::pthread_attr_destroy(attributes);
        if got != 0 || guarded != 0 {
            return None;
        }
    }
    // Some versions of the library count the guard in, whose pages must not be touched.
    Some((low.addr() + guard, size.saturating_sub(guard)))
}

#[cfg(not(target_os = "linux"))]
fn bounds() -> Option<(usize, usize)> {
    None
}
