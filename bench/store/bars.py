"""The bars of a jird store: how quickly it takes events, how large it is, and how quickly it answers, beside the same
queries over the file that the events came from.

    python bars.py JIRD EVENTS [--day EVENTS] [--folder DIR] [--rounds N]        prints tables in Markdown; keeps nothing

JIRD is the released program, EVENTS lines of the generator (`cargo run --release -p generate-events`), and `--day` some
gigabytes of them over a day (`--hours 24`). The file is in the page cache and read with `--check all`; a store was
checked when the events came in. Both have two threads, and are a process per query. Runs are in turns, medians count,
and the rows must be equal, to the byte.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COLUMNS = ('--column', 'Elapsed,Properties.Application')
STORES = {
    'plain': (),
    'columns': COLUMNS,
    'lz4': ('--compression', 'lz4'),
    'lz4, columns': ('--compression', 'lz4', *COLUMNS),
    'zstd': ('--compression', 'zstd'),
    'zstd, columns': ('--compression', 'zstd', *COLUMNS),
}
QUERIES = {
    'filter': 'select Message where Elapsed > 200',
    'match': "select Message where match(Message, '/api/customers')",
    'group': 'select Properties.Application as app, count(*) as n, avg(Elapsed) as ms group by app order by app',
    'lookup': "select Message where Properties.RequestId = '{request}'",
    'absent': "select Message where Properties.RequestId = 'nobody'",
    'every document': 'select Properties.SourceContext as source, count(*) as n group by source order by source',
}


def run(program, *arguments):
    """The output, the seconds, and the largest resident size in MB."""
    started = time.perf_counter()
    child = subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f'failed: {program} {arguments}')
    return out, time.perf_counter() - started, usage.ru_maxrss / 1000


def ingest(program, store, events, *options):
    size = os.path.getsize(events)
    _, seconds, resident = run(program, 'ingest', store, events, '--quiet', *options)
    bytes_ = sum(file.stat().st_size for file in store.rglob('*') if file.is_file())
    return size / 1e6 / seconds, resident, bytes_ / size


def in_turns(rounds, ways):
    """The median seconds of each way; all must give the same."""
    times = {name: [] for name in ways}
    outputs = {}
    for round_ in range(rounds + 1):
        names = list(ways)
        for name in names[round_ % len(names):] + names[:round_ % len(names)]:
            out, seconds, _ = run(*ways[name])
            outputs[name] = out
            if round_:
                times[name].append(seconds)
    first, *others = outputs
    for name in others:
        if sorted(outputs[name].splitlines()) != sorted(outputs[first].splitlines()):
            sys.exit(f'DIFFERENT: {name} has {outputs[name][:200]}, {first} {outputs[first][:200]}')
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def query(program, sql, *options):
    return program, 'query', sql, '--threads', '2', '--quiet', *options


def row(*cells):
    print('|', ' | '.join(str(cell) for cell in cells), '|', flush=True)


def head(*cells):
    row(*cells)
    print('|---' + '|---:' * (len(cells) - 1) + '|')


def some_request(events):
    with open(events, 'rb') as file:
        file.seek(os.path.getsize(events) // 2)
        file.readline()
        line = file.readline()
    return line.split(b'"RequestId":"')[1].split(b'"')[0].decode()


def minutes(args, folder):
    print(f'{os.path.getsize(args.events) / 1e6:.0f} MB of events\n')
    head('store', 'ingest MB/s', 'resident MB', 'size')
    for name, options in STORES.items():
        figures = ingest(args.jird, folder / name, args.events, *options)
        row(name, *'{:.0f} {:.0f} {:.3f}'.format(*figures).split())
    print('\nTimes as fast as the file\n')
    head('query', 'file ms', *STORES)
    for name, sql in QUERIES.items():
        sql = sql.format(request=some_request(args.events))
        ways = {'file': query(args.jird, sql, args.events, '--check', 'all')}
        ways |= {store: query(args.jird, sql, '--store', folder / store) for store in STORES}
        medians = in_turns(args.rounds, ways)
        file = medians.pop('file')
        row(name, f'{1000 * file:.1f}', *(f'{file / seconds:.2f}' for seconds in medians.values()))


def day(args, folder):
    print(f'\n{os.path.getsize(args.day) / 1e6:.0f} MB of events over a day\n')
    store = folder / 'day'
    rate, resident, size = ingest(args.jird, store, args.day)
    print(f'ingest {rate:.0f} MB/s, {resident:.0f} MB resident, size {size:.3f}\n')
    request = some_request(args.day)
    first = run(*query(args.jird, 'select "@t" order by "@t" limit 1', '--store', store))[0].split(b'"')[3].decode()
    date = first[:10]
    rows = {
        'an hour': ("select Message where Elapsed > 200", ('--since', f'{date}T19:00:00Z', '--until', f'{date}T20:00:00Z'),
                    f"select Message where Elapsed > 200 and \"@t\" >= '{date}T19:00:00' and \"@t\" < '{date}T20:00:00'"),
        'lookup': (f"select Message where Properties.RequestId = '{request}'", (), None),
        'newest 100': ('select Message, "@t" where Elapsed > 200 order by "@t" desc limit 100', (), None),
    }
    head('query', 'file ms', 'store ms', 'times as fast')
    for name, (sql, options, of_file) in rows.items():
        medians = in_turns(args.rounds, {
            'file': query(args.jird, of_file or sql, args.day, '--check', 'all'),
            'store': query(args.jird, sql, '--store', store, *options),
        })
        file, of_store = medians.values()
        row(name, f'{1000 * file:.1f}', f'{1000 * of_store:.1f}', f'{file / of_store:.1f}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('jird')
    parser.add_argument('events')
    parser.add_argument('--day')
    parser.add_argument('--folder')
    parser.add_argument('--rounds', type=int, default=5)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=args.folder, prefix='jird-store-'))
    try:
        minutes(args, folder)
        if args.day:
            day(args, folder)
    finally:
        shutil.rmtree(folder)


main()
