# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of uhca-run: exit codes, signals, instances, what it leaves behind. Instances live in a
# folder of the test's own. Each function prints what is wrong.

expect_status() { # STATUS COMMAND...
	local want=$1 status
	shift
	timeout -k 2 240 "$@" >"$out/said" 2>&1 </dev/null
	status=$?
	[ $status = "$want" ] ||
		echo "'${*: -3}' ended with $status, not $want: $(tail -n 1 "$out/said")"
}

expect_said() { # PATTERN
	grep -qE "$1" "$out/said" || echo "does not say '$1' but: $(head -n 1 "$out/said")"
}

expect_nothing_left() {
	local left
	left=$(find "$TMPDIR" -mindepth 1 -not -path "*/uhca-$(id -u)*" | head -n 3)
	[ -z "$left" ] || echo "left behind: $left"
}

exit_codes() {
	expect_status 0 "$uhca_run" --private true
	expect_status 7 "$uhca_run" --private -- sh -c 'exit 7'
	expect_status 137 "$uhca_run" --private sh -c 'kill -9 $$'
	expect_status 127 "$uhca_run" --private no-such-program
	expect_said "no-such-program: No such file"
	expect_status 126 "$uhca_run" --private /etc/passwd
	expect_nothing_left
}

bad_usage() {
	expect_status 125 "$uhca_run"
	expect_said "no command"
	expect_status 125 "$uhca_run" --no-such-option true
	expect_said "no-such-option"
	expect_status 125 "$uhca_run" --private --instance x true
	expect_status 125 "$uhca_run" --instance ../x true
	expect_said "not a valid instance name"
	expect_status 125 "$uhca_run" --own-network true
	expect_said "needs a private daemon"
	expect_status 125 "$uhca_run" --private --own-network --netdev lo true
	expect_said "only the loopback interface"
	expect_status 125 "$uhca_run" --devices none true
	expect_said "is not a number from 1 to"
	expect_status 0 "$uhca_run" --version
	expect_said "^uhca-run [0-9]"
}

# The daemon of scripts/check --pin is a script, which has another way to say it.
daemon_trouble() {
	expect_status 125 env -u UHCA_PIN UHCA_DAEMON=/no/such/uhcad "$uhca_run" --private true
	expect_said "/no/such/uhcad: No such file"
	expect_status 125 env UHCA_DAEMON=/bin/false "$uhca_run" --private true
	expect_said "did not start"
	expect_status 125 "$uhca_run" --private --addr 192.0.2.1 true
	expect_said "192.0.2.1"
	expect_status 125 "$uhca_run" --private --netdev nosuchif0 true
	expect_said "nosuchif0"
	expect_status 125 env UHCA_PRELOAD=/no/such.so "$uhca_run" --private true
	expect_said "/no/such.so: No such file"
	expect_nothing_left
}

# pids_below PID: all processes that it has started, and these.
pids_below() {
	local child children=
	{ read -r children <"/proc/$1/task/$1/children"; } 2>/dev/null
	for child in $children; do
		pids_below "$child"
		echo "$child"
	done
}

# Killed with all that belongs to it, as a test runner does in the end, it can clean nothing up: the
# next start does, and leaves alone what lives and what is not uhca's.
# shellcheck disable=SC2016,SC2046,SC2086 # of the inner shells; numbers of processes
all_killed() {
	local folder=$out/swept alive living killed mine pids
	rm -rf "$folder" && mkdir "$folder"
	mine=$folder/uhca-mydata && mkdir -m 700 "$mine" && touch "$mine/pid"
	export TMPDIR=$folder XDG_RUNTIME_DIR=
	"$uhca_run" --private -- sh -c 'echo "$UHCA_DIR" >"$0"; exec sleep 100' "$out/living" &
	alive=$!
	"$uhca_run" --private --sanitize -- sh -c 'echo "$UHCA_DIR" >"$0"; exec sleep 100' \
		"$out/killed" &
	killed=$!
	until_true test -s "$out/living" && until_true test -s "$out/killed" ||
		echo "they do not start"
	pids="$(pids_below $killed) $killed"
	kill -STOP $pids
	kill -KILL $pids
	wait $killed 2>/dev/null
	until_true all_gone $pids || echo "some of $pids live"
	[ -d "$(cat "$out/killed")" ] || echo "the directory is gone by itself: nothing is tested"
	"$uhca_run" --private -- test -d "$(cat "$out/living")" ||
		echo "a live directory was removed"
	living=$(basename "$(cat "$out/living")")
	[ "$(ls "$folder")" = "$(printf '%s\n' "$living" uhca-mydata | sort)" ] ||
		echo "left: $(ls "$folder"), live: $(cat "$out/living")"
	"$uhca_run" --private -- true # once more, as it were the first
	[ -f "$mine/pid" ] || echo "a folder that is not uhca's was removed"
	kill $alive
	wait $alive 2>/dev/null
	[ "$(ls "$folder")" = uhca-mydata ] || echo "left in the end: $(ls "$folder")"
}

# A command that hangs is ended with all that it started, and what its threads and the queue pairs
# waited for is told.
# shellcheck disable=SC2016 # of the inner shell
time_limit() {
	local status pid
	cat >"$out/hang" <<-'SCRIPT'
		echo $$ >"$1/pids"
		sh -c 'echo $$ >>"$0/pids"; trap "" TERM; while :; do sleep 100; done' "$1" &
		ibv_rc_pingpong -g 0 -e -p "$2" >/dev/null &
		until ibv_rc_pingpong -g 0 -e -p "$2" 127.0.0.1 >/dev/null; do :; done
	SCRIPT
	next_port
	timeout -k 2 240 "$uhca_run" --private --time-limit 2 --fault 'cqe.withhold nth=200' -- \
		sh "$out/hang" "$out" "$port" >"$out/said" 2>&1
	status=$?
	[ $status = 124 ] || echo "the status is $status: $(tail -n 1 "$out/said")"
	expect_said '^uhca-run: sh did not end within 2 seconds; it waits for:'
	expect_said 'thread [0-9]* .sh. waits in wait4: the end of a child'
	expect_said 'thread [0-9]* .ibv_rc_pingpong. waits in (read of descriptor [0-9]*, |poll)'
	expect_said 'uhca0 QP 0x[0-9a-f]*'
	expect_said 'receive requests wait for a'
	while read -r pid; do
		until_true is_gone "$pid" || echo "process $pid lives on"
	done <"$out/pids"
	expect_nothing_left
	expect_status 3 "$uhca_run" --private --time-limit 20 -- sh -c 'exit 3'
	expect_status 125 "$uhca_run" --time-limit 0 true
	printf 'run a: sleep 100\nexpect exit a\n' >"$out/long.scn"
	expect_status 1 "$uhca_run" --time-limit 1 --scenario "$out/long.scn"
	expect_said 'a ends within the limit'
	expect_said 'thread [0-9]* .sleep. waits in clock_nanosleep'
	rm "$out/long.scn"
}

all_gone() { # PID...
	local pid
	for pid in "$@"; do is_gone "$pid" || return; done
}

# Somebody has the port of RoCE at all addresses, as soft-RoCE does: who it is, and what helps, and
# says nothing then.
port_taken() {
	local inside=(unshare -n) status who
	[ "$(id -u)" = 0 ] || inside=(unshare -rn)
	"${inside[@]}" true 2>/dev/null || return 0 # no namespaces here
	cat >"$out/taken" <<-'SCRIPT'
		ip link set lo up
		python3 -c 'import socket, sys
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("0.0.0.0", 4791))
		print("bound", flush=True)
		sys.stdin.read()' < <(sleep 60) > >(cat >"$1/bound") &
		taker=$!
		until grep -q bound "$1/bound" 2>/dev/null; do sleep .05; done
		"$2" --private true
		status=$?
		"$2" --private --wire --addr 127.0.0.77 true || status=$?
		"$2" --private --no-wire -- ibv_devices >"$1/beside" 2>&1 ||
			echo "ended with $?" >>"$1/beside"
		kill $taker
		exit $status
	SCRIPT
	timeout -k 2 240 "${inside[@]}" bash "$out/taken" "$out" "$uhca_run" >"$out/said" 2>&1
	status=$?
	[ $status = 125 ] || echo "the status is $status: $(tail -n 1 "$out/said")"
	who='is in use by python3 (process [0-9]*), at all addresses: stop it'
	[ "$(grep -c "UDP port 4791 of .* $who" "$out/said")" = 2 ] ||
		echo "it does not say who: $(cat "$out/said")"
	[ "$(wc -l <"$out/beside")" = 3 ] && grep -q uhca0 "$out/beside" ||
		echo "--no-wire does not help: $(cat "$out/beside")"
}

# An interface that came up a moment ago, whose IPv6 address is tentative, and one that is alone.
fresh_interface() {
	local inside=(unshare -n) status
	[ "$(id -u)" = 0 ] || inside=(unshare -rn)
	"${inside[@]}" true 2>/dev/null || return 0 # no namespaces here
	cat >"$out/fresh" <<-'SCRIPT'
		ip link set lo up
		ip link add one type veth peer name two
		ip link set two up
		ip link set one up
		until ip -6 addr show dev one | grep -q "tentative"; do sleep .01; done
		"$1" --private --netdev one -- sh -c 'grep -h . "$UHCA_DIR/log"
			cat "$UHCA_DIR"/sys/class/infiniband/uhca0/ports/1/gids/0'
	SCRIPT
	timeout -k 2 240 "${inside[@]}" bash "$out/fresh" "$uhca_run" >"$out/said" 2>&1
	status=$?
	[ $status = 0 ] || echo "the status is $status: $(tail -n 1 "$out/said")"
	expect_said "one: waiting for duplicate address detection"
	expect_said "^fe80:"
}

# Too few descriptors, for uhca-run or for the daemon: what is short, and how much there is.
# Whoever runs the tests has left us some of his, and how many they are must not matter here.
close_descriptors() {
	local fd
	for fd in /proc/self/fd/*; do
		fd=${fd##*/}
		[ "$fd" -lt 3 ] || [ "$fd" = 255 ] || exec {fd}>&-
	done
}

few_descriptors() {
	(close_descriptors && ulimit -n 14 && expect_status 125 "$uhca_run" --private true)
	expect_said "Too many open files; the limit of descriptors is 14"
	(close_descriptors && ulimit -n 24 &&
		expect_status 125 "$uhca_run" --private --devices 30 true)
	expect_said "create device uhca[0-9]*: Too many open files: the limit is 24 descriptors"
}

private_directory() {
	# Expanded by the inner shell.
	# shellcheck disable=SC2016
	expect_status 0 "$uhca_run" --private -- sh -c \
		'stat -c %a "$UHCA_DIR"; ls "$UHCA_DIR"; test -S "$UHCA_DIR/sock"'
	expect_said "^700$"
	expect_said "^pid$"
	expect_nothing_left
}

private_devices() {
	expect_status 0 "$uhca_run" --private --devices 3 ibv_devices
	expect_said "uhca0"
	expect_said "uhca2"
	! grep -q uhca3 "$out/said" || echo "there is a fourth device"
}

private_at_once() {
	local i pids=() status
	for i in 1 2 3 4 5; do
		timeout 240 "$uhca_run" --private ibv_devinfo -d uhca0 >"$out/said$i" 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
		status=$?
		[ $status = 0 ] || echo "one of five ended with $status"
	done
	expect_nothing_left
}

nested() {
	# shellcheck disable=SC2016
	expect_status 0 "$uhca_run" --private -- sh -c \
		'echo "outer $UHCA_DIR"; "$0" -- sh -c "echo inner \$UHCA_DIR \$LD_PRELOAD"' \
		"$uhca_run"
	local a b
	a=$(sed -n 's/^outer //p' "$out/said")
	b=$(sed -n 's/^inner \([^ ]*\).*/\1/p' "$out/said")
	[ -n "$a" ] && [ "$a" = "$b" ] || echo "the inner one is in '$b', not in '$a'"
	[ "$(grep -o libuhca_preload "$out/said" | wc -l)" = 1 ] || echo "preloaded twice"
	# Ours come first, and stand there once.
	# shellcheck disable=SC2016
	expect_status 0 "$uhca_run" --private -- sh -c 'uhca-run sh -c "echo \$PATH"
		[ "$(command -v uhcactl)" = "$1/uhcactl" ] && uhcactl show qp' sh "$UHCA_BUILDDIR"
	grep -q "^$UHCA_BUILDDIR:" "$out/said" || echo "our tools are not first in PATH"
	! grep -q ":$UHCA_BUILDDIR\(:\|\$\)" "$out/said" || echo "the folder is in PATH twice"
}

preload_order() {
	# shellcheck disable=SC2016
	expect_status 0 env LD_PRELOAD= "$uhca_run" --private -- env \
		UHCA_PRELOAD="$UHCA_PRELOAD_LIB" LD_PRELOAD="$out/libasan.so.9:$out/libx.so" \
		"$UHCA_BUILDDIR/uhca-run" -- sh -c 'echo "order $LD_PRELOAD"'
	expect_said "^order $out/libasan.so.9:[^:]*libuhca_preload.so:$out/libx.so"
}

signals() {
	local signal pid status
	for signal in TERM INT HUP USR1; do
		: >"$out/said" # or the "up" of the one before it counts
		# shellcheck disable=SC2016
		env --default-signal "$uhca_run" --private -- bash -c \
			'trap "echo got; exit 40" $0; echo up; while :; do sleep 0.05; done' \
			$signal >"$out/said" 2>&1 &
		pid=$!
		until_true grep -q up "$out/said" || echo "the command does not start"
		kill -$signal $pid
		until_true is_gone $pid || kill -9 $pid
		wait $pid
		status=$?
		[ $status = 40 ] || echo "SIG$signal: status $status, not the command's"
		expect_said got
	done
	expect_nothing_left
}

killed() {
	local pid command daemon
	: >"$out/said"
	# shellcheck disable=SC2016
	"$uhca_run" --private -- sh -c 'cat "$UHCA_DIR/pid"; echo $$; echo up; exec sleep 100' \
		>"$out/said" 2>&1 &
	pid=$!
	until_true grep -q up "$out/said" || echo "the command does not start"
	daemon=$(sed -n 1p "$out/said")
	command=$(sed -n 2p "$out/said")
	kill -9 $pid
	wait $pid 2>/dev/null
	until_true is_gone "$command" || echo "the command lives on"
	until_true is_gone "$daemon" || echo "the daemon lives on"
	until_true nothing_left || expect_nothing_left
}

# The keeper is killed: the daemon follows, and uhca-run removes the folder.
keeper_killed() {
	# shellcheck disable=SC2016
	expect_status 3 "$uhca_run" --private -- sh -c 'echo "$UHCA_DIR"
		kill -9 "$(sed -n "s/^PPid:[[:space:]]*//p" "/proc/$(cat "$UHCA_DIR/pid")/status")"
		exit 3'
	expect_said "the process that watches the daemon was killed"
	[ -n "$(sed -n 1p "$out/said")" ] || echo "no folder was named"
	[ ! -e "$(sed -n 1p "$out/said")" ] || echo "$(sed -n 1p "$out/said") is still there"
	until_true nothing_left || expect_nothing_left
}

# A daemon that dies before the command: it is collected, and the user is told.
daemon_dies() {
	# shellcheck disable=SC2016
	expect_status 3 "$uhca_run" --private -- sh -c 'kill -9 "$(cat "$UHCA_DIR/pid")"
		for i in 1 2 3 4 5 6 7 8 9 10; do
			[ -e "/proc/$(cat "$UHCA_DIR/pid")" ] || exit 3
			sleep 0.2
		done'
	expect_said "the daemon was ended by signal 9"
	# shellcheck disable=SC2016
	expect_status 4 "$uhca_run" --instance dies --idle-timeout 1 -- sh -c \
		'pid=$(cat "$UHCA_DIR/pid"); kill -9 "$pid"
		for i in 1 2 3 4 5 6 7 8 9 10; do
			[ -e "/proc/$pid" ] || exit 4
			sleep 0.2
		done'
	expect_nothing_left
}

nothing_left() {
	[ -z "$(expect_nothing_left)" ]
}

shared_daemon() { # prints the daemon's pid
	# shellcheck disable=SC2016
	"$uhca_run" --instance "$1" --idle-timeout 1 -- sh -c 'cat "$UHCA_DIR/pid"'
}

shared_attaches() {
	local first second
	first=$(shared_daemon attach)
	second=$(shared_daemon attach)
	[ -n "$first" ] && [ "$first" = "$second" ] || echo "daemons '$first' and '$second'"
	expect_status 125 "$uhca_run" --instance attach --devices 2 true
	expect_said "already runs"
	until_true is_gone "$first" || echo "the daemon does not end when nobody is left"
	second=$(shared_daemon attach)
	[ -n "$second" ] && [ "$first" != "$second" ] || echo "no new daemon after the first"
	until_true is_gone "$second" || echo "the second daemon does not end"
}

shared_at_once() {
	local i daemons
	for i in 1 2 3 4 5 6; do
		shared_daemon race >"$out/pid$i" 2>&1 &
	done
	wait
	daemons=$(cat "$out"/pid? | sort -u)
	[[ $daemons =~ ^[0-9]+$ ]] || echo "six at once got: ${daemons//$'\n'/ }"
}

# The daemon outlives the command; who reads the command's output to its end must not wait for it.
shared_lets_go() {
	local daemon
	# shellcheck disable=SC2016
	daemon=$(timeout 240 "$uhca_run" --instance go --idle-timeout 60 -- sh -c \
		'cat "$UHCA_DIR/pid"' 9>&1) || echo "the daemon holds descriptors of its starter"
	[[ $daemon =~ ^[0-9]+$ ]] || echo "no daemon: '$daemon'"
	kill "$daemon"
	until_true is_gone "$daemon" || echo "the daemon does not end at SIGTERM"
}

shared_stays() {
	# shellcheck disable=SC2016
	expect_status 0 "$uhca_run" --instance stay --idle-timeout 1 -- sh -c \
		'sleep 2.5; ibv_devices; kill -0 "$(cat "$UHCA_DIR/pid")"'
	expect_said uhca0
}

shared_after_crash() {
	local first second
	first=$(shared_daemon crash)
	kill -9 "$first"
	until_true is_gone "$first"
	second=$(shared_daemon crash)
	[[ $second =~ ^[0-9]+$ ]] && [ "$first" != "$second" ] ||
		echo "after kill -9 of $first: '$second'"
}

# The daemon is ready, and gone before its starter comes: there is another one.
shared_left_early() {
	local daemon
	cat >"$out/uhcad" <<-SCRIPT
		#!/bin/sh
		[ -e "$out/left" ] || { : >"$out/left" && echo >&3 && exit; }
		exec "$UHCA_BUILDDIR/uhcad" "\$@"
	SCRIPT
	chmod +x "$out/uhcad"
	daemon=$(UHCA_DAEMON=$out/uhcad shared_daemon early)
	[[ $daemon =~ ^[0-9]+$ && -e $out/left ]] || echo "no second daemon: '$daemon'"
	until_true is_gone "${daemon:-none}" ||
		echo "the daemon does not end when nobody is left"
}

# Programs and daemon yield to each other: that ends at the session (autogroup, sched(7)). What the
# terminal sends to the programs does not reach the daemon.
same_session() {
	local words option session group daemon_session daemon_group
	for option in --private "--instance session --idle-timeout 1"; do
		# shellcheck disable=SC2016,SC2086
		words=$("$uhca_run" $option -- sh -c \
			'ps -o sid=,pgid= -p "$$" && ps -o sid=,pgid= -p "$(cat "$UHCA_DIR/pid")"')
		read -r session group daemon_session daemon_group <<<"${words//$'\n'/ }"
		[ "$session" = "${daemon_session:-none}" ] && [ "$group" != "$daemon_group" ] ||
			echo "$option: sessions and groups $words"
	done
}

foreign_directory() {
	[ "$(id -u)" = 0 ] || return 0
	local tmp=$out/foreign
	mkdir -p "$tmp/uhca-0"
	chown nobody "$tmp/uhca-0"
	expect_status 125 env -u XDG_RUNTIME_DIR TMPDIR="$tmp" "$uhca_run" true
	expect_said "belongs to another user"
	rm -rf "$tmp"
}

# Where nobody says where, and is gone with the command.
memory_directory() {
	local at=/tmp
	[ "$(stat -f -c %T /dev/shm 2>/dev/null)" != tmpfs ] || at=/dev/shm
	# shellcheck disable=SC2016 # of the inner shell
	expect_status 0 env -u XDG_RUNTIME_DIR -u TMPDIR "$uhca_run" --private -- \
		sh -c 'echo "at $UHCA_DIR"'
	expect_said "^at $at/uhca-"
	[ ! -e "$(sed -n 's/^at //p' "$out/said")" ] || echo "it is left: $(cat "$out/said")"
}

long_directory() {
	local tmp
	tmp=$out/$(printf 'x%.0s' {1..120})
	mkdir -p "$tmp"
	expect_status 125 env -u XDG_RUNTIME_DIR TMPDIR="$tmp" "$uhca_run" --private true
	expect_said "longer than"
	rm -rf "$tmp"
}

# What is left of instances: of a good one, of one whose command was killed, of one
# whose daemon was.
keeps() {
	local keep=$out/keep which file
	mkdir "$keep" "$keep/dead"
	expect_status 0 "$uhca_run" --private --keep "$keep/good" -- ibv_devinfo
	# shellcheck disable=SC2016
	expect_status 137 "$uhca_run" --private --keep "$keep/good" -- sh -c 'kill -9 $$'
	# shellcheck disable=SC2016
	expect_status 0 env UHCA_KEEP="$keep/dead" "$uhca_run" --private -- sh -c \
		'kill -9 $(cat "$UHCA_DIR/pid")'
	expect_status 0 "$uhca_run" --private --keep "$keep/good" -- ibv_devinfo -d uhca0
	[ "$(cd "$keep/good" && echo *)" = "ibv_devinfo ibv_devinfo-2 sh" ] ||
		echo "not named after the commands: $(ls "$keep/good")"
	for which in "$keep"/good/*; do
		for file in log recorder.pcapng explain.txt report.html state.json; do
			[ -s "$which/$file" ] || echo "$file is missing"
		done
		grep -q counters "$which/state.json" || echo "no counters in state.json"
	done
	grep -qs "serves 1 device" "$keep"/dead/*/log || echo "a dead daemon's log is gone"
	keeps_raw "$keep/raw"
	expect_nothing_left
}

# A test suite makes the rest of it when it is needed.
keeps_raw() { # FOLDER
	expect_status 0 env UHCA_KEEP_RAW=1 UHCA_KEEP="$1" "$uhca_run" --private -- ibv_devinfo
	[ "$(cd "$1/ibv_devinfo" && echo *)" = "log recorder.pcapng state.json" ] ||
		echo "kept raw: $(ls "$1/ibv_devinfo")"
	"$root/tests/support/read-kept" "$1"
	for file in explain.txt report.html; do
		[ -s "$1/ibv_devinfo/$file" ] || echo "read-kept makes no $file"
	done
}

keep_mistakes() {
	expect_status 125 "$uhca_run" --keep "$out/keep" true
	expect_said "needs a private daemon"
	expect_status 125 "$uhca_run" --private --keep "$out/no/such" true
	expect_said "no/such: No such file"
	: >"$out/file"
	expect_status 125 "$uhca_run" --private --keep "$out/file" true
	expect_said "file: "
	expect_nothing_left
}

# A row that fails, with a program that is none, says where its traces are, and again at the end.
evidence() {
	local kept words
	mkdir -p "$out/bin"
	printf '#!/bin/sh\necho not me; exit 3\n' >"$out/bin/ibv_rc_pingpong"
	chmod +x "$out/bin/ibv_rc_pingpong"
	expect_status 1 env PATH="$out/bin:$PATH" UHCA_FAILURES="$out/failures" \
		"$here/clients" internal -- pingpong rc-check
	words="ended with 3: not me"
	expect_said "^FAIL internal pingpong rc-check: client $words; server $words \(kept in "
	expect_said "^clients: failed: internal pingpong rc-check: client ended with 3"
	kept=$(sed -n 's/^FAIL .*(kept in \(.*\))$/\1/p' "$out/said")
	for file in reason machine commands client server instance/{log,recorder.pcapng}; do
		[ -s "$kept/$file" ] || echo "$file is missing in '$kept'"
	done
	grep -q "client: .*ibv_rc_pingpong" "$kept/commands" || echo "the commands are not told"
	[ -s "$(find "$out/failures/internal" -name state.json)" ] || echo "no state.json"
	rm -rf "$out/failures"
	expect_status 0 env UHCA_FAILURES="$out/failures" \
		"$here/clients" internal -- pingpong rc-check
	[ ! -e "$out/failures" ] || echo "something is kept of a row that passes"
}

# perftest that lost the processor while it measured its clock: that run says nothing of the device.
perftest_clock() {
	mkdir -p "$out/bin"
	cat >"$out/bin/ib_atomic_lat" <<-END
	#!/bin/sh
	echo run >>"$out/runs"
	[ "\$(wc -l <"$out/runs")" -gt 2 ] || echo "Correlation coefficient r^2: 0.3 < 0.9"
	exec "$(command -v ib_atomic_lat)" "\$@"
	END
	chmod +x "$out/bin/ib_atomic_lat"
	expect_status 0 env PATH="$out/bin:$PATH" "$here/clients" internal -- \
		perftest atomic_lat-swap
	[ "$(wc -l <"$out/runs")" = 4 ] || echo "$(wc -l <"$out/runs") programs ran, not two pairs"
}

# Who has failed is told what the daemon warned of, the last three, and nothing that others did.
warnings() {
	local unreached=(rping -c -a 192.0.2.7 -C 1)
	local said="no device has or can reach 192.0.2.7; .*--netdev"
	said="\\| .* warn: rdma_resolve_addr: $said"
	expect_status 255 "$uhca_run" --private -- "${unreached[@]}"
	expect_said '^uhca-run: warnings of the daemon \(1\):$'
	expect_said "$said"
	expect_status 255 "$uhca_run" --private -- rping -s -a 192.0.2.7 -C 1
	expect_said "\\| .* warn: rdma_bind_addr: no device has or can reach 192.0.2.7; .*--netdev"
	expect_status 0 "$uhca_run" --private -- sh -c "! ${unreached[*]}"
	! grep -q "warnings of" "$out/said" || echo "warnings though it has ended well"
	expect_status 255 "$uhca_run" --instance warned -- "${unreached[@]}"
	expect_said "$said"
	expect_status 1 "$uhca_run" --instance warned -- false
	! grep -q "warnings of" "$out/said" || echo "warnings of another command"
}

# The tool of iproute2 knows devices by netlink alone.
rdma_tool() {
	# shellcheck disable=SC2016 # of the inner shell
	expect_status 0 "$uhca_run" --private --devices 2 -- sh -ec 'rdma link
		echo "json $(rdma -j link show uhca1/1)"
		rdma dev show uhca0
		uhcactl port down uhca1 >/dev/null
		rdma link show uhca1/1'
	expect_said '^link uhca0/1 state ACTIVE physical_state LINK_UP netdev lo'
	expect_said '^link uhca1/1 state ACTIVE physical_state LINK_UP netdev lo'
	expect_said '^link uhca1/1 state DOWN physical_state DISABLED netdev lo'
	expect_said '^json .*"ifname":"uhca1","port":1,"state":"ACTIVE"'
	expect_said '^0: uhca0: node_type ca (protocol roce )?fw [0-9.]+ node_guid [0-9a-f:]{19} '
	# shellcheck disable=SC2016
	expect_status 0 "$uhca_run" --private -- sh -ec 'port=$((20000 + $$ % 20000))
		ibv_rc_pingpong -g 0 -p $port >/dev/null &
		for i in $(seq 200); do
			rdma resource show qp | grep -q "state INIT" && break
			sleep 0.05
		done
		rdma resource
		for what in qp cq mr pd cm_id; do rdma resource show $what; done
		kill $!'
	expect_said '^0: uhca0: pd 1 cq 1 qp 1 cm_id 0 mr 1 '
	expect_said '^link uhca0/1 lqpn [0-9]+ .*rqpn 0 type RC state INIT .* comm ibv_rc_pingpong'
	expect_said '^dev uhca0 .*cqe [0-9]+ users 2 .*comm ibv_rc_pingpong'
	expect_said '^dev uhca0 .*rkey 0x[0-9a-f]+ lkey 0x[0-9a-f]+ .*mrlen 4096 '
	expect_said '^dev uhca0 (.*users 2 .*pdn|pdn [0-9]+ users 2 )'
	# Those of the kernel are not touched.
	expect_status 0 "$uhca_run" --private -- ip -o link show lo
	expect_said "LOOPBACK"
}

# What scripts do in sysfs, as ibstatus of infiniband-diags does; nothing but these names is said.
shell_tools() {
	# shellcheck disable=SC2016 # of the inner shell
	expect_status 0 "$uhca_run" --private --devices 2 -- bash -ec 'cd /sys/class/infiniband
		echo *
		cd uhca1/ports && cat */phys_state
		ls -l /dev/infiniband >/dev/null
		for state in /sys/class/infiniband/*/ports/*/state; do echo "$state"; done'
	[ "$(cat "$out/said")" = 'uhca0 uhca1
5: LinkUp
/sys/class/infiniband/uhca0/ports/1/state
/sys/class/infiniband/uhca1/ports/1/state' ] || echo "they say: $(cat "$out/said")"
}

rows_wrapper() {
	export TMPDIR=$out/tmp
	unset XDG_RUNTIME_DIR UHCA_DIR
	UHCA_PRELOAD_LIB=$(find "$UHCA_BUILDDIR" -path '*/.libs/libuhca_preload.so' | head -n 1)
	mkdir "$TMPDIR"
	try wrapper exit-codes exit_codes
	try wrapper bad-usage bad_usage
	try wrapper daemon-trouble daemon_trouble
	rows_sandbox
	try wrapper port-taken port_taken
	try wrapper few-descriptors few_descriptors
	try wrapper fresh-interface fresh_interface
	try wrapper private-directory private_directory
	try wrapper private-devices private_devices
	try wrapper private-at-once private_at_once
	try wrapper keep keeps
	try wrapper keep-mistakes keep_mistakes
	try wrapper evidence evidence
	try wrapper perftest-clock perftest_clock
	try wrapper nested nested
	try wrapper warnings warnings
	try wrapper rdma-tool rdma_tool
	try wrapper shell-tools shell_tools
	try wrapper preload-order preload_order
	try wrapper signals signals
	try wrapper killed killed
	try wrapper keeper-killed keeper_killed
	try wrapper all-killed all_killed
	try wrapper time-limit time_limit
	try wrapper daemon-dies daemon_dies
	try wrapper shared-attaches shared_attaches
	try wrapper shared-at-once shared_at_once
	try wrapper shared-lets-go shared_lets_go
	try wrapper shared-stays shared_stays
	try wrapper shared-after-crash shared_after_crash
	try wrapper shared-left-early shared_left_early
	try wrapper same-session same_session
	try wrapper foreign-directory foreign_directory
	try wrapper long-directory long_directory
	try wrapper memory-directory memory_directory
}
