# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows about a daemon that has nothing to do: connected queue pairs and sleeping programs cost no
# processor time; and about as many queue pairs as there may be.

cpu_ticks() { # PID
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

# The daemon's processor time stands still for two seconds, seen from outside. Asked for three
# times: other programs of the machine may have woken it just now.
stands_still() { # PID
	local before i
	for i in 1 2 3; do
		before=$(cpu_ticks "$1")
		read -rt 2 -u "$never_fd"
		[ $(($(cpu_ticks "$1") - before)) -gt 1 ] || return 0
	done
	return 1
}

idle_with_sleeper() {
	local daemon
	daemon=$(cat "$UHCA_DIR/pid")
	next_port
	start_server ibv_rc_pingpong -e -g 0 -p "$port"
	until_true listens_or_is_gone "$server_pid" "$port"
	stands_still "$daemon" || echo "the daemon uses the processor while a program sleeps"
	kill "$server_pid"
	wait "$server_pid" 2>/dev/null
}

rows_idle() {
	try idle sleeping-program idle_with_sleeper
	try idle 1000-qps own_program verbs/rogues/scale 1000 3
	try idle most-qps own_program verbs/rogues/scale limit
	run_options=(--wire)
	try idle 1000-qps-wire own_program verbs/rogues/scale 1000 3
	try idle most-qps-wire own_program verbs/rogues/scale limit
	run_options=()
}
