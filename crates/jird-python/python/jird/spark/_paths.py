"""Paths, patterns, folders and URLs → files, and the ranges of files that are read together."""

import contextlib
import dataclasses
import fnmatch
import glob
import os
import posixpath
import tempfile
import threading
import urllib.parse

import jird

__all__ = ["Chunk", "Source", "chunks", "found", "opened", "packed"]

SPLIT_BYTES_MAX = 128 << 20
"""As spark.sql.files.maxPartitionBytes."""

_SPLIT_BYTES_MIN = 16 << 20

_TASKS = 32
"""How many tasks there should be, if they are not too small: nobody here knows how many cores there are."""

_FEED_BYTES = 4 << 20
"""How much of a URL is asked for at a time."""

_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00", b"\x04\x22\x4d\x18")
"""How compressed files begin: gzip, zstd, bzip2, xz, lz4."""


@dataclasses.dataclass(frozen=True)
class Source:
    """A file: a path, or a URL of which pyarrow knows the scheme."""

    name: str
    size: int
    modified: float = 0.0

    @property
    def is_url(self):
        return "://" in self.name


@dataclasses.dataclass(frozen=True)
class Chunk:
    """A part of a file: the lines whose first byte is in a range; with `end` None, all of it."""

    name: str
    start: int
    end: int | None


def found(paths):
    """The files that are meant, each once, in the order of the paths and sorted within each."""
    files = {}
    for path in paths:
        for source in _of_url(path) if _scheme(path) else _of_path(_local(path)):
            files.setdefault(source.name, source)
    return list(files.values())


def _scheme(path):
    scheme = urllib.parse.urlsplit(path).scheme.lower() if "://" in path else ""
    return "" if scheme == "file" else scheme


def _local(path):
    """`file:///a%20b` and `file:/a` → a path, as Spark has it."""
    if path.startswith("file:"):
        return urllib.parse.unquote(urllib.parse.urlsplit(path).path)
    return path


def _is_hidden(name):
    # As Spark: files that are not ready yet, and marks of its own.
    return name.startswith(("_", "."))


def _is_meant(match, pattern):
    """Whether no name in a match is hidden, unless one in the pattern is."""
    asked = {part[:1] for part in pattern.split("/")}
    return all(not _is_hidden(part) or part[0] in asked for part in match.split("/"))


def _of_path(path):
    if os.path.isdir(path):
        if os.path.exists(os.path.join(path, "MANIFEST")):
            raise ValueError(f"{path} is an event store; jird.open_store(path).query(sql) reads it")
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not _is_hidden(name))
            for name in sorted(names):
                if not _is_hidden(name):
                    yield _file(os.path.join(folder, name))
    elif glob.has_magic(path) and not os.path.exists(path):
        matches = [match for match in sorted(glob.glob(path, recursive=True)) if _is_meant(match, path)]
        if not matches:
            raise FileNotFoundError(f"no file matches {path!r}")
        for match in matches:
            if os.path.isdir(match):
                yield from _of_path(match)
            else:
                yield _file(match)
    else:
        yield _file(path)


def _file(path):
    about = os.stat(path)
    return Source(os.path.abspath(path), about.st_size, about.st_mtime)


def _file_system(url):
    """pyarrow's file system for a URL, the path there, and how URLs of that place begin."""
    from pyarrow import fs

    parts = urllib.parse.urlsplit(url)
    scheme = parts.scheme.lower()
    if scheme in ("s3", "s3a", "s3n"):
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        given = urllib.parse.urlsplit(endpoint) if endpoint else None
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        system = fs.S3FileSystem(
            endpoint_override=given.netloc if given else None,
            scheme=given.scheme if given else None,
            region=region or (None if endpoint else fs.resolve_s3_region(parts.netloc)),
        )
        return system, parts.netloc + urllib.parse.unquote(parts.path), f"{scheme}://"
    try:
        system, path = fs.FileSystem.from_uri(url)
    except (ValueError, OSError, ImportError) as error:
        raise ValueError(f"{url}: pyarrow cannot read it: {error}") from None
    prefix = url[: len(url) - len(path)] if url.endswith(path) else f"{scheme}://{parts.netloc}"
    return system, path, prefix


def _of_url(url):
    from pyarrow import fs

    is_pattern = glob.has_magic(urllib.parse.urlsplit(url)._replace(query="").path)
    base = url
    while glob.has_magic(base):
        base = posixpath.dirname(base)
    system, path, prefix = _file_system(base)
    pattern = (path + url[len(base) :]).split("/")
    about = system.get_file_info(path.rstrip("/"))
    if about.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"{url} is not there")
    if about.type == fs.FileType.File:
        listed, root = [about], ""
    else:
        listed, root = system.get_file_info(fs.FileSelector(path.rstrip("/"), recursive=True)), path.rstrip("/")
    taken = []
    for about in listed:
        below = about.path[len(root) :].strip("/") if root else ""
        if about.type != fs.FileType.File or any(_is_hidden(part) for part in below.split("/")):
            continue
        if is_pattern and not _matches(about.path.split("/"), pattern):
            continue
        taken.append(Source(prefix + about.path, about.size, about.mtime.timestamp() if about.mtime else 0.0))
    if not taken:
        raise FileNotFoundError(f"no file matches {url!r}")
    return sorted(taken, key=lambda source: source.name)


def _matches(parts, pattern):
    if not pattern or pattern[0] == "**":
        return not pattern and not parts or bool(pattern) and (
            _matches(parts, pattern[1:]) or bool(parts) and _matches(parts[1:], pattern)
        )
    return bool(parts) and fnmatch.fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def is_plain(source):
    """Whether any range of a file can be read: it is not compressed."""
    if source.is_url:
        system, path, _ = _file_system(source.name)
        with system.open_input_file(path) as file:
            return not file.read(6).startswith(_PACKED)
    try:
        jird.scan(source.name, range=(0, 0))
    except ValueError:
        return False
    return True


def chunks(source, start, end, split_bytes):
    """A range of a file, cut into smaller ones. What can only be read whole is one chunk."""
    if end - start <= split_bytes and start == 0 and end == source.size:
        return [Chunk(source.name, 0, None)]
    if not is_plain(source):
        if start > 0:
            raise ValueError(f"{source.name}: it is compressed, and has grown after it was read")
        return [Chunk(source.name, 0, None)]
    return [Chunk(source.name, at, min(at + split_bytes, end)) for at in range(start, end, split_bytes)]


def packed(sources, split_bytes):
    """The chunks of files, in groups of up to `split_bytes`, each of them for one task."""
    all_bytes = sum(source.size for source in sources)
    if split_bytes is None:
        split_bytes = min(max(all_bytes // _TASKS + 1, _SPLIT_BYTES_MIN), SPLIT_BYTES_MAX)
    groups, room = [], 0
    for source in sources:
        if source.size == 0:
            continue
        for chunk in chunks(source, 0, source.size, split_bytes):
            size = (source.size if chunk.end is None else chunk.end) - chunk.start
            if size > room:
                groups.append([])
                room = split_bytes
            groups[-1].append(chunk)
            room -= size
    return groups


@contextlib.contextmanager
def opened(chunk):
    """What `jird.scan` reads of a chunk: a path, a range or None, and the feed of a URL or None."""
    if "://" not in chunk.name:
        yield chunk.name, None if chunk.end is None else (chunk.start, chunk.end), None
        return
    with tempfile.TemporaryDirectory(prefix="jird-") as folder:
        # The name says nothing of the place, but may end as that of a compressed file.
        pipe = os.path.join(folder, posixpath.basename(urllib.parse.urlsplit(chunk.name).path) or "text")
        os.mkfifo(pipe)
        feed = _Feed(chunk, pipe)
        try:
            yield pipe, None, feed
        finally:
            feed.end()


class _Feed:
    """Writes a chunk of a URL into a named pipe, as often as the pipe is opened."""

    def __init__(self, chunk, pipe):
        self._chunk, self._pipe, self._over = chunk, pipe, False
        self.base = 0
        self.failure = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._over:
            with open(self._pipe, "wb", buffering=0) as pipe:
                if self._over:
                    return
                try:
                    for piece in self._pieces():
                        _write(pipe, piece)
                        if self._over:
                            return
                except BrokenPipeError:
                    pass
                except Exception as error:
                    # The reader sees the end of the text, and asks here whether it was the end.
                    self.failure = error
                # The next reader gets a new pipe. This one would not see its end if the same were opened again.
                os.mkfifo(self._pipe + ".next")
                os.rename(self._pipe + ".next", self._pipe)

    def _pieces(self):
        system, path, _ = _file_system(self._chunk.name)
        start, end = self._chunk.start, self._chunk.end
        with system.open_input_file(path) as file:
            at = max(start - 1, 0)
            file.seek(at)
            skips = start > 0
            while True:
                wanted = _FEED_BYTES if end is None else max(min(end - at, _FEED_BYTES), 1 << 16)
                piece = file.read(wanted)
                if not piece:
                    return
                begin, at = at, at + len(piece)
                if skips:
                    newline = piece.find(b"\n")
                    if newline < 0:
                        if end is not None and at >= end:
                            return
                        continue
                    skips, begin, piece = False, begin + newline + 1, piece[newline + 1 :]
                    if end is not None and begin >= end:
                        return
                    self.base = begin
                if end is not None and at >= end:
                    # The last line is that with the last byte of the range.
                    newline = piece.find(b"\n", max(end - 1 - begin, 0))
                    if newline >= 0:
                        yield piece[: newline + 1]
                        return
                yield piece

    def end(self):
        """Ends the thread, which may wait for somebody to open the pipe, or to read from it."""
        self._over = True
        reader = os.open(self._pipe, os.O_RDONLY | os.O_NONBLOCK)
        os.close(reader)
        self._thread.join(timeout=60)


def _write(pipe, piece):
    view = memoryview(piece)
    while view:
        view = view[pipe.write(view) :]
