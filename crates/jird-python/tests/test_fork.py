"""A child of `fork` that goes on with what its parent began gets an exception at once, and disturbs nothing."""

import ctypes
import dataclasses
import gc
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

import jird

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def in_child(work, fork=os.fork):
    """What `work` says, or the exception that it raises, in a child that is ended after a minute."""
    reading, writing = os.pipe()
    child = fork()
    if child == 0:
        signal.alarm(60)
        try:
            told = repr(work())
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(writing, told.encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as answer:
        told = answer.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the child was ended by {status}"
    return told


FORK = "RuntimeError: the scan belongs to the process that began it, and this process is a fork of that one"
COUNT = 400_000


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("fork") / "lines.ndjson"
    path.write_text("".join(f'{{"a": {index}, "b": "{"x" * 30}"}}\n' for index in range(COUNT)))
    return path


@dataclasses.dataclass
class Row:
    a: int


@pytest.mark.parametrize("options", [{}, {"columns": ["a"]}, {"type": Row}, {"threads": 1}, {"where": "a > 1"}])
def test_a_live_scan(path, options):
    scan = jird.scan(path, **options)
    rows = iter(scan)
    next(rows)
    assert in_child(lambda: next(rows)).startswith(FORK)
    assert in_child(lambda: list(rows)).startswith(FORK)
    # Begun again there, it works; and so does its end, in any order.
    wanted = COUNT - (2 if "where" in options else 0)
    assert in_child(lambda: sum(1 for _ in scan)) == str(wanted)

    def drop():
        nonlocal rows
        del rows
        gc.collect()

    assert in_child(drop) == "None"
    assert sum(1 for _ in rows) == wanted - 1


def test_a_scan_that_was_begun_and_not_read(path):
    rows, told = iter(jird.scan(path)), []
    assert in_child(lambda: next(rows)).startswith(FORK)
    telling = iter(jird.scan(path, progress=lambda *done: told.append(done)))
    assert in_child(lambda: next(telling)).startswith(FORK)
    assert sum(1 for _ in rows) == sum(1 for _ in telling) == COUNT and told


def test_a_fork_that_python_does_not_know_of(path):
    fork = ctypes.PyDLL(None).fork
    rows = iter(jird.scan(path))
    next(rows)
    # What was read before the fork may still come.
    assert in_child(lambda: sum(1 for _ in rows), fork).startswith(FORK)
    assert sum(1 for _ in rows) == COUNT - 1


def test_a_scan_that_another_thread_reads(path):
    rows = iter(jird.scan(path))
    over = threading.Event()

    def read():
        for _ in rows:
            if over.is_set():
                return

    thread = threading.Thread(target=read)
    thread.start()
    found = [in_child(lambda: next(rows)) for _ in range(5)]
    over.set()
    thread.join()
    assert all(told.startswith(FORK) for told in found)


def test_children_of_children(path):
    def child():
        rows = iter(jird.scan(path))
        next(rows)
        return in_child(lambda: next(rows)), sum(1 for _ in rows)

    assert FORK in in_child(child) and str(COUNT - 1) in in_child(child)


def _next(_):
    try:
        return next(LIVE)
    except RuntimeError as error:
        return str(error)


def test_multiprocessing(path):
    global LIVE
    LIVE = iter(jird.scan(path))
    next(LIVE)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        told = pool.map_async(_next, range(4)).get(timeout=30)
    assert all("is a fork of that one" in words for words in told)
    assert sum(1 for _ in LIVE) == COUNT - 1


def test_a_live_stream_of_arrow(path):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    reader = pyarrow.RecordBatchReader.from_stream(jird.scan(path))
    rows = reader.read_next_batch().num_rows
    assert "the stream belongs to the process that began it" in in_child(reader.read_next_batch)

    def drop():
        reader.close()

    assert in_child(drop) == "None"
    assert rows + sum(batch.num_rows for batch in reader) == COUNT


def test_a_store(tmp_path):
    folder = tmp_path / "store"
    store = jird.open_store(folder, sync="interval")
    store.append({"a": 1})
    words = "RuntimeError: the store belongs to the process that began it"
    calls = [
        lambda: store.append({"a": 2}),
        lambda: store.extend([{"a": 2}]),
        lambda: store.append_lines(b'{"a":2}'),
        store.commit,
        store.close,
    ]
    for call in calls:
        assert in_child(call).startswith(words)

    def drop():
        nonlocal store
        path = str(store.path)
        del store
        gc.collect()
        return path

    assert in_child(drop) == repr(str(folder))
    # The parent has its lock, and goes on.
    other = jird.open_store(folder)
    with pytest.raises(BlockingIOError):
        other.append({"a": 3})
    store.append({"a": 4})
    store.commit()
    store.close()
    other.append({"a": 5})
    other.close()
    assert sum(len(open(log, "rb").read()) > 0 for log in folder.rglob("*") if log.is_file())


def test_a_store_in_a_child_that_ends_as_python_ends(tmp_path):
    code = (
        "import jird, os, sys\n"
        "with jird.open_store(sys.argv[1]) as store:\n"
        "    store.append({'a': 1})\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        sys.exit(7)\n"
        "    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "    try:\n"
        "        jird.open_store(sys.argv[1]).append({'a': 2})\n"
        "    except BlockingIOError:\n"
        "        print('locked')\n"
        "    store.append({'a': 3})\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "s"], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("locked\n", "", 0)


def test_a_query(tmp_path, monkeypatch):
    program = tmp_path / "jird"
    program.write_text(
        f"#!{sys.executable} -S\n"
        "import sys, time\n"
        "for index in range(200):\n"
        "    print('{\"a\": %d, \"b\": \"%s\"}' % (index, 'x' * 9000), flush=True)\n"
        "    time.sleep(0.005)\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("JIRD_PROGRAM", str(program))
    query = jird.query("select 1 from stream")
    rows = iter(query)
    next(rows)
    assert in_child(lambda: next(rows)).startswith(FORK)

    def drop():
        nonlocal rows
        del rows
        gc.collect()
        return query.notes

    # It does not end its parent's program.
    assert in_child(drop) == "[]"
    assert sum(1 for _ in rows) == 199
    assert in_child(lambda: sum(1 for _ in query)) == "200"


def count(path):
    with sqlite3.connect(path) as connection:
        return connection.execute("select count(*) from Row").fetchone()[0]


def test_tables_are_used_by_parent_and_child(tmp_path):
    path = tmp_path / "t.db"
    table = jird.Sqlite(path).table(Row)
    assert table.insert([Row(1)]) == 1
    assert in_child(lambda: table.insert([Row(2), Row(3)])) == "2"
    assert table.insert([Row(4)]) == 1
    assert count(path) == 4


def test_an_insert_that_forks(tmp_path):
    path = tmp_path / "t.db"
    table = jird.Sqlite(path).table(Row)
    told = []

    def rows():
        yield from (Row(index) for index in range(10_000))
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            # It goes on as if it were the parent.
            signal.alarm(20)
            told.append(writing)
            yield from (Row(index) for index in range(10_000))
            os._exit(3)
        os.close(writing)
        with open(reading) as answer:
            told.append(answer.read())
        os.waitpid(child, 0)
        yield from (Row(index) for index in range(10_000))

    try:
        inserted = table.insert(rows())
    except BaseException as error:
        if not told or isinstance(told[0], str):
            raise
        os.write(told[0], f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    assert inserted == 20_000
    assert told[0].startswith("RuntimeError: the insert belongs to")
    assert count(path) == 20_000


def test_a_fork_while_another_thread_inserts(tmp_path):
    path = tmp_path / "t.db"
    table = jird.Sqlite(path, timeout=30).table(Row)
    inside, over = threading.Event(), threading.Event()

    def rows():
        yield Row(1)
        inside.set()
        over.wait(30)

    thread = threading.Thread(target=lambda: table.insert(rows()))
    thread.start()
    inside.wait(30)
    # The thread is not there, and its turn is over.
    assert in_child(lambda: table.insert([Row(2)])) == "1"
    over.set()
    thread.join()
    assert count(path) == 2


@pytest.mark.parametrize("when", ["idle", "inserting"])
def test_the_writer_ends_with_its_program_although_a_child_of_that_lives(tmp_path, when):
    code = (
        "import jird, os, sys, time, dataclasses\n"
        "from jird import _writer\n"
        "Row = dataclasses.make_dataclass('Row', [('a', int)])\n"
        "table = jird.Sqlite(sys.argv[1]).table(Row)\n"
        "print(_writer._idle[0]._process.pid, flush=True)\n"
        "def end():\n"
        "    if os.fork() == 0:\n"
        "        sys.stdin.read()\n"
        "    os.kill(os.getpid(), 9)\n"
        "def rows():\n"
        "    yield from (Row(index) for index in range(20000))\n"
        "    end()\n"
        "end() if sys.argv[2] == 'idle' else table.insert(rows())\n"
    )
    path = tmp_path / "t.db"
    command = [sys.executable, "-c", code, path, when]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        writer = process.stdout.readline().strip()
        process.wait()
        deadline = time.monotonic() + 60
        while os.path.exists(f"/proc/{writer}") and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not os.path.exists(f"/proc/{writer}")
        # It holds no lock.
        assert jird.Sqlite(path, timeout=5).table(Row).insert([Row(1)]) == 1
    assert count(path) == 1
