"""The exceptions that jird raises."""

from json import JSONDecodeError as _JSONDecodeError

from ._jird import PanicException as _Panic

__all__ = ["JSONDecodeError", "JSONEncodeError", "QueryError"]


class JSONDecodeError(_JSONDecodeError):
    """A text is not JSON, or has a number that Python cannot hold.

    Beside msg, doc, pos, lineno and colno of json.JSONDecodeError, all in characters, it has

    path    a JSON Pointer (RFC 6901) to the value with the error
    code    the rule that was broken, in one word
    offset  the byte at which the text can no longer be JSON
    """

    def __init__(self, msg, doc, pos, path="", code="", offset=0):
        super().__init__(f"{msg}, at {path}" if path else msg, doc, pos)
        self.path = path
        self.code = code
        self.offset = offset
        self._made_of = (msg, doc, pos, path, code, offset)

    def _in(self, place):
        msg, *others = self._made_of
        return type(self)(f"{place}: {msg}", *others)

    @classmethod
    def _of_document(cls, msg, path, code, offset, line, column):
        """The error in a document that is not in memory: `doc` is empty, and places are in bytes."""
        error = cls(msg, "", 0, path, code, offset)
        error.pos, error.lineno, error.colno = offset, line, column
        error.args = (f"{error.msg}: line {line} column {column} (byte {offset})",)
        return error

    def __reduce__(self):
        return self.__class__, self._made_of


class JSONEncodeError(TypeError):
    """A value cannot be written as JSON."""


class QueryError(ValueError):
    """A query was not answered: the SQL is wrong, or what it reads."""


def _words(panic):
    # A panic that goes through several calls takes its words along.
    return BaseException.__str__(panic).removesuffix(_BUG) + _BUG


_BUG = " (this is a bug of jird: please report it)"


# What any function of the extension module raises if its Rust code panics. PyO3 derives it from BaseException, which
# `except Exception` lets by.
_Panic.__bases__ = (RuntimeError,)
_Panic.__module__ = "jird"
_Panic.__str__ = _words


for _class in (JSONDecodeError, JSONEncodeError, QueryError):
    _class.__module__ = "jird"
del _class
