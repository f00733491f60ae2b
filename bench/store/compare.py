"""A jird store beside DuckDB and ClickHouse: ingest, size, and queries over the generated events.

    python compare.py JIRD EVENTS [--folder DIR] [--rounds N]        prints a table in Markdown, and keeps nothing

JIRD is the released program; EVENTS are lines of the generator (`cargo run --release -p generate-events`). DuckDB and
ClickHouse are the Python packages `duckdb` and `chdb`. Everything lies in a new folder below DIR, which should be on a
disk, or in memory for all.

What is compared, and what is not:

- jird keeps whole documents, and infers nothing when they come in. It is a process for each query: its times have the
  start of the process and the printing of the rows. DuckDB and ClickHouse answer within this process, without either.
- `duckdb` is a native table whose columns were named beforehand (@t, Message, Elapsed, RequestId, Application): it has
  less than the documents. `duckdb-json`, `duckdb-variant` and `clickhouse` keep whole documents, as `JSON` (DuckDB: text;
  ClickHouse: columns) or `VARIANT`.
- Two threads for all. A query runs once untimed, then N times in turns with the others; the median counts. Answers must
  be equal: the number of rows, and their bytes for `lookup`, `window` and `newest`.
- `first answer` is the time from handing over one event until a query has found it. A `jird ingest` that reads a pipe
  runs all the time, as the databases do; jird's query is a process.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REQUEST = '0HNCFE066CD:0003'
HOUR = ('2024-03-05T19:00:00', '2024-03-05T20:00:00')


class Jird:
    name = 'jird'

    def __init__(self, program, folder, *options):
        self.program, self.options = program, options
        self.name = ' '.join(('jird', *options)).replace('--compression ', '').replace('--column Elapsed,Properties.Application', 'columns')
        self.store = folder / self.name.replace(' ', '-')

    def ingest(self, events):
        subprocess.run([self.program, 'ingest', self.store, events, '--quiet', *self.options], check=True)

    def bytes(self):
        return sum(file.stat().st_size for file in self.store.rglob('*') if file.is_file())

    def ask(self, sql, *options):
        command = [self.program, 'query', sql, '--store', self.store, '--threads', '2', '--quiet', *options]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout

    def rows(self, sql, *options):
        return [json.loads(line) for line in self.ask(sql, *options).splitlines()]

    def queries(self):
        window = ('--since', HOUR[0], '--until', HOUR[1])
        return {
            'filter': lambda: self.ask('select Message where Elapsed > 200').count(b'\n'),
            'match': lambda: self.ask("select Message where match(Message, '/api/customers')").count(b'\n'),
            'lookup': lambda: [row['Message'] for row in self.rows(f"select Message where Properties.RequestId = '{REQUEST}'")],
            'group': lambda: [(r['app'], r['n']) for r in self.rows(
                'select Properties.Application as app, count(*) as n, avg(Elapsed) as ms group by app order by app')],
            'window': lambda: [row['n'] for row in self.rows('select count(*) as n where Elapsed > 200', *window)],
            'newest': lambda: [row['Message'] for row in self.rows(
                'select Message, "@t" where Elapsed > 200 order by "@t" desc limit 100')],
        }

    def takes_events(self):
        """A process that takes events until its input ends."""
        return subprocess.Popen([self.program, 'ingest', self.store, '--quiet'], stdin=subprocess.PIPE)

    def first_answer(self, event, wanted, writer):
        writer.stdin.write(event)
        writer.stdin.flush()
        rows = []
        while not rows:
            rows = self.rows(f"select Message where Properties.RequestId = '{wanted}'")
        assert len(rows) == 1, rows


class Database:
    """DuckDB or ClickHouse, in this process."""

    # The expressions of the fields.
    message = elapsed = application = request = at = ''

    def run(self, sql):
        raise NotImplementedError

    def queries(self):
        m, e, at = self.message, self.elapsed, self.at
        column = lambda sql: [row[0] for row in self.run(sql)]
        return {
            'filter': lambda: len(self.run(f'select {m} from t where {e} > 200')),
            'match': lambda: len(self.run(f"select {m} from t where {self.matches}({m}, '/api/customers')")),
            'lookup': lambda: column(f"select {m} from t where {self.request} = '{REQUEST}' order by {at}"),
            'group': lambda: [(row[0], row[1]) for row in self.run(
                f'select {self.application} as app, count(*) as n, avg({e}) as ms from t group by app order by app {self.nulls}')],
            'window': lambda: column(
                f"select count(*) from t where {e} > 200 and {at} >= '{HOUR[0]}' and {at} < '{HOUR[1]}'"),
            'newest': lambda: column(f'select {m} from t where {e} > 200 order by {at} desc limit 100'),
        }

    def takes_events(self):
        return None

    def first_answer(self, event, wanted, _):
        self.insert(event)
        rows = self.run(f"select {self.message} from t where {self.request} = '{wanted}'")
        assert len(rows) == 1, rows


class DuckDB(Database):
    name, matches, nulls = 'duckdb', 'regexp_matches', 'nulls last'
    message, elapsed, application, request, at = '"Message"', '"Elapsed"', 'app', 'request', '"@t"'
    columns = """{"@t": 'VARCHAR', "Message": 'VARCHAR', "Elapsed": 'DOUBLE',
                  "Properties": 'STRUCT(RequestId VARCHAR, Application VARCHAR)'}"""
    select = '"@t", "Message", "Elapsed", Properties.RequestId as request, Properties.Application as app'

    def __init__(self, folder):
        import duckdb
        self.file = folder / f'{self.name}.duckdb'
        self.connection = duckdb.connect(str(self.file))
        self.connection.execute('set threads = 2')

    def ingest(self, events):
        self.run(f"create table t as select {self.select} from read_ndjson('{events}', columns = {self.columns})")
        self.run('checkpoint')

    def insert(self, event):
        with tempfile.NamedTemporaryFile(suffix='.ndjson') as file:
            file.write(event)
            file.flush()
            self.run(f"insert into t select {self.select} from read_ndjson('{file.name}', columns = {self.columns})")

    def bytes(self):
        return self.file.stat().st_size

    def run(self, sql):
        return self.connection.execute(sql).fetchall()


class DuckDBJson(DuckDB):
    name = 'duckdb-json'
    message, elapsed, at = "(j->>'Message')", "cast(j->>'Elapsed' as double)", "(j->>'@t')"
    application, request = "(j->>'$.Properties.Application')", "(j->>'$.Properties.RequestId')"

    def ingest(self, events):
        self.run(f"create table t as select json as j from read_ndjson_objects('{events}')")
        self.run('checkpoint')

    def insert(self, event):
        self.connection.execute('insert into t values (?)', [event.decode()])


class DuckDBVariant(DuckDBJson):
    name = 'duckdb-variant'
    message, elapsed, at = 'j.Message::varchar', 'j.Elapsed::double', 'j."@t"::varchar'
    application, request = 'j.Properties.Application::varchar', 'j.Properties.RequestId::varchar'

    def ingest(self, events):
        self.run(f"create table t as select json::variant as j from read_ndjson_objects('{events}')")
        self.run('checkpoint')

    def insert(self, event):
        self.connection.execute('insert into t values (?::json::variant)', [event.decode()])


class ClickHouse(Database):
    name, matches, nulls = 'clickhouse', 'match', 'nulls last'
    message, elapsed, at = 'j.Message.:String', "cast(j.Elapsed as Nullable(Float64))", 'j.`@t`.:String'
    application, request = 'j.Properties.Application.:String', 'j.Properties.RequestId.:String'

    def __init__(self, folder):
        from chdb import session
        self.folder = folder / 'clickhouse'
        self.session = session.Session(str(self.folder))
        self.run('create database if not exists d')
        self.run('set max_threads = 2')

    def ingest(self, events):
        # Times without a type, so that they are read as the texts that they are.
        self.run("""set input_format_try_infer_datetimes = 0, input_format_try_infer_dates = 0""")
        self.run('create table d.t (j JSON) engine = MergeTree order by tuple()')
        self.run(f"insert into d.t select json from file('{events}', 'JSONAsObject')")

    def insert(self, event):
        self.run(f'insert into d.t format JSONAsObject {event.decode()}')

    def bytes(self):
        return sum(file.stat().st_size for file in self.folder.rglob('*') if file.is_file())

    def run(self, sql):
        text = str(self.session.query(sql.replace(' from t', ' from d.t'), 'JSONCompactEachRow'))
        return [json.loads(line) for line in text.splitlines()]


def timed(work):
    started = time.perf_counter()
    answer = work()
    return time.perf_counter() - started, answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('jird')
    parser.add_argument('events')
    parser.add_argument('--folder', default=None)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--peers', default='duckdb,duckdb-json,duckdb-variant,clickhouse')
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=args.folder, prefix='jird-store-'))
    try:
        compare(args, folder)
    finally:
        shutil.rmtree(folder)


def compare(args, folder):
    columns = ('--column', 'Elapsed,Properties.Application')
    peers = [
        Jird(args.jird, folder),
        Jird(args.jird, folder, *columns),
        Jird(args.jird, folder, '--compression', 'lz4', *columns),
        Jird(args.jird, folder, '--compression', 'zstd', *columns),
    ]
    made = {'duckdb': DuckDB, 'duckdb-json': DuckDBJson, 'duckdb-variant': DuckDBVariant, 'clickhouse': ClickHouse}
    for name in args.peers.split(','):
        if name:
            peers.append(made[name](folder))
    table = {peer.name: {} for peer in peers}
    size = os.path.getsize(args.events)
    Path(args.events).read_bytes()
    for peer in peers:
        seconds, _ = timed(lambda: peer.ingest(args.events))
        table[peer.name]['ingest MB/s'] = f'{size / 1e6 / seconds:.0f}'
        table[peer.name]['on disk MB'] = f'{peer.bytes() / 1e6:.0f}'
        print(peer.name, 'ingested in', f'{seconds:.2f} s', file=sys.stderr)
    queries = {peer.name: peer.queries() for peer in peers}
    for query in queries['jird']:
        answers = {peer.name: queries[peer.name][query]() for peer in peers}
        for name, answer in answers.items():
            same = answer == answers['jird'] or sorted(map(str, answer)) == sorted(map(str, answers['jird'])) \
                if isinstance(answer, list) else answer == answers['jird']
            if not same:
                print(f'DIFFERENT: {query}: {name} has {str(answer)[:200]}, jird {str(answers["jird"])[:200]}', file=sys.stderr)
        times = {peer.name: [] for peer in peers}
        for round in range(args.rounds):
            for peer in peers[round % len(peers):] + peers[:round % len(peers)]:
                times[peer.name].append(timed(queries[peer.name][query])[0])
        for name, seconds in times.items():
            table[name][f'{query} ms'] = f'{1000 * statistics.median(seconds):.1f}'
    for peer in peers:
        seconds, writer = [], peer.takes_events()
        time.sleep(0.2)
        for index in range(args.rounds):
            wanted = f'NEW{index}'
            event = {'@t': '2024-03-06T07:00:00.0000000Z', 'Message': 'new', 'Properties': {'RequestId': wanted}}
            seconds.append(timed(lambda: peer.first_answer(json.dumps(event).encode() + b'\n', wanted, writer))[0])
        if writer:
            writer.communicate()
        table[peer.name]['first answer ms'] = f'{1000 * statistics.median(seconds):.1f}'
    names = list(table['jird'])
    print('|', ' | '.join(['', *names]), '|')
    print('|---' + '|---:' * len(names) + '|')
    for name, cells in table.items():
        print('|', ' | '.join([name, *(cells[key] for key in names)]), '|')


main()
