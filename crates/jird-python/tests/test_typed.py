"""`loads(data, type=T)`: values of types that the caller names."""

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
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, NamedTuple, NewType, Optional, TypedDict, TypeVar, Union

import pytest

import jird


def load(text, wanted):
    return jird.loads(text, type=wanted)


def fault(text, wanted):
    with pytest.raises(jird.JSONDecodeError) as caught:
        load(text, wanted)
    return caught.value


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


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5


@dataclasses.dataclass
class Shape:
    name: str
    points: list[Point]
    tags: set[str] = dataclasses.field(default_factory=set)
    parent: Optional["Shape"] = None
    made: ClassVar[int] = 7
    area: float = dataclasses.field(default=1.0, init=False)


def test_data_classes():
    text = b'{"points": [{"x": 1}, {"y": 2, "x": 3, "z": 9}], "name": "n", "parent": {"name": "p", "points": [], "area": 99}}'
    shape = load(text, Shape)
    assert shape == Shape("n", [Point(1), Point(3, 2.0)], set(), Shape("p", []))
    assert shape.parent.area == 1.0 and type(shape.points[1].y) is float
    assert list(vars(shape)) == ["name", "points", "tags", "parent", "area"]
    assert load(b'{"name": "a", "points": []}', Shape).tags is not load(b'{"name": "a", "points": []}', Shape).tags
    assert load(b'[{"x": 1, "x": 2}]', list[Point]) == [Point(2)]
    error = fault(b'{"name": "n", "points": [{"x": 1}, {"y": 2}]}', Shape)
    assert (error.path, error.code, error.msg) == ("/points/1", "missing", 'Point needs the field "x", which is missing, at /points/1')
    assert fault(b'{"name": "n", "points": [], "parent": {"name": 1}}', Shape).path == "/parent/name"
    assert "expected an object (Point), found an array" in fault(b"[]", Point).msg


def test_data_classes_with_slots_or_frozen_or_neither():
    for options in [{}, {"slots": True}, {"frozen": True}, {"frozen": True, "slots": True}, {"kw_only": True}]:

        @dataclasses.dataclass(**options)
        class Base:
            a: int
            b: str = "b"

        @dataclasses.dataclass(**options)
        class Derived(Base):
            c: list[int] = dataclasses.field(default_factory=list)

        made = load(b'{"c": [1], "a": 2, "b": "x"}', Derived)
        assert made == Derived(a=2, b="x", c=[1]) and type(made) is Derived
        assert load(b'{"a": 2}', Derived) == Derived(a=2)
        assert gc.is_tracked(made)
        assert fault(b'{"b": "x"}', Derived).code == "missing"
        assert jird.loads(jird.dumps(made)) == {"a": 2, "b": "x", "c": [1]}


def test_what_a_class_does_when_it_is_made_is_done():
    seen = []

    @dataclasses.dataclass
    class Checked:
        low: int
        high: int

        def __post_init__(self):
            seen.append(self.low)
            if self.low > self.high:
                raise ValueError(f"{self.low} is above {self.high}")

    assert load(b'[{"low": 1, "high": 2}]', list[Checked]) == [Checked(1, 2)] and seen == [1, 1]
    error = fault(b'{"a": [{"low": 1, "high": 2}, {"low": 3, "high": 2}]}', dict[str, list[Checked]])
    assert (error.path, error.code) == ("/a/1", "refused")
    assert error.msg == "3 is above 2, at /a/1" and isinstance(error.__cause__, ValueError)

    @dataclasses.dataclass
    class Failing:
        a: int

        def __post_init__(self):
            raise KeyError("no")

    with pytest.raises(KeyError):
        load(b'[{"a": 1}]', list[Failing])

    @dataclasses.dataclass
    class Seeded:
        a: int
        seed: dataclasses.InitVar[int]
        b: int = dataclasses.field(init=False)

        def __post_init__(self, seed):
            self.b = self.a + seed

    assert load(b'{"a": 1, "seed": 2}', Seeded).b == 3
    assert fault(b'{"a": 1, "seed": "2"}', Seeded).path == "/seed"

    @dataclasses.dataclass
    class Own:
        a: int

        def __init__(self, b: str, c: int = 3):
            self.a = int(b) + c

    assert load(b'{"b": "1"}', Own).a == 4

    @dataclasses.dataclass
    class Setting:
        a: int

        def __setattr__(self, name, value):
            object.__setattr__(self, name, value * 2)

    assert load(b'{"a": 1}', Setting).a == 2


class Slotted:
    __slots__ = ("a", "b")
    a: int
    b: list[str]


class Untyped:
    __slots__ = ("a",)


class Plain:
    a: int
    b: str = "b"


class WithInit:
    def __init__(self, a: int, *rest, b: "list[int]" = (), c=None, **others):
        self.all = (a, b, c)


class Described:
    a: int

    @property
    def b(self):
        return self.a

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value + 1)


def test_other_classes():
    made = load(b'{"b": ["x"], "a": 1}', Slotted)
    assert type(made) is Slotted and (made.a, made.b) == (1, ["x"])
    assert fault(b'{"b": []}', Slotted).code == "missing"
    assert load(b'{"a": {"any": 1}}', Untyped).a == {"any": 1}
    assert vars(load(b'{"a": 1}', Plain)) == {"a": 1, "b": "b"}
    assert load(b'{"a": 1, "b": [1], "z": 1}', WithInit).all == (1, [1], None)
    assert load(b'{"a": 1, "c": {"d": 2}}', WithInit).all == (1, (), {"d": 2})
    assert load(b'{"a": 1}', Described).a == 2


class Movie(TypedDict):
    title: str
    year: int


class Rated(Movie, total=False):
    stars: float


Functional = TypedDict("Functional", {"@t": datetime.datetime, "in": int})


class Pair(NamedTuple):
    first: int
    second: str = "2"


class OwnNew(Pair):
    def __new__(cls, first, second="own"):
        return super().__new__(cls, first, second * 2)


def test_typed_dicts_and_named_tuples():
    assert load(b'{"year": 1, "title": "t", "other": 2}', Movie) == {"title": "t", "year": 1}
    assert load(b'{"year": 1, "title": "t"}', Rated) == {"title": "t", "year": 1}
    assert load(b'{"year": 1, "title": "t", "stars": 1}', Rated)["stars"] == 1.0
    assert fault(b'{"year": 1}', Rated).code == "missing"
    assert load(b'{"in": 1, "@t": "2024-05-01T00:00:00"}', Functional)["@t"].year == 2024
    for text in [b'{"first": 1, "second": "x"}', b'[1, "x"]']:
        made = load(text, Pair)
        assert type(made) is Pair and made == (1, "x")
    assert load(b"[1]", Pair) == load(b'{"first": 1}', Pair) == (1, "2")
    assert load(b'[1, "x"]', OwnNew) == (1, "xx")
    assert fault(b'["x"]', Pair).path == "/0"
    assert fault(b"[]", Pair).code == "missing"
    assert fault(b'[1, "x", 2]', Pair).code == "length"
    plain = collections.namedtuple("plain", "a b", defaults=[5])
    assert load(b'{"a": [1]}', plain) == ([1], 5)


def test_keys_of_json_can_have_other_names():
    @dataclasses.dataclass
    class Event:
        time: Annotated[datetime.datetime, jird.Key("@t")]
        class_: Annotated[Optional[str], jird.Key("class")] = None

    assert load(b'{"@t": "2024-05-01T00:00:00Z", "class": "c"}', Event).class_ == "c"
    assert fault(b'{"class": "c"}', Event).msg.startswith('Event needs the field "@t"')
    with pytest.raises(TypeError, match="two fields of .*Twice have the key 'a'"):

        @dataclasses.dataclass
        class Twice:
            a: int
            b: Annotated[int, jird.Key("a")]

        load(b"{}", Twice)
    with pytest.raises(TypeError, match="a key is a str"):
        jird.Key(1)
    assert repr(jird.Key("x")) == "jird.Key('x')" and jird.Key("x") == jird.Key("x") != jird.Key("y")


@dataclasses.dataclass
class Cat:
    kind: Literal["cat", "kitten"]
    lives: int = 9


@dataclasses.dataclass
class Dog:
    owner: Union[Cat, "Dog", None]
    kind: Literal["dog"] = "dog"
    version: Literal[1] = 1


class Bird(TypedDict):
    kind: Literal["bird"]


def test_unions_of_objects_are_told_apart_by_a_tag():
    wanted = list[Union[Cat, Dog, Bird, None]]
    text = b'[{"lives": 1, "kind": "kitten"}, {"kind": "dog", "owner": {"kind": "dog", "owner": null}}, {"kind": "bird"}, null]'
    assert load(text, wanted) == [Cat("kitten", 1), Dog(Dog(None)), {"kind": "bird"}, None]
    error = fault(b'[{"kind": "fish"}]', wanted)
    assert (error.path, error.code) == ("/0/kind", "type") and "expected one of 'cat', 'kitten', 'dog', 'bird'" in error.msg
    assert fault(b'[{"lives": 1}]', wanted).code == "missing"
    assert fault(b'[{"kind": "cat", "lives": "x"}]', wanted).path == "/0/lives"
    # The last tag counts; but the one before it is none that this class takes.
    assert fault(b'{"kind": "dog", "kind": "cat"}', Union[Cat, Dog]).path == "/kind"
    assert load(b'{"kind": "cat", "kind": "kitten"}', Union[Cat, Dog]) == Cat("kitten")
    with pytest.raises(TypeError, match="no key with a Literal"):
        load(b"{}", Union[Point, Cat])
    with pytest.raises(TypeError, match="no key with a Literal"):
        load(b"{}", Union[dict, Cat])
    with pytest.raises(TypeError, match="several members that are arrays"):
        load(b"{}", Union[list[int], set[str]])


T = TypeVar("T")
S = TypeVar("S", bound=float)


@dataclasses.dataclass
class Box(Generic[T]):
    content: T
    others: list["Box[T]"] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class IntBox(Box[int]):
    size: float = 0


def test_generic_classes():
    assert load(b'{"content": 1, "others": [{"content": 2}]}', Box[int]) == Box(1, [Box(2)])
    assert fault(b'{"content": 1, "others": [{"content": "x"}]}', Box[int]).path == "/others/0/content"
    assert load(b'{"content": "x"}', Box) == Box("x")
    assert load(b'{"content": ["x"]}', Box[list[str]]) == Box(["x"])
    assert fault(b'{"content": "x"}', IntBox).path == "/content"
    assert load(b"1", S) == 1.0


if sys.version_info >= (3, 12):
    exec("type Json = dict[str, Json] | list[Json] | str | float | bool | None\ntype Many[V] = list[V]")

    def test_aliases():
        assert load(b'{"a": [1, null, {"b": true}]}', Json) == {"a": [1.0, None, {"b": True}]}  # noqa: F821
        assert load(b"[1]", Many[int]) == [1]  # noqa: F821
        with pytest.raises(jird.JSONDecodeError):
            load(b'["x"]', Many[int])  # noqa: F821


def test_many_fields():
    names = [f"field{index}" for index in range(150)]
    many = dataclasses.make_dataclass("Many", [(name, int) for name in names], slots=True)
    values = {name: index for index, name in enumerate(reversed(names))}
    made = load(jird.dumps(values), many)
    assert dataclasses.asdict(made) == values
    assert load(jird.dumps(dict(sorted(values.items(), reverse=True))), many) == made
    for name in (names[0], names[63], names[64], names[149]):
        error = fault(jird.dumps({key: value for key, value in values.items() if key != name}), many)
        assert f'"{name}"' in error.msg


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

        run(100)
        blocks = sys.getallocatedblocks()
        run(1000)
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


def test_structs_of_msgspec():
    msgspec = pytest.importorskip("msgspec", reason="skipped: msgspec")

    class User(msgspec.Struct, rename="camel"):
        user_name: str
        tags: list[str] = []
        extra: Union[dict, msgspec.UnsetType] = msgspec.UNSET
        boss: Optional["User"] = None

    User.__annotations__["boss"] = Optional[User]
    made = load(b'{"userName": "n", "tags": ["a"], "boss": {"userName": "b"}}', User)
    assert made == User("n", ["a"], boss=User("b")) and made.extra is msgspec.UNSET
    assert load(b'{"userName": "n"}', User).tags is not load(b'{"userName": "n"}', User).tags
    assert not gc.is_tracked(load(b'{"a": 1}', msgspec.defstruct("Flat", [("a", int)])))
    assert gc.is_tracked(made)

    class Closed(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
        a: int

    assert load(b'{"a": 1}', Closed) == Closed(1) and hash(load(b'{"a": 1}', Closed)) == hash(Closed(1))
    error = fault(b'{"a": 1, "b": 2}', Closed)
    assert (error.code, error.path) == ("unknown", "") and "Closed has no field" in error.msg

    class Get(msgspec.Struct, tag="get"):
        key: str

    class Put(msgspec.Struct, tag=True, tag_field="type"):
        key: str

    class Post(msgspec.Struct, tag="post"):
        value: int

        def __post_init__(self):
            if self.value < 0:
                raise ValueError("below 0")

    assert load(b'[{"type": "get", "key": "k"}, {"value": 1, "type": "post"}]', list[Union[Get, Post]]) == [Get("k"), Post(1)]
    assert load(b'{"key": "k", "type": "Put"}', Put) == load(b'{"key": "k"}', Put) == Put("k")
    assert fault(b'{"type": "put", "key": "k"}', Put).path == "/type"
    assert fault(b'[{"type": "post", "value": -1}]', list[Union[Get, Post]]).code == "refused"

    class Row(msgspec.Struct, array_like=True):
        a: int
        b: str = "b"

    assert load(b"[1]", Row) == Row(1) and load(b'[1, "x"]', Row) == Row(1, "x")
    assert "expected an array (Row)" in fault(b"{}", Row).msg
    assert load(b'[1, "x", {"more": [2]}]', Row) == Row(1, "x")

    class Closed(Row, array_like=True, forbid_unknown_fields=True):
        pass

    assert fault(b'[1, "x", 2]', Closed).code == "length"

    class Plain(msgspec.Struct, gc=False):
        a: int

    many = load(b"[" + b",".join(b'{"a": %d}' % index for index in range(10000)) + b"]", list[Plain])
    assert [each.a for each in many] == list(range(10000))
    del many
    gc.collect()


def test_models_of_pydantic():
    pydantic = pytest.importorskip("pydantic", reason="skipped: pydantic")

    class Item(pydantic.BaseModel):
        name: str
        price: float = pydantic.Field(gt=0, alias="cost")

    class Order(pydantic.BaseModel):
        kind: Literal["order"] = "order"
        at: datetime.datetime
        items: list[Item]

    text = b'[{"at": "2024-05-01T00:00:00Z", "items": [{"name": "n", "cost": 1}]}]'
    assert load(text, list[Order])[0].items[0].price == 1.0
    error = fault(b'[{"at": "2024-05-01T00:00:00Z", "items": [{"name": "n", "cost": 1}, {"name": "n", "cost": -1}]}]', list[Order])
    assert (error.path, error.code) == ("/0/items/1/cost", "refused") and "greater than 0" in error.msg
    assert isinstance(error.__cause__, pydantic.ValidationError)
    assert type(load(b'{"kind": "order", "at": "2024-05-01T00:00:00Z", "items": []}', Union[Order, Cat])) is Order
    assert load(b'{"kind": "cat"}', Union[Order, Cat]) == Cat("cat")
