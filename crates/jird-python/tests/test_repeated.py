"""Repeated keys: all that scans and queries do with a record is done with the first member of each key."""

import dataclasses
import json
import os
import random
import typing

import pytest

import jird

# More of them by JIRD_PYTHON_SEEDS.
SEEDS = int(os.environ.get("JIRD_PYTHON_SEEDS", 4))
KEYS = ["role", "user", "n", "x y"]


def first(pairs):
    """An object of which the first of repeated keys stay, as the model."""
    made = {}
    for key, value in pairs:
        made.setdefault(key, value)
    return made


def spelled(chance, key):
    """A key as JSON, with or without escapes."""
    if chance.random() < 0.7:
        return json.dumps(key)
    return '"' + "".join(f"\\u{ord(char):04x}" if chance.random() < 0.4 else char for char in key) + '"'


def scalar(chance):
    return chance.choice(['"admin"', '"user"', "1", "2", "2.5", "true", "null", '"ad\\u006din"'])


def value(chance, depth):
    pick = chance.random()
    if depth == 0 or pick < 0.6:
        return scalar(chance)
    if pick < 0.7:
        return "[" + ",".join(value(chance, depth - 1) for _ in range(chance.randrange(3))) + "]"
    return object_text(chance, depth - 1)


def object_text(chance, depth):
    space = chance.choice(["", "", " "])
    members = (f"{spelled(chance, chance.choice(KEYS))}{space}:{value(chance, depth)}" for _ in range(chance.randrange(7)))
    return "{" + f",{space}".join(members) + "}"


def lines(chance, count):
    made = []
    for _ in range(count):
        made.append(object_text(chance, 2) if chance.random() < 0.93 else chance.choice(["[1]", '"a"', "7", "null"]))
    return made


def field(record, path):
    """The value at a path of keys, and None where there is none. What is no object is the field "value"."""
    if not isinstance(record, dict):
        record = {"value": record}
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record


PATHS = {"role": ["role"], "user": ["user"], "n": ["n"], '"x y"': ["x y"], "user.role": ["user", "role"]}
CONDITIONS = {
    "role = 'admin'": lambda r: field(r, ["role"]) == "admin",
    "role <> 'admin'": lambda r: isinstance(field(r, ["role"]), str) and field(r, ["role"]) != "admin",
    "user.role = 'admin'": lambda r: field(r, ["user", "role"]) == "admin",
    "user.user.role = 'user'": lambda r: field(r, ["user", "user", "role"]) == "user",
    "n = 1 or role = 'user'": lambda r: is_number(field(r, ["n"]), 1) or field(r, ["role"]) == "user",
    "n in (2, 2.5) and not role = 'user'": lambda r: (
        (is_number(field(r, ["n"]), 2) or is_number(field(r, ["n"]), 2.5))
        and isinstance(field(r, ["role"]), str)
        and field(r, ["role"]) != "user"
    ),
    "\"x y\" is null": lambda r: field(r, ["x y"]) is None,
    "role = user.role": lambda r: same(field(r, ["role"]), field(r, ["user", "role"])),
}


def is_number(found, wanted):
    return type(found) in (int, float) and found == wanted


def same(left, right):
    """Numbers are equal by value, and nothing else is equal to a value of another kind."""
    if type(left) in (int, float) and type(right) in (int, float):
        return left == right
    return left is not None and type(left) is type(right) and json.dumps(left) == json.dumps(right)


@dataclasses.dataclass
class Row:
    role: typing.Any = None
    user: typing.Any = None
    n: typing.Any = None


@dataclasses.dataclass(slots=True)
class SlottedRow:
    role: typing.Any = None
    user: typing.Any = None
    n: typing.Any = None


class TypedRow(typing.TypedDict, total=False):
    role: typing.Any
    user: typing.Any
    n: typing.Any


class NamedRow(typing.NamedTuple):
    role: typing.Any = None
    user: typing.Any = None
    n: typing.Any = None


@pytest.mark.parametrize("seed", range(SEEDS))
def test_filters_columns_dicts_and_types_see_the_same_member(tmp_path, seed):
    pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    chance = random.Random(seed)
    texts = lines(chance, 400)
    path = tmp_path / "lines.ndjson"
    path.write_text("\n".join(texts) + "\n")
    records = [json.loads(text, object_pairs_hook=first) for text in texts]
    repeated = sum(json.loads(text) != record for text, record in zip(texts, records))
    assert repeated > 100
    hits = 0
    for where, holds in [(None, lambda _: True), *CONDITIONS.items()]:
        wanted = [record for record in records if holds(record)]
        assert where is None or len(wanted) < len(records), where
        hits += len(wanted)
        for threads in (1, 3):
            scan = jird.scan(path, where=where, threads=threads)
            assert list(scan) == wanted, where
            for names in (["role"], ["user", "user.role"], ["n", '"x y"', "role"], []):
                scan = jird.scan(path, where=where, columns=names, threads=threads)
                chosen = [{name: field(record, PATHS[name]) for name in names} for record in wanted]
                assert list(scan) == chosen, (where, names)
                table = scan.to_arrow()
                assert table.num_rows == len(wanted)
                for name in names:
                    cells = table.column(name).to_pylist()
                    for cell, record in zip(cells, chosen, strict=True):
                        check_cell(cell, record[name])
            table = jird.scan(path, where=where, threads=threads).to_arrow()
            assert table.num_rows == len(wanted)
            for name in table.column_names:
                for cell, record in zip(table.column(name).to_pylist(), wanted, strict=True):
                    check_cell(cell, field(record, [name]))
        check_types(tmp_path, where, [record for record in wanted if isinstance(record, dict)], texts)
    assert hits > 500


def check_cell(cell, wanted):
    """A cell is the value itself, or a text of JSON, if the column has values of several kinds."""
    if isinstance(cell, str) and not isinstance(wanted, str):
        cell = json.loads(cell, object_pairs_hook=first)
    elif isinstance(cell, str) and cell != wanted:
        cell = json.loads(cell)
    assert cell == wanted or (cell is None and wanted is None)


def check_types(folder, where, wanted, texts):
    objects = folder / "objects.ndjson"
    objects.write_text("\n".join(text for text in texts if text.startswith("{")) + "\n")
    kinds = {
        Row: lambda r: Row(*(r.get(key) for key in ("role", "user", "n"))),
        SlottedRow: lambda r: SlottedRow(*(r.get(key) for key in ("role", "user", "n"))),
        NamedRow: lambda r: NamedRow(*(r.get(key) for key in ("role", "user", "n"))),
        TypedRow: lambda r: {key: r[key] for key in ("role", "user", "n") if key in r},
        dict[str, typing.Any]: lambda r: r,
        typing.Any: lambda r: r,
        **models(),
    }
    for kind, model in kinds.items():
        assert list(jird.scan(objects, where=where, type=kind)) == [model(record) for record in wanted], (where, kind)


def models():
    """Classes that read their part of the text by themselves, or have slots of their own."""
    made = {}
    try:
        import msgspec

        Struct = msgspec.defstruct("Struct", [(key, typing.Any, None) for key in ("role", "user", "n")])
        made[Struct] = lambda r: Struct(*(r.get(key) for key in ("role", "user", "n")))
    except ImportError:
        pass
    try:
        import pydantic

        Model = pydantic.create_model("Model", **{key: (typing.Any, None) for key in ("role", "user", "n")})
        made[Model] = lambda r: Model(**{key: r[key] for key in ("role", "user", "n") if key in r})
    except ImportError:
        pass
    return made


def test_a_text_of_json_has_the_member_that_was_decided_on(tmp_path):
    pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    path = tmp_path / "lines.ndjson"
    user = '{"r\\u006fle":"user", "role":"admin","n":[{"a":1,"a":2}] ,"role":"root"}'
    path.write_text(f'{{"user":{user},"list":[{user}]}}\n')
    left = {"role": "user", "n": [{"a": 1}]}
    beneath = [
        jird.scan(path, where="user.role = 'user'"),
        jird.scan(path, where="user.role is not null", columns=["user"]),
        jird.scan(path, columns=["user", "user.role"]),
        jird.scan(path, columns=["user", "user.role"], types={"user": "any", "user.role": str}),
        jird.scan(path, columns=["user", "user.role"], types={"user": "json"}),
    ]
    for scan in beneath:
        [row] = scan.to_arrow().to_pylist()
        assert json.loads(row["user"]) == left
    # What nothing has looked into is there as it stands.
    [row] = jird.scan(path, where="user.role = 'user'").to_arrow().to_pylist()
    assert row["list"] == f"[{user}]"
    [row] = jird.scan(path).to_arrow().to_pylist()
    assert row["user"] == user


def test_a_tag_is_the_first(tmp_path):
    @dataclasses.dataclass
    class User:
        kind: typing.Literal["user"]

    @dataclasses.dataclass
    class Admin:
        kind: typing.Literal["admin"]

    path = tmp_path / "lines.ndjson"
    path.write_text('{"kind":"user","kind":"admin"}\n{"kin\\u0064":"admin","kind":"user"}\n')
    assert list(jird.scan(path, type=User | Admin)) == [User("user"), Admin("admin")]
    # A later one is checked as JSON, and not by the type.
    path.write_text('{"kind":"user","kind":7}\n')
    assert list(jird.scan(path, type=User)) == [User("user")]
    assert jird.loads('{"1":1,"1":2,"\\u0031":3}', type=dict[int, int]) == {1: 3}
    path.write_text('{"1":1,"1":2,"\\u0031":3}\n')
    assert list(jird.scan(path, type=dict[int, int])) == [{1: 1}]


def test_many_levels_with_repeated_keys_take_linear_time(tmp_path):
    path = tmp_path / "deep.ndjson"
    path.write_text('{"a":1,"a":' * 500 + "0" + "}" * 500 + "\n" + '{"a":' * 500 + "0" + ',"a":1}' * 500 + "\n")
    deep = 0
    for _ in range(500):
        deep = {"a": deep}
    assert list(jird.scan(path)) == [{"a": 1}, deep]
    pydantic = pytest.importorskip("pydantic", reason="skipped: pydantic")
    path.write_text('{"a":1,' + '"b":0,' * 100_000 + '"c":[' + '{"a":1,"a":2},' * 50_000 + '{}],"a":5}\n')
    Model = pydantic.create_model("Model", a=(int, ...), b=(int, 3), c=(list, ...))
    [made] = jird.scan(path, type=Model)
    assert (made.a, made.b) == (1, 0) and made.c[:2] == [{"a": 1}, {"a": 1}] and len(made.c) == 50_001


def test_loads_documents_and_json_take_the_last():
    text = '{"role":"user","r\\u006fle":"admin","user":{"n":1,"n":2}}'
    wanted = {"role": "admin", "user": {"n": 2}}
    document = jird.parse(text)
    assert jird.loads(text) == jird.json.loads(text) == document.as_py() == wanted
    assert document["role"] == document.get("role") == document.at_pointer("/role") == "admin"
    assert document.at_pointer("/user/n") == document["user"]["n"] == 2
    assert jird.loads(text, type=Row) == Row("admin", {"n": 2})


def test_a_query_takes_the_first_too(tmp_path, monkeypatch):
    if not os.environ.get("JIRD_TEST_PROGRAM"):
        pytest.skip("skipped: a program `jird` with SQL")
    monkeypatch.setenv("JIRD_PROGRAM", os.environ["JIRD_TEST_PROGRAM"])
    path = tmp_path / "lines.ndjson"
    path.write_text('{"role":"user","role":"admin","user":{"n":1,"n":2}}\n')
    with jird.open_store(tmp_path / "store") as store:
        store.append(path.read_text())
    for where in ("role = 'user'", "user.n = 1", "role = 'admin'", "user.n = 2"):
        wanted = list(jird.scan(path, where=where))
        assert list(jird.query(f"select * where {where}", path)) == wanted
        assert [row["user"] for row in store.query(f"select user where {where}")] == [row["user"] for row in wanted]
