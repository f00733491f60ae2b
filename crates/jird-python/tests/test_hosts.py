"""What a program does while values are read or written: collect, handle signals, write into buffers, raise."""

import dataclasses
import functools
import gc
import json
import os
import subprocess
import sys

import pytest

import jird
from jird import json as jird_json

LARGE = 2**70


def in_a_process(code, *arguments, seconds=60):
    """Runs code that crashes if something is wrong."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-X", "faulthandler", "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=seconds)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


class Emptying:
    """A cycle that empties a container, and fills the memory with other things, when it is collected."""

    def __init__(self, container, kept):
        self.container, self.kept, self.itself = container, kept, self

    def __del__(self):
        self.container.clear()
        self.kept.append([["other" * 10 + str(index)] for index in range(300)])
        self.kept.extend(bytearray(b"A" * (3000 + index)) for index in range(300))


def while_collected(inner, write):
    """What is written of `[inner]` if the outer list is emptied by a finalizer meanwhile."""
    kept, outer = [], [inner]
    del inner
    gc.disable()
    try:
        Emptying(outer, kept)
        # All memory that is there for small tuples and lists is used: the next one is new, which is when the collector runs.
        used = [([index],) for index in range(3000)]
        before = gc.get_threshold()
        gc.set_threshold(1)
        gc.enable()
        try:
            return write(outer)
        finally:
            gc.disable()
            gc.set_threshold(*before)
            del used
    finally:
        gc.enable()


@pytest.mark.parametrize("write", [jird.dumps, jird_json.dumps])
@pytest.mark.parametrize("strange", [LARGE, -(10**4000)], ids=["short", "long"])
def test_a_finalizer_runs_while_digits_are_made(write, strange):
    makers = [
        lambda: [strange + index for index in range(60)],
        lambda: {f"k{index}": f"v{index}" if index else strange for index in range(200)},
        lambda: ((strange, "a" * 50), {"after": ["b" * 50]}),
    ]
    for make in makers:
        # Newer Pythons collect between two instructions of Python's code only: before.
        wanted = [write([make()]), write([])]
        for _ in range(20):
            assert while_collected(make(), write) in wanted


def test_a_signal_handler_runs_while_digits_are_made():
    code = """
import signal, sys, jird
sys.set_int_max_str_digits(0)
kept, number = [], 7**9000
def handler(*_):
    shared.clear()
    kept.extend("SECRET" * size for size in range(5, 60))
signal.signal(signal.SIGALRM, handler)
for turn in range(120):
    kept.clear()
    shared = [{"id": number, **{f"key{turn}" * 9: f"value{turn}" * 20}}]
    wanted = jird.dumps(shared)
    signal.setitimer(signal.ITIMER_REAL, 0.0001 + turn * 2e-5)
    got = jird.dumps(shared) if shared else wanted
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert got in (wanted, b"[]"), got[-200:]
"""
    in_a_process(code)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="this Python has no _pylong")
@pytest.mark.parametrize("where", ["write", "read"])
def test_pythons_own_code_for_long_integers_changes_everything(where):
    code = """
import gc, sys, jird, _pylong
sys.set_int_max_str_digits(0)
where, junk = sys.argv[1], []

def empty(*_):
    outer.clear()
    junk.extend(bytearray(b"A" * (3000 + index)) for index in range(500))
    return "1"

inner = {f"k{index}": f"v{index}" if index else 10**20000 for index in range(200)}
outer = [inner]
del inner
if where == "write":
    _pylong.int_to_decimal_string = empty
    text = jird.dumps(outer)
    assert text.startswith(b'[{"k0":1,"k1":"v1",') and text.endswith(b'"k199":"v199"}]'), text
    sys.exit()

text = bytearray(b'[["a", ' + b"7" * 9000 + b', "' + b"b" * 3000 + b'", ["c", "' + "é".encode() * 300 + b'"]], {"d": 1}]')
original = bytes(text)

def change(*_):
    text[:] = b"\\xff" * len(text)
    for found in gc.get_objects():
        if type(found) in (list, dict):
            repr(found)[:100] if len(found) < 100 else list(found)
    return 7

_pylong.int_from_string = change
wanted = [["a", 7, "b" * 3000, ["c", "é" * 300]], {"d": 1}]
assert jird.loads(text) == wanted
text[:] = original
assert jird.loads(text, type=list[list[int | str | list[str]] | dict[str, int]]) == wanted
text[:] = original
assert jird.parse(text).as_py() == wanted
text[:] = original
assert jird.json.loads(text) == wanted
"""
    in_a_process(code.replace("import gc, sys, jird,", "import gc, sys, jird, jird.json,"), where)


def test_a_buffer_is_written_to_by_another_thread_without_the_lock():
    code = """
import os, sys, threading, time, jird, jird.json
size = 64 << 10
good = (b"[" + b",".join([b'"' + b"a" * 50 + b'"'] * ((size - 2) // 53)) + b"]").ljust(size)
bad = bytes(0x80 if 5 < at % 53 < 45 else byte for at, byte in enumerate(good))
buffer, stop = bytearray(good), False
reading, writing = os.pipe()

def write():
    turn = 0
    while not stop:
        os.write(writing, good if turn % 2 else bad)
        turn += 1

def read():
    with os.fdopen(reading, "rb", buffering=0) as pipe, memoryview(buffer) as view:
        while not stop:
            pipe.readinto(view)

for work in (write, read):
    threading.Thread(target=work, daemon=True).start()
reads = [
    jird.loads,
    lambda text: jird.loads(memoryview(text)),
    lambda text: jird.loads(text, type=list[str]),
    lambda text: jird.parse(text).as_py(),
    jird.json.loads,
]
end, turn = time.monotonic() + float(sys.argv[1]), 0
while time.monotonic() < end:
    turn += 1
    try:
        found = reads[turn % len(reads)](buffer)
    except ValueError:
        continue
    for text in found:
        assert not text.strip("a"), ascii(text)
        text.encode()
os._exit(0)
"""
    in_a_process(code, os.environ.get("JIRD_RACE_SECONDS", "1.5"))


def test_a_text_in_a_buffer_is_copied_whatever_the_buffer_is(tmp_path):
    import array
    import ctypes
    import mmap

    file = tmp_path / "file"
    file.write_bytes(b'{"a": [1]}')
    with open(file, "r+b") as opened:
        buffers = [
            bytearray(b'{"a": [1]}'),
            memoryview(bytearray(b'{"a": [1]}')),
            memoryview(array.array("B", b'{"a": [1]}')),
            memoryview(ctypes.create_string_buffer(b'{"a": [1]}', 10)),
            memoryview(mmap.mmap(opened.fileno(), 0)),
        ]
    for buffer in buffers:
        document = jird.parse(buffer)
        memoryview(buffer).cast("B")[:] = b'{"b": [2]}'
        assert document.as_py() == {"a": [1]} and document.raw == b'{"a": [1]}'
        assert jird.loads(buffer) == jird.loads(buffer, type=dict[str, list[int]]) == {"b": [2]}
    # Nothing is held: a `bytearray` can change its size while a document of it lives.
    buffers[0].clear()
    with pytest.raises(jird.JSONDecodeError, match="contiguous"):
        jird.loads(memoryview(b"[1,2]")[::2])


class Money:
    def __init__(self, order):
        self.order = order


@dataclasses.dataclass
class Order:
    prices: list
    money: object = None
    note: str = ""

    @functools.cached_property
    def total(self):
        return sum(self.prices)


def test_a_cached_property_is_used_while_its_object_is_written():
    order = Order([1, 2, 3])
    order.money = Money(order)
    written = jird.dumps(order, default=lambda money: {"total": money.order.total})
    assert written == b'{"prices":[1,2,3],"money":{"total":6},"note":""}'
    assert jird.dumps(order, default=lambda _: order.__dict__.clear()) == b'{"prices":[1,2,3],"money":null,"note":"","total":6}'
    assert jird.dumps(order) == b"{}"


def test_keys_change_their_dict_while_they_are_made_text():
    import datetime

    class Zone(datetime.tzinfo):
        change = None

        def utcoffset(self, _):
            # The key's hash asks, too.
            if self.change:
                self.change()
            return datetime.timedelta(0)

    def written(change, option):
        zone = Zone()
        value = {"a": 1, "b": [2], datetime.datetime(2024, 1, 1, tzinfo=zone): "c"}
        zone.change = lambda: change(value)
        return jird.dumps(value, option=option)

    wanted = b'{"a":1,"b":[2],"2024-01-01T00:00:00+00:00":"c"}'
    for change in (dict.clear, lambda value: value.update(x=1, y=2), lambda value: value.pop("b", None)):
        assert written(change, jird.OPT_NON_STR_KEYS) == wanted
        assert json.loads(written(change, jird.OPT_NON_STR_KEYS | jird.OPT_SORT_KEYS)) == json.loads(wanted)


def test_numpy_scalars_that_lie():
    numpy = pytest.importorskip("numpy")

    class Short(numpy.float64):
        def tobytes(self):
            return b"abc"

    class Other(numpy.float64):
        def tobytes(self):
            return "text"

    for value in (Short(1.5), [Short(1.5)], Other(1.5)):
        with pytest.raises(TypeError):
            jird.dumps(value, option=jird.OPT_SERIALIZE_NUMPY)
    far = numpy.datetime64(1, ("W", 2**31 - 1))
    with pytest.raises(TypeError, match="unsupported"):
        jird.dumps(far, option=jird.OPT_SERIALIZE_NUMPY)


def test_a_panic_is_a_runtime_error():
    panic = getattr(jird._jird, "_panic", None)
    if panic is None:
        pytest.skip("a build without debug assertions has no function that panics")
    with pytest.raises(RuntimeError, match=r"^index 7 \(this is a bug of jird: please report it\)$"):
        panic("index 7")
    with pytest.raises(RuntimeError, match=r"^index 8 \(this is a bug of jird: please report it\)$"):
        panic(words="index 8")
    # Also if it comes back through the module's code, once or twice.
    with pytest.raises(RuntimeError, match=r"^inner \(this is a bug of jird: please report it\)$"):
        jird.dumps([object()], default=lambda _: jird.dumps(object(), default=lambda _: panic("inner")))
    with pytest.raises(RuntimeError, match="inner"):
        jird_json.dumps(object(), default=lambda _: panic("inner"))
    with pytest.raises(RuntimeError, match="inner"):
        jird_json.loads("[1, {}]", object_hook=lambda _: panic("inner"))


DEEP = """
import dataclasses, enum, json, sys, threading, typing, jird, jird.json, jird._types
size, levels = int(sys.argv[1]) << 10, 1000
lists, dicts = b"[" * levels + b"]" * levels, b'{"a":' * levels + b"1" + b"}" * levels
nested, members, things = [], {}, None

@dataclasses.dataclass
class Record:
    a: "Record | int"

@dataclasses.dataclass
class Slots:
    __slots__ = ("a",)
    a: "Slots | int"

class Plain:
    a: "Plain | int"
    def __init__(self, a):
        self.a = a

class Named(typing.NamedTuple):
    a: "Named | int"

class Thing:
    def __init__(self, inner):
        self.inner = inner

class Endless(enum.Enum):
    ONE = 1
    value = property(lambda self: self)

for _ in range(levels):
    nested, members, things = [nested], {"a": members}, Thing(things)
record = Record(1)
for _ in range(levels):
    record = Record(record)

def fragment(thing):
    return jird.Fragment(jird.dumps({"inner": thing.inner}, default=fragment))

def slip(thing):
    return jird.dumps(thing, default=slip)

def inner(thing):
    return [thing.inner]

options = jird.OPT_SORT_KEYS | jird.OPT_INDENT_2
calls = {
    "lists": lambda: jird.loads(lists),
    "dicts": lambda: jird.loads(dicts),
    "an error at the end": lambda: jird.loads(lists[:levels] + b"1e999" + lists[levels:]),
    "a document": lambda: [jird.parse(lists).as_py(), jird.parse(dicts).as_py(), repr(jird.parse(dicts))],
    "typed lists": lambda: jird.loads(lists, type=typing.Any),
    "records": lambda: jird.loads(dicts, type=Record),
    "slots": lambda: jird.loads(dicts, type=Slots),
    "classes": lambda: jird.loads(dicts, type=Plain),
    "named tuples": lambda: jird.loads(dicts, type=Named),
    "dicts of types": lambda: jird.loads(b'{"a":' + dicts + b"}", type=dict[str, Record]),
    "json": lambda: [jird.json.loads(lists), jird.json.loads(dicts)],
    "json with a hook": lambda: jird.json.loads(dicts, object_hook=lambda found: found),
    "json with pairs": lambda: jird.json.loads(dicts, object_pairs_hook=lambda found: found),
    "writing lists": lambda: jird.dumps(nested),
    "writing dicts": lambda: [jird.dumps(members), jird.dumps(members, option=options)],
    "writing records": lambda: jird.dumps(record),
    "writing what default gives": lambda: jird.dumps(things, default=inner),
    "writing json": lambda: jird.json.dumps(nested),
    "writing json with a default": lambda: jird.json.dumps(things, default=inner),
    "fragments": lambda: jird.dumps(things, default=fragment),
    "a slip": lambda: jird.dumps(Thing(1), default=slip),
    "an enum without end": lambda: jird.dumps([Endless.ONE]),
    "a key without end": lambda: jird.dumps({Endless.ONE: 1}, option=jird.OPT_NON_STR_KEYS),
}
outcomes = {}

def run(name):
    try:
        made = calls[name]()
        outcomes[name] = "value"
    except Exception as error:
        outcomes[name] = type(error).__name__

# The modules that are imported by the first call of each kind take more stack than the calls.
for shallow in (b"[1]", b'{"a":1}', b"[", b"[1e999]", b'{"a":[]}'):
    for type_ in (Record, Slots, Plain, Named, typing.Any, dict[str, Record]):
        try:
            jird.loads(shallow, type=type_)
        except ValueError:
            pass
run("an enum without end")
sys.setrecursionlimit(int(sys.argv[2]))
threading.stack_size(size)
for name in calls:
    thread = threading.Thread(target=run, args=(name,))
    thread.start()
    thread.join()
    print(f"{name}: {outcomes[name]}", flush=True)
"""


@pytest.mark.parametrize("limit", [1000, 10**6])
@pytest.mark.parametrize("size", [128, 256, 1024, 8192])
def test_no_stack_is_too_small(size, limit):
    shown = in_a_process(DEEP, size, limit)
    outcomes = dict(line.split(": ") for line in shown.splitlines())
    assert len(outcomes) == 23, shown
    allowed = {"value", "RecursionError", "JSONEncodeError", "JSONDecodeError"}
    assert set(outcomes.values()) <= allowed, shown
    assert outcomes["a slip"] == "JSONEncodeError"
    assert outcomes["an enum without end"] == outcomes["a key without end"] == "RecursionError"
    # What has room is read and written.
    if size == 8192:
        for name in ("lists", "dicts", "a document", "writing lists", "writing dicts", "records", "classes", "json"):
            assert outcomes[name] == "value", shown
