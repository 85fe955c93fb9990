# SPDX-License-Identifier: BSD-2-Clause
"""Drives Debian's chromium by its DevTools protocol over a pipe, with nothing but Python.

All that a page writes to its console, and each request that leaves this machine, is kept in
`problems`. Waiting is for conditions, with a deadline.
"""
import base64
import json
import os
import subprocess
import time

DEADLINE = 180  # seconds for anything that is waited for

KEYS = {
    "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, "ArrowLeft": 37, "Enter": 13, "Escape": 27,
    "Home": 36, "End": 35, "PageDown": 34, "PageUp": 33, "Tab": 9,
}


class Page:
    """What tests do with a page by js(), goto(), press() of its browser."""

    def open(self, url, ready='document.documentElement.dataset.ready === "yes"'):
        """Opens a page and waits until it is ready."""
        self.leave()
        self.goto(url)
        self.wait(ready, "the page is ready")

    def leave(self):
        """To an empty page."""
        self.goto("about:blank")
        self.wait("location.href === 'about:blank'", "the page is left")

    def wait(self, expression, what, seconds=DEADLINE):
        """Waits until it is true, and returns it."""
        end = time.monotonic() + seconds
        while True:
            value = self.js("document.documentElement && document.body ? %s : null" % expression)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError("not within %d s: %s (%s); the page: %s" % (
                    seconds, what, expression, self.js("document.body.innerText")[:1500]))
            time.sleep(0.05)

    def place(self, selector):
        """The middle of an element, scrolled into view, once it is there and keeps its place."""
        before, now = None, self.middle(selector)
        end = time.monotonic() + DEADLINE
        while now != before:
            assert time.monotonic() < end, "%s moves" % selector
            time.sleep(0.05)
            before, now = now, self.middle(selector)
        return now

    def middle(self, selector):
        """The middle of an element, scrolled into view: a page that is drawn anew may move it."""
        text = json.dumps(selector)
        self.wait("!!document.querySelector(%s)" % text, selector + " is there")
        return self.js(
            "(() => { const e = document.querySelector(%s);"
            " e.scrollIntoView({block: 'center', inline: 'center'});"
            " const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()" % text)

    def click(self, selector):
        """Presses and releases the mouse on it."""
        self.press(*self.place(selector))


class Browser(Page):
    """Chromium with one tab."""

    def __init__(self, folder, width=1440, height=900):
        to_browser, from_browser = os.pipe(), os.pipe()

        def connect():
            read, write = os.dup(to_browser[0]), os.dup(from_browser[1])
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.log = open(os.path.join(folder, "chromium.log"), "wb")
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-extensions", "--no-first-run", "--remote-debugging-pipe",
             "--user-data-dir=" + os.path.join(folder, "profile"), "about:blank"],
            stdout=self.log, stderr=self.log, preexec_fn=connect,
            pass_fds=(3, 4, to_browser[0], from_browser[1]))
        os.close(to_browser[0])
        os.close(from_browser[1])
        self.out, self.into = os.fdopen(to_browser[1], "wb"), os.fdopen(from_browser[0], "rb")
        self.number, self.problems, self.allowed = 0, [], []
        targets = self.call("Target.getTargets", session=None)["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", session=None, targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Runtime", "Page", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)

    def read(self):
        """The next message of the browser."""
        data = bytearray()
        while True:
            byte = self.into.read(1)
            if not byte:
                raise RuntimeError("chromium has ended; see chromium.log")
            if byte == b"\0":
                return json.loads(data.decode())
            data += byte

    def heard(self, message):
        """Keeps what a page should not do."""
        params = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"])[:500])
        elif message.get("method") == "Runtime.consoleAPICalled":
            self.problems.append("console: " + json.dumps(params["args"])[:500])
        elif message.get("method") == "Log.entryAdded":
            self.problems.append("log: %s %s" % (params["entry"]["text"],
                                                params["entry"].get("url", "")))
        elif message.get("method") == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("http://127.0.0.1:", "http://localhost:", "file:", "data:",
                                   "blob:", "about:")):
                self.problems.append("a request to " + url)

    def call(self, method, session="tab", **params):
        """Calls the browser and waits for its answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        self.out.flush()
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.heard(answer)

    def size(self, width, height, mobile=False):
        """The window's size; mobile: as a telephone has it."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=mobile)

    def media(self, **features):
        """prefers_color_scheme="dark" and the like."""
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def js(self, expression):
        """What the page's JavaScript makes of it; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(expression + ": " + json.dumps(answer["exceptionDetails"])[:800])
        return answer["result"].get("value")

    def goto(self, url):
        self.call("Page.navigate", url=url)

    def press(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, name):
        """Presses a key."""
        code = KEYS.get(name, ord(name.upper()) if len(name) == 1 else 0)
        params = {"key": name, "windowsVirtualKeyCode": code}
        if len(name) == 1:
            params["text"] = name
        if name == "Enter":
            params["text"] = "\r"
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, **params)

    def write(self, text):
        """Types a text into what has the focus."""
        self.call("Input.insertText", text=text)

    def shot(self, path, whole=False):
        """A picture of what is seen, or of the whole page."""
        data = self.call("Page.captureScreenshot", format="png",
                         captureBeyondViewport=whole)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        """Ends the browser."""
        try:
            self.call("Browser.close", session=None)
        except (RuntimeError, BrokenPipeError):
            pass
        self.process.wait(timeout=DEADLINE)
        self.log.close()
