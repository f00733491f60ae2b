"""Random queries over a file of random events, and over stores of these events, which must have the same rows.

    python beside_file.py JIRD SEED EVENTS QUERIES

makes that many events and asks that many queries, each of the file and of one of the stores: with and without compression, with columns that
are chosen, named, or none, filled in the order of the file and in another, compacted or not, with events in the log. The exit code is 1 if
an answer differs, a query crashes or does not end, or a message shows internals.
"""

import collections
import concurrent.futures
import decimal
import itertools
import json
import pathlib
import random
import sys
import tempfile

from asked import Asked, run
from events import Events, Queries

STEP = 1000


def fill(program, folder, texts):
    """The file, and the stores of its events."""
    file = folder / 'events.ndjson'
    file.write_bytes(b'\n'.join(texts) + b'\n')
    half, most = len(texts) // 2, len(texts) - min(50, len(texts) // 10)
    parts = {
        'chosen': ([texts], []),
        'none': ([texts], ['--compression', 'none', '--column', 'none']),
        # The second half first, and then a few events by themselves, which stay in the log.
        'apart': ([texts[half:], texts[:half // 2], texts[half // 2:half]], ['--compression', 'lz4', '--column', 'Elapsed,P.App,P.Code,Message']),
        'log': ([texts[:most], texts[most:]], []),
    }  # fmt: skip
    for name, (batches, options) in parts.items():
        for batch in batches:
            run(program, 'ingest', str(folder / name), '-', *options, given=b'\n'.join(batch))
            options = []
    run(program, 'store', 'compact', str(folder / 'apart'))
    return file, [folder / name for name in parts]


def normal(value):
    """Equal for values that are equal to a query: of groups, any spelling of the key may be shown."""
    if isinstance(value, dict):
        return frozenset((key, normal(item)) for key, item in value.items())
    if isinstance(value, list):
        return ('list', *map(normal, value))
    return (type(value) is bool, value)


def rows(asked, in_order, in_bytes):
    lines = asked.out.splitlines()
    if not in_bytes:
        lines = [normal(json.loads(line, parse_float=decimal.Decimal)) for line in lines]
    return lines if in_order else collections.Counter(lines)


def ask(program, file, store, query):
    """How the answers to a query differ, and whether both refuse it."""
    sql, *how = query
    of_file, of_store = (Asked(program, sql.replace('{}', f"'{path}'"), []) for path in (file, store))
    if fault := of_file.fault(sql) or of_store.fault(sql):
        return f'{fault}: {of_file.said} {of_store.said}', False
    if of_file.code != of_store.code:
        return f'{of_file.said} and {of_store.said}', False
    wanted, found = rows(of_file, *how), rows(of_store, *how)
    if wanted == found:
        return None, of_file.code != 0
    if isinstance(wanted, list):
        at = next(at for at, pair in enumerate(itertools.zip_longest(wanted, found)) if pair[0] != pair[1])
        return f'row {at}: {wanted[at:at + 1]} and not {found[at:at + 1]}', False
    return f'{list((wanted - found).items())[:5]} and not {list((found - wanted).items())[:5]}', False


def main():
    program, seed, events, queries = sys.argv[1], *map(int, sys.argv[2:])
    rng, counts, faults = random.Random(seed), collections.Counter(), []
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        texts = [text.encode() for text in Events(rng).texts(events)]
        file, stores = fill(program, pathlib.Path(name), texts)
        ids = [text.split('"Id":"', 1)[1][:16] for text in map(bytes.decode, rng.sample(texts, 50)) if '"Id":"' in text]
        maker = Queries(rng, events, ids)
        for done in range(0, queries, STEP):
            asked = [(maker.query(), rng.choice(stores)) for _ in range(min(STEP, queries - done))]
            for (query, store), (fault, is_refused) in zip(asked, pool.map(lambda pair: ask(program, file, pair[1], pair[0]), asked)):
                counts['refused' if is_refused else 'different' if fault else 'equal'] += 1
                if fault:
                    faults.append(f'seed {seed}, store {store.name}: {query[0]}\n    {fault[:2000]}')
            if queries > STEP:
                print(dict(counts), *faults, sep='\n', flush=True)
    print(dict(counts), *faults, sep='\n')
    sys.exit(bool(faults))


if __name__ == '__main__':
    main()
