//! Which rows of a table, in which order, and which of these: all parameters of a request but those for columns.

use super::field::Scope;
use super::filter::Filter;
use super::order::order;
use crate::base::problem::Problem;
use crate::request::uri;

/// Some rows of a table, in their order.
#[derive(Debug, Default)]
pub(super) struct Slice {
    pub(super) filter: Filter,
    /// Terms of SQL.
    pub(super) order: Vec<String>,
    pub(super) limit: Option<u64>,
    pub(super) offset: u64,
}

impl Slice {
    /// # Errors
    /// 400 if a parameter is neither known nor a column, or if its value is wrong.
    pub(super) fn new(scope: &Scope<'_>, parameters: &[(&str, &str)]) -> Result<Self, Problem> {
        let mut slice = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for &(name, value) in parameters {
            match name {
                "order" => slice.order = order(scope, value)?,
                "limit" => slice.limit = Some(count(name, value)?),
                "offset" => slice.offset = count(name, value)?,
                _ => {
                    if scope.table.column(name).is_none() && Filter::operator(name).is_some() {
                        slice.filter.add_group(scope, name, value)?;
                    } else {
                        slice.filter.add(scope, name, value)?;
                    }
                    continue;
                }
            }
            once(&mut seen, name)?;
        }
        // Pages need an order, or rows could be on two of them.
        if slice.order.is_empty() && slice.is_page() {
            let key = scope.table.info.key().into_iter().filter_map(|name| scope.table.column(name));
            slice.order = key.map(|key| scope.sql_of(key)).collect();
        }
        Ok(slice)
    }

    /// Whether not all rows are wanted for which the conditions hold.
    pub(super) fn is_page(&self) -> bool {
        self.limit.is_some() || self.offset > 0
    }

    /// ` order by …`, or nothing.
    pub(super) fn order_by(&self) -> String {
        if self.order.is_empty() { String::new() } else { format!(" order by {}", self.order.join(", ")) }
    }
}

/// Notes a parameter.
///
/// # Errors
/// 400 if it was there before.
pub(super) fn once<'n>(seen: &mut Vec<&'n str>, name: &'n str) -> Result<(), Problem> {
    if seen.contains(&name) {
        return Err(Problem::bad(format!("the query has {name} twice")));
    }
    seen.push(name);
    Ok(())
}

fn count(name: &str, value: &str) -> Result<u64, Problem> {
    uri::count(value).ok_or_else(|| Problem::bad(format!("{name} must be an integer, not negative")))
}
