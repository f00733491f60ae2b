#!/usr/bin/env python3
"""Fuzzes the module in a program that does its worst meanwhile.

    python crates/jird-python/fuzz/hostile.py [--seconds 60] [--turns N] [--seed N]

While values are read and written, the collector runs as often as it can, and finalizers, signal handlers, hooks, other
threads, Python's own code for long integers and a handler of encoding errors empty and change what is being written,
overwrite memory that was freed, look for what is half made, and call the module again. What is written must be JSON, and
none of it from elsewhere; whatever is raised must be an ordinary exception. Each turn is a process of its own, so that a
crash is told with its seed. A debug build of Python, or AddressSanitizer (`cargo xtask deep hostile`), sees more.
"""

import argparse
import codecs
import collections
import dataclasses
import datetime
import decimal
import enum
import faulthandler
import functools
import gc
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import typing
import uuid

import jird
from jird import json as jird_json

# What every string of a value begins with, and what fills memory that was freed.
MARK, SECRET = "mark", "SECRET"
# In a signal handler or finalizer, no other one is begun.
NESTED_MAX = 2


class Host:
    """The program around a call."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.targets, self.buffers, self.kept = [], [], collections.deque(maxlen=400)
        self.depth, self.acts = 0, 0

    def act(self):
        """Something that nobody expects in the middle of a call."""
        if self.depth >= NESTED_MAX:
            return
        self.depth += 1
        try:
            self.acts += 1
            for _ in range(self.random.randrange(1, 4)):
                self.random.choice(ACTS)(self)
        except (IndexError, ValueError, RuntimeError):
            # Another thread has changed it, too.
            pass
        finally:
            self.depth -= 1

    def change(self):
        if not self.targets:
            return
        target = self.random.choice(self.targets)
        if isinstance(target, dict):
            change = self.random.randrange(4)
            if change == 0:
                target.clear()
            elif change == 1:
                target[f"{MARK}{self.random.random()}"] = [MARK]
            elif change == 2 and target:
                target.popitem()
            elif target:
                target[next(iter(target))] = None
        else:
            change = self.random.randrange(4)
            if change == 0:
                target.clear()
            elif change == 1:
                target.extend([[MARK], MARK, 2**70])
            elif change == 2 and target:
                target.pop(0)
            elif target:
                target[self.random.randrange(len(target))] = None

    def overwrite(self):
        """Takes the memory that was freed."""
        self.kept.append([SECRET * size for size in range(1, 40)])
        self.kept.append([bytearray(SECRET.encode() * size) for size in range(1, 40)])
        self.kept.append([[SECRET, SECRET] for _ in range(20)])
        self.kept.append([{SECRET: SECRET} for _ in range(20)])

    def look(self):
        """Finds what the collector knows, and changes what may be half made."""
        if self.random.random() < 0.7:
            return
        for found in gc.get_objects(generation=0):
            kind = type(found)
            if kind is list:
                copy = list(found)
                if copy and copy[0] == MARK and self.random.random() < 0.3:
                    found.append(MARK)
            elif kind is dict:
                copy = dict(found)
                if MARK in copy and self.random.random() < 0.3:
                    found[Text(MARK)] = MARK
            elif kind in (Plain, Slotted):
                getattr(found, "a", None)

    def write_into_buffers(self):
        if self.buffers:
            buffer = self.random.choice(self.buffers)
            with memoryview(buffer) as view:
                view[:] = self.random.choice([b"\xff", b"[", b'"', b"1"]) * len(view)

    def call(self):
        """Calls the module within a call of it."""
        self.random.choice([
            lambda: jird.dumps([MARK, 2**70, {MARK: (1, 2.5)}]),
            lambda: jird.loads(b'["mark", 12345678901234567890123, {"mark": []}]'),
            lambda: jird.parse(bytearray(b'{"mark": [1, 2]}')).as_py(),
        ])()

    def pause(self):
        time.sleep(0)


ACTS = [Host.change, Host.change, Host.overwrite, Host.overwrite, Host.look, Host.write_into_buffers, Host.call, Host.pause]
HOST = None


class Bomb:
    """A cycle whose finalizer acts, and leaves another one."""

    def __init__(self, host):
        self.host, self.itself = host, self

    def __del__(self):
        if self.host is HOST:
            HOST.act()
            Bomb(HOST)


def bad_luck(chance):
    if HOST is not None and HOST.random.random() < chance:
        HOST.act()


# Values that have code of their own.


class Text(str):
    def __hash__(self):
        bad_luck(0.2)
        return str.__hash__(self)

    def __eq__(self, other):
        bad_luck(0.2)
        return str.__eq__(self, other)


class Number(int):
    def __repr__(self):
        return "no number"


class List(list):
    def __iter__(self):
        raise AssertionError("lists are read as lists")


class Dict(dict):
    def items(self):
        bad_luck(0.5)
        return dict.items(self)


class Unknown:
    def __init__(self, answer):
        self.answer = answer

    def __del__(self):
        bad_luck(0.3)


@dataclasses.dataclass
class Record:
    a: object
    b: object

    @functools.cached_property
    def added(self):
        return MARK


@dataclasses.dataclass
class Slots:
    __slots__ = ("a", "b")
    a: object
    b: object


class Odd(enum.Enum):
    ONE = 2**80
    TWO = MARK


class Endless(enum.Enum):
    ONE = 1
    value = property(lambda self: self)


class Zone(datetime.tzinfo):
    def utcoffset(self, _):
        bad_luck(0.5)
        return datetime.timedelta(hours=1)


# Types that values are made of.


class Plain:
    a: int
    b: "list[Plain | int]"

    def __init__(self, a=0, b=()):
        bad_luck(0.3)
        self.a, self.b = a, b

    def __del__(self):
        bad_luck(0.2)


@dataclasses.dataclass
class Slotted:
    __slots__ = ("a", "b")
    a: typing.Any
    b: typing.Any

    def __post_init__(self):
        bad_luck(0.3)


@dataclasses.dataclass
class Quiet:
    a: typing.Any = None
    b: "list[Quiet] | typing.Any" = None


class Tuple(typing.NamedTuple):
    a: typing.Any = 1
    b: typing.Any = 2


class Typed(typing.TypedDict, total=False):
    a: int | list[typing.Any]
    b: typing.Any


TYPES = [
    typing.Any, list[typing.Any], dict[str, typing.Any], Plain, list[Plain], Slotted, list[Slotted], Quiet, list[Quiet], Tuple,
    list[Tuple], Typed, list[int], set[int | str], frozenset[int], tuple[typing.Any, ...], collections.deque[int],
    dict[int, list[int]], dict[decimal.Decimal, typing.Any], list[decimal.Decimal | str], list[Odd], list[uuid.UUID | str | int],
]


def scalar(random):
    return random.choice([
        lambda: random.randrange(-1000, 1000),
        lambda: 2 ** random.randrange(64, 200) + random.randrange(9),
        lambda: -(7 ** random.choice([1200, 8000])),
        lambda: random.random(),
        lambda: MARK + "x" * random.randrange(60),
        lambda: MARK + "é" * random.randrange(60),
        lambda: MARK + "😀€" * random.randrange(60),
        lambda: MARK + "\ud800" * (random.random() < 0.1),
        lambda: Text(MARK + "é" * random.randrange(9)),
        lambda: Number(2**70),
        lambda: None,
        lambda: True,
        lambda: Odd.ONE,
        lambda: Endless.ONE if random.random() < 0.05 else Odd.TWO,
        lambda: datetime.datetime(2024, 1, 1, tzinfo=Zone()),
        lambda: uuid.UUID(int=random.getrandbits(128)),
        lambda: jird.Fragment(jird.dumps([MARK])),
        lambda: Unknown([MARK, 2**70]),
        lambda: Unknown({MARK: Unknown(MARK)}),
    ])()


def value(random, depth, targets):
    """A value; its lists and dicts are targets."""
    if depth == 0 or random.random() < 0.3:
        return scalar(random)
    inner = [value(random, depth - 1, targets) for _ in range(random.randrange(6))]
    kind = random.randrange(9)
    if kind < 3:
        targets.append(made := inner)
    elif kind < 6:
        targets.append(made := {f"{MARK}{index}": element for index, element in enumerate(inner)})
    elif kind == 6:
        made = tuple(inner)
    elif kind == 7:
        made = random.choice([Record, Slots])(inner, MARK)
        targets.append(inner)
        if isinstance(made, Record):
            targets.append(made.__dict__)
    else:
        targets.append(made := random.choice([List, lambda elements: Dict(zip(map(str, range(9)), elements))])(inner))
    return made


def text(random, depth=4):
    """A JSON text."""
    if depth == 0 or random.random() < 0.2:
        return random.choice([
            lambda: str(random.randrange(-99, 10**25)),
            lambda: "7" * random.choice([30, 641, 700, 7000]),
            lambda: "1.5e3",
            lambda: '"mark"',
            lambda: '"mark' + "é" * random.randrange(400) + '\\n"',
            lambda: "null",
            lambda: "1e999" if random.random() < 0.05 else "true",
        ])()
    inner = [text(random, depth - 1) for _ in range(random.randrange(6))]
    if random.random() < 0.6:
        return "[" + ", ".join(['"mark"' if random.random() < 0.5 else "7", *inner]) + "]"
    keys = [random.choice(["a", "b", "a", "mark", "7"]) for _ in inner]
    return "{" + ", ".join(f'"{key}": {element}' for key, element in zip(keys, inner)) + "}"


def default(unknown):
    bad_luck(0.6)
    if isinstance(unknown, Unknown):
        return unknown.answer
    raise TypeError("it is not known")


def hook(found):
    bad_luck(0.4)
    return found


OPTIONS = [
    jird.OPT_INDENT_2, jird.OPT_SORT_KEYS, jird.OPT_NON_STR_KEYS, jird.OPT_PASSTHROUGH_SUBCLASS, jird.OPT_PASSTHROUGH_DATACLASS,
    jird.OPT_STRICT_INTEGER, jird.OPT_PASSTHROUGH_DATETIME, jird.OPT_SERIALIZE_NUMPY, jird.OPT_APPEND_NEWLINE,
]


def write(host):
    random = host.random
    targets = []
    made = value(random, 5, targets)
    host.targets = targets
    gc.enable()
    if random.random() < 0.75:
        option = 0
        for _ in range(random.randrange(3)):
            option |= random.choice(OPTIONS)
        written = jird.dumps(made, default=default, option=option)
        fragments = True
    else:
        written = jird_json.dumps(
            made, default=default, indent=random.choice([None, 1]), sort_keys=random.random() < 0.2, skipkeys=True,
            ensure_ascii=random.random() < 0.5, check_circular=random.random() < 0.5,
        ).encode("utf-8", "surrogatepass")
    gc.disable()
    host.targets = []
    found = written.find(SECRET.encode())
    assert found < 0, f"memory of others: {written[max(found - 100, 0) : found + 50]}"
    try:
        written.decode()
    except UnicodeDecodeError:
        assert b"\xed" in written, "no UTF-8"
    else:
        json.loads(written, parse_int=len)


def passed(random, text):
    """A text in one of the objects that it may be passed in."""
    buffer = bytearray(text.encode())
    HOST.buffers = [buffer]
    return random.choice([lambda: text, lambda: text.encode(), lambda: buffer, lambda: memoryview(buffer)])()


def read(host):
    random = host.random
    data = passed(random, text(random))
    gc.enable()
    way = random.randrange(6)
    if way == 0:
        jird.loads(data)
    elif way < 3:
        jird.loads(data, type=random.choice(TYPES))
    elif way == 3:
        hooks = {name: hook for name in ("object_hook", "object_pairs_hook", "parse_int", "parse_float") if random.random() < 0.5}
        jird_json.loads(data if not isinstance(data, memoryview) else bytes(data), **hooks)
    else:
        walk(jird.parse(data), random)


def walk(document, random):
    if not isinstance(document, jird.Document):
        return
    if random.random() < 0.3:
        document.as_py()
    repr(document)
    if document.kind == "array":
        list(document)
        for element in document[:: random.choice([1, -1, 2])]:
            walk(element, random)
        7 in document
    elif document.kind == "object":
        document.items()
        walk(document.get("a"), random)


def interrupt(*_):
    if HOST is not None:
        HOST.act()
        # Not at intervals, which could be shorter than this takes.
        signal.setitimer(signal.ITIMER_REAL, HOST.random.uniform(0.0001, 0.002))


def disturb(stop):
    """Another thread: it changes what it finds, and lets code in C write into buffers without the lock."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while not stop.is_set():
            host = HOST
            if host is None:
                continue
            host.act()
            for buffer in host.buffers[:1]:
                os.write(writing, b"\xff" * min(len(buffer), 4000))
                with memoryview(buffer) as view:
                    pipe.readinto(view)
            time.sleep(0)


def replaced(error):
    """What somebody has registered in the place of `strict`."""
    bad_luck(0.5)
    return ("?", error.end)


def child(seed, seconds):
    global HOST
    faulthandler.enable()
    faulthandler.dump_traceback_later(30 + 10 * seconds, exit=True)
    host = HOST = Host(seed)
    getattr(sys, "set_int_max_str_digits", int)(0)
    if seed % 2:
        codecs.register_error("strict", replaced)
    if sys.version_info >= (3, 12):
        import _pylong

        for name in ("int_to_decimal_string", "int_from_string"):
            real = getattr(_pylong, name)
            setattr(_pylong, name, lambda digits, real=real: (bad_luck(0.8), real(digits))[1])
    # Modules are imported, and plans made, before: with a collector at every step they take minutes.
    for wanted in TYPES:
        for text in ("[[{}]]", "null"):
            try:
                jird.loads(text, type=wanted)
            except ValueError:
                pass
    stop = threading.Event()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=disturb, args=(stop,), daemon=True) for _ in range(seed % 3)]
    for thread in threads:
        thread.start()
    signal.signal(signal.SIGALRM, interrupt)
    if seed % 4 < 3:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
    # Of the youngest objects, mostly: what is imported is many.
    gc.set_threshold(1 + seed % 2, 1000, 10)
    for _ in range(8):
        Bomb(host)
    gc.disable()
    end, calls = time.monotonic() + seconds, 0
    while calls == 0 or time.monotonic() < end:
        calls += 1
        try:
            host.random.choice([write, write, read])(host)
        except (ValueError, TypeError, RuntimeError, AttributeError, KeyError, IndexError, ArithmeticError) as error:
            # A panic is no ordinary exception, and our own checks are neither.
            assert type(error).__name__ != "PanicException", error
        finally:
            # Not while the next value is made.
            gc.disable()
    HOST = None
    stop.set()
    print(f"{calls} calls, {host.acts} acts")
    sys.stdout.flush()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--turns", type=int, default=0, help="the least number of processes, however long they take")
    parser.add_argument("--turn", type=float, default=10, help="seconds of a process")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.seed, given.seconds)
    end, seed = time.monotonic() + given.seconds, given.seed
    while (left := end - time.monotonic()) > 0 or seed - given.seed < given.turns:
        seconds = min(left, given.turn) if left > 0 else given.turn
        command = [sys.executable, __file__, "--child", "--seed", str(seed), "--seconds", str(seconds)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 20 * seconds)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            code, out, err = "none, it hangs", late.stdout or "", late.stderr or ""
        print(f"seed {seed}: exit code {code}; {str(out).strip()}", flush=True)
        if code != 0:
            print(str(err)[-6000:])
            sys.exit(1)
        seed += 1


if __name__ == "__main__":
    main()
