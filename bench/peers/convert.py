"""One conversion by one Python tool, in its best fair settings: two threads, the schema given where the tool takes one, the
input's order kept, nested values as JSON text where there are no nested columns (`-struct`: as structs).

usage: convert.py TOOL TASK FROM TO REPORT
"""

import json
import os
import sys
import time

TOOL, TASK, FROM, TO, REPORT = sys.argv[1:]
os.environ["POLARS_MAX_THREADS"] = "2"

# Key of the event, kind; those of `Properties` are named with a dot in columns.
TEN = [
    ("@t", str),
    ("@l", str),
    ("@mt", str),
    ("Message", str),
    ("Elapsed", float),
    ("Properties.SourceContext", str),
    ("Properties.RequestId", str),
    ("Properties.StatusCode", int),
    ("Properties.Application", str),
    ("Properties.TraceId", int),
]
TOP = ["@t", "@mt", "@l", "Message", "Properties", "Elapsed", "@x"]
NAMES = [name for name, _ in TEN]


def polars(struct):
    import polars as pl

    kinds = {str: pl.String, float: pl.Float64, int: pl.UInt64}
    if TASK == "csv_to_ndjson":
        return pl.scan_csv(FROM, schema={name: kinds[kind] for name, kind in TEN}).sink_ndjson(TO)
    schema = {name: pl.String for name in TOP} | {"Elapsed": pl.Float64}
    if TASK == "ndjson_to_csv":
        del schema["@x"]
        inner = [(name.split(".")[1], kind) for name, kind in TEN if "." in name]
        schema["Properties"] = pl.Struct({name: kinds[kind] for name, kind in inner})
        own = [pl.col(name) for name in NAMES if "." not in name]
        nested = [pl.col("Properties").struct.field(name).alias(f"Properties.{name}") for name, _ in inner]
        return pl.scan_ndjson(FROM, schema=schema).select(own + nested).sink_csv(TO)
    if struct:
        text = ["SourceContext", "User", "RequestId", "RequestPath", "UserAgent", "Application", "Job", "Key", "Age", "Extra", "Parameters"]
        fields = [pl.Field(name, pl.String) for name in text]
        fields += [pl.Field(name, pl.UInt64) for name in ["UserId", "TraceId", "StatusCode", "Rows", "Checksum", "OrderId"]]
        fields += [pl.Field(name, pl.List(pl.String)) for name in ["Roles", "Tags"]]
        fields += [pl.Field("Total", pl.Float64)]
        fields += [pl.Field("Customer", pl.Struct({"Name": pl.String, "City": pl.String, "Vip": pl.Boolean}))]
        fields += [pl.Field("Steps", pl.List(pl.Struct({"Name": pl.String, "Ok": pl.Boolean})))]
        schema["Properties"] = pl.Struct(fields)
    return pl.scan_ndjson(FROM, schema=schema).sink_parquet(TO, compression="snappy")


def duckdb(struct):
    import duckdb

    kinds = {str: "VARCHAR", float: "DOUBLE", int: "UBIGINT"}
    listed = lambda columns: ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
    target = {"csv": "format csv, header", "ndjson": "format json", "parquet": "format parquet, compression snappy"}
    write = f"to '{TO}' ({target[TASK.split('_')[-1]]})"
    if TASK == "csv_to_ndjson":
        columns = listed({name: kinds[kind] for name, kind in TEN})
        read = f"select * from read_csv('{FROM}', columns = {{{columns}}}, header = true, quote = '\"', escape = '\"', delim = ',')"
    else:
        columns = {name: "VARCHAR" for name in TOP} | {"Elapsed": "DOUBLE"}
        names = "*"
        if TASK == "ndjson_to_csv":
            del columns["@x"]
            inner = [(name.split(".")[1], kinds[kind]) for name, kind in TEN if "." in name]
            columns["Properties"] = "STRUCT(" + ", ".join(f"{name} {kind}" for name, kind in inner) + ")"
            own = [f'"{name}"' for name in NAMES if "." not in name]
            names = ", ".join(own + [f'Properties.{name} as "Properties.{name}"' for name, _ in inner])
        elif struct:
            text = "SourceContext User RequestId RequestPath UserAgent Application Job Key".split()
            fields = [f"{name} VARCHAR" for name in text]
            fields += [f"{name} JSON" for name in ["Age", "Extra", "Parameters"]]
            fields += [f"{name} UBIGINT" for name in "UserId TraceId StatusCode Rows Checksum OrderId".split()]
            fields += ["Roles VARCHAR[]", "Tags VARCHAR[]", "Total DOUBLE"]
            fields += ["Customer STRUCT(Name VARCHAR, City VARCHAR, Vip BOOLEAN)", "Steps STRUCT(Name VARCHAR, Ok BOOLEAN)[]"]
            columns["Properties"] = "STRUCT(" + ", ".join(fields) + ")"
        else:
            columns["Properties"] = "JSON"
        read = f"select {names} from read_json('{FROM}', columns = {{{listed(columns)}}}, format = 'newline_delimited')"
    duckdb.connect(config={"threads": 2}).execute(f"copy ({read}) {write}")


def python(_):
    import csv
    import sqlite3

    write_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    if TASK == "ndjson_to_csv":
        paths = [name.split(".") for name in NAMES]
        with open(FROM, encoding="utf-8") as events, open(TO, "w", encoding="utf-8", newline="") as out:
            rows = csv.writer(out, lineterminator="\n")
            rows.writerow(NAMES)
            own = [name for name in NAMES if "." not in name]
            inner = [path[1] for path in paths if len(path) > 1]
            for line in events:
                event = json.loads(line)
                nested = event["Properties"]
                rows.writerow([event.get(name) for name in own] + [nested.get(name) for name in inner])
    elif TASK == "csv_to_ndjson":
        with open(FROM, encoding="utf-8", newline="") as rows, open(TO, "w", encoding="utf-8") as out:
            rows = csv.reader(rows)
            next(rows)
            for row in rows:
                event = {name: kind(cell) if cell else None for (name, kind), cell in zip(TEN, row)}
                out.write(write_json(event) + "\n")
    elif TASK == "ndjson_to_sqlite":
        database = sqlite3.connect(TO)
        database.execute("pragma journal_mode = off")
        database.execute("pragma synchronous = off")
        kinds = {"Elapsed": "NUMERIC", "Properties": "JSON TEXT"}
        columns = ", ".join(f'"{name}" {kinds.get(name, "TEXT")}' for name in TOP)
        database.execute(f"create table events ({columns})")
        place = TOP.index("Properties")
        with open(FROM, encoding="utf-8") as events:

            def rows():
                for line in events:
                    event = json.loads(line)
                    row = [event.get(name) for name in TOP]
                    row[place] = write_json(row[place])
                    yield row

            database.executemany(f"insert into events values ({', '.join('?' * len(TOP))})", rows())
        database.commit()
        database.close()
    elif TASK == "sqlite_to_json":
        database = sqlite3.connect(f"file:{FROM}?mode=ro", uri=True)
        with open(TO, "w", encoding="utf-8") as out:
            cursor = database.execute("select * from events")
            names = [column[0] for column in cursor.description]
            for row in cursor:
                out.write(write_json(dict(zip(names, row))) + "\n")


started = time.perf_counter()
tool, _, variant = TOOL.partition("-")
{"polars": polars, "duckdb": duckdb, "python": python}[tool](variant == "struct")
with open(REPORT, "w") as file:
    json.dump({"inside_seconds": time.perf_counter() - started}, file)
