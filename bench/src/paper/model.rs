//! The cost model of section 4.3: nanoseconds = a × bytes + b × structurals + c × floats, fitted by least squares.

use super::statistics::Statistics;
use super::table::{Table, column};
use super::{documents, measured, text, time};
use crate::options::Options;
use crate::task::Task;

const PEERS: &[&str] = &["jird", "simdjson"];

/// The coefficients of each peer, for a parse alone and for a parse with a visit.
pub(super) fn table(options: &Options) -> Result<Table, String> {
    let names: Vec<String> = documents(options).map(str::to_owned).collect();
    let mut inputs = Vec::new();
    for name in &names {
        let s = Statistics::of(&text(name)?)?;
        inputs.push([s.bytes, s.structurals as f64, s.floats as f64]);
    }
    let tasks = [Task::Parse, Task::Dom];
    let rows_measured = measured(PEERS, &tasks, &names, options);
    let mut rows = Vec::new();
    for task in tasks {
        for peer in PEERS {
            let times: Result<Vec<f64>, String> =
                names.iter().map(|name| time(&rows_measured, task, name, peer)).collect();
            let times = times?;
            let fit =
                least_squares(&inputs, &times).ok_or("the documents asked for do not tell the coefficients apart")?;
            let mut values = fit.to_vec();
            values.push(determination(&inputs, &times, fit));
            rows.push((format!("{peer}, {}", task.name()), values));
        }
    }
    let columns =
        vec![column("ns per byte", 3), column("ns per structural", 2), column("ns per float", 2), column("R²", 3)];
    let notes = vec![
        "least squares over the documents, without a constant; R² against the mean time".to_owned(),
        "jird's parse checks numbers and converts them when they are asked for, which the visit of dom does".to_owned(),
    ];
    let title = "Section 4.3: the cost of a byte, a structural character and a float".to_owned();
    Ok(Table { title, heading: "peer, task", columns, rows, notes, drawing: None })
}

/// The coefficients with the least squared error: the solution of the normal equations. `None` if the solution is not
/// unique.
fn least_squares(inputs: &[[f64; 3]], times: &[f64]) -> Option<[f64; 3]> {
    let mut equations = [[0.0; 4]; 3];
    for (input, time) in inputs.iter().zip(times) {
        for (row, equation) in equations.iter_mut().enumerate() {
            for column in 0..3 {
                equation[column] += input[row] * input[column];
            }
            equation[3] += input[row] * time;
        }
    }
    solve(equations)
}

/// Gauss–Jordan elimination with the largest pivot of each column.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let pivot = (column..3).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, pivot);
        let lead = rows[column];
        if lead[column].abs() < 1e-9 {
            return None;
        }
        for (index, row) in rows.iter_mut().enumerate().filter(|(index, _)| *index != column) {
            let factor = row[column] / lead[column];
            debug_assert!(index != column);
            row.iter_mut().zip(lead).for_each(|(cell, lead)| *cell -= factor * lead);
        }
    }
    Some([0, 1, 2].map(|index| rows[index][3] / rows[index][index]))
}

/// R²: the share of the variance of the times that the model explains.
fn determination(inputs: &[[f64; 3]], times: &[f64], fit: [f64; 3]) -> f64 {
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let model = |input: &[f64; 3]| input.iter().zip(fit).map(|(amount, each)| amount * each).sum::<f64>();
    let left: f64 = inputs.iter().zip(times).map(|(input, time)| (time - model(input)).powi(2)).sum();
    let all: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    1.0 - left / all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_cost_is_found_exactly() {
        let inputs = [[10.0, 2.0, 0.0], [20.0, 1.0, 5.0], [30.0, 9.0, 1.0], [5.0, 5.0, 5.0]];
        let times = inputs.map(|[b, s, f]| 0.5 * b + 3.0 * s + 20.0 * f);
        let fit = least_squares(&inputs, &times).expect("independent inputs");
        for (found, wanted) in fit.iter().zip([0.5, 3.0, 20.0]) {
            assert!((found - wanted).abs() < 1e-9, "{fit:?}");
        }
        assert!((determination(&inputs, &times, fit) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn inputs_that_do_not_differ_have_no_fit() {
        assert_eq!(least_squares(&[[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]], &[1.0, 2.0]), None);
    }
}
