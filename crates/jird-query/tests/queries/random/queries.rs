//! Random queries of all shapes.

use crate::dice::Random;
use crate::model::{Aggregate, Condition, Item, Literal, Operand, Order, Query, Step};

pub(super) type Path = &'static [Step];

/// What queries of some records are made of.
#[derive(Clone)]
pub(crate) struct Words {
    pub(crate) paths: Vec<Path>,
    /// More fields, for conditions.
    pub(crate) ends: Vec<Path>,
    /// Fields that no two records share, if there are any.
    pub(crate) unique: Vec<Path>,
    pub(crate) texts: Vec<String>,
    pub(crate) numbers: Vec<String>,
    pub(crate) tables: Tables,
}

/// What the fields are of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    One,
    /// Of two tables, which an equality of fields would join as [`Condition::Same`] does.
    Two,
    /// Of a query, whose values may be written in another way than in the records.
    Computed,
}

/// Makes queries.
pub(crate) struct Maker<'a> {
    pub(crate) words: &'a Words,
    pub(crate) random: &'a mut Random,
}

impl Maker<'_> {
    pub(crate) fn query(&mut self) -> Query {
        let mut query = match self.random.below(8) {
            0..=2 => self.rows(),
            3 if !self.words.unique.is_empty() => Query { order: self.total_order(), ..self.rows() },
            4 => self.distinct(),
            5 if self.words.tables == Tables::One => {
                let keys = self.some(1, 2, Self::path);
                Query { order: self.directed(keys), ..self.rows() }
            }
            _ => self.grouped(),
        };
        query.condition = (self.random.below(4) > 0).then(|| self.condition(3));
        self.limit(&mut query);
        query
    }

    /// Asks for some of the rows, if it is clear which ones these are.
    pub(super) fn limit(&mut self, query: &mut Query) {
        (query.limit, query.offset) = (None, 0);
        if query.is_ordered() && self.random.below(3) == 0 {
            query.limit = Some(self.random.below(8));
            query.offset = self.random.pick(&[0, 0, 1, 3]);
        }
    }

    /// An order in which no two records are equal.
    pub(super) fn total_order(&mut self) -> Vec<Order> {
        let most = self.random.pick(&[0, 2]);
        let mut keys = self.some(0, most, Self::path);
        keys.extend(&self.words.unique);
        self.directed(keys)
    }

    pub(super) fn path(&mut self) -> Path {
        self.random.pick(&self.words.paths)
    }

    /// A field of a condition: this one, or now and then one that is counted from the end.
    fn or_end(&mut self, path: Path) -> Path {
        let is_end = !self.words.ends.is_empty() && self.random.below(6) == 0;
        if is_end { self.random.pick(&self.words.ends) } else { path }
    }

    fn text(&mut self) -> String {
        self.words.texts[self.random.below(self.words.texts.len())].clone()
    }

    /// A field, as the query names it.
    pub(crate) fn field(&mut self) -> String {
        Item::Field(self.path()).to_string()
    }

    pub(crate) fn some<T>(&mut self, min: usize, max: usize, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..min + self.random.below(max - min + 1)).map(|_| one(self)).collect()
    }

    pub(super) fn rows(&mut self) -> Query {
        let items = self.some(1, 3, |maker| match maker.random.below(10) {
            0 => Item::Number(maker.path()),
            1 if maker.words.tables != Tables::Computed => Item::Text(maker.path()),
            2 => Item::Type(maker.path()),
            3 => Item::Condition(maker.decided()),
            4 => Item::Coalesce(maker.some(2, 3, Self::path)),
            5 => Item::Case(maker.condition(1), maker.path(), maker.path()),
            _ => Item::Field(maker.path()),
        });
        Query { items, ..Query::default() }
    }

    /// A condition that is one as a column too, where a field by itself is none.
    pub(super) fn decided(&mut self) -> Condition {
        match self.condition(1) {
            Condition::Truth(path) => Condition::IsNull(path),
            condition => condition,
        }
    }

    pub(super) fn directed(&mut self, keys: Vec<Path>) -> Vec<Order> {
        let key = |path| Order {
            path,
            descending: self.random.below(2) == 0,
            nulls_first: self.random.pick(&[None, None, Some(true), Some(false)]),
        };
        keys.into_iter().map(key).collect()
    }

    pub(super) fn distinct(&mut self) -> Query {
        let fields = self.some(1, 2, Self::path);
        let order = if self.random.below(3) == 0 { self.directed(fields.clone()) } else { Vec::new() };
        Query { distinct: true, items: fields.into_iter().map(Item::Field).collect(), order, ..Query::default() }
    }

    fn grouped(&mut self) -> Query {
        let mut group = self.some(0, 2, Self::path);
        group.dedup();
        let mut items: Vec<_> = group.iter().map(|path| Item::Field(path)).collect();
        items.extend(self.some(1, 3, Self::aggregate).into_iter().map(Item::Aggregate));
        let order = if self.random.below(3) == 0 { self.directed(group.clone()) } else { Vec::new() };
        Query { items, group, order, ..Query::default() }
    }

    pub(super) fn aggregate(&mut self) -> Aggregate {
        let path = self.path();
        match self.random.below(8) {
            0 => Aggregate::CountAll,
            1 => Aggregate::Count(path),
            2 => Aggregate::CountDistinct(path),
            3 => Aggregate::Sum(path),
            4 => Aggregate::SumNumber(path),
            5 => Aggregate::Avg(path),
            6 => Aggregate::Min(path),
            _ => Aggregate::Max(path),
        }
    }

    pub(crate) fn condition(&mut self, depth: usize) -> Condition {
        let path = self.path();
        let kind = self.random.below(if depth == 0 { 12 } else { 16 });
        // In a computed value, `like` and `match` also take the text of a value that is not a text.
        let path = if kind <= 6 || kind == 9 { self.or_end(path) } else { path };
        match kind {
            0..=2 => Condition::Compare(Operand::Field(path), self.op(), Operand::Literal(self.literal())),
            3 => Condition::Compare(Operand::Literal(self.literal()), self.op(), Operand::Field(path)),
            4 => match self.op() {
                "=" if self.words.tables == Tables::Two => Condition::IsNull(path),
                op => Condition::Compare(Operand::Field(path), op, Operand::Field(self.path())),
            },
            5 => Condition::In(path, self.some(1, 4, Self::literal)),
            6 => Condition::Between(path, self.literal(), self.literal()),
            7 => Condition::Like(path, self.pattern()),
            8 => Condition::Match(path, self.expression()),
            9 => Condition::IsNull(path),
            10 if self.random.below(2) == 0 => Condition::Truth(path),
            10 => {
                let kinds = ["null", "boolean", "number", "string", "object", "array"];
                Condition::TypeIs(path, self.random.pick(&kinds))
            }
            11 if self.random.below(2) == 0 && self.words.tables != Tables::Computed => {
                Condition::TextIs(path, self.text())
            }
            11 => Condition::NumberIs(path, self.op(), self.random.pick(&["0", "0.1", "1", "-1.25", "4294967296"])),
            12 => Condition::And(self.some(2, 3, |maker| maker.condition(depth - 1))),
            13 => Condition::Or(self.some(2, 3, |maker| maker.condition(depth - 1))),
            _ => Condition::Not(self.condition(depth - 1).into()),
        }
    }

    pub(super) fn op(&mut self) -> &'static str {
        self.random.pick(&["=", "=", "<>", "<", "<=", ">", ">="])
    }

    fn literal(&mut self) -> Literal {
        match self.random.below(10) {
            0 => Literal::Null,
            1 => Literal::Bool(self.random.below(2) == 0),
            2..=5 => Literal::Number(self.words.numbers[self.random.below(self.words.numbers.len())].clone()),
            _ => Literal::Text(self.text()),
        }
    }

    /// A text as `like` writes it, with gaps.
    pub(crate) fn pattern(&mut self) -> String {
        let text = self.text();
        let mut pattern: String = self.random.pick(&["", "%", "_", ""]).to_owned();
        for char in text.chars() {
            match self.random.below(12) {
                0 => pattern.push('_'),
                1 => pattern.push('%'),
                _ if "%_\\".contains(char) => pattern.extend(['\\', char]),
                2 => pattern.extend(['\\', char]),
                _ => pattern.push(char),
            }
        }
        pattern + self.random.pick(&["", "%", "_", "%%"])
    }

    /// A regular expression that some of the texts match.
    pub(crate) fn expression(&mut self) -> String {
        let (one, other) = (regex::escape(&self.text()), regex::escape(&self.text()));
        match self.random.below(9) {
            0 => format!("^{one}$"),
            1 => format!("{one}|{other}"),
            2 => format!("(?:{one})?{other}"),
            3 => format!("(?i){one}"),
            4 => format!("{one}.*"),
            5 => format!("^(?:{one}|{other})$"),
            6 => "[^a]".to_owned(),
            7 => "a+[/_b]+.?".to_owned(),
            _ => one,
        }
    }
}
