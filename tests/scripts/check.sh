#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/check adds up what ran, and nothing that did not come to its end passes: a build, the unit
# tests, the clients, one of the sanitizers. In a tree whose parts say what they are told to say.
set -u
root=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
failed=0

part() { # FILE LINE...: an executable of the tree
	mkdir -p "$tmp/tree/${1%/*}"
	printf '%s\n' '#!/bin/sh' "${@:2}" >"$tmp/tree/$1"
	chmod +x "$tmp/tree/$1"
}

make_says() { # LINE...: of make check's summary
	part ./said "printf '%s\n' $(printf '"%s" ' "$@")"
}

good_tree() {
	rm -rf "$tmp/tree"
	mkdir -p "$tmp/tree/scripts"
	cp "$root/scripts/check" "$root/scripts/build.sh" "$tmp/tree/scripts/"
	touch "$tmp/tree/configure.ac"
	part ./configure 'printf "all:\ncheck check-unsanitized:\n\t@../said\n" >Makefile' \
		': >test-suite.log'
	make_says "PASS: some" "# TOTAL: 5" "# PASS: 3" "# SKIP: 1" "# XFAIL: 1" "# FAIL: 0" \
		"# XPASS: 0" "# ERROR: 0"
	part scripts/deps exit
	# shellcheck disable=SC2016 # of the part's shell
	part tests/support/own-network 'exec "$@"'
	part tests/verbs/clients 'echo "ok   one"; echo "clients: 10 passed, 0 failed, 2 skipped"'
	part scripts/sanitize 'echo "100 passed, 0 failed, 20 skipped"'
}

# check_says STATUS LAST LINE...: check's status, its last line, and what it says besides.
check_says() {
	local status line
	UHCA_CHECK_INSIDE=1 timeout 240 bash "$tmp/tree/scripts/check" >"$tmp/said" 2>&1
	status=$?
	[ $status = "$1" ] || complain "status $status, not $1"
	[ "$(tail -n 1 "$tmp/said")" = "$2" ] || complain "the last line is not '$2'"
	for line in "${@:3}"; do
		grep -qFx -e "$line" "$tmp/said" || complain "no line '$line'"
	done
}

complain() {
	echo "check.sh, line ${BASH_LINENO[1]}: $*"
	tail -n 20 "$tmp/said"
	failed=1
}

good_tree
check_says 0 "214 passed, 0 failed, 43 skipped" "== make check" "== stock clients" "== sanitizers"

mkdir "$tmp/shims"
printf '#!/bin/sh\nexit 1\n' >"$tmp/shims/python3"
chmod 755 "$tmp/shims/python3"
part scripts/deps 'exec python3 -c pass'
PATH=$tmp/shims:$PATH check_says 0 "214 passed, 0 failed, 43 skipped"

part scripts/deps 'exit 1'
check_says 1 "0 passed, 1 failed, 0 skipped" "packages are missing"

good_tree
part ./configure 'exit 1'
check_says 1 "0 passed, 1 failed, 0 skipped" "the build failed"

good_tree
part ./configure 'printf "all:\n\tfalse\n" >Makefile'
check_says 1 "0 passed, 1 failed, 0 skipped" "the build failed"

good_tree
make_says "PASS: some"
check_says 1 "0 passed, 1 failed, 0 skipped" "make check did not finish"

good_tree
part ./configure 'mkdir tests; echo "no completion" >tests/a.log' \
	'printf "all:\ncheck-unsanitized:\n\t@../said\n" >Makefile; : >test-suite.log'
make_says "FAIL: tests/a.sh" "XPASS: b" "ERROR: c" "# TOTAL: 4" "# PASS: 1" "# SKIP: 0" \
	"# XFAIL: 0" "# FAIL: 1" "# XPASS: 1" "# ERROR: 1"
check_says 1 "211 passed, 3 failed, 42 skipped" "tests/a.sh (build/tests/a.log)" "  no completion" \
	"b (build/b.log)" "c (build/c.log)"

good_tree
part tests/verbs/clients 'echo "ok   one"'
check_says 1 "4 passed, 1 failed, 1 skipped" "the clients did not finish"

good_tree
part tests/verbs/clients 'echo "clients: failed: wire one"' \
	'echo "clients: 9 passed, 1 failed, 0 skipped"'
check_says 1 "213 passed, 1 failed, 41 skipped" "wire one"

good_tree
# shellcheck disable=SC2016 # of the part's shell
part scripts/sanitize '[ $# = 1 ] || echo "100 passed, 0 failed, 0 skipped"'
check_says 1 "14 passed, 1 failed, 3 skipped" "the sanitized clients did not finish"

good_tree
part scripts/sanitize 'echo "FAIL two"; echo "99 passed, 1 failed, 0 skipped"'
check_says 1 "212 passed, 2 failed, 3 skipped" "sanitize: FAIL two"

# It tests its own tree, wherever the shell that starts it was before.
good_tree
# shellcheck disable=SC2016 # of the part's shell
part tests/verbs/clients 'echo "${UHCA_SRCDIR-its own} ${UHCA_BUILDDIR-its own}"' \
	'echo "clients: 10 passed, 0 failed, 2 skipped"'
export UHCA_SRCDIR=/elsewhere UHCA_BUILDDIR=/elsewhere/build
check_says 0 "214 passed, 0 failed, 43 skipped" "its own its own"

[ $failed = 0 ] && echo "check.sh: what did not come to its end does not pass"
exit $failed
