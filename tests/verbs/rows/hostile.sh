# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows in which somebody misbehaves towards the daemon while others work: they do not notice, it
# stays, and it has no more memory and descriptors afterwards than before.

memory_of() { # PID: KiB of its own
	sed -n 's/^RssAnon:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status"
}

descriptors_of() { # PID
	find "/proc/$1/fd" -type l 2>/dev/null | wc -l
}

no_more_descriptors() { # PID N
	[ "$(descriptors_of "$1")" -le "$2" ]
}

attack() { # WAY SEED SECONDS
	case $1 in
	scribble) "$UHCA_BUILDDIR/tests/verbs/rogues/scribble" "$3" "$2" ;;
	deaf) "$UHCA_BUILDDIR/tests/verbs/rogues/deaf" "$3" ;;
	*) /usr/bin/python3 "$here/rogues/hostile.py" "$1" "$2" "$3" 127.0.0.1 "$UHCA_DIR" ;;
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
	local daemon memory fds attacker
	daemon=$(cat "$UHCA_DIR/pid")
	memory=$(memory_of "$daemon")
	fds=$(descriptors_of "$daemon")
	attack "$1" "$2" 3 >"$out/attack" 2>&1 </dev/null &
	attacker=$!
	work_during $attacker | sort -u
	wait $attacker || echo "the attacker of seed $2: $(tail -n 1 "$out/attack")"
	is_alive "$daemon" || {
		echo "the daemon died of seed $2: $(tail -n 1 "$UHCA_DIR/log")"
		return
	}
	until_true 10 no_more_descriptors "$daemon" "$fds" ||
		echo "the daemon had $fds descriptors and has $(descriptors_of "$daemon")"
	[ "$(memory_of "$daemon")" -lt $((memory + ${UHCA_SLACK_KB:-8192})) ] ||
		echo "the daemon had $memory KiB and has $(memory_of "$daemon")"
}

# Some rounds of what scripts/soak does for hours, in namespaces of its own.
soak() { # ROUNDS OPTION...
	"$root/scripts/soak" --seed 1 --rounds "$1" "${@:2}" --folder "$out/soak" </dev/null \
		>"$out/rounds" 2>&1
	tail -n 1 "$out/rounds" | grep -q "^$1 rounds passed, 0 failed$" ||
		grep -m 1 FAIL "$out/rounds" || tail -n 1 "$out/rounds"
}

# Somebody misbehaves beside one who goes on: what is the longest time for which that one has to
# wait? On a machine with nothing else to do it is some milliseconds; others may be busy, and what
# used to stop everybody did so for 12 seconds and more.
longest_pause=5000000 # us

has_begun() {
	[ -s "$out/told" ]
}

beside_bystander() { # PROGRAM (of tests/verbs/hostile) ARGUMENT...
	local bystander pause
	"$UHCA_BUILDDIR/tests/verbs/rogues/bystander" "$out/told" >"$out/bystander" 2>&1 &
	bystander=$!
	until_true 20 has_begun
	timeout -k 2 60 "$UHCA_BUILDDIR/tests/verbs/hostile/$1" "${@:2}" >"$out/attack" 2>&1 \
		</dev/null || echo "the attack ended with $?: $(tail -n 1 "$out/attack")"
	until_true 20 "$UHCA_BUILDDIR/uhcactl" counters >"$out/counters"
	kill $bystander
	wait $bystander || echo "the bystander: $(tail -n 1 "$out/bystander")"
	read -r _ pause <"$out/told"
	echo "longest pause $((${pause:-0} / 1000)) ms" >"$out/note"
	[ "${pause:-$longest_pause}" -lt $longest_pause ] ||
		echo "the bystander waited for $pause us"
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
	try hostile silent beside_bystander silent 6
}

rows_hostile() {
	local way
	for way in noise spoof control fds storm deafly hoard json scribble deaf; do
		try hostile "$way" hostile "$way" "${UHCA_SEED:-1}"
	done
	try hostile leaver beside_bystander leaver 4000
	try hostile flooder beside_bystander flooder 3
	row_silent
	if [ -z "$list_only" ] && ! unshare -nm true && ! unshare -rnm true; then
		skip hostile soak "no namespaces here"
		skip hostile soak-wire "no namespaces here"
		return
	fi
	try hostile soak soak 4
	# Its first round leaves sockets of source ports, which the daemon keeps.
	try hostile soak-wire soak 1 --seed 758710 --wire --adopt all
}
