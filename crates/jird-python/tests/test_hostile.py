"""A program that does its worst while values are read and written finds nothing, and finds what is wrong."""

import os
import pathlib
import subprocess
import sys

HOSTILE = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "hostile.py"
SECONDS = os.environ.get("JIRD_HOSTILE_SECONDS", "6")


def run(program, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run([sys.executable, str(program), *arguments], capture_output=True, text=True, env=environment)


def test_nothing_is_found():
    done = run(HOSTILE, "--seconds", SECONDS, "--turns", "2", "--turn", str(min(2.0, float(SECONDS))))
    assert done.returncode == 0, done.stdout[-6000:]
    assert done.stdout.count("exit code 0") >= 2 and " 0 calls" not in done.stdout, done.stdout


def test_memory_of_others_is_found(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(HOSTILE.read_text().replace("        return unknown.answer\n", "        return SECRET\n"))
    # It ends when something is found.
    done = run(wrong, "--seconds", "4", "--turns", "20", "--turn", "2")
    assert done.returncode == 1 and "memory of others" in done.stdout, done.stdout
