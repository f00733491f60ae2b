"""What `loads(data, type=T)` makes, `Encoder` and OPT_SERIALIZE_TYPES write: also what JSON has no kind for."""

import collections
import dataclasses
import datetime
import decimal
import io
import ipaddress
import json
import pathlib
import random
import typing
import uuid

import pytest

import jird

ENCODER = jird.Encoder()


class Pair(typing.NamedTuple):
    x: int
    y: str = "b"


@dataclasses.dataclass
class All:
    price: decimal.Decimal
    took: datetime.timedelta
    data: bytes
    tags: set[int]
    path: pathlib.PurePosixPath
    host: ipaddress.IPv4Address
    pair: Pair


VALUES = [
    (decimal.Decimal("1.50"), b"1.50"),
    (decimal.Decimal("-0"), b"-0"),
    (decimal.Decimal("1E+30"), b"1E+30"),
    (decimal.Decimal("123456789012345678901234567890.5"), b"123456789012345678901234567890.5"),
    (datetime.timedelta(0), b'"PT0S"'),
    (datetime.timedelta(days=1, hours=2, minutes=3, seconds=4, microseconds=500000), b'"P1DT2H3M4.5S"'),
    (datetime.timedelta(days=-1, seconds=1), b'"-PT23H59M59S"'),
    (datetime.timedelta(days=7), b'"P7D"'),
    (b"\x00\xff", b'"AP8="'),
    (bytearray(b""), b'""'),
    (frozenset({1}), b"[1]"),
    (collections.deque([1, 2]), b"[1,2]"),
    (pathlib.PurePosixPath("/a/é"), '"/a/é"'.encode()),
    (ipaddress.IPv4Address("10.0.0.1"), b'"10.0.0.1"'),
    (ipaddress.IPv6Network("fe80::/10"), b'"fe80::/10"'),
    (Pair(1), b'[1,"b"]'),
]


@pytest.mark.parametrize(("value", "text"), VALUES, ids=range(len(VALUES)))
def test_values_are_written_and_read_back(value, text):
    for _ in range(2):
        assert ENCODER.encode(value) == text == jird.dumps(value, option=jird.OPT_SERIALIZE_TYPES)
        read = jird.loads(text, type=type(value))
        assert read == value and type(read) is type(value)
    with pytest.raises(jird.JSONEncodeError):
        jird.dumps(value)
    # `default` is still asked by `dumps`, as by orjson.
    assert jird.dumps(value, default=lambda _: "asked") == b'"asked"'


def test_a_class_of_all_of_them():
    value = All(
        decimal.Decimal("1.50"), datetime.timedelta(1), b"ab", {1, 2}, pathlib.PurePosixPath("/a"), ipaddress.IPv4Address(1), Pair(3, "c")
    )
    text = ENCODER.encode([value])
    assert text == (
        b'[{"price":1.50,"took":"P1D","data":"YWI=","tags":[1,2],"path":"/a","host":"0.0.0.1","pair":[3,"c"]}]'
    )
    assert jird.Decoder(list[All]).decode(text) == [value]


def test_random_durations_are_read_back():
    chance = random.Random(3)
    for _ in range(2000):
        value = datetime.timedelta(
            chance.choice([0, 0, 1, -1, 40000]), chance.choice([0, 59, 3600, 86399]), chance.choice([0, 1, 500000, 999999])
        )
        assert jird.loads(ENCODER.encode(value), type=datetime.timedelta) == value


def test_what_is_not_a_number_is_null():
    assert ENCODER.encode([decimal.Decimal("NaN"), decimal.Decimal("-Infinity"), decimal.Decimal("sNaN")]) == b"[null,null,null]"


def test_structs_are_written_as_msgspec_does():
    msgspec = pytest.importorskip("msgspec", reason="skipped: msgspec")

    class Plain(msgspec.Struct):
        a: int
        b: set[int] = msgspec.field(default_factory=set)

    class Renamed(msgspec.Struct, rename="camel", tag="r", omit_defaults=True):
        long_name: int
        other_name: str = "x"
        empty: list[int] = []
        maybe: int | msgspec.UnsetType = msgspec.UNSET

    class Array(msgspec.Struct, array_like=True, tag=True):
        a: int
        b: Plain

    for value in [Plain(1), Plain(1, {2}), Renamed(1), Renamed(1, "y", [1], 5), Array(1, Plain(2)), [Renamed(2, "x", [], 7)]]:
        assert ENCODER.encode(value) == msgspec.json.encode(value), value
        assert jird.loads(ENCODER.encode(value), type=type(value) if not isinstance(value, list) else list[Renamed]) == value


def test_what_is_left_out_of_structs_is_what_msgspec_leaves_out():
    msgspec = pytest.importorskip("msgspec", reason="skipped: msgspec")

    class Omitting(msgspec.Struct, omit_defaults=True):
        x: typing.Any = 5
        z: dict | None = None
        y: typing.Any = msgspec.field(default_factory=list)
        s: str = "a long default, which is one object"

    for value in [Omitting(), Omitting(x=[]), Omitting(z={}), Omitting(y={}), Omitting(y=[]), Omitting(y=[1]), Omitting(5, None, (), "b")]:
        assert ENCODER.encode(value) == msgspec.json.encode(value), value

    class Array(msgspec.Struct, array_like=True):
        a: int | msgspec.UnsetType = msgspec.UNSET
        b: int = 1

    with pytest.raises(jird.JSONEncodeError):
        ENCODER.encode(Array())


def test_classes_that_lie_about_their_text():
    class Sly(decimal.Decimal):
        def __str__(self):
            return 'evil, "x"'

    class Bytes(bytes):
        pass

    assert ENCODER.encode([Sly("1.5"), Bytes(b"ab"), memoryview(b"abcdef")[::2]]) == b'[1.5,"YWI=","YWNl"]'


def test_models_attrs_and_documents():
    pydantic = pytest.importorskip("pydantic", reason="skipped: pydantic")

    class Model(pydantic.BaseModel):
        a: int
        when: datetime.date = datetime.date(2024, 5, 1)

    assert ENCODER.encode({"m": Model(a=1)}) == b'{"m":{"a":1,"when":"2024-05-01"}}'
    document = jird.parse(b'{"a": [1.50, {"b": null}]}')
    assert ENCODER.encode([document["a"], document]) == b'[[1.50, {"b": null}],{"a": [1.50, {"b": null}]}]'
    attrs = pytest.importorskip("attrs", reason="skipped: attrs")

    @attrs.define
    class Point:
        x: int
        y: set[int]
        _hidden: int = 1
        named: int = attrs.field(default=2, alias="other")

    point = Point(1, {2}, 3, 4)
    assert ENCODER.encode([point]) == b'[{"x":1,"y":[2],"hidden":3,"other":4}]'
    assert jird.loads(ENCODER.encode(point), type=Point) == point
    class Aliased(pydantic.BaseModel):
        x: int = pydantic.Field(alias="X")

    assert jird.loads(ENCODER.encode(Aliased(X=5)), type=Aliased).x == 5


def test_other_types_ask_default_and_are_refused_without():
    class Unknown:
        pass

    assert jird.Encoder(default=lambda value: {1}).encode([Unknown()]) == b"[[1]]"
    with pytest.raises(jird.JSONEncodeError, match="Unknown"):
        ENCODER.encode(Unknown())


def test_a_hook_makes_values_of_unknown_types():
    class Money:
        def __init__(self, cents):
            self.cents = cents

        def __eq__(self, other):
            return self.cents == other.cents

    def hook(kind, value):
        return kind(value) if kind is Money else complex(*value)

    @dataclasses.dataclass
    class Order:
        total: Money | None
        points: list[complex]

    # A class with an `__init__` is made by a call, so it needs no hook; `complex` needs one.
    decoder = jird.Decoder(Order, dec_hook=hook)
    assert decoder.decode(b'{"total":{"cents":5},"points":[[1,2]]}') == Order(Money(5), [1 + 2j])
    for make in [lambda: jird.Decoder(Order), lambda: jird.loads("{}", type=Order), lambda: jird.Decoder(5)]:
        with pytest.raises(TypeError, match="jird cannot make (complex|5) from JSON") as refused:
            make()
        assert refused.type is TypeError
    with pytest.raises(jird.JSONDecodeError) as raised:
        jird.Decoder(list[complex], dec_hook=lambda kind, value: "other").decode(b"[1]")
    assert "dec_hook returned str" in raised.value.msg and raised.value.path == "/0"
    for wrapped in [typing.Annotated[complex, jird.Key("p")], typing.Annotated[complex, "words"], typing.NewType("C", complex)]:
        seen = []
        decoder = jird.Decoder(wrapped, dec_hook=lambda kind, value: seen.append(kind) or kind(*value))
        assert decoder.decode(b"[1,2]") == 1 + 2j and seen == [complex]
    either = jird.Decoder(list[complex | None | list[int] | bool], dec_hook=lambda kind, value: kind(value))
    assert either.decode(b'[null,[1],true,1.5,"2j"]') == [None, [1], True, 1.5 + 0j, 2j]
    with pytest.raises(ZeroDivisionError):
        jird.Decoder(complex, dec_hook=lambda kind, value: 1 / 0).decode(b"1")


def test_strings_that_are_no_path_address_or_base64():
    for kind, text in [(bytes, '"a"'), (bytes, '"*AAA"'), (bytes, "1"), (ipaddress.IPv4Address, '"10.0.0"'), (ipaddress.IPv6Address, "1"), (pathlib.Path, "[]")]:
        with pytest.raises(jird.JSONDecodeError):
            jird.loads(text, type=kind)
    assert jird.loads('{"1.5":"/a"}', type=dict[float, pathlib.Path]) == {1.5: pathlib.Path("/a")}
    with pytest.raises(jird.JSONDecodeError):
        jird.loads('{"x":1}', type=dict[float, int])
    assert jird.loads('["10.0.0.1","x"]', type=list[ipaddress.IPv4Address | str]) == [ipaddress.IPv4Address("10.0.0.1"), "x"]


def test_files(tmp_path):
    binary, text = io.BytesIO(), io.StringIO()
    for file in (binary, text):
        jird.dump({"a": "é"}, file, option=jird.OPT_APPEND_NEWLINE)
        file.seek(0)
        assert jird.load(file) == {"a": "é"}
        file.seek(0)
        assert jird.load(file, type=dict[str, str]) == {"a": "é"}
    path = tmp_path / "out.ndjson"
    with jird.Writer(path) as out:
        out.write({"a": 1})
        assert out.write_all(range(3)) == 3 and not out.closed
        with pytest.raises(jird.JSONEncodeError):
            out.write([1, object()])
        out.flush()
        assert path.read_bytes() == b'{"a":1}\n0\n1\n2\n'
        out.write(None)
    assert out.closed and path.read_bytes().endswith(b"2\nnull\n")
    out.close()
    with pytest.raises(ValueError, match="closed"):
        out.write(1)
    with jird.Writer(os_bytes := str(path).encode(), append=True, default=str) as out:
        out.write(decimal.Decimal("1.5"))
    assert pathlib.Path(os_bytes.decode()).read_bytes().endswith(b'null\n"1.5"\n')
    assert list(jird.scan(path))[0] == {"a": 1}
    held = io.StringIO()
    with jird.Writer(held, option=jird.OPT_SORT_KEYS) as out:
        out.write({"b": 1, "a": 2})
    assert held.getvalue() == '{"a":2,"b":1}\n' and not held.closed
    with pytest.raises(ValueError, match="INDENT"):
        jird.Writer(path, option=jird.OPT_INDENT_2)
    with pytest.raises(TypeError, match="path or a file"):
        jird.Writer(5)


def test_what_is_not_an_open_file_is_named(tmp_path):
    path = tmp_path / "a.json"
    for given in [path, str(path), bytes(path)]:
        for call, method, mode in [(jird.load, "read", "rb"), (lambda file: jird.dump({}, file), "write", "wb")]:
            with pytest.raises(TypeError) as raised:
                call(given)
            assert f"`{method}`, not {type(given).__name__}; open it first: open(path, '{mode}')" in str(raised.value)
    assert not path.exists()
    with pytest.raises(TypeError, match="has `read`, not dict$"):
        jird.load({})


def test_a_file_that_takes_a_part_at_a_time_gets_all():
    class Slow(io.RawIOBase):
        def __init__(self):
            self.got = b""

        def write(self, data):
            self.got += bytes(data[:3])
            return min(3, len(data))

    slow = Slow()
    jird.dump(list(range(100)), slow)
    assert json.loads(slow.got) == list(range(100))
    with jird.Writer(slow) as out:
        slow.got = b""
        out.write_all([uuid.UUID(int=1)] * 5)
    assert slow.got == b'"00000000-0000-0000-0000-000000000001"\n' * 5


def test_a_writer_whose_file_fails_says_so_and_keeps_no_lines(tmp_path):
    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

    out = jird.Writer(Full())
    out.write(1)
    with pytest.raises(OSError, match="No space"):
        out.flush()
    # One that is forgotten writes its lines, as files of Python do, and says so.
    path = tmp_path / "forgotten.ndjson"
    with pytest.warns(ResourceWarning, match="was not closed"):
        out = jird.Writer(path)
        out.write(1)
        del out
    assert path.read_bytes() == b"1\n"


def test_threads_share_a_writer(tmp_path, monkeypatch):
    import sys
    import threading

    monkeypatch.setattr(jird.Writer, "_GATHERED", 64)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with jird.Writer(tmp_path / "a.ndjson") as out:
            threads = [threading.Thread(target=lambda n=n: out.write_all([n, index] for index in range(3000))) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    lines = (tmp_path / "a.ndjson").read_text().splitlines()
    assert sorted(map(json.loads, lines)) == [[n, index] for n in range(4) for index in range(3000)]


def test_a_file_that_would_block_is_an_error():
    class Busy(io.RawIOBase):
        def write(self, data):
            return None

    with pytest.raises(BlockingIOError):
        jird.dump(1, Busy())
