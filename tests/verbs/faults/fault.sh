#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2154,SC2317,SC2086
# Fault rules and step mode under the traffic of stock programs: rules come, change and go while
# packets flow, mistakes are told at their column and touch nothing, a person lets packets go one
# by one.
#
#   fault.sh [WORD]      only cases whose name holds the word
set -u
root=${UHCA_SRCDIR:?}
uhca_run=$root/scripts/uhca-run
uhcactl=${UHCA_BUILDDIR:?}/uhcactl
# shellcheck source=tests/verbs/lib.sh
. "$root/tests/verbs/lib.sh"

for program in ibv_rc_pingpong ib_write_bw; do
	command -v $program >/dev/null && continue
	echo "$program is missing (scripts/deps --install clients)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
done

if [ -z "${FAULT_INSIDE:-}" ]; then
	FAULT_INSIDE=1 exec "$uhca_run" --private --devices 2 -- bash "$0" "$@"
fi

select_rows=("$@")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
hasten_perftest

# A number of a rule: hits or matched.
fact() { # RULE NAME
	"$uhcactl" --json fault list | awk -v rule="$1" -v name="\"$2\":" '
		$1 == "\"rule\":" { ours = $2 + 0 == rule }
		ours && $1 == name { print $2 + 0 }'
}

hits_reach() { # RULE N
	[ "$(fact "$1" hits)" -ge "$2" ]
}

rule_added() { # RULE: prints its number
	"$uhcactl" fault add "$1" 2>&1 | sed -n 's/^rule //p'
}

# Traffic that lasts until it is told to end: sets server_pid and client_pid. What went wrong with
# it is seen in the end.
begin_traffic() {
	next_port
	ib_write_bw -d uhca1 -x 0 -s 4096 -D 60 -p "$port" >"$out/server" 2>&1 &
	server_pid=$!
	until_true listens_or_is_gone "$server_pid" "$port"
	ib_write_bw -d uhca0 -x 0 -s 4096 -D 60 -p "$port" 127.0.0.1 >"$out/client" 2>&1 &
	client_pid=$!
	until_true packets_flow || echo "no traffic: $(tail -n 1 "$out/client")"
}

packets_flow() {
	[ "$(carried)" -gt 1000000 ]
}

flows_on() {
	local before
	before=$(carried)
	until_true carried_more "$before" || echo "the traffic has stopped $1"
}

carried_more() { # THAN
	[ "$(carried)" -gt $(($1 + 1000000)) ]
}

end_traffic() {
	is_alive "$client_pid" || echo "the client is gone: $(tail -n 1 "$out/client")"
	# Before one of them is killed: the other complains if it is slow to die.
	grep -iE "error|fail" "$out/client" "$out/server" | head -n 1
	kill "$client_pid" "$server_pid"
	wait "$client_pid" "$server_pid" 2>/dev/null
}

live_change() {
	local rule
	begin_traffic
	rule=$(rule_added "loss: drop device=uhca0 opcode=rc.ack dir=rx every=3 times=5")
	[ -n "$rule" ] || echo "no rule"
	until_true hits_reach "$rule" 5 || echo "the rule fired $(fact "$rule" hits) times"
	flows_on "with five lost acknowledgements"
	"$uhcactl" fault change loss "delay=20us device=uhca0 opcode=rc.ack dir=rx every=7" \
		>"$out/change" 2>&1 || echo "change: $(cat "$out/change")"
	until_true hits_reach "$rule" 3 || echo "the changed rule does not fire"
	[ "$(fact "$rule" matched)" -ge 21 ] || echo "it matched less than it should"
	"$uhcactl" fault remove "$rule" >"$out/removed" 2>&1
	grep -q "^rule $rule removed; it fired [0-9]* times" "$out/removed" ||
		echo "remove: $(cat "$out/removed")"
	"$uhcactl" fault list | grep -q "no rules" || echo "there are rules left"
	flows_on "without rules"
	"$uhcactl" fault trace "$out/trace"
	[ "$(grep -c . "$out/trace")" -ge 8 ] || echo "the trace has too few lines"
	end_traffic
}

# complaint RULE COLUMN: it is refused, at this column, and the mark stands there.
complaint() {
	local mark
	! "$uhcactl" fault add "$1" >"$out/said" 2>&1 || echo "'$1' is taken"
	grep -q "^uhcactl: column $2: " "$out/said" || echo "'$1': $(head -n 1 "$out/said")"
	mark=$(tail -n 1 "$out/said")
	mark=${mark%%^*}
	[ ${#mark} = $(($2 + 1)) ] || echo "'$1': the mark stands at $((${#mark} - 1))"
}

# What a rule can do. The blanks between are as wide as the longest number of any counter.
harms() {
	"$uhcactl" counters | awk '/^(fault_|retransmits|timeouts|naks_)/ { $1 = $1; print }'
}

mistakes() {
	local before now
	begin_traffic
	before=$(harms)
	while IFS='|' read -r column rule; do
		complaint "$rule" "$column"
	done <<-'RULES'
		1|dorp opcode=rc.ack
		6|drop opcod=rc.ack
		13|drop opcode=rc.akc
		24|drop opcode=rc.ack nth=0
		24|drop opcode=rc.ack nth=3..1
		24|drop opcode=rc.ack nth=three
		7|delay=10 opcode=send
		1|delay opcode=send
		9|corrupt=sum
		6|drop direction=up
		11|drop p=.1 p=.2
		8|drop p=2
		6|drop call=create_qp
		18|call.fail=ENOMEM opcode=send call=create_qp
		11|call.fail=EWHAT call=create_qp
		6|drop time=5us
		5|rnr=99 opcode=send
	RULES
	"$uhcactl" fault add "" >"$out/said" 2>&1 && echo "no rule at all is taken"
	"$uhcactl" fault change 4711 drop >"$out/said" 2>&1 && echo "a rule that is not there"
	"$uhcactl" fault list | grep -q "no rules" || echo "something was taken"
	now=$(harms)
	[ "$before" = "$now" ] ||
		echo "traffic was touched: $(diff <(echo "$before") <(echo "$now") | grep '^[<>]')"
	flows_on "by mistakes"
	end_traffic
}

# What can be said, but hits nothing: it is taken, matches nothing, and hurts nobody.
impossible() {
	local rule
	begin_traffic
	for rule in "drop client=4711" "drop qp=0xffffff" "drop program=no-such-program" \
		"drop opcode=uc" "drop while_file=/nonexistent/trigger"; do
		rule_added "$rule" >"$out/number"
		[ -s "$out/number" ] || echo "'$rule' is not taken"
	done
	flows_on "by rules that match nothing"
	[ "$("$uhcactl" --json fault list | grep -c '"hits": 0')" = 5 ] || echo "one of them fired"
	"$uhcactl" fault clear | grep -q "^5 rules removed" || echo "clear does not say 5"
	end_traffic
}

files() {
	begin_traffic
	printf '# comment\n\nslow: delay=1us opcode=rc.ack nth=1\n  ecn opcode=write nth=1\n' \
		>"$out/good"
	printf 'drop opcode=rc.ack nth=1\ndrop opcode=rc.akc\n' >"$out/bad"
	(cd "$out" && "$uhcactl" fault load good) | grep -q "^2 rules" || echo "load fails"
	! "$uhcactl" fault load "$out/bad" >"$out/said" 2>&1 || echo "a bad file is taken"
	grep -q "line 2, column 13: " "$out/said" || echo "bad file: $(cat "$out/said")"
	[ "$("$uhcactl" --json fault list | grep -c '"hits"')" = 2 ] || echo "half a file is taken"
	for file in "$out/none" "$out" /dev/zero; do
		! "$uhcactl" fault load "$file" >"$out/said" 2>&1 || echo "$file is taken"
		grep -q "^uhcactl: $file: " "$out/said" || echo "$file: $(cat "$out/said")"
	done
	"$uhcactl" fault clear >"$out/said"
	flows_on "by files"
	end_traffic
}

# A daemon is not started with what is wrong, and says why.
start_up() {
	! "$uhca_run" --private --fault "drop nht=3" true >"$out/said" 2>&1 || echo "it starts"
	grep -q "column 6: " "$out/said" || echo "no column: $(tail -n 1 "$out/said")"
	! "$uhca_run" --private --fault-file /nonexistent/rules true >"$out/said" 2>&1 ||
		echo "it starts without its file"
	grep -q "/nonexistent/rules: No such file" "$out/said" || echo "it does not say which file"
	printf 'drop nth=1\ndrop nth=zero\n' >"$out/bad"
	! "$uhca_run" --private --fault-file "$out/bad" true >"$out/said" 2>&1 || echo "it starts"
	grep -q "line 2, column 10: " "$out/said" || echo "no line: $(tail -n 1 "$out/said")"
	! "$uhca_run" --fault-seed 7 true >"$out/said" 2>&1 || echo "a seed for a shared instance"
	! "$uhca_run" --private --fault-seed x true >"$out/said" 2>&1 || echo "a seed 'x'"
}

# What uhca-run says of its rules in the end, and with which status it leaves.
report() {
	local status
	"$uhca_run" --private --fault-seed 42 --fault "drop p=0.5" --fault "call.fail=ENOMEM \
call=create_qp" -- ibv_rc_pingpong >"$out/said" 2>&1
	status=$?
	[ $status = 1 ] || echo "the status is $status, not the program's"
	grep -q "rule 1 fired 0 times" "$out/said" || echo "nothing of rule 1"
	grep -q "rule 1: it never fired: 0 packets were checked" "$out/said" ||
		echo "it is not said why rule 1 never fired"
	grep -q "rule 2 fired 1 time, of 1 that matched: call.fail" "$out/said" ||
		echo "nothing of rule 2: $(tail -n 2 "$out/said")"
	grep -q "fault seed 42" "$out/said" || echo "no seed"
	"$uhca_run" --private --fault-must-fire --fault "drop nth=3" -- true >"$out/said" 2>&1
	status=$?
	[ $status = 124 ] || echo "the status is $status where no rule fired"
	# A rule that was taken away is not known to have fired; without rules none has.
	"$uhca_run" --private --fault-must-fire --fault "drop nth=3" -- "$uhcactl" fault clear \
		>"$out/said" 2>&1
	status=$?
	[ $status = 124 ] || echo "the status is $status where the rule was taken away"
	echo "# nothing" >"$out/empty"
	"$uhca_run" --private --fault-must-fire --fault-file "$out/empty" true >"$out/said" 2>&1
	status=$?
	[ $status = 124 ] || echo "the status is $status where there is no rule"
	# In the instance around it: rules come and go with the command.
	"$uhca_run" --fault "lonely: drop client=4711" -- "$uhcactl" fault list >"$out/said" 2>&1
	grep -q "lonely: drop" "$out/said" || echo "the rule is not there: $(cat "$out/said")"
	grep -q "active in the running instance" "$out/said" || echo "it is not said"
	"$uhcactl" fault list | grep -q "no rules" || echo "the rule is still there"
}

sum_of() { # NAME: over all devices
	"$uhcactl" counters | awk -v name="$1" '$1 == name { for (i = 2; i <= NF; i++) n += $i }
		END { print n + 0 }'
}

harm() { # what a late packet must not cost
	sum_of naks_sent
	sum_of retransmits
	sum_of timeouts
	sum_of fault_overflowed
}

# What is late keeps its order, within a device and between two: run in a daemon of its own.
order_inside() { # RULE
	local before now device
	before=$(harm)
	"$uhcactl" fault add "$1" >/dev/null || echo "'$1' is not taken"
	for device in uhca0 uhca1; do
		next_port
		run_pair "ibv_rc_pingpong -d $device -g 0 -s 65536 -n 10 -p $port" \
			"ibv_rc_pingpong -d uhca0 -g 0 -s 65536 -n 10 -p $port 127.0.0.1"
		pair_complaint
		next_port
		run_pair "ib_write_bw -d $device -x 0 -q 8 -n 20 -u 20 -p $port" \
			"ib_write_bw -d uhca0 -x 0 -q 8 -n 20 -u 20 -p $port 127.0.0.1"
		pair_complaint
	done
	"$uhcactl" fault clear >/dev/null
	now=$(harm)
	[ "$now" = "$before" ] ||
		echo "'$1': NAKs, retransmits, timeouts, overflows: ${now//$'\n'/ }"
}

order() {
	order_inside "delay=8ms"
	order_inside "delay=200us jitter=300us dir=both"
	order_inside "rate=10gbit dir=both limit=64m"
	order_inside "pause=5ms opcode=send nth=5,20"
	order_inside "pause=3ms every=20ms dir=both"
}

# A daemon that others keep from the processor has lost no packet: the answer waits, and goes first.
absence() {
	local before now i
	begin_traffic
	"$uhcactl" fault add "delay=1ms dir=both" >/dev/null
	flows_on "behind a delay"
	before=$(harm)
	for i in 1 2 3 4 5 6 7 8; do
		kill -STOP "$(cat "$UHCA_DIR/pid")"
		read -rt 0.3 -u "$never_fd"
		kill -CONT "$(cat "$UHCA_DIR/pid")"
		flows_on "after absence $i"
	done
	now=$(harm)
	[ "$now" = "$before" ] ||
		echo "NAKs, retransmits, timeouts, overflows: ${before//$'\n'/ }, ${now//$'\n'/ }"
	"$uhcactl" fault clear >/dev/null
	end_traffic
}

# More than a line carries and its queue takes: the tail is lost, and the requester repeats it.
full_queue() {
	local before
	before=$(sum_of fault_overflowed)
	"$uhcactl" fault add "delay=2ms device=uhca0 limit=10" >/dev/null
	next_port
	run_pair "ib_write_bw -d uhca1 -x 0 -s 65536 -n 20 -p $port" \
		"ib_write_bw -d uhca0 -x 0 -s 65536 -n 20 -p $port 127.0.0.1"
	pair_complaint
	"$uhcactl" fault clear >/dev/null
	[ "$(sum_of fault_overflowed)" -gt "$before" ] || echo "no packet was too many"
}

hits_of() { # TRACE: which packets of the rules' own counting were hit
	sed -n 's/^hit .* match=\([0-9]*\) .*/\1/p' "$1" | sort -n | tr '\n' ' '
}

pingpong_pair() {
	next_port
	run_pair "ibv_rc_pingpong -d uhca1 -g 0 -n 200 -p $port" \
		"ibv_rc_pingpong -d uhca0 -g 0 -n 200 -p $port 127.0.0.1"
	pair_complaint
}

# What chance did once is done again, to the same packets.
replay() {
	local lost
	rule_added "loss: drop device=uhca0 dir=tx opcode=send p=0.03 times=12" >"$out/number"
	pingpong_pair
	"$uhcactl" fault clear >/dev/null
	"$uhcactl" fault trace "$out/trace"
	lost=$(hits_of "$out/trace")
	"$uhcactl" replay "$out/trace" >"$out/said" 2>&1 || echo "replay: $(cat "$out/said")"
	pingpong_pair
	"$uhcactl" fault clear >/dev/null
	"$uhcactl" fault trace | grep -vxFf "$out/trace" >"$out/again"
	[ "$(hits_of "$out/again")" = "$lost" ] ||
		echo "first $lost, again $(hits_of "$out/again")"
	[ -n "$lost" ] || echo "nothing was lost"
	! "$uhcactl" replay "$out/said" >"$out/refused" 2>&1 || echo "any text is replayed"
}

# Two runs in instances of their own, where QPs, PSNs, keys and times are others.
# shellcheck disable=SC2016 # of the inner shell
stable() {
	local run
	cat >"$out/rules" <<-END
		lost: drop dev=uhca0 opcode=ack nth=2
		slow: delay=1ms dev=uhca0 opcode=send nth=3,5
		call.slow=1ms call=reg_mr dev=uhca1
		cqe.delay=1ms dev=uhca1 nth=4
	END
	for run in 1 2; do
		next_port
		"$uhca_run" --private --devices 2 --fault-file "$out/rules" -- bash -c '
			ibv_rc_pingpong -d uhca1 -g 0 -n 5 -p "$1" &
			until ibv_rc_pingpong -d uhca0 -g 0 -n 5 -p "$1" 127.0.0.1; do
				kill -0 $! || exit
			done
			wait
			"$2" fault trace "$3" && "$2" fault trace --stable "$3.stable"
			' bash "$port" "$uhcactl" "$out/run$run" >"$out/said" 2>&1 ||
			echo "run $run: $(tail -n 1 "$out/said")"
	done
	! cmp -s "$out/run1" "$out/run2" || echo "the traces are equal as they are"
	cmp "$out/run1.stable" "$out/run2.stable" 2>&1 ||
		diff "$out/run1.stable" "$out/run2.stable" | head -n 4
	grep -q 'qp=#1' "$out/run1.stable" || echo "no QP in it"
}

# Devices by their names and addresses, in rules and for programs.
# shellcheck disable=SC2016,SC2153 # of the inner shells; set by uhca-run
names() {
	local all name
	all=$("$uhcactl" --json show device | sed -n 's/.*"addresses": "\([^",]*\).*/\1/p' | xargs)
	[ "$UHCA_ADDR_0 $UHCA_ADDR_1" = "$all" ] ||
		echo "UHCA_ADDR_0 and UHCA_ADDR_1: $UHCA_ADDR_0 $UHCA_ADDR_1, not $all"
	[ -z "${UHCA_ADDR_2:-}" ] || echo "UHCA_ADDR_2 of two devices"
	"$uhca_run" --private -- sh -c 'echo "${UHCA_ADDR_0} ${UHCA_ADDR_1-none}"' >"$out/said" 2>&1
	grep -q '^127[0-9.]* none$' "$out/said" || echo "one device: $(cat "$out/said")"
	rule_added "to: dup peer=uhca1 dir=tx nth=1" >"$out/number"
	rule_added "from: dup peer=uhca1 dir=rx dev=uhca0 nth=1" >"$out/number"
	rule_added "never: dup peer=uhca0 dir=tx dev=uhca0 nth=1" >"$out/number"
	rule_added "address: dup peer=$UHCA_ADDR_1 dir=tx nth=1" >"$out/number"
	pingpong_pair
	"$uhcactl" fault list >"$out/list"
	for name in to from address; do
		grep -Eq "^ *[0-9]+ +1 .*$name: dup" "$out/list" || echo "rule $name did not fire"
	done
	grep -Eq "^ *[0-9]+ +0 .*never: dup" "$out/list" || echo "the wrong peer is hit"
	"$uhcactl" fault clear >/dev/null
	! "$uhcactl" fault add drop peer=uhca9 >"$out/said" 2>&1 || echo "peer=uhca9 is taken"
	grep -q "column 11: 'uhca9' is neither an IP address nor a device; known: uhca0" \
		"$out/said" || echo "peer=uhca9: $(head -n 1 "$out/said")"
	! "$uhcactl" fault add drop dev=uhca >"$out/said" 2>&1 || echo "dev=uhca is taken"
	grep -q "column 10: 'uhca' is not a device.* did you mean 'uhca0'" "$out/said" ||
		echo "dev=uhca: $(head -n 1 "$out/said")"
	cat >"$out/names.scn" <<-'END'
		daemon --devices 2
		fault x: drop peer=$UHCA_ADDR_1 dev=uhca0 opcode=send nth=3
		run server: ibv_rc_pingpong -d uhca1 -g 0 -n 9 -p $UHCA_PORT
		run address: test -n "$UHCA_ADDR_1"
		after listen: run client: ibv_rc_pingpong -d uhca0 -g 0 -n 9 -p $UHCA_PORT 127.0.0.1
		expect exit address 0
		expect exit client 0
	END
	"$uhca_run" --scenario "$out/names.scn" >"$out/said" 2>&1 || grep -v ok "$out/said"
	sed 's/ADDR_1 dev/ADDR_7 dev/' "$out/names.scn" >"$out/wrong.scn"
	"$uhca_run" --scenario "$out/wrong.scn" >"$out/said" 2>&1 &&
		echo "no device 7, and it passes"
	grep -q 'wrong.scn:2:20: no device has this number' "$out/said" ||
		echo "no device 7: $(head -n 1 "$out/said")"
}

# ---- step mode ----

step() {
	"$uhcactl" step "$@" >"$out/step" 2>&1 || echo "step $*: $(cat "$out/step")"
}

waits() { # PATTERN: some packet waits that looks so
	"$uhcactl" step list uhca0 >"$out/step" 2>&1 && grep -qE "$1" "$out/step"
}

first_number() { # PATTERN
	awk -v pattern="$1" '$0 ~ pattern && $1 + 0 { print $1; exit }' "$out/step"
}

counter() { # NAME: of uhca1
	"$uhcactl" counters | awk -v name="$1" '$1 == name { print $3 }'
}

# The clock of the frozen device stands; the other's has a long retry time.
steps() {
	local before number
	next_port
	step freeze uhca0
	grep -q "^uhca0: frozen, 0 packets wait" "$out/step" || echo "not frozen"
	ib_send_lat -d uhca1 -x 0 -u 18 -n 5 -p "$port" >"$out/server" 2>&1 &
	server_pid=$!
	until_true listens_or_is_gone "$server_pid" "$port"
	ib_send_lat -d uhca0 -x 0 -u 18 -n 5 -p "$port" 127.0.0.1 >"$out/client" 2>&1 &
	client_pid=$!
	until_true waits "tx .*RC_SEND" || echo "no packet waits: $(cat "$out/step")"
	before=$(counter rx_packets)
	step next uhca0
	[ "$(counter rx_packets)" = $((before + 1)) ] || echo "not exactly one packet went"
	until_true waits "rx .*RC_" || echo "no answer waits: $(cat "$out/step")"
	number=$(first_number " rx ")
	step set "$number" bth.fecn 1 uhca0
	step set "$number" no.such.field 1 uhca0 | grep -q "unknown field .no.such.field." ||
		echo "any field"
	step drop 99999 uhca0 | grep -q "no packet 99999 waits" || echo "any number"
	step drop "$number" | grep -q "the device is missing: name one of 2 devices" ||
		echo "a number of any device"
	step drop "$number" uhca0
	! grep -q "^ *$number " "$out/step" || echo "packet $number is still there"
	step go uhca0
	grep -q "^uhca0: not frozen, 0 packets wait" "$out/step" || echo "still frozen"
	until_true is_gone "$client_pid" || echo "the client does not end"
	wait "$client_pid" || echo "the client fails: $(tail -n 1 "$out/client")"
	until_true is_gone "$server_pid" || kill "$server_pid"
	wait "$server_pid" || echo "the server fails: $(tail -n 1 "$out/server")"
}

begin_pingpong() { # N: sets server_pid and client_pid
	next_port
	ibv_rc_pingpong -d uhca1 -g 0 -n "$1" -p "$port" >"$out/server" 2>&1 &
	server_pid=$!
	until_true listens_or_is_gone "$server_pid" "$port"
	ibv_rc_pingpong -d uhca0 -g 0 -n "$1" -p "$port" 127.0.0.1 >"$out/client" 2>&1 &
	client_pid=$!
	until_true waits "tx .*RC_SEND" || echo "no packet waits: $(cat "$out/step")"
}

end_pingpong() {
	until_true is_gone "$client_pid" || echo "the client does not end"
	wait "$client_pid" || echo "the client fails: $(tail -n 1 "$out/client")"
	wait "$server_pid" || echo "the server fails: $(tail -n 1 "$out/server")"
}

waits_long() { # MS: the oldest packet does
	"$uhcactl" step list uhca0 |
		awk -v ms="$1" '/ ms  / { long = $3 > ms; exit } END { exit !long }'
}

waits_anywhere() {
	"$uhcactl" step list | grep -qE " (tx|rx) "
}

# Lets one packet go, by text and by JSON in turn, and prints what is wrong with what is said.
one_step() { # TURN
	if [ $(($1 % 2)) = 0 ]; then
		"$uhcactl" step next >"$out/next" 2>&1 || return
		[ "$(grep -c . "$out/next")" = 1 ] && grep -qE \
			"^uhca[01] +[0-9]+ (tx|rx) +[0-9.]+ ms  .*RC_(SEND|ACK)" "$out/next"
	else
		"$uhcactl" --json step next >"$out/next" 2>&1 || return
		[ "$(grep -c '"packet":' "$out/next")" = 1 ] && grep -q '"total": 1,' "$out/next"
	fi || echo "not one packet: $(cat "$out/next")"
}

# By hand, however long it takes: ibv_rc_pingpong's retry time of 67 ms goes by many times. A packet
# waits where it leaves and where it arrives.
pingpong_steps() {
	local before waiting turn
	before=$(harm)
	step freeze
	[ "$(grep -c "^uhca[01]: frozen, 0 packets wait" "$out/step")" = 2 ] || echo "not frozen"
	"$uhcactl" step next >"$out/next" 2>&1 && echo "what does not wait goes"
	grep -q "no packet waits" "$out/next" || echo "nothing waits: $(cat "$out/next")"
	begin_pingpong 3
	waiting=$(grep -c " tx " "$out/step")
	until_true waits_long 500 || echo "no packet waits for long: $(cat "$out/step")"
	step list uhca0
	[ "$(grep -c " tx " "$out/step")" = "$waiting" ] || echo "more wait: $(cat "$out/step")"
	for turn in 1 2 3 4 5 6 7 8; do
		until_true waits_anywhere || echo "step $turn: nothing waits"
		one_step "$turn"
	done
	[ "$(harm)" = "$before" ] || echo "frozen: $(harm | tr '\n' ' ')"
	is_alive "$client_pid" || echo "the client is gone: $(tail -n 1 "$out/client")"
	step go
	end_pingpong
	[ "$(harm)" = "$before" ] || echo "in the end: $(harm | tr '\n' ' ')"
}

# What is dropped is sent again, once the clock goes on.
dropped_step() {
	local before
	before=$(sum_of retransmits)
	step freeze
	begin_pingpong 20
	step drop "$(first_number " tx ")" uhca0
	[ "$(sum_of retransmits)" = "$before" ] || echo "it is sent again while all stands"
	step go
	end_pingpong
	[ "$(sum_of retransmits)" -gt "$before" ] || echo "it is not sent again"
}

# Every command prints JSON when it is asked to, and says something without a plural of one.
json() {
	local words
	cat >"$out/commands" <<-END
		show device
		show qp
		show mr
		counters
		capture start $out/json.pcapng
		capture status
		fault add call.slow=1us call=reg_mr
		fault list
		fault help
		fault help drop
		fault trace
		fault clear
		event uhca0 PORT_ACTIVE
		limit max_mr=1000 uhca0
		port up uhca0
		step freeze
		step list
		step go
		top
		ladder live
		explain live
		report live
		device fatal uhca1
		capture stop
		ladder $out/json.pcapng
		explain $out/json.pcapng
		report $out/json.pcapng
	END
	printf 'call.fail=ENOMEM call=alloc_pd\n' >"$out/plan"
	while read -r words; do
		# shellcheck disable=SC2086
		# What it says beside (the trace has forgotten its first lines) is not in the JSON.
		timeout 240 "$uhcactl" --json $words >"$out/json" 2>"$out/beside" </dev/null ||
			echo "$words: it ends with $?: $(head -n 1 "$out/beside")"
		python3 -m json.tool <"$out/json" >"$out/said" 2>&1 ||
			echo "$words: no JSON: $(head -n 1 "$out/json")"
	done <"$out/commands"
	timeout 240 "$uhcactl" --json minimise "$out/plan" -- sh -c \
		'! ibv_rc_pingpong -g 0 127.0.0.1 2>&1 | grep -q "allocate PD"' \
		>"$out/json" 2>"$out/said"
	python3 -m json.tool <"$out/json" >"$out/said" 2>&1 || echo "minimise: no JSON"
	"$uhcactl" fault add drop opcode=cnp >"$out/said"
	"$uhcactl" fault clear | grep -qx '1 rule removed' || echo "one rule are gone"
	! "$uhcactl" fault help nht >"$out/said" 2>&1 || echo "fault help takes any word"
}

# First: the trace of the daemon begins with it.
try fault replay replay
try fault stable stable
try fault live-change live_change
try fault mistakes mistakes
try fault impossible impossible
try fault order order
try fault names names
try fault absence absence
try fault full-queue full_queue
try fault files files
try fault start-up start_up
try fault report report
try fault json json
try fault steps steps
try fault pingpong-steps pingpong_steps
try fault dropped-step dropped_step
exit $row_failed
