"""`open_store`: event stores as targets."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import jird


def events(store):
    """The events of a store, which this package's command copies out of it."""
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(jird.__file__).parents[1])}
    command = [sys.executable, "-m", "jird", "store", "export", str(store)]
    return subprocess.run(command, capture_output=True, check=True, env=environment).stdout.splitlines()


def test_events_are_appended(tmp_path):
    folder = tmp_path / "log"
    with jird.open_store(folder) as store:
        store.append({"@t": "2024-03-05T07:00:00Z", "n": 1.5, "big": 12345678901234567890123})
        store.append(b'{"@t": "2024-03-05T07:00:01Z",\n\t"n": 2e0}')
        store.append('{"@t": "2024-03-05T07:00:02Z", "s": "\\n"}')
        store.append(bytearray(b'{"@t": "2024-03-05T07:00:03Z"}'))
        store.commit()
        assert store.extend({"@t": "2024-03-05T08:00:00Z", "i": index} for index in range(100_000)) == 100_000
        assert store.append_lines(b'{"@t": "2024-03-05T09:00:00Z"}\n\n{"@t": "2024-03-05T09:00:01Z"}\n') == 2
        assert store.extend([]) == 0
    found = events(folder)
    assert found[:4] == [
        b'{"@t":"2024-03-05T07:00:00Z","n":1.5,"big":12345678901234567890123}',
        b'{"@t":"2024-03-05T07:00:01Z","n":2e0}',
        b'{"@t":"2024-03-05T07:00:02Z","s":"\\n"}',
        b'{"@t":"2024-03-05T07:00:03Z"}',
    ]
    assert len(found) == 100_006
    assert [jird.loads(event)["i"] for event in found[4:-2]] == list(range(100_000))


def test_a_store_is_opened_again(tmp_path):
    folder = tmp_path / "log"
    for sync in ("batch", "interval", "none"):
        with jird.open_store(folder, sync=sync) as store:
            store.append({"sync": sync})
            store.commit()
            store.commit()
    assert [jird.loads(event)["sync"] for event in events(folder)] == ["batch", "interval", "none"]
    assert store.path == folder or store.path == str(folder)
    assert store.time_field == "/@t"
    assert repr(store) == f"<jird.Store {folder}>"


def test_what_was_committed_is_there_after_a_kill(tmp_path):
    folder = tmp_path / "log"
    script = f"""
        import os, signal, jird
        store = jird.open_store({str(folder)!r}, sync="batch")
        store.extend({{"i": index}} for index in range(1000))
        store.commit()
        os.kill(os.getpid(), signal.SIGKILL)
    """
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(jird.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], env=environment)
    assert done.returncode == -9
    assert len(events(folder)) == 1000


def test_what_is_refused(tmp_path):
    with jird.open_store(tmp_path / "log") as store:
        for text, path in [('{"a": [1, x]}', "/a/1"), (b"\xff", ""), ("", ""), (" ", ""), ('"a\nb"', "")]:
            with pytest.raises(jird.JSONDecodeError) as raised:
                store.append(text)
            assert raised.value.path == path
        with pytest.raises(jird.JSONEncodeError):
            store.append(object())
        with pytest.raises(jird.JSONDecodeError):
            store.extend([{"a": 1}, b"{"])
        with pytest.raises(jird.JSONDecodeError):
            store.append_lines(b'{"a": 1}\n{"a" 1}\n')
        with pytest.raises(TypeError):
            store.append_lines([1])
    assert events(tmp_path / "log") == []
    with pytest.raises(ValueError, match="closed"):
        store.append(1)
    store.close()
    store.commit()


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError, match="log"):
        jird.open_store(tmp_path / "log", create=False)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("")
    with pytest.raises(FileExistsError):
        jird.open_store(tmp_path / "full")
    for options in [{"sync": "x"}, {"compression": "x"}, {"time_field": ""}, {"columns": ["a b"]}]:
        with pytest.raises(ValueError):
            jird.open_store(tmp_path / "new", **options)
    made = jird.open_store(tmp_path / "new", time_field="meta.at", columns=["level"], compression="zstd")
    assert made.time_field == "/meta/at"
    jird.open_store(tmp_path / "new", time_field="meta.at", columns=["level"], compression="zstd")
    jird.open_store(tmp_path / "new")
    for name, value in [("time_field", "@t"), ("columns", []), ("compression", "none")]:
        with pytest.raises(ValueError, match=f"another {name}"):
            jird.open_store(tmp_path / "new", **{name: value})
    with made as first:
        first.append(1)
        with pytest.raises(BlockingIOError):
            jird.open_store(tmp_path / "new").append(2)
    with jird.open_store(tmp_path / "new") as second:
        second.append(3)
    assert events(tmp_path / "new") == [b"1", b"3"]


def test_threads_share_a_store(tmp_path):
    import concurrent.futures

    with jird.open_store(tmp_path / "log", sync="batch") as store:

        def work(thread):
            for index in range(50):
                store.append({"thread": thread, "index": index})
                store.commit()

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
    found = [jird.loads(event) for event in events(tmp_path / "log")]
    for thread in range(4):
        assert [event["index"] for event in found if event["thread"] == thread] == list(range(50))


def test_folders_are_not_scanned(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; name its files"):
        jird.scan(tmp_path)
    jird.open_store(tmp_path / "log")
    with pytest.raises(IsADirectoryError, match="is an event store; jird.open_store"):
        jird.scan([tmp_path / "log"])
