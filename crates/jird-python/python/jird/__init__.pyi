import datetime
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from mmap import mmap
from typing import IO, Any, Generic, Literal, Protocol, TypeAlias, TypeVar, final, overload

from . import json as json
from .errors import JSONDecodeError as JSONDecodeError
from .errors import JSONEncodeError as JSONEncodeError
from .errors import QueryError as QueryError

__version__: str
kernel: str
"""The instruction set that is used: "avx512", "avx2", "neon" or "portable"."""

OPT_APPEND_NEWLINE: int
OPT_INDENT_2: int
OPT_NAIVE_UTC: int
OPT_NON_STR_KEYS: int
OPT_OMIT_MICROSECONDS: int
OPT_PASSTHROUGH_DATACLASS: int
OPT_PASSTHROUGH_DATETIME: int
OPT_PASSTHROUGH_SUBCLASS: int
OPT_SERIALIZE_DATACLASS: int
OPT_SERIALIZE_NUMPY: int
OPT_SERIALIZE_TYPES: int
OPT_SERIALIZE_UUID: int
OPT_SORT_KEYS: int
OPT_STRICT_INTEGER: int
OPT_UTC_Z: int

_T = TypeVar("_T")

@overload
def loads(data: bytes | bytearray | memoryview | str, /) -> Any: ...
@overload
def loads(data: bytes | bytearray | memoryview | str, /, *, type: type[_T]) -> _T: ...
@overload
def loads(data: bytes | bytearray | memoryview | str, /, *, type: Any) -> Any: ...
def dumps(
    obj: Any,
    /,
    default: Callable[[Any], Any] | None = None,
    option: int | None = None,
) -> bytes: ...
@final
class Decoder(Generic[_T]):
    @overload
    def __new__(
        cls,
        type: type[_T],
        *,
        strict: bool = True,
        dec_hook: Callable[[Any, Any], Any] | None = None,
        float_hook: Callable[[str], Any] | None = None,
    ) -> Decoder[_T]: ...
    @overload
    def __new__(
        cls,
        type: Any = None,
        *,
        strict: bool = True,
        dec_hook: Callable[[Any, Any], Any] | None = None,
        float_hook: Callable[[str], Any] | None = None,
    ) -> Decoder[Any]: ...
    @property
    def type(self) -> Any: ...
    def decode(self, data: bytes | bytearray | memoryview | str, /) -> _T: ...
@final
class Encoder:
    def __new__(cls, default: Callable[[Any], Any] | None = None, option: int | None = None) -> Encoder: ...
    def encode(self, obj: Any, /) -> bytes: ...
def load(file: IO[bytes] | IO[str], /, *, type: Any = None) -> Any: ...
def dump(
    obj: Any,
    file: IO[bytes] | IO[str],
    /,
    default: Callable[[Any], Any] | None = None,
    option: int | None = None,
) -> None: ...

class Writer:
    def __init__(
        self,
        target: str | bytes | os.PathLike[str] | IO[bytes] | IO[str],
        *,
        default: Callable[[Any], Any] | None = None,
        option: int | None = None,
        append: bool = False,
    ) -> None: ...
    def write(self, obj: Any, /) -> None: ...
    def write_all(self, values: Iterable[Any], /) -> int: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    def __enter__(self) -> Writer: ...
    def __exit__(self, *_: object) -> None: ...

class _Read1(Protocol):
    def read1(self, size: int, /) -> Any: ...

class _Read(Protocol):
    def read(self, size: int, /) -> Any: ...

class _ReadInto(Protocol):
    def readinto(self, buffer: bytearray, /) -> int | None: ...

class _AsyncRead(Protocol):
    async def read(self, size: int, /) -> bytes: ...

_Chunk = bytes | bytearray | memoryview

class _ArrowSchema(Protocol):
    """A schema or a type of pyarrow."""
    def __arrow_c_schema__(self) -> object: ...

_ColumnType: TypeAlias = (
    type[bool | int | float | str | datetime.date]
    | Literal["bool", "int", "uint", "decimal", "float", "str", "date", "json", "any", "offset"]
    | _ArrowSchema
    | list[Any]
    | dict[str, Any]
    | type[list[Any]]
)

def scan(
    source: str
    | os.PathLike[str]
    | Iterable[str | os.PathLike[str]]
    | _Chunk
    | mmap
    | IO[bytes]
    | IO[str]
    | _Read1
    | _Read
    | _ReadInto
    | Iterable[_Chunk],
    *,
    records: str | None = None,
    range: tuple[int, int] | None = None,
    columns: Iterable[str] | None = None,
    where: str | None = None,
    types: Mapping[str, _ColumnType] | _ArrowSchema | None = None,
    nested: Literal["json", "types"] = "json",
    type: Any = None,
    on_error: str = "stop",
    threads: int | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> Scan: ...
def scan_async(
    source: _AsyncRead | AsyncIterable[_Chunk],
    *,
    records: str | None = None,
    columns: Iterable[str] | None = None,
    where: str | None = None,
    type: Any = None,
    on_error: str = "stop",
    progress: Callable[[int, int | None], object] | None = None,
) -> AsyncScan: ...
def convert(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    table: str | None = None,
    key: str | Sequence[str] | None = None,
    records: str | None = None,
    nested: Literal["json", "types"] = "json",
    flatten: bool = False,
    limit: int | None = None,
    append: bool = False,
    replace: bool = False,
    on_error: str = "stop",
    source_format: str | None = None,
    target_format: str | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> None: ...
def query(
    sql: str,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    *,
    type: Any = None,
    since: str | datetime.date | None = None,
    until: str | datetime.date | None = None,
    records: str | None = None,
    on_error: str = "stop",
    source_format: Literal["ndjson", "json", "csv", "tsv", "sqlite", "parquet", "arrow"] | None = None,
    threads: int | None = None,
) -> Query: ...
def open_store(
    path: str | os.PathLike[str],
    *,
    create: bool = True,
    time_field: str | None = None,
    columns: Iterable[str] | None = None,
    compression: Literal["none", "lz4", "zstd"] | None = None,
    sync: Literal["batch", "interval", "none"] = "interval",
) -> Store: ...
def parse(data: bytes | bytearray | memoryview | str, /) -> Document: ...
class _Tabular:
    def __iter__(self) -> ScanIter: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
    def to_polars(self) -> Any:
        """A polars.DataFrame."""
    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""

class Scan(_Tabular):
    @property
    def skipped(self) -> int:
        """Bad records that streams of Arrow have passed over so far."""

class Query(_Tabular):
    sql: str
    @property
    def notes(self) -> list[str]:
        """What the program said of the last use, once that was read to its end."""
    def explain(self) -> str: ...

class Store:
    @property
    def path(self) -> str: ...
    @property
    def time_field(self) -> str: ...
    def append(self, event: Any) -> None: ...
    def append_lines(self, lines: bytes | bytearray | memoryview | str, /) -> int: ...
    def extend(self, events: Iterable[Any]) -> int: ...
    def commit(self) -> None: ...
    def close(self) -> None: ...
    def query(
        self,
        sql: str,
        *,
        type: Any = None,
        since: str | datetime.date | None = None,
        until: str | datetime.date | None = None,
        threads: int | None = None,
    ) -> Query: ...
    def __enter__(self) -> Store: ...
    def __exit__(self, *_: object) -> None: ...

class AsyncScan(AsyncIterator[Any]):
    async def __anext__(self) -> Any: ...
    async def aclose(self) -> None: ...
    @property
    def skipped(self) -> int:
        """Bad lines that were passed over so far."""

class ScanIter(Iterator[Any]):
    def __next__(self) -> Any: ...
    @property
    def skipped(self) -> int:
        """Bad lines that were passed over so far."""

class Sqlite:
    def __init__(self, path: str | bytes | os.PathLike[str], *, timeout: float = 5.0) -> None: ...
    def table(self, type: type, name: str | None = None, *, key: str | Sequence[str] = ()) -> Table: ...

class Table:
    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> list[str]: ...
    def insert(self, objects: Iterable[Any], /) -> int: ...
    def insert_arrow(self, stream: Any, /) -> int: ...

_Class = TypeVar("_Class", bound=type)

def rename(
    rule: Literal["lower", "upper", "camel", "pascal", "kebab"] | Mapping[str, str] | Callable[[str], str | None],
) -> Callable[[_Class], _Class]: ...
@final
class Key:
    """The key that a field has in JSON: `Annotated[str, jird.Key("@t")]`."""

    name: str
    def __init__(self, name: str) -> None: ...

@final
class Fragment:
    def __new__(cls, contents: bytes | str, /) -> Fragment: ...
    @property
    def contents(self) -> bytes | str: ...

@final
class Partial:
    def __new__(cls, *, whole_strings: bool = False) -> Partial: ...
    def push(self, data: bytes | bytearray | memoryview | str, /) -> None: ...
    def finish(self) -> None: ...
    def value(self, default: Any = None) -> Any: ...
    def text(self) -> str | None: ...
    @property
    def complete(self) -> bool: ...
@final
class Document:
    @property
    def kind(self) -> Literal["object", "array", "string", "number", "boolean", "null"]: ...
    @property
    def raw(self) -> bytes: ...
    def as_py(self) -> Any: ...
    def at_pointer(self, pointer: str, /) -> Any: ...
    def path(self, path: str, /) -> list[Any]: ...
    def get(self, key: str, default: Any = None, /) -> Any: ...
    def keys(self) -> list[str]: ...
    def values(self) -> list[Any]: ...
    def items(self) -> list[tuple[str, Any]]: ...
    def as_buffer(self, format: Literal["d", "q", "Q"] = "d", /) -> memoryview: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[Any]: ...
    @overload
    def __getitem__(self, key: str | int, /) -> Any: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __contains__(self, item: object, /) -> bool: ...
