"""Random events for a store and queries over them. Stretches of events are alike, so that blocks have columns; others are hostile: numbers
in odd spellings, fields of several kinds, keys twice, times in any order."""

import datetime
import json

LEVELS = ['Debug', 'Information', 'Warning', 'Error', 'Fatal']
APPS = ['api', 'auth', 'basket', 'billing', 'mail', 'search', 'shop', 'web']
VERBS = ['GET', 'POST', 'PUT', 'DELETE']
PLACES = ['/api/customers', '/api/orders', '/login', '/assets/img', '/health', '/Über/straße', '/emoji/😀']
WORDS = ['timeout', 'payment', 'retry', 'Größe', 'cache', 'connection', 'refused', 'a"b', 'tab\there', 'back\\slash']
START = datetime.datetime(2024, 3, 4, 22)
STRETCH = 700


class Events:
    """The texts of events, one after the other."""

    def __init__(self, rng):
        self.rng = rng

    def texts(self, count):
        hostility = 0
        for number in range(count):
            if number % STRETCH == 0:
                hostility = self.rng.choice([0, 0, 0.002, 0.1])
            # Some events are late, and a few very late.
            late = self.rng.choice([0] * 50 + [3600, 90000]) if hostility else 0
            seconds = number * 172800 / count - self.rng.random() * (2 + late)
            yield self.text(number, START + datetime.timedelta(seconds=seconds), hostility)

    def text(self, number, time, hostility):
        rng, is_odd = self.rng, lambda: self.rng.random() < hostility
        status = rng.choice([200, 200, 200, 201, 304, 404, 500])
        place, elapsed = f'{rng.choice(PLACES)}/{rng.randint(1, 50000)}', rng.expovariate(1 / 60)
        members = [
            ('@t', f'"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond:06d}{rng.randint(0, 9)}Z"'),
            ('Level', f'"{rng.choice(LEVELS)}"'),
            ('Message', quoted(f'HTTP {rng.choice(VERBS)} {place} responded {status} in {elapsed:.3f} ms')),
            ('Elapsed', f'{elapsed:.4f}'),
            ('Status', f'{status}'),
            ('Id', f'"{rng.getrandbits(64):016X}"'),
            ('N', f'{number}'),
            ('P', self.properties(is_odd)),
        ]
        if rng.random() < 0.3:
            members.append(('Rare', quoted(' '.join(rng.choices(WORDS, k=3)))))
        if rng.random() < 0.5:
            members.append(('Ok', rng.choice(['true', 'false', 'null'])))
        odd = [(key, self.odd(key, text, time) if key != 'N' and is_odd() else text) for key, text in members]
        if is_odd():
            odd.insert(rng.randrange(len(odd)), (rng.choice(['Status', 'Level', 'Elapsed', 'P', 'New']), self.value()))
        if is_odd():
            rng.shuffle(odd)
        return '{' + ','.join(f'"{key}":{text}' for key, text in odd if text is not None) + '}'

    def properties(self, is_odd):
        rng = self.rng
        app = f'"{rng.choice(APPS)}"' if not is_odd() else self.value()
        code = f'{rng.randint(0, 40)}' if not is_odd() else self.value()
        return f'{{"App":{app},"Code":{code},"Tags":[{",".join(quoted(rng.choice(WORDS)) for _ in range(rng.randint(0, 2)))}]}}'

    def odd(self, key, text, time):
        """The same value in another spelling, another value, or none."""
        rng = self.rng
        if key == '@t':
            return rng.choice([f'"{time:%Y-%m-%dT%H:%M:%S}Z"', f'"{time:%Y-%m-%d %H:%M:%S}"', f'"{time:%Y-%m-%dT%H:%M}+02:00"', None])
        if text[0].isdigit():
            other = rng.choice([text + '0' if '.' in text else text + '.0', f'{float(text):E}', text + 'e0', f'-{text}', f'"{text}"'])
            return rng.choice([other, other, self.value(), None])
        if text[0] == '"' and len(text) > 2 and text[1].isascii() and text[1] != '\\':
            return rng.choice([f'"\\u{ord(text[1]):04x}{text[2:]}', self.value(), None])
        return rng.choice([self.value(), None])

    def value(self):
        """A value of any kind."""
        return self.rng.choice([
            'null', 'true', 'false', '0', '-0', '-0.0', '1.50', '1E+3', '1e-7', '9007199254740993', '18446744073709551616', '1e300',
            '0.1000000000000000055', '""', '"api"', '"200"', '"\\u0041pi"', '"\\ud83d\\ude00"', '"timeout"', '[]', '[1,"a",null]', '{}',
            '{"App":"api"}', '{"a":1,"a":2}',
        ])  # fmt: skip


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


KEYS = ['Level', 'Status', 'P.App', 'P.Code', 'Ok', 'New']
FIELDS = [*KEYS, 'Elapsed', 'Message', 'Id', 'N', 'P', 'P.Tags', 'Rare', '"@t"', 'None']
COMPARISONS = ['=', '<>', '<', '<=', '>', '>=']
CONSTANTS = ['0', '200', '404', '1.5', '1000', '1e300', "'api'", "'Error'", "'200'", "''", "'Information'", '17', 'true']


class Queries:
    """Queries with `{}` for the table. `query` is a text, and whether its rows have an order and are to be equal byte by byte."""

    def __init__(self, rng, count, ids):
        self.rng, self.count, self.ids = rng, count, ids

    def chance(self, likely):
        return self.rng.random() < likely

    def query(self):
        return self.rng.choice([self.total, self.total, self.groups, self.groups, self.newest, self.rows, self.nested])()

    def where(self, likely=0.8):
        return f' where {self.condition()}' if self.chance(likely) else ''

    def condition(self, depth=2):
        rng = self.rng
        if depth and self.chance(0.4):
            form = rng.choice(['({} and {})', '({} and {})', '({} or {})', '(not {})'])
            return form.format(*(self.condition(depth - 1) for _ in range(2)))
        return rng.choice([
            lambda: f'{rng.choice(FIELDS)} {rng.choice(COMPARISONS)} {rng.choice(CONSTANTS)}',
            lambda: f'Elapsed {rng.choice(COMPARISONS)} {rng.choice(["20", "200", "60.5", "1e2"])}',
            lambda: f'Status {rng.choice(["in", "not in"])} (404, 500, {rng.choice(CONSTANTS)})',
            lambda: f"Level {rng.choice(['=', '<>'])} '{rng.choice(LEVELS)}'",
            lambda: f"P.App {rng.choice(['=', '<>'])} '{rng.choice(APPS)}'",
            lambda: f'{rng.choice(FIELDS)} is {rng.choice(["", "not "])}null',
            lambda: f'{rng.choice(["N", "P.Code", "Elapsed"])} between {rng.randint(0, 30)} and {rng.randint(20, self.count)}',
            lambda: f"Message {rng.choice(['', 'not '])}like '{rng.choice(['%', ''])}{rng.choice(PLACES + ['HTTP GET', '500'])}%'",
            lambda: f"Message ilike '%{rng.choice(['ÜBER', 'LOGIN/1', 'responded 404'])}%'",
            lambda: f"Id = '{rng.choice(self.ids)}'",
            lambda: f"search('{rng.choice(['timeout', 'payment retry', 'größe', '404', 'refused'])}')",
            self.time,
            self.time,
        ])()  # fmt: skip

    def time(self):
        rng = self.rng
        moment = lambda: START + datetime.timedelta(seconds=rng.randint(-7200, 180000))  # noqa: E731
        text, other = (f"'{moment():%Y-%m-%dT%H:%M:%SZ}'" for _ in range(2))
        return rng.choice([
            lambda: f'"@t" {rng.choice(COMPARISONS)} {text}',
            lambda: f'"@t" {rng.choice(COMPARISONS)} timestamp {text}',
            lambda: f'"@t" between timestamp {text} and timestamp {other}',
            lambda: f'"@t" >= {text} and "@t" < {other}',
            lambda: f"\"@t\" like '{moment():%Y-%m-%dT%H}%'",
            lambda: f"date_trunc('hour', \"@t\") = timestamp '{moment():%Y-%m-%dT%H:00:00Z}'",
        ])()  # fmt: skip

    def aggregates(self):
        some = [
            'count(*)', 'sum(Elapsed)', 'avg(Elapsed)', 'min(Elapsed)', 'max(Elapsed)', 'count(Elapsed)', 'sum(Status)', 'max(Status)',
            'min(P.Code)', 'avg(P.Code)', 'count(distinct P.App)', 'count(distinct Level)', 'max(N)', 'min(N)', 'count(Rare)',
            'max(Level)', 'min(Id)', 'min("@t")', 'max("@t")', 'median(Status)', 'sum(P.Code + 1)', 'count(distinct Status)',
            'count(*) filter (where Elapsed > 100)', 'max(length(Message))', 'min(Message)', 'bool_or(Ok)',
        ]  # fmt: skip
        return ', '.join(f'{text} as a{at}' for at, text in enumerate(self.rng.sample(some, self.rng.randint(1, 4))))

    def total(self):
        return f'select {self.aggregates()} from {{}}{self.where()}', False, False

    def groups(self):
        rng = self.rng
        others = ["date_trunc('hour', \"@t\")", "time_bucket('6 hours', \"@t\")", 'P.Code % 3', 'length(Level)', 'Elapsed > 100', 'lower(Level)']
        keys = [key if self.chance(0.85) else rng.choice(others) for key in rng.sample(KEYS, rng.choice([1, 1, 1, 2, 3]))]
        named = ', '.join(f'{key} as k{at}' for at, key in enumerate(keys))
        having = ' having count(*) > 10' if self.chance(0.2) else ''
        by = ', '.join(keys)
        return f'select {named}, {self.aggregates()} from {{}}{self.where(0.6)} group by {by}{having}', False, False

    def newest(self):
        rng = self.rng
        order, shown = rng.choice(['N', 'N desc', 'Elapsed desc, N', 'Status, N desc', 'Level, N']), self.shown()
        offset = f' offset {rng.randint(0, 30)}' if self.chance(0.2) else ''
        return f'select {shown} from {{}}{self.where()} order by {order} limit {rng.randint(0, 200)}{offset}', True, True

    def rows(self):
        narrow = self.rng.choice([f"Id in ('{self.rng.choice(self.ids)}', '{self.rng.choice(self.ids)}')", f'N % 97 = {self.rng.randrange(97)}'])
        return f'select {self.shown()} from {{}} where {narrow} {self.rng.choice(["or", "and", "and"])} {self.condition()}', False, True

    def shown(self):
        return '*' if self.chance(0.3) else ', '.join(f'{field} as f{at}' for at, field in enumerate(self.rng.sample(FIELDS, 3)))

    def nested(self):
        key = self.rng.choice(['Level', 'P.App', 'Status'])
        return self.rng.choice([
            f'select count(*) as n from {{}} where {key} in (select {key} from {{}} where Elapsed > 300 group by {key} having count(*) > 1)',
            f'select distinct {key} as k from {{}}{self.where()}',
            f'select count(*) as n, sum(m) as s from (select {key} as k, max(N) as m from {{}}{self.where()} group by {key}) as g',
            f'select k, n from (select {key} as k, count(*) as n from {{}}{self.where()} group by {key}) as g where n > 5 order by n desc, k',
        ]), False, False  # fmt: skip
