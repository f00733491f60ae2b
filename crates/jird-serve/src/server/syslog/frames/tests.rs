use super::*;

const LIMIT: usize = 100;

/// A frame, on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    Message(Vec<u8>),
    /// What is told of it depends on where the stream was cut.
    Long,
    Cut(Vec<u8>),
}

fn message(text: &[u8]) -> Known {
    Known::Message(text.to_vec())
}

/// The frames of a stream that comes in these pieces.
fn frames<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<Known> {
    let mut frames = Frames::new(LIMIT);
    let mut known = Vec::new();
    let mut take = |frames: &mut Frames, is_end| {
        while let Some(frame) = frames.next(is_end) {
            known.push(match frame {
                Frame::Message(text) => message(text),
                Frame::Long(head) => {
                    assert!(head.len() <= HEAD_BYTES);
                    Known::Long
                }
                Frame::Cut(part) => Known::Cut(part.to_vec()),
            });
        }
    };
    for piece in pieces {
        frames.room().extend_from_slice(piece);
        take(&mut frames, false);
        assert!(frames.len() <= LIMIT + LEN_DIGITS_MAX + 1, "{}", frames.len());
        frames.rest();
    }
    take(&mut frames, true);
    assert_eq!(frames.len(), 0);
    known.retain(|known| *known != message(b""));
    known
}

#[track_caller]
fn check(stream: &[u8], expected: &[Known]) {
    assert_eq!(frames([stream]), expected, "{}", stream.escape_ascii());
    assert_eq!(frames(stream.chunks(1)), expected, "byte by byte: {}", stream.escape_ascii());
    for at in 0..=stream.len() {
        let (one, two) = stream.split_at(at);
        assert_eq!(frames([one, two]), expected, "cut at {at}: {}", stream.escape_ascii());
    }
}

#[test]
fn lines_and_lengths_are_told_apart_wherever_the_stream_is_cut() {
    check(b"", &[]);
    check(b"<1>a\n<2>b\r\n<3>c\0<4>d", &[message(b"<1>a"), message(b"<2>b\r"), message(b"<3>c"), message(b"<4>d")]);
    check(b"4 <1>a5 <2>\nb6 <3>c\0\n", &[message(b"<1>a"), message(b"<2>\nb"), message(b"<3>c\0\n")]);
    check(
        b"4 <1>a\n\r\n\0<2>b\n5 <3>cd<4>e\n",
        &[message(b"<1>a"), message(b"<2>b"), message(b"<3>cd"), message(b"<4>e")],
    );
    check(b"\n\n\0\r\n", &[]);
    // Zeros in front, and nothing.
    check(b"00004 <1>a0 <2>b\n", &[message(b"<1>a"), message(b"<2>b")]);
    // Without a valid length, it is a line.
    for line in [
        "5 apples",
        "2024-03-05 x",
        "12",
        "12 ",
        "0000000004 <1>a",
        "99999999999999 <1>a",
        "18446744073709551616 <1>a",
        "4  <1>a",
        "4\t<1>a",
        "-4 <1>a",
        "+4 <1>a",
        " 4 <1>a",
    ] {
        check(format!("{line}\n<2>b\n").as_bytes(), &[message(line.as_bytes()), message(b"<2>b")]);
        check(format!("4 <1>a{line}").as_bytes(), &[message(b"<1>a"), message(line.as_bytes())]);
    }
}

#[test]
fn what_is_too_long_is_named_once_and_the_stream_goes_on() {
    let long = "x".repeat(LIMIT + 1);
    let whole = "x".repeat(LIMIT);
    check(format!("{whole}\n{long}\n<1>a\n").as_bytes(), &[message(whole.as_bytes()), Known::Long, message(b"<1>a")]);
    check(format!("101 <{whole}4 <1>a").as_bytes(), &[Known::Long, message(b"<1>a")]);
    check(
        format!("100 <{}4 <1>a", &whole[1..]).as_bytes(),
        &[message(format!("<{}", &whole[1..]).as_bytes()), message(b"<1>a")],
    );
    check(format!("{}\n{long}\0{long}", long.repeat(3)).as_bytes(), &[Known::Long, Known::Long, Known::Long]);
    check(format!("900 <{}4 <1>a", "x\n".repeat(449) + "x").as_bytes(), &[Known::Long, message(b"<1>a")]);
    check(format!("999999999 <{long}").as_bytes(), &[Known::Long]);
}

#[test]
fn a_stream_that_ends_within_a_message_with_a_length_says_so() {
    check(b"4 <1>a5 <2>b", &[message(b"<1>a"), Known::Cut(b"<2>b".to_vec())]);
    check(b"100 <", &[Known::Cut(b"<".to_vec())]);
    check(b"<1>a\n4 <1>", &[message(b"<1>a"), Known::Cut(b"<1>".to_vec())]);
}

#[test]
fn a_message_that_comes_slowly_takes_little_memory_and_an_idle_stream_none() {
    let mut frames = Frames::new(256 << 10);
    for _ in 0..300 << 10 {
        frames.room().push(b'x');
        frames.next(false);
        assert!(frames.bytes.capacity() <= (256 << 10) + 2 * PIECE_BYTES, "{}", frames.bytes.capacity());
    }
    assert_eq!(frames.len(), 0);
    frames.rest();
    assert_eq!(frames.bytes.capacity(), 0);
}

#[test]
fn the_length_of_a_datagram_is_no_part_of_its_message() {
    for (datagram, message) in [
        ("4 <1>a", "<1>a"),
        ("5 <1>a", "5 <1>a"),
        ("3 <1>a", "3 <1>a"),
        ("5 apples", "5 apples"),
        ("", ""),
        ("4 ", "4 "),
    ] {
        assert_eq!(without_length(datagram.as_bytes()), message.as_bytes());
    }
}
