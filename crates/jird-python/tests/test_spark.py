"""`jird.spark`: what Spark reads. Filters and random records are compared with Spark itself and with a model."""

import base64
import datetime
import decimal
import gzip
import json
import math
import random

import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import functions as F
from pyspark.sql import types as T

import jird

PUSHING = "spark.sql.python.filterPushdown.enabled"


def lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    made = (record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records)
    path.write_text("".join(line + "\n" for line in made))
    return str(path)


def read(spark, path, schema=None, **options):
    reader = spark.read.format("jird").options(**options)
    return (reader.schema(schema) if schema else reader).load(path)


def rows(frame):
    return [tuple(row) for row in frame.collect()]


@pytest.fixture
def pushing(spark):
    spark.conf.set(PUSHING, "true")
    yield
    spark.conf.unset(PUSHING)


def test_spark_finds_the_source_by_itself_and_types_come_from_all_records(spark, tmp_path):
    path = lines(
        tmp_path / "a.ndjson",
        [
            {"id": 1, "name": "é", "ok": True, "x": 1, "big": 1, "mixed": 1, "tags": [1]},
            {"id": -(2**63), "x": 2.5, "big": 2**64, "mixed": "1", "late.key": None, "_file": 5},
        ],
    )
    frame = read(spark, path)
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema}
    assert kinds == {
        "id": "bigint",
        "name": "string",
        "ok": "boolean",
        "x": "double",
        "big": "decimal(38,0)",
        "mixed": "string",
        "tags": "string",
        '"late.key"': "string",
        '"_file"': "bigint",
    }
    first, second = rows(frame)
    assert first == (1, "é", True, 1.0, decimal.Decimal(1), "1", "[1]", None, None)
    assert second == (-(2**63), None, None, 2.5, decimal.Decimal(2**64), "1", None, None, 5)


def test_views_files_folders_patterns_and_compressed_files(spark, tmp_path):
    folder = tmp_path / "a [folder]"
    lines(folder / "1.ndjson", [{"a": 1}])
    (folder / "2.ndjson.gz").parent.mkdir(exist_ok=True)
    (folder / "2.ndjson.gz").write_bytes(gzip.compress(b'{"a": 2}\n'))
    lines(folder / "deeper" / "3.json", [{"a": 3}])
    lines(folder / "_hidden" / "4.json", [{"a": 4}])
    lines(folder / ".5.json", [{"a": 5}])
    lines(tmp_path / "6.ndjson", [{"a": 6}])
    (folder / "empty").write_bytes(b"")

    def found(path):
        return sorted(a for (a,) in rows(read(spark, path, "a int")))

    assert found(str(folder)) == [1, 2, 3]
    assert found(f"file://{str(folder).replace(' ', '%20').replace('[', '%5B').replace(']', '%5D')}") == [1, 2, 3]
    assert found([str(folder / "1.ndjson"), str(tmp_path / "*.ndjson")]) == [1, 6]
    assert found(str(tmp_path / "**" / "*.json")) == [3]
    spark.sql(f"create or replace temporary view v using jird options (path '{folder}', where 'a > 1')")
    assert rows(spark.sql("select sum(a), count(*) from v")) == [(5, 2)]
    with pytest.raises(AnalysisException, match="no file matches"):
        found(str(tmp_path / "*.nothing"))
    with pytest.raises(AnalysisException, match="No such file"):
        found(str(tmp_path / "nothing"))


def test_a_large_file_is_read_in_ranges(spark, tmp_path):
    records = [{"i": i, "text": "x" * (i % 50)} for i in range(5000)]
    path = lines(tmp_path / "a.ndjson", records)
    frame = read(spark, path, "i long, text string, _file string, _offset long", splitBytes="10k")
    assert frame.rdd.getNumPartitions() > 10
    found = rows(frame)
    text = open(path, "rb").read()
    assert [(i, text_) for i, text_, _, _ in found] == [(record["i"], record["text"]) for record in records]
    assert {file for _, _, file, _ in found} == {path}
    assert all(json.loads(text[at : text.index(b"\n", at)])["i"] == i for i, _, _, at in found)


def test_paths_and_keys_as_columns(spark, tmp_path):
    path = lines(tmp_path / "a.ndjson", [{"user": {"id": 7, "a b": 1}, "a b": 2, "c.d": 3, '"': 4, "Id": 5, "id": 6}])
    schema = T.StructType(
        [T.StructField(name, T.LongType()) for name in ["user.id", 'user."a b"', "a b", '"c.d"', '"', "Id"]]
    )
    assert rows(read(spark, path, schema)) == [(7, 1, 2, 3, 4, 5)]


def test_types_of_spark(spark, tmp_path):
    record = {
        "byte": -128,
        "short": 32767,
        "int": 1,
        "float": 0.1,
        "dec": 1.25,
        "huge": 10**37,
        "at": "2024-03-05T12:00:00.1234567+01:00",
        "local": "2024-03-05 12:00:00.5",
        "day": "2024-03-05",
        "bytes": base64.b64encode(b"\0\xff").decode(),
        "nested": {"a": 1, "b": [{"c": 1.10, "d": "2024-01-01"}, None], "more": 1},
        "map": {"k": 1, "l": None},
        "text": {"a": 1.10},
    }
    text = json.dumps(record).replace("1.1}", "1.10}")
    path = lines(tmp_path / "a.ndjson", [text, "{}"])
    schema = (
        "byte byte, short short, int int, float float, dec decimal(10,3), huge decimal(38,0), at timestamp, "
        "local timestamp_ntz, day date, bytes binary, nested struct<a: int, b: array<struct<c: decimal(4,2), d: date>>, "
        "gone: string>, map map<string, long>, text string"
    )
    row, empty = read(spark, path, schema).collect()
    assert set(empty) == {None}
    assert row.asDict(recursive=True) == {
        "byte": -128,
        "short": 32767,
        "int": 1,
        "float": pytest.approx(0.1),
        "dec": decimal.Decimal("1.250"),
        "huge": decimal.Decimal(10**37),
        "at": row.at,
        "local": datetime.datetime(2024, 3, 5, 12, 0, 0, 500000),
        "day": datetime.date(2024, 3, 5),
        "bytes": bytearray(b"\0\xff"),
        "nested": {
            "a": 1,
            "b": [{"c": decimal.Decimal("1.10"), "d": datetime.date(2024, 1, 1)}, None],
            "gone": None,
        },
        "map": {"k": 1, "l": None},
        "text": '{"a": 1.10}',
    }
    at = read(spark, path, schema).select(F.unix_micros("at")).first()[0]
    assert at == 1709636400123456
    zoned = lines(tmp_path / "b.ndjson", [{"at": "2024-07-01T12:00:00"}, {"at": "2024-07-01T12:00:00Z"}])
    found = read(spark, zoned, "at timestamp", timeZone="Europe/Berlin").select(F.unix_seconds("at"))
    assert rows(found) == [(1719828000,), (1719835200,)]


UNFIT = [
    ("a byte", 128, "a is 128, not tinyint"),
    ("a int", 1.5, "a is 1.5, not i64"),
    ("a int", "1", "a is \"1\", not i64"),
    ("a long", 2**63, "not i64"),
    ("a boolean", 1, "a is 1, not boolean"),
    ("a double", "x", "not f64"),
    ("a float", 1e300, "not float: it is too large"),
    ("a decimal(3,1)", 1.25, "a is 1.25, not decimal(3,1)"),
    ("a decimal(3,1)", "1.2", "not decimal(3,1)"),
    ("a timestamp", "2024-01-01T00:00:00", "it has no time zone; the option timeZone"),
    ("a timestamp", "yesterday", "not timestamp"),
    ("a timestamp", 17, "not timestamp"),
    ("a timestamp_ntz", "2024-01-01T00:00:00Z", "it has a time zone"),
    ("a date", "2024-02-30", "not date"),
    ("a binary", "?", "not binary"),
    ("a struct<b: int>", {"b": "x"}, '"x" is no int'),
    ("a struct<b: byte>", {"b": 300}, "not struct<b:tinyint>"),
    ("a array<boolean>", [1], "1 is no boolean"),
    ("a map<string, double>", [1], "[1] is no map<string,double>"),
]


@pytest.mark.parametrize(("schema", "value", "words"), UNFIT, ids=range(len(UNFIT)))
def test_a_value_that_does_not_fit_ends_the_query_or_is_set_aside(spark, tmp_path, schema, value, words):
    good = [{"a": None}] * 300
    path = lines(tmp_path / "a.ndjson", [*good, {"a": value}, *good])
    with pytest.raises(PythonException) as caught:
        read(spark, path, schema, splitBytes="1k").collect()
    assert f"{path}, line 301: " in str(caught.value) and words in str(caught.value)
    aside = tmp_path / "aside"
    for _ in range(2):
        assert read(spark, path, schema, splitBytes="1k", quarantine=str(aside)).count() == 600
        (bad,) = [json.loads(line) for file in aside.iterdir() for line in file.read_text().splitlines()]
        assert (bad["file"], bad["line"], bad["kind"]) == (path, 301, "type")
        assert bad["offset"] == 300 * 12 and json.loads(bad["raw"]) == {"a": value} and words in bad["message"]


def test_bad_lines(spark, tmp_path):
    records = [{"a": i} for i in range(1000)]
    records[700] = '{"a": 700'
    records[900] = '{"a": "é", }'
    path = lines(tmp_path / "a.ndjson", records)
    for schema in ("a long", None):
        with pytest.raises((PythonException, AnalysisException), match="line 701"):
            read(spark, path, schema, splitBytes="1k").collect()
    for mode in ("skip", "DROPMALFORMED"):
        assert read(spark, path, splitBytes="1k", mode=mode).count() == 998
    frame = read(spark, path, "a long", splitBytes="1k", quarantine=str(tmp_path / "aside"))
    assert frame.count() == 998 and frame.count() == 998
    bad = [json.loads(line) for file in (tmp_path / "aside").iterdir() for line in file.read_text().splitlines()]
    assert sorted((b["line"], b["raw"]) for b in bad) == [(701, records[700]), (901, records[900])]


def test_nothing_is_lost_that_read_json_loses(spark, tmp_path):
    path = lines(
        tmp_path / "a.ndjson",
        [
            '{"id": 1, "code": 7}',
            '{"id": 12345678901234567890, "code": "seven"}',
            '{"id": 3, "code": 7, "late": "x"}',
            '{"id": 4, "code": 7',
            '{"id": 5, "code": 1.0}',
        ],
    )
    # With a schema, the values that do not fit are null, and so is all of the line that is broken.
    lost = rows(spark.read.schema("id long, code long").json(path))
    assert lost == [(1, 7), (None, None), (3, 7), (None, None), (5, None)]
    # From a sample, the late key has no column.
    sampled = spark.read.option("samplingRatio", "0.2").json(path)
    assert "late" not in sampled.columns or sampled.count() == 5
    with pytest.raises(AnalysisException, match="line 4"):
        read(spark, path).count()
    found = read(spark, path, quarantine=str(tmp_path / "aside"))
    assert rows(found.select("id", "code", "late")) == [
        (decimal.Decimal(1), "7", None),
        (decimal.Decimal(12345678901234567890), "seven", None),
        (decimal.Decimal(3), "7", "x"),
        (decimal.Decimal(5), "1.0", None),
    ]
    (aside,) = (tmp_path / "aside").iterdir()
    assert json.loads(aside.read_text())["raw"] == '{"id": 4, "code": 7'
    assert rows(read(spark, path, "code string", mode="skip", asJson="code"))[1] == ('"seven"',)
    two = lines(tmp_path / "b.ndjson", ['{"code": "7"}', '{"code": 7}'])
    with pytest.raises(PythonException, match="line 2: code is 7, not text"):
        read(spark, two, "code string", strictText="true").collect()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"wehre": "a > 1"}, "there is no option 'wehre'"),
        ({"where": "a >"}, "should stand before"),
        ({"mode": "permissive"}, "mode is failFast"),
        ({"splitBytes": "many"}, "splitBytes is a number of bytes"),
        ({"splitBytes": "0"}, "splitBytes is a number of bytes"),
        ({"strictText": "yes"}, "strictText is true or false"),
        ({"asJson": "b"}, "there is no column 'b'"),
        ({"asJson": "a"}, "JSON texts need a string"),
        ({"timeZone": "Mars"}, "no time zone 'Mars'"),
        ({"mode": "failFast", "quarantine": "/x"}, "sets no record aside"),
        ({"compression": "rar"}, "compression is none"),
    ],
)
def test_options_are_checked(spark, tmp_path, options, words):
    path = lines(tmp_path / "a.ndjson", [{"a": 1}])
    with pytest.raises((AnalysisException, PythonException)) as caught:
        read(spark, path, "a long", **options).collect()
    assert words in str(caught.value)


TEXTS = ["", "a", "é", "Error", "5", "5.0", "true", "null", "[1]", "-", "x%y_z\\", "it's", '"q"', "\U0001f600", "\n", "e1"]


def odd(chance):
    """A value of any kind, often one that is at the border of two."""
    return chance.choice(
        [
            None,
            chance.choice([True, False]),
            chance.randrange(-3, 8),
            chance.choice([2**53, 2**53 + 1, -(2**63), 2**63 - 1]),
            chance.choice([0.1, -0.0, 2.5, 5.0, 1e300, 5e-324, chance.random() * 10]),
            chance.choice(TEXTS),
            chance.choice(TEXTS),
            [1],
            {"a": chance.choice(TEXTS)},
        ]
    )


def number_text(chance):
    """The text of a number that a double may only come near."""
    return chance.choice(
        ["0.1", "0.10000000000000001", "0.1000000000000000055", "2.5", "2.50", "25e-1", "5", "5.0", "-0.0", "0", "1e300"]
    )


def documents(seed, count=400):
    chance = random.Random(seed)
    for index in range(count):
        record = {"id": index}
        for key, make in [
            ("i", lambda: chance.choice([None, chance.randrange(-3, 8), 2**53 + chance.randrange(3)])),
            ("b", lambda: chance.choice([None, True, False])),
            ("t", lambda: chance.choice([None, *TEXTS])),
            ("m", lambda: odd(chance)),
        ]:
            if chance.random() < 0.85:
                record[key] = make()
        text = json.dumps(record, ensure_ascii=chance.random() < 0.5)
        if chance.random() < 0.85:
            text = text[:-1] + f', "f": {number_text(chance)}' + "}"
        yield text


SCHEMA = "id long, i long, b boolean, t string, m string, f double"


def modelled(text):
    """The row of a document, as the guide says what columns hold."""
    document = jird.parse(text.encode())
    record = json.loads(text)
    mixed = record.get("m")
    if mixed is not None and not isinstance(mixed, str):
        # The value as it stands in its record.
        mixed = _raw_of(text, "m")
    del document
    return record["id"], record.get("i"), record.get("b"), record.get("t"), mixed, record.get("f")


def _raw_of(text, key):
    at = text.index(f'"{key}": ') + len(key) + 4
    _, end = json.JSONDecoder().raw_decode(text, at)
    return text[at:end]


@pytest.mark.parametrize("seed", range(4))
def test_random_documents_are_as_the_model_says(spark, tmp_path, seed):
    texts = list(documents(seed))
    path = lines(tmp_path / "a.ndjson", texts)
    wanted = [modelled(text) for text in texts]
    assert rows(read(spark, path, SCHEMA, splitBytes="2k")) == wanted
    inferred = read(spark, path).select("id", "i", "b", "t", "m", "f")
    # The digits of some numbers are no double's, so that their column has texts.
    assert [row[:5] for row in rows(inferred)] == [row[:5] for row in wanted]
    assert [None if f is None else float(f) for *_, f in rows(inferred)] == [row[5] for row in wanted]
    # What Spark reads of the columns whose values all have their types.
    plain = "id long, i long, b boolean, t string, f double"
    assert rows(read(spark, path, plain)) == rows(spark.read.schema(plain).json(path))


def condition(chance, depth=0):
    if depth < 2 and chance.random() < 0.3:
        joined = chance.choice([" and ", " and ", " or "]).join(condition(chance, depth + 1) for _ in range(2))
        return f"not ({joined})" if chance.random() < 0.3 else f"({joined})"
    column = chance.choice("ibtmf")

    def constant():
        if column == "i":
            return chance.choice(["5", "-3", "9007199254740993", "9007199254740992", "0"])
        if column == "f":
            return chance.choice(["0.1D", "2.5D", "5D", "0D", "1e300D", "double('nan')", "double('infinity')", "-0.0D"])
        if column == "b":
            return chance.choice(["true", "false"])
        text = chance.choice(TEXTS).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return f"'{text}'"

    kind = chance.randrange(9)
    if kind == 0:
        return f"{column} is {chance.choice(['', 'not '])}null"
    if kind == 1:
        return f"{column} {chance.choice(['', 'not '])}in ({constant()}, {constant()}{chance.choice(['', ', null'])})"
    if kind == 2:
        return f"{column} <=> {chance.choice([constant(), 'null'])}"
    if kind in (3, 4) and column in "tm":
        function = chance.choice(["startswith", "endswith", "contains"])
        return f"{chance.choice(['', 'not '])}{function}({column}, {constant()})"
    return f"{column} {chance.choice(['=', '<>', '<', '<=', '>', '>=', '='])} {constant()}"


@pytest.mark.parametrize("seed", range(3))
def test_filters_that_are_pushed_keep_the_rows_that_spark_keeps(spark, tmp_path, pushing, seed):
    texts = list(documents(seed + 10))
    path = lines(tmp_path / "a.ndjson", texts)
    chance = random.Random(seed)
    kinds = [{"schema": SCHEMA}, {"schema": "id long, i long, b boolean, t string, f double", "strictText": "true"}, {}]
    whole = [read(spark, path, **kind).cache() for kind in kinds]
    pushed = 0
    for number in range(40):
        which = number % 3
        wanted = condition(chance)
        if which == 1:
            wanted = wanted.replace("(m,", "(t,").replace("m ", "t ")
        if which == 2:
            wanted = wanted.replace("f ", "cast(f as double) ")
        frame = read(spark, path, pushFilters="true", splitBytes="8k", **kinds[which]).where(wanted)
        right = sorted(id for (id,) in rows(whole[which].where(wanted).select("id")))
        assert sorted(id for (id,) in rows(frame.select("id"))) == right, wanted
        plan = frame._jdf.queryExecution().executedPlan().toString()
        pushed += "Filter (" not in plan
    assert pushed > 3
    for frame in whole:
        frame.unpersist()


def test_what_is_pushed_is_not_filtered_again(spark, tmp_path, pushing):
    path = lines(tmp_path / "a.ndjson", [{"i": i, "t": f"t{i}", "f": i / 2} for i in range(100)])

    def plan(wanted, **options):
        frame = read(spark, path, "i long, t string, f double", pushFilters="true", **options).where(wanted)
        text = frame._jdf.queryExecution().executedPlan().toString()
        return frame.count(), "Filter (" in text

    assert plan("i > 90 and t = 't95'") == (1, False)
    assert plan("f > 40") == (19, True)
    assert plan("t > 't95'") == (4, True)
    assert plan("t > 't95'", strictText="true") == (4, False)
    assert plan("t like '%5%'", strictText="true") == (19, False)


def test_a_frame_that_is_used_again_has_all_of_its_rows(spark, tmp_path, pushing):
    path = lines(tmp_path / "a.ndjson", [{"i": i} for i in range(100)])
    frame = read(spark, path, "i long")
    assert frame.where("i >= 90").union(frame.where("i < 5")).count() == 15
    assert frame.where("i >= 90").count() == 10 and frame.count() == 100
    # Why `pushFilters` is not on by itself. Once this fails, Spark has mended it.
    frame = read(spark, path, "i long", pushFilters="true")
    assert frame.where("i >= 90").count() == 10 and frame.count() == 10


def test_a_filter_is_no_reason_to_fail_where_spark_hands_none_on(spark, tmp_path):
    path = lines(tmp_path / "a.ndjson", [{"i": i} for i in range(100)])
    assert read(spark, path, "i long", pushFilters="true").where("i >= 90").count() == 10


def test_conditions_are_those_of_a_scan(spark, tmp_path):
    path = lines(tmp_path / "a.ndjson", [{"i": i, "u": {"n": f"n{i}"}} for i in range(100)])
    for where in ["i between 10 and 20 or u.n like '%5'", "not (i < 90)", "u.n in ('n1', 'n2')"]:
        wanted = [record["i"] for record in jird.scan(path, where=where)]
        assert [i for (i,) in rows(read(spark, path, "i long", where=where))] == wanted


def test_a_line_in_progress_is_no_loss(spark, tmp_path):
    path = tmp_path / "a.ndjson"
    path.write_text('{"a": 1}\n{"a": 2}')
    assert rows(read(spark, str(path), "a int", splitBytes="3")) == [(1,), (2,)]


def test_doubles_around_a_border(spark, tmp_path, pushing):
    chance = random.Random(5)
    texts = []
    for _ in range(300):
        value = chance.choice([0.1, 200.0, 1e16, 5e-324, chance.random()])
        near = chance.choice([value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)])
        digits = decimal.Decimal(near) + decimal.Decimal(chance.choice([0, 1, -1])) * decimal.Decimal(near) / 10**17
        texts.append('{"f": ' + chance.choice([repr(near), format(digits, ".25e")]) + "}")
    path = lines(tmp_path / "a.ndjson", texts)
    values = [float(json.loads(text)["f"]) for text in texts]
    for border in [0.1, 200.0, 1e16, 5e-324]:
        for sign, holds in [("=", lambda a, b: a == b), (">", lambda a, b: a > b), ("<=", lambda a, b: a <= b)]:
            frame = read(spark, path, "f double", pushFilters="true").where(F.expr(f"f {sign} {border!r}D"))
            assert frame.count() == sum(holds(value, border) for value in values), (sign, border)
