"""`jird.spark`: what Spark writes, and folders that grow."""

import datetime
import decimal
import gzip
import json
import os
import time

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import functions as F

SCHEMA = (
    "i long, f double, g float, d decimal(10,2), s string, b boolean, bin binary, at timestamp, local timestamp_ntz, "
    "day date, st struct<x: int, y: string>, l array<double>, m map<string, int>"
)

ROWS = [
    (
        2**53 + 1,
        0.1,
        0.1,
        decimal.Decimal("1.10"),
        'é\n"\\',
        True,
        bytearray(b"\0\xff"),
        datetime.datetime(2024, 3, 5, 12, 0, 0, 123456),
        datetime.datetime(2024, 3, 5, 12),
        datetime.date(2024, 3, 5),
        (1, None),
        [1.5, None],
        {"k": 1},
    ),
    (None,) * 13,
]


def written(folder):
    return sorted(name for name in os.listdir(folder) if not name.startswith("_"))


def test_what_is_written_is_read_back(spark, tmp_path):
    frame = spark.createDataFrame(ROWS, SCHEMA)
    folder = str(tmp_path / "out")
    frame.coalesce(1).write.format("jird").mode("append").save(folder)
    (name,) = written(folder)
    text = (tmp_path / "out" / name).read_text()
    assert text.splitlines()[0] == (
        '{"i":9007199254740993,"f":0.1,"g":0.1,"d":1.10,"s":"é\\n\\"\\\\","b":true,"bin":"AP8=",'
        '"at":"2024-03-05T12:00:00.123456Z","local":"2024-03-05T12:00:00","day":"2024-03-05",'
        '"st":{"x":1,"y":null},"l":[1.5,null],"m":{"k":1}}'
    )
    assert json.loads(text.splitlines()[1]) == dict.fromkeys(frame.columns)
    back = spark.read.format("jird").schema(SCHEMA).load(folder)
    assert back.collect() == frame.collect()
    assert os.path.exists(tmp_path / "out" / "_SUCCESS")
    # What Spark's own reader makes of it.
    plain = "i long, f double, s string, b boolean, d decimal(10,2), at timestamp"
    assert spark.read.schema(plain).json(folder).collect() == frame.select("i", "f", "s", "b", "d", "at").collect()


@pytest.mark.parametrize(("compression", "ending"), [("gzip", ".gz"), ("zstd", ".zst"), ("none", ".ndjson")])
def test_many_parts_modes_and_compressions(spark, tmp_path, compression, ending):
    folder = str(tmp_path / "out")
    frame = spark.range(1000).repartition(3)

    def save(mode):
        frame.write.format("jird").option("compression", compression).mode(mode).save(folder)

    save("append")
    assert len(written(folder)) == 3 and all(name.endswith(ending) for name in written(folder))
    save("append")
    assert spark.read.format("jird").load(folder).count() == 2000
    before = set(written(folder))
    save("overwrite")
    assert spark.read.format("jird").load(folder).agg(F.sum("id")).first()[0] == sum(range(1000))
    assert not before & set(written(folder))
    for mode in ("errorifexists", "ignore"):
        with pytest.raises(AnalysisException, match="Append"):
            save(mode)
    (tmp_path / "out" / "precious.csv").write_text("a\n")
    with pytest.raises(AnalysisException, match="precious.csv"):
        save("overwrite")
    assert not [name for name in os.listdir(folder) if name.startswith("_jird")]


def test_a_write_that_fails_leaves_nothing(spark, tmp_path):
    folder = tmp_path / "out"
    # The last task fails after the others have written.
    frame = spark.range(100).repartition(4).select(
        F.when((F.col("id") == 99), F.lit(float("nan"))).otherwise(F.col("id").cast("double")).alias("x")
    )
    with pytest.raises(Exception, match="NaN, which JSON does not have"):
        frame.write.format("jird").mode("append").save(str(folder))
    assert not folder.exists()
    spark.range(5).write.format("jird").mode("append").save(str(folder))
    before = written(folder)
    with pytest.raises(Exception, match="NaN"):
        frame.write.format("jird").mode("overwrite").save(str(folder))
    assert written(folder) == before and spark.read.format("jird").load(str(folder)).count() == 5
    assert sorted(os.listdir(folder)) == ["_SUCCESS", *before]


def test_where_files_can_be_written(spark, tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    for target, words in [(str(path), "is a file"), ("s3://bucket/x", "no URLs")]:
        with pytest.raises(AnalysisException, match=words):
            spark.range(1).write.format("jird").mode("append").save(target)
    spark.range(0).write.format("jird").mode("append").save(str(tmp_path / "nothing"))
    assert os.listdir(tmp_path / "nothing") == ["_SUCCESS"]


def append(path, text):
    with open(path, "a") as file:
        file.write(text)


class Growing:
    """A folder that is read as a stream, with a checkpoint, into a list of batches."""

    def __init__(self, spark, place, **options):
        self.spark, self.options = spark, options
        self.folder, self.checkpoint = place / "in", place / "checkpoint"
        self.folder.mkdir()
        self.batches = []

    def run(self):
        """Reads what is there, in a query of its own."""
        reader = self.spark.readStream.format("jird").schema("i int").options(**self.options)
        query = (
            reader.load(str(self.folder))
            .writeStream.foreachBatch(lambda frame, _: self.batches.append(sorted(i for (i,) in frame.collect())))
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return self.found()

    def found(self):
        return sorted(i for batch in self.batches for i in batch)


def test_a_folder_that_grows_is_read_once(spark, tmp_path):
    growing = Growing(spark, tmp_path)
    assert growing.run() == []
    append(growing.folder / "a.ndjson", '{"i": 1}\n{"i": 2}\n{"i":')
    assert growing.run() == [1, 2]
    append(growing.folder / "a.ndjson", ' 3}\n{"i": 4}\n')
    append(growing.folder / "b.ndjson", '{"i": 5}\n')
    (growing.folder / "c.gz").write_bytes(gzip.compress(b'{"i": 6}\n{"i": 7}'))
    append(growing.folder / "_d.ndjson", '{"i": 8}\n')
    # Each run begins from the checkpoint.
    assert growing.run() == [1, 2, 3, 4, 5, 6, 7]
    assert growing.run() == [1, 2, 3, 4, 5, 6, 7]
    os.unlink(growing.folder / "b.ndjson")
    append(growing.folder / "a.ndjson", '{"i": 9}')
    assert growing.run() == [1, 2, 3, 4, 5, 6, 7]
    append(growing.folder / "a.ndjson", "\n")
    assert growing.run() == [1, 2, 3, 4, 5, 6, 7, 9]


def test_a_stream_takes_as_much_as_it_may(spark, tmp_path):
    growing = Growing(spark, tmp_path, maxFilesPerTrigger="2")
    for index in range(5):
        append(growing.folder / f"{index}.ndjson", f'{{"i": {index}}}\n')
    assert growing.run() == list(range(5)) and [len(batch) for batch in growing.batches] == [2, 2, 1]
    (tmp_path / "bytes").mkdir()
    growing = Growing(spark, tmp_path / "bytes", maxBytesPerTrigger="50")
    append(growing.folder / "a.ndjson", "".join(f'{{"i": {index}}}\n' for index in range(10)))
    append(growing.folder / "b.ndjson", '{"i": 10' + " " * 200 + "}\n")
    assert growing.run() == list(range(11))
    assert [len(batch) for batch in growing.batches] == [5, 5, 1]


def test_a_batch_that_failed_is_read_again_and_no_other(spark, tmp_path):
    growing = Growing(spark, tmp_path, splitBytes="1k")
    append(growing.folder / "a.ndjson", "".join(f'{{"i": {index}}}\n' for index in range(1000)))
    batches, fails = [], [True]

    def take(frame, number):
        found = sorted(i for (i,) in frame.collect())
        if number == 1 and fails:
            fails.clear()
            raise RuntimeError("the sink has failed")
        batches.append((number, found))

    def run():
        reader = spark.readStream.format("jird").schema("i int").options(**growing.options)
        writer = reader.load(str(growing.folder)).writeStream.foreachBatch(take)
        query = writer.option("checkpointLocation", str(growing.checkpoint)).trigger(availableNow=True).start()
        query.awaitTermination()

    run()
    append(growing.folder / "a.ndjson", '{"i": 1000}\n{"i": 1001}\n')
    with pytest.raises(StreamingQueryException, match="the sink has failed"):
        run()
    # More has come before it begins again: the batch that failed has what it had.
    append(growing.folder / "a.ndjson", '{"i": 1002}\n')
    run()
    assert batches == [(0, list(range(1000))), (1, [1000, 1001]), (2, [1002])]


def test_a_stream_that_runs_on(spark, tmp_path):
    growing = Growing(spark, tmp_path)
    reader = spark.readStream.format("jird").schema("i int").load(str(growing.folder))
    query = reader.writeStream.format("memory").queryName("running").trigger(processingTime="50 milliseconds").start()
    try:
        for index in range(20):
            append(growing.folder / f"{index % 3}.ndjson", f'{{"i": {index}}}\n{{"i": ')
            time.sleep(0.05)
            append(growing.folder / f"{index % 3}.ndjson", f"{index + 100}}}\n")
        query.processAllAvailable()
        found = sorted(i for (i,) in spark.table("running").collect())
        assert found == [*range(20), *range(100, 120)]
    finally:
        query.stop()


def test_a_file_that_was_cut_or_packed_and_grown_ends_the_stream(spark, tmp_path):
    growing = Growing(spark, tmp_path)
    append(growing.folder / "a.ndjson", '{"i": 1}\n{"i": 2}\n')
    growing.run()
    (growing.folder / "a.ndjson").write_text('{"i": 3}\n')
    with pytest.raises(StreamingQueryException, match="it was cut or replaced"):
        growing.run()
    (growing.folder / "a.ndjson").write_text('{"i": 1}\n{"i": 2}\n')
    (growing.folder / "b.gz").write_bytes(gzip.compress(b'{"i": 4}\n'))
    assert growing.run() == [1, 2, 4]
    with open(growing.folder / "b.gz", "ab") as file:
        file.write(gzip.compress(b'{"i": 5}\n'))
    with pytest.raises(StreamingQueryException, match="compressed, and has grown"):
        growing.run()
