"""One query over NDJSON by DuckDB: the schema given, two threads, the input's order kept, the answer written as
CSV, the text that DuckDB writes fastest.

usage: duckdb_query.py EVENTS CONDITION OUTPUT REPORT
"""

import json
import sys
import time

import duckdb

events, condition, output, report = sys.argv[1:]
started = time.perf_counter()
connection = duckdb.connect(config={"threads": 2})
connection.execute(
    f"""
    copy (
        select Message
        from read_json(?, columns = {{Message: 'VARCHAR', Elapsed: 'DOUBLE'}}, format = 'newline_delimited')
        where {condition}
    ) to '{output}' (format csv, header)
    """,
    [events],
)
with open(report, "w") as file:
    json.dump({"inside_seconds": time.perf_counter() - started, "version": duckdb.__version__}, file)
