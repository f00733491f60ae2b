"""Responses and request bodies for Starlette and FastAPI."""

from starlette.requests import Request
from starlette.responses import Response

import jird

__all__ = ["JirdRequest", "JirdResponse", "body"]


class JirdResponse(Response):
    """A response of JSON, with what `jird.dumps` writes: data classes, dates, UUIDs, enums and integers of any size.

    For all responses of FastAPI: `FastAPI(default_response_class=JirdResponse)`. A subclass may set `default` and `option`, which are
    those of `jird.dumps`.
    """

    media_type = "application/json"
    default = None
    option = None

    def render(self, content):
        # Of the class: a function must not become a method.
        return jird.dumps(content, type(self).default, self.option)


class JirdRequest(Request):
    """A request whose `json()` is read by jird."""

    async def json(self):
        if not hasattr(self, "_json"):
            self._json = jird.loads(await self.body())
        return self._json


async def body(request, type=None):
    """The body of a request as a value of `type`, or of JSON. Raises jird.JSONDecodeError, a ValueError."""
    data = await request.body()
    return jird.loads(data) if type is None else jird.loads(data, type=type)
