"""The program `jird`, without the commands that need SQL: `jird` or `python -m jird`."""

import sys

from . import _jird

__all__ = ["main"]


def main():
    """Runs `jird` with the arguments of this process, and ends it with the exit code."""
    code = _jird.run(["jird", *sys.argv[1:]])
    sys.exit(code)


if __name__ == "__main__":
    main()
