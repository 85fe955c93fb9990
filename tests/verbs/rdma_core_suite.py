#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the test suite of rdma-core that Debian ships as documentation, and counts by file.

rdma_core_suite.py [--device DEV] [--gid INDEX] [--seconds N] [--markdown] [FILE...]

Each file runs in a process of its own with a time limit. Prints a line per file; with --markdown
a table, with the names of the tests that failed. Ends with 1 when a test failed.
"""
import argparse
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

SUITE = "/usr/share/doc/rdma-core/tests"

# In the child: load one file, run its tests, print the outcome as JSON on the last line.
RUNNER = """
import json, sys, unittest
from tests.base import *
import tests.base
name, device, gid = sys.argv[1:4]
sys.argv = ["suite", "--dev", device, "--port", "1", "--gid", gid]
from args_parser import parser
parser.parse_args()
import importlib
module = importlib.import_module("tests." + name)
suite = unittest.defaultTestLoader.loadTestsFromModule(module)
result = unittest.TextTestRunner(verbosity=2, stream=sys.stderr).run(suite)
bad = [(t.id(), text) for t, text in result.failures + result.errors]
print(json.dumps({"run": result.testsRun, "skipped": [(t.id(), why) for t, why in result.skipped],
                  "failed": bad}))
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
    return target


def run_file(folder, name, args):
    command = [sys.executable, "-c", RUNNER, name, args.device, str(args.gid)]
    environment = dict(os.environ, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1")
    child = subprocess.Popen(command, cwd=folder, env=environment, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(timeout=args.seconds)
    except subprocess.TimeoutExpired:
        end_session(child)
        out, err = child.communicate()
        return {"run": 0, "skipped": [], "failed": [(name, "hangs: " + err[-300:])]}
    end_session(child)
    try:
        return json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        return {"run": 0, "skipped": [],
                "failed": [(name, f"ended with {child.returncode}: {err[-500:]}")]}


def end_session(child):
    """Some tests start processes of their own and leave them behind when they fail."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def short(test_id):
    return ".".join(test_id.split(".")[-2:])


def report(name, result, markdown):
    failed, skipped = len(result["failed"]), len(result["skipped"])
    passed = max(result["run"] - failed - skipped, 0)
    if markdown:
        names = ", ".join(f"`{short(t)}`" for t, _ in result["failed"])
        print(f"| {name}.py | {passed} | {skipped} | {failed} | {names} |")
    else:
        print(f"{name}.py: {passed} passed, {skipped} skipped, {failed} failed", flush=True)
        for test, text in result["failed"]:
            print(f"  {test}: {text.strip().splitlines()[-1]}", file=sys.stderr)
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="uhca0")
    parser.add_argument("--gid", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if not os.path.isdir(SUITE):
        print(f"{SUITE} is not there (Debian: python3-pyverbs)", file=sys.stderr)
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        tests = unpack(folder)
        names = [f.removesuffix(".py") for f in args.files] or sorted(
            f[:-3] for f in os.listdir(tests) if f.startswith("test_")
            and not f.startswith(("test_mlx5", "test_efa", "test_cuda")))
        if args.markdown:
            print("| file | passed | skipped | failed | which |\n|---|---|---|---|---|")
        for name in names:
            failed += report(name, run_file(folder, name, args), args.markdown)
    return 1 if failed else 0


sys.exit(main())
