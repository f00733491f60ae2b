"""`Sqlite`: tables made for classes, filled with objects and with columns of Arrow."""

import dataclasses
import datetime
import decimal
import enum
import gc
import sqlite3
import subprocess
import sys
import threading
import time
import typing
import uuid

import pytest

import jird


class Kind(enum.Enum):
    CHORE = "chore"
    WORK = "work"


@dataclasses.dataclass
class Task:
    id: int
    title: str
    done: bool
    due: typing.Optional[datetime.date] = None
    effort: typing.Optional[float] = None
    tags: list[str] = dataclasses.field(default_factory=list)
    kind: Kind = Kind.WORK
    data: typing.Optional[bytes] = None
    any: typing.Any = None


def rows(path, sql="select * from Task"):
    with sqlite3.connect(path) as connection:
        return connection.execute(sql).fetchall()


def test_a_table_is_made_for_a_class(tmp_path):
    path = tmp_path / "tasks.db"
    table = jird.Sqlite(path).table(Task, key="id")
    assert table.name == "Task" and table.columns[:3] == ["id", "title", "done"]
    made = rows(path, "select sql from sqlite_schema where name = 'Task'")[0][0]
    for part in [
        '"id" INTEGER PRIMARY KEY NOT NULL',
        '"title" TEXT NOT NULL',
        '"done" INTEGER NOT NULL',
        '"due" TEXT,',
        '"effort" REAL,',
        '"kind" TEXT NOT NULL',
        '"data" BLOB,',
    ]:
        assert part in made, made
    tasks = [
        Task(1, "é\0", True),
        Task(2, "b", False, datetime.date(2024, 5, 1), 1.5, ["x"], Kind.CHORE, b"\xff", {"a": 1}),
        Task(-3, "", True, any=2**60),
    ]
    assert table.insert(tasks) == 3
    assert table.insert(iter([])) == 0
    assert rows(path, "select * from Task order by id") == [
        (-3, "", 1, None, None, "[]", "work", None, 2**60),
        (1, "é\0", 1, None, None, "[]", "work", None, None),
        (2, "b", 0, "2024-05-01", 1.5, '["x"]', "chore", b"\xff", '{"a":1}'),
    ]
    assert jird.Sqlite(path).table(Task).insert(Task(index, "t", False) for index in range(10, 20000)) == 19990
    assert rows(path, "select count(*), sum(id) from Task")[0][0] == 19993


def test_other_classes_and_rows(tmp_path):
    path = tmp_path / "t.db"

    class Point(typing.NamedTuple):
        x: int
        y: typing.Union[int, float]

    class Entry(typing.TypedDict):
        at: typing.Annotated[uuid.UUID, jird.Key("@at")]

    class Slotted:
        __slots__ = ("a",)
        a: "typing.Literal['x', 'y']"

    table = jird.Sqlite(path).table(Point, "points")
    assert table.insert([Point(1, 2.5), (3, 4), {"y": 5, "x": 6}]) == 3
    assert rows(path, "select * from points") == [(1, 2.5), (3, 4), (6, 5)]
    slotted = Slotted()
    slotted.a = "x"
    assert jird.Sqlite(path).table(Slotted).insert([slotted]) == 1
    assert jird.Sqlite(path).table(Entry).columns == ["@at"]
    renamed = jird.rename("camel")(dataclasses.make_dataclass("Renamed", [("unit_price", float), ("name", str)]))
    prices = jird.Sqlite(path).table(renamed)
    assert prices.columns == ["unitPrice", "name"] and prices.insert([renamed(1.5, "a")]) == 1
    assert rows(path, "select unitPrice, name from Renamed") == [(1.5, "a")]
    for row in [(1,), {"x": 1, "z": 2}, {"x": 1}, object(), (2**64, 1), ("\ud800", 1)]:
        with pytest.raises((ValueError, AttributeError, sqlite3.DatabaseError)):
            table.insert([(7, 8), row])
    with pytest.raises(ValueError, match="the table has no column 'z'|the table has no column \"z\""):
        table.insert([{"x": 1, "y": 2, "z": 3}])
    assert len(rows(path, "select * from points")) == 3
    # A column of integers keeps a text, as it does for sqlite3, and would turn one that is a number into that number.
    assert table.insert([("text", 1)]) == 1
    assert rows(path, "select x from points where y = 1") == [("text",)]
    with pytest.raises(sqlite3.DatabaseError, match='the text "7" would change'):
        table.insert([("7", 1)])
    with pytest.raises(TypeError):
        jird.Sqlite(path).table(dataclasses.make_dataclass("Empty", []))
    with pytest.raises(TypeError):
        table.insert(5)


def test_all_rows_or_none(tmp_path):
    path = tmp_path / "tasks.db"
    table = jird.Sqlite(path).table(Task, key=["id"])
    table.insert([Task(1, "a", True)])
    with pytest.raises(sqlite3.DatabaseError, match="(?i)unique"):
        table.insert(Task(index, "b", True) for index in range(20000, 0, -1))

    def failing():
        for index in range(2, 30000):
            yield Task(index, "c", True)
        raise KeyError("no")

    with pytest.raises(KeyError):
        table.insert(failing())

    class Lying(list):
        def __len__(self):
            return 10**15

        def __length_hint__(self):
            return 10**15

    class Attributes:
        def __getattr__(self, name):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        table.insert([Task(5, "x", True), Attributes()])
    assert rows(path, "select count(*) from Task") == [(1,)]
    assert table.insert(Lying([Task(2, "b", True)])) == 1


def test_a_table_that_is_something_else(tmp_path):
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table Task (id integer primary key, title text)")
        connection.execute("create view Seen as select 1 as a")
    with pytest.raises(sqlite3.DatabaseError, match="no column"):
        jird.Sqlite(path).table(Task).insert([Task(1, "a", True)])
    (tmp_path / "text.db").write_text("this is no database, but it is long enough to be looked at " * 20)
    with pytest.raises(sqlite3.DatabaseError):
        jird.Sqlite(tmp_path / "text.db").table(Task)
    with pytest.raises(sqlite3.DatabaseError):
        jird.Sqlite(tmp_path / "none" / "t.db")


def test_columns_of_arrow(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    path = tmp_path / "t.db"
    table = jird.Sqlite(path).table(Task)
    columns = pyarrow.table({"id": [1, 2], "title": ["a", None], "done": [True, False], "effort": [None, 2.5]})
    with pytest.raises(sqlite3.DatabaseError, match="(?i)null"):
        table.insert_arrow(columns)
    assert rows(path) == []
    other = jird.Sqlite(path).table(dataclasses.make_dataclass("Other", [("a", typing.Any), ("b", typing.Any)]))
    numbers = (pyarrow.int8(), pyarrow.uint16(), pyarrow.int64(), pyarrow.float32())
    texts = (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), pyarrow.binary())
    values = [pyarrow.array([1, None, 3], kind) for kind in numbers]
    values += [pyarrow.array(["x", None, "é"], kind) for kind in texts]
    values += [pyarrow.array([True, None, False]), pyarrow.nulls(3)]
    for value in values:
        assert other.insert_arrow(pyarrow.table({"b": value, "a": value})) == 3
    found = rows(path, "select a, b from Other")
    assert found[:3] == [(1, 1), (None, None), (3, 3)] and len(found) == 30
    assert (b"\xc3\xa9", b"\xc3\xa9") in found and ("é", "é") in found
    with pytest.raises(TypeError, match="SQLite has not"):
        other.insert_arrow(pyarrow.table({"a": [[1]]}))
    with pytest.raises(ValueError, match="no column"):
        other.insert_arrow(pyarrow.table({"c": [1]}))
    with pytest.raises(TypeError, match="no stream of Arrow"):
        other.insert_arrow([1])

    def batches():
        yield pyarrow.record_batch({"a": [1] * 5000, "b": ["x"] * 5000})
        raise RuntimeError("the stream has failed")

    schema = pyarrow.schema([("a", pyarrow.int64()), ("b", pyarrow.string())])
    with pytest.raises(Exception, match="the stream has failed"):
        other.insert_arrow(pyarrow.RecordBatchReader.from_batches(schema, batches()))
    assert len(rows(path, "select a from Other")) == 30
    lines = tmp_path / "events.ndjson"
    lines.write_text('{"a": 1, "b": "x"}\n' * 1000)
    assert other.insert_arrow(jird.scan(lines, columns=["a", "b"])) == 1000


def test_decimals_are_numbers_where_sqlite_has_them(tmp_path):
    @dataclasses.dataclass
    class Price:
        id: int
        price: decimal.Decimal

    path = tmp_path / "t.db"
    table = jird.Sqlite(path).table(Price)
    texts = ["1.10", "7", "-0.5", "1E+2", "123456789012345678901234567890.1", "0.1000000000000000055511151231257827"]
    assert table.insert(Price(index, decimal.Decimal(text)) for index, text in enumerate(texts)) == 6
    found = [price for (price,) in rows(path, "select price from Price order by id")]
    assert found[:4] == [1.1, 7, -0.5, 100.0] and found[4:] == texts[4:]
    for text in ("NaN", "Infinity", "-Infinity", "sNaN"):
        with pytest.raises(ValueError, match="Decimal that SQLite has no number for"):
            table.insert([Price(9, decimal.Decimal(text))])
    assert len(rows(path, "select * from Price")) == 6


def test_failures_have_the_classes_of_sqlite3(tmp_path):
    path = tmp_path / "t.db"
    table = jird.Sqlite(path).table(Task, key="id")
    for row, kind in [(Task(1, None, True), "IntegrityError"), (Task("7", "a", True), "DataError")]:
        with pytest.raises(getattr(sqlite3, kind)):
            table.insert([row])
    with pytest.raises(sqlite3.OperationalError):
        jird.Sqlite(tmp_path / "none" / "t.db")


def test_threads_take_turns(tmp_path):
    table = jird.Sqlite(tmp_path / "t.db").table(Task)
    failures = []

    def work(seed):
        try:
            assert table.insert(Task(seed * 10000 + index, "t", True) for index in range(5000)) == 5000
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert rows(tmp_path / "t.db", "select count(distinct id) from Task") == [(20000,)]


def test_other_threads_go_on_while_columns_are_written(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    table = jird.Sqlite(tmp_path / "t.db").table(dataclasses.make_dataclass("One", [("a", int)]))
    columns = pyarrow.table({"a": range(1_000_000)})
    stamps, over = [], threading.Event()

    def tick():
        while not over.wait(0.001):
            stamps.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    table.insert_arrow(columns)
    end = time.perf_counter()
    over.set()
    thread.join()
    third = (end - start) / 3
    assert any(start + third < stamp < end - third for stamp in stamps)


def test_what_is_inserted_may_not_insert(tmp_path):
    database = jird.Sqlite(tmp_path / "t.db")
    table = database.table(Task)

    def nested(ask):
        yield Task(1, "a", True)
        with pytest.raises(ValueError, match="by what asks for it"):
            ask()

    assert table.insert(nested(lambda: table.insert([Task(2, "b", True)]))) == 1
    assert table.insert(nested(lambda: database.table(Task, "other"))) == 1
    assert table.insert([Task(3, "c", True)]) == 1


def test_it_is_refused_on_windows_and_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(NotImplementedError, match=r"jird\.Sqlite does not work on Windows.* jird\.Writer.* jird\.convert"):
        jird.Sqlite(tmp_path / "tasks.db")
    monkeypatch.undo()
    # What it says to do.
    with jird.Writer(tmp_path / "rows.ndjson") as lines:
        lines.write({"id": 1, "title": "é"})
    jird.convert(tmp_path / "rows.ndjson", tmp_path / "tasks.db", table="Task")
    assert rows(tmp_path / "tasks.db") == [(1, "é")]


def test_the_writer_is_imported_where_processes_do_not_fork():
    # What Windows has not.
    code = (
        "import os, socket, sys; sys.platform = 'win32'\n"
        "del os.register_at_fork, os.fork, os.geteuid, os.getegid, socket.socketpair, socket.MSG_NOSIGNAL, socket.MSG_DONTWAIT\n"
        "import jird\n"
        "try: jird.Sqlite('t.db')\n"
        "except NotImplementedError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith("jird.Sqlite does not work on Windows"), done.stderr


def test_inserts_leak_nothing(tmp_path):
    table = jird.Sqlite(tmp_path / "t.db").table(Task)
    tasks = [Task(100000 + index, "x" * 60, True, datetime.date(2024, 1, 1), 0.5, ["y" * 60]) for index in range(50)]

    def run(times):
        for _ in range(times):
            table.insert(tasks)
            with pytest.raises(AttributeError):
                table.insert([*tasks, object()])
        gc.collect()

    run(10)
    blocks, count = sys.getallocatedblocks(), sys.getrefcount(tasks[0])
    run(60)
    more, after = sys.getallocatedblocks() - blocks, sys.getrefcount(tasks[0])
    assert more < 200
    assert after == count
