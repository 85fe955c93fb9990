# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154
# Two programs of which the second asks the first, and the processor time of both.
port=$((12000 + $$ * 131 % 20000))
next_port() {
	port=$((port + 1))
}

# Waits until somebody listens on the port, in time.
wait_listen() { # PORT
	local hex end=$((SECONDS + 15))
	hex=$(printf ':%04X 0' "$1")
	until grep -qsE "$hex.* 0A " /proc/net/tcp /proc/net/tcp6; do
		[ $SECONDS -lt $end ] || return 1
		read -rt 0.02 -u "$never" || :
	done
}

# pair PORT SERVER -- CLIENT: the client's output.
pair() {
	local listen=$1 server=() pid
	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	timeout -k 2 120 "${server[@]}" >/dev/null 2>&1 </dev/null &
	pid=$!
	wait_listen "$listen" && timeout -k 2 120 "$@" 2>/dev/null </dev/null
	[ -z "${BENCH_CPU:-}" ] || end_in_time "$pid"
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

# A server that ends by itself is counted with its processor time.
end_in_time() { # PID
	local end=$((SECONDS + 5))
	while kill -0 "$1" 2>/dev/null && [ $SECONDS -lt $end ]; do
		read -rt 0.02 -u "$never" || :
	done
}

# Hundredths of a second that daemons (their pids) have used.
daemon_ticks() {
	local pid sum=0 t
	for pid in "$@"; do
		t=$(sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 }')
		sum=$((sum + t))
	done
	echo $sum
}

# cpu_of COMMAND...: processor seconds of what it starts and waits for.
cpu_of() {
	(
		BENCH_CPU=1 "$@" >/dev/null
		children_seconds
	)
}

# What the children of this shell have used so far; "times" says 0m0.123s in its second line.
children_seconds() {
	local said
	said=$(mktemp) || return 1
	times >"$said"
	sed -n 2p "$said" | awk '{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/)
		sum += t[1] * 60 + t[2] } printf "%.3f\n", sum }'
	rm -f "$said"
}

# Seconds for so many messages become those for 10^9 bytes or, of short ones, for 10^6 messages.
per_unit() { # SIZE COUNT
	awk -v size="$1" -v n="$2" '$1 > 0 {
		printf "%.3f\n", $1 / (size >= 4096 ? n * size / 1e9 : n / 1e6) }'
}
