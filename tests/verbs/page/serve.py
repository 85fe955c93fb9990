# SPDX-License-Identifier: BSD-2-Clause
"""Asks the server of the page as pages do, and as those do that should get nothing."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

root, build, folder = sys.argv[1:4]
sys.path.insert(0, os.path.join(root, "tests/support/page"))
from server import (DEADLINE, UHCACTL, Server, begin, described, expect, hold,  # noqa: E402
                    started, wait)


# ---- who gets nothing ----


def guarded(server):
    """Another token, host, origin, method or type."""
    here = "127.0.0.1:%d" % server.port
    for what, status, headers in (
            ("all is right", 200, {}),
            ("by its other name", 200, {"Host": "localhost:%d" % server.port}),
            ("its own page", 200, {"Origin": "http://" + here, "Sec-Fetch-Site": "same-origin"}),
            ("no token", 401, {"Authorization": None}),
            ("another token", 401, {"Authorization": "Bearer " + "0" * 64}),
            ("a part of the token", 401, {"Authorization": "Bearer " + server.token[:-1]}),
            ("an empty token", 401, {"Authorization": "Bearer "}),
            ("another scheme", 401, {"Authorization": "Basic " + server.token}),
            ("no host", 400, {"Host": None}), ("an empty host", 400, {"Host": ""}),
            ("another host", 421, {"Host": "evil.example:%d" % server.port}),
            ("a host that begins alike", 421, {"Host": "localhost.evil.example:%d" % server.port}),
            ("another port", 421, {"Host": "127.0.0.1:%d" % (server.port ^ 1)}),
            ("no port", 421, {"Host": "127.0.0.1"}),
            ("another origin", 403, {"Origin": "http://evil.example"}),
            ("the origin of a file", 403, {"Origin": "null"}),
            ("another port's origin", 403, {"Origin": "http://127.0.0.1:1"}),
            ("from another site", 403, {"Sec-Fetch-Site": "cross-site"})):
        expect(what, server.ask("/api/state", headers)[0], status)
        if status not in (400, 421):
            continue
        expect(what + ", for the page itself", server.ask("/", headers)[0], status)
    expect("the page needs no token", server.ask("/", {"Authorization": None})[0], 200)
    for path in ("/page.js", "/page.css"):
        expect(path, server.ask(path, {"Authorization": None})[0], 200)
    for path in ("/../etc/passwd", "/page.js/", "/etc/passwd", "/api/", "/api/../head"):
        expect(path, server.ask(path)[0], 404)
    body = json.dumps({"request": {"cmd": "version"}})
    for what, status, headers in (
            ("an act", 200, {}), ("an act without a token", 401, {"Authorization": None}),
            ("an act of another origin", 403, {"Origin": "http://evil.example"}),
            ("an act as a form sends it", 415, {"Content-Type": "text/plain"}),
            ("an act without a type", 415, {"Content-Type": None})):
        expect(what, server.ask("/api/act", headers, body)[0], status)
    expect("GET of an act", server.ask("/api/act")[0], 405)
    expect("POST of a state", server.ask("/api/state", body="{}")[0], 405)
    expect("POST of the page", server.ask("/", body="{}")[0], 405)
    expect("OPTIONS", server.ask("/api/act", method="OPTIONS")[0], 405)
    expect("too long a body", server.ask("/api/act", body=" " * 70000)[0], 413)
    reply = server.ask("/")[2]
    assert "script-src 'self'" in reply.headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in reply.headers
    expect("nosniff", reply.headers["X-Content-Type-Options"], "nosniff")


def other_user():
    """A Unix socket: its own user gets in, another does not, whatever the file's mode."""
    path = os.path.join(folder, "page")
    server = Server("--socket", path)
    expect("mode of the socket", os.stat(path).st_mode & 0o777, 0o600)
    ask = ("GET /api/state HTTP/1.0\r\nHost: localhost:1234\r\nAuthorization: Bearer %s\r\n\r\n" %
           server.token)

    def status():
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(DEADLINE)
        s.connect(path)
        s.sendall(ask.encode())
        return s.recv(100).split()[1].decode()

    expect("its own user", status(), "200")
    if os.getuid() == 0:
        os.chmod(path, 0o666)
        os.chmod(folder, 0o755)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.setgid(65534)
            os.setuid(65534)
            os.write(write, status().encode())
            os._exit(0)
        os.waitpid(child, 0)
        expect("another user", os.read(read, 10).decode(), "403")
    else:
        print("not root: no other user was tried")
    server.end()
    expect("the socket is gone", os.path.exists(path), False)


# ---- what is answered ----


def pair(number):
    """ibv_rc_pingpong from beginning to end."""
    words = ["ibv_rc_pingpong", "-d", "uhca0", "-g", "0", "-p", "18734", "-n", str(number)]
    first = begin(*words, stdout=subprocess.DEVNULL)
    wait("the client connects", lambda: subprocess.run(
        words + ["127.0.0.1"], capture_output=True).returncode == 0 or first.poll() is not None)
    expect("status of the server", first.wait(timeout=DEADLINE), 0)


def contract(server):
    """Each path of the description is asked, and each answer held against it."""
    api = json.loads(server.ask("/api/openapi.json")[1])
    asked = set()

    def ask(path, **how):
        asked.add((path, how.get("method", "get")))
        return described(server, api, path, **how)

    pair(5)
    wait("a newer model", lambda: ask("/api/head")["arrows_in_all"] > 20)
    head = ask("/api/head")
    expect("nothing is forgotten", head["forgotten"], False)
    generation = "&generation=%d" % head["generation"]
    rows = ask("/api/columns", query="?of=arrows&from=0" + generation)
    expect("rows of packets", len(rows), 48 * head["arrows_in_all"])
    expect("rows behind the end", ask("/api/columns", query="?of=records&from=%d%s" %
                                      (head["records_in_all"], generation)), b"")
    for of in ("arrows", "records", "messages"):
        got = ask("/api/details", query="?of=%s&i=0,1-2%s" % (of, generation))
        expect("details of " + of, len(got), 3)
    for query, status in (("of=arrows&i=0&generation=1", 409), ("of=arrows&i=0", 400),
                          ("of=arrows&i=99999" + generation, 400),
                          ("of=arrows&i=2-1" + generation, 400),
                          ("of=arrows&i=x" + generation, 400),
                          ("of=arrows&i=0-600" + generation, 400),
                          ("of=none&i=0" + generation, 400)):
        ask("/api/details", query="?" + query, status=status)
    ask("/api/columns", query="?of=messages&from=0" + generation, status=400)
    assert b"\n" in ask("/api/explanation")
    assert b"<svg" in ask("/api/ladder.svg", query="?qp=%d" % head["qps"][0]["number"])
    ask("/api/ladder.svg", query="?qp=x", status=400)
    assert ask("/api/capture.pcapng")[:4] == b"\x0a\x0d\x0d\x0a"
    ask("/api/openapi.json")
    rule = {"request": {"cmd": "fault", "action": "add", "text": "a: drop opcode=ack nth=1"},
            "scenario": "fault a: drop opcode=ack nth=1"}
    number = ask("/api/act", method="post", body=json.dumps(rule))["result"]["rule"]
    wait("the rule is told",
         lambda: [r["name"] for r in ask("/api/state")["fault"]["rules"]] == ["a"])
    assert b"\nfault a: drop opcode=ack nth=1\n" in ask("/api/scenario")
    acts(server, ask, number)
    # The stream has both events of now.
    stream = server.stream()
    asked.add(("/api/events", "get"))
    text = b""
    while text.count(b"\n\n") < 3:
        text += stream.recv(65536)
    assert b"Content-Type: text/event-stream" in text and b"event: trace" in text, text
    hold(api["components"]["schemas"]["State"],
         json.loads(re.search(rb"event: state\ndata: (.*)\n", text).group(1)), "an event", api)
    stream.close()
    left = {(path, method) for path in api["paths"] for method in api["paths"][path]
            if not path.startswith("/api/lab")} - asked     # those are lab.py's
    expect("paths that nobody asked", left, set())


def acts(server, ask, number):
    """What is refused, by whom."""
    for status, request, scenario in (
            (403, {"cmd": "capture", "action": "dump", "file": "/tmp/x"}, None),
            (403, {"cmd": "fault", "action": "load", "file": "/etc/passwd"}, None),
            (403, {"cmd": "nothing"}, None), (403, {}, None), (403, {"cmd": 5}, None),
            (400, {"cmd": "version"}, "run x: rm"), (400, {"cmd": "version"}, "# a\nrun x: rm"),
            (422, {"cmd": "fault", "action": "add", "text": "dropp"}, "fault b: dropp"),
            (422, {"cmd": "step", "action": "drop", "number": 77}, None)):
        body = {"request": request}
        if scenario is not None:
            body["scenario"] = scenario
        ask("/api/act", method="post", body=json.dumps(body), status=status)
    for body in ("", "[]", "{", '{"request": 1}', '{"request": {}, "scenario": 1}', "\0"):
        ask("/api/act", method="post", body=body, status=400)
    column = ask("/api/act", method="post", status=422, body=json.dumps(
        {"request": {"cmd": "fault", "action": "add", "text": "drop opcode=nonsense"}}))["column"]
    expect("column of the mistake", column, 13)
    text = ask("/api/scenario")
    assert b"dropp" not in text and b"rm" not in text, text
    ask("/api/act", method="post", body=json.dumps({"request": {
        "cmd": "fault", "action": "remove", "rule": number}, "scenario": "forget a"}))
    assert b"fault a" not in ask("/api/scenario")


# ---- pages that do not read, and many ----


def slow_pages(server):
    """16 pages that never read: the 17th is refused, others are answered, memory stays."""
    before = server.memory()
    streams = [server.stream() for _ in range(16)]
    wait("all look", lambda: server.ask("/api/events")[0] == 503 if len(streams) == 16 else False)
    for i in range(150):
        expect("an act", server.act({"cmd": "fault", "action": "add",
                                     "text": "drop nth=1 qp=1 length=%d" % i})[0], 200)
        expect("a state", server.ask("/api/state")[0], 200)
    grown = server.memory() - before
    assert grown < 20000, "16 pages that never read take %d KiB" % grown
    expect("the rules", server.act({"cmd": "fault", "action": "clear"})[0], 200)
    for stream in streams:
        stream.close()
    # Their places are free again.
    def again():
        s = server.stream()
        s.settimeout(DEADLINE)
        answer = s.recv(20)
        s.close()
        return b" 200 " in answer
    wait("a new page may look", again)


def half_requests(server):
    """Connections that say nothing, or half a request, hold nobody."""
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    for s in silent[10:]:
        s.sendall(b"POST /api/act HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 100\r\n\r\n{" %
                  server.port)
    expect("a state", server.ask("/api/state")[0], 200)
    for s in silent:
        s.close()


# ---- ends, and uhca-run ----


def beyond():
    """--listen warns, and names are still refused."""
    process = begin(UHCACTL, "serve", "--listen", "127.0.0.2", stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True)
    warning, address = process.stderr.readline(), process.stdout.readline()
    assert "warning: other machines reach 127.0.0.2" in warning, warning
    port = int(re.match(r"http://127\.0\.0\.2:(\d+)/", address).group(1))
    for host, status in (("127.0.0.2:%d" % port, 200), ("evil.example:%d" % port, 421)):
        connection = http.client.HTTPConnection("127.0.0.2", port, timeout=DEADLINE)
        connection.request("GET", "/", headers={"Host": host})
        expect("Host " + host, connection.getresponse().status, status)
    process.terminate()
    expect("status", process.wait(timeout=DEADLINE), 0)


def wrapped():
    """uhca-run --serve: prints the address first; ends with the command, or with the page."""
    environment = {k: v for k, v in os.environ.items() if k != "UHCA_DIR"}

    def start(*words):
        process = begin(root + "/scripts/uhca-run", "--private", "--serve", "--", *words,
                        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True)
        return process, process.stderr.readline()

    process, line = start("sh", "-c", "exit 7")
    assert "uhca-run: the page of this device: http://127.0.0.1:" in line, line
    expect("status of the command", process.wait(timeout=DEADLINE), 7)
    process, line = start("cat")
    server = Server.__new__(Server)
    server.token = line.strip().split("token=")[1]
    server.port = int(re.search(r":(\d+)/", line).group(1))
    stream = server.stream()
    assert b" 200 " in stream.recv(20)
    wait("the command is in the scenario", lambda: b"run program1: cat" in
         server.ask("/api/scenario")[1])
    process.stdin.close() # the command ends, and the page still looks
    assert "a browser still shows" in process.stderr.readline()
    expect("a state", server.ask("/api/state")[0], 200)
    stream.close()
    expect("status when the page is closed", process.wait(timeout=DEADLINE), 0)


def daemon_ends():
    """The daemon goes: the page says so, and the server stays."""
    holder = begin(
        root + "/scripts/uhca-run", "--private", "--", "sh", "-c", "echo $UHCA_DIR; read x",
        env={k: v for k, v in os.environ.items() if k != "UHCA_DIR"}, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True)
    server = Server("--dir", holder.stdout.readline().strip())
    expect("running", json.loads(server.ask("/api/state")[1])["running"], True)
    holder.communicate("\n")
    wait("the end is told", lambda: not json.loads(server.ask("/api/state")[1])["running"])
    expect("an act", server.act({"cmd": "version"})[0], 503)
    expect("what was seen", server.ask("/api/head")[0], 200)
    server.end(signal.SIGINT)
    gone = subprocess.run([UHCACTL, "--dir", folder, "serve"], capture_output=True, text=True)
    expect("status without a daemon", gone.returncode, 3)
    assert "no daemon runs there" in gone.stderr, gone.stderr


def main():
    server = Server()
    other = Server()
    assert server.token != other.token and len(server.token) == 64
    expect("another server's token", server.ask("/api/state",
           {"Authorization": "Bearer " + other.token})[0], 401)
    other.end()
    for part in (guarded, contract, slow_pages, half_requests):
        part(server)
        print("ok", part.__name__, flush=True)
    server.end()
    for part in (other_user, beyond, wrapped, daemon_ends):
        part()
        print("ok", part.__name__, flush=True)


try:
    main()
finally:
    for process in started:
        if process.poll() is None:
            process.kill()
