#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# uhcactl report with a browser: the page of a real lost ACK shows each packet, the lost one, and
# what is asked for in its address; nothing in it fails, and it wants nothing from outside.
set -u
root=${UHCA_SRCDIR:?}
uhcactl=${UHCA_BUILDDIR:?}/uhcactl
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0
export ASAN_OPTIONS

for program in chromium ibv_rc_pingpong; do
	command -v $program >/dev/null && continue
	echo "$program is missing (scripts/deps --install clients tests)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done

folder=$(mktemp -d) || exit 1
[ -n "${UHCA_KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT # else keep-failure does it
failures=0

wrong() {
	echo "wrong: $*"
	failures=$((failures + 1))
}

# The page as it is after its script ran, in $folder/dom. Anything on the console is a failure.
open_page() { # FILE FRAGMENT
	timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$folder/profile" --enable-logging=stderr --window-size=1400,1000 \
		--dump-dom "file://$1#$2" >"$folder/dom" 2>"$folder/log" ||
		wrong "chromium fails: $(tail -n 3 "$folder/log")"
	grep -q 'data-ready="yes"' "$folder/dom" || wrong "#$2: the page's script did not finish"
	! grep -F ':CONSOLE' "$folder/log" | grep -v 'source: chrome://' ||
		wrong "#$2: something is on the console"
}

how_many() { # PATTERN: in the DOM
	grep -oE -e "$1" "$folder/dom" | wc -l
}

packets='<g class="row packet '

expect() { # WHAT COUNT WANTED
	[ "$2" = "$3" ] || wrong "$1: $2, not $3"
}

some_of() { # COUNT ALL: more than one, and not all
	[ "$1" -gt 1 ] && [ "$1" -lt "$2" ]
}

lost_ack() {
	local page=$folder/lost-ack.html all qp shown
	sed "s|^fault |capture $folder/lost-ack.pcapng\n&|" "$root/tests/scenarios/lost-ack.scn" \
		>"$folder/lost-ack.scn"
	"$root/scripts/uhca-run" --scenario "$folder/lost-ack.scn" >"$folder/run" 2>&1 ||
		wrong "the scenario: $(cat "$folder/run")"
	"$uhcactl" report "$folder/lost-ack.pcapng" -o "$page" || wrong "report fails"
	! grep -nE 'https?://' "$page" || wrong "the page names something outside"
	all=$(sed -n 's/^,"arrows_in_all":\([0-9]*\),.*/\1/p' "$page")
	[ "${all:-0}" -gt 20 ] || wrong "there are only ${all:-no} packets"

	open_page "$page" ""
	expect "packets" "$(how_many "$packets")" "$all"
	expect "lost packets" "$(how_many '<g class="row packet lost')" 1
	expect "timeouts" "$(how_many '<g class="row record wrong')" 1
	expect "chosen at first, the lost packet" "$(how_many 'row packet lost picked')" 1
	[ "$(how_many '<g class="row packet again dotted')" -ge 1 ] || wrong "none is sent again"
	grep -q 'Nothing failed: [0-9]* completions' "$folder/dom" || wrong "no outcome in words"
	for id in completions faults states counters memory explain; do
		expect "section $id" "$(how_many "<section id=\"$id\"")" 1
	done

	open_page "$page" "text=ack"
	shown=$(how_many "$packets")
	some_of "$shown" "$all" || wrong "text=ack shows $shown of $all"
	expect "the rule lost-ack, found as well" "$(how_many 'data-records="1"')" 1
	open_page "$page" "kind=lost"
	expect "kind=lost" "$(how_many "$packets")" 1
	qp=$(sed -n 's/.*"number":\([0-9]*\),"peer":.*/\1/p' "$page" | head -n 1)
	open_page "$page" "qp=$(printf 0x%x "$qp")&kind=packets"
	expect "packets of a QP with one peer" "$(how_many "$packets")" "$all"
	open_page "$page" "qp=0x1"
	expect "packets of no QP" "$(how_many "$packets")" 0
	open_page "$page" "space=time&zoom=3&kind=packets"
	[ "$(how_many "$packets")" -ge 1 ] || wrong "by time, nothing is drawn"
}

# Two more ends, so that a QP has a part of the packets only.
many_qps() {
	local page=$folder/several.html all shown qp
	# shellcheck disable=SC2016 # for the shell inside
	"$root/scripts/uhca-run" --private -- sh -c '
		"$0" capture start "$1/several.pcapng" || exit
		for port in 18611 18612; do
			ibv_rc_pingpong -d uhca0 -g 0 -p $port -n 5 >"$1/server" &
			until ibv_rc_pingpong -d uhca0 -g 0 -p $port -n 5 127.0.0.1; do
				kill -0 $! || exit
			done
			wait $! || exit
		done
		"$0" capture stop' "$uhcactl" "$folder" >"$folder/run" 2>&1 ||
		wrong "several QPs: $(tail -n 3 "$folder/run")"
	"$uhcactl" report "$folder/several.pcapng" -o - >"$page" || wrong "report -o - fails"
	all=$(sed -n 's/^,"arrows_in_all":\([0-9]*\),.*/\1/p' "$page")
	qp=$(sed -n 's/.*"number":\([0-9]*\),"peer":[0-9].*/\1/p' "$page" | head -n 1)
	open_page "$page" "qp=$(printf 0x%x "${qp:-0}")"
	shown=$(how_many "$packets")
	some_of "$shown" "${all:-0}" || wrong "a QP shows $shown of $all"
}

# Many packets: all are counted, and only those that can be seen are drawn.
large() {
	local page=$folder/large.html all
	# shellcheck disable=SC2016 # for the shell inside
	"$root/scripts/uhca-run" --private -- sh -c '
		"$0" capture start "$1/large.pcapng" --snap 80 || exit
		ibv_rc_pingpong -d uhca0 -g 0 -p 18613 -n 1500 >"$1/server" &
		until ibv_rc_pingpong -d uhca0 -g 0 -p 18613 -n 1500 127.0.0.1; do
			kill -0 $! || exit
		done
		wait $! || exit
		"$0" capture stop' "$uhcactl" "$folder" >"$folder/run" 2>&1 ||
		wrong "a large capture: $(tail -n 3 "$folder/run")"
	"$uhcactl" report "$folder/large.pcapng" -o "$page" || wrong "report fails"
	all=$(sed -n 's/^,"arrows_in_all":\([0-9]*\),.*/\1/p' "$page")
	[ "${all:-0}" -gt 10000 ] || wrong "there are only ${all:-no} packets"
	open_page "$page" "kind=packets"
	expect "packets counted" "$(how_many "data-packets=\"$all\"")" 1
	[ "$(how_many "$packets")" -lt 500 ] || wrong "$(how_many "$packets") are drawn at once"
}

mistakes() {
	"$uhcactl" report "$folder/lost-ack.pcapng" >"$folder/said" 2>&1
	expect "without -o" $? 2
	grep -q 'report needs -o' "$folder/said" || wrong "without -o: $(cat "$folder/said")"
	"$uhcactl" report "$folder/none" -o "$folder/none.html" >"$folder/said" 2>&1
	expect "no capture" $? 1
	[ ! -e "$folder/none.html" ] || wrong "a page of nothing"
	"$uhcactl" report "$folder/lost-ack.pcapng" -o /dev/full >"$folder/said" 2>&1
	expect "a full disk" $? 1
	grep -q 'No space left' "$folder/said" || wrong "a full disk: $(cat "$folder/said")"
	head -c 100000 "$folder/lost-ack.pcapng" >"$folder/cut.pcapng"
	"$uhcactl" report "$folder/cut.pcapng" -o "$folder/cut.html" >"$folder/said" 2>&1
	expect "a capture that is cut" $? 1
	open_page "$folder/cut.html" ""
	grep -q 'The capture is broken' "$folder/dom" || wrong "the page does not tell of the cut"
}

lost_ack
many_qps
large
mistakes
[ "$failures" = 0 ] && echo "pages say what they should"
[ "$failures" = 0 ]
