#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tests/examples/failover in the scenarios of tests/scenarios/fleet: with UDP between the devices,
# under the sanitizer and under legal chaos, which find nothing in it; and between two daemons. The
# gallery has them inside one daemon.
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
	scenario "$name" --wire
	scenario "$name" --sanitize
done
seed=${UHCA_SEED:-$(date +%s)}
echo "chaos seed $seed"
# both FAULT OPTION...: sender and receiver on devices of one daemon.
both() {
	fault=$1
	shift
	# shellcheck disable=SC2016
	"$run" --private --devices 4 --fault "$fault" "$@" -- sh -c '
		"$FAILOVER" - "$1" uhca2 uhca3 200 &
		"$FAILOVER" 127.0.0.1 "$1" uhca0 uhca1 200 && wait $!' sh "$port" \
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
	for name in fails-over-and-back adapter-returns other-gid-index none-is-left; do
		scenario "$name"
	done
	FAILOVER=$c
else
	echo "no pyverbs: failover.py is not run (scripts/deps --install clients)"
fi

# The sender's adapters belong to another daemon than the receiver's, as on two hosts.
two_daemons() { # RULE
	"$run" --private --wire --addr 127.46.2.1 --addr 127.46.2.2 -- \
		"$FAILOVER" - "$port" uhca0 uhca1 200 >"$out/receiver" 2>&1 &
	receiver=$!
	"$run" --private --wire --addr 127.46.1.1 --addr 127.46.1.2 --fault "$1" -- \
		"$FAILOVER" 127.0.0.1 "$port" uhca0 uhca1 200 >"$out/said" 2>&1 || complain "$1"
	wait $receiver || complain "$1: the receiver"
	grep -q '^rail 1 carries$' "$out/said" || complain "$1: no failover"
	grep -q '^200 messages, each once$' "$out/receiver" || complain "$1: not all arrived"
}
two_daemons 'port.down=60ms dev=uhca0 opcode=send nth=50'
two_daemons 'dev.unplug=60ms dev=uhca0 opcode=send nth=50'
two_daemons 'gid.move=0:3 dev=uhca0 opcode=send nth=50'
exit $status
