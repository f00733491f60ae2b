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
    if found is not None and not _is_this(found):
        # It has all commands.
        try:
            os.execv(found, ["jird", *sys.argv[1:]])
        except OSError as error:
            sys.exit(_say(f"{found}: {error.strerror}"))
    if sys.argv[1:2] and sys.argv[1] in _WITH_SQL:
        sys.exit(_say(_program.WORDS))
    if "_sqlite3" in sys.modules:
        # This is not the process's only work. It may have a database open, and the program has an SQLite of its own; see
        # `jird._writer`.
        import subprocess

        command, environment = _program.alone("run", sys.argv[1:])
        sys.exit(subprocess.call(command, env=environment))
    run()


def run():
    """Runs the program that is in this package, in this process."""
    from . import _jird

    sys.exit(_jird.run(["jird", *sys.argv[1:]]))


def _is_this(program):
    """Whether a program is the script that runs here: JIRD_PROGRAM may name it by mistake."""
    try:
        return os.path.samefile(program, sys.argv[0])
    except OSError:
        return False


def _say(words):
    print(f"jird: {words}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
