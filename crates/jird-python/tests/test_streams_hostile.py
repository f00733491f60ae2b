"""`scan` of readers that fail, lie, are closed or shared, and what they hold."""

import asyncio
import gc
import gzip
import io
import itertools
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref

import pytest
from test_streams import TEXT, Odd, Reads, cut, failing, mapped, model, some_text

import jird


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
