"""The reader of folders to which files and lines are added.

An offset is how far each file has been read: `{"files": {"/data/a.ndjson": 1200}}`. A plain file counts up to its last
newline, so that a line that is being written waits; a compressed file is taken whole, and must appear whole. Spark
keeps the offsets in its checkpoint, and each batch is the ranges between two of them: whoever begins again reads the
same ranges.
"""

import dataclasses

from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from . import _paths
from ._columns import columns
from ._read import Task, scanned

__all__ = ["StreamReader"]

_BLOCK = 64 << 10


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads what has come since the last batch."""

    def __init__(self, options, schema):
        if any(_paths._scheme(path) for path in options.paths):
            raise ValueError("only files are read as a stream, no URLs")
        columns(schema, options)
        self.options, self.schema = options, schema
        self._until = None

    def initialOffset(self):
        return {"files": {}}

    def getDefaultReadLimit(self):
        if self.options.files_max is not None:
            return ReadMaxFiles(self.options.files_max)
        if self.options.bytes_max is not None:
            return ReadMaxBytes(self.options.bytes_max)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self):
        self._until = {source.name: source.size for source in self._sources()}

    def latestOffset(self, start, limit):
        read = dict(start["files"])
        files_max = limit.max_files if isinstance(limit, ReadMaxFiles) else None
        bytes_max = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        files, taken = 0, 0
        for source in self._sources():
            known = read.get(source.name, 0)
            if source.size < known:
                raise ValueError(
                    f"{source.name} has {source.size} bytes, and {known} were read: it was cut or replaced, and what "
                    "it has now cannot be told from what was read; give new files new names"
                )
            if self._until is not None:
                source = dataclasses.replace(source, size=min(source.size, self._until.get(source.name, 0)))
            if source.size <= known:
                continue
            if files == files_max or bytes_max is not None and taken >= bytes_max:
                break
            end = _end(source, known, None if bytes_max is None else bytes_max - taken, is_first=not taken)
            if end > known:
                read[source.name] = end
                files, taken = files + 1, taken + end - known
        return {"files": read} if read != start["files"] else start

    def _sources(self):
        """The files that are there, the oldest first. That there is none yet is no error."""
        found = []
        for path in self.options.paths:
            try:
                found += _paths.found([path])
            except FileNotFoundError:
                continue
        unique = {source.name: source for source in found}
        return sorted(unique.values(), key=lambda source: (source.modified, source.name))

    def partitions(self, start, end):
        sources = []
        split = self.options.split_bytes or _paths.SPLIT_BYTES_MAX
        tasks = []
        for name, until in end["files"].items():
            since = start["files"].get(name, 0)
            if until > since:
                source = _paths.Source(name, until)
                # Never more than up to here: the file may have grown since.
                if _paths.is_plain(source):
                    chunks = [_paths.Chunk(name, at, min(at + split, until)) for at in range(since, until, split)]
                elif since == 0:
                    chunks = [_paths.Chunk(name, 0, None)]
                else:
                    raise ValueError(f"{name}: it is compressed, and has grown after it was read")
                sources += chunks
        room = 0
        for chunk in sources:
            size = split if chunk.end is None else chunk.end - chunk.start
            if size > room:
                tasks.append(Task([]))
                room = split
            tasks[-1].chunks.append(chunk)
            room -= size
        return tasks

    def read(self, partition):
        return scanned(getattr(partition, "chunks", []), self.schema, self.options)


def _end(source, known, bytes_max, *, is_first):
    """Up to where a file is read now: the end of a line, the last one within `bytes_max` bytes.

    The first of a batch may be longer, alone.
    """
    if not _paths.is_plain(source):
        return source.size
    with open(source.name, "rb") as file:
        if bytes_max is not None and bytes_max < source.size - known:
            found = _last_line_end(file, known, known + bytes_max)
            is_done = found > known or not is_first
            return found if is_done else _first_line_end(file, known + bytes_max, source.size, known)
        return _last_line_end(file, known, source.size)


def _last_line_end(file, start, end):
    """After the last newline of a range; its start if it has none."""
    while end > start:
        begin = max(start, end - _BLOCK)
        file.seek(begin)
        newline = file.read(end - begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        end = begin
    return start


def _first_line_end(file, start, end, known):
    """After the first newline of a range; what is known if it has none."""
    file.seek(start)
    while start < end:
        block = file.read(min(_BLOCK, end - start))
        newline = block.find(b"\n")
        if newline >= 0:
            return start + newline + 1
        if not block:
            break
        start += len(block)
    return known
