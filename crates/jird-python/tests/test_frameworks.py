"""Where jird meets frameworks, by the frameworks themselves, and the recipes of the guide for others."""

import asyncio
import dataclasses
import datetime
import decimal
import enum
import json
import uuid

import pytest

import jird


@dataclasses.dataclass
class Task:
    id: uuid.UUID
    title: str
    due: datetime.datetime | None = None


class Shade(enum.Enum):
    DARK = "dark"


TASK = Task(uuid.UUID(int=7), "größe", datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.timezone.utc))
WRITTEN = '{"id":"00000000-0000-0000-0000-000000000007","title":"größe","due":"2024-05-01T12:00:00+00:00"}'


def test_flask():
    flask = pytest.importorskip("flask", reason="skipped: flask")
    from jird.frameworks.flask import JirdProvider

    app = flask.Flask("test")
    app.json = JirdProvider(app)

    @app.post("/task")
    def task():
        found = jird.loads(flask.request.get_data(), type=Task)
        return flask.jsonify(task=found, shade=Shade.DARK, price=decimal.Decimal("1.50"), big=2**70, raw=flask.request.json["title"])

    @app.get("/list")
    def numbers():
        return [1, 2]

    @app.post("/checked")
    def checked():
        return {"got": flask.request.get_json()}

    app.secret_key = "key"

    @app.get("/session")
    def session():
        flask.session["count"] = flask.session.get("count", 0) + 1
        flask.session["when"] = TASK.due
        return {"count": flask.session["count"], "when": flask.session["when"]}

    client = app.test_client()
    assert client.get("/session").json["count"] == 1
    assert client.get("/session").json == {"count": 2, "when": "2024-05-01T12:00:00+00:00"}
    answer = client.post("/task", data=WRITTEN.encode(), content_type="application/json")
    assert answer.mimetype == "application/json" and answer.status_code == 200
    assert answer.data.decode() == f'{{"task":{WRITTEN},"shade":"dark","price":"1.50","big":{2**70},"raw":"größe"}}'
    assert answer.json["big"] == 2**70 and client.get("/list").data == b"[1,2]"
    with app.app_context():
        assert app.json.dumps({"b": 1, "a": 2}, indent=4, sort_keys=True) == '{\n  "a": 2,\n  "b": 1\n}'
        with pytest.raises(TypeError):
            app.json.dumps(object())
        assert app.json.dumps([1, "é"], separators=(",", ":"), ensure_ascii=True) == '[1,"é"]'
        with pytest.raises(TypeError, match="skipkeys"):
            app.json.dumps(1, skipkeys=True)
        page = flask.render_template_string("{{ value | tojson }}", value={"a": "</script>"})
        assert json.loads(page) == {"a": "</script>"} and "</" not in page

    # A body that is not JSON is the client's mistake.
    assert client.post("/checked", data=b"{", content_type="application/json").status_code == 400


def test_starlette():
    pytest.importorskip("starlette", reason="skipped: starlette")
    pytest.importorskip("httpx", reason="skipped: httpx")
    from starlette.applications import Starlette
    from starlette.routing import Route
    from starlette.testclient import TestClient

    from jird.frameworks.starlette import JirdRequest, JirdResponse, body

    class Sorted(JirdResponse):
        def default(value):
            return str(value)

        option = jird.OPT_SORT_KEYS

    async def task(request):
        try:
            return JirdResponse(await body(request, Task), 201, {"x-a": "b"})
        except jird.JSONDecodeError as error:
            return JirdResponse({"path": error.path, "message": error.msg}, 422)

    async def echo(request):
        request = JirdRequest(request.scope, request.receive)
        return Sorted({"b": decimal.Decimal("1.50"), "a": [await request.json(), await request.json()]})

    app = Starlette(routes=[Route("/task", task, methods=["POST"]), Route("/echo", echo, methods=["POST"])])
    client = TestClient(app)
    answer = client.post("/task", content=WRITTEN.encode())
    assert (answer.status_code, answer.text, answer.headers["content-type"]) == (201, WRITTEN, "application/json")
    assert answer.headers["x-a"] == "b"
    answer = client.post("/task", content=b'{"id":"x","title":""}')
    assert answer.status_code == 422 and answer.json()["path"] == "/id"
    assert client.post("/echo", content=b"[1]").text == '{"a":[[1],[1]],"b":"1.50"}'


def test_django():
    django = pytest.importorskip("django", reason="skipped: django")
    from django.conf import settings

    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"], USE_I18N=False, DEFAULT_CHARSET="utf-8")
        django.setup()
    from django.http import JsonResponse
    from django.test import RequestFactory
    from django.utils.functional import lazystr

    from jird.frameworks.django import JirdResponse, body

    answer = JirdResponse({"task": TASK, "for": datetime.timedelta(days=1, hours=2), "price": decimal.Decimal("1.50"), "words": lazystr("hi")})
    assert answer.content.decode() == f'{{"task":{WRITTEN},"for":"P1DT02H00M00S","price":"1.50","words":"hi"}}'
    theirs = JsonResponse({"for": datetime.timedelta(days=1, hours=2), "price": decimal.Decimal("1.50"), "words": lazystr("hi")})
    ours = {name: value for name, value in json.loads(answer.content).items() if name != "task"}
    assert json.loads(theirs.content) == ours
    assert answer["content-type"] == theirs["content-type"] and JirdResponse({}, status=201).status_code == 201
    with pytest.raises(TypeError) as refused:
        JirdResponse([1])
    with pytest.raises(TypeError) as theirs:
        JsonResponse([1])
    assert str(refused.value) == str(theirs.value)
    assert JirdResponse([1], safe=False, option=jird.OPT_APPEND_NEWLINE).content == b"[1]\n"
    request = RequestFactory().post("/", data=WRITTEN.encode(), content_type="application/json")
    assert body(request, Task) == TASK and body(request)["title"] == "größe"


def test_aiohttp():
    pytest.importorskip("aiohttp", reason="skipped: aiohttp")
    from aiohttp import web
    from aiohttp.test_utils import TestClient, TestServer

    async def handle(request):
        task = jird.loads(await request.read(), type=Task)
        return web.Response(body=jird.dumps(task), content_type="application/json")

    async def run():
        app = web.Application()
        app.router.add_post("/", handle)
        async with TestClient(TestServer(app)) as client:
            answer = await client.post("/", data=WRITTEN.encode())
            return await answer.json(loads=jird.loads), answer.content_type

    assert asyncio.run(run()) == (json.loads(WRITTEN), "application/json")


def test_sqlalchemy():
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="skipped: sqlalchemy")
    engine = sqlalchemy.create_engine(
        "sqlite://", json_serializer=lambda value: jird.dumps(value).decode(), json_deserializer=jird.loads
    )
    table = sqlalchemy.Table("t", sqlalchemy.MetaData(), sqlalchemy.Column("data", sqlalchemy.JSON))
    table.create(engine)
    with engine.begin() as connection:
        connection.execute(table.insert(), {"data": {"task": TASK, "big": 2**70}})
        found = connection.execute(sqlalchemy.select(table.c.data)).scalar_one()
        raw = connection.execute(sqlalchemy.text("select data from t")).scalar_one()
    assert found == {"task": json.loads(WRITTEN), "big": 2**70} and raw == f'{{"task":{WRITTEN},"big":{2**70}}}'
