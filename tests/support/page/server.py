# SPDX-License-Identifier: BSD-2-Clause
"""The server of the page as its tests ask it: a process, requests with or without what they need,
answers held against openapi.json. Waiting is for conditions, with a deadline.
"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time

UHCACTL = os.path.join(os.environ["UHCA_BUILDDIR"], "uhcactl")
DEADLINE = 180


started = []


def begin(*words, **how):
    """Starts a program, which ends with this one at the latest."""
    started.append(subprocess.Popen(words, **how))
    return started[-1]


def expect(what, got, wanted):
    """Fails when something is not what it should be."""
    if got != wanted:
        raise AssertionError("%s: %r, not %r" % (what, got, wanted))


def no_problems(browser, where):
    """Nothing on the console, nothing refused by the policy, nothing asked for elsewhere.

    A model that has become old while it was fetched (409) is fetched again.
    """
    expect("problems " + where, [p for p in browser.problems if "409 (Conflict)" not in p], [])


def wait(what, holds):
    """Waits until it holds, and returns that."""
    end = time.monotonic() + DEADLINE
    while True:
        value = holds()
        if value:
            return value
        assert time.monotonic() < end, "not within %d s: %s" % (DEADLINE, what)
        time.sleep(0.02)


def working_in(folder):
    """Processes whose working directory is in this folder."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            at = os.readlink("/proc/%s/cwd" % pid)
        except OSError:
            continue
        if at == folder or at.startswith(folder + "/"):
            out.append(pid)
    return out


class Server:
    """uhcactl serve WORDS..., or another command that prints an address, and requests to it."""

    def __init__(self, *words, command=None, **how):
        self.process = begin(*(command or (UHCACTL, "serve", *words)), stdout=subprocess.PIPE,
                             text=True, **how)
        self.line = self.process.stdout.readline().strip()
        self.token = self.line.split("token=")[1]
        found = re.match(r"http://127\.0\.0\.1:(\d+)/", self.line)
        self.port = int(found.group(1)) if found else 0

    def ask(self, path, headers=None, body=None, method=None):
        """(status, body, headers); headers of None are left out."""
        wanted = {"Host": "127.0.0.1:%d" % self.port, "Authorization": "Bearer " + self.token}
        if body is not None:
            wanted["Content-Type"] = "application/json"
        wanted.update(headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        connection.putrequest(method or ("GET" if body is None else "POST"), path, skip_host=True,
                              skip_accept_encoding=True)
        for name, value in wanted.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body.encode() if body is not None else None)
        reply = connection.getresponse()
        return reply.status, reply.read(), reply

    def act(self, request, scenario=None):
        """The status and the answer of an act."""
        body = {"request": request}
        if scenario is not None:
            body["scenario"] = scenario
        status, text, _ = self.ask("/api/act", body=json.dumps(body))
        return status, json.loads(text)

    def stream(self):
        """A connection that has asked for events, and reads nothing of its own."""
        s = socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)
        s.sendall(("GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                   "Authorization: Bearer %s\r\n\r\n" % (self.port, self.token)).encode())
        return s

    def memory(self):
        """KiB of it that are in memory."""
        with open("/proc/%d/status" % self.process.pid, encoding="utf-8") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))

    def end(self, number=signal.SIGTERM):
        """A signal ends it with status 0."""
        self.process.send_signal(number)
        expect("status of uhcactl serve", self.process.wait(timeout=DEADLINE), 0)


def hold(schema, value, where, api):
    """Holds a value against a schema of the description."""
    if "$ref" in schema:
        schema = api["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    if value is None:
        assert schema.get("nullable"), where + " is null"
        return
    kinds = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict,
             "number": (int, float)}
    assert isinstance(value, kinds[schema["type"]]), "%s is %r" % (where, value)
    assert schema["type"] != "integer" or not isinstance(value, bool), where
    if "enum" in schema:
        assert value in schema["enum"], "%s is %r" % (where, value)
    if schema["type"] == "array" and "items" in schema:
        for i, item in enumerate(value):
            hold(schema["items"], item, "%s[%d]" % (where, i), api)
    if "properties" not in schema:
        return
    for name in schema["required"]:
        assert name in value, "%s has no %s" % (where, name)
    for name, item in value.items():
        assert name in schema["properties"] or name in ("looked", "seen", "words"), \
            "%s has %s, which is not described" % (where, name)
        if name in schema["properties"]:
            hold(schema["properties"][name], item, where + "." + name, api)


def described(server, api, path, status=200, method="get", query="", body=None):
    """Asks, and holds status, type and answer against the description."""
    how = api["paths"][path][method]
    got, text, reply = server.ask(path + query, body=body)
    expect(path + query, got, status)
    answer = how["responses"][str(status)]
    if "$ref" in answer:
        answer = api["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
    kind = reply.headers["Content-Type"].split(";")[0]
    assert kind in answer["content"], "%s is %s" % (path, kind)
    if kind != "application/json":
        return text
    value = json.loads(text)
    hold(answer["content"][kind]["schema"], value, path, api)
    return value
