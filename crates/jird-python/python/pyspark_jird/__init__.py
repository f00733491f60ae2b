"""Spark looks for data sources in modules with such names, so that `jird` is there without `jird.spark.register`."""

from jird.spark import JirdDataSource as DefaultSource

__all__ = ["DefaultSource"]
