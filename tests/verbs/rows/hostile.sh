# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows in which somebody misbehaves towards the daemon while others work: they do not notice, it
# stays, and it has no more memory and descriptors afterwards than before.

# Below AddressSanitizer each process costs some milliseconds, also each $( ): what is asked in each
# row is read by the shell.

memory_of() { # PID; sets memory_kb, KiB of its own
	local key value
	memory_kb=
	while read -r key value _; do
		[ "$key" != RssAnon: ] || { memory_kb=$value && break; }
	done <"/proc/$1/status"
}

descriptors_of() { # PID; sets descriptors, a number
	local links=("/proc/$1/fd/"*)
	descriptors=${#links[@]}
	[ -L "${links[0]}" ] || descriptors=0
}

no_more_descriptors() { # PID N
	descriptors_of "$1"
	[ "$descriptors" -le "$2" ]
}

no_more_memory() { # PID KIB
	memory_of "$1"
	[ "$memory_kb" -lt $(($2 + ${UHCA_SLACK_KB:-8192})) ]
}

# look_for NAME REGEX JSON: sets result to the last value of that name; the regex has its digits or
# letters in a group.
look_for() {
	local rest=${3##*"\"$1\":"}
	result=
	[[ $rest == "$3" || ! $rest =~ ^\ *$2 ]] || result=${BASH_REMATCH[1]}
}

# The longest turn of the loop, in processor time: so long the daemon did one thing.
longest_turn() { # sets turn, us, and turn_of, what it was
	local json result
	json=$("$UHCA_BUILDDIR/uhcactl" --json counters 2>/dev/null)
	look_for longest_turn_cpu_us '([0-9]+)' "$json"
	turn=$result
	json=$("$UHCA_BUILDDIR/uhcactl" --json show device 2>/dev/null)
	look_for longest_turn '"([^"]*)"' "$json"
	turn_of=$result
}

# The limits on this machine at this load. A turn may take six times as long as 256 datagrams of
# tests/support/pace take in the same seconds, and at least 5 ms; a pause may take four turns. Where
# UHCA_LONGEST_TURN_US says how long a turn may be, a pause may be at least as long.
set_limits() { # sets turn_limit and pause_limit, us
	local pace=0 limit=5000
	read -r pace 2>/dev/null <"$out/pace"
	[ $((6 * ${pace:-0})) -le $limit ] || limit=$((6 * pace))
	turn_limit=${UHCA_LONGEST_TURN_US:-$limit}
	pause_limit=$((4 * limit))
	[ "$turn_limit" -le "$pause_limit" ] || pause_limit=$turn_limit
}

judge_turn() { # of longest_turn and set_limits
	[ "${turn:-0}" -le "$turn_limit" ] ||
		echo "a turn of the loop took $turn us of processor time, of at most" \
			"$turn_limit ($turn_of)"
}

# The daemon of a row is the row's own: its longest turn is what the row did to it. Called in a
# subshell, which may have one coprocess.
# shellcheck disable=SC2016 # of the inner shell
with_daemon() { # FUNCTION ARGUMENT...
	local dir fd pace
	coproc own {
		exec "$uhca_run" --private --addr $own_addr -- sh -c 'echo "$UHCA_DIR"; exec cat'
	}
	fd=${own[1]}
	read -r dir <&"${own[0]}" || {
		echo "no daemon"
		return
	}
	local -x UHCA_DIR=$dir
	# When it answers, its loop runs: the timer of that is its last descriptor.
	"$UHCA_BUILDDIR/uhcactl" counters >/dev/null
	"$UHCA_BUILDDIR/tests/support/pace" "$out/pace" &
	pace=$!
	"$@"
	kill "$pace"
	wait "$pace" || echo "tests/support/pace ended with $?"
	exec {fd}>&-
	wait "$own_PID" || echo "the daemon's uhca-run ended with $?"
}
own_addr=127.0.0.77

# Linux counts as a thread's own time what its processor did meanwhile for others: packets of other
# programs (softirq), and what the host of a virtual machine took. An attack that makes the daemon
# do much at once does so each time: a turn, or a pause, is too long when three runs have one.
thrice() { # FUNCTION ARGUMENT...
	local said
	said=$(with_daemon "$@")
	[[ $said != *"of processor time"* ]] || said=$(with_daemon "$@")
	[[ $said != *"of processor time"* ]] || said=$(with_daemon "$@")
	[ -z "$said" ] || echo "$said"
}

attack() { # WAY SEED SECONDS
	case $1 in
	scribble) "$UHCA_BUILDDIR/tests/verbs/rogues/scribble" "$3" "$2" ;;
	deaf) "$UHCA_BUILDDIR/tests/verbs/rogues/deaf" "$3" ;;
	*) /usr/bin/python3 "$here/rogues/hostile.py" "$1" "$2" "$3" $own_addr "$UHCA_DIR" ;;
	esac
}

# Pairs of programs, one after the other, as long as the attack lasts.
work_during() { # PID
	local size=65536 n=300
	while is_alive "$1"; do
		next_port
		run_pair "ibv_rc_pingpong -g 0 -c -s $size -n $n -p $port" \
			"ibv_rc_pingpong -g 0 -c -s $size -n $n -p $port 127.0.0.1"
		pair_complaint
		check_pingpong $size $n
	done
}

hostile() { # WAY SEED
	local daemon memory_kb memory descriptors fds attacker turn turn_of turn_limit pause_limit
	read -r daemon <"$UHCA_DIR/pid"
	memory_of "$daemon"
	memory=$memory_kb
	descriptors_of "$daemon"
	fds=$descriptors
	attack "$1" "$2" "${UHCA_ATTACK_SECONDS:-1}" >"$out/attack" 2>&1 </dev/null &
	attacker=$!
	work_during $attacker | sort -u
	wait $attacker || echo "the attacker of seed $2: $(tail -n 1 "$out/attack")"
	is_alive "$daemon" || {
		echo "the daemon died of seed $2: $(tail -n 1 "$UHCA_DIR/log")"
		return
	}
	until_true no_more_descriptors "$daemon" "$fds" ||
		echo "the daemon had $fds descriptors and has $descriptors"
	no_more_memory "$daemon" "$memory" ||
		echo "the daemon had $memory KiB and has $memory_kb"
	set_limits
	longest_turn
	judge_turn
}

# Some rounds of what scripts/soak does for hours, in namespaces of its own.
soak() { # ROUNDS OPTION...
	"$root/scripts/soak" --seed 1 --rounds "$1" "${@:2}" --folder "$out/soak" </dev/null \
		>"$out/rounds" 2>&1
	tail -n 1 "$out/rounds" | grep -q "^$1 rounds passed, 0 failed$" ||
		grep -m 1 FAIL "$out/rounds" || tail -n 1 "$out/rounds"
}

# A bystander's messages go on beside the attack. The daemon may hold each for four turns at most
# (docs/explanation/security.md): so long it may run meanwhile, whatever other programs do. 5 s are
# too long on any machine.

has_begun() {
	[ -s "$out/told" ]
}

start_bystander() { # sets bystander
	rm -f "$out/told"
	"$UHCA_BUILDDIR/tests/verbs/rogues/bystander" "$out/told" >"$out/bystander" 2>&1 &
	bystander=$!
	until_true has_begun
}

end_bystander() {
	local pause caused turn turn_of turn_limit pause_limit
	kill "$bystander"
	wait "$bystander" || echo "the bystander: $(tail -n 1 "$out/bystander")"
	set_limits
	longest_turn
	read -r _ pause caused <"$out/told"
	echo "longest pause $((${pause:-0} / 1000)) ms, $((${caused:-0} / 1000)) of the daemon," \
		"longest turn ${turn:-?} us (${turn_of:-unknown})," \
		"of at most $turn_limit" >"$out/note"
	[ "${caused:-$pause_limit}" -lt "$pause_limit" ] ||
		echo "the bystander waited for $pause us, of which the daemon caused $caused us" \
			"of processor time, of at most $pause_limit"
	[ "${pause:-0}" -lt 5000000 ] || echo "the bystander waited for $pause us"
	judge_turn
}

beside_bystander() { # PROGRAM (of tests/verbs/hostile) ARGUMENT...
	local bystander
	start_bystander
	timeout -k 2 240 "$UHCA_BUILDDIR/tests/verbs/hostile/$1" "${@:2}" >"$out/attack" 2>&1 \
		</dev/null || echo "the attack ended with $?: $(tail -n 1 "$out/attack")"
	until_true "$UHCA_BUILDDIR/uhcactl" counters >"$out/counters"
	end_bystander
}

# The list of what grows (docs/explanation/security.md): one client makes as many of a kind as it
# can, with unread events and half-done states, and is killed.
hoards=(pd cq mr ah srq srq_full dm channel xrcd qp qp_full mcast flow wq mw indirect
	copy_on_poll cq_event slow_reader async_event client session context cm_idle cm_bound
	cm_sharing cm_event cm_listener cm_request cm_connection cm_join cm_open cm_user_event
	rules capture frames mcast_full)

hoarded() { # KIND
	local bystander daemon memory_kb memory descriptors fds status
	read -r daemon <"$UHCA_DIR/pid"
	start_bystander
	memory_of "$daemon"
	memory=$memory_kb
	descriptors_of "$daemon"
	fds=$descriptors
	# What goes to a group leaves by a socket of its source port, which the daemon keeps.
	[ "$1" != mcast_full ] || fds=$((fds + 1))
	timeout -k 2 240 "$UHCA_BUILDDIR/tests/verbs/hostile/hoarder" "$1" >"$out/attack" 2>&1 \
		</dev/null
	status=$?
	[ "$1" != capture ] || "$UHCA_BUILDDIR/uhcactl" capture stop >/dev/null
	[ "$1" != rules ] || "$UHCA_BUILDDIR/uhcactl" fault clear >/dev/null
	[ $status = 137 ] || echo "hoarder ended with $status: $(tail -n 1 "$out/attack")"
	until_true no_more_descriptors "$daemon" "$fds" ||
		echo "the daemon had $fds descriptors and has $descriptors"
	until_true no_more_memory "$daemon" "$memory" ||
		echo "the daemon had $memory KiB and has $memory_kb"
	end_bystander
	return 0
}

row_hoard() { # KIND
	thrice hoarded "$1"
	[ -s "$out/note" ] || echo "nothing was made"
}

# Each kind that the program knows is in the list.
hoard_list() {
	diff <(printf '%s\n' "${hoards[@]}" | sort) \
		<("$UHCA_BUILDDIR/tests/verbs/hostile/hoarder" --list | sort)
}

# Memory that does not answer. Only who may have userfaultfd for faults of the kernel has such.
row_silent() {
	wanted hostile silent core || return 0
	if [ -z "$list_only" ]; then
		"$UHCA_BUILDDIR/tests/verbs/hostile/silent" 0 >/dev/null 2>&1
		[ $? != 77 ] || {
			skip hostile silent "no userfaultfd for faults of the kernel"
			return 0
		}
	fi
	try hostile silent thrice beside_bystander silent 6
}

# A program offers memory that the daemon is not to map (--pin off).
# shellcheck disable=SC2016 # of the inner shell
unwanted_arena() {
	expect_status 0 "$uhca_run" --private --pin off -- \
		sh -c 'exec /usr/bin/python3 "$0" unwanted 1 1 127.0.0.1 "$UHCA_DIR"' \
		"$here/rogues/hostile.py"
}

# The daemon has no addresses for a window of an arena: memory is borrowed, and programs go on.
# shellcheck disable=SC2016 # of the inner shell
narrow() {
	(ulimit -v $((32 << 20)) && "$uhca_run" --private --pin all -- sh -c '
		set -- timeout 240 ibv_rc_pingpong -g 0 -c -s 1048576 -n 20
		"$@" >/dev/null &
		until "$@" 127.0.0.1 >/dev/null 2>&1; do
			kill -0 $! || exit
			sleep 0.02
		done
		wait $! && grep -q "its memory is not pinned" "$UHCA_DIR/log"') \
		>"$out/narrow" 2>&1 ||
		echo "ended with $?: $(tail -n 1 "$out/narrow")"
}

# A client becomes another program, which keeps the connection: its memory is not the client's.
exec_away() { # [PROGRAM]
	expect_status 0 "$uhca_run" --private --pin off -- \
		"$UHCA_BUILDDIR/tests/verbs/hostile/exec_away" "$@"
}

# The same by a user without rights, and the program is root's.
exec_away_setuid() {
	cp "$UHCA_BUILDDIR/tests/verbs/hostile/exec_away" "$out/setuid"
	chmod 4755 "$out/setuid"
	exec_away "$out/setuid"
	rm -f "$out/setuid"
}

rows_exec_away() {
	try hostile exec-away exec_away
	# Only root's programs can become another user.
	[ "$(id -u)" != 0 ] || try hostile exec-away-setuid exec_away_setuid
}

rows_hostile() {
	local way rounds=4
	grep -q __asan_init "$UHCA_BUILDDIR/uhcad" || rounds=1
	for way in noise spoof control fds storm deafly hoard wide json scribble deaf; do
		try hostile "$way" thrice hostile "$way" "${UHCA_SEED:-1}"
	done
	try hostile leaver thrice beside_bystander leaver 4000
	try hostile flooder thrice beside_bystander flooder 3
	try hostile unwanted unwanted_arena
	# AddressSanitizer takes 16 TiB of addresses for itself.
	grep -q __asan_init "$UHCA_BUILDDIR/uhcad" || try hostile narrow narrow
	try hostile hollow thrice beside_bystander hollow
	row_silent
	rows_exec_away
	try hostile hoard-list hoard_list
	for way in "${hoards[@]}"; do
		try hostile "hoard-$way" row_hoard "$way"
	done
	if [ -z "$list_only" ] && ! unshare -nm true && ! unshare -rnm true; then
		skip hostile soak "no namespaces here"
		skip hostile soak-wire "no namespaces here"
		return
	fi
	# The sanitizers run the same rounds, and see more of them (scripts/sanitize).
	try hostile soak soak "$rounds"
	# Its first round leaves sockets of source ports, which the daemon keeps.
	try hostile soak-wire soak 1 --seed 758710 --wire --pin all
}
