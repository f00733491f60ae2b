"""Typed values that are made without a tape are those that are made of one, and so are the mistakes that are found.

`loads` reads most texts of types for which no code of Python runs in one pass. Where a function of the caller makes a
part of the value, there is a tape.
"""

import dataclasses
import datetime
import decimal
import enum
import json
import random
import re
import sys
import uuid
from typing import Any, Literal, NamedTuple, Optional, TypedDict, Union

import pytest

import jird


@dataclasses.dataclass
class Plain:
    a: int
    b: float = 0.5
    c: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True)
class Slotted:
    a: int
    b: Optional[str] = None


@dataclasses.dataclass(slots=True)
class Node:
    next: Optional["Node"] = None
    value: Any = None


class Level(enum.Enum):
    LOW = "low"
    HIGH = 7
    ON = True


class Movie(TypedDict, total=False):
    title: str
    year: int


class Pair(NamedTuple):
    a: int
    b: str = "b"


@dataclasses.dataclass(slots=True)
class Get:
    kind: Literal["get"]
    key: str


@dataclasses.dataclass(slots=True)
class Put:
    kind: Literal["put", 3]
    value: float


WIDE = dataclasses.make_dataclass("Wide", [(f"field_{index}", Optional[int], None) for index in range(70)], slots=True)
CASES = [
    (int, ["0", "-0", "7", "-12", "12345678", "123456789012345678", "9223372036854775807", "9223372036854775808"]),
    (int, ["-9223372036854775808", "-9223372036854775809", "18446744073709551616", "1" * 50, "1.0", "1e3", "01", "-"]),
    (float, ["0", "-0", "1", "1.5", "-2.25e-3", "123456789012345678", "12345678901234567890", "0.1", "1e400", "1E5", "1."]),
    (float, ["3.141592653589793", "179769313486231570000000000000000000", "0.30000000000000004", "-0.0", "00.5", ".5"]),
    (str, ['""', '"a"', '"Zoë"', '"\\u00eb\\n"', '"\\ud83d\\ude00"', '"\\ud800"', '"a\tb"', '"\U0001f600"', '"\\x"', '"', '"\\']),
    (bool, ["true", "false", "1", "tru", "null"]),
    (type(None), ["null", "nul", "false"]),
    (Any, ['{"a": [1, 2.5, "x", null]}', '"\\n"', "[[[]]]", "123456789012345678901"]),
    (list[int], ["[]", "[1]", "[1, 2 ,3]", "[1,]", "[,1]", "[1 2]", "[1.5]", "[", '["1"]']),
    (list[list[float]], ["[[1, 2.5], [], [3]]", "[[1], 2]"]),
    (set[int], ["[1, 2, 1]", "[]", "[null]"]),
    (frozenset[str], ['["a", "b", "a"]']),
    (set[Any], ["[1, []]", "[1, 1.0, true]"]),
    (tuple[int, str], ['[1, "a"]', '[1]', '[1, "a", 2]', "[]"]),
    (tuple[int, ...], ["[1, 2]", "[]"]),
    (tuple[()], ["[]", "[1]"]),
    (dict[str, int], ['{"a": 1, "b": 2}', '{"a": 1, "a": 2}', "{}", '{"a":1,}', '{"\\u0061": 1, "a": 2}', "{1: 2}"]),
    (dict[str, list[str]], ['{"Zoë": ["x"]}', '{"a": []}']),
    (Optional[int], ["null", "5", "5.0", '"5"']),
    (Union[int, float, str, None], ["1", "1.5", '"x"', "null", "true", "1e2"]),
    (Union[datetime.datetime, str], ['"2024-05-01T00:00:00Z"', '"x"']),
    (Literal["a", 1, True, None], ['"a"', '"b"', "1", "1.0", "2", "true", "false", "null", '"\\u0061"']),
    (Level, ['"low"', "7", "true", "false", '"high"', "8"]),
    (Plain, ['{"a": 1}', '{"b": 2, "a": 1, "c": ["x"]}', '{"a": 1, "z": {"q": [1, "\\n", 1.5e3, {}]}}', "{}", "[1]"]),
    (Plain, ['{"a": 1, "a": 2}', '{"a": 1, "z": 1e999}', '{"a": 1, "\\u0062": 3}', '{"a": 1, "z": [1,]}', '{"a" 1}']),
    (Slotted, ['{"a": 1, "b": "x"}', '{"b": null, "a": -5}', '{"b": "x"}', '{"a": 1, "é": "\\ud800"}', '{"a": 1']),
    (Node, ['{"next": {"next": {"next": null, "value": [1]}}}', '{"next":' * 40 + "{}" + "}" * 40]),
    (Movie, ['{"title": "t", "year": 2000}', "{}", '{"year": 1, "title": "x", "more": 1}']),
    (list[Pair], ['[[1, "x"], [2], {"a": 3, "b": "y"}, {"a": 4}]', "[[]]", '[[1, "x", 2]]', "[[1,]]"]),
    (Union[Get, Put], ['{"kind": "get", "key": "k"}', '{"value": 1, "kind": "put"}', '{"kind": 3, "value": 2.5}', "{}"]),
    (Union[Get, Put], ['{"kind": "get", "key": ""}', '{"kind": "got", "key": "k"}', '{"key": "k"}']),
    (Union[Get, Put], ['{"value": 2, "kind": 3}', '{"kind": "put", "kind": "get", "key": "k"}', '{"key": {"kind": "put"}, "kind": "get"}', "[]"]),
    (datetime.datetime, ['"2024-05-01T12:30:00.5+02:00"', '"2024-05-01 12:30"', '"2024-13-01T00:00:00Z"', '"x"', "1"]),
    (datetime.date, ['"2024-05-01"', '"2024-02-30"', '"20240501"']),
    (datetime.time, ['"12:30:00"', '"25:00"']),
    (datetime.timedelta, ['"P1DT2H"', '"P1Y"', '"-PT0.5S"']),
    (uuid.UUID, ['"12345678-1234-5678-1234-567812345678"', '"12345678123456781234567812345678"', '"1234"']),
    (decimal.Decimal, ['"1.50"', "1.50", '"x"', '"NaN"', '"é"']),
    (WIDE, ["{" + ", ".join(f'"field_{index}": {index}' for index in range(70)) + "}", '{"field_69": 1}', "{}"]),
]
BYTES = b'{}[]",:0123456789.eE-+tfnu\\ \t\x00\x80\xff\xc3abdk'


class Hooked:
    """Made by a function of the caller."""


def made_by(read):
    try:
        return read()
    except (jird.JSONDecodeError, RecursionError):
        return "refused"


def agree(wanted, text):
    direct = made_by(lambda: jird.loads(text, type=wanted))
    decoder = jird.Decoder(tuple[wanted, Hooked], dec_hook=lambda cls, _: cls())
    tape = made_by(lambda: decoder.decode(b"[%b,0]" % text)[0])
    assert repr(direct) == repr(tape), (wanted, text)
    return direct != "refused"


@pytest.mark.parametrize("wanted, texts", CASES, ids=lambda value: getattr(value, "__name__", None))
def test_without_a_tape_all_is_as_with_one(wanted, texts):
    agree_and_vary(wanted, texts)


def test_a_tag_that_is_not_kept_is_read_once():
    msgspec = pytest.importorskip("msgspec")
    make = msgspec.defstruct
    get = make("Get", [("key", str)], tag="get")
    put = make("Put", [("key", str), ("value", int, 0)], tag="put", forbid_unknown_fields=True)
    nop = make("Nop", [], tag="nop")
    first, second = make("First", [("a", int)], tag_field="\n", tag=1), make("Second", [("a", int)], tag_field="\n", tag=2)
    third, fourth = make("Third", [("kind", int)], tag_field="of", tag=3), make("Fourth", [("b", int, 7)], tag_field="of", tag=4)
    pairs = make("Pairs", [("a", int)], tag="pairs", array_like=True)
    texts = ['{"type":"get","key":"k"}', '{ "type" : "put" , "key" : "k", "value": 5 }', '{"key":"k","type":"get"}', '{"type":"nop"}']
    texts += ['{"type":"get",}', '{"type":"get","type":"get","key":"k"}', '{"type":"get" "key":"k"}', '{"type":"put","key":"k","x":1}']
    texts += ['{"type":"get","key":"k","type":"put"}', '{"type":"none"}', '{"type":null,"key":"k"}', '{"type":"get"}', '{"type":"nop",']
    texts += ['{"ty\\u0070e":"get","key":"k"}', '{"type":"g\\u0065t","key":"k"}', '["pairs", 1]', "{}"]
    agree_and_vary(Union[get, put, nop, pairs], texts)
    agree_and_vary(Union[first, second], ['{"\\n":1,"a":5}', '{"a":5,"\\n":2}', '{"\\n":3,"a":5}'])
    agree_and_vary(Union[third, fourth], ['{"of":3,"kind":1}', '{"of":4,"b":1}', '{"of":4}', '{"of":4,"of":4}', '{"kind":1,"of":3}'])
    agree_and_vary(get, texts)
    assert jird.loads(b'[{"type":"nop"},{"type":"get","key":"k"}]', type=list[Union[get, nop]]) == [nop(), get("k")]


def agree_and_vary(wanted, texts):
    source = random.Random(7)
    fine = 0
    for text in map(str.encode, texts):
        fine += agree(wanted, text)
        agree(wanted, b" \t" + text + b" ")
        for end in range(0, len(text), 1 + len(text) // 40):
            agree(wanted, text[:end])
        for _ in range(150):
            at, byte = source.randrange(len(text)), source.choice(BYTES)
            agree(wanted, text[:at] + bytes([byte]) + text[at + source.randrange(2) :])
    assert fine > 0


DATE = r"(\d{4})-(\d\d)-(\d\d)|(\d{4})(\d\d)(\d\d)"
CLOCK = r"(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?|(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?"
ZONE = r"(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?"


def groups(pattern, text):
    found = re.fullmatch(pattern, text, re.ASCII)
    return found and [group for group in found.groups() if group is not None]


def by_python(text):
    """A datetime as this page says that it is read: by a regular expression, and Python's class."""
    found = re.fullmatch(f"({DATE})[Tt ]({CLOCK}){ZONE}", text, re.ASCII)
    if not found:
        raise ValueError(text)
    (date, clock), zone = (found[1], found[8]), found[0][found.end(8) :]
    hour, minute, second, micro = (groups(CLOCK, clock) + ["0", ""])[:4] if len(clock) > 5 else groups(CLOCK, clock) + ["0", ""]
    tz = None
    if zone:
        sign, hours, minutes = (groups(ZONE, zone) + ["0"])[:3] if zone not in "Zz" else ("+", "0", "0")
        if int(hours) > 23 or int(minutes) > 59:
            raise ValueError(text)
        tz = datetime.timezone((1 if sign == "+" else -1) * datetime.timedelta(hours=int(hours), minutes=int(minutes)))
    return datetime.datetime(
        *map(int, groups(DATE, date)), int(hour), int(minute), int(second), int((micro + "000000")[:6]), tzinfo=tz
    )


def test_each_byte_of_a_datetime_is_looked_at():
    forms = ["2024-05-17T12:34:56.789+01:30", "2024-05-17 12:34:56Z", "20240517T123456,5-0130", "2024-05-17T12:34", "2024-12-31T23:59:59"]
    forms += ["2024-02-29T00:00:00." + "123456789"[:count] + "-12" for count in range(1, 10)]
    refused = 0
    for text in forms:
        for at in range(len(text)):
            for byte in [*range(0x20, 0x7F), None]:
                changed = text[:at] + (chr(byte) if byte else "") + text[at + 1 :]
                try:
                    wanted = by_python(changed)
                except ValueError:
                    wanted, refused = "refused", refused + 1
                found = made_by(lambda: jird.loads(json.dumps(changed), type=datetime.datetime))
                assert repr(found) == repr(wanted), changed
    assert refused > 10_000


def test_numbers_of_every_length():
    source = random.Random(7)
    for digits in range(1, 25):
        for _ in range(20):
            number = source.randrange(10 ** (digits - 1), 10**digits) * source.choice([1, -1])
            text = b"[%d]" % number
            assert jird.loads(text, type=list[int]) == [number]
            assert jird.loads(text, type=list[float]) == [float(number)]
            point = b"%d.%d" % (number, source.randrange(10**digits))
            assert jird.loads(point, type=float) == float(point)


def test_a_uuid_is_as_python_makes_it():
    text = "12345678-1234-5678-1234-567812345678"
    made, other = jird.loads(f'"{text}"', type=uuid.UUID), uuid.UUID(text)
    assert made == other and hash(made) == hash(other) and str(made) == text and made.is_safe is uuid.SafeUUID.unknown


def test_nothing_is_left_of_what_was_begun():
    text = b'[{"a": 1000000, "b": "' + b"y" * 50 + b'"}, {"a": 2000000, "b": "' + b"z" * 50 + b'", "c": 01}]'

    def run(times):
        for _ in range(times):
            for wanted in (list[Slotted], list[Plain], list[Movie], list[dict[str, Union[int, str]]], Any):
                assert made_by(lambda: jird.loads(text, type=wanted)) == "refused"

    run(50)
    blocks = sys.getallocatedblocks()
    run(500)
    assert sys.getallocatedblocks() - blocks < 150


def test_a_long_text_is_read_like_a_short_one():
    for count in (10, 1000, 300_000):
        values = [{"a": index, "b": f"name {index} \\n" * 2} for index in range(count)]
        made = jird.loads(jird.dumps(values), type=list[Slotted])
        assert [(each.a, each.b) for each in made] == [(each["a"], each["b"]) for each in values]
