"""`scan` of bytes, open files, sockets and chunks."""

import array
import bz2
import dataclasses
import gzip
import io
import itertools
import json
import mmap
import os
import random
import socket
import threading

import pytest

import jird


def model(text):
    return [json.loads(line) for line in text.split(b"\n") if line.strip()]


def some_text(chance, count):
    """Lines, some of them empty, some with line feeds of Windows; the last one may have none."""
    lines = []
    for index in range(count):
        value = {"id": index, "name": "é" * chance.randrange(6), "tags": [chance.random(), None, {"a\n": "\\\""}]}
        value = chance.choice([value, value, index, [], "x", value["name"]])
        line = json.dumps(value, ensure_ascii=chance.random() < 0.5)
        lines.append(chance.choice(["", "", "", "\r", "\n", " \n"]) + line + chance.choice(["\n", "\n", "\r\n", " \n"]))
    text = "".join(lines).encode()
    return text[:-1] if chance.random() < 0.5 else text


def cut(chance, text, most=None):
    """The text in chunks, some of them empty."""
    chunks, at = [], 0
    most = most or chance.choice([1, 3, 10, 100, 5000])
    while at < len(text):
        end = at + chance.randrange(most + 1)
        chunks.append(text[at:end])
        at = end
    return chunks


class Reads:
    """A file that has only one of the methods to read."""

    def __init__(self, method, chunks):
        self.chunks, self.left = iter(chunks), b""
        setattr(self, method, getattr(self, "_" + method))

    def _read1(self, size):
        while not self.left:
            chunk = next(self.chunks, None)
            if chunk is None:
                return b""
            self.left = bytes(chunk)
        taken, self.left = self.left[:size], self.left[size:]
        return taken

    _read = _read1

    def _readinto(self, buffer):
        data = self._read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def in_chunks(text):
    return cut(random.Random(2), text, 10_000)


TEXT = some_text(random.Random(1), 10_000)

RECORDS = model(TEXT)


def mapped(text):
    found = mmap.mmap(-1, len(text))
    found.write(text)
    return found


def in_file(tmp_path, mode, **options):
    path = tmp_path / "open.ndjson"
    path.write_bytes(TEXT)
    return open(path, mode, **options)


def text_pipe():
    reading, writing = os.pipe()

    def write():
        with open(writing, "wb") as file:
            file.write(TEXT)

    threading.Thread(target=write).start()
    return open(reading, encoding="utf-8", newline="\n")


SOURCES = {
    "bytes": lambda _: TEXT,
    "bytearray": lambda _: bytearray(TEXT),
    "memoryview": lambda _: memoryview(TEXT),
    "array": lambda _: array.array("B", TEXT),
    "mmap": lambda _: mapped(TEXT),
    "BytesIO": lambda _: io.BytesIO(TEXT),
    "StringIO": lambda _: io.StringIO(TEXT.decode(), newline="\n"),
    "open": lambda path: in_file(path, "rb"),
    "unbuffered": lambda path: in_file(path, "rb", buffering=0),
    "text file": lambda path: in_file(path, "r", encoding="utf-8", newline="\n"),
    "text pipe": lambda _: text_pipe(),
    "gzip.open": lambda _: gzip.open(io.BytesIO(gzip.compress(TEXT))),
    "compressed": lambda _: io.BytesIO(gzip.compress(TEXT)),
    "compressed bytes": lambda _: bz2.compress(TEXT),
    "compressed chunks": lambda _: in_chunks(gzip.compress(TEXT)),
    "list of chunks": lambda _: in_chunks(TEXT),
    "one chunk": lambda _: [TEXT],
    "chunks": lambda _: iter(in_chunks(TEXT)),
    "views": lambda _: (memoryview(chunk) for chunk in in_chunks(TEXT)),
    "bytearrays": lambda _: map(bytearray, in_chunks(TEXT)),
    "read1": lambda _: Reads("read1", in_chunks(TEXT)),
    "read": lambda _: Reads("read", in_chunks(TEXT)),
    "readinto": lambda _: Reads("readinto", in_chunks(TEXT)),
}

AGAIN = {"bytes", "bytearray", "memoryview", "array", "mmap", "compressed bytes"}

AGAIN |= {"compressed chunks", "list of chunks", "one chunk"}


@pytest.mark.parametrize("name", SOURCES)
def test_all_sources_have_the_same_records(tmp_path, name):
    scan = jird.scan(SOURCES[name](tmp_path))
    assert list(scan) == RECORDS
    if name in AGAIN:
        assert list(scan) == RECORDS
    else:
        with pytest.raises(ValueError, match="can be read once"):
            iter(scan)
    filtered = jird.scan(SOURCES[name](tmp_path), columns=["id", "name"], where="id >= 9990")
    wanted = [record for record in RECORDS if isinstance(record, dict) and record["id"] >= 9_990]
    assert list(filtered) == [{"id": record["id"], "name": record["name"]} for record in wanted]


@pytest.mark.parametrize("name", SOURCES)
def test_all_sources_have_the_same_columns(tmp_path, name):
    pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    path = tmp_path / "lines.ndjson"
    path.write_bytes(TEXT)
    wanted = jird.scan(path).to_arrow()
    scan = jird.scan(SOURCES[name](tmp_path))
    assert scan.to_arrow() == wanted
    # A stream was copied, and the copy can be read again.
    assert scan.to_arrow() == wanted
    assert list(scan) == RECORDS
    repeated = jird.scan(SOURCES[name](tmp_path), columns=["id"], types={"id": "any"}).to_arrow()
    assert repeated == jird.scan(path, columns=["id"], types={"id": "any"}).to_arrow()


def test_texts_are_cut_anywhere():
    pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    chance = random.Random(4)
    for _ in range(300):
        text = some_text(chance, chance.randrange(30))
        chunks = cut(chance, text)
        assert list(jird.scan(iter(chunks))) == model(text), chunks
        assert list(jird.scan(Reads(chance.choice(["read", "read1", "readinto"]), chunks))) == model(text)
        assert list(jird.scan(text)) == list(jird.scan(bytearray(text))) == model(text)
        table = jird.scan(iter(chunks), columns=["o"], types={"o": "offset"}).to_arrow()
        offsets = table.column("o").to_pylist()
        lines = [line for line in text.split(b"\n") if line.strip()]
        assert [text[at:].split(b"\n")[0].strip() for at in offsets] == [line.strip() for line in lines]


def test_every_cut_of_a_text_with_a_bad_line():
    text = b'\xef\xbb\xbf{"a": 1}\n\n{"a": "\xc3\xa9"}\n{"a" 2}\r\n{"a": 3}\n4'
    good = [{"a": 1}, {"a": "é"}, {"a": 3}, 4]
    for first in range(len(text) + 1):
        for second in range(first, len(text) + 1, 3):
            chunks = [text[:first], text[first:second], text[second:]]
            iterator = iter(jird.scan(iter(chunks), on_error="skip"))
            assert list(iterator) == good and iterator.skipped == 1
            iterator = iter(jird.scan(iter(chunks)))
            assert [next(iterator), next(iterator)] == good[:2]
            with pytest.raises(jird.JSONDecodeError, match="^<list_iterator>, line 4: ") as error:
                next(iterator)
            assert error.value.doc == '{"a" 2}\r'
            assert list(iterator) == []


def test_bad_records_of_streams_are_set_aside(tmp_path):
    text = b'{"a": 1}\n' * 5000 + b"nonsense\n" + b'{"a": 2}\n' * 5000 + b"[1,\n"
    path = tmp_path / "lines.ndjson"
    path.write_bytes(text)
    found = []
    for number, source in enumerate([path, text, io.BytesIO(text), [text[:77777], text[77777:]]]):
        quarantine = tmp_path / f"bad{number}.ndjson"
        assert len(list(jird.scan(source, on_error=f"quarantine={quarantine}"))) == 10_000
        bad = [json.loads(line) for line in quarantine.read_bytes().splitlines()]
        found.append([{key: value for key, value in record.items() if key != "file"} for record in bad])
    assert len(found[0]) == 2
    for other in found[1:]:
        assert other == found[0]


@dataclasses.dataclass
class Event:
    a: int


def test_typed_records_of_streams():
    lines = [b'{"a": %d}\n' % index for index in range(30_000)]
    lines[20_000] = b'\n\n{"a": "x"}\n'
    for source in (iter([b"".join(lines)]), iter(lines), io.BytesIO(b"".join(lines)), b"".join(lines)):
        iterator = iter(jird.scan(source, type=Event))
        assert [event.a for event in itertools.islice(iterator, 20_000)] == list(range(20_000))
        with pytest.raises(jird.JSONDecodeError, match="line 20003"):
            next(iterator)
        assert list(iterator) == []


def test_a_line_is_there_as_soon_as_it_is_complete():
    ours, theirs = socket.socketpair()
    ours.settimeout(20)
    with ours, theirs, ours.makefile("rb") as file:
        iterator = iter(jird.scan(file))
        for sent, record in [(b"{}\n", {}), (b"1\n", 1), (b'{"a": 2}\n{"a"', {"a": 2}), (b": 3}\n", {"a": 3})]:
            theirs.sendall(sent)
            assert next(iterator) == record
        theirs.sendall(b"5\n6\n7")
        theirs.close()
        assert list(iterator) == [5, 6, 7]


def test_lines_of_a_raw_file_and_of_a_text_file_do_not_wait_either():
    for open_pipe in (
        lambda pipe: open(pipe, "rb", buffering=0),
        lambda pipe: open(pipe, "rb"),
        lambda pipe: open(pipe, encoding="utf-8"),
        lambda pipe: iter(open(pipe, "rb").readline, b""),
    ):
        reading, writing = os.pipe()
        source = open_pipe(reading)
        os.write(writing, b"0\n")
        iterator = iter(jird.scan(source))
        assert next(iterator) == 0
        os.write(writing, b'{"a": "b"}\n')
        assert next(iterator) == {"a": "b"}
        os.close(writing)
        assert list(iterator) == []


def test_a_time_out_comes_out_as_it_is_after_what_was_read():
    ours, theirs = socket.socketpair()
    ours.settimeout(0.1)
    with ours, theirs, ours.makefile("rb") as file:
        theirs.sendall(b"1\n2\n3")
        iterator = iter(jird.scan(file))
        assert [next(iterator), next(iterator)] == [1, 2]
        with pytest.raises(TimeoutError):
            next(iterator)
        # What is left may be half a record.
        assert list(iterator) == []


class Odd(Exception):
    """An exception of somebody's own."""


def failing(chunks, error):
    yield from chunks
    raise error


def test_what_is_empty_has_no_records():
    blank = io.BytesIO(b"\n \n")
    for source in (b"", bytearray(), io.BytesIO(), io.StringIO(), iter([]), [b""], iter([b"", b""]), blank):
        assert list(jird.scan(source)) == []
    assert jird.scan(io.BytesIO()).to_arrow().num_rows == 0
    # Paths from an iterator are paths.
    with pytest.raises(FileNotFoundError):
        jird.scan(iter(["none.ndjson"]))


def test_ranges_of_bytes():
    text = b"".join(b'{"a": %d}\n' % index for index in range(100))
    for first in range(0, len(text), 7):
        parts = [jird.scan(text, range=(0, first)), jird.scan(text, range=(first, len(text)))]
        assert [record["a"] for part in parts for record in part] == list(range(100))


def test_names_of_sources(tmp_path):
    path = tmp_path / "named.ndjson"
    path.write_text("[\n")
    with open(path, "rb") as file, pytest.raises(jird.JSONDecodeError, match="named.ndjson, line 1"):
        list(jird.scan(file))
    for source, name in ((b"[\n", "<bytes>"), (io.BytesIO(b"[\n"), "<BytesIO>"), (iter([b"[\n"]), "<list_iterator>")):
        scan = jird.scan(source)
        assert name in repr(scan)
        with pytest.raises(jird.JSONDecodeError, match=f"{name}, line 1"):
            list(scan)


def test_a_notebook_does_not_read_a_stream():
    file = io.BytesIO(b'{"a": 1}\n')
    scan = jird.scan(file)
    assert scan._repr_html_() is None and file.tell() == 0
    assert "<td>1</td>" in jird.scan(b'{"a": 1}\n')._repr_html_()


def test_a_stream_is_told_how_much_is_done():
    calls = []
    assert len(list(jird.scan(io.BytesIO(TEXT), progress=lambda *done: calls.append(done)))) == len(RECORDS)
    assert calls[-1] == (len(TEXT), None)
    with pytest.raises(Odd):
        def tell(*_):
            raise Odd

        list(jird.scan(io.BytesIO(TEXT), progress=tell))
