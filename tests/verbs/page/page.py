# SPDX-License-Identifier: BSD-2-Clause
"""Looks at the page of uhcactl serve and uhcactl page as a person does. Called by page.sh."""
import json
import os
import re
import shutil
import subprocess
import sys
import time

root, build, folder = sys.argv[1:4]
parts = sys.argv[4:] or ["modules", "record", "large", "live"]
sys.path.insert(0, os.path.join(root, "tests/support/page"))
from browser import Browser  # noqa: E402

UHCACTL = os.path.join(build, "uhcactl")
PORT = "18733"


started = []


def begin(*words, **how):
    """Starts a program, which ends with this one at the latest."""
    started.append(subprocess.Popen(words, **how))
    return started[-1]


def expect(what, got, wanted):
    """Fails when something is not what it should be."""
    if got != wanted:
        raise AssertionError("%s: %r, not %r" % (what, got, wanted))


def run(*words):
    """Runs a program that must succeed, and returns what it prints."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise AssertionError("%s: %s%s" % (" ".join(words), done.stdout, done.stderr))
    return done.stdout


class Server:
    """uhcactl serve WORDS..."""

    def __init__(self, *words):
        self.process = begin(UHCACTL, "serve", *words, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if "#token=" not in self.address:
            raise AssertionError("uhcactl serve prints '%s'" % self.address)

    def end(self):
        """SIGTERM ends it with status 0."""
        self.process.terminate()
        expect("status of uhcactl serve", self.process.wait(timeout=30), 0)


def count(browser, selector):
    return browser.js("document.querySelectorAll(%s).length" % json.dumps(selector))


def shown(browser):
    """Packets and records that the ladder has."""
    data = browser.js("JSON.stringify(document.getElementById('rows').dataset)")
    return int(json.loads(data)["packets"]), int(json.loads(data)["records"])


def no_problems(browser, where):
    """Nothing on the console, nothing refused by the policy, nothing asked for elsewhere.

    A model that has become old while it was fetched (409) is fetched again.
    """
    expect("problems " + where, [p for p in browser.problems if "409 (Conflict)" not in p], [])


# ---- the modules alone ----


def modules(browser):
    """tests/verbs/page/modules.js behind all modules of the page: each of its tests is called."""
    web = os.path.join(root, "tests/verbs/page/modules.js")
    page = os.path.join(folder, "modules.html")
    with open(os.path.join(build, "emu/model/page/page.js"), encoding="utf-8") as file:
        script = file.read()
    with open(web, encoding="utf-8") as file:
        script += file.read()
    with open(page, "w", encoding="utf-8") as file:
        file.write('<!DOCTYPE html><meta charset="utf-8"><body><script type="module">\n' + script +
                   "</script>")
    browser.open("file://" + page, "!!document.documentElement.dataset.tested")
    expect("wrong", browser.js("document.documentElement.dataset.wrong"), "")
    assert int(browser.js("document.documentElement.dataset.tested")) > 20
    no_problems(browser, "of the modules")


# ---- a capture ----


def accessible(browser, where):
    """What can be seen by a program: names, one level of headings, room for a finger, contrast."""
    wrong = browser.js("""(() => {
        const bad = [], name = e => e.getAttribute("aria-label") || e.textContent.trim() ||
            (e.labels && e.labels.length && e.labels[0].textContent.trim()) || e.title;
        const seen = e => e.getClientRects().length && getComputedStyle(e).visibility !== "hidden";
        for (const e of document.querySelectorAll("button, select, input, " +
                "[role=tab], canvas[role], svg[role=img], [tabindex='0']"))
            if (seen(e) && !name(e))
                bad.push("no name: " + e.outerHTML.slice(0, 120));
        for (const e of document.querySelectorAll("button, select, input"))
            if (seen(e) && e.getBoundingClientRect().height < 24)
                bad.push("too small: " + e.outerHTML.slice(0, 120));
        if (document.querySelectorAll("h1").length !== 1)
            bad.push("not one h1");
        const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
        for (const id of ids)
            if (ids.indexOf(id) !== ids.lastIndexOf(id))
                bad.push("twice: id " + id);
        const value = c => c.match(/[0-9.]+/g).slice(0, 3).map(n => n / 255)
            .map(n => n <= 0.03928 ? n / 12.92 : Math.pow((n + 0.055) / 1.055, 2.4))
            .reduce((sum, n, i) => sum + n * [0.2126, 0.7152, 0.0722][i], 0);
        const behind = e => { for (; e; e = e.parentElement) {
            const c = getComputedStyle(e).backgroundColor;
            if (!/, 0\\)$|transparent/.test(c)) return c; } return "rgb(255, 255, 255)"; };
        for (const e of document.querySelectorAll("p, button, td, th, h1, h2, h3, li, " +
                "label, text.note, text.label")) {
            if (!seen(e) || !e.textContent.trim() || e.disabled) continue;
            const style = getComputedStyle(e), svg = e.tagName === "text";
            const a = value(svg ? style.fill : style.color);
            const b = value(behind(svg ? document.getElementById("rows") : e));
            if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5)
                bad.push("contrast: " + e.outerHTML.slice(0, 120));
        }
        if (document.documentElement.scrollWidth > innerWidth + 1)
            bad.push("scrolls sideways: " + document.documentElement.scrollWidth);
        return [...new Set(bad)].slice(0, 5);
    })()""")
    expect("accessibility " + where, wrong, [])


def record(browser):
    """A lost ACK: in one file, and from a server; by mouse, keys and address."""
    capture, page = os.path.join(folder, "lost-ack.pcapng"), os.path.join(folder, "lost-ack.html")
    run(UHCACTL, "page", capture, "-o", page)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    expect("addresses of elsewhere", re.findall("https?://", text), [])
    everything = int(re.search(r',"arrows_in_all":(\d+)', text).group(1))
    assert everything > 20, everything
    looks(browser, "file://" + page, everything, False)
    server = Server(capture)
    browser.open(server.address)
    expect("the token is not in the address", browser.js("location.hash.includes('token')"), False)
    looks(browser, server.address.split("#")[0] + "?again#", everything, True)
    server.end()
    mistakes(browser, capture)


def looks(browser, address, everything, closely):
    """What both show alike; closely: with sizes, contrasts and names."""
    address += "" if "#" in address else "#"
    browser.open(address)
    expect("packets", shown(browser)[0], everything)
    browser.wait("!!document.querySelector('.row.packet.lost.picked')", "the lost packet is chosen")
    browser.wait("/^ACK psn/.test(document.querySelector('#inspector h2')?.textContent)",
                 "the inspector has it")
    expect("a clause", browser.js(
        "/clause 9.2/.test(document.getElementById('inspector').innerText)"), True)
    expect("the outcome", browser.js("/Nothing failed: [0-9]+ completions/.test("
                                     "document.getElementById('verdict').innerText)"), True)
    # Keys: down, next trouble, the end, nothing.
    browser.js("document.getElementById('rows').focus()")
    before = browser.js("document.querySelector('.row.picked').dataset.place")
    browser.key("ArrowDown")
    browser.wait("Number(document.querySelector('.row.picked').dataset.place) === %s + 1" % before,
                 "the next row is chosen")
    browser.key("n")
    browser.wait("/ (wrong|again)/.test(document.querySelector('.row.picked').className.baseVal)",
                 "the timeout, or what is sent again, is chosen")
    browser.key("Escape")
    browser.wait("!document.querySelector('.row.picked')", "nothing is chosen")
    # A conversation, a search, a kind, times to scale.
    browser.click(".conversation")
    expect("packets of the only conversation", shown(browser)[0], everything)
    for fragment, least, most in (("text=ack", 2, everything - 1), ("kind=lost", 1, 1),
                                  ("text=psn%3D4294967", 0, 0), ("text=rule%3D1", 1, 1),
                                  ("kind=packets&space=time", everything, everything)):
        browser.open(address + fragment)
        got = shown(browser)[0]
        assert least <= got <= most, "%s shows %d of %d" % (fragment, got, everything)
    # Each view has something to say.
    for view, words in (("plot", "psn"), ("why", "lost-ack|timeout"), ("completions", "SUCCESS"),
                        ("states", "RTS"), ("memory", "key"), ("rules", "opcode=ack nth=3"),
                        ("counters", "uhca0")):
        browser.click("#tab-" + view)
        browser.wait("new RegExp(%s, 'i').test(document.getElementById('other').innerText)" %
                     json.dumps(words), "view " + view)
    for view in ("counters", "why", "ladder") if closely else ():
        browser.click("#tab-" + view)
        browser.media(prefers_color_scheme="dark")
        accessible(browser, "of %s, dark" % view)
        browser.media(prefers_color_scheme="light")
        accessible(browser, "of %s, light" % view)
        browser.size(390, 844, True)
        accessible(browser, "of %s on a telephone" % view)
        browser.size(1440, 900)
    no_problems(browser, "of " + address)


def mistakes(browser, capture):
    """A full disk, no file, a capture that is cut, a page without its token."""
    def fails(status, pattern, *words):
        done = subprocess.run([UHCACTL, *words], capture_output=True, text=True, timeout=60)
        expect(" ".join(words), done.returncode, status)
        assert re.search(pattern, done.stderr), done.stderr

    fails(2, "page needs -o", "page", capture)
    fails(2, "page needs -o", "report", capture)
    fails(1, "No such file", "page", folder + "/none", "-o", folder + "/none.html")
    expect("a page of nothing", os.path.exists(folder + "/none.html"), False)
    fails(1, "No space left", "page", capture, "-o", "/dev/full")
    fails(1, "No such file", "serve", folder + "/none")
    fails(2, "--port needs", "serve", "--port", "many")
    fails(2, "--listen needs", "serve", "--listen", "localhost")
    fails(2, "excludes", "serve", "--socket", folder + "/s", "--port", "1")
    cut = folder + "/cut.pcapng"
    with open(capture, "rb") as whole, open(cut, "wb") as part:
        part.write(whole.read(100000))
    fails(1, "broken", "page", cut, "-o", folder + "/cut.html")
    browser.open("file://" + folder + "/cut.html")
    browser.wait("/The capture is broken/.test(document.body.innerText)", "it tells of the cut")


def large(browser):
    """Many packets: all are counted, and only those that can be seen are drawn."""
    capture = os.path.join(folder, "large.pcapng")
    server = Server(capture)
    browser.open(server.address)
    packets, records = shown(browser)
    assert packets > 10000, packets
    browser.js("document.getElementById('rows').focus()")
    browser.key("End")
    browser.wait("document.querySelector('.row.picked')?.dataset.place === '%d'" %
                 (packets + records - 1), "the last row is chosen, and drawn")
    assert count(browser, "g.row") < 120, count(browser, "g.row")
    no_problems(browser, "of many packets")
    server.end()


# ---- a running device ----


def state(browser):
    return browser.js("document.getElementById('state').textContent")


def live(browser):
    """Two programs appear; frozen, stepped and broken by a click; the scenario does the same."""
    server = Server()
    browser.open(server.address)
    browser.wait("document.getElementById('state').textContent === 'running'", "it is running")
    browser.click("#time-freeze")
    browser.wait("/^frozen/.test(document.getElementById('state').textContent)", "it is frozen")
    programs = start_pair()
    browser.click("#tab-rules")
    browser.wait("document.querySelectorAll('#other button.drop').length === 4",
                 "the first message's four packets wait")
    # One by one onto the wire: they appear.
    for n in (1, 2):
        browser.click("#time-next")
        browser.wait("document.querySelectorAll('#other button.drop').length === 4 &&"
                     "[...document.querySelectorAll('#other td')].filter(td => td.textContent ==="
                     " 'rx').length === %d" % n, "packet %d is on its way" % n)
    browser.click("#tab-ladder")
    browser.wait("document.querySelectorAll('.conversation').length === 1", "who talks is seen")
    browser.wait("/ibv_rc_pingpong/.test(document.querySelector('.conversation').innerText)",
                 "the programs are named")
    browser.wait("document.querySelectorAll('.row.packet').length === 2", "two packets are seen")
    # A rule by a click on the second, which is a SEND_MIDDLE.
    browser.wait("/SEND_MIDDLE/.test(document.querySelectorAll('.row.packet')[1].textContent)",
                 "the second packet has its name")
    choose_second(browser)
    browser.click("#add-rule")
    browser.click("#tab-rules")
    browser.wait("/hand1: drop/.test(document.getElementById('other').innerText)",
                 "the rule is in force")
    expect("a rule in force", [rule["text"] for rule in json.loads(
        run(UHCACTL, "--json", "fault", "list"))["rules"]],
           ["hand1: drop opcode=RC_SEND_MIDDLE dev=uhca0 nth=1"])
    accessible(browser, "of rules and time")
    # Time goes on: the rule fires, a NAK comes, and the programs end well all the same. Who follows
    # is stopped at the first trouble.
    browser.click("#tab-ladder")
    browser.click("#follow")
    browser.wait("document.getElementById('follow').textContent === 'Following'", "it follows")
    browser.click("#time-go")
    browser.wait("document.getElementById('follow').textContent === 'Follow'", "it is stopped")
    for program in programs:
        expect("status of ibv_rc_pingpong", program.wait(timeout=60), 0)
    browser.wait("document.getElementById('state').textContent === 'running'", "it runs again")
    # The trace has been read anew since, and the trouble is still chosen.
    browser.wait("document.querySelectorAll('.row[aria-selected=true]').length === 1 &&"
                 "!/Nothing is chosen/.test(document.getElementById('inspector').innerText)",
                 "it stays chosen")
    browser.js("document.getElementById('kind').value = 'nak';"
               "document.getElementById('kind').dispatchEvent(new Event('change'))")
    browser.wait("[...document.querySelectorAll('.row.packet.wrong')].some(row =>"
                 " /NAK/.test(row.textContent))", "the NAK is seen")
    pictures(browser)
    same_again(browser)
    refused(browser)
    no_problems(browser, "of a running device")
    server.end()


def pictures(browser):
    """What is kept is a capture, an SVG and a PNG: their first bytes, as a download has them."""
    browser.js("""{ window.kept = [];
        const make = URL.createObjectURL;
        URL.createObjectURL = blob => { blob.slice(0, 4).arrayBuffer().then(bytes =>
            window.kept.push([...new Uint8Array(bytes)].join())); return make(blob); }; }""")
    for button, first in (("capture", "10,13,13,10"), ("svg", "60,33,45,45"),
                          ("png", "137,80,78,71")):
        browser.click("#keep-" + button)
        browser.wait("window.kept.includes(%s)" % json.dumps(first), "a file of " + button)


def start_pair():
    """A server and a client of ibv_rc_pingpong, the second once the first listens."""
    words = ["ibv_rc_pingpong", "-d", "uhca0", "-g", "0", "-p", PORT, "-n", "20"]
    server = begin(*words, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 30
    while ":%04X 00000000:0000 0A" % int(PORT) not in open("/proc/net/tcp").read() + \
            open("/proc/net/tcp6").read().replace("00000000000000000000000000000000:0000 0A",
                                                  "00000000:0000 0A"):
        assert time.monotonic() < end, "ibv_rc_pingpong does not listen"
        time.sleep(0.02)
    return server, begin(*words, "127.0.0.1", stdout=subprocess.DEVNULL)


def choose_second(browser):
    """A click on the second packet, whose row is drawn anew now and then."""
    place = browser.js("document.querySelectorAll('.row.packet')[1].dataset.place")
    browser.click(".row.packet[data-place='%s'] .hit" % place)
    browser.wait("document.getElementById('rule')?.value === "
                 "'drop opcode=RC_SEND_MIDDLE dev=uhca0 nth=1'", "the rule is written")


def same_again(browser):
    """The scenario of what was done, run by uhca-run: the same NAK; so does the capture's page."""
    browser.click("#keep-scenario")
    browser.wait("!!document.getElementById('scenario')", "the scenario is shown")
    text = browser.js("document.getElementById('scenario').textContent")
    for line in ("fault hand1: drop opcode=RC_SEND_MIDDLE dev=uhca0 nth=3",
                 "run program1: ibv_rc_pingpong -d uhca0 -g 0 -p %s -n 20" % PORT,
                 "after listen %s: run program2: ibv_rc_pingpong" % PORT,
                 "expect nak syndrome=0x60"):
        assert line in text, "the scenario has no '%s':\n%s" % (line, text)
    scenario, capture = folder + "/by-hand.scn", folder + "/again.pcapng"
    with open(scenario, "w", encoding="utf-8") as out:
        out.write(text.replace("title ", "capture %s\ntitle " % capture, 1))
    environment = {k: v for k, v in os.environ.items() if k != "UHCA_DIR"}
    done = subprocess.run([root + "/scripts/uhca-run", "--scenario", scenario], env=environment,
                          capture_output=True, text=True, timeout=120)
    expect("status of the scenario, which says " + done.stdout + done.stderr, done.returncode, 0)
    browser.key("Escape")
    run(UHCACTL, "page", capture, "-o", folder + "/again.html")
    browser.open("file://" + folder + "/again.html#kind=nak")
    browser.wait("[...document.querySelectorAll('.row.packet.wrong')].some(row =>"
                 " /NAK/.test(row.textContent))", "the capture of the scenario has the same NAK")
    browser.wait("/rule 1 .hand1: drop opcode=RC_SEND_MIDDLE dev=uhca0 nth=3/.test("
                 "document.getElementById('verdict').textContent)", "and its rule")


def refused(browser):
    """A page that may only look has no buttons, and its acts are refused."""
    server = Server("--read-only")
    browser.open(server.address)
    browser.wait("document.getElementById('state').textContent === 'running'", "it is running")
    expect("no freezing", count(browser, "#time-freeze"), 0)
    expect("not even by force", browser.js("""fetch("/api/act", {method: "POST", headers: {
        Authorization: "Bearer " + sessionStorage.getItem("token"),
        "Content-Type": "application/json"}, body: JSON.stringify({request:
        {cmd: "step", action: "freeze"}})}).then(reply => reply.status)"""), 403)
    # The page asks again and again, and says so when nobody answers.
    browser.call("Page.navigate", url="about:blank")
    browser.wait("location.href === 'about:blank'", "the page is left")
    server.end()
    browser.problems = [p for p in browser.problems
                        if "403" not in p and "ERR_CONNECTION_REFUSED" not in p]


def main():
    browser = Browser(folder)
    try:
        for part in parts:
            began = time.monotonic()
            globals()[part](browser)
            print("ok %s (%.1f s)" % (part, time.monotonic() - began), flush=True)
    except Exception:
        browser.shot(folder + "/failed.png")
        shutil.copy(folder + "/failed.png", os.environ.get("UHCA_KEEP", folder) + "/page.png") \
            if os.environ.get("UHCA_KEEP") else None
        raise
    finally:
        browser.close()
        for process in started:
            if process.poll() is None:
                process.kill()


main()
