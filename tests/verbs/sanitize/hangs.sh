#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Hangs: of programs that idle nothing is said, also while the machine is busy; those that hang are
# found in the ways that the checks' own programs do not show: strict arming, two processes over the
# network and on two devices, with rdma_cm; and what the setting does.
set -u
run=${UHCA_SRCDIR:?}/scripts/uhca-run
programs=${UHCA_BUILDDIR:?}/tests/verbs/sanitize
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
export TMPDIR=$out
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS
failed=0
busy=() idle=()

complain() {
	echo "$*"
	failed=1
}

# watch STATUS WHAT OPTION... -- COMMAND...: of uhca-run; what it printed is in $out/said.
watch() {
	local want=$1 what=$2 status group
	shift 2
	timeout -k 2 240 "$run" --private --sanitize "$@" >"$out/said" 2>&1 &
	group=$! # timeout leads a process group
	wait $group
	status=$?
	# With halt_on_error the reported process ends. One that it forked may wait for ever.
	kill -KILL -- -$group 2>/dev/null
	[ $status = "$want" ] || complain "$what: status $status, not $want: $(cat "$out/said")"
}

says() { # WHAT WORDS
	grep -qF -e "$2" "$out/said" || complain "$1: '$2' is not in: $(cat "$out/said")"
}

# All at once: each in an instance of its own.
idlers() { # WHAT OPTION...
	local mode modes what=$1 pid
	shift
	mapfile -t modes < <("$programs/idle")
	for mode in "${modes[@]}"; do
		timeout -k 2 240 "$run" --private --sanitize --sanitize-options hang_after=0.3 \
			"$@" -- "$programs/idle" "$mode" >"$out/$mode" 2>&1 &
		idle[$!]=$mode # by process
	done
	for pid in "${!idle[@]}"; do
		mode=${idle[$pid]}
		wait "$pid" || complain "$mode, $what: status $?: $(cat "$out/$mode")"
		! grep -q 'ERROR: uhca-sanitizer' "$out/$mode" ||
			complain "$mode, $what: $(cat "$out/$mode")"
	done
	idle=()
}

occupy() { # both processors
	for _ in 1 2 3 4; do
		while :; do :; done &
		busy+=($!)
	done
}

relieve() {
	kill "${busy[@]}" && wait "${busy[@]}" 2>/dev/null
}

found() { # CHECK PROGRAM OPTION...: in whatever instance
	local check=$1 program=$2
	shift 2
	watch 99 "$check, $program $*" --sanitize-options hang_after=1:halt_on_error=1 "$@" -- \
		"$programs/$program"
	says "$check, $program $*" "ERROR: uhca-sanitizer: $check: "
}

strictly() {
	local how
	for how in --strict-arming '--profile rxe' '--profile ib-strict'; do
		# shellcheck disable=SC2086 # two words
		found lost-wakeup bad/queues/lost-wakeup $how
		# shellcheck disable=SC2086
		found lost-wakeup known/brpc-3425 $how
	done
	found lost-wakeup known/perftest-203 --strict-arming
}

over_sockets() {
	found poll-nothing across/completions-stolen
	says "two threads" "2 threads poll completion queue"
	found peer-waits across/limit-unarmed
	says "an SRQ" "no limit was ever armed"
	found poll-nothing second/queue-of-others
	says "another queue" "they wait in another queue, which is not polled"
}

over_the_network() {
	found peer-waits known/softiwarp-7 --wire
	says "both processes" "process "
	found peer-gone known/perftest-381 --wire
	found peer-unready bad/hangs/peer-unready --wire
}

with_rdma_cm() {
	local unread="an event of rdma_cm waits to be read"
	watch 0 "TIMEWAIT" --sanitize-options hang_after=0.3 -- "$programs/forms/cm-unread" mended
	found events-unacked cm_unacked
	found cm-unread forms/cm-unread
	says "an event that nobody reads" "$unread"
	found peer-gone known/perftest-381
	! grep -qF "$unread" "$out/said" || complain "without rdma_cm: $(cat "$out/said")"
}

# It has polled for half of the time, and the watching thread comes late.
gives_up_once() { # NUMBER
	local out=$out/gives-up-$1
	mkdir "$out"
	failed=0
	watch 99 "gives up, $1" -- "$programs/forms/gives-up"
	says "gives up, $1" "the program gives up and fails"
	return $failed
}

# All at once: each second of a busy machine is dear.
gives_up() {
	local i pids=()
	for i in 1 2 3 4; do
		gives_up_once "$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || failed=1
	done
}

# A thread's own mistake is the cause: that the whole process waits adds nothing.
once() {
	watch 99 "once" --sanitize-options hang_after=0.3 --time-limit 4 -- \
		"$programs/bad/hangs/wait-unarmed"
	says "once" "ERROR: uhca-sanitizer: wait-unarmed: "
	! grep -q 'ERROR: uhca-sanitizer: peer-waits: ' "$out/said" || complain "$(cat "$out/said")"
}

settings() {
	watch 124 "turned off" --sanitize-options hang_after=0 --time-limit 3 -- \
		"$programs/bad/hangs/poll-nothing"
	! grep -q 'ERROR: uhca-sanitizer' "$out/said" || complain "turned off: $(cat "$out/said")"
	watch 125 "no time" --sanitize-options hang_after=soon -- true
	says "no time" "hang_after=SECONDS"
	watch 124 "a check left out" --sanitize=sum,-poll-nothing \
		--sanitize-options hang_after=0.5 --time-limit 3 -- \
		"$programs/bad/hangs/poll-nothing"
}

idlers "a quiet machine"
occupy
idlers "a busy machine"
gives_up
relieve
idlers "chaos" --chaos=1
strictly
over_sockets
over_the_network
with_rdma_cm
once
settings
exit $failed
