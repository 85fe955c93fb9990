#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the test suite of rdma-core that Debian ships with python3-pyverbs, below uhca-run.

One line per file: passed, skipped, failed. Each file runs in a process of its own with a time
limit; nothing is written but into a temporary folder. Ends with 1 when a test failed, 77 when
the suite is not installed.
"""
import argparse
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SUITE = "/usr/share/doc/rdma-core/tests"

# Files for other makers' devices: all they can do here is skip.
VENDORS = ("test_mlx5", "test_efa", "test_cuda")

# In the child: load one file, run its tests, print the outcome as JSON on the last line. The suite
# connects to the first address of the device's interface. Several devices share the loopback
# interface, each with one of its addresses; where the first is not this device's, it gets the
# device's first one of IPv4. (An id bound to 127.0.0.1 has no device, and pyverbs takes for granted
# that a bound id has one.)
RUNNER = """
import importlib, ipaddress, itertools, json, sys, unittest
name, device, gid = sys.argv[1:4]
sys.argv = ["suite", "--dev", device, "--port", "1", "--gid", gid]
from args_parser import parser
parser.parse_args()
base = importlib.import_module("tests.base").RDMATestCase
of_interface = base.get_ip_mac_address
def addresses():
    for i in itertools.count():
        try:
            with open(f"/sys/class/infiniband/{device}/ports/1/gids/{i}") as f:
                a = ipaddress.IPv6Address(f.read().strip())
        except OSError:
            return
        yield str(a.ipv4_mapped or a)
def of_device(interface):
    address, mac = of_interface(interface)
    own = list(addresses())
    v4 = [a for a in own if "." in a]
    return address if address in own or not v4 else v4[0], mac
base.get_ip_mac_address = staticmethod(of_device)
module = importlib.import_module("tests." + name)
passed = []
class Result(unittest.TextTestResult):
    def addSuccess(self, test):
        passed.append(test.id())
        super().addSuccess(test)
suite = unittest.defaultTestLoader.loadTestsFromModule(module)
result = unittest.TextTestRunner(verbosity=2, stream=sys.stderr, resultclass=Result).run(suite)
print(json.dumps({"passed": passed, "skipped": [(t.id(), why) for t, why in result.skipped],
                  "failed": [(t.id(), text) for t, text in result.failures + result.errors]}))
"""


def unpack(folder):
    """The suite as Python wants it; Debian compresses the larger files."""
    target = os.path.join(folder, "tests")
    os.makedirs(target)
    for name in os.listdir(SUITE):
        source = os.path.join(SUITE, name)
        if name.endswith(".py.gz"):
            with gzip.open(source) as f, open(os.path.join(target, name[:-3]), "wb") as g:
                shutil.copyfileobj(f, g)
        elif name.endswith(".py"):
            shutil.copy(source, target)
    shutil.copy(os.path.join(target, "args_parser.py"), folder)


def files_of_suite():
    names = {re.sub(r"\.py(\.gz)?$", "", f) for f in os.listdir(SUITE)}
    return sorted(n for n in names if n.startswith("test_"))


def broken(name, what):
    what = " ".join(what.split())
    return {"passed": [], "skipped": [], "failed": [(f"tests.{name}.(file).all", what)]}


def run_file(folder, name, args):
    """The outcome as the child tells it; what it started ends with it."""
    command = [sys.executable, "-c", RUNNER, name, args.device, str(args.gid)]
    environment = dict(os.environ, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=err, start_new_session=True)
        try:
            status = child.wait(args.seconds)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        out.seek(0)
        err.seek(0)
        said, complaints = out.read(), err.read()
    if status is None:
        return broken(name, f"ran into its limit of {args.seconds} s: {complaints[-200:]}")
    try:
        return json.loads(said.splitlines()[-1])
    except (IndexError, ValueError):
        return broken(name, f"ended with {status}: {complaints[-400:]}")


def class_of(test_id):
    # A class that fails as a whole is "setUpClass (tests.file.Class)".
    return test_id.rstrip(")").split(".")[-2]


def by_class(outcome):
    """{class: {"passed": n, "skipped": n, "failed": n, "why": reasons of skips}}"""
    table = {}
    for kind in ("passed", "skipped", "failed"):
        for entry in outcome[kind]:
            test_id, why = entry if kind != "passed" else (entry, "")
            row = table.setdefault(class_of(test_id),
                                   {"passed": 0, "skipped": 0, "failed": 0, "why": []})
            row[kind] += 1
            if kind == "skipped" and why not in row["why"]:
                row["why"].append(why)
    return table


def line_of(outcome):
    counts = {kind: len(outcome[kind]) for kind in outcome}
    return "{passed} passed, {skipped} skipped, {failed} failed".format(**counts)


def read_expected(path):
    """{(file, class): passed} of a table that --markdown made."""
    expected = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            row = re.match(r"\| (test_\w+) \| (\w+) \| (\d+) \|", line)
            if row:
                expected[row[1], row[2]] = int(row[3])
    return expected


def complaints_about(name, outcome, expected):
    """What makes this file a failure, one text each."""
    bad = [f"{test}: {text.strip().splitlines()[-1]}" for test, text in outcome["failed"]]
    table = by_class(outcome)
    excused = 0 if os.geteuid() == 0 else 1
    for (file, cls), passed in expected.items():
        now = table.get(cls, {"passed": 0})["passed"]
        now += excused * sum(class_of(t) == cls and "by root" in w for t, w in outcome["skipped"])
        # A machine without huge pages; clients says that there are none.
        now += sum(class_of(t) == cls and "no huge pages" in w for t, w in outcome["skipped"])
        if file == name and now < passed:
            bad.append(f"{cls}: {now} passed, and {passed} in the table")
    return bad


def shortened(reason):
    reason = re.sub(r" \(.*| with(out)?( extended)? attrs", "", reason).replace("|", "/")
    return reason if len(reason) <= 60 else reason[:57] + "..."


def print_table(outcomes):
    print("| file | class | passed | skipped | failed | why skipped |")
    print("|---|---|---|---|---|---|")
    others = 0
    for name, outcome in outcomes:
        if name.startswith(VENDORS):
            others += len(outcome["skipped"])
            continue
        for cls, row in sorted(by_class(outcome).items()):
            why = "; ".join(sorted({shortened(w) for w in row["why"]}))
            print(f"| {name} | {cls} | {row['passed']} | {row['skipped']} | {row['failed']} "
                  f"| {why} |")
    if others:
        print(f"| files of mlx5, efa, cuda | | 0 | {others} | 0 | another maker's device |")
    total = {kind: sum(len(o[kind]) for _, o in outcomes) for kind in
             ("passed", "skipped", "failed")}
    print("| **all** | | {passed} | {skipped} | {failed} | |".format(**total))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="uhca0")
    parser.add_argument("--gid", type=int, default=0, help="index of the GID to use")
    parser.add_argument("--seconds", type=int, default=60, help="limit for each file")
    parser.add_argument("--all", action="store_true", help="other makers' files, too")
    parser.add_argument("--list", action="store_true", help="print the files and end")
    parser.add_argument("--markdown", action="store_true", help="print a table by class")
    parser.add_argument("--expect", metavar="TABLE",
                        help="fail when a class passes less than this table says")
    parser.add_argument("files", nargs="*")
    return parser.parse_args()


def run_all(names, args):
    expected = read_expected(args.expect) if args.expect else {}
    outcomes, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        unpack(folder)
        for name in names:
            begin = time.monotonic()
            outcome = run_file(folder, name, args)
            outcomes.append((name, outcome))
            complaints = complaints_about(name, outcome, expected)
            bad += len(complaints)
            if not args.markdown:
                print(f"{'FAIL' if complaints else 'ok'} {name}: {line_of(outcome)} "
                      f"({time.monotonic() - begin:.2f} s)", flush=True)
            for text in complaints:
                print(f"  {text}", file=sys.stdout if not args.markdown else sys.stderr,
                      flush=True)
    return outcomes, bad


def main():
    args = parse_arguments()
    if not os.path.isdir(SUITE):
        print(f"{SUITE} is not there (Debian: python3-pyverbs)", file=sys.stderr)
        return 77
    names = [f.removesuffix(".py") for f in args.files] or [
        n for n in files_of_suite() if args.all or not n.startswith(VENDORS)]
    unknown = set(names) - set(files_of_suite())
    if unknown:
        print(f"the suite has no file {' '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    if args.list:
        print("\n".join(names))
        return 0
    outcomes, bad = run_all(names, args)
    if args.markdown:
        print_table(outcomes)
    return 1 if bad else 0


sys.exit(main())
