"""GTFS stop times into columns in memory, on one thread, with a schema.

usage: stop_times.py TOOL FILE REPORT
"""

import json
import os
import sys
import time

TOOL, FILE, REPORT = sys.argv[1:]
os.environ["POLARS_MAX_THREADS"] = "1"
TEXT = ["trip_id", "arrival_time", "departure_time", "stop_id", "stop_headsign"]
NUMBERS = ["stop_sequence", "pickup_type", "drop_off_type", "timepoint"]
NAMES = TEXT[:4] + NUMBERS[:1] + TEXT[4:] + NUMBERS[1:]

if TOOL == "polars":
    import polars as pl

    schema = {name: pl.String if name in TEXT else pl.UInt32 if name == "stop_sequence" else pl.UInt8 for name in NAMES}
    started = time.perf_counter()
    table = pl.read_csv(FILE, schema=schema)
    seconds = time.perf_counter() - started
    # An empty text in quotes is null here.
    sums = [table[name].str.len_bytes().sum() for name in TEXT] + [table[name].cast(pl.UInt64).sum() for name in NUMBERS]
    count = len(table)
else:
    import duckdb

    kinds = {name: "VARCHAR" if name in TEXT else "UINTEGER" if name == "stop_sequence" else "UTINYINT" for name in NAMES}
    connection = duckdb.connect(config={"threads": 1})
    started = time.perf_counter()
    connection.execute(f"create table stop_times as select * from read_csv('{FILE}', columns = {kinds}, header = true)")
    seconds = time.perf_counter() - started
    sums = [f"sum(strlen({name}))" for name in TEXT] + [f"sum({name})" for name in NUMBERS]
    *sums, count = connection.execute(f"select {', '.join(sums)}, count(*) from stop_times").fetchone()

with open(REPORT, "w") as file:
    json.dump({"inside_seconds": seconds, "records": count, "checksum": int(sum(one or 0 for one in sums))}, file)
