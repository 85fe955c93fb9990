#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154,SC2317,SC2086
# Legal chaos (docs/explanation/chaos.md): stock programs pass with every seed, a wrong one
# is found by one of fifty, and the reduction names the relaxation that misleads it.
#
#   chaos.sh [WORD]      only cases whose name holds the word
#
# UHCA_CHAOS_SEED is where the seeds begin (1), UHCA_TIMES how many of them stock programs meet
# (3).
set -u
root=${UHCA_SRCDIR:?}
uhca_run=$root/scripts/uhca-run
wrong=${UHCA_BUILDDIR:?}/tests/verbs/faults/chaos_wrong
# The sanitizers' library must not be requested by programs that are started below uhca-run.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
# shellcheck source=tests/verbs/lib.sh
. "$root/tests/verbs/lib.sh"

seed=${UHCA_CHAOS_SEED:-1}
times=${UHCA_TIMES:-3}

id_listens() {
	"$UHCA_BUILDDIR/uhcactl" show cm_id 2>&1 | grep -q " listening "
}

# As a command of uhca-run: both sides of a program that has them.
if [ "${1:-}" = --pair ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
	port=$2
	# Who listens by rdma_cm is not seen among the system's sockets.
	again() { false; }
	case $3 in
	rping*)
		listens_or_is_gone() { id_listens || is_gone "$1"; }
		again() { closed_under_its_thread; }
		;;
	esac
	run_pair "$3" "$4"
	! again || run_pair "$3" "$4"
	complaint=$(pair_complaint)
	[ -z "$complaint" ] && exit 0
	echo "$complaint"
	cat "$out/server" "$out/client"
	exit 1
fi

for program in ibv_rc_pingpong ibv_ud_pingpong rping ucx_perftest; do
	command -v $program >/dev/null && continue
	echo "$program is missing (scripts/deps --install clients)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done

select_rows=("$@")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# hunt OPTION... -- COMMAND...: what it says is in $out/said.
hunt() {
	timeout -k 5 "$limit" "$uhca_run" --time-limit 60 "$@" >"$out/said" 2>&1
}

said() { # PATTERN
	grep -qE -e "$1" "$out/said" || echo "does not say '$1': $(tail -n 3 "$out/said")"
}

pair_passes() { # OPTIONS PORT SERVER CLIENT
	hunt --chaos="$seed${5:-}" --times "$times" $1 -- \
		bash "$root/tests/verbs/faults/chaos.sh" --pair "$2" "$3" "$4" ||
		echo "ended with $?: $(tail -n 4 "$out/said")"
	said "^uhca-run: chaos: $times seeds? passed, from $seed\$"
}

pingpong() { # OPTIONS EXTRA
	next_port
	pair_passes "$1" "$port" "ibv_rc_pingpong -g 0 -n 200 $2 -p $port" \
		"ibv_rc_pingpong -g 0 -n 200 $2 -p $port 127.0.0.1"
}

rping_case() { # OPTIONS
	next_port
	pair_passes "$1" "$port" "rping -s -a 127.0.0.1 -C 5 -p $port" \
		"rping -c -a 127.0.0.1 -C 5 -p $port"
}

ucx_case() { # OPTIONS
	local command
	next_port
	command="env UCX_TLS=rc_verbs,ud_verbs:aux UCX_NET_DEVICES=uhca0:1 UCX_RC_TIMEOUT=60ms"
	command+=" ucx_perftest -p $port"
	pair_passes "$1" "$port" "$command" "$command -t tag_lat -n 100 -w 5 -s 65536 127.0.0.1"
}

# Its protocol has no repetition: without what unreliable datagrams may do it passes, too.
ud_case() { # OPTIONS
	next_port
	pair_passes "$1" "$port" "ibv_ud_pingpong -g 0 -n 200 -p $port" \
		"ibv_ud_pingpong -g 0 -n 200 -p $port 127.0.0.1" ,-ud-lost,-ud-doubled,-ud-swapped
}

# found KIND RELAXATIONS: by one of 50 seeds, and reduced to one of these.
found() {
	hunt --devices 2 --chaos="$seed${asked:-}" --times 50 --minimise -- "$wrong" "$1" &&
		echo "no seed finds it"
	said '^misled: '
	said '^uhca-run: chaos seed [0-9]+ fails, after [0-9]+ that passed: status 1$'
	said '^uhca-run: 1 of [0-9]+ relaxations matters, '
	said "^uhca-run: again: uhca-run --chaos=[0-9]+,($2) --devices 2 -- "
	again_fails
}

# The last line is a command that does it again. Chance may want more than one try, and on a busy
# machine, where the daemon is away for longer than a relaxation delays, there are bad moments.
again_fails() {
	local words end=$((SECONDS + 30))
	words=$(sed -n 's/^uhca-run: again: uhca-run --chaos=\([^ ]*\) .*/\1/p' "$out/said" |
		tail -n 1)
	while [ $SECONDS -lt $end ]; do
		"$uhca_run" --chaos="$words" --devices 2 -- "$wrong" "${kind:?}" \
			>"$out/again" 2>&1 || return 0
	done
	echo "--chaos=$words does not do it again"
}

right_passes() { # KIND
	hunt --devices 2 --chaos="$seed${asked:-}" --times 10 -- "$wrong" "$1" right ||
		echo "done as it should be: $(tail -n 4 "$out/said")"
}

without() { # KIND
	hunt --devices 2 --chaos="$seed,none" --times 3 -- "$wrong" "$1" ||
		echo "without relaxations: $(tail -n 4 "$out/said")"
}

wrong_case() { # KIND RELAXATIONS [WORD]: a word that the seed does not take by itself
	kind=$1 asked=${3:-}
	without "$1"
	found "$1" "$2"
	right_passes "$1"
}

# One that hangs is ended with all that it started, and told apart.
too_long() {
	timeout 240 "$uhca_run" --chaos="$seed" --times 2 --time-limit 1 -- \
		sh -c 'sleep 1000 & echo "child $!"; wait' >"$out/said" 2>&1
	[ $? = 124 ] || echo "not 124"
	said 'the command did not end within 1 seconds'
	is_gone "$(sed -n 's/^child //p' "$out/said")" || echo "what it started is still there"
}

mistakes() {
	refused 'unknown relaxation .two-kees.: did you mean .two-keys.\?' --chaos=1,two-kees
	refused 'is not a seed' --chaos=1x
	refused 'need --chaos' --times 3
	refused 'needs a private daemon' --chaos --instance one
	refused 'not a number from 1' --chaos --times 0
	refused 'number from 1' --chaos --time-limit 0
	hunt --chaos="$seed,none" --minimise -- false
	said 'also fails without any relaxation'
	UHCA_DIR='' "$uhca_run" --chaos=help | grep -q '^two-keys ' || echo "help lists nothing"
}

refused() { # PATTERN OPTION...
	local pattern=$1
	shift
	"$uhca_run" "$@" -- true >"$out/said" 2>&1
	[ $? = 125 ] || echo "$*: not refused"
	said "$pattern"
}

case_of() { # NAME COMMAND...
	local name=$1 start complaint
	shift
	wanted chaos "$name" || return 0
	now_ms
	start=$now
	complaint=$("$@")
	if [ -z "$complaint" ]; then
		seconds_since "$start"
		printf 'ok   chaos %s (%s s)\n' "$name" "$seconds"
	else
		printf 'FAIL chaos %s: %s\n' "$name" "$complaint"
		row_failed=1
	fi
}

case_of mistakes mistakes
case_of too-long too_long
case_of wrong-opcode wrong_case opcode garbage-in-errors
case_of wrong-keys wrong_case keys two-keys
case_of wrong-event wrong_case event extra-events
# Whatever may make the first QP later than the second.
case_of wrong-order wrong_case order \
	'late-completions|extra-events|uneven-peers|late-answers|lost-packets|swapped-packets'
case_of wrong-last-byte wrong_case last-byte late-bytes
case_of wrong-shared-order wrong_case shared-order any-srq-order
case_of wrong-grh wrong_case grh any-grh
case_of wrong-number wrong_case number same-qp-numbers
case_of wrong-list wrong_case list full-queues ,+full-queues
case_of pingpong-inside pingpong "" ""
case_of pingpong-events-inside pingpong "" -e
case_of pingpong-wire pingpong --wire ""
case_of ud-pingpong-inside ud_case ""
case_of rping-inside rping_case ""
case_of rping-wire rping_case --wire
case_of ucx-inside ucx_case ""
case_of ucx-wire ucx_case --wire
exit $row_failed
