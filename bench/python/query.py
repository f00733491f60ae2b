#!/usr/bin/env python3
"""What it costs that `jird.query` asks a program: beside the program alone, and for results that are large.

    python bench/python/query.py EVENTS.NDJSON [--rounds N]

EVENTS.NDJSON is made by `cargo run --release -p generate-events -- -o events.ndjson`. All ways take turns, their
answers are compared, and the figure is the median of the rounds. It needs

    pip install 'jird[query]' pyarrow
"""

import argparse
import os
import platform
import statistics
import subprocess
import tempfile
import time

import pyarrow

import jird
from jird._program import program

SMALL = 'select "@l", count(*) as n group by "@l" order by "@l"'
LARGE = 'select "@t", Elapsed'


def timed(ways, rounds):
    """The times of each way, by round."""
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    return times


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("events")
    options.add_argument("--rounds", type=int, default=9)
    options = options.parse_args()
    print(f"Python {platform.python_version()}, jird {jird.__version__} ({jird.kernel}), pyarrow {pyarrow.__version__}")
    size = os.path.getsize(options.events)

    def alone(sql, path, target, kind):
        subprocess.run([program(), "query", "--format", kind, "-o", target, "--", sql, path], check=True)

    with tempfile.TemporaryDirectory() as folder:
        few = os.path.join(folder, "few.ndjson")
        with open(options.events, "rb") as all_events, open(few, "wb") as some:
            some.writelines(line for line, _ in zip(all_events, range(1000)))
        answer, table = os.path.join(folder, "answer.ndjson"), os.path.join(folder, "table.arrow")
        types = {"@t": str, "Elapsed": float}
        wanted = pyarrow.table(jird.scan(options.events, columns=["@t", "Elapsed"], types=types))
        found = jird.query(LARGE, options.events).to_arrow()
        alone(SMALL, options.events, answer, "ndjson")
        with open(answer, "rb") as lines:
            same = [jird.loads(line) for line in lines] == list(jird.query(SMALL, options.events))
        if found.num_rows != wanted.num_rows or not same:
            raise SystemExit("the answers differ")
        ways = {
            "1,000 events, grouped: program alone": lambda: alone(SMALL, few, answer, "ndjson"),
            "1,000 events, grouped: jird.query": lambda: list(jird.query(SMALL, few)),
            "all events, grouped: program alone": lambda: alone(SMALL, options.events, answer, "ndjson"),
            "all events, grouped: jird.query": lambda: list(jird.query(SMALL, options.events)),
            "two fields of all: program alone, into Arrow": lambda: alone(LARGE, options.events, table, "arrow"),
            "two fields of all: jird.query, into Arrow": lambda: jird.query(LARGE, options.events).to_arrow(),
            "two fields of all: jird.query, dicts": lambda: sum(1 for _ in jird.query(LARGE, options.events)),
            "two fields of all: jird.scan, into Arrow": lambda: jird.scan(
                options.events, columns=["@t", "Elapsed"]
            ).to_arrow(),
        }
        for name, times in timed(ways, options.rounds).items():
            median = statistics.median(times)
            spread = f"{min(times) * 1e3:,.1f} to {max(times) * 1e3:,.1f}"
            print(f"{name:56} {median * 1e3:8,.1f} ms ({spread}), {size / median / 1e9:.2f} GB/s of the events")


if __name__ == "__main__":
    main()
