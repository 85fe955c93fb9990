#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/examples/failover, in C and in Python, in the scenarios of tests/scenarios/fleet: under the
# sanitizer with sender and receiver on two daemons, and under legal chaos. Nothing is found in it.
# tests/verbs/rows/scenarios.sh has the scenarios without the sanitizer in all arrangements.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
FAILOVER=${UHCA_BUILDDIR:?}/tests/examples/failover/failover
export ASAN_OPTIONS FAILOVER
run=${UHCA_SRCDIR:?}/scripts/uhca-run
gallery=$UHCA_SRCDIR/tests/scenarios/fleet
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
status=0

complain() { # TITLE
	echo "$1:"
	cat "$out/said"
	status=1
}

# scenario NAME OPTION...: passes, and nothing is found in the program.
scenario() {
	name=$1
	shift
	"$run" "$@" --scenario "$gallery/$name.scn" >"$out/said" 2>&1 || complain "$name $*"
	grep 'uhca-sanitizer: ' "$out/said" | grep -qv NOTE &&
		complain "$name $*: the sanitizer reports"
}

for name in fails-over-and-back adapter-returns adapter-stays-away peer-adapter-resets \
	other-gid-index both-fail none-is-left; do
	scenario "$name" --two-daemons --sanitize
done
seed=${UHCA_SEED:-$(date +%s)}
echo "chaos seed $seed"
# both FAULT OPTION...: sender and receiver on devices of one daemon.
both() {
	fault=$1
	shift
	# shellcheck disable=SC2016
	"$run" --private --devices 4 --fault "$fault" "$@" -- sh -c '
		$FAILOVER - "$1" uhca2 uhca3 200 &
		$FAILOVER 127.0.0.1 "$1" uhca0 uhca1 200 && wait $!' sh "$port" \
		>"$out/said" 2>&1 || complain "$fault $*"
	grep -q '^rail 1 carries$' "$out/said" || complain "$fault $*: no failover"
	grep -q '^200 messages, each once$' "$out/said" || complain "$fault $*: not all arrived"
}
port=$((20000 + $$ % 20000))
both 'port.down=60ms dev=uhca0 opcode=send nth=50' --chaos="$seed"
both 'dev.unplug=60ms dev=uhca0 opcode=send nth=50' --chaos="$seed"

# The same by pyverbs.
if /usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null; then
	c=$FAILOVER
	FAILOVER="/usr/bin/python3 $UHCA_SRCDIR/tests/examples/failover/failover.py"
	for name in fails-over-and-back adapter-returns peer-adapter-resets other-gid-index \
		none-is-left; do
		scenario "$name" --sanitize
	done
	both 'dev.reset=60ms dev=uhca2 opcode=send nth=50 at=packet dir=rx' --chaos="$seed"
	FAILOVER=$c
else
	echo "no pyverbs: failover.py is not run (scripts/deps --install clients)"
fi
exit $status
