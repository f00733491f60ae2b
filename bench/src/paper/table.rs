//! A table of figures: Markdown for people, JSON for programs, and for some tables a chart.

use std::fmt::Write;

use serde::Serialize;

use crate::svg::{Chart, Series};

/// Figures with names. Every row has one value for each column; NaN is a missing figure.
#[derive(Debug, Serialize)]
pub(super) struct Table {
    pub(super) title: String,
    /// The heading of the column with the row names.
    pub(super) heading: &'static str,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<(String, Vec<f64>)>,
    /// Notes of one sentence each: how a figure was made, or what is missing.
    pub(super) notes: Vec<String>,
    #[serde(skip)]
    pub(super) drawing: Option<Drawing>,
}

/// A column, and the number of decimals of its figures.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Column {
    name: String,
    decimals: usize,
}

/// Which columns become the series of a chart.
#[derive(Debug)]
pub(super) struct Drawing {
    pub(super) unit: &'static str,
    pub(super) columns: Vec<usize>,
    pub(super) stacked: bool,
}

/// Creates a column.
pub(super) fn column(name: impl Into<String>, decimals: usize) -> Column {
    Column { name: name.into(), decimals }
}

impl Table {
    /// The title, the table and the notes.
    pub(super) fn markdown(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let mut text = format!("## {}\n\n", self.title);
        line(&mut text, self.heading, names.iter().map(|name| (*name).to_owned()));
        line(&mut text, "---", names.iter().map(|_| "---:".to_owned()));
        for (name, values) in &self.rows {
            let cells = self.columns.iter().zip(values).map(|(column, value)| cell(*value, column.decimals));
            line(&mut text, name, cells);
        }
        for note in &self.notes {
            write!(text, "\n- {note}").expect("writing to a String");
        }
        text.push('\n');
        text
    }

    /// The chart, if this table has one.
    pub(super) fn chart(&self, footer: String) -> Option<Chart> {
        let drawing = self.drawing.as_ref()?;
        let series = drawing.columns.iter().map(|&index| Series {
            name: self.columns[index].name.clone(),
            values: self.rows.iter().map(|(_, values)| values[index]).collect(),
        });
        Some(Chart {
            title: self.title.clone(),
            subtitle: String::new(),
            unit: drawing.unit.to_owned(),
            sense: "",
            labels: self.rows.iter().map(|(name, _)| name.as_str().into()).collect(),
            series: series.collect(),
            stacked: drawing.stacked,
            notes: Vec::new(),
            footer,
        })
    }
}

fn line(text: &mut String, name: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    writeln!(text, "| {name} | {} |", cells.join(" | ")).expect("writing to a String");
}

fn cell(value: f64, decimals: usize) -> String {
    if value.is_nan() { "–".to_owned() } else { format!("{value:.decimals$}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_prints_its_figures_with_their_decimals() {
        let table = Table {
            title: "t".to_owned(),
            heading: "file",
            columns: vec![column("a", 0), column("b", 2)],
            rows: vec![("x".to_owned(), vec![1.0, f64::NAN])],
            notes: vec!["n".to_owned()],
            drawing: Some(Drawing { unit: "u", columns: vec![1], stacked: false }),
        };
        assert_eq!(table.markdown(), "## t\n\n| file | a | b |\n| --- | ---: | ---: |\n| x | 1 | – |\n\n- n\n");
        assert_eq!(table.chart(String::new()).map(|chart| chart.series.len()), Some(1));
    }
}
