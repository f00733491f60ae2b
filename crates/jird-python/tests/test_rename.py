"""Keys that data classes have in JSON: `jird.rename` and `jird.Key`, where they are read and written."""

import dataclasses
import sys
import types
import typing
from typing import Annotated, Final, Optional

import msgspec
import pytest

import jird

NAMES = ["unit_price", "a", "x_1", "two__words", "name_", "HTTP_code", "camelCase", "aB_cD", "é_ü"]


@pytest.mark.parametrize("rule", ["lower", "upper", "camel", "pascal", "kebab"])
def test_rules_are_those_of_msgspec(rule):
    fields = [(name, int) for name in NAMES]
    ours = jird.rename(rule)(dataclasses.make_dataclass("Ours", fields))
    theirs = msgspec.defstruct("Theirs", fields, rename=rule)
    values = dict(zip(NAMES, range(len(NAMES))))
    text = msgspec.json.encode(theirs(**values))
    assert jird.dumps(ours(**values)) == text
    assert jird.loads(text, type=ours) == ours(**values)


@jird.rename("camel")
@dataclasses.dataclass
class Item:
    unit_price: float
    item_name: Annotated[str, jird.Key("@name")] = "x"
    parts_list: Optional[list["Item"]] = None


def test_what_is_written_is_read_again():
    item = Item(1.5, "a", [Item(2.0)])
    text = b'{"unitPrice":1.5,"@name":"a","partsList":[{"unitPrice":2.0,"@name":"x","partsList":null}]}'
    assert jird.dumps(item) == text
    assert jird.Encoder().encode(item) == text
    assert jird.loads(text, type=Item) == jird.Decoder(Item).decode(text) == item
    assert jird.dumps(item, option=jird.OPT_INDENT_2) == jird.dumps(jird.loads(text), option=jird.OPT_INDENT_2)
    with pytest.raises(jird.JSONDecodeError, match="unitPrice"):
        jird.loads(b'{"unit_price":1.5}', type=Item)


def test_keys_alone_are_written_too():
    @dataclasses.dataclass
    class Event:
        time: Annotated[str, "words", jird.Key("@t")]
        level: Final[Annotated[str, jird.Key("@l")]]
        _id: Annotated[int, jird.Key("_id")] = 0
        plain: int = 1

    @dataclasses.dataclass(slots=True)
    class Slotted:
        time: Annotated[str, jird.Key("@t")]

    assert jird.dumps(Event("a", "b")) == b'{"@t":"a","@l":"b","_id":0,"plain":1}'
    assert jird.loads(jird.dumps(Event("a", "b", 7)), type=Event) == Event("a", "b", 7)
    assert jird.dumps(Slotted("a")) == b'{"@t":"a"}'


def test_annotations_by_name_are_looked_at(monkeypatch):
    module = types.ModuleType("with_names")
    monkeypatch.setitem(sys.modules, "with_names", module)
    exec(  # noqa: S102
        "from __future__ import annotations\nimport dataclasses, jird\nfrom typing import Annotated\n"
        "Short = Annotated[int, jird.Key('c')]\n"
        "@dataclasses.dataclass\nclass A:\n    a: Annotated[int, jird.Key('b')]\n"
        "@dataclasses.dataclass\nclass B:\n    a: KeyNowhere\n"
        "@dataclasses.dataclass\nclass C:\n    a: Short\n"
        "D = dataclasses.make_dataclass('D', [('a', Short)])\n",
        vars(module),
    )
    assert jird.dumps([module.C(1), module.D(1)] * 2) == b'[{"c":1},{"c":1},{"c":1},{"c":1}]'
    assert jird.dumps(module.A(1)) == b'{"b":1}'
    assert jird.dumps(module.B(1)) == b'{"a":1}'


def test_a_rule_may_be_a_dict_or_a_function():
    make = lambda: dataclasses.make_dataclass("A", [("a", int), ("b", int)])  # noqa: E731
    assert jird.dumps(jird.rename({"a": "@a"})(make())(1, 2)) == b'{"@a":1,"b":2}'
    rule = lambda name: name * 2 if name == "b" else None  # noqa: E731
    assert jird.dumps(jird.rename(rule)(make())(1, 2)) == b'{"a":1,"bb":2}'


def test_what_cannot_be_renamed_is_told():
    two = dataclasses.make_dataclass("A", [("a_b", int), ("aB", int)])
    with pytest.raises(TypeError, match="two fields of A have the key 'aB'"):
        jird.rename("camel")(two)
    with pytest.raises(TypeError, match="one of lower, upper, camel, pascal, kebab"):
        jird.rename("snake")
    with pytest.raises(TypeError, match="is a str, not int"):
        jird.rename(lambda name: 1)(two)

    class Plain:
        a: int

    for cls in (Plain, typing.NamedTuple("N", [("a", int)]), 3):
        with pytest.raises(TypeError, match="data classes"):
            jird.rename("camel")(cls)


def test_attributes_that_are_missing_are_an_error():
    item = Item(1.0)
    del item.unit_price
    with pytest.raises(AttributeError):
        jird.dumps(item)
