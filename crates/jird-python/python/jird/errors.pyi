import json

class JSONDecodeError(json.JSONDecodeError):
    path: str
    """A JSON Pointer (RFC 6901) to the value with the error."""
    code: str
    """The rule that was broken, in one word."""
    offset: int
    """The byte at which the text can no longer be JSON."""
    def __init__(
        self, msg: str, doc: str, pos: int, path: str = "", code: str = "", offset: int = 0
    ) -> None: ...

class JSONEncodeError(TypeError): ...
class QueryError(ValueError): ...
