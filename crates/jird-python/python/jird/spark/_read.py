"""The reader: what is scanned for Spark, and as which types."""

import contextlib
import hashlib
import json
import os
import sys

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema

import jird

from . import _paths
from ._columns import FILE, OFFSET, columns, field
from ._filters import conditions

__all__ = ["Reader", "Task", "inferred", "scanned"]

_ROWS = 10_000
"""Batches of fewer rows are joined: each costs Spark a fixed time."""

_AT = '"jird:offset"'
"""The name of the column with the offsets of records, where they are needed to say which one is bad."""


class Task(InputPartition):
    """Chunks of files that one task reads."""

    def __init__(self, chunks):
        super().__init__(None)
        self.chunks = chunks


class _PushFilters:
    """`Reader.pushFilters`, which Spark may call, and may not know of where its setting for that is off.

    It refuses readers that have overridden the method while spark.sql.python.filterPushdown.enabled is false, which it
    is by default, and tells nobody before. What it looks at is `__func__`, and this is that of the base class.
    """

    def __get__(self, reader, kind=None):
        return self if reader is None else _Bound(reader)


class _Bound:
    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader):
        self._reader = reader

    def __call__(self, filters):
        return self._reader.push(filters)


class Reader(DataSourceReader):
    """Reads files by tasks, each of them on one core."""

    pushFilters = _PushFilters()

    def __init__(self, options, schema):
        self.options, self.schema = options, schema
        self.conditions = []
        columns(schema, options)

    def push(self, filters):
        """Takes filters over, and gives those back that Spark has to apply.

        Only if it is asked to: Spark 4.3 keeps the last filters that were taken over with the DataFrame, and reads with
        them again where the DataFrame is used without filters, or with others in the same query.
        """
        if not self.options.pushes_filters:
            return filters
        self.conditions, left = conditions(filters, columns(self.schema, self.options))
        return left

    def partitions(self):
        files = _paths.found(self.options.paths)
        return [Task(chunks) for chunks in _paths.packed(files, self.options.split_bytes)]

    def read(self, partition):
        chunks = getattr(partition, "chunks", [])
        return scanned(chunks, self.schema, self.options, self.conditions)


def inferred(options):
    """The schema of all records: the narrowest types that hold all of their values."""
    sources = _paths.found(options.paths)
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(_paths.opened(_paths.Chunk(source.name, 0, None))) for source in sources]
        on_error = "skip" if options.skips_bad else "stop"
        with _named(opened, sources):
            scan = jird.scan([path for path, _, _ in opened], on_error=on_error)
            found = pa.RecordBatchReader.from_stream(scan).schema
        for _, _, feed in opened:
            if feed is not None and feed.failure is not None:
                raise OSError(f"{feed.failure}")
    if not found:
        raise ValueError(f"{', '.join(options.paths)}: there are no records; name the columns with .schema(…)")
    return T.StructType([field(column) for column in found])


@contextlib.contextmanager
def _named(opened, sources):
    """Says the names of files where messages have those of pipes."""
    try:
        yield
    except (ValueError, OSError) as error:
        words = str(error).removeprefix("External error: ")
        for (path, _, feed), source in zip(opened, sources, strict=True):
            if feed is not None:
                words = words.replace(path, source.name)
                if feed.failure is not None:
                    words = f"{source.name}: {feed.failure}"
        raise ValueError(words) from None


def scanned(chunks, schema, options, pushed=()):
    """The batches of chunks."""
    whole = _Scan(schema, options, pushed)
    waiting, rows = [], 0
    for chunk in chunks:
        for batch in whole.batches(chunk):
            if batch.num_rows >= _ROWS and not waiting:
                yield batch
                continue
            waiting.append(batch)
            rows += batch.num_rows
            if rows >= _ROWS:
                yield _joined(waiting)
                waiting, rows = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(batches):
    if len(batches) == 1:
        return batches[0]
    table = pa.Table.from_batches(batches)
    return pa.RecordBatch.from_arrays(
        [pa.concat_arrays(column.chunks) for column in table.columns], schema=table.schema
    )


class _Scan:
    """What a task does with each of its chunks."""

    def __init__(self, schema, options, pushed):
        self.columns = columns(schema, options)
        self.schema = to_arrow_schema(schema, timezone="UTC")
        self.options = options
        self.records = [column for column in self.columns if column.path]
        self.types = {column.path: column.scanned for column in self.records}
        self.names = [column.path for column in self.records]
        if any(column.convert or column.scanned == OFFSET for column in self.columns):
            self.names.append(_AT)
            self.types[_AT] = "offset"
        every = [options.where, *pushed]
        self.where = " and ".join(f"({condition})" for condition in every if condition) or None

    def batches(self, chunk):
        with _paths.opened(chunk) as (path, span, feed):
            source = _paths.Source(chunk.name, 0)
            aside = self._aside(chunk)
            on_error = "stop" if not self.options.skips_bad else f"quarantine={aside}" if aside else "skip"
            skipped, late = 0, []
            with _named([(path, span, feed)], [source]):
                scan = jird.scan(
                    path,
                    range=span,
                    columns=self.names,
                    where=self.where,
                    types=self.types,
                    on_error=on_error,
                    threads=1,
                )
                for batch in pa.RecordBatchReader.from_stream(scan):
                    made, bad = self._made(_plain(batch), chunk, feed.base if feed else 0)
                    skipped += len(bad)
                    late += bad if aside else []
                    if made.num_rows:
                        yield made
            if feed is not None and feed.failure is not None:
                raise OSError(f"{chunk.name}: {feed.failure}")
            skipped += scan.skipped
            if late:
                with open(aside, "ab") as lines:
                    lines.writelines(late)
            if skipped:
                where = f" from byte {chunk.start} to {chunk.end}" if chunk.end is not None else ""
                print(f"jird: {chunk.name}{where}: {skipped} bad records were passed over", file=sys.stderr, flush=True)
            elif aside:
                os.unlink(aside)

    def _aside(self, chunk):
        """The file for the bad records of a chunk. It has one name, however often the chunk is read."""
        if self.options.quarantine is None:
            return None
        folder = _paths._local(self.options.quarantine)
        os.makedirs(folder, exist_ok=True)
        which = hashlib.sha256(f"{chunk.name}\0{chunk.start}\0{chunk.end}".encode()).hexdigest()[:32]
        path = os.path.join(folder, f"bad-{which}.ndjson")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        return path

    def _made(self, batch, chunk, base):
        """A batch for Spark, and the bad records that are not in it."""
        bad = {}
        for index, column in enumerate(self.records):
            if column.convert is not None:
                for row, words in _unfit(batch.column(index), column.convert):
                    bad.setdefault(row, (column, words))
        if bad:
            batch, bad = self._without(batch, bad, chunk, base)
        arrays = []
        for column in self.columns:
            if column.scanned == FILE:
                arrays.append(pa.repeat(chunk.name, batch.num_rows))
            elif column.scanned == OFFSET:
                offsets = batch.column(self.names.index(_AT))
                arrays.append(pa.compute.add(offsets, base) if base else offsets)
            else:
                array = batch.column(self.names.index(column.path))
                arrays.append(array if column.convert is None else column.convert(array))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema), bad

    def _without(self, batch, bad, chunk, base):
        """Leaves bad rows out, if that is wanted: the others, and lines about the bad ones."""
        offsets = batch.column(self.names.index(_AT))
        lines = []
        for row, (column, words) in sorted(bad.items()):
            value = batch.column(self.names.index(column.path))[row].as_py()
            value = value if isinstance(value, str) else str(value)
            shown = value[:40] + ("…" if len(value) > 40 else "")
            offset = offsets[row].as_py() + base
            line, raw = _line(chunk, offset)
            message = f"{column.name} is {shown}, not {column.words}" + (f": {words}" if words else "")
            place = f"line {line}" if line else f"byte {offset} of the text"
            if not self.options.skips_bad:
                raise ValueError(f"{chunk.name}, {place}: {message}")
            if raw is None:
                # A text that is compressed or elsewhere: what was read of the record.
                values = {name: batch.column(index)[row].as_py() for index, name in enumerate(self.names[:-1])}
                raw = json.dumps(values, ensure_ascii=False)
            told = {"file": chunk.name, "line": line, "offset": offset, "kind": "type", "message": message, "raw": raw}
            lines.append(jird.dumps(told, option=jird.OPT_APPEND_NEWLINE))
        keeps = pa.array([row not in bad for row in range(batch.num_rows)])
        return batch.filter(keeps), lines


def _plain(batch):
    """JSON texts as texts."""
    arrays = [array.storage if isinstance(array, pa.ExtensionArray) else array for array in batch.columns]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _unfit(array, convert):
    """The rows of values that cannot be converted, each with the reason."""
    try:
        convert(array)
        return
    except (ValueError, OverflowError, ArithmeticError, TypeError) as error:
        words = "" if isinstance(error, pa.ArrowInvalid) else str(error)
    if len(array) == 1:
        yield 0, words
        return
    half = len(array) // 2
    yield from _unfit(array.slice(0, half), convert)
    for row, why in _unfit(array.slice(half), convert):
        yield row + half, why


def _line(chunk, offset):
    """The number and the text of the line at an offset of a plain file; else 0 and None."""
    if "://" in chunk.name or not _paths.is_plain(_paths.Source(chunk.name, 0)):
        return 0, None
    with open(chunk.name, "rb") as file:
        lines, left = 1, offset
        while left:
            piece = file.read(min(left, 1 << 20))
            if not piece:
                break
            lines += piece.count(b"\n")
            left -= len(piece)
        return lines, file.readline().rstrip(b"\r\n").decode(errors="replace")
