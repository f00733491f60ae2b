#!/usr/bin/env python3
"""Typed decoding of thirty-two shapes: `jird.Decoder(T)` beside `msgspec.json.Decoder(T)`.

    python bench/python/shapes.py [--items N] [--rounds N] [--seconds S] [--json FILE] [FILTER…]

Both modules run in one process, and in turns. Before the first round the values are compared. The time is the thread's, for
one call: the minimum of the rounds, and their median; the ratio is the median of the ratios within each round, below 1 if
jird is faster. It needs

    pip install jird msgspec
"""

import argparse
import dataclasses
import datetime
import decimal
import enum
import gc
import json
import platform
import random
import statistics
import time
import uuid
from typing import Literal, NamedTuple, Optional, TypedDict, Union

import msgspec

import jird


class Point(msgspec.Struct):
    x: int
    y: float
    name: str


class Flat(msgspec.Struct, array_like=True):
    x: int
    y: float
    name: str


@dataclasses.dataclass
class PlainPoint:
    x: int
    y: float
    name: str


@dataclasses.dataclass(slots=True)
class SlottedPoint:
    x: int
    y: float
    name: str


class DictPoint(TypedDict):
    x: int
    y: float
    name: str


class TuplePoint(NamedTuple):
    x: int
    y: float
    name: str


class Get(msgspec.Struct, tag="get"):
    key: str


class Put(msgspec.Struct, tag="put"):
    key: str
    value: int


class Level(enum.Enum):
    INFO = "info"
    ERROR = "error"


class Address(msgspec.Struct):
    street: str
    zip: Optional[str] = None


class User(msgspec.Struct):
    id: int
    name: str
    email: str
    tags: list[str]
    address: Address
    scores: dict[str, float]
    active: bool = True
    age: Optional[int] = None
    level: Level = Level.INFO
    score: float = 0.0


@dataclasses.dataclass
class Message:
    type: str
    id: int
    seq: int
    user: str
    text: str
    at: float
    ok: bool
    room: str
    reply: Optional[int]
    tags: list[str]


USER = {
    "id": 12345,
    "name": "Ada Lovelace",
    "email": "ada@example.org",
    "tags": ["admin", "ops"],
    "address": {"street": "12 St James's Square", "zip": "SW1Y"},
    "scores": {"math": 1.0, "poetry": 0.75},
    "active": True,
    "age": 36,
    "level": "error",
    "score": 99.5,
}
MESSAGE = {
    "type": "chat",
    "id": 981223,
    "seq": 7,
    "user": "grace",
    "text": "the build is green again",
    "at": 1714566600.25,
    "ok": True,
    "room": "compilers",
    "reply": None,
    "tags": ["a", "b"],
}


def shapes(count):
    """`(name, type, value of JSON)`."""
    random.seed(7)
    some = range(count)
    points = [{"x": index, "y": index / 4, "name": f"point {index}"} for index in some]
    calls = [
        {"type": "get", "key": f"k{index}"} if index % 2 else {"type": "put", "key": "k", "value": index} for index in some
    ]
    moment = datetime.datetime(2024, 5, 1, 12, 30, tzinfo=datetime.timezone.utc)
    times = [(moment + datetime.timedelta(seconds=index)).isoformat() for index in some]
    large = [random.randint(-(2**63), 2**63 - 1) for _ in some]
    small = [index % 1000 for index in some]
    return [
        ("one Struct of three fields", Point, points[7]),
        ("one Struct of ten fields", User, USER),
        ("one data class of ten fields", Message, MESSAGE),
        ("one tagged Struct of two", Union[Get, Put], calls[0]),
        ("one dict of integers", dict[str, int], {"a": 1, "b": 2, "c": 300}),
        ("list of small int", list[int], small),
        ("list of int64", list[int], large),
        ("list of float", list[float], [random.uniform(-1e3, 1e3) for _ in some]),
        ("list of short str", list[str], [f"name {index % 50}" for index in some]),
        ("list of long str", list[str], [f"a text of some length that has the number {index}" for index in some]),
        ("list of bool", list[bool], [index % 3 == 0 for index in some]),
        ("list of int or None", list[Optional[int]], [None if index % 3 == 0 else index for index in some]),
        ("list of int or str", list[Union[int, str]], [index if index % 2 else f"n{index}" for index in some]),
        ("list of lists of float", list[list[float]], [[index / 4, index / 8, 1.5] for index in some]),
        ("list of dict of int", list[dict[str, int]], [{"a": index, "b": 1, "c": 2} for index in some]),
        ("list of Struct", list[Point], points),
        ("list of array-like Struct", list[Flat], [list(point.values()) for point in points]),
        ("list of data class", list[PlainPoint], points),
        ("list of data class with slots", list[SlottedPoint], points),
        ("list of TypedDict", list[DictPoint], points),
        ("list of NamedTuple", list[TuplePoint], [list(point.values()) for point in points]),
        ("list of tuple", list[tuple[int, float, str]], [list(point.values()) for point in points]),
        ("list of tagged Structs", list[Union[Get, Put]], calls),
        ("list of nested Struct", list[User], [USER] * (count // 10)),
        ("list of Enum", list[Level], ["info" if index % 2 else "error" for index in some]),
        ("list of Literal", list[Literal["info", "error"]], ["info" if index % 2 else "error" for index in some]),
        ("list of datetime", list[datetime.datetime], times),
        ("list of date", list[datetime.date], [text[:10] for text in times]),
        ("list of UUID", list[uuid.UUID], [str(uuid.UUID(int=random.getrandbits(128))) for _ in some]),
        ("list of Decimal", list[decimal.Decimal], [f"{index}.25" for index in some]),
        ("set of int", set[int], list(some)),
        ("dict of int", dict[str, int], {f"key{index}": index for index in some}),
    ]


def repeat(decode, text, count):
    """Seconds of the thread for this many calls."""
    turns, clock = range(count), time.thread_time
    start = clock()
    for _ in turns:
        decode(text)
    return clock() - start


def measure(decoders, text, rounds, seconds):
    """For each decoder the seconds of one call, round by round; all run in turns."""
    counts = []
    for decode in decoders:
        count = 1
        while (taken := repeat(decode, text, count)) < seconds / 4:
            count *= 2
        counts.append(max(1, int(count * seconds / taken)))
    times = [[] for _ in decoders]
    for _ in range(rounds):
        for decode, count, found in zip(decoders, counts, times):
            gc.collect()
            found.append(repeat(decode, text, count) / count)
    return times


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--items", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--seconds", type=float, default=0.05)
    options.add_argument("--json", type=argparse.FileType("w"))
    options.add_argument("filter", nargs="*")
    options = options.parse_args()
    print(f"Python {platform.python_version()}, jird {jird.__version__}, msgspec {msgspec.__version__}; µs for one call")
    print(f"{'':32} {'jird':>10} {'median':>10} {'msgspec':>10} {'median':>10} {'ratio':>6}")
    ratios = {}
    for name, wanted, value in shapes(options.items):
        if options.filter and not any(part in name for part in options.filter):
            continue
        text = json.dumps(value, separators=(",", ":")).encode()
        own, other = jird.Decoder(wanted).decode, msgspec.json.Decoder(wanted).decode
        if own(text) != other(text):
            raise SystemExit(f"{name}: the values differ")
        found = measure([own, other], text, options.rounds, options.seconds)
        ratios[name] = statistics.median(one / two for one, two in zip(*found))
        cells = [f"{figure * 1e6:10,.2f}" for times in found for figure in (min(times), statistics.median(times))]
        print(f"{name:32} {' '.join(cells)} {ratios[name]:6.2f}", flush=True)
    mean = statistics.geometric_mean(ratios.values())
    slower = [name for name, ratio in ratios.items() if ratio > 1]
    print(f"geometric mean {mean:.2f}; slower than msgspec: {', '.join(slower) or 'none'}")
    if options.json:
        json.dump(ratios, options.json, indent=1)


if __name__ == "__main__":
    main()
