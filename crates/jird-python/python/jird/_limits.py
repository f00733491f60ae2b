"""The limits in annotations that the decoder checks: those of annotated_types, `msgspec.Meta` and `pydantic.Field`."""

__all__ = ["limits"]

# The limits that the decoder checks, as annotated_types, msgspec.Meta and pydantic.Field name them.
_LIMITS = ["gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length"]
# Those that it does not, and which must not be ignored.
_UNKNOWN_LIMITS = ["max_digits", "decimal_places"]
# These annotations describe a field, and limit nothing.
_NO_LIMITS = {"Unit", "DocInfo", "Doc", "Strict"}


def limits(found):
    """The limits that an annotation stands for, as pairs of a name and a value."""
    bases = {base.__name__: base.__module__.partition(".")[0] for base in type(found).__mro__}
    libraries = {"annotated_types", "msgspec", "pydantic"} & set(bases.values())
    if isinstance(found, slice) or not libraries:
        return
    if "Predicate" in bases:
        yield "predicate", found.func
        return
    if "pydantic" in libraries and isinstance(getattr(found, "metadata", None), list):
        for each in found.metadata:
            yield from limits(each)
        return
    if any(getattr(found, limit, None) is not None for limit in _UNKNOWN_LIMITS):
        raise TypeError(f"jird cannot check {found!r}")
    known = False
    for limit in _LIMITS:
        value = getattr(found, limit, None)
        known |= hasattr(found, limit)
        # `annotated_types.Len` has 0 for no least length.
        if value is not None and not (limit == "min_length" and value == 0):
            yield limit, value
    pattern = getattr(found, "pattern", None)
    if pattern is not None:
        import re

        yield "pattern", re.compile(pattern).search
    zone = getattr(found, "tz", None)
    if "Timezone" in bases:
        if zone not in (None, ...):
            raise TypeError(f"jird cannot check {found!r}")
        yield "zone", zone is not None
    elif "msgspec" in libraries and zone is not None:
        yield "zone", zone
    elif not known and "GroupedMetadata" in bases and hasattr(found, "__iter__"):
        for each in found:
            yield from limits(each)
    elif not known and not hasattr(found, "pattern") and "annotated_types" in libraries and not _NO_LIMITS & set(bases):
        raise TypeError(f"jird cannot check {found!r}")
