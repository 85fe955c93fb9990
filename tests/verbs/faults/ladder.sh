#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154,SC2317,SC2086
# uhcactl ladder, explain and top of stock programs under fault rules: what a rule did to their
# packets stands in the picture, and what came of it in sentences.
#
#   ladder.sh [WORD]      only cases whose name holds the word
set -u
root=${UHCA_SRCDIR:?}
uhca_run=$root/scripts/uhca-run
uhcactl=${UHCA_BUILDDIR:?}/uhcactl
# shellcheck source=tests/verbs/lib.sh
. "$root/tests/verbs/lib.sh"

for program in ibv_rc_pingpong ib_atomic_bw ib_read_bw ib_write_bw; do
	command -v $program >/dev/null && continue
	echo "$program is missing (scripts/deps --install clients)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done

if [ -z "${LADDER_INSIDE:-}" ]; then
	LADDER_INSIDE=1 exec "$uhca_run" --private --devices 2 -- bash "$0" "$@"
fi

select_rows=("$@")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
hasten_perftest

captured_once() { # RULE PROGRAM ARGUMENT...
	local rule=$1 program=$2 status
	shift 2
	next_port
	"$uhcactl" fault add "$rule" >"$out/rule" 2>&1 || cat "$out/rule"
	"$uhcactl" capture start "$out/run.pcapng" >"$out/start" 2>&1 || cat "$out/start"
	"$program" -d uhca1 "$@" -p "$port" >"$out/server" 2>&1 &
	server_pid=$!
	until_true listens_or_is_gone "$server_pid" "$port"
	"$program" -d uhca0 "$@" -p "$port" 127.0.0.1 >"$out/client" 2>&1
	status=$?
	[ $status -eq 0 ] || kill "$server_pid" 2>/dev/null
	wait "$server_pid" 2>/dev/null
	"$uhcactl" capture stop >"$out/stop" 2>&1 || cat "$out/stop"
	"$uhcactl" fault clear >"$out/clear" 2>&1
	return $status
}

# Two ends of a program under a rule, captured to $out/run.pcapng. The client's exit status.
captured() { # RULE PROGRAM ARGUMENT...
	local status=0 i
	for i in 1 2 3 4 5; do
		captured_once "$@" && status=0 || status=$?
		lost_its_clock || break
		echo "$i: begun anew" >>"$out/commands"
	done
	return $status
}

# What a ladder must have on one of its lines.
shows() { # PATTERN
	grep -Eq -- "$1" "$out/ladder" || echo "the ladder does not show: $1"
}

draw() { # OPTION...
	LC_ALL=C "$uhcactl" ladder "$out/run.pcapng" --width 140 "$@" \
		>"$out/ladder" 2>"$out/errors" || echo "ladder: $(cat "$out/errors")"
}

slides() {
	captured "lost-ack: drop opcode=rc.ack nth=1" ibv_rc_pingpong -g 0 -n 2 -s 100 ||
		echo "the client fails: $(last_words "$out/client")"
	draw
	shows "state RESET to INIT"
	shows "ibv_rc_pingpong +ibv_rc_pingpong"
	draw --title "An ACK is lost" --names ,bob --no-setup
	[ "$(head -n 1 "$out/ladder")" = "An ACK is lost" ] || echo "no title"
	shows "uhca[01] +bob"
	shows "X-.* ACK psn .*lost"
	! grep -qE "state |rule 1 added" "$out/ladder" || echo "how it is set up is shown"
	! "$uhcactl" ladder "$out/run.pcapng" --names a,b,c >/dev/null 2>"$out/errors" ||
		echo "three names for two lanes are taken"
	grep -q -- "--names has 3 names, but the ladder has 2 lanes" "$out/errors" ||
		cat "$out/errors"
}

lost_ack() {
	captured "lost-ack: drop opcode=rc.ack nth=1" ibv_rc_pingpong -g 0 -n 2 -s 3000 ||
		echo "the client fails: $(last_words "$out/client")"
	draw
	shows "uhca0 +uhca1|uhca1 +uhca0"
	shows "X-.* ACK psn .*lost; rule 1: lost-ack: drop opcode=rc.ack nth=1"
	shows "\* .*timeout, no answer came: again from psn"
	shows "\.\.\. SEND_FIRST psn .*sent again \(1\)"
	shows "SEND wr 0x2 is done, 3000 B"
	"$uhcactl" explain "$out/run.pcapng" >"$out/explain" 2>&1 ||
		echo "explain: $(cat "$out/explain")"
	grep -q "none has an error" "$out/explain" || echo "explain tells of an error"
}

picture() {
	local words
	captured "lost-ack: drop opcode=rc.ack nth=1" ibv_rc_pingpong -g 0 -n 2 -s 3000
	"$uhcactl" ladder "$out/run.pcapng" --svg "$out/run.svg" || echo "no picture"
	grep -q "lost; rule" "$out/run.svg" || echo "the picture does not tell of the loss"
	grep -q ">ibv_rc_pingpong<" "$out/run.svg" || echo "no lane has its program's name"
	grep -q "prefers-color-scheme:dark" "$out/run.svg" || echo "it stays light in the dark"
	"$uhcactl" ladder "$out/run.pcapng" --svg "$out/named.svg" --title "Lost & <found>" \
		--names "client,the server" --no-setup || echo "no picture with names"
	for words in "class='title'>Lost &#38; &#60;found&#62;<" "class='host'>client<" \
		"class='host'>the server<" "SEND_FIRST"; do
		grep -qF "$words" "$out/named.svg" || echo "the picture with names lacks $words"
	done
	! grep -q "state INIT" "$out/named.svg" || echo "it shows how queue pairs come to work"
	command -v python3 >/dev/null 2>&1 || return
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' \
		"$out/run.svg" || echo "the picture is no XML"
}

no_answer() {
	captured "drop opcode=rc.ack" ibv_rc_pingpong -g 0 -n 2 -s 100 &&
		echo "the client does not fail"
	"$uhcactl" explain "$out/run.pcapng" >"$out/explain" 2>&1
	local words
	for words in "RETRY_EXC_ERR at" "The peer got it, but all its answers were lost" \
		"(drop opcode=rc.ack) fired" "9.9.2.4.1" "retry_cnt are large enough"; do
		tr -s ' \n' ' ' <"$out/explain" | grep -qF -- "$words" ||
			echo "explain does not say: $words"
	done
}

lost_read() {
	captured "drop opcode=read_response nth=3" ib_read_bw -x 0 -s 16384 -n 5 ||
		echo "the client fails: $(last_words "$out/client")"
	draw --all
	shows "X-.* READ_RESPONSE_.* lost; rule"
	shows "implied NAK|timeout, no answer came"
	shows "\.\.\. READ_REQUEST psn .*sent again"
}

atomics() {
	captured "dup opcode=RC_FETCH_ADD nth=2" ib_atomic_bw -x 0 -A FETCH_AND_ADD -n 5 ||
		echo "the client fails: $(last_words "$out/client")"
	draw
	shows "FETCH_ADD psn .*dup opcode=RC_FETCH_ADD nth=2"
	shows "ATOMIC_ACKNOWLEDGE psn"
}

# What the daemon remembers, with the programs, while they run; and the list of QPs.
live() {
	next_port
	ib_write_bw -d uhca1 -x 0 -D 60 -p "$port" >"$out/server" 2>&1 &
	server_pid=$!
	until_true listens_or_is_gone "$server_pid" "$port"
	ib_write_bw -d uhca0 -x 0 -D 60 -p "$port" 127.0.0.1 >"$out/client" 2>&1 &
	client_pid=$!
	until_true moves || echo "no traffic: $(last_words "$out/client")"
	"$uhcactl" ladder live --once --width 100 >"$out/ladder" 2>&1 ||
		echo "ladder live: $(tail -n 1 "$out/ladder")"
	shows "ib_write_bw +ib_write_bw"
	# Without its PSN where QPs of rows before are remembered, too: their lanes leave less room.
	shows "WRITE_MIDDLE"
	local table
	for table in qp mr device; do
		"$uhcactl" show $table >"$out/table" && ! grep -qE '.{121}' "$out/table" ||
			echo "show $table is wider than 120 columns: $(cat "$out/table")"
	done
	"$uhcactl" show qp --all | grep -q "max_dest_rd_atomic .*waits" ||
		echo "show qp --all has not all columns"
	# A file of its own: its lines say that the signal will find a handler.
	LC_ALL=C "$uhcactl" ladder live --width 100 >"$out/live" 2>&1 &
	ladder_pid=$!
	until_true has_lines "$out/live" 500 || echo "ladder live does not go on"
	kill -INT "$ladder_pid"
	wait "$ladder_pid" || echo "ladder live does not end well"
	kill "$client_pid" "$server_pid"
	wait "$client_pid" "$server_pid" 2>/dev/null
}

# Nothing happens for a while, and then something does: nothing is forgotten.
quiet() {
	next_port
	# shellcheck disable=SC2016 # for the shell inside
	"$root/scripts/uhca-run" --private -- sh -c '
		LC_ALL=C "$0" ladder live >"$1/live" 2>&1 & ladder=$!
		ibv_rc_pingpong -d uhca0 -g 0 -p "$2" -n 2 >"$1/server" 2>&1 & server=$!
		until ibv_rc_pingpong -d uhca0 -g 0 -p "$2" -n 2 127.0.0.1; do
			kill -0 $server || exit
		done >"$1/client" 2>&1
		tries=200
		until grep -q SEND "$1/live" || [ $((tries -= 1)) = 0 ]; do sleep 0.05; done
		kill -INT $ladder' "$uhcactl" "$out" "$port"
	grep -q SEND "$out/live" || echo "ladder live shows nothing"
	grep "has forgotten" "$out/live"
}

moves() {
	"$uhcactl" top --once --interval 0.1 2>/dev/null | awk '
		$1 == "uhca0" && $3 == "ib_write_bw" && $6 > 0 && $7 > 0 { found = 1 }
		END { exit !found }'
}

has_lines() { # FILE N
	[ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

refuses() { # PATTERN ARGUMENT...
	local pattern=$1
	shift
	"$uhcactl" "$@" >"$out/said" 2>&1 && echo "$* is taken"
	grep -Eq -- "$pattern" "$out/said" || echo "$*: $(head -n 1 "$out/said")"
}

mistakes() {
	: >"$out/empty"
	printf 'not a capture' >"$out/text"
	refuses "No such file" ladder "$out/nothing"
	refuses "the file is empty" ladder "$out/empty"
	refuses "byte 0: not a capture" explain "$out/text"
	refuses "ladder FILE" ladder
	refuses "60 to 400" ladder "$out/empty" --width 20
	refuses "QP number" ladder "$out/empty" --qp x
	refuses "times" ladder "$out/empty" --from soon
	refuses "later than" ladder "$out/empty" --from 5ms --to 1ms
	refuses "a wr_id" explain "$out/empty" --wr 1x
	refuses "seconds" top --interval 0
	# A capture that ends in the middle: what is there is drawn, and the place is told.
	captured "drop opcode=rc.ack nth=1000" ibv_rc_pingpong -g 0 -n 2 -s 100
	head -c 3001 "$out/run.pcapng" >"$out/cut"
	refuses "broken here: byte [0-9]+: the file ends within a block" ladder "$out/cut"
	grep -q "SEND_ONLY psn" "$out/said" || echo "nothing is drawn of a capture that was cut"
	[ ! -e /dev/full ] || refuses "No space left" ladder "$out/run.pcapng" --svg /dev/full
}

# A rejected connection, with its reason.
reject() {
	local address
	address=$("$uhcactl" show device | awk '$1 == "uhca1" { split($3, a, ","); print a[1] }')
	next_port
	"$uhcactl" fault add 'no: cm.reject=28 cm=REQ' >"$out/rule" 2>&1
	"$uhcactl" capture start "$out/run.pcapng" >"$out/start" 2>&1
	rping -s -a "$address" -p "$port" -C 1 >"$out/server" 2>&1 &
	server_pid=$!
	until_true cm_listens || echo "the server does not listen"
	rping -c -a "$address" -p "$port" -C 1 >"$out/client" 2>&1 && echo "it was not rejected"
	kill "$server_pid" 2>/dev/null
	wait "$server_pid" 2>/dev/null
	"$uhcactl" capture stop >"$out/stop" 2>&1
	"$uhcactl" fault clear >"$out/clear" 2>&1
	"$uhcactl" explain "$out/run.pcapng" >"$out/explain" 2>&1
	grep -q '^Connection rejected by uhca1 at' "$out/explain" || echo "no word of the reject"
	grep -q 'reason *28: the program at the other end rejected it' "$out/explain" ||
		echo "the reason is not told: $(head -n 4 "$out/explain")"
	draw
	shows "CM REJ, reason 28"
}

cm_listens() {
	"$uhcactl" show cm_id | grep -q listening
}

# A long capture whose packets were cut is read in memory of some times its size.
memory() {
	local most
	next_port
	"$uhcactl" --snap 64 capture start "$out/run.pcapng" >"$out/start" 2>&1
	ib_write_bw -d uhca1 -n 3000 -s 65536 -p "$port" >"$out/server" 2>&1 &
	server_pid=$!
	until_true listens_or_is_gone "$server_pid" "$port"
	ib_write_bw -d uhca0 -n 3000 -s 65536 -p "$port" 127.0.0.1 >"$out/client" 2>&1
	wait "$server_pid"
	"$uhcactl" capture stop >"$out/stop" 2>&1
	most=$(($(stat -c %s "$out/run.pcapng") * 10 / 1024))
	for words in ladder explain report; do
		python3 - "$most" "$uhcactl" "$words" "$out/run.pcapng" -o "$out/page" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
if used > int(sys.argv[1]):
    print(sys.argv[3], "took", used, "KiB, more than", sys.argv[1])
END
	done
}

try ladder lost-ack lost_ack
try ladder reject reject
try ladder memory memory
try ladder picture picture
try ladder slides slides
try ladder no-answer no_answer
try ladder lost-read lost_read
try ladder atomics atomics
try ladder live live
try ladder quiet quiet
try ladder mistakes mistakes
exit $row_failed
