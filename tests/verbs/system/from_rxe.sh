#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# docs/how-to/from-rxe.md: the files in place of soft-RoCE are taken from the page, its commands are
# run, in projects for C, CMake, Rust, Go and Python, without a network.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && builddir=$(cd "${UHCA_BUILDDIR:?}" && pwd) || exit 99
page=$srcdir/docs/how-to/from-rxe.md
tmp=$(mktemp -d) && cp -R "$srcdir/tests/verbs/system/from_rxe" "$tmp/project" &&
	chmod -R u+w "$tmp" && mkdir "$tmp/bin" || exit 99
trap 'rm -rf "$tmp"' EXIT
printf '#!/bin/sh\nexec "%s" "$@"\n' "$srcdir/scripts/uhca-run" >"$tmp/bin/uhca-run"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$builddir/uhcactl" >"$tmp/bin/uhcactl"
chmod +x "$tmp/bin/"*
export PATH=$tmp/bin:$PATH UHCA_BUILDDIR=$builddir
export CARGO_TARGET_DIR=$tmp/cargo CARGO_NET_OFFLINE=true
export GOPATH=$tmp/go GOCACHE=$tmp/gocache GOPROXY=off GOTOOLCHAIN=local GOFLAGS=''
unset UHCA_DIR UHCA_RUN MAKEFLAGS MFLAGS MAKELEVEL DESTDIR GITHUB_ACTIONS
cd "$tmp/project/c" || exit 99
status=0 skipped=''

# block HEADING LANGUAGE N: the N-th fenced block of this language below the heading.
block() {
	awk -v heading="$1" -v fence="\`\`\`$2" -v n="$3" '
		/^#+ / { on = $0 ~ "^#+ " heading "$" }
		inside && /^```$/ { inside = 0; if (seen == n) exit }
		inside && seen == n { print }
		/^```./ { inside = 1; if (on && $0 == fence) seen++ }' "$page"
}

# said NAME WORDS COMMAND...: it ends well, and says these words.
said() {
	local name=$1 words=$2
	shift 2
	if timeout -k 2 240 "$@" >"$tmp/said" 2>&1 && grep -q -e "$words" "$tmp/said"; then
		echo "ok   $name"
	else
		cat "$tmp/said"
		echo "FAIL $name: $*"
		status=1
	fi
}

has() { # NAME PACKAGE COMMAND...: the command tells whether the package is there
	"${@:3}" >/dev/null 2>&1 && return 0
	echo "skip $1: no $2 (scripts/deps --install)"
	skipped=1
	return 1
}

# yaml HEADING N EXPRESSION: of the block's value y, as lines.
yaml() {
	block "$1" yaml "$2" | python3 -c "import sys, yaml
y = yaml.safe_load(sys.stdin)
a = yaml.safe_load(open('$srcdir/action.yml'))
$3"
}

block 'A Makefile' make 2 >Makefile
said 'C and make' 'devices, the first is uhca0' make check
said 'make check RUN=' '^ *\./device$' make -n check RUN=
if has 'CMake and CTest' cmake command -v cmake; then
	block 'CMake and CTest' cmake 1 >CMakeLists.txt
	said 'CMake' . cmake -S . -B build
	said 'CMake, build' . cmake --build build
	said 'CTest' '100% tests passed.* of 2' ctest --test-dir build -j 2 --output-on-failure
fi
if has Rust cargo command -v cargo; then
	cd ../rust && mkdir .cargo && block Rust toml 1 >.cargo/config.toml
	said 'Rust' 'test result: ok. 1 passed' cargo test --offline
	rm -rf .cargo
	if [ "$(uname -m)" = x86_64 ]; then
		said 'Rust, by a variable' 'test result: ok. 1 passed' \
		env CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='uhca-run --private --' cargo test
	fi
fi
if has Go golang-go command -v go; then
	cd ../go || exit 99
	said 'Go' '^ok' go test -exec 'uhca-run --private --' ./...
fi
# Debian's, which the package is for.
if has Python python3-pyverbs /usr/bin/python3 -c 'import pyverbs, pytest'; then
	mkdir ../python && cd ../python && block Python python 1 >test_device.py
	ln -s /usr/bin/python3 "$tmp/bin/python3"
	said 'Python' '1 passed' uhca-run --private -- python3 -m pytest
	rm "$tmp/bin/python3"
fi
if has 'GitHub, GitLab' python3-yaml python3 -c 'import yaml'; then
	cd ../c || exit 99
	uses=$(yaml GitHub 2 "
step = y['jobs']['test']['steps'][-1]
assert step['uses'].startswith('OWNER/uhca@v'), step
assert set(step['with']) <= set(a['inputs']), step
print(step['with']['run'])") || status=1
	export UHCA_SCENARIO='' UHCA_OPTIONS='' UHCA_DEVICES=1 UHCA_PROFILE=default \
		UHCA_RESULTS=results
	UHCA_RUN=$uses said 'GitHub' 'the first is uhca0' "$srcdir/packaging/ci/github-run"
	script=$(yaml GitLab 2 "
template = yaml.safe_load(open('$srcdir/packaging/ci/gitlab.yml'))
assert y['test']['extends'] in template, template
print('\n'.join(y['test']['script']))") || status=1
	ln -s "$srcdir" uhca-source
	said 'GitLab' 'the first is uhca0' sh -ec "$script"
	yaml GitHub 1 "assert 'rdma link add' in y['jobs']['test']['steps'][1]['run']" || status=1
fi
[ $status != 0 ] || [ -z "$skipped" ] || status=77
[ $status != 77 ] || [ "${CI:-}" != true ] || status=1
exit $status
