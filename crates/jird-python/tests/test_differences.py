"""Every row of docs/coming-from-orjson.md."""

import datetime
import json
import math
import pathlib
import re
import sys

import pytest

import jird

orjson = pytest.importorskip("orjson")


class Unwritable:
    pass


def data_classes_of_bases_with_slots():
    import dataclasses

    @dataclasses.dataclass(slots=True)
    class Base:
        a: int

    @dataclasses.dataclass
    class Derived(Base):
        c: int

    assert jird.dumps(Derived(1, 3)) == b'{"a":1,"c":3}'
    assert orjson.dumps(Derived(1, 3)) == b'{"c":3}'


def what_cannot_be_written_is_named_with_its_module():
    with pytest.raises(jird.JSONEncodeError, match=r"^Type is not JSON serializable: .*test_differences.Unwritable$"):
        jird.dumps(Unwritable())
    with pytest.raises(orjson.JSONEncodeError, match=r"^Type is not JSON serializable: Unwritable$"):
        orjson.dumps(Unwritable())


def derived_scalars_of_numpy():
    numpy = pytest.importorskip("numpy", reason="skipped: numpy")

    class Mine(numpy.float64):
        pass

    assert jird.dumps(Mine(1.5), option=jird.OPT_SERIALIZE_NUMPY) == b"1.5"
    assert json.dumps(Mine(1.5)) == "1.5"
    with pytest.raises(orjson.JSONEncodeError):
        orjson.dumps(Mine(1.5), option=orjson.OPT_SERIALIZE_NUMPY)


def large_integers_are_read_exactly():
    for text in ("18446744073709551616", "-9223372036854775809", "1" * 100):
        assert jird.loads(text) == json.loads(text) == int(text)
        assert isinstance(orjson.loads(text), float)


def an_integer_beyond_python_s_limit_of_digits():
    text = "9" * (sys.get_int_max_str_digits() + 1)
    with pytest.raises(jird.JSONDecodeError) as caught:
        jird.loads(f"[{text}]")
    assert (caught.value.code, caught.value.path, caught.value.pos) == ("range", "/0", 1)
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(text)
    with pytest.raises(ValueError):
        json.loads(text)
    with pytest.raises(jird.JSONEncodeError):
        jird.dumps(10 ** len(text))


def a_number_that_no_double_holds():
    for text in ("1e999", "-1e999"):
        with pytest.raises(jird.JSONDecodeError) as caught:
            jird.loads(text)
        assert caught.value.code == "range"
        with pytest.raises(orjson.JSONDecodeError):
            orjson.loads(text)
        assert math.isinf(json.loads(text))


def nan_is_not_json():
    for text in ("NaN", "Infinity", "-Infinity"):
        for module in (jird, orjson):
            with pytest.raises(module.JSONDecodeError):
                module.loads(text)
        assert isinstance(json.loads(text), float)


def half_a_surrogate_pair():
    for text in ('"\\ud800"', '"\\udc00"', '"\\ud800\\ud800"'):
        for module in (jird, orjson):
            with pytest.raises(module.JSONDecodeError):
                module.loads(text)
        json.loads(text)


def other_encodings():
    for encoding, name in (("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16"), ("utf-32", "UTF-32")):
        data = "[1]".encode(encoding)
        with pytest.raises(jird.JSONDecodeError, match=name):
            jird.loads(data)
        with pytest.raises(orjson.JSONDecodeError):
            orjson.loads(data)
        assert json.loads(data) == [1]


def depth_when_reading():
    for module in (jird, orjson):
        module.loads("[" * 1024 + "]" * 1024)
        with pytest.raises(module.JSONDecodeError):
            module.loads("[" * 1025 + "]" * 1025)


def repeated_keys_when_reading():
    for module in (jird, orjson, json):
        assert module.loads('{"a":1,"b":2,"a":3}') == {"a": 3, "b": 2}


def what_is_no_text():
    with pytest.raises(jird.JSONDecodeError) as caught:
        jird.loads(None)
    assert isinstance(caught.value.__cause__, TypeError)
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(None)
    with pytest.raises(TypeError):
        json.loads(None)


def errors_know_their_path():
    with pytest.raises(jird.JSONDecodeError) as caught:
        jird.loads('{"a": [1, {"b": x}]}')
    error = caught.value
    assert (error.path, error.code, error.offset) == ("/a/1/b", "value", 16)
    with pytest.raises(json.JSONDecodeError) as theirs:
        json.loads('{"a": [1, {"b": x}]}')
    assert (error.pos, error.lineno, error.colno) == (theirs.value.pos, theirs.value.lineno, theirs.value.colno)


def large_integers_are_written_exactly():
    for value in (1 << 64, -(1 << 63) - 1, 10**100):
        assert jird.dumps(value) == json.dumps(value).encode()
        with pytest.raises(orjson.JSONEncodeError):
            orjson.dumps(value)


def large_integers_are_keys():
    assert jird.dumps({1 << 64: 1}, option=jird.OPT_NON_STR_KEYS) == json.dumps({1 << 64: 1}, separators=",:").encode()
    with pytest.raises(orjson.JSONEncodeError):
        orjson.dumps({1 << 64: 1}, option=orjson.OPT_NON_STR_KEYS)


def keys_of_a_subclass_of_str():
    class Text(str):
        pass

    assert jird.dumps({Text("a"): 1}) == json.dumps({Text("a"): 1}, separators=",:").encode()
    with pytest.raises(orjson.JSONEncodeError):
        orjson.dumps({Text("a"): 1})


def nan_is_written_as_null():
    value = [math.nan, math.inf, -math.inf]
    assert jird.dumps(value) == orjson.dumps(value) == b"[null,null,null]"
    assert json.dumps(value) == "[NaN, Infinity, -Infinity]"


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def depth_when_writing():
    assert jird.dumps(nested(1024)) == b"[" * 1024 + b"]" * 1024
    with pytest.raises(jird.JSONEncodeError):
        jird.dumps(nested(1025))
    orjson.dumps(nested(254))
    with pytest.raises(orjson.JSONEncodeError):
        orjson.dumps(nested(260))


def equal_keys_keep_their_order():
    value = {str(index): index for index in range(50)} | {index: -index for index in range(1, 50)}
    text = jird.dumps(value, option=jird.OPT_NON_STR_KEYS | jird.OPT_SORT_KEYS).decode()
    assert text.index('"7":7') < text.index('"7":-7')
    assert json.loads(text) == {str(index): -index for index in range(50)}


def any_time_zone():
    class Zone(datetime.tzinfo):
        def utcoffset(self, time):
            return datetime.timedelta(hours=-3, minutes=-30)

    assert jird.dumps(datetime.datetime(2000, 1, 1, tzinfo=Zone())) == b'"2000-01-01T00:00:00-03:30"'


def microseconds_of_a_time():
    time = datetime.time(0, 0, 0, 10_000)
    assert jird.dumps(time) == f'"{time.isoformat()}"'.encode()
    assert orjson.dumps(time) == b'"00:00:00.10000"'


def seconds_of_a_time_zone():
    zone = datetime.timezone(-datetime.timedelta(hours=6, minutes=59, seconds=56))
    time = datetime.datetime(1883, 1, 1, tzinfo=zone)
    assert jird.dumps(time) == b'"1883-01-01T00:00:00-07:00"'
    assert orjson.dumps(time) == b'"1883-01-01T00:00:00-06:60"'


def a_missing_time_of_numpy():
    numpy = pytest.importorskip("numpy", reason="skipped: numpy")
    for unit in ("ns", "us", "D"):
        assert jird.dumps(numpy.array(["NaT"], f"M8[{unit}]"), option=jird.OPT_SERIALIZE_NUMPY) == b"[null]"
    array = numpy.array(["NaT"], "M8[ns]")
    assert orjson.dumps(array, option=orjson.OPT_SERIALIZE_NUMPY).startswith(b'["1677-')


def text_is_not_escaped_to_ascii():
    assert jird.dumps("é") == orjson.dumps("é") == '"é"'.encode()
    assert json.dumps("é") == '"\\u00e9"'


ROWS = [
    large_integers_are_read_exactly,
    an_integer_beyond_python_s_limit_of_digits,
    a_number_that_no_double_holds,
    nan_is_not_json,
    half_a_surrogate_pair,
    other_encodings,
    depth_when_reading,
    repeated_keys_when_reading,
    what_is_no_text,
    errors_know_their_path,
    large_integers_are_written_exactly,
    large_integers_are_keys,
    keys_of_a_subclass_of_str,
    nan_is_written_as_null,
    depth_when_writing,
    equal_keys_keep_their_order,
    any_time_zone,
    microseconds_of_a_time,
    seconds_of_a_time_zone,
    a_missing_time_of_numpy,
    data_classes_of_bases_with_slots,
    derived_scalars_of_numpy,
    what_cannot_be_written_is_named_with_its_module,
    text_is_not_escaped_to_ascii,
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.__name__)
def test_a_row_is_true(row):
    row()


def test_every_row_has_its_test():
    page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "coming-from-orjson.md"
    here = pathlib.Path(__file__).parent
    named = re.findall(r"`([a-z0-9_.:]+)` \|$", page.read_text(), re.MULTILINE)
    for name in named:
        if "::" in name:
            file, test = name.split("::")
            assert f"def {test}(" in (here / file).read_text(), name
    assert {name for name in named if "::" not in name} == {row.__name__ for row in ROWS}
