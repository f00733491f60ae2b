"""What independent programs make of our files, and files of theirs for us.

readers.py read FOLDER     checks FOLDER/*.EXTENSION against FOLDER/*.ndjson
readers.py write FOLDER    writes what FOLDER/*.ndjson has as FOLDER/*.WRITER.EXTENSION
readers.py same A B …      A and B, Arrow or Parquet, have the same rows
"""

import csv
import decimal
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet


def truth(path):
    """The columns and rows of lines of JSON."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    names = list(dict.fromkeys(name for record in records for name in record))
    return names, [[record.get(name) for name in names] for record in records]


def as_text(value):
    """A value as it stands in CSV; of numbers the value counts, and not how it is spelled."""
    return json.dumps(value) if isinstance(value, bool) else value


def is_same(cell, value):
    if isinstance(value, (dict, list)):
        return json.loads(cell) == value
    if isinstance(value, (int, float)) and isinstance(cell, str):
        return float(cell) == value
    if isinstance(cell, decimal.Decimal):
        cell = int(cell)
    return cell == value


def check(what, got, wanted):
    if len(got) != len(wanted):
        sys.exit(f"{what}: {len(got)} rows where there are {len(wanted)}")
    for index, (cells, values) in enumerate(zip(got, wanted)):
        if len(cells) != len(values) or not all(map(is_same, cells, values)):
            sys.exit(f"{what}, row {index}:\n{cells}\n{values}")


def rows_of(table):
    return [list(row) for row in zip(*[column.to_pylist() for column in table.columns])]


def duck(sql):
    return [list(row) for row in duckdb.sql(sql).fetchall()]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def duck_csv(path, names):
    columns = ", ".join("'" + name.replace("'", "''") + "': 'VARCHAR'" for name in names)
    options = "auto_detect=false, header=true, delim=',', quote='\"', escape='\"', new_line='\\n'"
    return f"select * from read_csv('{path}', {options}, allow_quoted_nulls=false, parallel=false, columns={{{columns}}})"


def arrow_csv(path, names):
    convert = pa.csv.ConvertOptions(
        column_types={name: pa.string() for name in names},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(newlines_in_values=True), convert_options=convert)


def read(folder):
    for path in sorted(folder.glob("*.ndjson")):
        names, wanted = truth(path)
        file = lambda suffix: str(path.with_suffix(suffix))
        texts = [[as_text(value) for value in row] for row in wanted]
        with open(file(".csv"), newline="") as text:
            reader = csv.reader(text, strict=True)
            assert next(reader) == names, path
            check(f"csv of Python: {path}", list(reader), [["" if text is None else text for text in row] for row in texts])
        check(f"CSV by DuckDB: {path}", duck(duck_csv(file(".csv"), names)), texts)
        check(f"CSV by Arrow: {path}", rows_of(arrow_csv(file(".csv"), names)), texts)
        tables = {
            "Parquet": pa.parquet.read_table(file(".parquet")),
            "an Arrow file": pa.ipc.open_file(file(".arrow")).read_all(),
            "an Arrow stream": pa.ipc.open_stream(file(".arrows")).read_all(),
        }
        for what, table in tables.items():
            assert table.column_names == names, path
            check(f"{what} by Arrow: {path}", rows_of(table), wanted)
        check(f"Parquet by DuckDB: {path}", duck(f"select * from '{file('.parquet')}'"), wanted)
        database = sqlite3.connect(f"file:{file('.db')}?mode=ro", uri=True)
        assert database.execute("pragma integrity_check").fetchall() == [("ok",)], path
        got = database.execute("select * from t")
        assert [column[0] for column in got.description] == names, path
        check(f"SQLite by Python: {path}", list(map(list, got)), wanted)
        if shutil.which("sqlite3"):
            command = ["sqlite3", "-readonly", "-json", file(".db"), "select * from t"]
            got = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout or "[]")
            check(f"SQLite by its shell: {path}", [list(row.values()) for row in got], wanted)
        else:
            print("skipped: sqlite3")


def write(folder):
    for path in sorted(folder.glob("*.ndjson")):
        names, rows = truth(path)
        file = lambda suffix: str(path.with_suffix(suffix))
        table = pa.table({name: [row[index] for row in rows] for index, name in enumerate(names)})
        pa.parquet.write_table(table, file(".arrow.parquet"), compression="zstd", row_group_size=100)
        pa.parquet.write_table(table, file(".v1.parquet"), version="1.0", data_page_version="2.0", use_dictionary=False)
        pa.feather.write_feather(table, file(".feather.arrow"), compression="lz4", chunksize=100)
        with pa.ipc.new_stream(file(".stream.arrow"), table.schema) as stream:
            stream.write_table(table, max_chunksize=7)
        pa.csv.write_csv(table, file(".arrow.csv"))
        duckdb.register("source", table)
        duckdb.sql(f"copy source to '{file('.duck.parquet')}'")
        duckdb.sql(f"copy source to '{file('.duck.csv')}'")
        duckdb.sql(f"copy source to '{file('.duck.json')}' (format json)")
        for name, quoting, end in [("minimal", csv.QUOTE_MINIMAL, "\n"), ("all", csv.QUOTE_ALL, "\r\n")]:
            with open(file(f".{name}.csv"), "w", newline="") as text:
                csv.writer(text, quoting=quoting, lineterminator=end).writerows([names, *rows])
        database = sqlite3.connect(file(".python.db"))
        database.execute(f"create table t ({', '.join(map(quoted, names))})")
        database.executemany(f"insert into t values ({', '.join('?' * len(names))})", rows)
        database.commit()
        database.close()
        if shutil.which("sqlite3"):
            command = ["sqlite3", file(".shell.db"), f".import --csv {file('.minimal.csv')} t"]
            subprocess.run(command, check=True, capture_output=True)


def table(path):
    if path.suffix == ".parquet":
        return pa.parquet.read_table(path)
    start = path.read_bytes()[:6]
    return (pa.ipc.open_file if start == b"ARROW1" else pa.ipc.open_stream)(str(path)).read_all()


def same(*files):
    for ours, theirs in zip(files[::2], files[1::2]):
        copied, original = table(ours), table(theirs)
        assert copied.column_names == original.column_names, ours
        check(str(ours), rows_of(copied), rows_of(original))


if __name__ == "__main__":
    globals()[sys.argv[1]](*map(pathlib.Path, sys.argv[2:]))
