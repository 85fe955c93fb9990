# SPDX-License-Identifier: BSD-2-Clause
"""Drives Debian's firefox-esr by WebDriver BiDi over a WebSocket (RFC 6455), with nothing but
Python: the same calls as browser.py has for Chromium.
"""
import base64
import json
import os
import re
import socket
import struct
import subprocess
import time

from browser import DEADLINE, Page

# WebDriver, 17.4.2: keys that are no characters.
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "End": "\ue010", "Home": "\ue011",
        "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}


class WebSocket:
    """A client's end; all messages are text."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
        self.stream = self.socket.makefile("rb")
        self.socket.sendall(("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
                             "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                             "Sec-WebSocket-Key: %s\r\n\r\n" % (
                                 path, port, base64.b64encode(os.urandom(16)).decode())).encode())
        status = self.stream.readline()
        if b" 101 " not in status:
            raise RuntimeError("firefox answers %r" % status)
        while self.stream.readline().strip():
            pass

    def send(self, text):
        """One frame, with a mask, as a client must."""
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        head = (struct.pack("!BB", 0x81, 0x80 | size) if size < 126 else
                struct.pack("!BBH", 0x81, 0x80 | 126, size) if size < 65536 else
                struct.pack("!BBQ", 0x81, 0x80 | 127, size))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def read(self):
        """The next message, of one frame or more."""
        out = b""
        while True:
            first, size = struct.unpack("!BB", self.stream.read(2))
            if size == 126:
                size, = struct.unpack("!H", self.stream.read(2))
            elif size == 127:
                size, = struct.unpack("!Q", self.stream.read(8))
            data = self.stream.read(size)
            if first & 0xf == 8:
                raise RuntimeError("firefox has ended; see firefox.log")
            if first & 0xf in (0, 1):
                out += data
            if first & 0x80 and first & 0xf in (0, 1):
                return out.decode()


def value_of(remote):
    """A remote value of WebDriver BiDi as Python has it."""
    kind, value = remote["type"], remote.get("value")
    if kind == "array":
        return [value_of(item) for item in value]
    if kind == "object":
        return {name: value_of(item) for name, item in value}
    return value


class Firefox(Page):
    """Firefox with one tab."""

    def __init__(self, folder, width=1440, height=900):
        profile, path = os.path.join(folder, "firefox"), os.path.join(folder, "firefox.log")
        os.makedirs(profile, exist_ok=True)
        self.log = open(path, "wb")
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--profile", profile,
             "--remote-debugging-port=0", "about:blank"], stdout=self.log, stderr=self.log,
            env=dict(os.environ, HOME=folder))
        self.number, self.problems = 0, []
        self.socket = WebSocket(self.port(path), "/session")
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self.tab = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.size(width, height)

    def port(self, path):
        """Its port, which it writes into its log."""
        end = time.monotonic() + DEADLINE
        while True:
            with open(path, encoding="utf-8", errors="replace") as file:
                found = re.search(r"BiDi listening on ws://127\.0\.0\.1:(\d+)\s", file.read())
            if found:
                return int(found.group(1))
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("firefox does not listen; see firefox.log")
            time.sleep(0.05)

    def call(self, method, **params):
        """Calls the browser and waits for its answer."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.read())
            if answer.get("id") == self.number:
                if answer["type"] == "error":
                    raise RuntimeError(method + ": " + answer["message"])
                return answer["result"]
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.problems.append("log: " + str(answer["params"]["text"])[:500])

    def goto(self, url):
        self.call("browsingContext.navigate", context=self.tab, url=url, wait="none")

    def js(self, expression):
        """What the page's JavaScript makes of it; promises are awaited."""
        answer = self.call("script.evaluate", expression=expression, awaitPromise=True,
                           target={"context": self.tab})
        if answer["type"] == "exception":
            raise RuntimeError(expression + ": " + answer["exceptionDetails"]["text"])
        return value_of(answer["result"])

    def size(self, width, height, mobile=False):
        """The window's size; Firefox has no telephones."""
        del mobile
        self.call("browsingContext.setViewport", context=self.tab,
                  viewport={"width": width, "height": height}, devicePixelRatio=1)

    def press(self, x, y):
        self.call("input.performActions", context=self.tab, actions=[
            {"type": "pointer", "id": "mouse", "actions": [
                {"type": "pointerMove", "x": round(x), "y": round(y)},
                {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}])

    def key(self, name):
        """Presses a key."""
        value = KEYS.get(name, name)
        self.call("input.performActions", context=self.tab, actions=[
            {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": value},
                                                      {"type": "keyUp", "value": value}]}])

    def write(self, text):
        """Types a text into what has the focus."""
        self.js("document.execCommand('insertText', false, %s)" % json.dumps(text))

    def shot(self, path):
        """A picture of what is seen."""
        data = self.call("browsingContext.captureScreenshot", context=self.tab)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        """Ends the browser."""
        try:
            self.call("browser.close")
        except (RuntimeError, OSError, struct.error):
            pass
        try:
            self.process.wait(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()
