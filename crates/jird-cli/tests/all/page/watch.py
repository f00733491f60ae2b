"""The log view under load, and its search, fields, times and downloads."""

import csv
import json
import os
import threading
import time

from clicks import Server

# On an idle machine, no frame takes more than 100 ms; a busy one takes the processor away.
FRAME_MAX = 1000
FLOOD = 50000
# The longest time without a frame, and the longest task, in milliseconds.
MEASURE = """
window.frames_ = { gap: 0, task: 0, frames: 0 };
new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) frames_.task = Math.max(frames_.task, duration);
}).observe({ entryTypes: ["longtask"] });
let before = performance.now();
const tick = (now) => {
    frames_.gap = Math.max(frames_.gap, now - before);
    frames_.frames += 1;
    before = now;
    requestAnimationFrame(tick);
};
requestAnimationFrame((now) => {
    before = now;
    requestAnimationFrame(tick);
});
"""
LINES = "document.querySelectorAll('.events .line').length"
TOLD = "document.querySelector('.log output.rows').textContent"
FIRST = "document.querySelector('.events .line .message')?.textContent"


def event(number):
    return json.dumps(
        {
            "@t": f"2026-03-05T07:{number // 60 % 60:02}:{number % 60:02}.{number % 1000:03}Z",
            "@l": ["Information", "Warning", "Error"][number % 3],
            "@mt": "Order {Number} of {Who} took {Elapsed:0.0} ms",
            "@r": [f"{number / 7:.1f}"],
            "Number": number,
            "Who": ["Ann", "Zoë", "Łukasz"][number % 3],
            "Elapsed": number / 7,
            "Properties": {"Application": "shop", "Path": f"/orders/{number}"},
        }
    )


def flood(tab, server):
    """50,000 events come while the log is followed: each frame is short, and none of them is lost."""
    tab.go(f"{server.url}/#/store/flood?follow=1")
    tab.wait("document.querySelector('.toggle').dataset.state === 'on'")
    time.sleep(0.3)
    tab.run(MEASURE)

    def send():
        for begin in range(0, FLOOD, 1000):
            body = "".join(event(number) + "\n" for number in range(begin, begin + 1000))
            server.ask("/ingest", "POST", body, "application/x-ndjson")

    sender = threading.Thread(target=send)
    begun = time.monotonic()
    sender.start()
    sender.join()
    tab.wait(f"{TOLD} === '50,000 new events'", 60)
    tab.wait(f"{FIRST} === 'Order 49999 of Zoë took 7142.7 ms'")
    seconds = time.monotonic() - begun
    measured = tab.run("frames_")
    print(
        f"followed {FLOOD} events in {seconds:.1f} s: longest time between frames {measured['gap']:.0f} ms, "
        f"longest task {measured['task']:.0f} ms, {measured['frames']} frames",
        flush=True,
    )
    assert measured["gap"] < FRAME_MAX and measured["task"] < FRAME_MAX, measured
    assert measured["frames"] > seconds * 5, measured
    # Few lines are drawn; the others come as one scrolls, without a gap.
    assert tab.run(LINES) <= 300
    numbers = (
        "[...document.querySelectorAll('.events .message')].map((one) => Number(one.textContent.split(' ')[1]))"
    )
    for _ in range(3):
        tab.scroll_on(LINES)
    found = tab.run(numbers)
    assert found == list(range(FLOOD - 1, FLOOD - 1 - len(found), -1)), found[:5]
    # Those beyond the newest are counted, and told.
    told = tab.run("document.querySelector('.end').textContent")
    assert told == "45,000 older events left out. Stop following to see all.", told
    # While someone reads, the lines stay, and a button has what came.
    server.ask("/ingest", "POST", event(1) + "\n", "application/x-ndjson")
    tab.wait("!document.querySelector('.fresh-events').hidden")
    assert tab.run(numbers) == found
    tab.click("text=↑ 1 new event")
    tab.wait(f"{FIRST}.startsWith('Order 1 ')")
    # An open event stays open.
    tab.click(".events .line")
    tab.wait("document.querySelector('.detail')")
    server.ask("/ingest", "POST", event(2) + "\n" + event(3) + "\n", "application/x-ndjson")
    tab.wait("!document.querySelector('.fresh-events').hidden")
    assert tab.run("document.querySelector('.detail') !== null") and tab.run(FIRST).startswith("Order 1 ")
    # One that is too long to be read within a frame is shown from its beginning.
    tab.click("text=↑ 2 new events")
    tab.wait(f"{FIRST}.startsWith('Order 3 ')")
    long = json.dumps({"@t": "2026-03-06T00:00:00Z", "@m": "x" * 500_000})
    server.ask("/ingest", "POST", long + "\n", "application/x-ndjson")
    tab.wait(f"/^500,\\d+ characters: /.test({FIRST})")
    tab.click(".events .line")
    tab.wait("document.querySelector('.detail .key')")


def seen(tab):
    return tab.run("[...document.querySelectorAll('.events .message')].map((one) => one.textContent)")


def fill_in(tab, name, text):
    tab.run(f"document.querySelector(`.filter [name='{name}']`).select()")
    tab.type(text)
    tab.key("Enter")


def search(tab, server):
    """Words that are found in the rendered message and in any field, with a condition and a time."""
    tab.go(f"{server.url}/#/store/flood")
    tab.wait(f"{LINES} === 100")
    fill_in(tab, "search", 'zOË "ORDER 4711"')
    tab.wait(f"{LINES} > 0 && {LINES} < 100")
    found = seen(tab)
    assert found and all("Order 4711" in one and "Zoë" not in one or "Zoë" in one for one in found), found
    fill_in(tab, "search", "/orders/4711")
    tab.wait(f"{FIRST}?.startsWith('Order 4711')")
    fill_in(tab, "where", "Number < 4712")
    tab.wait(f"{LINES} === 1 && location.hash.includes('search=') && location.hash.includes('where=')")
    tab.send("Page.reload")
    tab.wait(f"{LINES} === 1 && document.querySelector('.filter [name=search]').value === '/orders/4711'")
    fill_in(tab, "search", "nowhere at all")
    tab.wait("document.querySelector('.end').textContent === 'No events.'")
    tab.click("text=Clear")
    tab.wait(f"{LINES} === 100")
    # What is followed is searched, too.
    tab.go(f"{server.url}/#/store/flood?follow=1&search=%22order+77+of%22+zo%C3%AB")
    tab.wait("document.querySelector('.toggle').dataset.state === 'on'")
    time.sleep(0.3)
    shown = tab.run(LINES)
    lines = [event(number) for number in (76, 77, 78, 79)]
    lines.append(json.dumps({"@t": "2026-03-05T08:00:00Z", "@mt": "Order {N} of {Who}", "N": 77, "Who": "ZOË"}))
    server.ask("/ingest", "POST", "\n".join(lines) + "\n", "application/x-ndjson")
    tab.wait(f"{FIRST} === 'Order 77 of ZOË'")
    assert tab.run(LINES) == shown + 1 + (77 % 3 == 1), (shown, seen(tab))


def fields(tab, server):
    """The fields of what is seen, and their values, which narrow it."""
    tab.go(f"{server.url}/#/store/flood?where=Number+between+100+and+399")
    tab.wait(f"{LINES} === 100")
    tab.click("text=Fields and their values")
    tab.wait("document.querySelector('.facets .quiet').textContent === 'All 300 events are counted.'")
    who = "[...document.querySelectorAll('.facets section')].find((one) => one.querySelector('h2').firstChild.data === 'Who')"
    tab.wait(f"[...{who}.querySelectorAll('b')].map((one) => one.textContent).join() === '100,100,100'")
    tab.run(f"[...{who}.querySelectorAll('button')].find((one) => one.textContent.startsWith('Zoë')).click()")
    tab.wait("document.querySelector('.facets .quiet').textContent === 'All 100 events are counted.'")
    assert "Who = 'Zoë'" in tab.run("document.querySelector('.filter [name=where]').value")


def times(tab, server):
    """Times in UTC or of the browser's zone, and fields for them."""
    tab.send("Emulation.setTimezoneOverride", timezoneId="America/New_York")
    tab.go(f"{server.url}/#/store/shop-log?until=2025-01-01T00:00:00Z")
    tab.wait(f"{LINES} === 100")
    shown = "document.querySelector('.events time').textContent"
    assert tab.run(shown) == "07:03:06.369"
    assert tab.run("document.querySelector('[aria-label=To]').value").startswith("2025-01-01T00:00")
    tab.click("text=Local")
    tab.wait(f"{shown} === '02:03:06.369'")
    assert tab.run("document.querySelector('[aria-label=To]').value").startswith("2024-12-31T19:00")
    tab.run("document.querySelector('[aria-label=From]').value = '2024-03-05T02:01:00'")
    tab.run("document.querySelector('[aria-label=To]').value = '2024-03-05T02:01:10'")
    tab.click("text=Apply")
    tab.wait("location.hash.includes('since=2024-03-05T07%3A01%3A00.000Z')")
    tab.wait(f"{shown}.startsWith('02:01:0')")
    # The choice lasts.
    tab.send("Page.reload")
    tab.wait(f"{shown}.startsWith('02:01:0')")
    tab.click("text=UTC")
    tab.wait(f"{shown}.startsWith('07:01:0')")
    # A time that was not changed stays as it is written.
    tab.go(f"{server.url}/#/store/shop-log?since=1s")
    tab.wait("document.querySelector('.end').textContent === 'No events.'")
    tab.click("text=Apply")
    assert "since=1s" in tab.run("location.hash")
    tab.send("Emulation.setTimezoneOverride", timezoneId="UTC")


def downloaded(tab, label, name):
    if os.path.exists(name):
        os.remove(name)
    tab.click(f"[aria-label='Download as {label}']")
    for _ in range(300):
        if os.path.exists(name):
            break
        time.sleep(0.03)
    with open(name, newline="") as file:
        return file.read()


def log_downloads(tab, server):
    """What the log shows, in three forms."""
    tab.go(f"{server.url}/#/store/flood?search=Ann&where=Number+between+100+and+32999")
    tab.wait(f"{LINES} === 100")
    lines = downloaded(tab, "NDJSON", "flood.ndjson").splitlines()
    assert len(lines) == 10966 and all(json.loads(line)["Who"] == "Ann" for line in lines if "Number" in line), (
        len(lines)
    )
    tab.go(f"{server.url}/#/store/flood?where=Number+between+10+and+12")
    tab.wait(f"{LINES} === 3")
    rows = json.loads(downloaded(tab, "JSON", "flood.json"))
    assert [row["Number"] for row in rows] == [12, 11, 10]
    rows = list(csv.DictReader(downloaded(tab, "CSV", "flood.csv").splitlines()))
    assert [row["Who"] for row in rows] == ["Ann", "Łukasz", "Zoë"]
    assert rows[0]["Properties"] == '{"Application":"shop","Path":"/orders/12"}'


def table_downloads(tab, server):
    """The rows of all pages, as they are filtered and ordered."""
    tab.go(f"{server.url}/#/table/tasks?id=lt.1000&order=id.desc")
    tab.wait("document.querySelector('output.rows').textContent.includes(' of 250')")
    rows = list(csv.DictReader(downloaded(tab, "CSV", "tasks.csv").splitlines()))
    assert [int(row["id"]) for row in rows] == list(range(250, 0, -1))
    assert len(json.loads(downloaded(tab, "JSON", "tasks.json"))) == 250


def saved(tab, server):
    """A view is saved, opened, renamed and deleted; others see it."""
    tab.go(f"{server.url}/#/store/flood?search=Ann&where=Number+%3C+30")
    tab.wait(f"{LINES} === 11")
    tab.click("text=Save this view…")
    tab.wait("document.querySelector('dialog[open] input')")
    tab.type("Ann’s <b>first</b>")
    tab.key("Enter")
    tab.wait(
        "document.querySelector('.saved a')?.textContent === 'Ann’s <b>first</b>' && !document.querySelector('dialog[open]')"
    )
    tab.click("text=Save this view…")
    tab.wait("document.querySelector('dialog[open] input')")
    tab.type("Ann’s <b>first</b>")
    tab.key("Enter")
    tab.wait("document.querySelector('dialog[open] .wrong').textContent === 'There is another one of this name.'")
    tab.key("Escape")
    other = tab.browser.tab()
    other.go(f"{server.url}/#/store/flood")
    other.wait(f"{LINES} === 100")
    other.click(".saved a")
    other.wait(f"{LINES} === 11 && document.querySelector('.saved a').getAttribute('aria-current') === 'page'")
    other.click(".saved li button")
    other.wait("document.querySelector('dialog[open] input')")
    other.run("document.querySelector('dialog[open] input').select()")
    other.type("Renamed")
    other.key("Enter")
    other.wait("document.querySelector('.saved a').textContent === 'Renamed'")
    other.click(".saved li button")
    other.click("text=Delete")
    other.wait("!document.querySelector('.saved a')")
    assert server.ask("/saved") == [] and not other.problems(), other.problems()


def alerts(tab, server):
    """An alert for what is seen, which fires, and is told in the log."""
    tab.go(f"{server.url}/#/store/flood?search=Ann")
    tab.wait(f"{LINES} === 100")
    tab.click("text=Alert…")
    fields = "document.querySelectorAll('dialog[open] input')"
    tab.wait(f"{fields}[1]?.value === 'Ann'")
    tab.run(f"{fields}[0].focus()")
    tab.type("Ann again")
    tab.run(f"{fields}[2].value = 'a > > 1'")
    tab.click("text=Save")
    tab.wait("document.querySelector('dialog[open] .wrong').textContent.length > 10")
    tab.run(f"{fields}[2].value = ''")
    tab.click("text=Save")
    tab.wait("document.querySelector('.alerts tbody td b')?.textContent === 'Ann again'")
    event_now = json.dumps({"@t": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "@m": "Ann is here"})
    server.ask("/ingest", "POST", event_now + "\n", "application/x-ndjson")
    tab.wait("document.querySelector('.alerts .firing')", 40)
    told = [line for line in server.logged() if "alert" in line]
    assert [(line["alert"], line["firing"], line["events"]) for line in told] == [("Ann again", True, 1)], told
    tab.click("[aria-label='Edit Ann again']")
    tab.click("text=Delete")
    tab.wait("document.querySelector('.alerts').hidden")


def watch(browser, server):
    """All of this, with a store of its own."""
    flooded = Server("flood", "--write", "--state", "state.db")
    try:
        for step in (flood, search, fields, saved, alerts):
            tab = browser.tab()
            step(tab, flooded)
            assert not tab.problems(), (step.__name__, tab.problems())
        tab = browser.tab()
        times(tab, server)
        log_downloads(tab, flooded)
        table_downloads(tab, server)
        assert not tab.problems(), tab.problems()
    finally:
        flooded.close()
