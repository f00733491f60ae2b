"""Every row of docs/coming-from-msgspec.md."""

import collections
import datetime
import decimal
import io
import pathlib
import re
from typing import Annotated, Any, NamedTuple, Union

import pytest

import jird

msgspec = pytest.importorskip("msgspec", reason="skipped: msgspec")


def read(text, wanted=Any, **options):
    return jird.Decoder(wanted, **options).decode(text)


def other(text, wanted=Any, **options):
    return msgspec.json.Decoder(wanted, **options).decode(text)


def both_refuse(text, wanted=Any, **options):
    with pytest.raises(jird.JSONDecodeError) as caught:
        read(text, wanted, **options)
    with pytest.raises(msgspec.MsgspecError):
        other(text, wanted, **options)
    return caught.value


def only_other_refuses(text, wanted):
    with pytest.raises(msgspec.ValidationError):
        other(text, wanted)
    return read(text, wanted)


class Point(msgspec.Struct):
    x: int


def errors_when_reading():
    error = both_refuse(b'[{"x": 1}, {"x": "1"}]', list[Point])
    assert (error.path, error.code, error.pos) == ("/1/x", "type", 17) and isinstance(error, ValueError)
    with pytest.raises(msgspec.ValidationError, match=re.escape("at `$[1].x`")):
        other(b'[{"x": 1}, {"x": "1"}]', list[Point])
    with pytest.raises(msgspec.DecodeError):
        other(b"[1,]")
    assert both_refuse(b"[1,]").path == "/1"


def integers_of_too_many_digits():
    for digits in (20, 100, 4000):
        assert read(b"9" * digits, int) == other(b"9" * digits, int) == int("9" * digits)
    assert "Exceeds the limit" in str(both_refuse(b"9" * 5000))


def unions_of_limited_numbers():
    wanted = Union[Annotated[int, msgspec.Meta(le=10)], Annotated[float, msgspec.Meta(ge=1000)]]
    made = only_other_refuses(b"1000", wanted)
    assert (made, type(made)) == (1000.0, float)
    assert read(b"7", wanted) == other(b"7", wanted) == 7
    both_refuse(b"11", wanted)


def forms_of_dates():
    assert only_other_refuses(b'"20240501"', datetime.date) == datetime.date(2024, 5, 1)
    for text in ("2024-05-01T12:30", "2024-05-01T12:30:00,5Z", "20240501T123000"):
        made = only_other_refuses(f'"{text}"'.encode(), datetime.datetime)
        assert (made.year, made.hour, made.minute) == (2024, 12, 30)
    text = b'"2024-05-01T12:30:00.5+02:00"'
    assert read(text, datetime.datetime) == other(text, datetime.datetime)


def digits_after_the_microseconds():
    text = b'"2024-05-01T12:30:00.1234567"'
    assert read(text, datetime.datetime).microsecond == 123456
    assert other(text, datetime.datetime).microsecond == 123457


def durations_in_weeks():
    assert only_other_refuses(b'"P2W"', datetime.timedelta) == datetime.timedelta(weeks=2)


class Pair(NamedTuple):
    a: int
    b: int = 2


def objects_for_named_tuples():
    assert only_other_refuses(b'{"a": 1}', Pair) == Pair(1)
    assert read(b"[1]", Pair) == other(b"[1]", Pair) == Pair(1)


class Annotations:
    a: int


class WithInit:
    def __init__(self, a: int):
        self.a = a


def other_classes():
    assert only_other_refuses(b"[1]", collections.deque) == collections.deque([1])
    for wanted in (Annotations, WithInit):
        assert only_other_refuses(b'{"a": 1}', wanted).a == 1


def types_that_are_not_made():
    for wanted in (msgspec.Raw, memoryview):
        with pytest.raises(TypeError, match="cannot make"):
            jird.Decoder(wanted)
    assert bytes(other(b"[1]", msgspec.Raw)) == b"[1]"
    assert jird.parse(b'{"a": [1, 2]}')["a"][1] == 2


def depth_when_reading():
    error = both_refuse_depth(b"[" * 1025 + b"]" * 1025)
    assert error.code == "depth"
    assert read(b"[" * 900 + b"]" * 900) == other(b"[" * 900 + b"]" * 900)


def both_refuse_depth(text):
    with pytest.raises(jird.JSONDecodeError) as caught:
        read(text)
    with pytest.raises(RecursionError):
        other(text)
    return caught.value


def none_as_a_type():
    assert read(b"[1]", None) == [1]
    with pytest.raises(msgspec.ValidationError):
        other(b"[1]", None)
    assert read(b"null", type(None)) is None
    with pytest.raises(jird.JSONDecodeError):
        read(b"[1]", type(None))


def lines():
    text = b'{"x": 1}\n{"x": 2}\n'
    assert list(jird.scan(text, type=Point)) == msgspec.json.Decoder(Point).decode_lines(text) == [Point(1), Point(2)]


def errors_when_writing():
    with pytest.raises(jird.JSONEncodeError) as caught:
        jird.Encoder().encode(object())
    assert isinstance(caught.value, TypeError)
    with pytest.raises(TypeError):
        msgspec.json.Encoder().encode(object())


def functions_for_other_types():
    value = {"z": 1 + 2j}
    assert jird.Encoder(str).encode(value) == msgspec.json.Encoder(enc_hook=str).encode(value) == b'{"z":"(1+2j)"}'


def decimals():
    value = decimal.Decimal("1.50")
    assert jird.Encoder().encode(value) == msgspec.json.Encoder(decimal_format="number").encode(value) == b"1.50"
    assert msgspec.json.Encoder().encode(value) == b'"1.50"'
    for text in (b"1.50", b'"1.50"'):
        assert str(read(text, decimal.Decimal)) == str(other(text, decimal.Decimal)) == "1.50"


def zulu_time():
    value = datetime.datetime(2024, 5, 1, tzinfo=datetime.timezone.utc)
    assert jird.Encoder().encode(value) == b'"2024-05-01T00:00:00+00:00"'
    zulu = jird.Encoder(option=jird.OPT_UTC_Z).encode(value)
    assert zulu == msgspec.json.Encoder().encode(value) == b'"2024-05-01T00:00:00Z"'


def keys_that_are_no_str():
    value = {1: 2}
    with pytest.raises(jird.JSONEncodeError, match="Dict key must be str"):
        jird.Encoder().encode(value)
    written = jird.Encoder(option=jird.OPT_NON_STR_KEYS).encode(value)
    assert written == msgspec.json.Encoder().encode(value) == b'{"1":2}'


def sorted_keys():
    value = {"b": 1, "a": 2}
    written = jird.Encoder(option=jird.OPT_SORT_KEYS).encode(value)
    assert written == msgspec.json.Encoder(order="sorted").encode(value) == b'{"a":2,"b":1}'


def derived_scalars():
    for kind, value, text in ((str, "x", b'"x"'), (int, 3, b"3")):
        derived = type("Derived", (kind,), {})(value)
        assert jird.Encoder().encode(derived) == text
        with pytest.raises(TypeError):
            msgspec.json.Encoder().encode(derived)


def large_doubles():
    assert jird.Encoder().encode(1e22) == repr(1e22).encode() == b"1e+22"
    assert msgspec.json.Encoder().encode(1e22) == b"1e22"


def raw_texts():
    with pytest.raises(jird.JSONEncodeError):
        jird.Encoder().encode(msgspec.Raw(b"[1]"))
    assert jird.Encoder().encode({"a": jird.Fragment(b"[1]")}) == b'{"a":[1]}'
    assert msgspec.json.Encoder().encode({"a": msgspec.Raw(b"[1]")}) == b'{"a":[1]}'


def writing_lines():
    values = [{"a": 1}, {"a": 2}]
    file = io.BytesIO()
    with jird.Writer(file) as writer:
        writer.write_all(values)
    assert file.getvalue() == msgspec.json.Encoder().encode_lines(values) == b'{"a":1}\n{"a":2}\n'
    assert not hasattr(jird.Encoder(), "encode_into")


ROWS = [
    errors_when_reading,
    integers_of_too_many_digits,
    unions_of_limited_numbers,
    forms_of_dates,
    digits_after_the_microseconds,
    durations_in_weeks,
    objects_for_named_tuples,
    other_classes,
    types_that_are_not_made,
    depth_when_reading,
    none_as_a_type,
    lines,
    errors_when_writing,
    functions_for_other_types,
    decimals,
    zulu_time,
    keys_that_are_no_str,
    sorted_keys,
    derived_scalars,
    large_doubles,
    raw_texts,
    writing_lines,
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.__name__)
def test_a_row_is_true(row):
    row()


def test_every_row_has_its_test():
    page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "coming-from-msgspec.md"
    named = re.findall(r"`([a-z0-9_]+)` \|$", page.read_text(), re.MULTILINE)
    assert named == [row.__name__ for row in ROWS]


def test_float_hooks_are_called_as_msgspec_calls_them():
    class Money(msgspec.Struct):
        exact: Any
        typed: float
        more: dict
        union: Union[str, None, Any]

    text = b'{"exact": 1.50, "typed": 2.5, "more": {"a": [1, 2.50, "x"]}, "union": 1e3}'
    for wanted in (Any, None, dict, dict[str, Any], Money, list):
        data = b"[" + text + b"]" if wanted is list else text
        if wanted is None:
            made, expected = jird.Decoder(float_hook=decimal.Decimal), msgspec.json.Decoder(float_hook=decimal.Decimal)
        else:
            made = jird.Decoder(wanted, float_hook=decimal.Decimal)
            expected = msgspec.json.Decoder(wanted, float_hook=decimal.Decimal)
        assert repr(made.decode(data)) == repr(expected.decode(data))
    assert repr(jird.Decoder(float_hook=decimal.Decimal).decode(b"[1e999, 7, 18446744073709551616]")) == (
        "[Decimal('1E+999'), 7, 18446744073709551616]"
    )
    assert jird.Decoder(float_hook=str).decode(b'{"a": 1.0, "a": 2.0}') == {"a": "2.0"}

    def refuse(text):
        raise ValueError(f"not {text}")

    with pytest.raises(jird.JSONDecodeError, match="not 1.5") as caught:
        jird.Decoder(dict[str, Any], float_hook=refuse).decode(b'{"a": 1.5}')
    assert caught.value.path == "/a"

    def interrupt(text):
        raise KeyError(text)

    with pytest.raises(KeyError):
        jird.Decoder(float_hook=interrupt).decode(b"[1.5]")
