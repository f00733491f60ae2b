"""The page of `jird serve`, hostile pages and the example in headless Chromium.

`all.py JIRD REPOSITORY [--queries] [--only STEP…]`, in an empty folder. With `--queries`, the program has queries and event stores.
"""

import subprocess
import sys
import time

import clicks
import hostile
import looks
import todo
import watch
from browser import Browser
from clicks import HAS_QUERIES, JIRD, Server, connect

REPOSITORY = sys.argv[2]


def main():
    connect("tasks.db", clicks.TASKS)
    with open("people.csv", "w") as file:
        file.write("name,city\nAnn,Berlin\nZoë,Zürich\nŁukasz,Kraków\n")
    sources = ["tasks.db"]
    if HAS_QUERIES:
        events = f"{REPOSITORY}/examples/events.ndjson"
        subprocess.run([JIRD, "ingest", "shop-log", events], check=True, stderr=subprocess.DEVNULL)
        sources += ["shop-log", "people.csv"]
    server = Server(*sources, "--write")
    odd = looks.serve()
    browser = Browser("--host-resolver-rules=MAP evil.test 127.0.0.1")
    tab = browser.tab()
    steps = [clicks.table, clicks.edit, clicks.add_and_delete, clicks.links, clicks.read_only]
    if HAS_QUERIES:
        steps += [clicks.log, clicks.query, clicks.file, clicks.follow]
    steps += [clicks.keyboard, clicks.looks]
    all_steps = [(step.__name__, lambda step=step: step(tab, server)) for step in steps]
    all_steps += [
        ("contrasts", lambda: looks.contrasts(tab, server, odd)),
        ("hidden_characters", lambda: looks.hidden_characters(tab, odd)),
        ("phones", lambda: looks.phones(tab, odd)),
        ("token", lambda: clicks.token(browser.tab())),
        ("cross_site", lambda: hostile.cross_site(browser, server, HAS_QUERIES)),
        ("rebinding", lambda: hostile.rebinding(browser, server, HAS_QUERIES)),
        ("todo", lambda: todo.todo(browser, f"{REPOSITORY}/examples/todomvc")),
    ]
    if HAS_QUERIES:
        all_steps.append(("watch", lambda: watch.watch(browser, server)))
    # `--only NAME…` is for those who work on a step.
    if "--only" in sys.argv:
        all_steps = [step for step in all_steps if step[0] in sys.argv]
    try:
        for name, step in all_steps:
            begun = time.monotonic()
            step()
            print(f"{name}: {time.monotonic() - begun:.1f} s", flush=True)
        assert not tab.problems(), tab.problems()
    finally:
        browser.close()
        odd.close()
        server.close()


main()
