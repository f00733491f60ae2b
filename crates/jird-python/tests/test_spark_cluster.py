"""`jird.spark` on a cluster of three processes: a master and two workers of one core each."""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

import pyspark
import pytest

HOME = pathlib.Path(pyspark.__file__).parent
CLASS = HOME / "bin" / "spark-class"


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """The address of a master with two workers."""
    place = tmp_path_factory.mktemp("cluster")
    environment = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_WORKER_DIR": str(place / "work"),
        "SPARK_LOG_DIR": str(place),
    }
    started = []

    def start(name, *arguments):
        log = open(place / f"{name}.log", "wb")
        command = [CLASS, f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]]
        started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True))
        return place / f"{name}.log"

    def wait(log, pattern):
        for _ in range(600):
            if found := re.search(pattern, log.read_text()):
                return found
            time.sleep(0.1)
        raise AssertionError(log.read_text())

    try:
        log = start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        address = wait(log, r"Starting Spark master at (spark://\S+)")[1]
        options = ["--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "1g"]
        for number in (1, 2):
            worker = start(f"worker{number}", "worker.Worker", *options, address)
            wait(worker, "Successfully registered with master")
        yield address
    finally:
        for process in reversed(started):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


SCRIPT = """
import json, sys
from pyspark.sql import SparkSession, functions as F
address, path, folder = sys.argv[1:]
spark = (
    SparkSession.builder.master(address)
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false").config("spark.executor.memory", "1g").config("spark.cores.max", "2")
    .config("spark.sql.shuffle.partitions", "2").config("spark.ui.showConsoleProgress", "false")
    .config("spark.excludeOnFailure.enabled", "false").config("spark.python.worker.faulthandler.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
frame = (
    spark.read.format("jird").option("splitBytes", "256k").option("where", "i >= 100")
    .schema("i long, kind string, _file string").load(path)
)
print("ready", frame.rdd.getNumPartitions(), flush=True)
for line in sys.stdin:
    if line.strip() == "write":
        frame.write.format("jird").mode("overwrite").save(folder)
        print(json.dumps(spark.read.format("jird").load(folder).count()), flush=True)
        continue
    found = frame.groupBy("kind").agg(F.count("*"), F.sum("i")).orderBy("kind")
    try:
        print(json.dumps([list(row) for row in found.collect()]), flush=True)
    except Exception as error:
        print(json.dumps(str(error)), flush=True)
print(json.dumps(spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()), flush=True)
"""


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    place = tmp_path_factory.mktemp("events")
    chance, sums = random.Random(1), {}
    with open(place / "a.ndjson", "w") as file:
        for i in range(200_000):
            kind = chance.choice(["a", "b", "c"])
            file.write(json.dumps({"i": i, "kind": kind, "more": "x" * chance.randrange(60)}) + "\n")
            if i >= 100:
                count, total = sums.get(kind, (0, 0))
                sums[kind] = count + 1, total + i
    return place / "a.ndjson", [[kind, *sums[kind]] for kind in sorted(sums)]


class Driver:
    """A driver in a process of its own, because a process has one session."""

    def __init__(self, master, path, folder):
        environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, master, str(path), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        word, self.partitions = self.process.stdout.readline().split()
        assert word == "ready"

    def ask(self, what="query"):
        print(what, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def end(self):
        """The number of executors, and the driver."""
        self.process.stdin.close()
        executors = json.loads(self.process.stdout.readline())
        self.process.wait(timeout=60)
        return executors


def workers_in_python():
    """The processes in Python that executors of this test have forked, by this interpreter."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")
            parent = int(re.search(r"PPid:\t(\d+)", (entry / "status").read_text())[1])
            above = pathlib.Path(f"/proc/{parent}/cmdline").read_bytes().split(b"\0")
        except (OSError, TypeError):
            continue
        if b"pyspark.daemon" in command and b"pyspark.daemon" in above and command[0] == sys.executable.encode():
            found.append(int(entry.name))
    return found


def test_both_executors_read_and_a_killed_reader_costs_no_row(master, events, tmp_path):
    path, wanted = events
    driver = Driver(master, path, tmp_path / "out")
    assert int(driver.partitions) > 20
    assert driver.ask() == wanted
    chance, killed, answers = random.Random(2), [], []
    for _ in range(12):
        wait = chance.random()

        def kill(wait=wait):
            time.sleep(wait)
            if processes := workers_in_python():
                os.kill(chance.choice(processes), signal.SIGKILL)
                killed.append(wait)

        killer = threading.Thread(target=kill)
        killer.start()
        answers.append(driver.ask())
        killer.join()
    # Spark repeats a task three times, and says what it gives up.
    assert all(answer == wanted or isinstance(answer, str) for answer in answers), answers
    assert len(killed) > 6 and sum(answer == wanted for answer in answers) > 6, (killed, answers)
    assert driver.ask() == wanted
    assert driver.ask("write") == sum(count for _, count, _ in wanted)
    assert driver.end() == 3
