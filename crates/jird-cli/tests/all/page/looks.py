"""How the page looks: contrast, hidden characters, phones; and what axe-core finds."""

import json
import os

from clicks import HAS_QUERIES, Server, at, connect, wait_cell

SCHEMES = ("light", "dark")
# WCAG 2.2, 1.4.3; nothing of the page is large text.
CONTRAST_MIN = 4.5
# The least contrast of a text that is seen with what is below it, and the text.
CONTRAST = """(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const parts = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
        return [red, green, blue, alpha / 255];
    };
    const over = ([r, g, b, a], below) => [r, g, b].map((part, at) => part * a + below[at] * (1 - a));
    const below = (element) => {
        const layers = [];
        for (let one = element; one; one = one.parentElement) layers.push(parts(getComputedStyle(one).backgroundColor));
        return layers.reverse().reduce((colour, layer) => over(layer, colour), parts("Canvas"));
    };
    const light = (colour) => {
        const [r, g, b] = colour.map((part) => part / 255).map((part) =>
            part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    let least = [99, "nothing"];
    let seen = 0;
    for (const element of document.body.querySelectorAll("*")) {
        const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
        if (!texts.length || element.disabled || element.closest(":disabled, .said, .skip, [hidden], option")) continue;
        if (!element.getClientRects().length) continue;
        const ground = below(element);
        const style = getComputedStyle(element);
        const ink = over(parts(element.namespaceURI.endsWith("svg") ? style.fill : style.color), ground);
        const [high, low] = [light(ink), light(ground)].sort((a, b) => b - a);
        const ratio = (high + 0.05) / (low + 0.05);
        seen += 1;
        if (ratio < least[0]) least = [ratio, `${element.className} ${texts[0].data.slice(0, 40)}`];
    }
    return [...least, seen];
})()"""

# Each level, each kind of value, and characters that would not be seen or would turn others round.
EVENTS = [
    {
        "@t": f"2026-03-01T00:00:0{index}Z",
        "@l": level,
        "@m": f"{level} said so",
        "n": None,
        "ok": True,
        "ms": 1.5,
        "in": {},
    }
    for index, level in enumerate(["Verbose", "Debug", "Information", "Warning", "Error", "Fatal"])
]
HOSTILE = "live\u202elamron\u202c \u2066x\u2069 \u200b\ufeff\u0007 \U000e0041 end"
MARKED = "live\\u202elamron\\u202c \\u2066x\\u2069 \\u200b\\ufeff\\u0007 \\u{e0041} end"
HIDDEN = {
    "@t": "2026-03-01T00:01:00Z",
    "@l": "Er\u202eror",
    "@m": HOSTILE,
    "ke\u202ey": HOSTILE,
    "<b>x</b>\u0000": "<img src=x>",
}
LONG = {"@t": "2026-03-01T00:02:00Z", "@m": "word " * 400}


def serve():
    """A server of the odd: names, levels and values."""
    sources = ["odd.db"]
    name = "ta\u202eble <i>".replace('"', '""')
    connect(
        "odd.db",
        f'create table "{name}" (id integer primary key, "co\u202el" text, meta json);'
        f"insert into \"{name}\" values (1, '{HOSTILE}', null), (2, 'a' || char(10) || 'b', json_array("
        + ",".join(f"'{number} long words in JSON'" for number in range(40))
        + "));",
    )
    if HAS_QUERIES:
        sources.append("odd-log")
    server = Server(*sources, "--write", "--state", "odd-state.db")
    server.ask("/saved", "POST", json.dumps({"name": HOSTILE + "<b>", "place": "table/x"}))
    if HAS_QUERIES:
        alerts = [{"name": HOSTILE, "minutes": 10080}, {"name": "wrong", "minutes": 1, "condition": "a > > 1"}]
        server.ask("/alerts", "POST", json.dumps(alerts))
        for event in [*EVENTS, HIDDEN, LONG]:
            server.ask("/ingest", "POST", json.dumps(event) + "\n", "application/x-ndjson")
    return server


def contrast(tab, where):
    least, text, seen = tab.run(CONTRAST)
    assert seen > 5, where
    assert least >= CONTRAST_MIN, (where, least, text)
    return least


def all_views(server, odd):
    views = [f"{server.url}/#/table/tasks", f"{odd.url}/#/table/ta%E2%80%AEble%20%3Ci%3E"]
    if HAS_QUERIES:
        views += [f"{odd.url}/#/store/odd-log", f"{server.url}/#/query?sql=select+*+from+tasks+limit+20"]
        views += [
            f"{odd.url}/#/alerts",
            f"{server.url}/#/file/people",
            f"{odd.url}/#/store/odd-log?where=x+%3E+%3E+1",
        ]
    return views


def axe_source():
    """axe-core as npm has installed it; `None` without it."""
    folder = os.environ.get("JIRD_NODE") or os.path.expanduser("~/.cache/jird-tools/node")
    path = f"{folder}/node_modules/axe-core/axe.min.js"
    if not os.path.exists(path):
        print("skipped: axe (npm's axe-core)", flush=True)
        return None
    with open(path) as file:
        return file.read()


def axe(tab, source, where):
    """Everything that axe-core finds wrong."""
    tab.run(f"{source}; undefined")
    found = tab.run(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map("
        "({ id, nodes }) => [id, nodes.map((one) => one.html.slice(0, 200) + one.failureSummary)]))"
    )
    assert not found, (where, found)


def open_up(tab):
    """Shows what is shut: an event in full, a chosen cell, the fields."""
    tab.run("document.querySelectorAll('.events .line').forEach((line, index) => index < 3 && line.click())")
    tab.run("document.querySelector('td[data-name]')?.click()")
    tab.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    tab.run("new Promise((resolve) => setTimeout(resolve, 300))")


def contrasts(tab, server, odd):
    """Every text has a contrast of 4.5 : 1 or more in light and dark, and axe-core finds nothing."""
    source = axe_source()
    least = 99
    for view in all_views(server, odd):
        for scheme in SCHEMES:
            tab.scheme(scheme)
            tab.go(view)
            tab.wait(
                "document.querySelector('main section') && document.querySelector('.events .line, td, .wrong')"
            )
            open_up(tab)
            least = min(least, contrast(tab, (view, scheme)))
            if source:
                axe(tab, source, (view, scheme))
    if HAS_QUERIES:
        tab.go(f"{odd.url}/#/alerts")
        for scheme in SCHEMES:
            tab.scheme(scheme)
            tab.click("text=New alert…")
            tab.wait("document.querySelector('dialog[open]')")
            least = min(least, contrast(tab, ("dialog", scheme)))
            if source:
                axe(tab, source, ("dialog", scheme))
            tab.key("Escape")
            tab.wait("!document.querySelector('dialog[open]')")
    tab.scheme("light")
    print(f"least contrast: {least:.2f}", flush=True)


def hidden_characters(tab, odd):
    """Characters that are not seen, or turn others round, are shown by their names everywhere."""
    tab.go(f"{odd.url}/#/table/ta%E2%80%AEble%20%3Ci%3E")
    tab.wait(f"document.querySelector({json.dumps(at(1, 'id'))})")
    assert tab.run("document.querySelector('td .v.string').textContent") == MARKED
    assert tab.run("document.querySelector(`tbody tr:nth-child(2) td .v.string`).textContent") == "a\\nb"
    tab.run("document.querySelector('td .v.string').click()")
    tab.wait("!document.querySelector('.cellbar').hidden")
    pages = [tab.run("document.body.innerText + document.title")]
    if HAS_QUERIES:
        tab.go(f"{odd.url}/#/store/odd-log")
        tab.wait("document.querySelectorAll('.events .line').length === 8")
        tab.run("document.querySelectorAll('.events .line')[1].click()")
        assert (
            tab.run("document.querySelectorAll('.events .line')[1].querySelector('.message').textContent")
            == MARKED
        )
        assert tab.run("document.querySelectorAll('.events .level')[1].textContent") == "Er\\u202eror"
        pages.append(tab.run("document.body.innerText"))
        tab.go(f"{odd.url}/#/alerts")
        tab.wait("document.querySelectorAll('.alerts tbody tr').length === 2")
        pages.append(tab.run("document.body.innerText"))
    for page in pages:
        assert not [one for one in page if one in "\u202e\u202c\u2066\u2069\u200b\ufeff\u0007\U000e0041"], page
    everywhere = "[...document.querySelectorAll('*')].flatMap((one) => ['title', 'aria-label'].map((name) => one.getAttribute(name) ?? '')).join('')"
    assert "\u202e" not in tab.run(everywhere)
    assert not tab.run("document.querySelector('main img, main i:not(.legend i), main b > b')")


def phones(tab, odd):
    """A long message takes three lines, with a mark at its end; JSON below Delete has one, too."""
    tab.go(f"{odd.url}/#/table/ta%E2%80%AEble%20%3Ci%3E")
    tab.wait(f"document.querySelector({json.dumps(at(1, 'id'))})")
    tab.resize(900)
    tab.wait("document.querySelector('.scroll.cut')")
    assert tab.run("getComputedStyle(document.querySelector('td.acts'), '::before').content") == '"…"'
    tab.resize(360)
    if HAS_QUERIES:
        tab.go(f"{odd.url}/#/store/odd-log")
        tab.wait("document.querySelectorAll('.events .line').length === 8")
        height = "document.querySelector('.events .message').getBoundingClientRect().height"
        line = tab.run("parseFloat(getComputedStyle(document.querySelector('.events .message')).lineHeight)")
        shut = tab.run(height)
        assert 2.5 * line < shut < 3.5 * line, (shut, line)
        tab.run("document.querySelector('.events .line').click()")
        assert tab.run(height) > 10 * line
    tab.resize(1200)
