#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/rules/check-spdx finds files without a licence, and .c files that do not say what they
# are.
set -u
root=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
failed=0
mkdir -p "$tmp/wire" "$tmp/tests"
licence='/* SPDX-License-Identifier: BSD-2-Clause */'

# ends STATUS [LINE]: the check ends so, and has that line.
ends() {
	local said status
	said=$(UHCA_SRCDIR=$tmp "$root/scripts/rules/check-spdx" 2>&1)
	status=$?
	[ "$status" = "$1" ] && grep -qFx -e "${2:-$said}" <<<"$said" && return
	echo "spdx.sh, line ${BASH_LINENO[0]}: status $status, not $1 with '${2:-}': $said"
	failed=1
}
# begins FILE LINE...: FILE has a licence and these lines.
begins() { printf '%s\n' "$licence" "${@:2}" >"$tmp/$1"; }

begins wire/a.c '/* Packets: how they are read. */' 'int a;'
ends 0
begins wire/a.c '/*' ' * See a.h. Packets: how they are read.' ' */' 'int a;'
ends 0
for file in wire/a.c tests/a.c; do
	begins "$file" '/* See a.h. */' 'int a;'
	ends 1 "$file: does not begin with what it is"
	begins "$file" '/*' ' * See core/a.h.' ' */' '/* Other. */' 'int a;'
	ends 1 "$file: does not begin with what it is"
	begins "$file" '/* What it is. */' 'int a; /* See a.h. */'
done
ends 0
begins tests/a.c 'int a;'
ends 0
begins wire/a.c 'int a;' '/* Other. */'
ends 1 'wire/a.c: does not begin with what it is'
rm "$tmp/wire/a.c"
echo 'int a;' >"$tmp/tests/a.c"
ends 1 'tests/a.c: no SPDX line in the first two lines'
exit $failed
