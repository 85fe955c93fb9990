#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The manifests of packaging/kubernetes, as far as can be told without a cluster: every mount has a
# volume and every container the restrictions of the policy "restricted"; and what their containers
# run, run here: the daemon in a folder to which all may write, its probe, the program.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && builddir=$(cd "${UHCA_BUILDDIR:?}" && pwd) || exit 99
# shellcheck source=tests/verbs/wait.sh
. "$srcdir/tests/verbs/wait.sh"
tmp=$(mktemp -d) || exit 99
daemon=''
# shellcheck disable=SC2317 # called by the trap
leave() {
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null
	wait
	rm -rf "$tmp"
}
trap leave EXIT
for python in python3 /usr/bin/python3 ''; do
	[ -z "$python" ] || ! "$python" -c 'import yaml' 2>/dev/null || break
done
[ -n "$python" ] || {
	echo "python3-yaml is missing (scripts/deps --install tests)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
}
mkdir "$tmp/bin" && printf '#!/bin/sh\nexec "%s" "$@"\n' "$srcdir/scripts/uhca-run" \
	>"$tmp/bin/uhca-run" && chmod +x "$tmp/bin/uhca-run" &&
	ln -s "$builddir/uhcad" "$builddir/uhcactl" "$tmp/bin/" || exit 99
PATH=$tmp/bin:$PATH
export PATH

# A file for each container, to be sourced: what it runs, its probe, its environment.
cat >"$tmp/read.py" <<'END'
import shlex, sys, yaml

def need(condition, text):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {text}")

for o in yaml.safe_load_all(open(sys.argv[1])):
    pod = o["spec"] if o["kind"] == "Pod" else o["spec"]["template"]["spec"]
    context = pod["securityContext"]
    need(context["runAsNonRoot"] and context["runAsUser"] == 1000, "not as user 1000")
    need(context["seccompProfile"]["type"] == "RuntimeDefault", "no seccomp profile")
    if o["kind"] == "DaemonSet":
        labels = o["spec"]["template"]["metadata"]["labels"]
        need(o["spec"]["selector"]["matchLabels"] == labels, "the selector does not match")
    volumes = {v["name"] for v in pod["volumes"]}
    for c in pod.get("initContainers", []) + pod["containers"]:
        own = c["securityContext"]
        need(own["capabilities"] == {"drop": ["ALL"]}, f"{c['name']} has capabilities")
        need(own["allowPrivilegeEscalation"] is False, f"{c['name']} may become more")
        need(own["readOnlyRootFilesystem"] is True, f"{c['name']} may write to its root")
        for m in c["volumeMounts"]:
            need(m["name"] in volumes, f"{c['name']}: no volume {m['name']}")
        with open(f"{sys.argv[2]}/{c['name']}", "w") as f:
            f.write(f"command=({shlex.join(c['command'])})\n")
            probe = c.get("startupProbe", {}).get("exec", {}).get("command", [])
            f.write(f"probe=({shlex.join(probe)})\n")
            for e in c.get("env", []):
                if "value" in e:
                    f.write(f"export {e['name']}={shlex.quote(e['value'])}\n")
                else:
                    need(e["valueFrom"]["fieldRef"]["fieldPath"] == "status.hostIP", e["name"])
END

fail() {
	echo "FAIL $*"
	cat "$tmp/daemon" "$tmp/said" 2>/dev/null
	exit 1
}

answers_or_is_gone() {
	"${probe[@]}" >"$tmp/said" 2>&1 || is_gone "$daemon"
}

is_up() {
	until_true answers_or_is_gone && is_alive "$daemon"
}

# A pod has a network of its own; here others may have 127.0.0.1 and its port.
# try MANIFEST PROGRAM-CONTAINER MODE-OF-THE-FOLDER [OPTION-OF-UHCAD...]
try() {
	local command=() probe=()
	rm -rf "$tmp/run" "$tmp/containers" && mkdir "$tmp/containers" &&
		mkdir -m "$3" "$tmp/run" || exit 99
	"$python" "$tmp/read.py" "$srcdir/packaging/kubernetes/$1" "$tmp/containers" || exit 1
	sed -i "s|/run/uhca|$tmp/run|g" "$tmp/containers"/*
	# shellcheck disable=SC1091
	. "$tmp/containers/device"
	"${command[@]}" "${@:4}" >"$tmp/daemon" 2>&1 &
	daemon=$!
	is_up || fail "$1: the probe finds no daemon"
	# shellcheck disable=SC2016 # of the inner shell
	timeout 240 bash -c '. "$1" && "${command[@]}"' sh "$tmp/containers/$2" >"$tmp/said" 2>&1 ||
		fail "$1: $2 ended with $?"
	grep -q 'hca_id:.*uhca0' "$tmp/said" || fail "$1: no device"
	kill "$daemon" && wait "$daemon"
	daemon=''
	echo "ok   $1"
}

NODE=127.$((RANDOM % 200 + 20)).$((RANDOM % 250)).1
export NODE
try job.yaml test 2777 --no-wire
try node.yaml program 0700
