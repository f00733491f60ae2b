//! Table 11: the same documents before and after minification.

use super::table::{Drawing, Table, column};
use super::{documents, measured, text, time};
use crate::options::Options;
use crate::task::{MINIFIED, Task};

const PEERS: &[&str] = &["jird", "simdjson"];

/// The GB/s of the input, and the share of the time that remains after minification.
pub(super) fn table(options: &Options) -> Result<Table, String> {
    let names: Vec<&str> = documents(options).collect();
    let inputs: Vec<String> = names.iter().flat_map(|name| [(*name).to_owned(), format!("{name}{MINIFIED}")]).collect();
    let measured = measured(PEERS, &[Task::Dom], &inputs, options);
    let mut rows = Vec::new();
    for name in names {
        let minified = format!("{name}{MINIFIED}");
        let (large, small) = (text(name)?.len() as f64, text(&minified)?.len() as f64);
        let mut values = vec![100.0 * small / large];
        for peer in PEERS {
            let before = time(&measured, Task::Dom, name, peer)?;
            let after = time(&measured, Task::Dom, &minified, peer)?;
            values.extend([large / before, small / after, 100.0 * after / before]);
        }
        rows.push((name.to_owned(), values));
    }
    let mut columns = vec![column("size (%)", 0)];
    for peer in PEERS {
        columns.extend([
            column(format!("{peer} original"), 2),
            column(format!("{peer} minified"), 2),
            column(format!("{peer} time (%)"), 0),
        ]);
    }
    let notes = vec!["dom: parse and visit; time (%): of the minified document, over that of the original".to_owned()];
    let drawing =
        Drawing { unit: "GB/s of the bytes read; longer is better", columns: vec![1, 2, 4, 5], stacked: false };
    let title = "Table 11: speed before and after minification".to_owned();
    Ok(Table { title, heading: "GB/s", columns, rows, notes, drawing: Some(drawing) })
}
