"""Pages of others in a browser that also reaches the server: they read nothing and change nothing."""

import base64
import http.server
import json
import os
import threading


class Hostile(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>evil</title><body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def state(server, has_store):
    """All that a page could have changed."""
    rows = server.ask("/tasks?order=id")
    return rows, server.ask("/events?where=evil&limit=10") if has_store else None


def attempts(tab, server_url):
    with open(os.path.join(os.path.dirname(__file__), "hostile.js")) as file:
        script = file.read().split("\n", 1)[1].rstrip().rstrip(";")
    found = tab.run(f"({script})({json.dumps(server_url)})")
    assert found["seen"] == "nothing", found["seen"]
    return found["told"]


def cross_site(browser, server, has_store):
    """Pages of another port of this machine, and of another name that leads here."""
    hostile = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    threading.Thread(target=hostile.serve_forever, daemon=True).start()
    before = state(server, has_store)
    known = sum(one["target"].startswith("/query") and one["method"] != "OPTIONS" for one in server.logged())
    try:
        for name in ("127.0.0.1", "evil.test"):
            tab = browser.tab()
            tab.go(f"http://{name}:{hostile.server_port}/")
            tab.wait("document.title === 'evil'")
            told = attempts(tab, server.url)
            assert len(told) > 50
            # What a page sees of an answer: nothing, or that there was one.
            for one in told:
                assert one[1] == "refused" or one[1:] == ["opaque", 0, ""], one
            assert state(server, has_store) == before, name
        # Nor do they let the server work for nobody.
        asked = [
            one for one in server.logged() if one["target"].startswith("/query") and one["method"] != "OPTIONS"
        ]
        assert all(one["status"] >= 400 for one in asked[known:]) and len(asked) > known + 10
    finally:
        hostile.shutdown()


def rebinding(browser, server, has_store):
    """A page of evil.test, at the server's port, whose name leads to the server a moment later."""
    before = state(server, has_store)
    url = f"http://evil.test:{server.url.rsplit(':', 1)[1]}"
    tab = browser.tab()
    tab.go(f"{url}/")
    tab.wait("document.body?.innerText.includes('421')")
    # The page as it comes from its own server.
    tab.send("Fetch.enable", patterns=[{"urlPattern": f"{url}/evil"}])
    tab.browser.events.clear()
    tab.begin("Page.navigate", url=f"{url}/evil")
    paused = tab.event("Fetch.requestPaused")
    body = base64.b64encode(b"<!doctype html><title>evil</title><body>").decode()
    headers = [{"name": "Content-Type", "value": "text/html"}]
    tab.send(
        "Fetch.fulfillRequest", requestId=paused["requestId"], responseCode=200, responseHeaders=headers, body=body
    )
    tab.wait("document.title === 'evil'")
    tab.send("Fetch.disable")
    told = attempts(tab, url)
    assert len(told) > 50
    # The server may end a connection without taking the body that it refuses.
    assert sum(one[2:3] == [421] for one in told) > 20, told
    for one in told:
        assert one[1] == "refused" or one[2] == 421, one
    assert state(server, has_store) == before
