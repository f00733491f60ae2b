"""The program `jird`: `jird` or `python -m jird`. What needs SQL is in a program of its own, which may be installed."""

import os
import sys

__all__ = ["main"]

# The commands that need SQL.
_WITH_SQL = ("bench", "query")


def main():
    """Runs `jird` with the arguments of this process, and ends it with the exit code."""
    from . import _program

    found = _program.installed()
    if found is not None:
        # It has all commands.
        os.execv(found, ["jird", *sys.argv[1:]])
    if sys.argv[1:2] and sys.argv[1] in _WITH_SQL:
        sys.exit(_say(_program.WORDS))
    from . import _jird

    sys.exit(_jird.run(["jird", *sys.argv[1:]]))


def _say(words):
    print(f"jird: {words}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
