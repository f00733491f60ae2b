"""`loads(data, type=T)`: values of types that the caller names. Classes have a file of their own."""

import collections
import dataclasses
import datetime
import decimal
import enum
import gc
import os
import sys
import threading
import typing
import uuid
from typing import Annotated, Any, Final, Literal, NewType, Optional, Union

import pytest
from test_typed_classes import Pair, Point, Shape, Slotted, WithInit, fault, load

import jird


class Color(enum.Enum):
    RED = "red"
    TWO = 2
    HALF = 0.5
    CRIMSON = "red"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Lenient(enum.Enum):
    A = "a"

    @classmethod
    def _missing_(cls, value):
        return cls.A if str(value).lower() == "a" else None


class Bits(enum.IntFlag):
    ONE = 1
    FOUR = 4


UserId = NewType("UserId", int)
UTC = datetime.timezone.utc
SCALARS = [
    (b"1", int, 1),
    (b"-12345678901234567890123", int, -12345678901234567890123),
    (b"18446744073709551615", int, 2**64 - 1),
    (b"1", float, 1.0),
    (b"1.5e3", float, 1500.0),
    (b'"a\\u00e9"', str, "aé"),
    (b"true", bool, True),
    (b"null", type(None), None),
    (b'{"a": [1]}', Any, {"a": [1]}),
    (b"[1]", object, [1]),
    (b"1.10", decimal.Decimal, decimal.Decimal("1.10")),
    (b'"1e-30"', decimal.Decimal, decimal.Decimal("1e-30")),
    (b"123456789012345678901234567890.5", decimal.Decimal, decimal.Decimal("123456789012345678901234567890.5")),
    (b'"12345678-1234-5678-1234-56781234567A"', uuid.UUID, uuid.UUID("12345678-1234-5678-1234-56781234567a")),
    (b'"2024-05-01"', datetime.date, datetime.date(2024, 5, 1)),
    (b'"2024-05-01T12:30:01"', datetime.datetime, datetime.datetime(2024, 5, 1, 12, 30, 1)),
    (b'"2024-05-01T12:30:01.5Z"', datetime.datetime, datetime.datetime(2024, 5, 1, 12, 30, 1, 500000, UTC)),
    (b'"2024-05-01 12:30:01.1234569+00:00"', datetime.datetime, datetime.datetime(2024, 5, 1, 12, 30, 1, 123456, UTC)),
    (
        b'"2024-05-01t12:30:01-10:30"',
        datetime.datetime,
        datetime.datetime(2024, 5, 1, 12, 30, 1, 0, datetime.timezone(-datetime.timedelta(hours=10, minutes=30))),
    ),
    (b'"12:30:01.000001"', datetime.time, datetime.time(12, 30, 1, 1)),
    (b'"12:30:01z"', datetime.time, datetime.time(12, 30, 1, tzinfo=UTC)),
    (b'"P1DT2H3M4.5S"', datetime.timedelta, datetime.timedelta(1, 2 * 3600 + 3 * 60 + 4, 500000)),
    (b'"-P2W"', datetime.timedelta, -datetime.timedelta(14)),
    (b'"PT0.000001S"', datetime.timedelta, datetime.timedelta(microseconds=1)),
    (b'"red"', Color, Color.RED),
    (b"2", Color, Color.TWO),
    (b"0.5", Color, Color.HALF),
    (b"3", Level, Level.HIGH),
    (b'"A"', Lenient, Lenient.A),
    (b"5", Bits, Bits.ONE | Bits.FOUR),
    (b"1", Literal[1, "x", None, True], 1),
    (b"true", Literal[1, "x", None, True], True),
    (b"null", Literal[1, "x", None, True], None),
    (b'"x"', Literal[1, "x", None, True], "x"),
    (b'"red"', Literal[Color.RED], Color.RED),
    (b"7", UserId, 7),
    (b"7", Annotated[int, "years"], 7),
    (b"7", Final[int], 7),
    (b"7", Optional[int], 7),
    (b"null", Optional[int], None),
    (b'"x"', Union[int, str, None], "x"),
    (b"1", Union[float, int], 1),
    (b"1.0", Union[float, int], 1.0),
    (b'"2024-05-01"', Union[str, datetime.date], datetime.date(2024, 5, 1)),
    (b'"2024-99-01"', Union[str, datetime.date], "2024-99-01"),
    (b'"2024-05-01T00:00:00"', Union[datetime.date, datetime.datetime, str], datetime.datetime(2024, 5, 1)),
    (b"[1, 2]", Union[int, list[int]], [1, 2]),
    (b'{"a": 1}', Union[int, dict[str, int]], {"a": 1}),
    (b'[{"a": null}]', Union[Any, int], [{"a": None}]),
    (b"[1, 2]", list, [1, 2]),
    (b"[1, 2]", list[int], [1, 2]),
    (b"[1, 2]", typing.List[float], [1.0, 2.0]),
    (b"[1, 2]", collections.abc.Sequence, [1, 2]),
    (b"[1, 2]", collections.abc.Iterable[int], [1, 2]),
    (b"[1, 2, 1]", set[int], {1, 2}),
    (b"[1, 2, 1]", set, {1, 2}),
    (b"[1, 2, 1]", frozenset[int], frozenset({1, 2})),
    (b"[1, 2]", collections.deque[int], collections.deque([1, 2])),
    (b'[1, "x"]', tuple, (1, "x")),
    (b"[1, 2, 3]", tuple[int, ...], (1, 2, 3)),
    (b'[1, "x"]', tuple[int, str], (1, "x")),
    (b"[]", tuple[()], ()),
    (b'{"a": 1}', dict, {"a": 1}),
    (b'{"a": 1, "a": 2}', dict[str, float], {"a": 2.0}),
    (b'{"1": "x", "-20000000000000000000": "y"}', dict[int, str], {1: "x", -20000000000000000000: "y"}),
    (b'{"red": 1, "2": 2}', dict[Color, int], {Color.RED: 1, Color.TWO: 2}),
    (b'{"2024-05-01": 1}', typing.Mapping[datetime.date, int], {datetime.date(2024, 5, 1): 1}),
    (b'[{"a": [null, 1]}]', list[dict[str, list[Optional[int]]]], [{"a": [None, 1]}]),
]


@pytest.mark.parametrize(("text", "wanted", "value"), SCALARS, ids=range(len(SCALARS)))
@pytest.mark.parametrize("input", [bytes, bytearray, memoryview, bytes.decode])
def test_values_are_made_as_the_type_says(text, wanted, value, input):
    def same(one, other):
        assert type(one) is type(other) and one == other
        if isinstance(one, (list, tuple)):
            for a, b in zip(one, other):
                same(a, b)

    for _ in range(2):
        same(load(input(text), wanted), value)
    assert load(b"[" + text + b"," + text + b"]", list[wanted]) == [value, value]


FAULTS = [
    (b'"x"', int, "", "type", 'expected an integer, found the string "x"'),
    (b"1.0", int, "", "type", "expected an integer, found the number 1.0"),
    (b"true", int, "", "type", "expected an integer, found true"),
    (b"1", bool, "", "type", "expected true or false, found the number 1"),
    (b"1", str, "", "type", "expected a string"),
    (b"0", type(None), "", "type", "expected null"),
    (b'"1"', float, "", "type", "expected a number"),
    (b"1e999", float, "", "range", "too large for a float"),
    (b'{"a": [1, "x"]}', dict[str, list[int]], "/a/1", "type", "expected an integer"),
    (b'{"a/b": {"~": 1}}', dict[str, dict[str, str]], "/a~1b/~0", "type", "expected a string"),
    (b"{}", list[int], "", "type", "expected an array, found an object"),
    (b"[[1]]", set[list[int]], "/0", "refused", "unhashable"),
    (b"[1]", tuple[int, int], "", "length", "expected an array of 2, found one of 1"),
    (b'[1, "x"]', tuple[int, ...], "/1", "type", "expected an integer"),
    (b'"blue"', Color, "", "type", "expected one of 'red', 2, 0.5"),
    (b"2.5", Color, "", "type", "expected one of"),
    (b"[]", Color, "", "type", "expected one of"),
    (b'"b"', Lenient, "", "refused", "not a valid Lenient"),
    (b"true", Literal[1, "x"], "", "type", "expected one of 1, 'x', found true"),
    (b"2", Literal[1, "x"], "", "type", "expected one of 1, 'x', found the number 2"),
    (b"{}", Union[int, str, None], "", "type", "found an object"),
    (b"[1.5]", list[Union[int, str]], "/0", "type", "found the number 1.5"),
    (b'"2024-13-01"', datetime.date, "", "refused", "month"),
    (b'"2024-05-01x"', datetime.date, "", "type", "expected a date"),
    (b'"2024-05-01T12:30:60"', datetime.datetime, "", "refused", "second"),
    (b'"2024-05-01T12:3"', datetime.datetime, "", "type", "expected a date and time"),
    (b'"2024-05-01T12:30:00+24:00"', datetime.datetime, "", "type", "expected a date and time"),
    (b'"2024-05-01T12:30:00."', datetime.datetime, "", "type", "expected a date and time"),
    (b'"12:3"', datetime.time, "", "type", "expected a time"),
    (b"12", datetime.time, "", "type", "expected a time"),
    *[
        (f'"{text}"'.encode(), datetime.timedelta, "", "type", "expected a duration")
        for text in ["P", "PT", "1D", "P1Y", "P1M", "PT1D", "P1DT", "PT1S2M", "PT1.5H1M", "P1D1D", "P1000000000D", "P99999999999999999999D", "P\u0661D"]
    ],
    (b'"1234567812345678123456781234567"', uuid.UUID, "", "type", "expected a UUID"),
    (b'"12345678-1234-5678-1234-56781234567g"', uuid.UUID, "", "type", "expected a UUID"),
    (b'"abc"', decimal.Decimal, "", "type", "expected a number, or a string with one"),
    (b'{"x": 1}', dict[int, int], "", "type", "expected an integer"),
    (b'{"01": 1}', dict[int, int], "", "type", "expected an integer"),
    (b'{"02": 1}', dict[Color, int], "", "type", "expected one of"),
    (b'{"a": ' + b'"' + b"y" * 100 + b'"}', dict[str, int], "/a", "type", "yyy…"),
]


@pytest.mark.parametrize(("text", "wanted", "path", "code", "words"), FAULTS, ids=range(len(FAULTS)))
def test_a_fault_says_where_and_what(text, wanted, path, code, words):
    error = fault(text, wanted)
    assert (error.path, error.code) == (path, code)
    assert words in error.msg
    assert len(error.msg) < 200


def test_a_text_that_is_not_json_is_no_matter_of_types():
    error = fault(b'{"a": x}', int)
    assert error.code == "value" and error.path == "/a"


UNSUPPORTED = [
    complex,
    type,
    range,
    list["Nowhere"],
    "Nowhere",
    typing.Callable[[], int],
    dict[list[int], int],
    int.__class__,
    os,
    3,
    Literal[b"x"],
    Union[int, complex],
    collections.Counter,
    enum.Enum("Tuples", {"A": (1, 2)}),
    collections.abc.Iterator,
    typing.SupportsInt,
]


@pytest.mark.parametrize("wanted", UNSUPPORTED, ids=range(len(UNSUPPORTED)))
def test_types_that_cannot_be_made_are_refused(wanted):
    for _ in range(2):
        with pytest.raises(TypeError):
            load(b"1", wanted)


def test_types_that_fight_back():
    deep = int
    # Python itself crashes when it hashes a type of 100,000 levels.
    for _ in range(3000):
        deep = list[deep]
    with pytest.raises(TypeError, match="too deep"):
        load(b"[]", deep)

    class Hashless(type):
        __hash__ = None

    class Odd(metaclass=Hashless):
        a: int

    assert load(b'{"a": 1}', Odd).a == 1
    assert load(b"1", Annotated[int, []]) == 1

    class Raising(type):
        def __eq__(self, other):
            raise RuntimeError("no")

        def __hash__(self):
            return hash(int)

    class Unequal(metaclass=Raising):
        a: int

    load(b"1", int)
    try:
        load(b'{"a": 1}', Unequal)
    except RuntimeError:
        pass

    @dataclasses.dataclass
    class Unknown:
        a: "Nowhere"  # noqa: F821

    with pytest.raises(TypeError, match="annotations of .*Unknown cannot be evaluated.*Nowhere"):
        load(b"{}", Unknown)


def test_deep_texts():
    @dataclasses.dataclass
    class Deep:
        d: Optional["Deep"]

    Deep.__annotations__["d"] = Optional[Deep]
    for depth in (500, 1023):
        made = load(b'{"d":' * depth + b"null" + b"}" * depth, Deep)
        for _ in range(depth - 1):
            made = made.d
        assert made.d is None
    assert fault(b'{"d":' * 5000 + b"null" + b"}" * 5000, Deep).code == "depth"


def test_a_constructor_may_do_anything():
    text = bytearray(b'[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]')
    made = []

    class Meddling:
        def __init__(self, a: int, b: str):
            made.append((a, b))
            text[:] = b"#" * len(text)
            jird.loads(b'[{"z": [1, 2, {"y": null}]}]', type=list[dict[str, Any]])
            gc.collect()
            for each in gc.get_objects():
                if type(each) is list:
                    len(each), each[:1]

    load(text, list[Meddling])
    assert made == [(1, "x"), (2, "y")]


def test_recursion_through_constructors_ends():
    class Again:
        def __init__(self, a: int):
            jird.loads(b'{"a": 1}', type=Again)

    Again.__init__.__annotations__["a"] = int
    with pytest.raises(RecursionError):
        load(b'{"a": 1}', Again)


def test_typed_values_leak_nothing():
    @dataclasses.dataclass
    class Failing:
        a: Any
        b: Any = None

        def __post_init__(self):
            if self.b:
                raise ValueError("no")

    long = b'"' + b"y" * 100 + b'"'
    calls = [
        lambda: load(b'{"points": [{"x": 1}, {"y": 2, "x": 3}], "name": ' + long + b"}", Shape),
        lambda: fault(b'{"points": [{"x": 1}, {"y": 2, "x": []}], "name": ' + long + b"}", Shape),
        lambda: load(b'[{"b": [' + long + b'], "a": 100000, "a": 200000}]', list[Slotted]),
        lambda: fault(b'[{"b": [' + long + b'], "a": 100000, "a": null}]', list[Slotted]),
        lambda: load(b'[[100000, ' + long + b"]]", list[Pair]),
        lambda: fault(b'[[100000, ' + long + b", 3]]", list[Pair]),
        lambda: fault(b'[{"a": ' + long + b', "b": [{}]}]', list[Failing]),
        lambda: load(b'{"a": ' + long + b"}", WithInit) if False else load(b'{"a": 1, "c": ' + long + b"}", WithInit),
        lambda: load(b'{"k": [' + long + b", 1.5, " + long + b"]}", dict[str, set[Union[str, float]]]),
        lambda: fault(b'{"k": [' + long + b", 1.5, [" + long + b"]]}", dict[str, set[Union[str, float]]]),
        lambda: load(b'["2024-05-01T00:00:00+01:00"]', list[datetime.datetime]),
        lambda: load(b'["12345678-1234-5678-1234-567812345678", 1.25]', tuple[uuid.UUID, decimal.Decimal]),
        lambda: load(b"[1]", list[Annotated[int, [1]]]),
    ]
    for call in calls:

        def run(times):
            for _ in range(times):
                call()
            gc.collect()

        # Of types without a hash, 512 plans are kept, and then none: these are rounds of theirs.
        run(512)
        blocks = sys.getallocatedblocks()
        run(1024)
        assert sys.getallocatedblocks() - blocks < 150

    def classes(times):
        for index in range(times):
            made = dataclasses.make_dataclass("Made", [("a", int), (f"b{index}", str, "")])
            load(b'{"a": 1}', made)
        del made
        gc.collect()

    classes(600)
    blocks = sys.getallocatedblocks()
    classes(1200)
    # Plans are kept for some hundred types, not for ever.
    assert sys.getallocatedblocks() - blocks < 600 * 50


def test_threads_share_plans():
    text = b"[" + b",".join([b'{"points": [{"x": 1}], "name": "n"}'] * 300) + b"]"
    failures = []

    def work():
        try:
            for _ in range(20):
                assert len(load(text, list[Shape])) == 300
                local = dataclasses.make_dataclass("Local", [("a", int)])
                assert load(b'{"a": 1}', local).a == 1
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_collector_is_as_it_was():
    for wanted in (list[Point], list[Shape]):
        load(b"[]", wanted)
        fault(b"[{}]", wanted)
        assert gc.isenabled()
