"""SQLite databases as targets."""

import datetime
import decimal
import enum
import os
import typing
import uuid

from . import _jird, _types

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
    """An SQLite database: `jird.Sqlite("tasks.db").table(Task).insert(tasks)`."""

    def __init__(self, path):
        self._database = _jird.Database(os.fspath(path))

    def table(self, type, name=None, *, key=()):
        """The table for a class, with a column for each of its fields; made if the database has none of this name.

        type    a dataclass, TypedDict, NamedTuple, Struct or other class with annotations, as `loads` takes it
        name    of the table; without it that of the class
        key     the columns of the primary key: one integer column becomes the row number

        int and bool are INTEGER, float is REAL, str, dates, times and UUID are TEXT, bytes are BLOB; lists, dicts and
        classes are TEXT with JSON. A field that may be None is a column that may be NULL.
        """
        hints = _types._hints(type, type, {})
        fields = getattr(type, "__struct_fields__", None) or getattr(type, "_fields", None) or list(hints)
        columns = []
        for field in fields:
            wanted = hints.get(field, typing.Any)
            if "ClassVar" in _types._wrappers(wanted):
                continue
            column = next((key.name for key in _types._metadata(wanted) if isinstance(key, _types.Key)), field)
            storage, may_be_null = _stored(wanted)
            columns.append((column, field, storage, may_be_null))
        if not columns:
            raise TypeError(f"{type!r} has no fields")
        key = [key] if isinstance(key, str) else list(key)
        return self._database.table(type.__name__ if name is None else name, columns, key)


def _stored(wanted):
    """The storage of a type, and whether it may be None."""
    origin = typing.get_origin(wanted)
    if origin is typing.Annotated:
        return _stored(wanted.__origin__)
    if origin in _types._WRAPPERS:
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
