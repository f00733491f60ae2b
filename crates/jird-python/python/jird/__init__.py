"""Reads and writes JSON at the speed of memory, and builds only the values you ask for.

    loads, dumps     as in orjson, with integers of any size; loads(data, type=T) makes values of a type
    parse            a lazy Document: everything is checked, and values are made when they are asked for
"""

from ._jird import (
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
    OPT_SERIALIZE_UUID,
    OPT_SORT_KEYS,
    OPT_STRICT_INTEGER,
    OPT_UTC_Z,
    Document,
    Fragment,
    __version__,
    dumps,
    kernel,
    loads,
    parse,
)
from .errors import JSONDecodeError, JSONEncodeError

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
    "OPT_SERIALIZE_UUID",
    "OPT_SORT_KEYS",
    "OPT_STRICT_INTEGER",
    "OPT_UTC_Z",
    "Document",
    "Fragment",
    "JSONDecodeError",
    "JSONEncodeError",
    "Key",
    "__version__",
    "dumps",
    "kernel",
    "loads",
    "parse",
]


def __getattr__(name):
    # Loaded when it is asked for: the module that it is in needs typing, decimal and others.
    if name == "json":
        import importlib

        return importlib.import_module("jird.json")
    if name == "Key":
        from ._types import Key

        globals()[name] = Key
        return Key
    raise AttributeError(f"module 'jird' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
