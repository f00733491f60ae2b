//! The wire format of Protocol Buffers: numbered fields of four kinds. All that is needed of it is this page; a library
//! would first build a tree of every message.

/// A message is cut short, or has what is none of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// The fields of a message in their order, each with its number.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Field<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field.ok_or(Malformed))
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u64, Field<'a>)> {
        let tag = self.varint()?;
        let field = match tag & 7 {
            0 => Field::Varint(self.varint()?),
            1 => Field::Fixed64(u64::from_le_bytes(self.fixed()?)),
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                let (bytes, rest) = self.0.split_at_checked(len)?;
                self.0 = rest;
                Field::Bytes(bytes)
            }
            5 => Field::Fixed32(u32::from_le_bytes(self.fixed()?)),
            _ => return None,
        };
        // No field has the number zero.
        (tag >> 3 != 0).then_some((tag >> 3, field))
    }

    fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 127) << shift;
            if byte & 128 == 0 {
                return Some(value);
            }
        }
        None
    }
}

impl From<Malformed> for &'static str {
    fn from(_: Malformed) -> Self {
        "it is no message of the format"
    }
}

/// The messages in the fields of this number.
pub(super) fn messages(message: &[u8], wanted: u64) -> impl Iterator<Item = Result<&[u8], Malformed>> {
    Fields(message).filter_map(move |field| match field {
        Ok((number, Field::Bytes(bytes))) if number == wanted => Some(Ok(bytes)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    })
}

/// A text of a message.
///
/// # Errors
/// It is not UTF-8.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, &'static str> {
    core::str::from_utf8(bytes).map_err(|_| "a text is not UTF-8")
}

/// Appends a field that is a number.
pub(super) fn write_number(number: u64, value: u64, out: &mut Vec<u8>) {
    write_varint(number << 3, out);
    write_varint(value, out);
}

/// Appends a field that is a text or a message.
pub(super) fn write_bytes(number: u64, bytes: &[u8], out: &mut Vec<u8>) {
    write_varint(number << 3 | 2, out);
    write_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value > 127 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_they_are_written_and_what_is_cut_is_told() {
        let mut message = Vec::new();
        write_number(1, u64::MAX, &mut message);
        write_bytes(300, b"text", &mut message);
        message.extend_from_slice(&[0x1d, 1, 0, 0, 0, 0x21, 2, 0, 0, 0, 0, 0, 0, 0]);
        let fields: Vec<_> = Fields(&message).collect();
        assert_eq!(
            fields,
            [
                Ok((1, Field::Varint(u64::MAX))),
                Ok((300, Field::Bytes(b"text"))),
                Ok((3, Field::Fixed32(1))),
                Ok((4, Field::Fixed64(2)))
            ]
        );
        for len in 1..message.len() {
            let cut: Vec<_> = Fields(&message[..len]).collect();
            assert!(cut.len() <= 4 && cut[..cut.len() - 1].iter().all(Result::is_ok), "{len}");
            let is_border = [11, 18, 23].contains(&len);
            assert_eq!(cut.last().unwrap().is_ok(), is_border, "{len}");
        }
        for wrong in [&[0x0b][..], &[0x00, 0x00], &[0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]] {
            assert_eq!(Fields(wrong).next(), Some(Err(Malformed)), "{wrong:?}");
        }
    }
}
