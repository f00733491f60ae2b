"""Spark's filters → conditions of a scan.

A condition keeps all rows that its filter keeps. Where it keeps no others, Spark need not filter again. Columns hold
what the conditions compare, with these exceptions:

- A double is a number that was rounded, and conditions compare the digits. So a little more is asked for.
- A text may be the JSON text of a number or object, if its column takes values of every kind. What can equal such a
  text is left to Spark, and so is everything that a negation could turn around.
- NaN and infinities, which no text of JSON has, are left to Spark.
"""

import math
from decimal import Decimal

from pyspark.sql import datasource as S

import jird

__all__ = ["conditions"]


def conditions(filters, columns):
    """The conditions of a scan for filters, and the filters that Spark has to apply."""
    known = {column.name: column for column in columns}
    made, left = [], []
    for filter in filters:
        condition, is_exact = _condition(filter, known, negated=False)
        if condition is not None:
            made.append(condition)
        if condition is None or not is_exact:
            left.append(filter)
    return made, left


_NONE = None, False


def _condition(filter, known, negated):
    """A condition, and whether it keeps no other rows; None if there is none. A negated one must be exact."""
    if isinstance(filter, S.Not):
        condition, is_exact = _condition(filter.child, known, negated=not negated)
        return (f"not ({condition})", True) if condition is not None and is_exact else _NONE
    column = known.get(filter.attribute[0]) if len(filter.attribute) == 1 else None
    if column is None or not column.path:
        return _NONE
    if isinstance(filter, S.IsNull):
        return f"{column.path} is null", True
    if isinstance(filter, S.IsNotNull):
        return f"{column.path} is not null", True
    if isinstance(filter, S.EqualNullSafe):
        if filter.value is None:
            return f"{column.path} is null", True
        condition, is_exact = _compared(column, "=", filter.value, negated)
        return (None if condition is None else f"({column.path} is not null and {condition})"), is_exact
    if isinstance(filter, S.In):
        return _in(column, filter.value, negated)
    for kind, sign in _SIGNS.items():
        if isinstance(filter, kind):
            return _compared(column, sign, filter.value, negated)
    for kind, (before, after) in _PATTERNS.items():
        if isinstance(filter, kind) and isinstance(filter.value, str):
            return _like(column, filter.value, before, after, negated)
    return _NONE


_SIGNS = {
    S.EqualTo: "=",
    S.GreaterThan: ">",
    S.GreaterThanOrEqual: ">=",
    S.LessThan: "<",
    S.LessThanOrEqual: "<=",
}

_PATTERNS = {S.StringStartsWith: ("", "%"), S.StringEndsWith: ("%", ""), S.StringContains: ("%", "%")}


def _in(column, values, negated):
    values = list(values)
    if not values:
        return _NONE
    if any(value is None for value in values):
        # Nothing is equal to null, and nothing is certain not to be in a list with it.
        values = [value for value in values if value is not None]
        if negated or not values:
            return _NONE
    made = [_compared(column, "=", value, negated) for value in values]
    if any(condition is None for condition, _ in made):
        return _NONE
    if all(column.compares != "double" for _ in made):
        listed = ", ".join(_literal(column, value) for value in values)
        return f"{column.path} in ({listed})", True
    return "(" + " or ".join(condition for condition, _ in made) + ")", all(exact for _, exact in made)


def _compared(column, sign, value, negated):
    literal = _literal(column, value)
    if literal is None:
        return _NONE
    if column.compares == "double":
        return _NONE if negated else _around(column.path, sign, float(value))
    if column.compares == "any" and (negated or sign != "=" or not _is_only_text(value)):
        return _NONE
    return f"{column.path} {sign} {literal}", True


def _around(path, sign, value):
    """Numbers that are rounded to a double that compares so are between its neighbours."""
    low, high = math.nextafter(value, -math.inf), math.nextafter(value, math.inf)
    if not math.isfinite(low) or not math.isfinite(high):
        return _NONE
    above, below = f"{path} >= {_double(low)}", f"{path} <= {_double(high)}"
    if sign == "=":
        return f"({above} and {below})", False
    return (above if sign in (">", ">=") else below), False


def _double(value):
    return repr(value).replace("e+", "e")


def _literal(column, value):
    """A constant, if a column is compared with such ones."""
    kind = column.compares
    if kind == "bool" and isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bool):
        return None
    if kind == "int" and isinstance(value, int):
        return str(value)
    if kind == "double" and isinstance(value, (int, float)) and math.isfinite(value):
        return _double(float(value))
    if kind == "decimal" and isinstance(value, (int, Decimal)) and Decimal(value).is_finite():
        return format(Decimal(value), "f")
    if kind in ("text", "any") and isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return None


def _is_only_text(text):
    """Whether no value but a string can be this text: it is not JSON of another kind."""
    try:
        return jird.parse(text).kind in ("string", "null")
    except ValueError:
        return True


def _like(column, text, before, after, negated):
    if column.compares == "any":
        # Values that are not strings begin and end so: numbers, true, false, arrays and objects.
        starts = not before and text[:1] not in ("", *"-0123456789tf[{")
        ends = not after and text[-1:] not in ("", *"0123456789e]}")
        if negated or not (starts or ends):
            return _NONE
    elif column.compares != "text":
        return _NONE
    for special in "\\%_":
        text = text.replace(special, "\\" + special)
    quoted = text.replace("'", "''")
    return f"{column.path} like '{before}{quoted}{after}'", True
