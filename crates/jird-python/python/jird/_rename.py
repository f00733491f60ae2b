"""Keys of data classes that are made from the names of their fields."""

import dataclasses

__all__ = ["RENAMED", "rename"]

# The attribute of a class with the keys of its fields, by name.
RENAMED = "__jird_keys__"


def _joined(name, first):
    """The words of a name without the underscores between them; those before it stay."""
    bare = name.lstrip("_")
    words = [word for word in bare.split("_") if word]
    capital = [word.title() for word in words]
    return name[: len(name) - len(bare)] + "".join([*map(first, words[:1]), *capital[1:]])


# As in msgspec.
_RULES = {
    "lower": str.lower,
    "upper": str.upper,
    "camel": lambda name: _joined(name, str),
    "pascal": lambda name: _joined(name, str.title),
    "kebab": lambda name: name.strip("_").replace("_", "-") or name,
}


def rename(rule):
    """Gives the fields of a data class other keys in JSON, where `loads`, `Decoder` and `dumps` meet the class:

        @jird.rename("camel")
        @dataclasses.dataclass
        class Item:
            unit_price: float            # "unitPrice"

    `rule` is "lower", "upper", "camel", "pascal" or "kebab", as in msgspec; or a dict from names to keys, in which names may be
    missing; or a function from a name to its key, or to None if that is the name. `jird.Key` in the annotation of a field has
    precedence. Subclasses with fields of their own need a rule of their own. Raises TypeError if two fields have one key.
    """
    function = _RULES.get(rule, rule) if isinstance(rule, str) else getattr(rule, "get", rule)
    if not callable(function):
        raise TypeError(f"a rule is one of {', '.join(_RULES)}, a dict or a function, not {rule!r}")

    def decorate(cls):
        if not (isinstance(cls, type) and "__dataclass_fields__" in cls.__dict__):
            raise TypeError(f"jird.rename is for data classes, and stands before @dataclass: {cls!r}")
        keys = {}
        for field in dataclasses.fields(cls):
            key = function(field.name)
            key = field.name if key is None else key
            if not isinstance(key, str):
                raise TypeError(f"the key of {cls.__qualname__}.{field.name} is a str, not {type(key).__name__}")
            if key in keys.values():
                raise TypeError(f"two fields of {cls.__qualname__} have the key {key!r}")
            keys[field.name] = key
        setattr(cls, RENAMED, keys)
        return cls

    return decorate
