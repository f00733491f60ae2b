"""The process that writes databases.

The program that uses jird may have a database open through another library, such as sqlite3. Locks belong to processes,
and two copies of SQLite in one process do not see each other's. So jird never opens a database in this process, not even
to look at it. Another process gets the rows over a socket, as `src/database/mod.rs` says, and has the database open for
as long as one request takes.
"""

import atexit
import os
import socket
import subprocess
import sys
import weakref

from . import _jird

__all__ = ["Writer"]

# Loads the extension module alone: neither packages nor what happens to lie in the current folder.
_CODE = """\
import sys
sys.path = [path for path in sys.path if path]
from importlib.machinery import ExtensionFileLoader, ModuleSpec
loader = ExtensionFileLoader("_jird", sys.argv[1])
module = loader.create_module(ModuleSpec("_jird", loader, origin=sys.argv[1]))
loader.exec_module(module)
module.write_databases()
"""
_EXTENSION = os.path.abspath(_jird.__file__)

# The classes of sqlite3 for the kinds of refusals; the others are DatabaseErrors.
_CLASSES = {
    "constraint": "IntegrityError",
    "io": "OperationalError",
    "locked": "OperationalError",
    "missing": "OperationalError",
    "other": "OperationalError",
    "read_only": "OperationalError",
    "unfit": "DataError",
}

# At most one that waits for work.
_idle = []

# All that live.
_all = weakref.WeakSet()


class Writer:
    """A process that writes. At the end of a `with`, what was sent and not committed is rolled back."""

    @classmethod
    def take(cls):
        """One that waits for work, or a new one."""
        while _idle:
            found = _idle.pop()
            if found._made_by == _who() and found._process.poll() is None:
                return found
            found._end()
        return cls()

    def __init__(self):
        if getattr(sys, "frozen", False) or not sys.executable:
            raise RuntimeError("a Python of its own writes databases, and sys.executable does not name one")
        self._made_by = _who()
        self._socket, theirs = socket.socketpair()
        kept = {name: value for name, value in os.environ.items() if name[:6] != "PYTHON" or name == "PYTHONHOME"}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-c", _CODE, _EXTENSION],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd="/",
                env=kept,
                # Ctrl-C is for this process, which decides what becomes of the rows.
                start_new_session=True,
            )
        self._lines = self._socket.makefile("rb")
        _all.add(self)
        # Whether nothing was broken off within a message.
        self._is_whole = True
        # Whether it waits for frames, and whether it owes an answer.
        self._takes_frames = self._owes_answer = False

    def ask(self, request):
        """Sends a request. Afterwards frames may be sent, if it was for an insert."""
        self._owes_answer = True
        self._write(_jird.dumps(request) + b"\n")
        self._takes_frames = self._owes_answer = "ready" in self._answer()

    def send(self, frame):
        """Sends rows. Raises what was wrong with earlier ones."""
        if len(frame) > _HEAD:
            self._write(frame)
        if self._has_answered():
            self._answer()

    def commit(self):
        """Ends an insert, and returns the number of its rows."""
        self._takes_frames = False
        self._write(_jird.END.to_bytes(_HEAD, "little"))
        return self._answer()["rows"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._made_by[0] != os.getpid():
            return
        try:
            if self._is_whole and self._takes_frames:
                self._abandon()
        finally:
            if self._is_whole and not self._takes_frames and not self._owes_answer and not _idle:
                _idle.append(self)
            else:
                self._end()

    def _abandon(self):
        self._takes_frames = False
        self._write(_jird.ABANDONED.to_bytes(_HEAD, "little"))
        if self._owes_answer:
            self._read()

    def _write(self, message):
        if self._made_by[0] != os.getpid():
            raise RuntimeError("the insert belongs to the process that began it, and this process is a fork of that one")
        self._is_whole = False
        try:
            self._socket.sendall(message, socket.MSG_NOSIGNAL)
        except ConnectionError:
            raise self._lost() from None
        self._is_whole = True

    def _has_answered(self):
        try:
            return bool(self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return False

    def _answer(self):
        answer = self._read()
        if "error" in answer:
            raise _refused(answer["kind"], answer["error"])
        return answer

    def _read(self):
        self._is_whole = False
        try:
            line = self._lines.readline()
        except ConnectionError:
            line = b""
        if not line:
            raise self._lost()
        self._is_whole, self._owes_answer = True, False
        return _jird.loads(line)

    def _lost(self):
        """What is wrong if the process has ended before its work."""
        self._process.kill()
        code = self._process.wait()
        said = self._process.stderr.read().decode(errors="replace").strip().rpartition("\n")[2]
        rows = "no row was inserted" if self._takes_frames else "it is not known whether rows were inserted"
        return OSError(f"the process that writes the database has ended with {code}, and {rows}. {said}".rstrip())

    def _end(self):
        self._process.kill()
        self._process.wait()
        self._lines.close()
        self._socket.close()
        self._process.stderr.close()

    def _forget(self):
        """In a fork: the process is not its child, and must see that the parent is gone when it is."""
        self._process.returncode = 0
        os.close(self._socket.detach())


_HEAD = 8


def _who():
    """Which process this is, for whom it works, and who may read its files: a new database must be as private as theirs."""
    root = os.stat("/")
    try:
        with open("/proc/self/status") as lines:
            about = [line for line in lines if line.startswith(("Groups:", "Umask:"))]
    except OSError:
        about = None
    return os.getpid(), os.geteuid(), os.getegid(), root.st_dev, root.st_ino, about


def _refused(kind, words):
    try:
        import sqlite3
    except ImportError:
        return ValueError(words)
    return getattr(sqlite3, _CLASSES.get(kind, "DatabaseError"))(words)


@atexit.register
def _end_idle():
    while _idle:
        _idle.pop()._end()


def _forked():
    _idle.clear()
    for writer in list(_all):
        writer._forget()
    _all.clear()


# Windows has none, because processes do not fork there. `Sqlite`, which is refused there, still imports this module.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
