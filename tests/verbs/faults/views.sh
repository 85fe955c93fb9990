#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2317
# What explain, report and ladder say of one capture is the same, and is so: of a ping-pong with one
# mistake in it, inside a daemon, with --wire and between two daemons, where the cause is named; of
# each scenario; of each lab.
#
#   views.sh [WORD]      only cases whose name holds the word
set -u
root=${UHCA_SRCDIR:?}
build=${UHCA_BUILDDIR:?}
uhca_run=$root/scripts/uhca-run
uhcactl=$build/uhcactl
bugs=$build/tests/verbs/faults/pingpong_bugs
views=$build/tests/verbs/faults/views
# shellcheck source=tests/verbs/lib.sh
. "$root/tests/verbs/lib.sh"

if [ -z "${VIEWS_INSIDE:-}" ]; then
	VIEWS_INSIDE=1 exec "$root/tests/support/own-network" bash "$0" "$@"
fi

select_rows=("$@")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
hasten_perftest

# How long a side may wait for what does not come, in seconds: the bugs that hang are ended by it.
hang=2

# One mistake, both sides of it on one device; captured to $out/run.pcapng, and by the recorder.
together() { # BUG OPTION...
	local bug=$1
	shift
	next_port
	rm -f "$out"/*.pcapng*
	# shellcheck disable=SC2016 # of the inner shell
	"$uhca_run" --private --on-error "$out/error.pcapng" "$@" -- bash -c '
		"$1" capture start "$2/run.pcapng" >"$2/start"
		timeout "$6" "$3" "$4" "$5" 2>"$2/server" &
		timeout "$6" "$3" "$4" "$5" 127.0.0.1 2>"$2/client" &
		wait %1; wait %2
		"$1" explain live >"$2/live" 2>&1
		"$1" capture stop >"$2/stop"' - "$uhcactl" "$out" "$bugs" "$bug" "$port" "$hang" \
		>"$out/run" 2>&1
	"$uhcactl" explain "$out/run.pcapng" | tr -s ' \n' ' ' >"$out/explain"
}

# The same with a daemon for each side: $out/server.pcapng and $out/client.pcapng.
apart() { # BUG
	local bug=$1 side host
	next_port
	rm -f "$out"/*.pcapng*
	for side in server client; do
		[ "$side" = server ] && host='' || host=127.0.0.1
		# shellcheck disable=SC2016 # of the inner shell
		"$uhca_run" --private --addr "127.0.0.$((${#host} ? 1 : 2))" -- bash -c '
			"$1" capture start "$2.pcapng" >"$2.start"
			timeout "$6" "$3" "$4" "$5" $7 2>"$2.errors"
			"$1" capture stop >"$2.stop"' - "$uhcactl" "$out/$side" "$bugs" "$bug" \
			"$port" "$hang" "$host" >"$out/$side.run" 2>&1 &
	done
	wait
	for side in server client; do
		"$uhcactl" explain "$out/$side.pcapng" | tr -s ' \n' ' ' >"$out/$side.explain"
	done
}

agree() { # FILE...
	"$views" "$@"
}

says() { # FILE PATTERN
	grep -Eq -- "$2" "$1" || echo "it does not say: $2; but: $(cut -c 1-600 "$1")"
}

# The cause of each mistake: what a capture of the daemon with both sides says.
cause_of() {
	case $1 in
	psn) echo 'PSN 100 came, and PSN 107 is expected next' ;;
	gid) echo 'No device is at 127\.0\.0\.6[56]' ;;
	rkey) echo 'key 0x[0-9a-f]+ names nothing; the key most like it that would do is 0x' ;;
	bounds) echo '2048 bytes at 0x[0-9a-f]+ end 1 byte behind the region of key' ;;
	noaccess) echo "QP's qp_access_flags lack IBV_ACCESS_REMOTE_WRITE" ;;
	lkey) echo 'Key 0x[0-9a-f]+ names nothing; the key most like it that would do is 0x' ;;
	small) echo 'message has 2048 bytes, and the receive request has room for 1024' ;;
	mtu) echo 'a packet has 1024 bytes of payload, .*: the path MTU here is 512' ;;
	reads) echo "more READs and atomics at a time than the QP's max_dest_rd_atomic, which is" ;;
	alignment) echo 'address 0x[0-9a-f]+ is not aligned to 8 bytes' ;;
	length) echo '16 bytes, where it must be 8' ;;
	norecv) echo 'no receive request is posted' ;;
	norts) echo 'post_send of wr 0x0: EINVAL, because the QP is in RTR' ;;
	forgotten) echo 'completions? (is|are) not polled yet' ;;
	unsignaled) echo 'done without a completion \(not signaled\)' ;;
	reuse) echo 'none has an error' ;;
	esac
}

all_bugs=(psn gid rkey bounds noaccess lkey small norecv norts forgotten unsignaled reuse)
all_bugs+=(mtu reads alignment length)

# What a failure leaves behind by itself has the failing request as well.
says_so_at_once() { # BUG
	[ -s "$out/error.pcapng" ] || return 0
	"$uhcactl" explain "$out/error.pcapng" | tr -s ' \n' ' ' >"$out/explain"
	says "$out/explain" "$(cause_of "$1")"
}

inside() { # BUG
	together "$1"
	says "$out/explain" "$(cause_of "$1")"
	says_so_at_once "$1"
	agree "$out"/*.pcapng
}

wire() { # BUG
	together "$1" --wire
	says "$out/explain" "$(cause_of "$1")"
	says_so_at_once "$1"
	agree "$out"/*.pcapng
}

# What only the peer's device knows, its capture says: one of the two has it.
two() { # BUG
	apart "$1"
	cat "$out/server.explain" "$out/client.explain" >"$out/explain"
	says "$out/explain" "$(cause_of "$1")"
	agree "$out"/*.pcapng
}

scenario() { # FILE
	rm -f "$out"/*.pcapng*
	awk -v file="$out/run.pcapng" '!done && /^(fault|run|after) / {
			print "capture " file; done = 1 } { print }' "$1" >"$out/run.scn"
	"$uhca_run" --scenario "$out/run.scn" >"$out/run" 2>&1
	[ -s "$out/run.pcapng" ] || echo "no capture: $(tail -n 3 "$out/run")"
	agree "$out/run.pcapng"
}

lab() { # NAME
	rm -f "$out"/*.pcapng*
	UHCA_LAB_DIR=$out/lab "$root/scripts/lab" "$1" run \
		"$root/docs/tutorials/labs/$1/solution.c" >"$out/run" 2>&1
	[ -s "$out/lab/last.pcapng" ] || echo "no capture: $(tail -n 3 "$out/run")"
	agree "$out/lab/last.pcapng"
	rm -rf "$out/lab"
}

for bug in "${all_bugs[@]}"; do
	try views "inside-$bug" inside "$bug"
	try views "wire-$bug" wire "$bug"
	try views "two-$bug" two "$bug"
done
for file in "$root"/tests/scenarios/*.scn "$root"/tests/scenarios/*/*.scn; do
	try views "scenario-$(basename "$file" .scn)" scenario "$file"
done
for folder in "$root"/docs/tutorials/labs/*/; do
	try views "lab-$(basename "$folder")" lab "$(basename "$folder")"
done
exit $row_failed
