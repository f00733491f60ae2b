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
    """The median of each way, by what it says that it took."""
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(way())
    return {name: statistics.median(found) for name, found in times.items()}


def clocked(work):
    def way():
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return way


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
        "Arrow, types found first": clocked(arrow),
        "Arrow, types given": clocked(lambda: arrow(types=given)),
        "Arrow, types given, one thread": clocked(lambda: arrow(types=given, threads=1)),
        "dicts of two columns": clocked(lambda: sum(1 for _ in jird.scan(path, columns=columns))),
        "whole dicts": clocked(lambda: sum(1 for _ in jird.scan(path))),
    }
    print(f"{size / 1e6:,.0f} MB, {wanted.num_rows:,} events")
    for name, seconds in timed(ways, rounds).items():
        print(f"  {name:34} {seconds:6.2f} s  {size / seconds / 1e9:5.2f} GB/s", flush=True)


CHUNK = 1_000_000


def task(index):
    return Task(index + 1, f"clean room {index % 1000}", index % 3 == 0)


def rows(count, rounds):
    """Inserts tasks as the barometer's `sqlite_rows` does, with the number as the primary key."""
    columns = pyarrow.table(
        {
            "id": pyarrow.array(range(1, count + 1)),
            "title": pyarrow.array(f"clean room {index % 1000}" for index in range(count)),
            "done": pyarrow.array(index % 3 == 0 for index in range(count)),
        }
    )
    # In memory, so that no disk is measured.
    folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    path = pathlib.Path(folder.name) / "tasks.db"

    def fresh(work):
        def way():
            path.unlink(missing_ok=True)
            seconds = work()
            with sqlite3.connect(path) as connection:
                found = connection.execute("select count(*), sum(id), sum(done) from Task").fetchone()
            if found != (count, count * (count + 1) // 2, len(range(0, count, 3))):
                raise SystemExit(f"{found} are there")
            return seconds

        return way

    def database():
        return jird.Sqlite(path).table(Task, key="id")

    def chunks(insert):
        """The objects are made beforehand, a million at a time, and only the inserts are timed."""
        seconds = 0
        for first in range(0, count, CHUNK):
            tasks = [task(index) for index in range(first, min(first + CHUNK, count))]
            seconds += clocked(lambda: insert(tasks))()
        return seconds

    def executemany():
        with sqlite3.connect(path) as connection:
            connection.execute("create table Task (id integer primary key, title text not null, done integer not null)")

            def insert(tasks):
                made = ((task.id, task.title, task.done) for task in tasks)
                connection.executemany("insert into Task values (?, ?, ?)", made)
                connection.commit()

            return chunks(insert)

    ways = {
        "a column batch": fresh(clocked(lambda: database().insert_arrow(columns))),
        "objects, a million at a time": fresh(lambda: chunks(database().insert)),
        "a generator of objects": fresh(clocked(lambda: database().insert(task(index) for index in range(count)))),
        "the same without inserting": clocked(lambda: sum(1 for _ in map(task, range(count)))),
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
