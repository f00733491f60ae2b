"""Lines and tables in files: `scan` and `convert`."""

import errno
import glob as _glob
import os
import subprocess
from collections.abc import Mapping

from . import _jird
from ._program import alone
from ._sources import Chunks, source_of
from ._tables import Tabular

__all__ = ["Scan", "convert", "scan"]


class Scan(_jird.Scan, Tabular):
    """Lines of files and streams; see `jird.scan`."""

    __slots__ = ()

    def _repr_html_(self):
        # A stream is not read because a notebook shows the scan.
        return super()._repr_html_() if self._chunks is None or not self._chunks.is_once else None


def scan(
    source,
    *,
    records=None,
    range=None,
    columns=None,
    where=None,
    types=None,
    nested="json",
    type=None,
    on_error="stop",
    threads=None,
    progress=None,
):
    """Reads NDJSON: files, compressed or not, and bytes on all cores, streams as they arrive.

    Iterating over the result gives dicts, or values of `type`, as `loads` makes them. The result is also a stream of
    Arrow batches: pyarrow.table(scan), polars.DataFrame(scan) and DuckDB take it as it is. Each use reads the files again.

    A stream is read once, a chunk at a time, on the thread that asks for the next record, and a record is there as soon as
    its line is complete. Exceptions of the reader come out as they are, after the records before them, and end the
    iteration. For Arrow, the stream is copied to a temporary file first, which later uses read too.

    If an object has a key several times, the first one counts, in conditions, columns and values, and in `query`; with
    `loads` the last one does. In columns, a record that is not an object is the column "value".

    source     a path or pattern such as "logs/*.ndjson", or an iterable of them; bytes, or another buffer such as an mmap; a
               file that is open for bytes or for text; an iterable of chunks of bytes. A str is always a path
    records    which values of JSON documents are the records, by a JSON Pointer with "*": "/items/*" is each element of
               `items`, "/*" each one of an array. "" is for values that follow each other, whatever is between them. By
               default each line is a record
    range      (start, end), for bytes or one uncompressed file: only lines that begin at byte offsets from start to end, end excluded
    columns    keys to read, such as "Level" or "user.name"; default: all
    where      a condition as in SQL: "Level = 'Error' and Elapsed > 200"
    types      Arrow types of columns: {"id": int, "price": float, "day": datetime.date, "tags": [str],
               "user": {"id": int, "name": str}, "more": "json"}, or a schema of pyarrow; other types are inferred from the
               values. "any" is a text of any value: strings as they are, everything else as JSON. "offset" is the offset
               of the record in its file
    nested     what objects and arrays are in Arrow whose type is not in `types`: "json", JSON texts (arrow.json), or
               "types", structs and lists, where all values of a column have one shape
    on_error   "stop", "skip" or "quarantine=FILE": what to do about a line that is not JSON, and in Arrow streams about a
               record with a value that does not have its type in `types`
    progress   called as progress(done, all), in bytes, at most ten times a second and at the end; `all` is None if a file
               is compressed or a pipe. An exception that it raises ends the scan. It is called in the thread that
               started the scan; another thread that reads the Arrow stream does not call it

    Raises JSONDecodeError with the file and the line, OSError, and ValueError for conditions and columns. An iterator that
    was started before a fork raises RuntimeError in the child process: start another one there.
    """
    arguments = checked(columns, where, types, nested, type, on_error, threads, progress)
    found = source_of(source)
    if not isinstance(found, (bytes, Chunks)):
        found = _files(found)
    if records is not None and range is not None:
        raise ValueError("range: it is for lines, not for records within documents")
    return Scan(found, records, range, *arguments)


def checked(columns, where, types, nested, type, on_error, threads, progress):
    """The arguments of a scan, as `_jird.Scan` takes them."""
    if on_error not in ("stop", "skip") and not on_error.startswith(("quarantine=", "quarantine+=")):
        raise ValueError(f'on_error is "stop", "skip" or "quarantine=FILE", not {on_error!r}')
    if isinstance(columns, str):
        raise TypeError("columns is a list of names, not a str")
    if progress is not None and not callable(progress):
        raise TypeError("progress is called with two numbers of bytes")
    if nested not in ("json", "types"):
        raise ValueError(f'nested is "json" or "types", not {nested!r}')
    columns = None if columns is None else list(columns)
    types = None if types is None else _given(types)
    return columns, where, types, nested == "types", type, on_error, threads, progress


def _given(types):
    """Types as a dict; those of pyarrow as Python's."""
    if not isinstance(types, Mapping) and hasattr(types, "__arrow_c_schema__"):
        types = {name: types.field(name).type for name in types.names}
    return {name: _of_arrow(kind) if hasattr(kind, "__arrow_c_schema__") else kind for name, kind in types.items()}


def _of_arrow(kind):
    """What stands for a type of pyarrow."""
    import pyarrow as pa

    if isinstance(kind, pa.Field):
        kind = kind.type
    if pa.types.is_struct(kind):
        return {field.name: _of_arrow(field.type) for field in kind}
    if pa.types.is_list(kind):
        return [_of_arrow(kind.value_type)]
    if getattr(kind, "extension_name", None) == "arrow.json":
        return "json"
    words = {
        pa.bool_(): "bool",
        pa.int64(): "int",
        pa.uint64(): "uint",
        pa.decimal128(38, 0): "decimal",
        pa.float64(): "float",
        pa.string(): "str",
        pa.date32(): "date",
    }
    if kind not in words:
        known = "bool, int64, uint64, float64, decimal128(38, 0), string, date32, list, struct and arrow.json"
        raise TypeError(f"types: a scan makes no {kind}; it makes {known}, which can be cast to others")
    return words[kind]


def _files(paths):
    """The files that paths and patterns name."""
    found = []
    for path in paths:
        path = os.fspath(path)
        if _glob.has_magic(path) and not os.path.exists(path):
            matches = sorted(_glob.glob(path, recursive=True))
            if not matches:
                raise FileNotFoundError(f"no file matches {path!r}{_of_text(path)}")
            found += matches
        else:
            if os.path.isdir(path):
                raise IsADirectoryError(errno.EISDIR, _of_folder(path), os.fspath(path))
            if _of_text(path) and not os.path.exists(path):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT) + _of_text(path), path)
            found.append(path)
    if not found:
        raise ValueError("no file is named")
    return found


def _of_text(path):
    """What to do if a path looks like JSON."""
    is_text = isinstance(path, str) and ("\n" in path or path.lstrip()[:1] in ("{", "["))
    return "; a str is a path: scan a text as bytes, text.encode()" if is_text else ""


def _of_folder(path):
    """What to do instead of scanning a folder."""
    if os.path.exists(os.path.join(path, "MANIFEST")):
        return "is an event store; jird.open_store(path).query(sql) reads it"
    return "is a folder; name its files, with a pattern such as '*.ndjson' in it"


def convert(
    source,
    target,
    *,
    columns=None,
    table=None,
    key=None,
    records=None,
    nested="json",
    flatten=False,
    limit=None,
    append=False,
    replace=False,
    on_error="stop",
    source_format=None,
    target_format=None,
    progress=None,
):
    """Converts between JSON, NDJSON, CSV, SQLite, Parquet and Arrow, on all cores, as the command `jird convert`.

    source     a path, or a list of them; compressed files too
    target     a path, whose name says the format. Parquet, here and as a source, needs pip install 'jird[query]'
    columns    only these keys; "a.b" is the key b of the object a
    table      the table of a database that is read or written
    key        columns by which rows of an existing table are updated
    records    which values of a JSON document are records: "/items/*"
    nested     "json" or "types": how Arrow and Parquet hold objects and arrays
    flatten    turns fields of nested objects into keys with dots
    limit      at most this many records
    append     adds to an existing table; `replace` replaces it
    on_error   "stop", "skip" or "quarantine=FILE"
    progress   called as progress(read, all), in bytes of the sources, about ten times a second and at the end; `all` is None
               if it is not known. An exception that it raises stops the conversion

    The conversion runs in a separate process: other threads keep running, and Ctrl-C leaves no half-written file.
    Raises ValueError if the data are not what the arguments say, and OSError if files cannot be read or written.
    """
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    options = {
        "--select": columns and ",".join([columns] if isinstance(columns, str) else columns),
        "--table": table,
        "--key": key and ",".join([key] if isinstance(key, str) else key),
        "--records": records,
        "--nested": nested,
        "--limit": limit,
        "--on-error": on_error,
        "--from": source_format,
        "--to": target_format,
    }
    switches = {"--flatten": flatten, "--append": append, "--replace": replace}
    arguments = [f"{name}={value}" for name, value in options.items() if value is not None and value != ""]
    arguments += [name for name, is_on in switches.items() if is_on]
    files = [os.fspath(path) for path in [*sources, target]]
    if any(path == "-" for path in files):
        raise ValueError("standard input and output are for the command; name files")
    command, environment = alone("main", ["convert", "--quiet", *arguments, "--", *files])
    if progress is None:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, **_CAPTURED)
        code, words = done.returncode, done.stderr
    else:
        code, words = _run_telling(command, environment, files[:-1], progress)
    if code != 0:
        words = words.strip().removeprefix("jird: ") or f"jird has ended with {code}"
        raise (ValueError if code == 1 else OSError)(words)


_CAPTURED = {"capture_output": True, "text": True, "errors": "replace"}


def _run_telling(command, environment, sources, progress):
    """Runs a command that appends to a pipe how much it has read. Gives its exit code, and what it said."""
    import tempfile  # which takes long to import

    reading, writing = os.pipe()
    with open(reading, encoding="utf-8") as lines, tempfile.TemporaryFile("w+", errors="replace") as words:
        try:
            process = subprocess.Popen(
                command,
                env={**environment, "JIRD_PROGRESS": f"/dev/fd/{writing}"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=words,
                pass_fds=[writing],
            )
        finally:
            os.close(writing)
        told = None
        with process:
            try:
                for line in lines:
                    told = _jird.loads(line)
                    progress(told["read"], told["all"])
                code = process.wait()
                if code == 0:
                    # What is quick has told nothing.
                    all_bytes = told["all"] if told else sum(os.path.getsize(path) for path in sources)
                    progress(told["read"] if all_bytes is None else all_bytes, all_bytes)
            except BaseException:
                process.terminate()
                raise
        words.seek(0)
        return code, words.read()
