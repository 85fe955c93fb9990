#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/sanitize counts rows that pass and rows that fail, and clients that ended without a word
# as one that failed. In a tree whose clients say what they are told to say.
set -u
root=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL UHCA_SRCDIR UHCA_BUILDDIR
failed=0

mkdir -p "$tmp/scripts" "$tmp/tests/verbs/hostile"
cp "$root/scripts/sanitize" "$root/scripts/build.sh" "$tmp/scripts/"
touch "$tmp/configure.ac"
cat >"$tmp/configure" <<'END'
#!/bin/sh
echo "$*" >config.status
printf 'all:\n\t@echo __asan_init >uhcad\n.DEFAULT:\n\t@:\n' >Makefile
END
chmod +x "$tmp/configure"

# says STATUS LINE COMMAND...: sanitize's status and a line of it, where the clients are the command
says() {
	printf '%s\n' '#!/bin/sh' "${@:3}" >"$tmp/tests/verbs/clients"
	chmod +x "$tmp/tests/verbs/clients"
	timeout 240 bash "$tmp/scripts/sanitize" wire "some rows" >"$tmp/said" 2>&1
	local status=$?
	[ $status = "$1" ] && grep -qFx -e "$2" "$tmp/said" && return
	echo "sanitize.sh: status $status, not $1, or no line '$2':"
	cat "$tmp/said"
	failed=1
}

says 0 "2 passed, 0 failed, 1 skipped" 'echo "ok   wire a"; echo "skip wire b"; echo "ok   wire c"'
says 1 "1 passed, 1 failed, 0 skipped" 'echo "ok   wire a"; echo "FAIL wire b: why"; exit 1'
says 1 "1 passed, 1 failed, 0 skipped" 'echo "ok   wire a"; exit 3'
says 1 "FAIL wire some rows: clients ended with 1: clients: no row has these words" \
	'echo "clients: no row has these words"; exit 1'

[ $failed = 0 ] && echo "sanitize.sh: clients that end early do not pass"
exit $failed
