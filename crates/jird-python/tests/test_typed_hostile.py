"""Code of Python runs while typed values are half made, and does its worst.

A plan says once for a type whether its values need code of Python. Here classes get such code after their plans were made,
and hooks do what no hook should: they raise, change what is being made, decode with the same decoder, take away what a value
is made of, and let other threads do the same.
"""

import collections
import dataclasses
import datetime
import decimal
import gc
import sys
import threading
import uuid
import weakref
from typing import Any, NamedTuple, Optional, Union

import pytest

import jird

try:
    import msgspec
except ImportError:
    msgspec = None

TEXT = b'[{"a": 1000001, "b": ["x", 2.5, {"c": []}]}, {"b": [null], "a": 1000002}, {"a": 1000003}]'
MADE = [(1000001, ["x", 2.5, {"c": []}]), (1000002, [None]), (1000003, [])]


def plain():
    @dataclasses.dataclass
    class Plain:
        a: int
        b: list[Any] = dataclasses.field(default_factory=list)

    return Plain


def slotted():
    @dataclasses.dataclass(slots=True)
    class Slotted:
        a: int
        b: list[Any] = dataclasses.field(default_factory=list)

    return Slotted


def pair():
    class Pair(NamedTuple):
        a: int
        b: Any = []

    return Pair


def struct():
    return msgspec.defstruct("Struct", [("a", int), ("b", list[Any], msgspec.field(default_factory=list))])


# A debug build of Python has no msgspec.
CLASSES = [plain, slotted, pair] + [struct] * (msgspec is not None)


def parts(values):
    return [(value.a, value.b) for value in values]


class Worst:
    """What a program does in the middle of a call. Whatever it finds, it looks into and changes."""

    def __init__(self, *decoders):
        self.decoders, self.turns, self.depth = decoders, 0, 0

    def __call__(self):
        if self.depth > 1:
            return
        self.depth += 1
        try:
            self.turns += 1
            gc.collect(0)
            for found in gc.get_objects(generation=0):
                if type(found) in (list, tuple):
                    for part in found:
                        type(part)
                elif type(found) is dict:
                    list(found.items())
            for decoder in self.decoders:
                assert len(decoder.decode(TEXT)) == 3
                with pytest.raises(jird.JSONDecodeError):
                    decoder.decode(TEXT[:-2])
            # Takes the memory that was freed.
            self.kept = [[bytearray(b"SECRET" * size) for size in range(1, 30)], [["SECRET"] * 3 for _ in range(30)]]
        finally:
            self.depth -= 1


class Field:
    """An attribute with code of Python, which a class gets after its plan was made."""

    def __init__(self, name, act):
        self.name, self.act = name, act

    def __get__(self, instance, owner=None):
        return self if instance is None else instance.__dict__[self.name]

    def __set__(self, instance, value):
        self.act()
        instance.__dict__[self.name] = value
        self.act()


def test_a_class_gets_a_descriptor_after_its_plan_was_made():
    Plain = plain()
    decoder = jird.Decoder(list[Plain])
    act = Worst(decoder)
    assert parts(decoder.decode(TEXT)) == MADE
    Plain.a = Field("a", act)
    for _ in range(20):
        assert parts(decoder.decode(TEXT)) == MADE
    assert act.turns > 0

    def refuse():
        raise KeyError("refused")

    Plain.a = Field("a", refuse)

    def refused(times):
        for _ in range(times):
            try:
                decoder.decode(TEXT)
                raise AssertionError
            except KeyError as error:
                assert error.args == ("refused",)

    refused(50)
    gc.collect()
    before = sys.getallocatedblocks()
    refused(300)
    gc.collect()
    assert sys.getallocatedblocks() - before < 50


@pytest.mark.parametrize("make", [make for make in CLASSES if make is not pair], ids=lambda make: make.__name__)
def test_a_class_gets_a_finalizer_after_its_plan_was_made(make):
    cls = make()
    decoder = jird.Decoder(list[cls])
    act, gone = Worst(decoder), []
    decoder.decode(TEXT)

    def finalize(self):
        # A slot may have no value yet.
        gone.append(getattr(self, "a", None))
        act()

    cls.__del__ = finalize
    for wrong in (TEXT[:-2], TEXT.replace(b"1000003", b"null"), TEXT.replace(b'"a": 1000003', b'"b": 01'), TEXT + b","):
        for _ in range(10):
            with pytest.raises(jird.JSONDecodeError):
                decoder.decode(wrong)
    assert {1000001, 1000002} <= set(gone) and act.turns > 0
    assert parts(decoder.decode(TEXT)) == MADE


@pytest.mark.parametrize("make", CLASSES, ids=lambda make: make.__name__)
def test_a_weak_reference_calls_back_when_what_was_begun_goes(make):
    """No value has a weak reference before it is whole; those of a value that is dropped are called in time."""
    cls = make()
    decoder = jird.Decoder(list[cls])
    act, called = Worst(decoder), []

    class Default:
        pass

    def hook(kind, value):
        made = kind()
        held.append(weakref.ref(made, lambda _: (called.append(1), act())))
        return made

    held = []
    hooked = jird.Decoder(tuple[list[cls], Default, int], dec_hook=hook)
    for _ in range(10):
        with pytest.raises(jird.JSONDecodeError):
            hooked.decode(b"[%b, 0, null]" % TEXT)
    assert len(called) == len(held) == 10


def hostile_hook(act, wrong):
    """A hook that does its worst, and in each third call does what is `wrong`."""
    turn = [0]

    def hook(kind, value):
        turn[0] += 1
        act()
        if isinstance(value, list):
            value.clear()
            value.append(value)
        elif isinstance(value, dict):
            value["itself"] = value
        if turn[0] % 3 == 0:
            wrong()
        made = kind()
        made.value = value
        return made

    return hook


class Odd:
    """Made by a hook."""


def raise_error():
    raise ValueError("of the hook")


def raise_interrupt():
    raise KeyboardInterrupt


def never():
    """Nothing is wrong."""


@pytest.mark.parametrize("make", CLASSES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("wrong", [never, raise_error, raise_interrupt], ids=lambda wrong: wrong.__name__)
def test_a_hook_decodes_and_changes_what_it_was_given(make, wrong):
    cls = make()
    wanted = tuple[list[cls], Odd, dict[str, Odd], list[Union[Odd, None]], Odd]
    text = b'[%b, [1, "x"], {"k": {"a": 1}, "l": 7}, [null, {}, "s"], true]' % TEXT
    act = Worst(jird.Decoder(list[cls]))
    decoder = jird.Decoder(wanted, dec_hook=hostile_hook(act, wrong))

    for _ in range(15):
        try:
            first, *others = decoder.decode(text)
            assert parts(first) == MADE and wrong is never
            assert type(others[0]) is type(others[-1]) is Odd and list(others[1]) == ["k", "l"]
        except jird.JSONDecodeError as error:
            assert wrong is raise_error and isinstance(error.__cause__, ValueError)
        except KeyboardInterrupt:
            assert wrong is raise_interrupt
    assert act.turns > 0


def test_a_hook_starts_its_own_decoder_again():
    """Level after level, until the stack ends it."""
    levels = []

    def hook(kind, value):
        levels.append(value)
        made = kind()
        made.inner = decoder.decode(b"[[%d], {}]" % (value[0] + 1)) if value and value[0] < 30 else None
        return made

    decoder = jird.Decoder(tuple[Odd, dict[str, int]], dec_hook=hook)
    made, depth = decoder.decode(b"[[1], {}]")[0], 0
    while made.inner:
        made, depth = made.inner[0], depth + 1
    assert depth == 29 and len(levels) == 30
    endless = jird.Decoder(list[Odd], dec_hook=lambda kind, value: endless.decode(b"[0]"))
    with pytest.raises((RecursionError, jird.JSONDecodeError)):
        endless.decode(b"[0]")


def test_a_hook_drops_the_decoder_and_the_text():
    holder = {}

    def hook(kind, value):
        # The last references of the program's own to what is in use.
        holder.clear()
        gc.collect()
        holder["memory"] = [bytearray(b"SECRET" * size) for size in range(1, 200)]
        return kind()

    for _ in range(50):
        holder["decoder"] = jird.Decoder(list[Union[Odd, str]], dec_hook=hook)
        holder["text"] = bytearray(b'["' + b"mark" * 20 + b'", 1, "' + b"kram" * 20 + b'"]')
        first, odd, last = holder["decoder"].decode(holder["text"])
        assert (first, type(odd), last) == ("mark" * 20, Odd, "kram" * 20)


def test_a_hook_for_floats_does_its_worst():
    act = Worst(jird.Decoder(list[plain()]))

    class Number:
        def __init__(self, text):
            act()
            self.text, self.itself = text, self

        def __del__(self):
            act()

    decoder = jird.Decoder(dict[str, Any], float_hook=Number)
    for _ in range(10):
        made = decoder.decode(b'{"a": 1.50, "b": [2.5e3, {"c": -0.0}], "a": 1e999}')
        assert made["a"].text == "1e999" and made["b"][0].text == "2.5e3" and made["b"][1]["c"].text == "-0.0"
        with pytest.raises(jird.JSONDecodeError):
            decoder.decode(b'{"a": 1.50, "b": [2.5e3, {"c": -0.0}}')
    del made
    gc.collect()
    assert act.turns > 0


def test_a_finalizer_runs_when_a_container_is_made():
    """Until Python 3.11 the collector runs then, and not between two instructions of Python's code only."""
    cls = slotted()
    decoder = jird.Decoder(list[cls])
    act = Worst(decoder)

    class Bomb:
        def __init__(self):
            self.itself = self

        def __del__(self):
            act()

    wanted = [
        (dict[str, list[dict[str, int]]], b'{"a": [{"b": 1}, {"c": 2}], "d": []}', {"a": [{"b": 1}, {"c": 2}], "d": []}),
        (tuple[int, list[tuple[int, ...]]], b"[1, [[2, 3], [], [4]]]", (1, [(2, 3), (), (4,)])),
        (set[int], b"[1000001, 1000002]", {1000001, 1000002}),
        (list[Optional[datetime.datetime]], b'["2024-05-01T12:30:00Z", null]', None),
        (list[uuid.UUID], b'["12345678-1234-5678-1234-567812345678"]', None),
        (list[decimal.Decimal], b'["1.50"]', [decimal.Decimal("1.50")]),
        (Any, b'[{"a": [1, 2.5, "x"]}]', [{"a": [1, 2.5, "x"]}]),
    ]
    decoders = [(jird.Decoder(kind), text, made) for kind, text, made in wanted]
    before = gc.get_threshold()
    try:
        for _ in range(30):
            for each, text, made in decoders:
                gc.disable()
                Bomb()
                gc.set_threshold(1, 10**6, 10**6)
                gc.enable()
                found = each.decode(text)
                gc.disable()
                gc.set_threshold(*before)
                assert made is None or found == made
    finally:
        gc.set_threshold(*before)
        gc.enable()
    gc.collect()
    assert act.turns > 0


def test_threads_share_decoders_whose_classes_change():
    Plain, Slotted, Pair = plain(), slotted(), pair()
    classes = [Plain, Slotted, Pair]
    decoders = [jird.Decoder(list[cls]) for cls in classes]

    def hook(kind, value):
        for decoder in decoders:
            decoder.decode(TEXT)
        return kind()

    hooked = jird.Decoder(tuple[list[Plain], Odd], dec_hook=hook)
    for decoder in decoders:
        decoder.decode(TEXT)
    failed, ended = [], threading.Event()

    def read(decoder, text, check):
        try:
            while not ended.is_set():
                check(decoder.decode(text))
                with pytest.raises(jird.JSONDecodeError):
                    decoder.decode(text[:-1])
        except BaseException as error:
            failed.append(error)

    def change():
        act = collections.deque(maxlen=10)
        while not ended.is_set():
            Plain.a = Field("a", lambda: act.append(decoders[1].decode(TEXT)))
            Slotted.__del__ = lambda self: act.append(getattr(self, "a", None))
            del Plain.a, Slotted.__del__

    def whole(made):
        assert parts(made) == MADE

    def whole_first(made):
        assert parts(made[0]) == MADE and type(made[1]) is Odd

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=read, args=(decoder, TEXT, whole)) for decoder in decoders * 2]
    threads += [threading.Thread(target=read, args=(hooked, b"[%b, 1]" % TEXT, whole_first)), threading.Thread(target=change)]
    try:
        for thread in threads:
            thread.start()
        ended.wait(2)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert not failed, failed
