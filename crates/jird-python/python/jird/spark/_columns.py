"""Spark's types → the columns that a scan makes, and what is made of them after it.

A column of a scan is an array of Arrow that is what Spark wants, or is converted to that: numbers to narrower ones,
texts to times, and the JSON text of nested values to structs, arrays and maps.
"""

import dataclasses
import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from . import _values

__all__ = ["MARK", "Column", "columns", "field"]

MARK = "jird"
"""The metadata of a field whose type was found in the records: what they have there."""

FILE, OFFSET = "_file", "_offset"
"""Columns that no record has: its file, and where it begins there."""


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a schema."""

    name: str
    type: pa.DataType
    path: str
    """As in conditions; empty for columns that no record has."""
    scanned: str
    """The type of `jird.scan`."""
    compares: str
    """How its values are compared: bool, int, double, decimal, text, any, or not at all."""
    convert: Callable | None
    """An array of the scan → an array for Spark. It raises ValueError if a value does not fit."""
    words: str
    """The type, for messages."""


def columns(schema, options):
    """The columns of a schema."""
    unknown = options.as_json - set(schema.fieldNames())
    if unknown:
        raise ValueError(f"asJson: there is no column {sorted(unknown)[0]!r}")
    return [_column(field, options) for field in schema.fields]


def _column(field, options):
    name, kind, mark = field.name, field.dataType, (field.metadata or {}).get(MARK)
    arrow = to_arrow_type(kind, timezone="UTC")
    words = kind.simpleString()
    if mark is None and name == FILE and isinstance(kind, T.StringType):
        return Column(name, arrow, "", FILE, "", None, words)
    if mark is None and name == OFFSET and isinstance(kind, T.LongType):
        return Column(name, arrow, "", OFFSET, "", None, words)
    scanned, compares, convert = _plan(kind, arrow, options)
    if isinstance(kind, T.StringType):
        if name in options.as_json:
            scanned, compares = "json", ""
        elif options.strict_text or mark == "text":
            scanned, compares = "str", "text"
        if _is_collated(kind) or "__CHAR_VARCHAR_TYPE_STRING" in (field.metadata or {}):
            compares = ""
    elif name in options.as_json:
        raise ValueError(f"asJson: the column {name!r} is {words}, and JSON texts need a string")
    return Column(name, arrow, _path(name), scanned, compares, convert, words)


_RESERVED = {"and", "or", "not", "is", "in", "like", "between", "null", "true", "false"}


def _path(name):
    """The path of a column: a name with dots is one already, and so are a word and a key in double quotes."""
    is_quoted = len(name) > 1 and name.startswith('"') and name.endswith('"')
    is_word = re.fullmatch(r"[A-Za-z_@$][A-Za-z0-9_@$]*", name) and name.lower() not in _RESERVED
    if "." in name or is_quoted or is_word:
        return name
    return '"' + name.replace('"', '""') + '"'


def _is_collated(kind):
    return getattr(kind, "collation", "UTF8_BINARY") != "UTF8_BINARY"


def _plan(kind, arrow, options):
    """The type of the scan, how values compare, and the conversion."""
    if isinstance(kind, T.StringType):
        return "any", "any", None
    if isinstance(kind, T.BooleanType):
        return "bool", "bool", None
    if isinstance(kind, T.LongType):
        return "int", "int", None
    if isinstance(kind, (T.IntegerType, T.ShortType, T.ByteType)):
        return "int", "int", lambda array: array.cast(arrow)
    if isinstance(kind, T.DoubleType):
        return "float", "double", None
    if isinstance(kind, T.FloatType):
        return "float", "", _narrow
    if isinstance(kind, T.DecimalType):
        return "json", "decimal", lambda array: array.cast(arrow)
    if isinstance(kind, T.TimestampType):
        return "any", "", lambda array: _instants(array, options.time_zone)
    if isinstance(kind, T.TimestampNTZType):
        return "any", "", _local_times
    if isinstance(kind, T.DateType):
        return "any", "", lambda array: array.cast(pa.date32())
    make = _values.maker(kind, options.time_zone)
    return "json", "", lambda array: _values.converted(array, make, arrow)


def _narrow(array):
    made = array.cast(pa.float32(), safe=False)
    if pc.any(pc.is_inf(made)).as_py():
        raise ValueError("it is too large for a float")
    return made


_ZONE = r"\d\d:\d\d.*(?:Z|[+-]\d\d(?::?\d\d)?)$"


def _instants(array, zone):
    """Texts by ISO 8601 → points in time, to the microsecond. More digits are cut off, as Spark does."""
    array = pc.replace_substring_regex(array, r"(\.\d{6})\d+", r"\1")
    zoned = pc.match_substring_regex(array, _ZONE)
    nothing = pa.scalar(None, pa.string())
    kind = pa.timestamp("us", tz="UTC")
    made = pc.if_else(zoned, array, nothing).cast(kind)
    others = pc.if_else(zoned, nothing, array)
    if others.null_count == len(others):
        return made
    if zone is None:
        raise ValueError("it has no time zone; the option timeZone names one for such times")
    local = others.cast(pa.timestamp("us"))
    instants = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest")
    return pc.coalesce(made, instants.cast(kind))


def _local_times(array):
    if pc.any(pc.match_substring_regex(array, _ZONE)).as_py():
        raise ValueError("it has a time zone")
    return pc.replace_substring_regex(array, r"(\.\d{6})\d+", r"\1").cast(pa.timestamp("us"))


def field(found):
    """A column of Arrow, as `jird.scan` has found it → a field of a schema."""
    name = found.name
    if "." in name or name.startswith('"') and name.endswith('"') or name in (FILE, OFFSET):
        name = '"' + name.replace('"', '""') + '"'
    # A pyarrow that knows the type has it in the type, others in the metadata.
    name_of_type = (found.metadata or {}).get(b"ARROW:extension:name", b"").decode()
    is_json = getattr(found.type, "extension_name", name_of_type) == "arrow.json"
    kind, mark = T.StringType(), "any" if is_json else "text"
    if pa.types.is_boolean(found.type):
        kind, mark = T.BooleanType(), "bool"
    elif pa.types.is_int64(found.type):
        kind, mark = T.LongType(), "int"
    elif pa.types.is_floating(found.type):
        kind, mark = T.DoubleType(), "float"
    elif pa.types.is_uint64(found.type) or pa.types.is_decimal(found.type):
        kind, mark = T.DecimalType(38, 0), "decimal"
    return T.StructField(name, kind, True, {MARK: mark})
