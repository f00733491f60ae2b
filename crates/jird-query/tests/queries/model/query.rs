//! Queries.

/// A part of the way to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(&'static str),
    Index(usize),
    /// An element, counted from 1 at the end.
    Back(usize),
}

pub(crate) type Path = &'static [Step];

/// A query. Its columns are called `c0`, `c1` and so on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    /// `with w0 as (…), w1 as (…)`. A query in the list does not use the others.
    pub(crate) with: Vec<Query>,
    pub(crate) distinct: bool,
    pub(crate) items: Vec<Item>,
    /// If missing, the stream without an alias.
    pub(crate) from: Option<Source>,
    pub(crate) joins: Vec<Join>,
    pub(crate) condition: Option<Condition>,
    pub(crate) group: Vec<Path>,
    pub(crate) order: Vec<Order>,
    pub(crate) limit: Option<usize>,
    pub(crate) offset: usize,
    pub(crate) union: Option<Union>,
}

/// A table, and what it is called. With an alias, the first step of a path is the alias.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) table: Table,
    pub(crate) alias: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(crate) enum Table {
    Stream,
    /// One of the stream's files, by its name.
    File(usize),
    /// One of the queries of `with`.
    With(usize),
    Query(Box<Query>),
}

#[derive(Clone, Debug)]
pub(crate) struct Join {
    /// Whether rows without a partner are kept.
    pub(crate) left: bool,
    pub(crate) source: Source,
    pub(crate) on: Condition,
}

/// The rows of another query follow. Unless `all` of them count, equal rows are one.
#[derive(Clone, Debug)]
pub(crate) struct Union {
    pub(crate) all: bool,
    pub(crate) other: Box<Query>,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Field(Path),
    Number(Path),
    Text(Path),
    Type(Path),
    /// The first that is not null.
    Coalesce(Vec<Path>),
    /// `case when … then … else … end`
    Case(Condition, Path, Path),
    /// A condition as a column.
    Condition(Condition),
    Aggregate(Aggregate),
    Window(Window),
    /// The only value of a query with one row and one column.
    Query(Box<Query>),
}

/// `function over (partition by … order by … rows between … and …)`
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) function: Function,
    pub(crate) partition: Vec<Path>,
    pub(crate) order: Vec<Order>,
    pub(crate) frame: Option<Frame>,
}

#[derive(Clone, Debug)]
pub(crate) enum Function {
    RowNumber,
    Rank,
    DenseRank,
    Lag(Path, usize),
    Lead(Path, usize),
    First(Path),
    Last(Path),
    Aggregate(Aggregate),
}

/// The rows from this many before the current one to this many after it; without a number, all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) before: Option<usize>,
    pub(crate) after: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Aggregate {
    CountAll,
    Count(Path),
    CountDistinct(Path),
    Sum(Path),
    /// `sum(number(…))`
    SumNumber(Path),
    Avg(Path),
    Min(Path),
    Max(Path),
}

#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) path: Path,
    pub(crate) descending: bool,
    pub(crate) nulls_first: Option<bool>,
}

#[derive(Clone, Debug)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
}

#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Field(Path),
    Literal(Literal),
    /// The only value of a query with one row and one column.
    Query(Box<Query>),
}

#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Compare(Operand, &'static str, Operand),
    In(Path, Vec<Literal>),
    Between(Path, Literal, Literal),
    Like(Path, String),
    Match(Path, String),
    IsNull(Path),
    Truth(Path),
    /// `json_type(…) = …`
    TypeIs(Path, &'static str),
    /// `number(…) = …` and so on
    NumberIs(Path, &'static str, &'static str),
    /// `text(…) = …`
    TextIs(Path, String),
    /// `a = b` by which tables are joined: also arrays and objects are equal by their values.
    Same(Path, Path),
    InQuery(Path, Box<Query>),
    Exists(Box<Query>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
}
