"""Random queries by jird and DuckDB, which must have the same rows; texts that were made of them, which must have good
manners; and queries by any number of threads and from any input, which must have the same bytes.

    python beside_duckdb.py JIRD SEED QUERIES MUTATED WAYS

asks that many of each. The exit code is 1 if an answer differs, a query crashes or does not end, or a message shows internals.
"""

import collections
import datetime
import decimal
import json
import math
import pathlib
import random
import re
import sys
import tempfile

import duckdb
from asked import Asked
from maker import Maker
from tables import Tables

QUERIES_PER_SEED = 50
HERE = pathlib.Path(__file__).parent
# What jird refuses, in words that say what to do instead.
REFUSED = (HERE / 'refused.txt').read_text().splitlines()


def plain(value):
    """A value that is equal to the other side's, whatever kind of number or time it is there."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, decimal.Decimal):
        value = int(value) if value == int(value) else float(value)
    if isinstance(value, int) and abs(value) >= 2**53:
        return str(value)
    if isinstance(value, int | float):
        return None if math.isinf(value) or math.isnan(value) else float(f'{value:.9g}')
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, list):
        return tuple(plain(element) for element in value)
    return re.sub(r'^(\d{4}-\d\d-\d\dT[\d:.]+)Z$', r'\1', value)


def differs(program, connection, tables, sql):
    """How the answers to a query differ; or that jird refuses it."""
    try:
        cursor = connection.execute(sql)
    except duckdb.Error:
        # It wants a constant to be no key, for example.
        asked = Asked(program, sql, tables.defined())
        return asked.fault(sql), True
    names = [column[0] for column in cursor.description]
    wanted = [tuple((type(plain(cell)) is bool, plain(cell)) for cell in row) for row in cursor.fetchall()]
    asked = Asked(program, sql, tables.defined())
    if fault := asked.fault(sql):
        return f'{fault}: {asked.said}', False
    if asked.code != 0:
        is_known = any(words in asked.message for words in REFUSED)
        return None if is_known else f'refused: {asked.said}', is_known
    rows = [json.loads(line) for line in asked.out.splitlines()]
    found = [tuple((type(row.get(name)) is bool, plain(row.get(name))) for name in names) for row in rows]
    if ' order by ' in sql.rsplit(')', 1)[-1] and 'distinct on' not in sql and found != wanted:
        return f'in order: {wanted} and not {found}', False
    wanted, found = collections.Counter(wanted), collections.Counter(found)
    return (f'{wanted - found} and not {found - wanted}' if wanted != found else None), False


WORDS = re.compile(r"'[^']*'|[a-z]\.[a-z]+|[A-Za-z_]\w*|\d+(?:\.\d+)?|<>|<=|>=|::|\|\||\S")
LITERALS = ['null', "''", "'x'", '0', '-1', '1.5', '1e999', '18446744073709551617', 'true', '[1, null]', "{'a': 1}",
            "interval '1 day'", "timestamp '2024-01-01'", '(select 1)', '*', 'x.t', 'x.l', 'x.none']


def mutated(rng, sql):
    """The query with some words exchanged for others of their kind, or dropped or doubled: most are queries still."""
    words = WORDS.findall(sql)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(words))
        while kind(words[at]) != 'value' and rng.random() < 0.95:
            at = rng.randrange(len(words))
        alike = [other for other in range(len(words)) if kind(words[other]) == kind(words[at])]
        other, way = rng.choice(alike), rng.randrange(12)
        if way == 0 and len(words) > 1:
            del words[at]
        elif way == 1:
            words.insert(at, words[at])
        elif way < 7 and kind(words[at]) == 'value':
            words[at] = rng.choice(LITERALS)
        else:
            words[at], words[other] = words[other], words[at]
    return ' '.join(words)


def kind(word):
    """What a word is, so that it may take the place of another one."""
    if re.fullmatch(r"'.*|[\d.]+|[a-z]\.[a-z]+", word):
        return 'value'
    return 'word' if word[0].isalpha() else 'sign'


def ways(program, tables, sql):
    """How the bytes of an answer differ by the number of threads, or from a file, a pipe and a packed file."""
    stream = re.sub(r'\ba (?=[qwxyz]\b)', 'stream ', sql)
    path = tables.paths['a']
    first = None
    for threads in '1238':
        for file, given in ((path, None), ('-', path.read_bytes()), (f'{path}.gz', None)):
            arguments = [str(file), *tables.defined('bc'), '--threads', threads, '--chunk-bytes', '20000']
            asked = Asked(program, stream, arguments, given)
            answer = asked.code, asked.out
            first = first or answer
            if answer != first:
                return f'{file} on {threads} threads: {answer} and not {first}: {asked.said}'
    return None


def main():
    program, seed, *amounts = sys.argv[1], *map(int, sys.argv[2:])
    queries, texts, several = amounts
    counts, faults = collections.Counter(), []
    connection = duckdb.connect()
    connection.execute("set TimeZone = 'UTC'")
    while counts['queries'] < queries:
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            tables = Tables(rng, pathlib.Path(folder), (25, 18, 7), 5)
            tables.load(connection)
            maker = Maker(rng)
            for number in range(min(QUERIES_PER_SEED, queries - counts['queries'])):
                sql = maker.query()
                counts['queries'] += 1
                fault, is_refused = differs(program, connection, tables, sql)
                counts['refused' if is_refused else 'different' if fault else 'equal'] += 1
                if fault:
                    faults.append(f'seed {seed}, query {number}: {sql}\n    {fault[:2000]}')
                if counts['mutated'] < texts:
                    text = mutated(rng, sql)
                    counts['mutated'] += 1
                    asked = Asked(program, text, tables.defined())
                    if fault := asked.fault(text):
                        faults.append(f'seed {seed}, query {number}, mutated: {text}\n    {fault}: {asked.said[:2000]}')
        seed += 1
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(rng, pathlib.Path(folder), (3000, 800, 200), 600)
        maker = Maker(rng)
        while counts['by all ways'] < several:
            sql = maker.query()
            counts['by all ways'] += 1
            if fault := ways(program, tables, sql):
                faults.append(f'seed {seed}, by all ways: {sql}\n    {fault[:2000]}')
    print(dict(counts))
    print('\n'.join(faults))
    sys.exit(bool(faults))


if __name__ == '__main__':
    main()
