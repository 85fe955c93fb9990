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
parts = sys.argv[4:]
sys.path.insert(0, os.path.join(root, "tests/support/page"))
from access import AXE, accessible, ask_axe  # noqa: E402
from browser import Browser  # noqa: E402
from firefox import Firefox  # noqa: E402
from server import UHCACTL, Server, begin, expect, no_problems, started  # noqa: E402

PORT = "18733"


def run(*words):
    """Runs a program that must succeed, and returns what it prints."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=240)
    if done.returncode:
        raise AssertionError("%s: %s%s" % (" ".join(words), done.stdout, done.stderr))
    return done.stdout


def count(browser, selector):
    return browser.js("document.querySelectorAll(%s).length" % json.dumps(selector))


def shown(browser):
    """Packets and records that the ladder has."""
    data = browser.js("JSON.stringify(document.getElementById('rows').dataset)")
    return int(json.loads(data)["packets"]), int(json.loads(data)["records"])


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


def record(browser):
    """A lost ACK: in one file, and from a server; by mouse, keys and address."""
    capture = os.path.join(folder, "lost-ack.pcapng")
    everything = looks_at_file(browser, capture)
    server = Server(capture)
    browser.open(server.line)
    expect("the token is not in the address", browser.js("location.hash.includes('token')"), False)
    looks(browser, server.line.split("#")[0] + "?again#", everything, True)
    browser.leave() # or what it still asks for fails
    server.end()
    mistakes(browser, capture)


def looks_at_file(browser, capture):
    """The page of the capture as one file; how many packets it has."""
    page = os.path.join(folder, "lost-ack.html")
    run(UHCACTL, "page", capture, "-o", page)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    expect("addresses of elsewhere", re.findall("https?://", text), [])
    everything = int(re.search(r',"arrows_in_all":(\d+)', text).group(1))
    assert everything > 20, everything
    looks(browser, "file://" + page, everything, False)
    return everything


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
    # A press on a row that is drawn anew before the release.
    browser.js("""(() => { const rows = [...document.querySelectorAll('.row.packet')];
        const row = rows[0], hit = row.querySelector('.hit');
        const at = {bubbles: true, clientX: 5, clientY: 5};
        window.pressed = row.dataset.place;
        hit.dispatchEvent(new PointerEvent('pointerdown', at));
        row.remove();
        document.getElementById('rows').dispatchEvent(new PointerEvent('pointerup', at)); })()""")
    browser.wait("document.querySelector('.row.picked')?.dataset.place === window.pressed",
                 "the row that was pressed is chosen")
    browser.js("document.getElementById('rows').focus()")
    browser.key("Escape")
    browser.wait("!document.querySelector('.row.picked')", "nothing is chosen again")
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
    if closely and os.path.exists(AXE):
        browser.js("document.body.append(document.createElement('img')); 0")
        expect("axe-core sees a picture without words",
               [found.split(":")[0] for found in ask_axe(browser)][:1], ["image-alt"])


def mistakes(browser, capture):
    """A full disk, no file, a capture that is cut, a page without its token."""
    def fails(status, pattern, *words):
        done = subprocess.run([UHCACTL, *words], capture_output=True, text=True, timeout=240)
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
    browser.open(server.line)
    packets, records = shown(browser)
    assert packets > 10000, packets
    browser.js("document.getElementById('rows').focus()")
    browser.key("End")
    browser.wait("document.querySelector('.row.picked')?.dataset.place === '%d'" %
                 (packets + records - 1), "the last row is chosen, and drawn")
    assert count(browser, "g.row") < 120, count(browser, "g.row")
    no_problems(browser, "of many packets")
    browser.leave() # or what it still asks for fails
    server.end()


# ---- a running device ----


def state(browser):
    return browser.js("document.getElementById('state').textContent")


def live(browser):
    """Two programs appear; frozen, stepped and broken by a click; the scenario does the same."""
    server = by_hand(browser)
    pictures(browser)
    same_again(browser)
    refused(browser)
    no_problems(browser, "of a running device")
    browser.leave() # or what it still asks for fails
    server.end()


def firefox(browser):
    """In Firefox: the page of the capture by keys and clicks, a running device by hand."""
    looks_at_file(browser, os.path.join(folder, "lost-ack.pcapng"))
    server = by_hand(browser)
    no_problems(browser, "of a running device")
    browser.leave()
    server.end()


def by_hand(browser):
    """Clicks on the page of a device until the NAK is seen; returns its server."""
    server = Server()
    browser.open(server.line)
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
    browser.wait("/1 send, [0-9]+ receives, 0 to poll/.test("
                 "document.querySelector('.heads').innerText)", "its queues are at the lane")
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
        expect("status of ibv_rc_pingpong", program.wait(timeout=240), 0)
    browser.wait("document.getElementById('state').textContent === 'running'", "it runs again")
    # The trace has been read anew since, and the trouble is still chosen.
    browser.wait("document.querySelectorAll('.row[aria-selected=true]').length === 1 &&"
                 "!/Nothing is chosen/.test(document.getElementById('inspector').innerText)",
                 "it stays chosen")
    browser.js("document.getElementById('kind').value = 'nak';"
               "document.getElementById('kind').dispatchEvent(new Event('change'))")
    browser.wait("[...document.querySelectorAll('.row.packet.wrong')].some(row =>"
                 " /NAK/.test(row.textContent))", "the NAK is seen")
    return server


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
    end = time.monotonic() + 180
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
    # place() of browser.py has scrolled the row into view, as a search in the page does.
    expect("the ladder, whose rows all fit, scrolled by",
           browser.js("document.querySelector('.spread').scrollTop"), 0)


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
                          capture_output=True, text=True, timeout=240)
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
    browser.open(server.line)
    browser.wait("document.getElementById('state').textContent === 'running'", "it is running")
    expect("no freezing", count(browser, "#time-freeze"), 0)
    expect("not even by force", browser.js("""fetch("/api/act", {method: "POST", headers: {
        Authorization: "Bearer " + sessionStorage.getItem("token"),
        "Content-Type": "application/json"}, body: JSON.stringify({request:
        {cmd: "step", action: "freeze"}})}).then(reply => reply.status)"""), 403)
    # The page asks again and again, and says so when nobody answers.
    browser.leave()
    server.end()
    browser.problems = [p for p in browser.problems
                        if "403" not in p and "ERR_CONNECTION_REFUSED" not in p]


def main():
    browser = Firefox(folder) if parts == ["firefox"] else Browser(folder)
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
