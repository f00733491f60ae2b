"""References are counted, threads share everything, and what cannot work is refused."""

import gc
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

import jird

TEXT = b'{"a": [1, 2.5, "x\\n", "\xc3\xa9", null, true, 123456789012345678901234567890], "b": {"c": {}}, "long": "' + b"y" * 100 + b'"}'


def memory():
    """Bytes of this process, from Linux."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fails(function, *arguments, **names):
    try:
        function(*arguments, **names)
    except (ValueError, TypeError, KeyError, IndexError):
        return
    raise AssertionError("it did not fail")


def raising(_):
    raise KeyError("no")


CALLS = [
    lambda: jird.loads(TEXT),
    lambda: jird.loads(bytearray(TEXT)),
    lambda: jird.loads(memoryview(TEXT)),
    lambda: jird.loads(TEXT.decode()),
    lambda: jird.dumps(jird.loads(TEXT)),
    lambda: jird.dumps(jird.loads(TEXT), option=jird.OPT_SORT_KEYS | jird.OPT_INDENT_2),
    lambda: jird.dumps({1: object()}, default=str, option=jird.OPT_NON_STR_KEYS),
    lambda: jird.dumps(jird.Fragment(b"[]")),
    lambda: jird.parse(TEXT).as_py(),
    lambda: jird.parse(TEXT.decode())["a"][1:],
    lambda: [list(jird.parse(bytearray(TEXT))), list(jird.parse(TEXT)["a"])],
    lambda: jird.parse(b"[1,[2,3]]").as_buffer(),
    lambda: fails(jird.loads, TEXT[:-1]),
    lambda: fails(jird.loads, b'{"a": [1, {"b": 1e999}]}'),
    lambda: fails(jird.loads, b"\xff"),
    lambda: fails(jird.loads, object()),
    lambda: fails(jird.dumps, [1, {"a": object()}]),
    lambda: fails(jird.dumps, [1, {"a": object()}], default=raising),
    lambda: fails(jird.dumps, ["\ud800"]),
    lambda: fails(jird.dumps, {("a",): 1}),
    lambda: fails(jird.parse, TEXT[:-1]),
    lambda: fails(jird.parse(TEXT).at_pointer, "/a/99"),
]


@pytest.mark.parametrize("call", CALLS, ids=range(len(CALLS)))
def test_nothing_leaks(call):
    def run(times):
        for _ in range(times):
            call()
        gc.collect()

    run(200)
    blocks, bytes_before = sys.getallocatedblocks(), memory()
    run(2000)
    # Python's caches may keep a few blocks; a leak would be one for each call.
    assert sys.getallocatedblocks() - blocks < 200
    assert memory() - bytes_before < 2 << 20


def test_references_are_what_they_were():
    class Marker:
        pass

    marker, text, key = Marker(), "some text that is not interned", "a key that is not interned"
    value = {key: [text, marker, (text, {"x": text})]}
    counted = [sys.getrefcount(object) for object in (marker, text, key, None, True, value)]
    for _ in range(100):
        jird.dumps(value, default=lambda _: None)
        jird.dumps(value, default=lambda _: text, option=jird.OPT_SORT_KEYS)
        fails(jird.dumps, value)
    after = [sys.getrefcount(object) for object in (marker, text, key, None, True, value)]
    assert all(abs(one - other) <= 3 for one, other in zip(counted, after)), (counted, after)


def test_the_collector_is_as_it_was():
    for was_on in (True, False):
        (gc.enable if was_on else gc.disable)()
        try:
            jird.loads(TEXT)
            assert gc.isenabled() == was_on
            fails(jird.loads, b'[[1], {"a": 1e999}]')
            assert gc.isenabled() == was_on
        finally:
            gc.enable()


def test_threads_share_readers_and_documents():
    large = b"[" + b",".join([TEXT] * 400) + b"]"
    wanted, one = jird.loads(large), jird.loads(TEXT)
    document = jird.parse(large)
    failures = []

    def work(seed):
        try:
            for round in range(20):
                assert jird.loads(TEXT) == one
                assert document[(seed * 31 + round) % 400]["b"].as_py() == one["b"]
                if round % 5 == 0:
                    assert jird.loads(large) == wanted
                    assert jird.loads(jird.dumps(wanted)) == wanted
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("read", [jird.parse, jird.loads])
def test_a_large_text_is_parsed_without_the_lock(read):
    # A string of 40 MB, so that parsing takes most of the time. The interpreter is told to take the lock from nobody who
    # does not release it, for hours, so another thread comes on only when the lock is released. On a machine with other work
    # it may come too late for one text, so there are more, for a minute.
    text = b'["' + b"x" * 40_000_000 + b'"]'
    ticks, stop = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(1e-5)

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=tick)
    thread.start()
    sys.setswitchinterval(4000)
    try:
        before, until = ticks, time.monotonic() + 60
        while ticks == before and time.monotonic() < until:
            read(text)
        assert ticks > before
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()


def test_a_list_that_changes_while_it_is_written():
    for change in (list.clear, list.pop, lambda value: value.extend([1, 2, 3])):
        value = [[object()], object(), "x" * 100, object(), {"a": [1]}]

        def default(_):
            change(value)
            value[:] = value[:6]
            return "changed"

        try:
            jird.loads(jird.dumps(value, default=default))
        except IndexError:
            pass
        except jird.JSONEncodeError:
            pass


def test_a_dict_that_changes_while_it_is_written():
    value = {"a": object(), "b": ["x" * 50], "c": 1}

    def default(_):
        value.clear()
        gc.collect()
        return ["y" * 50]

    with pytest.raises(RuntimeError, match="changed its size"):
        jird.dumps(value, default=default)

    inner = {"x": [object(), "y" * 60]}
    outer = {"inner": inner, "after": "z" * 60}

    def replace(_):
        outer["inner"] = None
        inner["x"] = None
        gc.collect()
        return "w" * 60

    del_inner = jird.dumps(outer, default=replace)
    assert jird.loads(del_inner)["inner"]["x"] == ["w" * 60, "y" * 60]


def test_sub_interpreters_are_refused_with_an_import_error():
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        try:
            import _interpreters as interpreters
        except ImportError:
            pytest.skip("this Python has no sub-interpreters")
    code = f"""
import sys
sys.path[:] = {sys.path!r}
try:
    import jird
except ImportError as error:
    assert "interpreter" in str(error), error
else:
    raise AssertionError("it was imported")
"""
    inner = interpreters.create()
    try:
        failed = interpreters.run_string(inner, code)
        assert failed is None, failed
    finally:
        interpreters.destroy(inner)


def test_free_threaded_interpreters_are_refused_with_an_import_error():
    # As those of 3.13 and 3.14 call themselves.
    for name in ("3.13.0 experimental free-threading build (main)", "3.14.0 free-threading build (main)"):
        code = f"import sys; sys.version = {name!r}\nimport jird"
        environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(jird.__file__).parents[1])}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert done.returncode == 1
        assert "ImportError: jird needs a Python with its global lock" in done.stderr


def test_an_import_is_quick_and_loads_little():
    code = "import sys, jird; print(sorted(name for name in sys.modules if name in {'uuid', 'dataclasses', 'numpy', 'decimal'}))"
    shown = subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}"], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_the_environment_names_the_kernel():
    code = "import jird; print(jird.kernel, jird.loads('[1]'), jird.dumps(['a' * 99]) == b'[\"' + b'a' * 99 + b'\"]')"
    for name in ("portable", jird.kernel):
        environment = {**os.environ, "JIRD_KERNEL": name}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        assert done.stdout == f"{name} [1] True\n", done.stderr
    environment = {**os.environ, "JIRD_KERNEL": "mmx"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert "ImportError: JIRD_KERNEL: " in done.stderr and "mmx" in done.stderr


def test_an_empty_name_of_a_kernel_is_none():
    code = "import jird; print(jird.kernel)"
    unset = {name: value for name, value in os.environ.items() if name != "JIRD_KERNEL"}
    shown = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True).stdout
        for environment in (unset, {**unset, "JIRD_KERNEL": ""})
    ]
    assert shown[0] == shown[1]
