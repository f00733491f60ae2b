"""Can a database be trusted to `jird serve`? Four stories with other processes at the same database, each counted.

    python trust.py JIRD [--rows N] [--answers N] [STORY…]

JIRD is the program, with SQL. The stories:

lost    Clients insert rows while other processes open, read, write and close the database, and `/query` reads it. The
        server is killed again and again. Every acknowledged row must be there in the end: those of others, too.
mixed   A process changes all rows of a table in one transaction, again and again. Every answer, short, streamed or from
        `/query`, must have the rows of one state; with a write-ahead log and without.
stale   A process commits a number and tells it. Answers that are asked for afterwards must have that number, or a later one.
held    What others wait for, beside clients that hold places: bodies that do not come, half heads, readers that do not
        read, a locked database, counts of four million rows. It may be 100 ms more than without them.
"""

import argparse
import http.client
import json
import multiprocessing
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

TOKEN = 'token-of-the-test-with-enough-signs'
PROCESSES = multiprocessing.get_context('spawn')


class Server:
    """`jird serve` in a process of its own."""

    def __init__(self, jird, folder, *arguments, token=False):
        command = [jird, 'serve', *arguments, '--listen', '127.0.0.1:0']
        if token:
            Path(folder, 'tokens').write_text(TOKEN + '\n')
            command += ['--token-file', 'tokens']
        self.token = token
        self.process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        if ' at http://' not in line:
            sys.exit(f'the server does not start: {line}{self.process.stderr.read()}')
        self.port = int(line.rsplit(':', 1)[1])
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def client(self, timeout=60):
        return Client(self.port, self.token, timeout)

    def connect(self):
        return socket.create_connection(('127.0.0.1', self.port))

    def kill(self):
        self.process.kill()
        self.process.wait()


class Client:
    """A connection that is kept."""

    def __init__(self, port, token, timeout):
        self.headers = {'Authorization': f'Bearer {TOKEN}'} if token else {}
        self.connection = http.client.HTTPConnection('127.0.0.1', port, timeout=timeout)

    def ask(self, path, body=None, method=None):
        """Status and body. A connection that the server has closed is opened again."""
        headers = dict(self.headers)
        if body is not None:
            body, headers['Content-Type'] = json.dumps(body).encode(), 'application/json'
        try:
            self.connection.request(method or ('GET' if body is None else 'POST'), path, body, headers)
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise


def in_sql(sql):
    return '/query?' + urllib.parse.urlencode({'sql': sql})


def run(work, *arguments):
    """Starts a process that ends with this one."""
    process = PROCESSES.Process(target=work, args=arguments, daemon=True)
    process.start()
    return process


def made(path, mode, *statements):
    """A database with a write-ahead log or without."""
    with sqlite3.connect(path) as conn:
        conn.execute(f'pragma journal_mode = {mode}')
        for statement in statements:
            conn.execute(statement)
    conn.close()


def numbers(last):
    """A query for the numbers from one on."""
    return f'with recursive n(i) as (select 1 union all select i + 1 from n where i < {last}) select i from n'


def opens_and_closes(path, table, seed):
    """Reads, in connections of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    draw = random.Random(seed)
    while True:
        conn = sqlite3.connect(path, timeout=20)
        conn.execute('select count(*) from sqlite_master').fetchone()
        if draw.random() < 0.3:
            conn.execute(f'select max(rowid) from {table}').fetchone()
        if draw.random() < 0.1:
            conn.execute('pragma wal_checkpoint').fetchone()
        conn.close()
        time.sleep(draw.random() / 50)


def inserts(path, name, told):
    """Inserts rows, each in a connection of its own, and tells which are committed."""
    number = 0
    while True:
        with sqlite3.connect(path, timeout=20) as conn:
            conn.execute('insert into rows (who, n) values (?, ?)', (name, number))
        conn.close()
        told.put((name, number))
        number += 1
        time.sleep(0.01)


def lost(jird, folder, rows):
    path = Path(folder, 't.db')
    columns = 'id integer primary key, who text not null, n integer not null, unique (who, n)'
    made(path, 'wal', f'create table rows ({columns})')
    told = PROCESSES.Queue()
    others = [run(opens_and_closes, path, 'rows', seed) for seed in range(2)] + [run(inserts, path, 'other', told)]
    acknowledged, draw, lives = set(), random.Random(7), 0
    while len(acknowledged) < rows:
        server, is_over = Server(jird, folder, 't.db', '--write'), threading.Event()

        def posts(name):
            client, number = server.client(), 0
            try:
                while not is_over.is_set():
                    count = draw.choice([1, 1, 5, 40])
                    all_rows = [{'who': name, 'n': number + extra} for extra in range(count)]
                    number += count
                    status, body = client.ask('/rows', all_rows if count > 1 else all_rows[0])
                    if status == 201:
                        acknowledged.update((row['who'], row['n']) for row in all_rows)
                    elif status != 503:
                        sys.exit(f'{status}: {body}')
            except (OSError, http.client.HTTPException):
                pass

        def queries():
            client = server.client()
            try:
                while not is_over.is_set():
                    client.ask(in_sql('select count(*) as n from rows'))
            except (OSError, http.client.HTTPException):
                pass

        threads = [threading.Thread(target=posts, args=(f'{lives}.{client}',)) for client in range(4)]
        threads.append(threading.Thread(target=queries))
        for thread in threads:
            thread.start()
        time.sleep(draw.uniform(0.2, 3))
        server.kill()
        is_over.set()
        for thread in threads:
            thread.join()
        lives += 1
    for other in others:
        other.kill()
        other.join()
    ours = len(acknowledged)
    while not told.empty():
        acknowledged.add(told.get())
    conn = sqlite3.connect(path)
    there = conn.execute('select who, n from rows').fetchall()
    check = conn.execute('pragma integrity_check').fetchone()[0]
    missing = acknowledged - set(there)
    print(f'lost: {len(missing)} of {ours:,} acknowledged rows and {len(acknowledged) - ours:,} of others, in {lives} '
          f'lives of the server; integrity: {check}', flush=True)
    return not missing and check == 'ok'


STATES = 5000


def changes_all(path):
    """Gives all rows the next number, in one transaction."""
    conn = sqlite3.connect(path, timeout=60, isolation_level=None)
    state = 0
    while True:
        state += 1
        try:
            conn.execute('update accounts set state = ?', (state,))
        except sqlite3.OperationalError:
            # Without a log, readers can keep a writer out for as long as they come.
            pass
        time.sleep(0.02)


def mixed(jird, folder, answers):
    found = []
    for mode in ('wal', 'delete'):
        path = Path(folder, f'{mode}.db')
        made(path, mode, 'create table accounts (id integer primary key, state integer not null, pad text not null)',
             f"insert into accounts (state, pad) select 0, printf('%060d', 0) from ({numbers(STATES)})")
        server, writer = Server(jird, folder, f'{mode}.db'), run(changes_all, path)
        counts = {'answers': 0, 'mixed': 0, 'refused': 0, 'states': set()}
        ways = ['/accounts?select=state&id=lt.1000', '/accounts?select=state,pad', '/accounts?select=state&order=id.desc',
                in_sql('select state from accounts')]

        def asks(turn):
            client = server.client()
            while counts['answers'] < answers // 2:
                status, body = client.ask(ways[turn % len(ways)])
                turn += 1
                if status != 200:
                    counts['refused'] += 1
                    continue
                states = {row['state'] for row in json.loads(body)}
                counts['answers'] += 1
                counts['mixed'] += len(states) != 1
                counts['states'] |= states

        threads = [threading.Thread(target=asks, args=(turn,)) for turn in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        writer.kill()
        writer.join()
        server.kill()
        print(f'mixed ({mode}): {counts["mixed"]} of {counts["answers"]:,} answers, of {len(counts["states"]):,} states; '
              f'{counts["refused"]:,} answers were 503', flush=True)
        found.append(counts['mixed'] == 0 and len(counts['states']) > 10)
    return all(found)


def commits(path, orders, told):
    while orders.get():
        with sqlite3.connect(path, timeout=20) as conn:
            conn.execute('update numbers set n = n + 1')
        told.put(conn.execute('select n from numbers').fetchone()[0])
        conn.close()


def stale(jird, folder, answers):
    found = []
    for mode in ('wal', 'delete'):
        path = Path(folder, f'stale-{mode}.db')
        made(path, mode, 'create table numbers (n integer not null)', 'insert into numbers values (0)')
        server, orders, told = Server(jird, folder, path.name, '--write'), PROCESSES.Queue(), PROCESSES.Queue()
        other, reader = run(opens_and_closes, path, 'numbers', 5), run(commits, path, orders, told)
        client, old = server.client(), 0
        for turn in range(answers // 10):
            orders.put(True)
            least = told.get()
            for way in ('/numbers', '/numbers?select=n', in_sql('select n from numbers') if turn % 10 == 0 else '/numbers'):
                status, body = client.ask(way)
                if status == 200:
                    old += json.loads(body)[0]['n'] < least
        orders.put(False)
        for process in (other, reader):
            process.kill()
            process.join()
        server.kill()
        print(f'stale ({mode}): {old} old of {answers // 10 * 3:,} answers after commits of another process', flush=True)
        found.append(old == 0)
    return all(found)


def waits(server, seconds=2):
    """The longest time that a request for a row takes, and one for `/health`, in milliseconds."""
    client, until, longest = server.client(), time.monotonic() + seconds, {'/small/1': 0, '/health': 0}
    while time.monotonic() < until:
        for path in longest:
            begun = time.monotonic()
            status, body = client.ask(path)
            if status != 200:
                return {path: f'{status} {body[:200]}'}
            longest[path] = max(longest[path], (time.monotonic() - begun) * 1000)
        time.sleep(0.002)
    return longest


def held(jird, folder, _):
    path = Path(folder, 'held.db')
    made(path, 'wal', 'create table small (id integer primary key, a text)', "insert into small (a) values ('a')",
         'create table large (id integer primary key, a text)',
         f"insert into large (a) select printf('%050d', i) from ({numbers(4_000_000)})")
    server, is_well = Server(jird, folder, 'held.db', '--write', token=True), True

    def story(name, sockets, meanwhile=None):
        alone = waits(server)
        held_sockets = [begin() for begin in sockets]
        time.sleep(0.5)
        beside = waits(server)
        if meanwhile:
            meanwhile()
        for one in held_sockets:
            one.close()
        numbers = all(isinstance(value, float) for value in beside.values())
        well = numbers and all(beside[path] <= alone[path] + 100 for path in beside)
        nonlocal is_well
        is_well &= well
        shown = ', '.join(f'{path} {value:.0f} ms' if numbers else f'{path} {value}' for path, value in beside.items())
        before = ', '.join(f'{value:.0f}' for value in alone.values())
        print(f'held, {name}: {shown} at most ({before} without){"" if well else "  FAILED"}', flush=True)

    def sends(text):
        def begin():
            one = server.connect()
            one.sendall(text.encode())
            return one
        return begin

    host, token = f'Host: 127.0.0.1:{server.port}\r\n', f'Authorization: Bearer {TOKEN}\r\n'
    body = 'POST /small HTTP/1.1\r\n' + host + 'Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n'
    story('600 bodies without a token that do not come', [sends(body)] * 600)
    story('1,030 half heads', [sends('GET /small/1 HTTP/1.1\r\n' + host)] * 1030)
    story('64 readers that do not read', [sends('GET /large HTTP/1.1\r\n' + host + token + '\r\n')] * 64)
    count = 'GET /large?select=id&limit=1 HTTP/1.1\r\nPrefer: count=exact\r\n' + host + token + '\r\n'
    story('8 counts of 4,000,000 rows', [sends(count)] * 8)
    like = '/large?select=id&a=like.*' + '_' * 20 + '9*1*2*3*x*'
    story('8 long patterns', [sends(f'GET {like} HTTP/1.1\r\n' + host + token + '\r\n')] * 8)
    # A lock that lets others read; then writes wait for it, and nothing else.
    conn = sqlite3.connect(path, isolation_level=None)
    conn.execute('begin immediate')
    write = 'POST /small HTTP/1.1\r\n' + host + token + 'Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":"b"}'
    story('64 writes to a locked database', [sends(write)] * 64, lambda: conn.execute('rollback'))
    conn.close()
    server.kill()
    return is_well


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('jird')
    parser.add_argument('stories', nargs='*')
    parser.add_argument('--rows', type=int, default=100_000)
    parser.add_argument('--answers', type=int, default=10_000)
    arguments = parser.parse_args()
    stories = {'lost': (lost, arguments.rows), 'mixed': (mixed, arguments.answers), 'stale': (stale, arguments.answers),
               'held': (held, None)}
    is_well = True
    for name in arguments.stories or stories:
        work, amount = stories[name]
        with tempfile.TemporaryDirectory() as folder:
            is_well &= work(str(Path(arguments.jird).resolve()), folder, amount)
    sys.exit(not is_well)


if __name__ == '__main__':
    main()
