"""A database that the program has open by `sqlite3` too: nothing of jird touches its locks, or is blind to them."""

import contextlib
import dataclasses
import itertools
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

import jird
from jird import _sqlite, _writer


@dataclasses.dataclass
class Task:
    id: int
    title: str


def tasks(first, count):
    return [Task(index, "by jird " + "y" * 200) for index in range(first, first + count)]


def made(path, mode):
    """A database with a thousand tasks, and a connection to it that writes pages before it commits."""
    jird.Sqlite(path).table(Task, key="id").insert(Task(index, "x" * 100) for index in range(1000))
    other = sqlite3.connect(path, isolation_level=None, timeout=0.05)
    assert other.execute(f"pragma journal_mode={mode}").fetchone() == (mode,)
    other.execute("pragma cache_size=10")
    return other


def locks(path):
    """The locks that this process has on a database and what is beside it."""
    inodes = {str(os.stat(name).st_ino) for name in (path, f"{path}-shm") if os.path.exists(name)}
    # lock: 1: POSIX ADVISORY WRITE 20922 fe:00:10012787 1073741825 1073741825
    found = [line.split()[2:] for line in descriptors() if line.startswith("lock:")]
    return sorted(lock for lock in found if lock[4].split(":")[2] in inodes)


def descriptors():
    """What Linux tells of each descriptor of this process. (`/proc/locks` may repeat or omit locks while others change.)"""
    for name in os.listdir("/proc/self/fdinfo"):
        # The folder's own is closed by now.
        with contextlib.suppress(FileNotFoundError), open(f"/proc/self/fdinfo/{name}") as lines:
            yield from lines


def checked(path):
    with contextlib.closing(sqlite3.connect(path)) as fresh:
        assert fresh.execute("pragma integrity_check").fetchall() == [("ok",)]
        kinds = "select count(*), sum(title like 'by sqlite3%'), sum(title like 'by jird%') from Task"
        return fresh.execute(kinds).fetchone()


MODES = ["delete", "truncate", "persist", "wal"]


@pytest.mark.parametrize("mode", MODES)
def test_an_insert_waits_for_a_writer_and_then_says_that_it_is_locked(tmp_path, mode):
    path = tmp_path / "tasks.db"
    other = made(path, mode)
    table = jird.Sqlite(path, timeout=0.2).table(Task)
    other.execute("begin immediate")
    other.execute("update Task set title = 'by sqlite3' || title")
    begun = time.monotonic()
    for insert in (lambda: table.insert(tasks(10_000, 2000)), lambda: table.insert_arrow(jird_stream())):
        with pytest.raises(sqlite3.OperationalError, match="database is locked"):
            insert()
    assert time.monotonic() - begun > 0.3
    other.execute("commit")
    other.close()
    assert checked(path) == (1000, 1000, 0)
    assert table.insert(tasks(10_000, 2000)) == 2000
    assert checked(path) == (3000, 1000, 2000)


def jird_stream():
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    return pyarrow.table({"id": range(10_000, 12_000), "title": ["by jird " + "y" * 200] * 2000})


@pytest.mark.parametrize("mode", MODES)
def test_an_insert_beside_a_reader(tmp_path, mode):
    path = tmp_path / "tasks.db"
    other = made(path, mode)
    table = jird.Sqlite(path, timeout=0.2).table(Task)
    for first, name in enumerate(["transaction", "cursor"], 1):
        (seen,) = other.execute("select count(*) from Task").fetchone()
        if name == "transaction":
            other.execute("begin")
        cursor = other.execute("select id from Task")
        next(cursor)
        if mode == "wal":
            assert table.insert(tasks(first * 10_000, 2000)) == 2000
        else:
            # As another connection of sqlite3: the reader keeps it from committing.
            with pytest.raises(sqlite3.OperationalError, match="database is locked"):
                table.insert(tasks(first * 10_000, 2000))
        assert len(cursor.fetchall()) == seen - 1
        if name == "transaction":
            other.execute("commit")
        assert table.insert(tasks(first * 100_000, 10)) == 10
    other.close()
    assert checked(path)[0] == (5020 if mode == "wal" else 1020)


def test_a_lock_that_is_given_back_is_waited_for(tmp_path):
    path = tmp_path / "tasks.db"
    made(path, "delete").close()
    table = jird.Sqlite(path).table(Task)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")
    thread = threading.Timer(0.3, lambda: other.execute("commit"))
    thread.start()
    assert table.insert(tasks(5000, 10)) == 10
    thread.join()
    other.close()
    assert checked(path) == (1010, 0, 10)


@pytest.mark.parametrize("mode", MODES)
def test_rows_may_come_from_the_same_database(tmp_path, mode):
    path = tmp_path / "tasks.db"
    other = made(path, mode)
    table = jird.Sqlite(path).table(Task)
    copies = ((number + 10_000, title) for number, title in other.execute("select id, title from Task"))
    assert table.insert(copies) == 1000

    def writing():
        yield Task(50_000, "a")
        for number in range(50_001, 60_000):
            yield Task(number, "by jird" + "y" * 200)
        other.execute("insert into Task values (7000, 'by sqlite3')")

    with pytest.raises(sqlite3.OperationalError, match="database is locked"):
        table.insert(writing())
    other.close()
    assert checked(path) == (2000, 0, 0)


def entries(path, table):
    """All that may be given a database, by its name."""
    folder = path.parent
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    columns = pyarrow.table({"id": [1_000_000], "title": ["a"]})
    lines = folder / "lines.ndjson"
    lines.write_text('{"id": 1}\nx\n')
    link = folder / "link.ndjson"
    link.symlink_to(f"{path}-shm")
    sqlite = lambda: jird.Sqlite(path, timeout=0.05)
    return {
        "Sqlite": sqlite,
        "table": lambda: sqlite().table(Task),
        "table, new": lambda: sqlite().table(Task, "Other"),
        "insert": lambda: table.insert(tasks(1_000_000, 5)),
        "insert of nothing": lambda: table.insert([]),
        "insert of what fails": lambda: table.insert([1]),
        "insert_arrow": lambda: table.insert_arrow(columns),
        "scan": lambda: list(jird.scan(path)),
        "scan again": lambda: list(jird.scan([path, path])),
        "scan into Arrow": lambda: jird.scan(path).to_arrow(),
        "scan of a part": lambda: list(jird.scan(path, range=(0, 100))),
        "scan of its memory": lambda: list(jird.scan(f"{path}-shm")),
        "scan of a link to it": lambda: list(jird.scan(link)),
        "scan of all that is there": lambda: [list(jird.scan(file)) for file in sorted(folder.iterdir())],
        "scan of a pattern": lambda: list(jird.scan(folder / "*.db*")),
        "quarantine": lambda: list(jird.scan(lines, on_error=f"quarantine={path}")),
        "more quarantine": lambda: list(jird.scan(lines, on_error=f"quarantine+={path}")),
        "convert from": lambda: jird.convert(path, folder / "out.ndjson"),
        "convert from, telling": lambda: jird.convert(path, folder / "out.csv", progress=print),
        "convert into": lambda: jird.convert(lines, path, table="Lines", append=True, on_error="skip"),
        "convert over": lambda: jird.convert(lines, folder / "out.json", on_error=f"quarantine={path}"),
        "open_store": lambda: jird.open_store(path),
        "open_store, not made": lambda: jird.open_store(path, create=False),
        "query": lambda: list(jird.query("select count(*) from stream", path)),
        "query into Arrow": lambda: jird.query("select count(*) from stream", path).to_arrow(),
        "query explained": lambda: jird.query("select count(*) from stream", path).explain(),
    }


# When programs are tried too: they wait for a lock for five seconds, and here there is none.
_PROGRAMS = [("wal", "reading")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("state", ["new", "reading", "writing"])
def test_no_call_takes_the_locks_of_another_connection(tmp_path, monkeypatch, mode, state):
    if not os.path.exists("/proc/self/fdinfo"):
        pytest.skip("skipped: /proc/self/fdinfo")
    if os.environ.get("JIRD_TEST_PROGRAM"):
        monkeypatch.setenv("JIRD_PROGRAM", os.environ["JIRD_TEST_PROGRAM"])
    path = tmp_path / "tasks.db"
    database = jird.Sqlite(path, timeout=0.05)
    if state == "new":
        # It has a length of 0 until the first commit.
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("begin exclusive")
        other.execute("create table Task(id integer primary key, title text)")
    else:
        other = made(path, mode)
        other.execute("begin" if state == "reading" else "begin immediate")
        other.execute("select count(*) from Task" if state == "reading" else "delete from Task").fetchall()
    before = locks(path)
    assert before
    calls = entries(path, _sqlite.Table(database, "Task", ["id", "title"], ["id", "title"]))
    for name, call in calls.items():
        if name.startswith(("convert", "query")) and (mode, state) not in _PROGRAMS:
            continue
        if "quarantine" in name and state == "new":
            # To fill an empty file was asked for.
            continue
        # Most are refused, because of what they are given or because it is locked.
        with contextlib.suppress(ValueError, OSError, TypeError, AttributeError, ImportError, sqlite3.DatabaseError):
            call()
        assert locks(path) == before, name
    if state == "reading":
        other.execute("select count(*) from Task").fetchall()
    other.execute("commit")
    assert locks(path) == [] or mode == "wal"
    other.close()
    assert checked(path)


def test_threads_insert_while_others_read_and_write(tmp_path):
    path = tmp_path / "tasks.db"
    made(path, "wal").close()
    failures, counts = [], []

    def insert(seed):
        table = jird.Sqlite(path, timeout=60).table(Task)
        for part in range(5):
            counts.append(table.insert(tasks(100_000 * (seed + 1) + 1000 * part, 500)))

    def update():
        with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=60)) as other:
            for _ in range(20):
                other.execute("begin immediate")
                other.execute("update Task set title = title || '.' where id < 1000")
                assert other.execute("select count(*) from Task").fetchone()[0] % 500 == 0
                other.execute("commit")

    def work(task, *arguments):
        try:
            task(*arguments)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=args) for args in [(insert, 1), (insert, 2), (update,), (update,)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sum(counts) == 5000
    assert checked(path) == (6000, 0, 5000)


@pytest.mark.parametrize("when", ["waiting", "sending", "asking"])
def test_ctrl_c_ends_an_insert_and_leaves_nothing(tmp_path, when):
    path = tmp_path / "tasks.db"
    other = made(path, "delete")
    table = jird.Sqlite(path, timeout=60).table(Task)
    if when == "waiting":
        other.execute("begin immediate")

    def rows():
        if when != "waiting":
            yield from tasks(10_000, 10_000)
        timer.start()
        if when == "asking":
            time.sleep(60)
        yield from itertools.chain.from_iterable(tasks(first, 1000) for first in itertools.count(100_000, 1000))

    timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        table.insert(rows())
    assert time.monotonic() - begun < 40
    if when == "waiting":
        other.execute("commit")
    # Nothing comes later, either.
    time.sleep(0.2)
    other.close()
    assert checked(path) == (1000, 0, 0)
    assert table.insert(tasks(10_000, 10)) == 10


def test_a_writer_that_is_killed_is_told_and_replaced(tmp_path):
    path = tmp_path / "tasks.db"
    made(path, "delete").close()
    table = jird.Sqlite(path).table(Task)
    [idle] = _writer._idle
    os.kill(idle._process.pid, signal.SIGKILL)
    idle._process.wait()
    assert table.insert(tasks(10_000, 10)) == 10
    [idle] = _writer._idle

    def rows():
        yield from tasks(20_000, 5000)
        os.kill(idle._process.pid, signal.SIGKILL)
        yield from tasks(30_000, 50_000)

    with pytest.raises(OSError, match="has ended with -9, and no row was inserted"):
        table.insert(rows())
    assert checked(path) == (1010, 0, 10)
    assert table.insert(tasks(20_000, 10)) == 10


def test_the_writer_ends_with_its_program(tmp_path):
    code = (
        "import sys, jird, dataclasses, os\n"
        "from jird import _writer\n"
        "T = dataclasses.make_dataclass('T', [('a', int)])\n"
        "jird.Sqlite(sys.argv[1]).table(T).insert([T(1)])\n"
        "[idle] = _writer._idle\n"
        "print(idle._process.pid, flush=True)\n"
        "if sys.argv[2] == 'killed': os.kill(os.getpid(), 9)\n"
    )
    for how in ("killed", "ended"):
        command = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "t.db"), how]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (-9 if how == "killed" else 0, "")
        deadline = time.monotonic() + 60
        while os.path.exists(f"/proc/{done.stdout.strip()}") and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not os.path.exists(f"/proc/{done.stdout.strip()}")


def test_the_writer_loads_nothing_of_the_current_folder(tmp_path, monkeypatch):
    for name in ("importlib", "os", "jird", "_jird", "json", "encodings"):
        (tmp_path / f"{name}.py").write_text("open('loaded', 'w')\nraise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    _writer._end_idle()
    table = jird.Sqlite("t.db").table(Task)
    monkeypatch.chdir("/")
    assert table.insert(tasks(1, 3)) == 3
    assert not (tmp_path / "loaded").exists() and (tmp_path / "t.db").exists()


def test_paths(tmp_path):
    for path in (":memory:", "", b":memory:"):
        with pytest.raises(ValueError, match="name a file"):
            jird.Sqlite(path)
    with pytest.raises(TypeError):
        jird.Sqlite(5)
    for timeout in (-1, float("nan"), float("inf"), 1e10):
        with pytest.raises(ValueError, match="timeout"):
            jird.Sqlite(tmp_path / "t.db", timeout=timeout)
    for path in (os.fsencode(tmp_path) + b"/\xff\x01 \xc3\xa9.db", str(tmp_path / "\u20ac?.db"), tmp_path / "file:x?mode=ro"):
        assert jird.Sqlite(path).table(Task).insert(tasks(1, 3)) == 3
        assert os.path.getsize(path)


def test_a_new_database_is_as_private_as_the_program_wants(tmp_path):
    before = os.umask(0o022)
    try:
        for mask in (0o022, 0o077, 0o027, 0o022):
            os.umask(mask)
            path = tmp_path / f"{mask}.db"
            assert jird.Sqlite(path).table(Task).insert(tasks(1, 3)) == 3
            assert path.stat().st_mode & 0o777 == 0o644 & ~mask
    finally:
        os.umask(before)


def test_a_database_that_was_replaced_is_not_written_to(tmp_path):
    path = tmp_path / "tasks.db"
    table = jird.Sqlite(path).table(Task)
    assert table.insert(tasks(1, 10)) == 10
    os.rename(path, tmp_path / "old.db")
    made(path, "wal").close()
    assert table.insert(tasks(10_000, 5)) == 5
    assert checked(path) == (1005, 0, 5)
    assert checked(tmp_path / "old.db") == (10, 0, 10)
