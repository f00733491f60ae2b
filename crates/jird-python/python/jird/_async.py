"""`scan_async`: lines that arrive in an event loop."""

import asyncio
import inspect

from ._lines import Scan, checked
from ._sources import Chunks, bytes_of, name_of

__all__ = ["AsyncScan", "scan_async"]

_CHUNK_BYTES = 128 << 10
_NOTHING = object()


def scan_async(source, *, records=None, columns=None, where=None, type=None, on_error="stop", progress=None):
    """Reads NDJSON that arrives in an event loop: `async for record in jird.scan_async(source)`.

    source     an object with a coroutine `read(n)`, such as an asyncio.StreamReader or the content of a response of aiohttp;
               or an asynchronous iterable of chunks of bytes, such as `aiter_bytes()` of httpx or `request.stream()` of
               Starlette

    The other arguments are those of `scan`, and so are the records and the exceptions. A record is there as soon as its line
    is complete. Exceptions of the source come out as they are, after the records before them, and end the iteration.

    If a task is cancelled while it waits for a record, nothing is lost: the next one that is asked for is the next record.
    Only an asynchronous generator as the source ends when it is cancelled; then asking again raises RuntimeError.
    """
    name = name_of(source)
    chunks = Chunks(name, lambda: iter(()))
    records = Scan(chunks, records, None, *checked(columns, where, None, "json", type, on_error, None, progress))._pushed()
    read = getattr(source, "read", None)
    if inspect.iscoroutinefunction(read):
        return AsyncScan(records, name, lambda: read(_CHUNK_BYTES), None)
    if not hasattr(source, "__aiter__"):
        if hasattr(source, "aiter_bytes"):
            raise TypeError(f"{name} is scanned by its chunks: pass its aiter_bytes()")
        words = "is neither an asynchronous iterable of bytes nor an object with a coroutine `read`"
        raise TypeError(f"{name} {words}; jird.scan reads files and iterables")
    chunks = source.__aiter__()
    return AsyncScan(records, name, chunks.__anext__, chunks)


class AsyncScan:
    """Records that arrive in an event loop; see `jird.scan_async`."""

    def __init__(self, records, name, read, chunks):
        self._records, self._name, self._read, self._chunks = records, name, read, chunks
        # What was read and not yet pushed.
        self._left = memoryview(b"")
        self._is_over = self._is_closed = self._is_running = self._is_cancelled = False

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self._is_running:
            raise RuntimeError("the scan is already executing, for another task")
        self._is_running = True
        try:
            while True:
                record = _NOTHING if self._is_closed else next(self._records, _NOTHING)
                if record is not _NOTHING:
                    return record
                if self._is_over:
                    raise StopAsyncIteration
                if self._left:
                    self._records._push(self._left[:_CHUNK_BYTES].tobytes())
                    self._left = self._left[_CHUNK_BYTES:]
                else:
                    self._left = memoryview(await self._next_chunk())
        except Exception:
            self._end()
            raise
        finally:
            self._is_running = False

    async def _next_chunk(self):
        """The next bytes; at the end none, and the last line counts as complete."""
        if self._is_cancelled and inspect.isasyncgen(self._chunks) and self._chunks.ag_frame is None:
            raise RuntimeError(f"{self._name} ended when a task that waited for it was cancelled; the rest is lost")
        try:
            chunk = bytes_of(await self._read(), f"{self._name}, which is scanned,")
        except StopAsyncIteration:
            chunk = None
        except asyncio.CancelledError:
            self._is_cancelled = True
            raise
        if chunk or (chunk is not None and self._chunks is not None):
            return chunk
        self._records._end()
        self._is_over = True
        return b""

    def _end(self):
        """Forgets what was read of the source."""
        self._is_over, self._left, self._read = True, memoryview(b""), None

    async def aclose(self):
        """Ends the iteration, and closes the source if it is an asynchronous generator."""
        chunks, self._chunks = self._chunks, None
        self._end()
        self._is_closed = True
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()

    @property
    def skipped(self):
        """Bad lines that were passed over so far."""
        return self._records.skipped
