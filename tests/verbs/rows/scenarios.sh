# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of scenarios: each of the gallery passes, as often in a row as UHCA_TIMES says, those of a
# fleet in three arrangements; verdicts that must fail do; mistakes are named by line and column;
# the rules that matter are found.

gallery=$here/../scenarios
export FAILOVER=${UHCA_BUILDDIR:-}/tests/examples/failover/failover

# scenario FILE [OPTION...]: runs it with its output in $out/scenario; sets status.
scenario() {
	local file=$1
	shift
	timeout -k 2 "$limit" "$uhca_run" "$@" --scenario "$file" >"$out/scenario" 2>&1 </dev/null
	status=$?
}

scenario_complaint() { # FILE
	local i=0
	while [ "$i" -lt "${UHCA_TIMES:-1}" ]; do
		i=$((i + 1))
		scenario "$1"
		[ "$status" = 0 ] || {
			echo "run $i $(status_words "$status")"
			grep -E 'FAIL|^uhca-run' "$out/scenario" | head -n 4
			return
		}
	done
}

# arranged NAME FILE [OPTION...]: runs it, and says what is wrong.
arranged() {
	timeout -k 2 "$limit" "$uhca_run" --own-network "${@:3}" --scenario "$2" \
		>"$out/$1" 2>&1 </dev/null
	local status=$?
	[ $status = 0 ] || {
		echo "$1: $(status_words $status)"
		grep -E 'FAIL|^uhca-run' "$out/$1" | head -n 4
	}
}

# Sender and receiver on devices of one daemon, of one daemon with UDP between them, and of two
# daemons: side by side, for what these scenarios do most is to wait.
arrangements_complaint() { # FILE
	local i=0
	while [ "$i" -lt "${UHCA_TIMES:-1}" ]; do
		i=$((i + 1))
		arranged inside "$1" >"$out/of-inside" &
		arranged wire "$1" --wire >"$out/of-wire" &
		arranged two-daemons "$1" --two-daemons >"$out/of-two-daemons" &
		wait
		cat "$out"/of-*
	done
}

# A scenario of which everything goes wrong that can, and its verdict in every form.
verdict_complaint() {
	cat >"$out/wrong.scn" <<'END'
title Two <wrong> & one # right
fault never: drop opcode=cnp
optional fault may: drop opcode=cnp
run a: echo hello; exit 3
expect exit a
expect exit a 3
expect output a ^hell
expect no output a hello
expect completion status=SUCCESS
END
	scenario "$out/wrong.scn" --tap "$out/tap" --junit "$out/xml"
	[ "$status" = 1 ] || echo "it ended with status $status"
	grep -q '^1\.\.6$' "$out/tap" || echo "TAP: no plan of six"
	[ "$(grep -c '^ok' "$out/tap")" = 2 ] || echo "TAP: not two are ok"
	[ "$(grep -c '^not ok' "$out/tap")" = 4 ] || echo "TAP: not four are not ok"
	grep -q 'rule never fires' "$out/tap" || echo "TAP: a rule that never fired passes"
	python3 - "$out/xml" <<'END' || echo "JUnit: not as it should be"
import sys, xml.etree.ElementTree as t
s = t.parse(sys.argv[1]).getroot()
assert s.get("name") == "Two <wrong> & one # right", s.get("name")
assert s.get("tests") == "6" and s.get("failures") == "4"
assert len(s.findall("testcase")) == 6 and len(s.findall("testcase/failure")) == 4
assert s.find("system-out").text.startswith("--- a: status 3, "), s.find("system-out").text
assert s.find("system-out").text.splitlines()[1:] == ["hello"]
f = s.find("testcase/failure")
assert f.text.endswith("wrong.scn:5: expect exit a: found 3"), f.text
assert s.find("testcase").get("line") == "5" and s.find("testcase").get("file").endswith(".scn")
assert sum(float(c.get("time")) for c in s.findall("testcase")) <= float(s.get("time")) + 0.01
END
	"$uhca_run" --scenario "$out/not-there.scn" --junit "$out/none.xml" >"$out/said" 2>&1
	[ $? = 125 ] && [ ! -e "$out/none.xml" ] || echo "a file that is not there is run"
	grep -q "not-there.scn: No such file" "$out/said" || echo "it is not said"
	grep -q 'a| hello' "$out/scenario" || echo "the output of what ran is not shown"
}

# scenario_says FILE-CONTENT STATUS WORDS: what is printed for this scenario.
scenario_says() {
	printf '%s\n' "$1" >"$out/case.scn"
	scenario "$out/case.scn"
	[ "$status" = "$2" ] || echo "'$1' ended with $status"
	grep -qF -- "$3" "$out/scenario" || echo "'$1' is not answered with '$3'"
}

mistakes_complaint() {
	scenario_says 'command
rnu a: true' 125 "case.scn:2:1: unknown statement 'rnu'"
	scenario_says 'command' 125 "needs a command after --"
	scenario_says 'fault drop opcod=ack
run a: true' 125 "case.scn:1:12: unknown word 'opcod': did you mean 'opcode'?"
	scenario_says 'run a: true
expect exit b' 125 "case.scn:2:13: unknown earlier run 'b'"
	scenario_says 'run a: true
expect counter apples 1' 125 "case.scn:2:16: unknown counter 'apples'"
	scenario_says 'run a: true
expect no completion status!=SUCCESS dev=uhca7' 125 "case.scn:2:22: unknown device 'uhca7'"
	scenario_says 'run a: true
expect no completion stauts!=SUCCESS' 125 "case.scn:2:22: unknown word of a completion 'stauts'"
	scenario_says 'run a: true
expect output a [' 125 "not a regular expression"
	scenario_says 'run a: true
daemon --junit x' 125 "--junit is not allowed here"
	scenario_says 'daemon --nonsense
run a: true' 125 "nonsense"
	scenario_says 'limit 300ms
run a: sleep 60' 1 "a ends within the limit"
	scenario_says 'run a: no-such-program
expect exit a' 1 "found 127"
	scenario "$out/no-such-file"
	[ "$status" = 125 ] || echo "without a file it ended with status $status"
	grep -q "No such file" "$out/scenario" || echo "a missing file is not named"
}

# Whatever tests nothing does not pass.
green_complaint() {
	scenario_says 'run a: true' 1 "FAIL the scenario has an expectation"
	scenario_says 'run a: true
uhcactl capture stop
expect no completion status!=SUCCESS' 125 "the capture has ended"
	scenario_says 'run a: no-such-program
expect no leak' 1 "FAIL a can be run (it ended with status 127)"
	scenario_says 'run a: false
expect no leak' 0 "note a ended with status 1, and no line expects it"
	printf 'run a: true\nexpect exit a\n' >"$out/case.scn"
	scenario "$out/case.scn" --fault 'never: drop opcode=cnp' --fault-must-fire
	grep -q 'FAIL rule never fires' "$out/scenario" || echo "a rule of the line need not fire"
	[ "$status" = 1 ] || echo "a rule that never fired: it ended with status $status"
	"$uhca_run" --scenario "$out/case.scn" -- false >"$out/scenario" 2>&1
	[ $? = 1 ] || echo "the command failed, and it passed"
	"$uhca_run" --scenario "$out/case.scn" -- no-such-program >"$out/scenario" 2>&1
	[ $? = 1 ] || echo "there is no such command, and it passed"
	"$uhca_run" --scenario "$out/case.scn" -- >"$out/scenario" 2>&1
	[ $? = 125 ] || echo "-- without a command was taken"
}

# Each side sees its devices, rules are where they belong, and expectations look at both daemons.
two_daemons_complaint() {
	cat >"$out/case.scn" <<'END'
title Two
daemon --devices 4
capture both.pcapng
fault here: drop opcode=send nth=2 to=$UHCA_ADDR_3/32
peer fault there: drop opcode=send nth=2 to=$UHCA_ADDR_1/32
peer run server: ibv_devices; ibv_rc_pingpong -d uhca3 -g 0 -n 10 -p $UHCA_PORT
after listen: run client: ibv_devices; ibv_rc_pingpong -d uhca1 -g 0 -n 10 -p $UHCA_PORT 127.0.0.1
peer uhcactl port down uhca2
expect exit client
expect exit server
expect output client uhca0
expect no output client uhca[23]
expect output server uhca2
expect no output server uhca[01]
expect event type=PORT_ERR dev=uhca2
expect counter tx_bytes >= 1
expect rule here hits 1
expect rule there hits 1
expect retry count >= 2 why=nak
expect no leak
END
	(cd "$out" && timeout "$limit" "$uhca_run" --two-daemons --scenario case.scn) \
		>"$out/scenario" 2>&1 ||
		echo "ended with $?: $(grep -E 'FAIL|^uhca-run' "$out/scenario")"
	[ -s "$out/both.pcapng" ] && [ -s "$out/both.pcapng.peer" ] || echo "not two captures"
	# What is left by the peer's program, and what is wrong of the peer's rule.
	# shellcheck disable=SC2016
	two_daemons_say 'peer run a: ibv_rc_pingpong -d uhca1 -g 0 -p $UHCA_PORT
after listen: kill a KILL
expect no leak' 1 'FAIL line 4: expect no leak'
	two_daemons_say 'fault event=PORT_ERR dev=uhca1
peer run a: true' 125 "case.scn:2:26: 'uhca1' is not a device; known: uhca0"
	two_daemons_say 'peer fault event=PORT_ERR dev=uhca0
peer run a: true' 125 "case.scn:2:31: 'uhca0' is not a device; known: uhca1"
	two_daemons_say 'peer run a: true
expect no event dev=uhca2' 125 "unknown device 'uhca2'"
	two_daemons_say 'run a: true
expect exit a' 125 "needs a 'peer run'"
	# A listener of the second daemon, when the first has none.
	# shellcheck disable=SC2016
	two_daemons_say 'peer run server: rping -s -C 3 -a $UHCA_ADDR_1 -p $UHCA_PORT
after listen cm: run client: rping -c -C 3 -a $UHCA_ADDR_1 -p $UHCA_PORT
expect exit client
expect exit server' 0 '2 of 2 passed'
	two_daemons_say 'daemon --addr 127.0.0.9
peer run a: true' 125 "shares devices out: no --addr"
	two_daemons_say 'daemon --no-wire
peer run a: true' 125 "by UDP: no --no-wire"
	two_daemons_say 'daemon --devices 3
peer run a: true' 125 "there are 3: add 'daemon --devices 2'"
	"$uhca_run" --two-daemons -- true >"$out/said" 2>&1
	[ $? = 125 ] && grep -q -- '--two-daemons needs --scenario' "$out/said" ||
		echo "--two-daemons without a scenario: $(<"$out/said")"
	"$uhca_run" --private --machine laptop --first-device 1 -- true >"$out/said" 2>&1
	grep -q 'laptop names its devices: no --first-device' "$out/said" ||
		echo "--first-device with --machine: $(<"$out/said")"
}

# two_daemons_say FILE-CONTENT STATUS WORDS: of a scenario with two devices.
two_daemons_say() {
	printf 'daemon --devices 2\n%s\n' "$1" >"$out/case.scn"
	scenario "$out/case.scn" --two-daemons
	[ "$status" = "$2" ] || echo "'$1' ended with $status"
	grep -qF -- "$3" "$out/scenario" || echo "'$1' is not answered with '$3'"
}

# All files are carried out, and what cannot be is in the reports, over what was there before.
several_complaint() {
	printf 'run a: touch %s/one\nexpect exit a\n' "$out" >"$out/one.scn"
	printf 'title two\nrun a: touch %s/two\nexpect exit a 1\n' "$out" >"$out/two.scn"
	printf 'run a: true\nexpect exit a nought\n' >"$out/three.scn"
	rm -f "$out/one" "$out/two"
	echo '<testsuite tests="1" failures="0"/>' >"$out/xml"
	scenario "$out/two.scn" --scenario "$out/one.scn" --junit "$out/xml" --tap "$out/tap"
	[ "$status" = 1 ] || echo "one of two failed: it ended with status $status"
	[ -f "$out/one" ] && [ -f "$out/two" ] || echo "not both were run"
	grep -qx '1\.\.2' "$out/tap" || echo "TAP: no plan of two"
	python3 - "$out/xml" <<'END' || echo "JUnit: not two suites with one failure"
import sys, xml.etree.ElementTree as t
s = t.parse(sys.argv[1]).getroot()
assert [x.get("failures") for x in s.findall("testsuite")] == ["0", "1"]
END
	scenario "$out/three.scn" --scenario "$out/one.scn" --junit "$out/xml" --tap "$out/tap"
	[ "$status" = 125 ] || echo "one of two cannot be carried out: it ended with status $status"
	grep -q '^not ok 2 - the scenario runs' "$out/tap" || echo "TAP: no word of it"
	python3 - "$out/xml" <<'END' || echo "JUnit: no error"
import sys, xml.etree.ElementTree as t
s = t.parse(sys.argv[1]).getroot().findall("testsuite")[1]
assert s.get("errors") == "1"
assert "three.scn:2:15:" in s.find("testcase/error").get("message")
END
	echo 'ok' >"$out/tap"
	UHCA_DAEMON=/no/such/daemon "$uhca_run" --scenario "$out/one.scn" --junit "$out/xml" \
		--tap "$out/tap" >"$out/scenario" 2>&1
	[ $? = 125 ] || echo "without a daemon it did not end with 125"
	grep -q '<error message=".*no daemon could be started' "$out/xml" || echo "JUnit: no daemon"
	grep -q '^not ok' "$out/tap" || echo "TAP: no daemon"
}

# A run that ended otherwise than expected is not waited for while another one runs on.
settled_complaint() {
	cat >"$out/case.scn" <<'END'
limit 20s
run a: echo out; exit 3
run b: sleep 600
expect exit a
expect output a never
run c: sleep 0.2; echo late
expect output c late
kill b
END
	scenario "$out/case.scn"
	[ "$status" = 1 ] || echo "it ended with status $status"
	grep -q 'FAIL line 4: .*found 3' "$out/scenario" || echo "the status is not told"
	grep -q 'FAIL line 5: ' "$out/scenario" || echo "the output is not told"
	grep -q 'ok   line 7: ' "$out/scenario" || echo "no time was left for the rest"
}

# What uhca-run's own line runs takes part, and its output goes where uhca-run's goes.
command_complaint() {
	printf 'expect exit command 7\n' >"$out/case.scn"
	"$uhca_run" --scenario "$out/case.scn" --tap - -- sh -c 'echo out; exit 7' \
		>"$out/command" 2>&1 || echo "it ended with status $?"
	grep -qx out "$out/command" || echo "the command's output is not there"
	grep -qx 'ok 1 - expect exit command 7' "$out/command" || echo "no TAP on standard output"
}

# Of five rules two are needed; and one match of many.
minimise_complaint() {
	cat >"$out/plan" <<'END'
# of these
slow: delay=1ms opcode=ack nth=1
lost: drop opcode=ack nth=2
call.fail=ENOMEM call=reg_mr
again: dup opcode=ack nth=3
late: cqe.delay=1ms nth=1
END
	cat >"$out/pair" <<'END'
ibv_rc_pingpong -d uhca0 -g 0 -p $1 &
until ibv_rc_pingpong -d uhca0 -g 0 -p $1 127.0.0.1; do
	kill -0 $! || exit 3
done
wait $!
END
	next_port
	# As somebody has it who calls it in the build tree.
	unset UHCA_DAEMON UHCA_PRELOAD UHCA_PROVIDER
	timeout "$limit" "$UHCA_BUILDDIR/uhcactl" minimise "$out/plan" -- \
		sh "$out/pair" "$port" >"$out/less" 2>"$out/trials" ||
		echo "it ended with status $?"
	[ "$(grep -v '^#' "$out/less")" = "call.fail=ENOMEM call=reg_mr" ] ||
		echo "not the rule that matters is left"
	printf 'call.fail=ENOMEM call=alloc_pd nth=1\n' >"$out/plan"
	"$UHCA_BUILDDIR/uhcactl" minimise "$out/plan" -- true >"$out/less" 2>&1 &&
		echo "nothing fails, and it was content"
	grep -q "no run fails" "$out/less" || echo "no run fails, and it does not say so"
	# What it is told goes to uhca-run, whose command finds our tools.
	cat >"$out/two" <<'END'
ibv_devinfo -d uhca1 >/dev/null || exit 0
uhcactl show device | grep -q ' udp ' || exit 0
uhca-run uhcactl fault list >/dev/null || exit 0
! ibv_rc_pingpong -d uhca1 -g 0 -p $1 127.0.0.1 2>&1 | grep -q "allocate PD"
END
	printf 'call.fail=ENOMEM call=alloc_pd nth=1\ndrop opcode=cnp\n' >"$out/plan"
	"$UHCA_BUILDDIR/uhcactl" --devices 2 --wire minimise "$out/plan" -- sh "$out/two" "$port" \
		>"$out/less" 2>&1 || echo "--devices and --wire: $(tail -n 1 "$out/less")"
	grep -q '^call.fail=ENOMEM call=alloc_pd nth=1$' "$out/less" || echo "not the rule is left"
	! grep -q '^drop' "$out/less" || echo "a rule too many is left"
	"$UHCA_BUILDDIR/uhcactl" minimise "$out/plan" -- false >"$out/less" 2>&1 &&
		echo "the rules do not matter, and it was content"
	grep -q "fails without the rules" "$out/less" || echo "the rules do not matter: not said"
}

# What fails in one of three runs, by a count in a file; with another seed, never.
by_chance_complaint() {
	cat >"$out/flaky" <<'END'
n=$(($(cat "$1") + 1))
echo $n >"$1"
uhcactl fault list >"$1.list"
grep -q 'drop opcode=cnp' "$1.list" && grep -qx 'seed 7' "$1.list" && [ $((n % 3)) = 0 ] && exit 4
exit 0
END
	printf 'drop opcode=cnp\nghost opcode=send nth=1000\n' >"$out/plan"
	set -- "$UHCA_BUILDDIR/uhcactl" minimise "$out/plan" --fault-seed 7
	echo 0 >"$out/count"
	"$@" -- sh "$out/flaky" "$out/count" >"$out/less" 2>&1 && echo "it passes, and is found"
	grep -q 'for a random failure use --times 20' "$out/less" || echo "no word of --times"
	echo 0 >"$out/count"
	"$@" --times 3 -- sh "$out/flaky" "$out/count" >"$out/less" 2>"$out/trials" ||
		echo "it ended with status $?: $(tail -n 1 "$out/trials")"
	grep -qx '2 of 2 rules: 1 of 3 runs fail' "$out/trials" || echo "the share is not told"
	[ "$(sed 's/found in [0-9]* runs/found/' "$out/less")" = \
		"# 1 of 2 matters, found; with it 1 of 3 fail
drop opcode=cnp" ] || echo "not the rule that matters: $(cat "$out/less")"
	"$@" --times 0 -- true >"$out/less" 2>&1 && echo "--times 0 is taken"
	"$@" >"$out/less" 2>&1 && echo "no command, and it is content"
	grep -q 'for a file of rules add the command' "$out/less" ||
		echo "not said that the command is missing"
}

# hits_in TRACE: what was hit, without what differs from run to run.
hits_in() {
	sed -n 's/^hit .* \(match=[0-9]*\) .* \(dir=[a-z]*\) .*\(op=.*\)/\1 \2 \3/p' "$1"
}

# A failure by chance, recorded; then the same again and again by its trace, with other seeds.
replay_complaint() {
	local i=0 pair
	cat >"$out/pair" <<'END'
ibv_rc_pingpong -d uhca0 -g 0 -s 64 -p $1 &
until ibv_rc_pingpong -d uhca0 -g 0 -s 64 -p $1 127.0.0.1 >$2/client 2>&1 ||
	! grep -q "Couldn't connect" $2/client; do :; done &
wait -n
kill $(jobs -p)
wait
uhcactl fault trace $3
END
	next_port
	pair=(bash "$out/pair" "$port" "$out")
	export PATH=$UHCA_BUILDDIR:$PATH
	"$uhca_run" --private --fault-seed 7 --fault 'bad: nak=access opcode=send p=0.01' -- \
		"${pair[@]}" "$out/first" >"$out/run" 2>&1
	[ -n "$(hits_in "$out/first")" ] || echo "nothing was recorded"
	while [ "$i" -lt "${UHCA_TIMES:-2}" ]; do
		i=$((i + 1))
		# The command is for the inner shell.
		# shellcheck disable=SC2016
		"$uhca_run" --private -- sh -c 'uhcactl replay "$1" && shift && "$@"' sh \
			"$out/first" "${pair[@]}" "$out/again" >"$out/run" 2>&1
		[ "$(hits_in "$out/first")" = "$(hits_in "$out/again")" ] ||
			echo "run $i: $(hits_in "$out/again"), not $(hits_in "$out/first")"
	done
}

rows_scenarios() {
	local file name
	hasten_perftest
	for file in "$gallery"/*.scn "$gallery"/c*/*.scn; do
		name=${file##*/}
		try scenario "${name%.scn}" scenario_complaint "$file"
	done
	for file in "$gallery"/fleet/*.scn; do
		name=${file##*/}
		try scenario "${name%.scn}" arrangements_complaint "$file"
	done
	try scenario verdict verdict_complaint
	try scenario mistakes mistakes_complaint
	try scenario green green_complaint
	try scenario two-daemons two_daemons_complaint
	try scenario several several_complaint
	try scenario settled settled_complaint
	try scenario command command_complaint
	try scenario minimise minimise_complaint
	try scenario minimise-by-chance by_chance_complaint
	try scenario replay replay_complaint
}
