#!/usr/bin/env python3
"""jird beside orjson, msgspec, jiter, pysimdjson and json: reads and writes of whole documents, and lazy reading.

    python bench/python/compare.py [--corpus DIR] [--rounds N] [--seconds S] [--json FILE]

All modules run in one process, and in turns: each round measures every module once, so that what else the machine does
meets all of them. Before the first round every answer is compared with that of json. The figure is the median of the
rounds; the ratio is the median of the ratios to orjson within each round. It needs

    pip install jird orjson msgspec jiter pysimdjson
"""

import argparse
import gc
import importlib.metadata
import json
import math
import pathlib
import platform
import statistics
import sys
import time

import jiter
import msgspec
import orjson
import simdjson

import jird

DOCUMENTS = ["twitter", "citm_catalog", "canada", "github_events"]


def events(count=1000):
    """Log events of about 600 bytes, each a text of its own."""
    made = []
    for index in range(count):
        path = f"/api/products/{index * 7919 % 100000}"
        made.append(
            json.dumps(
                {
                    "@t": f"2024-05-{index % 28 + 1:02}T12:{index % 60:02}:07.{index % 1000:03}Z",
                    "@mt": "{Method} {Path} responded {Status} in {Elapsed:0.0000} ms",
                    "@i": f"{index * 2654435761 % (1 << 32):08x}",
                    "Message": f"GET {path} responded {200 + index % 5} in {index * 0.37:.4f} ms",
                    "Method": "GET",
                    "Path": path,
                    "Status": 200 + index % 5,
                    "Elapsed": index * 0.37,
                    "SourceContext": "Serilog.AspNetCore.RequestLoggingMiddleware",
                    "RequestId": f"0HLJ{index * 104729 % (1 << 28):07X}:00000003",
                    "ConnectionId": f"0HLJ{index * 15485863 % (1 << 28):07X}",
                    "UserId": index * 31 % 5000,
                    "Tags": ["web", "eu-central-1", f"node-{index % 12}"],
                    "Success": index % 9 != 0,
                    "Error": None,
                }
            ).encode()
        )
    return made


def loaders():
    parser = simdjson.Parser()
    decoder = msgspec.json.Decoder()
    return {
        "jird": jird.loads,
        "orjson": orjson.loads,
        "msgspec": decoder.decode,
        "jiter": jiter.from_json,
        "pysimdjson": lambda text: parser.parse(text, True),
        "json": json.loads,
    }


def dumpers():
    encoder = msgspec.json.Encoder()
    return {
        "jird": jird.dumps,
        "orjson": orjson.dumps,
        "msgspec": encoder.encode,
        "json": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(),
    }


def tweets_loaded(loads):
    def read(text):
        return [(tweet["id"], tweet["text"], tweet["user"]["screen_name"]) for tweet in loads(text)["statuses"]]

    return read


def lazy():
    parser = simdjson.Parser()

    def pysimdjson(text):
        # The values are copied out, because the parser is not to be used again as long as a proxy lives.
        statuses = parser.parse(text)["statuses"]
        found = [(tweet["id"], tweet["text"], tweet["user"]["screen_name"]) for tweet in statuses]
        del statuses
        return found

    return {
        "jird": tweets_loaded(jird.parse),
        "orjson": tweets_loaded(orjson.loads),
        "msgspec": tweets_loaded(msgspec.json.decode),
        "jiter": tweets_loaded(jiter.from_json),
        "pysimdjson": pysimdjson,
        "json": tweets_loaded(json.loads),
    }


def rows(corpus):
    """Name, bytes, and the functions by module, each of which does all of the work once."""
    texts = {name: (corpus / "bench" / f"{name}.json").read_bytes() for name in DOCUMENTS}

    def over(functions, arguments, check):
        bound = {}
        for name, function in functions.items():
            for argument, wanted in zip(arguments, check):
                found = function(argument)
                if isinstance(found, bytes):
                    found = json.loads(found)
                if found != wanted:
                    sys.exit(f"{name} gives another answer")
            if len(arguments) == 1:
                bound[name] = lambda function=function, only=arguments[0]: function(only)
            else:
                def each(function=function):
                    for argument in arguments:
                        function(argument)

                bound[name] = each
        return bound

    small = events()
    for name, text in [*texts.items(), ("events of 600 bytes", small)]:
        arguments = text if isinstance(text, list) else [text]
        values = [json.loads(argument) for argument in arguments]
        yield "loads", name, sum(map(len, arguments)), over(loaders(), arguments, values)
    for name, text in [*texts.items(), ("events of 600 bytes", small)]:
        arguments = text if isinstance(text, list) else [text]
        values = [json.loads(argument) for argument in arguments]
        yield "dumps", name, sum(len(orjson.dumps(value)) for value in values), over(dumpers(), values, values)
    text = texts["twitter"]
    wanted = tweets_loaded(json.loads)(text)
    yield "lazy", "three fields of every tweet", len(text), over(lazy(), [text], [wanted])


def measure(functions, rounds, seconds):
    """Seconds for each module, by round."""
    times = {name: [] for name in functions}
    repeats = {}
    for name, function in functions.items():
        start = time.perf_counter()
        function()
        repeats[name] = max(1, round(seconds / max(time.perf_counter() - start, 1e-7)))
    order = list(functions)
    for index in range(rounds):
        # Another one begins each time.
        for name in order[index % len(order) :] + order[: index % len(order)]:
            function, repeat = functions[name], repeats[name]
            gc.collect()
            start = time.perf_counter()
            for _ in range(repeat):
                function()
            times[name].append((time.perf_counter() - start) / repeat)
    return times


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).resolve()
    options.add_argument("--corpus", type=pathlib.Path, default=here.parents[3] / "shared" / "corpus")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--seconds", type=float, default=0.05, help="for each module in each round")
    options.add_argument("--json", type=pathlib.Path, help="writes all times to this file")
    options = options.parse_args()
    versions = {name: importlib.metadata.version(name) for name in ("orjson", "msgspec", "jiter", "pysimdjson")}
    peers = ", ".join(f"{name} {version}" for name, version in versions.items())
    print(f"Python {platform.python_version()}, jird {jird.__version__} ({jird.kernel}), {peers}")
    print(f"MB/s, medians of {options.rounds} rounds\n")
    kept, ratios = [], {}
    for task, name, size, functions in rows(options.corpus):
        times = measure(functions, options.rounds, options.seconds)
        speeds = {module: size / statistics.median(found) / 1e6 for module, found in times.items()}
        ratio = statistics.median(other / own for own, other in zip(times["jird"], times["orjson"]))
        if name in DOCUMENTS:
            ratios.setdefault(task, []).append(ratio)
        shown = ", ".join(f"{module} {speed:,.0f}" for module, speed in speeds.items())
        print(f"{task:6} {name:28} {shown}   jird / orjson {ratio:.2f}", flush=True)
        kept.append({"task": task, "name": name, "bytes": size, "seconds": times})
    for task, found in ratios.items():
        mean = math.exp(statistics.mean(map(math.log, found)))
        print(f"{task}: jird / orjson, geometric mean of the documents: {mean:.2f}")
    if options.json:
        options.json.write_text(json.dumps({"versions": versions, "python": sys.version, "rows": kept}))


if __name__ == "__main__":
    main()
