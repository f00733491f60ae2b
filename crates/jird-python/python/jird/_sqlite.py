"""SQLite databases as targets."""

import datetime
import decimal
import enum
import os
import sys
import threading
import typing
import uuid

from . import _annotations, _jird, _types
from ._rename import RENAMED
from ._writer import Writer

__all__ = ["Sqlite"]

_STORED = {
    bool: "integer",
    int: "integer",
    float: "real",
    str: "text",
    bytes: "blob",
    bytearray: "blob",
    datetime.datetime: "text",
    datetime.date: "text",
    datetime.time: "text",
    uuid.UUID: "text",
}


class Sqlite:
    """An SQLite database: `jird.Sqlite("tasks.db").table(Task).insert(tasks)`.

    A separate process opens the database for each call. So your program may have it open through any other library,
    whose locks are respected: a call that waits for one longer than `timeout` seconds raises sqlite3.OperationalError,
    "database is locked". It is a NotImplementedError on Windows, where jird.convert writes databases.
    """

    def __init__(self, path, *, timeout=5.0):
        if sys.platform == "win32":
            raise NotImplementedError(
                "jird.Sqlite does not work on Windows, where the process that writes cannot be reached over a socket; "
                "write the rows as lines, with jird.Writer, and make the database of them with jird.convert"
            )
        path = os.fsencode(path)
        if path in (b"", b":memory:"):
            raise ValueError("a database in memory cannot be shared; name a file")
        if not 0 <= timeout <= 2e6:
            raise ValueError(f"timeout is a number of seconds, up to two million, not {timeout!r}")
        # Each byte as a character. The other process may be in another folder.
        self._asked = {"path": os.path.abspath(path).decode("latin-1"), "patience": int(timeout * 1000)}
        self._turns = _Turns()
        self._ask({})

    def _ask(self, request):
        with self._turns, Writer.take() as writer:
            writer.ask({**self._asked, **request})

    def table(self, type, name=None, *, key=()):
        """The table for a class, with a column for each of its fields; created if the database has no table of this name.

        type    a dataclass, TypedDict, NamedTuple, Struct or other class with annotations, as `loads` takes it. Columns
                have the names of the fields, or the keys that jird.Key or jird.rename give them
        name    of the table; default: that of the class
        key     the columns of the primary key: one integer column becomes the row number

        int and bool are INTEGER, float is REAL, str, dates, times and UUID are TEXT, bytes are BLOB; lists, dicts and
        classes are TEXT with JSON. A field that may be None is a column that may be NULL.
        """
        hints = _annotations.hints_of(type, type, {})
        fields = getattr(type, "__struct_fields__", None) or getattr(type, "_fields", None) or list(hints)
        columns, names = [], []
        for field in fields:
            wanted = hints.get(field, typing.Any)
            if "ClassVar" in _annotations.wrappers(wanted):
                continue
            named = getattr(type, RENAMED, {}).get(field, field)
            column = next((key.name for key in _annotations.metadata(wanted) if isinstance(key, _types.Key)), named)
            columns.append((column, *_stored(wanted)))
            names.append(sys.intern(field))
        if not columns:
            raise TypeError(f"{type!r} has no fields")
        key = [key] if isinstance(key, str) else list(key)
        name = type.__name__ if name is None else name
        self._ask({"table": name, "columns": columns, "key": key})
        return Table(self, name, [column for column, *_ in columns], names)


class Table:
    """A table of a database, and a class whose instances are its rows."""

    __slots__ = ("_columns", "_database", "_name", "_names")

    def __init__(self, database, name, columns, names):
        self._database, self._name, self._columns, self._names = database, name, columns, names

    @property
    def name(self):
        """The name of the table."""
        return self._name

    @property
    def columns(self):
        """The names of the columns."""
        return list(self._columns)

    def insert(self, objects, /):
        """Inserts objects, in one transaction: all of them or none. Returns how many there were.

        An object is an instance with the attributes of the class, a dict or a tuple. Values for which
        SQLite has no type are written as `dumps` writes them.
        """
        objects = iter(objects)
        return self._insert(_frames(objects, self._names), {"columns": self._columns})

    def insert_arrow(self, stream, /):
        """Inserts the rows of an Arrow stream (an object with `__arrow_c_stream__`), in one transaction. Returns how many
        there were.
        """
        return self._insert(_jird.Frames(stream, self._columns), {})

    def _insert(self, frames, about):
        database = self._database
        with database._turns, Writer.take() as writer:
            writer.ask({**database._asked, "insert": self._name, **about})
            for frame in frames:
                writer.send(frame)
            return writer.commit()


def _frames(objects, names):
    is_over = False
    while not is_over:
        frame, is_over = _jird.frame_of(objects, names)
        yield frame


class _Turns:
    """Threads take turns. One that comes again before its turn is over would wait for itself."""

    def __init__(self):
        self._of, self._lock, self._owner = os.getpid(), threading.Lock(), None

    def __enter__(self):
        if self._of != os.getpid():
            # In a fork, the threads that had or awaited a turn are gone.
            self.__init__()
        me = threading.get_ident()
        if self._owner == me:
            raise ValueError("the database is being written to by what asks for it")
        self._lock.acquire()
        self._owner = me

    def __exit__(self, *_):
        if self._of == os.getpid():
            self._owner = None
            self._lock.release()


def _stored(wanted):
    """The storage of a type, and whether it may be None."""
    origin = typing.get_origin(wanted)
    if origin is typing.Annotated:
        return _stored(wanted.__origin__)
    if origin in _annotations.WRAPPERS:
        return _stored(typing.get_args(wanted)[0])
    if hasattr(wanted, "__supertype__"):
        return _stored(wanted.__supertype__)
    if wanted is None or wanted is type(None) or wanted is typing.Any or wanted is object or wanted is decimal.Decimal:
        return "any", True
    if origin is typing.Literal or isinstance(wanted, enum.EnumMeta):
        members = typing.get_args(wanted) if origin is typing.Literal else list(wanted)
        values = [member.value if isinstance(member, enum.Enum) else member for member in members]
        return _joined([_stored(type(value)) for value in values])
    if origin is not None and (origin is typing.Union or origin.__name__ == "UnionType"):
        return _joined([_stored(arg) for arg in typing.get_args(wanted)])
    if wanted in _STORED:
        return _STORED[wanted], False
    return "text", False


def _joined(stored):
    kinds = {kind for kind, _ in stored if kind != "any"}
    may_be_null = any(null for _, null in stored)
    return (kinds.pop() if len(kinds) == 1 else "any"), may_be_null
