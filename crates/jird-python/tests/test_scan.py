"""`scan`: lines of files as dicts, as typed objects, and as columns of Arrow."""

import bz2
import dataclasses
import gc
import gzip
import json
import lzma
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

import jird


def records(count=3000):
    chance = random.Random(3)
    made = []
    for index in range(count):
        record = {"id": index, "level": chance.choice(["Error", "Info"]), "ms": chance.choice([1, 2.5, None, 300])}
        if index % 3:
            record["user"] = {"name": f"u{index % 7}é", "tags": ["a", {"b": index}]}
        if index % 5 == 0:
            record["ok"] = index % 2 == 0
        made.append(record)
    return made


RECORDS = records()


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "events.ndjson"
    # More than one part of 2 MB.
    many = RECORDS * 24
    path.write_text("".join(json.dumps(record) + "\n" for record in many))
    assert path.stat().st_size > 5 << 20
    return path, many


def small(tmp_path, text, name="small.ndjson"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_dicts(lines):
    path, wanted = lines
    scan = jird.scan(path)
    for _ in range(2):
        assert list(scan) == wanted
    assert list(jird.scan(str(path), threads=1)) == wanted
    assert list(jird.scan([path, path])) == wanted * 2
    assert list(jird.scan(path.parent / "*.ndjson")) == wanted


def test_columns(lines):
    path, many = lines
    found = list(jird.scan(path, columns=["user.name", "id", "user", "nowhere"]))
    assert found == [
        {
            "user.name": record.get("user", {}).get("name"),
            "id": record["id"],
            "user": record.get("user"),
            "nowhere": None,
        }
        for record in many
    ]
    assert list(jird.scan(path, columns=[]))[:2] == [{}, {}]


CONDITIONS = [
    ("level = 'Error'", lambda r: r["level"] == "Error"),
    ("level <> 'Error' and ms > 2", lambda r: r["level"] != "Error" and r["ms"] is not None and r["ms"] > 2),
    ("not (level = 'Error' or id < 100)", lambda r: not (r["level"] == "Error" or r["id"] < 100)),
    ("ms is null", lambda r: r["ms"] is None),
    ("ms is not null and 2.50 == ms", lambda r: r["ms"] == 2.5),
    ("user.name like 'u3%'", lambda r: r.get("user", {}).get("name", "").startswith("u3")),
    ('"user"."name" not like \'u3_\'', lambda r: "user" in r and r["user"]["name"] != "u3é"),
    ("ms in (1, 300.0, 'x')", lambda r: r["ms"] in (1, 300)),
    ("id between 10 and 12 OR id not between 3 and 2990", lambda r: 10 <= r["id"] <= 12 or not 3 <= r["id"] <= 2990),
    ("ok", lambda r: r.get("ok") is True),
    ("not ok", lambda r: r.get("ok") is False),
    ("ok = false", lambda r: r.get("ok") is False),
    ("id = ms", lambda r: r["ms"] == r["id"]),
    ("1000 > id and -1 <= id", lambda r: -1 <= r["id"] < 1000),
    ("10 < id and 20 >= id", lambda r: 10 < r["id"] <= 20),
    ("7 = id or 2990 < id and 2995 <> id", lambda r: r["id"] == 7 or r["id"] > 2990 and r["id"] != 2995),
    ("ms = null", lambda r: False),
]


@pytest.mark.parametrize(("condition", "holds"), CONDITIONS, ids=range(len(CONDITIONS)))
def test_conditions(lines, condition, holds):
    path, many = lines
    assert list(jird.scan(path, where=condition)) == [record for record in many if holds(record)]
    ids = [{"id": record["id"]} for record in many if holds(record)]
    assert list(jird.scan(path, where=condition, columns=["id"])) == ids


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("", "ends where the name of a field"),
        ("a =", "ends where"),
        ("a = 'x", "is not closed"),
        ("a = 1x", "is no number"),
        ("a ~ 1", "has no meaning"),
        ("(a = 1", "`)`"),
        ("a = 1 b", "and, or, or the end"),
        ("a in 1", "`(`"),
        ("a in (1 2)", "`,` or `)`"),
        ("a in (b)", "a constant"),
        ("a like 1", "a pattern in quotes"),
        ("a between 1", "and"),
        ("a not 1", "in, like or between"),
        ("a is 1", "null"),
        ("and = 1", "the name of a field"),
        ("a. = 1", "the name of a field"),
        ("1", "a comparison"),
        ("(" * 300 + "a" + ")" * 300, "too deep"),
        ("not " * 300 + "a", "too deep"),
    ],
)
def test_conditions_that_are_wrong(lines, condition, words):
    with pytest.raises(ValueError, match="^where: ") as error:
        jird.scan(lines[0], where=condition)
    assert words in str(error.value)


def test_typed(lines, tmp_path):
    @dataclasses.dataclass
    class User:
        name: str

    @dataclasses.dataclass
    class Event:
        id: int
        level: str
        user: User | None = None

    path, many = lines
    found = list(jird.scan(path, type=Event))
    assert len(found) == len(many)
    assert found[1] == Event(1, many[1]["level"], User(many[1]["user"]["name"]))
    bad = small(tmp_path, '{"id": 1, "level": "a"}\n\n{"id": 2, "level": "b", "user": {"name": 7}}\n')
    iterator = iter(jird.scan(bad, type=Event))
    assert next(iterator) == Event(1, "a")
    with pytest.raises(jird.JSONDecodeError) as error:
        next(iterator)
    assert (error.value.path, error.value.code) == ("/user/name", "type")
    assert f"{bad}, line 3: expected a string, found the number 7" in str(error.value)
    assert list(iterator) == []
    with pytest.raises(TypeError):
        jird.scan(path, type=complex)

    @dataclasses.dataclass
    class Refusing:
        id: int

        def __post_init__(self):
            if self.id == 2:
                raise ValueError("two")

    with pytest.raises(jird.JSONDecodeError, match="line 3: two") as error:
        list(jird.scan(bad, type=Refusing))
    assert isinstance(error.value.__cause__, ValueError)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, lambda text: b"\xef\xbb\xbf" + text])
def test_compressed_files_and_marks(lines, tmp_path, compress):
    path, many = lines
    other = small(tmp_path, compress(path.read_bytes()))
    assert list(jird.scan(other)) == many
    broken = small(tmp_path, compress(b'{"a": 1}\n{"a" 2}\n'), "broken.ndjson")
    with pytest.raises(jird.JSONDecodeError, match="line 2"):
        list(jird.scan(broken))


def test_bad_lines(lines, tmp_path):
    path, many = lines
    text = path.read_bytes()
    at = text.index(b"\n", 3 << 20) + 1
    bad = small(tmp_path, text[:at] + b'{"a": [1, x]}\n' + text[at:])
    line = text[:at].count(b"\n") + 1
    for columns in (None, ["id"]):
        seen = []
        with pytest.raises(jird.JSONDecodeError) as error:
            for record in jird.scan(bad, columns=columns):
                seen.append(record)
        assert len(seen) == line - 1
        assert (error.value.path, error.value.code, error.value.doc) == ("/a/1", "value", '{"a": [1, x]}')
        assert f"{bad}, line {line}: " in str(error.value) and error.value.pos == 10
    iterator = iter(jird.scan(bad, on_error="skip"))
    assert list(iterator) == many and iterator.skipped == 1


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        jird.scan(tmp_path / "none.ndjson")
    assert "none.ndjson" in str(error.value)
    assert error.value.strerror == "No such file or directory"
    with pytest.raises(FileNotFoundError):
        jird.scan(str(tmp_path / "*.none"))
    with pytest.raises(OSError):
        jird.scan(tmp_path)
    with pytest.raises(OSError, match="UTF-16"):
        list(jird.scan(small(tmp_path, '{"a": 1}\n'.encode("utf-16"))))
    truncated = small(tmp_path, gzip.compress(b'{"a": 1}\n' * 10000)[:-20])
    with pytest.raises(OSError):
        list(jird.scan(truncated))
    with pytest.raises(ValueError):
        jird.scan([])
    with pytest.raises(ValueError, match="on_error"):
        jird.scan(tmp_path, on_error="ignore")
    with pytest.raises(TypeError, match="list of names"):
        jird.scan(tmp_path, columns="abc")
    assert list(jird.scan(small(tmp_path, ""))) == []
    assert list(jird.scan(small(tmp_path, "\n\n  \n"))) == []
    assert list(jird.scan(small(tmp_path, '1\n[2]\n"x"'))) == [1, [2], "x"]
    assert list(jird.scan(small(tmp_path, '1\n{"a": 2}'), columns=["a"])) == [{"a": None}, {"a": 2}]


def test_a_scan_that_is_left_ends_its_threads(lines):
    before = len(os.listdir("/proc/self/task"))
    for _ in range(20):
        iterator = iter(jird.scan([lines[0]] * 20))
        next(iterator)
        del iterator
    deadline = time.time() + 20
    while len(os.listdir("/proc/self/task")) > before and time.time() < deadline:
        time.sleep(0.05)
    assert len(os.listdir("/proc/self/task")) <= before


def test_a_scan_that_is_left_reads_no_further(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", 'exec yes "{}" > "$0"', pipe])
    iterator = iter(jird.scan(pipe))
    assert next(iterator) == {}
    del iterator
    try:
        assert writer.wait(timeout=20) == -signal.SIGPIPE
    finally:
        writer.kill()


def test_an_iterator_is_not_asked_while_it_answers(lines):
    class Asking:
        def __init__(self, id: int):
            with pytest.raises(ValueError, match="already executing"):
                next(iterator)

    iterator = iter(jird.scan(lines[0], type=Asking))
    next(iterator)


def test_ctrl_c_ends_a_scan(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = "import jird, sys\nprint('begins', flush=True)\nfor record in jird.scan(sys.argv[1]): print(record)"
    command = [sys.executable, "-c", code, pipe]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "begins\n"
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors


def test_other_threads_go_on_while_a_scan_waits(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = """
import jird, sys, threading, time
thread = threading.Thread(target=lambda: print(list(jird.scan(sys.argv[1]))))
thread.start()
time.sleep(0.3)
with open(sys.argv[1], "w") as pipe:
    pipe.write('{"a": 1}')
thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code, pipe], capture_output=True, text=True, timeout=20)
    assert (done.stdout, done.stderr) == ("[{'a': 1}]\n", "")


def test_arrow(lines):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    path, many = lines
    table = pyarrow.table(jird.scan(path, columns=["id", "level", "ms", "user.name", "user", "ok", "nowhere"]))
    types = {field.name: str(field.type) for field in table.schema}
    kinds = {"id": "int64", "ms": "double", "ok": "bool"}
    kinds |= {"user": "extension<arrow.json>", "nowhere": "extension<arrow.json>"}
    assert types == {name: kinds.get(name, "string") for name in table.column_names}
    assert table.column("id").to_pylist() == [record["id"] for record in many]
    assert table.column("ms").to_pylist() == [record["ms"] for record in many]
    assert table.column("user.name").to_pylist() == [record.get("user", {}).get("name") for record in many]
    users = [value and json.loads(value) for value in table.column("user").to_pylist()]
    assert users == [record.get("user") for record in many]
    assert table.column("ok").to_pylist() == [record.get("ok") for record in many]
    everything = pyarrow.table(jird.scan(path))
    assert set(everything.column_names) == {"id", "level", "ms", "user", "ok"} and everything.num_rows == len(many)
    some = pyarrow.table(jird.scan(path, columns=["id"], where="level = 'Error'"))
    assert some.column("id").to_pylist() == [record["id"] for record in many if record["level"] == "Error"]
    reader = pyarrow.RecordBatchReader.from_stream(jird.scan(path, columns=["id"]))
    assert reader.read_next_batch().num_rows > 0
    del reader


def test_types_of_columns(lines, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    path, many = lines
    types = {"id": float, "level": "json", "ms": "json"}
    table = pyarrow.table(jird.scan(path, columns=["id", "level", "ms"], types=types))
    assert [str(field.type) for field in table.schema] == ["double", "extension<arrow.json>", "extension<arrow.json>"]
    assert table.column("level").to_pylist()[0] == json.dumps(many[0]["level"])
    first = '{"a": 1, "b": 18446744073709551615, "c": 123456789012345678901}\n'
    mixed = small(tmp_path, first + '{"a": "x", "b": 1, "c": 1}\n')
    found = pyarrow.table(jird.scan(mixed, columns=["a", "b", "c"]))
    assert [str(field.type) for field in found.schema] == ["extension<arrow.json>", "uint64", "decimal128(38, 0)"]
    assert found.column("a").to_pylist() == ["1", '"x"']
    with pytest.raises(Exception, match="line 2: a is \"x\", not i64"):
        pyarrow.table(jird.scan(mixed, columns=["a"], types={"a": int}))
    with pytest.raises(ValueError, match="there is no column 'z'|there is no column \"z\""):
        jird.scan(mixed, columns=["a"], types={"z": int})
    with pytest.raises(TypeError, match="is none of"):
        jird.scan(mixed, columns=["a"], types={"a": "complex"})
    bad = small(tmp_path, '{"a": 1}\n{"a" 2}\n', "bad.ndjson")
    with pytest.raises(jird.JSONDecodeError, match="line 2"):
        pyarrow.table(jird.scan(bad, columns=["a"]))
    with pytest.raises(Exception, match="line 2"):
        pyarrow.table(jird.scan(bad, columns=["a"], types={"a": int}))
    assert pyarrow.table(jird.scan(bad, columns=["a"], on_error="skip")).num_rows == 1


def test_an_arrow_stream_that_nobody_reads_is_released(lines):
    # Other libraries have threads of their own.
    before = len(os.listdir("/proc/self/task"))
    for _ in range(50):
        jird.scan(lines[0], columns=["id"], types={"id": int}).__arrow_c_stream__()
    deadline = time.time() + 10
    while len(os.listdir("/proc/self/task")) > before + 8 and time.time() < deadline:
        time.sleep(0.05)
    assert len(os.listdir("/proc/self/task")) <= before + 8


def test_scans_leak_nothing(tmp_path):
    path = small(tmp_path, '{"a": "' + "x" * 60 + '", "b": [100000]}\n' * 20 + '{"a" 1}\n')

    def run(times):
        for _ in range(times):
            with pytest.raises(jird.JSONDecodeError):
                list(jird.scan(path))
            with pytest.raises(jird.JSONDecodeError):
                list(jird.scan(path, type=dict[str, str]))
        gc.collect()

    run(20)
    blocks = sys.getallocatedblocks()
    run(100)
    assert sys.getallocatedblocks() - blocks < 200


def test_ranges_that_meet_share_no_line_and_lose_none(tmp_path):
    text = '{"i": 0}\n\n{"i": 1, "é": "x"}\r\n{"i": 2}\n{"i": 3}'.encode()
    path = small(tmp_path, text)
    for first in range(len(text) + 1):
        for second in range(first, len(text) + 2, 3):
            ranges = [(0, first), (first, second), (second, len(text) + 10)]
            found = [record["i"] for part in ranges for record in jird.scan(path, range=part, columns=["i"])]
            assert found == [0, 1, 2, 3], ranges
    bad = small(tmp_path, '{"i": 0}\n' * 10 + '{"i": \n', "bad.ndjson")
    for start in (0, 1, 9, 50, 90):
        with pytest.raises(jird.JSONDecodeError, match="line 11"):
            list(jird.scan(bad, range=(start, 100)))
    assert list(jird.scan(bad, range=(0, 90))) == [{"i": 0}] * 10
    with pytest.raises(ValueError, match="before"):
        jird.scan(path, range=(2, 1))
    with pytest.raises(ValueError, match="one file"):
        jird.scan([path, path], range=(0, 1))
    packed = small(tmp_path, gzip.compress(text), "a.gz")
    with pytest.raises(ValueError, match="neither a pipe nor compressed"):
        jird.scan(packed, range=(0, 1))


def test_columns_of_any_values_and_of_offsets(tmp_path):
    import pyarrow

    lines = ['{"a": "x"}', '{"a": 1.10}', '{"a": {"b": [1, 2]}}', '{"a": null}', "{}", '{"a": "\\u00e9"}']
    path = small(tmp_path, "".join(line + "\n" for line in lines))
    found = pyarrow.table(jird.scan(path, columns=["a", "at"], types={"a": "any", "at": "offset"}))
    assert found["a"].to_pylist() == ["x", "1.10", '{"b": [1, 2]}', None, None, "é"]
    assert found["at"].to_pylist() == [sum(len(line) + 1 for line in lines[:index]) for index in range(len(lines))]
    where = jird.scan(path, range=(12, 24), columns=["at"], types={"at": "offset"})
    assert pyarrow.table(where)["at"].to_pylist() == [len(lines[0]) + len(lines[1]) + 2]


def test_bad_records_are_set_aside(tmp_path):
    import pyarrow

    path = small(tmp_path, '{"a": 1}\n{"a": \n{"a": "x"}\n{"a": 2}\n')
    aside = tmp_path / "aside.ndjson"
    scan = jird.scan(path, columns=["a"], types={"a": int}, on_error=f"quarantine={aside}")
    assert pyarrow.table(scan)["a"].to_pylist() == [1, 2] and scan.skipped == 2
    bad = [json.loads(line) for line in aside.read_text().splitlines()]
    assert [(b["line"], b["offset"], b["kind"], b["raw"]) for b in bad] == [
        (2, 9, "unclosed", '{"a": '),
        (3, 16, "type", '{"a": "x"}'),
    ]
    with pytest.raises(ValueError, match="another run"):
        pyarrow.table(jird.scan(path, columns=["a"], types={"a": int}, on_error=f"quarantine={aside}"))
    # What is inferred is read twice, and set aside once.
    aside.unlink()
    assert pyarrow.table(jird.scan(path, on_error=f"quarantine={aside}")).num_rows == 3
    assert len(aside.read_text().splitlines()) == 1
    aside.unlink()
    assert len(list(jird.scan(path, on_error=f"quarantine={aside}"))) == 3
    with pytest.raises(ValueError, match="not i64"):
        pyarrow.table(jird.scan(path, range=(16, 40), columns=["a"], types={"a": int}))


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ('["name","age"]\n["Ada",36]\n["Bob",41]\n', 0),
        ('{"a":1}\n[2]\n"x"\n{"a":2}\n', 0),
        ('1\n2.5\n-3\n', 0),
        ('"a"\n"b"\n', 0),
        ('null\nnull\n', 0),
        ('{"value":1}\n2\n{"value":"3","a":null}\n', 0),
        ('true\n{"a":[1]}\n  [1] \n', 0),
        ('{"a":1}\nx\n[2]\n{"a":}\n7\n', 2),
        ('{}\n[]\n{}\n', 0),
    ],
)
def test_records_that_are_no_objects_are_a_column(tmp_path, text, bad):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    import pyarrow.ipc

    path = small(tmp_path, text)
    on_error = "skip" if bad else "stop"
    target = tmp_path / "converted.arrow"
    if bad:
        with pytest.raises(ValueError):
            jird.scan(path).to_arrow()
        small(tmp_path, "".join(line + "\n" for line in text.splitlines() if is_json(line)), "good.ndjson")
        jird.convert(tmp_path / "good.ndjson", target)
    else:
        jird.convert(path, target)
    wanted = pyarrow.ipc.open_file(target).read_all()
    for threads in (1, 3):
        scan = jird.scan(path, on_error=on_error, threads=threads)
        table = scan.to_arrow()
        assert scan.skipped == bad
        assert table.num_rows == text.count("\n") - bad
        assert table.to_pylist() == wanted.to_pylist() and table.column_names == wanted.column_names
        iterator = iter(scan)
        values = list(iterator)
        assert iterator.skipped == bad
        for value, row in zip(values, table.to_pylist(), strict=True):
            fields = value if isinstance(value, dict) else {"value": value}
            for key, cell in row.items():
                wanted_cell = fields.get(key)
                assert cell == wanted_cell or json.loads(cell) == wanted_cell, (key, cell)
    for column in table.column_names:
        chosen = jird.scan(path, on_error=on_error, columns=[column])
        assert chosen.to_arrow().column(column).to_pylist() == table.column(column).to_pylist()


def is_json(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def test_records_that_are_no_objects_in_pandas_and_polars(tmp_path):
    path = small(tmp_path, '["Ada",36]\n7\n')
    pandas = pytest.importorskip("pandas", reason="skipped: pandas")
    assert isinstance(jird.scan(path).to_pandas(), pandas.DataFrame)
    assert jird.scan(path).to_pandas()["value"].tolist() == ['["Ada",36]', "7"]
    pytest.importorskip("polars", reason="skipped: polars")
    assert jird.scan(path).to_polars()["value"].to_list() == ['["Ada",36]', "7"]


def test_the_place_of_a_bad_record_in_a_compressed_file(tmp_path):
    text = b'{"a": 1}\n' * 100_000 + b'{"a" 2}\n'
    plain, packed = small(tmp_path, text), small(tmp_path, gzip.compress(text), "packed.ndjson.gz")
    words = []
    for path in (plain, packed):
        quarantine = tmp_path / f"bad-{path.name}"
        assert len(list(jird.scan(path, on_error=f"quarantine={quarantine}"))) == 100_000
        words.append(json.loads(quarantine.read_text())["message"])
    assert words[0] == words[1] and "byte 900005" in words[0]


UNKNOWN = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_unknown(int file) {
    char link[64], path[PATH_MAX] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    return readlink(link, path, sizeof path - 1) > 0 && strstr(path, "unknown.ndjson") != NULL;
}

int statx(int folder, const char *path, int flags, unsigned wanted, struct statx *about) {
    int (*real)(int, const char *, int, unsigned, struct statx *) = dlsym(RTLD_NEXT, "statx");
    if (path != NULL && *path == 0 && is_unknown(folder)) {
        errno = EIO;
        return -1;
    }
    return real(folder, path, flags, wanted, about);
}
"""


def test_a_file_whose_kind_cannot_be_asked_is_an_error(tmp_path):
    # It may be a database, whose locks would end when it is closed.
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("a C compiler on Linux")
    library, source = tmp_path / "unknown.so", small(tmp_path, UNKNOWN, "unknown.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    small(tmp_path, "1\n", "unknown.ndjson")
    small(tmp_path, "1\n", "known.ndjson")
    code = "import jird, sys; print(list(jird.scan(sys.argv[1])))"
    for name, wanted in (("known.ndjson", "[1]\n"), ("unknown.ndjson", "")):
        done = subprocess.run(
            [sys.executable, "-c", code, tmp_path / name],
            capture_output=True,
            text=True,
            env={**os.environ, "LD_PRELOAD": str(library)},
        )
        assert done.stdout == wanted and ("Error" in done.stderr) == (wanted == ""), done.stderr
        assert wanted or "OSError" in done.stderr and "Input/output error" in done.stderr, done.stderr
