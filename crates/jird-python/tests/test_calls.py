"""Every call into Python stands in `src/raw/calls.md`, and those that may run Python's code stand in no quiet file."""

import dataclasses
import datetime
import enum
import gc
import pathlib
import re
import signal
import sys
import typing
import uuid

import pytest

import jird

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "src"
TABLE = (SOURCE / "raw" / "calls.md").read_text()
# What makes typed values without a tape, and what it is made of.
DIRECT = ["direct", "direct_scalars", "digits", "times", "uuids", "by_text", "fields", "objects"]
READ = [*sorted(SOURCE.glob("raw/**/*.rs")), *sorted(SOURCE.glob("dumps/*.rs")), *sorted(SOURCE.glob("loads/[bs]*.rs"))]
READ += [SOURCE / f"loads/typed/{name}.rs" for name in DIRECT]

# Methods and functions of Rust's own, and of the engine: they know nothing of Python.
RUST = set("""
abs add addr all and_then as_bool as_bytes as_chunks as_mut_ptr as_number as_ref as_str assume_init assume_init_mut by_ref byte_add capacity cast_mut chars
checked_mul chunks collect contains copied copy_from_slice descendants div_euclid drain drop elements entries enumerate expect extend fill filter find first_chunk
first_chunk_mut floor_char_boundary fold for_each get get_or_insert_with id into into_iter into_refusal is_ascii is_ascii_digit is_empty is_err is_finite is_integer is_null is_ok is_ok_and is_some is_some_and iter join
cmp kind last_chunk locate machine_number map map_err map_or map_or_else max min names offset ok ok_or ok_or_else or_else parse pointer powi raw read clear is_multiple_of
read_volatile rem_euclid replace reverse rotate_left saturating_sub set sort_unstable split_at split_at_checked split_first split_first_chunk split_once starts_with str_in
text then then_some cloned downcast_ref into_raw to_string_lossy to_be_bytes to_le_bytes to_ne_bytes trim_end_matches to_owned to_string try_fold unsigned_abs unwrap_or unwrap_or_default unwrap_or_else walk wrapping_add wrapping_mul write
write_bytes write_copy_of_slice zip
as_deref checked_add count filter_map position resize resize_with take_while to_digit trailing_zeros truncate try_for_each wrapping_sub
set_len try_reserve
""".split())
RUST_TYPES = set("""
Box CString Cell ManuallyDrop MaybeUninit NonNull String UnsafeCell Vec mem ptr slice str thread libc core std ffi f32 f64 i8 i16 i32 i64 u8 u16 u32 u64
u128 usize char Self
HashMap i128
""".split())


def rows():
    """Calls, their kind, and what reaches them."""
    for line in TABLE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| `") else []
        if len(cells) == 4:
            yield re.findall(r"`([^`]+)`", cells[0]), cells[1], cells[3].strip("` |")


def listed(words):
    """The names in the paragraph that begins with these words."""
    found = re.search(rf"^{words}:? (.*?)\n(?:\n|\Z)", TABLE, re.M | re.S)
    return set(re.findall(r"`([^`]+)`", found[1]))


KINDS = {name: kind for names, kind, _ in rows() for name in names}
QUIET_OWN, RUNNING_OWN = listed("Those of quiet files"), listed("Those that run")
CONSTANTS, QUIET_FILES = listed("Types and constants"), listed("Quiet files")


def calls(path):
    """What a file calls: functions of the C API, methods, and functions of types and modules."""
    text = path.read_text()
    declared = set(re.findall(r"^    fn (_?Py\w+)", text, re.M))
    text = text.replace("core::ffi::", "core::")
    text = re.sub(r"//.*", "", text)
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    own = set(re.findall(r"\bfn (\w+)", text))
    found = set(re.findall(r"\bffi::(\w+)", text)) | {name for name in declared if f"{name}(" in text}
    for name in re.findall(r"\.([a-z_]\w*)(?:::<[^()]*>)?\(", text):
        if name not in RUST and name not in own:
            found.add(name)
    for of, name in re.findall(r"\b([A-Za-z_]\w*)::([a-z_]\w*)(?:::<[^()]*>)?\(", text):
        if of not in RUST_TYPES and name not in own:
            found.add(f"{of}::{name}")
    return found | set(re.findall(r"\b(intern!)\(", text))


def kind(name):
    """The kind of a call; `None` if it is not listed."""
    short = name.rpartition("::")[2]
    if name in CONSTANTS or short in CONSTANTS or name in QUIET_OWN or short in QUIET_OWN:
        return "never"
    if name in RUNNING_OWN:
        return "runs"
    return KINDS.get(name) or KINDS.get(short)


@pytest.mark.parametrize("path", READ, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_call_is_listed(path):
    unknown = sorted(name for name in calls(path) if kind(name) is None)
    assert not unknown, f"{path.relative_to(SOURCE)}: add to raw/calls.md, with its kind and why: {unknown}"


@pytest.mark.parametrize("name", sorted(QUIET_FILES))
def test_a_quiet_file_runs_no_code_of_python(name):
    running = sorted(call for call in calls(SOURCE / name) if kind(call).startswith("runs") and "open.rs" not in kind(call))
    assert not running, f"{name} borrows, and calls what may run code of Python: {running}"


def test_nothing_is_listed_that_is_gone():
    found = set().union(*(calls(path) for path in READ))
    short = found | {name.rpartition("::")[2] for name in found}
    gone = sorted(name for name in KINDS if name not in short and name.rpartition("::")[2] not in short)
    assert not gone


def test_the_walk_has_no_token():
    text = re.sub(r"//.*", "", (SOURCE / "raw/encode/walk.rs").read_text())
    assert ".py()" not in text and "assume_attached" not in text
    # Its constructor passes the token on, and `other` gets it from `hold`.
    using = [line.strip() for line in text.splitlines() if re.search(r"(?<!')\bpy\b", line)]
    assert using == [
        "pub(super) fn new(py: Python<'py>, settings: Settings<'py>) -> Self {",
        "let (out, open, known) = (Output::new(py), Open::new(py), SimpleClasses::new(py));",
        "let py = self.open.hold();",
        "let held = unsafe { Bound::from_borrowed_ptr(py, object) };",
        "Encoder::new(py, self).other(&held)",
    ]


# What the last column of the table says, in a program that does its worst.


class List(list):
    pass


class Dict(dict):
    pass


class Text(str):
    __slots__ = ()


class Unknown:
    def __init__(self, known):
        self.known = known


class Odd(enum.Enum):
    ONE = 2**70


@dataclasses.dataclass
class Record:
    a: int
    b: int = 0


class Plain:
    a: int

    def __init__(self, a):
        self.a = a


class Tuple(typing.NamedTuple):
    a: int


class Movie(typing.TypedDict, total=False):
    a: int


class Own:
    """It sets its attributes itself."""

    a: int

    def __init__(self, a):
        self.a = a

    def __setattr__(self, name, value):
        vars(self)[name] = value

    def __eq__(self, other):
        return vars(self) == vars(other)


@dataclasses.dataclass(slots=True)
class Slotted:
    a: int
    b: list = dataclasses.field(default_factory=list)


class Zone(datetime.tzinfo):
    def utcoffset(self, _):
        return datetime.timedelta(hours=1)


def names():
    found = {**vars(jird), **globals(), "dumps": jird.dumps, "loads": jird.loads}
    found.update(datetime=datetime, UUID=uuid.UUID)
    found.update(uuid=uuid.UUID(int=7), date_time=datetime.datetime(2024, 1, 1, tzinfo=Zone()).replace(tzinfo=None))
    try:
        import numpy

        found["numpy_array"] = numpy.array([[1, 2], [3, 4]])
    except ImportError:
        found["numpy_array"] = None
    found["answer"] = found["empty"] = lambda unknown: unknown.known
    return found


class Garbage:
    def __init__(self):
        self.itself = self

    def __del__(self):
        Garbage()
        for found in gc.get_objects(generation=0):
            if type(found) is list:
                list(found)


def evaluate(expression, around):
    try:
        return eval(expression, around)
    except (jird.JSONEncodeError, jird.JSONDecodeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("expression", sorted({reached for _, _, reached in rows() if reached != "None"}))
def test_what_reaches_a_call_is_the_same_in_a_hostile_program(expression):
    around = names()
    wanted = evaluate(expression, around)
    before, handler = gc.get_threshold(), signal.signal(signal.SIGALRM, lambda *_: Garbage())
    gc.disable()
    try:
        for _ in range(3):
            Garbage()
        for _ in range(10):
            signal.setitimer(signal.ITIMER_REAL, 1e-5)
            # Of the youngest objects only: the tests' own are many.
            gc.set_threshold(1, 10**6, 10**6)
            gc.enable()
            found = evaluate(expression, around)
            gc.disable()
            assert same(found, wanted), expression
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        gc.set_threshold(*before)
        Garbage.__del__ = lambda self: None
        gc.collect()
        del Garbage.__del__
        Garbage.__del__ = DEL
        gc.enable()


DEL = Garbage.__del__


def same(one, other):
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return vars(one) == vars(other) if isinstance(one, Plain) else one == other
