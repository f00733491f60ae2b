//! What a query means.

mod decimal;
mod eval;
mod logic;
mod query;
mod rows;
mod run;
mod sql;
mod stores;
mod tables;
mod value;
mod window;

pub(crate) use query::{
    Aggregate, Condition, Frame, Function, Item, Join, Literal, Operand, Order, Query, Source, Step, Table, Union,
    Window,
};
pub(crate) use run::{Folder, Form, Way, ways, ways_of_stores};
pub(crate) use stores::{Plan, TIMES, regular};
pub(crate) use tables::aliased;
pub(crate) use value::{Json, Value, records};
