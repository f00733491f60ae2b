import json
import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jird

VALUES = [
    "null", "true", "false", "0", "-0", "-0.0", "1", "-1", "256", "257", "-6", "1.5", "1e3", "1E-7", "0.1",
    "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551615", "18446744073709551616", "5e-324", "1.7976931348623157e308", "2.2250738585072011e-308",
    '""', '"a"', '"é"', '"ÿ"', '"\u0100"', '"日本"', '"😀"', '"a😀é日"', r'"\u00e9"', r'"\ud83d\ude00"', r'"\"\\\/\b\f\n\r\t"',
    "[]", "{}", "[[],{}]", '{"a":1}', '{"a":{"b":[1,2,{"c":null}]}}', '{"":0}', '{"é":1,"日":2,"😀":3}',
    '{"a":1,"a":2}', " [ 1 , 2 ] ", "[" * 200 + "]" * 200,
]  # fmt: skip


def same(one, other):
    """Equal, in types too, and in the sign of zeros. Without recursion, for which some documents are too deep."""
    pairs = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, (list, dict)):
            if len(one) != len(other):
                return False
            if isinstance(one, dict):
                if list(one) != list(other):
                    return False
                one, other = one.values(), other.values()
            pairs.extend(zip(one, other))
        elif one != other or isinstance(one, float) and math.copysign(1, one) != math.copysign(1, other):
            return False
    return True


@pytest.mark.parametrize("text", VALUES)
def test_values_are_those_of_json(text):
    wanted = json.loads(text)
    for given_as in (text, text.encode(), bytearray(text.encode()), memoryview(text.encode())):
        assert same(jird.loads(given_as), wanted)


@pytest.mark.parametrize("len", [*range(70), 127, 128, 129, 255, 256, 257, 1000])
@pytest.mark.parametrize("char", ["a", "é", "\u0100", "日", "😀"])
def test_strings_and_keys_of_every_length(len, char):
    for text in ("x" * len, char * len, "x" * len + char, char + "x" * len):
        for value in (text, {text: text}, [text + "\n"]):
            assert same(jird.loads(json.dumps(value)), value)
            assert same(jird.loads(json.dumps(value, ensure_ascii=False).encode()), value)


def test_strings_are_in_python_s_own_form():
    # A string that is stored too wide would differ in its size, and would not be equal to one that is not.
    for text in ("abc", "éé", "a\u0100", "日本", "a😀", "é😀"):
        read = jird.loads(json.dumps(text, ensure_ascii=False))
        assert sys.getsizeof(read) == sys.getsizeof("".join(list(text)))
        assert {read: 1}[text] == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
@settings(max_examples=500, deadline=None)
def test_what_json_writes_is_read(value):
    assert same(jird.loads(json.dumps(value)), value)
    assert same(jird.loads(json.dumps(value, ensure_ascii=False, indent=1).encode()), value)


@given(st.binary(max_size=64) | st.text(alphabet='[]{},:"\\u0123456789abtrufalsen.eE+- ', max_size=64).map(str.encode))
@settings(max_examples=2000, deadline=None)
def test_any_bytes_are_read_as_json_does_or_refused(data):
    try:
        read = jird.loads(data)
    except jird.JSONDecodeError:
        return
    assert same(read, json.loads(data))


def test_every_valid_document_of_the_corpus(corpus):
    read = 0
    for path in sorted(corpus.rglob("*.json")):
        data = path.read_bytes()
        try:
            # The standard library guesses encodings; JSON is UTF-8.
            wanted = json.loads(data.decode("utf-8"), parse_constant=lambda name: 1 / 0)
        except (ValueError, RecursionError, ZeroDivisionError):
            continue
        try:
            found = jird.loads(data)
        except jird.JSONDecodeError as error:
            # Lone surrogates, and numbers that are infinite as a double: rows of docs/coming-from-orjson.md.
            assert error.code in ("escape", "range"), path
            continue
        assert same(found, wanted), path
        read += 1
    for path in sorted(corpus.rglob("*.ndjson")):
        for line in path.read_bytes().splitlines()[:2000]:
            try:
                wanted = json.loads(line)
            except ValueError:
                with pytest.raises(jird.JSONDecodeError):
                    jird.loads(line)
                continue
            assert same(jird.loads(line), wanted), path
            read += 1
    assert read > 500


def test_json_test_suite_is_accepted_and_refused_as_its_names_say(corpus):
    files = sorted((corpus / "conformance" / "JSONTestSuite").rglob("[yn]_*.json"))
    assert len(files) > 250
    for path in files:
        if path.name.startswith("y_"):
            jird.loads(path.read_bytes())
        else:
            with pytest.raises(jird.JSONDecodeError):
                jird.loads(path.read_bytes())


def test_integers_of_any_size_are_exact():
    for digits in (18, 19, 20, 21, 100, 4300):
        for text in ("9" * digits, "-" + "9" * digits, "1" + "0" * (digits - 1)):
            assert jird.loads(text) == int(text)
            assert jird.dumps(int(text)) == text.encode()


def test_keys_are_made_once():
    one, other = jird.loads('[{"some key": 1}, {"some key": 2}]')
    assert next(iter(one)) is next(iter(other))
    again = jird.loads('{"some key": 3}')
    assert next(iter(again)) is next(iter(one))


def test_more_keys_than_the_cache_holds():
    value = {f"key {index}": {f"{index}": index, "x" * (index % 80): 1} for index in range(10_000)}
    text = json.dumps(value)
    for _ in range(2):
        assert jird.loads(text) == value


@pytest.mark.parametrize(
    ("text", "msg", "pos", "lineno", "colno", "path", "code"),
    [
        ('{"a": [1, 2,]}', "expected a value, at /a/2", 12, 1, 13, "/a/2", "value"),
        ("", "expected a value, found nothing", 0, 1, 1, "", "empty"),
        ('{"é": [\n"日", x]}', None, 13, 2, 6, "/é/1", "value"),
        ("[1", None, 2, 1, 3, "/0", "unclosed"),
        ("[1] 2", None, 4, 1, 5, "", "trailing"),
    ],
)
def test_an_error_says_where_it_is(text, msg, pos, lineno, colno, path, code):
    for given_as in (text, text.encode()):
        with pytest.raises(jird.JSONDecodeError) as caught:
            jird.loads(given_as)
        error = caught.value
        assert (error.pos, error.lineno, error.colno, error.code) == (pos, lineno, colno, code)
        assert error.doc == text
        assert error.path == path
        assert error.offset == len(text[:pos].encode())
        if msg is not None:
            assert error.msg == msg
        assert str(error) == f"{error.msg}: line {lineno} column {colno} (char {pos})"
        assert isinstance(error, json.JSONDecodeError) and isinstance(error, ValueError)


def test_an_error_survives_pickling():
    import pickle

    with pytest.raises(jird.JSONDecodeError) as caught:
        jird.loads('{"a": x}')
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.msg, copy.pos, copy.path, copy.code) == (
        caught.value.msg,
        caught.value.pos,
        caught.value.path,
        caught.value.code,
    )


@pytest.mark.parametrize("data", [b"\xff", b'"\xff"', b'"\xed\xa0\x80"', b'["\xe2\x82"]', b'"a\xc3', b'{"\xc0\x80":1}'])
def test_invalid_utf8_is_refused_with_a_place(data):
    for given_as in (data, bytearray(data), memoryview(data)):
        with pytest.raises(jird.JSONDecodeError) as caught:
            jird.loads(given_as)
        assert 0 <= caught.value.offset <= len(data)
        assert caught.value.pos <= len(caught.value.doc)


@pytest.mark.parametrize("data", [None, 1, 1.5, [], {}, object(), [b"1"]])
def test_what_is_no_text_is_refused(data):
    with pytest.raises(jird.JSONDecodeError) as caught:
        jird.loads(data)
    assert caught.value.code == "input"


def test_a_buffer_that_is_not_contiguous_is_refused():
    with pytest.raises(jird.JSONDecodeError):
        jird.loads(memoryview(b"[ 1 ]")[::2])
    assert jird.loads(memoryview(b"xx[1]xx")[2:5]) == [1]


def test_depth_is_bounded_and_deep_texts_are_no_danger():
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        inner = "1"
        jird.loads(opening * 1024 + inner + closing * 1024)
        for depth in (1025, 100_000):
            for text in (opening * depth, opening * depth + inner + closing * depth):
                with pytest.raises(jird.JSONDecodeError) as caught:
                    jird.loads(text)
                assert caught.value.code == "depth"


def test_a_str_with_a_surrogate_is_refused():
    with pytest.raises(jird.JSONDecodeError):
        jird.loads('"\ud800"')


def test_a_text_that_several_threads_parse():
    value = [{"a": index, "b": "x" * 90} for index in range(100_000)]
    text = json.dumps(value)
    assert len(text) > 8 << 20
    assert jird.loads(text) == value
    with pytest.raises(jird.JSONDecodeError) as caught:
        jird.loads(text[:-1] + "x")
    assert caught.value.pos == len(text) - 1
