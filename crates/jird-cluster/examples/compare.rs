//! Times queries over one file: on this machine alone, on a cluster, and on the same cluster by Ballista's own JSON source,
//! in turns. The answers must agree.
//!
//! ```sh
//! cargo run --release --example compare -- df://127.0.0.1:50050 events.ndjson 5
//! ```

use ballista::prelude::{SessionConfigExt, SessionContextExt};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{JsonReadOptions, SessionConfig, SessionContext};
use jird_cluster::{Address, reach};
use jird_query::{Options, Query, Report};
use std::sync::Arc;
use std::time::Instant;

/// For each query: its name, jird's SQL, and the same for Ballista, where `t` is the table.
const QUERIES: [(&str, &str, &str); 5] = [
    ("filter", "select Message where Elapsed > 200", "select \"Message\" from t where \"Elapsed\" > 200"),
    ("rare filter", "select Message where Elapsed > 19000", "select \"Message\" from t where \"Elapsed\" > 19000"),
    (
        "grouped count",
        "select \"@l\" as l, count(*) as n group by \"@l\"",
        "select \"@l\" as l, count(*) as n from t group by \"@l\"",
    ),
    (
        "grouped mean",
        "select \"@l\" as l, count(*) as n, avg(Elapsed) as a group by \"@l\"",
        "select \"@l\" as l, count(*) as n, avg(\"Elapsed\") as a from t group by \"@l\"",
    ),
    (
        "count",
        "select count(*) as n where Elapsed is not null",
        "select count(*) as n from t where \"Elapsed\" is not null",
    ),
];

/// Runs jird's query. Returns the number of rows, and the seconds.
fn jird(
    sql: &str,
    file: &str,
    threads: usize,
    cluster: Option<&Arc<dyn jird_query::cluster::Cluster>>,
) -> (usize, f64) {
    let options = Options { threads, ..Options::default() };
    let query = Query::new(sql, vec![file.to_owned()], options);
    let query = match cluster {
        Some(cluster) => query.on(Arc::clone(cluster)),
        None => query,
    };
    let (mut out, since) = (Vec::new(), Instant::now());
    query.run(&mut out, &mut Report::default()).expect("it is answered");
    let seconds = since.elapsed().as_secs_f64();
    (out.iter().filter(|byte| **byte == b'\n').count(), seconds)
}

async fn stock(context: &SessionContext, sql: &str) -> (usize, f64) {
    let since = Instant::now();
    let rows = context.sql(sql).await.expect("it is planned").collect().await.expect("it is answered");
    let seconds = since.elapsed().as_secs_f64();
    (rows.iter().map(RecordBatch::num_rows).sum(), seconds)
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [at, file, rounds, rest @ ..] = &arguments[..] else { panic!("df://HOST:PORT FILE ROUNDS [TASKS]") };
    let rounds: usize = rounds.parse().expect("a number of rounds");
    let tasks = rest.first().map(|tasks| tasks.parse().expect("a number of tasks"));
    let address: Address = at.parse().expect("an address");
    let cluster = reach(&address, tasks).expect("a cluster").cluster;
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let context = runtime.block_on(async {
        let config = SessionConfig::new_with_ballista().with_target_partitions(cluster.tasks());
        let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
        let context = SessionContext::remote_with_state(at, state).await.expect("a cluster");
        // What the queries use, so that nothing else is read.
        let fields = [("@l", DataType::Utf8), ("Message", DataType::Utf8), ("Elapsed", DataType::Float64)];
        let schema = Schema::new(fields.map(|(name, kind)| Field::new(name, kind, true)).to_vec());
        let extension = std::path::Path::new(file).extension().and_then(|end| end.to_str()).unwrap_or_default();
        let options = JsonReadOptions::default().schema(&schema).file_extension(extension);
        context.register_json("t", file, options).await.expect("a table");
        context
    });
    println!("query          rows   jird, 2 threads   cluster   ratio   Ballista's JSON   ratio");
    for (name, ours, theirs) in QUERIES {
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        let mut rows = 0;
        for round in 0..=rounds {
            let found = [
                jird(ours, file, 2, None),
                jird(ours, file, 2, Some(&cluster)),
                runtime.block_on(stock(&context, theirs)),
            ];
            rows = found[0].0;
            assert!(found.iter().all(|(count, _)| *count == rows), "{name}: {found:?}");
            // The first round warms up.
            if round > 0 {
                times.iter_mut().zip(found).for_each(|(times, (_, seconds))| times.push(seconds));
            }
        }
        let [alone, together, stock] = times.each_mut().map(|times| median(times));
        println!(
            "{name:<14} {rows:>6} {alone:>13.3} s {together:>9.3} s {:>7.2} {stock:>13.3} s {:>9.2}",
            together / alone,
            stock / together
        );
    }
}
