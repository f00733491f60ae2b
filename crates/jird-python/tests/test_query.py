"""`query`: SQL by the program `jird`, which is named to the tests by JIRD_TEST_PROGRAM."""

import dataclasses
import datetime
import importlib.metadata
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import textwrap
import time

import pytest

import jird

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(pathlib.Path(jird.__file__).parents[1])}


@pytest.fixture
def program(monkeypatch):
    found = os.environ.get("JIRD_TEST_PROGRAM")
    if not found:
        pytest.skip("skipped: a program jird with SQL")
    monkeypatch.setenv("JIRD_PROGRAM", found)
    return found


@pytest.fixture
def events(tmp_path):
    path = tmp_path / "events.ndjson"
    records = ({"id": index, "level": "ab"[index % 2], "user": {"name": f"n{index % 3}"}} for index in range(3000))
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def pretender(folder, code, monkeypatch):
    """A program that does this."""
    path = folder / "pretender"
    path.write_text(f"#!{sys.executable}\n" + textwrap.dedent(code))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("JIRD_PROGRAM", str(path))
    return path


def test_dicts(program, events):
    result = jird.query("select level, count(*) as n group by level order by level", events)
    assert list(result) == [{"level": "a", "n": 1500}, {"level": "b", "n": 1500}]
    assert list(result) == list(result)
    assert list(jird.query(f"select max(id) as m from '{events}'")) == [{"m": 2999}]
    assert list(jird.query("select user where id = 2", [events])) == [{"user": {"name": "n2"}}]
    assert len(list(jird.query("select id", [events, events], threads=1))) == 6000
    events.write_text('{"n": 12345678901234567890123, "none": null}')
    assert list(jird.query("select n, none, other", events)) == [{"n": 12345678901234567890123, "none": None}]
    assert repr(result).startswith("<jird.Query 'select level")


def test_values_of_a_type(program, events):
    @dataclasses.dataclass
    class Row:
        id: int
        level: str

    rows = list(jird.query("select id, level order by id limit 2", events, type=Row))
    assert rows == [Row(0, "a"), Row(1, "b")]
    with pytest.raises(jird.JSONDecodeError, match="the result of the query, line 1: .* at /level"):
        list(jird.query("select id, id as level order by id", events, type=Row))
    rows = iter(jird.query("select id, nullif(id, 2500) as other order by id", events, type=dict[str, int]))
    with pytest.raises(jird.JSONDecodeError, match="the result of the query, line 2501: .* at /other"):
        list(rows)
    with pytest.raises(TypeError):
        jird.query("select id", events, type=3)


def test_columns(program, events):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    result = jird.query("select id, level, user order by id", events)
    table = result.to_arrow()
    assert table.column_names == ["id", "level", "user"] and table.num_rows == 3000
    assert table.schema.field("id").type == pyarrow.int64()
    assert table["id"].to_pylist() == list(range(3000))
    assert pyarrow.table(jird.query("select id where id < 0", events)).num_rows == 0
    reader = pyarrow.RecordBatchReader.from_stream(jird.query("select level", events))
    assert sum(batch.num_rows for batch in reader) == 3000
    # Dictionaries of a file of Arrow, which differ from batch to batch.
    path = events.with_suffix(".arrow")
    kinds = [pyarrow.array(part).dictionary_encode() for part in (["x", "y"], ["y", "z", "z"])]
    with pyarrow.ipc.new_file(path, pyarrow.schema([("k", kinds[0].type)])) as file:
        file.write(pyarrow.record_batch([kinds[0]], names=["k"]))
    with pyarrow.ipc.new_stream(path.with_suffix(".arrows"), pyarrow.schema([("k", kinds[0].type)])) as file:
        for kind in kinds:
            file.write(pyarrow.record_batch([kind], names=["k"]))
    assert jird.query("select k", path).to_arrow()["k"].to_pylist() == ["x", "y"]
    found = jird.query("select k", path.with_suffix(".arrows"), source_format="arrow").to_arrow()
    assert found["k"].to_pylist() == ["x", "y", "y", "z", "z"]


def test_json_texts_are_marked_as_those_of_a_scan(program, events):
    pa = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    table = jird.query("select id, user where id < 2", events).to_arrow()
    assert table.schema.types == [pa.int64(), pa.json_()]
    assert [json.loads(text) for text in table.column("user").to_pylist()] == [{"name": "n0"}, {"name": "n1"}]
    assert jird.query("select count(*) as n", events).to_arrow().to_pylist() == [{"n": 3000}]


def test_frames(program, events):
    polars = pytest.importorskip("polars", reason="skipped: polars")
    pandas = pytest.importorskip("pandas", reason="skipped: pandas")
    result = jird.query("select id, level where id < 3 order by id", events)
    assert result.to_polars().equals(polars.DataFrame({"id": [0, 1, 2], "level": ["a", "b", "a"]}))
    assert result.to_pandas().equals(pandas.DataFrame({"id": [0, 1, 2], "level": ["a", "b", "a"]}))
    assert jird.scan(events, columns=["id"]).to_polars()["id"].sum() == sum(range(3000))
    assert jird.scan(events, columns=["id"]).to_pandas()["id"].sum() == sum(range(3000))


def test_what_notebooks_show(program, events):
    shown = jird.query("select id, '<b>' as b where id < 2 order by id", events)._repr_html_()
    assert shown == (
        "<table><tr><th>id</th><th>b</th></tr>"
        "<tr><td>0</td><td>&lt;b&gt;</td></tr><tr><td>1</td><td>&lt;b&gt;</td></tr></table>"
    )
    shown = jird.scan(events)._repr_html_()
    assert shown.count("<tr>") == 12 and "{&#x27;name&#x27;: &#x27;n0&#x27;}" in shown and "<td>…</td>" in shown
    assert jird.scan(events, type=list[int] | dict)._repr_html_().count("<th>") == 3


def test_what_is_wrong(program, events, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    for use in (list, pyarrow.table):
        with pytest.raises(jird.QueryError, match="syntax error: .*selct"):
            use(jird.query("selct 1 from stream", events))
        with pytest.raises(ValueError, match="none.ndjson: No such file"):
            use(jird.query("select id", tmp_path / "none.ndjson"))
    with pytest.raises(ValueError, match="explain"):
        jird.query("Explain select id", events)
    with pytest.raises(ValueError, match="no file is named"):
        jird.query("select id")
    with pytest.raises(ValueError, match="name files"):
        jird.query("select id", "-")
    plan = jird.query("select id where level = 'a'", events).explain()
    assert "plan\n" in plan and str(events) in plan
    with pytest.raises(jird.QueryError, match="No such file"):
        jird.query("select id", "none.ndjson").explain()
    assert issubclass(jird.QueryError, ValueError)


def test_bad_records(program, tmp_path):
    bad = tmp_path / "bad.ndjson"
    bad.write_text('{"a": 1}\n{"a" 2}\n{"a": 3}\n')
    with pytest.raises(jird.QueryError, match="bad.ndjson:2:6: expected"):
        list(jird.query("select a", bad))
    result = jird.query("select a", bad, on_error="skip")
    assert list(result) == [{"a": 1}, {"a": 3}]
    assert len(result.notes) == 1 and "1 bad record left out" in result.notes[0]
    assert result.to_arrow()["a"].to_pylist() == [1, 3]
    aside = tmp_path / "aside.ndjson"
    assert len(list(jird.query("select a", bad, on_error=f"quarantine={aside}"))) == 2
    assert aside.exists()


def test_a_table_that_fails_in_the_middle(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    whole = tmp_path / "whole.arrow"
    with pyarrow.ipc.new_file(whole, pyarrow.schema([("a", pyarrow.int64())])) as file:
        for _ in range(50):
            file.write(pyarrow.record_batch([pyarrow.array(range(1000))], names=["a"]))
    code = f"""
        import sys
        text = open({str(whole)!r}, "rb").read()
        sys.stdout.buffer.write(text[:int(sys.argv[-2])])
        sys.stdout.buffer.flush()
        print("jird: the disk is on fire", file=sys.stderr)
        sys.exit(int(sys.argv[-1]))
    """
    pretender(tmp_path, code, monkeypatch)
    size = whole.stat().st_size

    def answer(kept, code):
        return jird.query("select a", [str(kept), str(code)])

    assert answer(size, 0).to_arrow().num_rows == 50_000
    for kept in (size // 2, size):
        with pytest.raises((OSError, ValueError, pyarrow.ArrowException), match="the disk is on fire"):
            answer(kept, 2).to_arrow()
    with pytest.raises(jird.QueryError, match="the disk is on fire"):
        answer(0, 2).to_arrow()
    # Cut off without a word.
    for kept in (0, 8, 100, size // 2):
        with pytest.raises((OSError, ValueError, pyarrow.ArrowException)):
            answer(kept, 0).to_arrow()


def test_lines_that_fail_in_the_middle(tmp_path, monkeypatch):
    code = """
        import sys
        print('{"a": 1}\\n{"a": 2}', flush=True)
        print("jird: first\\nsecond", file=sys.stderr)
        sys.exit(2)
    """
    pretender(tmp_path, code, monkeypatch)
    rows = iter(jird.query("select a", "x"))
    assert [next(rows), next(rows)] == [{"a": 1}, {"a": 2}]
    with pytest.raises(jird.QueryError, match="^first\nsecond$"):
        next(rows)
    assert list(rows) == []
    pretender(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", monkeypatch)
    with pytest.raises(jird.QueryError, match="has ended with signal: 9"):
        list(jird.query("select a", "x"))
    pretender(tmp_path, "import sys\nprint('no JSON')", monkeypatch)
    with pytest.raises(jird.JSONDecodeError, match="the result of the query, line 1"):
        list(jird.query("select a", "x"))
    monkeypatch.setenv("JIRD_PROGRAM", str(tmp_path / "none"))
    with pytest.raises(OSError, match="none: No such file"):
        list(jird.query("select a", "x"))


def test_the_line_of_a_value_far_behind(tmp_path, monkeypatch):
    code = """
        print('{"a": 1}\\n' * 600_000 + '{"a": "x"}')
    """
    pretender(tmp_path, code, monkeypatch)
    with pytest.raises(jird.JSONDecodeError, match="the result of the query, line 600001: .* at /a"):
        sum(1 for _ in jird.query("select a", "x", type=dict[str, int]))


def test_much_is_said_while_it_works(tmp_path, monkeypatch):
    # More than a pipe holds.
    code = """
        import sys
        sys.stderr.write("note: x\\n" * 100_000)
        sys.stderr.flush()
        print('{"a": 1}')
    """
    pretender(tmp_path, code, monkeypatch)
    result = jird.query("select a", "x")
    assert list(result) == [{"a": 1}]
    assert result.notes[0] == "note: x" and 8000 < len(result.notes) < 9000


@pytest.mark.parametrize("use", ["list", "pyarrow.table", "lambda result: result.to_arrow()", "late"])
def test_ctrl_c_stops(tmp_path, monkeypatch, use):
    pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    schema = "pyarrow.schema([('a', pyarrow.int64())])" if use == "late" else None
    code = f"""
        import os, sys, time
        if {schema!r}:
            import pyarrow
            pyarrow.ipc.new_file(sys.stdout.buffer, eval({schema!r}))
            sys.stdout.buffer.flush()
        open({str(tmp_path / "pid")!r} + ".new", "w").write(str(os.getpid()))
        os.rename({str(tmp_path / "pid")!r} + ".new", {str(tmp_path / "pid")!r})
        time.sleep(60)
    """
    pretender(tmp_path, code, monkeypatch)
    script = f"""
        import pyarrow, jird
        late = lambda result: result.to_arrow()
        try:
            ({use})(jird.query("select a", "x"))
        except KeyboardInterrupt:
            print("interrupted")
        except Exception as error:
            try:
                pass
            except KeyboardInterrupt:
                print("interrupted")
            else:
                raise
    """
    environment = {**ENVIRONMENT, "JIRD_PROGRAM": os.environ["JIRD_PROGRAM"]}
    running = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    until = time.monotonic() + 30
    while not (tmp_path / "pid").exists():
        assert time.monotonic() < until and running.poll() is None
        time.sleep(0.01)
    time.sleep(0.2)
    # Only this process: in a terminal the program would be interrupted, too.
    running.send_signal(signal.SIGINT)
    said, words = running.communicate(timeout=10)
    assert said == b"interrupted\n", words
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_what_is_not_wanted_any_more_is_stopped(tmp_path, monkeypatch):
    code = f"""
        import os, time
        open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
        print('{{"a": 1}}\\n' * 1_000_000, flush=True)
        time.sleep(60)
    """
    pretender(tmp_path, code, monkeypatch)
    rows = iter(jird.query("select a", "x"))
    assert next(rows) == {"a": 1}
    pid = int((tmp_path / "pid").read_text())
    os.kill(pid, 0)
    del rows
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_threads_share_a_result(program, events):
    import concurrent.futures

    result = jird.query("select count(*) as n", events)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: list(result), range(8))) == [[{"n": 3000}]] * 8


def test_without_the_program(tmp_path, monkeypatch):
    monkeypatch.delenv("JIRD_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImportError, match=r"pip install 'jird\[query\]'"):
        jird.query("select 1 from x")
    # The command of this package is a script, and has no SQL.
    script = tmp_path / "jird"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o700)
    with pytest.raises(ImportError):
        jird.query("select 1 from x")
    script.write_bytes(b"\x7fELF")
    assert isinstance(jird.query("select 1 from x"), jird.Query)

    class Distribution:
        files = [importlib.metadata.PackagePath("../../../bin/jird-query")]

    installed = tmp_path / "installed"
    installed.write_text("")
    monkeypatch.setattr(importlib.metadata.PackagePath, "locate", lambda _: installed)
    monkeypatch.setattr(importlib.metadata, "distribution", {"jird-query": Distribution}.__getitem__)
    from jird import _program

    assert _program.program() == str(installed)


def test_the_command_says_how_to_get_sql():
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "JIRD_PROGRAM"}
    for command in ("query", "bench"):
        done = subprocess.run(
            [sys.executable, "-m", "jird", command, "select 1"], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 2
        assert done.stderr.startswith("jird: SQL is not in this package: pip install 'jird[query]'")


def test_a_condition_of_the_command_says_how_to_get_sql(tmp_path):
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "JIRD_PROGRAM"}
    (tmp_path / "a.ndjson").write_text('{"a":1}\n')
    for arguments in (["convert", "--where", "a > 0", "a.ndjson", "b.ndjson"], ["convert", "a.ndjson", "c.ndjson"]):
        done = subprocess.run(
            [sys.executable, "-m", "jird", *arguments], capture_output=True, text=True, env=environment, cwd=tmp_path
        )
        lacks = "--where" in arguments
        assert done.returncode == (2 if lacks else 0), done.stderr
        assert ("pip install 'jird[query]'" in done.stderr) == lacks, done.stderr
    assert not (tmp_path / "b.ndjson").exists() and (tmp_path / "c.ndjson").read_text() == '{"a":1}\n'


def test_a_program_that_is_named_by_mistake_is_told():
    script = os.path.join(os.path.dirname(sys.executable), "jird")
    cases = (
        ([script], script, "jird: SQL is not in this package"),
        ([sys.executable, "-m", "jird"], "/nonexistent/jird", "jird: /nonexistent/jird: No such file or directory"),
    )
    for command, named, words in cases:
        environment = {**ENVIRONMENT, "JIRD_PROGRAM": named}
        done = subprocess.run([*command, "query", "x"], capture_output=True, text=True, env=environment, timeout=60)
        assert done.returncode == 2 and done.stderr.startswith(words), done.stderr


def test_the_command_has_sql_where_the_program_is(program, events):
    command = [sys.executable, "-m", "jird", "query", "select max(id) as m", str(events)]
    done = subprocess.run(command, capture_output=True, text=True, env={**ENVIRONMENT, "JIRD_PROGRAM": program})
    assert (done.returncode, done.stdout) == (0, '{"m":2999}\n')


def test_a_store(program, tmp_path):
    with jird.open_store(tmp_path / "log") as store:
        store.extend({"@t": f"2024-03-0{day}T07:00:00Z", "day": day} for day in range(1, 6))
        assert list(store.query("select count(*) as n")) == [{"n": 5}]
        since = datetime.datetime(2024, 3, 4, tzinfo=datetime.timezone.utc)
        assert list(store.query("select day order by day", since=since)) == [{"day": 4}, {"day": 5}]
        assert list(store.query("select day order by day", until="2024-03-02")) == [{"day": 1}]
        store.append({"@t": "2024-03-09T07:00:00Z", "day": 9})
        assert list(store.query("select max(day) as d")) == [{"d": 9}]
    assert list(jird.query("select count(*) as n", tmp_path / "log")) == [{"n": 6}]
