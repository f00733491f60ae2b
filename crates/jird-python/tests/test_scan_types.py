"""Columns of Arrow from `scan`: structs, lists, dates and JSON texts, beside a model and pyarrow's own reader."""

import datetime
import io
import json
import random
import subprocess
import sys

import pytest

import jird

pa = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
pa_json = pytest.importorskip("pyarrow.json", reason="skipped: pyarrow")

DATES = ["0001-01-01", "1582-10-15", "1969-12-31", "1970-01-01", "2000-02-29", "2024-02-29", "9999-12-31"]
NO_DATES = ["0000-01-01", "2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "2024-00-01", "2024-01-00", "20240101"]
NO_DATES += ["2024-1-01", "2024-01-01T00:00:00", " 2024-01-01", "", "-024-01-01", "２024-01-01"]
LEAVES = [bool, int, "uint", float, str, datetime.date, "json", "any", "decimal"]


def some_type(chance, depth=0):
    kind = chance.randrange(6 if depth < 3 else 3)
    if kind < 3:
        return chance.choice(LEAVES)
    if kind == 3:
        return [some_type(chance, depth + 1)]
    keys = chance.sample(["a", "b.c", "é", "", 'q"', "null"], chance.randrange(1, 4))
    return {key: some_type(chance, depth + 1) for key in keys}


def some_value(chance, kind):
    """A value that a column of the type takes, and what it is there."""
    if chance.random() < 0.15:
        return None, None
    if isinstance(kind, dict):
        value, wanted = {}, dict.fromkeys(kind)
        for key in chance.sample(list(kind), chance.randrange(len(kind) + 1)):
            value[key], wanted[key] = some_value(chance, kind[key])
        if chance.random() < 0.3:
            value["unknown"] = [{"a": 1}]
        return value, wanted
    if isinstance(kind, list):
        both = [some_value(chance, kind[0]) for _ in range(chance.randrange(4))]
        return [value for value, _ in both], [wanted for _, wanted in both]
    if kind is bool:
        value = chance.random() < 0.5
    elif kind is int:
        value = chance.choice([0, -1, 2**63 - 1, -(2**63), chance.randrange(10**6)])
    elif kind == "uint":
        value = chance.choice([0, 2**64 - 1, chance.randrange(10**6)])
    elif kind is float:
        value = chance.choice([0.5, 1, -3, 1e300, 5e-324, chance.random()])
        return value, float(value)
    elif kind is str:
        value = chance.choice(["", "é\n", "\U0001f600", '"', "x" * 50])
    elif kind is datetime.date:
        value = chance.choice(DATES)
        return value, datetime.date.fromisoformat(value)
    elif kind == "decimal":
        value = chance.choice([0, -1, 10**38 - 1, -(10**37)])
    else:
        value = chance.choice([1, "x", 'é"', [1, {"b": None}], {"a": 1.5}, True])
        text = json.dumps(value, ensure_ascii=False)
        return value, value if kind == "any" and isinstance(value, str) else text
    return value, value


def arrow_of(kind):
    if isinstance(kind, dict):
        return pa.struct([pa.field(key, arrow_of(of)) for key, of in kind.items()])
    if isinstance(kind, list):
        return pa.list_(arrow_of(kind[0]))
    names = {bool: pa.bool_(), int: pa.int64(), "uint": pa.uint64(), float: pa.float64(), str: pa.string()}
    names |= {datetime.date: pa.date32(), "any": pa.string(), "json": pa.json_(), "decimal": pa.decimal128(38, 0)}
    return names[kind]


def lines_of(values):
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


def test_columns_of_given_types_are_what_a_model_makes():
    chance = random.Random(7)
    for _ in range(150):
        types = {"x": some_type(chance), "y": some_type(chance)}
        both = [some_value(chance, types) for _ in range(chance.randrange(30))]
        both = [(value or {}, wanted or {"x": None, "y": None}) for value, wanted in both]
        text = lines_of(value for value, _ in both)
        chunks = [text[at : at + 100] for at in range(0, len(text), 100)] or [b""]
        for source in (text, io.BytesIO(text), chunks):
            table = jird.scan(source, columns=["x", "y"], types=types).to_arrow()
            table.validate(full=True)
            assert table.schema.types == [arrow_of(types["x"]), arrow_of(types["y"])]
            assert table.to_pylist() == [wanted for _, wanted in both]
        # The same by the types of pyarrow, where it has them.
        if "any" not in repr(types):
            schema = pa.schema([("x", arrow_of(types["x"])), ("y", arrow_of(types["y"]))])
            assert jird.scan(text, columns=["x", "y"], types=schema).to_arrow() == table


def test_types_that_are_found_are_those_of_pyarrow():
    chance = random.Random(8)
    plain = {bool: bool, int: int, float: float, str: str}

    def narrowed(kind):
        if isinstance(kind, dict):
            return {key: narrowed(of) for key, of in kind.items()}
        return [narrowed(kind[0])] if isinstance(kind, list) else plain.get(kind, int)

    def value_of(kind):
        # Neither empty lists nor nulls alone, for which each reader has its own type.
        if isinstance(kind, dict):
            return {key: value_of(of) for key, of in kind.items()}
        if isinstance(kind, list):
            return [value_of(kind[0]) for _ in range(chance.randrange(1, 4))]
        return {bool: True, int: 5, float: 0.5, str: "é x"}[kind]

    def thinned(value):
        if chance.random() < 0.1:
            return None
        if isinstance(value, dict):
            return {key: thinned(of) for key, of in value.items() if chance.random() < 0.9}
        return [thinned(of) for of in value] if isinstance(value, list) else value

    for _ in range(150):
        kind = {"x": narrowed(some_type(chance)), "y": narrowed(some_type(chance))}
        values = [value_of(kind) for _ in range(3)] + [thinned(value_of(kind)) or {} for _ in range(30)]
        text = lines_of(values)
        found = jird.scan(text, nested="types").to_arrow()
        wanted = pa_json.read_json(io.BytesIO(text))
        assert found.select(wanted.column_names).equals(wanted), kind


def test_shapes_are_found_over_all_parts(tmp_path):
    path = tmp_path / "many.ndjson"
    padding = "x" * 200
    values = [{"user": {"id": index, "text": padding}, "tags": [index]} for index in range(30_000)]
    values[0]["user"] = None
    values[10_000]["user"]["more"] = {"a": 1}
    values[20_000]["user"]["more"] = {"a": 1.5, "b": [True]}
    values[29_999]["tags"] = []
    path.write_bytes(lines_of(values))
    found = {}
    for threads in (1, 3):
        table = jird.scan(path, nested="types", threads=threads).to_arrow()
        table.validate(full=True)
        found[threads] = table.to_pylist()
    more = pa.struct([("a", pa.float64()), ("b", pa.list_(pa.bool_()))])
    assert table.schema.field("user").type == pa.struct([("id", pa.int64()), ("text", pa.string()), ("more", more)])
    assert table.schema.field("tags").type == pa.list_(pa.int64())
    assert found[1] == found[3] == [
        {
            "user": value["user"]
            and {
                "id": value["user"]["id"],
                "text": padding,
                "more": value["user"].get("more") and {"b": None, **value["user"]["more"]},
            },
            "tags": value["tags"],
        }
        for value in values
    ]


def test_what_has_no_shape_stays_json():
    mixed = [{"a": [1, {"b": 1}]}, {"a": [2]}]
    assert jird.scan(lines_of(mixed), nested="types").to_arrow().column("a").type == pa.list_(pa.json_())
    assert jird.scan(lines_of([{"a": [1]}, {"a": 1}]), nested="types").to_arrow().column("a").type == pa.json_()
    assert jird.scan(lines_of([{"a": []}, {"a": None}]), nested="types").to_arrow().column("a").type == pa.json_()
    assert jird.scan(lines_of([{"a": {}}]), nested="types").to_arrow().column("a").type == pa.json_()
    nulls = jird.scan(lines_of([{"a": {"b": None}}]), nested="types").to_arrow()
    assert nulls.column("a").type == pa.struct([("b", pa.null())]) and nulls.to_pylist() == [{"a": {"b": None}}]
    many = [{"a": {str(index): 1}} for index in range(1001)]
    assert jird.scan(lines_of(many), nested="types").to_arrow().column("a").type == pa.json_()
    assert len(jird.scan(lines_of(many[:900]), nested="types").to_arrow().column("a").type) == 900
    deep = b'{"a":' * 100 + b"1" + b"}" * 100
    assert jird.scan(deep, nested="types").to_arrow().column("a").type == pa.json_()


def test_json_texts_are_the_canonical_extension_type():
    table = jird.scan(b'{"a": {"b": 1}}\n{"a": "x"}\n{"a": null}\n').to_arrow()
    assert table.schema.field("a").type == pa.json_()
    assert table.column("a").to_pylist() == ['{"b": 1}', '"x"', None]
    # A reader that does not know the type gets texts and the mark.
    code = """
import jird, pyarrow
pyarrow.unregister_extension_type("arrow.json")
field = jird.scan(b'{"a": {"b": 1}}').to_arrow().schema.field("a")
print(field.type, sorted(field.metadata.items()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "string [(b'ARROW:extension:metadata', b''), (b'ARROW:extension:name', b'arrow.json')]\n"
    duckdb = pytest.importorskip("duckdb", reason="skipped: duckdb")
    lines = jird.scan(b'{"a": {"b": 1}}\n{"a": "x"}\n')
    assert duckdb.sql("select typeof(a), a->>'b' from lines").fetchall() == [("JSON", "1"), ("JSON", None)]
    polars = pytest.importorskip("polars", reason="skipped: polars")
    frame = polars.DataFrame(jird.scan(b'{"a": {"b": 1}, "c": [1]}', types={"c": [int]}, columns=["a", "c"]))
    assert frame["c"].to_list() == [[1]] and frame["a"].to_list() == ['{"b": 1}']


def test_json_texts_are_read_back_from_files(tmp_path, with_sql):
    pq = pytest.importorskip("pyarrow.parquet", reason="skipped: pyarrow")
    values = [{"a": {"b": [1, None]}}, {"a": "x"}, {"a": 1.50}, {"a": None}]
    table = jird.scan(lines_of(values)).to_arrow()
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    for name in ("a.parquet", "a.arrow"):
        jird.convert(tmp_path / name, tmp_path / "back.ndjson", replace=True)
        assert list(jird.scan(tmp_path / "back.ndjson")) == values


def test_dates():
    for text in DATES:
        table = jird.scan(json.dumps({"d": text}).encode(), columns=["d"], types={"d": "date"}).to_arrow()
        assert table.column("d").to_pylist() == [datetime.date.fromisoformat(text)]
    day = datetime.date(1599, 12, 1)
    days = [day + datetime.timedelta(index) for index in range(0, 300_000, 7)]
    text = lines_of({"d": day.isoformat()} for day in days)
    assert jird.scan(text, columns=["d"], types={"d": datetime.date}).to_arrow().column("d").to_pylist() == days
    for text in [*map(json.dumps, NO_DATES), "1", "[]", "true", "{}"]:
        with pytest.raises(Exception, match="<bytes>, line 1: d is .*, not date"):
            jird.scan(b'{"d": %s}' % text.encode(), columns=["d"], types={"d": "date"}).to_arrow()
    escaped = jird.scan(rb'{"d": "2024\u002d05-01"}', columns=["d"], types={"d": "date"}).to_arrow()
    assert escaped.column("d").to_pylist() == [datetime.date(2024, 5, 1)]


@pytest.mark.parametrize(
    ("given", "value", "words"),
    [
        ({"a": int}, '{"a": "x"}', 'x.a is "x", not i64'),
        ({"a": [{"b": int}]}, '{"a": [{"b": 1}, null, {"c": 1, "b": 1.5}]}', r"x.a\[2\].b is 1.5, not i64"),
        ({"a": int}, "[1]", r"x is \[1\], not object"),
        ([int], '{"a": 1}', 'x is {"a": 1}, not array'),
        ([int], "1", "x is 1, not array"),
        ([["date"]], '[["2024-01-01", "x"]]', r'x\[0\]\[1\] is "x", not date'),
    ],
)
def test_values_that_do_not_fit(tmp_path, given, value, words):
    text = b'{"x": null}\n{"x": %s}\n{}\n' % value.encode()
    with pytest.raises(Exception, match=f"<bytes>, line 2: {words}"):
        jird.scan(text, columns=["x"], types={"x": given}).to_arrow()
    scan = jird.scan(text, columns=["x"], types={"x": given}, on_error=f"quarantine={tmp_path / 'bad'}")
    table = scan.to_arrow()
    table.validate(full=True)
    assert table.to_pylist() == [{"x": None}, {"x": None}] and scan.skipped == 1
    assert json.loads((tmp_path / "bad").read_text())["line"] == 2


def test_of_repeated_keys_the_first_counts_in_structs():
    text = b'{"x": {"a": 1, "b": 2, "a": "no"}, "x": 5}'
    assert jird.scan(text, columns=["x"], types={"x": {"a": int}}).to_arrow().to_pylist() == [{"x": {"a": 1}}]
    assert jird.scan(text, columns=["x"], types={"x": {"a": int}}, on_error="skip").to_arrow().num_rows == 1


def test_types_that_are_none():
    endless = {}
    endless["a"] = endless
    for types, kind, words in [
        ({"x": {}}, ValueError, "needs at least one key"),
        ({"x": []}, ValueError, "a list of one type, not of 0"),
        ({"x": [int, str]}, ValueError, "a list of one type, not of 2"),
        ({"x": endless}, ValueError, "nested more than 32 deep"),
        ({"x": ["offset"]}, ValueError, "offset"),
        ({"x": {"a": "offset"}}, ValueError, "offset"),
        ({"x": "number"}, TypeError, '"number" is none of bool'),
        ({"x": 5}, TypeError, '"5" is none of bool'),
        ({"x": list}, TypeError, '"list" is none of bool'),
        ({"x": datetime.datetime}, TypeError, '"datetime" is none of bool'),
        ({"x": {1: int}}, TypeError, "int"),
        ({"x": pa.int32()}, TypeError, "a scan makes no int32"),
        ({"x": pa.list_(pa.float32())}, TypeError, "a scan makes no float"),
    ]:
        with pytest.raises(kind, match=words):
            jird.scan(b"", columns=["x"], types=types)
    with pytest.raises(ValueError, match="nested is"):
        jird.scan(b"", nested="struct")
    assert jird.scan(b"", columns=["x"], types={"x": list[int]}).to_arrow().schema.field("x").type == pa.list_(pa.int64())
