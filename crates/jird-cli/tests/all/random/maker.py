"""Random queries that mean the same in jird and in DuckDB: docs/sql-peers.md tells what does not."""

from tables import NAMES

INTEGERS = ['k', 'v', 'id']
NUMBERS = INTEGERS + ['d']
PLAIN = NUMBERS + ['s', 'f', 'big']
COMPARISONS = ['=', '<>', '<', '<=', '>', '>=']
TIMES = ["timestamp '2024-01-02 00:00:00'", "timestamp '2024-01-01 12:30:00'"]
STEPS = ["interval '90 minutes'", "interval '1 day'", "interval '30 seconds'"]


class Maker:
    def __init__(self, rng):
        self.rng = rng

    def chance(self, likely):
        return self.rng.random() < likely

    def pick(self, *among):
        """One of these: a text, or a function that makes one."""
        one = self.rng.choice(among)
        return one() if callable(one) else one

    def column(self, tables, names):
        return f'{self.rng.choice(tables)}.{self.rng.choice(names)}'

    # Expressions

    def number(self, tables, depth=2, integer=False):
        names = INTEGERS if integer else NUMBERS
        if depth == 0 or self.chance(0.4):
            return self.column(tables, names)
        inner = lambda: self.number(tables, depth - 1, integer)  # noqa: E731
        return self.pick(
            lambda: str(self.pick('0', '1', '2', '5', '-1', '100') if integer else self.pick('2', '0.5', '1.5', '2.25')),
            lambda: f'({inner()} {self.rng.choice("+-*")} {inner()})',
            lambda: f'({inner()} {self.rng.choice("+-*")} {inner()})',
            lambda: f'coalesce({inner()}, {inner()})',
            lambda: f'case when {self.condition(tables, 1)} then {inner()} else {inner()} end',
            lambda: f'abs({inner()})',
            lambda: f'length({self.text(tables, 0)})',
            lambda: f'nullif({inner()}, {self.column(tables, names)})',
            lambda: f'len({self.column(tables, ["l"])})',
            lambda: f'extract(hour from {self.time(tables)})',
            # DuckDB rounds halves to the even number.
            lambda: f'cast({self.pick("floor", "ceil")}({self.column(tables, ["d"])}) as bigint)',
        )

    def text(self, tables, depth=2):
        if depth == 0 or self.chance(0.5):
            return self.column(tables, ['s'])
        inner = lambda: self.text(tables, depth - 1)  # noqa: E731
        return self.pick(
            "'a'", "'ab'", "''",
            lambda: f'({inner()} || {inner()})',
            lambda: f'{self.pick("lower", "upper")}({inner()})',
            lambda: f'coalesce({inner()}, {inner()})',
            lambda: f'case when {self.condition(tables, 1)} then {inner()} else {inner()} end',
            lambda: f'cast({self.column(tables, INTEGERS)} as varchar)',
            lambda: f'substr({inner()}, 1, 1)',
        )

    def time(self, tables, depth=1):
        field = f'{self.column(tables, ["t"])}::timestamp'
        if depth == 0 or self.chance(0.5):
            return field
        return self.pick(
            lambda: f'({field} {self.rng.choice("+-")} {self.rng.choice(STEPS)})',
            lambda: f"date_trunc('{self.pick('hour', 'day')}', {field})",
            lambda: f'greatest({field}, {self.rng.choice(TIMES)})',
        )

    def condition(self, tables, depth=2):
        if depth > 0 and self.chance(0.4):
            inner = lambda: self.condition(tables, depth - 1)  # noqa: E731
            return self.pick(
                lambda: f'({inner()} and {inner()})',
                lambda: f'({inner()} or {inner()})',
                lambda: f'not {inner()}',
                lambda: f'(not ({inner()}))',
            )
        number, integer = (lambda: self.number(tables, 1)), (lambda: self.number(tables, 1, True))
        no = self.pick('', 'not ')
        return self.pick(
            lambda: f'{number()} {self.rng.choice(COMPARISONS)} {number()}',
            lambda: f'{number()} {self.rng.choice(COMPARISONS)} {number()}',
            lambda: f'{self.text(tables, 1)} {self.rng.choice(COMPARISONS)} {self.text(tables, 1)}',
            lambda: f'{self.time(tables)} {self.rng.choice(COMPARISONS)} {self.pick(*TIMES, lambda: self.time(tables))}',
            lambda: f'({self.same_kind(tables, f"is {no}distinct from")})',
            lambda: f'{self.column(tables, PLAIN)} is {no}null',
            lambda: f'{number()} {no}between {number()} and {number()}',
            lambda: f'{self.time(tables)} {no}between {TIMES[1]} and {self.time(tables)}',
            lambda: f'{integer()} {no}in ({", ".join(self.rng.choices(["0", "1", "5", "null", "100"], k=3))})',
            lambda: f"{self.text(tables, 1)} {no}like '{self.pick('%b%', 'a%', '_', '%')}'",
            lambda: self.column(tables, ['f']),
            lambda: f'({self.column(tables, ["f"])} is {no}{self.pick("true", "false")})',
            lambda: f'{integer()} = any([{self.rng.choice("012")}, {self.rng.choice("05")}])',
            lambda: f'list_contains({self.column(tables, ["l"])}, {self.rng.choice("0125")})',
            lambda: self.subquery(tables, no),
        )

    def same_kind(self, tables, operator):
        names = self.rng.choice([NUMBERS, ['s']])
        return f'{self.column(tables, names)} {operator} {self.column(tables, names)}'

    def subquery(self, tables, no):
        table, equal = self.rng.choice(NAMES), f'q.k = {self.column(tables, ["k"])}'
        return self.pick(
            lambda: f'{no}exists (select 1 from {table} q where {equal} and {self.condition(["q"], 0)})',
            lambda: f'{self.number(tables, 0, True)} {no}in (select q.{self.rng.choice(INTEGERS)} from {table} q '
                    f'where {self.condition(["q"], 0)})',
            lambda: f'{self.number(tables, 0)} {self.rng.choice(COMPARISONS)} (select {self.pick("max", "min", "avg")}'
                    f'(q.{self.rng.choice(NUMBERS)}) from {table} q where {self.pick(equal, lambda: self.condition(["q"], 0))})',
        )

    # Tables

    def source(self):
        """What stands after `from`, and the names of its tables."""
        names, text = [], ''
        for name in 'xyz'[:self.rng.choice([1, 1, 1, 2, 2, 3])]:
            table = f'({self.table()})' if self.chance(0.2) else self.rng.choice(NAMES)
            if names:
                join = self.pick('join', 'join', 'left join', 'left join', 'right join', 'full join')
                other = f'{self.rng.choice(names)}.{self.pick("k", "v")}'
                text += f' {join} {table} {name} on {name}.{self.pick("k", "v")} = {other}'
                if join != 'full join' and self.chance(0.3):
                    condition = self.condition([*names, name], 0)
                    text += '' if 'select' in condition else f' and {condition}'
            else:
                text = f'{table} {name}'
            names.append(name)
        return text, names

    def table(self):
        table, condition = self.rng.choice(NAMES), self.condition(['w'], 1)
        return self.pick(
            f'select w.* from {table} w where {condition}',
            f'select w.id, w.k, w.v, w.d, w.s, w.f, w.big, w.t, w.l from {table} w where {condition}',
            'select max(w.id) as id, w.k, sum(w.v) as v, avg(w.d) as d, min(w.s) as s, bool_or(w.f) as f, max(w.big) as big, '
            f'max(w.t) as t, array_agg(w.v order by w.id) as l from {table} w group by w.k',
        )

    def where(self, tables):
        return f' where {self.condition(tables)}' if self.chance(0.6) else ''

    # Queries

    def aggregate(self, tables):
        of = lambda: self.number(tables, 1, True)  # noqa: E731
        return self.pick(
            'count(*)',
            lambda: f'count({self.pick("", "distinct ")}{self.column(tables, PLAIN)})',
            lambda: f'sum({of()})',
            lambda: f'avg({self.number(tables, 1)})',
            lambda: f'{self.pick("min", "max")}({self.pick(lambda: self.number(tables, 1), lambda: self.text(tables, 1))})',
            lambda: f'{self.pick("min", "max")}({self.column(tables, PLAIN)})',
            lambda: f'{self.pick("min", "max")}({self.time(tables)})',
            lambda: f'sum({of()}) filter (where {self.condition(tables, 0)})',
            lambda: f'count(*) filter (where {self.condition(tables, 0)})',
        )

    def window(self, tables):
        ids = ', '.join(f'{table}.id{self.pick(" desc", "")} nulls last' for table in tables)
        function = self.pick(
            'row_number()', 'rank()', 'dense_rank()',
            lambda: f'sum({self.number(tables, 0, True)})',
            lambda: f'count({self.column(tables, PLAIN)})',
            lambda: f'min({self.column(tables, INTEGERS)})',
            lambda: f'lag({self.column(tables, INTEGERS + ["s"])})',
            lambda: f'lead({self.column(tables, INTEGERS)}, 2)',
            lambda: f'first_value({self.column(tables, PLAIN)})',
            lambda: f'last_value({self.column(tables, INTEGERS)})',
        )
        part = ''
        if self.chance(0.6):
            part = f'partition by {self.pick(self.column(tables, ["k", "s", "f"]), lambda: self.number(tables, 1, True))} '
        order = ids if self.chance(0.7) else f'{self.number(tables, 1, True)} nulls first, {ids}'
        frame = ''
        if function[:3] in ('sum', 'cou', 'min', 'fir', 'las') and self.chance(0.5):
            frame = self.pick(
                ' rows between 2 preceding and current row',
                ' rows between unbounded preceding and unbounded following',
                ' rows between 1 preceding and 1 following',
            )
        return f'{function} over ({part}order by {order}{frame})'

    def range_window(self):
        """A window of a span of time."""
        table, span = self.rng.choice(NAMES), self.pick('2 hours', '1 day', '45 minutes')
        frame = self.pick(
            f"interval '{span}' preceding and current row",
            f"interval '{span}' preceding and interval '1 hour' following",
        )
        function = self.pick('count(*)', 'sum(x.v)', 'min(x.k)', 'max(x.d)')
        part = self.pick('', 'partition by x.k ')
        return (f'select x.id as i, {function} over ({part}order by x.t::timestamp range between {frame}) as c0 '
                f'from {table} x where x.t is not null')

    def grouped(self):
        source, tables = self.source()
        keys = [self.pick(
            lambda: self.column(tables, ['k', 's', 'f', 'v']),
            lambda: self.number(tables, 1, True),
            lambda: self.text(tables, 1),
            lambda: f'({self.condition(tables, 0)})',
            lambda: f"date_trunc('day', {self.column(tables, ['t'])}::timestamp)",
        ) for _ in range(self.rng.randint(1, 2))]
        keys = [key for key in keys if 'select' not in key and '.' in key] or [f'{tables[0]}.k']
        items = [f'{key} as g{at}' for at, key in enumerate(keys)]
        items += [f'{self.aggregate(tables)} as c{at}' for at in range(self.rng.randint(1, 3))]
        group = ', '.join(keys)
        if self.chance(0.2):
            group = f'{self.pick("rollup", "cube")}({group})'
        having = ''
        if self.chance(0.3):
            having = f' having {self.pick("count(*)", lambda: f"sum({self.number(tables, 1, True)})")} > {self.pick("1", "2")}'
        return f'select {", ".join(items)} from {source}{self.where(tables)} group by {group}{having}'

    def windows(self):
        source, tables = self.source()
        items = [f'{table}.id as i{at}' for at, table in enumerate(tables)]
        items += [f'{self.window(tables)} as c{at}' for at in range(self.rng.randint(1, 2))]
        qualify = ''
        if self.chance(0.2):
            function = self.pick('row_number()', 'rank()', 'count(*)', lambda: f'sum({self.column(tables, ["v"])})')
            order = ', '.join(f'{table}.id nulls last' for table in tables)
            qualify = f' qualify {function} over (order by {order}) {self.rng.choice(COMPARISONS)} 2'
        return f'select {", ".join(items)} from {source}{self.where(tables)}{qualify}'

    def values(self, kinds=None):
        source, tables = self.source()
        of = {
            'i': lambda: self.number(tables, 1, True),
            'n': lambda: self.number(tables),
            't': lambda: self.text(tables),
            'f': lambda: f'({self.condition(tables, 0)})',
            'm': lambda: self.time(tables),
        }
        kinds = kinds or self.rng.choices('intfm', k=self.rng.randint(1, 3))
        items = ', '.join(f'{of[kind]()} as c{at}' for at, kind in enumerate(kinds))
        distinct = self.pick('', '', '', 'distinct ')
        return f'select {distinct}{items} from {source}{self.where(tables)}'

    def sets(self, depth=2):
        kinds = self.rng.choices('itnf', k=self.rng.randint(1, 3))

        def part(depth):
            if depth == 0 or self.chance(0.2):
                return self.values(kinds)
            operator = self.pick('union', 'union all', 'intersect', 'except', 'except all', 'intersect all')
            return f'({part(depth - 1)}) {operator} ({part(depth - 1)})'

        return part(depth)

    def ordered(self):
        """A query whose rows have one order."""
        table = self.rng.choice(NAMES)
        key = self.pick(lambda: self.number(['x'], 1, True), lambda: self.text(['x'], 1), lambda: self.time(['x']))
        direction = self.pick('', ' desc') + self.pick(' nulls first', ' nulls last')
        limit = self.pick('', f' limit {self.rng.randint(0, 9)}', f' limit 5 offset {self.rng.randint(0, 9)}')
        return f'select x.id as i, {key} as c0 from {table} x{self.where(["x"])} order by {key}{direction}, x.id{limit}'

    def distinct_on(self):
        table, key = self.rng.choice(NAMES), self.pick('x.k', 'x.s', 'x.f', 'x.k + 1')
        return (f'select distinct on ({key}) {key} as g, x.id as i, {self.number(["x"], 1)} as c0 from {table} x'
                f'{self.where(["x"])} order by {key} nulls last, x.v nulls first, x.id')

    def unnested(self):
        table = self.rng.choice(NAMES)
        return self.pick(
            f'select x.id as i, unnest(x.l) as e from {table} x{self.where(["x"])}',
            f'select q.e, count(*) as n, sum(q.i) as s from (select x.id as i, unnest(x.l) as e from {table} x) q group by q.e',
            f'select q.i from (select x.id as i, unnest(x.l) as e from {table} x) q where q.e {self.rng.choice(COMPARISONS)} 1',
            f'select x.id as i, {self.pick("list_min", "list_max", "len")}(x.l) as c0 from {table} x',
        )

    def shared(self):
        """A query of a table that it names twice."""
        inner = self.values(['i', 't', 'n'])
        return self.pick(
            f'with q as ({inner}) select c1, sum(c0) as s, count(*) as n, max(c2) as m from q where c0 is not null group by c1',
            f'with q as ({inner}) select o.c0, count(*) as n from q o join q p on o.c0 = p.c0 group by o.c0',
            f'with q as ({inner}) select c1 from q where c0 > (select avg(c0) from q)',
            f'with q as ({inner}) select count(*) as n from q where c1 in (select c1 from q where c0 > 1)',
        )

    def query(self):
        return self.pick(
            self.grouped, self.grouped, self.windows, self.values, self.values, self.sets, self.sets, self.ordered,
            self.distinct_on, self.unnested, self.shared, self.range_window,
        )
