"""`jird.json` beside Python's json: the same values, texts and errors."""

import collections
import decimal
import enum
import io
import json
import math
import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jird import json as ours

TEXTS = [
    "1", "-0", "0.0", "-0.0", "1e5", "1E400", "-1e999", "123456789012345678901234567890", "1.5", '"a"', "true", "null",
    "[]", "{}", ' [1, 2.5, "x", null] ', '{"a": {"b": [1]}, "a": 2}', '"\\u00e9\\ud83d\\ude00"', '"\\ud800"', '"\\ud800x"',
    "NaN", "[Infinity, -Infinity]", '{"a": NaN}', '"é"', "\ufeff1", "", " ", "[1,]", "[1", '{"a" 1}', '{"a": 1,}',
    "01", "1.", ".5", "+1", "tru", "'a'", '"\n"', '"\\x"', "[1] 2", "{1: 2}", "\x0c1", "-", "1e", '"\\u12"', "[" * 100 + "]" * 100,
]  # fmt: skip


def outcome(function, *arguments, **names):
    try:
        return "value", function(*arguments, **names)
    except Exception as error:
        return type(error), str(error)


def same(one, other):
    kind, value = one
    if kind == "value" and other[0] == "value":
        assert repr(value) == repr(other[1])
    else:
        assert one == other


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize(
    "names",
    [
        {},
        {"object_hook": lambda value: ("hook", value)},
        {"object_pairs_hook": lambda value: ("pairs", value)},
        {"object_hook": len, "object_pairs_hook": collections.OrderedDict},
        {"parse_float": decimal.Decimal},
        {"parse_float": str, "parse_int": lambda text: f"int {text}"},
        {"parse_int": float, "parse_float": float},
        {"parse_constant": lambda text: f"constant {text}"},
        {"strict": False},
        {"cls": json.JSONDecoder},
        {"cls": ours.JSONDecoder},
    ],
    ids=range(11),
)
def test_loads(text, names):
    for input in (text, text.encode("utf-8", "surrogatepass"), bytearray(text.encode("utf-8", "surrogatepass"))):
        same(outcome(ours.loads, input, **names), outcome(json.loads, input, **names))


def test_loads_of_other_encodings_and_other_types():
    for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-32-be", "utf-8-sig"):
        text = '{"é": [1]}'.encode(encoding)
        assert ours.loads(text) == json.loads(text)
    for input in (None, 1, memoryview(b"1"), [b"1"]):
        same(outcome(ours.loads, input), outcome(json.loads, input))
    assert ours.load(io.StringIO('{"a": 1}'), object_hook=list) == ["a"]
    assert ours.load(io.BytesIO(b"[1]")) == [1]
    same(outcome(ours.loads, "1", unknown=1), outcome(json.loads, "1", unknown=1))


def test_hooks_are_called_as_json_calls_them():
    text = '{"a": {"b": 1}, "c": [{"d": 2}, {"e": 3}]}'
    for name in ("object_hook", "object_pairs_hook"):
        calls = {}
        for module in (json, ours):
            seen = calls[module] = []
            module.loads(text, **{name: lambda value: seen.append(value) or len(seen)})
        assert calls[json] == calls[ours] and len(calls[ours]) == 4

    def raising(_):
        raise KeyError("no")

    with pytest.raises(KeyError):
        ours.loads(text, object_hook=raising)
    # Hooks that raise what the engine raises are not called again.
    seen = []

    def refusing(value):
        seen.append(value)
        raise json.JSONDecodeError("no", "", 0)

    with pytest.raises(json.JSONDecodeError, match="no"):
        ours.loads("{}", object_hook=refusing)
    assert len(seen) == 1


def test_too_many_digits():
    text = "1" * 5000
    same(outcome(ours.loads, text), outcome(json.loads, text))


class Text(str):
    def __str__(self):
        return "wrong"

    __repr__ = __str__


class Int(int):
    def __repr__(self):
        return "wrong"

    __str__ = __repr__


class Float(float):
    def __repr__(self):
        return "wrong"


class Items(dict):
    def items(self):
        return [("x", 1), ("a", 2)]


class Level(enum.IntEnum):
    ONE = 1


Pair = collections.namedtuple("Pair", "a b")
VALUES = [
    None, True, False, 0, -1, 2**63, 2**64, -(10**30), 0.0, -0.0, 1.0, 1.5, 1e16, 1e15, 123456789012345680.0, 9999999999999998.0,
    1e-4, 1e-5, 0.00012345, 1e22, 1e100, 1.5e300, 5e-324, 1.7976931348623157e308, math.nan, math.inf, -math.inf,
    "", "abc", 'a"b\\c/d', "\x00\x01\x1f\x7f\x80\x9f", "\b\f\n\r\t", "é€😀", "\ud800", "\udc00\ud800x", "a" * 100 + "é" + "\u2028", Text("t"),
    [], {}, (), [[]], [{}], [1, [2, (3, 4)], {"a": [5]}], {"b": 1, "a": {"d": [], "c": {}}}, Pair(1, "x"),
    {1: 2, 1.5: 3, True: 4, None: 5, "s": 6, math.nan: 7, 10**30: 8}, {Int(3): Int(4)}, Float(1.5), {Float(2.5): 1}, Level.ONE, {Level.ONE: Level.ONE},
    Items(z=1), collections.OrderedDict(b=1, a=2), collections.defaultdict(list, a=[1]), {("a",): 1}, {("a",): 1, "b": 2},
    {b"x": 1}, object, {"a": {1, 2}}, 1j, b"x", [object()], {"\ud800": 1}, {"é": "é"}, {1: 1, "1": 2},
]  # fmt: skip
WAYS = [
    {}, {"ensure_ascii": False}, {"indent": 2}, {"indent": 0}, {"indent": "\t"}, {"indent": -1}, {"separators": (",", ":")}, {"separators": (" é ", " -> "), "indent": 1},
    {"sort_keys": True}, {"sort_keys": True, "indent": 4}, {"skipkeys": True}, {"skipkeys": True, "indent": 1}, {"allow_nan": False},
    {"default": lambda value: ["default", str(type(value))]}, {"default": str, "indent": 3, "sort_keys": True}, {"check_circular": False},
    {"cls": json.JSONEncoder}, {"cls": ours.JSONEncoder},
]  # fmt: skip


def masked(result):
    """Without what differs between versions of Python: the value that is not compliant, and a colon."""
    kind, value = result
    return (kind, value.split(":")[0]) if kind is ValueError else result


@pytest.mark.parametrize("ways", WAYS, ids=range(len(WAYS)))
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_dumps(value, ways):
    if isinstance(value, object) and type(value) is list and value and type(value[0]) is object and "default" in ways:
        value = [{1}]
    if "skipkeys" in ways and "indent" in ways and value in ({("a",): 1}, {b"x": 1}):
        # Versions of Python differ in the lines between the brackets.
        assert ours.dumps(value, **ways) == "{}"
        return
    wanted, found = outcome(json.dumps, value, **ways), outcome(ours.dumps, value, **ways)
    assert masked(found) == masked(wanted)


def test_dump_and_encoders():
    file = io.StringIO()
    ours.dump({"a": [1, "é"]}, file, indent=1)
    assert file.getvalue() == json.dumps({"a": [1, "é"]}, indent=1)

    for module in (json, ours):

        class Own(module.JSONEncoder):
            item_separator = ";"

            def default(self, o):
                return {"set": sorted(o)} if isinstance(o, set) else super().default(o)

        assert module.dumps([{2, 1}], cls=Own) == '[{"set": [1;2]}]'
        with pytest.raises(TypeError, match="Object of type complex is not JSON serializable"):
            module.dumps([1j], cls=Own)

        class Iterating(module.JSONEncoder):
            def iterencode(self, o, _one_shot=False):
                return ["<", str(o), ">"]

        assert module.dumps([1], cls=Iterating) == "<[1]>"

        class Decoding(module.JSONDecoder):
            def raw_decode(self, s, idx=0):
                return "raw", len(s)

        assert module.loads("[1]", cls=Decoding) == "raw"
        assert module.JSONDecoder(object_hook=list).decode(' {"a": 1} ') == ["a"]
        assert module.JSONDecoder().raw_decode("[1] x") == ([1], 3)
        assert "".join(module.JSONEncoder(indent=1).iterencode([1])) == "[\n 1\n]"


def test_circles_and_depth():
    circle = []
    circle.append({"a": circle})
    for ways in ({}, {"default": str}):
        with pytest.raises(ValueError, match="Circular reference detected"):
            ours.dumps(circle, **ways)
    with pytest.raises(ValueError, match="Circular reference detected"):
        ours.dumps(1j, default=lambda value: [value])
    for circular in (circle, 1j):
        with pytest.raises(RecursionError):
            ours.dumps(circular, check_circular=False, default=lambda value: [value])
    deep = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(RecursionError):
        ours.dumps(deep)
    shared = [1]
    assert ours.dumps([shared, shared]) == "[[1], [1]]"


def test_values_that_change_while_they_are_written():
    value = {"a": {1}, "b": [{2}, "x" * 50], "c": 1}

    def default(_):
        value.clear()
        value["new"] = 1
        return "changed"

    assert json.loads(ours.dumps(value, default=default))["a"] == "changed"
    items = [{1}, {2}, {3}]

    def shrink(_):
        items.clear()
        return 1

    assert ours.dumps(items, default=shrink) == "[1]"


def test_nothing_leaks():
    text = '{"a": [1, 2.5, "' + "x" * 50 + '", {"b": null}], "c": 100000}'
    value = json.loads(text)

    def run(times):
        for _ in range(times):
            ours.loads(text)
            ours.loads(text, object_hook=dict, parse_float=decimal.Decimal)
            ours.loads(text, object_pairs_hook=list)
            ours.dumps(value, indent=1, sort_keys=True)
            outcome(ours.dumps, [value, {1}])
            outcome(ours.loads, text[:-1])

    run(100)
    blocks = sys.getallocatedblocks()
    run(1000)
    assert sys.getallocatedblocks() - blocks < 200


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.floats() | st.none(), inner),
)


@settings(max_examples=300, deadline=None)
@given(json_values, st.booleans(), st.none() | st.integers(0, 3))
def test_any_values(value, ensure_ascii, indent):
    wanted = json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)
    assert ours.dumps(value, ensure_ascii=ensure_ascii, indent=indent) == wanted
    assert repr(ours.loads(wanted)) == repr(json.loads(wanted))


def test_floats():
    chance = random.Random(7)
    for _ in range(20000):
        value = chance.choice([chance.uniform(-1e17, 1e17), chance.random() * 10 ** chance.randrange(-300, 300), chance.randrange(10**17) / 10 ** chance.randrange(20)])
        assert ours.dumps(value) == repr(value)


def test_the_corpus(corpus):
    for path in sorted((corpus / "bench").glob("*.json"))[:40]:
        text = path.read_bytes()
        value = json.loads(text)
        assert ours.loads(text) == value
        assert ours.dumps(value) == json.dumps(value)


def test_the_modules_of_json_are_there():
    for name in ("codecs", "decoder", "encoder", "scanner"):
        assert getattr(ours, name) is getattr(json, name)
    with pytest.raises(ours.decoder.JSONDecodeError):
        ours.loads("{")
