#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154,SC2317
# Congestion control under stock programs, by UDP: a rule marks packets as a switch would, the
# receiver answers with CNPs, the sender slows down; data arrives as it left.
#
#   congestion.sh [WORD]      only cases whose name holds the word
set -u
root=${UHCA_SRCDIR:?}
uhcactl=${UHCA_BUILDDIR:?}/uhcactl
# shellcheck source=tests/verbs/lib.sh
. "$root/tests/verbs/lib.sh"

for program in ibv_rc_pingpong ib_write_bw; do
	command -v $program >/dev/null && continue
	echo "$program is missing (scripts/deps --install clients)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done

if [ -z "${CONGESTION_INSIDE:-}" ]; then
	CONGESTION_INSIDE=1 exec "$root/scripts/uhca-run" --private --devices 2 --wire \
		--cc dcqcn:min-rate=200M,timer=10ms,bytes=0 -- bash "$0" "$@"
fi

select_rows=("$@")
# shellcheck disable=SC2034 # for run_pair of lib.sh
server_dev=uhca1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

counter() { # DEVICE NAME
	"$uhcactl" --json counters | awk -v dev="\"$1\"," -v name="\"$2\":" '
		$1 == "\"device\":" { ours = $2 == dev }
		ours && $1 == name { print $2 + 0 }'
}

hw_counter() { # DEVICE NAME: as monitoring tools read it
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

# MB/s of 60 WRITEs of 64 KiB.
bandwidth() {
	next_port
	run_pair_once "ib_write_bw -d uhca1 -x 0 -F -s 65536 -n 60 -p $port" \
		"ib_write_bw -d uhca0 -x 0 -F -s 65536 -n 60 -p $port 127.0.0.1"
	awk '$1 == 65536 { print int($4) }' "$out/client"
}

files_agree() {
	[ "$(hw_counter uhca1 np_cnp_sent)" = "$(counter uhca1 np_cnp_sent)" ] &&
		[ "$(hw_counter uhca0 rp_cnp_handled)" = "$(counter uhca0 rp_cnp_handled)" ]
}

slower_when_marked() {
	local free marked sent handled
	free=$(bandwidth)
	[ "$(counter uhca1 np_ecn_marked_roce_packets)" = 0 ] || echo "marks without a rule"
	"$uhcactl" fault add 'ecn opcode=rc.write' >"$out/rule"
	marked=$(bandwidth)
	"$uhcactl" fault clear >"$out/cleared"
	echo "$free and $marked MB/s" >"$out/note"
	[ "${marked:-0}" -gt 0 ] || echo "no bandwidth: $(last_words)"
	[ "${marked:-0}" -lt $((${free:-0} / 2)) ] ||
		echo "$marked MB/s with marks, ${free:-none} without"
	sent=$(counter uhca1 np_cnp_sent) handled=$(counter uhca0 rp_cnp_handled)
	[ "$(counter uhca1 np_ecn_marked_roce_packets)" -ge 960 ] || echo "not all were marked"
	[ "$sent" -gt 3 ] || echo "$sent CNPs"
	[ "$handled" -gt 3 ] && [ "$handled" -le "$sent" ] || echo "$handled of $sent CNPs handled"
	until_true files_agree || echo "files of hw_counters differ from uhcactl counters"
}

data_arrives() {
	next_port
	"$uhcactl" fault add 'ecn' >"$out/rule"
	"$uhcactl" capture start "$out/run.pcapng" >"$out/said"
	run_pair_once "ibv_rc_pingpong -d uhca1 -g 0 -c -s 100000 -n 20 -p $port" \
		"ibv_rc_pingpong -d uhca0 -g 0 -c -s 100000 -n 20 -p $port 127.0.0.1"
	"$uhcactl" capture stop >"$out/said"
	"$uhcactl" fault clear >"$out/cleared"
	pair_complaint
	"$uhcactl" ladder "$out/run.pcapng" >"$out/ladder"
	grep -q 'CNP: congestion notification' "$out/ladder" || echo "the ladder has no CNP"
	grep -q 'SEND_FIRST CE psn' "$out/ladder" || echo "the ladder has no mark"
}

# What uhcactl show says of a QP, while a program is there.
shown() {
	local name
	next_port
	start_server ib_write_bw -d uhca1 -x 0 -p "$port" --tclass 104
	until_true listens_or_is_gone "$server_pid" "$port"
	ib_write_bw -d uhca0 -x 0 -D 60 -F -p "$port" --tclass 104 127.0.0.1 >"$out/client" 2>&1 &
	client_pid=$!
	until_true shows_qp || echo "no QP: $(last_words)"
	for name in '"cc": "dcqcn"' '"traffic_class": 104' '"priority": 3'; do
		grep -q "$name" "$out/qps" || echo "not shown: $name"
	done
	kill "$client_pid"
	stop_server
	wait "$client_pid" "$server_pid" 2>/dev/null
}

shows_qp() {
	"$uhcactl" --json show qp >"$out/qps" 2>&1
	grep -q RTS "$out/qps"
}

try congestion slower slower_when_marked
try congestion data data_arrives
try congestion shown shown
exit $row_failed
