#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Files that programs of ours write because they were asked to: where the name is a symbolic link
# the command fails, says so, and what the link leads to is as it was; a file of one's own is
# overwritten; "-", /dev/stdout and pipes are written to.
set -u
root=${UHCA_SRCDIR:?}
uhcactl=${UHCA_BUILDDIR:?}/uhcactl
run=$root/scripts/uhca-run
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

if [ "${1:-}" != inside ]; then
	folder=$(mktemp -d) || exit 99
	[ -n "${UHCA_KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT
	"$run" --private --fault 'drop opcode=ack nth=1' -- bash "$0" inside "$folder"
	exit
fi
folder=$2
failures=0

wrong() {
	echo "wrong: $*"
	failures=$((failures + 1))
}

# refuses COMMAND...: writes to $folder/name, or would.
refuses() {
	printf precious >"$folder/precious"
	ln -sf precious "$folder/name"
	"$@" >"$folder/out" 2>&1 && wrong "follows a link: $*"
	grep -q 'symbolic link' "$folder/out" || wrong "'$(cat "$folder/out")' of: $*"
	[ "$(cat "$folder/precious")" = precious ] || wrong "precious is lost by: $*"
	[ -L "$folder/name" ] || wrong "the link is gone by: $*"
	rm -f "$folder/name" && printf 'old and long' >"$folder/name"
	"$@" >"$folder/out" 2>&1
	[ -s "$folder/name" ] || [ -n "${may_be_empty:-}" ] || wrong "nothing written by: $*"
	! grep -q 'old and long' "$folder/name" || wrong "not overwritten by: $*"
	rm -f "$folder/name"
}

# writes PATTERN COMMAND...: the command writes to standard output, a pipe here.
writes() {
	local pattern=$1
	shift
	"$@" 2>&1 | cat >"$folder/out"
	grep -q "$pattern" "$folder/out" || wrong "no $pattern of: $*"
}

"$uhcactl" capture dump "$folder/capture" >"$folder/out" 2>&1 || wrong "no capture"
printf 'run one: true\nexpect exit one\n' >"$folder/scenario"
true_one=("$run" --private --sanitize --sanitize-options)

refuses "$uhcactl" capture dump "$folder/name"
refuses "$uhcactl" ladder "$folder/capture" --svg "$folder/name"
refuses "$uhcactl" report "$folder/capture" -o "$folder/name"
refuses "$uhcactl" report "$folder/capture" --json -o "$folder/name"
refuses "$uhcactl" --json fault trace "$folder/name"
may_be_empty=1 refuses "$uhcactl" fault trace "$folder/name"
refuses "$run" --scenario "$folder/scenario" --tap "$folder/name"
refuses "$run" --scenario "$folder/scenario" --junit "$folder/name"
may_be_empty=1 refuses "${true_one[@]}" "text=$folder/name" -- true
may_be_empty=1 refuses "${true_one[@]}" "json=$folder/name" -- true

for name in - /dev/stdout /dev/fd/1; do
	writes '<svg' "$uhcactl" ladder "$folder/capture" --svg $name
	writes '<html' "$uhcactl" report "$folder/capture" -o $name
	[ $name = - ] || writes '^\[' "$uhcactl" --json fault trace $name
	writes '^1\.\.' "$run" --scenario "$folder/scenario" --tap $name
	writes '<testsuite' "$run" --scenario "$folder/scenario" --junit $name
done
mkfifo "$folder/fifo"
cat "$folder/fifo" >"$folder/page" &
"$uhcactl" report "$folder/capture" -o "$folder/fifo" || wrong "no page into a FIFO"
wait $!
grep -q '</html>' "$folder/page" || wrong "not the whole page came out of a FIFO"

[ "$failures" = 0 ]
