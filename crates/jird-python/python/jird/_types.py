"""Types → plans: what `loads(data, type=T)` must do for T, as a list of steps that name each other by their index.

The decoder in Rust reads a plan once for each type, and keeps it. This module is imported by the first typed `loads`.
"""

import collections
import collections.abc
import datetime
import decimal
import enum
import inspect
import sys
import types
import typing
import uuid
import weakref

from ._annotations import WRAPPERS, bound, closed, hints_of, metadata, name_of, without_wrappers, wrappers
from ._lax import LAX, LAX_NAMES as _LAX_NAMES
from ._limits import limits as _limits
from ._rename import RENAMED

__all__ = ["Key", "keys", "plan"]

_STEPS_MAX = 100_000

_MISSING = object()
# How a field gets its value if the text has none; the decoder knows these numbers.
_REQUIRED, _VALUE, _FACTORY, _OMITTED = range(4)

_SCALARS = {
    None: "none",
    type(None): "none",
    typing.Any: "any",
    object: "any",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    decimal.Decimal: "decimal",
    datetime.datetime: "datetime",
    datetime.date: "date",
    datetime.time: "time",
    datetime.timedelta: "timedelta",
    uuid.UUID: "uuid",
}
# The type that is made, for each type that asks for an array.
_ARRAYS = {
    list: "list",
    collections.abc.Sequence: "list",
    collections.abc.MutableSequence: "list",
    collections.abc.Collection: "list",
    collections.abc.Iterable: "list",
    set: "set",
    collections.abc.Set: "set",
    collections.abc.MutableSet: "set",
    frozenset: "frozenset",
    collections.deque: "deque",
}
_MAPPINGS = {dict, collections.abc.Mapping, collections.abc.MutableMapping}
# The kinds of JSON values that a step takes, as the decoder numbers them.
_NULL, _BOOL, _INT, _FLOAT, _STRING, _OBJECT, _ARRAY = range(7)
_KINDS = {
    "none": {_NULL},
    "any": set(range(7)),
    "bool": {_BOOL},
    "int": {_INT},
    "float": {_INT, _FLOAT},
    "str": {_STRING},
    "decimal": {_INT, _FLOAT, _STRING},
    **dict.fromkeys(["datetime", "date", "time", "timedelta", "uuid"], {_STRING}),
    **dict.fromkeys(["list", "set", "frozenset", "deque", "tuple", "tuples"], {_ARRAY}),
    "dict": {_OBJECT},
}
# If several members of a union take a kind, they are tried in this order.
_ORDER = ["choice", "uuid", "datetime", "date", "time", "timedelta", "int", "float", "decimal", "converted", "str"]
_KEYS = {"str", "any", "int", "float", "choice", "uuid", "datetime", "date", "time", "decimal", "converted"}
# What `keys` answered, by class.
_KEYS_OF = weakref.WeakKeyDictionary()


class Key:
    """The key that a field has in JSON: `Annotated[str, jird.Key("@t")]`."""

    __slots__ = ("name",)

    def __init__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"a key is a str, not {name_of(type(name))}")
        self.name = name

    def __repr__(self):
        return f"jird.Key({self.name!r})"

    def __eq__(self, other):
        return isinstance(other, Key) and self.name == other.name

    def __hash__(self):
        return hash(("jird.Key", self.name))


Key.__module__ = "jird"


def plan(wanted, hook=None, strict=True, float_hook=None):
    """The steps for a type; the first one is that of the type itself. `hook` makes values of types that are not known. Not
    `strict`: strings and numbers that stand for other scalars are taken for them. `float_hook` makes floats without a type.
    """
    try:
        compiler = _Compiler(hook, strict)
        compiler.index(wanted)
        compiler.choose_by_tags()
        if float_hook is not None:
            return [("hooked", float_hook) if step == ("any",) else step for step in compiler.steps]
        return compiler.steps
    except _Unknown as error:
        # Callers see the exception that is documented, under its own name.
        raise TypeError(*error.args) from None
    except RecursionError:
        raise TypeError("the type is too deep: its parts are nested in each other too often") from None


def keys(cls):
    """The keys of the fields of a data class as pairs of a name and a key; None if all are the names."""
    import dataclasses

    if cls in _KEYS_OF:
        return _KEYS_OF[cls]
    renamed = getattr(cls, RENAMED, {})
    try:
        hints = hints_of(cls, cls, {})
    except TypeError:
        # Only a type checker can evaluate the annotations. The object is written all the same.
        hints = None
    names = [field.name for field in dataclasses.fields(cls)]
    pairs = [(name, _key((hints or {}).get(name)) or renamed.get(name, name)) for name in names]
    found = None if all(name == key for name, key in pairs) else pairs
    if hints is not None:
        _KEYS_OF[cls] = found
    return found


class _Compiler:
    def __init__(self, hook, strict):
        self.hook = hook
        self.strict = strict
        # The steps that make values of what no other member of a union takes, by index: which comes first.
        self.fallbacks = {}
        self.steps = []
        # By index: the kinds that a step takes, known before its fields are.
        self.kinds = []
        # Index of a type that was met; by what makes it and its equals one.
        self.known = {}
        # Types without a hash live as long as the compiler, so that their ids are theirs.
        self.held = []

    def index(self, wanted):
        """The index of the step for a type."""
        try:
            key = (self.strict, type(wanted), wanted)
            index = self.known.get(key)
        except TypeError:
            self.held.append(wanted)
            key = (self.strict, "id", id(wanted))
            index = self.known.get(key)
        if index is not None:
            return index
        index = self.known[key] = self.reserve()
        try:
            step = self.make(wanted, index)
        except _Unknown:
            if self.hook is None:
                raise
            step = self.hooked(wanted, index)
        self.steps[index] = step
        if self.kinds[index] is None:
            self.kinds[index] = _KINDS[step[0]]
        return index

    def reserve(self):
        """The index of a step that is made now."""
        if len(self.steps) == _STEPS_MAX:
            raise TypeError(f"the type has more than {_STEPS_MAX} parts")
        self.steps.append(None)
        self.kinds.append(None)
        return len(self.steps) - 1

    def make(self, wanted, index):
        """The step for a type that was not met before."""
        try:
            scalar, bare = _SCALARS.get(wanted), _BARE.get(wanted)
        except TypeError:
            # It has no hash.
            scalar = bare = None
        if scalar is not None:
            return self.scalar(scalar, wanted, index)
        if isinstance(wanted, type) and (converted := _converted(wanted)) is not None:
            return self.converted(str, *converted, index)
        if isinstance(wanted, (str, typing.ForwardRef)):
            raise TypeError(f"{wanted!r} names a type; only in a class can types be named by strings")
        origin, args = typing.get_origin(wanted) or bare, typing.get_args(wanted)
        if origin is not None:
            return self.generic(wanted, origin, args, index)
        if isinstance(wanted, typing.TypeVar):
            return self.make(bound(wanted), index)
        if hasattr(wanted, "__supertype__"):
            return self.make(wanted.__supertype__, index)
        if type(wanted).__name__ == "TypeAliasType":
            return self.make(wanted.__value__, index)
        if isinstance(wanted, type):
            return self.of_class(wanted, {}, index)
        raise _unsupported(wanted)

    def scalar(self, scalar, wanted, index):
        if not self.strict and scalar in LAX:
            return self.lax(scalar, wanted, index)
        return (scalar, wanted) if scalar in ("decimal", "uuid") else (scalar,)

    def lax(self, scalar, wanted, index):
        """A scalar, or what stands for it: a union of the two."""
        exact = self.strictly(wanted)
        members, by_kind = [exact], [[exact] if kind in self.kinds[exact] else [] for kind in range(7)]
        for inner, function in LAX[scalar].items():
            member = self.reserve()
            self.steps[member] = self.converted(inner, function, _LAX_NAMES[scalar], member)
            self.fallbacks[member] = list(LAX).index(scalar)
            members.append(member)
            for kind in self.kinds[member] - self.kinds[exact]:
                by_kind[kind].append(member)
        self.kinds[index] = {kind for kind in range(7) if by_kind[kind]}
        return ("union", by_kind, members, None, _LAX_NAMES[scalar], None)

    def strictly(self, wanted):
        """The index of the step that takes only what stands in JSON for such a value."""
        strict, self.strict = self.strict, True
        index = self.index(wanted)
        self.strict = strict
        return index

    def generic(self, wanted, origin, args, index):
        if origin is typing.Annotated:
            limits = [limit for found in wanted.__metadata__ for limit in _limits(found)]
            return self.limited(wanted.__origin__, limits, index) if limits else self.make(wanted.__origin__, index)
        if origin in WRAPPERS:
            return self.make(args[0], index)
        if origin is typing.Literal:
            return self.choice(index, [(_literal(value), value) for value in args], None)
        if origin is typing.Union or origin is getattr(types, "UnionType", None):
            return self.union(wanted, args, index)
        if origin in _ARRAYS:
            self.kinds[index] = {_ARRAY}
            return (_ARRAYS[origin], self.index(args[0] if args else typing.Any))
        if origin is tuple:
            return self.tuple(wanted, args, index)
        if origin in _MAPPINGS:
            self.kinds[index] = {_OBJECT}
            key, value = args or (typing.Any, typing.Any)
            key_index = self.strictly(key)
            if (self.plain(key_index) or ("",))[0] not in _KEYS:
                raise TypeError(f"a key of a dict cannot be {name_of(key)}: JSON's keys are strings")
            return ("dict", key_index, self.index(value))
        if type(origin).__name__ == "TypeAliasType":
            return self.make(closed(origin.__value__, dict(zip(origin.__type_params__, args))), index)
        if isinstance(origin, type):
            return self.of_class(origin, dict(zip(getattr(origin, "__parameters__", ()), args)), index)
        raise _unsupported(wanted)

    def converted(self, inner, function, name, index):
        found = self.strictly(inner)
        self.kinds[index] = self.kinds[found]
        return ("converted", found, function, name)

    def hooked(self, wanted, index):
        """What the caller's function makes of any value. It gets the type itself, without what stands around it."""
        wanted = without_wrappers(wanted)
        hook, kind = self.hook, typing.get_origin(wanted) or wanted

        def convert(value):
            made = hook(wanted, value)
            if isinstance(kind, type) and not isinstance(made, kind):
                raise TypeError(f"dec_hook returned {name_of(type(made))}, and not {name_of(wanted)}")
            return made

        step = self.converted(typing.Any, convert, name_of(wanted), index)
        self.fallbacks[index] = len(LAX)
        return step

    def limited(self, wanted, limits, index):
        inner = self.index(wanted)
        if self.kinds[inner] is None:
            raise TypeError(f"{name_of(wanted)} has limits within itself")
        self.kinds[index] = self.kinds[inner]
        is_lenient = self.steps[inner] is not None and self.plain(inner)[0] in ("union", "any")
        return ("limited", inner, limits, is_lenient)

    def plain(self, index):
        """The step without limits."""
        step = self.steps[index]
        while step is not None and step[0] == "limited":
            step = self.steps[step[1]]
        return step

    def tuple(self, wanted, args, index):
        self.kinds[index] = {_ARRAY}
        if wanted is tuple or wanted is typing.Tuple:
            return ("tuple", self.index(typing.Any))
        if len(args) == 2 and args[1] is Ellipsis:
            return ("tuple", self.index(args[0]))
        args = () if args == ((),) else args
        return ("tuples", [self.index(arg) for arg in args])

    def choice(self, index, pairs, fallback):
        kinds = set()
        for value, _ in pairs:
            if value is None:
                kinds.add(_NULL)
            elif isinstance(value, bool):
                kinds.add(_BOOL)
            elif isinstance(value, int):
                kinds.add(_INT)
            elif isinstance(value, float):
                kinds |= {_INT, _FLOAT}
            elif isinstance(value, str):
                kinds.add(_STRING)
            else:
                raise TypeError(f"{value!r} cannot be a value of JSON by which something is chosen")
        # What an enum makes of other values, only itself knows.
        self.kinds[index] = kinds if fallback is None else kinds | {_INT, _FLOAT, _STRING}
        return ("choice", pairs, fallback)

    def union(self, wanted, args, index):
        members = [arg for arg in args if not _is_unset(arg)]
        indexes = []
        for member in members:
            found = self.index(member)
            if found == index or self.kinds[found] is None:
                raise TypeError(f"{name_of(wanted)} is a member of itself")
            step = self.steps[found]
            # A union in a union, which an alias or NewType hid.
            nested = step[2] if step is not None and step[0] == "union" else [found]
            indexes += [each for each in nested if each not in indexes]
        steps = [self.steps[each] for each in indexes]
        self.kinds[index] = set().union(*(self.kinds[each] for each in indexes))
        if any(step is not None and step[0] == "any" for step in steps):
            self.kinds[index] = set(range(7))
            return ("any",)
        by_kind = []
        for kind in range(7):
            takers = [each for each in indexes if kind in self.kinds[each]]
            # The caller's function, and those of types that are not strict, get what no other member takes.
            takers = [each for each in takers if each not in self.fallbacks] or takers
            takers.sort(key=self.rank)
            by_kind.append(takers)
        # The tags of objects and arrays are found when the fields of all of them are known.
        return ("union", by_kind, indexes, None, name_of(wanted), None)

    def rank(self, index):
        step = self.plain(index)
        order = _ORDER.index(step[0]) if step is not None and step[0] in _ORDER else len(_ORDER)
        return order, self.fallbacks.get(index, 0)

    def choose_by_tags(self):
        """Finds for each union of several objects the key whose value says which one it is."""
        for at, step in enumerate(self.steps):
            if step[0] != "union":
                continue
            kind, by_kind, indexes, tag, name, array_tag = step
            if len(by_kind[_OBJECT]) > 1:
                tag = _tag(by_kind[_OBJECT], [self.tags_of(each) for each in by_kind[_OBJECT]])
                if tag is None:
                    raise TypeError(
                        f"{name} has several members that are objects, and no key with a Literal of str or int in all of "
                        "them tells them apart"
                    )
            if len(by_kind[_ARRAY]) > 1:
                array_tag = _tag(by_kind[_ARRAY], [self.tag_of_array(each) for each in by_kind[_ARRAY]])
                if array_tag is None:
                    raise TypeError(
                        f"{name} has several members that are arrays, and no Literal of str or int as the first element "
                        "of all of them tells them apart"
                    )
            self.steps[at] = (kind, by_kind, indexes, tag, name, array_tag)

    def tag_of_array(self, index):
        """The values of the first element, if they can only be some str or int."""
        step = self.plain(index)
        if step[0] == "object" and step[6] and step[3]:
            return self.values_of("", step[3][0][2])
        return self.values_of("", step[1][0]) if step[0] == "tuples" and step[1] else {}

    def tags_of(self, index):
        """Keys of an object whose values can only be some str or int, with these values."""
        step = self.plain(index)
        if step[0] == "model":
            return _tags_of_model(step[1])
        if step[0] != "object":
            return {}
        tags = {}
        for key, _, field, _, _ in step[3]:
            tags.update(self.values_of(key, field))
        return tags

    def values_of(self, key, index):
        inner = self.steps[index]
        values = [value for value, _ in inner[1]] if inner[0] == "choice" and inner[2] is None else [None]
        return {key: values} if all(type(value) in (str, int) for value in values) else {}

    # Classes

    def of_class(self, cls, variables, index):
        if isinstance(cls, enum.EnumMeta):
            return self.of_enum(cls, index)
        self.kinds[index] = {_OBJECT}
        if "__pydantic_validator__" in cls.__dict__ or hasattr(cls, "__pydantic_validator__"):
            return _model(cls)
        if typing.is_typeddict(cls) or hasattr(cls, "__required_keys__"):
            return self.of_typed_dict(cls, variables)
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            self.kinds[index] = {_OBJECT, _ARRAY}
            return self.of_named_tuple(cls, variables)
        if hasattr(cls, "__struct_config__"):
            if cls.__struct_config__.array_like:
                self.kinds[index] = {_ARRAY}
            return self.of_struct(cls, variables)
        if hasattr(cls, "__dataclass_fields__"):
            return self.of_data_class(cls, variables)
        if cls.__module__ == "builtins" or getattr(cls, "_is_protocol", False):
            raise _unsupported(cls)
        return self.of_other_class(cls, variables)

    def of_enum(self, cls, index):
        members = [(member.value, member) for member in cls.__members__.values()]
        has_own = cls._missing_.__func__ is not enum.Enum._missing_.__func__
        scalars = (str, int, float, bool, type(None))
        known = [pair for pair in dict((id(pair[1]), pair) for pair in members).values() if type(pair[0]) in scalars]
        if not known and not has_own:
            raise TypeError(f"no member of {name_of(cls)} has a value that JSON can have")
        return self.choice(index, known, cls if has_own else None)

    def field(self, wanted, name, attribute, kind=_REQUIRED, default=None):
        return (_key(wanted) or name, attribute, self.index(wanted), kind, default)

    def object(self, how, cls, fields, has_post=False, is_closed=False, is_array=False):
        keys = [key for key, *_ in fields]
        for key in keys:
            if keys.count(key) > 1:
                raise TypeError(f"two fields of {name_of(cls)} have the key {key!r}")
        if how == "attributes" and _has_slots(cls, fields):
            how = "slots"
        is_quiet = how in ("dict", "tuple", "slots", "attributes") and not has_post and not hasattr(cls, "__del__")
        for _, attribute, _, kind, default in fields:
            descriptor = inspect.getattr_static(cls, attribute, None) if attribute is not None else None
            is_described = how == "attributes" and hasattr(type(descriptor), "__set__")
            if is_described or kind == _FACTORY and default not in (list, dict, set):
                is_quiet = False
        return ("object", how, cls, fields, has_post, is_closed, is_array, cls.__name__, is_quiet)

    def of_typed_dict(self, cls, variables):
        hints = hints_of(cls, cls, variables)
        fields = []
        for name, wanted in hints.items():
            kind = _REQUIRED if name in cls.__required_keys__ else _OMITTED
            # What `from __future__ import annotations` hid from the class.
            for wrapper in wrappers(wanted):
                kind = {"NotRequired": _OMITTED, "Required": _REQUIRED}.get(wrapper, kind)
            fields.append(self.field(wanted, name, name, kind))
        return self.object("dict", cls, fields)

    def of_named_tuple(self, cls, variables):
        hints = hints_of(cls, cls, variables)
        defaults = cls._field_defaults
        fields = []
        for name in cls._fields:
            kind, default = (_VALUE, defaults[name]) if name in defaults else (_REQUIRED, None)
            fields.append(self.field(hints.get(name, typing.Any), name, name, kind, default))
        is_plain = _is_generated(cls.__new__) and cls.__init__ is object.__init__
        return self.object("tuple" if is_plain else "positions", cls, fields)

    def of_struct(self, cls, variables):
        import msgspec

        hints, config, fields = hints_of(cls, cls, variables), cls.__struct_config__, []
        if config.tag is not None:
            # The tag is checked, and no attribute.
            fields.append(self.field(typing.Literal[config.tag], config.tag_field, None, _OMITTED))
        for found in msgspec.structs.fields(cls):
            kind, default = _REQUIRED, None
            if found.default is not msgspec.NODEFAULT:
                kind, default = _VALUE, found.default
            elif found.default_factory is not msgspec.NODEFAULT:
                kind, default = _FACTORY, found.default_factory
            fields.append(self.field(hints[found.name], found.encode_name, found.name, kind, default))
        has_post = hasattr(cls, "__post_init__")
        return self.object(
            "attributes", cls, fields, has_post, config.forbid_unknown_fields, config.array_like
        )

    def of_data_class(self, cls, variables):
        import dataclasses

        hints, missing, fields = hints_of(cls, cls, variables), dataclasses.MISSING, []
        keys = getattr(cls, RENAMED, {})
        is_direct = (
            _is_generated(cls.__init__)
            and cls.__new__ is object.__new__
            and (cls.__setattr__ is object.__setattr__ or _is_generated(cls.__setattr__))
        )
        given = []
        for name, found in cls.__dataclass_fields__.items():
            if found._field_type is dataclasses._FIELD_CLASSVAR:
                continue
            if found._field_type is dataclasses._FIELD_INITVAR:
                is_direct = False
            given.append((name, found))
        if is_direct:
            for name, found in given:
                kind, default = _REQUIRED, None
                if found.default is not missing:
                    kind, default = _VALUE, found.default
                elif found.default_factory is not missing:
                    kind, default = _FACTORY, found.default_factory
                wanted = hints[name]
                if not found.init:
                    # Without a key: the text cannot set it.
                    fields.append((None, name, self.index(typing.Any), _OMITTED if kind == _REQUIRED else kind, default))
                else:
                    fields.append(self.field(wanted, keys.get(name, name), name, kind, default))
            return self.object("attributes", cls, fields, hasattr(cls, "__post_init__"))
        if not _is_generated(cls.__init__):
            return self.of_call(cls, variables)
        for name, found in given:
            if found.init:
                has_default = found.default is not missing or found.default_factory is not missing
                wanted = hints[name]
                if isinstance(wanted, dataclasses.InitVar):
                    wanted = closed(wanted.type, variables)
                fields.append(self.field(wanted, keys.get(name, name), name, _OMITTED if has_default else _REQUIRED))
        return self.object("call", cls, fields)

    def of_other_class(self, cls, variables):
        if cls.__init__ is not object.__init__ or cls.__new__ is not object.__new__:
            return self.of_call(cls, variables)
        if inspect.isabstract(cls):
            raise TypeError(f"{name_of(cls)} is abstract")
        hints, fields = hints_of(cls, cls, variables), []
        for name in dict.fromkeys([*hints, *_slots(cls)]):
            wanted = hints.get(name, typing.Any)
            if "ClassVar" in wrappers(wanted):
                continue
            default = inspect.getattr_static(cls, name, _MISSING)
            if default is _MISSING or isinstance(default, types.MemberDescriptorType):
                fields.append(self.field(wanted, name, name))
            else:
                fields.append(self.field(wanted, name, name, _VALUE, default))
        if not fields:
            raise _unsupported(cls)
        is_direct = cls.__setattr__ is object.__setattr__
        return self.object("attributes" if is_direct else "set", cls, fields)

    def of_call(self, cls, variables):
        """A class that is called, with the parameters of its `__init__` or `__new__` as its fields."""
        function = cls.__init__ if cls.__init__ is not object.__init__ else cls.__new__
        if not isinstance(function, types.FunctionType):
            raise _unsupported(cls)
        hints = {**hints_of(cls, cls, variables), **hints_of(function, cls, variables)}
        fields = []
        for parameter in list(inspect.signature(function).parameters.values())[1:]:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise TypeError(f"{name_of(cls)} takes {parameter.name!r} only by its position")
            kind = _REQUIRED if parameter.default is parameter.empty else _OMITTED
            wanted = hints.get(parameter.name, typing.Any)
            if type(wanted).__name__ == "InitVar":
                wanted = closed(wanted.type, variables)
            fields.append(self.field(wanted, parameter.name, parameter.name, kind))
        if not fields:
            raise _unsupported(cls)
        return self.object("call", cls, fields)


def _tag(members, tags):
    """The key whose values tell all members apart, with pairs of a value and a member; None if there is none."""
    for key in tags[0] if all(tags) else ():
        chosen = [((type(value), value), each) for each, tag in zip(members, tags) for value in tag.get(key, ())]
        if all(key in tag for tag in tags) and len(dict(chosen)) == len(chosen):
            return key, [(value, each) for (_, value), each in chosen]
    return None


_BARE = {each: each for each in [*_ARRAYS, *_MAPPINGS, tuple]}
class _Unknown(TypeError):
    """A type that cannot be made, unless the caller can."""


def _unsupported(wanted):
    return _Unknown(f"jird cannot make {name_of(wanted)} from JSON")


def _converted(wanted):
    """What makes a value of a class from a string, and what the string is called. None for other classes."""
    if wanted in (bytes, bytearray):
        return (lambda text: wanted(_from_base64(text))), "a string in base64"
    if wanted.__module__.partition(".")[0] == "pathlib" or "pathlib" in sys.modules and issubclass(wanted, sys.modules["pathlib"].PurePath):
        return wanted, "a path"
    if wanted.__module__ == "ipaddress":
        return wanted, "an IP address"
    return None


def _from_base64(text):
    import base64

    return base64.b64decode(text, validate=True)


def _literal(value):
    return value.value if isinstance(value, enum.Enum) else value


def _is_unset(wanted):
    return getattr(wanted, "__module__", "") == "msgspec" and getattr(wanted, "__name__", "") == "UnsetType"


def _is_generated(function):
    """Whether dataclasses or namedtuple wrote the function, and not the author of the class."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith("<string>")


def _key(wanted):
    """The key that an annotation gives a field; None if it gives none."""
    names = [found.name for found in metadata(wanted) if isinstance(found, Key)]
    return names[-1] if names else None


def _slots(cls):
    found = []
    for each in reversed(cls.__mro__):
        slots = each.__dict__.get("__slots__", ())
        found += [slots] if isinstance(slots, str) else list(slots)
    return [name for name in found if name not in ("__dict__", "__weakref__")]


def _has_slots(cls, fields):
    """Whether all fields are slots of the class, which can be filled where they are."""
    names = [attribute for _, attribute, *_ in fields if attribute is not None]
    return all(isinstance(inspect.getattr_static(cls, name, None), types.MemberDescriptorType) for name in names)


def _model(cls):
    """A model of pydantic reads its text itself, as `model_validate_json` does."""
    if not getattr(cls, "__pydantic_complete__", True):
        rebuild = getattr(cls, "model_rebuild", None)
        if rebuild is not None:
            rebuild()
    return ("model", cls, cls.__pydantic_validator__.validate_json, cls.__name__)


def _tags_of_model(cls):
    tags = {}
    for name, field in getattr(cls, "model_fields", {}).items():
        if typing.get_origin(field.annotation) is typing.Literal:
            values = [_literal(value) for value in typing.get_args(field.annotation)]
            if all(type(value) in (str, int) for value in values):
                tags[field.alias or name] = values
    return tags
