"""Finds the program `jird` with SQL, which is not a part of this package."""

import os
import shutil
import sys

__all__ = ["WORDS", "alone", "program"]

WORDS = (
    "SQL is not in this package: pip install 'jird[query]' brings it, as a program of 80 MB. "
    "A program `jird` that is there already is named by the environment variable JIRD_PROGRAM"
)


def installed():
    """The program that the distribution jird-query brings, or JIRD_PROGRAM names; None if there is none."""
    named = os.environ.get("JIRD_PROGRAM")
    if named:
        return named
    import importlib.metadata

    try:
        files = importlib.metadata.distribution("jird-query").files or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == "jird-query":
            found = os.fspath(file.locate())
            return found if os.path.isfile(found) else None
    return None


def program():
    """The program; if it is not installed with this package, a `jird` on the path that is not a script."""
    found = installed()
    if found is not None:
        return found
    found = shutil.which("jird")
    if found is not None:
        with open(found, "rb") as file:
            # The command that this package installs is a script.
            if file.read(2) != b"#!":
                return found
    raise ImportError(WORDS)


def alone(function, arguments):
    """A command and its environment, which call a function of `jird.__main__` in a process of its own.

    The package is this one, wherever it was imported from. Nothing that happens to lie in the current folder is imported.
    """
    code = f"import sys; sys.path = [path for path in sys.path if path]; from jird.__main__ import {function}; {function}()"
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    return [sys.executable, "-c", code, *arguments], {**os.environ, "PYTHONPATH": path}
