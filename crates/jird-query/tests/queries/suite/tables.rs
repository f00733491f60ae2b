//! The tables that statements make: DataFusion makes them, and what is in them becomes files of NDJSON.

use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::json::writer::{LineDelimited, WriterBuilder};
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use jird_query::Defined;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use tokio::runtime::{Builder, Runtime};

/// Settings that change what a query means.
const MEANING: [&str; 8] =
    ["time_zone", "time zone", "timezone", "dialect", "null_ordering", "ident_normalization", "ansi", "as_decimal"];

pub(super) struct Tables {
    context: SessionContext,
    runtime: Runtime,
    folder: PathBuf,
    /// Those that are files, or why they are none.
    written: HashMap<String, Result<PathBuf, Unmade>>,
    /// Tables of files of other formats, which are not in the package.
    external: HashSet<String>,
    is_strange: bool,
}

/// Why a query cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unmade {
    /// A table is a file of another format.
    External,
    /// JSON has no such values, or DataFusion does not read the table.
    Unwritten,
    /// A setting gives queries another meaning.
    Setting,
}

impl Tables {
    pub(super) fn new(folder: &Path) -> Self {
        let config = SessionConfig::new().with_target_partitions(1);
        Self {
            context: SessionContext::new_with_config(config),
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
            folder: folder.to_owned(),
            written: HashMap::new(),
            external: HashSet::new(),
            is_strange: false,
        }
    }

    /// Runs a statement. What fails is missing later.
    pub(super) fn run(&mut self, sql: &str) {
        let lower = sql.to_lowercase();
        let words: Vec<_> = lower.split_whitespace().collect();
        match words[..] {
            ["set", ..] => self.is_strange |= MEANING.iter().any(|name| lower.contains(name)),
            ["reset", ..] => self.is_strange = false,
            ["create", ..] if let Some(at) = words.iter().position(|word| *word == "external") => {
                let name = words[at + 1..].iter().find(|word| !["table", "if", "not", "exists"].contains(word));
                self.external.extend(name.map(|name| name.trim_matches('"').trim_end_matches('(').to_owned()));
                return;
            }
            _ => {}
        }
        let _ = self.runtime.block_on(async { self.context.sql(sql).await?.collect().await });
        self.written.clear();
    }

    /// The tables that a query with these words may name, as files.
    pub(super) fn named(&mut self, words: &HashSet<String>) -> Result<Vec<Defined>, Unmade> {
        if self.is_strange {
            return Err(Unmade::Setting);
        }
        if words.iter().any(|word| self.external.contains(word)) {
            return Err(Unmade::External);
        }
        let catalog = self.context.catalog("datafusion").expect("the catalog of tests");
        let schema = catalog.schema("public").map(|schema| schema.table_names());
        let mut defined = Vec::new();
        for name in schema.unwrap_or_default().into_iter().filter(|name| words.contains(&name.to_lowercase())) {
            let file = if let Some(known) = self.written.get(&name) {
                known.clone()
            } else {
                let path = self.folder.join(format!("{}.ndjson", self.written.len()));
                let made = self.write(&name, &path).map(|()| path);
                self.written.insert(name.clone(), made.clone());
                made
            };
            defined.push(Defined { name, files: vec![file?.to_string_lossy().into_owned()] });
        }
        Ok(defined)
    }

    fn write(&self, name: &str, path: &Path) -> Result<(), Unmade> {
        let batches = self.runtime.block_on(async {
            let table = self.context.sql(&format!("select * from \"{name}\"")).await?;
            if table.schema().fields().iter().any(|field| !is_json(field.data_type())) {
                return Err(DataFusionError::NotImplemented("no JSON".into()));
            }
            table.collect().await
        });
        let batches = batches.map_err(|_| Unmade::Unwritten)?;
        let file = fs::File::create(path).unwrap();
        let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(file);
        writer.write_batches(&batches.iter().collect::<Vec<_>>()).map_err(|_| Unmade::Unwritten)?;
        writer.finish().map_err(|_| Unmade::Unwritten)
    }
}

/// Whether JSON has values of this type, or texts that stand for them.
fn is_json(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(fields) => fields.iter().all(|field| is_json(field.data_type())),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => is_json(field.data_type()),
        DataType::Dictionary(_, values) => is_json(values),
        DataType::Interval(_)
        | DataType::Duration(_)
        | DataType::Union(..)
        | DataType::RunEndEncoded(..)
        | DataType::ListView(_)
        | DataType::LargeListView(_) => false,
        other => !other.is_binary(),
    }
}
