"""What `dumps` writes with OPT_SERIALIZE_TYPES, and `Encoder` always: the types of values that `loads(data, type=T)` makes and that
JSON has no kind for. The encoder in Rust asks here for what stands in place of such a value, and imports this module then.
"""

import base64
import collections
import datetime
import decimal
import ipaddress
import pathlib

from . import _jird

__all__ = ["plain"]


def plain(value):
    """What is written in place of a value; NotImplemented if it is of no such type."""
    kind = type(value)
    maker = _MAKERS.get(kind)
    if maker is None:
        maker = _maker(kind)
        if maker is None:
            return NotImplemented
    return maker(value)


def _decimal(value):
    if not value.is_finite():
        return None
    # JSON's grammar: Decimal("1E+3") is 1E+3, and Decimal("-0") is -0.
    return _jird.Fragment(decimal.Decimal.__str__(value))


def _duration(value):
    """As `loads` reads it: P1DT12H30M1.5S."""
    sign, value = ("-", -value) if value < datetime.timedelta() else ("", value)
    hours, seconds = divmod(value.seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    fraction = f".{value.microseconds:06}".rstrip("0") if value.microseconds else ""
    clock = [f"{hours}H" if hours else "", f"{minutes}M" if minutes else "", f"{seconds}{fraction}S" if seconds or fraction else ""]
    days = f"{value.days}D" if value.days else ""
    clock = "".join(clock)
    return f"{sign}P{days}{'T' if clock or not days else ''}{clock or ('' if days else '0S')}"


def _base64(value):
    return base64.b64encode(value.tobytes() if isinstance(value, memoryview) else value).decode()


def _document(value):
    return _jird.Fragment(value.raw)


_MAKERS = {
    decimal.Decimal: _decimal,
    datetime.timedelta: _duration,
    bytes: _base64,
    bytearray: _base64,
    memoryview: _base64,
    set: list,
    frozenset: list,
    collections.deque: list,
    _jird.Document: _document,
}
# Classes that are derived from these are written in the same way.
_BASES = [
    (pathlib.PurePath, str),
    ((ipaddress.IPv4Address, ipaddress.IPv6Address), str),
    ((ipaddress.IPv4Interface, ipaddress.IPv6Interface, ipaddress.IPv4Network, ipaddress.IPv6Network), str),
    (tuple, list),
    ((set, frozenset, collections.deque), list),
    ((bytes, bytearray), _base64),
    (decimal.Decimal, _decimal),
    (datetime.timedelta, _duration),
]


def _maker(kind):
    """What makes plain values of a class."""
    if hasattr(kind, "__struct_config__") and hasattr(kind, "__struct_fields__"):
        return _struct
    if hasattr(kind, "__pydantic_validator__") and hasattr(kind, "model_dump_json"):
        return _model
    if isinstance(getattr(kind, "__attrs_attrs__", None), tuple):
        return _attrs
    return next((maker for base, maker in _BASES if issubclass(kind, base)), None)


def _struct(value):
    """A Struct of msgspec, as its options say."""
    config = value.__struct_config__
    names = zip(value.__struct_fields__, value.__struct_encode_fields__)
    found = [(key, getattr(value, name)) for name, key in names if not _is_unset(getattr(value, name))]
    if config.array_like:
        if len(found) < len(value.__struct_fields__):
            raise TypeError("a field of an array cannot be left out")
        values = [each for _, each in found]
        return values if config.tag is None else [config.tag, *values]
    if config.omit_defaults:
        found = _without_defaults(value, found)
    return dict(found if config.tag is None else [(config.tag_field, config.tag), *found])


def _is_unset(value):
    return type(value).__name__ == "UnsetType" and type(value).__module__ == "msgspec"


def _without_defaults(value, found):
    """Without the fields that have their default: the same object, or an empty one of the class that makes it."""
    import msgspec

    fields = {field.encode_name: field for field in msgspec.structs.fields(type(value))}

    def is_default(key, each):
        field = fields[key]
        if field.default is not msgspec.NODEFAULT:
            return each is field.default
        return field.default_factory in (list, dict, set) and type(each) is field.default_factory and not each

    return [(key, each) for key, each in found if not is_default(key, each)]


def _model(value):
    """A model of pydantic writes itself, with the keys that it reads."""
    return _jird.Fragment(value.model_dump_json(by_alias=True))


def _attrs(value):
    """The parameters of its `__init__`, by which `loads` makes it."""
    return {_alias(field): getattr(value, field.name) for field in type(value).__attrs_attrs__ if field.init}


def _alias(field):
    return getattr(field, "alias", None) or field.name.lstrip("_")
