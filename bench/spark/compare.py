"""The same queries by `spark.read.format("jird")` and `spark.read.json`, interleaved, on the same Spark.

    generate-events --events 14000000 -o events.ndjson
    generate-events --events 500000 --seed 7 -o warm.ndjson
    python bench/spark/compare.py cluster filter events.ndjson warm.ndjson      # or local; or slow, rare, groups

`cluster` starts a master and two workers of one core each on loopback, `local` is local[2]. Each engine answers once
over the small file first. Both get the columns that the query needs, and both give the same rows, which is checked by
count and sum. A line of JSON with all times goes to standard output.
"""

import json
import os
import pathlib
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

HOME = pathlib.Path(pyspark.__file__).parent
ROUNDS = 3

QUERIES = {
    # The schema, the condition of jird, that of Spark, and what is asked.
    "filter": ("Message string, Elapsed double", "Elapsed > 200", "Elapsed > 200", None),
    "slow": ("Message string, Elapsed double", "Elapsed > 20000", "Elapsed > 20000", None),
    "rare": ("Message string", "Message like '%nightly-export%'", "contains(Message, 'nightly-export')", None),
    "groups": ("`@l` string", None, None, "`@l`"),
}


def cluster():
    """A master and two workers: the address, and the processes."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="spark-"))
    environment = {**os.environ, "SPARK_HOME": str(HOME), "SPARK_WORKER_DIR": str(place / "work")}
    started = []

    def start(name, pattern, *arguments):
        log = place / f"{name}.log"
        command = [HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]]
        with open(log, "wb") as out:
            started.append(subprocess.Popen(command, env=environment, stdout=out, stderr=out, start_new_session=True))
        for _ in range(600):
            if found := re.search(pattern, log.read_text()):
                return found
            time.sleep(0.1)
        raise SystemExit(log.read_text())

    bound = ["--host", "127.0.0.1", "--webui-port", "0"]
    address = start("master", r"Starting Spark master at (spark://\S+)", "master.Master", *bound, "--port", "0")[1]
    for number in (1, 2):
        start(f"w{number}", "Successfully registered", "worker.Worker", *bound, "-c", "1", "-m", "2g", address)
    return address, started


def main():
    where, query, path, warm = sys.argv[1:]
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    address, started = cluster() if where == "cluster" else ("local[2]", [])
    try:
        measure(address, where, query, path, warm)
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGKILL)


def measure(address, where, query, path, warm):
    spark = (
        SparkSession.builder.master(address)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.executor.memory", "1500m")
        .config("spark.cores.max", "2")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    schema, of_jird, of_spark, group = QUERIES[query]

    def frame(engine, path):
        if engine == "jird":
            reader = spark.read.format("jird").schema(schema).option("splitBytes", "128m")
            found = (reader.option("where", of_jird) if of_jird else reader).load(path)
        else:
            found = spark.read.schema(schema).json(path)
            found = found.where(of_spark) if of_spark else found
        return found.groupBy(F.expr(group)).count() if group else found.select("Message")

    def answer(engine, path):
        found = frame(engine, path)
        if group:
            return sorted([str(key), count] for key, count in found.collect())
        return list(found.agg(F.count("*"), F.sum(F.length("Message"))).first())

    engines = ["jird", "json"]
    assert answer("jird", warm) == answer("json", warm)
    times, answers = {engine: [] for engine in engines}, {}
    for number in range(ROUNDS):
        for engine in engines[number % 2 :] + engines[: number % 2]:
            begun = time.perf_counter()
            got = answer(engine, path)
            times[engine].append(round(time.perf_counter() - begun, 2))
            assert answers.setdefault("all", got) == got
    medians = {engine: statistics.median(found) for engine, found in times.items()}
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    print(
        json.dumps(
            {
                "where": where,
                "query": query,
                "bytes": os.path.getsize(path),
                "answer": answers["all"],
                "seconds": times,
                "medians": medians,
                "times_as_fast": round(medians["json"] / medians["jird"], 2),
                "machine": cpu[1] if cpu else platform.processor(),
                "cores": os.cpu_count(),
                "spark": pyspark.__version__,
                "python": platform.python_version(),
            }
        ),
        flush=True,
    )
    spark.stop()


if __name__ == "__main__":
    main()
