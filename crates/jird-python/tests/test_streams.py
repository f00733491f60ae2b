"""`scan` and `scan_async` of what is no file: bytes, open files, sockets, chunks."""

import array
import asyncio
import bz2
import dataclasses
import gc
import gzip
import http.client
import http.server
import io
import itertools
import json
import mmap
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import weakref

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


class FailingFile(io.RawIOBase):
    def __init__(self, chunks, error):
        self.chunks, self.error = iter(chunks), error

    def readable(self):
        return True

    def readinto(self, buffer):
        chunk = next(self.chunks, None)
        if chunk is None:
            raise self.error
        buffer[: len(chunk)] = chunk
        return len(chunk)


ODD = [Odd("x"), OSError(5, "x"), KeyboardInterrupt(), SystemExit(3), GeneratorExit(), MemoryError()]


@pytest.mark.parametrize("error", ODD)
def test_exceptions_of_readers_come_out_as_they_are(error):
    chunks = [b"1\n2", b"\n3\n", b"4"]
    for source in (failing(chunks, error), FailingFile(chunks, error), io.BufferedReader(FailingFile(chunks, error))):
        found = []
        with pytest.raises(type(error)) as raised:
            for record in jird.scan(source):
                found.append(record)
        assert raised.value is error and found == [1, 2, 3]
    with pytest.raises(type(error)) as raised:
        jird.scan(failing([], error))
    assert raised.value is error
    pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    scan = jird.scan(failing(chunks, error))
    with pytest.raises(type(error)) as raised:
        scan.to_arrow()
    assert raised.value is error
    with pytest.raises(ValueError, match="can be read once"):
        list(scan)


def test_an_exception_within_a_compressed_stream():
    text = b"".join(b'{"a": %d}\n' % index for index in range(100_000))
    packed, error = gzip.compress(text, 1), Odd()
    found = []
    with pytest.raises(Odd) as raised:
        for record in jird.scan(failing([packed[: len(packed) // 2]], error)):
            found.append(record["a"])
    assert raised.value is error and len(found) > 10_000 and found == list(range(len(found)))
    with pytest.raises(OSError, match="<list_iterator>"):
        list(jird.scan(iter([packed[:-20]])))


class Gives:
    """A file whose reads give what it is told, whatever that is."""

    def __init__(self, given):
        self.given = given

    def read(self, size):
        return self.given


class GivesInto:
    def __init__(self, given):
        self.given = given

    def readinto(self, buffer):
        return self.given(buffer) if callable(self.given) else self.given


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        (lambda: Gives("{}\n"), TypeError, "<Gives>.read gave str, and bytes are scanned; open files with mode 'rb'"),
        (lambda: Gives(None), BlockingIOError, "has nothing now"),
        (lambda: Gives(5), TypeError, "<Gives>.read gave int, and bytes are scanned"),
        (lambda: Gives([1]), TypeError, "gave list"),
        (lambda: GivesInto(None), BlockingIOError, "has nothing now"),
        (lambda: GivesInto("x"), TypeError, "readinto returned str, not a number"),
        (lambda: GivesInto(-1), ValueError, "said that it read -1 bytes into a buffer of 131072"),
        (lambda: GivesInto(131_073), ValueError, "said that it read 131073 bytes into a buffer of 131072"),
        (lambda: GivesInto(lambda buffer: buffer.clear() or 5), ValueError, "said that it read 5 bytes"),
        (lambda: iter([b"1\n", "2\n"]), TypeError, "gave str, and bytes are scanned"),
        (lambda: iter([b"1\n", None]), TypeError, "gave NoneType, and bytes are scanned"),
        (lambda: [b"1\n", 2], TypeError, "gave int, and bytes are scanned"),
        (lambda: open(os.devnull, "wb"), io.UnsupportedOperation, "read"),
    ],
)
def test_readers_of_the_wrong_kind(source, kind, words):
    with pytest.raises(kind, match=words.replace("(", r"\(")):
        list(jird.scan(source()))


def test_what_cannot_be_scanned_says_what_can():
    async def chunks():
        yield b""

    class Response:
        def read(self):
            """As that of httpx: of the whole body."""

        def iter_bytes(self):
            """Its chunks."""

    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(TypeError, match="makefile"):
        jird.scan(ours)
    with pytest.raises(TypeError, match=r"iter_bytes\(\)"):
        jird.scan(Response())
    with pytest.raises(TypeError, match="scan_async"):
        jird.scan(chunks())
    with pytest.raises(TypeError, match="scan_async"):
        list(jird.scan(asyncio.StreamReader(loop=asyncio.new_event_loop())))
    with pytest.raises(TypeError, match="not iterable"):
        jird.scan(5)
    with pytest.raises(TypeError, match="gave int"):
        jird.scan([5])
    with pytest.raises(FileNotFoundError, match="scan a text as bytes"):
        jird.scan('{"a": 1}\n')
    with pytest.raises(ValueError, match="not contiguous"):
        jird.scan(memoryview(b"1\n2\n")[::2])
    with pytest.raises(ValueError, match="range: .* not of what is read in chunks"):
        jird.scan(io.BytesIO(b"1\n"), range=(0, 1))
    with pytest.raises(OSError, match="<BytesIO>.*UTF-16"):
        list(jird.scan(io.BytesIO('{"a": 1}\n'.encode("utf-16"))))
    with pytest.raises(UnicodeEncodeError):
        list(jird.scan(io.StringIO('"\ud800"\n')))


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


def test_a_reader_that_asks_for_the_next_record():
    class Asking(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            with pytest.raises(ValueError, match="already executing"):
                next(iterator)
            with pytest.raises(ValueError, match="can be read once"):
                iter(scan)
            buffer[:2] = b"1\n"
            return 2

    scan = jird.scan(Asking())
    iterator = iter(scan)
    assert [next(iterator), next(iterator)] == [1, 1]


def test_sources_that_are_closed_in_between():
    file = io.BytesIO(b"1\n" * 200_000)
    iterator = iter(jird.scan(file))
    assert next(iterator) == 1
    file.close()
    with pytest.raises(ValueError, match="closed"):
        list(iterator)
    found = mapped(b"1\n" * 200_000)
    scan = jird.scan(found)
    iterator = iter(scan)
    assert next(iterator) == 1
    # It is not held.
    found.close()
    with pytest.raises(ValueError, match="closed"):
        list(iterator)
    with pytest.raises(ValueError, match="closed"):
        list(scan)
    changed = bytearray(b"1\n" * 200_000)
    iterator = iter(jird.scan(changed))
    assert next(iterator) == 1
    changed.clear()
    assert len(list(iterator)) < 200_000
    view = memoryview(b"1\n" * 200_000)
    iterator = iter(jird.scan(view))
    next(iterator)
    view.release()
    with pytest.raises(ValueError, match="released"):
        list(iterator)


def test_a_line_that_is_too_long_is_an_error():
    chunks = (b"x" * (1 << 20) for _ in range(1000))
    with pytest.raises(OSError, match="the line at byte 2 has more than 67108864 bytes"):
        list(jird.scan(itertools.chain([b"1\n"], chunks)))
    assert len(list(chunks)) > 900


def test_references_are_counted_right():
    class Chunk(bytearray):
        pass

    class File(io.BytesIO):
        pass

    chunks = [bytes(b'{"a": %d}\n' % index) * 3 for index in range(50)]
    before = [sys.getrefcount(chunk) for chunk in chunks]
    for _ in range(3):
        assert len(list(jird.scan(chunks))) == 150
        iterator = iter(jird.scan(iter(chunks)))
        next(iterator)
        del iterator
    assert [sys.getrefcount(chunk) for chunk in chunks] == before
    text = b"1\n" * 1000
    before = sys.getrefcount(text)
    assert len(list(jird.scan(text))) == 1000
    iterator = iter(jird.scan(text))
    next(iterator)
    del iterator
    deadline = time.time() + 20
    while sys.getrefcount(text) != before and time.time() < deadline:
        time.sleep(0.01)
        jird.loads(b"1")
    assert sys.getrefcount(text) == before
    # The reader is let go at the end, and after an error, though the iterator lives.
    for data in (b"1\n", b"["):
        file = File(data)
        alive = weakref.ref(file)
        scan = jird.scan(file)
        iterator = iter(scan)
        del file, scan
        try:
            list(iterator)
        except jird.JSONDecodeError:
            pass
        gc.collect()
        assert alive() is None


def test_cycles_through_readers_are_collected():
    class Cyclic(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            buffer[:2] = b"1\n"
            return 2

    gc.collect()
    alive = []
    for uses in range(2):
        reader = Cyclic()
        reader.scan = jird.scan(reader)
        if uses:
            reader.iterator = iter(reader.scan)
            next(reader.iterator)
        alive.append(weakref.ref(reader))
        del reader
    gc.collect()
    assert [found() for found in alive] == [None, None]


def test_streams_leak_nothing():
    def use():
        for source in (io.BytesIO(b'{"a": 1}\n' * 100), iter([b"1\n"] * 50), failing([b"1\n"], Odd()), Gives("x")):
            try:
                list(jird.scan(source, type=None))
            except (Odd, TypeError):
                pass
        jird.scan(io.BytesIO(b'{"a": 1}\n')).to_arrow()

    for _ in range(20):
        use()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(200):
        use()
    gc.collect()
    assert sys.getallocatedblocks() - before < 200


def test_memory_is_that_of_chunks():
    code = """
import jird, resource, sys
line = b'{"a": 1, "b": "%s"}\\n' % (b"x" * 200)
chunk = line * 500

def chunks(count):
    for _ in range(count):
        yield chunk

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

assert sum(1 for _ in jird.scan(chunks(100))) == 50_000
before = peak()
assert sum(1 for _ in jird.scan(chunks(3000), columns=["a"])) == 1_500_000
assert sum(1 for _ in jird.scan(chunks(3000), where="a = 2")) == 0
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stderr == "" and int(done.stdout) < 30_000, done


def test_the_interpreter_is_free_while_a_chunk_is_scanned():
    text = b'{"a": 1, "b": "%s"}\n' % (b"x" * 100) * 200_000
    turns, is_over = [0], [False]

    def count():
        while not is_over[0]:
            turns[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    sys.setswitchinterval(1000)
    try:
        thread.start()
        before = turns[0]
        assert list(jird.scan(iter([text]), where="a = 2")) == []
        assert turns[0] > before
    finally:
        sys.setswitchinterval(interval)
        is_over[0] = True
        thread.join()


def test_ctrl_c_ends_a_wait_for_a_reader():
    codes = [
        "ours, theirs = socket.socketpair(); source = ours.makefile('rb')",
        "source = itertools.chain([b'1'], itertools.repeat(b''))",
        "source = itertools.repeat(b'{}\\n')",
    ]
    for code in codes:
        use = "print('begins', flush=True)\nfor record in jird.scan(source, where='a = 1'): pass"
        program = f"import itertools, jird, socket\n{code}\n{use}"
        with subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running:
            assert running.stdout.readline() == "begins\n"
            time.sleep(0.3)
            running.send_signal(signal.SIGINT)
            _, errors = running.communicate(timeout=20)
            assert "KeyboardInterrupt" in errors


def test_threads_that_share_an_iterator_lose_nothing():
    iterator = iter(jird.scan(Reads("read", cut(random.Random(3), TEXT[:200_000].rsplit(b"\n", 1)[0]))))
    found, errors = [], []

    def take():
        while True:
            try:
                found.append(next(iterator))
            except StopIteration:
                return
            except ValueError as error:
                errors.append(str(error))

    threads = [threading.Thread(target=take) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    wanted = model(TEXT[:200_000].rsplit(b"\n", 1)[0])
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    assert set(errors) <= {"the scan is already executing"}


def test_many_threads_scan_streams_of_their_own():
    found = []

    def run(seed):
        chance = random.Random(seed)
        for _ in range(20):
            text = some_text(chance, 200)
            found.append(list(jird.scan(Reads("read", cut(chance, text)))) == model(text))

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert found == [True] * 120


def test_a_stream_is_told_how_much_is_done():
    calls = []
    assert len(list(jird.scan(io.BytesIO(TEXT), progress=lambda *done: calls.append(done)))) == len(RECORDS)
    assert calls[-1] == (len(TEXT), None)
    with pytest.raises(Odd):
        def tell(*_):
            raise Odd

        list(jird.scan(io.BytesIO(TEXT), progress=tell))


def test_a_forked_child_does_not_go_on_with_a_stream():
    iterator = iter(jird.scan(io.BytesIO(b"1\n" * 200_000)))
    next(iterator)
    child = os.fork()
    if child == 0:
        try:
            next(iterator)
            os._exit(1)
        except RuntimeError:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(iterator)) == 199_999


# Over HTTP.


@pytest.fixture
def server():
    """Answers with chunks: /gzip is compressed, /slow waits after the first line, /cut ends too early."""
    go_on = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            body = TEXT
            if self.path == "/gzip":
                self.send_header("Content-Encoding", "gzip")
                body = gzip.compress(TEXT)
            self.end_headers()
            if self.path == "/slow":
                self.chunk(b'{"first": 1}\n{"sec')
                go_on.wait(20)
                body = b'ond": 2}\n'
            for chunk in in_chunks(body):
                self.chunk(chunk)
            if self.path == "/cut":
                self.wfile.write(b"100\r\n{")
                self.close_connection = True
                return
            self.wfile.write(b"0\r\n\r\n")

        def chunk(self, data):
            if data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            """Clients go away early."""

    with Server(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}", go_on
        go_on.set()
        running.shutdown()
        thread.join()


def test_bodies_of_urllib(server):
    url, go_on = server
    for path in ("/", "/gzip"):
        with urllib.request.urlopen(url + path) as response:
            assert list(jird.scan(response)) == RECORDS
    with urllib.request.urlopen(url + "/slow") as response:
        records = iter(jird.scan(response))
        assert next(records) == {"first": 1}
        go_on.set()
        assert list(records) == [{"second": 2}]
    with urllib.request.urlopen(url + "/cut") as response, pytest.raises(http.client.IncompleteRead):
        list(jird.scan(response))


def test_bodies_of_httpx(server):
    httpx = pytest.importorskip("httpx", reason="skipped: httpx")
    url, go_on = server
    for path in ("/", "/gzip"):
        with httpx.stream("GET", url + path) as response:
            assert list(jird.scan(response.iter_bytes())) == RECORDS
    with httpx.stream("GET", url + "/slow") as response:
        records = iter(jird.scan(response.iter_raw()))
        assert next(records) == {"first": 1}
        go_on.set()
        assert list(records) == [{"second": 2}]
    with httpx.stream("GET", url + "/cut") as response, pytest.raises(httpx.RemoteProtocolError):
        list(jird.scan(response.iter_bytes()))
    with httpx.stream("GET", url) as response, pytest.raises(TypeError, match="iter_bytes"):
        jird.scan(response)

    async def run():
        async with httpx.AsyncClient() as client:
            for path in ("/", "/gzip", "/slow"):
                async with client.stream("GET", url + path) as response:
                    records = jird.scan_async(response.aiter_bytes())
                    assert [record async for record in records][:3] == (RECORDS[:3] if path != "/slow" else SLOW)
            async with client.stream("GET", url) as response:
                with pytest.raises(TypeError, match="aiter_bytes"):
                    jird.scan_async(response)

    asyncio.run(run())


SLOW = [{"first": 1}, {"second": 2}]


def test_bodies_of_aiohttp(server):
    aiohttp = pytest.importorskip("aiohttp", reason="skipped: aiohttp")
    url, go_on = server

    async def run():
        async with aiohttp.ClientSession() as session:
            for path in ("/", "/gzip"):
                async with session.get(url + path) as response:
                    assert await all_of(response.content) == RECORDS
                async with session.get(url + path) as response:
                    assert await all_of(response.content.iter_any()) == RECORDS
            async with session.get(url + "/slow") as response:
                records = jird.scan_async(response.content)
                assert await anext(records) == {"first": 1}
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(anext(records), 0.05)
                go_on.set()
                assert [record async for record in records] == [{"second": 2}]
            async with session.get(url + "/cut") as response:
                with pytest.raises(aiohttp.ClientPayloadError):
                    await all_of(response.content)

    asyncio.run(run())


def test_bodies_of_requests_to_starlette():
    pytest.importorskip("httpx", reason="skipped: httpx")
    testclient = pytest.importorskip("starlette.testclient", reason="skipped: starlette")
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def count(request):
        return PlainTextResponse(str(len(await all_of(request.stream()))))

    client = testclient.TestClient(Starlette(routes=[Route("/", count, methods=["POST"])]))
    assert client.post("/", content=(chunk for chunk in in_chunks(TEXT))).text == str(len(RECORDS))


# In an event loop.


async def chunks_of(chunks, pause=False):
    for chunk in chunks:
        if pause:
            await asyncio.sleep(0)
        yield chunk


async def all_of(source, **options):
    return [record async for record in jird.scan_async(source, **options)]


class AsyncReads:
    """As an asyncio.StreamReader, or the content of a response of aiohttp."""

    def __init__(self, chunks):
        self.file = Reads("read", chunks)

    async def read(self, size):
        await asyncio.sleep(0)
        return self.file.read(size)


def test_asynchronous_sources_have_the_same_records():
    async def run():
        chance = random.Random(5)
        for _ in range(100):
            text = some_text(chance, chance.randrange(30))
            chunks = cut(chance, text)
            assert await all_of(chunks_of(chunks)) == model(text)
            assert await all_of(chunks_of(map(memoryview, chunks), pause=True)) == model(text)
            assert await all_of(AsyncReads(chunks)) == model(text)
            reader = asyncio.StreamReader()
            reader.feed_data(text)
            reader.feed_eof()
            assert await all_of(reader) == model(text)
        assert await all_of(chunks_of([TEXT])) == RECORDS
        assert await all_of(chunks_of([TEXT]), columns=["id"], where="id < 5") == [
            {"id": record["id"]} for record in RECORDS if isinstance(record, dict) and record["id"] < 5
        ]
        events = await all_of(chunks_of([b'{"a": 1}\n{"a"', b": 2}"]), type=Event)
        assert events == [Event(1), Event(2)]
        scan = jird.scan_async(chunks_of([b"1\n[\n2\n"]), on_error="skip")
        assert [record async for record in scan] == [1, 2] and scan.skipped == 1

    asyncio.run(run())


def test_a_line_that_arrives_in_an_event_loop_is_there_at_once():
    async def run():
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        with theirs:
            scan = jird.scan_async(reader)
            for sent, record in [(b"{}\n", {}), (b"1\n2", 1), (b"\n", 2)]:
                theirs.sendall(sent)
                assert await asyncio.wait_for(anext(scan), 20) == record
        assert [record async for record in scan] == []
        writer.close()

    asyncio.run(run())


def test_nothing_is_lost_when_a_task_is_cancelled():
    async def run():
        chance = random.Random(6)
        for _ in range(30):
            text = some_text(chance, 60)
            reader = asyncio.StreamReader()

            async def feed(reader=reader, chunks=cut(chance, text)):
                for chunk in chunks:
                    reader.feed_data(chunk)
                    await asyncio.sleep(chance.choice([0, 0, 0.0001]))
                reader.feed_eof()

            feeding = asyncio.create_task(feed())
            scan, found = jird.scan_async(reader), []
            while True:
                task = asyncio.create_task(anext(scan))
                for _ in range(chance.randrange(3)):
                    await asyncio.sleep(0)
                task.cancel()
                try:
                    found.append(await task)
                except asyncio.CancelledError:
                    continue
                except StopAsyncIteration:
                    break
            assert found == model(text)
            await feeding

    asyncio.run(run())


def test_a_generator_that_was_cancelled_is_not_taken_for_one_that_has_ended():
    async def stuck():
        yield b"1\n2"
        await asyncio.sleep(100)

    async def run():
        scan = jird.scan_async(stuck())
        assert await anext(scan) == 1
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(anext(scan), 0.05)
        with pytest.raises(RuntimeError, match="the rest is lost"):
            await anext(scan)
        with pytest.raises(StopAsyncIteration):
            await anext(scan)

    asyncio.run(run())


def test_exceptions_of_asynchronous_sources_come_out_as_they_are():
    async def run():
        async def failing(error):
            yield b"1\n2"
            yield b"\n3"
            raise error

        for error in (Odd(), TimeoutError(), OSError(5, "x")):
            scan, found = jird.scan_async(failing(error)), []
            with pytest.raises(type(error)) as raised:
                async for record in scan:
                    found.append(record)
            assert raised.value is error and found == [1, 2]
            assert [record async for record in scan] == []
        with pytest.raises(jird.JSONDecodeError, match="<async_generator>, line 2"):
            await all_of(chunks_of([b"1\n[", b"\n"]))
        for chunk, words in (("x", "gave str"), (None, "gave NoneType"), (5, "gave int")):
            with pytest.raises(TypeError, match=words):
                await all_of(chunks_of([b"1\n", chunk]))
        for source in (io.BytesIO(), [b""], 5, "path"):
            with pytest.raises(TypeError, match=r"asynchronous|coroutine"):
                jird.scan_async(source)
        with pytest.raises(OSError, match="compressed with gzip"):
            await all_of(chunks_of([gzip.compress(b"1\n")]))

    asyncio.run(run())


def test_one_task_at_a_time_and_an_early_end():
    async def run():
        closed = []

        async def slow():
            try:
                yield b"1\n2\n"
                await asyncio.sleep(100)
            finally:
                closed.append(True)

        scan = jird.scan_async(slow())
        assert [await anext(scan), await anext(scan)] == [1, 2]
        waiting = asyncio.create_task(anext(scan))
        await asyncio.sleep(0.01)
        with pytest.raises(RuntimeError, match="already executing"):
            await anext(scan)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        scan = jird.scan_async(slow())
        assert await anext(scan) == 1
        await scan.aclose()
        assert closed == [True, True]
        with pytest.raises(StopAsyncIteration):
            await anext(scan)

    asyncio.run(run())
