"""What stands for a scalar where a type is not strict: `jird.Decoder(T, strict=False)`, as in msgspec."""

import datetime
import re

__all__ = ["LAX", "LAX_NAMES"]

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def _int_of_text(text):
    if not _INTEGER.fullmatch(text):
        raise ValueError
    return int(text)


def _int_of_float(number):
    if not number.is_integer():
        raise ValueError
    return int(number)


def _float_of_text(text):
    if not _NUMBER.fullmatch(text):
        raise ValueError
    return float(text)


def _bool_of_text(text):
    return {"true": True, "1": True, "false": False, "0": False}[text.lower()]


def _bool_of_int(number):
    return {1: True, 0: False}[number]


def _none_of_text(text):
    return {"null": None}[text.lower()]


def _seconds(number):
    return datetime.timedelta(seconds=number)


def _since_epoch(number):
    return _EPOCH + datetime.timedelta(seconds=number)


def _checked(function, name):
    """What says by a ValueError that a value does not stand for another."""

    def convert(value):
        try:
            return function(value)
        except (ArithmeticError, LookupError, ValueError) as error:
            raise ValueError(f"expected {name}, found {value!r}") from error

    return convert


LAX_NAMES = {
    "int": "an integer, or a string with one",
    "float": "a number, or a string with one",
    "bool": "true, false, 1 or 0, or a string with one of them",
    "none": "null, or a string with it",
    "datetime": "a date and time, or the seconds since 1970",
    "timedelta": "a duration, or a number of seconds",
}
# For each scalar: what makes it of another one, by the type of that. In a union, the first one that can is taken.
LAX = {
    scalar: {kind: _checked(function, LAX_NAMES[scalar]) for kind, function in makers.items()}
    for scalar, makers in {
        "none": {str: _none_of_text},
        "int": {float: _int_of_float, str: _int_of_text},
        "float": {str: _float_of_text},
        "bool": {int: _bool_of_int, str: _bool_of_text},
        "datetime": {float: _since_epoch},
        "timedelta": {float: _seconds},
    }.items()
}
