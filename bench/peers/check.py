"""Compares what a conversion wrote with the events that it was made of, value by value, in the input's order.

A key that is missing and null are the same; so are, in CSV and what is made of it, these and an empty text. Numbers are equal if their values are,
exactly; nested values may be JSON text.

usage: check.py FORMAT all|ten EVENTS OUTPUT    (prints {"records": …, "differs": [words, …]})
"""

import csv
import itertools
import json
import sqlite3
import sys

FORMAT, COLUMNS, EVENTS, OUTPUT = sys.argv[1:]
TEN = (
    "@t @l @mt Message Elapsed Properties.SourceContext Properties.RequestId Properties.StatusCode "
    "Properties.Application Properties.TraceId"
).split()


def wanted():
    paths = [name.split(".") for name in TEN]
    with open(EVENTS, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            if COLUMNS == "ten":
                nested = event["Properties"]
                yield {".".join(path): (event if len(path) == 1 else nested).get(path[-1]) for path in paths}
            else:
                yield event


def written():
    if FORMAT == "csv":
        with open(OUTPUT, encoding="utf-8", newline="") as file:
            rows = csv.reader(file)
            names = next(rows)
            for row in rows:
                yield dict(zip(names, row, strict=True))
    elif FORMAT == "ndjson":
        with open(OUTPUT, encoding="utf-8", newline="\n") as file:
            for line in file:
                # The elements of an array, a line each, will do.
                yield json.loads(line.strip().lstrip("[").rstrip(",]"))
    elif FORMAT == "parquet":
        from pyarrow.parquet import ParquetFile

        for batch in ParquetFile(OUTPUT).iter_batches():
            yield from batch.to_pylist()
    elif FORMAT == "sqlite":
        database = sqlite3.connect(f"file:{OUTPUT}?mode=ro", uri=True)
        cursor = database.execute("select * from events order by rowid")
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield dict(zip(names, row))


differences = {}


def compare(path, want, got):
    if isinstance(want, (dict, list)) and isinstance(got, str):
        try:
            got = json.loads(got)
        except ValueError:
            pass
    if isinstance(want, dict) and isinstance(got, dict):
        for name, value in want.items():
            compare(f"{path}.{name}" if path else name, value, got.get(name))
        for name, value in got.items():
            if name not in want:
                compare(f"{path}.{name}" if path else name, None, value)
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for one, other in zip(want, got):
            compare(path + "[]", one, other)
    elif not same(want, got):
        count, first = differences.get(path, (0, (want, got)))
        differences[path] = (count + 1, first)


def same(want, got):
    if FORMAT == "csv" and not (want is None or isinstance(want, str)):
        try:
            got = json.loads(got)
        except ValueError:
            return False
    if want is None:
        return got is None or (COLUMNS == "ten" and got == "")
    if isinstance(want, (bool, str)) or isinstance(got, bool):
        return type(want) is type(got) and want == got
    # Of whole numbers and doubles Python compares the values, not the nearest doubles.
    return isinstance(got, (int, float)) and want == got


records = 0
nothing = object()
for want, got in itertools.zip_longest(wanted(), written(), fillvalue=nothing):
    if want is nothing or got is nothing:
        differences["records"] = (1, ("more" if got is nothing else "fewer", f"{records}"))
        break
    compare("", want, got)
    records += 1


def words(path, count, want, got):
    short = lambda value: repr(value) if len(repr(value)) < 60 else repr(value)[:57] + "…"
    return f"{path}: {count} values differ, the first is {short(got)} instead of {short(want)}"


differs = [words(path, count, *first) for path, (count, first) in sorted(differences.items())]
json.dump({"records": records, "differs": differs}, sys.stdout, ensure_ascii=False)
