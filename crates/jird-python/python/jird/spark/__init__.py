"""A data source for Apache Spark: NDJSON files, read and written by jird.

    from jird.spark import register
    register(spark)
    spark.read.format("jird").schema("level string, ms double").load("/data/*.ndjson").where("ms > 200")

Files are cut into ranges of bytes, one a task; each task scans its range on one core and gives Spark batches of Arrow.
Nothing is lost that is there: a record that is not JSON, and a value that its column's type cannot hold, end the query
with file and line, or are passed over and counted, if `mode` says so.

    _paths     paths, patterns, folders and URLs → files and ranges
    _columns   Spark's types → columns of a scan, and what is converted after it
    _values    single values: nested ones, times, decimals
    _filters   Spark's filters → conditions of a scan
    _read      the reader
    _stream    the reader of folders to which files and lines are added
    _write     the writer

This module needs pyspark 4.1 or later and pyarrow, in the driver's Python and in that of every worker.
"""

from pyspark.sql.datasource import DataSource

from ._options import Options
from ._read import Reader, inferred
from ._stream import StreamReader
from ._write import Writer

__all__ = ["JirdDataSource", "register"]


class JirdDataSource(DataSource):
    """The data source `jird`; see the module."""

    @classmethod
    def name(cls):
        return "jird"

    def schema(self):
        return inferred(Options.of(self.options))

    def reader(self, schema):
        return Reader(Options.of(self.options), schema)

    def streamReader(self, schema):
        return StreamReader(Options.of(self.options), schema)

    def writer(self, schema, overwrite):
        return Writer(Options.of(self.options), schema, overwrite)


def register(spark, *, push_filters=False):
    """Registers the data source `jird` with a session, where Spark has not found it by itself.

    push_filters   sets spark.sql.python.filterPushdown.enabled, which concerns all data sources in Python, and without
                   which the option `pushFilters` has no effect
    """
    spark.dataSource.register(JirdDataSource)
    if push_filters:
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
