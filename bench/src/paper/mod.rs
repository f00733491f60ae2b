//! The evaluation of Langdale & Lemire, "Parsing Gigabytes of JSON per Second" (VLDB Journal 28(6), 2019), repeated for
//! jird. There is one file per table or figure, named as in the paper.

mod ablation; // table 12
mod clock; // closures of this process, timed in turns
mod large; // table 13
mod minification; // table 11
mod model; // the cost model of section 4.3
mod parts; // figure 8
mod select; // table 9
mod statistics; // tables 5 and 6
mod table; // the result of every part

use serde::Serialize;

use crate::charts;
use crate::machine::Machine;
use crate::options::Options;
use crate::row::Row;
use crate::run::Field;
use crate::task::{DOCUMENTS, Task};
use table::Table;

/// A part of the evaluation: its name on the command line and in files, and the function that makes it.
struct Part {
    name: &'static str,
    make: fn(&Options) -> Result<Table, String>,
}

const PARTS: &[Part] = &[
    Part { name: "table-5", make: statistics::contents },
    Part { name: "table-6", make: statistics::sizes },
    Part { name: "model", make: model::table },
    Part { name: "figure-8", make: parts::table },
    Part { name: "table-9", make: select::table },
    Part { name: "table-11", make: minification::table },
    Part { name: "table-12", make: ablation::table },
    Part { name: "table-13", make: large::table },
];

/// The raw figures of a table.
#[derive(Serialize)]
struct Raw<'a> {
    machine: &'a Machine,
    command: &'a str,
    table: &'a Table,
}

/// Makes and prints the parts that the user named. Returns `Ok(false)` if a part failed, which the output says.
pub(crate) fn run(options: &Options, command: &str) -> Result<bool, String> {
    if let Some(name) = options.parts.iter().find(|name| PARTS.iter().all(|part| part.name != name.as_str())) {
        let names: Vec<_> = PARTS.iter().map(|part| part.name).collect();
        return Err(format!("no part {name}; there are {}", names.join(", ")));
    }
    let mut complete = true;
    for part in PARTS.iter().filter(|part| options.parts.is_empty() || options.parts.iter().any(|one| one == part.name))
    {
        eprintln!("{}", part.name);
        let mut machine = Machine::here(options.arch());
        match (part.make)(options) {
            Ok(table) => {
                machine.finished();
                publish(part.name, &table, &machine, options, command)?;
            }
            Err(reason) => {
                println!("## {}: not made: {reason}\n", part.name);
                complete = false;
            }
        }
    }
    Ok(complete)
}

fn publish(name: &str, table: &Table, machine: &Machine, options: &Options, command: &str) -> Result<(), String> {
    let text = format!("{}\n{}\n", table.markdown(), machine.line());
    println!("{text}");
    if let Some(folder) = &options.out {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let raw = serde_json::to_string_pretty(&Raw { machine, command, table }).map_err(|error| error.to_string())?;
        for (suffix, text) in [("md", text), ("json", raw + "\n")] {
            let path = folder.join(format!("{name}.{suffix}"));
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    if let (Some(folder), Some(chart)) = (&options.svg, table.chart(machine.line())) {
        charts::save(folder, name, &chart)?;
    }
    Ok(())
}

/// The documents of the paper that the user named.
fn documents(options: &Options) -> impl Iterator<Item = &'static str> {
    DOCUMENTS.iter().copied().filter(|name| options.wants_input(name))
}

/// The single document with this name.
fn text(name: &str) -> Result<Vec<u8>, String> {
    let mut texts = crate::task::documents(name)?;
    texts.pop().filter(|_| texts.is_empty()).ok_or_else(|| format!("{name} is not one document"))
}

/// Measures tasks over inputs as the barometer does, each peer in its own process. Returns all rows.
fn measured(peers: &[&str], tasks: &[Task], inputs: &[String], options: &Options) -> Vec<Row> {
    let options = options.with_peers(peers);
    let mut field = Field::start(&options);
    let mut rows = Vec::new();
    for &task in tasks {
        for input in inputs {
            rows.extend(field.measure(task, &[input], &options));
        }
    }
    rows
}

/// The median time of the peer's better build, or why there is none.
fn time(rows: &[Row], task: Task, input: &str, peer: &str) -> Result<f64, String> {
    let row = crate::row::best(rows, task, input, peer).ok_or_else(|| format!("{peer} does not do {}", task.name()))?;
    match &row.outcome {
        crate::row::Outcome::Measured(measured) => Ok(measured.median_ns),
        crate::row::Outcome::Failed(reason) => Err(format!("{peer}, {input}: {reason}")),
    }
}
