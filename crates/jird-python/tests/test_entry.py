"""Functions whose arguments PyO3 does not take apart: they take what its functions take, and refuse what these refuse."""

import inspect
import pickle
import subprocess
import sys
import weakref

import pytest

import jird


class Bytes(bytes):
    pass


class Text(str):
    pass


class Unknown:
    pass


def test_they_are_described_as_before():
    assert str(inspect.signature(jird.loads)) == "(data, /, *, type=None)"
    assert str(inspect.signature(jird.dumps)) == "(obj, /, default=None, option=None)"
    assert str(inspect.signature(jird.Decoder.decode)) == "(self, data, /)"
    assert str(inspect.signature(jird.Encoder().encode)) == "(obj, /)"
    for function in (jird.loads, jird.dumps, jird.Decoder.decode, jird.Encoder.encode):
        assert function.__doc__.startswith(("Deserializes", "Serializes"))
    for function in (jird.loads, jird.dumps):
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__module__ == "jird._jird"
    assert jird.Decoder.decode.__qualname__ == "Decoder.decode"


@pytest.mark.parametrize("text", ["{}", "[]", " [ ] ", '""', "1", '{"a":[{},[1.5,null]]}', '["\\n"]', '["é"]', "[" * 99 + "]" * 99])
def test_a_text_is_read_alike_however_it_is_given(text):
    wanted = jird.loads(text, type=None)
    decoder = jird.Decoder()
    for given in (text, Text(text), text.encode(), Bytes(text.encode()), bytearray(text.encode()), memoryview(text.encode())):
        assert jird.loads(given) == wanted
        assert jird.loads(*(given,), **{}) == wanted
        assert decoder.decode(given) == wanted
        assert jird.Decoder.decode(decoder, given) == wanted


def test_arguments_without_names_and_with_them():
    def default(_):
        return 1

    wanted = b"[\n  1\n]"
    encoder = jird.Encoder(default, jird.OPT_INDENT_2)
    assert jird.dumps([Unknown()], default, jird.OPT_INDENT_2) == wanted
    assert jird.dumps([Unknown()], default, option=jird.OPT_INDENT_2) == wanted
    assert jird.dumps([Unknown()], option=jird.OPT_INDENT_2, default=default) == wanted
    assert jird.dumps([1], None, None) == jird.dumps([1], None) == jird.dumps([1]) == b"[1]"
    assert encoder.encode([Unknown()]) == jird.Encoder.encode(encoder, [Unknown()]) == wanted


def test_wrong_calls_are_type_errors():
    decoder, encoder = jird.Decoder(), jird.Encoder()
    for call in (
        lambda: jird.loads(),
        lambda: jird.loads("1", None),
        lambda: jird.loads(data="1"),
        lambda: jird.loads("1", kind=int),
        lambda: jird.dumps(),
        lambda: jird.dumps(1, None, 0, 0),
        lambda: jird.dumps(1, None, default=None),
        lambda: decoder.decode(),
        lambda: decoder.decode("1", "2"),
        lambda: decoder.decode(data="1"),
        lambda: jird.Decoder.decode("1"),
        lambda: jird.Decoder.decode(encoder, "1"),
        lambda: encoder.encode(),
        lambda: encoder.encode(1, 2),
        lambda: jird.Encoder.encode(decoder, 1),
    ):
        with pytest.raises(TypeError):
            call()
    for bits in (True, 1.0, "1", -1, 1 << 12, 1 << 40, 1 << 80):
        with pytest.raises(jird.JSONEncodeError, match="Invalid opts"):
            jird.dumps(1, None, bits)


@pytest.mark.parametrize("text", ["", "{", "[1,]", '{"a":1,}', "nul", "1 1", '"\ud800"', b"\xff", 1, None])
def test_mistakes_are_told_alike_however_they_are_reached(text):
    told = []
    for call in (lambda: jird.loads(text), lambda: jird.loads(text, type=None), lambda: jird.Decoder().decode(text)):
        with pytest.raises(jird.JSONDecodeError) as caught:
            call()
        told.append((str(caught.value), caught.value.pos, caught.value.code))
    assert told[0] == told[1] == told[2]


def test_default_is_called_once_also_if_it_fails():
    asked = []

    def default(value):
        asked.append(value)
        raise KeyError("no")

    for call in (
        lambda: jird.dumps([Unknown()], default),
        lambda: jird.dumps([Unknown()], default=default),
        lambda: jird.Encoder(default).encode([Unknown()]),
    ):
        with pytest.raises(jird.JSONEncodeError) as caught:
            call()
        assert isinstance(caught.value.__cause__, KeyError)
        assert len(asked) == 1
        asked.clear()


def test_an_exception_that_is_being_handled_is_no_failure():
    try:
        raise KeyError("no")
    except KeyError:
        assert jird.loads("[]") == [] and jird.dumps([]) == b"[]" and jird.loads("[[1]]") == [[1]]


def test_keys_and_values_that_give_way_to_others_are_released_at_once():
    decoder = jird.Decoder(dict[str, str])

    def read(turn):
        for at in range(20_000):
            jird.loads(f'{{"key {turn} {at}": 1}}')
            decoder.decode(f'{{"k {turn} {at}": "v {turn} {at}"}}')

    read(0)
    before = sys.getallocatedblocks()
    read(1)
    assert sys.getallocatedblocks() - before < 2_000


class Named(str):
    pass


def failing(value):
    raise ValueError(value)


def fails(call):
    try:
        call()
    except (ValueError, TypeError):
        return
    raise AssertionError("it should have failed")


@pytest.mark.parametrize(
    "call",
    [
        lambda: jird.dumps(2**64 - 1),
        lambda: jird.dumps([2**63, -(2**63)]),
        lambda: jird.dumps({2**70: 2**70}, option=jird.OPT_NON_STR_KEYS),
        lambda: fails(lambda: jird.dumps([Unknown()], default=failing)),
        lambda: fails(lambda: jird.Encoder(failing).encode([Unknown()])),
        lambda: fails(lambda: jird.dumps({Named("\ud800"): 1})),
        lambda: fails(lambda: jird.dumps({"\ud800": 1}, option=jird.OPT_SORT_KEYS)),
        lambda: fails(lambda: jird.loads("[1,")),
        lambda: fails(lambda: jird.loads('{"a": 1}', type=dict[str, str])),
        lambda: jird.loads('{"a": 1, "a": [2]}'),
    ],
)
def test_nothing_is_kept_after_a_call(call):
    for _ in range(300):
        call()
    before = sys.getallocatedblocks()
    for _ in range(3_000):
        call()
    assert sys.getallocatedblocks() - before < 500


def test_what_a_default_was_given_is_released_when_the_error_is():
    for call in (jird.dumps, lambda value, default: jird.Encoder(default).encode(value)):
        unknown = Unknown()
        gone = weakref.ref(unknown)
        with pytest.raises(jird.JSONEncodeError):
            call([unknown], failing)
        del unknown
        assert gone() is None


AT_THE_END = """
import jird
{before}
class Last:
    def __del__(self):
        {call}
        print("fine", flush=True)
last = Last()
"""


@pytest.mark.parametrize("before", ["", "jird.loads(long)"])
@pytest.mark.parametrize(
    "call",
    [
        "assert jird.loads(long) == list(range(400))",
        "assert jird.loads(escaped) == [chr(10)]",
        "assert jird.dumps([1, 2**64 - 1]) == b'[1,18446744073709551615]'",
    ],
)
def test_calls_work_while_the_interpreter_ends(before, call):
    texts = "long = str(list(range(400)))\nescaped = '[\"\\\\n\"]'\n"
    program = AT_THE_END.format(before=texts + before, call=call)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("fine\n", "", 0)
