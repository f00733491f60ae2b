"""What `dumps` writes of dicts, strings and numbers of every form, and of containers that are taken away meanwhile."""

import gc
import json
import random
import sys

import pytest

import jird


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("length", [*range(140), 1000])
def test_strings_of_every_length(length):
    for character in ("a", '"', "\\", "\n", "\x1f", "\x7f", "é", "€", "😀"):
        for position in {0, length // 2, max(length - 1, 0)}:
            text = "x" * position + character + "y" * max(length - position - 1, 0)
            found = jird.dumps([text, {text: text}])
            assert found == compact([text, {text: text}])
            assert jird.loads(found) == [text, {text: text}]


def test_integers_of_every_length():
    near = {10**power + more for power in range(25) for more in range(-2, 3)}
    near |= {2**power + more for power in range(70) for more in range(-2, 3)}
    near |= {10 * 10**power - 1 for power in range(20)} | {42 * 10**8 + 7, 99 * 10**8, 123456789, 2**30 - 1, 2**30}
    values = sorted(near | {-value for value in near})
    assert jird.dumps(values) == compact(values)


def test_dicts_of_every_form():
    removed = {str(index): index for index in range(40)}
    for index in (0, 3, 4, 17, 39):
        del removed[str(index)]
    emptied = {"a": 1}
    del emptied["a"]
    general = {1: 1, "a": 2, "b": 3}
    del general[1]

    class Point:
        def __init__(self):
            self.x, self.y, self.z = 1, [2], {"w": 3}

    split, cut, added = Point(), Point(), Point()
    del cut.y
    added.__dict__["an entry of its own"] = 4
    large = {f"key {index}": index for index in range(70_000)}
    values = [removed, emptied, general, vars(split), vars(cut), vars(added), large, {}, {"": {}}, [], [[]], (), ((),)]
    for value in [*values, values]:
        assert jird.dumps(value) == compact(value)
        assert json.loads(jird.dumps(value, option=jird.OPT_INDENT_2)) == json.loads(compact(value))

    class Name(str):
        pass

    assert jird.dumps({"a": 1, Name("b"): 2, "c": [Name("d")]}) == b'{"a":1,"b":2,"c":["d"]}'
    for bad in ({1: 1}, {"a": 1, 2: 2}, {None: 1}):
        with pytest.raises(jird.JSONEncodeError, match="Dict key must be str"):
            jird.dumps(bad)


def test_containers_that_are_taken_away_while_they_are_written():
    class Thing:
        pass

    def written(outer, text):
        def default(_):
            outer.clear()
            gc.collect()
            # Whatever was freed is used for something else.
            return [["other"] * 5 for _ in range(3)]

        other = compact([["other"] * 5 for _ in range(3)]).decode()
        assert jird.dumps(outer, default=default) == text.replace("*", other).encode()

    written([[1, [2, [Thing(), 3], 4], 5], 6], "[[1,[2,[*,3],4],5]]")
    written([(1, (Thing(), "a" * 50), 5), 6], f'[[1,[*,"{"a" * 50}"],5]]')
    written([{"a": {"b": [Thing(), 1], "c": 2}, "d": 3}, 6], '[{"a":{"b":[*,1],"c":2},"d":3}]')
    written([[[[[Thing()], Thing()], Thing()], Thing()], Thing()], "[[[[[*],*],*],*]]")
    with pytest.raises(RuntimeError, match="changed its size"):
        written({"a": {"b": [Thing(), 1]}, "c": 2}, "")
    outer = {"a": [1, [Thing()]]}
    assert jird.dumps(outer, default=lambda _: outer.update(a=None)) == b'{"a":[1,[null]]}'


def test_references_to_containers_after_a_failure():
    class Thing:
        pass

    for kind in (list, tuple, lambda members: {"a": members[0]}):
        innermost = kind([Thing()])
        middle = kind([innermost])
        outer = kind([middle])
        counts = [sys.getrefcount(value) for value in (innermost, middle, outer)]
        for _ in range(3):
            with pytest.raises(jird.JSONEncodeError):
                jird.dumps(outer)
            with pytest.raises(jird.JSONEncodeError):
                jird.dumps(outer, default=lambda _: 1 / 0)
            assert jird.dumps(outer, default=lambda _: 1).strip(b'{}[]":a') == b"1"
        assert [sys.getrefcount(value) for value in (innermost, middle, outer)] == counts


def test_sorted_keys_of_every_length_and_with_every_beginning():
    source = random.Random(7)
    alphabet = ["\0", "a", "b", "~", "\x7f", "é", "€", "😀"]
    for _ in range(300):
        begin = "".join(source.choices(alphabet, k=source.randrange(12)))
        keys = [begin[: source.randrange(12)] + "".join(source.choices(alphabet, k=source.randrange(4))) for _ in range(60)]
        source.shuffle(keys)
        made = json.loads(jird.dumps(dict.fromkeys(keys, 1), option=jird.OPT_SORT_KEYS))
        assert list(made) == sorted(set(keys), key=str.encode)
