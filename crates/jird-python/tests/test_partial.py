"""Texts that are still arriving, and JSONPath in documents."""

import json
import random
import threading

import pytest

import jird

TEXT = '{"answer": "It de\\u00fcpends \\ud83d\\ude00 \u00e9\u20ac", "n": [1, -2.5e3, true, null, {}], "": {"a": [[]]}}'


def test_the_value_so_far_grows_with_any_cut():
    data = TEXT.encode()
    whole = json.loads(TEXT)
    rounds = random.Random(7)
    for _ in range(200):
        partial, at = jird.Partial(), 0
        assert partial.value() is None and partial.text() is None and partial.value(5) == 5
        while at < len(data):
            end = min(len(data), at + rounds.randrange(1, 12))
            partial.push(data[at:end])
            at = end
            assert partial.value() == json.loads(partial.text())
            assert partial.complete == (at == len(data))
        partial.finish()
        assert partial.value() == whole


def test_strings_grow_and_numbers_wait():
    partial = jird.Partial()
    partial.push('{"a": "x')
    assert partial.value() == {"a": "x"}
    partial.push('\\ud83d')
    assert partial.value() == {"a": "x"}
    partial.push('\\ude00", "b": 12')
    assert partial.value() == {"a": "x\U0001f600"}
    partial.push("5}")
    assert partial.value() == {"a": "x\U0001f600", "b": 125} and partial.complete
    whole = jird.Partial(whole_strings=True)
    whole.push(b'["a", "b')
    assert whole.value() == ["a"]


def test_typed_values_come_from_the_text():
    partial = jird.Partial()
    partial.push('{"items": [{"name": "a"}, {"na')
    assert jird.loads(partial.text(), type=dict[str, list[dict[str, str]]]) == {"items": [{"name": "a"}, {}]}


def test_errors_come_early_and_the_value_stays():
    partial = jird.Partial()
    partial.push('{"a": 1,\n "b": [')
    with pytest.raises(jird.JSONDecodeError) as caught:
        partial.push("2, }")
    with pytest.raises(json.JSONDecodeError) as expected:
        json.loads('{"a": 1,\n "b": [2, }')
    assert (caught.value.lineno, caught.value.pos) == (expected.value.lineno, expected.value.pos)
    assert caught.value.path == "/b/1"
    assert partial.value() == {"a": 1, "b": [2]}
    with pytest.raises(jird.JSONDecodeError):
        partial.push("1")
    early = jird.Partial()
    early.push("[1")
    with pytest.raises(jird.JSONDecodeError):
        early.finish()
    early.push("]")
    early.finish()
    with pytest.raises(jird.JSONDecodeError):
        early.push(" ")
    with pytest.raises(jird.JSONDecodeError):
        jird.Partial().push(3)


def test_threads_may_share_one():
    partial = jird.Partial()
    partial.push("[")

    def work():
        for _ in range(500):
            partial.push("0,")
            partial.value()

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    partial.push("0]")
    assert partial.value() == [0] * 2001


def test_paths_find_values():
    document = jird.parse('{"users": [{"name": "ada", "age": 36}, {"name": "bob", "age": 17}], "age": 1}')
    assert document.path("$.users[?@.age >= 18].name") == ["ada"]
    assert document.path("$..age") == [1, 36, 17]
    assert [found.as_py() for found in document.path("$.users[-1:]")] == [{"name": "bob", "age": 17}]
    assert document["users"].path("$[0].name") == ["ada"]
    assert document.path("$.nowhere") == []
    with pytest.raises(ValueError, match="a comparison is written `==`"):
        document.path("$[?@.a = 1]")
    deep = jird.parse('{"a":' * 900 + "1" + "}" * 900)
    with pytest.raises(ValueError):
        deep.path("$..a..a..a..a")
