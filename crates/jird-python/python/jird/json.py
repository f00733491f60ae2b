"""Python's json with its own signatures, on jird's engine.

    from jird import json

Texts and values are those of the standard library, byte for byte. What the engine refuses and json takes (NaN and
Infinity, lone surrogates, UTF-16 and UTF-32) is read by json, and json's are also the words of its errors.
"""

import json as _json

from . import _jird
from .errors import JSONDecodeError as _Refused

__all__ = ["JSONDecodeError", "JSONDecoder", "JSONEncoder", "dump", "dumps", "load", "loads"]

JSONDecodeError = _json.JSONDecodeError
detect_encoding = _json.detect_encoding
# The modules of the package `json`, which some programs reach through it, as `json.decoder.JSONDecodeError`.
codecs, decoder, encoder, scanner = _json.codecs, _json.decoder, _json.encoder, _json.scanner


def loads(
    s,
    *,
    cls=None,
    object_hook=None,
    parse_float=None,
    parse_int=None,
    parse_constant=None,
    object_pairs_hook=None,
    **kw,
):
    """Deserializes a str, bytes or bytearray, as json.loads does."""
    if cls is None and not kw and isinstance(s, (str, bytes, bytearray)):
        try:
            return _read(s, object_hook, object_pairs_hook, parse_float, parse_int)
        except _Refused:
            pass
    return _json.loads(
        s,
        cls=cls,
        object_hook=object_hook,
        parse_float=parse_float,
        parse_int=parse_int,
        parse_constant=parse_constant,
        object_pairs_hook=object_pairs_hook,
        **kw,
    )


def load(fp, **kw):
    """Deserializes what `fp.read()` returns, as json.load does."""
    return loads(fp.read(), **kw)


def _read(s, object_hook, object_pairs_hook, parse_float, parse_int):
    if s[:1] == "\ufeff":
        raise _Refused("Unexpected UTF-8 BOM (decode using utf-8-sig)", "", 0)
    # json calls them only if they are not those that it has anyway.
    parse_float = None if parse_float is float else parse_float
    parse_int = None if parse_int is int else parse_int
    return _jird.json_loads(s, object_hook, object_pairs_hook, parse_float, parse_int)


class JSONDecoder(_json.JSONDecoder):
    """json.JSONDecoder, whose `decode` reads with jird."""

    def decode(self, s, *where):
        plain = type(self).raw_decode is _json.JSONDecoder.raw_decode and not where and isinstance(s, str)
        if plain and self.parse_object is _DECODER.parse_object and self.parse_array is _DECODER.parse_array:
            try:
                return _read(s, self.object_hook, self.object_pairs_hook, self.parse_float, self.parse_int)
            except _Refused:
                pass
        return super().decode(s, *where)


_DECODER = _json.JSONDecoder()


class JSONEncoder(_json.JSONEncoder):
    """json.JSONEncoder, whose `encode` writes with jird."""

    def encode(self, o):
        if type(self).iterencode is not _json.JSONEncoder.iterencode:
            return super().encode(o)
        plain = type(self).default is _json.JSONEncoder.default and "default" not in self.__dict__
        return _jird.json_dumps(
            o,
            self.default,
            not plain,
            bool(self.skipkeys),
            bool(self.ensure_ascii),
            bool(self.check_circular),
            bool(self.allow_nan),
            bool(self.sort_keys),
            _indent(self.indent),
            (self.item_separator, self.key_separator),
        )


def _indent(indent):
    if indent is None:
        return None
    return (indent if isinstance(indent, str) else " " * indent).encode()


def dumps(
    obj,
    *,
    skipkeys=False,
    ensure_ascii=True,
    check_circular=True,
    allow_nan=True,
    cls=None,
    indent=None,
    separators=None,
    default=None,
    sort_keys=False,
    **kw,
):
    """Serializes to a str, as json.dumps does."""
    return (cls or JSONEncoder)(
        skipkeys=skipkeys,
        ensure_ascii=ensure_ascii,
        check_circular=check_circular,
        allow_nan=allow_nan,
        indent=indent,
        separators=separators,
        default=default,
        sort_keys=sort_keys,
        **kw,
    ).encode(obj)


def dump(obj, fp, **kw):
    """Serializes to `fp`, as json.dump does, in one call of `fp.write`."""
    fp.write(dumps(obj, **kw))
