"""Limits in `Annotated`, by annotated_types, msgspec and pydantic, and decoders and encoders that are made once."""

import dataclasses
import datetime
import decimal
import json
import random
import threading
import typing
import uuid
from typing import Annotated

import pytest

import jird

annotated_types = pytest.importorskip("annotated_types", reason="skipped: annotated_types")
msgspec = pytest.importorskip("msgspec", reason="skipped: msgspec")


def outcome(decode):
    try:
        return decode()
    except (jird.JSONDecodeError, msgspec.ValidationError):
        return "refused"


def test_limits_of_msgspec_hold_as_there():
    chance = random.Random(5)
    refused = made = 0
    for _ in range(3000):
        kind = chance.choice([int, float, str, list[int], dict[str, int], bytes])
        if kind in (int, float):
            limits = {name: chance.choice([-3, 0, 2, 5]) for name in ("ge", "le") if chance.random() < 0.5}
            if chance.random() < 0.3:
                limits["multiple_of"] = 3 if kind is int else 0.5
            value = chance.choice([-4, -3, 0, 2, 3, 5, 6, 9]) * (1 if kind is int else chance.choice([1.0, 0.5, 0.25]))
        else:
            kind = str if kind is bytes else kind
            limits = {name: chance.choice([0, 1, 3]) for name in ("min_length", "max_length") if chance.random() < 0.6}
            size = chance.randrange(5)
            value = {str: "ß" * size, list[int]: list(range(size))}.get(kind, {str(each): each for each in range(size)})
            if kind is str and chance.random() < 0.5:
                limits["pattern"] = chance.choice(["^ß*$", "ß", "^$", "x"])
        wanted = list[Annotated[kind, msgspec.Meta(**limits)]]
        text = json.dumps([value]).encode()
        expected = outcome(lambda: msgspec.json.decode(text, type=wanted))
        found = outcome(lambda: jird.loads(text, type=wanted))
        assert found == expected, (wanted, text)
        refused += found == "refused"
        made += found != "refused"
    assert min(refused, made) > 500


@dataclasses.dataclass
class Order:
    count: Annotated[int, annotated_types.Ge(1), annotated_types.Lt(100)]
    code: Annotated[str, annotated_types.Len(2, 4)] = "ab"
    tags: Annotated[list[Annotated[str, annotated_types.MinLen(1)]], annotated_types.MaxLen(2)] = dataclasses.field(
        default_factory=list
    )
    even: Annotated[int, annotated_types.Predicate(lambda value: value % 2 == 0)] = 2
    when: Annotated[datetime.date, annotated_types.Gt(datetime.date(2024, 1, 1))] = datetime.date(2024, 5, 1)
    price: Annotated[decimal.Decimal, annotated_types.Interval(gt=0, le=10)] = decimal.Decimal(1)
    maybe: Annotated[int, annotated_types.MultipleOf(5)] | None = None


@pytest.mark.parametrize(
    ("text", "words", "path"),
    [
        ('{"count":0}', "expected a value of at least 1, found the number 0", "/count"),
        ('{"count":100}', "expected a value below 100, found the number 100", "/count"),
        ('{"count":1,"code":"a"}', "expected at least 2 characters, found the string \"a\"", "/code"),
        ('{"count":1,"code":"abcde"}', "expected at most 4 characters", "/code"),
        ('{"count":1,"tags":["a",""]}', "expected at least 1 character,", "/tags/1"),
        ('{"count":1,"tags":["a","b","c"]}', "expected at most 2 elements, found an array", "/tags"),
        ('{"count":1,"even":3}', "expected a value for which <lambda> holds", "/even"),
        ('{"count":1,"when":"2023-12-31"}', "expected a value above 2024-01-01", "/when"),
        ('{"count":1,"price":10.01}', "expected a value of at most 10", "/price"),
        ('{"count":1,"maybe":7}', "", "/maybe"),
        ('{"count":"1"}', "expected an integer", "/count"),
    ],
)
def test_limits_of_annotated_types(text, words, path):
    with pytest.raises(jird.JSONDecodeError) as raised:
        jird.loads(text, type=Order)
    assert words in raised.value.msg and raised.value.path == path


def test_values_within_limits_are_made():
    text = '{"count":99,"code":"abcd","tags":["a","b"],"even":4,"when":"2024-01-02","price":10,"maybe":10}'
    order = jird.loads(text, type=Order)
    assert order == Order(99, "abcd", ["a", "b"], 4, datetime.date(2024, 1, 2), decimal.Decimal(10), 10)
    keys = dict[Annotated[str, annotated_types.MaxLen(2)], Annotated[int, annotated_types.Ge(0)]]
    assert jird.loads('{"a":1}', type=keys) == {"a": 1}
    for text in ('{"abc":1}', '{"a":-1}'):
        with pytest.raises(jird.JSONDecodeError):
            jird.loads(text, type=keys)


def test_limits_of_pydantic_and_of_structs():
    pydantic = pytest.importorskip("pydantic", reason="skipped: pydantic")

    class Point(msgspec.Struct):
        x: Annotated[int, msgspec.Meta(ge=0)]
        when: Annotated[datetime.datetime, msgspec.Meta(tz=True)] | None = None

    assert jird.loads('{"x":1,"when":"2024-05-01T12:00:00Z"}', type=Point).x == 1
    for text in ('{"x":-1}', '{"x":1,"when":"2024-05-01T12:00:00"}'):
        with pytest.raises(jird.JSONDecodeError):
            jird.loads(text, type=Point)
    short = Annotated[str, pydantic.Field(max_length=3, pattern="^a")]
    assert jird.loads('"abc"', type=short) == "abc"
    for text in ('"abcd"', '"b"'):
        with pytest.raises(jird.JSONDecodeError):
            jird.loads(text, type=short)


def test_limits_of_several_kinds_are_about_those_that_have_them():
    for wanted, within, beyond in [
        (Annotated[int | None, msgspec.Meta(gt=0)], ["null", "1"], ["0"]),
        (Annotated[str | None, annotated_types.MaxLen(3)], ["null", '"abc"'], ['"abcd"']),
        (Annotated[int | str, annotated_types.Gt(0)], ['"x"', "1"], ["0"]),
        (Annotated[datetime.datetime | None, msgspec.Meta(tz=True)], ["null", '"2024-05-01T12:00:00Z"'], ['"2024-05-01T12:00:00"']),
        (Annotated[list[int] | str, annotated_types.MinLen(1)], ["[1]", '"a"'], ["[]", '""']),
    ]:
        for text in within:
            jird.loads(text, type=wanted)
        for text in beyond:
            with pytest.raises(jird.JSONDecodeError) as raised:
                jird.loads(text, type=wanted)
            assert raised.value.code == "limit"
    # Here nothing could have the limit.
    for wanted, text in [(Annotated[int, annotated_types.MinLen(1)], "1"), (Annotated[str, annotated_types.Gt(1)], '"a"')]:
        with pytest.raises(jird.JSONDecodeError):
            jird.loads(text, type=wanted)
    assert jird.loads('"a"', type=Annotated[str, annotated_types.MinLen(-1)]) == "a"


def test_limits_of_one_s_own_classes_are_checked():
    class Above(annotated_types.Gt):
        pass

    class Small(annotated_types.GroupedMetadata):
        def __iter__(self):
            yield annotated_types.Ge(0)
            yield annotated_types.Lt(10)

    for limit in (Above(5), Small()):
        for number in (5, 10, -1):
            wanted = Annotated[int, limit]
            holds = number > 5 if isinstance(limit, Above) else 0 <= number < 10
            assert (outcome(lambda: jird.loads(str(number), type=wanted)) == number) == holds


def test_a_limit_that_raises_and_one_that_is_not_known():
    def fails(value):
        raise KeyError(value)

    with pytest.raises(KeyError):
        jird.loads("1", type=Annotated[int, annotated_types.Predicate(fails)])
    with pytest.raises(TypeError, match="cannot check"):
        jird.loads('"2024-05-01T12:00:00Z"', type=Annotated[datetime.datetime, annotated_types.Timezone("Europe/Berlin")])
    pydantic = pytest.importorskip("pydantic", reason="skipped: pydantic")
    with pytest.raises(TypeError, match="cannot check"):
        jird.loads("1", type=Annotated[decimal.Decimal, pydantic.Field(max_digits=3)])
    # No limit, and none of these libraries.
    assert jird.loads("1", type=Annotated[int, "words", 5, [1], annotated_types.Unit("m")]) == 1


def test_a_type_without_a_hash_is_planned_once():
    wanted = Annotated[int, [1]]
    with pytest.raises(TypeError):
        hash(wanted)
    import jird._types as types

    planned = []
    original = types.plan
    types.plan = lambda each: planned.append(each) or original(each)
    try:
        for _ in range(5):
            assert jird.loads("1", type=wanted) == 1
            # Another one, which may get the address of one before.
            assert jird.loads('"a"', type=Annotated[str, [1]]) == "a"
    finally:
        types.plan = original
    assert planned.count(wanted) <= 1


def test_iso_forms_and_uuids():
    cases = [
        (datetime.datetime, ["2024-05-01T12:30:00+0000", "2024-05-01T12:30:00+00", "2024-05-01 12:30Z", "20240501T123000Z"],
         datetime.datetime(2024, 5, 1, 12, 30, tzinfo=datetime.timezone.utc)),
        (datetime.datetime, ["2024-05-01T12:30:00,25", "20240501T123000.25"], datetime.datetime(2024, 5, 1, 12, 30, 0, 250000)),
        (datetime.date, ["20240501"], datetime.date(2024, 5, 1)),
        (datetime.time, ["12:30", "1230", "12:30:00"], datetime.time(12, 30)),
        (uuid.UUID, ["3f2504e04f8911d39a0c0305e82c3301", "3F2504E0-4F89-11D3-9A0C-0305E82C3301"],
         uuid.UUID("3f2504e0-4f89-11d3-9a0c-0305e82c3301")),
    ]  # fmt: skip
    for kind, texts, wanted in cases:
        for text in texts:
            assert jird.loads(json.dumps(text), type=kind) == wanted, text
    for kind, texts in [
        (datetime.datetime, ["2024-05-01", "2024-05-01T12", "2024-05-01T12:3", "2024-0501T12:30", "2024-05-01T12:30:0", "2024-05-01T12:30+1",
                             "2024-05-01T12:30:00.", "2024-05-01T12:30:00+00:", "2024-05-01T12:30.5"]),
        (datetime.date, ["2024051", "2024-0501", "202405-01"]),
        (uuid.UUID, ["3f2504e04f8911d39a0c0305e82c330", "3f2504e04f89-11d39a0c0305e82c3301", "{3f2504e04f8911d39a0c0305e82c3301}"]),
    ]:  # fmt: skip
        for text in texts:
            with pytest.raises(jird.JSONDecodeError):
                print(text, jird.loads(json.dumps(text), type=kind))


def test_decoders():
    decoder = jird.Decoder(list[Order])
    assert decoder.decode(b'[{"count":1}]') == [Order(1)] and decoder.type == list[Order]
    assert repr(jird.Decoder(int)) == "jird.Decoder(<class 'int'>)"
    assert jird.Decoder().decode('{"a":[1]}') == {"a": [1]} and jird.Decoder().type is None
    with pytest.raises(jird.JSONDecodeError):
        decoder.decode("[{}]")
    with pytest.raises(TypeError):
        jird.Decoder(typing.Callable)
    found = []
    threads = [threading.Thread(target=lambda: found.extend(decoder.decode('[{"count":1}]') for _ in range(200))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[Order(1)]] * 800


def test_encoders():
    encoder = jird.Encoder(default=str, option=jird.OPT_SORT_KEYS)
    assert encoder.encode({"b": 1 + 2j, "a": 1}) == b'{"a":1,"b":"(1+2j)"}'
    assert jird.Encoder().encode([1]) == b"[1]"
    with pytest.raises(jird.JSONEncodeError):
        jird.Encoder(option=1 << 30)
    with pytest.raises(jird.JSONEncodeError):
        jird.Encoder().encode(object())
