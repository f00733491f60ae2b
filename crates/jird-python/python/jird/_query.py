"""SQL over files and stores: `query`."""

import os
import re
import subprocess

from . import _jird
from ._program import program
from ._tables import Tabular
from .errors import QueryError

__all__ = ["Query", "query"]


class Query(_jird.Query, Tabular):
    """The result of a query; see `jird.query`."""

    __slots__ = ("_call", "sql")

    def explain(self):
        """How the query runs, as a text: what is read of the files, and DataFusion's plan."""
        done = subprocess.run(
            [self._call[0], "query", *_arguments("explain " + self.sql, self._call[1])],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if done.returncode != 0:
            raise QueryError(done.stderr.strip().removeprefix("jird: "))
        return done.stdout

    def __repr__(self):
        return f"<jird.Query {self.sql!r}>"


def query(
    sql,
    paths=(),
    *,
    type=None,
    since=None,
    until=None,
    records=None,
    on_error="stop",
    source_format=None,
    threads=None,
):
    """Runs a query in SQL over NDJSON, JSON, CSV, Parquet, Arrow and SQLite files, and over event stores.

    Iterating over the result gives dicts, or values of `type`, as `loads` makes them. The result is also a stream of
    Arrow batches: pyarrow.table(result), polars.DataFrame(result) and DuckDB take it as it is. Each use runs the query
    again.

    sql            such as "select Level, count(*) as n group by Level"; without `from` it reads all files
    paths          a path or pattern such as "logs/*.ndjson", a folder or store, or a list of them: the table `stream`
    since, until   for stores: the time of the events, such as "2024-03-05" or "1h", or a datetime
    records        which values of JSON documents are records: "/items/*"
    on_error       "stop", "skip" or "quarantine=FILE": what to do about a line that is not JSON
    source_format  "ndjson", "json", "csv", "tsv", "sqlite", "parquet" or "arrow"; default: detected by name and content

    The query runs in a separate process: the program `jird`, which pip install 'jird[query]' installs.
    Raises ImportError if that is missing. Using the result raises QueryError, a ValueError, if the query fails.
    """
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    paths = [os.fspath(path) for path in paths]
    if any(path == "-" for path in paths):
        raise ValueError("standard input is for the command; name files")
    if re.match(r"\s*explain\b", sql, re.IGNORECASE):
        raise ValueError("leave out `explain`, and call .explain() of the result")
    if not paths and not re.search(r"\bfrom\b", sql, re.IGNORECASE):
        raise ValueError("no file is named: query(sql, paths), or from 'events.ndjson' in the SQL")
    options = {
        "--since": _time(since),
        "--until": _time(until),
        "--records": records,
        "--on-error": on_error,
        "--from": source_format,
        "--threads": threads,
    }
    arguments = [f"{name}={value}" for name, value in options.items() if value is not None]
    found = program()
    made = Query(found, _arguments(sql, (arguments, paths)), type, on_error != "stop")
    made.sql, made._call = sql, (found, (arguments, paths))
    return made


def _arguments(sql, others):
    arguments, paths = others
    return [*arguments, "--", sql, *paths]


def _time(time):
    return time.isoformat() if hasattr(time, "isoformat") else time
