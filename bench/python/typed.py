#!/usr/bin/env python3
"""A million objects {"hi":i,"there":i,"comment":"comment"} as dicts and as values of classes.

    python bench/python/typed.py [--objects N] [--rounds N]

Each measurement is a process of its own, because what one leaves behind in the allocator changes the next; the
processes take turns. Each checks its values, reads the text three times and gives the median; the figure is the median
of the rounds. It needs

    pip install jird msgspec orjson
"""

import argparse
import dataclasses
import gc
import importlib.metadata
import platform
import statistics
import subprocess
import sys
import time

KINDS = ["dicts", "dataclass", "dataclass with slots", "Struct"]
MODULES = ["jird", "msgspec", "orjson"]


def reader(module, kind):
    import msgspec

    class Struct(msgspec.Struct):
        hi: int
        there: int
        comment: str

    @dataclasses.dataclass
    class Plain:
        hi: int
        there: int
        comment: str

    @dataclasses.dataclass(slots=True)
    class Slotted:
        hi: int
        there: int
        comment: str

    wanted = {"dataclass": list[Plain], "dataclass with slots": list[Slotted], "Struct": list[Struct]}.get(kind)
    if module == "msgspec":
        return (msgspec.json.Decoder(wanted) if wanted else msgspec.json.Decoder()).decode
    if module == "jird":
        import jird

        return (lambda text: jird.loads(text, type=wanted)) if wanted else jird.loads
    import orjson

    return orjson.loads


def one(module, kind, objects):
    text = b"[" + b",".join(b'{"hi":%d,"there":%d,"comment":"comment"}' % (i, i) for i in range(objects)) + b"]"
    read, times = reader(module, kind), []
    for _ in range(3):
        gc.collect()
        start = time.perf_counter()
        values = read(text)
        times.append(time.perf_counter() - start)
        last = values[-1]
        if kind != "dicts":
            last = {name: getattr(last, name) for name in ("hi", "there", "comment")}
        if len(values) != objects or last != {"hi": objects - 1, "there": objects - 1, "comment": "comment"}:
            sys.exit("the values are wrong")
        del values
    print(statistics.median(times))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--objects", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = options.parse_args()
    if options.one:
        return one(*options.one, options.objects)
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in MODULES)
    print(f"Python {platform.python_version()}, {versions}; ms, medians of {options.rounds} rounds")
    cells = [(kind, module) for kind in KINDS for module in MODULES if kind == "dicts" or module != "orjson"]
    times = {cell: [] for cell in cells}
    for _ in range(options.rounds):
        for kind, module in cells:
            command = [sys.executable, __file__, "--objects", str(options.objects), "--one", module, kind]
            found = subprocess.run(command, capture_output=True, text=True, check=True)
            times[kind, module].append(float(found.stdout))
    for kind in KINDS:
        found = {module: statistics.median(times[kind, module]) for module in MODULES if (kind, module) in times}
        shown = ", ".join(f"{module} {seconds * 1e3:,.0f}" for module, seconds in found.items())
        print(f"{kind:22} {shown}", flush=True)


if __name__ == "__main__":
    main()
