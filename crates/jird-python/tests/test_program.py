"""The program `jird` in the wheel, and `convert`."""

import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

import pytest

import jird

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(pathlib.Path(jird.__file__).parents[1])}


def program(*arguments, text=""):
    command = [sys.executable, "-m", "jird", *map(str, arguments)]
    return subprocess.run(command, input=text, capture_output=True, text=True, env=ENVIRONMENT)


def test_the_program_runs():
    assert program("--version").stdout.startswith(f"jird {jird.__version__} ")
    done = program("get", "/a/1", text='{"a": [1, 2]}')
    assert (done.returncode, done.stdout) == (0, "2\n")
    done = program("validate", text="[1,")
    assert done.returncode == 1
    assert program("query", "select 1").returncode == 2
    assert program("convert", "none.json", "none.csv").returncode == 2


def test_convert(tmp_path):
    events = tmp_path / "events.ndjson"
    wanted = [{"id": index, "level": ["a", "b"][index % 2], "user": {"name": "n"}} for index in range(5000)]
    events.write_text("".join(json.dumps(record) + "\n" for record in wanted))
    for name in ("events.arrow", "events.csv", "events.db", "events.json"):
        jird.convert(events, tmp_path / name)
    with sqlite3.connect(tmp_path / "events.db") as connection:
        assert connection.execute("select count(*), sum(id) from events").fetchone() == (5000, sum(range(5000)))
    assert json.loads((tmp_path / "events.json").read_text()) == wanted
    jird.convert(tmp_path / "events.arrow", tmp_path / "back.ndjson", columns=["level", "id"], limit=3)
    assert list(jird.scan(tmp_path / "back.ndjson")) == [{"id": index, "level": "aba"[index]} for index in range(3)]
    jird.convert([events, events], tmp_path / "events.db", table="events", append=True)
    jird.convert(events, tmp_path / "flat.csv", flatten=True)
    assert (tmp_path / "flat.csv").read_text().startswith("id,level,user.name\n")
    document = tmp_path / "document.json"
    document.write_text(json.dumps({"items": [{"a": 1}, {"a": 2}]}))
    jird.convert(document, tmp_path / "items.ndjson", records="/items/*")
    assert (tmp_path / "items.ndjson").read_text() == '{"a":1}\n{"a":2}\n'


ABSENT = "Parquet is not in this program, .* in Python, pip install 'jird\\[query\\]' bring"


def test_parquet_is_not_in_the_wheel(tmp_path):
    lines, file, odd = (tmp_path / name for name in ("a.ndjson", "a.parquet", "a.bin"))
    lines.write_text('{"a":1}\n')
    for name in (file, odd):
        # What a file of Parquet begins with: only one of them is named like one.
        name.write_bytes(b"PAR1\x15\x04")
    for source in (file, odd):
        with pytest.raises(OSError, match=f"{source.name}: {ABSENT}"):
            jird.convert(source, tmp_path / "b.ndjson")
    for target in (tmp_path / "b.parquet", tmp_path / "b.pq", file):
        with pytest.raises(OSError, match=ABSENT):
            jird.convert(lines, target)
    with pytest.raises(OSError, match=ABSENT):
        jird.convert(lines, tmp_path / "b", target_format="parquet")
    with pytest.raises(OSError, match=ABSENT):
        jird.convert(lines, tmp_path / "b.csv", source_format="parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bin", "a.ndjson", "a.parquet"]


def test_every_command_that_reads_parquet_says_that_it_is_not_in_the_wheel(tmp_path):
    file = tmp_path / "a.parquet"
    file.write_bytes(b"PAR1\x15\x04")
    for arguments in (
        ("convert", file, "-"),
        ("convert", "--to", "parquet", "-", "-"),
        ("convert", "--to", "parquet", "-", f"{tmp_path}/"),
        ("describe", file),
    ):
        done = program(*arguments, text='{"a":1}\n')
        assert done.returncode == 2 and done.stdout == "", arguments
        assert re.search(ABSENT, done.stderr), (arguments, done.stderr)
    assert "Apache Parquet: not in this program" in program("convert", "--help").stdout


def test_the_program_with_sql_has_parquet_and_takes_over(tmp_path, with_sql):
    pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    import pyarrow.parquet

    (tmp_path / "a.ndjson").write_text('{"a":1}\n')
    jird.convert(tmp_path / "a.ndjson", tmp_path / "a.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist() == [{"a": 1}]
    jird.convert(tmp_path / "a.parquet", tmp_path / "b.ndjson")
    assert (tmp_path / "b.ndjson").read_text() == '{"a":1}\n'


def test_what_cannot_be_converted(tmp_path):
    bad = tmp_path / "bad.ndjson"
    bad.write_text('{"a": 1}\n{"a" 2}\n')
    with pytest.raises(ValueError, match="line 2"):
        jird.convert(bad, tmp_path / "bad.csv")
    assert not (tmp_path / "bad.csv").exists()
    with pytest.raises(ValueError):
        # Records were bad, and the others are there.
        jird.convert(bad, tmp_path / "bad.csv", on_error="skip")
    assert (tmp_path / "bad.csv").read_text() == "a\n1\n"
    with pytest.raises(OSError, match="none.ndjson"):
        jird.convert(tmp_path / "none.ndjson", tmp_path / "none.csv")
    with pytest.raises(OSError):
        jird.convert(bad, tmp_path / "no.format")
    with pytest.raises(ValueError, match="name files"):
        jird.convert("-", tmp_path / "x.csv")


def test_convert_imports_nothing_of_the_current_folder(tmp_path, monkeypatch):
    for name in ("json", "os", "subprocess", "jird", "argparse", "typing"):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w')\nraise SystemExit(3)\n")
    (tmp_path / "lines.ndjson").write_text('{"a":1}\n')
    monkeypatch.chdir(tmp_path)
    jird.convert("lines.ndjson", "lines.csv")
    assert (tmp_path / "lines.csv").read_text() == "a\n1\n" and not (tmp_path / "imported").exists()


def test_the_program_within_another_leaves_its_databases_alone(tmp_path):
    if not os.path.exists("/proc/self/fdinfo"):
        pytest.skip("skipped: /proc/self/fdinfo")
    code = (
        "import os, sqlite3, sys\n"
        "other = sqlite3.connect('t.db', isolation_level=None)\n"
        "other.execute('create table t(a)')\n"
        "other.execute('insert into t values (1)')\n"
        "other.execute('begin immediate')\n"
        "infos = [f'/proc/self/fdinfo/{number}' for number in range(100)]\n"
        "locks = lambda: [line for info in infos if os.path.exists(info) for line in open(info) if line[:5] == 'lock:']\n"
        "before = locks()\n"
        "sys.argv = ['jird', 'convert', 't.db', 't.ndjson']\n"
        "from jird.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    code = end.code\n"
        "assert before and locks() == before\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "t.ndjson").read_text() == '{"a":1}\n'
