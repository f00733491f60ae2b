//! The table: an input with the columns that a query names.

use super::format::NdjsonFormat;
use super::source::Shared;
use crate::input::Input;
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
use std::sync::Arc;

/// Our [`TableProvider`].
#[derive(Debug)]
pub(crate) struct Table {
    input: Input,
    format: NdjsonFormat,
}

impl Table {
    pub(crate) fn new(input: Input, shared: Arc<Shared>, schema: SchemaRef) -> Self {
        Self { input, format: NdjsonFormat { shared, schema } }
    }

    fn files(&self) -> FileGroup {
        let files = self.input.files.iter().map(|file| {
            PartitionedFile::new(file.path.to_string_lossy(), file.size.unwrap_or(0)).with_extension(Arc::clone(file))
        });
        FileGroup::new(files.collect())
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
            .with_file_group(self.files())
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        self.format.create_physical_plan(session, config).await
    }
}
