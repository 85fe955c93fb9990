# SPDX-License-Identifier: BSD-2-Clause
"""Does a lab in the page, by requests and as a person does in a browser. Called by lab.sh."""
import json
import os
import shutil
import sys
import time

root, build, folder = sys.argv[1:4]
parts = sys.argv[4:] or ["requests", "limits", "browser", "firefox"]
sys.path.insert(0, os.path.join(root, "tests/support/page"))
from access import accessible  # noqa: E402
from browser import Browser  # noqa: E402
from firefox import Firefox  # noqa: E402
from server import Server, described, expect, no_problems, started, wait, \
    working_in  # noqa: E402

LAB = "rc-write"
TEXTS = os.path.join(root, "docs/tutorials/labs", LAB)


class LabServer(Server):
    """scripts/lab --page of LAB, in a folder of its own."""

    def __init__(self, name, *words, **environment):
        self.work = os.path.join(folder, name)
        kept = {k: v for k, v in os.environ.items() if k != "UHCA_DIR"}
        super().__init__(command=(root + "/scripts/lab", "--page", LAB, *words),
                         env=dict(kept, UHCA_LAB_DIR=self.work, UHCA_BUILDDIR=build,
                                  **environment))

    def lab(self):
        return json.loads(self.ask("/api/lab")[1])

    def send(self, program, check=True):
        """The status of a program that is handed over."""
        return self.ask("/api/lab/program", body=json.dumps(
            {"program": program, "check": check}))[0]

    def checked(self, program):
        """What the check of this program says, and its status."""
        expect("a program", self.send(program), 200)
        wait("the check's end", lambda: not self.lab()["check"]["running"])
        lab = self.lab()
        return lab["check"]["status"], lab["said"]


def solution():
    with open(TEXTS + "/solution.c", encoding="utf-8") as file:
        return file.read()


# ---- requests ----


def requests():
    """Each request of the description; those that get nothing."""
    server = LabServer("requests")
    api, asked = json.loads(server.ask("/api/openapi.json")[1]), set()

    def ask(path, **how):
        asked.add((path, how.get("method", "get")))
        return described(server, api, path, **how)

    lab = ask("/api/lab")
    expect("the name", lab["name"], LAB)
    assert lab["text"].count("\n## Questions") == 1 and "Until then" not in lab["program"]
    expect("no check yet", lab["check"], {"number": 0, "running": False, "status": None})
    assert b"<svg" in ask("/api/lab/picture.svg")
    expect("no packets yet", ask("/api/head")["arrows_in_all"], 0)
    for body in ("", "[]", '{"program": "x"}', '{"program": 1, "check": true}',
                 '{"program": "\\u0000", "check": true}'):
        ask("/api/lab/program", method="post", body=body, status=400)
    ask("/api/lab/program", method="post", status=413,
        body=json.dumps({"program": "x" * 50000, "check": False}))
    expect("a far too long body", server.send("x" * 70000), 413)
    here = {"Host": "127.0.0.1:%d" % server.port}
    body = json.dumps({"program": "x", "check": True})
    for status, headers in ((401, {"Authorization": None}),
                            (403, {"Origin": "http://evil.example"}),
                            (421, {"Host": "evil.example"}), (415, {"Content-Type": "text/plain"})):
        expect("a program with %s" % headers, server.ask("/api/lab/program", {**here, **headers},
                                                         body)[0], status)
    for path in ("/api/lab/../lab.c", "/api/lab/solution.c", "/api/lab/exercise.c"):
        expect(path, server.ask(path)[0], 404)
    expect("nothing has changed", server.lab()["program"], lab["program"])
    ask("/api/lab/program", method="post",
        body=json.dumps({"program": "int main(void) { return 0 }\n", "check": False}))
    expect("a check", server.send("int main(void) { return 0 }\n"), 200)
    if server.lab()["check"]["running"]:
        expect("another meanwhile", server.send("int main(void) { return 0; }\n"), 409)
    wait("the check's end", lambda: not server.lab()["check"]["running"])
    lab = ask("/api/lab")
    expect("its status", lab["check"]["status"], 1)
    assert "exercise.c:1:" in lab["said"] and "does not compile" in lab["said"], lab["said"]
    server.end()
    paths = {(path, method) for path in api["paths"] for method in api["paths"][path]
             if path.startswith("/api/lab")}
    expect("paths that nobody asked", paths - asked, set())
    looker = LabServer("requests", "--read-only")
    expect("a program of one who may only look", looker.send("x"), 403)
    expect("the program is that of before", looker.lab()["program"],
           "int main(void) { return 0 }\n")
    looker.end()


# ---- limits ----


def limits():
    """Links lead nowhere; a program that does not end, writes or says without end is ended."""
    server = LabServer("limits")
    own, secret = server.work + "/exercise.c", folder + "/secret"
    with open(secret, "w", encoding="utf-8") as file:
        file.write("secret")
    for name in ("exercise.c", "handed-out.c"):
        os.remove(os.path.join(server.work, name))
        os.symlink(secret, os.path.join(server.work, name))
    lab = server.lab()
    expect("the program behind a link", lab["program"], None)
    expect("the other behind a link", lab["handed_out"], None)
    expect("a program", server.send("int main(void) { return 7; }\n", False), 200)
    with open(secret, encoding="utf-8") as file:
        expect("what the link named", file.read(), "secret")
    expect("no link any more", os.path.islink(own), False)
    os.remove(own)
    os.mkfifo(own)
    expect("a FIFO", server.lab()["program"], None)
    os.remove(own)
    with open(own, "w", encoding="utf-8") as file:
        file.write("x" * 50000)
    expect("a program that is too long", server.lab()["program"], None)
    status, said = server.checked("".join("int y%d = x%d; /* \xe4 */\n" % (i, i)
                                         for i in range(1500)))
    expect("status of a program that is none", status, 1)
    assert 1000 < len(said) <= 17000, len(said)
    # A check that runs is ended with its page.
    expect("a program", server.send("#include <unistd.h>\nint main(void)\n{\n\tpause();\n}\n"),
           200)
    wait("the program runs", lambda: len(working_in(server.work)) > 1) # one is the server
    server.end()
    wait("it is ended", lambda: not working_in(server.work))
    server = LabServer("limits", UHCA_LAB_SECONDS="100", UHCA_LAB_PAGE_SECONDS="3")
    status, said = server.checked(
        "#include <signal.h>\n#include <unistd.h>\nint main(void)\n{\n"
        "\tsignal(SIGALRM, SIG_IGN);\n\tfor (;;)\n\t\tpause();\n}\n")
    assert status != 0 and "the check did not end in 3 s" in said, said
    server.end()


# ---- the browser ----


def replace(browser, old, new):
    """Chooses a part of the program, which stands once in it, and types over it."""
    chosen = browser.js(
        "(() => { const a = document.getElementById('program'), old = %s;"
        " const at = a.value.indexOf(old); if (at < 0 || a.value.indexOf(old, at + 1) >= 0)"
        " return false; a.focus(); a.setSelectionRange(at, at + old.length); return true; })()" %
        json.dumps(old))
    assert chosen, "the program has not once: " + old
    browser.write(new)


def result(browser):
    return browser.js("document.getElementById('result').innerText")


def check(browser, number, status):
    """Presses Check and waits for the end of this check."""
    browser.click("#check")
    browser.wait("document.getElementById('lab').dataset.checked === '%d' &&"
                 " document.getElementById('lab').dataset.status === '%d'" % (number, status),
                 "check %d ends with %d" % (number, status))


WRITE = ("\twr.opcode = IBV_WR_RDMA_WRITE;\n\twr.send_flags = IBV_SEND_SIGNALED;\n"
         "\twr.wr.rdma.remote_addr = (uintptr_t)there->memory;\n"
         "\twr.wr.rdma.rkey = there->mr->rkey;\n\tlab_post(here, &wr);\n\treturn true;")
NOTICE = ("wr.send_flags = IBV_SEND_SIGNALED;\n\twr.imm_data = htonl(LENGTH);\n"
          "\twr.wr.rdma.remote_addr = (uintptr_t)there->memory;\n"
          "\twr.wr.rdma.rkey = there->mr->rkey;\n\tlab_post(here, &wr);\n\treturn true;")


def browser():
    by_the_page_alone("browser", Browser, does_lab)


def firefox():
    by_the_page_alone("firefox", Firefox, does_it_at_once)


def by_the_page_alone(name, driver, act):
    """From the first line to the green check."""
    server = LabServer(name)
    page = driver(folder)
    try:
        page.open(server.line)
        act(page)
        no_problems(page, name)
        with open(server.work + "/exercise.c", encoding="utf-8") as file:
            assert "IBV_WR_RDMA_WRITE_WITH_IMM" in file.read()
        # Another page, later: the program is there, and the last check.
        page.open(server.line)
        page.wait("!!document.querySelector('#result .done')", "it is still done")
        page.leave()
    except Exception:
        page.shot(folder + "/failed.png")
        if os.environ.get("UHCA_KEEP"):
            shutil.copy(folder + "/failed.png", os.environ["UHCA_KEEP"] + "/page.png")
        raise
    finally:
        page.close()
    server.end()


def does_lab(page):
    reads(page)
    # As handed out: refused, with the reason and the mistake.
    check(page, 1, 1)
    assert "task 1: an RDMA WRITE was posted" in result(page), result(page)
    assert "nothing was handed to lab_post" in result(page), result(page)
    # A word misspelt: the compiler's line is one click away.
    replace(page, "\t(void)wr;\n\treturn false;",
            WRITE.replace("true", "tru").replace("\twr.send_flags = IBV_SEND_SIGNALED;\n", ""))
    check(page, 2, 1)
    page.click("#result button.link")
    chosen = page.js("(() => { const a = document.getElementById('program');"
                     " return a.value.slice(a.selectionStart, a.selectionEnd); })()")
    expect("the line of the compiler", chosen, "\treturn tru;")
    page.write("\treturn true;")
    # It compiles, and asks for no completion: refused for that.
    check(page, 3, 1)
    assert "(completion: nothing)" in result(page), result(page)
    assert "IBV_SEND_SIGNALED is missing" in result(page), result(page)
    replace(page, "\twr.opcode = IBV_WR_RDMA_WRITE;\n",
            "\twr.opcode = IBV_WR_RDMA_WRITE;\n\twr.send_flags = IBV_SEND_SIGNALED;\n")
    writes_notice(page)
    check(page, 4, 0)
    is_done(page)
    page.media(prefers_color_scheme="dark")
    accessible(page, "of the lab, dark")
    page.media(prefers_color_scheme="light")
    accessible(page, "of the lab")
    page.size(390, 844, True)
    accessible(page, "of the lab on a telephone")
    page.size(1440, 900)


def does_it_at_once(page):
    """Refused as handed out, and right then."""
    reads(page)
    check(page, 1, 1)
    assert "nothing was handed to lab_post" in result(page), result(page)
    replace(page, "\t(void)wr;\n\treturn false;", WRITE)
    writes_notice(page)
    check(page, 2, 0)
    is_done(page)
    accessible(page, "of the lab")


def writes_notice(page):
    replace(page, "\t(void)here;\n\t(void)there;\n\treturn false;",
            "\tstruct ibv_send_wr wr = {.wr_id = 2, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM};")
    page.key("Enter")    # keeps the indentation
    page.write(NOTICE)


def is_done(page):
    assert "Done: lab rc-write" in result(page), result(page)
    page.wait("document.querySelectorAll('.row.packet.lost.picked').length === 1",
              "the page beside it shows the lost packet, and has chosen it")


def reads(page):
    """The text, its picture, a question that unfolds."""
    expect("the title", page.js("document.querySelector('#lab-text h2').textContent"),
           "Lab rc-write: Bytes into another program's memory")
    page.wait("document.querySelector('#lab-text img').naturalWidth > 100", "the picture is there")
    expect("questions", page.js("document.querySelectorAll('.question').length"), 3)
    expect("the first is closed", page.js("document.querySelector('.question').open"), False)
    page.click(".question summary")
    page.wait("document.querySelector('.question').open", "it unfolds")
    assert "a list of holes" in page.js("document.querySelector('.question').innerText")


def main():
    try:
        for part in parts:
            began = time.monotonic()
            globals()[part]()
            print("ok %s (%.1f s)" % (part, time.monotonic() - began), flush=True)
    finally:
        for process in started:
            if process.poll() is None:
                process.terminate()


main()
