"""`loads(data, type=T)`: values with named fields, of classes of any kind."""

import collections
import dataclasses
import datetime
import gc
import sys
from typing import Annotated, ClassVar, Generic, Literal, NamedTuple, Optional, TypedDict, TypeVar, Union

import pytest

import jird


def load(text, wanted):
    return jird.loads(text, type=wanted)


def fault(text, wanted):
    with pytest.raises(jird.JSONDecodeError) as caught:
        load(text, wanted)
    return caught.value


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
