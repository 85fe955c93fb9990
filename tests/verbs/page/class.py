# SPDX-License-Identifier: BSD-2-Clause
"""A class of 30 students, whose programs are shell text. Called by class.sh."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

root, build, folder = sys.argv[1:4]
sys.path.insert(0, os.path.join(root, "tests/support/page"))
from server import DEADLINE, Server, begin, expect, started, wait, working_in  # noqa: E402

STUDENTS, CHECKS, SECONDS = 30, 4, 15
CLASS = os.path.join(root, "scripts/uhca-class")
LAB = "rc-write"
SHUT_IN = shutil.which("bwrap") is not None and subprocess.run(
    ["bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"],
    stderr=subprocess.DEVNULL).returncode == 0
# With a sanitizer a program has terabytes of data.
SANITIZED = "ASAN_OPTIONS" in os.environ and subprocess.run(
    ["nm", "-D", build + "/uhcad"], capture_output=True, text=True).stdout.count("__asan_") > 0

COMPILER = """#!/bin/sh
# The first source is shell text: it becomes the object, and that the program.
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=$2; shift ;;
	*.[co]) : "${source:=$1}" ;;
	esac
	shift
done
{ echo '#!/bin/sh'; cat "$source"; } >"$out" && chmod +x "$out"
"""


class Page(Server):
    """A student's page, of the address that was printed."""

    def __init__(self, name, address):
        self.name, self.token = name, address.split("token=")[1]
        self.port = int(re.match(r"http://127\.0\.0\.1:(\d+)/", address).group(1))
        self.home = os.path.join(folder, "class", name)

    def send(self, program):
        expect("a program of " + self.name, self.ask("/api/lab/program", body=json.dumps(
            {"program": program, "check": True}))[0], 200)

    def lab(self):
        return json.loads(self.ask("/api/lab")[1])

    def has(self, name):
        """What the program wrote into this file of its folder; False: nothing."""
        path = os.path.join(self.home, "lab-" + LAB, name)
        if not os.path.exists(path):
            return False
        with open(path, encoding="utf-8") as file:
            return file.read()


def mistakes():
    """Wrong lists, options and labs are named."""
    names = os.path.join(folder, "wrong")
    for text, words, status, says in (
            ("ada\nada\n", [LAB], 2, "'ada' stands there twice"),
            ("../ada\n", [LAB], 2, "is no name"),
            ("", [LAB], 2, "0 names"), ("ada\n", [], 2, "needs NAMES and LAB"),
            ("ada\n", ["--checks", "0", LAB], 2, "--checks needs a number"),
            ("ada\n", ["--port", "1", LAB], 2, "option --port not recognized"),
            ("ada\n", ["none"], 1, "unknown lab 'none'")):
        with open(names, "w", encoding="utf-8") as file:
            file.write(text)
        at = words[-1:] if words else []
        done = subprocess.run([CLASS, "--dir", folder + "/wrong-class", *words[:-1], names, *at],
                              capture_output=True, text=True, timeout=DEADLINE)
        expect("status of " + says, done.returncode, status)
        assert says in done.stderr, done.stderr


def start():
    """The class, and its pages."""
    names, students = os.path.join(folder, "names"), ["student-%d" % i for i in range(STUDENTS)]
    with open(names, "w", encoding="utf-8") as file:
        file.write("\n".join(students))
    for name in students:    # bubblewrap hides all but the student's folder
        os.makedirs(os.path.join(folder, "class", name))
        with open(os.path.join(folder, "class", name, "cc"), "w", encoding="utf-8") as file:
            file.write(COMPILER)
    environment = {k: v for k, v in os.environ.items() if k not in ("UHCA_DIR", "TMPDIR")}
    environment.update(UHCA_BUILDDIR=build, CC="sh ./cc")
    process = begin(CLASS, "--dir", folder + "/class", "--checks", str(CHECKS), "--seconds",
                    str(SECONDS), "--memory", "0" if SANITIZED else "128", "--processes", "60",
                    names, LAB, env=environment, stdout=subprocess.PIPE, text=True)
    pages = [Page(*process.stdout.readline().split()) for _ in range(STUDENTS)]
    assert "addresses are in" in process.stdout.readline()
    return process, pages


def tokens(pages):
    """Each page takes its own token only; the list of addresses is for the teacher."""
    expect("different tokens", len({page.token for page in pages}), STUDENTS)
    for page, other in zip(pages, pages[1:] + pages[:1]):
        expect("its own token", page.ask("/api/lab")[0], 200)
        expect("the next one's token", page.ask("/api/lab", {
            "Authorization": "Bearer " + other.token})[0], 401)
        expect("mode of a folder", os.stat(page.home).st_mode & 0o777, 0o700)
    expect("mode of the addresses", os.stat(folder + "/class/addresses").st_mode & 0o777, 0o600)


def crowd(process, pages):
    """All check at once; each is answered, and the teacher sees each."""
    special = {0: "ls ../.. >seen; exit 3",
               1: "dd if=/dev/zero of=/dev/null bs=300M count=1 && echo all >memory; exit 3",
               2: "exec sleep 100",
               3: "for i in $(seq 90); do sleep 30 & done; echo all >made; exit 3"}
    for i, page in enumerate(pages):
        page.send(special.get(i, "exit 3"))
    told = [process.stdout.readline() for _ in pages]
    expect("who was told of", sorted(line.split()[0] for line in told),
           sorted(page.name for page in pages))
    assert all(" check 1: not yet: " in line for line in told), told
    for i, page in enumerate(pages):
        wait("the check's end", lambda: not page.lab()["check"]["running"])
        lab = page.lab()
        assert lab["check"]["status"] != 0
        expect("what it was", "the check did not end in %d s" % SECONDS in lab["said"], i == 2)
    if SHUT_IN:
        expect("what a student sees of the class", pages[0].has("seen").split(), ["student-0"])
    if not SANITIZED:
        expect("300 MiB of 128", pages[1].has("memory"), False)
    if os.getuid() != 0:    # root's processes are not counted
        expect("90 processes of 60", pages[3].has("made"), False)


def main():
    mistakes()
    process, pages = start()
    print("ok start", flush=True)
    tokens(pages)
    print("ok tokens", flush=True)
    crowd(process, pages)
    print("ok crowd", flush=True)
    process.send_signal(signal.SIGTERM)
    expect("status of the class", process.wait(timeout=DEADLINE), 0)
    if SHUT_IN:
        wait("nothing is left", lambda: not working_in(folder + "/class"))


try:
    main()
finally:
    for process in started:
        if process.poll() is None:
            process.terminate()
