"""Single values: the JSON text of a nested value → what Spark's type wants. Numbers are read from their digits."""

import base64
import decimal
import json

import pyarrow as pa
from pyspark.sql import types as T

import jird.json

__all__ = ["converted", "maker"]


class _Number(str):
    """A number with a point or an exponent, as it stands in its text."""

    __slots__ = ()


def _first(pairs):
    """Of a key that is there twice, the first value counts, as everywhere in jird."""
    made = {}
    for key, value in pairs:
        made.setdefault(key, value)
    return made


def converted(array, make, arrow):
    """An array of JSON texts → an array of the type."""
    values = [
        None if text is None else make(jird.json.loads(text, parse_float=_Number, object_pairs_hook=_first))
        for text in array.to_pylist()
    ]
    return pa.array(values, arrow)


def maker(kind, zone):
    """A function from a value of JSON to one that pyarrow takes for a type of Spark. It raises ValueError."""
    if isinstance(kind, T.StructType):
        makers = [(field.name, maker(field.dataType, zone)) for field in kind.fields]
        return _needing(dict, lambda value: {name: _of(make, value.get(name)) for name, make in makers}, kind)
    if isinstance(kind, T.ArrayType):
        make = maker(kind.elementType, zone)
        return _needing(list, lambda value: [_of(make, element) for element in value], kind)
    if isinstance(kind, T.MapType):
        if not isinstance(kind.keyType, T.StringType):
            raise ValueError(f"the keys of JSON are texts: {kind.simpleString()} cannot be read")
        of_map = maker(kind.valueType, zone)
        return _needing(dict, lambda value: [(key, _of(of_map, item)) for key, item in value.items()], kind)
    if isinstance(kind, T.StringType):
        return lambda value: value if isinstance(value, str) and not isinstance(value, _Number) else _text(value)
    if isinstance(kind, T.BooleanType):
        return _needing(bool, lambda value: value, kind)
    if isinstance(kind, (T.LongType, T.IntegerType, T.ShortType, T.ByteType)):
        return _needing(int, lambda value: value, kind)
    if isinstance(kind, (T.DoubleType, T.FloatType)):
        return _needing((int, _Number), _double, kind)
    if isinstance(kind, T.DecimalType):
        return _needing((int, _Number), decimal.Decimal, kind)
    if isinstance(kind, T.BinaryType):
        return _needing(str, lambda value: base64.b64decode(value, validate=True), kind)
    if isinstance(kind, (T.TimestampType, T.TimestampNTZType, T.DateType)):
        from ._columns import _instants, _local_times

        def time(value):
            array = pa.array([value], pa.string())
            if isinstance(kind, T.DateType):
                return array.cast(pa.date32())[0].as_py()
            return (_instants(array, zone) if isinstance(kind, T.TimestampType) else _local_times(array))[0].as_py()

        return _needing(str, time, kind)
    raise ValueError(f"columns of {kind.simpleString()} cannot be read from JSON; read a string")


def _of(make, value):
    return None if value is None else make(value)


def _needing(wanted, make, kind):
    """A maker for values of some of Python's types. True is no number, and a number with a point is no text."""

    def made(value):
        fits = isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))
        if not fits or isinstance(value, _Number) and wanted is str:
            raise ValueError(f"{_text(value)} is no {kind.simpleString()}")
        return make(value)

    return made


def _double(value):
    made = float(value)
    if made in (float("inf"), float("-inf")):
        raise ValueError(f"{value} is too large for a double")
    return made


def _text(value):
    """The JSON text of a value, with its numbers as they stood."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        members = (f"{json.dumps(key, ensure_ascii=False)}:{_text(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_text(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)
