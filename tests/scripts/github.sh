#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The files in .github/ are what GitHub reads, as far as that can be seen without it: each workflow
# has steps, whose commands are shell, name files of the tree and options that these have; each
# form of an issue has a name and fields.
set -u
root=$(cd "${UHCA_SRCDIR:?}" && pwd) && cd "$root" || exit 99
python3 -c 'import yaml' 2>/dev/null || { echo "github.sh: python3-yaml is missing"; exit 77; }
python3 - <<'EOF_PYTHON'
import os
import pathlib
import re
import subprocess
import sys

import yaml

faults = []


def load(path):
    """A file of YAML; "on" is a word there, and no truth."""
    with open(path) as file:
        return yaml.load(file, yaml.BaseLoader)


def judge_command(where, text):
    if subprocess.run(["bash", "-n", "-c", text], capture_output=True).returncode:
        faults.append(f"{where}: no shell: {text}")
    for name, options in re.findall(r"(?:^|\s)(\.ci/\S+|scripts/\S+)([^&|;\n]*)", text):
        if not os.access(name, os.X_OK):
            faults.append(f"{where}: no program {name}")
            continue
        known = subprocess.run([name, "--help"], capture_output=True, text=True).stdout if options \
            else ""
        for option in re.findall(r"(?:^|\s)(--[a-z-]+)", options):
            if not re.search(rf"(^|[\s[]){option}\b", known):
                faults.append(f"{where}: {name} has no {option}")


def judge_workflow(path):
    flow = load(path)
    for name, job in flow["jobs"].items():
        where = f"{path}, {name}"
        if "timeout-minutes" not in job or "runs-on" not in job or not flow["on"]:
            faults.append(f"{where}: no time limit, machine or event")
        for step in job["steps"]:
            if ("run" in step) == ("uses" in step):
                faults.append(f"{where}: neither run nor uses: {step}")
            if "uses" in step and not re.search(r"@v\d", step["uses"]):
                faults.append(f"{where}: no version: {step['uses']}")
            if "run" in step:
                judge_command(where, step["run"])


def judge_form(path):
    form = load(path)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    if not form["name"] or not form["description"] or len({f["id"] for f in fields}) < len(fields):
        faults.append(f"{path}: no name, no description or a field twice")
    for field in fields:
        if field["type"] not in ("textarea", "input") or not field["attributes"]["label"]:
            faults.append(f"{path}: not a field: {field}")


workflows = sorted(pathlib.Path(".github/workflows").glob("*.yml"))
forms = [path for path in sorted(pathlib.Path(".github/ISSUE_TEMPLATE").glob("*.yml"))
         if path.name != "config.yml"]
for path in workflows:
    judge_workflow(path)
for path in forms:
    judge_form(path)
if not workflows or not forms:
    faults.append("no workflow, or no form")
print("\n".join(faults) or f"github.sh: {len(workflows)} workflows and {len(forms)} forms")
sys.exit(bool(faults))
EOF_PYTHON
