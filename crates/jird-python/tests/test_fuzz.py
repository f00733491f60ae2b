"""The fuzz program finds nothing in a few seconds, and finds what is wrong."""

import pathlib
import subprocess
import sys

import pytest

FUZZ = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "fuzz.py"

SEEDS = [
    b'{"a": [1, -0.0, 1e5, 12345678901234567890], "b": {"c": null, "\\u00e9": "\\ud83d\\ude00"}, "a": true}',
    b'[[], {}, "", "\\"\\\\\\/\\b\\f\\n\\r\\t", 0.1, 1E400, -1]',
    '"é€😀"'.encode(),
    b'{"id": 7, "x": null}',
]


def run(tmp_path, *arguments, program=FUZZ):
    pytest.importorskip("atheris", reason="skipped: atheris")
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    for index, seed in enumerate(SEEDS):
        (seeds / str(index)).write_bytes(seed)
    command = [sys.executable, str(program), str(seeds), f"-artifact_prefix={tmp_path}/", "-seed=1", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_any_bytes(tmp_path):
    done = run(tmp_path, "-runs=20000", "-max_total_time=20")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Done" in done.stderr


def test_a_difference_is_found(tmp_path):
    wrong = tmp_path / "wrong.py"
    fault = "found = jird.loads(data.replace(b'null', b'true'))\n"
    wrong.write_text(FUZZ.read_text().replace("found = jird.loads(data)\n", fault))
    done = run(tmp_path, "-runs=20000", "-max_total_time=20", program=wrong)
    assert done.returncode != 0 and "AssertionError" in done.stdout
