//! Random queries of several tables: joins, subqueries, windows, unions.

use super::queries::{Maker, Path, Tables, Words};
use crate::dice::Random;
use crate::model::{
    Aggregate, Condition, Frame, Function, Item, Join, Literal, Operand, Query, Source, Step, Table, Union, Window,
    aliased,
};

/// What such queries are made of.
pub(crate) struct Parts {
    stream: Words,
    /// The fields by the tables' names: `l` and `r` of a join, `s` of a subquery's table, and the columns of a query `t`.
    left: Vec<Path>,
    right: Vec<Path>,
    inner: Vec<Path>,
    columns: [Path; 3],
}

impl Parts {
    pub(crate) fn of(stream: Words) -> Self {
        let fields = |alias| stream.paths.iter().map(|path| aliased(alias, path)).collect();
        Self {
            left: fields("l"),
            right: fields("r"),
            inner: fields("s"),
            columns: ["c0", "c1", "c2"].map(|column| aliased("t", &[Step::Key(column)])),
            stream,
        }
    }

    fn words(&self, paths: Vec<Path>, tables: Tables) -> Words {
        // `i` of each of the tables.
        let is_unique = |path: &&Path| matches!(path, [Step::Key(_), Step::Key("i")]);
        let unique =
            if tables == Tables::Computed { Vec::new() } else { paths.iter().filter(is_unique).copied().collect() };
        let ends = match paths[0] {
            _ if self.stream.ends.is_empty() => Vec::new(),
            _ if tables == Tables::Computed => paths.iter().map(|path| [path, &[Step::Back(1)][..]].concat()).collect(),
            [Step::Key(alias), ..] => self.stream.ends.iter().map(|end| aliased(alias, end).to_vec()).collect(),
            _ => Vec::new(),
        };
        let ends = ends.into_iter().map(|end: Vec<Step>| -> Path { end.leak() }).collect();
        Words { paths, ends, unique, tables, ..self.stream.clone() }
    }
}

/// Makes queries of several tables.
pub(crate) struct Composer<'a> {
    pub(crate) parts: &'a Parts,
    /// The number of the stream's files.
    pub(crate) files: usize,
    pub(crate) random: &'a mut Random,
}

impl Composer<'_> {
    pub(crate) fn query(&mut self) -> Query {
        let mut query = match self.random.below(12) {
            0..=2 => self.joined(),
            3..=5 => self.windowed(),
            6 => self.member(),
            7 => self.existing(),
            8 => self.compared(),
            9 | 10 => self.of_query(),
            _ => self.union(),
        };
        let parts = self.parts;
        self.maker(&parts.stream).limit(&mut query);
        query
    }

    fn maker<'m>(&'m mut self, words: &'m Words) -> Maker<'m> {
        Maker { words, random: self.random }
    }

    fn flips(&mut self) -> bool {
        self.random.below(2) == 0
    }

    /// The stream or one of its files.
    fn source(&mut self, alias: &'static str) -> Source {
        let table = if self.flips() { Table::Stream } else { Table::File(self.random.below(self.files)) };
        Source { table, alias: Some(alias) }
    }

    fn joined(&mut self) -> Query {
        let parts = self.parts;
        let words = parts.words([&parts.left[..], &parts.right].concat(), Tables::Two);
        let mut query = self.maker(&words).query();
        if self.random.below(6) == 0 {
            let same = all(self.keys(&parts.left, &parts.right));
            query = self.beside(query, same);
        }
        self.with_join(query, &words)
    }

    /// Makes a query one of two tables.
    fn with_join(&mut self, query: Query, words: &Words) -> Query {
        let parts = self.parts;
        let (from, source) = (self.source("l"), self.source("r"));
        let mut on = self.keys(&parts.left, &parts.right);
        if self.random.below(3) == 0 {
            on.push(self.maker(words).condition(1));
        }
        Query { from: Some(from), joins: vec![Join { left: self.flips(), source, on: all(on) }], ..query }
    }

    /// One equality or two between the fields of two tables, mostly between those with the same name.
    fn keys(&mut self, left: &[Path], right: &[Path]) -> Vec<Condition> {
        (0..self.random.pick(&[1, 1, 2]))
            .map(|_| {
                let at = self.random.below(left.len());
                let other =
                    if self.random.below(3) == 0 { self.random.below(right.len()) } else { at.min(right.len() - 1) };
                Condition::Same(left[at], right[other])
            })
            .collect()
    }

    fn windowed(&mut self) -> Query {
        let parts = self.parts;
        let is_joined = self.random.below(4) == 0;
        let words = if is_joined {
            parts.words([&parts.left[..], &parts.right].concat(), Tables::Two)
        } else {
            parts.stream.clone()
        };
        let mut maker = self.maker(&words);
        let mut query = maker.rows();
        query.items.extend(maker.some(1, 2, window).into_iter().map(Item::Window));
        query.condition = (maker.random.below(2) == 0).then(|| maker.condition(2));
        if maker.random.below(2) == 0 {
            query.order = maker.total_order();
        }
        if is_joined { self.with_join(query, &words) } else { query }
    }

    /// A query with `in (select …)`.
    fn member(&mut self) -> Query {
        let parts = self.parts;
        if self.flips() {
            let inner = Query { items: vec![self.field(&parts.stream.paths)], ..self.filtered() };
            let path = self.random.pick(&parts.stream.paths);
            let query = self.maker(&parts.stream).query();
            return self.placed(query, Condition::InQuery(path, inner.into()));
        }
        let inner = self.inner();
        let inner = Query { items: vec![self.field(&parts.inner)], ..inner };
        let path = self.random.pick(&parts.left);
        let query = self.outer();
        self.placed(query, Condition::InQuery(path, inner.into()))
    }

    /// Adds a condition, or that it does not hold, as a column or as a part of the query's condition.
    fn placed(&mut self, mut query: Query, condition: Condition) -> Query {
        let parts = self.parts;
        match self.random.below(4) {
            0 if is_rows(&query) => {
                let condition = if self.flips() { condition } else { Condition::Not(condition.into()) };
                query.items.push(Item::Condition(condition));
                query
            }
            1 => {
                let paths = if query.from.is_some() { &parts.left } else { &parts.stream.paths };
                let words = parts.words(paths.clone(), Tables::One);
                let other = self.maker(&words).condition(1);
                self.restricted(query, Condition::Or(vec![condition, other]))
            }
            _ => self.restricted(query, condition),
        }
    }

    fn existing(&mut self) -> Query {
        let parts = self.parts;
        let inner = self.inner();
        let inner = Query { items: vec![self.field(&parts.inner)], ..inner };
        let query = self.outer();
        self.restricted(query, Condition::Exists(inner.into()))
    }

    /// A query with `(select max(…) …)` and the like, as a column or in the condition.
    fn compared(&mut self) -> Query {
        let parts = self.parts;
        let inner = self.inner();
        let aggregate = self.aggregate(&parts.inner);
        let inner: Box<_> = Query { items: vec![Item::Aggregate(aggregate)], ..inner }.into();
        let words = parts.words(parts.left.clone(), Tables::One);
        let mut query = if self.flips() { self.maker(&words).rows() } else { self.outer() };
        query.from = Some(self.source("l"));
        if is_rows(&query) && self.flips() {
            query.items.push(Item::Query(inner));
            return query;
        }
        let mut maker = self.maker(&words);
        let (path, op) = (maker.path(), maker.op());
        self.restricted(query, Condition::Compare(Operand::Field(path), op, Operand::Query(inner)))
    }

    /// A query of the table `l`.
    fn outer(&mut self) -> Query {
        let words = self.parts.words(self.parts.left.clone(), Tables::One);
        let query = self.maker(&words).query();
        Query { from: Some(self.source("l")), ..query }
    }

    /// A query of the table `s` inside of one of the table `l`, most often of rows that have something in common with the outer row;
    /// without items.
    fn inner(&mut self) -> Query {
        let parts = self.parts;
        let words = parts.words(parts.inner.clone(), Tables::One);
        let mut conditions = if self.random.below(3) > 0 { self.keys(&parts.left, &parts.inner) } else { Vec::new() };
        if self.flips() {
            conditions.push(self.maker(&words).condition(1));
        }
        Query {
            from: Some(self.source("s")),
            condition: (!conditions.is_empty()).then(|| all(conditions)),
            ..Query::default()
        }
    }

    /// Adds a condition, or that it does not hold.
    fn restricted(&mut self, query: Query, condition: Condition) -> Query {
        let condition = if self.flips() { condition } else { Condition::Not(condition.into()) };
        self.beside(query, condition)
    }

    /// Adds a condition to that of the query, or in its place.
    fn beside(&mut self, query: Query, condition: Condition) -> Query {
        let condition = match query.condition.clone() {
            Some(other) if self.flips() => all(vec![other, condition]),
            _ => condition,
        };
        Query { condition: Some(condition), ..query }
    }

    /// A query of the stream without items. Only a whole query is of the stream if it does not say so.
    fn filtered(&mut self) -> Query {
        let parts = self.parts;
        let condition = (self.random.below(3) > 0).then(|| self.maker(&parts.stream).condition(1));
        Query { from: Some(Source { table: Table::Stream, alias: None }), condition, ..Query::default() }
    }

    fn field(&mut self, paths: &[Path]) -> Item {
        Item::Field(self.random.pick(paths))
    }

    /// An aggregate that no column is refused by, and whose values are exact.
    fn aggregate(&mut self, paths: &[Path]) -> Aggregate {
        let path = self.random.pick(paths);
        match self.random.below(5) {
            0 => Aggregate::CountAll,
            1 => Aggregate::Count(path),
            2 => Aggregate::CountDistinct(path),
            3 => Aggregate::Min(path),
            _ => Aggregate::Max(path),
        }
    }

    /// A query of the table that another query is.
    fn of_query(&mut self) -> Query {
        let parts = self.parts;
        let inner = if self.random.below(4) == 0 { self.union() } else { self.table() };
        let is_field = |column: &(&Path, &Item)| matches!(column.1, Item::Field(_));
        let (fields, computed): (Vec<_>, Vec<_>) = parts.columns.iter().zip(&inner.items).partition(is_field);
        let columns: Vec<Path> = fields.into_iter().map(|(path, _)| *path).collect();
        let computed: Vec<(Path, bool)> = computed.into_iter().map(|(path, item)| (*path, is_count(item))).collect();
        if columns.is_empty() {
            return inner;
        }
        let mut with = Vec::new();
        let table = if self.flips() {
            with.push(inner);
            Table::With(0)
        } else {
            Table::Query(inner.into())
        };
        let source = Source { table, alias: Some("t") };
        if self.random.below(3) == 0 {
            let words = parts.words([&parts.left[..], &columns].concat(), Tables::Two);
            let words = Words { tables: Tables::Computed, unique: Vec::new(), ..words };
            let query = self.maker(&words).query();
            let query = self.with_computed(query, &computed);
            let on = all(self.keys(&parts.left, &columns));
            let join = Join { left: self.flips(), source, on };
            return Query { with, from: Some(self.source("l")), joins: vec![join], ..query };
        }
        let words = parts.words(columns, Tables::Computed);
        let query = self.maker(&words).query();
        let query = self.with_computed(query, &computed);
        Query { with, from: Some(source), ..query }
    }

    /// Adds columns that a subquery computes. They have one type each, so they are compared with nothing but numbers, if they are
    /// counts.
    fn with_computed(&mut self, mut query: Query, computed: &[(Path, bool)]) -> Query {
        for (path, is_count) in computed {
            if is_rows(&query) && self.flips() {
                query.items.push(Item::Field(path));
            }
            if *is_count && self.flips() {
                let op = self.random.pick(&["=", "<>", "<", ">="]);
                let number = Literal::Number(self.random.below(4).to_string());
                query = self.beside(query, Condition::Compare(Operand::Field(path), op, Operand::Literal(number)));
            }
        }
        query
    }

    /// A query that is a table.
    fn table(&mut self) -> Query {
        let parts = self.parts;
        let words = &parts.stream;
        let base = self.filtered();
        match self.random.below(4) {
            0 => {
                Query { from: base.from, condition: base.condition, order: Vec::new(), ..self.maker(words).distinct() }
            }
            1 => {
                let group = self.random.pick(&words.paths);
                let aggregate = self.aggregate(&words.paths);
                Query { items: vec![Item::Field(group), Item::Aggregate(aggregate)], group: vec![group], ..base }
            }
            2 => {
                let mut query =
                    Query { items: vec![self.field(&words.paths)], order: self.maker(words).total_order(), ..base };
                self.maker(words).limit(&mut query);
                query
            }
            _ => {
                let items = self.maker(words).some(1, 3, |maker| match maker.random.below(6) {
                    0 => Item::Type(maker.path()),
                    1 => Item::Condition(maker.decided()),
                    _ => Item::Field(maker.path()),
                });
                Query { items, ..base }
            }
        }
    }

    fn union(&mut self) -> Query {
        let parts = self.parts;
        let columns = 1 + self.random.below(2);
        let mut side = || {
            let items = (0..columns).map(|_| self.field(&parts.stream.paths)).collect();
            Query { items, ..self.filtered() }
        };
        let (one, other) = (side(), side());
        Query { union: Some(Union { all: self.flips(), other: other.into() }), ..one }
    }
}

/// Whether each row of a query is one of its tables' rows.
fn is_rows(query: &Query) -> bool {
    let is_aggregate = |item: &Item| matches!(item, Item::Aggregate(_));
    query.group.is_empty() && !query.distinct && !query.items.iter().any(is_aggregate)
}

fn is_count(item: &Item) -> bool {
    use Aggregate::{Count, CountAll, CountDistinct};
    matches!(item, Item::Aggregate(CountAll | Count(_) | CountDistinct(_)))
}

/// All of these conditions.
fn all(mut conditions: Vec<Condition>) -> Condition {
    if conditions.len() == 1 { conditions.remove(0) } else { Condition::And(conditions) }
}

/// A window function whose values do not depend on the order of equal rows.
fn window(maker: &mut Maker<'_>) -> Window {
    let partition = maker.some(0, 2, Maker::path);
    let path = maker.path();
    let rows = maker.random.pick(&[1, 1, 2]);
    if maker.random.below(3) == 0 {
        let keys = maker.some(1, 2, Maker::path);
        let order = maker.directed(keys);
        let function = match maker.random.below(3) {
            0 => Function::Rank,
            1 => Function::DenseRank,
            _ => Function::Aggregate(running(maker)),
        };
        return Window { function, partition, order, frame: None };
    }
    let function = match maker.random.below(8) {
        0 => Function::RowNumber,
        1 => Function::Rank,
        2 => Function::Lag(path, rows),
        3 => Function::Lead(path, rows),
        4 => Function::First(path),
        5 => Function::Last(path),
        _ => Function::Aggregate(running(maker)),
    };
    let takes_frame = matches!(function, Function::First(_) | Function::Last(_) | Function::Aggregate(_));
    let bound = |maker: &mut Maker<'_>| maker.random.pick(&[None, Some(0), Some(1), Some(2)]);
    let frame =
        (takes_frame && maker.random.below(2) == 0).then(|| Frame { before: bound(maker), after: bound(maker) });
    Window { function, partition, order: maker.total_order(), frame }
}

/// An aggregate that a window may have.
fn running(maker: &mut Maker<'_>) -> Aggregate {
    match maker.aggregate() {
        Aggregate::CountDistinct(path) => Aggregate::Count(path),
        aggregate => aggregate,
    }
}
