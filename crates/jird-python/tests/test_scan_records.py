"""`scan(records=…)`: elements of large arrays, and values that follow each other."""

import asyncio
import dataclasses
import gzip
import io
import json
import random
import socket
import subprocess
import sys

import pytest

import jird


def some_value(chance, depth=0):
    kind = chance.randrange(8 if depth < 3 else 5)
    if kind == 5:
        return [some_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind > 5:
        keys = chance.sample(["a", "b", "items", "é", "x/y", "m~n", "0", "*"], chance.randrange(5))
        return {key: some_value(chance, depth + 1) for key in keys}
    return chance.choice([None, True, -1, 2**70, 1.5, "", 'é"\n\\', "\U0001f600", "[1,2", 1e300])


def text_of(chance, value):
    return json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 2]))


def led_to(value, pattern):
    """The values that a pattern leads to."""
    found = [value]
    for part in pattern.split("/")[1:]:
        part, inner = part.replace("~1", "/").replace("~0", "~"), []
        for one in found:
            if isinstance(one, dict):
                inner += one.values() if part == "*" else [one[part]] if part in one else []
            elif isinstance(one, list):
                is_index = part.isdigit() and (part == "0" or part[0] != "0") and int(part) < len(one)
                inner += one if part == "*" else [one[int(part)]] if is_index else []
        found = inner
    return found


PATTERNS = ["", "/*", "/items/*", "/items", "/x~1y/*", "/m~0n", "/0", "/*/*", "/*/a", "/é/*/b", "/items/0"]


def cut(chance, text):
    chunks, at = [], 0
    most = chance.choice([1, 3, 10, 100])
    while at < len(text):
        end = at + chance.randrange(most + 1)
        chunks.append(text[at:end])
        at = end
    return chunks


async def chunks_of(chunks):
    for chunk in chunks:
        yield chunk


async def all_of(source, **options):
    return [record async for record in jird.scan_async(source, **options)]


def test_records_are_those_of_a_model(tmp_path):
    chance = random.Random(1)
    for number in range(400):
        values = [some_value(chance) for _ in range(chance.choice([1, 1, 2, 3]))]
        text = chance.choice([" ", "\n", "\n\n "]).join(text_of(chance, value) for value in values).encode()
        if chance.random() < 0.2:
            text = b"\xef\xbb\xbf" + text
        pattern = chance.choice(PATTERNS)
        wanted = [record for value in values for record in led_to(value, pattern)]
        chunks = cut(chance, text)
        assert list(jird.scan(text, records=pattern)) == wanted, (text, pattern)
        assert list(jird.scan(iter(chunks), records=pattern)) == wanted
        assert asyncio.run(all_of(chunks_of(chunks), records=pattern)) == wanted
        path = tmp_path / f"document{number % 2}.json"
        path.write_bytes(gzip.compress(text) if number % 2 else text)
        scan = jird.scan([path, path], records=pattern)
        assert list(scan) == list(scan) == wanted * 2
        if number % 2:
            assert list(jird.scan(io.BytesIO(path.read_bytes()), records=pattern)) == wanted


def test_values_that_follow_each_other():
    text = b'{"a":1}{"a":2}[3,\n4]"x""y"5 6\n\n\ntrue'
    assert list(jird.scan(text, records="")) == [{"a": 1}, {"a": 2}, [3, 4], "x", "y", 5, 6, True]
    assert list(jird.scan(text, records="/a")) == [1, 2]


def test_large_arrays_on_threads(tmp_path):
    items = [{"id": index, "text": "x" * (index % 300), "user": {"id": index % 7}} for index in range(60_000)]
    path = tmp_path / "large.json"
    path.write_text(json.dumps({"before": [1, 2], "items": items, "after": None}, indent=1))
    assert list(jird.scan(path, records="/items/*")) == items
    for source in (path, path.read_bytes(), open(path, "rb")):
        found = jird.scan(source, records="/items/*", columns=["id", "user.id"], where="id < 30000 and user.id = 3")
        assert list(found) == [{"id": item["id"], "user.id": 3} for item in items[:30_000] if item["user"]["id"] == 3]
    pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    for source in (path, path.read_bytes(), open(path, "rb"), open(path, "rb")):
        scan = jird.scan(source, records="/items/*", nested="types")
        assert scan.to_arrow().to_pylist() == items
        assert len(list(scan)) == len(items)


def test_an_item_is_there_as_soon_as_it_is_complete():
    ours, theirs = socket.socketpair()
    ours.settimeout(20)
    with ours, theirs, ours.makefile("rb") as file:
        iterator = iter(jird.scan(file, records="/a/*"))
        theirs.sendall(b'{"a": [{"b": 1}')
        assert next(iterator) == {"b": 1}
        theirs.sendall(b', "x", 2')
        assert next(iterator) == "x"
        theirs.sendall(b"5,")
        assert next(iterator) == 25
        theirs.sendall(b"{}]")
        assert next(iterator) == {}
        theirs.sendall(b"}")
        theirs.close()
        assert list(iterator) == []

    async def run():
        reader = asyncio.StreamReader()
        scan = jird.scan_async(reader, records="/*")
        for sent, record in [(b'[{"b"', None), (b": 1}", {"b": 1}), (b",[]", [])]:
            reader.feed_data(sent)
            if record is not None:
                assert await asyncio.wait_for(anext(scan), 20) == record

    asyncio.run(run())


def test_documents_that_are_broken(tmp_path):
    text = b'{"a": [1, {"b": 2}, 3, tru, 5]}'
    path = tmp_path / "broken.json"
    path.write_bytes(text)
    for source, name in ((path, str(path)), (text, "<bytes>"), (io.BytesIO(text), "<BytesIO>")):
        for on_error in ("stop", "skip"):
            iterator = iter(jird.scan(source, records="/a/*", on_error=on_error))
            assert [next(iterator), next(iterator), next(iterator)] == [1, {"b": 2}, 3]
            with pytest.raises(jird.JSONDecodeError, match=f"^{name}: .*: line 1 column 27 .byte 26.$") as error:
                next(iterator)
            assert (error.value.lineno, error.value.colno, error.value.offset, error.value.code) == (1, 27, 26, "literal")
            assert list(iterator) == []
            if isinstance(source, io.BytesIO):
                source.seek(0)
    for cut_off in (b'{"a": [1, 2', b'{"a": [1, 2,', b'{"a": [1, 2]', b'[{"a": [1, 2]}'):
        pattern = "/*/a/*" if cut_off[:1] == b"[" else "/a/*"
        for chunks in ([cut_off], [cut_off[:5], cut_off[5:]]):
            with pytest.raises(jird.JSONDecodeError, match="not closed"):
                list(jird.scan(iter(chunks), records=pattern))
            with pytest.raises(jird.JSONDecodeError, match="not closed"):
                asyncio.run(all_of(chunks_of(chunks), records=pattern))
    with pytest.raises(jird.JSONDecodeError):
        list(jird.scan(b"[" * 100_000, records="/*"))
    pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    with pytest.raises(jird.JSONDecodeError, match="broken.json"):
        jird.scan(path, records="/a/*").to_arrow()
    with pytest.raises(OSError, match="compressed with gzip"):
        asyncio.run(all_of(chunks_of([gzip.compress(text)]), records="/a/*"))


@dataclasses.dataclass
class Event:
    a: int


def test_errors_count_records(tmp_path):
    text = json.dumps({"x": [{"a": index if index != 41 else "no"} for index in range(50)]}, indent=2).encode()
    path = tmp_path / "typed.json"
    path.write_bytes(text)
    for source in (path, text, io.BytesIO(text)):
        iterator = iter(jird.scan(source, records="/x/*", type=Event))
        with pytest.raises(jird.JSONDecodeError, match="record 42"):
            list(iterator)
    pytest.importorskip("pyarrow", reason="skipped: pyarrow")
    for source in (path, text, io.BytesIO(text)):
        scan = jird.scan(source, records="/x/*", columns=["a"], types={"a": int})
        with pytest.raises(Exception, match='record 42: a is "no", not i64'):
            scan.to_arrow()
        scan = jird.scan(path, records="/x/*", columns=["a"], types={"a": int}, on_error="skip")
        assert scan.to_arrow().num_rows == 49 and scan.skipped == 1


def test_what_goes_not_with_records():
    with pytest.raises(ValueError, match="records: .*items"):
        jird.scan(b"", records="items/*")
    with pytest.raises(ValueError, match="range"):
        jird.scan(b"[]", records="/*", range=(0, 1))
    with pytest.raises(ValueError, match="offset"):
        jird.scan(b"[]", records="/*", columns=["o"], types={"o": "offset"})
    with pytest.raises(OSError, match="UTF-16"):
        list(jird.scan("[1]".encode("utf-16"), records="/*"))
    for empty in (b"", b" \n", b"[]", b"{}", b'{"b": [1]}', b'{"a": {"b": []}}', b"5"):
        assert list(jird.scan(empty, records="/a/*/*")) == []


def test_memory_is_that_of_an_item():
    code = """
import jird, resource
item = b'{"a": 1, "b": "%s"},' % (b"x" * 200)

def chunks(count):
    yield b'{"items": ['
    for _ in range(count):
        yield item * 500
    yield b'{}]}'

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

assert sum(1 for _ in jird.scan(chunks(100), records="/items/*")) == 50_001
before = peak()
assert sum(1 for _ in jird.scan(chunks(2000), records="/items/*", columns=["a"])) == 1_000_001
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stderr == "" and int(done.stdout) < 30_000, done
