"""Headless Chromium, driven by the DevTools protocol through a pair of pipes: nothing but Python is needed."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

KEYS = {
    "Enter": (13, "\r"),
    "Escape": (27, None),
    "Tab": (9, None),
    "Backspace": (8, None),
    "Home": (36, None),
    "End": (35, None),
    "ArrowLeft": (37, None),
    "ArrowUp": (38, None),
    "ArrowRight": (39, None),
    "ArrowDown": (40, None),
    "F2": (113, None),
    " ": (32, " "),
}
SHIFT, CONTROL = 8, 2
# Other pages than ours do not say what they show; ours waits for its token in a dialog.
SHOWN = """(() => {
    const { shows } = document.getElementById('main')?.dataset ?? {};
    const isBusy = document.querySelector('#main[aria-busy=true]') && !document.querySelector('dialog[open]');
    return shows === undefined || (shows === location.hash && !isBusy);
})()"""


class Browser:
    def __init__(self, *arguments):
        self.folder = tempfile.mkdtemp()
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()
        command = [
            "chromium",
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-default-apps",
            "--disable-extensions",
            "--no-default-browser-check",
            "--hide-scrollbars",
            # Chromium would keep pages from this machine by itself, which other browsers do not.
            "--disable-features=LocalNetworkAccessChecks,Translate,OptimizationHints,MediaRouter",
            "--lang=en-US",
            f"--user-data-dir={self.folder}",
            *arguments,
            "about:blank",
        ]

        def pipes():
            # Chromium reads from descriptor 3 and writes to 4.
            os.dup2(to_browser, 13), os.dup2(from_browser, 14)
            os.dup2(13, 3), os.dup2(14, 4)
            os.close(13), os.close(14)

        self.process = subprocess.Popen(
            command,
            preexec_fn=pipes,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TZ": "UTC"},
        )
        os.close(to_browser), os.close(from_browser)
        self.rest = b""
        self.number = 0
        self.events = []

    def close(self):
        try:
            self.send("Browser.close")
            self.process.wait(5)
        except (OSError, AssertionError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.out), os.close(self.into)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self, seconds):
        """The next message, or `None` if there is none in time."""
        until = time.monotonic() + seconds
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.into], [], [], max(0, until - time.monotonic()))
            if not ready:
                return None
            chunk = os.read(self.into, 1 << 20)
            assert chunk, "the browser has ended"
            self.rest += chunk
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def begin(self, method, session=None, **parameters):
        """Sends a command, and does not wait for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")

    def send(self, method, session=None, **parameters):
        self.begin(method, session, **parameters)
        while True:
            answer = self.receive(15)
            assert answer is not None, f"no answer to {method}"
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def tab(self, width=1200, height=800):
        """A tab with storage and cookies of its own."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        self.send(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=os.getcwd(), browserContextId=context
        )
        target = self.send("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Tab(self, session, width, height)


class Tab:
    def __init__(self, browser, session, width, height):
        self.browser, self.session = browser, session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def begin(self, method, **parameters):
        self.browser.begin(method, self.session, **parameters)

    def event(self, method):
        """What the next event of this kind says."""
        until = time.monotonic() + 10
        while time.monotonic() < until:
            for event in self.browser.events:
                if event["method"] == method and event.get("sessionId") == self.session:
                    return event["params"]
            message = self.browser.receive(1)
            if message and "method" in message:
                self.browser.events.append(message)
        raise AssertionError(f"{method} did not come")

    def resize(self, width, height=800):
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def scheme(self, name):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def go(self, url):
        return self.send("Page.navigate", url=url).get("errorText")

    def run(self, script):
        """The value of an expression of JavaScript, after its promise."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, (script, answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, script, seconds=20):
        """Waits until the page shows what its address asks for and the expression is true, and returns its value.

        Without the first, what is left of the view before could be taken for the one that was asked for.
        """
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                value = self.run(SHOWN) and self.run(script)
            except AssertionError:  # The page is being left.
                value = None
            if value or value == {}:  # An element.
                return value
            time.sleep(0.03)
        raise AssertionError(
            f"it did not come: {script}; the page has: {self.run('document.body.innerText')[:600]}"
        )

    def scroll_on(self, lines):
        """Scrolls down until the page has more lines, and a bit up again, so that no others come.

        As a person does, it scrolls more than once: lines that come into sight may be higher than the room that was
        kept for them.
        """
        before = self.run(lines)
        self.wait(f"(document.querySelector('.foot').scrollIntoView(), {lines} > {before})")
        self.run("document.querySelectorAll('.events .line')[30].scrollIntoView()")
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))")

    def key(self, key, modifiers=0):
        code, text = KEYS[key]
        event = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        if text and not modifiers & CONTROL:
            event["text"] = text
        self.send("Input.dispatchKeyEvent", type="keyDown", **event)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def box(self, selector):
        """The middle and the size of what the selector finds, or of what has this text if it begins with `text=`."""
        found = self.wait(f"""(() => {{
            const find = {json.dumps(selector)};
            const element = find.startsWith("text=")
                ? [...document.querySelectorAll("button, a, summary")].find((one) =>
                    one.textContent.trim() === find.slice(5) && one.getClientRects().length)
                : document.querySelector(find);
            if (!element) return null;
            element.scrollIntoView({{ block: "nearest", inline: "nearest" }});
            const box = element.getBoundingClientRect();
            return box.width ? [box.x, box.y, box.width, box.height] : null;
        }})()""")
        return found[0] + found[2] / 2, found[1] + found[3] / 2, found[2], found[3]

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector, times=1):
        x, y, _, _ = self.box(selector)
        self.mouse("mouseMoved", x, y)
        for count in range(1, times + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=count)
            self.mouse("mouseReleased", x, y, button="left", clickCount=count)

    def drag(self, selector, begin, end):
        """Drags over an element, from one part of its width to another."""
        x, y, width, _ = self.box(selector)
        left = x - width / 2
        self.mouse("mousePressed", left + width * begin, y, button="left", clickCount=1)
        for part in (0.5, 1):
            self.mouse("mouseMoved", left + width * (begin + (end - begin) * part), y, button="left", buttons=1)
        self.mouse("mouseReleased", left + width * end, y, button="left", clickCount=1)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def problems(self):
        """What the page or the browser complained about, except for answers that are errors."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            if event["method"] == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"])
            elif event["method"] == "Log.entryAdded":
                entry = event["params"]["entry"]
                if entry["level"] == "error" and "the server responded with a status of" not in entry["text"]:
                    found.append(entry["text"])
        return found
