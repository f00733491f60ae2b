"""One query over NDJSON by DuckDB: the schema given, two threads, the input's order kept, the answer written as
CSV, the text that DuckDB writes fastest.

usage: duckdb_query.py EVENTS SELECT COLUMNS REST OUTPUT REPORT
"""

import json
import sys
import time

import duckdb

events, select, columns, rest, output, report = sys.argv[1:]
started = time.perf_counter()
connection = duckdb.connect(config={"threads": 2})
connection.execute(
    f"""
    copy (
        select {select}
        from read_json(?, columns = {{{columns}}}, format = 'newline_delimited')
        {rest}
    ) to '{output}' (format csv, header)
    """,
    [events],
)
with open(report, "w") as file:
    json.dump({"inside_seconds": time.perf_counter() - started, "version": duckdb.__version__}, file)
