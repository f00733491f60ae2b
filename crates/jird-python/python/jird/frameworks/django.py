"""Responses and request bodies for Django."""

import datetime
import decimal

from django.http import HttpResponse
from django.utils.duration import duration_iso_string
from django.utils.functional import Promise

import jird

__all__ = ["JirdResponse", "body"]


def _default(value):
    """What Django's encoder writes beside jird's own types."""
    if isinstance(value, datetime.timedelta):
        return duration_iso_string(value)
    if isinstance(value, (decimal.Decimal, Promise)):
        return str(value)
    raise TypeError


class JirdResponse(HttpResponse):
    """A response of JSON, as `django.http.JsonResponse` is one, written by `jird.dumps`.

    As there, `safe=True` takes dicts only. `default` and `option` are those of `jird.dumps`; without `default`, time differences, decimals
    and translated texts are written as Django's encoder writes them.
    """

    def __init__(self, data, *, safe=True, default=_default, option=None, **others):
        if safe and not isinstance(data, dict):
            raise TypeError("In order to allow non-dict objects to be serialized set the safe parameter to False.")
        others.setdefault("content_type", "application/json")
        super().__init__(jird.dumps(data, default, option), **others)


def body(request, type=None):
    """The body of a request as a value of `type`, or of JSON. Raises jird.JSONDecodeError, a ValueError."""
    return jird.loads(request.body) if type is None else jird.loads(request.body, type=type)
