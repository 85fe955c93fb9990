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

rows_hostile() {
	local way
	for way in noise spoof control fds storm deafly json scribble deaf; do
		try hostile "$way" hostile "$way" "${UHCA_SEED:-1}"
	done
}
