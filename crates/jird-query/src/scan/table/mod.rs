//! The table: an input with the columns that a query names.

mod format;
mod handle;
mod opener;
mod pushdown;
mod source;
mod window;

pub(crate) use source::{NdjsonSource, has_lambda, note_scans};

use crate::input::Input;
use crate::scan::shared::TableScan;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::file_format::FileFormat;
use datafusion_datasource::file_groups::FileGroup;
use datafusion_datasource::file_scan_config::FileScanConfigBuilder;
use datafusion_datasource::{PartitionedFile, TableSchema};
use format::NdjsonFormat;
pub(crate) use handle::FileHandle;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Our [`TableProvider`].
#[derive(Debug)]
pub(crate) struct Table {
    input: Input,
    format: NdjsonFormat,
}

impl Table {
    pub(crate) fn new(input: Input, shared: Arc<TableScan>, schema: SchemaRef) -> Self {
        Self { input, format: NdjsonFormat { shared, schema } }
    }

    /// Puts all files in one group, in order. If order does not matter and files cannot be cut, puts some files in a
    /// group for each thread.
    fn files(&self) -> Vec<FileGroup> {
        let shared = &self.format.shared;
        let cuts = shared.ordered.load(Relaxed) || shared.is_anywhere;
        let groups = if cuts { 1 } else { shared.options.threads.min(self.input.files.len()).max(1) };
        let mut files = vec![Vec::new(); groups];
        for (index, file) in self.input.files.iter().enumerate() {
            let file = PartitionedFile::new(file.path.to_string_lossy(), file.size.unwrap_or(0))
                .with_extension(FileHandle::of(Arc::clone(file)));
            files[index % groups].push(file);
        }
        files.into_iter().map(FileGroup::new).collect()
    }
}

#[async_trait]
impl TableProvider for Table {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.format.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let source = self.format.file_source(TableSchema::from(self.schema()));
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
            .with_file_groups(self.files())
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        self.format.create_physical_plan(session, config).await
    }
}
