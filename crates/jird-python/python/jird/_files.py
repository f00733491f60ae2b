"""JSON in files that Python has open, and lines of JSON that are written one by one."""

import io
import os
import threading

from . import _jird

__all__ = ["Writer", "dump", "load"]


def load(file, /, *, type=None):
    """Deserializes all that `file.read()` returns, as `loads` does."""
    _check_open(file, "read", "rb")
    data = file.read()
    return _jird.loads(data) if type is None else _jird.loads(data, type=type)


def dump(obj, file, /, default=None, option=None):
    """Serializes a value as `dumps` does, and writes it to a file that is open for bytes or for text."""
    _check_open(file, "write", "wb")
    _write(file, _jird.dumps(obj, default, option))


def _check_open(file, method, mode):
    """Raises TypeError for what is not an open file, a path for instance."""
    if not hasattr(file, method):
        hint = f"; open it first: open(path, {mode!r})" if isinstance(file, (str, bytes, os.PathLike)) else ""
        raise TypeError(f"expected a file that is open and has `{method}`, not {type(file).__name__}{hint}")


def _write(file, data):
    """Writes all of it."""
    if isinstance(file, io.TextIOBase) or hasattr(file, "encoding"):
        file.write(data.decode())
        return
    written = file.write(data)
    if not isinstance(file, io.RawIOBase):
        return
    # Only files without a buffer write a part, or nothing.
    left = memoryview(data)
    while True:
        if written is None:
            raise BlockingIOError(f"the file takes no more now, and {len(left)} bytes are left")
        left = left[written:]
        if not left:
            return
        written = file.write(left)


class Writer:
    """Writes NDJSON, a line for each value: `with jird.Writer("out.ndjson") as out: out.write(value)`.

    `target` is a path, whose file is made or replaced, or with `append=True` continued; or a file that is open for bytes
    or for text, which stays open. `default` and `option` are those of `dumps`; OPT_INDENT_2 is refused, because a value
    must stay in one line. Lines are gathered, 64 KB at a time; `flush` and `close` write what is left, and if writing
    fails, they are not tried again. A value that cannot be serialized raises JSONEncodeError and leaves no part of a
    line. Threads may share a writer.
    """

    _GATHERED = 1 << 16

    def __init__(self, target, *, default=None, option=None, append=False):
        option = option or 0
        if option & _jird.OPT_INDENT_2:
            raise ValueError("OPT_INDENT_2 would write several lines for a value")
        self._default, self._option = default, option | _jird.OPT_APPEND_NEWLINE
        self._lines, self._gathered, self._lock = [], 0, threading.RLock()
        if isinstance(target, (str, bytes, os.PathLike)):
            self._file, self._is_own = open(target, "ab" if append else "wb", buffering=0), True
        elif hasattr(target, "write"):
            self._file, self._is_own = target, False
        else:
            raise TypeError(f"the target must be a path or a file, not {type(target).__name__}")

    def write(self, obj, /):
        """Writes a value as one line."""
        line = _jird.dumps(obj, self._default, self._option)
        with self._lock:
            if self._file is None:
                raise ValueError("the writer is closed")
            self._lines.append(line)
            self._gathered += len(line)
            if self._gathered >= self._GATHERED:
                self._send()

    def write_all(self, values, /):
        """Writes a line for each of the values; returns how many they were."""
        count = 0
        for value in values:
            self.write(value)
            count += 1
        return count

    def _send(self):
        lines, self._lines, self._gathered = self._lines, [], 0
        if lines:
            _write(self._file, b"".join(lines))

    def flush(self):
        """Writes what was gathered, and flushes the file."""
        with self._lock:
            if self._file is None:
                raise ValueError("the writer is closed")
            self._send()
            flush = getattr(self._file, "flush", None)
            if flush is not None:
                flush()

    def close(self):
        """Writes what was gathered. A file that the writer has opened is closed."""
        with self._lock:
            if self._file is None:
                return
            try:
                self.flush()
            finally:
                file, self._file = self._file, None
                if self._is_own:
                    file.close()

    @property
    def closed(self):
        """Whether it was closed."""
        return self._file is None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_file", None) is not None:
            import warnings

            warnings.warn("a jird.Writer was not closed", ResourceWarning, stacklevel=2)
            self.close()
