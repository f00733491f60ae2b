"""`jird.spark` with an S3 server, and the examples of its page in the guide."""

import gzip
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from pyspark.errors import AnalysisException, PythonException

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = "docs/guide/spark.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / PAGE).read_text(), re.DOTALL)


@pytest.fixture(scope="session")
def bucket():
    """A bucket of a server of S3, which other processes find by their environment."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        os.environ.update(
            AWS_ENDPOINT_URL=url, AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b", AWS_REGION="us-east-1"
        )
        for _ in range(300):
            try:
                urllib.request.urlopen(url, timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        put(f"{url}/data", b"")
        yield f"{url}/data"
    finally:
        server.kill()
        server.wait()


def put(url, text):
    # As a form, the server would wait for more.
    headers = {"Content-Type": "application/octet-stream"}
    urllib.request.urlopen(urllib.request.Request(url, text, headers, method="PUT"), timeout=60).close()


# The bucket comes first: the workers of the session have its environment.
@pytest.fixture(scope="session")
def session(bucket, spark):
    return spark


def read(session, path, schema=None, **options):
    reader = session.read.format("jird").options(**options)
    return (reader.schema(schema) if schema else reader).load(path)


def test_urls_are_read_in_ranges(session, bucket):
    records = [{"i": i, "text": "é" * (i % 50)} for i in range(5000)]
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()
    put(f"{bucket}/big/a.ndjson", text)
    put(f"{bucket}/big/b.ndjson", b'{"i": 5000}\n{"i": 5001, "late": true}')
    put(f"{bucket}/big/c.ndjson.gz", gzip.compress(b'{"i": 5002}\n' * 3000))
    put(f"{bucket}/big/_hidden.ndjson", b"{")
    wanted = [record["i"] for record in records]
    for url in ("s3://data/big/a.ndjson", "s3a://data/big/a.ndjson"):
        frame = read(session, url, "i long, text string, _offset long", splitBytes="20k")
        assert frame.rdd.getNumPartitions() > 10
        found = frame.collect()
        assert [row.i for row in found] == wanted and [row.text for row in found] == [r["text"] for r in records]
        assert all(json.loads(text[row._offset :].split(b"\n", 1)[0])["i"] == row.i for row in found[::97])
    folder = read(session, "s3a://data/big")
    assert folder.columns == ["i", "text", "late"]
    assert folder.count() == 5002 + 3000
    assert read(session, "s3://data/big/*.gz", "i long", splitBytes="1k").count() == 3000
    assert read(session, "s3://data/big/[ab].ndjson", "i long", where="i >= 4999").count() == 3
    with pytest.raises(AnalysisException, match="no file matches"):
        read(session, "s3://data/big/*.csv", "i long").count()
    with pytest.raises(AnalysisException, match="is not there"):
        read(session, "s3://data/gone", "i long").count()


def test_what_is_bad_elsewhere_is_told(session, bucket, tmp_path):
    put(f"{bucket}/bad.ndjson", b'{"i": 1}\n' * 100 + b'{"i": \n' + b'{"i": "x"}\n' + b'{"i": 300}\n' * 3)
    url = "s3://data/bad.ndjson"
    with pytest.raises(PythonException, match=f"{url}: .*line 101"):
        read(session, url, "i long").collect()
    with pytest.raises(AnalysisException, match=f"{url}, line 101"):
        read(session, url)
    frame = read(session, url, "i byte", quarantine=str(tmp_path / "aside"))
    assert frame.count() == 100
    bad = [json.loads(line) for file in (tmp_path / "aside").iterdir() for line in file.read_text().splitlines()]
    assert sorted(line["kind"] for line in bad) == ["type"] * 4 + ["unclosed"]


@pytest.mark.parametrize("code", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_runs(session, code):
    exec(compile(code, PAGE, "exec"), {"spark": session})


def test_there_are_examples():
    assert len(EXAMPLES) > 2
