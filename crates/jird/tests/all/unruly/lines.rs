//! Readers of lines that lie or panic.

use jird::hooks::lines::{ReadAt, read_range};
use jird::{Error, lines};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Says that it read more than there was room for.
struct Claims;

impl Read for Claims {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'\n');
        Ok(buffer.len() + 1)
    }
}

impl ReadAt for Claims {
    fn read_at(&self, buffer: &mut [u8], _: u64) -> io::Result<usize> {
        Ok(buffer.len() + 1)
    }
}

#[test]
fn a_reader_of_lines_that_claims_too_much_is_an_error() {
    let each = |_: u64, _: &[u8]| -> Result<_, Error> { Ok(ControlFlow::Continue(())) };
    // A buffer that has room behind what is lent to the reader.
    let mut buffer = vec![0; 1 << 20];
    let read = lines::read_stream(Claims, &mut buffer, 1 << 20, each);
    assert!(read.expect_err("the reader lies").to_string().contains("said that it read"));
    let read = read_range(&Claims, 0..1000, &mut buffer, 1 << 20, each);
    assert!(read.expect_err("the reader lies").to_string().contains("said that it read"));
}

/// Gives a line and then panics.
struct PanicsAtTheEnd(bool);

impl Read for PanicsAtTheEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if std::mem::replace(&mut self.0, true) {
            std::panic::resume_unwind(Box::new("its own"));
        }
        buffer[..2].copy_from_slice(b"1\n");
        Ok(2)
    }
}

#[test]
fn lines_whose_reader_panics_do_not_end_as_if_all_had_come() {
    let values: Vec<_> = lines::typed_on::<u8>(PanicsAtTheEnd(false), 2).collect();
    assert_eq!(values.len(), 2, "{values:?}");
    assert!(matches!(&values[0], Ok(1)));
    assert!(values[1].as_ref().is_err_and(jird::Error::is_io), "{values:?}");
}
