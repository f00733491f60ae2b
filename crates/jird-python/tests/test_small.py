"""Short texts have a reader of their own. What it gives is what the reader of longer texts gives: a text with enough white
space behind it is a longer one."""

import json
import random

import jird
from test_loads import same

LONG = " " * 600
PIECES = [
    "{", "}", "[", "]", ",", ":", '"', "\\", " ", "\n", "\t", "\r", "\x00", "\x1f", "\x7f", "0", "00", "-", "-0", "1", "12", "007", "1.5",
    "1.", ".5", "1e5", "1E+", "-1e-7", "1e400", "123456789012345678", "1234567890123456789", "-9223372036854775808",
    "18446744073709551616", "true", "tru", "false", "null", "nul", "nulll", "NaN", "Infinity", "a", "abcdefgh", "abcdefghi", "é", "日本",
    "😀", "\\n", "\\u0041", "\\ud800", "\\x", '"a"', '"key":', '"a":1', '""', '"é":[', "[]", "{}", "[1,2]", '{"a":{"b":[null]}}',
]  # fmt: skip


def outcome(text):
    """The value, or the exception."""
    try:
        return jird.loads(text)
    except jird.JSONDecodeError as error:
        return error


def agree(text):
    short, long = outcome(text), outcome(text + LONG if isinstance(text, str) else text + LONG.encode())
    if isinstance(short, jird.JSONDecodeError) and isinstance(long, jird.JSONDecodeError):
        # Both are those of one engine. Where it meets the end, they differ.
        return False
    assert same(short, long), (text, short, long)
    return True


def value(chance, depth):
    kind = chance.randrange(12 if depth else 8)
    if kind < 2:
        return "".join(chance.choice("abc xyzéß日😀\"\\\n\x7f") for _ in range(chance.randrange(20)))
    if kind == 2:
        return chance.choice([0, 1, -1, 10**17, 10**18 - 1, -(10**18), 10**18, 2**63, 2**64, -(2**63), 10**30, 10**700])
    if kind == 3:
        return chance.choice([0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, 0.1, 123456789.125, 1e22, 1e23])
    if kind == 4:
        return chance.randrange(-(10**6), 10**6)
    if kind < 8:
        return chance.choice([None, True, False])
    if kind < 10:
        return [value(chance, depth - 1) for _ in range(chance.randrange(7))]
    return {chance.choice(["a", "é", "key", "a longer key", "k" * 70, "日"]) + str(chance.randrange(9)): value(chance, depth - 1)
            for _ in range(chance.randrange(7))}


def test_random_values_are_read_as_by_json():
    chance = random.Random(7)
    for _ in range(20_000):
        wanted = value(chance, 3)
        forms = {"ensure_ascii": chance.random() < 0.3, "indent": chance.choice([None, None, 1])}
        text = json.dumps(wanted, **forms)
        if len(text) < 4000 and "7" * 600 not in text:
            read = jird.loads(text if chance.random() < 0.5 else text.encode())
            assert same(read, wanted), text


def test_whatever_pieces_are_put_together_both_readers_agree():
    chance = random.Random(8)
    valid = 0
    for _ in range(60_000):
        text = "".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 9)))
        valid += agree(text)
    assert valid > 1000


def test_texts_that_are_cut_or_have_another_byte():
    chance = random.Random(9)
    for _ in range(15_000):
        text = json.dumps(value(chance, 3), ensure_ascii=False).encode()[:400]
        agree(text[: chance.randrange(len(text) + 1)])
        other = bytearray(text)
        for _ in range(chance.randrange(1, 3)):
            other[chance.randrange(len(other))] = chance.randrange(256)
        agree(bytes(other))


def test_every_length_up_to_the_longest_short_text():
    for size in range(480, 540):
        for text in ('"' + "x" * (size - 2) + '"', "[" + "1" * (size - 2) + "]", " " * (size - 1) + "1", "[" * (size // 2) + "]" * (size // 2)):
            if "1" * 400 not in text:
                assert same(jird.loads(text), json.loads(text))


def test_the_last_of_repeated_keys_stays_at_the_place_of_the_first():
    assert list(jird.loads('{"a":1,"b":2,"a":3}').items()) == [("a", 3), ("b", 2)]


def test_keys_that_differ_in_the_middle_or_are_not_ascii_are_made_once():
    for names in ([f"measurement_{index:02}_temperature" for index in range(50)], [f"größe {index}" for index in range(50)]):
        text = json.dumps([dict.fromkeys(names, 1)] * 2, ensure_ascii=False)
        for given in (text, json.dumps(dict.fromkeys(names[:9], 1), ensure_ascii=False)):
            jird.loads(given)
            first, second = (jird.loads(given) for _ in range(2))
            first, second = (found[0] if isinstance(found, list) else found for found in (first, second))
            shared = sum(one is other for one, other in zip(first, second))
            assert list(first) == list(second) and shared > 0.9 * len(first)
