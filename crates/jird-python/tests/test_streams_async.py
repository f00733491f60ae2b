"""Bodies of HTTP, and `scan_async`."""

import asyncio
import gzip
import http.client
import http.server
import io
import random
import socket
import threading
import urllib.request

import pytest
from test_streams import RECORDS, TEXT, Event, Odd, Reads, cut, in_chunks, model, some_text

import jird


@pytest.fixture
def server():
    """Answers with chunks: /gzip is compressed, /slow waits after the first line, /cut ends too early."""
    go_on = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            body = TEXT
            if self.path == "/gzip":
                self.send_header("Content-Encoding", "gzip")
                body = gzip.compress(TEXT)
            self.end_headers()
            if self.path == "/slow":
                self.chunk(b'{"first": 1}\n{"sec')
                go_on.wait(20)
                body = b'ond": 2}\n'
            for chunk in in_chunks(body):
                self.chunk(chunk)
            if self.path == "/cut":
                self.wfile.write(b"100\r\n{")
                self.close_connection = True
                return
            self.wfile.write(b"0\r\n\r\n")

        def chunk(self, data):
            if data:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            """Clients go away early."""

    with Server(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}", go_on
        go_on.set()
        running.shutdown()
        thread.join()


def test_bodies_of_urllib(server):
    url, go_on = server
    for path in ("/", "/gzip"):
        with urllib.request.urlopen(url + path) as response:
            assert list(jird.scan(response)) == RECORDS
    with urllib.request.urlopen(url + "/slow") as response:
        records = iter(jird.scan(response))
        assert next(records) == {"first": 1}
        go_on.set()
        assert list(records) == [{"second": 2}]
    with urllib.request.urlopen(url + "/cut") as response, pytest.raises(http.client.IncompleteRead):
        list(jird.scan(response))


def test_bodies_of_httpx(server):
    httpx = pytest.importorskip("httpx", reason="skipped: httpx")
    url, go_on = server
    for path in ("/", "/gzip"):
        with httpx.stream("GET", url + path) as response:
            assert list(jird.scan(response.iter_bytes())) == RECORDS
    with httpx.stream("GET", url + "/slow") as response:
        records = iter(jird.scan(response.iter_raw()))
        assert next(records) == {"first": 1}
        go_on.set()
        assert list(records) == [{"second": 2}]
    with httpx.stream("GET", url + "/cut") as response, pytest.raises(httpx.RemoteProtocolError):
        list(jird.scan(response.iter_bytes()))
    with httpx.stream("GET", url) as response, pytest.raises(TypeError, match="iter_bytes"):
        jird.scan(response)

    async def run():
        async with httpx.AsyncClient() as client:
            for path in ("/", "/gzip", "/slow"):
                async with client.stream("GET", url + path) as response:
                    records = jird.scan_async(response.aiter_bytes())
                    assert [record async for record in records][:3] == (RECORDS[:3] if path != "/slow" else SLOW)
            async with client.stream("GET", url) as response:
                with pytest.raises(TypeError, match="aiter_bytes"):
                    jird.scan_async(response)

    asyncio.run(run())


SLOW = [{"first": 1}, {"second": 2}]


def test_bodies_of_aiohttp(server):
    aiohttp = pytest.importorskip("aiohttp", reason="skipped: aiohttp")
    url, go_on = server

    async def run():
        async with aiohttp.ClientSession() as session:
            for path in ("/", "/gzip"):
                async with session.get(url + path) as response:
                    assert await all_of(response.content) == RECORDS
                async with session.get(url + path) as response:
                    assert await all_of(response.content.iter_any()) == RECORDS
            async with session.get(url + "/slow") as response:
                records = jird.scan_async(response.content)
                assert await anext(records) == {"first": 1}
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(anext(records), 0.05)
                go_on.set()
                assert [record async for record in records] == [{"second": 2}]
            async with session.get(url + "/cut") as response:
                with pytest.raises(aiohttp.ClientPayloadError):
                    await all_of(response.content)

    asyncio.run(run())


def test_bodies_of_requests_to_starlette():
    pytest.importorskip("httpx", reason="skipped: httpx")
    testclient = pytest.importorskip("starlette.testclient", reason="skipped: starlette")
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def count(request):
        return PlainTextResponse(str(len(await all_of(request.stream()))))

    client = testclient.TestClient(Starlette(routes=[Route("/", count, methods=["POST"])]))
    assert client.post("/", content=(chunk for chunk in in_chunks(TEXT))).text == str(len(RECORDS))


# In an event loop.


async def chunks_of(chunks, pause=False):
    for chunk in chunks:
        if pause:
            await asyncio.sleep(0)
        yield chunk


async def all_of(source, **options):
    return [record async for record in jird.scan_async(source, **options)]


class AsyncReads:
    """As an asyncio.StreamReader, or the content of a response of aiohttp."""

    def __init__(self, chunks):
        self.file = Reads("read", chunks)

    async def read(self, size):
        await asyncio.sleep(0)
        return self.file.read(size)


def test_asynchronous_sources_have_the_same_records():
    async def run():
        chance = random.Random(5)
        for _ in range(100):
            text = some_text(chance, chance.randrange(30))
            chunks = cut(chance, text)
            assert await all_of(chunks_of(chunks)) == model(text)
            assert await all_of(chunks_of(map(memoryview, chunks), pause=True)) == model(text)
            assert await all_of(AsyncReads(chunks)) == model(text)
            reader = asyncio.StreamReader()
            reader.feed_data(text)
            reader.feed_eof()
            assert await all_of(reader) == model(text)
        assert await all_of(chunks_of([TEXT])) == RECORDS
        assert await all_of(chunks_of([TEXT]), columns=["id"], where="id < 5") == [
            {"id": record["id"]} for record in RECORDS if isinstance(record, dict) and record["id"] < 5
        ]
        events = await all_of(chunks_of([b'{"a": 1}\n{"a"', b": 2}"]), type=Event)
        assert events == [Event(1), Event(2)]
        scan = jird.scan_async(chunks_of([b"1\n[\n2\n"]), on_error="skip")
        assert [record async for record in scan] == [1, 2] and scan.skipped == 1

    asyncio.run(run())


def test_a_line_that_arrives_in_an_event_loop_is_there_at_once():
    async def run():
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        with theirs:
            scan = jird.scan_async(reader)
            for sent, record in [(b"{}\n", {}), (b"1\n2", 1), (b"\n", 2)]:
                theirs.sendall(sent)
                assert await asyncio.wait_for(anext(scan), 20) == record
        assert [record async for record in scan] == []
        writer.close()

    asyncio.run(run())


def test_nothing_is_lost_when_a_task_is_cancelled():
    async def run():
        chance = random.Random(6)
        for _ in range(30):
            text = some_text(chance, 60)
            reader = asyncio.StreamReader()

            async def feed(reader=reader, chunks=cut(chance, text)):
                for chunk in chunks:
                    reader.feed_data(chunk)
                    await asyncio.sleep(chance.choice([0, 0, 0.0001]))
                reader.feed_eof()

            feeding = asyncio.create_task(feed())
            scan, found = jird.scan_async(reader), []
            while True:
                task = asyncio.create_task(anext(scan))
                for _ in range(chance.randrange(3)):
                    await asyncio.sleep(0)
                task.cancel()
                try:
                    found.append(await task)
                except asyncio.CancelledError:
                    continue
                except StopAsyncIteration:
                    break
            assert found == model(text)
            await feeding

    asyncio.run(run())


def test_a_generator_that_was_cancelled_is_not_taken_for_one_that_has_ended():
    async def stuck():
        yield b"1\n2"
        await asyncio.sleep(100)

    async def run():
        scan = jird.scan_async(stuck())
        assert await anext(scan) == 1
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(anext(scan), 0.05)
        with pytest.raises(RuntimeError, match="the rest is lost"):
            await anext(scan)
        with pytest.raises(StopAsyncIteration):
            await anext(scan)

    asyncio.run(run())


def test_exceptions_of_asynchronous_sources_come_out_as_they_are():
    async def run():
        async def failing(error):
            yield b"1\n2"
            yield b"\n3"
            raise error

        for error in (Odd(), TimeoutError(), OSError(5, "x")):
            scan, found = jird.scan_async(failing(error)), []
            with pytest.raises(type(error)) as raised:
                async for record in scan:
                    found.append(record)
            assert raised.value is error and found == [1, 2]
            assert [record async for record in scan] == []
        with pytest.raises(jird.JSONDecodeError, match="<async_generator>, line 2"):
            await all_of(chunks_of([b"1\n[", b"\n"]))
        for chunk, words in (("x", "gave str"), (None, "gave NoneType"), (5, "gave int")):
            with pytest.raises(TypeError, match=words):
                await all_of(chunks_of([b"1\n", chunk]))
        for source in (io.BytesIO(), [b""], 5, "path"):
            with pytest.raises(TypeError, match=r"asynchronous|coroutine"):
                jird.scan_async(source)
        with pytest.raises(OSError, match="compressed with gzip"):
            await all_of(chunks_of([gzip.compress(b"1\n")]))

    asyncio.run(run())


def test_one_task_at_a_time_and_an_early_end():
    async def run():
        closed = []

        async def slow():
            try:
                yield b"1\n2\n"
                await asyncio.sleep(100)
            finally:
                closed.append(True)

        scan = jird.scan_async(slow())
        assert [await anext(scan), await anext(scan)] == [1, 2]
        waiting = asyncio.create_task(anext(scan))
        await asyncio.sleep(0.01)
        with pytest.raises(RuntimeError, match="already executing"):
            await anext(scan)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        scan = jird.scan_async(slow())
        assert await anext(scan) == 1
        await scan.aclose()
        assert closed == [True, True]
        with pytest.raises(StopAsyncIteration):
            await anext(scan)

    asyncio.run(run())
