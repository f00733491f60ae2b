//! Names for columns.

use std::collections::{HashMap, HashSet};

/// Gives out names that are all different, in time linear in their text.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// For each name that was taken already, the number of the last variant tried.
    numbers: HashMap<String, u64>,
}

impl Names {
    /// A name for each column. Column 3 without a name is `column3`. The second column `a` is `a_2`, or, if another
    /// column has that name, `a_3`.
    pub(super) fn distinct(&mut self, given: Vec<String>) -> Vec<String> {
        self.taken.extend(given.iter().filter(|name| !name.is_empty()).cloned());
        let mut met = HashSet::new();
        let name = |(column, given): (usize, String)| {
            if given.is_empty() {
                return self.numbered(column);
            }
            if met.insert(given.clone()) { given } else { self.another(&given) }
        };
        given.into_iter().enumerate().map(name).collect()
    }

    /// The name of a column that has none of its own.
    pub(super) fn numbered(&mut self, column: usize) -> String {
        let name = format!("column{}", column + 1);
        if self.taken.insert(name.clone()) { name } else { self.another(&name) }
    }

    fn another(&mut self, name: &str) -> String {
        let number = self.numbers.entry(name.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let tried = format!("{name}_{number}");
            if self.taken.insert(tried.clone()) {
                return tried;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_names_are_unique() {
        let mut names = Names::default();
        let given = ["a", "", "a", "a_2", "column2", "a", "", "b"].map(str::to_owned);
        let wanted = ["a", "column2_2", "a_3", "a_2", "column2", "a_4", "column7", "b"];
        assert_eq!(names.distinct(given.to_vec()), wanted);
        assert_eq!([names.numbered(8), names.numbered(6)], ["column9", "column7_2"]);
    }
}
