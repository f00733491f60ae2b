"""Callbacks that are told how much is done."""

import gzip
import json
import os
import sys
import threading
import time

import pyarrow
import pytest

import jird
from jird import _lines


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """Lines of 12 MB: several of the parts that threads read."""
    path = tmp_path_factory.mktemp("progress") / "events.ndjson"
    line = json.dumps({"id": 1, "text": "x" * 100}) + "\n"
    path.write_text(line * (12_000_000 // len(line)))
    return path


class Told:
    def __init__(self):
        self.calls, self.threads = [], set()

    def __call__(self, done, whole):
        self.calls.append((done, whole))
        self.threads.add(threading.get_ident())


def test_a_scan_tells_how_much_is_done(events):
    size = os.path.getsize(events)
    for use in (lambda scan: [time.sleep(0.25 * (index % 50_000 == 0)) for index, _ in enumerate(scan)], pyarrow.table):
        told = Told()
        use(jird.scan(events, progress=told))
        assert told.calls[-1] == (size, size)
        done = [done for done, _ in told.calls]
        assert done == sorted(done)
        assert told.threads == {threading.get_ident()}
    told = Told()
    for index, _ in enumerate(jird.scan([events, events], columns=["id"], progress=told)):
        if index % 20_000 == 0:
            time.sleep(0.11)
    assert told.calls[-1] == (2 * size, 2 * size)
    assert len({done for done, _ in told.calls}) > 3


def test_nobody_knows_how_much_a_compressed_file_has(tmp_path, events):
    packed = tmp_path / "events.ndjson.gz"
    packed.write_bytes(gzip.compress(events.read_bytes(), 1))
    told = Told()
    assert sum(1 for _ in jird.scan(packed, progress=told)) > 90_000
    assert told.calls[-1] == (os.path.getsize(events), None)


def test_what_a_callback_raises_ends_the_work(tmp_path, events):
    class Enough(Exception):
        pass

    def enough(done, whole):
        raise Enough

    with pytest.raises(Enough):
        for _ in jird.scan(events, progress=enough):
            pass
    with pytest.raises(Exception, match="Enough"):
        pyarrow.table(jird.scan(events, progress=enough))
    with pytest.raises(Enough):
        jird.convert(events, tmp_path / "out.csv", progress=enough)
    # Half of it is never there; all of it is, if the first call came at the end.
    if (tmp_path / "out.csv").exists():
        lines = [path.read_bytes().count(b"\n") for path in (events, tmp_path / "out.csv")]
        assert lines[1] == lines[0] + 1
    with pytest.raises(TypeError, match="progress"):
        jird.scan(events, progress=7)


def test_a_conversion_tells_how_much_is_read(tmp_path, events):
    size = os.path.getsize(events)
    told = Told()
    jird.convert(events, tmp_path / "out.arrow", progress=told)
    # What is looked at beforehand is read twice.
    last, whole = told.calls[-1]
    assert size <= last == whole < size * 1.1
    assert all(0 <= done <= whole for done, whole in told.calls)
    few = tmp_path / "few.ndjson"
    few.write_text('{"a": 1}\n')
    told = Told()
    jird.convert(few, tmp_path / "few.csv", progress=told)
    # It depends on the threads whether what was looked at is counted before it is read again.
    assert told.calls[-1] in [(9, 9), (18, 18)]
    bad = tmp_path / "bad.ndjson"
    bad.write_text('{"a" 1}\n')
    told = Told()
    with pytest.raises(ValueError, match="line 1"):
        jird.convert(bad, tmp_path / "bad.csv", progress=told)
    # It was told something only if it took long.
    assert all(0 <= done <= whole for done, whole in told.calls)


@pytest.mark.parametrize("code", [0, 1])
def test_the_end_is_told_of_what_succeeds_and_of_nothing_else(tmp_path, code):
    source = tmp_path / "source.ndjson"
    source.write_text('{"a": 1}\n')
    told = Told()
    # A program that tells nothing by itself, however long it takes.
    command = [sys.executable, "-c", f"raise SystemExit({code})"]
    assert _lines._run_telling(command, dict(os.environ), [source], told) == (code, "")
    assert told.calls == ([(9, 9)] if code == 0 else [])
