#!/usr/bin/env python3
"""Fuzzes the module with atheris, beside Python's own json, whose Python code guides it.

    python crates/jird-python/fuzz/fuzz.py [CORPUS] [-max_total_time=60] [-runs=N]

Any bytes are read in all ways, and what is read is written in all ways. It needs

    pip install jird atheris
"""

import math
import sys

import atheris

with atheris.instrument_imports():
    import json.decoder
    import json.scanner

import jird
from jird import json as jird_json

# The scanner in Python, which can be followed, and not the one in C.
_DECODER = json.decoder.JSONDecoder()
_DECODER.parse_string = json.decoder.py_scanstring
_DECODER.scan_once = json.scanner.py_make_scanner(_DECODER)

_OPTIONS = [0, jird.OPT_INDENT_2, jird.OPT_SORT_KEYS, jird.OPT_NON_STR_KEYS | jird.OPT_APPEND_NEWLINE]


def by_python(data):
    """What json reads of bytes of UTF-8, without what is no JSON by RFC 8259; ValueError if it reads nothing."""
    text = data.decode()
    if text.startswith("\ufeff"):
        raise ValueError("a byte order mark")
    value = _DECODER.decode(text)
    # The code in C refuses some texts that the code in Python takes, such as the escape "\\ue   ".
    json.loads(text)
    check(value)
    return value


def check(value):
    """ValueError for what json takes, and jird does not: see docs/coming-from-orjson.md."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("no number")
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, list):
        for element in value:
            check(element)
    elif isinstance(value, dict):
        for key, member in value.items():
            key.encode()
            check(member)


def same(one, other):
    """Whether two values are the same, also by type and sign."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other and (not isinstance(one, float) or math.copysign(1, one) == math.copysign(1, other))


def walk(document):
    """The value of a document, taken element by element."""
    if not isinstance(document, jird.Document):
        return document
    if document.kind == "array":
        return [walk(element) for element in document]
    if document.kind == "object":
        return {key: walk(value) for key, value in document.items()}
    return document.as_py()


def test(data):
    try:
        wanted, is_json = by_python(data), True
    except (ValueError, RecursionError):
        wanted, is_json = None, False
    try:
        found = jird.loads(data)
    except jird.JSONDecodeError as error:
        # Repeated keys hide values that only one of the two refuses.
        assert not is_json or error.code in ("depth", "range"), (data, error)
        assert 0 <= error.pos <= len(error.doc)
        try:
            jird.loads(data, type=dict[str, int] | list[float] | str)
        except jird.JSONDecodeError:
            return
        raise AssertionError(f"{data!r} is read as a type only")
    if is_json:
        assert same(found, wanted), (data, found, wanted)
    assert same(walk(jird.parse(data)), found), data
    assert same(jird_json.loads(data), found), data
    for option in _OPTIONS:
        text = jird.dumps(found, option=option)
        again = jird.loads(text)
        assert again == found, (data, text)
    assert same(jird.loads(jird.dumps(found)), found), data
    assert jird_json.dumps(found) == json.dumps(found), data
    try:
        typed = jird.loads(data, type=dict[str, int | None] | list[float] | str)
    except jird.JSONDecodeError as error:
        assert error.code in ("type", "range"), (data, error)
    else:
        assert typed == found, data


def main():
    atheris.Setup(sys.argv, test)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
