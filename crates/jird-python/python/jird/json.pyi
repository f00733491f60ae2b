import json
from collections.abc import Callable
from typing import IO, Any

JSONDecodeError = json.JSONDecodeError

class JSONDecoder(json.JSONDecoder): ...
class JSONEncoder(json.JSONEncoder): ...

def loads(
    s: str | bytes | bytearray,
    *,
    cls: type[json.JSONDecoder] | None = None,
    object_hook: Callable[[dict[Any, Any]], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
    parse_int: Callable[[str], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
    object_pairs_hook: Callable[[list[tuple[Any, Any]]], Any] | None = None,
    **kw: Any,
) -> Any: ...
def load(fp: IO[Any], **kw: Any) -> Any: ...
def dumps(
    obj: Any,
    *,
    skipkeys: bool = False,
    ensure_ascii: bool = True,
    check_circular: bool = True,
    allow_nan: bool = True,
    cls: type[json.JSONEncoder] | None = None,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    default: Callable[[Any], Any] | None = None,
    sort_keys: bool = False,
    **kw: Any,
) -> str: ...
def dump(obj: Any, fp: IO[str], **kw: Any) -> None: ...
def detect_encoding(b: bytes | bytearray) -> str: ...
