"""Arrow IPC or Parquet as the file of a store's events: sizes, and how long writing and reading take.

    python container.py EVENTS [--mb N] [--rounds N]        prints a table in Markdown; keeps nothing

EVENTS are lines of JSON. Both files have them as the column `document`, each with its line feed, beside a time and an
arrival number, in blocks of 256 KB: record batches of one, row groups of the other, each with one page of documents.
Both are written and read by pyarrow, on one core, in the page cache. Reading means: have the documents of all blocks as
buffers of NDJSON, which are compared; one block means: open the file and have those of one block in its middle.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

BLOCK_BYTES = 256 << 10
SCHEMA = pa.schema([
    pa.field('time', pa.timestamp('ns', 'UTC'), False),
    pa.field('arrival', pa.uint32(), False),
    pa.field('document', pa.utf8(), False),
])


def blocks(path, bytes_):
    with open(path, 'rb') as file:
        text = file.read(bytes_)
    lines = text[:text.rindex(b'\n') + 1].splitlines(keepends=True)
    block, size, first = [], 0, 0
    for number, line in enumerate(lines):
        if block and size + len(line) > BLOCK_BYTES:
            yield batch(block, first)
            block, size, first = [], 0, number
        block.append(line.decode())
        size += len(line)
    yield batch(block, first)


def batch(lines, first):
    numbers = range(first, first + len(lines))
    times = pa.array([1_709_621_998_000_000_000 + 6_200_000 * number for number in numbers], SCHEMA.field('time').type)
    return pa.record_batch([times, pa.array(numbers, pa.uint32()), pa.array(lines, pa.utf8())], schema=SCHEMA)


def write_arrow(path, batches, compression):
    options = pa.ipc.IpcWriteOptions(compression=compression, use_threads=False)
    with pa.ipc.new_file(path, SCHEMA, options=options) as writer:
        for each in batches:
            writer.write_batch(each)


def write_parquet(path, batches, compression):
    with pq.ParquetWriter(path, SCHEMA, compression=compression or 'none', use_dictionary=False, write_statistics=False,
                          data_page_size=2 * BLOCK_BYTES, store_schema=False) as writer:
        for each in batches:
            writer.write_batch(each, row_group_size=len(each))


def documents(array):
    _, offsets, values = array.buffers()
    ends = memoryview(offsets).cast('i')
    return memoryview(values)[ends[array.offset]:ends[array.offset + len(array)]]


def read_arrow(path, numbers):
    options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=[2])
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file, options=options)
        numbers = range(reader.num_record_batches) if numbers is None else numbers
        return [documents(reader.get_batch(number).column(0)) for number in numbers]


def read_parquet(path, numbers):
    with pa.OSFile(str(path)) as source:
        file = pq.ParquetFile(source)
        numbers = range(file.num_row_groups) if numbers is None else numbers
        columns = [file.read_row_group(number, columns=['document'], use_threads=False).column(0) for number in numbers]
    return [documents(chunk) for column in columns for chunk in column.chunks]


def timed(rounds, work):
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('events')
    parser.add_argument('--mb', type=int, default=100)
    parser.add_argument('--rounds', type=int, default=5)
    args = parser.parse_args()
    batches = list(blocks(args.events, args.mb * 1_000_000))
    wanted = b''.join(bytes(documents(each.column(2))) for each in batches)
    print(f'{len(wanted) / 1e6:.1f} MB in {len(batches)} blocks, pyarrow {pa.__version__}\n')
    print('| file | size | write MB/s | read MB/s | one block ms |')
    print('|---|---:|---:|---:|---:|')
    with tempfile.TemporaryDirectory() as folder:
        for compression in (None, 'lz4', 'zstd'):
            for name, write, read in (('Arrow', write_arrow, read_arrow), ('Parquet', write_parquet, read_parquet)):
                path = Path(folder) / 'events'
                written = timed(args.rounds, lambda: write(path, batches, compression))
                assert b''.join(map(bytes, read(path, None))) == wanted, name
                all_ = timed(args.rounds, lambda: read(path, None))
                one = timed(5 * args.rounds, lambda: read(path, [len(batches) // 2]))
                rate = len(wanted) / 1e6
                print(f'| {name}, {compression or "not compressed"} | {os.path.getsize(path) / len(wanted):.3f} '
                      f'| {rate / written:.0f} | {rate / all_:.0f} | {1000 * one:.2f} |', flush=True)


main()
