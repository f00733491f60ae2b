"""Reads and writes JSON at the speed of memory, and builds only the values you ask for.

    loads, dumps     as in orjson, with integers of any size; loads(data, type=T) makes values of a type
    Decoder, Encoder the same for many texts of one type, or with the same options
    load, dump       files that are open; Writer writes lines of JSON, one by one
    scan             lines of files and streams as dicts, as values of a type, or as columns of Arrow
    scan_async       lines that arrive in an event loop
    convert          files to other formats: CSV, SQLite, Arrow, and Parquet with jird[query]
    Sqlite           tables made for classes, filled with objects or columns
    query            SQL over files and event stores, with jird[query]
    open_store       event stores, which take events and survive crashes
    parse            a lazy Document: everything is checked, and values are made when they are asked for
    Partial          a text that is still arriving, and its value so far
"""

import sys as _sys

if "free-threading" in _sys.version:
    raise ImportError("jird needs a Python with its global lock: free-threaded ones are not supported")

from ._jird import (  # noqa: E402
    OPT_APPEND_NEWLINE,
    OPT_INDENT_2,
    OPT_NAIVE_UTC,
    OPT_NON_STR_KEYS,
    OPT_OMIT_MICROSECONDS,
    OPT_PASSTHROUGH_DATACLASS,
    OPT_PASSTHROUGH_DATETIME,
    OPT_PASSTHROUGH_SUBCLASS,
    OPT_SERIALIZE_DATACLASS,
    OPT_SERIALIZE_NUMPY,
    OPT_SERIALIZE_TYPES,
    OPT_SERIALIZE_UUID,
    OPT_SORT_KEYS,
    OPT_STRICT_INTEGER,
    OPT_UTC_Z,
    Decoder,
    Document,
    Encoder,
    Fragment,
    Partial,
    __version__,
    dumps,
    kernel,
    loads,
    parse,
)
from .errors import JSONDecodeError, JSONEncodeError, QueryError

__all__ = [
    "OPT_APPEND_NEWLINE",
    "OPT_INDENT_2",
    "OPT_NAIVE_UTC",
    "OPT_NON_STR_KEYS",
    "OPT_OMIT_MICROSECONDS",
    "OPT_PASSTHROUGH_DATACLASS",
    "OPT_PASSTHROUGH_DATETIME",
    "OPT_PASSTHROUGH_SUBCLASS",
    "OPT_SERIALIZE_DATACLASS",
    "OPT_SERIALIZE_NUMPY",
    "OPT_SERIALIZE_TYPES",
    "OPT_SERIALIZE_UUID",
    "OPT_SORT_KEYS",
    "OPT_STRICT_INTEGER",
    "OPT_UTC_Z",
    "Decoder",
    "Document",
    "Encoder",
    "Fragment",
    "JSONDecodeError",
    "JSONEncodeError",
    "Key",
    "Partial",
    "Query",
    "QueryError",
    "Scan",
    "Sqlite",
    "Store",
    "Writer",
    "__version__",
    "convert",
    "dump",
    "dumps",
    "kernel",
    "load",
    "loads",
    "open_store",
    "parse",
    "query",
    "rename",
    "scan",
    "scan_async",
]


# Loaded when they are asked for, because the modules that they are in need typing, decimal and others.
_LATER = {
    "Key": "_types",
    "Query": "_query",
    "Scan": "_lines",
    "Sqlite": "_sqlite",
    "Store": "_store",
    "Writer": "_files",
    "convert": "_lines",
    "dump": "_files",
    "load": "_files",
    "open_store": "_store",
    "query": "_query",
    "rename": "_rename",
    "scan": "_lines",
    "scan_async": "_async",
}


def __getattr__(name):
    import importlib

    if name == "json":
        return importlib.import_module("jird.json")
    if name in _LATER:
        found = getattr(importlib.import_module(f"jird.{_LATER[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'jird' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
