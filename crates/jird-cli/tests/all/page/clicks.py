"""Clicks through the page of `jird serve`."""

import json
import os
import sqlite3
import subprocess
import sys
import time
import urllib.request

from browser import CONTROL, SHIFT

JIRD = sys.argv[1]
HAS_QUERIES = "--queries" in sys.argv
TASKS = """
create table tasks (id integer primary key, title text not null, done boolean not null default 0, price real, tags json,
    note);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 250)
insert into tasks (title, done, price, tags) select 'Task ' || i, i % 3 = 0, i * 1.5, '{"a":1.50}' from n;
insert into tasks (id, title) values (9007199254740993, '<img src=x onerror="document.title=1">');
create view open_tasks as select id, title from tasks where not done;
create table pairs (a text, b integer, primary key (a, b));
insert into pairs values ('x', 1);
create table authors (id integer primary key, name text);
create table posts (id integer primary key, title text, author integer references authors);
insert into authors values (1, 'Ann'), (2, 'Zoë');
insert into posts values (1, 'One', 2), (2, 'Two', 1), (3, 'Three', 2), (4, 'Nobody''s', null);
"""


class Server:
    """A `jird serve` at a free port."""

    def __init__(self, *arguments):
        command = [JIRD, "serve", *arguments, "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        line = self.process.stderr.readline().decode()
        assert " at http://" in line, line + self.process.stderr.read().decode()
        self.url = line.split(" at ")[1].strip()
        # Its log is taken from the pipe, so that it never waits.
        self.log = open(f"log-{self.process.pid}.ndjson", "w+b")
        self.copy = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=self.log)

    def logged(self):
        """The requests that it has answered."""
        with open(self.log.name) as file:
            return [json.loads(line) for line in file.read().split("\n")[:-1]]

    def close(self):
        self.process.terminate()
        self.process.wait(15)
        self.copy.wait(5)
        self.log.close()

    def ask(self, path, method="GET", body=None, media="application/json", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            headers["Content-Type"] = media
            body = body.encode()
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read()
            return json.loads(text) if text.strip() else None


CELL = "document.querySelector(`tbody tr:nth-child({row}) td[data-name='{name}']`)"


def cell(tab, row, name):
    return tab.run(CELL.format(row=row, name=name) + "?.textContent")


def wait_cell(tab, row, name, text):
    tab.wait(CELL.format(row=row, name=name) + f"?.textContent === {json.dumps(text)}")


def at(row, name):
    return f"tbody tr:nth-child({row}) td[data-name='{name}']"


def table(tab, server):
    """Pages, order and filters; names and values of the data are never markup."""
    tab.go(f"{server.url}/#/table/tasks")
    tab.wait("document.querySelector('output.rows').textContent === '1–100 of 251'")
    tab.click("text=Next")
    wait_cell(tab, 1, "id", "101")
    tab.click("text=Next")
    tab.wait("document.querySelector('output.rows').textContent === '201–251 of 251'")
    assert cell(tab, 51, "id") == "9007199254740993" and cell(tab, 51, "title").startswith("<img")
    assert cell(tab, 1, "tags") == '{"a":1.50}', cell(tab, 1, "tags")
    assert tab.run("document.title") == "tasks · jird" and not tab.run("document.querySelector('main img')")
    tab.run("history.back()")
    wait_cell(tab, 1, "id", "101")
    tab.click("th:nth-child(1) button")
    wait_cell(tab, 1, "id", "1")
    tab.click("th:nth-child(1) button")
    wait_cell(tab, 1, "id", "9007199254740993")
    assert tab.run("document.querySelector('th').getAttribute('aria-sort')") == "descending"
    tab.run("document.querySelector('.chip-form select').value = 'title'")
    tab.run("document.querySelector('.chip-form select:nth-child(2)').value = 'ilike.*'")
    tab.click(".chip-form input")
    tab.type("sk 24")
    tab.key("Enter")
    tab.wait("document.querySelector('output.rows').textContent === '1–11 of 11'")
    wait_cell(tab, 1, "title", "Task 249")
    # The address keeps the view.
    tab.send("Page.reload")
    tab.wait("document.querySelector('output.rows')?.textContent === '1–11 of 11'")
    tab.click(".chip button")
    tab.wait("document.querySelector('output.rows').textContent === '1–100 of 251'")
    tab.click(at(2, "done"))
    tab.click("text=Filter by this value")
    tab.wait("document.querySelector('output.rows').textContent === '1–100 of 168'")


def edit(tab, server):
    """Cells are edited; what somebody else has changed meanwhile is not overwritten."""
    tab.go(f"{server.url}/#/table/tasks?order=id.asc")
    wait_cell(tab, 2, "title", "Task 2")
    tab.click(at(2, "title"), times=2)
    tab.wait("document.activeElement.getAttribute('aria-label') === 'New value of title'")
    tab.type('Water "plants"')
    tab.key("Enter")
    tab.wait("document.getElementById('said').textContent === 'Saved'")
    wait_cell(tab, 2, "title", 'Water "plants"')
    assert server.ask("/tasks/2")["title"] == 'Water "plants"'
    # What does not fit is refused, and told.
    tab.click(at(2, "title"), times=2)
    tab.click("text=Null")
    tab.wait("document.querySelector('.editor .wrong').textContent.includes('title')")
    tab.key("Escape")
    tab.wait("!document.querySelector('.editor') && document.activeElement.dataset.name === 'title'")
    tab.click(at(2, "tags"), times=2)
    tab.wait("document.querySelector('.editor textarea')")
    tab.type("[1,")
    tab.key("Enter")
    tab.wait("document.querySelector('.editor .wrong').textContent.includes('not JSON')")
    tab.key("Escape")
    tab.wait("!document.querySelector('.editor')")
    # A conflict: the person decides.
    for choice, wanted in [("text=Keep theirs", "theirs"), ("text=Save mine", "mine")]:
        tab.click(at(3, "title"), times=2)
        tab.wait("document.querySelector('.editor input')")
        server.ask("/tasks/3", "PATCH", '{"title":"theirs"}')
        server.ask("/tasks/3", "PATCH", '{"note":"other ' + wanted + '"}')
        tab.type("mine")
        tab.key("Enter")
        tab.wait("document.querySelector('.editor .wrong').textContent.includes('changed meanwhile')")
        assert server.ask("/tasks/3")["title"] == "theirs"
        tab.click(choice)
        wait_cell(tab, 3, "title", wanted)
        wait_cell(tab, 3, "note", "other " + wanted)
        assert server.ask("/tasks/3")["title"] == wanted
    # Null, a boolean, JSON, and a big number keep what they are.
    tab.click(at(1, "note"), times=2)
    tab.wait("document.querySelector('.editor')")
    tab.type("9007199254740993")
    tab.key("Enter")
    wait_cell(tab, 1, "note", "9007199254740993")
    tab.click(at(1, "price"), times=2)
    tab.wait("document.querySelector('.editor')")
    tab.click("text=Null")
    wait_cell(tab, 1, "price", "null")
    row = server.ask("/tasks/1")
    assert row["note"] == 9007199254740993 and row["price"] is None, row


def add_and_delete(tab, server):
    """Rows are added, and deleted after a second press, unless somebody else has changed them meanwhile."""
    tab.go(f"{server.url}/#/table/tasks?order=id.asc")
    wait_cell(tab, 1, "id", "1")
    tab.click("text=Add row")
    tab.wait("document.querySelector('dialog[open] input')")
    fields = "document.querySelectorAll('dialog[open] .fields :is(input, select, textarea)')"
    for place, text in [(0, "7777"), (1, "New task"), (4, "[1.50]")]:
        tab.run(f"{fields}[{place}].focus()")
        tab.type(text)
    tab.run(f"{fields}[2].value = 'true'")
    tab.click("dialog[open] button.strong")
    tab.wait("!document.querySelector('dialog[open]')")
    row = server.ask("/tasks/7777")
    assert (row["title"], row["done"], row["tags"], row["price"]) == ("New task", True, [1.5], None), row
    tab.click("text=Add row")
    tab.wait("document.querySelector('dialog[open] input')")
    tab.click("dialog[open] button.strong")
    tab.wait("document.querySelector('dialog[open] .wrong').textContent.includes('title')")
    tab.key("Escape")
    tab.wait("!document.querySelector('dialog[open]')")
    tab.go(f"{server.url}/#/table/tasks?id=eq.7777")
    wait_cell(tab, 1, "id", "7777")
    tab.click("[aria-label='Delete row 7777']")
    sure = "document.activeElement.getAttribute('aria-label') === 'Really delete row 7777'"
    tab.wait(sure)
    server.ask("/tasks/7777", "PATCH", '{"note":"needed"}')
    tab.key("Enter")
    tab.wait("document.querySelector('section > .wrong').textContent.includes('was not deleted')")
    wait_cell(tab, 1, "note", "needed")
    tab.click("[aria-label='Delete row 7777']")
    tab.wait(sure)
    tab.key("Enter")
    tab.wait("document.querySelector('output.rows').textContent === '0 rows'")
    assert server.ask("/tasks?id=eq.7777") == []


def links(tab, server):
    """A cell leads to the row that its foreign key names, and back to the rows that name it."""
    tab.go(f"{server.url}/#/table/posts?order=id.asc")
    wait_cell(tab, 4, "author", "null")
    assert tab.run("document.querySelectorAll('td .link').length") == 3
    tab.click(at(1, "author") + " .link")
    tab.wait("location.hash === '#/table/authors?id=eq.2'")
    wait_cell(tab, 1, "name", "Zoë")
    tab.click(at(1, "id"))
    tab.click("text=← posts by author")
    tab.wait("document.querySelector('output.rows').textContent === '1–2 of 2'")
    wait_cell(tab, 2, "title", "Three")
    tab.click(at(1, "author") + " .v")
    tab.click("text=→ authors")
    wait_cell(tab, 1, "name", "Zoë")


def read_only(tab, server):
    """What cannot be changed has nothing that would change it."""
    tab.go(f"{server.url}/#/table/open_tasks")
    wait_cell(tab, 1, "id", "1")
    tab.click(at(1, "title"), times=2)
    assert not tab.run(
        "document.querySelector('.editor, td.acts') || [...document.querySelectorAll('button')]"
        ".find((one) => one.textContent === 'Add row')"
    )
    tab.go(f"{server.url}/#/table/pairs")
    wait_cell(tab, 1, "a", "x")
    assert "cannot be edited here" in tab.run("document.querySelector('.quiet').textContent")
    tab.go(f"{server.url}/#/table/none")
    tab.wait("document.querySelector('.empty')")


def log(tab, server):
    """Filter, what is wrong with one, an event in full, a narrower time, more by scrolling."""
    lines = "document.querySelectorAll('.events .line').length"
    bars = "document.querySelectorAll('.histogram .bar').length"
    tab.go(f"{server.url}/#/store/shop-log")
    tab.wait(f"{lines} === 100 && {bars} > 20")
    assert "07:03:06.369" in tab.run("document.querySelector('.events .line').textContent")
    assert "3,000 events" in tab.run("document.querySelector('.range').textContent")
    tab.scroll_on(lines)
    tab.run("scrollTo(0, 0)")
    tab.click(".filter input[name=where]")
    tab.type("Elapsed > > 3")
    tab.key("Enter")
    tab.wait("document.querySelector('.filter .wrong').textContent.length > 10")
    assert tab.run("document.querySelector('.filter .at mark') !== null"), tab.run(
        "document.querySelector('.wrong').textContent"
    )
    tab.run("document.querySelector('.filter input[name=where]').select()")
    tab.type("Elapsed > 19000")
    tab.key("Enter")
    tab.wait(f"{lines} === 8 && !document.querySelector('.filter .wrong').textContent")
    tab.wait("document.querySelector('.range').textContent.startsWith('8 events')")
    tab.click(".events .line")
    tab.wait("document.querySelector('.detail .key')")
    tab.run("document.querySelector(`[aria-label^='Only events whose Properties.Application is this']`).focus()")
    tab.key("Enter")
    tab.wait(
        f"{lines} < 8 && document.querySelector('.filter input[name=where]').value.startsWith("
        "'Elapsed > 19000 and Properties.Application')"
    )
    tab.run("history.back()")
    tab.wait(f"{lines} === 8")
    tab.click("text=Clear")
    tab.wait(f"{lines} === 100 && document.querySelector('.range').textContent.startsWith('3,000')")
    tab.drag(".histogram", 0.5, 0.7)
    tab.wait("location.hash.includes('since=') && location.hash.includes('until=')")
    tab.wait(f"{lines} === 100 && !document.querySelector('.range').textContent.startsWith('3,000')")
    narrowed = int(tab.run("document.querySelector('.range').textContent").split(" ")[0].replace(",", ""))
    assert 400 < narrowed < 800, narrowed


def append(server, event):
    """Gives the store an event: by the server, or beside it if it takes none."""
    if any(source["kind"] == "store" and source["writable"] for source in server.ask("/sources")):
        server.ask("/ingest", "POST", event, "application/x-ndjson")
    else:
        subprocess.run([JIRD, "ingest", "shop-log"], input=event.encode(), check=True, stderr=subprocess.DEVNULL)


def follow(tab, server):
    """New events come to the top while the log is followed."""
    tab.go(f"{server.url}/#/store/shop-log")
    tab.wait("document.querySelectorAll('.events .line').length === 100")
    tab.click("text=Follow")
    tab.wait("document.querySelector('.toggle').dataset.state === 'on'")
    time.sleep(0.1)
    event = '{"@t":"2026-01-01T00:00:00Z","@l":"Fatal","@mt":"{Who} said <b>hello</b>","Who":"Zoë"}\n'
    append(server, event)
    tab.wait("document.querySelector('.events .line .message').textContent === 'Zoë said <b>hello</b>'")
    assert tab.run("document.querySelector('.events li.fatal.new') !== null")
    tab.click("text=Follow")
    tab.wait("document.querySelector('.toggle').getAttribute('aria-pressed') === 'false'")


def query(tab, server):
    """A query with its result and chart, what is wrong with one, the history, and keys."""
    tab.go(f"{server.url}/#/query")
    tab.wait("document.activeElement.getAttribute('aria-label') === 'SQL'")
    tab.run("document.activeElement.select()")
    tab.type("select done, count(*) as n, sum(price) as total from tasks group by done order by done")
    tab.key("Enter", CONTROL)
    tab.wait(
        "document.querySelectorAll('.result tbody tr').length === 2"
        " && document.querySelectorAll('.chart .series rect').length === 2"
    )
    tab.click("text=total")
    tab.wait("document.querySelectorAll('.chart .series').length === 2")
    tab.click("text=Lines")
    tab.wait(
        "document.querySelectorAll('.chart .series path').length === 2 && location.hash.includes('chart=line')"
    )
    tab.send("Page.reload")
    tab.wait("document.querySelectorAll('.chart .series path').length === 2")
    tab.run("document.querySelector('textarea').select()")
    tab.type("select nope(")
    tab.key("Enter", CONTROL)
    tab.wait("document.querySelector('#sql-wrong').textContent.length > 5")
    assert tab.run("[...document.querySelector('.sql select').options].length") == 3
    tab.run("document.querySelector('textarea').select()")
    tab.type("select * from people where name like 'Z%'")
    tab.key("Enter", CONTROL)
    tab.wait("document.querySelector('.result tbody td')?.textContent === 'Zoë'")
    tab.click("[aria-label='Download as CSV']")
    for _ in range(200):
        if os.path.exists("query.csv"):
            break
        time.sleep(0.03)
    with open("query.csv") as file:
        assert file.read().split() == ["name,city", "Zoë,Zürich"]


def file(tab, server):
    tab.go(f"{server.url}/#/file/people?order=name.desc")
    wait_cell(tab, 1, "name", "Łukasz")
    tab.click(".filter input[name=where]")
    tab.type("city = 'Berlin'")
    tab.key("Enter")
    wait_cell(tab, 1, "name", "Ann")


def keyboard(tab, server):
    """The whole way without a mouse."""
    tab.go(f"{server.url}/#/table/tasks?order=id.asc")
    wait_cell(tab, 1, "id", "1")
    tab.send("Page.reload")
    wait_cell(tab, 1, "id", "1")
    tab.key("Tab")
    assert tab.run("document.activeElement.textContent") == "Skip to the content"
    for _ in range(40):
        tab.key("Tab")
        if tab.run("document.activeElement.matches('td')"):
            break
    assert tab.run("document.activeElement.matches('td')")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        tab.key(key)
    assert tab.run("document.activeElement.textContent") == "Task 4"
    tab.key("F2")
    tab.wait("document.activeElement.getAttribute('aria-label') === 'New value of title'")
    tab.type("By keys")
    tab.key("Enter")
    wait_cell(tab, 4, "title", "By keys")
    tab.wait("document.activeElement.textContent === 'By keys'")
    if HAS_QUERIES:
        tab.go(f"{server.url}/#/store/shop-log?until=2025-01-01T00:00:00Z")
        tab.wait("document.querySelectorAll('.histogram .bar').length > 20")
        tab.run("document.querySelector('.histogram').focus()")
        for key in ("Home", "ArrowRight"):
            tab.key(key)
        tab.key("ArrowRight", SHIFT)
        tab.wait(
            "document.querySelector('.range').textContent.includes("
            "' from 2024-03-05T07:00:00.000Z to 2024-03-05T07:00:04.000Z')"
        )
        tab.key("Enter")
        tab.wait(
            "location.hash.includes('since=2024-03-05T07%3A00%3A00.000Z') && document.querySelector('.events .line')"
        )
        tab.run("document.querySelector('.events .line').focus()")
        for key in ("ArrowDown", "ArrowRight"):
            tab.key(key)
        tab.wait("document.querySelectorAll('.detail').length === 1")
        assert tab.run("[...document.querySelectorAll('.events .line')].indexOf(document.activeElement)") == 1
    # Everything that can be pressed or written into has a name.
    assert (
        tab.run(
            """[...document.querySelectorAll('button, input, select, textarea, [tabindex="0"]:not(td)')].filter((one) =>
        !(one.textContent.trim() || one.getAttribute('aria-label') || one.closest('label'))).length"""
        )
        == 0
    )


def looks(tab, server):
    """Dark and light differ; nothing runs out of a narrow or a wide window."""
    tab.go(f"{server.url}/#/table/tasks")
    wait_cell(tab, 1, "id", "1")
    colours = []
    for scheme in ("light", "dark"):
        tab.scheme(scheme)
        colours.append(
            tab.run("getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color")
        )
    assert colours[0] != colours[1], colours
    kinds = ["table/tasks"] + (["store/shop-log", "query", "file/people"] if HAS_QUERIES else [])
    for width in (360, 1600):
        tab.resize(width)
        for kind in kinds:
            tab.go(f"{server.url}/#/{kind}")
            tab.wait("document.querySelector('main section')")
            over = tab.run("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, (width, kind, over)
    tab.resize(1200)
    tab.scheme("light")


def token(tab):
    """The page asks for the token, says when it is wrong, and keeps it for the tab."""
    with open("token", "w") as file:
        file.write("s3cret\n")
    server = Server("tasks.db", "--token-file", "token")
    try:
        tab.go(f"{server.url}/#/table/tasks")
        tab.wait("document.getElementById('token').open")
        tab.type("wrong")
        tab.key("Enter")
        tab.wait("document.getElementById('token-wrong').textContent.includes('not the server')")
        tab.type("s3cret")
        tab.key("Enter")
        wait_cell(tab, 1, "id", "1")
        tab.send("Page.reload")
        wait_cell(tab, 1, "id", "1")
        assert not tab.run("document.getElementById('token').open || document.querySelector('td.acts')")
    finally:
        server.close()


def connect(path, sql):
    """Makes a database."""
    connection = sqlite3.connect(path)
    connection.executescript(sql)
    connection.close()
