"""`Decoder(strict=False)`: what stands for a scalar; and unions of arrays, which their first element tells apart."""

import datetime
from typing import Any, Dict, List, Literal, Optional, Tuple, Union

import msgspec
import pytest

import jird

UTC = datetime.timezone.utc


def decode(text, wanted):
    return jird.Decoder(wanted, strict=False).decode(text)


@pytest.mark.parametrize("wanted", [int, float, bool, type(None), Optional[int], Union[int, str], Union[bool, int], List[int], Dict[str, bool], str])
@pytest.mark.parametrize(
    "text",
    ["1", "0", "-5", "2", "1.0", "1.5", "1e2", "true", "null", '"1"', '"0"', '"-5"', '"1.5"', '"1e2"', '"true"', '"FALSE"', '"null"',
     '"Null"', '"x"', '""', '" 1"', '"01"', '"+1"', '"1_0"', '"\u0661"', '"nan"', "[1]", '["1","x"]', '{"a":"1"}', '{"a":2}'],
)
def test_scalars_are_taken_as_msgspec_takes_them(text, wanted):
    try:
        expected = msgspec.json.decode(text, type=wanted, strict=False)
    except msgspec.ValidationError:
        expected = Exception
    takes_int = wanted in (int, Optional[int], Union[bool, int])
    if takes_int and text == '"1e2"' or wanted is float and text == '"nan"':
        # msgspec takes an integer with an exponent for an int, and NaN; an int has no exponent here, and JSON no NaN.
        expected = Exception
    if wanted == Union[int, str] and text.startswith('"'):
        # Here a string stays one where the type has strings.
        expected = jird.loads(text)
    if expected is Exception:
        with pytest.raises(jird.JSONDecodeError):
            decode(text, wanted)
    else:
        found = decode(text, wanted)
        assert (found, type(found)) == (expected, type(expected))


def test_times_are_taken_from_numbers():
    assert decode("1709622000.5", datetime.datetime) == datetime.datetime(2024, 3, 5, 7, 0, 0, 500000, UTC)
    assert decode('"2024-03-05T07:00:00Z"', datetime.datetime) == datetime.datetime(2024, 3, 5, 7, tzinfo=UTC)
    assert decode("90", datetime.timedelta) == datetime.timedelta(seconds=90)
    assert decode('"PT1M"', datetime.timedelta) == datetime.timedelta(minutes=1)
    for text in ["1e300", "-1e300", "true", "[]"]:
        with pytest.raises(jird.JSONDecodeError):
            decode(text, datetime.datetime)
        with pytest.raises(jird.JSONDecodeError):
            decode(text, datetime.timedelta)


def test_what_is_exact_comes_first():
    assert decode('["1", 1, null, 1.0]', List[Union[int, str, None]]) == ["1", 1, None, 1]
    assert decode('{"1": "2"}', Dict[int, int]) == {1: 2}
    assert decode('["1", {"a": "1"}]', List[Any]) == ["1", {"a": "1"}]


def test_decoders_are_strict_by_default():
    for wanted, text in [(int, '"1"'), (bool, "1"), (float, '"1"'), (type(None), '"null"'), (datetime.datetime, "1")]:
        for decoder in (jird.Decoder(wanted), jird.Decoder(wanted, strict=True)):
            with pytest.raises(jird.JSONDecodeError):
                decoder.decode(text)
    decode('"1"', int)
    with pytest.raises(jird.JSONDecodeError, match="an integer"):
        jird.loads('"1"', type=int)


def test_messages_say_what_is_taken():
    with pytest.raises(jird.JSONDecodeError, match="expected an integer, or a string with one, found 'x', at /0"):
        decode('["x"]', List[int])


class Point(msgspec.Struct, array_like=True, tag="p"):
    x: int
    y: int = 0


class Line(msgspec.Struct, array_like=True, tag="l"):
    ends: List[Point]


class Numbered(msgspec.Struct, array_like=True, tag="n"):
    name: str


Shape = Union[Point, Line, Numbered]


def test_arrays_are_told_apart_by_their_first_element():
    for shape in [Point(1, 2), Point(3), Line([Point(1)]), Numbered("a")]:
        text = msgspec.json.encode(shape)
        assert jird.loads(text, type=Shape) == shape == msgspec.json.decode(text, type=Shape)
    assert jird.loads('[["p", 1], ["l", []]]', type=List[Shape]) == [Point(1), Line([])]
    assert jird.loads('null', type=Optional[Shape]) is None
    for text, why in [('["q",1]', "one of"), ("[]", "first element"), ("[8]", "one of"), ('[["p"]]', "one of"), ('{"type":"p"}', "Shape|Union|Point")]:
        with pytest.raises(jird.JSONDecodeError, match=why):
            jird.loads(text, type=Shape)


def test_tuples_are_told_apart_by_a_literal():
    wanted = Union[Tuple[Literal["add", "sub"], int], Tuple[Literal["stop"]]]
    assert jird.loads('["sub",1]', type=wanted) == ("sub", 1)
    assert jird.loads('["stop"]', type=wanted) == ("stop",)
    with pytest.raises(jird.JSONDecodeError):
        jird.loads('["stop",1]', type=wanted)
    for unclear in [Union[List[int], Tuple[int, int]], Union[Tuple[Literal["a"]], Tuple[Literal["a", "b"], int]]]:
        with pytest.raises(TypeError, match="arrays"):
            jird.Decoder(unclear)
