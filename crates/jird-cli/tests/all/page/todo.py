"""Clicks through examples/todomvc, whose page comes from another origin than its tasks."""

import http.server
import threading

from clicks import Server, connect


def files(folder):
    """A server of the files of a folder, at a free port."""

    class Files(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def todo(browser, folder):
    connect(
        "todo.db",
        "create table tasks (id integer primary key, title text not null, done boolean not null default 0)",
    )
    pages = files(folder)
    origin = f"http://127.0.0.1:{pages.server_port}"
    server = Server("todo.db", "--write", "--cors", origin)
    tab = browser.tab()
    try:
        items = "[...document.querySelectorAll('#list li')].map((one) => one.textContent).join()"
        tab.go(f"{origin}/?server={server.url}")
        # Before the script runs, Enter would send the form, and lead to another address.
        tab.wait("document.getElementById('new').onsubmit && document.activeElement?.id === 'title'")
        assert tab.run("document.getElementById('foot').hidden")
        for title in ("Clean Room", "<b>Check</b> Mail", "Water Plants"):
            tab.type(title)
            tab.key("Enter")
            tab.wait(f"{items}.includes({title!r})")
        tab.click("#list li:nth-child(2) input")
        tab.wait("document.getElementById('left').textContent === '2 tasks left'")
        tab.click("text=Active")
        tab.wait(f"{items} === 'Clean Room×,Water Plants×'")
        tab.click("text=Done")
        tab.wait(f"{items} === '<b>Check</b> Mail×'")
        tab.click("text=All")
        tab.wait("document.querySelectorAll('#list li').length === 3")
        tab.click("#list li:nth-child(1) .title", times=2)
        tab.wait("document.activeElement.className === 'edit'")
        tab.run("document.activeElement.select()")
        tab.type("Clean Kitchen")
        tab.key("Enter")
        tab.wait(f"{items}.startsWith('Clean Kitchen')")
        tab.click("text=Clear done")
        tab.wait(f"{items} === 'Clean Kitchen×,Water Plants×'")
        tab.click("#all")
        tab.wait("document.getElementById('left').textContent === '0 tasks left'")
        tab.click("[aria-label='Delete Water Plants']")
        tab.wait(f"{items} === 'Clean Kitchen×'")
        assert server.ask("/tasks") == [{"id": 1, "title": "Clean Kitchen", "done": True}]
        assert not tab.problems(), tab.problems()
    finally:
        server.close()
        pages.shutdown()
