"""Annotations of types: what stands around a type, and the types of the parts of a class or function."""

import sys
import types
import typing

__all__ = ["WRAPPERS", "bound", "closed", "hints_of", "metadata", "name_of", "without_wrappers", "wrappers"]

WRAPPERS = {typing.Final, typing.ClassVar}
for _module in filter(None, [typing, sys.modules.get("typing_extensions")]):
    WRAPPERS |= {getattr(_module, name) for name in ("Required", "NotRequired", "ReadOnly") if hasattr(_module, name)}


def name_of(wanted):
    return getattr(wanted, "__qualname__", None) if isinstance(wanted, type) and not typing.get_args(wanted) else repr(wanted)


def without_wrappers(wanted):
    while True:
        origin = typing.get_origin(wanted)
        if origin is typing.Annotated:
            wanted = wanted.__origin__
        elif origin in WRAPPERS:
            wanted = typing.get_args(wanted)[0]
        elif hasattr(wanted, "__supertype__"):
            wanted = wanted.__supertype__
        elif isinstance(wanted, typing.TypeVar):
            wanted = bound(wanted)
        else:
            return wanted


def bound(variable):
    if variable.__bound__ is not None:
        return variable.__bound__
    return typing.Union[variable.__constraints__] if variable.__constraints__ else typing.Any


def metadata(wanted):
    found = []
    while True:
        origin = typing.get_origin(wanted)
        if origin is typing.Annotated:
            found += wanted.__metadata__
            wanted = wanted.__origin__
        elif origin in WRAPPERS:
            wanted = typing.get_args(wanted)[0]
        else:
            return found


def wrappers(wanted):
    """The names of what stands around a type: Required, ClassVar and so on."""
    while True:
        origin = typing.get_origin(wanted)
        if wanted is typing.ClassVar:
            yield "ClassVar"
            return
        if origin is typing.Annotated:
            wanted = wanted.__origin__
        elif origin in WRAPPERS:
            yield getattr(origin, "name_of", None) or getattr(origin, "__name__", "")
            wanted = typing.get_args(wanted)[0]
        else:
            return


def hints_of(owner, cls, variables):
    """The annotations of a class or function, evaluated, with the type variables of a generic class put in."""
    try:
        hints = typing.get_type_hints(owner, include_extras=True)
    except Exception as cause:
        raise TypeError(f"the annotations of {name_of(cls)} cannot be evaluated: {cause}") from cause
    if sys.version_info < (3, 11):
        names = {**getattr(sys.modules.get(cls.__module__), "__dict__", {}), cls.__name__: cls}
        hints = {name: _evaluated(wanted, names, cls) for name, wanted in hints.items()}
    variables = _variables(cls, variables)
    return {name: closed(wanted, variables) for name, wanted in hints.items()} if variables else hints


def _evaluated(wanted, names, cls):
    """With the strings in `list["T"]` and the like evaluated, which `get_type_hints` of Python 3.10 leaves."""
    if isinstance(wanted, str):
        try:
            return _evaluated(eval(wanted, dict(names)), names, cls)
        except Exception as cause:
            raise TypeError(f"the annotations of {name_of(cls)} cannot be evaluated: {cause}") from cause
    args = getattr(wanted, "__args__", ())
    if not args or typing.get_origin(wanted) in (typing.Literal, typing.Annotated):
        return wanted
    given = tuple(_evaluated(arg, names, cls) for arg in args)
    if given == args:
        return wanted
    if isinstance(wanted, types.GenericAlias):
        return types.GenericAlias(wanted.__origin__, given)
    return typing.Union[given] if isinstance(wanted, types.UnionType) else wanted.copy_with(given)


def _variables(cls, variables):
    """With those that the bases of the class are given."""
    found = dict(variables)
    for base in getattr(cls, "__orig_bases__", ()):
        origin = typing.get_origin(base)
        parameters = getattr(origin, "__parameters__", ())
        if not parameters or origin is typing.Generic:
            continue
        given = dict(zip(parameters, (closed(arg, variables) for arg in typing.get_args(base))))
        for variable, wanted in _variables(origin, given).items():
            if found.setdefault(variable, wanted) != wanted:
                raise TypeError(f"{name_of(cls)} and its bases use {variable} for different types")
    return found


def closed(wanted, variables):
    """The type with type variables put in."""
    if isinstance(wanted, typing.TypeVar):
        return variables.get(wanted, wanted)
    parameters = getattr(wanted, "__parameters__", ())
    if not variables or not parameters or isinstance(wanted, type) and not typing.get_args(wanted):
        return wanted
    return wanted[tuple(variables.get(parameter, parameter) for parameter in parameters)]
