import gc
import json

import pytest

import jird

VALUE = {
    "name": "jird",
    "legs": [1, 2.5, -3, 12345678901234567890123],
    "tail": {"long": True, "hair": None, "a/b": 1, "m~n": 2, "": 3},
    "é": "日本😀\n",
    "empty": [[], {}],
}
TEXT = json.dumps(VALUE, ensure_ascii=False, indent=1)


@pytest.fixture(params=[str, str.encode, lambda text: bytearray(text.encode()), lambda text: memoryview(text.encode())])
def document(request):
    return jird.parse(request.param(TEXT))


def test_values_are_those_of_loads(document):
    assert document.as_py() == VALUE == jird.loads(TEXT)
    assert document["name"] == "jird"
    assert document["legs"].as_py() == VALUE["legs"]
    assert document["legs"][3] == VALUE["legs"][3]
    assert document["é"] == VALUE["é"]
    assert document["tail"]["hair"] is None and document["tail"]["long"] is True


def test_a_document_is_read_as_a_dict_or_list(document):
    assert document.kind == "object" and document["legs"].kind == "array"
    assert len(document) == 5 and len(document["legs"]) == 4
    assert document.keys() == list(document) == list(VALUE)
    assert [key for key, _ in document.items()] == list(VALUE)
    assert document["tail"].values() == list(VALUE["tail"].values())
    assert "name" in document and "nam" not in document and 1 not in document and "\ud800" not in document
    assert 2.5 in document["legs"] and 4 not in document["legs"]
    assert document.get("name") == "jird" and document.get("no") is None and document.get("no", 1) == 1
    assert bool(document) and not bool(document["empty"][0]) and not bool(document["empty"][1])
    assert [inner.as_py() for inner in document["empty"]] == [[], {}]


def test_indexes_and_slices_are_those_of_a_list():
    value = list(range(10))
    document = jird.parse(json.dumps(value))
    for index in range(-12, 12):
        if -10 <= index < 10:
            assert document[index] == value[index]
        else:
            with pytest.raises(IndexError):
                document[index]
    bounds = [None, *range(-12, 13)]
    for start in bounds:
        for stop in bounds:
            for step in (None, 1, 2, 3, 11, -1, -2, -11):
                assert document[start:stop:step] == value[start:stop:step], (start, stop, step)
    with pytest.raises(ValueError):
        document[::0]


def test_pointers_are_those_of_rfc_6901(document):
    assert document.at_pointer("").as_py() == VALUE
    assert document.at_pointer("/legs/0") == 1
    assert document.at_pointer("/tail/a~1b") == 1
    assert document.at_pointer("/tail/m~0n") == 2
    assert document.at_pointer("/tail/") == 3
    assert document.at_pointer("/tail").as_py() == VALUE["tail"]
    for nowhere in ("legs", "/legs/4", "/legs/00", "/legs/-1", "/legs/-", "/tail/m~n", "/tail/m~2n", "/name/x", "/no", "/legs/"):
        with pytest.raises(KeyError):
            document.at_pointer(nowhere)


def test_pointers_of_the_corpus(corpus):
    tested = 0
    for path in sorted((corpus / "conformance" / "jsonpointer").rglob("*.json")):
        for case in json.loads(path.read_bytes()):
            if isinstance(case, dict) and "doc" in case and "pointer" in case:
                document = jird.parse(json.dumps(case["doc"]))
                if case.get("valid", "expected" in case):
                    document.at_pointer(case["pointer"])
                tested += 1
    print(tested, "pointers")


def test_what_is_not_there_is_a_key_error_or_index_error(document):
    for key in ("no", 1, None, "\ud800"):
        with pytest.raises(KeyError):
            document[key]
    with pytest.raises(IndexError):
        document["legs"][4]
    with pytest.raises(TypeError):
        document["legs"]["x"]
    with pytest.raises(TypeError):
        document["legs"].keys()
    with pytest.raises(TypeError):
        document["legs"].get("x")


@pytest.mark.parametrize("text", ["1", "1.5", '"x"', "null", "true", '"\\u0041"'])
def test_a_scalar_is_a_document_too(text):
    document = jird.parse(text)
    assert document.as_py() == json.loads(text)
    assert bool(document) == bool(json.loads(text))
    assert document.raw == text.encode()
    for use in (len, iter, lambda value: value[0], lambda value: 1 in value):
        with pytest.raises(TypeError):
            use(document)


def test_a_repeated_key_is_the_last_as_in_loads():
    text = '{"a":1,"b":2,"a":3}'
    document = jird.parse(text)
    assert document["a"] == document.at_pointer("/a") == document.get("a") == 3 == jird.loads(text)["a"]
    assert document.keys() == ["a", "b", "a"] and len(document) == 3


def test_values_outlive_everything():
    inner = jird.parse(bytes(bytearray(TEXT.encode())))["tail"]
    iterator = iter(jird.parse("[[1],[2],[3]]"))
    gc.collect()
    [bytes(1000) for _ in range(1000)]
    assert inner.as_py() == VALUE["tail"]
    assert next(iterator).as_py() == [1]
    assert [value.as_py() for value in iterator] == [[2], [3]]
    with pytest.raises(StopIteration):
        next(iterator)


def test_a_buffer_that_changes_later_changes_nothing():
    data = bytearray(b'{"a": [1, 2, 3]}')
    document = jird.parse(data)
    data[:] = b"x" * len(data)
    data.clear()
    assert document.as_py() == {"a": [1, 2, 3]}


def test_texts_stand_as_they_were_written():
    document = jird.parse(b'{"a": [1.50 , "\\u0041"], "b":1e2}')
    assert document["a"].raw == b'[1.50 , "\\u0041"]'
    assert document.raw == b'{"a": [1.50 , "\\u0041"], "b":1e2}'


def test_numbers_as_buffers():
    document = jird.parse("[1, 2.5, [-3, []], 1e3]")
    view = document.as_buffer()
    assert view.format == "d" and view.readonly and view.tolist() == [1.0, 2.5, -3.0, 1000.0]
    assert jird.parse("[1, -2]").as_buffer("q").tolist() == [1, -2]
    assert jird.parse("[18446744073709551615]").as_buffer("Q").tolist() == [(1 << 64) - 1]
    assert jird.parse("[]").as_buffer().tolist() == []
    large = jird.parse(json.dumps(list(range(10_000))))
    assert large.as_buffer("q").tolist() == list(range(10_000))
    for text, format, path in (
        ('{"x": [1, "a"]}', "d", "/x/1"),
        ('{"x": [1, 1.5]}', "q", "/x/1"),
        ('{"x": [-1]}', "Q", "/x/0"),
        ('{"x": [{"a": 1}]}', "d", "/x/0"),
        ('{"x": [1e999]}', "d", "/x/0"),
    ):
        with pytest.raises(ValueError, match=path):
            jird.parse(text)["x"].as_buffer(format)
    with pytest.raises(ValueError, match="format"):
        document.as_buffer("f")
    with pytest.raises(TypeError):
        jird.parse("{}").as_buffer()


def test_numpy_reads_a_buffer_without_copying():
    numpy = pytest.importorskip("numpy")
    view = jird.parse("[1, 2.5]").as_buffer()
    array = numpy.asarray(view)
    assert array.tolist() == [1.0, 2.5] and array.dtype == "float64"
    assert numpy.shares_memory(array, numpy.frombuffer(view.obj))


def test_a_document_shows_what_it_is(document):
    assert repr(document["legs"]).startswith("<jird.Document an array: [")
    assert len(repr(jird.parse("[" + '"é",' * 1000 + "1]"))) < 100
    assert document._ipython_key_completions_() == list(VALUE)
    assert jird.parse('{"a<b>":[1,"&"]}')._repr_html_() == (
        '<pre>{\n  "a&lt;b&gt;": [\n    1,\n    "&amp;"\n  ]\n}</pre>'
    )
    long = jird.parse("[" + '"é",' * 10_000 + "1]")._repr_html_()
    assert long.endswith("…</pre>") and len(long) < 10_000


def test_bad_texts_are_refused():
    for text, code in (("[1,]", "value"), ("", "empty"), (b"\xff", "utf8"), ("[" * 2000, "depth"), (1, "input")):
        with pytest.raises(jird.JSONDecodeError) as caught:
            jird.parse(text)
        assert caught.value.code == code


def test_a_number_that_no_float_holds_is_an_error_when_it_is_asked_for():
    document = jird.parse('{"a": 1, "b": [1e999]}')
    assert document["a"] == 1
    with pytest.raises(jird.JSONDecodeError) as caught:
        document["b"][0]
    assert (caught.value.code, caught.value.path) == ("range", "/b/0")
