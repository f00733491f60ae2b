"""Requests per second of `jird serve` beside plain servers, one with the same rows in SQLite, two with a list in memory.

    python rates.py RATES PLAIN [--rounds N] [--seconds S] [--datasette]     prints a table in Markdown; keeps nothing

RATES is `target/release/examples/rates`, PLAIN is `bench/serve/plain`, built with `cargo build --release` there. The
client is `wrk`, with one connection on one thread and with 64 on two, all on this machine. The servers take turns,
medians count, every answer must be a 200, and before that the servers must answer the same tasks. With `--datasette`,
its latest version from PyPI must be installed.
"""

import argparse
import json
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

WAYS = {'-c1 -t1': ('-c1', '-t1'), '-c64 -t2': ('-c64', '-t2')}


def read(url):
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


def rate(url, way, seconds):
    """Requests per second, all of them answered by a 200."""
    out = subprocess.run(['wrk', *way, f'-d{seconds}s', url], check=True, capture_output=True, text=True).stdout
    if 'Non-2xx' in out or 'Socket errors' in out:
        sys.exit(f'{url}: {out}')
    return float(re.search(r'Requests/sec:\s+([\d.]+)', out)[1])


def datasette(path):
    """Datasette with the same tasks."""
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    child = subprocess.Popen(
        [sys.executable, '-m', 'datasette', path, '-p', str(port), '--setting', 'max_returned_rows', '2000'],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    url = f'http://127.0.0.1:{port}/tasks/tasks.json?_shape=array&_size=max'
    for _ in range(100):
        try:
            read(url)
            return child, url
        except OSError:
            time.sleep(0.1)
    sys.exit('datasette does not answer')


def start(program, rows, path, last, addresses):
    """Starts a program that prints the names and addresses of its servers."""
    child = subprocess.Popen([program, str(rows), path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while last not in addresses:
        name, address = child.stdout.readline().split()
        addresses[name] = f'http://{address}'
    return child


def measure(arguments, rows):
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, 'tasks.db'))
        addresses = {}
        # The first one makes the table.
        children = [
            start(arguments.rates, rows, path, 'list', addresses),
            start(arguments.plain, rows, path, 'axum', addresses),
        ]
        targets = {name: f'{address}/tasks' for name, address in addresses.items()}
        answers = [read(url) for url in targets.values()]
        if any(answer != answers[0] or len(answer) != rows for answer in answers):
            sys.exit('the servers do not answer the same')
        targets |= {f'{name}: one': f'{address}/tasks/1' for name, address in addresses.items() if name in ('rows', 'kept')}
        other = None
        if arguments.datasette:
            other, targets['datasette'] = datasette(path)
        found = {(name, way): [] for name in targets for way in WAYS}
        for _ in range(arguments.rounds):
            for way, options in WAYS.items():
                for name, url in targets.items():
                    found[name, way].append(rate(url, options, arguments.seconds))
        if other:
            other.terminate()
            other.wait()
        for child in children:
            child.stdin.close()
            child.wait()
    return {key: statistics.median(rates) for key, rates in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('rates')
    parser.add_argument('plain')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=int, default=1)
    parser.add_argument('--datasette', action='store_true')
    parser.add_argument('--rows', type=int, nargs='*', default=[2, 128, 1024])
    arguments = parser.parse_args()
    others = ('axum-sqlite', 'axum', 'list')
    print('| rows | wrk | server | requests/s | times axum with SQLite | axum | hyper |\n|---:|---|---|---:|---:|---:|---:|')
    for rows in arguments.rows:
        found = measure(arguments, rows)
        for (name, way), median in found.items():
            times = ['' if name.endswith('one') else f'{median / found[other, way]:.2f}' for other in others]
            print(f'| {rows} | `{way}` | {name} | {median:,.0f} | {" | ".join(times)} |', flush=True)


if __name__ == '__main__':
    main()
