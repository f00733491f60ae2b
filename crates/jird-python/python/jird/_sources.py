"""What `scan` reads besides files: bytes, open files, sockets, and chunks that come one by one.

`Chunks` makes an iterator of `bytes` of each of them. It runs on the thread that asks for the next record, and its
exceptions come out of the scan as they are.
"""

import inspect
import io
import itertools
import os

__all__ = ["Chunks", "name_of", "source_of"]

_CHUNK_BYTES = 128 << 10


class Chunks:
    """An iterable of `bytes`. `chunks_of` is what messages call it, and `is_once` whether it can be read once only."""

    __slots__ = ("_is_read", "_open", "chunks_of", "is_once")

    def __init__(self, name, open_chunks, is_once=True):
        self.chunks_of, self._open, self.is_once, self._is_read = name, open_chunks, is_once, False

    def __iter__(self):
        if self.is_once and self._is_read:
            raise ValueError(f"{self.chunks_of} was read by an earlier use of this scan; it can be read once")
        self._is_read = True
        return self._open()


_NOTHING = object()


def source_of(source):
    """What `_jird.Scan` takes for it: `bytes`, or `Chunks`; an iterable of paths if it names files."""
    if isinstance(source, (str, os.PathLike)):
        return [source]
    if type(source) is bytes:
        return source
    if _is_buffer(source):
        return Chunks(name_of(source), lambda: _slices(source), is_once=False)
    if isinstance(source, io.TextIOBase):
        return Chunks(name_of(source), lambda: _texts(source))
    if any(hasattr(source, method) for method in ("read1", "read", "readinto")):
        if hasattr(source, "iter_bytes"):
            raise TypeError(f"a {type(source).__name__} is scanned by its chunks: pass its iter_bytes()")
        return Chunks(name_of(source), lambda: _Reads(source))
    if hasattr(source, "__aiter__") or hasattr(source, "__anext__"):
        raise TypeError(f"{type(source).__name__} is asynchronous; jird.scan_async reads it")
    if hasattr(source, "recv"):
        raise TypeError('a socket is scanned as a file: pass its makefile("rb")')
    return _of_iterable(source)


def name_of(source):
    """What messages call it."""
    name = getattr(source, "name", None)
    return name if isinstance(name, str) and name else f"<{type(source).__name__}>"


def bytes_of(chunk, giver):
    """A chunk as `bytes`; TypeError if it is none. `giver` says what has given it."""
    if type(chunk) is bytes:
        return chunk
    if isinstance(chunk, str):
        raise TypeError(f"{giver} gave str, and bytes are scanned; open files with mode 'rb', or encode the text")
    if hasattr(chunk, "__await__"):
        if inspect.iscoroutine(chunk):
            chunk.close()
        raise TypeError(f"{giver} is asynchronous; jird.scan_async reads it")
    try:
        return memoryview(chunk).tobytes()
    except TypeError:
        raise TypeError(f"{giver} gave {type(chunk).__name__}, and bytes are scanned") from None


def _is_buffer(source):
    try:
        with memoryview(source) as view:
            is_bytes = view.format in ("B", "b", "c")
            if is_bytes and not view.c_contiguous:
                raise ValueError("the bytes are scanned in the order of memory, and these are not contiguous")
            return is_bytes
    except (TypeError, BufferError):
        return False


def _slices(source):
    """Copies a part at a time. In between the source is not held: it may be changed, and closed."""
    at = 0
    while chunk := memoryview(source).cast("B")[at : at + _CHUNK_BYTES].tobytes():
        yield chunk
        at += len(chunk)


def _texts(file):
    """A line at a time, so that it waits for no more; all there is, if nothing can be waited for."""
    if isinstance(file, io.StringIO):
        while text := file.read(_CHUNK_BYTES):
            yield text.encode()
    else:
        while text := file.readline():
            yield text.encode()


class _Reads:
    """What a file gives, read by read. It does not wait for a full chunk, if the file has `read1` or no buffer."""

    __slots__ = ("_is_new", "_read", "_source")

    def __init__(self, source):
        self._source, self._is_new = source, True
        self._read = getattr(source, "read1", None) or getattr(source, "read", None) or self._read_into

    def __iter__(self):
        return self

    def __next__(self):
        try:
            chunk = self._read(_CHUNK_BYTES)
        except io.UnsupportedOperation:
            # `read1` is inherited by all buffered files.
            if not self._is_new or not hasattr(self._source, "read"):
                raise
            chunk = self._source.read(_CHUNK_BYTES)
            self._read = self._source.read
        self._is_new = False
        if chunk is None:
            words = "does not block, and has nothing now; only files that wait for bytes are scanned"
            raise BlockingIOError(f"{name_of(self._source)} {words}")
        chunk = bytes_of(chunk, f"{name_of(self._source)}.read")
        if not chunk:
            raise StopIteration
        return chunk

    def _read_into(self, size):
        buffer = bytearray(size)
        read, name = self._source.readinto(buffer), name_of(self._source)
        if read is None:
            return None
        if not isinstance(read, int):
            if hasattr(read, "__await__"):
                return read
            raise TypeError(f"{name}.readinto returned {type(read).__name__}, not a number of bytes")
        if not 0 <= read <= min(size, len(buffer)):
            raise ValueError(f"{name}.readinto said that it read {read} bytes into a buffer of {size}")
        return bytes(buffer[:read])


def _of_iterable(source):
    """Chunks, or paths, as the first item is."""
    items = iter(source)
    first = next(items, _NOTHING)
    is_iterator = items is source
    if first is _NOTHING:
        # A stream may have nothing in it; a list of paths may not.
        return Chunks(name_of(source), lambda: iter(())) if is_iterator else []
    if isinstance(first, (str, os.PathLike)):
        return itertools.chain([first], items)
    name = name_of(source)
    giver = f"{name}, which is neither a file nor a list of paths,"
    first = bytes_of(first, giver)
    if isinstance(source, (list, tuple)):
        return Chunks(name, lambda: (bytes_of(chunk, giver) for chunk in source), is_once=False)
    chunks = itertools.chain([first], items)
    return Chunks(name, lambda: (bytes_of(chunk, giver) for chunk in chunks))
