"""Event stores: `open_store`."""

import os

from . import _jird

__all__ = ["Store", "open_store"]

# Bytes of events that are appended at a time.
_BATCH_BYTES = 1 << 20


class Store(_jird.Store):
    """An event store; see `jird.open_store`."""

    __slots__ = ()

    def append(self, event):
        """Appends an event: any value that `dumps` writes, or JSON as bytes or str. Queries find it from now on.

        Raises JSONDecodeError if a text is not JSON, and JSONEncodeError if a value cannot be written.
        """
        self.append_lines(_line(event))

    def extend(self, events):
        """Appends each event of an iterable, and returns their number.

        They are appended a megabyte at a time. If one is refused, those of its megabyte are not taken.
        """
        lines, size, count = [], 0, 0
        for event in events:
            line = _line(event)
            lines.append(line)
            size += len(line)
            if size >= _BATCH_BYTES:
                count += self.append_lines(b"\n".join(lines))
                lines, size = [], 0
        return count + (self.append_lines(b"\n".join(lines)) if lines else 0)

    def query(self, sql, **options):
        """`jird.query` of this store: "select count(*) where level = 'error'", since="1h"."""
        from ._query import query

        return query(sql, self.path, **options)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            self.close()
        except RuntimeError:
            # A fork that leaves the block by an exception, such as that of sys.exit, is told of that one.
            if kind is None:
                raise


def open_store(path, *, create=True, time_field=None, columns=None, compression=None, sync="interval"):
    """Opens an event store, a crash-safe folder of events, or creates it.

    path         the folder
    create       whether to create the store if it does not exist
    time_field   for a new store: the field that holds the time of an event; default: "@t"
    columns      for a new store: fields to store as columns, too; [] for none. By default those with numbers,
                 booleans, or texts that repeat
    compression  for a new store: "none", "lz4" or "zstd"
    sync         when events are on disk: "batch" when commit returns, "interval" within 200 ms, "none" when the operating
                 system writes them

    A store has one writer at a time: this object, from its first event until `close` or the end of a `with`. A child
    process made by fork must open the store again: using this object there raises RuntimeError.
    Raises FileNotFoundError, FileExistsError if something else is there, BlockingIOError if there is another writer,
    and ValueError if the store was made with other settings.
    """
    columns = None if columns is None else list(columns)
    return Store(os.fspath(path), create, time_field, columns, compression, sync)


def _line(event):
    """The event in one line."""
    if not isinstance(event, (bytes, bytearray, memoryview, str)):
        return _jird.dumps(event)
    text = event.encode() if isinstance(event, str) else bytes(event)
    if not text.strip():
        _jird.loads(text)  # says what is wrong
    if b"\n" not in text and b"\r" not in text:
        return text
    # In valid JSON, line breaks are only white space between tokens.
    _jird.parse(text)
    return text.replace(b"\n", b" ").replace(b"\r", b" ")
