import importlib.util
import os
import pathlib
import signal
import sys

import pytest

# A program that a shell runs in the background ignores Ctrl-C, and so do those that it starts. Some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Spark takes half a gigabyte: these have a step of their own, `cargo xtask deep spark`.
collect_ignore_glob = [] if importlib.util.find_spec("pyspark") else ["test_spark*"]

CORPUS = pathlib.Path(
    os.environ.get("JIRD_CORPUS") or pathlib.Path(__file__).resolve().parents[4] / "shared" / "corpus"
)


@pytest.fixture(scope="session")
def corpus():
    if not CORPUS.is_dir():
        # The step of `cargo xtask test` looks for such lines.
        print("\nskipped: the corpus")
        pytest.skip("skipped: the corpus")
    return CORPUS


@pytest.fixture
def with_sql(monkeypatch):
    """The package as it is with `jird-query` installed."""
    found = os.environ.get("JIRD_TEST_PROGRAM") or pytest.skip("skipped: a program jird with SQL")
    monkeypatch.setenv("JIRD_PROGRAM", found)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A session with two threads, in which nobody has registered anything."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.local.dir", str(folder))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
