"""Runs the same SQL with jird, DuckDB 2.0.0 and PostgreSQL 15, over the same records, and compares the answers.

    python compare.py JIRD            prints the queries whose answers differ, and how many are equal
    python compare.py JIRD --table    prints the table in docs/sql-peers.md

JIRD is the program. DuckDB is the Python package `duckdb`. PostgreSQL is reached by psql, with its usual environment
(PGHOST, PGUSER, PGDATABASE); it needs no rights but to create temporary tables.
"""

import datetime
import decimal
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

JIRD, TABLE = sys.argv[1], '--table' in sys.argv
DIR = Path(tempfile.mkdtemp())
rng = random.Random(7)
people = []
for i in range(200):
    at = datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=rng.randrange(500000))
    people.append({
        'id': i,
        'name': rng.choice(['ann', 'bob', 'Cyd', 'dée', 'eve', 'Ann', '']) + str(i % 17),
        'team': rng.choice(['red', 'green', 'blue', None]),
        'score': rng.choice([None, 0.5, 1.25, -3.75, 100.0, 2.5, 1e10, 0.1, 0.2]),
        'qty': rng.choice([None, 0, 1, 2, 3, 7, -5, 40, 9007199254740993]),
        'active': rng.choice([True, False, None]),
        'seen': at.isoformat() + 'Z',
    })
teams = [
    {'team': 'red', 'lead': 'ann1', 'size': 3},
    {'team': 'green', 'lead': 'bob2', 'size': 5},
    {'team': 'grey', 'lead': None, 'size': None},
]
COLUMNS = {
    'people': {'id': 'bigint', 'name': 'varchar', 'team': 'varchar', 'score': 'double precision', 'qty': 'bigint',
               'active': 'boolean', 'seen': 'varchar'},
    'teams': {'team': 'varchar', 'lead': 'varchar', 'size': 'bigint'},
}
for table, rows in (('people', people), ('teams', teams)):
    (DIR / f'{table}.ndjson').write_text(''.join(json.dumps(row) + '\n' for row in rows))

Q = []
aggs = ['count(*)', 'count(score)', 'sum(qty)', 'sum(score)', 'avg(score)', 'avg(qty)', 'min(name)', 'max(score)', 'min(qty)',
        'count(distinct team)', 'bool_and(active)', 'bool_or(active)', 'stddev(score)', 'var_pop(score)', 'median(score)', 'max(seen)',
        "string_agg(name, ',' order by id)", 'sum(qty) filter (where active)', 'count(distinct qty % 3)', 'sum(distinct qty)',
        'percentile_cont(0.25) within group (order by score)', 'array_agg(id order by id desc)', 'corr(qty, id)', 'max(length(name))',
        'max(qty) - min(qty)', 'count(*) filter (where score > 1)', 'sum(score * 2)', 'avg(length(name))', 'min(seen)']
groups = [None, 'team', 'active', 'qty % 3', 'team, active']
wheres = ['', 'where score > 1', "where team = 'red' or team is null", 'where not active', "where name like 'a%' and qty between 0 and 7"]
for i, a in enumerate(aggs):
    for j in range(4):
        g, w = groups[(i + j * 2) % 5], wheres[(i * 3 + j) % 5]
        if g: Q.append(f'select {g}, {a} as x from people {w} group by {g}')
        else: Q.append(f'select {a} as x from people {w}')
scalars = ['qty + 1', 'qty * 2 - id', 'qty / 2', 'qty % 3', '-qty', 'abs(qty)', 'score * 2', 'score / 3', 'score + qty', 'round(score)', 'floor(score)', 'ceil(score)',
    'round(score, 1)', 'sqrt(abs(score))', 'power(qty % 7, 2)', 'ln(abs(score) + 1)', 'upper(name)', 'lower(name)', 'length(name)', 'substr(name, 2, 2)', 'left(name, 2)', 'right(name, 2)',
    "name || '-' || id", "replace(name, 'a', 'x')", "trim('  x ')", "strpos(name, 'n')", "position('n' in name)", 'reverse(name)', "lpad(name, 6, '.')", "split_part(name, 'n', 1)",
    "concat(name, team)", "concat_ws('-', name, team)", "repeat(name, 2)", "starts_with(name, 'a')", "name like '%n%'", "name ilike 'A%'", "name ~ '^[a-c]'", "regexp_replace(name, '[0-9]+', '#')",
    "coalesce(team, 'none')", "coalesce(score, qty)", "nullif(team, 'red')", "greatest(qty, id)", "least(score, 1.0)", "case when qty > 2 then 'big' when qty is null then 'none' else 'small' end",
    "case team when 'red' then 1 when 'blue' then 2 end", 'cast(qty as varchar)', 'cast(score as int)', "cast('12' as int) + qty", 'qty is null', 'active is true', 'active is not false', 'not active', 'active and qty > 1', 'active or qty > 1',
    'qty in (1, 2, 7)', 'qty not in (1, 2)', 'qty in (1, null)', 'qty between 1 and 3', "team is distinct from 'red'", 'score > qty', 'score = 0.1', 'score <> 2.5', 'qty >= 9007199254740993', 'qty = 9007199254740992',
    "name > 'b'", "name < 'a'", "exists (select 1 from teams t where t.team = people.team)", '(select max(size) from teams)', '(select size from teams t where t.team = people.team)',
    "team in (select team from teams)", "qty > (select avg(size) from teams)", 'sign(score)', 'exp(qty % 3)', 'pi()', 'ascii(name)', 'chr(65 + qty % 7)', "translate(name, 'an', 'xy')", 'qty::double precision / 7' , 'trunc(score)', 'mod(qty, 3)', 'initcap(name)', 'md5(name)', 'bit_length(name)', 'octet_length(name)',
    "'a''b'", "1.5 + 2", "7 / 2", "-7 / 2", "-7 % 3", "7.0 / 2", "2 ^ 3", "1 + 2 * 3", "'5' || 5", "null is null", "1 = 1.0", "date '2024-02-29' + interval '1 year'", "extract(year from timestamp '2024-03-05 07:08:09')",
    "date_trunc('month', timestamp '2024-03-05 07:08:09')", "timestamp '2024-03-05' - interval '1 day'", "date_part('dow', timestamp '2024-03-05')", "extract(epoch from timestamp '2024-03-05')"]
Q += [f'select id, {s} as x from people order by id' for s in scalars]
windows = ['row_number() over (order by id)', 'rank() over (order by qty)', 'dense_rank() over (partition by team order by score)', 'sum(qty) over (order by id)', 'avg(score) over (partition by active order by id)',
    'lag(qty) over (order by id)', 'lead(name, 2) over (order by id)', 'lag(qty, 1, 0) over (partition by team order by id)', 'first_value(name) over (partition by team order by id)', 'last_value(qty) over (order by id)',
    'ntile(4) over (order by id)', 'percent_rank() over (order by qty)', 'cume_dist() over (order by qty)', 'count(*) over (partition by team)', 'sum(score) over (order by id rows between 2 preceding and current row)',
    'max(qty) over (order by id rows between 1 preceding and 1 following)', 'nth_value(name, 2) over (partition by team order by id)', 'min(score) over (order by id rows between unbounded preceding and unbounded following)', 'sum(qty) over (order by qty, id range between unbounded preceding and current row)', 'count(score) over (order by id groups between 1 preceding and current row)']
Q += [f'select id, {w} as x from people order by id' for w in windows]
Q += [
    'select p.id, t.lead from people p join teams t on p.team = t.team', 'select p.id, t.lead from people p left join teams t on p.team = t.team', 'select p.id, t.team from people p right join teams t on p.team = t.team',
    'select p.id, t.team as t from people p full join teams t on p.team = t.team', 'select count(*) as n from people, teams', 'select p.id, q.id as i from people p join people q on p.id = q.id + 1 where p.qty > q.qty',
    'select team, count(*) as n from people group by team having count(*) > 40', 'select distinct team from people', 'select distinct team, active from people', 'select count(*) as n from (select distinct qty from people) x',
    'select team from people union select team from teams', 'select team from people intersect select team from teams', 'select team from people except select team from teams', 'select team from teams union all select team from teams',
    'with a as (select team, sum(qty) as s from people group by team) select * from a where s > 0', 'with a as (select id from people where active), b as (select id from a where id > 50) select count(*) as n from b',
    'with recursive r(n) as (select 1 union all select n + 1 from r where n < 10) select sum(n) as s from r', 'select id from people order by qty desc nulls last, id limit 7', 'select id from people order by score nulls first, id offset 190',
    'select id from people order by team, active, id limit 20 offset 5', 'select team, active, count(*) as n from people group by rollup(team, active)', 'select team, active, count(*) as n from people group by cube(team, active)',
    'select team, count(*) as n from people group by grouping sets ((team), ())', 'select distinct on (team) team, id from people order by team, qty desc nulls last, id', 'select * from (values (1, \'a\'), (2, \'b\')) v(n, s)',
    'select count(*) as n from people where team in (\'red\', \'blue\') and not (score is null)', "select id from people where name similar to '(a|b)%'", 'select id from people where (qty, id) in (select qty, id from people where id < 5)',
    'select max(x) as m from (select sum(qty) as x from people group by team) s', 'select t.team, (select count(*) from people p where p.team = t.team) as n from teams t', 'select id from people where qty = any(array[1, 2, 3])',
    'select team, rank() over (order by count(*) desc) as r from people group by team', 'select id, sum(qty) over w as s from people window w as (partition by team order by id)', "select to_char(date '2024-03-05', 'YYYY') as y" ,
    'select avg(size) as a, count(*) as n from teams', 'select sum(size) / count(*) as r from teams where size is not null', 'select 10 / 4 as a, 10 / 4.0 as b', 'select count(*) as n from people where active', 'select sum(case when active then 1 else 0 end) as n from people',
    'select team, min(id) as a, max(id) as b from people group by team order by team nulls first', 'select p.name from people p where not exists (select 1 from teams t where t.team = p.team)', 'select lower(team) as l, count(*) as n from people group by lower(team)', 'select length(name) as l, count(*) as n from people group by 1 order by 1',
]
DUCK = ['select team, count(*) as n from people group by all', 'select * exclude (seen, name) from people where id < 5', 'select id, qty // 2 as d from people where qty is not null', 'select quantile_cont(score, 0.3) as q from people', 'select quantile_disc(qty, 0.5) as q from people',
    'select if(qty > 2, 1, 0) as x from people', 'select list(id order by id) as l from people where id < 5', 'select arg_max(name, qty) as n from people where qty < 50', 'select regexp_extract(name, \'([a-z]+)([0-9]+)\', 2) as r from people', "select strftime(timestamp '2024-03-05 07:08:09', '%Y-%m') as s", 'select count_if(active) as n from people',
    'select unnest([1, 2, 3]) as x', 'select id, row_number() over (partition by team order by id) as r from people qualify r = 1', 'select team, active from people order by all limit 10', 'select max_by(name, id) as m, min_by(name, id) as l from people', 'from teams', 'select * replace (size * 2 as size) from teams', "select year(timestamp '2024-03-05') as y, month(timestamp '2024-03-05') as m, dayofweek(timestamp '2024-03-05') as d, week(timestamp '2024-03-05') as w", 'select len(name) as l from people', "select time_bucket(interval '1 hour', timestamp '2024-03-05 07:08:09') as b", 'select any_value(size) as a from teams', 'select sha256(name) as s from people where id < 3', 'select ifnull(team, \'-\') as t from people']


# Why an answer differs on purpose, by a part of the query. Everything else that differs is a mistake.
REASONS = [
    ('/ 2', 'DuckDB divides integers to doubles; jird and PostgreSQL to integers'),
    ('10 / 4', 'DuckDB divides integers to doubles; jird and PostgreSQL to integers'),
    ('round(score)', 'PostgreSQL rounds halves of doubles to even; jird and DuckDB away from zero'),
    ('upper(name)', 'PostgreSQL changes only the case of ASCII letters in the locale C'),
    ('initcap(name)', 'PostgreSQL changes only the case of ASCII letters in the locale C; DuckDB has no such function'),
    ('similar to', 'DuckDB takes the pattern for a regular expression'),
    ('cast(score as int)', 'all three refuse it: 1e10 is no 32-bit integer'),
    ('chr(', 'PostgreSQL and DuckDB have it only for 32-bit integers'),
    ('(select size from teams t where', 'jird wants an aggregate in a subquery that depends on the row'),
    ('team in (select', 'jird has `in (select …)` only as a condition'),
    ('(qty, id) in', 'jird compares one column with a subquery, not several'),
]


def value(v):
    """A value as all three mean it."""
    if isinstance(v, bool) or v is None:
        return v
    if isinstance(v, decimal.Decimal):
        return int(v) if v == int(v) else float(v)
    if isinstance(v, float):
        return v if math.isfinite(v) else None
    if isinstance(v, (datetime.datetime, datetime.date)):
        return 'T' + v.isoformat().replace('T00:00:00', '').replace('+00:00', '')
    if isinstance(v, (list, tuple)):
        return [value(x) for x in v]
    if isinstance(v, str) and re.match(r'\d{4}-\d\d-\d\d', v):
        try:
            return 'T' + datetime.datetime.fromisoformat(v.replace('Z', '')).isoformat().replace('T00:00:00', '')
        except ValueError:
            return v
    return v


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        is_double = isinstance(a, float) or isinstance(b, float)
        return a == b or is_double and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def alike(left, right, ordered):
    def key(row):
        plain = [round(x, 6) if isinstance(x, float) else x for x in row]
        return repr([float(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in plain])
    if not ordered:
        left, right = sorted(left, key=key), sorted(right, key=key)
    return len(left) == len(right) and all(len(l) == len(r) and all(map(same, l, r)) for l, r in zip(left, right))


def jird(sql):
    """The rows, or the message. A missing member is null in the other two."""
    sql = sql.replace(' people', " 'people.ndjson' as people").replace(' teams', " 'teams.ndjson' as teams")
    sql = re.sub(r"'(people|teams).ndjson' as \1(\.)", r' \1\2', sql)
    sql = re.sub(r"'(people|teams).ndjson' as \1 (p|q|t)\b(?!\.)", r"'\1.ndjson' as \2", sql)
    done = subprocess.run([JIRD, 'query', sql, '-', '--format', 'json'], cwd=DIR, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)
    if done.returncode:
        return done.stderr.strip()
    rows = json.loads(done.stdout)
    # The order of the columns is that of a row that has all of them, if there is one.
    names = list(dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row))
    return [[value(row.get(name)) for name in names] for row in rows]


connection = duckdb.connect()
for table, columns in COLUMNS.items():
    types = ', '.join(f"{name}: '{kind.replace(' precision', '')}'" for name, kind in columns.items())
    connection.execute(f"create table {table} as select * from read_json('{DIR}/{table}.ndjson', columns={{{types}}})")


def duck(sql):
    try:
        return [[value(x) for x in row] for row in connection.execute(sql).fetchall()]
    except duckdb.Error as error:
        return str(error)


TABLES = ''.join(
    f"create temporary table {table} as select * from json_to_recordset($rows${json.dumps(rows)}$rows$) as r("
    + ', '.join(f'{name} {kind}' for name, kind in COLUMNS[table].items()) + ');'
    for table, rows in (('people', people), ('teams', teams)))


def postgres(sql):
    text = TABLES + f"select coalesce(json_agg(row_to_json(q)), '[]'::json) from ({sql}) q"
    done = subprocess.run(['psql', '-AtqX', '-v', 'ON_ERROR_STOP=1', '-f', '-'], input=text, capture_output=True,
                          text=True)
    if done.returncode:
        return done.stderr.strip()
    return [[value(x) for x in row.values()] for row in json.loads(done.stdout)]


def is_ordered(sql):
    inner = ('within group', 'string_agg', 'array_agg', 'list(', 'window w', ' over ')
    return ' order by' in sql and not any(part in sql for part in inner)


def brief(answer):
    return answer[:120].replace('\n', ' ') if isinstance(answer, str) else f'{len(answer)} {answer[:3]}'[:160]


counts, different, mistakes = {}, [], 0
for sql in Q + DUCK:
    answers = {'jird': jird(sql), 'DuckDB': duck(sql), 'PostgreSQL': 'not run' if sql in DUCK else postgres(sql)}
    own = answers.pop('jird')
    peers = {name: answer for name, answer in answers.items() if isinstance(answer, list)}
    equal = [name for name, answer in peers.items() if isinstance(own, list) and alike(own, answer, is_ordered(sql))]
    others = [name for name in peers if name not in equal]
    found = 'equal to ' + ' and '.join(equal) if equal else 'equal to none'
    counts[found] = counts.get(found, 0) + 1
    if others or isinstance(own, str):
        reason = next((reason for part, reason in REASONS if part in sql), None)
        mistakes += reason is None
        different.append((sql, ', '.join(others) or 'none', reason or 'A MISTAKE'))
        if not TABLE or reason is None:
            print(sql, '| jird', brief(own), *(f'| {name} {brief(answer)}' for name, answer in answers.items()))
if TABLE:
    print('| query | differs from | why |\n|---|---|---|')
    for sql, others, reason in different:
        print(f"| `{sql.replace('|', chr(92) + '|')}` | {others} | {reason} |")
print(f'\n{len(Q + DUCK)} queries: ' + '; '.join(f'{count} {found}' for found, count in sorted(counts.items())))
sys.exit(1 if mistakes else 0)
