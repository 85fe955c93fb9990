#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mcast.c: on two devices of one daemon, inside it and over the network, and between
# two daemons; over network namespaces, too, where there can be any.
set -u
program=${UHCA_BUILDDIR:?}/tests/verbs/queues/mcast
run=${UHCA_SRCDIR:?}/scripts/uhca-run
two_hosts=$UHCA_SRCDIR/tests/support/two-hosts
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
out=$(mktemp -d) || exit 1
[ -n "${UHCA_KEEP:-}" ] || trap 'rm -rf "$out"' EXIT # else keep-failure does it
# shellcheck source=tests/verbs/wait.sh
. "$UHCA_SRCDIR/tests/verbs/wait.sh"

says() { # WORD: the listener has printed it
	grep -qs "$1" "$out/listener"
}

# pair GROUP LISTENER-WORDS versus SPEAKER-WORDS: one side hears what the other says.
pair() {
	local group=$1 listener=() status
	shift
	while [ "$1" != versus ]; do
		listener+=("$1")
		shift
	done
	shift
	: >"$out/listener"
	"${listener[@]}" "$program" listen "$group" "are you there" >"$out/listener" 2>&1 &
	if until_true says listening; then
		"$@" "$program" speak "$group" "are you there"
		status=$?
	else
		status=1
	fi
	if [ $status = 0 ] && until_true says "heard it"; then
		wait $!
	else
		kill $! 2>/dev/null
		wait $!
		echo "mcast.sh: $group was not heard:" >&2
		cat "$out/listener" >&2
		return 1
	fi
}

if [ "${1:-}" = --hosts ]; then # below two-hosts
	on_a=("$two_hosts" --in a -- "$run" --private --addr "${UHCA_HOST_A%% *}" --)
	on_b=("$two_hosts" --in b -- "$run" --private --addr "${UHCA_HOST_B%% *}" --)
	pair ::ffff:239.77.1.1 "${on_b[@]}" versus "${on_a[@]}"
	exit
fi

"$run" --private --devices 2 -- "$program" || exit
"$run" --private --devices 2 --wire -- "$program" || exit

# Addresses of daemons that others may run on this machine are avoided.
block=127.2.$(($$ % 250))
there=("$run" --private --addr "$block.1" --)
here=("$run" --private --addr "$block.2" --)
pair ::ffff:239.77.1.1 "${there[@]}" versus "${here[@]}" || exit
pair ff0e::ffff:239.77.1.2 "${there[@]}" versus "${here[@]}" || exit

"$two_hosts" -- "$0" --hosts
status=$?
[ $status != 77 ] || echo "mcast.sh: the pair in network namespaces was left out" >&2
[ $status = 77 ] || exit $status
