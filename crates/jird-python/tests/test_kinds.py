"""What `dumps` knows of a class is found out once. It is found out again when the class has changed, and nothing is taken for
another class."""

import abc
import dataclasses
import datetime
import enum
import gc
import json
import typing
import uuid

import pytest

import jird


def test_a_class_that_becomes_a_data_class_is_written_as_one():
    class Late:
        def __init__(self):
            self.x = 1

    for _ in range(3):
        with pytest.raises(jird.JSONEncodeError):
            jird.dumps(Late())
    Late.__annotations__ = {"x": int}
    dataclasses.dataclass(Late)
    for _ in range(3):
        assert jird.dumps([Late()]) == b'[{"x":1}]'
    del Late.__dataclass_fields__
    for _ in range(3):
        with pytest.raises(jird.JSONEncodeError):
            jird.dumps(Late())


def test_a_change_of_a_base_is_seen():
    class Base:
        pass

    class Derived(Base):
        def __init__(self):
            self.y = 2

    for _ in range(3):
        with pytest.raises(jird.JSONEncodeError):
            jird.dumps(Derived())
    Base.__annotations__ = {"x": int}
    dataclasses.dataclass(Base)
    found = Derived()
    for _ in range(3):
        assert jird.dumps(found) == b'{"y":2}'


def test_an_enum_with_a_value_of_its_own():
    class Plain(enum.Enum):
        ONE = "one"

    class Own(enum.Enum):
        ONE = "one"

        @property
        def value(self):
            return ["own", self.name]

    class Mixed(str, enum.Enum):
        ONE = "uno"

    for _ in range(3):
        assert jird.dumps([Plain.ONE, Own.ONE, Mixed.ONE]) == b'["one",["own","ONE"],"uno"]'
        keys = {Plain.ONE: 1, Mixed.ONE: 2}
        assert jird.dumps(keys, option=jird.OPT_NON_STR_KEYS) == b'{"one":1,"uno":2}'
    for kind in (enum.IntEnum, str):
        class Number(*((kind,) if kind is enum.IntEnum else (str, enum.Enum))):
            ONE = 1 if kind is enum.IntEnum else "one"

        Number.ONE._value_ = 7
        # As orjson and json, each time.
        assert [jird.dumps(Number.ONE) for _ in range(3)] == [json.dumps(Number.ONE).encode()] * 3
    Plain.value = property(lambda self: 7)
    for _ in range(3):
        assert jird.dumps(Plain.ONE) == b"7"


def test_a_metaclass_is_not_asked_what_a_class_is():
    class Meta(type):
        def __getattr__(cls, name):
            if name == "__dataclass_fields__":
                return {}
            raise AttributeError(name)

    class Odd(metaclass=Meta):
        def __init__(self):
            self.x = 1

    for _ in range(3):
        with pytest.raises(jird.JSONEncodeError):
            jird.dumps(Odd())


def test_a_class_that_gives_its_objects_another_class_poisons_nothing():
    class Plain:
        def __init__(self):
            self.secret = 5

    class Meta(type):
        @property
        def __class__(cls):
            for each in given:
                object.__setattr__(each, "__class__", Plain)
            return type

    given = []

    @dataclasses.dataclass
    class Odd(metaclass=Meta):
        secret: int = 1

    for _ in range(3):
        given.append(Odd())
        try:
            jird.dumps(given[-1])
        except jird.JSONEncodeError:
            pass
    with pytest.raises(jird.JSONEncodeError):
        jird.dumps(Plain())


def test_options_for_times_hold_for_keys_that_default_is_not_asked_for():
    when = datetime.datetime(2020, 1, 1, 1, 1, 1, 5)
    option = jird.OPT_NON_STR_KEYS | jird.OPT_PASSTHROUGH_DATETIME | jird.OPT_NAIVE_UTC | jird.OPT_UTC_Z | jird.OPT_OMIT_MICROSECONDS
    assert jird.dumps({when: 1}, option=option) == b'{"2020-01-01T01:01:01Z":1}'


def test_many_classes_that_come_and_go():
    for turn in range(3000):
        if turn % 3 == 0:
            kind = dataclasses.make_dataclass(f"A{turn}", ["x"])
            value, wanted = kind(turn), b'{"x":%d}' % turn
        elif turn % 3 == 1:
            value, wanted = type(f"B{turn}", (str,), {})("text"), b'"text"'
        else:
            value, wanted = type(f"C{turn}", (), {})(), None
        for _ in range(2):
            if wanted is None:
                with pytest.raises(jird.JSONEncodeError):
                    jird.dumps(value)
            else:
                assert jird.dumps(value) == wanted
        del value
        if turn % 500 == 0:
            gc.collect()


def test_classes_are_not_kept():
    import weakref

    kind = dataclasses.make_dataclass("Gone", ["x"])
    jird.dumps([kind(1)] * 3)
    gone = weakref.ref(kind)
    del kind
    gc.collect()
    assert gone() is None


def test_data_classes_of_bases_with_slots():
    T = typing.TypeVar("T")

    @dataclasses.dataclass
    class Of(typing.Generic[T]):
        x: int

    @dataclasses.dataclass
    class Abstract(abc.ABC):
        x: int

    @dataclasses.dataclass(slots=True)
    class Slotted:
        x: int
        _hidden: int = 5

    @dataclasses.dataclass
    class More(Slotted):
        y: int = 2

    @dataclasses.dataclass(slots=True)
    class Empty:
        pass

    for kind in (Of, Abstract):
        value = kind(1)
        value.beside = 2
        for _ in range(3):
            assert jird.dumps(value) == b'{"x":1,"beside":2}'
    for _ in range(3):
        assert jird.dumps([Slotted(1), More(1), Empty()]) == b'[{"x":1},{"x":1,"y":2},{}]'


def test_options_decide_among_what_a_class_is():
    @dataclasses.dataclass
    class Both(str):
        x: int

        def __new__(cls, x):
            return super().__new__(cls, "text")

    class Unknown:
        pass

    value = Both(3)
    both = jird.OPT_PASSTHROUGH_SUBCLASS | jird.OPT_PASSTHROUGH_DATACLASS
    for _ in range(3):
        assert jird.dumps(value) == b'"text"'
        assert jird.dumps(value, option=jird.OPT_PASSTHROUGH_SUBCLASS) == b'{"x":3}'
        assert jird.dumps(value, lambda _: 1, both) == b"1"
        when = datetime.datetime(2024, 5, 1)
        assert jird.dumps([when, when.date(), datetime.time(1)], str, jird.OPT_PASSTHROUGH_DATETIME) == (
            b'["2024-05-01 00:00:00","2024-05-01","01:00:00"]'
        )
        assert jird.dumps(uuid.UUID(int=2**100 + 1)) == b'"00000010-0000-0000-0000-000000000001"'
        with pytest.raises(jird.JSONEncodeError):
            jird.dumps(Unknown())


def test_dates_of_every_field():
    zones = [None, datetime.timezone.utc, datetime.timezone(datetime.timedelta(hours=-9, minutes=-30)),
             datetime.timezone(datetime.timedelta(hours=14)), datetime.timezone(datetime.timedelta(seconds=29)),
             datetime.timezone(datetime.timedelta(seconds=-86399))]  # fmt: skip
    for year in (1, 9, 99, 999, 1970, 2024, 9999):
        for month, day in ((1, 1), (12, 31), (10, 9)):
            for clock in ((0, 0, 0, 0), (23, 59, 59, 999999), (1, 2, 3, 4), (12, 30, 0, 100000)):
                when = datetime.datetime(year, month, day, *clock)
                assert jird.dumps([when, when.date(), when.time()]) == jird.dumps(
                    [when.isoformat(), when.date().isoformat(), when.time().isoformat()]
                )
                for zone in zones[:4]:
                    assert jird.dumps(when.replace(tzinfo=zone)) == jird.dumps(when.replace(tzinfo=zone).isoformat())
    # RFC 3339 has no seconds there.
    assert jird.dumps(datetime.datetime(2024, 1, 1, tzinfo=zones[4])) == b'"2024-01-01T00:00:00+00:00"'
    assert jird.dumps(datetime.datetime(2024, 1, 1, tzinfo=zones[5])) == b'"2024-01-01T00:00:00-23:59"'


def test_scalars_and_arrays_of_numpy_are_read_where_they_are():
    numpy = pytest.importorskip("numpy", reason="skipped: numpy")
    option = jird.OPT_SERIALIZE_NUMPY

    class Mine(numpy.float64):
        pass

    class Array(numpy.ndarray):
        pass

    for kind in "?bBhHiIlLqQefd":
        values = numpy.array([0, 1, 100], kind)
        for _ in range(2):
            assert jird.dumps(list(values), option=option) == jird.dumps(values, option=option)
            assert jird.loads(jird.dumps(values, option=option)) == values.tolist()
        shaped = numpy.zeros((2, 3, 2), kind)
        assert jird.loads(jird.dumps(shaped, option=option)) == shaped.tolist()
    for unit in ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "25s", "3M"]:
        times = numpy.array([0, 1, 52], f"M8[{unit}]")
        assert jird.dumps(list(times), option=option) == jird.dumps(times, option=option)
    with pytest.raises(jird.JSONEncodeError):
        jird.dumps(numpy.array([1], "M8[ps]"), option=option)
    assert jird.dumps([Mine(1.5)], option=option) == b"[1.5]"
    with pytest.raises(jird.JSONEncodeError):
        jird.dumps(numpy.zeros(2).view(Array), option=option)
    with pytest.raises(jird.JSONEncodeError):
        jird.dumps([numpy.float64(1.5), numpy.int64(1)])
    assert jird.dumps(numpy.zeros((0, 3)), option=option) == b"[]"
    assert jird.dumps(numpy.zeros(0, "M8[s]"), option=option) == b"[]"


def test_keys_that_are_not_strings():
    option = jird.OPT_NON_STR_KEYS
    keys = {1: 1, -(2**63): 2, 2**63: 3, 2**70: 4, True: 5, None: 6, 1.5: 7, "a": 8, uuid.UUID(int=1): 9, datetime.date(2024, 1, 2): 10}
    wanted = (
        b'{"1":5,"-9223372036854775808":2,"9223372036854775808":3,"1180591620717411303424":4,"null":6,"1.5":7,"a":8,'
        b'"00000000-0000-0000-0000-000000000001":9,"2024-01-02":10}'
    )
    assert jird.dumps(keys, option=option) == wanted
    assert jird.dumps({1: {2: 3}}, option=option | jird.OPT_INDENT_2) == b'{\n  "1": {\n    "2": 3\n  }\n}'
    assert jird.dumps({2: 1, 10: 2, "1": 3}, option=option | jird.OPT_SORT_KEYS) == b'{"1":3,"10":2,"2":1}'
    with pytest.raises(jird.JSONEncodeError, match="Dict key must be str"):
        jird.dumps({1: 2}, option=jird.OPT_SORT_KEYS)
    with pytest.raises(jird.JSONEncodeError):
        jird.dumps({(1, 2): 3}, option=option)
