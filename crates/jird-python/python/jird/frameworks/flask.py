"""A JSON provider for Flask: `app.json = jird.frameworks.flask.JirdProvider(app)`."""

import decimal

from flask.json.provider import JSONProvider

import jird

__all__ = ["JirdProvider"]

_LINES, _SORTED = jird.OPT_INDENT_2, jird.OPT_SORT_KEYS


def _default(value):
    """What Flask writes beside jird's own types: decimals, and what has HTML of its own."""
    if isinstance(value, decimal.Decimal):
        return str(value)
    if hasattr(value, "__html__"):
        return str(value.__html__())
    raise TypeError


class JirdProvider(JSONProvider):
    """Reads requests and writes responses with jird: data classes, UUIDs and enums need no code.

    `default` and `option` are those of `jird.dumps`. Dates and times are RFC 3339 (Flask's own provider writes HTTP dates), keys keep
    their order, and text is UTF-8.
    """

    default = staticmethod(_default)
    option = None
    mimetype = "application/json"

    def dumps(self, obj, *, indent=None, sort_keys=False, separators=None, ensure_ascii=False, **others):
        """Serializes a value to a str. `indent` is 2 whatever its number, `separators` are always the short ones, and text is not
        escaped to ASCII."""
        if others:
            raise TypeError(f"jird does not know {', '.join(others)}")
        option = (type(self).option or 0) | (_LINES if indent else 0) | (_SORTED if sort_keys else 0)
        return jird.dumps(obj, type(self).default, option).decode()

    def loads(self, s, **others):
        """Deserializes str or bytes."""
        if others:
            raise TypeError(f"jird does not know {', '.join(others)}")
        return jird.loads(s)

    def response(self, *args, **kwargs):
        """What `flask.jsonify` returns."""
        value = self._prepare_response_obj(args, kwargs)
        return self._app.response_class(jird.dumps(value, type(self).default, self.option), mimetype=self.mimetype)
