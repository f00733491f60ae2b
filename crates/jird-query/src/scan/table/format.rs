//! The file format: NDJSON, whose schema consists of the fields that the query names.

use super::source::NdjsonSource;
use crate::scan::shared::TableScan;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Statistics;
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::TableSchema;
use datafusion_datasource::file::FileSource;
use datafusion_datasource::file_compression_type::FileCompressionType;
use datafusion_datasource::file_format::FileFormat;
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::source::DataSourceExec;
use object_store::{ObjectMeta, ObjectStore};
use std::sync::Arc;

/// Our [`FileFormat`].
#[derive(Debug)]
pub(crate) struct NdjsonFormat {
    pub(crate) shared: Arc<TableScan>,
    pub(crate) schema: SchemaRef,
}

#[async_trait]
impl FileFormat for NdjsonFormat {
    fn get_ext(&self) -> String {
        "ndjson".to_owned()
    }

    fn get_ext_with_compression(&self, _: &FileCompressionType) -> Result<String> {
        Ok(self.get_ext())
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        None
    }

    async fn infer_schema(&self, _: &dyn Session, _: &Arc<dyn ObjectStore>, _: &[ObjectMeta]) -> Result<SchemaRef> {
        Ok(Arc::clone(&self.schema))
    }

    async fn infer_stats(
        &self,
        _: &dyn Session,
        _: &Arc<dyn ObjectStore>,
        schema: SchemaRef,
        _: &ObjectMeta,
    ) -> Result<Statistics> {
        Ok(Statistics::new_unknown(&schema))
    }

    async fn create_physical_plan(&self, _: &dyn Session, config: FileScanConfig) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(DataSourceExec::from_data_source(config))
    }

    fn file_source(&self, schema: TableSchema) -> Arc<dyn FileSource> {
        Arc::new(NdjsonSource::new(Arc::clone(&self.shared), schema))
    }
}
