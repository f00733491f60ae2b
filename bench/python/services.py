#!/usr/bin/env python3
"""What web services read and write: short texts, and objects that JSON has no kind for. jird beside orjson and msgspec.

    python bench/python/services.py [--rounds N] [--seconds S] [--json FILE] [FILTER…]

All modules run in one process, and in turns: each round measures every module once. Before the first round the answers are
compared: texts with those of orjson byte for byte, values with those of json. The time is the thread's, for one call: the
median of the rounds; the ratio is the median of the ratios to orjson within each round, below 1 if jird is faster. It needs

    pip install jird orjson msgspec numpy
"""

import argparse
import dataclasses
import datetime
import enum
import gc
import json
import math
import pathlib
import platform
import statistics
import sys
import time
import uuid
import zoneinfo

import msgspec
import numpy
import orjson

import jird

TEXTS = [
    "{}",
    "[]",
    "1",
    '"ok"',
    '{"ok":true}',
    "[1,2,3]",
    '{"id":12345}',
    '{"error":"not found"}',
    '{"id":7,"name":"Ada"}',
    '{"status": "ok", "code": 200}',
    '[1.5,2.25,-3.125,1e10]',
    '{"x":1.5,"y":-2.75,"z":1000000}',
    '{"user":"grace","roles":["admin","ops"]}',
    '["3f2504e0-4f89-11d3-9a0c-0305e82c3301","0HLJ0B7C1D2E3"]',
    '{"type":"ping","ts":1714566600123,"seq":42,"ack":null}',
    '{"id":"3f2504e0-4f89-11d3-9a0c-0305e82c3301","ok":true,"n":17}',
    '{"jsonrpc":"2.0","method":"subtract","params":[42,23],"id":1}',
    '{"name":"Zoë Müller","city":"Zürich","tags":["größe","naïve"]}',
    '{"event":"click","x":103,"y":884,"target":"button#buy","meta":{"a":1,"b":[1,2]}}',
    '{"sub":"1234567890","name":"John Doe","admin":true,"iat":1516239022,"exp":1516242622,"scope":"read write"}',
    '{"id":1296269,"name":"Hello-World","private":false,"owner":{"login":"octocat","id":1,"type":"User"},"size":108,'
    '"forks":9,"language":null}',
    '{"timestamp":"2024-05-01T12:30:00.123Z","level":"info","logger":"app.orders","message":"order placed","order":'
    '{"id":981223,"total":149.9,"currency":"EUR","items":3},"trace":"4bf92f3577b34da6a3ce929d0e0e4736","ms":12.75}',
]


@dataclasses.dataclass
class Point:
    x: int
    y: str
    z: float


@dataclasses.dataclass(slots=True)
class Slotted:
    x: int
    y: str
    z: float


class Shade(enum.Enum):
    DARK = "dark"


class Level(enum.IntEnum):
    HIGH = 3


class Text(str):
    pass


class Number(int):
    pass


class Members(dict):
    pass


class Elements(list):
    pass


class Money:
    def __init__(self, cents):
        self.cents = cents


def objects():
    """Name, value, and the options of orjson."""
    now = datetime.datetime(2024, 5, 1, 12, 30, 0, 123456)
    times = [now + datetime.timedelta(seconds=index) for index in range(100)]
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    ids = [uuid.UUID(int=index << 70 | index) for index in range(100)]
    array, keys, sort = orjson.OPT_SERIALIZE_NUMPY, orjson.OPT_NON_STR_KEYS, orjson.OPT_SORT_KEYS
    answer = [
        {"id": ids[index], "created": now, "name": "Ada Brandt", "email": "ada@example.com", "score": 1.5, "n": index,
         "ok": True, "tags": ["a", "b"]}
        for index in range(20)
    ]
    return [
        ("a dict of 3", {"id": 7, "name": "Ada", "ok": True}, 0),
        ("a dict of 10", {f"key{index}": index for index in range(10)}, 0),
        ("a list of 20 dicts of 5", [{"id": index, "name": "Ada", "x": 1.5, "ok": True, "no": None} for index in range(20)], 0),
        ("one data class", Point(1, "abc", 0.5), 0),
        ("100 data classes", [Point(index, "abc", index * 0.5) for index in range(100)], 0),
        ("100 with slots", [Slotted(index, "abc", index * 0.5) for index in range(100)], 0),
        ("100 datetimes, naive", times, 0),
        ("100 datetimes, UTC", [time.replace(tzinfo=datetime.timezone.utc) for time in times], 0),
        ("100 datetimes, zoneinfo", [time.replace(tzinfo=berlin) for time in times], 0),
        ("100 datetimes, as UTC with Z", times, orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z),
        ("100 dates", [time.date() for time in times], 0),
        ("100 times", [time.time() for time in times], 0),
        ("100 UUIDs", ids, 0),
        ("100 members of an enum", [Shade.DARK] * 100, 0),
        ("100 members of an IntEnum", [Level.HIGH] * 100, 0),
        ("100 subclasses of str", [Text("abc")] * 100, 0),
        ("100 subclasses of int", [Number(7)] * 100, 0),
        ("100 subclasses of dict", [Members(a=1, b="c")] * 100, 0),
        ("100 subclasses of list", [Elements([1, 2])] * 100, 0),
        ("100 by default", [Money(index) for index in range(100)], 0),
        ("1000 keys that are int", {index: index for index in range(1000)}, keys),
        ("100 keys that are str, any allowed", {f"key{index}": index for index in range(100)}, keys),
        ("100 keys, sorted", {f"key{index * 37 % 100}": index for index in range(100)}, sort),
        ("100 UUIDs as keys", dict.fromkeys(ids, 1), keys),
        ("100 scalars of numpy, float64", [numpy.float64(1.5)] * 100, array),
        ("100 scalars of numpy, int64", [numpy.int64(7)] * 100, array),
        ("100 scalars of numpy, datetime64", [numpy.datetime64("2024-05-01T12:30:00", "s")] * 100, array),
        ("100 arrays of 3", [numpy.arange(3.0)] * 100, array),
        ("an array of 10000 int64", numpy.arange(10000), array),
        ("an array of 10000 uint8", numpy.zeros(10000, "u1"), array),
        ("an array of 100 × 100 float64", numpy.arange(10000.0).reshape(100, 100) / 8, array),
        ("an array of 10000 datetime64", numpy.arange(10000).astype("M8[s]"), array),
        ("20 rows of a web answer", answer, 0),
    ]


def cents(value):
    if isinstance(value, Money):
        return value.cents
    raise TypeError


def rows():
    """Kind, name, the functions by module."""
    decoder, encoder = msgspec.json.Decoder(), msgspec.json.Encoder(enc_hook=cents)
    for text in TEXTS:
        for form, given in (("bytes", text.encode()), ("str", text)):
            wanted = json.loads(text)
            functions = {"jird": jird.loads, "orjson": orjson.loads, "msgspec": decoder.decode}
            for name, function in functions.items():
                if function(given) != wanted:
                    sys.exit(f"{name} gives another answer: {text}")
            name = f"{len(text.encode())} bytes" + (", as str" if form == "str" else "")
            yield f"loads of {form}", name, {module: (function, given) for module, function in functions.items()}
    for name, value, option in objects():
        calls = {"jird": (jird.dumps, value, cents, option), "orjson": (orjson.dumps, value, cents, option)}
        wanted = orjson.dumps(value, cents, option)
        if jird.dumps(value, cents, option) != wanted:
            sys.exit(f"jird gives another text: {name}")
        try:
            # Times have other forms there, and numpy is not known.
            if encoder.encode(value) == wanted:
                calls["msgspec"] = (encoder.encode, value)
        except TypeError:
            pass
        yield "dumps", name, calls


def repeat(call, count):
    """Seconds of the thread for this many calls, without a function around each."""
    turns, clock = range(count), time.thread_time
    if len(call) == 2:
        function, value = call
        start = clock()
        for _ in turns:
            function(value)
    else:
        function, value, default, option = call
        start = clock()
        for _ in turns:
            function(value, default, option)
    return clock() - start


def measure(calls, rounds, seconds):
    """Seconds of the thread for one call, round by round."""
    counts = {}
    for module, call in calls.items():
        count = 1
        while (taken := repeat(call, count)) < seconds / 4:
            count *= 2
        counts[module] = max(1, int(count * seconds / taken))
    found = {module: [] for module in calls}
    gc.disable()
    for _ in range(rounds):
        for module, call in calls.items():
            found[module].append(repeat(call, counts[module]) / counts[module])
    gc.enable()
    return found


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--seconds", type=float, default=0.05)
    arguments.add_argument("--json", type=pathlib.Path)
    arguments.add_argument("filter", nargs="*")
    arguments = arguments.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, kernel {jird.kernel}")
    kinds, results = {}, []
    for kind, name, calls in rows():
        if not all(word in f"{kind} {name}" for word in arguments.filter):
            continue
        found = measure(calls, arguments.rounds, arguments.seconds)
        ratio = statistics.median(one / other for one, other in zip(found["jird"], found["orjson"]))
        kinds.setdefault(kind, []).append(ratio)
        times = {module: statistics.median(times) for module, times in found.items()}
        results.append({"kind": kind, "name": name, "seconds": times, "ratio": ratio})
        shown = "  ".join(f"{module} {seconds * 1e9:9.0f}" for module, seconds in times.items())
        print(f"{kind:15} {name:36} {ratio:5.2f}   {shown} ns", flush=True)
    for kind, ratios in kinds.items():
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"{kind:15} {mean:.2f} × orjson's time on average, {min(ratios):.2f} to {max(ratios):.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
