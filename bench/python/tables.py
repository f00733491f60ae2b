#!/usr/bin/env python3
"""Lines into Arrow, and rows into SQLite, by jird and by what Python has.

    python bench/python/tables.py EVENTS.NDJSON [--rows N] [--rounds N]

EVENTS.NDJSON is made by `cargo run --release -p generate-events -- -o events.ndjson`. All ways take turns, their
answers are compared, and the figure is the median of the rounds. It needs

    pip install jird pyarrow
"""

import argparse
import dataclasses
import os
import pathlib
import platform
import sqlite3
import statistics
import tempfile
import time

import pyarrow

import jird


@dataclasses.dataclass(slots=True)
class Task:
    id: int
    title: str
    done: bool


def timed(ways, rounds):
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def lines(path, rounds):
    size = os.path.getsize(path)
    columns = ["@t", "Elapsed"]
    given = {"@t": str, "Elapsed": float}
    wanted = pyarrow.table(jird.scan(path, columns=columns))
    told = pyarrow.table(jird.scan(path, columns=columns, types=given))
    if wanted.num_rows != told.num_rows or wanted.column(1) != told.column(1):
        raise SystemExit("the answers differ")

    def arrow(**others):
        return pyarrow.table(jird.scan(path, columns=columns, **others))

    ways = {
        "Arrow, types found first": arrow,
        "Arrow, types given": lambda: arrow(types=given),
        "Arrow, types given, one thread": lambda: arrow(types=given, threads=1),
        "dicts of two columns": lambda: sum(1 for _ in jird.scan(path, columns=columns)),
        "whole dicts": lambda: sum(1 for _ in jird.scan(path)),
    }
    print(f"{size / 1e6:,.0f} MB, {wanted.num_rows:,} events")
    for name, seconds in timed(ways, rounds).items():
        print(f"  {name:34} {seconds:6.2f} s  {size / seconds / 1e9:5.2f} GB/s", flush=True)


def rows(count, rounds):
    titles = ["Clean Room", "Check Mail", "Write Letter"]
    tasks = [Task(index, titles[index % 3], index % 2 == 0) for index in range(1_000_000)]
    table = pyarrow.table(
        {
            "id": range(count),
            "title": [titles[index % 3] for index in range(count)],
            "done": [index % 2 == 0 for index in range(count)],
        }
    )
    folder = tempfile.TemporaryDirectory()
    path = pathlib.Path(folder.name) / "tasks.db"

    def fresh(write):
        def way():
            path.unlink(missing_ok=True)
            write()
            with sqlite3.connect(path) as connection:
                found = connection.execute("select count(*), sum(id) from Task").fetchone()
            if found[0] != count:
                raise SystemExit(f"{found} are there")

        return way

    def database():
        return jird.Sqlite(path).table(Task)

    def objects():
        table = database()
        for _ in range(count // len(tasks)):
            table.insert(tasks)

    def executemany():
        with sqlite3.connect(path) as connection:
            connection.execute("create table Task (id integer not null, title text not null, done integer not null)")
            for _ in range(count // len(tasks)):
                made = ((task.id, task.title, task.done) for task in tasks)
                connection.executemany("insert into Task values (?, ?, ?)", made)

    ways = {
        "a column batch": fresh(lambda: database().insert_arrow(table)),
        "objects, a million at a time": fresh(objects),
        "a generator of objects": fresh(
            lambda: database().insert(Task(index, titles[index % 3], index % 2 == 0) for index in range(count))
        ),
        "sqlite3.executemany of the objects": fresh(executemany),
    }
    print(f"{count:,} rows into SQLite")
    for name, seconds in timed(ways, rounds).items():
        print(f"  {name:34} {seconds:6.2f} s  {count / seconds * 60 / 1e6:6.0f} million rows a minute", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("events", type=pathlib.Path)
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    print(f"Python {platform.python_version()}, jird {jird.__version__} ({jird.kernel}), {os.cpu_count()} cores")
    lines(options.events, options.rounds)
    rows(options.rows, options.rounds)


if __name__ == "__main__":
    main()
