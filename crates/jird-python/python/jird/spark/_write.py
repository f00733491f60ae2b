"""The writer: a file of NDJSON for each task, all of them or none.

Tasks write into a hidden folder beside the files, which readers pass over. When all have ended, their files are renamed
into place. What an attempt that failed has left there goes with the folder.

    data/_jird-6f0c…/part-00000-….ndjson   while tasks write
    data/part-00000-….ndjson               after the commit
    data/_SUCCESS                          empty, and written last
"""

import contextlib
import dataclasses
import os
import shutil
import tempfile
import uuid

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

import jird

from . import _paths

__all__ = ["Writer"]

_ENDINGS = {"none": ".ndjson", "gzip": ".ndjson.gz", "zstd": ".ndjson.zst"}


@dataclasses.dataclass
class Written(WriterCommitMessage):
    """The file of a task; none if it had no rows."""

    name: str | None
    rows: int


class Writer(DataSourceArrowWriter):
    """Writes a folder."""

    def __init__(self, options, schema, overwrite):
        if len(options.paths) != 1:
            raise ValueError("one folder is written, save(folder)")
        if _paths._scheme(options.paths[0]):
            raise ValueError(f"{options.paths[0]}: only folders are written, which all workers share, no URLs")
        self.folder = os.path.abspath(_paths._local(options.paths[0]))
        self.overwrites, self.ending = overwrite, _ENDINGS[options.compression]
        self.job = uuid.uuid4().hex
        self.hidden = os.path.join(self.folder, f"_jird-{self.job}")
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise ValueError(f"{self.folder} is a file, and a folder is written")
        if overwrite:
            self._old()

    def _old(self):
        """The files that are overwritten. What nobody has written so is not deleted."""
        if not os.path.isdir(self.folder):
            return []
        names = [name for name in sorted(os.listdir(self.folder)) if not _paths._is_hidden(name)]
        others = [name for name in names if not name.startswith("part-")]
        if others:
            words = f"{self.folder} has {others[0]!r}, which no writer has written"
            raise ValueError(f"{words}: overwrite deletes part-* alone")
        return [os.path.join(self.folder, name) for name in names]

    def write(self, iterator):
        first = next(iterator, None)
        while first is not None and first.num_rows == 0:
            first = next(iterator, None)
        if first is None:
            return Written(None, 0)
        os.makedirs(self.hidden, exist_ok=True)
        context = TaskContext.get()
        part = context.partitionId() if context else 0
        name = f"part-{part:05}-{uuid.uuid4().hex}{self.ending}"
        rows = 0
        with tempfile.TemporaryDirectory(prefix="jird-") as folder:
            copy = os.path.join(folder, "rows.arrow")
            batch = _plain(first)
            with pa.ipc.new_file(copy, batch.schema) as file:
                while batch is not None:
                    file.write_batch(batch)
                    rows += batch.num_rows
                    following = next(iterator, None)
                    batch = None if following is None else _plain(following)
            try:
                jird.convert(copy, os.path.join(self.hidden, name), source_format="arrow", target_format="ndjson")
            except ValueError as error:
                words = str(error).split("\n`--on-error", 1)[0].removeprefix(f"{copy}: ")
                raise ValueError(f"part {part} cannot be written: {words}") from None
        return Written(name, rows)

    def commit(self, messages):
        os.makedirs(self.folder, exist_ok=True)
        old = self._old() if self.overwrites else []
        for message in messages:
            if message is not None and message.name is not None:
                os.rename(os.path.join(self.hidden, message.name), os.path.join(self.folder, message.name))
        # The old ones last: a crash may leave both, and loses none.
        for path in old:
            os.unlink(path)
        shutil.rmtree(self.hidden, ignore_errors=True)
        with open(os.path.join(self.folder, "_SUCCESS"), "wb"):
            pass

    def abort(self, messages):
        shutil.rmtree(self.hidden, ignore_errors=True)
        # If it was made for this.
        with contextlib.suppress(OSError):
            os.rmdir(self.folder)


def _plain(batch):
    """Floats of 32 bits as the doubles that are printed as short: 0.1, not 0.10000000149011612."""
    if pa.float32() not in batch.schema.types:
        return batch
    arrays = [
        column.cast(pa.string()).cast(pa.float64()) if column.type == pa.float32() and not _has_odd(column) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _has_odd(column):
    return pc.any(pc.invert(pc.is_finite(column))).as_py()
