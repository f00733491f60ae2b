"""Random tables of clean kinds, as NDJSON and in DuckDB."""

import datetime
import gzip
import json

COLUMNS = {
    'id': 'BIGINT', 'k': 'BIGINT', 'v': 'BIGINT', 'd': 'DOUBLE', 's': 'VARCHAR', 'f': 'BOOLEAN', 'big': 'BIGINT',
    't': 'VARCHAR', 'l': 'BIGINT[]',
}
NAMES = 'abc'


def record(rng, number, keys):
    """A record in which some fields are null, and some are missing."""
    time = datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=rng.randint(0, 3000))
    record = {
        'id': number,
        'k': rng.randint(0, keys),
        'v': rng.choice([-3, 0, 1, 2, 5, 10, 100]),
        'd': rng.choice([0.5, 1.25, -2.5, 3.0, 1e3]),
        's': rng.choice(['a', 'b', 'ab', 'B', '', 'x_y', '10']),
        'f': rng.choice([True, False]),
        'big': rng.choice([9007199254740993, 9007199254740992, -9223372036854775807, 5]),
        't': time.strftime('%Y-%m-%dT%H:%M:%SZ'),
        'l': [rng.choice([0, 1, 2, 5, None]) for _ in range(rng.randint(0, 3))],
    }
    for name in list(record):
        if name != 'id' and rng.random() < 0.15:
            if rng.random() < 0.5:
                record[name] = None
            else:
                del record[name]
    return record


class Tables:
    """The tables a, b and c of a seed, in a folder, and in DuckDB."""

    def __init__(self, rng, folder, sizes, keys):
        self.paths = {name: folder / f'{name}.ndjson' for name in NAMES}
        self.rows = {}
        for name, size in zip(NAMES, sizes):
            rows = [record(rng, number, keys) for number in range(size)]
            text = ''.join(json.dumps(row, separators=(',', ':')) + '\n' for row in rows)
            self.paths[name].write_text(text)
            with gzip.open(f'{self.paths[name]}.gz', 'wt') as packed:
                packed.write(text)
            self.rows[name] = rows

    def load(self, connection):
        for name, rows in self.rows.items():
            columns = ', '.join(f'{column} {kind}' for column, kind in COLUMNS.items())
            connection.execute(f'create or replace table {name} ({columns})')
            values = [[row.get(column) for column in COLUMNS] for row in rows]
            connection.executemany(f'insert into {name} values ({", ".join("?" * len(COLUMNS))})', values)

    def defined(self, names=NAMES):
        """The arguments that give these tables their names."""
        return [word for name in names for word in ('--define', f'{name}={self.paths[name]}')]
