#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154,SC2317
# Captures of stock programs' traffic, as tshark, capinfos and scripts/uhca.lua see them: each
# packet with its comment, nothing malformed, what a rule did, what was sent again and why; the
# flight recorder; a capture that is looked at while it grows, and one whose disk is full.
#
#   capture.sh [WORD]      only cases whose name holds the word
set -u
root=${UHCA_SRCDIR:?}
uhca_run=$root/scripts/uhca-run
uhcactl=${UHCA_BUILDDIR:?}/uhcactl
# shellcheck source=tests/verbs/lib.sh
. "$root/tests/verbs/lib.sh"

for program in ibv_rc_pingpong ib_read_bw ib_write_bw tshark capinfos; do
	command -v $program >/dev/null && continue
	echo "$program is missing (scripts/deps --install clients)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done

if [ -z "${CAPTURE_INSIDE:-}" ]; then
	CAPTURE_DIR=$(mktemp -d)
	trap 'rm -rf "$CAPTURE_DIR"' EXIT
	export CAPTURE_DIR
	CAPTURE_INSIDE=1 "$uhca_run" --private --devices 2 --on-error "$CAPTURE_DIR/error" -- \
		bash "$0" "$@"
	exit
fi

select_rows=("$@")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
hasten_perftest
# No preference of the user may change the outcome.
export HOME=$out XDG_CONFIG_HOME=$out
file=$CAPTURE_DIR/x.pcapng

# Payloads here mean nothing: the protocols that tshark would guess in them are switched off.
read -ra guesses <<<"$(tshark -G heuristic-decodes 2>/dev/null |
	awk '$1 ~ /^infiniband\./ && $2 != "ethertype" { print "--disable-protocol", $2 }' | xargs)"

# For root newer releases (4.4) run no script in Lua: it is an ordinary user in its own eyes.
ordinary=()
[ "$(id -u)" != 0 ] || ! unshare --map-user=1000 true 2>/dev/null ||
	ordinary=(unshare --map-user=1000)

dissect() { # FILE OPTION...
	"${ordinary[@]}" tshark -n -X "lua_script:$root/scripts/uhca.lua" "${guesses[@]}" -r "$@" \
		2>"$out/tshark"
}

# The records of a file, one on each line.
records() { # FILE
	dissect "$1" -Y uhca.record -T fields -e uhca.text
}

# What is wrong with a capture at all: one look at it, and more only when there is something.
complaint_of() { # FILE
	local wrong='_ws.malformed || _ws.expert.severity >= 0x600000 ||
		(!infiniband && !uhca.record)' bare='infiniband && !frame.comment'
	dissect "$1" -Y "($wrong) || ($bare)" >"$out/bad"
	grep -iE "lua|error|cut short|damaged|corrupt" "$out/tshark"
	[ ! -s "$out/bad" ] || {
		dissect "$1" -Y "$wrong" | sed 's/^/tshark complains: /' | head -n 3
		dissect "$1" -Y "$bare" | sed 's/^/without comment: /' | head -n 1
	}
	capinfos "$1" >"$out/capinfos" 2>&1 || echo "capinfos: $(head -n 1 "$out/capinfos")"
}

start() { # OPTION...
	"$uhcactl" capture start "$file" "$@" >"$out/start" 2>&1 || cat "$out/start"
}

# Ends the capture and looks at it.
stop() {
	"$uhcactl" capture stop >"$out/stop" 2>&1 || cat "$out/stop"
	complaint_of "$file"
	grep -q "Number of packets:  *$(sed -n 's/.*: \([0-9]*\) packets.*/\1/p' "$out/stop")\$" \
		"$out/capinfos" || echo "capinfos counts otherwise: $(cat "$out/stop")"
}

pingpong() { # SIZE COUNT
	next_port
	run_pair "ibv_rc_pingpong -d uhca1 -g 0 -s $1 -n $2 -p $port" \
		"ibv_rc_pingpong -d uhca0 -g 0 -s $1 -n $2 -p $port 127.0.0.1"
	pair_complaint
}

rule() { # RULE
	"$uhcactl" fault add "$1" >"$out/rule" 2>&1 || cat "$out/rule"
}

# count FILTER EXPECTED
count() {
	local n
	n=$(dissect "$file" -Y "$1" | wc -l)
	[ "$n" -eq "$2" ] || echo "$n packets of $1, not $2"
}

says() { # TEXT: among the records
	grep -q -- "$1" "$out/records" || echo "no record '$1'"
}

# Each message of 20 packets is one, and its packets know which part they are.
plain_messages() {
	start
	pingpong 20000 3
	stop
	count "uhca.part" 240
	count 'uhca.part == "1/20" && uhca.op == "SEND"' 12
	count 'uhca.try || uhca.dropped || uhca.rule' 0
	dissect "$file" -Y uhca.part -T fields -e uhca.message | sort | uniq -c |
		awk '$1 != 20 { print "message " $2 " has " $1 " packets" }
			END { if (NR != 12) print NR " messages, not 12" }'
	dissect "$file" -Y uhca.part -T fields -e uhca.wr -e uhca.qp |
		grep -vE '^0x0000000000000002	0x00[0-9a-f]{6}$' | head -n 1
	records "$file" >"$out/records"
	says "state dev=uhca0 qp=0x[0-9a-f]* from=RTR to=RTS"
	says "region dev=uhca1 key=0x[0-9a-f]* address=0x[0-9a-f]* length=20000 pages=4096"
	says "completion dev=uhca0 .* status=SUCCESS opcode=SEND"
	says "counters dev=uhca1 .*rx_packets="
}

# The ACK that a rule takes is there, as dropped; what it was for is sent again, by the timer.
lost_ack() {
	start
	rule 'lost-ack: drop dev=uhca1 opcode=rc.ack nth=1'
	pingpong 10000 3
	"$uhcactl" fault remove lost-ack >/dev/null
	stop
	count 'uhca.dropped == "rule" && infiniband.bth.opcode == 0x11' 1
	count 'uhca.rule == 1 && uhca.fault contains "opcode=rc.ack"' 1
	count 'uhca.try == 1 && uhca.op == "SEND" && uhca.first_try' 20
	dissect "$file" -Y 'uhca.try' | grep -vm 1 "\[retransmission 1\]"
	records "$file" >"$out/records"
	says 'rule dev=uhca1 number=1 name=lost-ack text="lost-ack: drop'
	says "hit dev=uhca1 rule=1 hits=1 match=1 layer=packet"
	says "retry dev=uhca0 .* why=timeout"
	says "rule number=1 what=removed"
	# Read once more in two passes, as Wireshark does.
	[ "$(dissect "$file" -2 -Y 'uhca.try == 1' | wc -l)" = 20 ] || echo "two passes differ"
}

# Where the answer of a READ is missing, the next one's says so without a word.
implied_nak() {
	start
	rule 'gap: drop opcode=read_response dev=uhca1 nth=3'
	next_port
	run_pair "ib_read_bw -d uhca1 -x 0 -s 64 -n 20 -p $port" \
		"ib_read_bw -d uhca0 -x 0 -s 64 -n 20 -p $port 127.0.0.1"
	pair_complaint
	"$uhcactl" fault remove gap >/dev/null
	stop
	dissect "$file" -Y 'uhca.implied_nak' >"$out/implied"
	grep -q 'implied NAK from PSN' "$out/implied" ||
		echo "no implied NAK is named"
	records "$file" >"$out/records"
	says "retry dev=uhca0 .* why=gap"
}

# A packet with a wrong ICRC: outbound it is as the rule left it, inbound it was dropped.
bad_icrc() {
	start
	rule 'broken: corrupt=icrc opcode=send dev=uhca0 dir=tx nth=2'
	pingpong 4096 3
	"$uhcactl" fault remove broken >/dev/null
	stop
	count 'uhca.rule && frame.packet_flags_direction == 2' 1
	count 'uhca.dropped == "bad_icrc" && frame.interface_name == "uhca1"' 1
}

# The same by real UDP, in a daemon of its own: there the bytes have no model.
wire() {
	next_port
	(
		unset CAPTURE_INSIDE
		"$uhca_run" --private --devices 2 --wire \
			--fault 'broken: corrupt=icrc opcode=send dev=uhca0 dir=tx nth=2' -- sh -c "
			'$uhcactl' capture start '$file' >/dev/null
			ibv_rc_pingpong -d uhca1 -g 0 -n 3 -p $port >/dev/null 2>&1 &
			until ibv_rc_pingpong -d uhca0 -g 0 -n 3 -p $port 127.0.0.1
			do kill -0 \$! || exit 3; done >/dev/null 2>&1
			wait \$! || exit 4
			'$uhcactl' capture stop"
	) >"$out/stop" 2>&1 || cat "$out/stop"
	dissect "$file" -Y '_ws.malformed || _ws.expert.severity >= 0x600000' | head -n 1
	count 'uhca.dropped == "bad_icrc" && frame.packet_flags_direction == 1' 1
	count 'uhca.rule && frame.packet_flags_direction == 2' 1
	count 'uhca.op == "SEND" && !uhca.wr && frame.packet_flags_direction == 2' 0
}

# An answer that a rule made in the name of the other end.
made() {
	start
	rule 'storm: rnr=1 opcode=send dev=uhca1 nth=1'
	pingpong 1000 3
	"$uhcactl" fault remove storm >/dev/null
	stop
	[ "$(dissect "$file" -Y 'uhca.made == "rnr"' | wc -l)" -ge 1 ] || echo "no RNR NAK"
	records "$file" >"$out/records"
	says "retry dev=uhca. .* why=rnr"
}

# One device, the first bytes, or no packets at all.
parts() {
	start --device uhca0 --snap 64
	pingpong 4096 3
	stop
	count 'frame.interface_name == "uhca1"' 0
	count 'infiniband && infiniband.bth.destqp != 1 && frame.cap_len > 90' 0
	[ -n "$(dissect "$file" -Y 'frame.cap_len == 64 && frame.len > 1000')" ] ||
		echo "nothing was cut"
	# All headers are there, and who reads it back takes them all.
	"$uhcactl" ladder "$file" >"$out/ladder" 2>&1
	! grep -q truncated "$out/ladder" || echo "a header was cut: $(tail -n 1 "$out/ladder")"
	start --snap 1
	pingpong 4096 3
	stop
	"$uhcactl" ladder "$file" >"$out/ladder" 2>&1
	grep -q 'SEND_FIRST' "$out/ladder" || echo "--snap 1 has no packets"
	! grep -q truncated "$out/ladder" || echo "--snap 1 cut a header"
	# What somebody else cut is called so, by every tool.
	editcap -s 50 "$file" "$out/cut.pcapng"
	"$uhcactl" ladder "$out/cut.pcapng" | grep -q 'frames are truncated' ||
		echo "ladder does not say truncated"
	"$uhcactl" explain "$out/cut.pcapng" | grep -q 'frames are truncated' ||
		echo "explain does not say truncated"
	"$uhcactl" report "$out/cut.pcapng" -o - | grep -q 'frames are truncated' ||
		echo "report does not say truncated"
	start --snap 0
	pingpong 4096 3
	stop
	count infiniband 0
	records "$file" >"$out/records"
	says "completion dev=uhca1"
	"$uhcactl" capture start "$file" --snap x 2>&1 | grep -q "number of bytes" ||
		echo "--snap x was taken"
	"$uhcactl" capture start "$file" --device uhca7 2>&1 | grep -q "unknown device 'uhca7'" ||
		echo "--device uhca7 was taken"
	"$uhcactl" capture start /nonexistent/x 2>&1 | grep -q "No such file" ||
		echo "/nonexistent/x was taken"
}

# The recorder is always on, and its packets end with their headers.
recorder() {
	pingpong 20000 3
	"$uhcactl" capture dump "$file" >"$out/dump" 2>&1 || cat "$out/dump"
	complaint_of "$file"
	dissect "$file" -Y 'infiniband.bth.opcode == 1 && frame.cap_len != 54' | head -n 1
	[ "$(dissect "$file" -Y uhca.part | wc -l)" -ge 240 ] || echo "packets are missing"
	records "$file" >"$out/records"
	says "state dev=uhca0 .* to=RTS"
}

there_is_a_file() {
	[ -s "$CAPTURE_DIR/error" ]
}

# A failure leaves a file behind by itself.
on_error() {
	[ -e "$CAPTURE_DIR/error" ] && echo "there is one already"
	rule 'deaf: drop opcode=request dev=uhca0'
	next_port
	run_pair "ibv_rc_pingpong -d uhca1 -g 0 -n 3 -p $port" \
		"ibv_rc_pingpong -d uhca0 -g 0 -n 3 -p $port 127.0.0.1"
	"$uhcactl" fault remove deaf >/dev/null
	grep -qi "transport retry" "$out/client" || echo "the client says: $(cat "$out/client")"
	until_true there_is_a_file || echo "no file"
	complaint_of "$CAPTURE_DIR/error"
	records "$CAPTURE_DIR/error" >"$out/records"
	says "completion dev=uhca0 .* status=RETRY_EXC_ERR"
	says "state dev=uhca0 .* to=ERR"
	file=$CAPTURE_DIR/error count \
		'uhca.try == 7 && uhca.part == "1/4" && uhca.dropped == "rule"' 1
}

# While traffic flows: 100 packets are there, and what is there can be read.
grown() {
	[ "$(dissect "$file" -c 100 | wc -l)" -eq 100 ]
}

live() {
	next_port
	start_server ib_write_bw -d uhca1 -x 0 -s 64 -D 3 -p "$port"
	until_true listens_or_is_gone "$server_pid" "$port"
	timeout -k 2 "$limit" ib_write_bw -d uhca0 -x 0 -s 64 -D 3 -p "$port" 127.0.0.1 \
		>"$out/client" 2>&1 &
	client_pid=$!
	start --snap 64
	until_true grown || echo "nothing can be seen of it"
	"$uhcactl" capture status | grep -q "capturing to .*: [0-9]* packets" ||
		echo "status: $("$uhcactl" capture status)"
	"$uhcactl" capture stop >/dev/null
	wait "$client_pid" || echo "the client ended with $?"
	wait "$server_pid" || echo "the server ended with $?"
	capinfos "$file" >"$out/capinfos" 2>&1 || cat "$out/capinfos"
}

# A file that cannot grow ends the capture with a word, and the traffic goes on. In a daemon of its
# own, whose files have a limit.
full() {
	next_port
	(
		ulimit -f 32768
		unset CAPTURE_INSIDE
		"$uhca_run" --private -- sh -c "
			'$uhcactl' capture start '$file' >/dev/null
			ib_write_bw -d uhca0 -x 0 -s 65536 -n 2000 -p $port >/dev/null 2>&1 &
			until ib_write_bw -d uhca0 -x 0 -s 65536 -n 2000 -p $port 127.0.0.1
			do kill -0 \$! || exit 3; done >/dev/null 2>&1
			wait \$! || exit 4
			'$uhcactl' capture status
			'$uhcactl' capture stop
			tail -n 3 \"\$UHCA_DIR/log\""
	) >"$out/full" 2>&1
	grep -q "the capture to .* ended early: File too large" "$out/full" ||
		echo "it says: $(cat "$out/full")"
	grep -q "capture to .* stopped: File too large" "$out/full" || echo "nothing in the log"
	[ "$(stat -c %s "$file")" -eq $((32768 * 1024)) ] || echo "$(stat -c %s "$file") bytes"
	pingpong 4096 3
}

try capture plain_messages plain_messages
try capture lost_ack lost_ack
try capture implied_nak implied_nak
try capture bad_icrc bad_icrc
try capture wire wire
try capture made made
try capture parts parts
try capture recorder recorder
try capture on_error on_error
try capture live live
try capture full full
exit "$row_failed"
